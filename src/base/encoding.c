/* Encodings go by tables: one of digits for writing, and the value of a character for reading. */
#include "base/encoding.h"

#include "base/error.h"

static const char HEX_DIGITS[] = "0123456789abcdef";
static const char BASE64_DIGITS[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void hex_encode(const void *data, size_t size, char *text) {
  const uint8_t *bytes = data;
  for (size_t i = 0; i < size; i++) {
    text[2 * i] = HEX_DIGITS[bytes[i] >> 4];
    text[2 * i + 1] = HEX_DIGITS[bytes[i] & 15];
  }
}

static int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const int letter = c | 0x20;
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

bool hex_decode(str text, uint8_t *data) {
  for (size_t i = 0; i + 1 < text.size; i += 2) {
    const int high = hex_value(text.data[i]);
    const int low = hex_value(text.data[i + 1]);
    if (high < 0 || low < 0) {
      return false;
    }
    data[i / 2] = (uint8_t)(high << 4 | low);
  }
  return text.size % 2 == 0;
}

size_t base64_size(size_t size, bool pads) {
  static const size_t REST[] = {0, 2, 3};
  const size_t rest = size % 3;
  return size / 3 * 4 + (pads && rest != 0 ? 4 : REST[rest]);
}

void base64_encode(const void *data, size_t size, bool pads, char *text) {
  const uint8_t *bytes = data;
  size_t at = 0;
  for (size_t i = 0; i < size; i += 3) {
    const size_t count = size - i < 3 ? size - i : 3;
    uint32_t group = (uint32_t)bytes[i] << 16;
    group |= count > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
    group |= count > 2 ? bytes[i + 2] : 0;
    for (size_t k = 0; k <= count; k++) {
      text[at++] = BASE64_DIGITS[group >> (18 - 6 * k) & 63];
    }
    for (size_t k = count; pads && k < 3; k++) {
      text[at++] = '=';
    }
  }
}

static int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') {
    return c - 'A';
  }
  if (c >= 'a' && c <= 'z') {
    return c - 'a' + 26;
  }
  if (c >= '0' && c <= '9') {
    return c - '0' + 52;
  }
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The text without its padding: any part of what fills the last group up. */
static bool strip_padding(str *text) {
  size_t size = text->size;
  while (size > 0 && text->size - size < 2 && text->data[size - 1] == '=') {
    size--;
  }
  const bool fills = size % 4 + (text->size - size) <= 4 && size % 4 != 0;
  const bool is_good = size % 4 != 1 && (size == text->size || fills);
  text->size = size;
  return is_good;
}

bool base64_decode(str text, uint8_t *data, size_t *ret_size) {
  uint32_t group = 0;
  unsigned bits = 0;
  *ret_size = 0;
  if (!strip_padding(&text)) {
    return false;
  }
  for (size_t i = 0; i < text.size; i++) {
    const int value = base64_value(text.data[i]);
    if (value < 0) {
      return false;
    }
    group = group << 6 | (uint32_t)value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      data[(*ret_size)++] = (uint8_t)(group >> bits);
      group &= (1u << bits) - 1;
    }
  }
  return group == 0;
}

glv_status uuid_random(glv_env *env, char text[UUID_TEXT_SIZE], glv_error *err) {
  uint8_t bytes[16];
  TRY(env_random(env, bytes, sizeof bytes, err));
  bytes[6] = (uint8_t)(0x40u | (bytes[6] & 0x0fu)); /* version 4 */
  bytes[8] = (uint8_t)(0x80u | (bytes[8] & 0x3fu)); /* the RFC's variant */
  char digits[2 * sizeof bytes];
  hex_encode(bytes, sizeof bytes, digits);
  static const size_t PARTS[] = {8, 4, 4, 4, 12};
  size_t from = 0;
  size_t to = 0;
  for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
    if (i != 0) {
      text[to++] = '-';
    }
    memcpy(text + to, digits + from, PARTS[i]);
    from += PARTS[i];
    to += PARTS[i];
  }
  return GLV_OK;
}
