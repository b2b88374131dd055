/* glaive query: one SELECT statement. */
#include <string.h>

#include "cli/cli.h"

static bool is_format(const char *format) {
  static const char *const formats[] = {"table", "csv", "jsonl", "json", "arrow"};
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    if (strcmp(format, formats[i]) == 0) {
      return true;
    }
  }
  return false;
}

static int query(cli *c) {
  const char *path = cli_value(c, "output");
  const char *format = cli_value(c, "format");
  if (format == NULL && path != NULL) {
    format = cli_format_of(path);
  }
  if (format == NULL) {
    format = c->json ? "json" : "table";
  }
  if (!is_format(format)) {
    return cli_usage(c, "--format takes table, csv, jsonl or arrow, not '%s'", format);
  }
  if (cli_mixes_json(c, format, path)) {
    return cli_usage(c, "--json prints one JSON document; leave out --format %s", format);
  }
  struct ArrowArrayStream stream;
  if (!cli_connect(c) || glv_query(c->conn, c->arguments[0], NULL, &stream, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  return cli_print_stream(c, &stream, format, path);
}

static const option_spec query_options[] = {
    {"format", 0, OPTION_VALUE, "F", "table, csv, jsonl or arrow"},
    {"output", 'o', OPTION_VALUE, "FILE", "write to a file instead of the terminal"},
};

const command query_commands[] = {
    {NULL, "query", "SQL", 1, 1,
     "Run SELECT ... FROM a.b.table [, UNNEST(column) AS alias] [WHERE ...] [GROUP BY ...] [ORDER "
     "BY "
     "...] [LIMIT n] [OFFSET n].",
     query_options, 2, query},
    {0},
};
