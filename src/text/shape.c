/*
 * Finding types of JSON values. A shape collects what the values of one place were; values of
 * different kinds in one place are refused, because no type holds both without changing one.
 */
#include "text/shape.h"

#include <stdio.h>

#include "base/limits.h"

void shapes_init(shapes *s, glv_env *env) {
  *s = (shapes){.env = env};
  arena_init(&s->memory, env);
  buf_init(&s->scratch, env, LIMIT_RECORD_BYTES);
}

/* Depth is bounded by shape_see. */
static void release(shapes *s, shape *of) {
  if (of == NULL) {
    return;
  }
  for (size_t i = 0; i < of->count; i++) {
    release(s, of->members[i]);
  }
  release(s, of->item);
  mem_free(s->env, of->members);
  mem_free(s->env, of->names);
  map_dispose(&of->index);
}

void shapes_dispose(shapes *s, shape *root) {
  release(s, root);
  arena_dispose(&s->memory);
  buf_dispose(&s->scratch);
}

shape *shape_new(shapes *s) {
  shape *of = ARENA_NEW(&s->memory, shape);
  if (of != NULL) {
    *of = (shape){.fits = FITS_DATE | FITS_TIMESTAMP | FITS_TIMESTAMP_ZONE,
                  .all_i64 = true,
                  .all_u64 = true,
                  .least_items = SIZE_MAX};
    map_init(&of->index, s->env);
    s->count++;
  }
  return of;
}

static glv_status add_member(shapes *s, shape *of, str name, shape **ret, glv_error *err) {
  uint64_t *slot;
  bool is_new;
  if (s->count >= LIMIT_FIELDS) {
    return FAIL(err, GLV_E_LIMIT, "the text has more than %d different columns and members",
                LIMIT_FIELDS);
  }
  TRY(vec_reserve(s->env, &of->members, &of->member_capacity, of->count + 1, sizeof *of->members,
                  err));
  TRY(vec_reserve(s->env, &of->names, &of->name_capacity, of->count + 1, sizeof *of->names, err));
  shape *member = shape_new(s);
  const char *copy = arena_strdup(&s->memory, name);
  if (member == NULL || copy == NULL) {
    return error_nomem(err, sizeof *member);
  }
  of->names[of->count] = str_slice(copy, name.size);
  TRY(map_put(&of->index, of->names[of->count], &slot, &is_new, err));
  *slot = of->count;
  of->members[of->count++] = member;
  *ret = member;
  return GLV_OK;
}

glv_status shape_member(shapes *s, shape *of, str name, shape **ret, glv_error *err) {
  const uint64_t *slot = map_get(&of->index, name);
  if (slot == NULL) {
    return add_member(s, of, name, ret, err);
  }
  *ret = of->members[*slot];
  return GLV_OK;
}

static glv_status failure(const json_scan *in, const text_place *at, glv_error *err) {
  return in->status != GLV_OK ? FAIL(err, in->status, "a JSON string is too large")
                              : text_bad(at, in->problem, err);
}

static const char *kind_name(unsigned kinds) {
  static const char *const names[] = {
      [JSON_BAD] = "",
      [JSON_NULL] = "null",
      [JSON_BOOL] = "a boolean",
      [JSON_NUMBER] = "a number",
      [JSON_STRING] = "a string",
      [JSON_ARRAY] = "an array",
      [JSON_OBJECT] = "an object",
  };
  unsigned kind = JSON_NULL;
  while (kind < JSON_OBJECT && (kinds >> kind & 1) == 0) {
    kind++;
  }
  return names[kind];
}

static glv_status note_kind(shape *of, enum json_kind kind, const text_place *at, glv_error *err) {
  const unsigned bit = 1u << kind;
  const bool after_special = of->any_special && kind != JSON_NUMBER && kind != JSON_STRING;
  if ((of->kinds != 0 && of->kinds != bit) || after_special) {
    char what[128];
    snprintf(what, sizeof what, "%s, where earlier lines have %s; give the column a type",
             kind_name(bit), kind_name(of->kinds != 0 ? of->kinds : 1u << JSON_STRING));
    return text_bad(at, what, err);
  }
  of->kinds = bit;
  return GLV_OK;
}

static glv_status see_number(shape *of, json_scan *in, const text_place *at, glv_error *err) {
  str text;
  bool is_integer;
  int64_t value;
  uint64_t natural;
  if (!json_scan_number(in, &text, &is_integer)) {
    return failure(in, at, err);
  }
  of->any_real = of->any_real || !is_integer;
  of->all_i64 = of->all_i64 && is_integer && text_parse_i64(text, &value);
  of->all_u64 = of->all_u64 && is_integer && text_parse_u64(text, &natural);
  return GLV_OK;
}

/* A special number fits both numbers and strings. */
static glv_status see_string(shapes *s, shape *of, json_scan *in, const text_place *at,
                             glv_error *err) {
  str text;
  if (!json_scan_string(in, &s->scratch, &text)) {
    return failure(in, at, err);
  }
  const unsigned others = of->kinds & ~(1u << JSON_NUMBER | 1u << JSON_STRING);
  if (others == 0 && text_is_special(text)) {
    of->any_special = true;
    of->fits = 0;
    return GLV_OK;
  }
  of->fits = of->fits != 0 ? text_fits(of->fits, text) : 0;
  return note_kind(of, JSON_STRING, at, err);
}

static glv_status see_array(shapes *s, shape *of, json_scan *in, const text_place *at,
                            unsigned depth, glv_error *err) {
  bool first = true;
  size_t count = 0;
  if (of->item == NULL) {
    of->item = shape_new(s);
    if (of->item == NULL) {
      return error_nomem(err, sizeof *of);
    }
  }
  if (!json_scan_begin(in, '[')) {
    return failure(in, at, err);
  }
  while (json_scan_more(in, ']', &first)) {
    TRY(shape_see(s, of->item, in, at, depth + 1, err));
    count++;
  }
  of->least_items = count < of->least_items ? count : of->least_items;
  of->most_items = count > of->most_items ? count : of->most_items;
  return in->problem == NULL ? GLV_OK : failure(in, at, err);
}

static glv_status see_object(shapes *s, shape *of, json_scan *in, const text_place *at,
                             unsigned depth, glv_error *err) {
  bool first = true;
  str key;
  shape *member;
  if (!json_scan_begin(in, '{')) {
    return failure(in, at, err);
  }
  while (json_scan_more(in, '}', &first)) {
    if (!json_scan_key(in, &s->scratch, &key)) {
      return failure(in, at, err);
    }
    TRY(shape_member(s, of, key, &member, err));
    TRY(shape_see(s, member, in, at, depth + 1, err));
  }
  return in->problem == NULL ? GLV_OK : failure(in, at, err);
}

glv_status shape_see(shapes *s, shape *of, json_scan *in, const text_place *at, unsigned depth,
                     glv_error *err) {
  const enum json_kind kind = json_scan_peek(in);
  bool flag;
  if (depth > LIMIT_TYPE_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "file '%s' line %llu: values nest deeper than %d levels",
                at->file, (unsigned long long)at->line, LIMIT_TYPE_DEPTH);
  }
  if (kind == JSON_BAD) {
    return failure(in, at, err);
  }
  if (kind == JSON_NULL) {
    of->any_null = true;
    return json_scan_null(in) ? GLV_OK : failure(in, at, err);
  }
  if (kind != JSON_STRING) {
    TRY(note_kind(of, kind, at, err));
  }
  switch (kind) {
  case JSON_BOOL:
    return json_scan_bool(in, &flag) ? GLV_OK : failure(in, at, err);
  case JSON_NUMBER:
    return see_number(of, in, at, err);
  case JSON_STRING:
    return see_string(s, of, in, at, err);
  case JSON_ARRAY:
    return see_array(s, of, in, at, depth, err);
  case JSON_OBJECT:
    return see_object(s, of, in, at, depth, err);
  case JSON_BAD:
  case JSON_NULL:
    break;
  }
  return failure(in, at, err);
}

static const type *array_type(shapes *s, const shape *of) {
  const shape *items = of->item;
  field item = {.name = "item", .nullable = true};
  if (items->kinds == 1u << JSON_NUMBER && (items->any_real || items->any_special) &&
      !items->any_null && of->least_items == of->most_items && of->most_items <= INT32_MAX) {
    item.type = type_simple(TYPE_FLOAT32);
    return type_fixed_size_list(&s->memory, &item, (int32_t)of->most_items);
  }
  item.type = shape_type(s, items);
  return item.type != NULL ? type_list(&s->memory, TYPE_LIST, &item) : NULL;
}

static const type *object_type(shapes *s, const shape *of) {
  field *fields = ARENA_ARRAY(&s->memory, field, of->count);
  for (size_t i = 0; fields != NULL && i < of->count; i++) {
    fields[i] =
        (field){.name = of->names[i].data, .type = shape_type(s, of->members[i]), .nullable = true};
    if (fields[i].type == NULL) {
      return NULL;
    }
  }
  return fields != NULL ? type_struct(&s->memory, fields, of->count) : NULL;
}

const type *shape_type(shapes *s, const shape *of) {
  if (of->kinds == 1u << JSON_BOOL) {
    return type_simple(TYPE_BOOL);
  }
  if (of->kinds == 1u << JSON_NUMBER) {
    return type_simple(of->any_special ? TYPE_FLOAT64
                       : of->all_i64   ? TYPE_INT64
                       : of->all_u64   ? TYPE_UINT64
                                       : TYPE_FLOAT64);
  }
  if (of->kinds == 1u << JSON_ARRAY) {
    return array_type(s, of);
  }
  if (of->kinds == 1u << JSON_OBJECT) {
    return object_type(s, of);
  }
  return text_fits_type(&s->memory, of->fits, of->kinds != 0 || of->any_special);
}
