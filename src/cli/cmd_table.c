/* glaive table: tables. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

glv_table *cli_open_table(cli *c, const char *name, glv_id *ret_id) {
  glv_table *table = NULL;
  if (!cli_name(c, name, ret_id) || !cli_connect(c) ||
      glv_table_open(c->conn, *ret_id, NULL, &table, &c->error) != GLV_OK) {
    return NULL;
  }
  return table;
}

/* The table at the version, tag or branch that the options name; *ret_code is the exit code when it
 * is NULL. */
static glv_table *open_table(cli *c, glv_id *ret_id, int *ret_code) {
  glv_table *table = NULL;
  glv_open_options options = GLV_OPTIONS(glv_open_options);
  options.tag = cli_value(c, "tag");
  options.branch = cli_value(c, "branch");
  *ret_code = EXIT_USAGE;
  if (cli_flag(c, "version") && !cli_number(c, "version", &options.version)) {
    return NULL;
  }
  if (cli_name(c, c->arguments[0], ret_id) && cli_connect(c) &&
      glv_table_open(c->conn, *ret_id, &options, &table, &c->error) == GLV_OK) {
    return table;
  }
  *ret_code = cli_failed(c);
  return NULL;
}

/* ---- import ---- */

static int report_import(cli *c, glv_id id, glv_table *table, uint64_t rows) {
  const uint64_t version = glv_table_version(table);
  if (!c->json) {
    printf("imported %s rows into %s, version %" PRIu64 "\n", cli_count(c, rows),
           cli_name_text(c, id), version);
    return EXIT_DONE;
  }
  json *o = js_new_object();
  if ((js_put(o, "table", js_new_string(str_of(cli_name_text(c, id))), &c->error) |
       js_put(o, "rows", js_new_int((int64_t)rows), &c->error) |
       js_put(o, "version", js_new_int((int64_t)version), &c->error)) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

static int import_new(cli *c, glv_id id, const char *path, const char *format) {
  glv_table_options options = GLV_OPTIONS(glv_table_options);
  options.mode = cli_flag(c, "overwrite") ? GLV_TABLE_OVERWRITE : GLV_TABLE_CREATE;
  options.flags = cli_flag(c, "no-stable-row-ids") ? GLV_TABLE_NO_STABLE_ROW_IDS : 0;
  options.storage_version = cli_value(c, "storage-version");
  if (cli_flag(c, "page-bytes") && !cli_number(c, "page-bytes", &options.page_bytes)) {
    return EXIT_USAGE;
  }
  glv_table *table = NULL;
  uint64_t rows = 0;
  struct ArrowArrayStream data;
  /* Reading a long file only to find the name taken would be unkind. */
  if (options.mode == GLV_TABLE_CREATE &&
      glv_table_open(c->conn, id, NULL, &table, NULL) == GLV_OK) {
    glv_table_free(table);
    error_set(&c->error, GLV_E_TABLE_EXISTS,
              "Table '%s' already exists; use --append or --overwrite", cli_name_text(c, id));
    return cli_failed(c);
  }
  if (!cli_open_rows(c, path, format, NULL, &data) ||
      glv_table_create(c->conn, id, &data, &options, &table, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  int code = EXIT_FAILED;
  if (glv_table_count(table, NULL, NULL, &rows, &c->error) == GLV_OK) {
    code = report_import(c, id, table, rows);
  } else {
    code = cli_failed(c);
  }
  glv_table_free(table);
  return code;
}

static int import_append(cli *c, glv_id id, const char *path, const char *format) {
  glv_table *table = NULL;
  struct ArrowSchema columns;
  struct ArrowArrayStream data;
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  if (glv_table_open(c->conn, id, NULL, &table, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  bool ok = glv_table_schema(table, &columns, &c->error) == GLV_OK;
  if (ok) {
    ok = cli_open_rows(c, path, format, &columns, &data) &&
         glv_table_append(table, &data, NULL, &result, &c->error) == GLV_OK;
    columns.release(&columns);
  }
  const int code = ok ? report_import(c, id, table, result.rows_inserted) : cli_failed(c);
  glv_table_free(table);
  return code;
}

static int import(cli *c) {
  const int modes = cli_flag(c, "append") + cli_flag(c, "overwrite") + cli_flag(c, "create");
  if (modes > 1) {
    return cli_usage(c, "--append, --overwrite and --create exclude each other");
  }
  const char *path = c->arguments[1];
  const char *format = cli_file_format(c, path);
  glv_id id;
  if (format == NULL) {
    return EXIT_USAGE;
  }
  if (!cli_name(c, c->arguments[0], &id) || !cli_connect(c)) {
    return cli_failed(c);
  }
  return cli_flag(c, "append") ? import_append(c, id, path, format)
                               : import_new(c, id, path, format);
}

/* ---- reading ---- */

static int export(cli *c) {
  const char *path = c->arguments[1];
  const char *format = cli_file_format(c, path);
  glv_id id;
  struct ArrowArrayStream stream;
  if (format == NULL) {
    return EXIT_USAGE;
  }
  if (cli_mixes_json(c, format, path)) {
    return cli_usage(c, "--json prints one JSON document; write the rows to a file");
  }
  int code;
  glv_table *table = open_table(c, &id, &code);
  if (table == NULL) {
    return code;
  }
  glv_scan_options options = GLV_OPTIONS(glv_scan_options);
  options.flags = cli_flag(c, "blobs") ? GLV_SCAN_BLOBS : 0;
  const glv_status status = glv_table_scan(table, &options, &stream, &c->error);
  glv_table_free(table);
  return status == GLV_OK ? cli_print_stream(c, &stream, format, path) : cli_failed(c);
}

static int list(cli *c) {
  glv_id parent = {NULL, 0};
  glv_list *tables = NULL;
  if ((c->argument_count > 0 && !cli_name(c, c->arguments[0], &parent)) || !cli_connect(c) ||
      glv_table_list(c->conn, parent, NULL, &tables, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  const int code = cli_print_names(c, tables);
  glv_list_free(tables);
  return code;
}

static int describe(cli *c) {
  glv_id id;
  glv_buf text = {0};
  int code;
  glv_table *table = open_table(c, &id, &code);
  if (table == NULL) {
    return code;
  }
  const glv_status status = glv_table_describe(table, &text, &c->error);
  glv_table_free(table);
  if (status != GLV_OK) {
    return cli_failed(c);
  }
  code = cli_print_object(c, &text, cli_name_text(c, id));
  glv_buf_dispose(&text);
  return code;
}

static int head(cli *c) {
  enum { DEFAULT_HEAD = 10 };
  glv_id id;
  struct ArrowArrayStream stream;
  glv_scan_options options = GLV_OPTIONS(glv_scan_options);
  options.flags = GLV_SCAN_LIMIT;
  options.limit = DEFAULT_HEAD;
  if (cli_flag(c, "rows") && !cli_number(c, "rows", &options.limit)) {
    return EXIT_USAGE;
  }
  int code;
  glv_table *table = open_table(c, &id, &code);
  if (table == NULL) {
    return code;
  }
  const glv_status status = glv_table_scan(table, &options, &stream, &c->error);
  glv_table_free(table);
  return status == GLV_OK ? cli_print_stream(c, &stream, c->json ? "json" : "table", NULL)
                          : cli_failed(c);
}

static int count(cli *c) {
  glv_id id;
  uint64_t rows = 0;
  int code;
  glv_table *table = open_table(c, &id, &code);
  if (table == NULL) {
    return code;
  }
  const glv_status status = glv_table_count(table, cli_value(c, "where"), NULL, &rows, &c->error);
  glv_table_free(table);
  if (status != GLV_OK) {
    return cli_failed(c);
  }
  if (!c->json) {
    printf("%" PRIu64 "\n", rows);
    return EXIT_DONE;
  }
  json *o = js_new_object();
  if (js_put(o, "count", js_new_int((int64_t)rows), &c->error) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

static int versions(cli *c) {
  glv_id id;
  struct ArrowArrayStream stream;
  glv_table *table = cli_open_table(c, c->arguments[0], &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  const glv_status status = glv_table_versions(table, &stream, &c->error);
  glv_table_free(table);
  return status == GLV_OK ? cli_print_stream(c, &stream, c->json ? "json" : "table", NULL)
                          : cli_failed(c);
}

static int drop(cli *c) {
  glv_id id;
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.flags = cli_flag(c, "if-exists") ? GLV_CALL_IF_NEEDED : 0;
  if (!cli_name(c, c->arguments[0], &id) || !cli_connect(c) ||
      glv_table_drop(c->conn, id, &options, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  return cli_done(c, "dropped", "table", id);
}

static const option_spec import_options[] = {
    {"append", 0, OPTION_FLAG, NULL, "add the rows to the table"},
    {"overwrite", 0, OPTION_FLAG, NULL, "replace the table's rows and columns"},
    {"create", 0, OPTION_FLAG, NULL, "make a new table (the default)"},
    {"format", 0, OPTION_VALUE, "F", "csv, jsonl or arrow; else by the file's name"},
    {"types", 0, OPTION_LIST, "C=T", "CSV: the type of a column"},
    {"null", 0, OPTION_VALUE, "TEXT", "CSV: the text that means null, instead of empty and NA"},
    {"no-stable-row-ids", 0, OPTION_FLAG, NULL, "a table that no view can read"},
    {"storage-version", 0, OPTION_VALUE, "V", "of a new table's data files: 2.0, 2.1 or 2.2 (2.2)"},
    {"page-bytes", 0, OPTION_VALUE, "N", "close a page of a column at N raw bytes (8388608)"},
};
/* Which state of the table is read. */
#define AT_OPTIONS                                                                                 \
  {"version", 0, OPTION_VALUE, "N", "an older version"},                                           \
      {"tag", 0, OPTION_VALUE, "TAG", "the version of that name"},                                 \
      {"branch", 0, OPTION_VALUE, "B", "a branch instead of the main one"},

static const option_spec export_options[] = {
    AT_OPTIONS{"format", 0, OPTION_VALUE, "F", "csv, jsonl or arrow; else by the file's name"},
    {"blobs", 0, OPTION_FLAG, NULL, "the bytes of blob columns, not where they are"},
};
static const option_spec describe_options[] = {AT_OPTIONS};
static const option_spec head_options[] = {
    AT_OPTIONS{"rows", 'n', OPTION_VALUE, "N", "how many rows (10)"},
};
static const option_spec count_options[] = {
    AT_OPTIONS{"where", 0, OPTION_VALUE, "E", "count only the rows for which this is true"},
};
static const option_spec drop_options[] = {
    {"if-exists", 0, OPTION_FLAG, NULL, "a missing table is fine"},
};

const command table_commands[] = {
    {"table", "import", "NAME FILE|-", 2, 2, "Make a table from a file, or add to one.",
     import_options, 9, import},
    {"table", "export", "NAME FILE|-", 2, 2, "Write the rows of a table to a file.", export_options,
     5, export},
    {"table", "list", "[NS]", 0, 1, "List the tables of the root, or of a namespace.", NULL, 0,
     list},
    {"table", "describe", "NAME", 1, 1, "Show columns, size and metadata of a table.",
     describe_options, 3, describe},
    {"table", "head", "NAME", 1, 1, "Show the first rows of a table.", head_options, 4, head},
    {"table", "count", "NAME", 1, 1, "Count the rows of a table.", count_options, 4, count},
    {"table", "versions", "NAME", 1, 1, "List the versions of a table.", NULL, 0, versions},
    {"table", "drop", "NAME", 1, 1, "Drop a table.", drop_options, 1, drop},
    {0},
};
