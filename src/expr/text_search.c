/* Places that have the first and the last byte of the word are found 64 at a time, in a loop that
 * compilers vectorise; only these are compared. */
#include "expr/text_search.h"

#include "base/cpu.h"
#include "expr/block.h"

/* Which of 64 places begin with the first byte of the word and have its last one at its end. */
CPU_CLONES static uint64_t candidates(const char *at, str word) {
  uint8_t bytes[BLOCK_ROWS];
  const char first = word.data[0];
  const char last = word.data[word.size - 1];
  const char *behind = at + word.size - 1;
  for (size_t j = 0; j < BLOCK_ROWS; j++) {
    bytes[j] = (uint8_t)((at[j] == first) & (behind[j] == last));
  }
  return block_pack(bytes);
}

/* The search in progress. */
typedef struct search {
  const array *texts;
  str word;
  size_t row;       /* the first that ends behind the last place looked at */
  const char *skip; /* places before this one need no look: their row is found */
  uint64_t *words;
} search;

/* The first and the last byte of the word are at `at` and at its end. */
static void look_at(search *s, const char *at) {
  const bool is_known = s->word.size <= 2; /* both its bytes are compared already */
  if (at < s->skip || (!is_known && memcmp(at, s->word.data, s->word.size) != 0)) {
    return;
  }
  str text = array_str(s->texts, s->row);
  while (text.data + text.size <= at) {
    text = array_str(s->texts, ++s->row);
  }
  const char *end = text.data + text.size;
  if (at + s->word.size <= end) { /* else it goes on in the next row */
    s->words[s->row / 64] |= UINT64_C(1) << (s->row % 64);
    s->skip = end;
  }
}

void text_rows_with(const array *a, str word, uint64_t *words) {
  const str last = array_str(a, a->length - 1);
  const char *end = last.data + last.size;
  const char *at = array_str(a, 0).data;
  search s = {.texts = a, .word = word, .skip = at, .words = words};
  memset(words, 0, (a->length / 64 + (a->length % 64 != 0)) * sizeof *words);
  for (; (size_t)(end - at) >= BLOCK_ROWS + word.size; at += BLOCK_ROWS) {
    for (uint64_t mask = candidates(at, word); mask != 0; mask &= mask - 1) {
      look_at(&s, at + __builtin_ctzll(mask));
    }
  }
  for (; (size_t)(end - at) >= word.size; at++) {
    if (*at == word.data[0] && at[word.size - 1] == word.data[word.size - 1]) {
      look_at(&s, at);
    }
  }
}

#define ONES UINT64_C(0x0101010101010101)

/* The first n of eight bytes: all bits of each. */
static inline uint64_t first_bytes(size_t n) {
  return n >= 8 ? ~UINT64_C(0) : (UINT64_C(1) << (8 * n)) - 1;
}

/* Top bits of bytes that are 0, exact up to the first of them. */
static inline uint64_t zero_bytes(uint64_t word) { return (word - ONES) & ~word & (ONES << 7); }

/* Whether 16 readable bytes, of which `size` count, hold a byte. */
static inline bool short_holds(uint64_t low, uint64_t high, size_t size, char byte) {
  const uint64_t all = ONES * (uint8_t)byte;
  const uint64_t found = (zero_bytes(low ^ all) & first_bytes(size)) |
                         (zero_bytes(high ^ all) & first_bytes(size > 8 ? size - 8 : 0));
  return found != 0;
}

static inline uint8_t holds_bytes(str text, const char *end, const char *bytes, size_t count) {
  enum { SHORT = 16 };
  bool ok = true;
  if (text.size <= SHORT && (size_t)(end - text.data) >= SHORT) {
    const uint64_t low = load_le64(text.data);
    const uint64_t high = load_le64(text.data + 8);
    for (size_t k = 0; k < count; k++) {
      ok &= short_holds(low, high, text.size, bytes[k]);
    }
  } else {
    for (size_t k = 0; k < count; k++) {
      ok = ok && text.size > 0 && memchr(text.data, bytes[k], text.size) != NULL;
    }
  }
  return ok;
}

void text_rows_with_bytes(const array *a, const char *wanted, size_t count, uint64_t *words) {
  const str last = array_str(a, a->length - 1);
  const char *end = last.data + last.size;
  BLOCK_LOOP(a->length, words, =, bytes[j] = holds_bytes(array_str(a, i + j), end, wanted, count));
}

static inline uint8_t ends_with(str text, char byte) {
  return text.size > 0 && text.data[text.size - 1] == byte;
}

void text_rows_ending(const array *a, char byte, uint64_t *words) {
  BLOCK_LOOP(a->length, words, =, bytes[j] = ends_with(array_str(a, i + j), byte));
}
