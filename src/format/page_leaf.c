/*
 * What a column stores: the form of its values, derived once from its field (lance-file-format
 * section 4), and how many of its rows make a page.
 *
 * A page is closed at 8 MiB of raw values (11.1). Raw size counts values and offsets, not validity:
 * pages of fixed-width columns then hold a round number of rows, so that no chunk but the last of
 * the file is cut short. Rows with lists count two levels for each of their items.
 */
#include <limits.h>

#include "base/limits.h"
#include "format/page_leaf_private.h"

static glv_status refuse(const field *f, glv_error *err) {
  return FAIL(
      err, GLV_E_UNSUPPORTED,
      "column '%s' has type %s, which Lance cannot store; cast it to another type or leave it out",
      f->name, TYPE_TEXT(f->type));
}

/* Word size of bit packing for integers and what is stored as integers. */
static unsigned pack_bits(const type *t) {
  const bool whole = type_is_integer(t->kind) || type_is_temporal(t->kind);
  const size_t width = type_width(t);
  return whole && width <= 8 ? (unsigned)width * 8 : 0;
}

/* Compression and layout that the metadata asks for. */
static void read_hints(const field *f, page_leaf *ret) {
  const str scheme = metadata_get(f->metadata, STR("lance-encoding:compression"), NULL);
  const str structure = metadata_get(f->metadata, STR("lance-encoding:structural-encoding"), NULL);
  uint64_t level;
  if (str_is(scheme, "zstd")) {
    ret->compression = COMPRESS_ZSTD;
  } else if (str_is(scheme, "lz4")) {
    ret->compression = COMPRESS_LZ4;
  }
  ret->text = str_is(scheme, "none") ? TEXT_PLAIN : str_is(scheme, "fsst") ? TEXT_FSST : TEXT_ANY;
  if (str_to_u64(metadata_get(f->metadata, STR("lance-encoding:compression-level"), NULL),
                 &level) &&
      level <= INT_MAX) {
    ret->compression_level = (int)level;
  }
  ret->structure = str_is(structure, "fullzip")     ? STRUCTURE_FULLZIP
                   : str_is(structure, "miniblock") ? STRUCTURE_MINIBLOCK
                                                    : STRUCTURE_ANY;
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
      return FAIL(
          err, GLV_E_UNSUPPORTED,
          "column '%s' is a blob column, which this release does not write; append with pylance, "
          "or store the bytes in a large_binary column without the metadata of blobs",
          f->name);
    }
  }
  return GLV_OK;
}

/* Fixed-size lists of numbers or bool, one in another. */
static glv_status init_vector(const field *f, page_leaf *ret, glv_error *err) {
  const type *t = f->type;
  while (t->kind == TYPE_FIXED_SIZE_LIST) {
    if (ret->depth == SHAPE_DEPTH || t->width < 1 ||
        !size_mul(ret->items, (size_t)t->width, &ret->items)) {
      return refuse(f, err);
    }
    ret->list_items[ret->depth] = (size_t)t->width;
    ret->row_items[ret->depth++] = ret->items;
    t = t->children[0].type;
  }
  const size_t item_width = type_width(t);
  if (t->kind == TYPE_DICTIONARY || (item_width == 0 && t->kind != TYPE_BOOL)) {
    return refuse(f, err);
  }
  ret->form = t->kind == TYPE_BOOL ? LEAF_BITS : LEAF_FIXED;
  ret->item_bits = t->kind == TYPE_BOOL ? 1 : (unsigned)(item_width * 8);
  return size_mul(item_width, ret->items, &ret->width) ? GLV_OK : refuse(f, err);
}

/* Indices into values that are text or of fixed width. */
static glv_status init_dictionary(const field *f, page_leaf *ret, glv_error *err) {
  const type *value = f->type->children[0].type;
  if (type_offset_width(value->kind) == 0 && type_width(value) == 0) {
    return refuse(f, err);
  }
  ret->is_dictionary = true;
  ret->form = LEAF_FIXED;
  ret->width = array_value_width(f->type);
  ret->item_bits = ret->pack_bits = (unsigned)ret->width * 8;
  return GLV_OK;
}

size_t leaf_packed_width(const type *t) {
  size_t items = 1;
  for (size_t i = 0; i < SHAPE_DEPTH && t->kind == TYPE_FIXED_SIZE_LIST; i++) {
    if (t->width < 1 || !size_mul(items, (size_t)t->width, &items)) {
      return 0;
    }
    t = t->children[0].type;
  }
  size_t width;
  return size_mul(items, type_width(t), &width) ? width : 0;
}

/* A struct whose children stand one after another in each value. Vectors among them are read where
 * values vary in size only. */
static glv_status init_packed(const field *f, page_leaf *ret, glv_error *err) {
  ret->is_packed = true;
  ret->form = LEAF_FIXED;
  for (size_t i = 0; i < f->type->child_count; i++) {
    const field *child = &f->type->children[i];
    const size_t width = leaf_packed_width(child->type);
    const bool is_text = type_offset_width(child->type->kind) != 0 && child->type->child_count == 0;
    if ((width == 0 && !is_text) || !size_add(ret->width, width, &ret->width)) {
      return FAIL(err, GLV_E_UNSUPPORTED,
                  "column '%s': field '%s' has type %s, which cannot be part of a packed struct; "
                  "leave out the metadata 'packed'",
                  f->name, child->name, TYPE_TEXT(child->type));
    }
    if (is_text || child->type->kind == TYPE_FIXED_SIZE_LIST) {
      ret->form = LEAF_VARIABLE;
    }
  }
  if (f->type->child_count == 0 || ret->width > UINT32_MAX / 8) {
    return refuse(f, err);
  }
  ret->item_bits = (unsigned)ret->width * 8;
  ret->offset_width = sizeof(uint32_t);
  return GLV_OK;
}

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
  case TYPE_DICTIONARY:
    return init_dictionary(f, ret, err);
  case TYPE_STRUCT:
    return init_packed(f, ret, err);
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_NONE:
  case TYPE_INTERVAL_MONTH_DAY_NANO:
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

glv_status page_leaf_init(const field *f, page_leaf *ret, glv_error *err) {
  *ret = (page_leaf){.name = f->name,
                     .field = f->name,
                     .type = f->type,
                     .is_nullable = f->nullable || f->type->kind == TYPE_NULL,
                     .version = FORMAT_2_2,
                     .items = 1,
                     .repeat = 1};
  TRY(check_metadata(f, err));
  read_hints(f, ret);
  return init_form(f, ret, err);
}

/* ---- raw sizes ---- */

/* Bits of a value that do not depend on what it is. */
static uint64_t fixed_bits(const page_leaf *leaf) {
  switch (leaf->form) {
  case LEAF_NULL:
    return 0;
  case LEAF_BITS:
  case LEAF_FIXED:
    return (uint64_t)leaf->item_bits * leaf->items;
  case LEAF_VARIABLE:
    break;
  }
  return (uint64_t)leaf->offset_width * 8;
}

static uint64_t offset_of(const array *a, unsigned offset_width, size_t i) {
  return offset_width == 8 ? (uint64_t)ARRAY_VALUES(a, int64_t)[i]
                           : (uint64_t)ARRAY_VALUES(a, int32_t)[i];
}

/* Bytes of the values [first, first + count) of the leaf array a of variable width. */
static uint64_t text_bytes(const page_leaf *leaf, const array *a, size_t first, size_t count) {
  if (!leaf->is_packed) {
    return offset_of(a, leaf->offset_width, first + count) -
           offset_of(a, leaf->offset_width, first);
  }
  uint64_t bytes = (uint64_t)leaf->width * count;
  for (size_t i = 0; i < leaf->type->child_count; i++) {
    const unsigned width = (unsigned)type_offset_width(leaf->type->children[i].type->kind);
    if (width != 0) {
      bytes += offset_of(&a->children[i], width, first + count) -
               offset_of(&a->children[i], width, first) + (uint64_t)width * count;
    }
  }
  return bytes;
}

enum { LEVEL_BITS = 16, SMALL_PAGE_BYTES = 64 << 10 };

/* Lists of bool have no layout for pages with many levels and few values: the reference does not
 * read full-zip pages of bits. A page of 32768 entries has none too many. */
uint64_t page_leaf_page_bytes(const page_leaf *leaf, uint64_t usual) {
  const bool is_small = leaf->form == LEAF_BITS && leaf->list_count != 0;
  return is_small ? u64_min(usual, SMALL_PAGE_BYTES) : usual;
}

uint64_t page_leaf_raw_bytes(const page_leaf *leaf, const array *a, size_t first, size_t rows) {
  uint64_t bits = 0;
  for (size_t i = 0; i < leaf->step_count; i++, a = &a->children[0]) {
    const leaf_step *s = &leaf->steps[i];
    if (s->kind == STEP_REPEAT) {
      first *= (size_t)s->type->width;
      rows *= (size_t)s->type->width;
    } else if (s->kind == STEP_LIST) {
      const unsigned width = (unsigned)type_offset_width(s->type->kind);
      const uint64_t end = offset_of(a, width, first + rows);
      first = (size_t)offset_of(a, width, first);
      bits += (uint64_t)rows * LEVEL_BITS;
      rows = (size_t)end - first;
      bits += (uint64_t)rows * LEVEL_BITS;
    }
  }
  uint64_t bytes = (fixed_bits(leaf) * rows + bits + 7) / 8;
  if (leaf->form == LEAF_VARIABLE && rows != 0) {
    bytes += text_bytes(leaf, a, first, rows);
  }
  return bytes;
}

size_t page_leaf_page_rows(const page_leaf *leaf, uint64_t raw_bytes, size_t step, size_t most) {
  const uint64_t bits = fixed_bits(leaf) * leaf->repeat;
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
