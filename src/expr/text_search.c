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

/* The next place of the word in [at, end), or end. */
static const char *find_word(const char *at, const char *end, str word) {
  while ((size_t)(end - at) >= BLOCK_ROWS + word.size) {
    for (uint64_t mask = candidates(at, word); mask != 0; mask &= mask - 1) {
      const char *found = at + __builtin_ctzll(mask);
      if (memcmp(found, word.data, word.size) == 0) {
        return found;
      }
    }
    at += BLOCK_ROWS;
  }
  for (; (size_t)(end - at) >= word.size; at++) {
    if (*at == word.data[0] && memcmp(at, word.data, word.size) == 0) {
      return at;
    }
  }
  return end;
}

void text_rows_with(const array *a, str word, uint64_t *words) {
  const str last = array_str(a, a->length - 1);
  const char *end = last.data + last.size;
  const char *at = array_str(a, 0).data;
  size_t row = 0;
  memset(words, 0, (a->length / 64 + (a->length % 64 != 0)) * sizeof *words);
  for (at = find_word(at, end, word); at != end; at = find_word(at, end, word)) {
    str text = array_str(a, row);
    while (text.data + text.size <= at) {
      text = array_str(a, ++row);
    }
    const char *text_end = text.data + text.size;
    if (at + word.size <= text_end) {
      words[row / 64] |= UINT64_C(1) << (row % 64);
      at = text_end;
    } else {
      at++; /* from one row into the next */
    }
  }
}
