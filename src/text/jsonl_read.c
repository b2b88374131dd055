/*
 * Reading JSON Lines: one object a line, members in any order, absent ones null. Without given
 * columns the text is read twice, as for CSV. Members are looked for first where the line before
 * had them.
 */
#include "text/lines.h"
#include "text/shape.h"
#include "text/text_private.h"

enum { DEFAULT_BATCH_ROWS = 65536 };

typedef struct jsonl_reader {
  glv_env *env; /* a reference */
  text_source source;
  text_window window;
  uint64_t line;
  const schema *schema;
  text_columns columns;
  map index;
  buf keys;
  buf scratch;
  bool failed;
} jsonl_reader;

static text_place place(const jsonl_reader *r, str column) {
  return (text_place){r->source.name, r->line, column};
}

static bool is_blank(str line) {
  json_scan in = json_scan_of(line);
  return json_scan_at_end(&in);
}

/* The next line that is not blank. */
static glv_status next_line(jsonl_reader *r, str *ret, bool *ret_found, glv_error *err) {
  do {
    TRY(text_window_line(&r->window, r->line + 1, ret, ret_found, err));
    r->line++;
  } while (*ret_found && is_blank(*ret));
  if (*ret_found && !str_is_utf8(*ret)) {
    const text_place at = place(r, (str){0});
    return text_bad(&at, "the text is not UTF-8", err);
  }
  return GLV_OK;
}

static glv_status restart(jsonl_reader *r, glv_error *err) {
  text_window_dispose(&r->window);
  r->line = 0;
  return text_window_open(&r->window, r->env, &r->source, err);
}

static glv_status failure(const jsonl_reader *r, const json_scan *in, glv_error *err) {
  const text_place at = place(r, (str){0});
  return in->status != GLV_OK ? FAIL(err, in->status, "a JSON string is too large")
                              : text_bad(&at, in->problem, err);
}

/* What follows the object of a line. */
static glv_status end_line(const jsonl_reader *r, json_scan *in, glv_error *err) {
  if (in->problem == NULL && !json_scan_at_end(in)) {
    in->problem = "text after the object of the line";
  }
  return in->problem == NULL ? GLV_OK : failure(r, in, err);
}

/* Names cannot hold NUL or be empty. */
static glv_status check_name(const jsonl_reader *r, str key, glv_error *err) {
  const text_place at = place(r, (str){0});
  if (key.size == 0 || memchr(key.data, 0, key.size) != NULL) {
    return text_bad(&at, "a member has no name that a column can have", err);
  }
  return GLV_OK;
}

static glv_status see_line(jsonl_reader *r, const text_read_options *o, shapes *s, shape *root,
                           str line, glv_error *err) {
  json_scan in = json_scan_of(line);
  bool first = true;
  str key;
  str skipped;
  if (!json_scan_begin(&in, '{')) {
    in.problem = "the line is not a JSON object";
    return failure(r, &in, err);
  }
  while (json_scan_more(&in, '}', &first)) {
    shape *member;
    if (!json_scan_key(&in, &r->keys, &key)) {
      return failure(r, &in, err);
    }
    TRY(check_name(r, key, err));
    const text_place at = place(r, key);
    TRY(shape_member(s, root, key, &member, err));
    if (text_override(o, key) == NULL) {
      TRY(shape_see(s, member, &in, &at, 1, err));
    } else if (!json_scan_skip(&in, &skipped)) {
      return failure(r, &in, err);
    }
  }
  return end_line(r, &in, err);
}

static glv_status make_schema(jsonl_reader *r, const text_read_options *o, shapes *s,
                              const shape *root, schema **ret, glv_error *err) {
  field *fields = ARENA_ARRAY(&s->memory, field, root->count);
  if (fields == NULL) {
    return error_nomem(err, root->count * sizeof *fields);
  }
  for (size_t i = 0; i < root->count; i++) {
    const type *t = text_override(o, root->names[i]);
    t = t != NULL ? t : shape_type(s, root->members[i]);
    if (t == NULL) {
      return error_nomem(err, sizeof *t);
    }
    fields[i] = (field){.name = root->names[i].data, .type = t, .nullable = true};
  }
  if (root->count == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "file '%s' has no columns", r->source.name);
  }
  TRY(schema_new(r->env, fields, root->count, (metadata){0}, ret, err));
  return text_check_overrides(o, *ret, r->source.name, err);
}

static glv_status see_lines(jsonl_reader *r, const text_read_options *o, shapes *s, shape *root,
                            schema **ret, glv_error *err) {
  str line;
  bool found = true;
  if (root == NULL) {
    return error_nomem(err, sizeof *root);
  }
  TRY(restart(r, err));
  for (;;) {
    TRY(next_line(r, &line, &found, err));
    if (!found) {
      return make_schema(r, o, s, root, ret, err);
    }
    TRY(see_line(r, o, s, root, line, err));
  }
}

/* The first pass. */
static glv_status find_schema(jsonl_reader *r, const text_read_options *o, schema **ret,
                              glv_error *err) {
  shapes s;
  shapes_init(&s, r->env);
  shape *root = shape_new(&s);
  const glv_status status = see_lines(r, o, &s, root, ret, err);
  shapes_dispose(&s, root);
  return status;
}

/* Index of the column, looked for at *hint first; SIZE_MAX when there is none. */
static size_t column_of(const jsonl_reader *r, str key, size_t *hint) {
  const schema *s = r->schema;
  if (*hint >= s->field_count || !str_is(key, s->fields[*hint].name)) {
    const uint64_t *slot = map_get(&r->index, key);
    if (slot == NULL) {
      return SIZE_MAX;
    }
    *hint = (size_t)*slot;
  }
  return (*hint)++;
}

static glv_status append_member(jsonl_reader *r, json_scan *in, size_t *hint, glv_error *err) {
  str key;
  if (!json_scan_key(in, &r->keys, &key)) {
    return failure(r, in, err);
  }
  const size_t target = column_of(r, key, hint);
  if (target == SIZE_MAX) {
    return FAIL(err, GLV_E_COLUMN_NOT_FOUND,
                "file '%s' line %llu: there is no column '%.*s' in the table", r->source.name,
                (unsigned long long)r->line, STR_ARG(key));
  }
  const text_place at = place(r, str_of(r->schema->fields[target].name));
  text_column *c = &r->columns.items[target];
  if (c->length != r->columns.rows) {
    return text_bad(&at, "the member is there twice", err);
  }
  if (!r->schema->fields[target].nullable && json_scan_peek(in) == JSON_NULL) {
    return text_bad(&at, "the value is missing and must not be null", err);
  }
  return text_column_json(c, in, &at, &r->scratch, err);
}

static glv_status fill_absent(jsonl_reader *r, glv_error *err) {
  for (size_t i = 0; i < r->columns.count; i++) {
    text_column *c = &r->columns.items[i];
    if (c->length != r->columns.rows) {
      continue;
    }
    if (!r->schema->fields[i].nullable) {
      const text_place at = place(r, str_of(r->schema->fields[i].name));
      return text_bad(&at, "the value is missing and must not be null", err);
    }
    TRY(text_column_null(c, err));
  }
  return GLV_OK;
}

static glv_status append_line(jsonl_reader *r, str line, glv_error *err) {
  json_scan in = json_scan_of(line);
  bool first = true;
  size_t hint = 0;
  if (!json_scan_begin(&in, '{')) {
    in.problem = "the line is not a JSON object";
    return failure(r, &in, err);
  }
  while (json_scan_more(&in, '}', &first)) {
    TRY(append_member(r, &in, &hint, err));
  }
  TRY(end_line(r, &in, err));
  TRY(fill_absent(r, err));
  r->columns.rows++;
  r->columns.bytes += line.size;
  return GLV_OK;
}

static glv_status fill_batch(jsonl_reader *r, batch *ret, bool *ret_end, glv_error *err) {
  str line;
  bool found = true;
  while (found && !text_columns_full(&r->columns)) {
    TRY(next_line(r, &line, &found, err));
    if (found) {
      TRY(append_line(r, line, err));
    }
  }
  *ret_end = r->columns.rows == 0;
  return *ret_end ? GLV_OK : text_columns_finish(&r->columns, ret, err);
}

static glv_status reader_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  jsonl_reader *r = state;
  if (r->failed) {
    return FAIL(err, GLV_E_INVALID_INPUT, "reading file '%s' failed before", r->source.name);
  }
  const glv_status status = fill_batch(r, ret, ret_end, err);
  r->failed = status != GLV_OK;
  return status;
}

static void reader_dispose(void *state) {
  jsonl_reader *r = state;
  glv_env *env = r->env;
  text_window_dispose(&r->window);
  text_columns_dispose(&r->columns);
  map_dispose(&r->index);
  buf_dispose(&r->keys);
  buf_dispose(&r->scratch);
  mem_free(env, r);
  env_unref(env);
}

static glv_status open_columns(jsonl_reader *r, const text_read_options *o, schema **ret,
                               glv_error *err) {
  if (o->columns != NULL) {
    *ret = schema_ref(o->columns);
  } else {
    TRY(find_schema(r, o, ret, err));
  }
  r->schema = *ret;
  for (size_t i = 0; i < r->schema->field_count; i++) {
    uint64_t *slot;
    bool is_new;
    TRY(map_put(&r->index, str_of(r->schema->fields[i].name), &slot, &is_new, err));
    *slot = i;
  }
  TRY(restart(r, err));
  return text_columns_init(&r->columns, r->env, *ret,
                           o->batch_rows != 0 ? o->batch_rows : DEFAULT_BATCH_ROWS, err);
}

glv_status jsonl_reader_open(glv_env *env, text_source source, const text_read_options *options,
                             batch_reader *ret, glv_error *err) {
  static const text_read_options defaults = {0};
  jsonl_reader *r = mem_zalloc(env, sizeof *r);
  schema *s = NULL;
  if (r == NULL) {
    return error_nomem(err, sizeof *r);
  }
  r->env = env_ref(env);
  r->source = source;
  map_init(&r->index, env);
  buf_init(&r->keys, env, LIMIT_RECORD_BYTES);
  buf_init(&r->scratch, env, LIMIT_RECORD_BYTES);
  const glv_status status = open_columns(r, options != NULL ? options : &defaults, &s, err);
  if (status != GLV_OK) {
    reader_dispose(r);
    schema_unref(s);
    return status;
  }
  *ret = (batch_reader){.schema = s, .next = reader_next, .dispose = reader_dispose, .state = r};
  return GLV_OK;
}
