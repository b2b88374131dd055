/*
 * What a column stores: the form of its values, derived once from its field (lance-file-format
 * section 4), and how many of its rows make a page.
 *
 * A page is closed at 8 MiB of raw values (11.1). Raw size counts values and offsets, not validity:
 * pages of fixed-width columns then hold a round number of rows, so that no chunk but the last of
 * the file is cut short.
 */
#include <limits.h>

#include "format/page_write_private.h"

static glv_status refuse(const field *f, glv_error *err) {
  return FAIL(err, GLV_E_UNSUPPORTED, "column '%s' has type %s, which cannot be written yet",
              f->name, TYPE_TEXT(f->type));
}

/* Word size of bit packing for integers and what is stored as integers. */
static unsigned pack_bits(const type *t) {
  const bool whole = type_is_integer(t->kind) || type_is_temporal(t->kind);
  const size_t width = type_width(t);
  return whole && width <= 8 ? (unsigned)width * 8 : 0;
}

/* Compression that the metadata asks for. Kinds that are not written are as good as none: the
 * values are the same. */
static void read_compression(const field *f, page_leaf *ret) {
  const str scheme = metadata_get(f->metadata, STR("lance-encoding:compression"), NULL);
  uint64_t level;
  if (str_is(scheme, "zstd")) {
    ret->compression = COMPRESS_ZSTD;
  } else if (str_is(scheme, "lz4")) {
    ret->compression = COMPRESS_LZ4;
  }
  if (str_to_u64(metadata_get(f->metadata, STR("lance-encoding:compression-level"), NULL),
                 &level) &&
      level <= INT_MAX) {
    ret->compression_level = (int)level;
  }
}

static bool is_physical_hint(str key, str value) {
  if (str_is(key, "lance-encoding:blob")) {
    return true;
  }
  return str_is(key, "ARROW:extension:name") && str_is(value, "lance.blob.v2");
}

/* The stored form of some columns is another one than their type says. */
static glv_status check_metadata(const field *f, glv_error *err) {
  for (size_t i = 0; i < f->metadata.count; i++) {
    if (is_physical_hint(f->metadata.pairs[i].key, f->metadata.pairs[i].value)) {
      return FAIL(err, GLV_E_UNSUPPORTED,
                  "column '%s' is a blob column, which cannot be written yet", f->name);
    }
  }
  return GLV_OK;
}

static glv_status init_vector(const field *f, page_leaf *ret, glv_error *err) {
  const type *item = f->type->children[0].type;
  const size_t item_width = type_width(item);
  if (f->type->width < 1 || (item_width == 0 && item->kind != TYPE_BOOL)) {
    return refuse(f, err);
  }
  ret->is_vector = true;
  ret->items = (size_t)f->type->width;
  ret->form = item->kind == TYPE_BOOL ? LEAF_BITS : LEAF_FIXED;
  ret->item_bits = item->kind == TYPE_BOOL ? 1 : (unsigned)(item_width * 8);
  return size_mul(item_width, ret->items, &ret->width) ? GLV_OK : refuse(f, err);
}

/* Everything but lists. */
static glv_status init_form(const field *f, page_leaf *ret, glv_error *err) {
  switch (f->type->kind) {
  case TYPE_NULL:
    ret->form = LEAF_NULL;
    return GLV_OK;
  case TYPE_BOOL:
    ret->form = LEAF_BITS;
    ret->item_bits = 1;
    return GLV_OK;
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
  case TYPE_UTF8_VIEW:
  case TYPE_BINARY:
  case TYPE_LARGE_BINARY:
  case TYPE_BINARY_VIEW:
    ret->form = LEAF_VARIABLE;
    ret->offset_width = (unsigned)type_offset_width(f->type->kind);
    return GLV_OK;
  case TYPE_FIXED_SIZE_LIST:
    return init_vector(f, ret, err);
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_NONE:
  case TYPE_INTERVAL_MONTH_DAY_NANO:
  case TYPE_DICTIONARY:
  case TYPE_STRUCT:
  case TYPE_MAP:
    return refuse(f, err);
  case TYPE_INT8:
  case TYPE_INT16:
  case TYPE_INT32:
  case TYPE_INT64:
  case TYPE_UINT8:
  case TYPE_UINT16:
  case TYPE_UINT32:
  case TYPE_UINT64:
  case TYPE_FLOAT16:
  case TYPE_FLOAT32:
  case TYPE_FLOAT64:
  case TYPE_DECIMAL128:
  case TYPE_DECIMAL256:
  case TYPE_DATE32:
  case TYPE_DATE64:
  case TYPE_TIME32:
  case TYPE_TIME64:
  case TYPE_TIMESTAMP:
  case TYPE_DURATION:
  case TYPE_FIXED_SIZE_BINARY:
    break;
  }
  ret->form = LEAF_FIXED;
  ret->width = type_width(f->type);
  ret->item_bits = (unsigned)ret->width * 8;
  ret->pack_bits = pack_bits(f->type);
  return ret->width != 0 ? GLV_OK : refuse(f, err);
}

/* A list whose items are not lists. */
static glv_status init_list(const field *f, page_leaf *ret, glv_error *err) {
  page_leaf item = {.items = 1};
  if (init_form(&f->type->children[0], &item, NULL) != GLV_OK) {
    return refuse(f, err);
  }
  ret->form = LEAF_LIST;
  ret->offset_width = (unsigned)type_offset_width(f->type->kind);
  return GLV_OK;
}

glv_status page_leaf_init(const field *f, page_leaf *ret, glv_error *err) {
  *ret = (page_leaf){.name = f->name, .type = f->type, .items = 1};
  TRY(check_metadata(f, err));
  read_compression(f, ret);
  const bool is_list = f->type->kind == TYPE_LIST || f->type->kind == TYPE_LARGE_LIST;
  return is_list ? init_list(f, ret, err) : init_form(f, ret, err);
}

/* Bits of a row that do not depend on its value. */
static uint64_t fixed_bits(const page_leaf *leaf) {
  switch (leaf->form) {
  case LEAF_NULL:
    return 0;
  case LEAF_BITS:
  case LEAF_FIXED:
    return (uint64_t)leaf->item_bits * leaf->items;
  case LEAF_VARIABLE:
    return (uint64_t)leaf->offset_width * 8;
  case LEAF_LIST:
    break;
  }
  return 32; /* two levels a row */
}

/* Text before row `row` of a variable-width array. */
static uint64_t text_before(const array *a, unsigned offset_width, size_t row) {
  return offset_width == 8
             ? (uint64_t)(ARRAY_VALUES(a, int64_t)[row] - ARRAY_VALUES(a, int64_t)[0])
             : (uint64_t)(ARRAY_VALUES(a, int32_t)[row] - ARRAY_VALUES(a, int32_t)[0]);
}

uint64_t page_leaf_raw_bytes(const page_leaf *leaf, const array *a, size_t first, size_t rows) {
  uint64_t bytes = (fixed_bits(leaf) * rows + 7) / 8;
  if (leaf->form == LEAF_VARIABLE && rows != 0) {
    bytes += text_before(a, leaf->offset_width, first + rows) -
             text_before(a, leaf->offset_width, first);
  }
  return bytes;
}

size_t page_leaf_page_rows(const page_leaf *leaf, uint64_t raw_bytes, size_t step, size_t most) {
  const uint64_t bits = fixed_bits(leaf);
  const uint64_t rows = bits == 0 ? most : u64_min(raw_bytes * 8 / bits, most);
  return rows >= step ? (size_t)rows / step * step : size_max((size_t)rows, 1);
}

size_t page_leaf_rows_within(const page_leaf *leaf, const array *a, size_t first, size_t rows,
                             uint64_t limit) {
  size_t low = 0; /* so many rows stay below the limit; high do not, or are all */
  size_t high = rows;
  while (low + 1 < high) {
    const size_t middle = low + (high - low) / 2;
    if (page_leaf_raw_bytes(leaf, a, first, middle) < limit) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high;
}
