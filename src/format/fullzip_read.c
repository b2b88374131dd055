/*
 * Full-zip pages of fixed-width values. Every entry has the same size (null rows carry a value,
 * too), so the place of a row is computed. Without control words and item validity the page is the
 * Arrow buffer itself and is read straight into the result.
 */
#include "arrow/bits.h"
#include "format/fullzip.h"
#include "io/io.h"

size_t zip_run(const wanted *w, size_t i, size_t gap, size_t most) {
  if (w->rows == NULL) {
    return size_min(w->count - i, most);
  }
  const size_t first = wanted_row(w, i);
  size_t n = 1;
  while (i + n < w->count) {
    const size_t row = wanted_row(w, i + n);
    if (row - wanted_row(w, i + n - 1) > gap + 1 || row - first >= most) {
      break;
    }
    n++;
  }
  return n;
}

static glv_status refuse(const codec *c, size_t width, const sink *s, glv_error *err) {
  return FAIL(err, GLV_E_CORRUPT, "values of type %s are stored as %s of %zu bytes",
              TYPE_TEXT(s->f->type), codec_name(c), width);
}

static bool is_all_null(const codec *c) {
  return c->kind == CODEC_CONSTANT && c->constant.data == NULL;
}

glv_status value_parts_of(const codec *c, size_t width, const sink *s, value_parts *ret,
                          glv_error *err) {
  const codec *top = c;
  value_parts parts = {.width = width};
  if (s->s.kind == SHAPE_PACKED) {
    *ret = parts;
    return c->kind == CODEC_STRUCT ? GLV_OK : refuse(c, width, s, err);
  }
  for (size_t level = 0; level < s->s.depth; level++, c = c->inner) {
    if (level != 0 && is_all_null(c)) {
      break; /* lists that are null have no levels below */
    }
    if (c->kind != CODEC_LIST || c->items != s->s.items[level]) {
      return refuse(top, width, s, err);
    }
    parts.validity[level] = c->has_validity ? bits_size(s->s.leaves[level]) : 0;
    parts.validity_total += parts.validity[level];
  }
  size_t leaves = bits_size(shape_row_bits(&s->s));
  if (is_all_null(c) && s->s.depth != 0) {
    parts.all_items_null = true;
    leaves = 0;
  } else if (c->kind != CODEC_FLAT) {
    return codec_refuse(c, "fixed per-value", err);
  } else if (s->s.kind == SHAPE_BITS && (c->bits == 8 || width != leaves)) {
    parts.is_byte_bool = true;
    leaves = s->s.row_leaves;
  }
  if (width == 0 ||
      (s->s.kind == SHAPE_FIXED && !parts.all_items_null && c->bits != 8 * s->s.width) ||
      parts.validity_total + leaves != width) {
    return refuse(top, width, s, err);
  }
  *ret = parts;
  return GLV_OK;
}

/* Nulls of count entries at p. */
static glv_status read_levels(decoder *d, const zip_layout *z, const uint8_t *p, const wanted *w,
                              size_t first, sink *s, glv_error *err) {
  const size_t stride = z->control + z->width;
  TRY(decoder_reserve(d, &d->levels, w->count * sizeof(uint16_t), err));
  uint16_t *levels = (uint16_t *)(void *)d->levels.data;
  for (size_t i = 0; i < w->count; i++) {
    levels[i] = (uint16_t)zip_level(z, p + (wanted_row(w, i) - first) * stride);
  }
  return sink_levels(s, levels, &(wanted){.count = w->count}, err);
}

/* Item validity, then leaves. */
glv_status value_put(const value_parts *parts, const uint8_t *p, sink *s, glv_error *err) {
  const wanted one = {.count = 1};
  if (s->s.kind == SHAPE_PACKED) {
    return sink_packed(s, p, parts->width, &one, err);
  }
  for (size_t level = 0; level < s->s.depth; level++) {
    if (parts->validity[level] != 0) {
      TRY(sink_items_valid(s, level, p, &one, err));
      p += parts->validity[level];
    }
  }
  if (parts->all_items_null) {
    return sink_zeros(s, 1, err);
  }
  if (parts->is_byte_bool) {
    for (size_t i = 0; i < s->s.row_leaves; i++) {
      bit_put(s->values->data, s->filled * s->s.row_leaves + i, p[i] != 0);
    }
    return GLV_OK;
  }
  sink_fixed(s, p, &one);
  return GLV_OK;
}

/* The rows of w lie in the entries at p, of which the first is row `first`. */
static glv_status read_rows(decoder *d, const zip_layout *z, const value_parts *parts,
                            const uint8_t *p, const wanted *w, size_t first, sink *s,
                            glv_error *err) {
  if (z->control != 0) {
    TRY(read_levels(d, z, p, w, first, s, err));
  }
  const size_t stride = z->control + z->width;
  for (size_t i = 0; i < w->count; i++) {
    const uint8_t *entry = p + (wanted_row(w, i) - first) * stride;
    TRY(value_put(parts, entry + z->control, s, err));
    sink_advance(s, 1);
  }
  return GLV_OK;
}

static wanted sub_rows(const wanted *w, size_t i, size_t n) {
  wanted part = *w;
  part.count = n;
  if (w->rows == NULL) {
    part.first += i;
  } else {
    part.rows += i;
  }
  return part;
}

/* Neighbouring rows go straight to their place. */
static glv_status read_direct(decoder *d, const zip_layout *z, const wanted *w, sink *s,
                              glv_error *err) {
  for (size_t i = 0; i < w->count;) {
    const size_t n = zip_run(w, i, 0, w->count);
    TRY(io_read_at(d->env, d->file, z->data.offset + (uint64_t)wanted_row(w, i) * z->width,
                   sink_next(s), n * z->width, err));
    sink_advance(s, n);
    i += n;
  }
  return GLV_OK;
}

glv_status zip_read_fixed(decoder *d, const zip_layout *z, const wanted *w, sink *s,
                          glv_error *err) {
  value_parts parts = {0};
  TRY(value_parts_of(z->values, z->width, s, &parts, err));
  if (z->control == 0 && parts.validity_total == 0 && s->s.kind == SHAPE_FIXED &&
      !parts.all_items_null) {
    return read_direct(d, z, w, s, err);
  }
  const size_t stride = z->control + z->width;
  for (size_t i = 0; i < w->count;) {
    const size_t most = size_max((size_t)FETCH_BYTES / stride, 1);
    const size_t n = zip_run(w, i, (size_t)FETCH_GAP / stride, most);
    const wanted part = sub_rows(w, i, n);
    const size_t first = wanted_row(&part, 0);
    const size_t rows = wanted_row(&part, n - 1) - first + 1;
    span bytes = {0};
    TRY(decoder_fetch(d, z->data.offset + (uint64_t)first * stride, rows * stride, &bytes, err));
    TRY(read_rows(d, z, &parts, bytes.data, &part, first, s, err));
    i += n;
  }
  return GLV_OK;
}

glv_status zip_read(decoder *d, const page *p, const wanted *w, sink *s, glv_error *err) {
  const zip_layout *z = &p->zip;
  const bool is_packed = s->s.kind == SHAPE_PACKED;
  if (z->is_variable ? s->s.kind != SHAPE_TEXT && !is_packed
                     : s->s.kind != SHAPE_FIXED && s->s.kind != SHAPE_BITS && !is_packed) {
    return refuse(z->values, z->width, s, err);
  }
  if (p->levels.max_rep != 0 || (is_packed && z->is_variable)) {
    return zip_read_entries(d, p, w, s, err);
  }
  return z->is_variable ? zip_read_variable(d, z, w, s, err) : zip_read_fixed(d, z, w, s, err);
}
