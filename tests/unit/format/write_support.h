/**
 * @file write_support.h
 * Columns, files and layouts for the tests of the data file writer. Everything asserts success
 * unless it returns a status.
 */
#ifndef GLAIVE_TESTS_FORMAT_WRITE_SUPPORT_H
#define GLAIVE_TESTS_FORMAT_WRITE_SUPPORT_H

#include "arrow/array.h"
#include "format/file_writer.h"
#include "format/page_write_private.h"
#include "support/cmocka.h"
#include "support/rng.h"
#include "support/test_env.h"

#define ASSERT_OK(call)                                                                            \
  do {                                                                                             \
    glv_error err = {0};                                                                           \
    const glv_status assert_status = (call);                                                       \
    if (assert_status != GLV_OK) {                                                                 \
      fail_msg("%s: %s", #call, err.message);                                                      \
    }                                                                                              \
  } while (0)

/** How values are chosen. */
enum column_values {
  VALUES_RANDOM,
  VALUES_SMALL, /* few bits, few distinct */
  VALUES_SEQUENCE,
  VALUES_EQUAL,
  VALUES_LONG, /* text: some of 256 bytes and more */
};

/**
 * n values of a type: numbers, bool, text, or a fixed-size list of numbers or bool.
 * @param null_every every so many-th row is null (and item of a list: every null_every + 2); 0 =
 * none, 1 = all.
 */
array column_new(glv_env *env, const type *t, size_t n, enum column_values how, size_t null_every);

/** The names of the numbers as text: prefix and number. */
array column_of_numbers(glv_env *env, const type *t, const char *prefix, const uint64_t *numbers,
                        size_t n);

/** One column cut into pieces at the rows listed (ascending, count of them), each a slice. */
typedef struct pieces {
  array items[8];
  size_t count;
} pieces;
pieces pieces_of(const array *a, const size_t *cuts, size_t count);
void pieces_dispose(pieces *p);

/** Write a file of one column "c". */
glv_status write_column(glv_env *env, const char *path, const field *f, const array *a,
                        size_t count, const file_writer_options *options, file_written *ret,
                        glv_error *err);
/** Write the pieces as batches, read the file back with file_reader (all, a few windows, a few
 * rows) and compare. */
void check_round_trip(test_env *t, const field *f, const array *pieces, size_t count);
/** The same with a file of that version. */
void check_round_trip_as(test_env *t, format_version version, const field *f, const array *pieces,
                         size_t count);

/** The layouts of the pages of a column, from the bytes of the file. */
typedef struct file_layouts {
  arena memory;
  size_t count;
  layout_message *pages[64];
  uint64_t rows[64];
} file_layouts;
file_layouts layouts_of(test_env *t, const char *name, size_t column);
void layouts_dispose(file_layouts *l);

/** Encode one page of the first leaf of a column; the output is disposed of by page_output_dispose.
 * *ret_layout lives in its arena. */
layout_message *encode_page(glv_env *env, const field *f, const array *pieces, size_t count,
                            page_output *ret);

/** A field of that type; nullable. */
static inline field field_of(const type *t) {
  return (field){.name = "c", .type = t, .nullable = true};
}

#endif
