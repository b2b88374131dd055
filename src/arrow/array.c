/*
 * Arrays and batches as values: references, slices, null counts, arrays of nulls.
 *
 * The children of a nested array and the columns of a batch live in a block behind a counted
 * buffer; when the last reference to the block goes, the arrays in it are released, too. So an
 * array value can be copied by copying the struct and counting at most four buffers, whatever its
 * depth.
 */
#include "arrow/array.h"

#include "arrow/array_private.h"
#include "arrow/bits.h"

const uint8_t array_no_bytes[64] __attribute__((aligned(64))) = {0};

struct children {
  glv_env *env; /* the buffer in front of the block keeps it */
  size_t count;
  array items[];
};

static void children_release(void *owner) {
  struct children *c = owner;
  for (size_t i = 0; i < c->count; i++) {
    array_unref(&c->items[i]);
  }
  mem_free(c->env, c);
}

static glv_status children_new(glv_env *env, size_t count, array **ret_items, buffer **ret_owner,
                               glv_error *err) {
  size_t size;
  struct children *c = NULL;
  if (size_mul(count, sizeof(array), &size) && size_add(size, sizeof *c, &size)) {
    c = mem_zalloc(env, size);
  }
  if (c == NULL) {
    return error_nomem(err, count * sizeof(array));
  }
  c->env = env;
  c->count = count;
  TRY(buffer_wrap(env, c->items, count * sizeof(array), children_release, c, ret_owner, err));
  *ret_items = c->items;
  return GLV_OK;
}

glv_status array_new_children(glv_env *env, size_t count, array *parent, glv_error *err) {
  TRY(children_new(env, count, &parent->children, &parent->child_owner, err));
  parent->child_count = count;
  return GLV_OK;
}

array_layout array_layout_of(const type *t) {
  switch (t->kind) {
  case TYPE_NONE:
  case TYPE_NULL:
    return LAYOUT_NULL;
  case TYPE_BOOL:
    return LAYOUT_BOOL;
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
  case TYPE_UTF8_VIEW:
  case TYPE_BINARY:
  case TYPE_LARGE_BINARY:
  case TYPE_BINARY_VIEW:
    return LAYOUT_BYTES;
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_MAP:
    return LAYOUT_LIST;
  case TYPE_FIXED_SIZE_LIST:
    return LAYOUT_FIXED_LIST;
  case TYPE_STRUCT:
    return LAYOUT_STRUCT;
  default: /* everything else has a width */
    return LAYOUT_FIXED;
  }
}

size_t array_value_width(const type *t) {
  return t->kind == TYPE_DICTIONARY ? type_width(type_simple(t->index)) : type_width(t);
}

array array_empty(const type *t, size_t length) {
  array a = {.type = t, .length = length, .values = array_no_bytes, .data = array_no_bytes};
  a.null_count = t->kind == TYPE_NULL ? length : 0;
  return a;
}

glv_status array_check_offset_range(const type *t, size_t bytes, glv_error *err) {
  if (type_offset_width(t->kind) == 4 && bytes > INT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "%zu bytes or items do not fit into one array of type %s", bytes,
                TYPE_TEXT(t));
  }
  return GLV_OK;
}

array array_ref(const array *a) {
  for (size_t i = 0; i < 3; i++) {
    buffer_ref(a->owners[i]);
  }
  buffer_ref(a->child_owner);
  return *a;
}

void array_unref(array *a) {
  for (size_t i = 0; i < 3; i++) {
    buffer_unref(a->owners[i]);
  }
  buffer_unref(a->child_owner);
  *a = (array){0};
}

size_t array_null_count(const array *a) {
  if (a->type->kind == TYPE_NULL) {
    return a->length;
  }
  if (a->null_count != NULLS_UNKNOWN) {
    return a->null_count;
  }
  if (a->validity == NULL) {
    return 0;
  }
  return a->length - bits_count(a->validity, a->bit_offset, a->length);
}

bool array_has_nulls(const array *a) { return array_null_count(a) != 0; }

/* Children of a struct or fixed_size_list: `items` of each child for one row. */
static bool slice_children(const array *a, size_t first, size_t count, size_t items, array *s) {
  glv_env *env = a->child_owner->env;
  array parent = {0};
  if (array_new_children(env, a->child_count, &parent, NULL) != GLV_OK) {
    return false;
  }
  bool ok = true;
  for (size_t i = 0; ok && i < a->child_count; i++) {
    parent.children[i] = array_slice(&a->children[i], first * items, count * items);
    ok = parent.children[i].type != NULL;
  }
  buffer_unref(s->child_owner);
  s->children = parent.children;
  s->child_owner = parent.child_owner;
  return ok;
}

static const void *advance(const void *values, size_t bytes) {
  return values != NULL ? (const uint8_t *)values + bytes : NULL;
}

array array_slice(const array *a, size_t first, size_t count) {
  array s = array_ref(a);
  bool ok = true;
  s.length = count;
  switch (array_layout_of(a->type)) {
  case LAYOUT_NULL:
    s.null_count = count;
    return s;
  case LAYOUT_BOOL:
    break;
  case LAYOUT_FIXED:
    s.values = advance(a->values, first * array_value_width(a->type));
    break;
  case LAYOUT_BYTES:
  case LAYOUT_LIST:
    s.values = advance(a->values, first * type_offset_width(a->type->kind));
    break;
  case LAYOUT_FIXED_LIST:
    ok = count == a->length || slice_children(a, first, count, (size_t)a->type->width, &s);
    break;
  case LAYOUT_STRUCT:
    ok = count == a->length || a->child_count == 0 || slice_children(a, first, count, 1, &s);
    break;
  }
  s.bit_offset = a->bit_offset + first;
  if (count == 0 || a->validity == NULL) {
    s.null_count = 0;
  } else if (a->null_count == a->length) {
    s.null_count = count;
  } else if (a->null_count != 0 && count != a->length) {
    s.null_count = NULLS_UNKNOWN;
  }
  if (!ok) {
    array_unref(&s);
  }
  return s;
}

glv_status array_new_fixed(glv_env *env, const type *t, size_t length, array *ret,
                           void **ret_values, glv_error *err) {
  array a = array_empty(t, length);
  size_t size = bits_size(length);
  if (t->kind == TYPE_BOOL) {
    TRY(buffer_new_zeroed(env, size, &a.owners[1], err));
  } else {
    if (!size_mul(length, array_value_width(t), &size)) {
      return error_nomem(err, SIZE_MAX);
    }
    TRY(buffer_new(env, size, &a.owners[1], err));
  }
  a.values = a.owners[1]->data;
  a.data = NULL;
  *ret_values = a.owners[1]->data;
  *ret = a;
  return GLV_OK;
}

static glv_status null_children(glv_env *env, const type *t, size_t length, array *a,
                                glv_error *err) {
  size_t items = length;
  if (t->kind == TYPE_FIXED_SIZE_LIST && !size_mul(length, (size_t)t->width, &items)) {
    return error_nomem(err, SIZE_MAX);
  }
  if (t->kind != TYPE_FIXED_SIZE_LIST && t->kind != TYPE_STRUCT) {
    items = 0; /* lists are empty, and nothing refers to the values of a dictionary */
  }
  TRY(array_new_children(env, t->child_count, a, err));
  for (size_t i = 0; i < t->child_count; i++) {
    TRY(array_new_null(env, t->children[i].type, items, &a->children[i], err));
  }
  return GLV_OK;
}

glv_status array_new_null(glv_env *env, const type *t, size_t length, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = array_empty(t, length);
  const array_layout layout = array_layout_of(t);
  size_t size = 0;
  if (layout == LAYOUT_FIXED && !size_mul(length, array_value_width(t), &size)) {
    return error_nomem(err, SIZE_MAX);
  }
  if (layout == LAYOUT_BOOL) {
    size = bits_size(length);
  } else if (layout == LAYOUT_BYTES || layout == LAYOUT_LIST) {
    if (length >= SIZE_MAX / 8) {
      return error_nomem(err, SIZE_MAX);
    }
    size = (length + 1) * type_offset_width(t->kind);
  }
  if (length != 0 && layout != LAYOUT_NULL) {
    TRY(buffer_new_zeroed(env, bits_size(length), &a.owners[0], err));
    a.validity = a.owners[0]->data;
    a.null_count = length;
  }
  if (size != 0) {
    TRY(buffer_new_zeroed(env, size, &a.owners[1], err));
    a.values = a.owners[1]->data;
  }
  if (t->child_count != 0) {
    TRY(null_children(env, t, length, &a, err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

glv_status batch_new(glv_env *env, const schema *s, size_t length, size_t count, batch *ret,
                     glv_error *err) {
  batch b = {.length = length, .column_count = count};
  TRY(children_new(env, count, &b.columns, &b.column_owner, err));
  b.schema = schema_ref(s);
  *ret = b;
  return GLV_OK;
}

void batch_dispose(batch *b) {
  buffer_unref(b->column_owner);
  schema_unref(b->schema);
  *b = (batch){0};
}

batch batch_ref(const batch *b) {
  buffer_ref(b->column_owner);
  schema_ref(b->schema);
  return *b;
}

batch batch_slice(glv_env *env, const batch *b, size_t first, size_t count, glv_error *err,
                  glv_status *ret_status) {
  batch s = {0};
  *ret_status = batch_new(env, b->schema, count, b->column_count, &s, err);
  for (size_t i = 0; *ret_status == GLV_OK && i < b->column_count; i++) {
    if (b->columns[i].type == NULL) {
      continue;
    }
    s.columns[i] = array_slice(&b->columns[i], first, count);
    if (s.columns[i].type == NULL) {
      *ret_status = error_nomem(err, sizeof(array));
    }
  }
  if (*ret_status != GLV_OK) {
    batch_dispose(&s);
  }
  return s;
}

void batch_reader_dispose(batch_reader *r) {
  if (r->dispose != NULL) {
    r->dispose(r->state);
  }
  schema_unref(r->schema);
  *r = (batch_reader){0};
}

size_t array_list_items(const array *a, size_t i, size_t *ret_first) {
  if (a->type->kind == TYPE_FIXED_SIZE_LIST) {
    *ret_first = i * (size_t)a->type->width;
    return (size_t)a->type->width;
  }
  *ret_first = (size_t)array_offset(a, i);
  return (size_t)array_offset(a, i + 1) - *ret_first;
}

#define INDEX_CASE(kind, ctype)                                                                    \
  case kind:                                                                                       \
    return (size_t)ARRAY_VALUES(a, ctype)[i];

size_t array_dictionary_index(const array *a, size_t i) {
  switch (a->type->index) {
    INDEX_CASE(TYPE_INT8, int8_t)
    INDEX_CASE(TYPE_INT16, int16_t)
    INDEX_CASE(TYPE_INT32, int32_t)
    INDEX_CASE(TYPE_UINT8, uint8_t)
    INDEX_CASE(TYPE_UINT16, uint16_t)
    INDEX_CASE(TYPE_UINT32, uint32_t)
  default: /* int64 and uint64; validated indices are small and not negative */
    return (size_t)ARRAY_VALUES(a, uint64_t)[i];
  }
}

/* Types are nested at most LIMIT_TYPE_DEPTH deep. */
glv_status array_retype(glv_env *env, const array *a, const type *t, array *ret, glv_error *err) {
  CLEANUP(array_unref) array made = array_ref(a);
  made.type = t;
  if (a->child_count > 0) {
    buffer_unref(made.child_owner);
    made.child_owner = NULL;
    made.children = NULL;
    made.child_count = 0;
    TRY(array_new_children(env, a->child_count, &made, err));
  }
  for (size_t i = 0; i < a->child_count; i++) {
    TRY(array_retype(env, &a->children[i], t->children[i].type, &made.children[i], err));
  }
  *ret = made;
  made = (array){0};
  return GLV_OK;
}
