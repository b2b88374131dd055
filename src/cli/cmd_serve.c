/* glaive serve: a directory of tables as a service. */
#include <signal.h>
#include <unistd.h>

#include "cli/cli.h"
#include "server/server.h"

enum { GRACE_MS = 30000, LEAST_THREADS = 4 };

static void log_line(void *user, int32_t level, const char *text) {
  (void)user;
  (void)level;
  fprintf(stderr, "glaive: warning: %s\n", text);
}

/* Every request holds a thread while it waits for storage, so there are more of them than
 * processors. */
static bool make_env(cli *c, glv_env **ret) {
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  options.threads = processors > LEAST_THREADS / 2 ? (uint32_t)(2 * processors) : LEAST_THREADS;
  options.log = log_line;
  return glv_env_new(&options, ret, &c->error) == GLV_OK;
}

static bool read_options(cli *c, server_options *ret) {
  uint64_t port = 0;
  if (cli_value(c, "port") != NULL && !cli_number(c, "port", &port)) {
    return false;
  }
  *ret = (server_options){.database = c->db,
                          .data_dir = cli_value(c, "data"),
                          .host = cli_value(c, "host"),
                          .port = (uint16_t)port};
  return true;
}

static int announce(cli *c, const server *s, const char *host) {
  if (!c->json) {
    printf("serving %s at %s://%s:%u\n", c->db, server_scheme(s), host, server_port(s));
    return EXIT_DONE;
  }
  char url[512];
  snprintf(url, sizeof url, "%s://%s:%u", server_scheme(s), host, server_port(s));
  json *document = js_new_object();
  if (document == NULL ||
      js_put(document, "url", js_new_string(str_of(url)), &c->error) != GLV_OK) {
    js_free(document);
    return cli_failed(c);
  }
  return cli_print_json(c, document);
}

static int serve(cli *c) {
  server_options options;
  server *s = NULL;
  glv_env *env = NULL;
  sigset_t stop;
  if (c->db == NULL) {
    return cli_usage(c, "a server serves a directory: give --db DIR");
  }
  if (!read_options(c, &options)) {
    return EXIT_USAGE;
  }
  /* Before any thread is made, so that all of them leave the signals to this one. */
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  sigprocmask(SIG_BLOCK, &stop, NULL);
  if (!make_env(c, &env)) {
    return cli_failed(c);
  }
  int code = EXIT_FAILED;
  if (server_start(env, &options, &s, &c->error) == GLV_OK) {
    code = announce(c, s, options.host != NULL ? options.host : "127.0.0.1");
    fflush(stdout);
    int got;
    sigwait(&stop, &got);
    server_stop(s, GRACE_MS);
    server_free(s);
  } else {
    code = cli_failed(c);
  }
  glv_env_free(env);
  return code;
}

static const option_spec serve_options[] = {
    {"host", 0, OPTION_VALUE, "HOST", "the address to serve; 127.0.0.1 unless told otherwise"},
    {"port", 0, OPTION_VALUE, "PORT", "the port; 0 = any, which is printed"},
    {"data", 0, OPTION_VALUE, "DIR", "where keys and jobs are kept; DATABASE/.glaive"},
};

const command serve_commands[] = {
    {NULL, "serve", "", 0, 0, "Serve a directory of tables to clients.", serve_options,
     sizeof serve_options / sizeof serve_options[0], serve},
    {NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL},
};
