/**
 * @file checked.h
 * Sizes and integers from untrusted input: arithmetic that tells when it overflows, little-endian
 * loads and stores.
 */
#ifndef GLAIVE_BASE_CHECKED_H
#define GLAIVE_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Each returns false when the result does not fit; *ret is then unspecified. */
static inline bool size_add(size_t a, size_t b, size_t *ret) {
  return !__builtin_add_overflow(a, b, ret);
}
static inline bool size_mul(size_t a, size_t b, size_t *ret) {
  return !__builtin_mul_overflow(a, b, ret);
}
static inline bool u64_add(uint64_t a, uint64_t b, uint64_t *ret) {
  return !__builtin_add_overflow(a, b, ret);
}
static inline bool u64_mul(uint64_t a, uint64_t b, uint64_t *ret) {
  return !__builtin_mul_overflow(a, b, ret);
}

/** Narrow to size_t; false when the value does not fit. */
static inline bool to_size(uint64_t value, size_t *ret) {
  *ret = (size_t)value;
  return *ret == value;
}

/** True iff [offset, offset + length) lies within [0, total). */
static inline bool range_within(uint64_t offset, uint64_t length, uint64_t total) {
  return length <= total && offset <= total - length;
}

static inline uint64_t align_up(uint64_t value, uint64_t align) {
  return (value + align - 1) & ~(align - 1);
}
static inline size_t size_min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t size_max(size_t a, size_t b) { return a > b ? a : b; }
static inline uint64_t u64_min(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t u64_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Only little-endian machines are supported (checked at configure time), so a load is a copy. */
static inline uint16_t load_le16(const void *p) {
  uint16_t v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline uint32_t load_le32(const void *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline uint64_t load_le64(const void *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void store_le16(void *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void store_le32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void store_le64(void *p, uint64_t v) { memcpy(p, &v, sizeof v); }

/** Bit i of a bitmap, least significant bit of each byte first. */
static inline bool bit_get(const uint8_t *bits, size_t i) { return (bits[i >> 3] >> (i & 7)) & 1; }
static inline void bit_set(uint8_t *bits, size_t i) {
  bits[i >> 3] = (uint8_t)(bits[i >> 3] | (1u << (i & 7)));
}
static inline void bit_clear(uint8_t *bits, size_t i) {
  bits[i >> 3] = (uint8_t)(bits[i >> 3] & ~(1u << (i & 7)));
}
static inline void bit_put(uint8_t *bits, size_t i, bool value) {
  value ? bit_set(bits, i) : bit_clear(bits, i);
}

#endif
