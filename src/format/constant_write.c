/*
 * Pages without a value for each row (lance-file-format 7.3): all values null, lists that are all
 * null or empty, and pages whose valid values are all the same.
 *
 * A single layer of which everything is null needs no levels. Else the levels of a page without
 * values are packed in version 2.2, which says how many there are; all others are numbers of 16
 * bits.
 */
#include "format/page_write_private.h"

/* Values of at most this size stand in the layout message. */
enum { MAX_INLINE = 32 };

static glv_status write_layout(const page_input *in, Lance__Encodings21__ConstantLayout *constant,
                               page_output *out, glv_error *err) {
  layout_message layout;
  lance__encodings21__page_layout__init(&layout);
  layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_CONSTANT;
  layout.constant = constant;
  constant->layers = in->levels.layers;
  constant->n_layers = in->levels.layer_count;
  return page_output_layout(out, &layout, err);
}

/* ---- levels ---- */

/* The definition levels of the whole page as 16-bit numbers. */
static void copy_def(const page_input *in, uint16_t *ret) {
  page_cursor c = page_cursor_at_start(in);
  const size_t entries = in->levels.entries;
  for (size_t done = 0; done < entries;) {
    uint16_t scratch[CHUNK_MAX_VALUES];
    const size_t count = size_min(CHUNK_MAX_VALUES, entries - done);
    memcpy(ret + done, page_next_def(&c, done, count, scratch), count * sizeof *ret);
    done += count;
  }
}

static glv_status write_raw_levels(const page_input *in, page_output *out, glv_error *err) {
  const page_levels *l = &in->levels;
  const size_t size = l->entries * sizeof(uint16_t);
  uint8_t *at;
  TRY(page_output_reserve(out, 2 * size + PAGE_MAX_GAPS, err));
  TRY(page_output_add(out, l->max_rep != 0 ? size : 0, &at, err));
  if (l->max_rep != 0) {
    memcpy(at, l->rep, size);
  }
  TRY(page_output_add(out, l->max_def != 0 ? size : 0, &at, err));
  if (l->max_def != 0) {
    copy_def(in, (uint16_t *)(void *)at);
  }
  return GLV_OK;
}

static glv_status pack_levels(const uint16_t *levels, size_t count, unsigned most, page_output *out,
                              encoding_message **ret_how, glv_error *err) {
  const unsigned width = 32u - (unsigned)__builtin_clz(most);
  uint8_t *at;
  TRY(page_output_add(out, levels_size(count, width), &at, err));
  levels_write(levels, count, width, at);
  *ret_how = levels_encoding(&out->messages, count, width);
  return *ret_how != NULL ? GLV_OK : error_nomem(err, sizeof **ret_how);
}

/* in->levels.def is set: this is not a page of one layer. */
static glv_status write_packed_levels(const page_input *in,
                                      Lance__Encodings21__ConstantLayout *constant,
                                      page_output *out, glv_error *err) {
  const page_levels *l = &in->levels;
  uint8_t *at;
  if (l->max_rep != 0) {
    TRY(pack_levels(l->rep, l->entries, l->max_rep, out, &constant->rep_compression, err));
    constant->num_rep_values = l->entries;
  } else {
    TRY(page_output_add(out, 0, &at, err));
  }
  if (l->def == NULL) {
    return page_output_add(out, 0, &at, err);
  }
  constant->num_def_values = l->entries;
  return pack_levels(l->def, l->entries, l->max_def, out, &constant->def_compression, err);
}

glv_status constant_write_null(const page_input *in, page_output *out, glv_error *err) {
  Lance__Encodings21__ConstantLayout constant;
  lance__encodings21__constant_layout__init(&constant);
  if (in->levels.layer_count > 1) {
    const bool is_packed = in->leaf->version >= FORMAT_2_2 && in->levels.def != NULL;
    TRY(is_packed ? write_packed_levels(in, &constant, out, err) : write_raw_levels(in, out, err));
  }
  return write_layout(in, &constant, out, err);
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
           memcmp(r->values, r->values + width, (r->count - 1) * width) == 0;
  }
  for (size_t i = 0; i < r->count; i++) {
    if (bit_get(r->validity, r->validity_first + i) && !is_same(c, r->values + i * width, width)) {
      return false;
    }
  }
  return true;
}

static bool same_bits(const page_run *r, struct common *c) {
  for (size_t i = 0; i < r->count; i++) {
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
    if (r->count == 0) {
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
  if (leaf->version < FORMAT_2_2 || leaf->depth != 0 || leaf->is_dictionary || leaf->is_packed ||
      (leaf->form != LEAF_BITS && leaf->form != LEAF_FIXED) || leaf->width > MAX_INLINE) {
    return false;
  }
  if (in->levels.max_rep != 0) {
    return false;
  }
  return in->levels.max_def == 0 || (leaf->pack_bits == 0 && leaf->width > 2);
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
  if (in->levels.max_def != 0) {
    TRY(write_raw_levels(in, out, err));
  }
  return write_layout(in, &constant, out, err);
}
