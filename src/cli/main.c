/* The program: read the command line, run one command, release everything. */
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "cli/cli.h"

int cli_exit_code(glv_status status) {
  switch (status) {
  case GLV_OK:
    return EXIT_DONE;
  case GLV_E_JOB_NOT_FOUND:
  case GLV_E_NAMESPACE_NOT_FOUND:
  case GLV_E_TABLE_NOT_FOUND:
  case GLV_E_INDEX_NOT_FOUND:
  case GLV_E_TAG_NOT_FOUND:
  case GLV_E_TRANSACTION_NOT_FOUND:
  case GLV_E_VERSION_NOT_FOUND:
  case GLV_E_COLUMN_NOT_FOUND:
  case GLV_E_BRANCH_NOT_FOUND:
    return EXIT_NOT_FOUND;
  case GLV_E_COLUMN_EXISTS:
  case GLV_E_NAMESPACE_EXISTS:
  case GLV_E_TABLE_EXISTS:
  case GLV_E_INDEX_EXISTS:
  case GLV_E_TAG_EXISTS:
  case GLV_E_BRANCH_EXISTS:
    return EXIT_EXISTS;
  case GLV_E_CONFLICT:
    return EXIT_CONFLICT;
  default:
    return EXIT_FAILED;
  }
}

int cli_failed(cli *c) {
  fprintf(stderr, "glaive: %s\n", c->error.message);
  const int code = cli_exit_code(c->error.code);
  return code != EXIT_DONE ? code : EXIT_FAILED;
}

bool cli_connect(cli *c) {
  if (c->conn != NULL) {
    return true;
  }
  glv_connect_options options = GLV_OPTIONS(glv_connect_options);
  options.api_key = c->api_key;
  options.ca_file = c->ca_file;
  return glv_connect(c->env, c->db != NULL ? c->db : c->url, &options, &c->conn, &c->error) ==
         GLV_OK;
}

bool cli_name(cli *c, const char *text, glv_id *ret) {
  const char **parts = NULL;
  size_t count = 0;
  if (name_parse(&c->memory, str_of(text), &parts, &count, &c->error) != GLV_OK) {
    return false;
  }
  *ret = (glv_id){parts, count};
  return true;
}

const char *cli_name_text(cli *c, glv_id id) {
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, c->env, SIZE_MAX / 2);
  const char *copy = NULL;
  if (name_print(id.parts, id.count, &text, NULL) == GLV_OK) {
    copy = arena_strdup(&c->memory, buf_str(&text));
  }
  return copy != NULL ? copy : "?";
}

static bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || (unsigned char)c >= 0x80;
}

/* Bytes of the name in double quotes that the text begins with, quotes included; 0 = it has no end.
 */
static size_t quoted_size(const char *text) {
  for (size_t i = 1; text[i] != '\0'; i++) {
    if (text[i] == '"' && text[i + 1] != '"') {
      return i + 1;
    }
    i += text[i] == '"';
  }
  return 0;
}

static size_t name_size(const char *text) {
  if (text[0] == '"') {
    return quoted_size(text);
  }
  size_t size = 0;
  while (is_name_character(text[size])) {
    size++;
  }
  return size;
}

bool cli_assignment(cli *c, const char *text, const char **ret_name, const char **ret_value) {
  const size_t size = name_size(text);
  *ret_name = NULL;
  *ret_value = NULL;
  if (size == 0 || text[size] != '=' || text[size + 1] == '=') {
    return true;
  }
  const str name = str_slice(text, size);
  if (text[0] == '"') {
    const char **parts = NULL;
    size_t count = 0;
    if (name_parse(&c->memory, name, &parts, &count, &c->error) != GLV_OK) {
      return false;
    }
    *ret_name = parts[0];
  } else {
    *ret_name = arena_strdup(&c->memory, name);
  }
  *ret_value = text + size + 1;
  return *ret_name != NULL || error_nomem(&c->error, size) == GLV_OK;
}

static void log_line(void *user, int32_t level, const char *text) {
  (void)user;
  (void)level;
  fprintf(stderr, "glaive: warning: %s\n", text);
}

int main(int argc, char **argv) {
  cli c = {0};
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.log = log_line;
  if (glv_env_new(&options, &c.env, &c.error) != GLV_OK) {
    return cli_failed(&c);
  }
  arena_init(&c.memory, c.env);
  int code = cli_parse(&c, argc, argv);
  if (code < 0) {
    code = c.command->run(&c);
  }
  if (fflush(stdout) != 0 || ferror(stdout) != 0) {
    fprintf(stderr, "glaive: the output could not be written\n");
    code = code == EXIT_DONE ? EXIT_FAILED : code;
  }
  glv_conn_free(c.conn);
  arena_dispose(&c.memory);
  glv_env_free(c.env);
  return code;
}
