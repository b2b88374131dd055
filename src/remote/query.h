/**
 * @file query.h
 * The parts of a request for rows of a table, which scans, searches and rows by number share.
 */
#ifndef GLAIVE_REMOTE_QUERY_H
#define GLAIVE_REMOTE_QUERY_H

#include <glaive/search.h>

#include "remote/remote_private.h"

#define ROW_ID "_rowid"

/** Begin a query; the caller puts its parts into the body. */
glv_status query_begin(table_call *tc, glv_table *table, glv_cancel *cancel, glv_error *err);

/** Columns, filter (or NULL), limit and row ids. */
glv_status query_put(json *body, glv_pairs columns, const char *filter, uint64_t limit,
                     bool with_row_id, glv_error *err);
/** Says that the query is no search. */
glv_status query_put_no_vector(json *body, glv_error *err);
glv_status query_put_order(json *body, const glv_order *order, size_t count, glv_error *err);

/** Errors: GLV_E_UNSUPPORTED when the flags ask for the bytes of blob columns. */
glv_status query_refuse_blobs(uint32_t flags, glv_error *err);

/** The body of a scan, and of a search. Errors: GLV_E_UNSUPPORTED for what cannot be sent. */
glv_status query_put_scan(json *body, const glv_scan_options *options, glv_error *err);
glv_status query_put_search(json *body, const glv_search_options *options, glv_error *err);

/** Send the query and take the rows. */
glv_status query_run(table_call *tc, batch_reader *ret, glv_error *err);

/**
 * Bring the rows into the order of the columns that were asked for, if any were.
 *
 * @param first  NULL, or a column in front of them.
 * @param last   columns after them, ended by NULL; those that are among the columns stay there.
 * @param r      replaced; on failure it is disposed of.
 */
glv_status query_arrange(glv_env *env, glv_pairs columns, const char *first,
                         const char *const *last, batch_reader *r, glv_error *err);

#endif
