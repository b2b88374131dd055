/*
 * Between stored schemas and Arrow schemas: numbering and describing new fields, and the Arrow view
 * of stored ones.
 */
#include "base/hash.h"
#include "base/limits.h"
#include "format/lance_schema.h"
#include "format/logical_type.h"

/* The hint that readers of version 0.1 files needed; later writers still store it. */
enum { HINT_NONE = 0, HINT_PLAIN = 1, HINT_BYTES = 2 };

/* Names of columns that the engines make up. */
static const char *const RESERVED[] = {"_rowid", "_rowaddr", "_rowoffset",
                                       "_row_created_at_version", "_row_last_updated_at_version"};

static int32_t hint_of(const type *t) {
  if (t->kind == TYPE_NULL) {
    return HINT_NONE;
  }
  return type_is_string(t->kind) || type_is_binary(t->kind) ? HINT_BYTES : HINT_PLAIN;
}

/* Views are stored as what they view. */
static const type *stored_type(arena *a, const type *t) {
  if (t->kind == TYPE_UTF8_VIEW) {
    return type_simple(TYPE_UTF8);
  }
  if (t->kind == TYPE_BINARY_VIEW) {
    return type_simple(TYPE_BINARY);
  }
  return type_copy(a, t);
}

static bool is_list(const type *t) { return t->kind == TYPE_LIST || t->kind == TYPE_LARGE_LIST; }

static glv_status new_field(arena *a, const char *column, const field *from, int32_t parent,
                            unsigned depth, int32_t *next_id, lance_field *to, glv_error *err) {
  const char *text = NULL;
  if (depth < LIMIT_TYPE_DEPTH) {
    TRY(logical_type_print(a, from->type, &text, err));
  }
  if (text == NULL || *next_id == INT32_MAX) {
    return FAIL(err, GLV_E_UNSUPPORTED, "column '%s' has type %s, which cannot be stored yet",
                column, TYPE_TEXT(from->type));
  }
  if (!field_copy(a, from, &to->arrow)) {
    return error_nomem(err, sizeof *to);
  }
  to->id = (*next_id)++;
  to->parent_id = parent;
  to->logical_type = text;
  to->encoding = hint_of(from->type);
  to->is_supported = true;
  if (!is_list(from->type)) {
    to->arrow.type = stored_type(a, from->type);
    return to->arrow.type != NULL ? GLV_OK : error_nomem(err, sizeof(type));
  }
  lance_field *item = ARENA_NEW(a, lance_field);
  if (item == NULL) {
    return error_nomem(err, sizeof *item);
  }
  TRY(new_field(a, column, &from->type->children[0], to->id, depth + 1, next_id, item, err));
  to->children = item;
  to->child_count = 1;
  to->arrow.type = type_list(a, from->type->kind, &item->arrow);
  return to->arrow.type != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status check_name(map *names, const char *name, glv_error *err) {
  if (*name == '\0') {
    return FAIL(err, GLV_E_INVALID_INPUT, "a column has no name");
  }
  if (strchr(name, '.') != NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the column name '%s' contains a dot", name);
  }
  for (size_t i = 0; i < sizeof RESERVED / sizeof RESERVED[0]; i++) {
    if (strcmp(name, RESERVED[i]) == 0) {
      return FAIL(err, GLV_E_INVALID_INPUT, "the column name '%s' is reserved", name);
    }
  }
  uint64_t *value = NULL;
  bool is_new = false;
  TRY(map_put(names, str_of(name), &value, &is_new, err));
  return is_new ? GLV_OK : FAIL(err, GLV_E_INVALID_INPUT, "two columns have the name '%s'", name);
}

static glv_status check_names(glv_env *env, const field *fields, size_t count, glv_error *err) {
  CLEANUP(map_dispose) map names;
  map_init(&names, env);
  for (size_t i = 0; i < count; i++) {
    TRY(check_name(&names, fields[i].name, err));
  }
  return GLV_OK;
}

glv_status lance_schema_from_arrow(arena *a, const field *fields, size_t count, metadata m,
                                   int32_t *next_id, lance_schema **ret, glv_error *err) {
  TRY(check_names(a->env, fields, count, err));
  lance_schema *s = ARENA_NEW(a, lance_schema);
  lance_field *stored = ARENA_ARRAY(a, lance_field, count);
  if (s == NULL || stored == NULL) {
    return error_nomem(err, count * sizeof *stored);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(new_field(a, fields[i].name, &fields[i], -1, 0, next_id, &stored[i], err));
  }
  bool ok = true;
  s->metadata = metadata_copy(a, m, &ok);
  if (!ok) {
    return error_nomem(err, 0);
  }
  s->fields = stored;
  s->field_count = count;
  *ret = s;
  return GLV_OK;
}

glv_status lance_schema_to_arrow(glv_env *env, const lance_schema *s, schema **ret,
                                 glv_error *err) {
  arena a;
  arena_init(&a, env);
  field *fields = ARENA_ARRAY(&a, field, s->field_count);
  glv_status status = fields != NULL ? GLV_OK : error_nomem(err, s->field_count * sizeof *fields);
  for (size_t i = 0; status == GLV_OK && i < s->field_count; i++) {
    fields[i] = s->fields[i].arrow;
    if (!s->fields[i].is_supported) {
      status = FAIL(err, GLV_E_UNSUPPORTED, "column '%s' has type %s, which is not supported yet",
                    fields[i].name, s->fields[i].logical_type);
    }
  }
  if (status == GLV_OK) {
    status = schema_new(env, fields, s->field_count, s->metadata, ret, err);
  }
  arena_dispose(&a);
  return status;
}
