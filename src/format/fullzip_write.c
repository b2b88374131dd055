/*
 * Full-zip pages (lance-file-format 7.2): wide values one after another, so that one row is one
 * read.
 *
 *   fixed width    [control byte, 1 = null] [validity of the items] value
 *   variable       [control byte] then, unless null, length and bytes; a second buffer holds where
 *                  each row begins, and the end, in the narrowest integers
 *
 * The control byte is there only in pages with nulls.
 */
#include "arrow/bits.h"
#include "format/page_write_private.h"

static glv_status write_layout(const page_input *in, Lance__Encodings21__FullZipLayout *zip,
                               page_output *out, glv_error *err) {
  zip->bits_def = in->null_count != 0;
  zip->num_items = (uint32_t)in->rows;
  zip->num_visible_items = (uint32_t)in->rows;
  zip->layers = layout_item_layer(&out->messages, in->null_count != 0);
  zip->n_layers = 1;
  layout_message layout;
  lance__encodings21__page_layout__init(&layout);
  layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP;
  layout.full_zip = zip;
  return page_output_layout(
      out, zip->layers != NULL && zip->value_compression != NULL ? &layout : NULL, err);
}

/* ---- fixed width ---- */

static void copy_all(const page_input *in, uint8_t *at) {
  const size_t width = in->leaf->width;
  for (size_t i = 0; i < in->run_count; i++) {
    const page_run *r = &in->runs[i];
    if (r->rows != 0) {
      memcpy(at, r->values, r->rows * width);
      at += r->rows * width;
    }
  }
}

static void copy_rows(const page_input *in, uint8_t *at) {
  page_cursor values = page_cursor_at_start(in);
  page_cursor levels = values;
  page_cursor validity = values;
  for (size_t i = 0; i < in->rows; i++) {
    if (in->null_count != 0) {
      uint16_t level;
      page_next_levels(&levels, 1, &level);
      *at++ = (uint8_t)level;
    }
    if (in->has_item_nulls) {
      page_next_item_validity(&validity, 1, at);
      at += bits_size(in->leaf->items);
    }
    const uint8_t *value = page_next_values(&values, 1, at);
    if (value != at) {
      memcpy(at, value, in->leaf->width);
    }
    at += in->leaf->width;
  }
}

glv_status fullzip_write_fixed(const page_input *in, page_output *out, glv_error *err) {
  const page_leaf *leaf = in->leaf;
  const size_t stored = leaf->width + (in->has_item_nulls ? bits_size(leaf->items) : 0);
  const size_t stride = stored + (in->null_count != 0);
  uint8_t *at;
  TRY(page_output_add(out, stride * in->rows, &at, err));
  if (stride == leaf->width) {
    copy_all(in, at);
  } else {
    copy_rows(in, at);
  }
  Lance__Encodings21__FullZipLayout zip;
  lance__encodings21__full_zip_layout__init(&zip);
  zip.details_case = LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_VALUE;
  zip.bits_per_value = (uint32_t)(stored * 8);
  zip.value_compression = encoding_of_leaf(&out->messages, leaf, in->has_item_nulls);
  return write_layout(in, &zip, out, err);
}

/* ---- variable width ---- */

/* The values one after another: as they are, or compressed in advance. */
struct zip_values {
  page_cursor cursor;
  buf squeezed; /* u64 size and bytes of each valid value; empty: not compressed */
  size_t at;
};

static void zip_values_dispose(struct zip_values *v) { buf_dispose(&v->squeezed); }

/* The next row. @return false when it is null. */
static bool next_value(struct zip_values *v, str *ret) {
  const page_run *r;
  size_t row;
  (void)page_cursor_span(&v->cursor, 1, &r, &row);
  if (!page_run_is_valid(r, row)) {
    return false;
  }
  if (v->squeezed.size == 0) {
    *ret = page_run_text(r, v->cursor.in->leaf->offset_width, row);
    return true;
  }
  const char *item = v->squeezed.data + v->at;
  *ret = str_slice(item + 8, (size_t)load_le64(item));
  v->at += 8 + ret->size;
  return true;
}

/* The reference decompresses null rows as well, as empty values. For ZSTD nothing is a compressed
 * nothing, for LZ4 it is an error, so that LZ4 can only be had in pages without nulls. */
static enum leaf_compression scheme_of(const page_input *in) {
  const enum leaf_compression wanted = in->leaf->compression;
  return wanted == COMPRESS_LZ4 && in->null_count != 0 ? COMPRESS_ZSTD : wanted;
}

static glv_status squeeze_value(const page_input *in, str value, buf *out, glv_error *err) {
  const page_leaf *leaf = in->leaf;
  const enum leaf_compression scheme = scheme_of(in);
  const size_t room = compress_bound(scheme, value.size);
  if (room == SIZE_MAX) {
    return FAIL(err, GLV_E_LIMIT, "column '%s': a value of %zu bytes is too long to be compressed",
                leaf->name, value.size);
  }
  TRY(buf_reserve(out, 8 + room, err));
  char *item = out->data + out->size;
  size_t size;
  TRY(compress_write(scheme, leaf->compression_level, value.data, value.size, item + 8, room, &size,
                     err));
  store_le64(item, size);
  out->size += 8 + size;
  return GLV_OK;
}

/* Compresses every value; *bytes becomes their size if that is less than what it was. */
static glv_status squeeze_values(const page_input *in, struct zip_values *v, uint64_t *bytes,
                                 glv_error *err) {
  struct zip_values plain = {.cursor = page_cursor_at_start(in)};
  glv_status status = GLV_OK;
  for (size_t i = 0; status == GLV_OK && i < in->rows; i++) {
    str value;
    if (next_value(&plain, &value)) {
      status = squeeze_value(in, value, &v->squeezed, err);
    }
  }
  TRY(status);
  const uint64_t size = v->squeezed.size - (uint64_t)(in->rows - in->null_count) * 8;
  if (size < *bytes) {
    *bytes = size;
  } else {
    buf_dispose(&v->squeezed);
  }
  return GLV_OK;
}

static size_t index_width(uint64_t total) {
  return total <= UINT8_MAX ? 1 : total <= UINT16_MAX ? 2 : total <= UINT32_MAX ? 4 : 8;
}

static void write_rows(const page_input *in, struct zip_values *v, uint8_t *data, uint8_t *index,
                       size_t width) {
  uint64_t at = 0;
  for (size_t i = 0; i < in->rows; i++, index += width) {
    memcpy(index, &at, width);
    str value;
    const bool is_valid = next_value(v, &value);
    if (in->null_count != 0) {
      data[at++] = !is_valid;
    }
    if (is_valid) {
      const uint64_t size = value.size;
      memcpy(data + at, &size, in->leaf->offset_width);
      at += in->leaf->offset_width;
      if (size != 0) {
        memcpy(data + at, value.data, value.size);
      }
      at += size;
    }
  }
  memcpy(index, &at, width);
}

glv_status fullzip_write_variable(const page_input *in, page_output *out, glv_error *err) {
  const page_leaf *leaf = in->leaf;
  CLEANUP(zip_values_dispose) struct zip_values v = {.cursor = page_cursor_at_start(in)};
  buf_init(&v.squeezed, in->env, SIZE_MAX / 2);
  uint64_t bytes = variable_measure_page(in).bytes;
  if (leaf->compression != COMPRESS_NONE) {
    TRY(squeeze_values(in, &v, &bytes, err));
  }
  const uint64_t total = bytes + (uint64_t)(in->rows - in->null_count) * leaf->offset_width +
                         (in->null_count != 0 ? in->rows : 0);
  const size_t width = index_width(total);
  const size_t index_size = (in->rows + 1) * width;
  TRY(page_output_reserve(out, (size_t)total + index_size + PAGE_MAX_GAPS, err));
  uint8_t *data;
  uint8_t *index;
  TRY(page_output_add(out, (size_t)total, &data, err));
  TRY(page_output_add(out, index_size, &index, err));
  write_rows(in, &v, data, index, width);
  Lance__Encodings21__FullZipLayout zip;
  lance__encodings21__full_zip_layout__init(&zip);
  zip.details_case = LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_OFFSET;
  zip.bits_per_offset = leaf->offset_width * 8;
  zip.value_compression = encoding_variable(&out->messages, (uint64_t)leaf->offset_width * 8);
  if (v.squeezed.size != 0) {
    zip.value_compression = encoding_general(&out->messages, scheme_of(in), zip.value_compression);
  }
  return write_layout(in, &zip, out, err);
}
