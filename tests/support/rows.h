/**
 * @file rows.h
 * Rows as text, both ways, so that tests can say what they mean:
 *
 *   rows_stream(env, "id int64 | name utf8", "1 | ada\n2 | null", &stream);
 *   assert_rows(&stream, "1 | ada\n2 | null");
 *
 * Types: bool int8..int64 uint8..uint64 float32 float64 utf8 large_utf8 binary date32 timestamp
 * (microseconds, no zone). A type followed by "!" is not nullable. Values are separated by " | ",
 * rows by newlines.
 */
#ifndef GLAIVE_TESTS_ROWS_H
#define GLAIVE_TESTS_ROWS_H

#include <glaive/arrow_abi.h>

#include "base/buf.h"

void rows_stream(glv_env *env, const char *columns, const char *rows, struct ArrowArrayStream *ret);
/** count rows: id int64 = first.., age int32 = id mod 100, name utf8 = "name_" id mod 1000. */
void rows_people(glv_env *env, int64_t first, int64_t count, struct ArrowArrayStream *ret);
/** The rows of a stream as text; releases the stream. The caller frees with mem_free. Fails the
 * test on an error. */
char *rows_text(glv_env *env, struct ArrowArrayStream *stream);
/** The lines of text in byte order, for comparisons that do not care about the order of rows; in
 * place. */
void rows_sort(char *text);
#define assert_rows(env, stream, expected)                                                         \
  do {                                                                                             \
    char *rows_actual_ = rows_text((env), (stream));                                               \
    assert_string_equal(rows_actual_, (expected));                                                 \
    mem_free((env), rows_actual_);                                                                 \
  } while (0)

#endif
