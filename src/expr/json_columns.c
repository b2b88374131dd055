/*
 * JSON columns between their stored and their shown form. Types are rebuilt along the path to each
 * JSON field, arrays likewise: what is not JSON is shared, not copied.
 */
#include "expr/json_columns.h"

#include "arrow/builder.h"
#include "base/limits.h"
#include "expr/jsonb.h"

#define STORED "lance.json"

bool json_is_column(const field *f, enum json_direction d) {
  const str name = metadata_get(f->metadata, STR(JSON_EXTENSION_KEY), NULL);
  return d == JSON_STORE ? str_is(name, JSON_SHOWN_EXTENSION) && type_is_string(f->type->kind)
                         : str_is(name, STORED) && type_is_binary(f->type->kind);
}

/* Types are at most LIMIT_TYPE_DEPTH deep. */
static bool has_json(const field *f, enum json_direction d) {
  bool found = json_is_column(f, d);
  for (size_t i = 0; !found && i < f->type->child_count; i++) {
    found = has_json(&f->type->children[i], d);
  }
  return found;
}

static bool schema_has_json(const schema *s, enum json_direction d) {
  bool found = false;
  for (size_t i = 0; !found && i < s->field_count; i++) {
    found = has_json(&s->fields[i], d);
  }
  return found;
}

/* ---- schemas ---- */

/* The same pairs but for the name of the extension. */
static metadata other_metadata(arena *a, metadata m, enum json_direction d) {
  pair *pairs = ARENA_ARRAY(a, pair, m.count + 1);
  size_t count = 0;
  if (pairs == NULL) {
    return (metadata){0};
  }
  pairs[count++] =
      (pair){STR(JSON_EXTENSION_KEY), d == JSON_STORE ? STR(STORED) : STR(JSON_SHOWN_EXTENSION)};
  for (size_t i = 0; i < m.count; i++) {
    if (!str_is(m.pairs[i].key, JSON_EXTENSION_KEY)) {
      pairs[count++] = m.pairs[i];
    }
  }
  return (metadata){pairs, count};
}

static bool other_field(arena *a, const field *from, enum json_direction d, field *to) {
  *to = *from;
  if (json_is_column(from, d)) {
    to->type = type_simple(d == JSON_STORE ? TYPE_LARGE_BINARY : TYPE_UTF8);
    to->metadata = other_metadata(a, from->metadata, d);
    return to->metadata.count != 0;
  }
  if (!has_json(from, d)) {
    return true;
  }
  type *t = ARENA_NEW(a, type);
  field *children = ARENA_ARRAY(a, field, from->type->child_count);
  if (t == NULL || children == NULL) {
    return false;
  }
  *t = *from->type;
  t->children = children;
  to->type = t;
  bool ok = true;
  for (size_t i = 0; ok && i < t->child_count; i++) {
    ok = other_field(a, &from->type->children[i], d, &children[i]);
  }
  return ok;
}

glv_status json_schema(glv_env *env, const schema *s, enum json_direction d, schema **ret,
                       glv_error *err) {
  if (!schema_has_json(s, d)) {
    *ret = schema_ref(s);
    return GLV_OK;
  }
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  field *fields = ARENA_ARRAY(&a, field, s->field_count);
  bool ok = fields != NULL;
  for (size_t i = 0; ok && i < s->field_count; i++) {
    ok = other_field(&a, &s->fields[i], d, &fields[i]);
  }
  return ok ? schema_new(env, fields, s->field_count, s->metadata, ret, err)
            : error_nomem(err, s->field_count * sizeof *fields);
}

/* ---- rows ---- */

static glv_status convert_value(glv_env *env, str value, enum json_direction d, const char *column,
                                buf *out, glv_error *err) {
  glv_error reason = {0};
  glv_status status;
  if (d == JSON_STORE) {
    status = jsonb_parse(env, value, out, &reason);
  } else {
    jsonb document;
    status = jsonb_open(value, &document) ? jsonb_print(&document, out, &reason) : GLV_E_SQL_EXEC;
  }
  if (status == GLV_E_INVALID_INPUT) {
    return FAIL(err, status, "column '%s': %s", column, reason.message);
  }
  if (status == GLV_E_SQL_EXEC) {
    return FAIL(err, GLV_E_CORRUPT, "column '%s' holds a JSON document that is not well-formed",
                column);
  }
  if (status != GLV_OK && err != NULL) {
    *err = reason;
  }
  return status;
}

static glv_status convert_values(glv_env *env, const array *from, const field *to,
                                 enum json_direction d, array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, env, to->type);
  buf_init(&text, env, LIMIT_JSON_BYTES);
  TRY(builder_reserve(&b, from->length, 0, err));
  for (size_t i = 0; i < from->length; i++) {
    if (!array_is_valid(from, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    buf_clear(&text);
    TRY(convert_value(env, array_str(from, i), d, to->name, &text, err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

/* from is the array of `was`; *ret gets types of `to`. Depth: LIMIT_TYPE_DEPTH. */
static glv_status convert(glv_env *env, const array *from, const field *was, const field *to,
                          enum json_direction d, array *ret, glv_error *err) {
  if (json_is_column(was, d)) {
    return convert_values(env, from, to, d, ret, err);
  }
  *ret = array_ref(from);
  ret->type = to->type;
  if (!has_json(was, d)) {
    return GLV_OK;
  }
  buffer_unref(ret->child_owner);
  ret->child_owner = NULL;
  ret->children = NULL;
  ret->child_count = 0;
  glv_status status = array_new_children(env, from->child_count, ret, err);
  for (size_t i = 0; status == GLV_OK && i < from->child_count; i++) {
    status = convert(env, &from->children[i], &was->type->children[i], &to->type->children[i], d,
                     &ret->children[i], err);
  }
  if (status != GLV_OK) {
    array_unref(ret);
  }
  return status;
}

typedef struct json_state {
  glv_env *env; /* a reference */
  enum json_direction direction;
  batch_reader inner;
  schema *shown; /* of the batches that come out; borrowed from the reader */
} json_state;

static glv_status json_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  json_state *s = state;
  CLEANUP(batch_dispose) batch in = {0};
  TRY(s->inner.next(s->inner.state, &in, ret_end, err));
  if (*ret_end) {
    return GLV_OK;
  }
  CLEANUP(batch_dispose) batch out = {0};
  TRY(batch_new(s->env, s->shown, in.length, in.column_count, &out, err));
  for (size_t i = 0; i < in.column_count; i++) {
    TRY(convert(s->env, &in.columns[i], &s->inner.schema->fields[i], &s->shown->fields[i],
                s->direction, &out.columns[i], err));
  }
  *ret = out;
  out = (batch){0};
  return GLV_OK;
}

static void json_dispose(void *state) {
  json_state *s = state;
  glv_env *env = s->env;
  batch_reader_dispose(&s->inner);
  mem_free(env, s);
  env_unref(env);
}

glv_status json_reader(glv_env *env, enum json_direction d, batch_reader *r, glv_error *err) {
  if (!schema_has_json(r->schema, d)) {
    return GLV_OK;
  }
  schema *shown = NULL;
  json_state *s = mem_zalloc(env, sizeof *s);
  const glv_status status =
      s != NULL ? json_schema(env, r->schema, d, &shown, err) : error_nomem(err, sizeof *s);
  if (status != GLV_OK) {
    mem_free(env, s);
    batch_reader_dispose(r);
    return status;
  }
  *s = (json_state){.env = env_ref(env), .direction = d, .inner = *r, .shown = shown};
  *r = (batch_reader){.schema = shown, .next = json_next, .dispose = json_dispose, .state = s};
  return GLV_OK;
}
