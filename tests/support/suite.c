/* Databases for tests of the exported functions, in this process or behind a server, and look-ups.
 */
#include "support/suite.h"

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"

extern char **environ;

static const char *server_program(void) { return getenv("GLAIVE_SUITE_SERVER"); }

bool suite_is_remote(void) { return server_program() != NULL; }

/* ---- a server ---- */

/* The server of a test that failed, which nobody closes. */
static pid_t running;

static void kill_running(void) {
  if (running != 0) {
    kill(running, SIGKILL);
  }
}

/* Run the program with its standard output in a pipe. @return the end to read. */
static int spawn(const char *const *words, pid_t *ret) {
  int ends[2];
  posix_spawn_file_actions_t actions;
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
  assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO), 0);
  assert_int_equal(posix_spawn_file_actions_addclose(&actions, ends[0]), 0);
  char *const *arguments = (char *const *)(uintptr_t)words;
  assert_int_equal(posix_spawn(ret, words[0], &actions, NULL, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  return ends[0];
}

/* The address in the line that the server prints when it listens. */
static void read_address(int from, char *line, size_t size) {
  size_t used = 0;
  char c = 0;
  while (used + 1 < size && read(from, &c, 1) == 1 && c != '\n') {
    line[used++] = c;
  }
  line[used] = '\0';
  close(from);
  char *start = strstr(line, "http://");
  assert_non_null(start);
  memmove(line, start, strlen(start) + 1);
  line[strcspn(line, " ")] = '\0';
}

static void open_server(suite *s, char *url, size_t size) {
  const char *const words[] = {server_program(),  "--db", s->t.root, "serve",
                               "--no-access-log", NULL};
  kill_running();
  read_address(spawn(words, &running), url, size);
  s->server = running;
}

static void close_server(suite *s) {
  int status = 0;
  running = 0;
  assert_int_equal(kill(s->server, SIGTERM), 0);
  assert_int_equal(waitpid(s->server, &status, 0), s->server);
}

void suite_open_on(suite *s, int store) {
  char url[256];
  memset(s, 0, sizeof *s);
  test_env_open(&s->t, suite_is_remote() ? 1 : store);
  s->env = s->t.env;
  if (suite_is_remote()) {
    open_server(s, url, sizeof url);
  }
  const char *uri = suite_is_remote() ? url : s->t.root;
  assert_int_equal(glv_connect(s->env, uri, NULL, &s->conn, &s->err), GLV_OK);
}

void suite_close(suite *s) {
  glv_conn_free(s->conn);
  if (s->server != 0) {
    close_server(s);
  }
  test_env_close(&s->t);
}

/* ---- what is skipped ---- */

static void skipped(void **state) {
  (void)state;
  skip();
}

static const suite_skip *find_skip(const char *test) {
  for (const suite_skip *s = suite_skips; s->test != NULL; s++) {
    if (strcmp(s->test, test) == 0) {
      return s;
    }
  }
  return NULL;
}

int suite_run(const char *name, const struct CMUnitTest *tests, size_t count) {
  struct CMUnitTest *chosen = calloc(count, sizeof *chosen);
  assert_non_null(chosen);
  for (size_t i = 0; i < count; i++) {
    const suite_skip *reason = suite_is_remote() ? find_skip(tests[i].name) : NULL;
    chosen[i] = tests[i];
    if (reason != NULL) {
      printf("skipped: %s: %s\n", reason->test, reason->reason);
      chosen[i].test_func = skipped;
    }
  }
  atexit(kill_running);
  const int failed = _cmocka_run_group_tests(name, chosen, count, NULL, NULL);
  free(chosen);
  return failed;
}

/* ---- look-ups ---- */

const char *metadata_value(suite *s, glv_table *table, const char *key) {
  static char value[8192];
  glv_buf text = {0};
  json *document = NULL;
  value[0] = '\0';
  must(s, glv_table_describe(table, &text, &s->err));
  must(s, js_parse(str_slice(text.data, text.size), &document, &s->err));
  const json *found = js_member(js_member(document, "metadata"), key);
  if (found != NULL) {
    snprintf(value, sizeof value, "%.*s", STR_ARG(js_string(found)));
  }
  js_free(document);
  glv_buf_dispose(&text);
  return value;
}
