/* Comparison and scanning of borrowed text. */
#include "base/str.h"

#include "base/checked.h"

int str_compare(str a, str b) {
  const size_t common = size_min(a.size, b.size);
  const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
  return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

bool str_equal_ascii_case(str a, str b) {
  if (a.size != b.size) {
    return false;
  }
  for (size_t i = 0; i < a.size; i++) {
    if (ascii_lower(a.data[i]) != ascii_lower(b.data[i])) {
      return false;
    }
  }
  return true;
}

bool str_starts_with(str s, str prefix) {
  return s.size >= prefix.size && str_equal(str_slice(s.data, prefix.size), prefix);
}

bool str_ends_with(str s, str suffix) {
  return s.size >= suffix.size &&
         str_equal(str_slice(s.data + (s.size - suffix.size), suffix.size), suffix);
}

bool str_to_u64(str text, uint64_t *ret) {
  enum { SAFE_DIGITS = 19 }; /* always fit */
  uint64_t value = 0;
  size_t i = 0;
  if (text.size == 0) {
    return false;
  }
  for (; i < text.size && i < SAFE_DIGITS; i++) {
    const unsigned digit = (unsigned char)text.data[i] - (unsigned)'0';
    if (digit > 9) {
      return false;
    }
    value = value * 10 + digit;
  }
  for (; i < text.size; i++) {
    const char c = text.data[i];
    if (c < '0' || c > '9' || !u64_mul(value, 10, &value) ||
        !u64_add(value, (uint64_t)(c - '0'), &value)) {
      return false;
    }
  }
  *ret = value;
  return true;
}

/* Length of the well-formed sequence at p, 0 if there is none; the table is Unicode's "Well-Formed
 * UTF-8 Byte Sequences". */
static size_t sequence_length(const unsigned char *p, size_t room) {
  const unsigned char lead = p[0];
  size_t length;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    low = lead == 0xE0 ? 0xA0 : low;
    high = lead == 0xED ? 0x9F : high;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    low = lead == 0xF0 ? 0x90 : low;
    high = lead == 0xF4 ? 0x8F : high;
  } else {
    return 0;
  }
  if (room < length || p[1] < low || p[1] > high) {
    return 0;
  }
  for (size_t i = 2; i < length; i++) {
    if (p[i] < 0x80 || p[i] > 0xBF) {
      return 0;
    }
  }
  return length;
}

bool str_is_utf8(str text) {
  const unsigned char *p = (const unsigned char *)text.data;
  size_t i = 0;
  while (i < text.size) {
    if (text.size - i >= 8 && (load_le64(p + i) & 0x8080808080808080u) == 0) {
      i += 8;
      continue;
    }
    const size_t length = sequence_length(p + i, text.size - i);
    if (length == 0) {
      return false;
    }
    i += length;
  }
  return true;
}
