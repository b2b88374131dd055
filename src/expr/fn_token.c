/* contains_tokens: whether all words of the second argument occur among the words of the first. A
 * word is a longest run of alphanumeric characters; only the first row of the second argument
 * counts, and NULL there holds for every text. The words to look for become a set of numbers, and
 * each text is walked once. */
#include "base/hash.h"
#include "expr/function_private.h"
#include "expr/unicode.h"

/* The next word of text at or behind *at; false = there is none. */
static bool next_word(str text, size_t *at, str *ret) {
  size_t begin = SIZE_MAX;
  while (*at < text.size) {
    const size_t here = *at;
    const bool in_word = unicode_is_alphanumeric(unicode_next(text, at));
    if (in_word && begin == SIZE_MAX) {
      begin = here;
    }
    if (!in_word && begin != SIZE_MAX) {
      *ret = str_slice(text.data + begin, here - begin);
      return true;
    }
  }
  if (begin != SIZE_MAX) {
    *ret = str_slice(text.data + begin, text.size - begin);
  }
  return begin != SIZE_MAX;
}

static glv_status collect_words(str text, map *words, glv_error *err) {
  str word;
  for (size_t at = 0; next_word(text, &at, &word);) {
    uint64_t *seen;
    bool is_new;
    TRY(map_put(words, word, &seen, &is_new, err));
  }
  return GLV_OK;
}

/* seen_in of a word is the number (from 1) of the last text it was found in. */
static bool contains_all(map *words, str text, uint64_t number) {
  size_t missing = words->count;
  str word;
  for (size_t at = 0; missing > 0 && next_word(text, &at, &word);) {
    uint64_t *seen_in = map_get(words, word);
    if (seen_in != NULL && *seen_in != number) {
      *seen_in = number;
      missing--;
    }
  }
  return missing == 0;
}

static glv_status contains_tokens(const function_frame *f, const operand *arguments, size_t rows,
                                  array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(map_dispose) map words;
  void *values;
  map_init(&words, f->env);
  TRY(kernel_begin(f->env, f->binding->result, arguments, 1, rows, &a, &values, err));
  if (rows > 0 && operand_is_valid(&arguments[1], 0)) {
    TRY(collect_words(operand_str(&arguments[1], 0), &words, err));
  }
  for (size_t i = 0; i < rows; i++) {
    if (operand_is_valid(&arguments[0], i)) {
      bit_put(values, i, contains_all(&words, operand_str(&arguments[0], i), i + 1));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_tokens(function_binding *b, glv_error *err) {
  static const signature TEXTS = {{TYPE_UTF8, TYPE_UTF8}};
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_signature(b, &TEXTS, 1, err));
  b->result = type_simple(TYPE_BOOL);
  return GLV_OK;
}

const function functions_token[] = {
    {.name = "contains_tokens", .bind = bind_tokens, .kernel = contains_tokens},
    {0},
};
