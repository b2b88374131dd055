/*
 * Mini-blocks of fixed-width values: InlineBitpacking where it saves an eighth, else Flat (8.1,
 * 11.2). The values are the rows of a page or, for dictionary pages, indices.
 *
 * Bit packing takes two passes over the values: the first finds the width of every chunk of 1024,
 * which settles the choice and the sizes, the second packs. Flat chunks hold up to 4096 values and
 * 32 KiB.
 */
#include "arrow/bits.h"
#include "format/bitpack_pack_private.h"
#include "format/page_write_private.h"

enum { FLAT_CHUNK_BITS = 32 * 1024 * 8 };

/* ---- where values come from ---- */

void value_source_start(value_source *s, const page_input *in) {
  s->cursor = page_cursor_at_start(in);
  s->at = 0;
}

const uint8_t *value_source_next(value_source *s, size_t count, uint8_t *scratch) {
  if (s->numbers == NULL) {
    return page_next_values(&s->cursor, count, scratch);
  }
  const uint32_t *from = s->numbers + s->at;
  s->at += count;
  if (s->bits == 32) {
    return (const uint8_t *)from;
  }
  uint16_t *narrow = (void *)scratch;
  for (size_t i = 0; i < count; i++) {
    if (s->bits == 16) {
      narrow[i] = (uint16_t)from[i];
    } else {
      scratch[i] = (uint8_t)from[i];
    }
  }
  return scratch;
}

/* ---- bit packing ---- */

/* Room for what is produced or copied before it is packed; aligned for every word. */
typedef union scratch_group {
  uint64_t words[BITPACK_GROUP];
  uint8_t bytes[BITPACK_GROUP * sizeof(uint64_t)];
} scratch_group;

struct packing {
  const page_input *in;
  value_source *source;
};

static void packing_start(void *context) {
  struct packing *p = context;
  value_source_start(p->source, p->in);
}

static size_t packed_size(const value_source *s, unsigned width) {
  return s->width + bitpack_size(width);
}

/* The width of a chunk in front of its packed words. */
static void packing_fill(void *context, const mini_chunk *c, uint8_t *const *ret) {
  struct packing *p = context;
  value_source *s = p->source;
  scratch_group group;
  const uint8_t *values = value_source_next(s, c->rows, group.bytes);
  if (c->rows < BITPACK_GROUP) {
    const size_t size = c->rows * s->width;
    if (values != group.bytes) {
      memcpy(group.bytes, values, size);
    }
    memset(group.bytes + size, 0, BITPACK_GROUP * s->width - size);
    values = group.bytes;
  }
  const uint64_t width = (c->sizes[0] - s->width) / bitpack_size(1);
  memcpy(ret[0], &width, s->width);
  bitpack_pack(s->bits, (unsigned)width, values, ret[0] + s->width);
}

/* Fills the sizes of packed chunks. @return their sum. */
static uint64_t measure_packed(struct packing *p, mini_chunk *chunks, size_t count) {
  uint64_t total = 0;
  packing_start(p);
  for (size_t i = 0; i < count; i++) {
    scratch_group group;
    const uint8_t *values = value_source_next(p->source, chunks[i].rows, group.bytes);
    const unsigned width = bitpack_width(bitpack_union(p->source->bits, values, chunks[i].rows));
    chunks[i].sizes[0] = (uint32_t)packed_size(p->source, width);
    total += chunks[i].sizes[0];
  }
  return total;
}

static glv_status try_packed(mini_page *m, value_source *s, page_output *out, bool *ret_done,
                             glv_error *err) {
  struct packing p = {m->in, s};
  m->chunks = mini_chunks_new(m->in->env, m->in->rows, BITPACK_GROUP, &m->chunk_count);
  if (m->chunks == NULL) {
    return error_nomem(err, m->chunk_count * sizeof *m->chunks);
  }
  const uint64_t raw = (uint64_t)m->in->rows * s->width;
  *ret_done = measure_packed(&p, m->chunks, m->chunk_count) <= raw / 8 * 7;
  glv_status status = GLV_OK;
  if (*ret_done) {
    m->buffer_count = 1;
    m->values = encoding_inline_bitpacking(&out->messages, s->bits);
    m->start = packing_start;
    m->fill = packing_fill;
    m->context = &p;
    out->chunk_rows = BITPACK_GROUP;
    status = mini_write(m, out, err);
  }
  mem_free(m->in->env, m->chunks);
  return status;
}

/* ---- flat ---- */

struct flat {
  const page_input *in;
  value_source *source; /* NULL: bits */
  page_cursor bits;     /* of LEAF_BITS */
  page_cursor validity; /* of items */
  bool has_item_validity;
};

static void flat_start(void *context) {
  struct flat *f = context;
  f->bits = f->validity = page_cursor_at_start(f->in);
  if (f->source != NULL) {
    value_source_start(f->source, f->in);
  }
}

static void flat_fill(void *context, const mini_chunk *c, uint8_t *const *ret) {
  struct flat *f = context;
  uint8_t *data = ret[0];
  if (f->has_item_validity) {
    page_next_item_validity(&f->validity, c->rows, ret[0]);
    data = ret[1];
  }
  if (f->source == NULL) {
    page_next_bits(&f->bits, c->rows, data);
    return;
  }
  const uint8_t *values = value_source_next(f->source, c->rows, data);
  if (values != data) {
    memcpy(data, values, c->rows * f->source->width);
  }
}

/* Largest power of two of rows that a chunk may hold. */
static size_t flat_chunk_rows(uint64_t row_bits) {
  size_t rows = 2;
  while (rows * 2 <= CHUNK_MAX_VALUES && rows * 2 * row_bits <= FLAT_CHUNK_BITS) {
    rows *= 2;
  }
  return rows;
}

static glv_status write_flat(mini_page *m, struct flat *f, uint64_t row_bits,
                             encoding_message *values, page_output *out, glv_error *err) {
  const size_t step = flat_chunk_rows(row_bits);
  m->chunks = mini_chunks_new(m->in->env, m->in->rows, step, &m->chunk_count);
  if (m->chunks == NULL) {
    return error_nomem(err, m->chunk_count * sizeof *m->chunks);
  }
  m->buffer_count = f->has_item_validity ? 2 : 1;
  for (size_t i = 0; i < m->chunk_count; i++) {
    mini_chunk *c = &m->chunks[i];
    c->sizes[m->buffer_count - 1] = (uint32_t)((c->rows * row_bits + 7) / 8);
    if (f->has_item_validity) {
      c->sizes[0] = (uint32_t)bits_size(c->rows * m->in->leaf->items);
    }
  }
  m->values = values;
  m->start = flat_start;
  m->fill = flat_fill;
  m->context = f;
  out->chunk_rows = step;
  const glv_status status = mini_write(m, out, err);
  mem_free(m->in->env, m->chunks);
  return status;
}

glv_status fixed_write_values(mini_page *m, value_source *s, bool may_pack, page_output *out,
                              glv_error *err) {
  if (may_pack) {
    bool done;
    TRY(try_packed(m, s, out, &done, err));
    if (done) {
      return GLV_OK;
    }
  }
  struct flat f = {.in = m->in, .source = s};
  encoding_message *values = encoding_flat(&out->messages, s->bits);
  if (s->numbers == NULL) {
    f.has_item_validity = m->in->has_item_nulls;
    values = encoding_of_leaf(&out->messages, m->in->leaf, f.has_item_validity);
  }
  return write_flat(m, &f, (uint64_t)s->width * 8, values, out, err);
}

glv_status fixed_write(const page_input *in, page_output *out, glv_error *err) {
  const page_leaf *leaf = in->leaf;
  mini_page m = {.in = in};
  if (leaf->form == LEAF_BITS) {
    struct flat f = {.in = in, .has_item_validity = in->has_item_nulls};
    return write_flat(&m, &f, leaf->items,
                      encoding_of_leaf(&out->messages, leaf, in->has_item_nulls), out, err);
  }
  value_source s = {.bits = leaf->pack_bits, .width = leaf->width};
  return fixed_write_values(&m, &s, leaf->pack_bits != 0, out, err);
}
