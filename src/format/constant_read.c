/*
 * Constant pages (lance-file-format section 7.3): all rows null, or all valid rows equal, or lists
 * that hold no items. The levels, if any, are decoded once when the page is loaded and kept as a
 * bitmap.
 */
#include "arrow/bits.h"
#include "base/limits.h"
#include "format/fixed.h"
#include "format/page.h"

/* Levels that cost no bytes in the file (all equal) are believed up to this number. */
enum { MAX_FREE_LEVELS = 1 << 24 };

static bool is_list_layer(int layer) {
  return layer == LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_LIST ||
         layer == LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_LIST ||
         layer == LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_EMPTYABLE_LIST ||
         layer == LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULL_AND_EMPTY_LIST;
}

/* Definition levels that a layer uses. */
static unsigned level_count(int layer) {
  switch (layer) {
  case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM:
  case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_LIST:
  case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_EMPTYABLE_LIST:
    return 1;
  case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULL_AND_EMPTY_LIST:
    return 2;
  default:
    return 0;
  }
}

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

/* All definition levels of the page into d->levels. */
static glv_status read_levels(decoder *d, const codec *c, extent where, uint64_t rows,
                              const uint16_t **ret, glv_error *err) {
  size_t size = 0;
  size_t count = 0;
  if (!to_size(where.size, &size) || !to_size(rows, &count) || !is_plausible(c, size, rows)) {
    return FAIL(err, GLV_E_CORRUPT, "%llu bytes do not hold %llu levels",
                (unsigned long long)where.size, (unsigned long long)rows);
  }
  span in = {0};
  TRY(decoder_fetch(d, where.offset, size, &in, err));
  TRY(decoder_reserve(d, &d->levels, fixed_room(count, 16), err));
  if (c != NULL) {
    TRY(fixed_block(d, c, in, count, 16, d->levels.data, err));
  } else if (size != count * sizeof(uint16_t)) {
    return FAIL(err, GLV_E_CORRUPT, "%zu bytes of levels for %zu rows", size, count);
  } else {
    memcpy(d->levels.data, in.data, size);
  }
  *ret = (const uint16_t *)(const void *)d->levels.data;
  return GLV_OK;
}

static glv_status new_bits(page *p, uint8_t **ret, glv_error *err) {
  const size_t size = bits_size((size_t)p->rows) + 1;
  *ret = arena_alloc(&p->memory, size);
  if (*ret == NULL) {
    return error_nomem(err, size);
  }
  p->memory_bytes += size;
  return GLV_OK;
}

/* Items only: level 0 is valid. */
static glv_status item_validity(decoder *d, extent where, page *p, const uint8_t **ret,
                                glv_error *err) {
  const uint16_t *levels = NULL;
  uint8_t *bits = NULL;
  TRY(read_levels(d, NULL, where, p->rows, &levels, err));
  TRY(new_bits(p, &bits, err));
  for (size_t i = 0; i < p->rows; i++) {
    bit_put(bits, i, levels[i] == 0);
  }
  *ret = bits;
  return GLV_OK;
}

/*
 * The outermost layer is a list. Its levels are the highest ones; a lower level means that the list
 * has at least one item, if only a null or a list.
 */
static glv_status list_validity(decoder *d, const Lance__Encodings21__ConstantLayout *m,
                                const codec *c, extent where, page *p, glv_error *err) {
  unsigned inner = 0;
  for (size_t i = 0; i + 1 < m->n_layers; i++) {
    inner += level_count((int)m->layers[i]);
  }
  const int outer = (int)m->layers[m->n_layers - 1];
  const unsigned max = inner + level_count(outer);
  const unsigned null_level = outer == LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_EMPTYABLE_LIST
                                  ? UINT16_MAX + 1u
                                  : inner + 1;
  if (where.size == 0 || m->num_def_values > p->rows ||
      (m->def_compression != NULL && m->num_def_values != p->rows)) {
    return FAIL(err, GLV_E_UNSUPPORTED, "lists that hold items are not supported");
  }
  const uint16_t *levels = NULL;
  uint8_t *bits = NULL;
  TRY(read_levels(d, c, where, p->rows, &levels, err));
  TRY(new_bits(p, &bits, err));
  for (size_t i = 0; i < p->rows; i++) {
    if (levels[i] > max) {
      return FAIL(err, GLV_E_CORRUPT, "level %u of row %zu does not exist", levels[i], i);
    }
    if (levels[i] <= inner) {
      return FAIL(err, GLV_E_UNSUPPORTED, "lists that hold items are not supported");
    }
    bit_put(bits, i, levels[i] != null_level);
  }
  p->constant.validity = bits;
  return GLV_OK;
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
  constant_layout *k = &p->constant;
  TRY(read_value(d, version, where, m, &at, p, err));
  const size_t levels = where->buffer_count - at;
  if ((levels != 0 && levels != 2) || m->n_layers == 0) {
    return FAIL(err, GLV_E_CORRUPT, "a constant page with %zu buffers and %zu layers",
                where->buffer_count, m->n_layers);
  }
  const codec *def = NULL;
  TRY(codec_read(&p->memory, m->def_compression, &def, err));
  bool has_lists = false;
  for (size_t i = 0; i < m->n_layers; i++) {
    has_lists = has_lists || is_list_layer((int)m->layers[i]);
  }
  k->is_list = is_list_layer((int)m->layers[m->n_layers - 1]) && levels != 0 && !k->has_value;
  if (k->is_list) {
    return list_validity(d, m, def, where->buffers[at + 1], p, err);
  }
  if (has_lists && levels != 0) {
    return FAIL(err, GLV_E_UNSUPPORTED, "lists that hold items are not supported");
  }
  if (!k->has_value) {
    k->all_null = true;
    return GLV_OK;
  }
  TRY(layers_of_items(m->layers, m->n_layers, err));
  return levels == 0 || where->buffers[at + 1].size == 0
             ? GLV_OK
             : item_validity(d, where->buffers[at + 1], p, &k->validity, err);
}

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
  case SHAPE_LIST:
    break;
  }
  return FAIL(err, GLV_E_CORRUPT, "a constant of %zu bytes for type %s", k->value.size,
              TYPE_TEXT(s->f->type));
}

glv_status constant_read(const constant_layout *k, const wanted *w, sink *s, glv_error *err) {
  if (k->is_list != (s->s.kind == SHAPE_LIST) && !k->all_null) {
    return FAIL(err, GLV_E_CORRUPT, "a constant page of another type than %s",
                TYPE_TEXT(s->f->type));
  }
  if (k->validity != NULL) {
    TRY(sink_bits_valid(s, k->validity, w, err));
  } else if (k->all_null) {
    TRY(sink_null_rows(s, w->count, err));
  }
  if (k->has_value) {
    TRY(append_value(k, w->count, s, err));
  } else {
    TRY(sink_zeros(s, w->count, err));
  }
  sink_advance(s, w->count);
  return GLV_OK;
}
