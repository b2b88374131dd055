/*
 * Between stored schemas and Arrow schemas: numbering and describing new fields, and the Arrow view
 * of stored ones.
 */
#include "base/hash.h"
#include "base/limits.h"
#include "format/lance_schema_private.h"
#include "format/logical_type.h"

/* The hint that readers of version 0.1 files needed; later writers still store it. */
enum { HINT_NONE = 0, HINT_PLAIN = 1, HINT_BYTES = 2, HINT_DICTIONARY = 3 };

/* Names of columns that the engines make up. */
static const char *const RESERVED[] = {"_rowid", "_rowaddr", "_rowoffset",
                                       "_row_created_at_version", "_row_last_updated_at_version"};

static int32_t hint_of(const type *t) {
  if (t->kind == TYPE_NULL || t->kind == TYPE_STRUCT) {
    return HINT_NONE;
  }
  if (t->kind == TYPE_DICTIONARY) {
    return HINT_DICTIONARY;
  }
  return type_is_string(t->kind) || type_is_binary(t->kind) ? HINT_BYTES : HINT_PLAIN;
}

/* Views are stored as what they view. */
static const type *plain_type(const type *t) {
  if (t->kind == TYPE_UTF8_VIEW) {
    return type_simple(TYPE_UTF8);
  }
  return t->kind == TYPE_BINARY_VIEW ? type_simple(TYPE_BINARY) : t;
}

/* The type of a field without stored children, as it comes back: items are called "item" and may be
 * null, dictionaries are not ordered. NULL: no memory. */
static const type *leaf_type(arena *a, const type *t) {
  if (t->kind == TYPE_DICTIONARY) {
    return type_dictionary(a, t->index, plain_type(t->children[0].type));
  }
  if (t->kind != TYPE_FIXED_SIZE_LIST) {
    return type_copy(a, plain_type(t));
  }
  field item = t->children[0];
  item.name = "item";
  item.nullable = true;
  item.type = leaf_type(a, item.type);
  return item.type != NULL ? type_fixed_size_list(a, &item, t->width) : NULL;
}

static bool has_stored_children(const type *t) {
  switch ((int)t->kind) {
  case TYPE_STRUCT:
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_MAP:
    return true;
  case TYPE_FIXED_SIZE_LIST:
    return t->children[0].type->kind == TYPE_STRUCT;
  default: /* everything else is a leaf */
    return false;
  }
}

/* The type of a field from its stored children. */
static const type *type_of_children(arena *a, const type *from, const lance_field *f) {
  type t = *from;
  field *children = ARENA_ARRAY(a, field, f->child_count);
  if (children == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < f->child_count; i++) {
    children[i] = f->children[i].arrow;
  }
  t.children = children;
  return type_copy(a, &t);
}

static glv_status new_fields(arena *a, const char *column, const field *from, size_t count,
                             int32_t parent, unsigned depth, int32_t *next_id,
                             const lance_field **ret, glv_error *err);

static glv_status new_field(arena *a, const char *column, const field *from, int32_t parent,
                            unsigned depth, int32_t *next_id, lance_field *to, glv_error *err) {
  const char *text = NULL;
  if (depth < LIMIT_TYPE_DEPTH) {
    TRY(logical_type_print(a, from, &text, err));
  }
  if (text == NULL || *next_id == INT32_MAX) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "column '%s' has type %s, which Lance cannot store; cast it to another type or "
                "leave it out",
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
  if (has_stored_children(from->type)) {
    to->child_count = from->type->child_count;
    TRY(new_fields(a, column, from->type->children, to->child_count, to->id, depth + 1, next_id,
                   &to->children, err));
    to->arrow.type = type_of_children(a, from->type, to);
  } else {
    to->arrow.type = leaf_type(a, from->type);
  }
  lance_field_classify(to);
  return to->arrow.type != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status new_fields(arena *a, const char *column, const field *from, size_t count,
                             int32_t parent, unsigned depth, int32_t *next_id,
                             const lance_field **ret, glv_error *err) {
  lance_field *fields = ARENA_ARRAY(a, lance_field, count);
  if (fields == NULL) {
    return error_nomem(err, count * sizeof *fields);
  }
  for (size_t i = 0; i < count; i++) {
    const char *name = column != NULL ? column : from[i].name;
    TRY(new_field(a, name, &from[i], parent, depth, next_id, &fields[i], err));
  }
  *ret = fields;
  return GLV_OK;
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
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  TRY(new_fields(a, NULL, fields, count, -1, 0, next_id, &s->fields, err));
  bool ok = true;
  s->metadata = metadata_copy(a, m, &ok);
  if (!ok) {
    return error_nomem(err, 0);
  }
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
      status =
          FAIL(err, GLV_E_UNSUPPORTED,
               "column '%s' has type %s, which this release does not read; choose other columns",
               fields[i].name, s->fields[i].logical_type);
    }
  }
  if (status == GLV_OK) {
    status = schema_new(env, fields, s->field_count, s->metadata, ret, err);
  }
  arena_dispose(&a);
  return status;
}
