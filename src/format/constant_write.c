/*
 * Pages without a value for each row (lance-file-format 7.3): all rows null, lists that are all
 * null or empty, and pages whose valid values are all the same.
 */
#include "format/page_write_private.h"

/* Values of at most this size stand in the layout message. */
enum { MAX_INLINE = 32 };

static glv_status write_layout(Lance__Encodings21__ConstantLayout *constant, page_output *out,
                               glv_error *err) {
  layout_message layout;
  lance__encodings21__page_layout__init(&layout);
  layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_CONSTANT;
  layout.constant = constant;
  return page_output_layout(out, constant->layers != NULL ? &layout : NULL, err);
}

glv_status constant_write_null(const page_input *in, page_output *out, glv_error *err) {
  (void)in;
  Lance__Encodings21__ConstantLayout constant;
  lance__encodings21__constant_layout__init(&constant);
  constant.layers = layout_item_layer(&out->messages, true);
  constant.n_layers = 1;
  return write_layout(&constant, out, err);
}

/* ---- lists without items ---- */

static bool list_is_empty(const page_run *r, unsigned offset_width, size_t row) {
  if (offset_width == 8) {
    const int64_t *offsets = (const void *)r->values;
    return offsets[row] == offsets[row + 1];
  }
  const int32_t *offsets = (const void *)r->values;
  return offsets[row] == offsets[row + 1];
}

/* One definition level a row: null_level or empty_level. */
static glv_status list_levels(const page_input *in, uint16_t null_level, uint16_t empty_level,
                              uint8_t *ret, glv_error *err) {
  page_cursor c = page_cursor_at_start(in);
  size_t done = 0;
  while (done < in->rows) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(&c, in->rows - done, &r, &row);
    for (size_t i = 0; i < span; i++) {
      const bool is_null =
          r->validity != NULL && !bit_get(r->validity, r->validity_first + row + i);
      if (!is_null && !list_is_empty(r, in->leaf->offset_width, row + i)) {
        return FAIL(err, GLV_E_UNSUPPORTED, "column '%s' has type %s, which cannot be written yet",
                    in->leaf->name, TYPE_TEXT(in->leaf->type));
      }
      store_le16(ret + (done + i) * 2, is_null ? null_level : empty_level);
    }
    done += span;
  }
  return GLV_OK;
}

/* Levels from the inside out: the items have none, nulls come before empties. */
glv_status constant_write_lists(const page_input *in, page_output *out, glv_error *err) {
  const bool has_nulls = in->null_count != 0;
  const bool has_empty = in->null_count != in->rows;
  Lance__Encodings21__RepDefLayer layers[2] = {
      LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM,
      !has_nulls  ? LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_EMPTYABLE_LIST
      : has_empty ? LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULL_AND_EMPTY_LIST
                  : LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_LIST};
  uint8_t *levels;
  TRY(page_output_add(out, in->rows * 2, &levels, err));
  for (size_t i = 0; i < in->rows; i++) {
    store_le16(levels + i * 2, 1); /* each row begins a list */
  }
  TRY(page_output_add(out, in->rows * 2, &levels, err));
  TRY(list_levels(in, 1, has_nulls ? 2 : 1, levels, err));
  Lance__Encodings21__ConstantLayout constant;
  lance__encodings21__constant_layout__init(&constant);
  constant.layers = layers;
  constant.n_layers = 2;
  return write_layout(&constant, out, err);
}

/* ---- one value ---- */

/* The value that all valid rows have: bytes, or nothing when they differ. */
struct common {
  uint8_t value[MAX_INLINE];
  size_t size;
  bool is_found; /* value is set */
};

/* Compares one value with what was found before. */
static bool is_same(struct common *c, const uint8_t *value, size_t size) {
  if (!c->is_found) {
    c->is_found = true;
    c->size = size;
    memcpy(c->value, value, size);
    return true;
  }
  return c->size == size && memcmp(c->value, value, size) == 0;
}

/* Whether neighbouring values are equal, all along: one comparison of the memory with itself. */
static bool same_fixed(const page_run *r, size_t width, struct common *c) {
  if (r->validity == NULL) {
    return is_same(c, r->values, width) &&
           memcmp(r->values, r->values + width, (r->rows - 1) * width) == 0;
  }
  for (size_t i = 0; i < r->rows; i++) {
    if (bit_get(r->validity, r->validity_first + i) && !is_same(c, r->values + i * width, width)) {
      return false;
    }
  }
  return true;
}

static bool same_bits(const page_run *r, struct common *c) {
  for (size_t i = 0; i < r->rows; i++) {
    const uint8_t value = bit_get(r->values, r->bits_first + i);
    if (!is_same(c, &value, 1)) {
      return false;
    }
  }
  return true;
}

static bool find_common(const page_input *in, struct common *c) {
  for (size_t i = 0; i < in->run_count; i++) {
    const page_run *r = &in->runs[i];
    if (r->rows == 0) {
      continue;
    }
    if (in->leaf->form == LEAF_BITS ? !same_bits(r, c) : !same_fixed(r, in->leaf->width, c)) {
      return false;
    }
  }
  return c->is_found;
}

/* With nulls the page needs two bytes a row for their levels, which packed or narrow values beat.
 */
static bool may_pay(const page_input *in) {
  const page_leaf *leaf = in->leaf;
  if (leaf->is_vector || (leaf->form != LEAF_BITS && leaf->form != LEAF_FIXED) ||
      leaf->width > MAX_INLINE) {
    return false;
  }
  return in->null_count == 0 || (leaf->pack_bits == 0 && leaf->width > 2);
}

static glv_status write_levels(const page_input *in, page_output *out, glv_error *err) {
  uint8_t *at;
  TRY(page_output_add(out, 0, &at, err)); /* no repetition levels */
  TRY(page_output_add(out, in->rows * 2, &at, err));
  page_cursor c = page_cursor_at_start(in);
  for (size_t done = 0; done < in->rows;) {
    uint16_t levels[CHUNK_MAX_VALUES];
    const size_t count = size_min(CHUNK_MAX_VALUES, in->rows - done);
    page_next_levels(&c, count, levels);
    memcpy(at + done * 2, levels, count * 2);
    done += count;
  }
  return GLV_OK;
}

glv_status constant_try(const page_input *in, page_output *out, bool *ret_done, glv_error *err) {
  struct common common = {.is_found = false};
  *ret_done = may_pay(in) && find_common(in, &common);
  if (!*ret_done) {
    return GLV_OK;
  }
  Lance__Encodings21__ConstantLayout constant;
  lance__encodings21__constant_layout__init(&constant);
  constant.opt_inline_value_case =
      LANCE__ENCODINGS21__CONSTANT_LAYOUT__OPT_INLINE_VALUE_INLINE_VALUE;
  constant.inline_value = (ProtobufCBinaryData){common.size, common.value};
  constant.layers = layout_item_layer(&out->messages, in->null_count != 0);
  constant.n_layers = 1;
  if (in->null_count != 0) {
    TRY(write_levels(in, out, err));
  }
  return write_layout(&constant, out, err);
}
