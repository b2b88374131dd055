/*
 * The distinct values of a page, found by one pass over all rows: of values that occur a few times
 * each a sample shows hardly one twice, so there is no estimate before it. The pass ends once the
 * values turn out too many or too long.
 *
 * The table is open addressing with linear probing over slots {hash, number} of 8 bytes. Equality
 * is decided by keys of 16 bytes that lie apart: for values of up to 15 bytes the key is an
 * injective image of value and size; longer ones have their first 8 bytes and 56 bits of hash
 * there, and equal keys are confirmed by comparing the text.
 *
 * With tens of thousands of values neither slots nor keys stay in the nearest cache, and what costs
 * time is waiting for them one after another. Rows are therefore looked up in groups, step by step:
 * first all hashes, then all slots, then all keys. The loads of a step do not depend on each other
 * and there is no branch between them, so the processor waits for many at once. Only rows that are
 * not settled by the first two slots go through a search of their own.
 *
 * Somebody who chooses values that collide can only make us give up: steps of probing are counted.
 */
#include "base/hash.h"
#include "format/dictionary_build_private.h"

enum {
  MOST_VALUES = 1000000,
  MOST_TEXT = 8 << 20,
  FIRST_SLOTS = 1024,
  GROWTH = 4,
  STEPS_PER_ROW = 16,
  GROUP = 64,
  NUMBER_BITS = 20,
  SHORT_TEXT = 15,
  TAG_SHIFT = 56, /* the last byte of a key: size of a short value, or one of these */
  TAG_LONG = 0xFF,
  TAG_NONE = 0xFE
};

void dictionary_trim(dictionary *d) {
  mem_free(d->env, d->slots);
  mem_free(d->env, d->keys);
  d->slots = NULL;
  d->keys = NULL;
}

void dictionary_dispose(dictionary *d) {
  dictionary_trim(d);
  mem_free(d->env, d->begins);
  mem_free(d->env, d->numbers);
  buf_dispose(&d->text);
}

static glv_status init(const page_input *in, dictionary *d, glv_error *err) {
  *d = (dictionary){.env = in->env, .slot_count = FIRST_SLOTS};
  buf_init(&d->text, in->env, MOST_TEXT + 1);
  d->most = size_min(in->count / 2, MOST_VALUES);
  d->steps = (uint64_t)in->count * STEPS_PER_ROW;
  d->slots = mem_calloc(in->env, d->slot_count, sizeof *d->slots);
  d->numbers = mem_calloc(in->env, in->count, sizeof *d->numbers);
  if (d->slots == NULL || d->numbers == NULL) {
    return error_nomem(err, in->count * sizeof *d->numbers);
  }
  TRY(vec_reserve(d->env, &d->keys, &d->key_capacity, 1, sizeof *d->keys, err));
  d->keys[0] = (text_key){0, (uint64_t)TAG_NONE << TAG_SHIFT};
  return GLV_OK;
}

/* ---- keys and hashes ---- */

static inline text_key key_of(str value) {
  const char *text = value.data;
  const size_t size = value.size;
  const uint64_t tag = (uint64_t)size << TAG_SHIFT;
  if (size > SHORT_TEXT) {
    return (text_key){load_le64(text),
                      hash_bytes(text, size) >> 8 | (uint64_t)TAG_LONG << TAG_SHIFT};
  }
  if (size >= 8) {
    /* The bytes behind the first 8, at most 7; two shifts because there may be none. */
    const size_t half = 4 * (16 - size);
    return (text_key){load_le64(text), load_le64(text + size - 8) >> half >> half | tag};
  }
  if (size >= 4) {
    return (text_key){load_le32(text) | (uint64_t)load_le32(text + size - 4) << 32, tag};
  }
  if (size == 0) {
    return (text_key){0, tag};
  }
  const uint8_t *bytes = (const uint8_t *)text;
  return (text_key){bytes[0] | (uint32_t)bytes[size / 2] << 8 | (uint32_t)bytes[size - 1] << 16,
                    tag};
}

/* Values of a column differ in few bits, so each step spreads what the one before gathered: the
 * upper half of a product depends on all bits of its factor, the lower half does not. */
static inline uint32_t hash_of(text_key k) {
  uint64_t h = k.head * UINT64_C(0x9E3779B97F4A7C15);
  h = (h >> 32 | h << 32) + k.tail * UINT64_C(0xC2B2AE3D27D4EB4F);
  h = (h ^ h >> 29) * UINT64_C(0xD6E8FEB86659FD93);
  return (uint32_t)(h >> 32);
}

static inline bool key_equal(text_key a, text_key b) {
  return ((a.head ^ b.head) | (a.tail ^ b.tail)) == 0;
}

/* Whether a value whose key equals that of value `number` (from 1 on) is that value. */
static inline bool is_confirmed(const dictionary *d, uint32_t number, text_key k, str value) {
  if (k.tail >> TAG_SHIFT != TAG_LONG) {
    return true;
  }
  const size_t begin = d->begins[number - 1];
  const size_t end = number < d->count ? d->begins[number] : d->text.size;
  return str_equal(str_slice(d->text.data + begin, end - begin), value);
}

/* ---- the table ---- */

static inline uint32_t slot_of(uint32_t hash, uint32_t number) {
  return hash >> NUMBER_BITS << NUMBER_BITS | number;
}

static inline uint32_t number_in(uint32_t slot) { return slot & ((1u << NUMBER_BITS) - 1); }

/* Whether the value in a slot may have that hash. */
static inline bool may_be(uint32_t slot, uint32_t hash) {
  return (slot ^ hash) >> NUMBER_BITS == 0;
}

static glv_status grow(dictionary *d, glv_error *err) {
  const size_t count = d->slot_count * GROWTH;
  uint32_t *slots = mem_calloc(d->env, count, sizeof *slots);
  if (slots == NULL) {
    return error_nomem(err, count * sizeof *slots);
  }
  for (uint32_t number = 1; number <= d->count; number++) {
    const uint32_t hash = hash_of(d->keys[number]);
    size_t at = hash & (count - 1);
    while (slots[at] != 0) {
      at = (at + 1) & (count - 1);
    }
    slots[at] = slot_of(hash, number);
  }
  mem_free(d->env, d->slots);
  d->slots = slots;
  d->slot_count = count;
  return GLV_OK;
}

/* Room for a group of new values with that many bytes of text, as far as they may be added at all.
 */
static glv_status reserve(dictionary *d, size_t bytes, glv_error *err) {
  TRY(vec_reserve(d->env, &d->keys, &d->key_capacity, d->count + GROUP + 1, sizeof *d->keys, err));
  TRY(vec_reserve(d->env, &d->begins, &d->begin_capacity, d->count + GROUP, sizeof *d->begins,
                  err));
  TRY(buf_reserve(&d->text, size_min(bytes, MOST_TEXT - d->text.size), err));
  return (d->count + GROUP) * 2 > d->slot_count ? grow(d, err) : GLV_OK;
}

static void add(dictionary *d, size_t slot, uint32_t hash, text_key k, str value) {
  d->begins[d->count++] = (uint32_t)d->text.size;
  if (value.size != 0) {
    memcpy(d->text.data + d->text.size, value.data, value.size);
  }
  d->text.size += value.size;
  d->keys[d->count] = k;
  d->slots[slot] = slot_of(hash, (uint32_t)d->count);
}

/* Find a value or add it. @return false when it is one too many. */
static bool look_up(dictionary *d, uint32_t hash, text_key k, str value, uint32_t *ret) {
  const size_t mask = d->slot_count - 1;
  size_t at = hash & mask;
  for (; d->slots[at] != 0; at = (at + 1) & mask) {
    const uint32_t number = number_in(d->slots[at]);
    if (may_be(d->slots[at], hash) && key_equal(d->keys[number], k) &&
        is_confirmed(d, number, k, value)) {
      *ret = number - 1;
      return true;
    }
    if (d->steps == 0) {
      return false;
    }
    d->steps--;
  }
  if (d->count == d->most || value.size > MOST_TEXT - d->text.size) {
    return false;
  }
  *ret = (uint32_t)d->count;
  add(d, at, hash, k, value);
  return true;
}

/* ---- groups of rows ---- */

struct group {
  size_t count;
  str values[GROUP];
  uint32_t *ret[GROUP]; /* where the number goes */
  text_key keys[GROUP];
  uint32_t hashes[GROUP];
  uint32_t numbers[GROUP]; /* candidates, from 1 on */
  bool is_hit[GROUP];
};

/* @return bytes of all values. */
static size_t make_keys(struct group *g) {
  size_t bytes = 0;
  for (size_t i = 0; i < g->count; i++) {
    g->keys[i] = key_of(g->values[i]);
    g->hashes[i] = hash_of(g->keys[i]);
    bytes += g->values[i].size;
  }
  return bytes;
}

static void find_candidates(const dictionary *d, struct group *g) {
  const size_t mask = d->slot_count - 1;
  for (size_t i = 0; i < g->count; i++) {
    const uint32_t first = d->slots[g->hashes[i] & mask];
    const uint32_t second = d->slots[(g->hashes[i] + 1) & mask];
    g->numbers[i] = number_in(may_be(first, g->hashes[i]) ? first : second);
  }
  for (size_t i = 0; i < g->count; i++) {
    g->is_hit[i] = key_equal(d->keys[g->numbers[i]], g->keys[i]);
  }
}

static glv_status settle(dictionary *d, struct group *g, bool *ret_fits, glv_error *err) {
  TRY(reserve(d, make_keys(g), err));
  find_candidates(d, g);
  for (size_t i = 0; *ret_fits && i < g->count; i++) {
    if (g->is_hit[i] && is_confirmed(d, g->numbers[i], g->keys[i], g->values[i])) {
      *g->ret[i] = g->numbers[i] - 1;
    } else {
      *ret_fits = look_up(d, g->hashes[i], g->keys[i], g->values[i], g->ret[i]);
    }
  }
  g->count = 0;
  return GLV_OK;
}

/* The valid rows of a run; `numbers` are those of its rows. */
static glv_status add_run(dictionary *d, struct group *g, const page_run *r, unsigned offset_width,
                          uint32_t *numbers, bool *ret_fits, glv_error *err) {
  glv_status status = GLV_OK;
  for (size_t row = 0; status == GLV_OK && *ret_fits && row < r->count; row++) {
    if (page_run_is_valid(r, row)) {
      g->values[g->count] = page_run_text(r, offset_width, row);
      g->ret[g->count++] = &numbers[row];
    }
    if (g->count == GROUP) {
      status = settle(d, g, ret_fits, err);
    }
  }
  return status;
}

glv_status dictionary_build(const page_input *in, dictionary *ret, bool *ret_fits, glv_error *err) {
  TRY(init(in, ret, err));
  struct group g = {.count = 0};
  uint32_t *numbers = ret->numbers;
  *ret_fits = true;
  for (size_t i = 0; *ret_fits && i < in->run_count; i++) {
    const page_run *r = &in->runs[i];
    TRY(add_run(ret, &g, r, in->leaf->offset_width, numbers, ret_fits, err));
    numbers += r->count;
  }
  return *ret_fits ? settle(ret, &g, ret_fits, err) : GLV_OK;
}
