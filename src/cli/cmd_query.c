/* glaive query: one SELECT statement; glaive search: the rows nearest to a vector. */
#include <stdlib.h>
#include <string.h>

#include <glaive/search.h>

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

/* Where rows go, and in which form. @return EXIT_DONE, or the code of a usage error. */
static int choose_output(cli *c, const char **ret_format, const char **ret_path) {
  const char *path = cli_value(c, "output");
  const char *format = cli_value(c, "format");
  if (format == NULL && path != NULL) {
    format = cli_format_of(path);
  }
  if (format == NULL) {
    format = c->json ? "json" : "table";
  }
  *ret_format = format;
  *ret_path = path;
  if (!is_format(format)) {
    return cli_usage(c, "--format takes table, csv, jsonl or arrow, not '%s'", format);
  }
  if (cli_mixes_json(c, format, path)) {
    return cli_usage(c, "--json prints one JSON document; leave out --format %s", format);
  }
  return EXIT_DONE;
}

static int query(cli *c) {
  const char *format;
  const char *path;
  const int code = choose_output(c, &format, &path);
  struct ArrowArrayStream stream;
  if (code != EXIT_DONE) {
    return code;
  }
  if (!cli_connect(c) || glv_query(c->conn, c->arguments[0], NULL, &stream, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  return cli_print_stream(c, &stream, format, path);
}

/* ---- search ---- */

static bool read_real(cli *c, const char *name, float *ret) {
  const char *text = cli_value(c, name);
  char *end = NULL;
  *ret = strtof(text, &end);
  if (*text == '\0' || *end != '\0') {
    (void)cli_usage(c, "--%s takes a number, not '%s'", name, text);
    return false;
  }
  return true;
}

/* The elements of one --vector, which is "[1, 0.5]" or "1,0.5", at the end of those before. */
static bool read_vector(cli *c, const char *text, float **values, size_t *count) {
  const size_t most = strlen(text) + 1;
  float *all = ARENA_ARRAY(&c->memory, float, *count + most);
  if (all == NULL) {
    (void)error_nomem(&c->error, most * sizeof *all);
    return false;
  }
  if (*count > 0) {
    memcpy(all, *values, *count * sizeof *all);
  }
  *values = all;
  for (const char *at = text; *(at += strspn(at, " [,]")) != '\0';) {
    char *end = NULL;
    all[*count] = strtof(at, &end);
    if (end == at) {
      (void)error_set(&c->error, GLV_E_INVALID_INPUT, "'%s' is no vector; write it as [1, 0.5]",
                      text);
      return false;
    }
    (*count)++;
    at = end;
  }
  return true;
}

static bool read_vectors(cli *c, glv_search_options *o) {
  const option_value *given = cli_option(c, "vector");
  float *values = NULL;
  size_t count = 0;
  for (size_t i = 0; i < given->count; i++) {
    const size_t before = count;
    if (!read_vector(c, given->items[i], &values, &count)) {
      return false;
    }
    if (i > 0 && count - before != o->dimension) {
      (void)error_set(&c->error, GLV_E_INVALID_INPUT, "the vectors have %zu and %zu dimensions",
                      o->dimension, count - before);
      return false;
    }
    o->dimension = count - before;
  }
  o->vectors = values;
  o->vector_count = given->count;
  return true;
}

static bool read_metric(const char *word, int32_t *ret) {
  static const char *const words[] = {"", "l2", "cosine", "dot", "hamming"};
  for (int32_t i = GLV_METRIC_L2; i <= GLV_METRIC_HAMMING; i++) {
    if (strcmp(word, words[i]) == 0) {
      *ret = i;
      return true;
    }
  }
  return false;
}

/* Columns as names, or as NAME=EXPRESSION. */
static bool read_columns(cli *c, glv_pairs *ret) {
  const option_value *given = cli_option(c, "column");
  glv_pair *pairs = ARENA_ARRAY(&c->memory, glv_pair, given->count);
  if (pairs == NULL) {
    (void)error_nomem(&c->error, given->count * sizeof *pairs);
    return false;
  }
  for (size_t i = 0; i < given->count; i++) {
    if (!cli_assignment(c, given->items[i], &pairs[i].name, &pairs[i].value)) {
      return false;
    }
    if (pairs[i].name == NULL) {
      pairs[i].name = given->items[i];
    }
  }
  *ret = (glv_pairs){pairs, given->count};
  return true;
}

/* @return EXIT_DONE, or the code of a usage error. */
static int read_search(cli *c, glv_search_options *o) {
  const char *metric = cli_value(c, "metric");
  o->column = cli_value(c, "in");
  o->filter = cli_value(c, "where");
  o->flags = (cli_flag(c, "afterwards") ? GLV_SEARCH_POSTFILTER : 0) |
             (cli_flag(c, "from") ? GLV_SEARCH_LOWER : 0) |
             (cli_flag(c, "below") ? GLV_SEARCH_UPPER : 0) |
             (cli_flag(c, "limit") ? GLV_SCAN_LIMIT : 0);
  if (metric != NULL && !read_metric(metric, &o->metric)) {
    return cli_usage(c, "--metric takes l2, cosine, dot or hamming, not '%s'", metric);
  }
  if ((cli_flag(c, "limit") && !cli_number(c, "limit", &o->limit)) ||
      (cli_flag(c, "offset") && !cli_number(c, "offset", &o->offset)) ||
      (cli_flag(c, "from") && !read_real(c, "from", &o->lower)) ||
      (cli_flag(c, "below") && !read_real(c, "below", &o->upper))) {
    return EXIT_USAGE;
  }
  return cli_flag(c, "vector") ? EXIT_DONE : cli_usage(c, "no --vector to search for");
}

static int search(cli *c) {
  const char *format;
  const char *path;
  glv_id id;
  struct ArrowArrayStream stream;
  glv_search_options options = GLV_OPTIONS(glv_search_options);
  int code = choose_output(c, &format, &path);
  code = code == EXIT_DONE ? read_search(c, &options) : code;
  if (code != EXIT_DONE) {
    return code;
  }
  if (!read_vectors(c, &options) || !read_columns(c, &options.columns)) {
    return cli_failed(c);
  }
  glv_table *table = cli_open_table(c, c->arguments[0], &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  const glv_status status = glv_table_search(table, &options, &stream, &c->error);
  glv_table_free(table);
  return status == GLV_OK ? cli_print_stream(c, &stream, format, path) : cli_failed(c);
}

static const option_spec query_options[] = {
    {"format", 0, OPTION_VALUE, "F", "table, csv, jsonl or arrow"},
    {"output", 'o', OPTION_VALUE, "FILE", "write to a file instead of the terminal"},
};

static const option_spec search_options[] = {
    {"vector", 'v', OPTION_LIST, "V", "the query, such as \"[1, 0.5]\""},
    {"in", 0, OPTION_VALUE, "C", "the column of vectors, if there are several of that dimension"},
    {"metric", 'm', OPTION_VALUE, "M", "l2, cosine, dot or hamming"},
    {"limit", 'n', OPTION_VALUE, "N", "rows for each query; 10"},
    {"offset", 0, OPTION_VALUE, "N", "nearest rows to skip"},
    {"where", 'w', OPTION_VALUE, "P", "only rows for which this is true"},
    {"afterwards", 0, OPTION_FLAG, NULL, "apply --where to the nearest rows only"},
    {"from", 0, OPTION_VALUE, "X", "only distances from here on"},
    {"below", 0, OPTION_VALUE, "X", "only distances below that"},
    {"column", 'c', OPTION_LIST, "C[=E]", "show this column or expression instead of all"},
    {"format", 0, OPTION_VALUE, "F", "table, csv, jsonl or arrow"},
    {"output", 'o', OPTION_VALUE, "FILE", "write to a file instead of the terminal"},
};

const command query_commands[] = {
    {NULL, "query", "SQL", 1, 1,
     "Run SELECT ... FROM a.b.table [, UNNEST(column) AS alias] [WHERE ...] [GROUP BY ...] [ORDER "
     "BY "
     "...] [LIMIT n] [OFFSET n].",
     query_options, 2, query},
    {NULL, "search", "NAME", 1, 1, "Find the rows whose vectors are nearest to a query vector.",
     search_options, sizeof search_options / sizeof search_options[0], search},
    {0},
};
