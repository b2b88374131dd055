/*
 * Reading JSON Lines: one object a line, members in any order, absent ones null. Without given
 * columns the text is read twice, as for CSV. Members are looked for first where the line before
 * had them.
 */
#include "text/lines.h"
#include "text/reader.h"
#include "text/shape.h"

typedef struct jsonl_reader {
  text_reader common;
  text_window window;
  uint64_t line;
  buf keys;
} jsonl_reader;

static text_place place(const jsonl_reader *r, str column) {
  return (text_place){r->common.source.name, r->line, column};
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

static glv_status start(void *reader, glv_error *err) {
  jsonl_reader *r = reader;
  text_window_dispose(&r->window);
  r->line = 0;
  return text_window_open(&r->window, r->common.env, &r->common.source, err);
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
    return FAIL(err, GLV_E_INVALID_INPUT, "file '%s' has no columns", r->common.source.name);
  }
  return schema_new(r->common.env, fields, root->count, (metadata){0}, ret, err);
}

static glv_status see_lines(jsonl_reader *r, const text_read_options *o, shapes *s, shape *root,
                            schema **ret, glv_error *err) {
  str line;
  bool found = true;
  if (root == NULL) {
    return error_nomem(err, sizeof *root);
  }
  TRY(start(r, err));
  for (;;) {
    TRY(next_line(r, &line, &found, err));
    if (!found) {
      return make_schema(r, o, s, root, ret, err);
    }
    TRY(see_line(r, o, s, root, line, err));
  }
}

/* The first pass. */
static glv_status find_schema(void *reader, const text_read_options *o, schema **ret,
                              glv_error *err) {
  jsonl_reader *r = reader;
  shapes s;
  shapes_init(&s, r->common.env);
  shape *root = shape_new(&s);
  const glv_status status = see_lines(r, o, &s, root, ret, err);
  shapes_dispose(&s, root);
  return status;
}

/* Index of the column, looked for at *hint first; SIZE_MAX when there is none. */
static size_t column_of(const jsonl_reader *r, str key, size_t *hint) {
  const schema *s = r->common.schema;
  if (*hint >= s->field_count || !str_is(key, s->fields[*hint].name)) {
    const uint64_t *slot = map_get(&r->common.index, key);
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
                "file '%s' line %llu: there is no column '%.*s' in the table",
                r->common.source.name, (unsigned long long)r->line, STR_ARG(key));
  }
  const text_place at = place(r, str_of(r->common.schema->fields[target].name));
  text_column *c = &r->common.columns.items[target];
  if (c->length != r->common.columns.rows) {
    return text_bad(&at, "the member is there twice", err);
  }
  if (!r->common.schema->fields[target].nullable && json_scan_peek(in) == JSON_NULL) {
    return text_bad(&at, "the value is missing and must not be null", err);
  }
  return text_column_json(c, in, &at, &r->common.scratch, err);
}

static glv_status fill_absent(jsonl_reader *r, glv_error *err) {
  for (size_t i = 0; i < r->common.columns.count; i++) {
    text_column *c = &r->common.columns.items[i];
    if (c->length != r->common.columns.rows) {
      continue;
    }
    if (!r->common.schema->fields[i].nullable) {
      const text_place at = place(r, str_of(r->common.schema->fields[i].name));
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
  r->common.columns.rows++;
  r->common.columns.bytes += line.size;
  return GLV_OK;
}

static glv_status append_next(void *reader, bool *ret_found, glv_error *err) {
  jsonl_reader *r = reader;
  str line;
  TRY(next_line(r, &line, ret_found, err));
  return *ret_found ? append_line(r, line, err) : GLV_OK;
}

static glv_status init(void *reader, const text_read_options *o, glv_error *err) {
  jsonl_reader *r = reader;
  (void)o;
  (void)err;
  buf_init(&r->keys, r->common.env, LIMIT_RECORD_BYTES);
  return GLV_OK;
}

static void dispose(void *reader) {
  jsonl_reader *r = reader;
  text_window_dispose(&r->window);
  buf_dispose(&r->keys);
}

glv_status jsonl_reader_open(glv_env *env, text_source source, const text_read_options *options,
                             batch_reader *ret, glv_error *err) {
  static const text_format jsonl = {
      .size = sizeof(jsonl_reader),
      .init = init,
      .find_schema = find_schema,
      .start = start,
      .append = append_next,
      .dispose = dispose,
  };
  return text_reader_open(env, &jsonl, source, options, ret, err);
}
