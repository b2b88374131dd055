/*
 * Mini-block pages (lance-file-format 7.1):
 *
 *   buffer 0   one word a chunk: (bytes / 8 - 1) << 4 | log2(values), log 0 for the last chunk
 *   buffer 1   the chunks, each a multiple of 8 bytes:
 *                u16 levels | u16 bytes of repetition levels (if there are lists) | u16 bytes of
 *                definition levels (if there are nulls) | size of each value buffer | pad |
 *                repetition levels | pad | definition levels | pad | value buffers, each padded
 *   then       the dictionary, if there is one
 *   last       if there are lists, two u64 a chunk: rows that end in it, and entries behind the
 *              last of them
 *
 * Words and sizes have 32 bits, in version 2.1 16. A chunk holds the levels up to its last value;
 * entries without value that follow belong to the next chunk, at the end of the page to the last.
 *
 * The sizes of all chunks are known before the first byte is written, so the page is laid out at
 * once and every encoder writes its values where they belong. Only general compression makes chunks
 * of unknown size: those are produced aside and copied.
 */
#include "format/page_write_private.h"

enum { CHUNK_ALIGN = 8, SOFT_ENTRIES = 16384, SMALL_SOFT_ENTRIES = 4096, SMALL_CHUNK = 32768 };

/* ---- cutting ---- */

size_t mini_entry_limit(const page_leaf *leaf) {
  return leaf->version >= FORMAT_2_2 ? SOFT_ENTRIES : SMALL_SOFT_ENTRIES;
}

/* Values of the next chunk, `first` are in chunks before it. */
static size_t chunk_values(const page_input *in, size_t first, size_t step) {
  const size_t before = first == 0 ? 0 : page_entries_of(in, first);
  const size_t limit = mini_entry_limit(in->leaf);
  const size_t left = in->count - first;
  if (left <= 2 || (left <= step && in->levels.entries - before <= limit)) {
    return left;
  }
  size_t count = step;
  while (count > 2 && (count >= left || page_entries_of(in, first + count) - before > limit)) {
    count /= 2;
  }
  return count;
}

glv_status mini_chunks_new(const page_input *in, size_t step, mini_chunk **ret, size_t *ret_count,
                           glv_error *err) {
  size_t capacity = 0;
  mini_chunk *chunks = NULL;
  size_t count = 0;
  glv_status status =
      vec_reserve(in->env, &chunks, &capacity, in->count / step + 1, sizeof *chunks, err);
  for (size_t first = 0; status == GLV_OK && first < in->count; count++) {
    status = vec_reserve(in->env, &chunks, &capacity, count + 1, sizeof *chunks, err);
    if (status == GLV_OK) {
      const size_t values = chunk_values(in, first, step);
      const size_t before = first == 0 ? 0 : page_entries_of(in, first);
      first += values;
      chunks[count] = (mini_chunk){.count = (uint32_t)values,
                                   .entries = (uint32_t)(page_entries_of(in, first) - before)};
    }
  }
  if (status != GLV_OK) {
    mem_free(in->env, chunks);
    return status;
  }
  *ret = chunks;
  *ret_count = count;
  return GLV_OK;
}

/* ---- writing ---- */

static size_t pad(size_t size) { return (size_t)align_up(size, CHUNK_ALIGN); }

static unsigned width_of(unsigned most) {
  return most == 0 ? 0 : 32u - (unsigned)__builtin_clz(most);
}
static unsigned rep_width(const mini_page *m) { return width_of(m->in->levels.max_rep); }
static unsigned def_width(const mini_page *m) { return width_of(m->in->levels.max_def); }
static bool has_rep(const mini_page *m) { return m->in->levels.max_rep != 0; }
static bool has_def(const mini_page *m) { return m->in->levels.max_def != 0; }
static bool is_large(const mini_page *m) { return m->in->leaf->version >= FORMAT_2_2; }
static size_t word_size(const mini_page *m) { return is_large(m) ? 4 : 2; }

static size_t head_size(const mini_page *m) {
  return pad(2 + (has_rep(m) ? 2u : 0u) + (has_def(m) ? 2u : 0u) + word_size(m) * m->buffer_count);
}

static size_t chunk_size(const mini_page *m, const mini_chunk *c) {
  size_t size = head_size(m);
  size += has_rep(m) ? pad(levels_size(c->entries, rep_width(m))) : 0;
  size += has_def(m) ? pad(levels_size(c->entries, def_width(m))) : 0;
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
  size_t entry;      /* first of the next chunk */
  uint16_t *scratch; /* room for the definition levels of a chunk */
};

static uint8_t *put_u16(uint8_t *at, size_t value) {
  store_le16(at, (uint16_t)value);
  return at + 2;
}

static uint8_t *write_head(const mini_page *m, const mini_chunk *c, uint8_t *at) {
  uint8_t *end = put_u16(at, has_rep(m) || has_def(m) ? c->entries : 0);
  if (has_rep(m)) {
    end = put_u16(end, levels_size(c->entries, rep_width(m)));
  }
  if (has_def(m)) {
    end = put_u16(end, levels_size(c->entries, def_width(m)));
  }
  for (size_t i = 0; i < m->buffer_count; i++) {
    if (is_large(m)) {
      store_le32(end, c->sizes[i]);
      end += 4;
    } else {
      end = put_u16(end, c->sizes[i]);
    }
  }
  return close_part(at, end);
}

static uint8_t *write_levels(const uint16_t *levels, size_t count, unsigned width, uint8_t *at) {
  levels_write(levels, count, width, at);
  return close_part(at, at + levels_size(count, width));
}

static uint8_t *write_chunk(struct writing *w, const mini_chunk *c, uint8_t *at) {
  const mini_page *m = w->page;
  uint8_t *next = write_head(m, c, at);
  if (has_rep(m)) {
    next = write_levels(m->in->levels.rep + w->entry, c->entries, rep_width(m), next);
  }
  if (has_def(m)) {
    const uint16_t *def = page_next_def(&w->levels, w->entry, c->entries, w->scratch);
    next = write_levels(def, c->entries, def_width(m), next);
  }
  w->entry += c->entries;
  uint8_t *values[CHUNK_MAX_BUFFERS] = {NULL};
  for (size_t i = 0; i < m->buffer_count; i++) {
    values[i] = next;
    next = close_part(next, next + c->sizes[i]);
  }
  m->fill(m->context, c, values);
  return next;
}

static glv_status write_words(const mini_page *m, page_output *out, glv_error *err) {
  uint8_t *at;
  TRY(page_output_add(out, m->chunk_count * word_size(m), &at, err));
  for (size_t i = 0; i < m->chunk_count; i++) {
    const mini_chunk *c = &m->chunks[i];
    const size_t size = chunk_size(m, c);
    const bool is_last = i + 1 == m->chunk_count;
    const uint32_t log = is_last ? 0 : 31u - (uint32_t)__builtin_clz(c->count);
    const uint32_t word = (uint32_t)(size / CHUNK_ALIGN - 1) << 4 | log;
    if (is_large(m)) {
      store_le32(at + i * 4, word);
    } else if (size <= SMALL_CHUNK) {
      store_le16(at + i * 2, (uint16_t)word);
    } else {
      return FAIL(err, GLV_E_INTERNAL, "column '%s': a chunk has %zu bytes", m->in->leaf->name,
                  size);
    }
  }
  return GLV_OK;
}

static glv_status write_chunks(const mini_page *m, size_t total, page_output *out, glv_error *err) {
  uint8_t *at;
  TRY(page_output_add(out, total, &at, err));
  uint16_t scratch[CHUNK_MAX_VALUES];
  struct writing w = {.page = m, .levels = page_cursor_at_start(m->in), .scratch = scratch};
  m->start(m->context);
  for (size_t i = 0; i < m->chunk_count; i++) {
    at = write_chunk(&w, &m->chunks[i], at);
  }
  return GLV_OK;
}

/* Entries that begin a row among [first + 1, end), and those from the last such one, or first if
 * that is none, to the end. */
static uint64_t count_starts(const page_levels *l, size_t first, size_t end, uint64_t *ret_behind) {
  uint64_t starts = 0;
  size_t last = first;
  for (size_t i = first + 1; i < end; i++) {
    if (l->rep[i] == l->max_rep) {
      starts++;
      last = i;
    }
  }
  *ret_behind = end - last;
  return starts;
}

static glv_status write_repetition_index(const mini_page *m, page_output *out, glv_error *err) {
  const page_levels *l = &m->in->levels;
  uint8_t *at;
  TRY(page_output_add(out, m->chunk_count * 16, &at, err));
  size_t first = 0;
  for (size_t i = 0; i < m->chunk_count; i++, at += 16) {
    const size_t end = first + m->chunks[i].entries;
    uint64_t behind;
    uint64_t finished = count_starts(l, first, end, &behind);
    if (end == l->entries || l->rep[end] == l->max_rep) {
      finished++; /* the last row ends with the chunk */
      behind = 0;
    }
    store_le64(at, finished);
    store_le64(at + 8, behind);
    first = end;
  }
  return GLV_OK;
}

static glv_status write_buffers(const mini_page *m, page_output *out, glv_error *err) {
  size_t total = 0;
  for (size_t i = 0; i < m->chunk_count; i++) {
    total += chunk_size(m, &m->chunks[i]);
  }
  const size_t index_size = has_rep(m) ? m->chunk_count * 16 : 0;
  TRY(page_output_reserve(out,
                          m->chunk_count * word_size(m) + total + m->dictionary_block.size +
                              index_size + PAGE_MAX_GAPS,
                          err));
  TRY(write_words(m, out, err));
  TRY(write_chunks(m, total, out, err));
  if (m->dictionary != NULL) {
    uint8_t *at;
    TRY(page_output_add(out, m->dictionary_block.size, &at, err));
    memcpy(at, m->dictionary_block.data, m->dictionary_block.size);
  }
  return has_rep(m) ? write_repetition_index(m, out, err) : GLV_OK;
}

static size_t most_levels(const mini_page *m) {
  size_t most = 0;
  for (size_t i = 0; i < m->chunk_count; i++) {
    most = size_max(most, m->chunks[i].entries);
  }
  return most;
}

static glv_status write_layout(const mini_page *m, page_output *out, glv_error *err) {
  arena *a = &out->messages;
  Lance__Encodings21__MiniBlockLayout mini;
  lance__encodings21__mini_block_layout__init(&mini);
  if (has_rep(m)) {
    mini.rep_compression = levels_encoding(a, most_levels(m), rep_width(m));
    mini.repetition_index_depth = 1;
  }
  if (has_def(m)) {
    mini.def_compression = levels_encoding(a, most_levels(m), def_width(m));
  }
  mini.value_compression = m->values;
  mini.dictionary = m->dictionary;
  mini.num_dictionary_items = m->dictionary_items;
  mini.layers = m->in->levels.layers;
  mini.n_layers = m->in->levels.layer_count;
  mini.num_buffers = m->buffer_count;
  mini.num_items = m->in->count;
  mini.has_large_chunk = is_large(m);
  layout_message layout;
  lance__encodings21__page_layout__init(&layout);
  layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_MINI_BLOCK;
  layout.mini_block = &mini;
  const bool complete = m->values != NULL && (!has_rep(m) || mini.rep_compression != NULL) &&
                        (!has_def(m) || mini.def_compression != NULL);
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
  s->chunks[i] = m->chunks[i];
  s->chunks[i].sizes[0] = (uint32_t)size;
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
