/*
 * Reading the ends of lists. Lists that follow each other own neighbouring items, so the items of a
 * scan are one range of rows; those of scattered lists are many, and become a list of rows.
 */
#include "format/old_list.h"

#include "arrow/bits.h"

glv_status old_lists_init(old_lists *l, glv_env *env, const field *f, size_t length,
                          glv_error *err) {
  *l = (old_lists){.env = env,
                   .f = f,
                   .offset_width = (unsigned)type_offset_width(f->type->kind),
                   .length = length};
  size_t size = 0;
  if (!size_mul(length + 1, l->offset_width, &size)) {
    return error_nomem(err, SIZE_MAX);
  }
  TRY(buffer_new(env, size, &l->offsets, err));
  memset(l->offsets->data, 0, l->offset_width);
  return GLV_OK;
}

void old_lists_dispose(old_lists *l) {
  buffer_unref(l->offsets);
  buffer_unref(l->validity);
  mem_free(l->env, l->ranges);
  mem_free(l->env, l->rows);
}

static glv_status add_range(old_lists *l, uint64_t first, uint64_t count, glv_error *err) {
  item_range *last = l->range_count != 0 ? &l->ranges[l->range_count - 1] : NULL;
  if (last != NULL && first == last->first + last->count) {
    last->count += count;
    return GLV_OK;
  }
  if (count == 0) {
    return GLV_OK;
  }
  if (last != NULL && first < last->first + last->count) {
    return FAIL(err, GLV_E_CORRUPT, "the ends of lists decrease");
  }
  TRY(vec_reserve(l->env, &l->ranges, &l->range_capacity, l->range_count + 1, sizeof *l->ranges,
                  err));
  l->ranges[l->range_count++] = (item_range){first, count};
  return GLV_OK;
}

static glv_status put_nulls(old_lists *l, const uint16_t *levels, const wanted *w, glv_error *err) {
  for (size_t i = 0; i < w->count; i++) {
    if (levels[wanted_row(w, i)] == 0) {
      continue;
    }
    if (l->validity == NULL) {
      TRY(buffer_new(l->env, bits_size(l->length), &l->validity, err));
      bits_fill(l->validity->data, 0, l->length, true);
    }
    bit_clear(l->validity->data, l->filled + i);
    l->null_count++;
  }
  return GLV_OK;
}

/* Offsets of lists that follow each other: those of the page, moved. */
#define DEFINE_MOVE(T)                                                                             \
  static void move##T(const uint64_t *restrict from, size_t count, uint64_t shift,                 \
                      int##T##_t *restrict to) {                                                   \
    for (size_t i = 0; i < count; i++) {                                                           \
      to[i] = (int##T##_t)(from[i] + shift);                                                       \
    }                                                                                              \
  }
DEFINE_MOVE(32)
DEFINE_MOVE(64)

static void put_offsets(old_lists *l, const uint64_t *ends, size_t count, uint64_t shift) {
  if (l->offset_width == 4) {
    move32(ends, count, shift, (int32_t *)(void *)l->offsets->data + l->filled + 1);
  } else {
    move64(ends, count, shift, (int64_t *)(void *)l->offsets->data + l->filled + 1);
  }
  l->filled += count;
}

static bool is_ordered(const uint64_t *offsets, size_t count, uint64_t most) {
  bool ok = offsets[count] <= most;
  for (size_t i = 0; i < count; i++) {
    ok &= offsets[i] <= offsets[i + 1];
  }
  return ok;
}

static glv_status add_run(decoder *d, const old_encoding *e, uint64_t base, const old_run *r,
                          old_lists *l, glv_error *err) {
  old_ends ends;
  TRY(old_ends_read(d, e, r, &ends, err));
  if (!is_ordered(ends.offsets, r->count, e->items)) {
    return FAIL(err, GLV_E_CORRUPT, "the ends of lists decrease or pass the %llu items",
                (unsigned long long)e->items);
  }
  TRY(put_nulls(l, ends.levels, &r->rows, err));
  const size_t step = r->rows.rows == NULL ? r->rows.count : 1;
  for (size_t i = 0; i < r->rows.count; i += step) { /* once, or for each list */
    const uint64_t *from = ends.offsets + wanted_row(&r->rows, i);
    TRY(add_range(l, base + from[0], from[step] - from[0], err));
    put_offsets(l, from + 1, step, l->total - from[0]);
    l->total += from[step] - from[0]; /* at most the items of all pages, which fit into 64 bits */
  }
  return GLV_OK;
}

glv_status old_lists_read(decoder *d, const old_encoding *e, uint64_t base, const wanted *w,
                          old_lists *l, glv_error *err) {
  if (e->kind != OLD_LIST) {
    return FAIL(err, GLV_E_CORRUPT, "a page encoded as %s does not hold lists",
                old_encoding_name(e));
  }
  for (size_t at = 0; at < w->count;) {
    const old_run r = old_run_next(w, at, e->ends->bits);
    TRY(add_run(d, e, base, &r, l, err));
    at += r.rows.count;
  }
  if (l->offset_width == 4 && l->total > INT32_MAX) {
    return FAIL(err, GLV_E_LIMIT,
                "column '%s': the items of one read do not fit into an array of type %s",
                l->f->name, TYPE_TEXT(l->f->type));
  }
  return GLV_OK;
}

glv_status old_lists_items(old_lists *l, read_request *ret, glv_error *err) {
  *ret = (read_request){0};
  if (l->range_count == 0) {
    return GLV_OK;
  }
  const item_range *last = &l->ranges[l->range_count - 1];
  ret->first = l->ranges[0].first;
  ret->count = last->first + last->count - ret->first;
  if (ret->count > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "column '%s': one read reaches over %llu items of lists",
                l->f->name, (unsigned long long)ret->count);
  }
  if (l->range_count == 1) {
    return GLV_OK;
  }
  l->rows = mem_calloc(l->env, (size_t)l->total, sizeof *l->rows);
  if (l->rows == NULL) {
    return error_nomem(err, (size_t)l->total * sizeof *l->rows);
  }
  for (size_t i = 0; i < l->range_count; i++) {
    const uint32_t first = (uint32_t)(l->ranges[i].first - ret->first);
    for (uint64_t k = 0; k < l->ranges[i].count; k++) {
      l->rows[ret->selected++] = first + (uint32_t)k;
    }
  }
  ret->rows = l->rows;
  return GLV_OK;
}

void old_lists_finish(old_lists *l, array *ret) {
  *ret = (array){.type = l->f->type,
                 .length = l->length,
                 .null_count = l->null_count,
                 .validity = l->validity != NULL ? l->validity->data : NULL,
                 .values = l->offsets->data,
                 .owners = {l->validity, l->offsets, NULL}};
  l->validity = l->offsets = NULL;
}
