/**
 * @file scan_explain.h
 * What a scan would do, as text for people.
 */
#ifndef GLAIVE_TABLE_SCAN_EXPLAIN_H
#define GLAIVE_TABLE_SCAN_EXPLAIN_H

#include "base/buf.h"
#include "table/scan_order.h"

/** Append a line, so many steps of two spaces to the right. */
glv_status explain_line(buf *out, glv_error *err, unsigned depth, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/**
 * Append the steps of a scan, the last one first: limit, sort, and what is read of how much.
 *
 * @param depth  of the first line. Errors: as table_scan_ordered. Thread class: T.
 */
glv_status table_scan_explain(const table_snapshot *t, const scan_options *options,
                              const sort_by *keys, size_t key_count, unsigned depth, buf *out,
                              glv_error *err);

#endif
