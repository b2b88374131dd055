/**
 * @file summary.h
 * The provenance summary that every data file of a view carries: smallest and largest source row id
 * of each chunk, so that evictions need not read the whole column (materialized-views 7.12).
 */
#ifndef GLAIVE_VIEW_SUMMARY_H
#define GLAIVE_VIEW_SUMMARY_H

#include "format/file_writer.h"

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

#endif
