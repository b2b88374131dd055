/*
 * Packed structs: the children of each value lie together. When all are plain numbers a value has a
 * fixed width (PackedStruct); with vectors or text it is a piece of bytes in a full-zip page
 * (VariablePackedStruct, lance-file-format 8.6): children of fixed width as they are, text with its
 * length in front.
 *
 * There is room for the validity of the struct alone, not for that of its children.
 */
#include "format/page_write_private.h"

static glv_status check_nulls(const page_leaf *leaf, const page_run *r, size_t child,
                              glv_error *err) {
  const array *a = &r->kept.children[child];
  bool has_nulls = false;
  size_t items = 1;
  for (;; a = &a->children[0]) {
    for (size_t i = 0; a->validity != NULL && i < r->count * items; i++) {
      const bool is_valid = bit_get(a->validity, a->bit_offset + i);
      has_nulls = has_nulls || (!is_valid && page_run_is_valid(r, i / items));
    }
    if (a->type->kind != TYPE_FIXED_SIZE_LIST) {
      break;
    }
    items *= (size_t)a->type->width;
  }
  return has_nulls ? FAIL(err, GLV_E_UNSUPPORTED,
                          "column '%s': field '%s' of a packed struct has null values, which "
                          "cannot be stored; store the struct unpacked",
                          leaf->name, leaf->type->children[child].name)
                   : GLV_OK;
}

static const array *numbers_of(const array *a) {
  while (a->type->kind == TYPE_FIXED_SIZE_LIST) {
    a = &a->children[0];
  }
  return a;
}

static glv_status pack_fixed(glv_env *env, const page_leaf *leaf, page_run *r, glv_error *err) {
  TRY(buffer_new(env, r->count * leaf->width, &r->owners[3], err));
  size_t at = 0;
  for (size_t i = 0; i < leaf->type->child_count; i++) {
    const size_t width = leaf_packed_width(leaf->type->children[i].type);
    const uint8_t *from = numbers_of(&r->kept.children[i])->values;
    for (size_t k = 0; k < r->count; k++) {
      memcpy(r->owners[3]->data + k * leaf->width + at, from + k * width, width);
    }
    at += width;
  }
  r->values = r->owners[3]->data;
  return GLV_OK;
}

/* Appends one child of value i. */
static glv_status put_child(const array *child, size_t width, size_t i, buf *out, glv_error *err) {
  if (width != 0) {
    const uint8_t *from = numbers_of(child)->values;
    return buf_append(out, from + i * width, width, err);
  }
  const str text = array_str(child, i);
  const uint64_t size = text.size;
  TRY(buf_append(out, &size, type_offset_width(child->type->kind), err));
  return buf_append(out, text.data, text.size, err);
}

static glv_status put_value(const page_leaf *leaf, const page_run *r, size_t i, buf *out,
                            glv_error *err) {
  if (!page_run_is_valid(r, i)) {
    return GLV_OK;
  }
  for (size_t k = 0; k < leaf->type->child_count; k++) {
    const size_t width = leaf_packed_width(leaf->type->children[k].type);
    TRY(put_child(&r->kept.children[k], width, i, out, err));
  }
  return out->size <= UINT32_MAX
             ? GLV_OK
             : FAIL(err, GLV_E_LIMIT, "column '%s': a page has 4 GiB of values", leaf->name);
}

/* The run becomes one of bytes. */
static glv_status pack_variable(glv_env *env, const page_leaf *leaf, page_run *r, glv_error *err) {
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, env, SIZE_MAX / 2);
  buffer *offsets = NULL;
  TRY(buffer_new(env, (r->count + 1) * sizeof(uint32_t), &offsets, err));
  r->owners[4] = offsets;
  store_le32(offsets->data, 0);
  for (size_t i = 0; i < r->count; i++) {
    TRY(put_value(leaf, r, i, &bytes, err));
    store_le32(offsets->data + (i + 1) * sizeof(uint32_t), (uint32_t)bytes.size);
  }
  TRY(buffer_new(env, bytes.size, &r->owners[3], err));
  if (bytes.size != 0) {
    memcpy(r->owners[3]->data, bytes.data, bytes.size);
  }
  r->values = offsets->data;
  r->data = r->owners[3]->data;
  r->is_null_empty = true;
  return GLV_OK;
}

glv_status packed_run(glv_env *env, const page_leaf *leaf, page_run *r, glv_error *err) {
  for (size_t i = 0; i < leaf->type->child_count; i++) {
    TRY(check_nulls(leaf, r, i, err));
  }
  return leaf->form == LEAF_VARIABLE ? pack_variable(env, leaf, r, err)
                                     : pack_fixed(env, leaf, r, err);
}

/* ---- messages ---- */

static encoding_message *child_encoding(arena *a, const type *t) {
  if (type_offset_width(t->kind) != 0) {
    return encoding_variable(a, (uint64_t)type_offset_width(t->kind) * 8);
  }
  uint64_t items[SHAPE_DEPTH];
  size_t depth = 0;
  for (; t->kind == TYPE_FIXED_SIZE_LIST; t = t->children[0].type) {
    items[depth++] = (uint64_t)t->width;
  }
  encoding_message *e = encoding_flat(a, (uint64_t)type_width(t) * 8);
  while (depth != 0) {
    e = encoding_fixed_size_list(a, items[--depth], false, e);
  }
  return e;
}

static Lance__Encodings21__VariablePackedField *packed_field(arena *a, const type *t) {
  Lance__Encodings21__VariablePackedField *m =
      ARENA_NEW(a, Lance__Encodings21__VariablePackedField);
  if (m == NULL) {
    return NULL;
  }
  lance__encodings21__variable_packed_field__init(m);
  m->value = child_encoding(a, t);
  const uint64_t bits = (uint64_t)leaf_packed_width(t) * 8;
  if (bits != 0) {
    m->width_case = LANCE__ENCODINGS21__VARIABLE_PACKED_FIELD__WIDTH_BITS_PER_VALUE;
    m->bits_per_value = bits;
  } else {
    m->width_case = LANCE__ENCODINGS21__VARIABLE_PACKED_FIELD__WIDTH_BITS_PER_LENGTH;
    m->bits_per_length = (uint64_t)type_offset_width(t->kind) * 8;
  }
  return m->value != NULL ? m : NULL;
}

encoding_message *encoding_variable_packed(arena *a, const page_leaf *leaf) {
  encoding_message *e = ARENA_NEW(a, encoding_message);
  Lance__Encodings21__VariablePackedStruct *m =
      ARENA_NEW(a, Lance__Encodings21__VariablePackedStruct);
  const size_t count = leaf->type->child_count;
  if (e == NULL || m == NULL) {
    return NULL;
  }
  lance__encodings21__compressive_encoding__init(e);
  lance__encodings21__variable_packed_struct__init(m);
  m->fields = ARENA_ARRAY(a, Lance__Encodings21__VariablePackedField *, count);
  for (size_t i = 0; m->fields != NULL && i < count; i++) {
    m->fields[i] = packed_field(a, leaf->type->children[i].type);
    if (m->fields[i] == NULL) {
      return NULL;
    }
  }
  m->n_fields = count;
  e->compression_case =
      LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_VARIABLE_PACKED_STRUCT;
  e->variable_packed_struct = m;
  return m->fields != NULL ? e : NULL;
}
