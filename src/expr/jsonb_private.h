/**
 * @file jsonb_private.h
 * The words of the binary form of JSON.
 */
#ifndef GLAIVE_EXPR_JSONB_PRIVATE_H
#define GLAIVE_EXPR_JSONB_PRIVATE_H

#include "base/buf.h"
#include "base/checked.h"
#include "expr/jsonb.h"

#define JSONB_WORD sizeof(uint32_t)

#define JSONB_HEADER_KIND 0xE0000000u
#define JSONB_HEADER_COUNT 0x1FFFFFFFu
#define JSONB_HEADER_ARRAY 0x80000000u
#define JSONB_HEADER_OBJECT 0x40000000u
#define JSONB_HEADER_SCALAR 0x20000000u

#define JSONB_ENTRY_KIND 0x70000000u
#define JSONB_ENTRY_SIZE 0x0FFFFFFFu
#define JSONB_ENTRY_NULL 0x00000000u
#define JSONB_ENTRY_STRING 0x10000000u
#define JSONB_ENTRY_NUMBER 0x20000000u
#define JSONB_ENTRY_FALSE 0x30000000u
#define JSONB_ENTRY_TRUE 0x40000000u
#define JSONB_ENTRY_CONTAINER 0x50000000u
#define JSONB_ENTRY_EXTENSION 0x60000000u

/** First bytes of numbers. */
enum {
  JSONB_NUMBER_ZERO = 0x00,
  JSONB_NUMBER_NAN = 0x10,
  JSONB_NUMBER_INFINITY = 0x20,
  JSONB_NUMBER_MINUS_INFINITY = 0x30,
  JSONB_NUMBER_INT = 0x40,
  JSONB_NUMBER_UINT = 0x50,
  JSONB_NUMBER_FLOAT = 0x60,
  JSONB_NUMBER_DECIMAL = 0x70
};

/** The entry of an item of that kind, without its size. */
uint32_t jsonb_entry_of(enum jsonb_kind kind);

static inline glv_status jsonb_put_word(buf *out, uint32_t word, glv_error *err) {
  const uint32_t bytes = __builtin_bswap32(word);
  return buf_append(out, &bytes, sizeof bytes, err);
}

#endif
