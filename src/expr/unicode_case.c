/* Upper and lower case of whole texts. Most characters map to one character, which utf8proc knows.
 * Those whose upper case is longer are the table below (Unicode 14, made by
 * scripts/generate_casing.py); only U+0130 has a longer lower case. The capital sigma is the one
 * letter whose lower case depends on its neighbours: it becomes the final sigma when a cased letter
 * stands before it and none behind it, characters that casing ignores left aside.
 *
 * Stretches of ASCII are mapped eight bytes at a time. */
#include <utf8proc.h>

#include "base/checked.h"
#include "base/cpu.h"
#include "expr/unicode.h"

struct casing {
  uint32_t from;
  uint32_t to[3];
};

/* clang-format off */
static const struct casing UPPER_CASING[] = {
    {0x00df, {0x0053, 0x0053, 0x0000}},
    {0x0149, {0x02bc, 0x004e, 0x0000}},
    {0x01f0, {0x004a, 0x030c, 0x0000}},
    {0x0390, {0x0399, 0x0308, 0x0301}},
    {0x03b0, {0x03a5, 0x0308, 0x0301}},
    {0x0587, {0x0535, 0x0552, 0x0000}},
    {0x1e96, {0x0048, 0x0331, 0x0000}},
    {0x1e97, {0x0054, 0x0308, 0x0000}},
    {0x1e98, {0x0057, 0x030a, 0x0000}},
    {0x1e99, {0x0059, 0x030a, 0x0000}},
    {0x1e9a, {0x0041, 0x02be, 0x0000}},
    {0x1f50, {0x03a5, 0x0313, 0x0000}},
    {0x1f52, {0x03a5, 0x0313, 0x0300}},
    {0x1f54, {0x03a5, 0x0313, 0x0301}},
    {0x1f56, {0x03a5, 0x0313, 0x0342}},
    {0x1f80, {0x1f08, 0x0399, 0x0000}},
    {0x1f81, {0x1f09, 0x0399, 0x0000}},
    {0x1f82, {0x1f0a, 0x0399, 0x0000}},
    {0x1f83, {0x1f0b, 0x0399, 0x0000}},
    {0x1f84, {0x1f0c, 0x0399, 0x0000}},
    {0x1f85, {0x1f0d, 0x0399, 0x0000}},
    {0x1f86, {0x1f0e, 0x0399, 0x0000}},
    {0x1f87, {0x1f0f, 0x0399, 0x0000}},
    {0x1f88, {0x1f08, 0x0399, 0x0000}},
    {0x1f89, {0x1f09, 0x0399, 0x0000}},
    {0x1f8a, {0x1f0a, 0x0399, 0x0000}},
    {0x1f8b, {0x1f0b, 0x0399, 0x0000}},
    {0x1f8c, {0x1f0c, 0x0399, 0x0000}},
    {0x1f8d, {0x1f0d, 0x0399, 0x0000}},
    {0x1f8e, {0x1f0e, 0x0399, 0x0000}},
    {0x1f8f, {0x1f0f, 0x0399, 0x0000}},
    {0x1f90, {0x1f28, 0x0399, 0x0000}},
    {0x1f91, {0x1f29, 0x0399, 0x0000}},
    {0x1f92, {0x1f2a, 0x0399, 0x0000}},
    {0x1f93, {0x1f2b, 0x0399, 0x0000}},
    {0x1f94, {0x1f2c, 0x0399, 0x0000}},
    {0x1f95, {0x1f2d, 0x0399, 0x0000}},
    {0x1f96, {0x1f2e, 0x0399, 0x0000}},
    {0x1f97, {0x1f2f, 0x0399, 0x0000}},
    {0x1f98, {0x1f28, 0x0399, 0x0000}},
    {0x1f99, {0x1f29, 0x0399, 0x0000}},
    {0x1f9a, {0x1f2a, 0x0399, 0x0000}},
    {0x1f9b, {0x1f2b, 0x0399, 0x0000}},
    {0x1f9c, {0x1f2c, 0x0399, 0x0000}},
    {0x1f9d, {0x1f2d, 0x0399, 0x0000}},
    {0x1f9e, {0x1f2e, 0x0399, 0x0000}},
    {0x1f9f, {0x1f2f, 0x0399, 0x0000}},
    {0x1fa0, {0x1f68, 0x0399, 0x0000}},
    {0x1fa1, {0x1f69, 0x0399, 0x0000}},
    {0x1fa2, {0x1f6a, 0x0399, 0x0000}},
    {0x1fa3, {0x1f6b, 0x0399, 0x0000}},
    {0x1fa4, {0x1f6c, 0x0399, 0x0000}},
    {0x1fa5, {0x1f6d, 0x0399, 0x0000}},
    {0x1fa6, {0x1f6e, 0x0399, 0x0000}},
    {0x1fa7, {0x1f6f, 0x0399, 0x0000}},
    {0x1fa8, {0x1f68, 0x0399, 0x0000}},
    {0x1fa9, {0x1f69, 0x0399, 0x0000}},
    {0x1faa, {0x1f6a, 0x0399, 0x0000}},
    {0x1fab, {0x1f6b, 0x0399, 0x0000}},
    {0x1fac, {0x1f6c, 0x0399, 0x0000}},
    {0x1fad, {0x1f6d, 0x0399, 0x0000}},
    {0x1fae, {0x1f6e, 0x0399, 0x0000}},
    {0x1faf, {0x1f6f, 0x0399, 0x0000}},
    {0x1fb2, {0x1fba, 0x0399, 0x0000}},
    {0x1fb3, {0x0391, 0x0399, 0x0000}},
    {0x1fb4, {0x0386, 0x0399, 0x0000}},
    {0x1fb6, {0x0391, 0x0342, 0x0000}},
    {0x1fb7, {0x0391, 0x0342, 0x0399}},
    {0x1fbc, {0x0391, 0x0399, 0x0000}},
    {0x1fc2, {0x1fca, 0x0399, 0x0000}},
    {0x1fc3, {0x0397, 0x0399, 0x0000}},
    {0x1fc4, {0x0389, 0x0399, 0x0000}},
    {0x1fc6, {0x0397, 0x0342, 0x0000}},
    {0x1fc7, {0x0397, 0x0342, 0x0399}},
    {0x1fcc, {0x0397, 0x0399, 0x0000}},
    {0x1fd2, {0x0399, 0x0308, 0x0300}},
    {0x1fd3, {0x0399, 0x0308, 0x0301}},
    {0x1fd6, {0x0399, 0x0342, 0x0000}},
    {0x1fd7, {0x0399, 0x0308, 0x0342}},
    {0x1fe2, {0x03a5, 0x0308, 0x0300}},
    {0x1fe3, {0x03a5, 0x0308, 0x0301}},
    {0x1fe4, {0x03a1, 0x0313, 0x0000}},
    {0x1fe6, {0x03a5, 0x0342, 0x0000}},
    {0x1fe7, {0x03a5, 0x0308, 0x0342}},
    {0x1ff2, {0x1ffa, 0x0399, 0x0000}},
    {0x1ff3, {0x03a9, 0x0399, 0x0000}},
    {0x1ff4, {0x038f, 0x0399, 0x0000}},
    {0x1ff6, {0x03a9, 0x0342, 0x0000}},
    {0x1ff7, {0x03a9, 0x0342, 0x0399}},
    {0x1ffc, {0x03a9, 0x0399, 0x0000}},
    {0xfb00, {0x0046, 0x0046, 0x0000}},
    {0xfb01, {0x0046, 0x0049, 0x0000}},
    {0xfb02, {0x0046, 0x004c, 0x0000}},
    {0xfb03, {0x0046, 0x0046, 0x0049}},
    {0xfb04, {0x0046, 0x0046, 0x004c}},
    {0xfb05, {0x0053, 0x0054, 0x0000}},
    {0xfb06, {0x0053, 0x0054, 0x0000}},
    {0xfb13, {0x0544, 0x0546, 0x0000}},
    {0xfb14, {0x0544, 0x0535, 0x0000}},
    {0xfb15, {0x0544, 0x053b, 0x0000}},
    {0xfb16, {0x054e, 0x0546, 0x0000}},
    {0xfb17, {0x0544, 0x053d, 0x0000}},
};
/* clang-format on */

enum {
  CAPITAL_I_DOT = 0x130,
  DOT_ABOVE = 0x307,
  CAPITAL_SIGMA = 0x3a3,
  SMALL_SIGMA = 0x3c3,
  FINAL_SIGMA = 0x3c2
};

CPU_CLONES static uint8_t change_ascii(char *to, const char *from, size_t size, uint8_t first) {
  uint8_t seen = 0;
  for (size_t i = 0; i < size; i++) {
    const uint8_t c = (uint8_t)from[i];
    to[i] = (char)((uint8_t)(c - first) < 26 ? c ^ 0x20 : c);
    seen |= c;
  }
  return seen;
}

static bool change_blocks(char *to, const char *from, size_t size, uint8_t first) {
  enum { BLOCK = 4096 };
  uint8_t seen = 0;
  for (size_t at = 0; at < size; at += BLOCK) {
    const size_t count = size_min(BLOCK, size - at);
    cpu_fetch(from + at + count, size_min(BLOCK, size - at - count));
    seen |= change_ascii(to + at, from + at, count, first);
  }
  return seen < 0x80;
}

bool unicode_ascii_upper(char *to, const char *from, size_t size) {
  return change_blocks(to, from, size, 'a');
}
bool unicode_ascii_lower(char *to, const char *from, size_t size) {
  return change_blocks(to, from, size, 'A');
}

size_t unicode_upper_of(uint32_t c, uint32_t ret[3]) {
  if (c < 0x80) {
    ret[0] = c >= 'a' && c <= 'z' ? c - 32 : c;
    return 1;
  }
  size_t low = 0;
  size_t high = sizeof UPPER_CASING / sizeof UPPER_CASING[0];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (UPPER_CASING[middle].from < c) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < sizeof UPPER_CASING / sizeof UPPER_CASING[0] && UPPER_CASING[low].from == c) {
    memcpy(ret, UPPER_CASING[low].to, sizeof UPPER_CASING[low].to);
    return ret[2] != 0 ? 3 : 2;
  }
  ret[0] = (uint32_t)utf8proc_toupper((utf8proc_int32_t)c);
  return 1;
}

size_t unicode_lower_of(uint32_t c, uint32_t ret[3]) {
  if (c < 0x80) {
    ret[0] = c >= 'A' && c <= 'Z' ? c + 32 : c;
    return 1;
  }
  if (c == CAPITAL_I_DOT) {
    ret[0] = 'i';
    ret[1] = DOT_ABOVE;
    return 2;
  }
  ret[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
  return 1;
}

static bool is_cased(uint32_t c) {
  switch (utf8proc_category((utf8proc_int32_t)c)) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
    return true;
  default:
    return c == 0xaa || c == 0xba || (c >= 0x2160 && c <= 0x217f) || (c >= 0x24b6 && c <= 0x24e9) ||
           (c >= 0x1f130 && c <= 0x1f149) || (c >= 0x1f150 && c <= 0x1f169) ||
           (c >= 0x1f170 && c <= 0x1f189);
  }
}

static bool is_case_ignorable(uint32_t c) {
  static const uint16_t marks[] = {0x27,   0x2e,   0x3a,   0xb7,   0x387,  0x55f,
                                   0x5f4,  0x2018, 0x2019, 0x2024, 0x2027, 0xfe13,
                                   0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a};
  switch (utf8proc_category((utf8proc_int32_t)c)) {
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_SK:
    return true;
  default:
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
      if (marks[i] == c) {
        return true;
      }
    }
    return false;
  }
}

/* Whether the sigma at text[begin..end) ends a word. */
static bool is_final(str text, size_t begin, size_t end) {
  bool follows_cased = false;
  while (begin > 0) {
    do {
      begin--;
    } while (begin > 0 && ((uint8_t)text.data[begin] & 0xc0) == 0x80);
    size_t at = begin;
    const uint32_t c = unicode_next(text, &at);
    if (!is_case_ignorable(c)) {
      follows_cased = is_cased(c);
      break;
    }
  }
  while (follows_cased && end < text.size) {
    const uint32_t c = unicode_next(text, &end);
    if (!is_case_ignorable(c)) {
      return !is_cased(c);
    }
  }
  return follows_cased;
}

static glv_status append_mapped(buf *out, const uint32_t *mapped, size_t count, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    char bytes[4];
    const size_t size = unicode_encode(mapped[i], bytes);
    TRY(buf_append(out, bytes, size, err));
  }
  return GLV_OK;
}

/* Length of the ASCII stretch at text[at..). */
static size_t ascii_run(str text, size_t at) {
  size_t end = at;
  while (end < text.size && (uint8_t)text.data[end] < 0x80) {
    end++;
  }
  return end - at;
}

/* The ASCII stretch at *at in the other case. */
static glv_status append_ascii(str text, size_t *at, bool (*map)(char *, const char *, size_t),
                               buf *out, glv_error *err) {
  const size_t run = ascii_run(text, *at);
  if (run > 0) {
    TRY(buf_reserve(out, run, err));
    (void)map(out->data + out->size, text.data + *at, run);
    out->size += run;
    *at += run;
  }
  return GLV_OK;
}

glv_status unicode_upper(str text, buf *out, glv_error *err) {
  for (size_t at = 0; at < text.size;) {
    TRY(append_ascii(text, &at, unicode_ascii_upper, out, err));
    if (at < text.size) {
      uint32_t mapped[3];
      const size_t count = unicode_upper_of(unicode_next(text, &at), mapped);
      TRY(append_mapped(out, mapped, count, err));
    }
  }
  return GLV_OK;
}

glv_status unicode_lower(str text, buf *out, glv_error *err) {
  for (size_t at = 0; at < text.size;) {
    TRY(append_ascii(text, &at, unicode_ascii_lower, out, err));
    if (at < text.size) {
      const size_t begin = at;
      const uint32_t c = unicode_next(text, &at);
      uint32_t mapped[3];
      size_t count = unicode_lower_of(c, mapped);
      if (c == CAPITAL_SIGMA) {
        mapped[0] = is_final(text, begin, at) ? FINAL_SIGMA : SMALL_SIGMA;
        count = 1;
      }
      TRY(append_mapped(out, mapped, count, err));
    }
  }
  return GLV_OK;
}
