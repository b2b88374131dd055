/*
 * Mini-blocks of text (lance-file-format 8.1, 11.2). A chunk holds n + 1 offsets, counted from the
 * chunk's own beginning, and the bytes of its values. Chunks take as many values (a power of two)
 * as fit into 4 KiB, at least two; what is left at the end of the page becomes one chunk when it
 * fits. Null rows are empty.
 */
#include "format/page_write_private.h"

enum { CHUNK_BYTES = 4096 };

/* ---- measuring ---- */

static uint64_t longest_narrow(const int32_t *offsets, size_t rows) {
  int32_t longest = 0;
  for (size_t i = 0; i < rows; i++) {
    const int32_t length = offsets[i + 1] - offsets[i];
    longest = length > longest ? length : longest;
  }
  return (uint64_t)longest;
}

/* Rows whose nulls, if any, have no bytes: the offsets tell everything. */
static void measure_plain(const page_run *r, unsigned offset_width, variable_measure *m) {
  m->bytes += page_run_offset(r, offset_width, r->count) - page_run_offset(r, offset_width, 0);
  if (offset_width == 4) {
    m->longest = u64_max(m->longest, longest_narrow((const void *)r->values, r->count));
    return;
  }
  for (size_t i = 0; i < r->count; i++) {
    m->longest = u64_max(m->longest, page_run_text(r, offset_width, i).size);
  }
}

static bool is_plain(const page_run *r) { return r->validity == NULL || r->is_null_empty; }

variable_measure variable_measure_page(const page_input *in) {
  variable_measure m = {0, 0};
  for (size_t i = 0; i < in->run_count; i++) {
    const page_run *r = &in->runs[i];
    if (r->count != 0 && is_plain(r)) {
      measure_plain(r, in->leaf->offset_width, &m);
      continue;
    }
    for (size_t row = 0; row < r->count; row++) {
      const size_t size =
          page_run_is_valid(r, row) ? page_run_text(r, in->leaf->offset_width, row).size : 0;
      m.bytes += size;
      m.longest = u64_max(m.longest, size);
    }
  }
  return m;
}

/* Text bytes of some rows of a run. */
static uint64_t span_bytes(const page_run *r, unsigned offset_width, size_t row, size_t count) {
  if (is_plain(r)) {
    return page_run_offset(r, offset_width, row + count) - page_run_offset(r, offset_width, row);
  }
  uint64_t bytes = 0;
  for (size_t i = row; i < row + count; i++) {
    bytes += page_run_is_valid(r, i) ? page_run_text(r, offset_width, i).size : 0;
  }
  return bytes;
}

/* Text bytes of the next count rows; the cursor of the caller stays. */
static uint64_t text_bytes(page_cursor c, size_t count) {
  uint64_t bytes = 0;
  while (count != 0) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(&c, count, &r, &row);
    bytes += span_bytes(r, c.in->leaf->offset_width, row, span);
    count -= span;
  }
  return bytes;
}

/* Bytes of a chunk of the next count rows, without the padding at its end. */
static uint64_t chunk_bytes(const page_cursor *c, size_t count) {
  return text_bytes(*c, count) + (uint64_t)c->in->leaf->offset_width * (count + 1);
}

/* ---- cutting into chunks ---- */

/* Where a chunk begins. */
struct cut_point {
  page_cursor at;
  size_t first; /* values before it */
  size_t left;
};

static size_t entries_of(const struct cut_point *p, size_t count) {
  const page_input *in = p->at.in;
  const size_t before = p->first == 0 ? 0 : page_entries_of(in, p->first);
  return page_entries_of(in, p->first + count) - before;
}

static bool fits(const struct cut_point *p, size_t count) {
  return count <= CHUNK_MAX_VALUES && entries_of(p, count) <= mini_entry_limit(p->at.in->leaf) &&
         chunk_bytes(&p->at, count) <= CHUNK_BYTES;
}

/* Values of the next chunk. The search begins at `guess`, the values of the chunk before. */
static size_t choose_values(const struct cut_point *p, size_t guess) {
  size_t count = guess;
  while (count > 2 && (count > p->left || !fits(p, count))) {
    count /= 2;
  }
  while (count * 2 <= p->left && fits(p, count * 2)) {
    count *= 2;
  }
  return p->left <= 2 || fits(p, p->left) ? p->left : count;
}

struct text_page {
  mini_page page;
  page_cursor cursor;
  size_t capacity; /* of page.chunks */
};

static void text_page_dispose(struct text_page *t) { mem_free(t->page.in->env, t->page.chunks); }

static glv_status add_chunk(struct text_page *t, const struct cut_point *p, size_t count,
                            glv_error *err) {
  mini_page *m = &t->page;
  TRY(vec_reserve(m->in->env, &m->chunks, &t->capacity, m->chunk_count + 1, sizeof *m->chunks,
                  err));
  const uint64_t size = align_up(chunk_bytes(&p->at, count), m->in->leaf->offset_width);
  if (size >= UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "column '%s': %zu values of a page have 4 GiB of text",
                m->in->leaf->name, count);
  }
  m->chunks[m->chunk_count++] = (mini_chunk){.count = (uint32_t)count,
                                             .entries = (uint32_t)entries_of(p, count),
                                             .sizes = {(uint32_t)size}};
  return GLV_OK;
}

static glv_status cut(struct text_page *t, glv_error *err) {
  const page_input *in = t->page.in;
  struct cut_point p = {.at = page_cursor_at_start(in), .left = in->count};
  for (size_t count = 2; p.left != 0;) {
    count = choose_values(&p, count);
    TRY(add_chunk(t, &p, count, err));
    p.first += count;
    p.left -= count;
    for (size_t skip = count; skip != 0;) {
      const page_run *r;
      size_t row;
      skip -= page_cursor_span(&p.at, skip, &r, &row);
    }
  }
  return GLV_OK;
}

/* ---- writing ---- */

/* A chunk being filled. */
struct filling {
  uint8_t *base;
  size_t count; /* done */
  size_t size;  /* where the next text goes */
};

/* offset count + 1 of the chunk is the end of the row. */
static void put_end(struct filling *f, unsigned offset_width) {
  f->count++;
  if (offset_width == 8) {
    store_le64(f->base + f->count * 8, f->size);
  } else {
    store_le32(f->base + f->count * 4, (uint32_t)f->size);
  }
}

static void put_each(struct filling *f, const page_run *r, unsigned offset_width, size_t row,
                     size_t count) {
  for (size_t i = row; i < row + count; i++) {
    if (page_run_is_valid(r, i)) {
      const str text = page_run_text(r, offset_width, i);
      if (text.size != 0) {
        memcpy(f->base + f->size, text.data, text.size);
      }
      f->size += text.size;
    }
    put_end(f, offset_width);
  }
}

/* All rows at once: their text is one piece, their offsets differ from ours by a constant. */
static void put_plain(struct filling *f, const page_run *r, unsigned offset_width, size_t row,
                      size_t count) {
  const uint64_t begin = page_run_offset(r, offset_width, row);
  const uint64_t size = page_run_offset(r, offset_width, row + count) - begin;
  const uint64_t shift = f->size - begin;
  if (offset_width == 8) {
    const uint64_t *from = (const void *)(r->values + (row + 1) * 8);
    uint64_t *to = (void *)(f->base + (f->count + 1) * 8);
    for (size_t i = 0; i < count; i++) {
      to[i] = from[i] + shift;
    }
  } else {
    const uint32_t *from = (const void *)(r->values + (row + 1) * 4);
    uint32_t *to = (void *)(f->base + (f->count + 1) * 4);
    for (size_t i = 0; i < count; i++) {
      to[i] = from[i] + (uint32_t)shift;
    }
  }
  if (size != 0) {
    memcpy(f->base + f->size, r->data + begin, (size_t)size);
  }
  f->size += (size_t)size;
  f->count += count;
}

static void text_start(void *context) {
  struct text_page *t = context;
  t->cursor = page_cursor_at_start(t->page.in);
}

static void text_fill(void *context, const mini_chunk *c, uint8_t *const *ret) {
  struct text_page *t = context;
  const unsigned offset_width = t->page.in->leaf->offset_width;
  const uint64_t first = (uint64_t)offset_width * (c->count + 1u);
  memcpy(ret[0], &first, offset_width);
  struct filling f = {.base = ret[0], .size = (size_t)first};
  while (f.count < c->count) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(&t->cursor, c->count - f.count, &r, &row);
    if (is_plain(r)) {
      put_plain(&f, r, offset_width, row, span);
    } else {
      put_each(&f, r, offset_width, row, span);
    }
  }
  memset(f.base + f.size, PAGE_FILLER, c->sizes[0] - f.size);
}

glv_status variable_write(const page_input *in, encoding_message *values, page_output *out,
                          glv_error *err) {
  CLEANUP(text_page_dispose)
  struct text_page t = {.page = {.in = in, .buffer_count = 1}};
  t.page.values = values;
  t.page.start = text_start;
  t.page.fill = text_fill;
  t.page.context = &t;
  TRY(cut(&t, err));
  return mini_write(&t.page, out, err);
}
