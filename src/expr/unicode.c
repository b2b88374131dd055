/* Walking, counting and classifying code points. Texts were validated when they entered the engine,
 * so decoding looks at leading bytes only; it still never leaves the text. Counting works on eight
 * bytes at a time: a code point is a byte that is not 10xxxxxx. */
#include "expr/unicode.h"

#include <utf8proc.h>

#include "base/checked.h"
#include "base/cpu.h"
#include "expr/alphabetic.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)

CPU_CLONES static uint8_t all_bits(const uint8_t *p, size_t size) {
  uint8_t seen = 0;
  for (size_t i = 0; i < size; i++) {
    seen |= p[i];
  }
  return seen;
}

bool unicode_is_ascii(const void *data, size_t size) { return all_bits(data, size) < 0x80; }

size_t unicode_count(str text) {
  const uint8_t *p = (const uint8_t *)text.data;
  size_t continuation = 0;
  size_t i = 0;
  for (; i + 8 <= text.size; i += 8) {
    const uint64_t word = load_le64(p + i);
    continuation += (size_t)__builtin_popcountll(word & ~(word << 1) & HIGH_BITS);
  }
  for (; i < text.size; i++) {
    continuation += (p[i] & 0xc0) == 0x80;
  }
  return text.size - continuation;
}

/* Length of the encoding that begins with a byte. */
static size_t encoded_size(uint8_t lead) {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

uint32_t unicode_next(str text, size_t *at) {
  const uint8_t *p = (const uint8_t *)text.data + *at;
  const size_t size = size_min(encoded_size(p[0]), text.size - *at);
  uint32_t c = size == 1 ? p[0] : p[0] & (0x7fu >> size);
  for (size_t i = 1; i < size; i++) {
    c = c << 6 | (p[i] & 0x3fu);
  }
  *at += size;
  return c;
}

size_t unicode_offset(str text, size_t n) {
  size_t at = n < text.size ? 0 : text.size; /* no text has more code points than bytes */
  for (; n > 0 && at < text.size; n--) {
    at += encoded_size((uint8_t)text.data[at]);
  }
  return size_min(at, text.size);
}

size_t unicode_encode(uint32_t c, char text[4]) {
  return (size_t)utf8proc_encode_char((utf8proc_int32_t)c, (utf8proc_uint8_t *)text);
}

bool unicode_is_alphanumeric(uint32_t c) {
  if (c < 0x80) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  }
  const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_NO || unicode_is_alphabetic(c);
}

str unicode_trim_space(str text) {
  size_t first = 0;
  for (size_t at = 0; at < text.size && unicode_is_space(unicode_next(text, &at));) {
    first = at;
  }
  size_t end = text.size;
  while (end > first) {
    size_t begin = end - 1;
    while (begin > first && ((uint8_t)text.data[begin] & 0xc0) == 0x80) {
      begin--;
    }
    size_t at = begin;
    if (!unicode_is_space(unicode_next(text, &at))) {
      break;
    }
    end = begin;
  }
  return str_slice(text.data + first, end - first);
}
