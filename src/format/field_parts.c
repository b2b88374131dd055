/*
 * Putting a field together from several files: each gives an array of the whole type, whose parts
 * that lie elsewhere are null; of every leaf the one that holds it is taken.
 */
#include "format/field_parts.h"

#include "arrow/bits.h"

/* The same place in all files, and what was read of it. */
typedef struct merging {
  glv_env *env;
  arena *memory;
  const field_place **places;
  const array **arrays;
  size_t count;
} merging;

bool field_place_is_held(const field_place *place) {
  if (!place->is_wanted) {
    return false;
  }
  bool is_held = place->child_count == 0 && place->column != COLUMN_NONE;
  for (size_t i = 0; i < place->child_count && !is_held; i++) {
    is_held = field_place_is_held(&place->children[i]);
  }
  return is_held;
}

static glv_status new_merging(const merging *like, merging *ret, glv_error *err) {
  *ret = (merging){.env = like->env,
                   .memory = like->memory,
                   .places = ARENA_ARRAY(like->memory, const field_place *, like->count),
                   .arrays = ARENA_ARRAY(like->memory, const array *, like->count)};
  return ret->places != NULL && ret->arrays != NULL
             ? GLV_OK
             : error_nomem(err, like->count * sizeof *ret->places);
}

/* Those of the files that hold some of the place. */
static glv_status find_holders(const merging *m, merging *ret, glv_error *err) {
  TRY(new_merging(m, ret, err));
  for (size_t i = 0; i < m->count; i++) {
    if (field_place_is_held(m->places[i])) {
      ret->places[ret->count] = m->places[i];
      ret->arrays[ret->count++] = m->arrays[i];
    }
  }
  return GLV_OK;
}

/* Valid where one of them is. */
static glv_status join_validity(const merging *m, array *ret, glv_error *err) {
  for (size_t i = 0; i < m->count; i++) {
    if (!array_has_nulls(m->arrays[i])) {
      return GLV_OK;
    }
  }
  CLEANUP(buffer_cleanup) buffer *bits = NULL;
  TRY(buffer_new_zeroed(m->env, bits_size(ret->length), &bits, err));
  for (size_t i = 0; i < m->count; i++) {
    for (size_t row = 0; row < ret->length; row++) {
      if (array_is_valid(m->arrays[i], row)) {
        bit_put(bits->data, row, true);
      }
    }
  }
  ret->null_count = ret->length - bits_count(bits->data, 0, ret->length);
  ret->validity = bits->data;
  ret->owners[0] = bits;
  bits = NULL;
  return GLV_OK;
}

static glv_status check_lengths(const merging *m, const type *t, glv_error *err) {
  const array *a = m->arrays[0];
  const size_t size = (a->length + 1) * type_offset_width(t->kind);
  for (size_t i = 1; i < m->count; i++) {
    if (a->length != 0 && memcmp(a->values, m->arrays[i]->values, size) != 0) {
      return FAIL(err, GLV_E_CORRUPT, "the lists of '%s' differ between the files that hold them",
                  m->places[0]->field->name);
    }
  }
  return GLV_OK;
}

/* What the parts of a nested value have in common. */
static glv_status join_form(const merging *m, array *ret, glv_error *err) {
  const array *a = m->arrays[0];
  const type *t = m->places[0]->field->type;
  if (t->kind == TYPE_STRUCT) {
    return join_validity(m, ret, err);
  }
  if (type_offset_width(t->kind) != 0) {
    TRY(check_lengths(m, t, err));
    ret->values = a->values;
    ret->owners[1] = buffer_ref(a->owners[1]);
  }
  ret->null_count = a->null_count;
  ret->validity = a->validity;
  ret->bit_offset = a->bit_offset;
  ret->owners[0] = buffer_ref(a->owners[0]);
  return GLV_OK;
}

/* At most LIMIT_TYPE_DEPTH deep. */
static glv_status merge(const merging *all, array *ret, glv_error *err) {
  merging m;
  TRY(find_holders(all, &m, err));
  if (m.count <= 1) {
    *ret = array_ref(m.count == 1 ? m.arrays[0] : all->arrays[0]);
    return GLV_OK;
  }
  const field_place *place = m.places[0];
  CLEANUP(array_unref)
  array joined = {.type = place->field->type, .length = m.arrays[0]->length};
  TRY(join_form(&m, &joined, err));
  TRY(array_new_children(m.env, place->child_count, &joined, err));
  merging below;
  TRY(new_merging(&m, &below, err));
  below.count = m.count;
  for (size_t i = 0; i < place->child_count; i++) {
    for (size_t k = 0; k < m.count; k++) {
      below.places[k] = &m.places[k]->children[i];
      below.arrays[k] = &m.arrays[k]->children[i];
    }
    TRY(merge(&below, &joined.children[i], err));
  }
  *ret = joined;
  joined = (array){0};
  return GLV_OK;
}

static void drop_arrays(array *arrays, size_t count) {
  for (size_t i = 0; i < count; i++) {
    array_unref(&arrays[i]);
  }
}

glv_status field_parts_read(glv_env *env, const field_part *parts, size_t part_count,
                            uint64_t first, uint64_t count, const uint32_t *rows, size_t selected,
                            array *ret, glv_error *err) {
  if (part_count == 1) {
    return file_reader_read_field(parts->reader, &parts->place, first, count, rows, selected, ret,
                                  err);
  }
  CLEANUP(arena_dispose) arena memory;
  arena_init_small(&memory, env);
  const merging like = {.env = env, .memory = &memory, .count = part_count};
  merging m;
  TRY(new_merging(&like, &m, err));
  array *arrays = ARENA_ARRAY(&memory, array, part_count);
  if (arrays == NULL) {
    return error_nomem(err, part_count * sizeof *arrays);
  }
  glv_status status = GLV_OK;
  for (; m.count < part_count && status == GLV_OK; m.count++) {
    const field_part *p = &parts[m.count];
    arrays[m.count] = (array){0};
    m.places[m.count] = &p->place;
    m.arrays[m.count] = &arrays[m.count];
    status = file_reader_read_field(p->reader, &p->place, first, count, rows, selected,
                                    &arrays[m.count], err);
  }
  if (status == GLV_OK) {
    status = merge(&m, ret, err);
  }
  drop_arrays(arrays, m.count);
  return status;
}
