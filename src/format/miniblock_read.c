/*
 * Reading rows of a mini-block page. The wanted rows are first cut by chunk; chunks that lie close
 * to each other are then read from the file with one call into working memory, and decoded one by
 * one into the sink. Chunks without wanted rows are not decoded, and not read unless they lie in a
 * small gap.
 *
 * A chunk: u16 number of levels, u16 size of each level stream, u16 or u32 size of each value
 * buffer, then these parts, each at a multiple of 8 from the start of the chunk.
 */
#include "arrow/bits.h"
#include "base/checked.h"
#include "format/fixed.h"
#include "format/page.h"

/* The rows that are wanted of one chunk. */
typedef struct chunk_task {
  size_t chunk;
  wanted rows; /* among those that start in it */
  bool head;   /* lists: also the end of a row that came in from the chunk before */
} chunk_task;

static size_t chunk_of(const mini_layout *m, uint64_t row) {
  if (m->row_shift != 0) {
    return size_min((size_t)(row >> m->row_shift), m->chunk_count - 1);
  }
  size_t low = 0;
  size_t high = m->chunk_count - 1;
  while (low < high) {
    const size_t middle = high - (high - low) / 2;
    if (m->rows[middle] <= row) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/* How many of the list's rows from i on lie before row `end` of the page. */
static size_t rows_before(const wanted *w, size_t i, uint64_t end) {
  size_t n = 1;
  while (i + n < w->count && wanted_row(w, i + n) < end) {
    n++;
  }
  return n;
}

/* The rows from the list's `at`-th on that start in a chunk. */
static wanted part_of(const mini_layout *m, const wanted *w, size_t at, size_t chunk) {
  const uint64_t start = m->rows[chunk];
  const uint64_t end = m->rows[chunk + 1];
  const size_t row = wanted_row(w, at);
  if (row >= end) {
    return (wanted){.count = 0};
  }
  if (w->rows == NULL) {
    return (wanted){.first = (size_t)(row - start),
                    .count = (size_t)u64_min(end - row, w->count - at)};
  }
  return wanted_simplify((wanted){
      .rows = w->rows + at, .count = rows_before(w, at, end), .base = w->base + (uint32_t)start});
}

/* Where cutting stands. */
typedef struct cut_state {
  size_t at;    /* next row of the list */
  bool is_open; /* the last row taken goes on in chunk `chunk` */
  size_t chunk;
} cut_state;

/* Cut w by chunks into at most `room` tasks; c moves on. */
static size_t cut(const mini_layout *m, const wanted *w, cut_state *c, chunk_task *tasks,
                  size_t room) {
  size_t count = 0;
  while (count < room && (c->at < w->count || c->is_open)) {
    const bool head = c->is_open;
    const size_t chunk = head ? c->chunk : chunk_of(m, wanted_row(w, c->at));
    const wanted part = c->at < w->count ? part_of(m, w, c->at, chunk) : (wanted){.count = 0};
    tasks[count++] = (chunk_task){chunk, part, head};
    c->at += part.count;
    const uint64_t starts = m->rows[chunk + 1] - m->rows[chunk];
    const bool has_last =
        starts == 0 ? head : part.count != 0 && wanted_row(&part, part.count - 1) == starts - 1;
    c->is_open = has_last && m->is_open != NULL && bit_get(m->is_open, chunk);
    c->chunk = chunk + 1; /* the last chunk is not open */
  }
  return count;
}

/* ---- one chunk ---- */

typedef struct chunk_view {
  size_t rows; /* values */
  size_t level_count;
  span rep;
  span def;
  chunk_buffers values;
} chunk_view;

/* The next part of a chunk; *at is its start before alignment, and its end afterwards. */
static bool next_part(span chunk, size_t *at, size_t size, span *ret) {
  const size_t start = (size_t)align_up(*at, 8);
  if (!range_within(start, size, chunk.size)) {
    return false;
  }
  *ret = span_of(chunk.data + start, size);
  *at = start + size;
  return true;
}

static glv_status parse_chunk(const mini_layout *m, span chunk, chunk_view *v, glv_error *err) {
  const size_t size_width = m->is_large ? 4 : 2;
  const size_t head = 2 + 2 * ((size_t)(m->rep != NULL) + (size_t)(m->def != NULL));
  size_t at = head + m->buffers * size_width;
  bool ok = at <= chunk.size;
  if (ok) {
    v->level_count = load_le16(chunk.data);
    v->values.count = m->buffers;
    if (m->rep != NULL) {
      ok = next_part(chunk, &at, load_le16(chunk.data + 2), &v->rep);
    }
    if (ok && m->def != NULL) {
      ok = next_part(chunk, &at, load_le16(chunk.data + (m->rep != NULL ? 4 : 2)), &v->def);
    }
  }
  for (size_t i = 0; ok && i < m->buffers; i++) {
    const uint8_t *p = chunk.data + head + i * size_width;
    const size_t size = m->is_large ? load_le32(p) : load_le16(p);
    ok = next_part(chunk, &at, size, &v->values.buffers[i]);
  }
  if (!ok) {
    return FAIL(err, GLV_E_CORRUPT, "the parts of a chunk of %zu bytes do not lie inside it",
                chunk.size);
  }
  return GLV_OK;
}

/* A stream of levels; c NULL gives NULL. */
static glv_status decode_levels(decoder *d, const codec *c, span in, size_t count, scratch *to,
                                const uint16_t **ret, glv_error *err) {
  *ret = NULL;
  if (c == NULL) {
    return GLV_OK;
  }
  TRY(decoder_reserve(d, to, fixed_room(count, 16), err));
  TRY(fixed_block(d, c, in, count, 16, to->data, err));
  *ret = (const uint16_t *)(const void *)to->data;
  return GLV_OK;
}

static glv_status read_levels(decoder *d, const mini_layout *m, const chunk_view *v,
                              const uint16_t **ret, glv_error *err) {
  if (m->def != NULL && v->level_count != v->rows) {
    return FAIL(err, GLV_E_CORRUPT, "a chunk of %zu values has %zu levels", v->rows,
                v->level_count);
  }
  return decode_levels(d, m->def, v->def, v->rows, &d->levels, ret, err);
}

/* Widen dictionary indices of w's rows; null rows get the number of the empty entry. *ret: all
 * others are smaller than it. */
#define DEFINE_WIDEN(T)                                                                            \
  static bool widen##T(const uint8_t *in, const uint16_t *levels, const wanted *w, uint64_t empty, \
                       uint32_t *out) {                                                            \
    bool ok = true;                                                                                \
    for (size_t i = 0; i < w->count; i++) {                                                        \
      const size_t row = wanted_row(w, i);                                                         \
      uint##T##_t number;                                                                          \
      memcpy(&number, in + row * sizeof number, sizeof number);                                    \
      const bool is_null = levels != NULL && levels[row] != 0;                                     \
      ok &= is_null || number < empty;                                                             \
      out[i] = is_null ? (uint32_t)empty : (uint32_t)number;                                       \
    }                                                                                              \
    return ok;                                                                                     \
  }
DEFINE_WIDEN(8)
DEFINE_WIDEN(16)
DEFINE_WIDEN(32)
DEFINE_WIDEN(64)

static bool widen(unsigned bits, const uint8_t *in, const uint16_t *levels, const wanted *w,
                  uint64_t empty, uint32_t *out) {
  switch (bits) {
  case 8:
    return widen8(in, levels, w, empty, out);
  case 16:
    return widen16(in, levels, w, empty, out);
  case 32:
    return widen32(in, levels, w, empty, out);
  default: /* 64: nothing else was let through */
    return widen64(in, levels, w, empty, out);
  }
}

static glv_status numbered_values(decoder *d, const mini_layout *m, const codec *c,
                                  const chunk_view *v, const uint16_t *levels, const wanted *w,
                                  sink *s, glv_error *err) {
  const unsigned bits = fixed_bits(c);
  if (!bitpack_is_word(bits)) {
    return codec_refuse(c, "dictionary index", err);
  }
  const uint8_t *indices = NULL;
  TRY(fixed_chunk(d, c, &v->values, 0, v->rows, bits, NULL, &indices, err));
  TRY(decoder_reserve(d, &d->numbers, w->count * sizeof(uint32_t), err));
  uint32_t *numbers = (uint32_t *)(void *)d->numbers.data;
  if (!widen(bits, indices, levels, w, m->dictionary->count, numbers)) {
    return FAIL(err, GLV_E_CORRUPT, "a dictionary index is not below %llu",
                (unsigned long long)m->dictionary->count);
  }
  return s->s.is_dictionary ? sink_numbers(s, m->dictionary, numbers, w->count, err)
                            : dictionary_append(m->dictionary, numbers, w->count, s, err);
}

static glv_status plain_values(decoder *d, const codec *c, const chunk_view *v, const wanted *w,
                               sink *s, glv_error *err) {
  const unsigned bits = (unsigned)shape_row_bits(&s->s);
  const bool may_direct = s->s.kind == SHAPE_FIXED && wanted_is_all(w, v->rows) &&
                          (c->kind != CODEC_INLINE || v->rows == BITPACK_GROUP);
  uint8_t *dest = may_direct ? sink_next(s) : NULL;
  const uint8_t *values = NULL;
  TRY(fixed_chunk(d, c, &v->values, 0, v->rows, bits, dest, &values, err));
  if (values != dest) {
    sink_fixed(s, values, w);
  }
  return GLV_OK;
}

/* fixed_size_list: validity of the items level by level, then the leaves. */
static glv_status list_values(decoder *d, const codec *c, const chunk_view *v, const wanted *w,
                              sink *s, glv_error *err) {
  size_t at = 0;
  for (size_t level = 0; level < s->s.depth; level++, c = c->inner) {
    if (c->kind != CODEC_LIST || c->items != s->s.items[level]) {
      return FAIL(err, GLV_E_CORRUPT, "values of type %s are stored as %s", TYPE_TEXT(s->f->type),
                  codec_name(c));
    }
    if (!c->has_validity) {
      continue;
    }
    if (at >= v->values.count ||
        v->values.buffers[at].size < bits_size(v->rows * s->s.leaves[level])) {
      return FAIL(err, GLV_E_CORRUPT, "the validity of list items is cut off");
    }
    TRY(sink_items_valid(s, level, v->values.buffers[at].data, w, err));
    at++;
  }
  const unsigned bits = s->s.kind == SHAPE_BITS ? 1 : 8 * (unsigned)s->s.width;
  const uint8_t *values = NULL;
  TRY(fixed_chunk(d, c, &v->values, at, v->rows * s->s.row_leaves, bits, NULL, &values, err));
  sink_fixed(s, values, w);
  return GLV_OK;
}

static glv_status packed_values(decoder *d, const codec *c, const chunk_view *v, const wanted *w,
                                sink *s, glv_error *err) {
  uint64_t bits = 0;
  if (c->kind != CODEC_STRUCT) {
    return codec_refuse(c, "mini-block", err);
  }
  for (size_t i = 0; i < c->field_count; i++) {
    bits += c->fields[i].bits; /* each fits into 31 bits, and there is one a byte of the message */
  }
  if (bits > INT32_MAX || bits == 0) {
    return FAIL(err, GLV_E_CORRUPT, "packed rows of %llu bits", (unsigned long long)bits);
  }
  const uint8_t *rows = NULL;
  TRY(fixed_chunk(d, c->inner, &v->values, 0, v->rows, (unsigned)bits, NULL, &rows, err));
  return sink_packed(s, rows, (size_t)bits / 8, w, err);
}

static glv_status text_values(const codec *c, const chunk_view *v, const wanted *w, sink *s,
                              glv_error *err) {
  const fsst_table *symbols = NULL;
  if (c->kind == CODEC_FSST) {
    symbols = c->symbols;
    c = c->inner;
  }
  if (c->kind != CODEC_VARIABLE) {
    return codec_refuse(c, "mini-block", err);
  }
  text_view view = {0};
  TRY(text_of_chunk(v->values.buffers[0], c->bits, v->rows, &view, err));
  return sink_text(s, &view, symbols, w, err);
}

static glv_status read_values(decoder *d, const mini_layout *m, chunk_view *v,
                              const uint16_t *levels, const wanted *w, sink *s, glv_error *err) {
  const codec *c = m->values;
  if (c->kind == CODEC_GENERAL) {
    TRY(decoder_decompress(d, c->scheme, v->values.buffers[0], &v->values.buffers[0], err));
    c = c->inner;
  }
  if (m->dictionary != NULL) {
    return numbered_values(d, m, c, v, levels, w, s, err);
  }
  switch (s->s.kind) {
  case SHAPE_BITS:
  case SHAPE_FIXED:
    return s->s.depth != 0 ? list_values(d, c, v, w, s, err) : plain_values(d, c, v, w, s, err);
  case SHAPE_TEXT:
    return text_values(c, v, w, s, err);
  case SHAPE_PACKED:
    return packed_values(d, c, v, w, s, err);
  case SHAPE_NULL:
    break;
  }
  return FAIL(err, GLV_E_CORRUPT, "a page of values for type %s", TYPE_TEXT(s->f->type));
}

/* A chunk without lists: its values are rows. */
static glv_status read_rows(decoder *d, const mini_layout *m, const chunk_task *t, chunk_view *v,
                            sink *s, glv_error *err) {
  const uint16_t *levels = NULL;
  TRY(read_levels(d, m, v, &levels, err));
  if (levels != NULL) {
    TRY(sink_levels(s, levels, &t->rows, err));
  }
  TRY(read_values(d, m, v, levels, &t->rows, s, err));
  sink_advance(s, t->rows.count);
  return GLV_OK;
}

/* Old writers let the number of levels of a chunk wrap at 2^16; runs of levels tell the true one.
 */
static glv_status count_levels(const mini_layout *m, chunk_view *v, glv_error *err) {
  uint64_t rep = 0;
  uint64_t def = 0;
  TRY(m->rep != NULL ? fixed_block_runs(m->rep, v->rep, &rep, err) : GLV_OK);
  TRY(m->def != NULL ? fixed_block_runs(m->def, v->def, &def, err) : GLV_OK);
  const uint64_t count = u64_max(rep, def);
  if (count == 0) {
    return GLV_OK;
  }
  if (rep != 0 && def != 0 && rep != def) {
    return FAIL(err, GLV_E_CORRUPT, "a chunk has %llu repetition and %llu definition levels",
                (unsigned long long)rep, (unsigned long long)def);
  }
  if (count < v->level_count || (count - v->level_count) % (UINT16_MAX + 1u) != 0) {
    return FAIL(err, GLV_E_CORRUPT, "a chunk has %llu levels and claims to have %zu",
                (unsigned long long)count, v->level_count);
  }
  v->level_count = (size_t)count;
  return GLV_OK;
}

static glv_status read_lists(decoder *d, const mini_layout *m, const page_levels *p,
                             const chunk_task *t, chunk_view *v, sink *s, glv_error *err) {
  const uint16_t *rep = NULL;
  const uint16_t *def = NULL;
  TRY(count_levels(m, v, err));
  TRY(decode_levels(d, m->rep, v->rep, v->level_count, &d->reps, &rep, err));
  TRY(decode_levels(d, m->def, v->def, v->level_count, &d->levels, &def, err));
  if (def == NULL) {
    TRY(decoder_reserve(d, &d->levels, (v->level_count + 1) * sizeof *def, err));
    memset(d->levels.data, 0, v->level_count * sizeof *def);
    def = (const uint16_t *)(const void *)d->levels.data;
  }
  const uint64_t starts = m->rows[t->chunk + 1] - m->rows[t->chunk];
  level_cut c = {0};
  TRY(level_list_cut(s->levels, d, p, rep, def, v->level_count, starts, t->head, &t->rows, &c,
                     err));
  if (c.value_count != v->rows) {
    return FAIL(err, GLV_E_CORRUPT, "a chunk of %zu values has levels of %zu", v->rows,
                c.value_count);
  }
  if (c.values.count == 0) {
    return GLV_OK;
  }
  TRY(sink_grow(s, c.values.count, err));
  TRY(sink_nulls(s, c.value_levels, &c.values, err));
  TRY(read_values(d, m, v, c.value_levels, &c.values, s, err));
  sink_advance(s, c.values.count);
  return GLV_OK;
}

static glv_status read_chunk(decoder *d, const mini_layout *m, const page_levels *p,
                             const chunk_task *t, span chunk, sink *s, glv_error *err) {
  chunk_view v = {.rows = (size_t)(m->sums[t->chunk + 1] - m->sums[t->chunk])};
  TRY(parse_chunk(m, chunk, &v, err));
  return p->max_rep == 0 ? read_rows(d, m, t, &v, s, err) : read_lists(d, m, p, t, &v, s, err);
}

/* ---- many chunks ---- */

/* How many tasks from the first on are read with one call. */
static size_t group(const mini_layout *m, const chunk_task *tasks, size_t count) {
  const uint64_t start = m->offsets[tasks[0].chunk];
  size_t n = 1;
  while (n < count &&
         m->offsets[tasks[n].chunk] - m->offsets[tasks[n - 1].chunk + 1] <= FETCH_GAP &&
         m->offsets[tasks[n].chunk + 1] - start <= FETCH_BYTES) {
    n++;
  }
  return n;
}

static glv_status read_group(decoder *d, const mini_layout *m, const page_levels *p,
                             const chunk_task *tasks, size_t count, sink *s, glv_error *err) {
  const uint64_t start = m->offsets[tasks[0].chunk];
  const uint64_t end = m->offsets[tasks[count - 1].chunk + 1];
  span bytes = {0};
  TRY(decoder_fetch(d, m->data + start, (size_t)(end - start), &bytes, err));
  for (size_t i = 0; i < count; i++) {
    const uint64_t from = m->offsets[tasks[i].chunk];
    const uint64_t to = m->offsets[tasks[i].chunk + 1];
    const span chunk = span_of(bytes.data + (from - start), (size_t)(to - from));
    TRY(read_chunk(d, m, p, &tasks[i], chunk, s, err));
  }
  return GLV_OK;
}

enum { TASKS = 1024 };

glv_status mini_read(decoder *d, const mini_layout *m, const page_levels *p, const wanted *w,
                     sink *s, glv_error *err) {
  TRY(decoder_reserve(d, &d->tasks, TASKS * sizeof(chunk_task), err));
  chunk_task *tasks = (chunk_task *)(void *)d->tasks.data;
  cut_state c = {0};
  while (c.at < w->count || c.is_open) {
    const size_t count = cut(m, w, &c, tasks, TASKS);
    for (size_t i = 0; i < count;) {
      const size_t n = group(m, tasks + i, count - i);
      TRY(read_group(d, m, p, tasks + i, n, s, err));
      i += n;
    }
  }
  return GLV_OK;
}
