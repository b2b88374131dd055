/**
 * @file summary.h
 * The provenance summary that every data file of a view carries: smallest and largest source row id
 * of each chunk, so that evictions need not read the whole column (materialized-views 7.12).
 */
#ifndef GLAIVE_VIEW_SUMMARY_H
#define GLAIVE_VIEW_SUMMARY_H

#include "base/arena.h"
#include "table/write.h"

/** The bytes of a summary. column: index of the provenance column in its file. Errors: GLV_E_NOMEM,
 * GLV_E_LIMIT. */
glv_status view_summary_write(const file_summary *s, uint32_t column, buf *out, glv_error *err);

/** For stage_options.globals: adds the summary as a global buffer. context: a `const struct
 * summary_context *`. */
struct summary_context {
  glv_env *env;
  uint32_t column;
};
glv_status view_summary_add(void *context, file_writer *w, glv_error *err);
/**
 * Let the files that are staged for a view carry summaries.
 *
 * @param context  filled; must live as long as options are used.
 * @param options  gets a summary column; stays as it is when the view has no provenance column.
 * Errors: GLV_E_NOMEM.
 */
glv_status view_summary_stage(const table_snapshot *view, struct summary_context *context,
                              stage_options *options, glv_error *err);

/**
 * The summary of a data file of a view, if there is one that can be trusted: whole, for the column,
 * and with the chunks that the column has. One that cannot is reported to the log and ignored.
 *
 * @param name       of the file, for the log.
 * @param column     of the provenance in the file.
 * @param ret        arrays in the arena.
 * @param ret_found  false = there is none.
 * Errors: GLV_E_CORRUPT (the file itself), GLV_E_IO, GLV_E_NOMEM. Thread class: T.
 */
glv_status view_summary_find(file_reader *r, const char *name, uint32_t column, arena *a,
                             file_summary *ret, bool *ret_found, glv_error *err);

#endif
