/**
 * @file read_support.h
 * Data files put together byte by byte: bytes are written as hexadecimal text, in which blanks are
 * ignored and `{...}` stands for the length of what is inside, as a varint, and that.
 */
#ifndef GLAIVE_TESTS_FORMAT_READ_SUPPORT_H
#define GLAIVE_TESTS_FORMAT_READ_SUPPORT_H

#include "format/file_reader.h"
#include "support/cmocka.h"
#include "support/test_env.h"

/** The bytes of a text like "01 ff"; at most room of them. @return how many. */
size_t hex_bytes(const char *text, uint8_t *ret, size_t room);

typedef struct made_page {
  uint64_t rows;
  const char *layout;     /* PageLayout; version 2.0: ArrayEncoding */
  const char *buffers[4]; /* up to the first NULL; "" is an empty buffer */
} made_page;

/** A file with one column. */
typedef struct made_file {
  const char *logical_type;
  unsigned major;
  unsigned minor;
  uint64_t rows;
  const made_page *pages;
  size_t page_count;
  const char *column_encoding; /* NULL: the usual one; hexadecimal Encoding message */
  unsigned shift;              /* page buffers begin this many bytes after a multiple of 64 */
} made_file;

/** Write the file and give its name, valid until the next call. */
const char *made_file_write(test_env *t, const made_file *f);
/** Write bytes as a file. */
const char *bytes_write(test_env *t, const void *data, size_t size);

/** Read all rows of column 0 of a file; asserts success. t->arena of the type: keep `ret_reader`
 * open while using *ret. */
void made_file_read(test_env *t, const made_file *f, file_reader **ret_reader, array *ret);
/** Reading column 0 must fail with that code and a message that contains text. */
void made_file_fails(test_env *t, const made_file *f, glv_status code, const char *text);
/** Opening and reading column 0 as an expected failure or success; returns the status. */
glv_status bytes_read(test_env *t, const void *data, size_t size, glv_error *err);

/** Compare with values; null_at lists '0' for null and '1' for valid, one character a row. */
void assert_int32(const array *a, const int32_t *values, const char *valid);
void assert_text(const array *a, const char *const *values); /* NULL = null */

/** CRC-32 as zlib computes it. */
uint32_t crc32_of(const void *data, size_t size);

#endif
