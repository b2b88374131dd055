/*
 * Finding symbols. Five times the sample is coded with the symbols found so far while symbols and
 * pairs of neighbours are counted; the 255 candidates that cover most bytes become the next table.
 * Single bytes count eightfold, because each that is missing costs an escape.
 */
#include <stdlib.h>

#include "format/fsst_private.h"

enum {
  ROUNDS = 5,
  CODES = 512, /* 0 .. 254 symbols, 256 + byte escapes */
  PAIR_SLOTS = 32768,
  SINGLE_WEIGHT = 8,
  BEST_CANDIDATES = 640, /* some are left out because their hash is taken */
  EMPTY_LENGTH = 1 << 30
};

/* A symbol that the next table may have. */
typedef struct candidate {
  uint64_t value;
  uint32_t length; /* 0: no candidate */
  uint32_t gain;
} candidate;

struct training {
  const str *values;
  size_t count;
  uint32_t singles[CODES];
  candidate candidates[PAIR_SLOTS]; /* a hash table; it never fills up: see add_candidate */
  candidate best[BEST_CANDIDATES];
  size_t best_count;
  uint16_t pairs[CODES][CODES];
};

/* ---- tables ---- */

static uint64_t mask_of(unsigned length) {
  return length >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * length) - 1;
}

static void clear_coder(fsst_coder *c) {
  c->count = 0;
  for (unsigned i = 0; i < 256; i++) {
    c->singles[i] = (uint16_t)(1u << 9 | 256 | i);
  }
  for (unsigned i = 0; i < FSST_HASH_SLOTS; i++) {
    c->slots[i] = (fsst_slot){.length = EMPTY_LENGTH};
  }
}

/* Does nothing when a symbol of that hash is there already. */
static void add_symbol(fsst_coder *c, uint64_t value, unsigned length) {
  if (length >= 3) {
    fsst_slot *s = &c->slots[fsst_hash(value)];
    if (s->length != EMPTY_LENGTH) {
      return;
    }
    *s = (fsst_slot){value, mask_of(length), length, c->count};
  } else if (length == 1) {
    c->singles[value] = (uint16_t)(1u << 9 | c->count);
  }
  c->symbols[c->count] = value;
  c->lengths[c->count++] = (uint8_t)length;
}

/* Two bytes: their symbol, or that of the first alone. */
static void fill_pairs(fsst_coder *c) {
  for (unsigned i = 0; i < 65536; i++) {
    c->pairs[i] = c->singles[i & 255];
  }
  for (unsigned i = 0; i < c->count; i++) {
    if (c->lengths[i] == 2) {
      c->pairs[c->symbols[i]] = (uint16_t)(2u << 9 | i);
    }
  }
}

/* ---- counting ---- */

static uint64_t count_value(struct training *t, const fsst_coder *c, str value) {
  const char *at = value.data;
  const char *end = at + value.size;
  unsigned before = CODES;
  uint64_t bytes = 0;
  while (at < end) {
    size_t length;
    const unsigned code = fsst_match(c, fsst_load(at, end), (size_t)(end - at), &length);
    t->singles[code]++;
    if (length > 1) { /* so that the byte alone stays a candidate */
      t->singles[256 + (uint8_t)*at]++;
    }
    if (before != CODES) {
      t->pairs[before][code]++;
    }
    before = code;
    bytes += code >= 256 ? 2 : 1;
    at += length;
  }
  return bytes;
}

/* @return bytes of the coded sample. */
static uint64_t count_all(struct training *t, const fsst_coder *c) {
  uint64_t bytes = 0;
  memset(t->singles, 0, sizeof t->singles);
  memset(t->pairs, 0, sizeof t->pairs);
  for (size_t i = 0; i < t->count; i++) {
    bytes += count_value(t, c, t->values[i]);
  }
  return bytes;
}

/* ---- choosing ---- */

/* At most CODES + FSST_SAMPLE_BYTES symbols and pairs are counted, so half of the slots stay free.
 */
static void add_candidate(struct training *t, uint64_t value, unsigned length, uint32_t gain) {
  size_t at = (size_t)((value * UINT64_C(0x9E3779B97F4A7C15) + length) >> 40) % PAIR_SLOTS;
  candidate *c = &t->candidates[at];
  while (c->length != 0 && (c->value != value || c->length != length)) {
    at = (at + 1) % PAIR_SLOTS;
    c = &t->candidates[at];
  }
  c->value = value;
  c->length = length;
  c->gain += gain;
}

static uint64_t value_of(const fsst_coder *c, unsigned code, unsigned *ret_length) {
  *ret_length = code < 256 ? c->lengths[code] : 1;
  return code < 256 ? c->symbols[code] : code - 256;
}

static void add_pairs(struct training *t, const fsst_coder *c, unsigned first) {
  unsigned length;
  const uint64_t value = value_of(c, first, &length);
  for (unsigned second = 0; second < CODES; second++) {
    const uint32_t uses = t->pairs[first][second];
    if (uses < 2) {
      continue;
    }
    unsigned more;
    const uint64_t next = value_of(c, second, &more);
    const unsigned both = length + more < 8 ? length + more : 8;
    if (both > length) {
      add_candidate(t, (value | next << 8 * length) & mask_of(both), both, uses * both);
    }
  }
}

static bool is_better(const candidate *a, const candidate *b) {
  if (a->gain != b->gain) {
    return a->gain > b->gain;
  }
  return a->value != b->value ? a->value < b->value : a->length < b->length;
}

/* Best first, in order of insertion; what falls off the end is dropped. */
static void keep_best(struct training *t, const candidate *c) {
  const size_t most = BEST_CANDIDATES;
  if (t->best_count == most && !is_better(c, &t->best[most - 1])) {
    return;
  }
  size_t at = t->best_count < most ? t->best_count++ : most - 1;
  for (; at > 0 && is_better(c, &t->best[at - 1]); at--) {
    t->best[at] = t->best[at - 1];
  }
  t->best[at] = *c;
}

static void choose(struct training *t, fsst_coder *c) {
  memset(t->candidates, 0, sizeof t->candidates);
  for (unsigned code = 0; code < CODES; code++) {
    const uint32_t uses = t->singles[code];
    if (uses == 0) {
      continue;
    }
    unsigned length;
    const uint64_t value = value_of(c, code, &length);
    add_candidate(t, value, length, uses * (length == 1 ? SINGLE_WEIGHT : length));
    add_pairs(t, c, code);
  }
  t->best_count = 0;
  for (size_t i = 0; i < PAIR_SLOTS; i++) {
    if (t->candidates[i].length != 0) {
      keep_best(t, &t->candidates[i]);
    }
  }
  clear_coder(c);
  for (size_t i = 0; i < t->best_count && c->count < FSST_MAX_SYMBOLS; i++) {
    add_symbol(c, t->best[i].value, t->best[i].length);
  }
  fill_pairs(c);
}

glv_status fsst_train(glv_env *env, const str *values, size_t count, fsst_coder **ret,
                      uint64_t *ret_coded, glv_error *err) {
  struct training *t = mem_alloc(env, sizeof *t);
  fsst_coder *c = mem_alloc(env, sizeof *c);
  if (t == NULL || c == NULL) {
    mem_free(env, t);
    mem_free(env, c);
    return error_nomem(err, sizeof *t);
  }
  t->values = values;
  t->count = count;
  clear_coder(c);
  fill_pairs(c);
  for (unsigned round = 0; round < ROUNDS; round++) {
    (void)count_all(t, c);
    choose(t, c);
  }
  *ret_coded = count_all(t, c);
  mem_free(env, t);
  *ret = c;
  return GLV_OK;
}
