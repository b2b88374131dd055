/**
 * @file old_write_private.h
 * Writing files of version 2.0: pages as trees of array encodings (lance-file-format 11.7), and
 * nested arrays taken apart into one column a field.
 */
#ifndef GLAIVE_FORMAT_OLD_WRITE_PRIVATE_H
#define GLAIVE_FORMAT_OLD_WRITE_PRIVATE_H

#include "format/file_writer_private.h"
#include "pb/lance_encodings.pb-c.h"

typedef Lance__Encodings__ArrayEncoding old_message;

/* ---- messages; all return NULL when there is no memory or a message given is NULL ---- */

old_message *old_flat(arena *a, uint64_t bits, uint32_t number);
/** values, where validity is a buffer of bits, or no value is null (NULL). */
old_message *old_nullable(arena *a, old_message *validity, old_message *values);
old_message *old_all_nulls(arena *a);
old_message *old_vector(arena *a, uint32_t items, old_message *values);
old_message *old_binary(arena *a, uint32_t ends_buffer, uint32_t bytes_buffer, uint64_t adjustment);
old_message *old_list(arena *a, uint32_t ends_buffer, uint64_t items);
old_message *old_dictionary(arena *a, old_message *indices, old_message *values, uint32_t count);
old_message *old_packed(arena *a, uint32_t number, old_message *const *children, size_t count);
old_message *old_header(arena *a);

/* ---- pages and columns ---- */

/** As page_encode, for a page of version 2.0. */
glv_status old_page_encode(const page_input *in, page_output *out, glv_error *err);

/**
 * Give an array of a field to the columns of the field and of those below it.
 *
 * @param column  the field's column; is moved behind the last column of the field.
 * Errors: GLV_E_SCHEMA for nulls in fields that must not have them and in structs; those of
 * column_take.
 */
glv_status old_take(file_writer *w, const lance_field *f, const array *a, size_t *column,
                    glv_error *err);
/** The pages of structs, which only say how many rows there are. */
glv_status old_write_headers(file_writer *w, glv_error *err);
/** The refusal of null structs. */
glv_status old_refuse_structs(const char *name, size_t nulls, glv_error *err);

#endif
