/*
 * Mini-block pages: their layout message and the table of chunks (lance-file-format section 7.1).
 * The table is turned into running sums of bytes and rows, so that the chunk of a row is found by a
 * shift (when all chunks have the same number of rows, which is the rule) or by binary search.
 *
 * Invariants after loading: the chunks follow each other and fill the data buffer exactly; their
 * rows add up to the rows of the page.
 */
#include "base/checked.h"
#include "format/page.h"

enum { LOG_BITS = 4, LOG_MASK = 15, CHUNK_STEP = 8, MAX_CHUNK_ROWS = 65535 };

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

static glv_status read_layout(arena *a, format_version version, const page_place *where,
                              const Lance__Encodings21__MiniBlockLayout *m, mini_layout *ret,
                              glv_error *err) {
  TRY(check_grammar(m->has_large_chunk, version, err));
  TRY(layers_of_items(m->layers, m->n_layers, err));
  if (m->rep_compression != NULL || m->repetition_index_depth != 0) {
    return FAIL(err, GLV_E_CORRUPT, "the page has repetition levels but no list layer");
  }
  const size_t buffers = m->dictionary != NULL ? 3 : 2;
  if (where->buffer_count != buffers) {
    return FAIL(err, GLV_E_CORRUPT, "a mini-block page has %zu buffers instead of %zu",
                where->buffer_count, buffers);
  }
  if (m->num_buffers < 1 || m->num_buffers > CHUNK_BUFFERS || m->value_compression == NULL) {
    return FAIL(err, GLV_E_CORRUPT, "a mini-block page with %llu value buffers",
                (unsigned long long)m->num_buffers);
  }
  if (m->num_items != where->rows) {
    return FAIL(err, GLV_E_CORRUPT, "a mini-block page of %llu rows holds %llu values",
                (unsigned long long)where->rows, (unsigned long long)m->num_items);
  }
  ret->is_large = m->has_large_chunk;
  ret->buffers = (unsigned)m->num_buffers;
  ret->data = where->buffers[1].offset;
  TRY(codec_read(a, m->def_compression, &ret->def, err));
  return codec_read(a, m->value_compression, &ret->values, err);
}

/* Rows of chunk i, whose word holds the logarithm `log`; `left` rows are not placed yet. */
static glv_status chunk_rows(size_t i, size_t count, unsigned log, uint64_t left, uint64_t *ret,
                             glv_error *err) {
  const bool is_last = i + 1 == count;
  if (!is_last && log == 0) {
    return FAIL(err, GLV_E_CORRUPT, "non-final chunk %zu of %zu has invalid log_num_values=0", i,
                count);
  }
  const uint64_t rows = is_last ? left : (uint64_t)1 << log;
  if (rows > left || rows > MAX_CHUNK_ROWS || (is_last && log != 0 && rows != (uint64_t)1 << log)) {
    return FAIL(err, GLV_E_CORRUPT, "chunk %zu of %zu has an impossible number of values", i,
                count);
  }
  *ret = rows;
  return GLV_OK;
}

/* The sums over all chunk words. uniform: the logarithm that all chunks but the last have. */
static glv_status sum_chunks(span words, unsigned width, size_t count, const page_place *where,
                             uint64_t *offsets, uint64_t *rows, unsigned *ret_shift,
                             glv_error *err) {
  unsigned shift = 0;
  bool is_uniform = true;
  for (size_t i = 0; i < count; i++) {
    const uint32_t word =
        width == 4 ? load_le32(words.data + 4 * i) : load_le16(words.data + 2 * i);
    const unsigned log = word & LOG_MASK;
    uint64_t here = 0;
    TRY(chunk_rows(i, count, log, where->rows - rows[i], &here, err));
    shift = i == 0 ? log : shift;
    is_uniform = is_uniform && (log == shift || i + 1 == count);
    rows[i + 1] = rows[i] + here;
    offsets[i + 1] = offsets[i] + ((uint64_t)(word >> LOG_BITS) + 1) * CHUNK_STEP;
  }
  if (offsets[count] != where->buffers[1].size || rows[count] != where->rows) {
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
  uint64_t *rows = ARENA_ARRAY(&p->memory, uint64_t, m->chunk_count + 1);
  if (offsets == NULL || rows == NULL) {
    return error_nomem(err, m->chunk_count * sizeof *rows);
  }
  m->offsets = offsets;
  m->rows = rows;
  p->memory_bytes += 2 * sizeof *rows * m->chunk_count;
  return sum_chunks(words, width, m->chunk_count, where, offsets, rows, &m->row_shift, err);
}

glv_status mini_load(decoder *d, format_version version, const page_place *where,
                     const Lance__Encodings21__MiniBlockLayout *m, page *p, glv_error *err) {
  TRY(read_layout(&p->memory, version, where, m, &p->mini, err));
  TRY(read_chunks(d, where, p, err));
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
