/*
 * Constant pages (lance-file-format section 7.3): all rows null, or all valid items equal, or lists
 * that hold no items. The levels, if any, are decoded once when the page is loaded and kept.
 */
#include "arrow/bits.h"
#include "base/limits.h"
#include "format/fixed.h"
#include "format/page.h"

/* Levels that cost no bytes in the file (all equal) are believed up to this number. */
enum { MAX_FREE_LEVELS = 1 << 24 };

/* Levels that a buffer of some size can hold, so that working memory stays in proportion. */
static bool is_plausible(const codec *c, size_t size, uint64_t count) {
  if (c == NULL || c->kind == CODEC_FLAT) {
    return count <= size / 2;
  }
  if (c->kind == CODEC_CONSTANT || (c->kind == CODEC_OUT_OF_LINE && c->packed_bits == 0) ||
      c->kind == CODEC_GENERAL) {
    return count <= MAX_FREE_LEVELS;
  }
  return count / BITPACK_GROUP <= size;
}

/* A stream of levels, into the memory of the page. count: what the message says; raw streams have
 * as many levels as they have room for. An empty buffer gives NULL. */
static glv_status read_levels(decoder *d, const codec *c, extent where, uint64_t count, page *p,
                              const uint16_t **ret, uint64_t *ret_count, glv_error *err) {
  size_t size = 0;
  size_t n = 0;
  *ret = NULL;
  *ret_count = 0;
  if (where.size == 0) {
    return GLV_OK;
  }
  if (c == NULL) {
    count = where.size / sizeof(uint16_t);
  }
  if (!to_size(where.size, &size) || !to_size(count, &n) || !is_plausible(c, size, count) ||
      (c == NULL && size % sizeof(uint16_t) != 0) || n > UINT32_MAX) {
    return FAIL(err, GLV_E_CORRUPT, "%llu bytes do not hold %llu levels",
                (unsigned long long)where.size, (unsigned long long)count);
  }
  span in = {0};
  TRY(decoder_fetch(d, where.offset, size, &in, err));
  const size_t room = fixed_room(n, 16);
  uint8_t *levels = arena_alloc(&p->memory, room);
  if (levels == NULL) {
    return error_nomem(err, room);
  }
  if (c != NULL) {
    TRY(fixed_block(d, c, in, n, 16, levels, err));
  } else {
    memcpy(levels, in.data, size);
  }
  p->memory_bytes += room;
  *ret = (const uint16_t *)(const void *)levels;
  *ret_count = n;
  return GLV_OK;
}

/* Where the rows of lists start. */
static glv_status find_rows(page *p, uint64_t entries, glv_error *err) {
  constant_layout *k = &p->constant;
  if (entries < p->rows) {
    return FAIL(err, GLV_E_CORRUPT, "%llu levels cannot tell of %llu rows",
                (unsigned long long)entries, (unsigned long long)p->rows);
  }
  uint32_t *starts = ARENA_ARRAY(&p->memory, uint32_t, p->rows + 1);
  if (starts == NULL) {
    return error_nomem(err, (size_t)p->rows * sizeof *starts);
  }
  uint64_t row = 0;
  for (uint32_t i = 0; i < entries; i++) {
    if (k->rep[i] == p->levels.max_rep) {
      if (row == p->rows) {
        row++;
        break;
      }
      starts[row++] = i;
    }
  }
  if (row != p->rows || (entries != 0 && (row == 0 || starts[0] != 0))) {
    return FAIL(err, GLV_E_CORRUPT, "the levels of a page do not tell of its %llu rows",
                (unsigned long long)p->rows);
  }
  starts[row] = (uint32_t)entries;
  k->starts = starts;
  p->memory_bytes += (size_t)p->rows * sizeof *starts;
  return GLV_OK;
}

/* The streams of a page that has both buffers. */
static glv_status read_streams(decoder *d, const page_place *where, size_t at,
                               const Lance__Encodings21__ConstantLayout *m, page *p,
                               glv_error *err) {
  constant_layout *k = &p->constant;
  const codec *rep = NULL;
  const codec *def = NULL;
  uint64_t reps = 0;
  uint64_t defs = 0;
  TRY(codec_read(&p->memory, m->rep_compression, &rep, err));
  TRY(codec_read(&p->memory, m->def_compression, &def, err));
  TRY(read_levels(d, rep, where->buffers[at], m->num_rep_values, p, &k->rep, &reps, err));
  TRY(read_levels(d, def, where->buffers[at + 1], m->num_def_values, p, &k->def, &defs, err));
  if (k->rep != NULL && k->def != NULL && reps != defs) {
    return FAIL(err, GLV_E_CORRUPT, "a page has %llu repetition and %llu definition levels",
                (unsigned long long)reps, (unsigned long long)defs);
  }
  if (p->levels.max_rep == 0) {
    k->rep = NULL;
    k->all_null = k->def == NULL && !k->has_value;
    return k->def != NULL ? page_set_items(p, defs, err) : GLV_OK;
  }
  if (k->rep == NULL) {
    return p->rows == 0 ? GLV_OK
                        : FAIL(err, GLV_E_CORRUPT, "a page of lists has no repetition levels");
  }
  p->items = reps;
  return find_rows(p, reps, err);
}

/* The value in a buffer of its own: number of Arrow buffers, their sizes, their bytes. */
static glv_status read_scalar(decoder *d, extent where, page *p, glv_error *err) {
  size_t size = 0;
  span in = {0};
  if (!to_size(where.size, &size) || size < 8) {
    return FAIL(err, GLV_E_CORRUPT, "a constant of %llu bytes", (unsigned long long)where.size);
  }
  TRY(decoder_fetch(d, where.offset, size, &in, err));
  const uint32_t count = load_le32(in.data);
  const size_t first = load_le32(in.data + 4);
  const size_t second = count == 2 && size >= 12 ? load_le32(in.data + 8) : 0;
  const size_t head = 4 + 4 * (size_t)count;
  if (count < 1 || count > 2 || size < head || first + second != size - head) {
    return FAIL(err, GLV_E_CORRUPT, "a constant of %u buffers in %zu bytes", count, size);
  }
  span value = span_of(in.data + head, first);
  if (count == 2) { /* a string: two offsets, then bytes */
    text_view v = {.offsets = value.data,
                   .offset_width = first == 16 ? 8 : 4,
                   .count = 1,
                   .bytes = span_of(value.data + first, second)};
    if (first != 8 && first != 16) {
      return FAIL(err, GLV_E_CORRUPT, "a constant string with %zu bytes of offsets", first);
    }
    TRY(text_value(&v, 0, &value, err));
  }
  uint8_t *copy = arena_alloc(&p->memory, value.size + 1);
  if (copy == NULL) {
    return error_nomem(err, value.size);
  }
  memcpy(copy, value.data, value.size);
  p->constant.has_value = true;
  p->constant.value = span_of(copy, value.size);
  p->memory_bytes += value.size;
  return GLV_OK;
}

static glv_status read_value(decoder *d, format_version version, const page_place *where,
                             const Lance__Encodings21__ConstantLayout *m, size_t *at, page *p,
                             glv_error *err) {
  const bool is_inline = m->opt_inline_value_case ==
                         LANCE__ENCODINGS21__CONSTANT_LAYOUT__OPT_INLINE_VALUE_INLINE_VALUE;
  *at = 0;
  if (!is_inline && where->buffer_count % 2 == 0) {
    return GLV_OK;
  }
  if (version == FORMAT_2_1) {
    return FAIL(err, GLV_E_CORRUPT,
                "Lance v2.1 only accepts the all-null form of constant page layout");
  }
  if (is_inline) {
    p->constant.has_value = true;
    p->constant.value = span_of(m->inline_value.data, m->inline_value.len);
    return GLV_OK;
  }
  *at = 1;
  return read_scalar(d, where->buffers[0], p, err);
}

glv_status constant_load(decoder *d, format_version version, const page_place *where,
                         const Lance__Encodings21__ConstantLayout *m, page *p, glv_error *err) {
  size_t at = 0;
  TRY(read_value(d, version, where, m, &at, p, err));
  const size_t streams = where->buffer_count - at;
  if (streams != 0 && streams != 2) {
    return FAIL(err, GLV_E_CORRUPT, "a constant page with %zu buffers", where->buffer_count);
  }
  TRY(page_read_layers(p, m->layers, m->n_layers, err));
  p->items = p->rows;
  if (streams != 0) {
    return read_streams(d, where, at, m, p, err);
  }
  p->constant.all_null = !p->constant.has_value;
  if (p->levels.max_rep != 0 && p->rows != 0) {
    return FAIL(err, GLV_E_CORRUPT, "a page of lists has no repetition levels");
  }
  return GLV_OK;
}

/* ---- reading ---- */

static glv_status append_string(span value, size_t count, sink *s, glv_error *err) {
  size_t total = 0;
  if (!size_mul(value.size, count, &total)) {
    return error_nomem(err, SIZE_MAX);
  }
  TRY(sink_text_reserve(s, total, err));
  const size_t from = s->data_size;
  for (size_t i = 0; i < count; i++) {
    if (value.size != 0 && sink_is_valid(s, i)) {
      memcpy(s->data->data + s->data_size, value.data, value.size);
      s->data_size += value.size;
    }
    sink_text_end(s, i);
  }
  return sink_text_check(s, from, count, err);
}

static glv_status append_value(const constant_layout *k, size_t count, sink *s, glv_error *err) {
  switch (s->s.kind) {
  case SHAPE_BITS:
  case SHAPE_FIXED: {
    const size_t bytes = bits_size(shape_row_bits(&s->s));
    if (k->value.size != bytes || (s->s.kind == SHAPE_BITS && s->s.depth != 0)) {
      break;
    }
    sink_repeat(s, k->value.data, count);
    return GLV_OK;
  }
  case SHAPE_TEXT:
    return append_string(k->value, count, s, err);
  case SHAPE_NULL:
  case SHAPE_PACKED:
    break;
  }
  return FAIL(err, GLV_E_CORRUPT, "a constant of %zu bytes for type %s", k->value.size,
              TYPE_TEXT(s->f->type));
}

static glv_status append(const constant_layout *k, size_t count, sink *s, glv_error *err) {
  TRY(k->has_value ? append_value(k, count, s, err) : sink_zeros(s, count, err));
  sink_advance(s, count);
  return GLV_OK;
}

/* The rows [first, first + count) of lists. */
static glv_status read_lists(decoder *d, const page *p, size_t first, size_t count, sink *s,
                             glv_error *err) {
  const constant_layout *k = &p->constant;
  const uint32_t from = k->starts[first];
  const size_t entries = k->starts[first + count] - from;
  const uint16_t *def = k->def != NULL ? k->def + from : NULL;
  TRY(level_list_add_run(s->levels, &p->levels, k->rep + from, def, entries, err));
  if (def == NULL) {
    TRY(sink_grow(s, entries, err));
    return append(k, entries, s, err);
  }
  TRY(decoder_reserve(d, &d->value_levels, (entries + 1) * sizeof *def, err));
  uint16_t *levels = (uint16_t *)(void *)d->value_levels.data;
  const size_t values = levels_keep_visible(def, entries, p->levels.max_visible, levels);
  TRY(sink_grow(s, values, err));
  TRY(sink_nulls(s, levels, &(wanted){.count = values}, err));
  return append(k, values, s, err);
}

glv_status constant_read(decoder *d, const page *p, const wanted *w, sink *s, glv_error *err) {
  const constant_layout *k = &p->constant;
  if (p->levels.max_rep != 0) {
    for (size_t i = 0; i < w->count;) {
      const size_t n = wanted_run(w, i);
      TRY(read_lists(d, p, wanted_row(w, i), n, s, err));
      i += n;
    }
    return GLV_OK;
  }
  if (k->def != NULL) {
    TRY(sink_levels(s, k->def, w, err));
  } else if (k->all_null) {
    TRY(sink_null_rows(s, w->count, err));
  }
  return append(k, w->count, s, err);
}
