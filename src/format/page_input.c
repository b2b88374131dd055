/*
 * The rows of a page as the encoders see them. A page may consist of pieces of many arrays (one for
 * each batch); they are never joined. Encoders ask for the next so many rows and get a pointer into
 * the input when the rows lie in one piece and hold no nulls, else a copy in their scratch memory.
 *
 * Slots of nulls hold anything in Arrow; they are stored as zeros, so that they cost nothing where
 * values are packed and tell nothing about what was there.
 */
#include "arrow/bits.h"
#include "format/page_write_private.h"

static bool some_null_has_bytes(const page_run *r, unsigned offset_width) {
  const int32_t *narrow = (const void *)r->values;
  const int64_t *wide = (const void *)r->values;
  for (size_t i = 0; i < r->rows; i++) {
    if (bit_get(r->validity, r->validity_first + i)) {
      continue;
    }
    if (offset_width == 8 ? wide[i + 1] != wide[i] : narrow[i + 1] != narrow[i]) {
      return true;
    }
  }
  return false;
}

/* The bitmap if it has a zero among count bits, else NULL. Types are not looked at: those of kept
 * children may be gone with the schema of their batch. */
static const uint8_t *with_zeros(const uint8_t *bits, size_t first, size_t count) {
  return bits != NULL && bits_count(bits, first, count) != count ? bits : NULL;
}

void page_run_init(const page_leaf *leaf, array *taken, page_run *ret) {
  *ret = (page_run){.kept = *taken, .rows = taken->length};
  *taken = (array){0};
  const array *a = &ret->kept;
  const array *values = leaf->is_vector ? &a->children[0] : a;
  ret->validity = with_zeros(a->validity, a->bit_offset, a->length);
  ret->validity_first = a->bit_offset;
  ret->values = values->values;
  ret->bits_first = values->bit_offset;
  ret->data = a->data;
  if (leaf->is_vector) {
    ret->item_validity = with_zeros(values->validity, values->bit_offset, a->length * leaf->items);
    ret->item_validity_first = values->bit_offset;
  }
  if (leaf->form == LEAF_VARIABLE && ret->validity != NULL) {
    ret->is_null_empty = !some_null_has_bytes(ret, leaf->offset_width);
  }
}

size_t page_cursor_span(page_cursor *c, size_t want, const page_run **ret_run, size_t *ret_row) {
  while (c->row == c->in->runs[c->run].rows) {
    c->run++;
    c->row = 0;
  }
  const page_run *r = &c->in->runs[c->run];
  const size_t count = size_min(want, r->rows - c->row);
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
  if (r->item_validity != NULL) {
    struct wipe items = {ret, leaf->item_bits / 8};
    visit_zeros(r->item_validity, r->item_validity_first + row * leaf->items, count * leaf->items,
                wipe_value, &items);
  }
}

const uint8_t *page_next_values(page_cursor *c, size_t count, uint8_t *scratch) {
  const page_leaf *leaf = c->in->leaf;
  size_t done = 0;
  while (done < count) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(c, count - done, &r, &row);
    if (span == count && r->validity == NULL && r->item_validity == NULL) {
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
  const size_t items = c->in->leaf->items;
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
    if (r->item_validity != NULL) {
      struct clear each = {ret, done * items, 1};
      visit_zeros(r->item_validity, r->item_validity_first + row * items, span * items, clear_row,
                  &each);
    }
    done += span;
  }
}

void page_next_levels(page_cursor *c, size_t count, uint16_t *ret) {
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

static void set_row(void *context, size_t i) {
  const struct clear *c = context;
  bits_fill(c->bits, c->first + i * c->items, c->items, true);
}

void page_next_item_validity(page_cursor *c, size_t count, uint8_t *ret) {
  const size_t items = c->in->leaf->items;
  memset(ret, 0, bits_size(count * items));
  size_t done = 0;
  while (done < count) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(c, count - done, &r, &row);
    if (r->item_validity == NULL) {
      bits_fill(ret, done * items, span * items, true);
    } else {
      bits_copy(ret, done * items, r->item_validity, r->item_validity_first + row * items,
                span * items);
    }
    if (r->validity != NULL && r->item_validity != NULL) {
      struct clear rows = {ret, done * items, items};
      visit_zeros(r->validity, r->validity_first + row, span, set_row, &rows);
    }
    done += span;
  }
}
