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

enum { FLAT_CHUNK_BITS = 32 * 1024 * 8, SMALL_FLAT_CHUNK_BITS = FLAT_CHUNK_BITS / 2 };

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
  const uint8_t *values = value_source_next(s, c->count, group.bytes);
  if (c->count < BITPACK_GROUP) {
    const size_t size = c->count * s->width;
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
    const uint8_t *values = value_source_next(p->source, chunks[i].count, group.bytes);
    const unsigned width = bitpack_width(bitpack_union(p->source->bits, values, chunks[i].count));
    chunks[i].sizes[0] = (uint32_t)packed_size(p->source, width);
    total += chunks[i].sizes[0];
  }
  return total;
}

static glv_status try_packed(mini_page *m, value_source *s, page_output *out, bool *ret_done,
                             glv_error *err) {
  struct packing p = {m->in, s};
  TRY(mini_chunks_new(m->in, BITPACK_GROUP, &m->chunks, &m->chunk_count, err));
  const uint64_t raw = (uint64_t)m->in->count * s->width;
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
  value_source *source;              /* NULL: bits */
  page_cursor bits;                  /* of LEAF_BITS */
  page_cursor validity[SHAPE_DEPTH]; /* of items */
  bool has_item_nulls;               /* they are stored: values are not numbers of a dictionary */
};

static void flat_start(void *context) {
  struct flat *f = context;
  f->bits = page_cursor_at_start(f->in);
  for (size_t i = 0; i < f->in->leaf->depth; i++) {
    f->validity[i] = f->bits;
  }
  if (f->source != NULL) {
    value_source_start(f->source, f->in);
  }
}

static bool stores_validity(const struct flat *f, size_t level) {
  return f->has_item_nulls && f->in->has_item_nulls[level];
}

static void flat_fill(void *context, const mini_chunk *c, uint8_t *const *ret) {
  struct flat *f = context;
  for (size_t i = 0; i < f->in->leaf->depth; i++) {
    if (stores_validity(f, i)) {
      page_next_item_validity(&f->validity[i], i, c->count, *ret++);
    }
  }
  uint8_t *data = *ret;
  if (f->source == NULL) {
    page_next_bits(&f->bits, c->count, data);
    return;
  }
  const uint8_t *values = value_source_next(f->source, c->count, data);
  if (values != data) {
    memcpy(data, values, c->count * f->source->width);
  }
}

/* Largest power of two of values that a chunk may hold. */
static size_t flat_chunk_values(const page_leaf *leaf, uint64_t value_bits) {
  const uint64_t most = leaf->version >= FORMAT_2_2 ? FLAT_CHUNK_BITS : SMALL_FLAT_CHUNK_BITS;
  size_t values = 2;
  while (values * 2 <= CHUNK_MAX_VALUES && values * 2 * value_bits <= most) {
    values *= 2;
  }
  return values;
}

static void size_flat_chunk(const struct flat *f, uint64_t value_bits, mini_chunk *c) {
  size_t buffers = 0;
  for (size_t i = 0; i < f->in->leaf->depth; i++) {
    if (stores_validity(f, i)) {
      c->sizes[buffers++] = (uint32_t)bits_size(c->count * f->in->leaf->row_items[i]);
    }
  }
  c->sizes[buffers] = (uint32_t)((c->count * value_bits + 7) / 8);
}

static glv_status write_flat(mini_page *m, struct flat *f, uint64_t value_bits,
                             encoding_message *values, page_output *out, glv_error *err) {
  const size_t step = flat_chunk_values(m->in->leaf, value_bits);
  TRY(mini_chunks_new(m->in, step, &m->chunks, &m->chunk_count, err));
  m->buffer_count = 1;
  for (size_t i = 0; i < m->in->leaf->depth; i++) {
    m->buffer_count += stores_validity(f, i);
  }
  for (size_t i = 0; i < m->chunk_count; i++) {
    size_flat_chunk(f, value_bits, &m->chunks[i]);
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
    f.has_item_nulls = true;
    values = encoding_of_values(&out->messages, m->in);
  }
  return write_flat(m, &f, (uint64_t)s->width * 8, values, out, err);
}

glv_status fixed_write(const page_input *in, page_output *out, glv_error *err) {
  const page_leaf *leaf = in->leaf;
  mini_page m = {.in = in};
  if (leaf->form == LEAF_BITS) {
    struct flat f = {.in = in, .has_item_nulls = true};
    return write_flat(&m, &f, leaf->items, encoding_of_values(&out->messages, in), out, err);
  }
  value_source s = {.bits = leaf->pack_bits, .width = leaf->width};
  return fixed_write_values(&m, &s, leaf->pack_bits != 0, out, err);
}
