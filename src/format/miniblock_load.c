/*
 * Mini-block pages: their layout message and the table of chunks (lance-file-format section 7.1).
 * The table is turned into running sums of bytes, values and rows, so that the chunk of a row is
 * found by a shift (when all chunks have the same number of rows, which is the rule) or by binary
 * search. Without lists the values are the rows; else a second table tells of these.
 *
 * Invariants after loading: the chunks follow each other and fill the data buffer exactly; their
 * values add up to those of the page, and so do the rows that start in them.
 */
#include "arrow/bits.h"
#include "base/checked.h"
#include "format/page.h"

enum {
  LOG_BITS = 4,
  LOG_MASK = 15,
  CHUNK_STEP = 8,
  MAX_CHUNK_VALUES = 65535,
  INDEX_ENTRY_BYTES = 16
};

static glv_status check_grammar(bool is_large, format_version version, glv_error *err) {
  if (version == FORMAT_2_2 && !is_large) {
    return FAIL(err, GLV_E_CORRUPT, "Lance v2.2 miniblock pages require the u32 chunk grammar");
  }
  if (version == FORMAT_2_1 && is_large) {
    return FAIL(err, GLV_E_CORRUPT,
                "Large miniblock chunks are not part of the Lance v2.1 grammar");
  }
  return GLV_OK;
}

/* Buffers of a page besides chunk table and chunks. */
static size_t extra_buffers(const Lance__Encodings21__MiniBlockLayout *m) {
  return (size_t)(m->dictionary != NULL) + (size_t)(m->repetition_index_depth != 0);
}

static glv_status check_lists(const page *p, const Lance__Encodings21__MiniBlockLayout *m,
                              glv_error *err) {
  const bool has_lists = p->levels.max_rep != 0;
  if (!has_lists && (m->rep_compression != NULL || m->repetition_index_depth != 0)) {
    return FAIL(err, GLV_E_CORRUPT, "the page has repetition levels but no list layer");
  }
  if (has_lists && (m->rep_compression == NULL || m->repetition_index_depth == 0)) {
    return FAIL(err, GLV_E_CORRUPT, "the page has a list layer but no repetition levels or index");
  }
  return GLV_OK;
}

static glv_status read_layout(format_version version, const page_place *where,
                              const Lance__Encodings21__MiniBlockLayout *m, page *p,
                              glv_error *err) {
  mini_layout *ret = &p->mini;
  TRY(check_grammar(m->has_large_chunk, version, err));
  TRY(page_read_layers(p, m->layers, m->n_layers, err));
  TRY(check_lists(p, m, err));
  const size_t buffers = 2 + extra_buffers(m);
  if (where->buffer_count != buffers) {
    return FAIL(err, GLV_E_CORRUPT, "a mini-block page has %zu buffers instead of %zu",
                where->buffer_count, buffers);
  }
  if (m->num_buffers < 1 || m->num_buffers > CHUNK_BUFFERS || m->value_compression == NULL) {
    return FAIL(err, GLV_E_CORRUPT, "a mini-block page with %llu value buffers",
                (unsigned long long)m->num_buffers);
  }
  TRY(page_set_items(p, m->num_items, err));
  ret->is_large = m->has_large_chunk;
  ret->buffers = (unsigned)m->num_buffers;
  ret->data = where->buffers[1].offset;
  TRY(codec_read(&p->memory, m->rep_compression, &ret->rep, err));
  TRY(codec_read(&p->memory, m->def_compression, &ret->def, err));
  return codec_read(&p->memory, m->value_compression, &ret->values, err);
}

/* Values of chunk i, whose word holds the logarithm `log`; `left` values are not placed yet. */
static glv_status chunk_values(size_t i, size_t count, unsigned log, uint64_t left, uint64_t *ret,
                               glv_error *err) {
  const bool is_last = i + 1 == count;
  if (!is_last && log == 0) {
    return FAIL(err, GLV_E_CORRUPT, "non-final chunk %zu of %zu has invalid log_num_values=0", i,
                count);
  }
  const uint64_t values = is_last ? left : (uint64_t)1 << log;
  if (values > left || values > MAX_CHUNK_VALUES ||
      (is_last && log != 0 && values != (uint64_t)1 << log)) {
    return FAIL(err, GLV_E_CORRUPT, "chunk %zu of %zu has an impossible number of values", i,
                count);
  }
  *ret = values;
  return GLV_OK;
}

/* The sums over all chunk words; *ret_shift: the logarithm that all chunks but the last have, 0 =
 * they differ. */
static glv_status sum_chunks(span words, unsigned width, size_t count, const page_place *where,
                             uint64_t items, uint64_t *offsets, uint64_t *values,
                             unsigned *ret_shift, glv_error *err) {
  unsigned shift = 0;
  bool is_uniform = true;
  for (size_t i = 0; i < count; i++) {
    const uint32_t word =
        width == 4 ? load_le32(words.data + 4 * i) : load_le16(words.data + 2 * i);
    const unsigned log = word & LOG_MASK;
    uint64_t here = 0;
    TRY(chunk_values(i, count, log, items - values[i], &here, err));
    shift = i == 0 ? log : shift;
    is_uniform = is_uniform && (log == shift || i + 1 == count);
    values[i + 1] = values[i] + here;
    offsets[i + 1] = offsets[i] + ((uint64_t)(word >> LOG_BITS) + 1) * CHUNK_STEP;
  }
  if (offsets[count] != where->buffers[1].size || values[count] != items) {
    return FAIL(err, GLV_E_CORRUPT, "the chunks of a page do not add up to its buffer and rows");
  }
  *ret_shift = is_uniform && count > 1 ? shift : 0;
  return GLV_OK;
}

static glv_status read_chunks(decoder *d, const page_place *where, page *p, glv_error *err) {
  mini_layout *m = &p->mini;
  const unsigned width = m->is_large ? 4 : 2;
  const extent table = where->buffers[0];
  size_t size = 0;
  if (!to_size(table.size, &size) || size % width != 0) {
    return FAIL(err, GLV_E_CORRUPT, "a chunk table of %llu bytes", (unsigned long long)table.size);
  }
  span words = {0};
  TRY(decoder_fetch(d, table.offset, size, &words, err));
  m->chunk_count = size / width;
  uint64_t *offsets = ARENA_ARRAY(&p->memory, uint64_t, m->chunk_count + 1);
  uint64_t *values = ARENA_ARRAY(&p->memory, uint64_t, m->chunk_count + 1);
  if (offsets == NULL || values == NULL) {
    return error_nomem(err, m->chunk_count * sizeof *values);
  }
  m->offsets = offsets;
  m->sums = values;
  m->rows = values;
  p->memory_bytes += 2 * sizeof *values * m->chunk_count;
  return sum_chunks(words, width, m->chunk_count, where, p->items, offsets, values, &m->row_shift,
                    err);
}

/*
 * The repetition index: for each chunk, how many rows end in it, and how many entries behind the
 * last of these ends belong to a row that goes on in the next chunk. A row that ends in chunk i
 * starts there unless one came in from the chunk before.
 */
static glv_status sum_rows(span index, size_t count, uint64_t total, uint64_t *rows,
                           uint8_t *is_open, glv_error *err) {
  bool was_open = false;
  for (size_t i = 0; i < count; i++) {
    const uint64_t finished = load_le64(index.data + i * INDEX_ENTRY_BYTES);
    const bool opens = load_le64(index.data + i * INDEX_ENTRY_BYTES + 8) != 0;
    const uint64_t starts = finished + opens;
    if (finished > total - rows[i] + was_open || starts < was_open ||
        starts - was_open > total - rows[i]) {
      return FAIL(err, GLV_E_CORRUPT, "the repetition index has more rows than the page");
    }
    rows[i + 1] = rows[i] + starts - was_open;
    bit_put(is_open, i, opens);
    was_open = opens;
  }
  if (rows[count] != total || was_open) {
    return FAIL(err, GLV_E_CORRUPT, "the repetition index has fewer rows than the page");
  }
  return GLV_OK;
}

static glv_status read_index(decoder *d, extent where, page *p, glv_error *err) {
  mini_layout *m = &p->mini;
  size_t size = 0;
  if (!size_mul(m->chunk_count, INDEX_ENTRY_BYTES, &size) || where.size != size) {
    return FAIL(err, GLV_E_CORRUPT, "a repetition index of %llu bytes for %zu chunks",
                (unsigned long long)where.size, m->chunk_count);
  }
  span index = {0};
  TRY(decoder_fetch(d, where.offset, size, &index, err));
  uint64_t *rows = ARENA_ARRAY(&p->memory, uint64_t, m->chunk_count + 1);
  uint8_t *is_open = arena_alloc(&p->memory, bits_size(m->chunk_count) + 1);
  if (rows == NULL || is_open == NULL) {
    return error_nomem(err, size);
  }
  m->rows = rows;
  m->is_open = is_open;
  m->row_shift = 0;
  p->memory_bytes += sizeof *rows * m->chunk_count;
  return sum_rows(index, m->chunk_count, p->rows, rows, is_open, err);
}

glv_status mini_load(decoder *d, format_version version, const page_place *where,
                     const Lance__Encodings21__MiniBlockLayout *m, page *p, glv_error *err) {
  TRY(read_layout(version, where, m, p, err));
  TRY(read_chunks(d, where, p, err));
  if (p->levels.max_rep != 0) {
    if (m->repetition_index_depth != 1) {
      return FAIL(err, GLV_E_UNSUPPORTED, "a repetition index of depth %u is not supported",
                  m->repetition_index_depth);
    }
    TRY(read_index(d, where->buffers[where->buffer_count - 1], p, err));
  }
  if (m->dictionary == NULL) {
    return GLV_OK;
  }
  const codec *c = NULL;
  TRY(codec_read(&p->memory, m->dictionary, &c, err));
  TRY(dictionary_load(d, &p->memory, c, where->buffers[2], m->num_dictionary_items,
                      &p->mini.dictionary, err));
  const dictionary *t = p->mini.dictionary;
  p->memory_bytes +=
      t->width != 0 ? t->width * (size_t)t->count : t->text.bytes.size + 4 * (size_t)t->count;
  return GLV_OK;
}
