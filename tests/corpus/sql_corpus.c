/*
 * The corpus of SQL expressions: every case of cases.jsonl is planned and evaluated over its table
 * and compared with what the reference gave: type and values, or the class of the error.
 *
 * The folder is named by GLAIVE_CASES (it holds sql/cases.jsonl and the tables). The first argument
 * is the file with the least number of cases that must pass. Prints `category: passed/total` and
 * fails when a case of the first milestone (sql/scope1.txt) fails or the number falls. Further
 * arguments are line numbers: only these are run, and told about in detail.
 *
 * A second pass runs without EXPR_STRICT, where the only difference allowed is a value in place of
 * a plan error.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arrow/ipc.h"
#include "corpus/compare_value.h"
#include "corpus/group_case.h"
#include "expr/expr.h"
#include "io/io.h"

enum { CATEGORY_MAX = 128, MESSAGE_SIZE = 512, REPORT_MAX = 2000 };

enum outcome { GOT_VALUES, GOT_PARSE, GOT_PLAN, GOT_EXECUTION, GOT_OTHER };
static const char *const outcome_names[] = {"values", "parse", "plan", "execution", "other"};

struct table {
  batch b;
  schema *stored; /* as in the file: the types of the columns live here */
  schema *schema; /* with the system columns */
  size_t system_first;
};

/* What a scan knows of every row: all three count from 0 here. */
static const char *const system_columns[] = {"_rowid", "_rowaddr", "_rowoffset"};
enum { SYSTEM_COLUMNS = sizeof system_columns / sizeof *system_columns, FIELDS_MAX = 128 };

struct category {
  char name[32];
  unsigned passed;
  unsigned total;
};

struct corpus {
  glv_env *env;
  char folder[512];
  struct table tables[2]; /* table, calm */
  struct category categories[CATEGORY_MAX];
  size_t category_count;
  unsigned char *scope; /* by line, 1-based: in the first milestone */
  size_t lines;
  unsigned passed;
  unsigned total;
  unsigned scope_failed;
  unsigned scope_total;
  unsigned reported;
};

static void die(const char *what, const glv_error *err) {
  (void)fprintf(stderr, "sql_corpus: %s%s%s\n", what, err != NULL ? ": " : "",
                err != NULL ? err->message : "");
  exit(2);
}

static char *read_whole(const char *path, size_t *ret_size) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    die(path, NULL);
  }
  (void)fseek(f, 0, SEEK_END);
  const long size = ftell(f);
  rewind(f);
  char *data = malloc((size_t)size + 1);
  if (data == NULL || fread(data, 1, (size_t)size, f) != (size_t)size) {
    die(path, NULL);
  }
  data[size] = '\0';
  (void)fclose(f);
  *ret_size = (size_t)size;
  return data;
}

static char *read_file(const struct corpus *c, const char *name, size_t *ret_size) {
  char path[600];
  (void)snprintf(path, sizeof path, "%s/sql/%s", c->folder, name);
  return read_whole(path, ret_size);
}

static void add_numbers(struct corpus *c, struct table *t, size_t column, glv_error *err) {
  void *values = NULL;
  array *a = &t->b.columns[column];
  if (array_new_fixed(c->env, t->schema->fields[column].type, t->b.length, a, &values, err) !=
      GLV_OK) {
    die("no memory", err);
  }
  for (size_t i = 0; i < t->b.length; i++) {
    ((uint64_t *)values)[i] = i;
  }
}

/* The table with its system columns behind it. */
static void add_system_columns(struct corpus *c, const batch *from, const schema *s,
                               struct table *t) {
  glv_error err = {0};
  field fields[FIELDS_MAX];
  const size_t count = s->field_count;
  if (count + SYSTEM_COLUMNS > FIELDS_MAX) {
    die("too many columns", NULL);
  }
  memcpy(fields, s->fields, count * sizeof *fields);
  for (size_t i = 0; i < SYSTEM_COLUMNS; i++) {
    fields[count + i] = (field){.name = system_columns[i], .type = type_simple(TYPE_UINT64)};
  }
  if (schema_new(c->env, fields, count + SYSTEM_COLUMNS, s->metadata, &t->schema, &err) != GLV_OK ||
      batch_new(c->env, t->schema, from->length, count + SYSTEM_COLUMNS, &t->b, &err) != GLV_OK) {
    die("no memory", &err);
  }
  for (size_t i = 0; i < count; i++) {
    t->b.columns[i] = array_ref(&from->columns[i]);
  }
  t->system_first = count;
  for (size_t i = 0; i < SYSTEM_COLUMNS; i++) {
    add_numbers(c, t, count + i, &err);
  }
}

static void load_table(struct corpus *c, const char *name, struct table *t) {
  glv_error err = {0};
  size_t size = 0;
  char *data = read_file(c, name, &size);
  struct ipc_memory memory = {(const uint8_t *)data, size, 0};
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  CLEANUP(batch_dispose) batch b = {0};
  bool end = false;
  if (ipc_reader_open(c->env, ipc_memory_source(&memory), &r, &err) != GLV_OK ||
      r.next(r.state, &b, &end, &err) != GLV_OK || end) {
    die(name, &err);
  }
  t->stored = schema_ref(r.schema);
  add_system_columns(c, &b, r.schema, t);
  free(data);
}

static enum outcome outcome_of(glv_status status) {
  switch (status) {
  case GLV_OK:
    return GOT_VALUES;
  case GLV_E_SQL_PARSE:
    return GOT_PARSE;
  case GLV_E_SQL_PLAN:
    return GOT_PLAN;
  case GLV_E_SQL_EXEC:
    return GOT_EXECUTION;
  default:
    return GOT_OTHER;
  }
}

static bool compare_values_of(const value *want, const array *got, unsigned ulp, char *why) {
  if (want->count != got->length) {
    (void)snprintf(why, MESSAGE_SIZE, "%zu values instead of %zu", got->length, want->count);
    return false;
  }
  for (size_t i = 0; i < want->count; i++) {
    if (!value_matches(got, i, &want->items[i], ulp)) {
      (void)snprintf(why, MESSAGE_SIZE, "value %zu differs from %.*s", i,
                     STR_ARG(want->items[i].text));
      return false;
    }
  }
  return true;
}

static bool check_column(const value *one, const type *t, const array *got, char *why) {
  const str want = value_text(one, "type");
  const char *name = TYPE_TEXT(t);
  if (!str_is(want, name)) {
    (void)snprintf(why, MESSAGE_SIZE, "type %s instead of %.*s", name, STR_ARG(want));
    return false;
  }
  const value *tolerance = value_member(one, "tol_ulp");
  const unsigned ulp = tolerance != NULL ? (unsigned)strtoul(tolerance->text.data, NULL, 10) : 0;
  return compare_values_of(value_member(one, "values"), got, ulp, why);
}

static bool check_rows(const value *one, const struct table *t, const uint32_t *rows, size_t count,
                       char *why) {
  const value *want = value_member(one, "values");
  const array *id = &t->b.columns[schema_find(t->schema, STR("id"))];
  if (want->count != count) {
    (void)snprintf(why, MESSAGE_SIZE, "%zu rows instead of %zu", count, want->count);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (!value_matches(id, rows[i], &want->items[i], 0)) {
      (void)snprintf(why, MESSAGE_SIZE, "row %zu differs", i);
      return false;
    }
  }
  return true;
}

/* Plan and evaluate; the values are compared when there are any. */
static enum outcome run(const struct corpus *c, const value *one, unsigned flags, bool *ret_equal,
                        char *why) {
  const struct table *t = &c->tables[str_is(value_text(one, "schema"), "calm") ? 1 : 0];
  const bool is_filter = str_is(value_text(one, "mode"), "filter");
  const expr_scope scope = {t->schema, t->system_first};
  const selection all = {NULL, t->b.length};
  const bool compares = value_member(one, "error_kind") == NULL;
  glv_error err = {0};
  CLEANUP(expr_cleanup) expr *e = NULL;
  CLEANUP(array_unref) array got = {0};
  uint32_t rows[64];
  size_t count = 0;
  glv_status status = (is_filter ? expr_plan_filter : expr_plan_value)(
      c->env, value_text(one, "expr"), &scope, flags, &e, &err);
  if (status == GLV_OK) {
    status = is_filter ? expr_select(e, &t->b, all, rows, &count, &err)
                       : expr_eval(e, &t->b, all, &got, &err);
  }
  if (status != GLV_OK) {
    (void)snprintf(why, MESSAGE_SIZE, "%s", err.message);
    return outcome_of(status);
  }
  if (compares) {
    *ret_equal = is_filter ? check_rows(one, t, rows, count, why)
                           : check_column(one, expr_type(e), &got, why);
  }
  return GOT_VALUES;
}

static bool check_keys(const value *one, const batch *got, char *why) {
  const value *keys = value_member(one, "keys");
  const str want = value_text(one, "key_type");
  const type *t = got->schema->fields[0].type;
  if (keys == NULL) {
    return true;
  }
  if (!str_is(want, TYPE_TEXT(t))) {
    (void)snprintf(why, MESSAGE_SIZE, "keys of type %s instead of %.*s", TYPE_TEXT(t),
                   STR_ARG(want));
    return false;
  }
  return compare_values_of(keys, &got->columns[0], 0, why);
}

/* The same for a grouped query. */
static enum outcome run_group(const struct corpus *c, const value *one, bool *ret_equal,
                              char *why) {
  const struct table *t = &c->tables[str_is(value_text(one, "schema"), "calm") ? 1 : 0];
  glv_error err = {0};
  CLEANUP(batch_dispose) batch got = {0};
  const glv_status status = group_case_run(c->env, &t->b, value_text(one, "group_by"),
                                           value_text(one, "expr"), &got, &err);
  if (status != GLV_OK) {
    (void)snprintf(why, MESSAGE_SIZE, "%s", err.message);
    return outcome_of(status);
  }
  if (value_member(one, "error_kind") == NULL) {
    *ret_equal = check_keys(one, &got, why) &&
                 check_column(one, got.schema->fields[1].type, &got.columns[1], why);
  }
  return GOT_VALUES;
}

static enum outcome expected_outcome(const value *one) {
  const str kind = value_text(one, "error_kind");
  return kind.size == 0          ? GOT_VALUES
         : str_is(kind, "parse") ? GOT_PARSE
         : str_is(kind, "plan")  ? GOT_PLAN
                                 : GOT_EXECUTION;
}

static bool passes(const struct corpus *c, const value *one, bool strict, char *why) {
  const enum outcome want = expected_outcome(one);
  bool equal = false;
  const enum outcome got = str_is(value_text(one, "mode"), "group")
                               ? run_group(c, one, &equal, why)
                               : run(c, one, strict ? EXPR_STRICT : 0, &equal, why);
  if (got == want) {
    return got != GOT_VALUES || equal;
  }
  const bool lazy = want == GOT_EXECUTION && value_member(one, "lazy_ok") != NULL;
  if (got == GOT_VALUES && (lazy || (!strict && want == GOT_PLAN))) {
    return true;
  }
  if (!strict && want == GOT_PLAN && got == GOT_EXECUTION) {
    return true; /* planned after all, and then a value of the table is bad */
  }
  char message[MESSAGE_SIZE + 1];
  (void)snprintf(message, sizeof message, "%s", why);
  (void)snprintf(why, MESSAGE_SIZE, "%s instead of %s: %.300s", outcome_names[got],
                 outcome_names[want], got == GOT_VALUES ? "" : message);
  return false;
}

static struct category *category_of(struct corpus *c, str name) {
  for (size_t i = 0; i < c->category_count; i++) {
    if (str_is(name, c->categories[i].name)) {
      return &c->categories[i];
    }
  }
  if (c->category_count == CATEGORY_MAX) {
    die("too many categories", NULL);
  }
  struct category *found = &c->categories[c->category_count++];
  (void)snprintf(found->name, sizeof found->name, "%.*s", STR_ARG(name));
  return found;
}

static void report(struct corpus *c, size_t line, const value *one, const char *why) {
  if (c->reported++ < REPORT_MAX) {
    (void)printf("FAILED line %zu: %.*s: %s\n", line, STR_ARG(value_text(one, "expr")), why);
  }
}

static void run_case(struct corpus *c, size_t line, str text, bool details) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, c->env);
  const value *one = value_parse(&a, text);
  if (one == NULL) {
    die("cases.jsonl is malformed", NULL);
  }
  char why[MESSAGE_SIZE] = "";
  const bool in_scope = line < c->lines && c->scope[line] != 0;
  struct category *k = category_of(c, value_text(one, "cat"));
  const bool ok = passes(c, one, true, why);
  bool wide_ok = true;
  if (ok) {
    k->passed++;
    c->passed++;
    wide_ok = !in_scope || passes(c, one, false, why);
  }
  k->total++;
  c->total++;
  c->scope_total += in_scope;
  if (in_scope && !(ok && wide_ok)) {
    c->scope_failed++;
  }
  if ((in_scope || details) && !(ok && wide_ok)) {
    report(c, line, one, why);
  }
}

static void load_scope(struct corpus *c, size_t lines) {
  size_t size = 0;
  char *text = read_file(c, "scope1.txt", &size);
  c->lines = lines + 2;
  c->scope = calloc(c->lines, 1);
  if (c->scope == NULL) {
    die("no memory", NULL);
  }
  for (char *at = text; *at != '\0';) {
    const unsigned long line = strtoul(at, &at, 10);
    if (line < c->lines) {
      c->scope[line] = 1;
    }
    while (*at == '\n' || *at == '\r') {
      at++;
    }
  }
  free(text);
}

static size_t count_lines(const char *text) {
  size_t count = 0;
  for (; *text != '\0'; text++) {
    count += *text == '\n';
  }
  return count + 1;
}

/* Whether the line was asked for; no lines asked for = all. */
static bool is_wanted(size_t line, char **lines) {
  for (char **l = lines; *l != NULL; l++) {
    if (strtoul(*l, NULL, 10) == line) {
      return true;
    }
  }
  return *lines == NULL;
}

static void run_all(struct corpus *c, char **lines) {
  size_t size = 0;
  char *text = read_file(c, "cases.jsonl", &size);
  load_scope(c, count_lines(text));
  size_t line = 1;
  for (const char *at = text; *at != '\0'; line++) {
    const char *end = strchr(at, '\n');
    end = end != NULL ? end : at + strlen(at);
    if (end > at && is_wanted(line, lines)) {
      run_case(c, line, str_slice(at, (size_t)(end - at)), *lines != NULL);
    }
    at = *end == '\n' ? end + 1 : end;
  }
  free(text);
}

static int conclude(const struct corpus *c, const char *floor_path) {
  size_t size = 0;
  char *text = read_whole(floor_path, &size);
  const unsigned floor = (unsigned)strtoul(text, NULL, 10);
  free(text);
  for (size_t i = 0; i < c->category_count; i++) {
    (void)printf("%s: %u/%u\n", c->categories[i].name, c->categories[i].passed,
                 c->categories[i].total);
  }
  (void)printf("all: %u/%u (at least %u)\nfirst milestone: %u/%u\n", c->passed, c->total, floor,
               c->scope_total - c->scope_failed, c->scope_total);
  if (c->passed < floor) {
    (void)printf("fewer cases pass than before\n");
  }
  return c->passed < floor || c->scope_failed != 0 ? 1 : 0;
}

int main(int argc, char **argv) {
  glv_error err = {0};
  struct corpus c = {0};
  const char *folder = getenv("GLAIVE_CASES");
  if (argc < 2 || folder == NULL) {
    die("usage: GLAIVE_CASES=folder sql_corpus floor.txt [line...]", NULL);
  }
  (void)snprintf(c.folder, sizeof c.folder, "%s", folder);
  glv_env_options options = {.struct_size = sizeof options, .io = io_local()};
  if (env_new(&options, &c.env, &err) != GLV_OK) {
    die("environment", &err);
  }
  load_table(&c, "table.arrow", &c.tables[0]);
  load_table(&c, "calm.arrow", &c.tables[1]);
  run_all(&c, argv + 2);
  const int result = argc > 2 ? c.passed != c.total : conclude(&c, argv[1]);
  for (size_t i = 0; i < 2; i++) {
    batch_dispose(&c.tables[i].b);
    schema_unref(c.tables[i].schema);
    schema_unref(c.tables[i].stored);
  }
  free(c.scope);
  env_unref(c.env);
  return result;
}
