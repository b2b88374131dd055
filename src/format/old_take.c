/*
 * Arrays for files of version 2.0: a struct is a header and its children, a list is its lengths and
 * its items, which are rows of the columns below it. The items of null lists are left out.
 */
#include "format/old_write_private.h"
#include "format/shred_private.h"
#include "pb/pb.h"

glv_status old_refuse_structs(const char *name, size_t nulls, glv_error *err) {
  return FAIL(err, GLV_E_SCHEMA,
              "The struct field `%s` contains %zu null value(s), but Lance file version 2.0 does "
              "not encode struct validity; use file version 2.1 or later",
              name, nulls);
}

static glv_status take_struct(file_writer *w, const lance_field *f, const array *a, size_t *column,
                              glv_error *err) {
  const size_t nulls = array_null_count(a);
  if (nulls != 0) {
    return old_refuse_structs(f->arrow.name, nulls, err);
  }
  w->columns[(*column)++].first_row += a->length;
  for (size_t i = 0; i < f->child_count; i++) {
    TRY(old_take(w, &f->children[i], &a->children[i], column, err));
  }
  return GLV_OK;
}

/* ---- lists ---- */

static size_t offset_of(const array *a, size_t i) {
  return type_offset_width(a->type->kind) == 8 ? (size_t)ARRAY_VALUES(a, int64_t)[i]
                                               : (size_t)ARRAY_VALUES(a, int32_t)[i];
}

/* Lengths of lists, those of null ones 0. *ret_total: of all. */
static glv_status lengths_of(glv_env *env, const array *a, array *ret, size_t *ret_total,
                             glv_error *err) {
  void *values;
  TRY(array_new_fixed(env, type_simple(TYPE_UINT64), a->length, ret, &values, err));
  uint64_t *lengths = values;
  *ret_total = 0;
  for (size_t i = 0; i < a->length; i++) {
    lengths[i] = array_is_valid(a, i) ? offset_of(a, i + 1) - offset_of(a, i) : 0;
    *ret_total += (size_t)lengths[i];
  }
  ret->validity = a->validity;
  ret->bit_offset = a->bit_offset;
  ret->null_count = a->null_count;
  ret->owners[0] = buffer_ref(a->owners[0]);
  return GLV_OK;
}

/* The items of the lists that are not null; total of them. */
static glv_status items_of(glv_env *env, const array *a, size_t total, array *ret, glv_error *err) {
  const size_t first = a->length != 0 ? offset_of(a, 0) : 0;
  const size_t end = a->length != 0 ? offset_of(a, a->length) : 0;
  if (end - first == total) {
    *ret = array_slice(&a->children[0], first, total);
    return ret->type != NULL ? GLV_OK : error_nomem(err, sizeof *ret);
  }
  if (end > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "a batch with %zu items of lists", end);
  }
  uint32_t *rows = mem_calloc(env, total, sizeof *rows);
  if (rows == NULL) {
    return error_nomem(err, total * sizeof *rows);
  }
  size_t count = 0;
  for (size_t i = 0; i < a->length; i++) {
    for (size_t k = offset_of(a, i); array_is_valid(a, i) && k < offset_of(a, i + 1); k++) {
      rows[count++] = (uint32_t)k;
    }
  }
  const glv_status status = array_take(env, &a->children[0], rows, count, ret, err);
  mem_free(env, rows);
  return status;
}

static glv_status take_list(file_writer *w, const lance_field *f, const array *a, size_t *column,
                            glv_error *err) {
  CLEANUP(array_unref) array lengths = {0};
  CLEANUP(array_unref) array items = {0};
  size_t total = 0;
  TRY(lengths_of(w->env, a, &lengths, &total, err));
  TRY(column_take(w, (*column)++, &lengths, err));
  TRY(items_of(w->env, a, total, &items, err));
  return old_take(w, &f->children[0], &items, column, err);
}

glv_status old_take(file_writer *w, const lance_field *f, const array *a, size_t *column,
                    glv_error *err) {
  if (!f->arrow.nullable && f->arrow.type->kind != TYPE_NULL && array_has_nulls(a)) {
    return shred_refuse_nulls(f->arrow.name, err);
  }
  if (f->is_leaf) {
    return column_take(w, (*column)++, a, err);
  }
  return f->arrow.type->kind == TYPE_STRUCT ? take_struct(w, f, a, column, err)
                                            : take_list(w, f, a, column, err);
}

/* ---- headers ---- */

static glv_status write_header(file_writer *w, column_writer *c, glv_error *err) {
  const old_message *m = old_header(&w->records);
  if (m == NULL) {
    return error_nomem(err, sizeof *m);
  }
  TRY(vec_reserve(w->env, &c->pages, &c->page_capacity, 1, sizeof *c->pages, err));
  c->pages[0] = (page_record){.length = c->first_row};
  TRY(pb_pack_arena(&w->records, &m->base, &c->pages[0].layout, err));
  c->page_count = 1;
  return GLV_OK;
}

glv_status old_write_headers(file_writer *w, glv_error *err) {
  for (size_t i = 0; i < w->column_count; i++) {
    column_writer *c = &w->columns[i];
    /* Of structs below lists without any item, too: readers expect the page. */
    if (c->leaf.old == LEAF_OLD_HEADER && w->rows != 0) {
      TRY(write_header(w, c, err));
    }
  }
  return GLV_OK;
}
