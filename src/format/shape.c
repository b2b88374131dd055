/*
 * From Arrow types to layouts. The product of the sizes of nested lists is bounded, so that widths
 * and bit counts of a row never overflow later.
 */
#include "format/shape.h"

#include "base/checked.h"

/* Leaf values of one row times their width stay below this, so their bits fit into 32 bits. */
#define ROW_BYTES ((size_t)1 << 28)

static glv_status refuse(const field *f, glv_error *err) {
  return FAIL(err, GLV_E_UNSUPPORTED,
              "column '%s' has type %s, which this release does not read; choose other columns, or "
              "store it as another type",
              f->name, TYPE_TEXT(f->type));
}

static bool leaf_kind(const type *t, shape *s) {
  s->offset_width = type_offset_width(t->kind);
  if (t->kind == TYPE_NULL) {
    s->kind = SHAPE_NULL;
  } else if (t->kind == TYPE_BOOL) {
    s->kind = SHAPE_BITS;
  } else if (type_is_string(t->kind) || type_is_binary(t->kind)) {
    s->kind = SHAPE_TEXT;
    s->is_utf8 = type_is_string(t->kind);
  } else if (t->kind == TYPE_STRUCT) {
    s->kind = SHAPE_PACKED;
  } else if (t->kind == TYPE_DICTIONARY) {
    s->kind = SHAPE_FIXED;
    s->is_dictionary = true;
    s->width = sizeof(uint32_t);
    return s->depth == 0;
  } else {
    s->kind = SHAPE_FIXED;
    s->width = type_width(t);
    return s->width != 0;
  }
  return true;
}

glv_status shape_of(const field *f, shape *ret, glv_error *err) {
  if (f->type == NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "column '%s' has a type that this release does not read; choose other columns, or "
                "store it as another type",
                f->name);
  }
  shape s = {.row_leaves = 1};
  const type *t = f->type;
  while (t->kind == TYPE_FIXED_SIZE_LIST) {
    if (s.depth == SHAPE_DEPTH || t->width <= 0 ||
        !size_mul(s.row_leaves, (size_t)t->width, &s.row_leaves) || s.row_leaves > ROW_BYTES) {
      return refuse(f, err);
    }
    s.items[s.depth] = (size_t)t->width;
    s.leaves[s.depth++] = s.row_leaves;
    t = t->children[0].type;
  }
  if (!leaf_kind(t, &s)) {
    return refuse(f, err);
  }
  const bool is_plain = s.kind == SHAPE_BITS || s.kind == SHAPE_FIXED;
  if ((s.depth != 0 && !is_plain) ||
      (s.kind == SHAPE_FIXED && s.row_leaves > ROW_BYTES / s.width)) {
    return refuse(f, err);
  }
  *ret = s;
  return GLV_OK;
}
