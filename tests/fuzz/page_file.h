/**
 * @file page_file.h
 * Data files around the bytes of an input: pages whose messages and buffers are the input's, in a
 * container that is always sound; and files that our own writer made from the input.
 */
#ifndef GLAIVE_TESTS_FUZZ_PAGE_FILE_H
#define GLAIVE_TESTS_FUZZ_PAGE_FILE_H

#include "base/buf.h"
#include "format/lance_schema.h"
#include "page_type.h"

/**
 * A file of `rows` rows whose columns, as many as the schema has, take their pages from s: number
 * of pages; for each its rows (u16; the last page of a column has what is left of the file, but in
 * 2.0), layout (0: the message is in the input; else the member of PageLayout whose message is),
 * bytes of the message (u16), number of buffers, bytes of each (u16), then the message and the
 * buffers themselves.
 */
void page_file_of_parts(glv_env *env, const lance_schema *schema, format_version version,
                        uint64_t rows, stream *s, buf *ret);

/** What the writer makes of a column; false: it refuses. page_bytes: see file_writer_options. The
 * rows are written in two batches. */
bool page_file_of_values(const lance_schema *schema, format_version version, const array *values,
                         uint64_t page_bytes, buf *ret);

/** Change bytes of the pages, or of their messages, at places that s names. */
void page_file_damage(buf *file, stream *s);

#endif
