/*
 * Full-zip pages of strings. The row index gives the byte range of every entry: a control word,
 * then, for a valid row, a length and the bytes, plain or coded one by one.
 *
 * Rows are taken in batches whose part of the index is read at once; inside a batch, entries that
 * lie close to each other are read together.
 */
#include "format/fullzip.h"

glv_status value_coding_of(const codec *c, value_coding *ret, glv_error *err) {
  value_coding k = {0};
  const codec *top = c;
  if (c->kind == CODEC_GENERAL) {
    k.is_compressed = true;
    k.scheme = c->scheme;
    c = c->inner;
  }
  if (c->kind == CODEC_FSST) {
    k.symbols = c->symbols->is_on ? c->symbols : NULL;
    c = c->inner;
  }
  if (c->kind != CODEC_VARIABLE) {
    return codec_refuse(top, "variable per-value", err);
  }
  *ret = k;
  return GLV_OK;
}

glv_status zip_read_index(decoder *d, const zip_layout *z, size_t first, size_t count,
                          const uint64_t **ret, glv_error *err) {
  span in = {0};
  const size_t width = z->index_width;
  TRY(decoder_fetch(d, z->index.offset + (uint64_t)first * width, (count + 1) * width, &in, err));
  TRY(decoder_reserve(d, &d->tasks, (count + 1) * sizeof(uint64_t), err));
  uint64_t *positions = (uint64_t *)(void *)d->tasks.data;
  for (size_t i = 0; i <= count; i++) {
    uint64_t position = 0;
    memcpy(&position, in.data + i * width, width);
    if (position > z->data.size || (i != 0 && position < positions[i - 1])) {
      return FAIL(err, GLV_E_CORRUPT, "entry %zu of the row index points outside", first + i);
    }
    positions[i] = position;
  }
  *ret = positions;
  return GLV_OK;
}

/* The coded bytes of an entry; *ret_level other than 0: null. */
static glv_status parse_entry(const zip_layout *z, span entry, unsigned *ret_level, span *ret,
                              glv_error *err) {
  if (entry.size < z->control) {
    return FAIL(err, GLV_E_CORRUPT, "a full-zip entry of %zu bytes", entry.size);
  }
  *ret_level = zip_level(z, entry.data);
  size_t at = z->control;
  uint64_t length = 0;
  if (*ret_level == 0) {
    if (entry.size - at < z->width) {
      return FAIL(err, GLV_E_CORRUPT, "a full-zip entry of %zu bytes has no length", entry.size);
    }
    length = z->width == 4 ? load_le32(entry.data + at) : load_le64(entry.data + at);
    at += z->width;
  }
  if (length != entry.size - at) {
    return FAIL(err, GLV_E_CORRUPT, "a full-zip value has %zu bytes, not %llu", entry.size - at,
                (unsigned long long)length);
  }
  *ret = span_of(entry.data + at, entry.size - at);
  return GLV_OK;
}

glv_status value_append(decoder *d, const value_coding *k, span value, sink *s, glv_error *err) {
  if (k->is_compressed) {
    TRY(decoder_decompress(d, k->scheme, value, &value, err));
  }
  if (k->symbols != NULL) {
    size_t size = 0;
    TRY(sink_text_reserve(s, value.size * FSST_SYMBOL_BYTES, err));
    TRY(fsst_decode(k->symbols, value, s->data->data + s->data_size, &size, err));
    s->data_size += size;
    return GLV_OK;
  }
  TRY(sink_text_reserve(s, value.size, err));
  if (value.size != 0) {
    memcpy(s->data->data + s->data_size, value.data, value.size);
    s->data_size += value.size;
  }
  return GLV_OK;
}

size_t zip_group(const wanted *w, size_t i, size_t end, const uint64_t *positions, size_t first) {
  const uint64_t start = positions[wanted_row(w, i) - first];
  size_t n = 1;
  while (i + n < end) {
    const size_t row = wanted_row(w, i + n) - first;
    const size_t before = wanted_row(w, i + n - 1) - first;
    if (positions[row] - positions[before + 1] > FETCH_GAP ||
        positions[row + 1] - start > FETCH_BYTES) {
      break;
    }
    n++;
  }
  return n;
}

static glv_status read_group(decoder *d, const zip_layout *z, const value_coding *k,
                             const wanted *w, size_t i, size_t n, const uint64_t *positions,
                             size_t first, sink *s, glv_error *err) {
  const uint64_t start = positions[wanted_row(w, i) - first];
  const uint64_t end = positions[wanted_row(w, i + n - 1) - first + 1];
  span bytes = {0};
  TRY(decoder_fetch(d, z->data.offset + start, (size_t)(end - start), &bytes, err));
  TRY(decoder_reserve(d, &d->levels, n * sizeof(uint16_t), err));
  uint16_t *levels = (uint16_t *)(void *)d->levels.data;
  TRY(sink_text_reserve(s, 0, err));
  const size_t from = s->data_size;
  for (size_t j = 0; j < n; j++) {
    const size_t row = wanted_row(w, i + j) - first;
    const span entry = span_of(bytes.data + (positions[row] - start),
                               (size_t)(positions[row + 1] - positions[row]));
    unsigned level = 0;
    span value = {0};
    TRY(parse_entry(z, entry, &level, &value, err));
    levels[j] = (uint16_t)level;
    if (level == 0) {
      TRY(value_append(d, k, value, s, err));
    }
    sink_text_end(s, j);
  }
  TRY(sink_levels(s, levels, &(wanted){.count = n}, err));
  TRY(sink_text_check(s, from, n, err));
  sink_advance(s, n);
  return GLV_OK;
}

glv_status zip_read_variable(decoder *d, const zip_layout *z, const wanted *w, sink *s,
                             glv_error *err) {
  value_coding k = {0};
  TRY(value_coding_of(z->values, &k, err));
  for (size_t i = 0; i < w->count;) {
    const size_t end = i + zip_run(w, i, ZIP_GAP_ROWS, ZIP_BATCH_ROWS);
    const size_t first = wanted_row(w, i);
    const uint64_t *positions = NULL;
    TRY(zip_read_index(d, z, first, wanted_row(w, end - 1) - first + 1, &positions, err));
    while (i < end) {
      const size_t n = zip_group(w, i, end, positions, first);
      TRY(read_group(d, z, &k, w, i, n, positions, first, s, err));
      i += n;
    }
  }
  return GLV_OK;
}
