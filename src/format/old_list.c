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

static void put_offset(old_lists *l, uint64_t offset) {
  l->filled++;
  if (l->offset_width == 4) {
    ((int32_t *)(void *)l->offsets->data)[l->filled] = (int32_t)offset;
  } else {
    ((int64_t *)(void *)l->offsets->data)[l->filled] = (int64_t)offset;
  }
}

static glv_status put_null(old_lists *l, glv_error *err) {
  if (l->validity == NULL) {
    TRY(buffer_new(l->env, bits_size(l->length), &l->validity, err));
    bits_fill(l->validity->data, 0, l->length, true);
  }
  bit_clear(l->validity->data, l->filled);
  l->null_count++;
  return GLV_OK;
}

/* One list, from one stored end to the next. */
static glv_status add_list(old_lists *l, const old_encoding *e, uint64_t base, uint64_t before,
                           uint64_t end, glv_error *err) {
  const uint64_t adjustment = e->null_adjustment;
  const uint64_t first = before % adjustment;
  const uint64_t last = end % adjustment;
  if (first > last || last > e->items) {
    return FAIL(err, GLV_E_CORRUPT, "a list of the items %llu to %llu of %llu",
                (unsigned long long)first, (unsigned long long)last, (unsigned long long)e->items);
  }
  TRY(add_range(l, base + first, last - first, err));
  l->total += last - first; /* at most the items of all pages, which fit into 64 bits */
  if (end >= adjustment) {
    TRY(put_null(l, err));
  }
  put_offset(l, l->total);
  return GLV_OK;
}

static glv_status add_run(decoder *d, const old_encoding *e, uint64_t base, const old_run *r,
                          old_lists *l, glv_error *err) {
  TRY(decoder_reserve(d, &d->numbers, (r->count + 1) * sizeof(uint64_t), err));
  uint64_t *ends = (uint64_t *)(void *)d->numbers.data; /* ends[i + 1] belongs to row i */
  const size_t before = r->first != 0 ? 1 : 0;
  ends[0] = 0;
  TRY(old_numbers(d, e->ends, r->first - before, r->count + before, ends + 1 - before, err));
  for (size_t i = 0; i < r->rows.count; i++) {
    const size_t row = wanted_row(&r->rows, i);
    TRY(add_list(l, e, base, ends[row], ends[row + 1], err));
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
