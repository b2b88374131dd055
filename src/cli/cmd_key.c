/* glaive key: who may use a server. */
#include "cli/cli.h"
#include "server/keys.h"
#include "server/server.h"

/* The data directory of the server of --db. @return -1, or an exit code. */
static int find_data_dir(cli *c, const char **ret) {
  char *path = NULL;
  if (c->db == NULL) {
    return cli_usage(c, "keys belong to a directory that is served: give --db DIR");
  }
  if (server_data_dir(c->env, c->db, cli_value(c, "data"), &path, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  *ret = arena_strdup(&c->memory, str_of(path));
  mem_free(c->env, path);
  return *ret != NULL ? -1 : (error_nomem(&c->error, 0), cli_failed(c));
}

static const char *text_of(const json *entry, const char *key) {
  return js_string(js_member(entry, key)).data;
}

static int create(cli *c) {
  const char *dir = NULL;
  const char *scope = cli_value(c, "scope");
  const option_value *given = cli_option(c, "namespace");
  json *made = NULL;
  const int code = find_data_dir(c, &dir);
  if (code >= 0) {
    return code;
  }
  if (keys_create(c->env, dir, scope != NULL ? scope : "read",
                  (glv_strs){given->items, given->count}, &made, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  if (c->json) {
    return cli_print_json(c, made);
  }
  printf("%s\n", text_of(made, "key"));
  fprintf(stderr, "key %s (%s); it is shown this once\n", text_of(made, "id"),
          text_of(made, "scope"));
  js_free(made);
  return EXIT_DONE;
}

static const char *joined(cli *c, const json *names) {
  const char *text = "";
  for (size_t i = 0; i < js_count(names) && text != NULL; i++) {
    text = arena_printf(&c->memory, "%s%s%s", text, i > 0 ? " " : "",
                        js_string(js_item(names, i)).data);
  }
  return text != NULL && text[0] != '\0' ? text : "all";
}

static int list(cli *c) {
  static const char *const header[] = {"id", "scope", "namespaces", "created"};
  enum { COLUMNS = 4 };
  const char *dir = NULL;
  json *all = NULL;
  const int code = find_data_dir(c, &dir);
  if (code >= 0) {
    return code;
  }
  if (keys_list(c->env, dir, &all, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  if (c->json) {
    return cli_print_json(c, all);
  }
  const size_t count = js_count(all);
  const char **cells = ARENA_ARRAY(&c->memory, const char *, count *COLUMNS);
  for (size_t i = 0; i < count && cells != NULL; i++) {
    const json *entry = js_item(all, i);
    cells[i * COLUMNS] = text_of(entry, "id");
    cells[i * COLUMNS + 1] = text_of(entry, "scope");
    cells[i * COLUMNS + 2] = joined(c, js_member(entry, "namespaces"));
    cells[i * COLUMNS + 3] = text_of(entry, "created");
  }
  if (cells != NULL) {
    cli_print_table(header, COLUMNS, cells, count);
  }
  js_free(all);
  return cells != NULL ? EXIT_DONE : (error_nomem(&c->error, 0), cli_failed(c));
}

static int revoke(cli *c) {
  const char *dir = NULL;
  const int code = find_data_dir(c, &dir);
  if (code >= 0) {
    return code;
  }
  if (keys_revoke(c->env, dir, c->arguments[0], &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  return cli_done(c, "revoked", "key", (glv_id){c->arguments, 1});
}

static const option_spec create_options[] = {
    {"scope", 0, OPTION_VALUE, "SCOPE", "read, write or admin; each includes the ones before"},
    {"namespace", 0, OPTION_LIST, "NAME", "only for this namespace and what is below it"},
    {"data", 0, OPTION_VALUE, "DIR", "the server's --data"},
};
static const option_spec data_options[] = {
    {"data", 0, OPTION_VALUE, "DIR", "the server's --data"},
};

const command key_commands[] = {
    {"key", "create", "", 0, 0, "Make a key for a server and print it.", create_options, 3, create},
    {"key", "list", "", 0, 0, "List the keys of a server.", data_options, 1, list},
    {"key", "revoke", "ID", 1, 1, "Take a key away.", data_options, 1, revoke},
    {NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL},
};
