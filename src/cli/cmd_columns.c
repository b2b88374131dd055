/* glaive table columns: adding, altering and dropping columns. */
#include <inttypes.h>
#include <string.h>

#include "arrow/cdata.h"
#include "cli/cli.h"

/* The table is opened when everything that was typed makes sense. */
static glv_table *open_table(cli *c, glv_id *ret_id) {
  return cli_open_table(c, c->arguments[1], ret_id);
}

/* The end of a change: the table is released, and the outcome told. */
static int report(cli *c, glv_table *table, glv_status status, const char *done, glv_id id,
                  const glv_write_result *result) {
  glv_table_free(table);
  if (status != GLV_OK) {
    return cli_failed(c);
  }
  if (!c->json) {
    printf("%s table %s, version %" PRIu64 "\n", done, cli_name_text(c, id), result->version);
    return EXIT_DONE;
  }
  json *o = js_new_object();
  if ((js_put(o, "table", js_new_string(str_of(cli_name_text(c, id))), &c->error) |
       js_put(o, "version", js_new_int((int64_t)result->version), &c->error)) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

/* ---- add ---- */

/* The expressions among the arguments. @return false after a usage error or with c->error set. */
static bool read_expressions(cli *c, glv_pairs *ret, int *ret_code) {
  const size_t count = c->argument_count - 2;
  glv_pair *items = ARENA_ARRAY(&c->memory, glv_pair, count);
  *ret_code = EXIT_FAILED;
  if (items == NULL) {
    return error_nomem(&c->error, count * sizeof *items) == GLV_OK;
  }
  for (size_t i = 0; i < count; i++) {
    if (!cli_assignment(c, c->arguments[i + 2], &items[i].name, &items[i].value)) {
      return false;
    }
    if (items[i].name == NULL) {
      *ret_code = cli_usage(c, "'table columns add' takes COLUMN=EXPRESSION, not '%s'",
                            c->arguments[i + 2]);
      return false;
    }
  }
  *ret = (glv_pairs){items, count};
  return true;
}

/* --null COLUMN=TYPE ... as fields. */
static bool read_null_fields(cli *c, field **ret, int *ret_code) {
  const option_value *given = cli_option(c, "null");
  field *fields = ARENA_ARRAY(&c->memory, field, given->count);
  *ret_code = EXIT_FAILED;
  if (fields == NULL) {
    return error_nomem(&c->error, given->count * sizeof *fields) == GLV_OK;
  }
  for (size_t i = 0; i < given->count; i++) {
    const char *type_name = NULL;
    fields[i].nullable = true;
    if (!cli_assignment(c, given->items[i], &fields[i].name, &type_name)) {
      return false;
    }
    if (fields[i].name == NULL) {
      *ret_code = cli_usage(c, "--null takes COLUMN=TYPE, not '%s'", given->items[i]);
      return false;
    }
    if (type_parse(&c->memory, str_of(type_name), &fields[i].type, &c->error) != GLV_OK) {
      return false;
    }
  }
  *ret = fields;
  return true;
}

static glv_status add_nulls(cli *c, glv_table *table, const field *fields, glv_write_result *ret) {
  CLEANUP(schema_cleanup) schema *s = NULL;
  struct ArrowSchema columns;
  TRY(schema_new(c->env, fields, cli_option(c, "null")->count, (metadata){0}, &s, &c->error));
  TRY(cdata_export_schema(c->env, s, &columns, &c->error));
  const glv_status status = glv_table_add_null_columns(table, &columns, NULL, ret, &c->error);
  columns.release(&columns);
  return status;
}

static int add(cli *c) {
  glv_pairs columns;
  field *nulls = NULL;
  int code;
  glv_id id;
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  const bool has_nulls = cli_flag(c, "null");
  if (has_nulls == (c->argument_count > 2)) {
    return cli_usage(c, "'table columns add' takes either COLUMN=EXPRESSION or --null COLUMN=TYPE");
  }
  if (has_nulls ? !read_null_fields(c, &nulls, &code) : !read_expressions(c, &columns, &code)) {
    return code == EXIT_USAGE ? code : cli_failed(c);
  }
  glv_table *table = open_table(c, &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  const glv_status status = has_nulls
                                ? add_nulls(c, table, nulls, &result)
                                : glv_table_add_columns(table, columns, NULL, &result, &c->error);
  return report(c, table, status, "added columns to", id, &result);
}

/* ---- alter ---- */

/* PATH=VALUE at the first `=` that is not in backticks. */
static bool split_change(cli *c, const char *text, char **ret_path, const char **ret_value) {
  bool is_quoted = false;
  size_t size = 0;
  for (; text[size] != '\0' && (is_quoted || text[size] != '='); size++) {
    is_quoted ^= text[size] == '`';
  }
  *ret_path = arena_strdup(&c->memory, str_slice(text, size));
  *ret_value = text[size] == '=' ? text + size + 1 : NULL;
  return *ret_path != NULL || error_nomem(&c->error, size) == GLV_OK;
}

/* Adds {"path": ..., key: value} to the changes. */
static glv_status push_change(cli *c, json *changes, const char *path, const char *key,
                              json *value) {
  json *change = js_new_object();
  if ((js_put(change, "path", js_new_string(str_of(path)), &c->error) |
       js_put(change, key, value, &c->error)) != GLV_OK) {
    js_free(change);
    return GLV_E_NOMEM;
  }
  return js_push(changes, change, &c->error);
}

/* Options of the form PATH=VALUE. @return -1, or an exit code. */
static int push_assignments(cli *c, json *changes, const char *option, const char *key) {
  const option_value *given = cli_option(c, option);
  for (size_t i = 0; i < given->count; i++) {
    char *path;
    const char *value;
    if (!split_change(c, given->items[i], &path, &value)) {
      return cli_failed(c);
    }
    if (value == NULL) {
      return cli_usage(c, "--%s takes COLUMN=%s, not '%s'", option,
                       strcmp(key, "rename") == 0 ? "NAME" : "TYPE", given->items[i]);
    }
    if (push_change(c, changes, path, key, js_new_string(str_of(value))) != GLV_OK) {
      return cli_failed(c);
    }
  }
  return -1;
}

static int push_nullability(cli *c, json *changes, const char *option, bool nullable) {
  const option_value *given = cli_option(c, option);
  for (size_t i = 0; i < given->count; i++) {
    if (push_change(c, changes, given->items[i], "nullable", js_new_bool(nullable)) != GLV_OK) {
      return cli_failed(c);
    }
  }
  return -1;
}

static int read_changes(cli *c, json *changes) {
  int code = push_assignments(c, changes, "rename", "rename");
  code = code < 0 ? push_assignments(c, changes, "type", "data_type") : code;
  code = code < 0 ? push_nullability(c, changes, "nullable", true) : code;
  return code < 0 ? push_nullability(c, changes, "not-null", false) : code;
}

/* The changes that the options say, as text. @return -1, or an exit code. */
static int print_changes(cli *c, buf *text) {
  CLEANUP(js_cleanup) json *changes = js_new_array();
  const int code = read_changes(c, changes);
  if (code >= 0) {
    return code;
  }
  if (js_count(changes) == 0 || c->argument_count > 2) {
    return cli_usage(c, "'table columns alter' takes NAME and what to alter as options");
  }
  if (js_print(changes, 0, 17, text, &c->error) != GLV_OK ||
      buf_append(text, "", 1, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  return -1;
}

static int alter(cli *c) {
  glv_id id;
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, c->env, SIZE_MAX / 2);
  const int code = print_changes(c, &text);
  if (code >= 0) {
    return code;
  }
  glv_table *table = open_table(c, &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  const glv_status status = glv_table_alter_columns(table, text.data, NULL, &result, &c->error);
  return report(c, table, status, "altered columns of", id, &result);
}

/* ---- drop ---- */

static int drop(cli *c) {
  glv_id id;
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  if (c->argument_count < 3) {
    return cli_usage(c, "'table columns drop' takes NAME and the columns");
  }
  glv_table *table = open_table(c, &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  const glv_strs columns = {c->arguments + 2, c->argument_count - 2};
  const glv_status status = glv_table_drop_columns(table, columns, NULL, &result, &c->error);
  return report(c, table, status, "dropped columns of", id, &result);
}

/* ---- the command ---- */

/* Options that are given although the action does not take them. */
static const char *foreign_option(const cli *c, bool is_add, bool is_alter) {
  static const char *const altering[] = {"rename", "type", "nullable", "not-null"};
  for (size_t i = 0; !is_alter && i < sizeof altering / sizeof altering[0]; i++) {
    if (cli_flag(c, altering[i])) {
      return altering[i];
    }
  }
  return !is_add && cli_flag(c, "null") ? "null" : NULL;
}

static int columns(cli *c) {
  const str action = str_of(c->arguments[0]);
  const bool is_add = str_is(action, "add");
  const bool is_alter = str_is(action, "alter");
  if (!is_add && !is_alter && !str_is(action, "drop")) {
    return cli_usage(c, "'table columns' adds, alters or drops columns; '%s' is none of these",
                     c->arguments[0]);
  }
  const char *foreign = foreign_option(c, is_add, is_alter);
  if (foreign != NULL) {
    return cli_usage(c, "'table columns %s' takes no --%s", c->arguments[0], foreign);
  }
  return is_add ? add(c) : is_alter ? alter(c) : drop(c);
}

static const option_spec columns_options[] = {
    {"null", 0, OPTION_LIST, "C=TYPE", "add: a column that is null in every row"},
    {"rename", 0, OPTION_LIST, "A=B", "alter: another name"},
    {"type", 0, OPTION_LIST, "C=TYPE", "alter: cast to another type of the same family"},
    {"nullable", 0, OPTION_LIST, "C", "alter: may be null"},
    {"not-null", 0, OPTION_LIST, "C", "alter: may not be null; fails if it is"},
};

const command columns_commands[] = {
    {"table", "columns", "add NAME [C=E...] | alter NAME | drop NAME C...", 2, SIZE_MAX,
     "Add, alter or drop columns.", columns_options, 5, columns},
    {0},
};
