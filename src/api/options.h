/**
 * @file options.h
 * Reading of option structs from callers that may have been compiled with an older or a newer
 * header, and the checks that every exported function makes first.
 */
#ifndef GLAIVE_API_OPTIONS_H
#define GLAIVE_API_OPTIONS_H

#include "backend/backend.h"

/**
 * Copy options of `known` bytes into `ret`; both begin with struct_size.
 *
 * @param in  NULL = defaults (all zero); a shorter struct leaves the tail zero; a longer one must
 * end in zeros. Errors: GLV_E_INVALID_INPUT for a struct_size below 8; GLV_E_UNSUPPORTED for an
 * option of a newer header.
 */
glv_status options_read(const void *in, void *ret, size_t known, glv_error *err);
#define OPTIONS_READ(in, local, err) options_read((in), (local), sizeof *(local), (err))

/** Write a result struct of `known` bytes to a caller who set struct_size; NULL is fine. */
void result_write(void *out, const void *from, size_t known);

/** GLV_E_INVALID_INPUT naming the parameter when the pointer is NULL. */
glv_status require_pointer(const void *pointer, const char *parameter, glv_error *err);
/** GLV_E_INVALID_INPUT for NULL parts, and for an empty path unless allow_root. */
glv_status require_id(glv_id id, const char *parameter, bool allow_root, glv_error *err);
glv_status require_pairs(glv_pairs pairs, const char *parameter, bool allow_null_values,
                         glv_error *err);
/** GLV_E_INVALID_INPUT for NULL strings. */
glv_status require_strings(glv_strs strings, const char *parameter, glv_error *err);
/** GLV_E_INVALID_INPUT for bits outside allowed. */
glv_status require_flags(uint32_t flags, uint32_t allowed, glv_error *err);

/** The checks of every call on a connection: not NULL, not in a forked child. */
glv_status check_conn(const glv_conn *conn, glv_error *err);

/** The same for a table. */
glv_status check_table(const glv_table *table, glv_error *err);

/** The bits that name a SQL dialect. */
enum { SQL_FLAGS = GLV_SQL_LANCE | GLV_SQL_STRICT };

/** Release a stream that a failed check keeps from being used: it is taken over in every case. NULL
 * is fine. */
void discard_stream(struct ArrowArrayStream *data);
/** The rows of a stream from the caller. Errors: GLV_E_INVALID_INPUT; those of the stream. */
glv_status import_data(glv_env *env, struct ArrowArrayStream *data, batch_reader *ret,
                       glv_error *err);

/** The shared part of all lists: read the page options, make the list, let `fill` add the names. */
glv_status list_call(glv_conn *conn, glv_id parent, const glv_page_options *options,
                     glv_status (*fill)(glv_conn *conn, glv_id parent, const page *p,
                                        glv_list *into, glv_error *err),
                     glv_list **ret, glv_error *err);

/** The host of db:// URIs that no option names: the variable GLAIVE_URL; NULL = not set. */
const char *default_host(void);

/** Move a text into a public buffer. */
glv_status buf_hand_out(glv_env *env, buf *from, glv_buf *ret, glv_error *err);

#endif
