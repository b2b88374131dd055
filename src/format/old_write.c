/*
 * Pages of version 2.0. Values are stored as they are; other tools read such tables with the
 * patience of that version, so there is nothing to choose: numbers and bits flat, strings as ends
 * and bytes, dictionaries of dictionary-typed columns as they come.
 */
#include "arrow/bits.h"
#include "format/old_write_private.h"
#include "pb/pb.h"

static glv_status put_layout(page_output *o, const old_message *m, glv_error *err) {
  return m != NULL ? pb_pack(&m->base, &o->layout, err) : error_nomem(err, sizeof *m);
}

static uint32_t next_buffer(const page_output *o) { return (uint32_t)o->buffer_count; }

/* ---- nulls ---- */

/* Validity of all values of a page, from bit 0. */
static void gather_validity(const page_input *in, uint8_t *ret) {
  memset(ret, 0, bits_size(in->count));
  page_cursor c = page_cursor_at_start(in);
  for (size_t done = 0; done < in->count;) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(&c, in->count - done, &r, &row);
    if (r->validity != NULL) {
      bits_copy(ret, done, r->validity, r->validity_first + row, span);
    } else {
      bits_fill(ret, done, span, true);
    }
    done += span;
  }
}

/* A buffer of validity and its message; NULL when nothing is null. */
static glv_status put_validity(const page_input *in, page_output *o, old_message **ret,
                               glv_error *err) {
  *ret = NULL;
  if (in->null_count == 0) {
    return GLV_OK;
  }
  uint8_t *bits;
  *ret = old_flat(&o->messages, 1, next_buffer(o));
  TRY(page_output_add(o, bits_size(in->count), &bits, err));
  gather_validity(in, bits);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof **ret);
}

/* ---- numbers, bits, vectors of them ---- */

static glv_status put_values(const page_input *in, page_output *o, old_message **ret,
                             glv_error *err) {
  const page_leaf *leaf = in->leaf;
  uint8_t *to;
  page_cursor c = page_cursor_at_start(in);
  *ret = old_flat(&o->messages, leaf->item_bits, next_buffer(o));
  if (leaf->form == LEAF_BITS) {
    TRY(page_output_add(o, bits_size(in->count * leaf->items), &to, err));
    page_next_bits(&c, in->count, to);
    return GLV_OK;
  }
  TRY(page_output_add(o, in->count * leaf->width, &to, err));
  const uint8_t *values = page_next_values(&c, in->count, to);
  if (values != to) {
    memcpy(to, values, in->count * leaf->width);
  }
  return GLV_OK;
}

/* The levels of fixed-size lists around values that follow as the last buffer. */
static glv_status put_item_validity(const page_input *in, page_output *o, old_message **validity,
                                    glv_error *err) {
  for (size_t level = 0; level < in->leaf->depth; level++) {
    validity[level] = NULL;
    if (!in->has_item_nulls[level]) {
      continue;
    }
    uint8_t *bits;
    page_cursor c = page_cursor_at_start(in);
    validity[level] = old_flat(&o->messages, 1, next_buffer(o));
    TRY(page_output_add(o, bits_size(in->count * in->leaf->row_items[level]), &bits, err));
    page_next_item_validity(&c, level, in->count, bits);
    if (validity[level] == NULL) {
      return error_nomem(err, sizeof(old_message));
    }
  }
  return GLV_OK;
}

static glv_status encode_fixed(const page_input *in, page_output *o, glv_error *err) {
  arena *a = &o->messages;
  old_message *validity;
  old_message *item_validity[SHAPE_DEPTH];
  old_message *m;
  TRY(put_validity(in, o, &validity, err));
  TRY(put_item_validity(in, o, item_validity, err));
  TRY(put_values(in, o, &m, err));
  for (size_t level = in->leaf->depth; level-- != 0;) {
    m = old_nullable(a, item_validity[level], m);
    m = old_vector(a, (uint32_t)in->leaf->list_items[level], m);
  }
  return put_layout(o, old_nullable(a, validity, m), err);
}

/* ---- packed structs ---- */

static old_message *child_message(arena *a, const type *t) {
  if (t->kind == TYPE_FIXED_SIZE_LIST) { /* SHAPE_DEPTH of them at most */
    return old_nullable(a, NULL,
                        old_vector(a, (uint32_t)t->width, child_message(a, t->children[0].type)));
  }
  return old_nullable(a, NULL, old_flat(a, 8 * (uint64_t)type_width(t), 0));
}

static glv_status encode_packed(const page_input *in, page_output *o, glv_error *err) {
  const type *t = in->leaf->type;
  if (in->null_count != 0) {
    return old_refuse_structs(in->leaf->field, in->null_count, err);
  }
  old_message **children = ARENA_ARRAY(&o->messages, old_message *, t->child_count);
  old_message *values;
  if (children == NULL) {
    return error_nomem(err, t->child_count * sizeof *children);
  }
  for (size_t i = 0; i < t->child_count; i++) {
    children[i] = child_message(&o->messages, t->children[i].type);
  }
  old_message *m = old_packed(&o->messages, next_buffer(o), children, t->child_count);
  TRY(put_values(in, o, &values, err));
  return put_layout(o, m, err);
}

/* ---- ends ---- */

/* Where the ends and bytes of text go. */
struct text_output {
  uint8_t *ends;
  uint8_t *bytes;
  size_t count;
  uint64_t size;
  uint64_t adjustment;
};

static void put_end(struct text_output *t, bool is_valid) {
  store_le64(t->ends + 8 * t->count++, t->size + (is_valid ? 0 : t->adjustment));
}

static void put_run(struct text_output *t, const page_run *r, unsigned offset_width) {
  if (r->validity == NULL && r->count != 0) { /* all bytes at once */
    const uint64_t first = page_run_offset(r, offset_width, 0);
    const uint64_t start = t->size;
    const size_t size = (size_t)(page_run_offset(r, offset_width, r->count) - first);
    if (size != 0) {
      memcpy(t->bytes + start, r->data + first, size);
    }
    for (size_t i = 0; i < r->count; i++) {
      t->size = start + page_run_offset(r, offset_width, i + 1) - first;
      put_end(t, true);
    }
    return;
  }
  for (size_t i = 0; i < r->count; i++) {
    const bool is_valid = page_run_is_valid(r, i);
    const str text = page_run_text(r, offset_width, i);
    if (is_valid && text.size != 0) {
      memcpy(t->bytes + t->size, text.data, text.size);
      t->size += text.size;
    }
    put_end(t, is_valid);
  }
}

/* Two buffers: ends and bytes. extra: so many nulls behind the values. */
static glv_status put_text(const page_input *in, size_t extra, page_output *o, old_message **ret,
                           glv_error *err) {
  const variable_measure m = variable_measure_page(in);
  const size_t ends_size = (in->count + extra) * sizeof(uint64_t);
  const uint32_t first = next_buffer(o);
  struct text_output t = {.adjustment = m.bytes + 1};
  TRY(page_output_reserve(o, o->size + ends_size + (size_t)m.bytes + PAGE_MAX_GAPS, err));
  TRY(page_output_add(o, ends_size, &t.ends, err));
  TRY(page_output_add(o, (size_t)m.bytes, &t.bytes, err)); /* there is room: nothing moves */
  for (size_t i = 0; i < in->run_count; i++) {
    put_run(&t, &in->runs[i], in->leaf->offset_width);
  }
  for (size_t i = 0; i < extra; i++) {
    put_end(&t, false);
  }
  *ret = old_binary(&o->messages, first, first + 1, t.adjustment);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof **ret);
}

static glv_status encode_text(const page_input *in, page_output *o, glv_error *err) {
  old_message *m;
  TRY(put_text(in, 0, o, &m, err));
  return put_layout(o, m, err);
}

/* Lists, given as lengths; null ones as 0. */
static glv_status encode_lists(const page_input *in, page_output *o, glv_error *err) {
  old_message *flat;
  TRY(put_values(in, o, &flat, err));
  uint8_t *ends = o->bytes + o->offsets[0];
  uint64_t total = 0;
  for (size_t i = 0; i < in->count; i++) {
    total += load_le64(ends + 8 * i);
    store_le64(ends + 8 * i, total);
  }
  page_cursor c = page_cursor_at_start(in);
  for (size_t done = 0; in->null_count != 0 && done < in->count;) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(&c, in->count - done, &r, &row);
    for (size_t i = 0; i < span; i++) {
      uint8_t *at = ends + 8 * (done + i);
      store_le64(at, load_le64(at) + (page_run_is_valid(r, row + i) ? 0 : total + 1));
    }
    done += span;
  }
  return put_layout(o, old_list(&o->messages, 0, total), err);
}

/* ---- dictionaries ---- */

/* The values of a dictionary as the rows of a page. */
static glv_status page_of_values(const page_input *in, const page_leaf *leaf, page_input *ret,
                                 glv_error *err) {
  const array *values = &in->runs[0].kept.children[0];
  array copy = array_ref(values);
  *ret = (page_input){.env = in->env, .leaf = leaf, .rows = values->length};
  ret->runs = mem_calloc(in->env, 1, sizeof *ret->runs);
  if (ret->runs == NULL) {
    array_unref(&copy);
    return error_nomem(err, sizeof *ret->runs);
  }
  ret->run_count = 1;
  TRY(page_run_init(in->env, leaf, &copy, ret->runs, err));
  return page_input_finish(ret, err);
}

/* Null rows refer to a null value, for indices have no validity here: one that is there, or one
 * more behind the others. */
static glv_status choose_null(const page_input *in, const page_input *values, size_t *ret_index,
                              size_t *ret_extra, glv_error *err) {
  *ret_index = 0;
  *ret_extra = 0;
  if (in->null_count == 0) {
    return GLV_OK;
  }
  while (*ret_index < values->count && page_run_is_valid(&values->runs[0], *ret_index)) {
    ++*ret_index;
  }
  *ret_extra = *ret_index == values->count;
  const unsigned bits = in->leaf->item_bits - type_is_signed(in->leaf->type->index);
  if (bits < 64 && *ret_index >> bits != 0) {
    return FAIL(err, GLV_E_LIMIT,
                "column '%s': the dictionary has %zu values, so that no index of type %s is left "
                "for nulls in a file of version 2.0",
                in->leaf->name, values->count, TYPE_TEXT(type_simple(in->leaf->type->index)));
  }
  return GLV_OK;
}

/* Put the index of null into null rows of indices. */
static void mark_nulls(const page_input *in, uint64_t index, uint8_t *indices) {
  const size_t width = in->leaf->width;
  page_cursor c = page_cursor_at_start(in);
  for (size_t done = 0; done < in->count;) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(&c, in->count - done, &r, &row);
    for (size_t i = 0; r->validity != NULL && i < span; i++) {
      if (!page_run_is_valid(r, row + i)) {
        memcpy(indices + (done + i) * width, &index, width);
      }
    }
    done += span;
  }
}

/* Values of fixed width, `extra` nulls behind them. */
static glv_status put_fixed_values(const page_input *values, size_t extra, page_output *o,
                                   old_message **ret, glv_error *err) {
  const size_t count = values->count + extra;
  const size_t width = values->leaf->width;
  uint8_t *to;
  old_message *validity = NULL;
  if (values->null_count + extra != 0) {
    validity = old_flat(&o->messages, 1, next_buffer(o));
    TRY(page_output_add(o, bits_size(count), &to, err));
    memset(to, 0, bits_size(count));
    gather_validity(values, to);
  }
  old_message *flat = old_flat(&o->messages, values->leaf->item_bits, next_buffer(o));
  TRY(page_output_add(o, count * width, &to, err));
  page_cursor c = page_cursor_at_start(values);
  const uint8_t *from = values->count != 0 ? page_next_values(&c, values->count, to) : to;
  if (from != to) {
    memcpy(to, from, values->count * width);
  }
  memset(to + values->count * width, 0, extra * width);
  *ret = old_nullable(&o->messages, validity, flat);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof **ret);
}

static glv_status encode_dictionary(const page_input *in, page_output *o, glv_error *err) {
  const field f = {.name = in->leaf->field, .type = in->leaf->type->children[0].type, true, {0}};
  page_leaf leaf;
  TRY(page_leaf_init(&f, &leaf, err));
  CLEANUP(page_input_dispose) page_input values = {0};
  TRY(page_of_values(in, &leaf, &values, err));
  size_t null_index;
  size_t extra;
  TRY(choose_null(in, &values, &null_index, &extra, err));
  old_message *indices;
  old_message *items;
  TRY(put_values(in, o, &indices, err));
  mark_nulls(in, null_index, o->bytes + o->offsets[0]);
  TRY(leaf.form == LEAF_VARIABLE ? put_text(&values, extra, o, &items, err)
                                 : put_fixed_values(&values, extra, o, &items, err));
  return put_layout(o,
                    old_dictionary(&o->messages, old_nullable(&o->messages, NULL, indices), items,
                                   (uint32_t)(values.count + extra)),
                    err);
}

/* ---- the choice ---- */

static glv_status encode(const page_input *in, page_output *out, glv_error *err) {
  const page_leaf *leaf = in->leaf;
  if (leaf->old == LEAF_OLD_LENGTHS) {
    return encode_lists(in, out, err);
  }
  if (leaf->form == LEAF_VARIABLE) {
    return encode_text(in, out, err);
  }
  if (leaf->is_dictionary) {
    return encode_dictionary(in, out, err);
  }
  if (leaf->is_packed) {
    return encode_packed(in, out, err);
  }
  if (in->null_count == in->count) {
    return put_layout(out, old_all_nulls(&out->messages), err);
  }
  return encode_fixed(in, out, err);
}

glv_status old_page_encode(const page_input *in, page_output *out, glv_error *err) {
  TRY(encode(in, out, err));
  return in->leaf->is_summarised ? page_summarise(in, out, err) : GLV_OK;
}
