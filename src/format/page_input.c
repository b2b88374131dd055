/*
 * The values of a page as the encoders see them. A page may consist of pieces of many arrays (one
 * for each batch); they are never joined. Encoders ask for the next so many rows and get a pointer
 * into the input when the rows lie in one piece and hold no nulls, else a copy in their scratch
 * memory.
 *
 * Slots of nulls hold anything in Arrow; they are stored as zeros, so that they cost nothing where
 * values are packed and tell nothing about what was there.
 */
#include "arrow/bits.h"
#include "format/page_write_private.h"
#include "format/shred_private.h"

static bool some_null_has_bytes(const page_run *r, unsigned offset_width) {
  const int32_t *narrow = (const void *)r->values;
  const int64_t *wide = (const void *)r->values;
  for (size_t i = 0; i < r->count; i++) {
    if (bit_get(r->validity, r->validity_first + i)) {
      continue;
    }
    if (offset_width == 8 ? wide[i + 1] != wide[i] : narrow[i + 1] != narrow[i]) {
      return true;
    }
  }
  return false;
}

static size_t zeros_in(const uint8_t *bits, size_t first, size_t count) {
  return bits != NULL ? count - bits_count(bits, first, count) : 0;
}

/* Fixed-size lists: where the validity of each level and the leaf values are. Types are not looked
 * at: those of children may be gone with the schema of their batch. */
static const array *init_items(const page_leaf *leaf, const array *a, page_run *r) {
  for (size_t i = 0; i < leaf->depth; i++) {
    a = &a->children[0];
    if (zeros_in(a->validity, a->bit_offset, r->count * leaf->row_items[i]) != 0) {
      r->items[i] = (run_bits){a->validity, a->bit_offset};
    }
  }
  return a;
}

static void init_validity(const page_leaf *leaf, const uint8_t *bits, size_t first, page_run *r) {
  if (leaf->form == LEAF_NULL) {
    r->null_count = r->count;
    return;
  }
  r->null_count = zeros_in(bits, first, r->count);
  if (r->null_count != 0) {
    r->validity = bits;
    r->validity_first = first;
  }
  if (leaf->form == LEAF_VARIABLE && !leaf->is_packed && r->validity != NULL) {
    r->is_null_empty = !some_null_has_bytes(r, leaf->offset_width);
  }
}

static const uint16_t *levels_in(const buffer *b) {
  return b != NULL ? (const uint16_t *)(const void *)b->data : NULL;
}

static void init_values(const page_leaf *leaf, page_run *r) {
  const array *a = &r->kept;
  const array *values = init_items(leaf, a, r);
  r->values = values->values;
  r->bits_first = values->bit_offset;
  r->data = a->data;
  const buffer *own = r->owners[2];
  init_validity(leaf, own != NULL ? own->data : a->validity, own != NULL ? 0 : a->bit_offset, r);
}

glv_status page_run_init(glv_env *env, const page_leaf *leaf, array *taken, page_run *ret,
                         glv_error *err) {
  CLEANUP(shredded_dispose) shredded s = {0};
  TRY(shred(env, leaf, taken, &s, err));
  *ret = (page_run){.kept = s.values, .count = s.values.length, .entries = s.entries};
  ret->owners[0] = s.rep;
  ret->owners[1] = s.def;
  ret->owners[2] = s.validity;
  ret->rep = levels_in(s.rep);
  ret->def = levels_in(s.def);
  s = (shredded){0};
  init_values(leaf, ret);
  return leaf->is_packed ? packed_run(env, leaf, ret, err) : GLV_OK;
}

void page_run_dispose(page_run *r) {
  array_unref(&r->kept);
  for (size_t i = 0; i < sizeof r->owners / sizeof *r->owners; i++) {
    buffer_unref(r->owners[i]);
    r->owners[i] = NULL;
  }
}

size_t page_cursor_span(page_cursor *c, size_t want, const page_run **ret_run, size_t *ret_row) {
  while (c->row == c->in->runs[c->run].count) {
    c->run++;
    c->row = 0;
  }
  const page_run *r = &c->in->runs[c->run];
  const size_t count = size_min(want, r->count - c->row);
  *ret_run = r;
  *ret_row = c->row;
  c->row += count;
  return count;
}

/* Calls for every zero bit, word by word where possible. */
typedef void zero_visit(void *context, size_t i);

static void visit_zeros(const uint8_t *bits, size_t first, size_t count, zero_visit *visit,
                        void *context) {
  size_t i = 0;
  while (i < count) {
    const size_t bit = first + i;
    if (bit % 8 == 0 && count - i >= 64) {
      for (uint64_t zeros = ~load_le64(bits + bit / 8); zeros != 0; zeros &= zeros - 1) {
        visit(context, i + (size_t)__builtin_ctzll(zeros));
      }
      i += 64;
      continue;
    }
    if (!bit_get(bits, bit)) {
      visit(context, i);
    }
    i++;
  }
}

struct wipe {
  uint8_t *values;
  size_t width;
};

static void wipe_value(void *context, size_t i) {
  const struct wipe *w = context;
  memset(w->values + i * w->width, 0, w->width);
}

/* Copies rows of a run and wipes what is null. */
static void copy_values(const page_leaf *leaf, const page_run *r, size_t row, size_t count,
                        uint8_t *ret) {
  memcpy(ret, r->values + row * leaf->width, count * leaf->width);
  if (r->validity != NULL) {
    struct wipe rows = {ret, leaf->width};
    visit_zeros(r->validity, r->validity_first + row, count, wipe_value, &rows);
  }
  for (size_t i = 0; i < leaf->depth; i++) {
    if (r->items[i].bits != NULL) {
      struct wipe items = {ret, leaf->width / leaf->row_items[i]};
      visit_zeros(r->items[i].bits, r->items[i].first + row * leaf->row_items[i],
                  count * leaf->row_items[i], wipe_value, &items);
    }
  }
}

static bool has_nulls(const page_leaf *leaf, const page_run *r) {
  bool has = r->validity != NULL;
  for (size_t i = 0; i < leaf->depth; i++) {
    has = has || r->items[i].bits != NULL;
  }
  return has;
}

const uint8_t *page_next_values(page_cursor *c, size_t count, uint8_t *scratch) {
  const page_leaf *leaf = c->in->leaf;
  size_t done = 0;
  while (done < count) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(c, count - done, &r, &row);
    if (span == count && !has_nulls(leaf, r)) {
      return r->values + row * leaf->width;
    }
    copy_values(leaf, r, row, span, scratch + done * leaf->width);
    done += span;
  }
  return scratch;
}

struct clear {
  uint8_t *bits;
  size_t first;
  size_t items;
};

static void clear_row(void *context, size_t i) {
  const struct clear *c = context;
  bits_fill(c->bits, c->first + i * c->items, c->items, false);
}

void page_next_bits(page_cursor *c, size_t count, uint8_t *ret) {
  const page_leaf *leaf = c->in->leaf;
  const size_t items = leaf->items;
  memset(ret, 0, bits_size(count * items));
  size_t done = 0;
  while (done < count) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(c, count - done, &r, &row);
    bits_copy(ret, done * items, r->values, r->bits_first + row * items, span * items);
    if (r->validity != NULL) {
      struct clear rows = {ret, done * items, items};
      visit_zeros(r->validity, r->validity_first + row, span, clear_row, &rows);
    }
    for (size_t i = 0; i < leaf->depth; i++) {
      if (r->items[i].bits != NULL) {
        const size_t level = leaf->row_items[i];
        struct clear each = {ret, done * items, items / level};
        visit_zeros(r->items[i].bits, r->items[i].first + row * level, span * level, clear_row,
                    &each);
      }
    }
    done += span;
  }
}

void page_next_nulls(page_cursor *c, size_t count, uint16_t *ret) {
  size_t done = 0;
  while (done < count) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(c, count - done, &r, &row);
    for (size_t i = 0; r->validity != NULL && i < span; i++) {
      ret[done + i] = !bit_get(r->validity, r->validity_first + row + i);
    }
    if (r->validity == NULL) {
      memset(ret + done, 0, span * sizeof *ret);
    }
    done += span;
  }
}

const uint16_t *page_next_def(page_cursor *c, size_t first, size_t count, uint16_t *scratch) {
  const page_levels *l = &c->in->levels;
  if (l->def != NULL) {
    return l->def + first;
  }
  page_next_nulls(c, count, scratch);
  return scratch;
}

static void set_row(void *context, size_t i) {
  const struct clear *c = context;
  bits_fill(c->bits, c->first + i * c->items, c->items, true);
}

void page_next_item_validity(page_cursor *c, size_t level, size_t count, uint8_t *ret) {
  const size_t items = c->in->leaf->row_items[level];
  memset(ret, 0, bits_size(count * items));
  size_t done = 0;
  while (done < count) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(c, count - done, &r, &row);
    const run_bits from = r->items[level];
    if (from.bits == NULL) {
      bits_fill(ret, done * items, span * items, true);
    } else {
      bits_copy(ret, done * items, from.bits, from.first + row * items, span * items);
    }
    if (r->validity != NULL && from.bits != NULL) {
      struct clear rows = {ret, done * items, items};
      visit_zeros(r->validity, r->validity_first + row, span, set_row, &rows);
    }
    done += span;
  }
}
