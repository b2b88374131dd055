/*
 * Full-zip pages (lance-file-format 7.2): wide values one after another, so that one row is one
 * read.
 *
 *   fixed width    [control word] [validity of the items] value
 *   variable       [control word] then, unless null, length and bytes
 *
 * The control word holds the levels of an entry, rep << bits_def | def, in 1, 2 or 4 bytes; it is
 * there only in pages with levels. Entries without value end behind it. Pages of variable width and
 * pages with lists have a second buffer: where each row begins, and the end, in the narrowest
 * integers.
 */
#include "arrow/bits.h"
#include "format/page_write_private.h"

static unsigned width_of(unsigned most) {
  return most == 0 ? 0 : 32u - (unsigned)__builtin_clz(most);
}

/* Bytes of a control word. */
static size_t control_size(const page_levels *l) {
  const unsigned bits = width_of(l->max_rep) + width_of(l->max_def);
  return bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

static glv_status write_layout(const page_input *in, Lance__Encodings21__FullZipLayout *zip,
                               page_output *out, glv_error *err) {
  if (in->levels.entries > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "column '%s': a page has more than %u values", in->leaf->name,
                UINT32_MAX);
  }
  zip->bits_rep = width_of(in->levels.max_rep);
  zip->bits_def = width_of(in->levels.max_def);
  zip->num_items = (uint32_t)in->levels.entries;
  zip->num_visible_items = (uint32_t)in->count;
  zip->layers = in->levels.layers;
  zip->n_layers = in->levels.layer_count;
  layout_message layout;
  lance__encodings21__page_layout__init(&layout);
  layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP;
  layout.full_zip = zip;
  return page_output_layout(out, zip->value_compression != NULL ? &layout : NULL, err);
}

/* ---- entries ---- */

/* What a page becomes: entries one after another, and where the rows begin. */
struct zip_writer {
  const page_input *in;
  size_t control;
  unsigned def_bits;
  uint8_t *base;
  uint8_t *at;
  uint8_t *index; /* NULL: no row index */
  size_t index_width;
  page_cursor levels;
};

static size_t index_width(uint64_t total) {
  return total <= UINT8_MAX ? 1 : total <= UINT16_MAX ? 2 : total <= UINT32_MAX ? 4 : 8;
}

/* Buffers for total bytes, with a row index when it is wanted. */
static glv_status open_buffers(struct zip_writer *w, uint64_t total, bool has_index,
                               page_output *out, glv_error *err) {
  w->control = control_size(&w->in->levels);
  w->def_bits = width_of(w->in->levels.max_def);
  w->levels = page_cursor_at_start(w->in);
  w->index_width = index_width(total);
  const size_t index_size = has_index ? (w->in->rows + 1) * w->index_width : 0;
  TRY(page_output_reserve(out, (size_t)total + index_size + PAGE_MAX_GAPS, err));
  TRY(page_output_add(out, (size_t)total, &w->base, err));
  w->at = w->base;
  return has_index ? page_output_add(out, index_size, &w->index, err) : GLV_OK;
}

static void put_index(struct zip_writer *w) {
  if (w->index != NULL) {
    const uint64_t at = (uint64_t)(w->at - w->base);
    memcpy(w->index, &at, w->index_width);
    w->index += w->index_width;
  }
}

/* Begin entry i: row index and control word. @return its definition level. */
static uint16_t put_control(struct zip_writer *w, size_t i) {
  const page_levels *l = &w->in->levels;
  uint16_t scratch;
  const uint16_t rep = l->rep != NULL ? l->rep[i] : 0;
  const uint16_t def = l->max_def != 0 ? *page_next_def(&w->levels, i, 1, &scratch) : 0;
  if (rep == l->max_rep) {
    put_index(w);
  }
  const uint32_t word = (uint32_t)rep << w->def_bits | def;
  memcpy(w->at, &word, w->control);
  w->at += w->control;
  return def;
}

/* ---- fixed width ---- */

static void copy_all(const page_input *in, uint8_t *at) {
  const size_t width = in->leaf->width;
  for (size_t i = 0; i < in->run_count; i++) {
    const page_run *r = &in->runs[i];
    if (r->count != 0) {
      memcpy(at, r->values, r->count * width);
      at += r->count * width;
    }
  }
}

/* The values of a page and the validity of their items, in step. */
struct fixed_values {
  page_cursor values;
  page_cursor validity[SHAPE_DEPTH];
};

static void put_fixed(struct zip_writer *w, struct fixed_values *v) {
  const page_leaf *leaf = w->in->leaf;
  for (size_t i = 0; i < leaf->depth; i++) {
    if (w->in->has_item_nulls[i]) {
      page_next_item_validity(&v->validity[i], i, 1, w->at);
      w->at += bits_size(leaf->row_items[i]);
    }
  }
  const uint8_t *value = page_next_values(&v->values, 1, w->at);
  if (value != w->at) {
    memcpy(w->at, value, leaf->width);
  }
  w->at += leaf->width;
}

static void write_fixed(struct zip_writer *w) {
  const page_input *in = w->in;
  struct fixed_values v = {.values = page_cursor_at_start(in)};
  for (size_t i = 0; i < in->leaf->depth; i++) {
    v.validity[i] = v.values;
  }
  for (size_t i = 0; i < in->levels.entries; i++) {
    if (put_control(w, i) <= in->levels.visible) {
      put_fixed(w, &v);
    }
  }
  put_index(w);
}

glv_status fullzip_write_fixed(const page_input *in, page_output *out, glv_error *err) {
  const page_leaf *leaf = in->leaf;
  size_t stored = leaf->width;
  for (size_t i = 0; i < leaf->depth; i++) {
    stored += in->has_item_nulls[i] ? bits_size(leaf->row_items[i]) : 0;
  }
  struct zip_writer w = {.in = in};
  const uint64_t total =
      (uint64_t)stored * in->count + (uint64_t)control_size(&in->levels) * in->levels.entries;
  TRY(open_buffers(&w, total, in->levels.max_rep != 0, out, err));
  if (w.control == 0 && stored == leaf->width) {
    copy_all(in, w.at);
  } else {
    write_fixed(&w);
  }
  Lance__Encodings21__FullZipLayout zip;
  lance__encodings21__full_zip_layout__init(&zip);
  zip.details_case = LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_VALUE;
  zip.bits_per_value = (uint32_t)(stored * 8);
  zip.value_compression = encoding_of_values(&out->messages, in);
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
  for (size_t i = 0; status == GLV_OK && i < in->count; i++) {
    str value;
    if (next_value(&plain, &value)) {
      status = squeeze_value(in, value, &v->squeezed, err);
    }
  }
  TRY(status);
  const uint64_t size = v->squeezed.size - (uint64_t)(in->count - in->null_count) * 8;
  if (size < *bytes) {
    *bytes = size;
  } else {
    buf_dispose(&v->squeezed);
  }
  return GLV_OK;
}

static void write_variable(struct zip_writer *w, struct zip_values *v) {
  const page_input *in = w->in;
  const unsigned length_size = in->leaf->offset_width;
  for (size_t i = 0; i < in->levels.entries; i++) {
    str value;
    if (put_control(w, i) > in->levels.visible || !next_value(v, &value)) {
      continue;
    }
    const uint64_t size = value.size;
    memcpy(w->at, &size, length_size);
    w->at += length_size;
    if (size != 0) {
      memcpy(w->at, value.data, value.size);
    }
    w->at += size;
  }
  put_index(w);
}

glv_status fullzip_write_variable(const page_input *in, encoding_message *values, page_output *out,
                                  glv_error *err) {
  const page_leaf *leaf = in->leaf;
  CLEANUP(zip_values_dispose) struct zip_values v = {.cursor = page_cursor_at_start(in)};
  buf_init(&v.squeezed, in->env, SIZE_MAX / 2);
  uint64_t bytes = variable_measure_page(in).bytes;
  if (leaf->compression != COMPRESS_NONE && !leaf->is_packed) {
    TRY(squeeze_values(in, &v, &bytes, err));
  }
  struct zip_writer w = {.in = in};
  const uint64_t total = bytes + (uint64_t)(in->count - in->null_count) * leaf->offset_width +
                         (uint64_t)control_size(&in->levels) * in->levels.entries;
  TRY(open_buffers(&w, total, true, out, err));
  write_variable(&w, &v);
  Lance__Encodings21__FullZipLayout zip;
  lance__encodings21__full_zip_layout__init(&zip);
  zip.details_case = LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_OFFSET;
  zip.bits_per_offset = leaf->offset_width * 8;
  zip.value_compression = values;
  if (v.squeezed.size != 0) {
    zip.value_compression = encoding_general(&out->messages, scheme_of(in), values);
  }
  return write_layout(in, &zip, out, err);
}
