/**
 * @file span.h
 * Borrowed bytes of a file while they are being decoded.
 */
#ifndef GLAIVE_FORMAT_SPAN_H
#define GLAIVE_FORMAT_SPAN_H

#include <stddef.h>
#include <stdint.h>

typedef struct span {
  const uint8_t *data; /* may be NULL when size is 0 */
  size_t size;
} span;

static inline span span_of(const void *data, size_t size) {
  return (span){(const uint8_t *)data, size};
}

#endif
