/*
 * Mini-block pages (lance-file-format 7.1):
 *
 *   buffer 0   one u32 a chunk: (bytes / 8 - 1) << 4 | log2(rows), log 0 for the last chunk
 *   buffer 1   the chunks, each a multiple of 8 bytes:
 *                u16 levels | u16 bytes of definition levels (if there are nulls) | u32 size of
 *                each value buffer | pad | definition levels | pad | value buffers, each padded
 *   buffer 2   the dictionary, if there is one
 *
 * The sizes of all chunks are known before the first byte is written, so the page is laid out at
 * once and every encoder writes its values where they belong. Only general compression makes chunks
 * of unknown size: those are produced aside and copied.
 */
#include "format/page_write_private.h"

enum { CHUNK_ALIGN = 8, LEVEL_WIDTH = 1 };

mini_chunk *mini_chunks_new(glv_env *env, size_t rows, size_t step, size_t *ret_count) {
  const size_t count = (rows + step - 1) / step;
  mini_chunk *chunks = mem_calloc(env, count, sizeof *chunks);
  for (size_t i = 0; chunks != NULL && i < count; i++) {
    chunks[i].rows = (uint32_t)size_min(step, rows - i * step);
  }
  *ret_count = count;
  return chunks;
}

static size_t pad(size_t size) { return (size_t)align_up(size, CHUNK_ALIGN); }

static bool has_levels(const mini_page *m) { return m->in->null_count != 0; }

static size_t head_size(const mini_page *m) {
  return pad(2 + (has_levels(m) ? 2u : 0u) + 4 * m->buffer_count);
}

static size_t chunk_size(const mini_page *m, const mini_chunk *c) {
  size_t size = head_size(m) + (has_levels(m) ? pad(levels_size(c->rows, LEVEL_WIDTH)) : 0);
  for (size_t i = 0; i < m->buffer_count; i++) {
    size += pad(c->sizes[i]);
  }
  return size;
}

/* Fill the gap behind a part that ends at `end`. @return where the next part begins. */
static uint8_t *close_part(uint8_t *base, uint8_t *end) {
  uint8_t *next = base + pad((size_t)(end - base));
  memset(end, CHUNK_FILLER, (size_t)(next - end));
  return next;
}

/* The state of writing the chunks of one page. */
struct writing {
  const mini_page *page;
  page_cursor levels;
};

static uint8_t *write_head(const mini_page *m, const mini_chunk *c, uint8_t *at) {
  uint8_t *end = at;
  store_le16(end, has_levels(m) ? (uint16_t)c->rows : 0);
  end += 2;
  if (has_levels(m)) {
    store_le16(end, (uint16_t)levels_size(c->rows, LEVEL_WIDTH));
    end += 2;
  }
  for (size_t i = 0; i < m->buffer_count; i++) {
    store_le32(end, c->sizes[i]);
    end += 4;
  }
  return close_part(at, end);
}

static uint8_t *write_chunk(struct writing *w, const mini_chunk *c, uint8_t *at) {
  uint8_t *next = write_head(w->page, c, at);
  if (has_levels(w->page)) {
    uint16_t levels[CHUNK_MAX_VALUES];
    page_next_levels(&w->levels, c->rows, levels);
    levels_write(levels, c->rows, LEVEL_WIDTH, next);
    next = close_part(next, next + levels_size(c->rows, LEVEL_WIDTH));
  }
  uint8_t *values[CHUNK_MAX_BUFFERS] = {next, NULL};
  for (size_t i = 0; i < w->page->buffer_count; i++) {
    values[i] = next;
    next = close_part(next, next + c->sizes[i]);
  }
  w->page->fill(w->page->context, c, values);
  return next;
}

static uint32_t chunk_word(const mini_page *m, size_t i) {
  const mini_chunk *c = &m->chunks[i];
  const bool is_last = i + 1 == m->chunk_count;
  const uint32_t log = is_last ? 0 : 31u - (uint32_t)__builtin_clz(c->rows);
  return (uint32_t)(chunk_size(m, c) / CHUNK_ALIGN - 1) << 4 | log;
}

static glv_status write_buffers(const mini_page *m, page_output *out, glv_error *err) {
  size_t total = 0;
  for (size_t i = 0; i < m->chunk_count; i++) {
    total += chunk_size(m, &m->chunks[i]);
  }
  const size_t words_size = m->chunk_count * sizeof(uint32_t);
  TRY(page_output_reserve(out, words_size + total + m->dictionary_block.size + PAGE_MAX_GAPS, err));
  uint8_t *at;
  TRY(page_output_add(out, words_size, &at, err));
  for (size_t i = 0; i < m->chunk_count; i++) {
    store_le32(at + i * sizeof(uint32_t), chunk_word(m, i));
  }
  TRY(page_output_add(out, total, &at, err));
  struct writing w = {m, page_cursor_at_start(m->in)};
  m->start(m->context);
  for (size_t i = 0; i < m->chunk_count; i++) {
    at = write_chunk(&w, &m->chunks[i], at);
  }
  if (m->dictionary != NULL) {
    TRY(page_output_add(out, m->dictionary_block.size, &at, err));
    memcpy(at, m->dictionary_block.data, m->dictionary_block.size);
  }
  return GLV_OK;
}

static size_t most_rows(const mini_page *m) {
  size_t most = 0;
  for (size_t i = 0; i < m->chunk_count; i++) {
    most = size_max(most, m->chunks[i].rows);
  }
  return most;
}

static glv_status write_layout(const mini_page *m, page_output *out, glv_error *err) {
  arena *a = &out->messages;
  Lance__Encodings21__MiniBlockLayout mini;
  lance__encodings21__mini_block_layout__init(&mini);
  if (has_levels(m)) {
    mini.def_compression = levels_encoding(a, most_rows(m), LEVEL_WIDTH);
  }
  mini.value_compression = m->values;
  mini.dictionary = m->dictionary;
  mini.num_dictionary_items = m->dictionary_items;
  mini.layers = layout_item_layer(a, has_levels(m));
  mini.n_layers = 1;
  mini.num_buffers = m->buffer_count;
  mini.num_items = m->in->rows;
  mini.has_large_chunk = true;
  layout_message layout;
  lance__encodings21__page_layout__init(&layout);
  layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_MINI_BLOCK;
  layout.mini_block = &mini;
  const bool complete =
      m->values != NULL && mini.layers != NULL && (!has_levels(m) || mini.def_compression != NULL);
  return page_output_layout(out, complete ? &layout : NULL, err);
}

/* ---- general compression of the first value buffer ---- */

/* Compressed chunks waiting to be copied into the page. */
struct squeezed {
  const mini_page *plain;
  mini_chunk *chunks;
  buf bytes;
  size_t at;
};

static void squeezed_dispose(struct squeezed *s) {
  mem_free(s->plain->in->env, s->chunks);
  buf_dispose(&s->bytes);
}

static void squeezed_start(void *context) { ((struct squeezed *)context)->at = 0; }

static void squeezed_fill(void *context, const mini_chunk *c, uint8_t *const *ret) {
  struct squeezed *s = context;
  memcpy(ret[0], s->bytes.data + s->at, c->sizes[0]);
  s->at += c->sizes[0];
}

static size_t largest_chunk(const mini_page *m) {
  size_t largest = 0;
  for (size_t i = 0; i < m->chunk_count; i++) {
    largest = size_max(largest, m->chunks[i].sizes[0]);
  }
  return largest;
}

static glv_status squeeze_chunk(struct squeezed *s, size_t i, uint8_t *scratch, size_t room,
                                glv_error *err) {
  const mini_page *m = s->plain;
  const page_leaf *leaf = m->in->leaf;
  m->fill(m->context, &m->chunks[i], &scratch);
  TRY(buf_reserve(&s->bytes, room, err));
  size_t size;
  TRY(compress_write(leaf->compression, leaf->compression_level, scratch, m->chunks[i].sizes[0],
                     s->bytes.data + s->bytes.size, room, &size, err));
  s->bytes.size += size;
  s->chunks[i] = (mini_chunk){.rows = m->chunks[i].rows, .sizes = {(uint32_t)size, 0}};
  return GLV_OK;
}

static glv_status squeeze_all(struct squeezed *s, glv_error *err) {
  const mini_page *m = s->plain;
  const size_t largest = largest_chunk(m);
  const size_t room = compress_bound(m->in->leaf->compression, largest);
  uint8_t *scratch = mem_alloc_aligned(m->in->env, size_max(largest, 1));
  s->chunks = mem_calloc(m->in->env, m->chunk_count, sizeof *s->chunks);
  glv_status status = scratch != NULL && s->chunks != NULL ? GLV_OK : error_nomem(err, largest);
  m->start(m->context);
  for (size_t i = 0; status == GLV_OK && i < m->chunk_count; i++) {
    status = squeeze_chunk(s, i, scratch, room, err);
  }
  mem_free_aligned(m->in->env, scratch, size_max(largest, 1));
  return status;
}

/* Write the page with compressed chunks when they are smaller. */
static glv_status write_squeezed(const mini_page *m, page_output *out, bool *ret_done,
                                 glv_error *err) {
  CLEANUP(squeezed_dispose) struct squeezed s = {.plain = m};
  buf_init(&s.bytes, m->in->env, SIZE_MAX / 2);
  TRY(squeeze_all(&s, err));
  uint64_t plain_size = 0;
  for (size_t i = 0; i < m->chunk_count; i++) {
    plain_size += m->chunks[i].sizes[0];
  }
  *ret_done = s.bytes.size < plain_size;
  if (!*ret_done) {
    return GLV_OK;
  }
  mini_page squeezed = *m;
  squeezed.chunks = s.chunks;
  squeezed.values = encoding_general(&out->messages, m->in->leaf->compression, m->values);
  squeezed.start = squeezed_start;
  squeezed.fill = squeezed_fill;
  squeezed.context = &s;
  TRY(write_buffers(&squeezed, out, err));
  return write_layout(&squeezed, out, err);
}

glv_status mini_write(const mini_page *m, page_output *out, glv_error *err) {
  const bool is_compressible = m->dictionary == NULL && m->buffer_count == 1;
  if (m->in->leaf->compression != COMPRESS_NONE && is_compressible) {
    bool done;
    TRY(write_squeezed(m, out, &done, err));
    if (done) {
      return GLV_OK;
    }
  }
  TRY(write_buffers(m, out, err));
  return write_layout(m, out, err);
}
