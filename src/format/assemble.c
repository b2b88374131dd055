/*
 * From levels to arrays, from the outermost layer inwards. The slots of a layer are the entries at
 * which one of its values starts: those with a repetition level of at least the number of list
 * layers from it downwards, unless a list further out is null or empty there. One pass over the
 * entries of a leaf gives the validity of a layer, or the offsets of a list.
 *
 * Leaves below one struct carry the same structure in their own levels; one of them is used, the
 * others are compared where memory safety depends on it: at lists.
 */
#include "format/assemble.h"

#include "arrow/bits.h"

#define NO_CEILING (UINT32_MAX)

/* Where the assembly stands. */
typedef struct spot {
  unsigned depth;  /* layers above */
  unsigned list;   /* depth of the nearest list above; or NO_LIST */
  size_t per_slot; /* entries of one slot of the top layer over those of one here */
} spot;

#define NO_LIST UINT32_MAX

typedef struct assembly {
  glv_env *env;
  leaf_data *leaves;
  size_t count;
} assembly;

/* How the entries of a leaf are looked at from a layer. */
typedef struct view {
  const uint16_t *rep; /* NULL: every entry is a slot */
  const uint16_t *def;
  size_t count;
  size_t step;      /* entries of a slot */
  unsigned starts;  /* least repetition level of a slot */
  unsigned ceiling; /* definition levels from here on hide the layer */
  unsigned null;    /* code of a null of the layer */
} view;

static view view_of(const leaf_data *l, const spot *at) {
  const leaf_path *p = &l->path;
  const unsigned layer = p->layer_count - 1 - at->depth;
  return (view){
      .rep = p->lists != 0 ? l->levels.rep : NULL,
      .def = l->levels.def,
      .count = l->levels.count,
      .step = p->per_slot / at->per_slot,
      .starts = path_lists_below(p, layer + 1),
      .ceiling =
          at->list == NO_LIST ? NO_CEILING : path_null_code(p, p->layer_count - 1 - at->list),
      .null = path_null_code(p, layer),
  };
}

static bool is_slot(const view *v, size_t i) {
  return v->rep == NULL || (v->rep[i] >= v->starts && v->def[i] < v->ceiling);
}

/* ---- item layers ---- */

/* Validity of `slots` values; *ret NULL when all are valid. */
static glv_status item_validity(const assembly *a, const view *v, size_t slots, array *ret,
                                glv_error *err) {
  CLEANUP(buffer_cleanup) buffer *bits = NULL;
  size_t nulls = 0;
  size_t slot = 0;
  TRY(buffer_new_zeroed(a->env, bits_size(slots), &bits, err));
  for (size_t i = 0; i < v->count; i += v->step) {
    if (is_slot(v, i)) {
      if (slot == slots) {
        break;
      }
      const bool is_valid = v->def[i] < v->null;
      bit_put(bits->data, slot++, is_valid);
      nulls += !is_valid;
    }
  }
  if (slot != slots) {
    return FAIL(err, GLV_E_CORRUPT,
                "Structural sibling fields have incompatible list metadata: %zu values are "
                "expected, there are %zu or more",
                slots, slot);
  }
  ret->null_count = nulls;
  if (nulls != 0) {
    ret->validity = bits->data;
    ret->owners[0] = bits;
    bits = NULL;
  }
  return GLV_OK;
}

/* ---- lists ---- */

/* The offsets and validity of a list layer. */
typedef struct list_form {
  buffer *offsets; /* of 64 bits */
  buffer *validity;
  size_t nulls;
  size_t items;
} list_form;

static void list_form_dispose(list_form *f) {
  buffer_unref(f->offsets);
  buffer_unref(f->validity);
}

static glv_status scan_list(const assembly *a, const view *v, size_t slots, list_form *ret,
                            glv_error *err) {
  CLEANUP(list_form_dispose) list_form f = {0};
  TRY(buffer_new(a->env, (slots + 1) * sizeof(uint64_t), &f.offsets, err));
  TRY(buffer_new_zeroed(a->env, bits_size(slots), &f.validity, err));
  uint64_t *offsets = (uint64_t *)(void *)f.offsets->data;
  size_t slot = 0;
  size_t items = 0;
  for (size_t i = 0; i < v->count; i++) {
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): columns below lists have rep
    if (v->rep[i] >= v->starts && v->def[i] < v->ceiling) {
      if (slot == slots) {
        slot++;
        break;
      }
      const bool is_null = v->def[i] == v->null || v->def[i] > v->null + 1;
      offsets[slot] = items;
      bit_put(f.validity->data, slot++, !is_null);
      f.nulls += is_null;
    }
    items += v->def[i] < v->null && v->rep[i] + 1u >= v->starts;
  }
  if (slot != slots) {
    return FAIL(err, GLV_E_CORRUPT,
                "Structural sibling fields have incompatible list metadata: %zu lists are "
                "expected, there are %zu or more",
                slots, slot);
  }
  offsets[slots] = items;
  f.items = items;
  *ret = f;
  f = (list_form){0};
  return GLV_OK;
}

/* Does another leaf below the list say the same of it? */
static glv_status check_sibling(const assembly *a, const leaf_data *l, const spot *at,
                                const list_form *as, size_t slots, glv_error *err) {
  CLEANUP(list_form_dispose) list_form f = {0};
  const view v = view_of(l, at);
  TRY(scan_list(a, &v, slots, &f, err));
  if (memcmp(f.offsets->data, as->offsets->data, (slots + 1) * sizeof(uint64_t)) != 0 ||
      !bits_equal(f.validity->data, 0, as->validity->data, 0, slots)) {
    return FAIL(err, GLV_E_CORRUPT,
                "Structural sibling fields have incompatible list metadata: '%s' differs",
                l->place->field->name);
  }
  return GLV_OK;
}

/* 64-bit offsets to what the type has, in place. */
static glv_status fit_offsets(const type *t, size_t slots, list_form *f, glv_error *err) {
  if (type_offset_width(t->kind) == sizeof(uint64_t)) {
    return GLV_OK;
  }
  if (f->items > INT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "%zu items do not fit into an array of type %s", f->items,
                TYPE_TEXT(t));
  }
  const uint8_t *from = f->offsets->data;
  int32_t *to = (int32_t *)(void *)f->offsets->data;
  for (size_t i = 0; i <= slots; i++) {
    to[i] = (int32_t)load_le64(from + i * sizeof(uint64_t));
  }
  return buffer_resize(f->offsets, (slots + 1) * sizeof(int32_t), err);
}

static void give_list(list_form *f, array *ret) {
  ret->values = f->offsets->data;
  ret->owners[1] = f->offsets;
  f->offsets = NULL;
  ret->null_count = f->nulls;
  if (f->nulls != 0) {
    ret->validity = f->validity->data;
    ret->owners[0] = f->validity;
    f->validity = NULL;
  }
}

/* ---- the tree ---- */

static bool is_below(const field_place *place, const field_place *leaf) {
  if (place == leaf) {
    return true;
  }
  for (size_t i = 0; i < place->child_count; i++) {
    if (is_below(&place->children[i], leaf)) {
      return true;
    }
  }
  return false;
}

/* The leaves below a place: they follow each other. */
static assembly leaves_below(const assembly *a, const field_place *place) {
  assembly part = {.env = a->env, .leaves = a->leaves};
  for (size_t i = 0; i < a->count; i++) {
    if (is_below(place, a->leaves[i].place)) {
      part.leaves = part.count == 0 ? &a->leaves[i] : part.leaves;
      part.count++;
    }
  }
  return part;
}

static glv_status build(const assembly *a, const field_place *place, spot at, size_t slots,
                        array *ret, glv_error *err);

static glv_status build_leaf(leaf_data *l, size_t slots, array *ret, glv_error *err) {
  if (l->values.length != slots) {
    return FAIL(err, GLV_E_CORRUPT,
                "Structural sibling fields have incompatible list metadata: '%s' has %zu values, "
                "not %zu",
                l->place->field->name, l->values.length, slots);
  }
  *ret = l->values;
  l->values = (array){0};
  return GLV_OK;
}

static glv_status build_children(const assembly *a, const field_place *place, spot at, size_t slots,
                                 array *ret, glv_error *err) {
  at.depth++;
  TRY(array_new_children(a->env, place->child_count, ret, err));
  for (size_t i = 0; i < place->child_count; i++) {
    const assembly part = leaves_below(a, &place->children[i]);
    TRY(build(&part, &place->children[i], at, slots, &ret->children[i], err));
  }
  return GLV_OK;
}

static glv_status build_list(const assembly *a, const field_place *place, spot at, size_t slots,
                             array *ret, glv_error *err) {
  CLEANUP(list_form_dispose) list_form f = {0};
  const view v = view_of(&a->leaves[0], &at);
  TRY(scan_list(a, &v, slots, &f, err));
  for (size_t i = 1; i < a->count; i++) {
    TRY(check_sibling(a, &a->leaves[i], &at, &f, slots, err));
  }
  const size_t items = f.items;
  TRY(fit_offsets(place->field->type, slots, &f, err));
  give_list(&f, ret);
  at.list = at.depth;
  TRY(build_children(a, place, at, items, ret, err));
  if (place->field->type->kind == TYPE_MAP && array_has_nulls(&ret->children[0])) {
    return FAIL(err, GLV_E_CORRUPT, "a map has a null entry");
  }
  return GLV_OK;
}

static glv_status build_items(const assembly *a, const field_place *place, spot at, size_t slots,
                              array *ret, glv_error *err) {
  const view v = view_of(&a->leaves[0], &at);
  size_t inner = slots;
  TRY(item_validity(a, &v, slots, ret, err));
  if (place->field->type->kind == TYPE_FIXED_SIZE_LIST) {
    const size_t width = (size_t)place->field->type->width;
    at.per_slot *= width;
    if (!size_mul(slots, width, &inner)) {
      return error_nomem(err, SIZE_MAX);
    }
  }
  return build_children(a, place, at, inner, ret, err);
}

static glv_status build(const assembly *a, const field_place *place, spot at, size_t slots,
                        array *ret, glv_error *err) {
  const type *t = place->field->type;
  if (field_place_is_empty(place)) {
    *ret = (array){.type = t, .length = slots};
    return GLV_OK;
  }
  if (a->count == 0) {
    return array_new_null(a->env, t, slots, ret, err);
  }
  if (place->child_count == 0) {
    return build_leaf(&a->leaves[0], slots, ret, err);
  }
  CLEANUP(array_unref) array built = {.type = t, .length = slots};
  const bool is_list = t->kind == TYPE_LIST || t->kind == TYPE_LARGE_LIST || t->kind == TYPE_MAP;
  TRY(is_list ? build_list(a, place, at, slots, &built, err)
              : build_items(a, place, at, slots, &built, err));
  *ret = built;
  built = (array){0};
  return GLV_OK;
}

glv_status assemble(glv_env *env, const field_place *place, leaf_data *leaves, size_t count,
                    size_t rows, array *ret, glv_error *err) {
  const assembly a = {env, leaves, count};
  return build(&a, place, (spot){.list = NO_LIST, .per_slot = 1}, rows, ret, err);
}
