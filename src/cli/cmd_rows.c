/* glaive table delete, update, merge: changing rows. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

static int print_result(cli *c, glv_id id, const glv_write_result *r, const char *text) {
  if (!c->json) {
    printf("%s %s, version %" PRIu64 "\n", text, cli_name_text(c, id), r->version);
    return EXIT_DONE;
  }
  json *o = js_new_object();
  if ((js_put(o, "table", js_new_string(str_of(cli_name_text(c, id))), &c->error) |
       js_put(o, "version", js_new_int((int64_t)r->version), &c->error) |
       js_put(o, "rows_inserted", js_new_int((int64_t)r->rows_inserted), &c->error) |
       js_put(o, "rows_updated", js_new_int((int64_t)r->rows_updated), &c->error) |
       js_put(o, "rows_deleted", js_new_int((int64_t)r->rows_deleted), &c->error) |
       js_put(o, "attempts", js_new_int((int64_t)r->attempts), &c->error)) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

static int report(cli *c, glv_status status, glv_id id, const glv_write_result *r, const char *verb,
                  uint64_t rows, const char *preposition) {
  if (status != GLV_OK) {
    return cli_failed(c);
  }
  const char *text =
      arena_printf(&c->memory, "%s %s rows %s", verb, cli_count(c, rows), preposition);
  if (text == NULL) {
    error_nomem(&c->error, 64);
    return cli_failed(c);
  }
  return print_result(c, id, r, text);
}

static int delete_rows(cli *c) {
  const char *where = cli_value(c, "where");
  if (where == NULL) {
    return cli_usage(c, "say which rows with --where E; --where true deletes all");
  }
  glv_id id;
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  glv_table *table = cli_open_table(c, c->arguments[0], &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  const glv_status status = glv_table_delete(table, where, NULL, &result, &c->error);
  glv_table_free(table);
  return report(c, status, id, &result, "deleted", result.rows_deleted, "from");
}

/* --set C=E ...; *ret_code is the exit code after a failure. */
static bool read_assignments(cli *c, glv_pairs *ret, int *ret_code) {
  const option_value *given = cli_option(c, "set");
  glv_pair *pairs = ARENA_ARRAY(&c->memory, glv_pair, given->count);
  *ret_code = EXIT_FAILED;
  if (pairs == NULL) {
    error_nomem(&c->error, given->count * sizeof *pairs);
    *ret_code = cli_failed(c);
    return false;
  }
  for (size_t i = 0; i < given->count; i++) {
    if (!cli_assignment(c, given->items[i], &pairs[i].name, &pairs[i].value)) {
      *ret_code = cli_failed(c);
      return false;
    }
    if (pairs[i].name == NULL) {
      *ret_code = cli_usage(c, "--set takes COLUMN=EXPRESSION, not '%s'", given->items[i]);
      return false;
    }
  }
  *ret = (glv_pairs){pairs, given->count};
  return true;
}

static int update_rows(cli *c) {
  glv_pairs set;
  int code;
  if (!cli_flag(c, "set")) {
    return cli_usage(c, "say what changes with --set COLUMN=EXPRESSION");
  }
  if (!read_assignments(c, &set, &code)) {
    return code;
  }
  glv_id id;
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  glv_table *table = cli_open_table(c, c->arguments[0], &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  const glv_status status =
      glv_table_update(table, set, cli_value(c, "where"), NULL, &result, &c->error);
  glv_table_free(table);
  return report(c, status, id, &result, "updated", result.rows_updated, "of");
}

/* ---- merge ---- */

static glv_merge_options merge_options_of(const cli *c) {
  const option_value *on = cli_option(c, "on");
  glv_merge_options options = GLV_OPTIONS(glv_merge_options);
  options.flags = (cli_flag(c, "when-matched-update") ? GLV_MERGE_UPDATE : 0) |
                  (cli_flag(c, "when-not-matched-insert") ? GLV_MERGE_INSERT : 0) |
                  (cli_flag(c, "when-not-matched-by-source-delete") ? GLV_MERGE_DELETE : 0);
  options.on = (glv_strs){on->items, on->count};
  options.update_if = cli_value(c, "when-matched-update");
  options.delete_if = cli_value(c, "when-not-matched-by-source-delete");
  return options;
}

static int report_merge(cli *c, glv_id id, const glv_write_result *r) {
  const char *text = arena_printf(&c->memory, "inserted %s, updated %s, deleted %s rows in",
                                  cli_count(c, r->rows_inserted), cli_count(c, r->rows_updated),
                                  cli_count(c, r->rows_deleted));
  if (text == NULL) {
    error_nomem(&c->error, 64);
    return cli_failed(c);
  }
  return print_result(c, id, r, text);
}

static int merge_file(cli *c, const char *path, const char *format) {
  const glv_merge_options options = merge_options_of(c);
  glv_id id;
  struct ArrowSchema columns;
  struct ArrowArrayStream data;
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  glv_table *table = cli_open_table(c, c->arguments[0], &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  bool ok = glv_table_schema(table, &columns, &c->error) == GLV_OK;
  if (ok) {
    ok = cli_open_part(c, path, format, &columns, &data) &&
         glv_table_merge(table, &data, &options, &result, &c->error) == GLV_OK;
    columns.release(&columns);
  }
  glv_table_free(table);
  return ok ? report_merge(c, id, &result) : cli_failed(c);
}

static int merge_rows(cli *c) {
  if (!cli_flag(c, "on")) {
    return cli_usage(c, "say which columns are the key with --on COLUMN");
  }
  if (!cli_flag(c, "when-matched-update") && !cli_flag(c, "when-not-matched-insert") &&
      !cli_flag(c, "when-not-matched-by-source-delete")) {
    return cli_usage(c, "say what to do: --when-matched-update, --when-not-matched-insert or "
                        "--when-not-matched-by-source-delete");
  }
  const char *path = c->arguments[1];
  const char *format = cli_file_format(c, path);
  return format != NULL ? merge_file(c, path, format) : EXIT_USAGE;
}

static const option_spec delete_options[] = {
    {"where", 0, OPTION_VALUE, "E", "the rows for which this is true go"},
};
static const option_spec update_options[] = {
    {"set", 0, OPTION_LIST, "C=E", "the new value of a column"},
    {"where", 0, OPTION_VALUE, "E", "only the rows for which this is true"},
};
static const option_spec merge_option_specs[] = {
    {"on", 0, OPTION_LIST, "C", "a key column; rows match when all their keys are equal"},
    {"when-matched-update", 0, OPTION_OPTIONAL_VALUE, "E",
     "rows that match take the new values; only if E over source.x and target.x"},
    {"when-not-matched-insert", 0, OPTION_FLAG, NULL, "rows that match none are added"},
    {"when-not-matched-by-source-delete", 0, OPTION_OPTIONAL_VALUE, "E",
     "rows of the table that match none go; only if E"},
    {"format", 0, OPTION_VALUE, "F", "csv, jsonl or arrow; else by the file's name"},
    {"null", 0, OPTION_VALUE, "TEXT", "CSV: the text that means null, instead of empty and NA"},
};

const command rows_commands[] = {
    {"table", "delete", "NAME", 1, 1, "Delete rows.", delete_options, 1, delete_rows},
    {"table", "update", "NAME", 1, 1, "Set columns of rows.", update_options, 2, update_rows},
    {"table", "merge", "NAME FILE|-", 2, 2, "Update, add and delete rows by key, from a file.",
     merge_option_specs, 6, merge_rows},
    {0},
};
