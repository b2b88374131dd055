/**
 * @file old_struct.h
 * Packed structs of version 2.0: rows of fixed width, the children of a row side by side.
 */
#ifndef GLAIVE_FORMAT_OLD_STRUCT_H
#define GLAIVE_FORMAT_OLD_STRUCT_H

#include "format/old_page.h"

/** One sink for each child of a struct type, filled together. */
typedef struct old_structs {
  glv_env *env;   /* borrowed */
  const field *f; /* borrowed */
  sink *children;
  size_t child_count; /* of sinks that were made */
  size_t *widths;     /* bytes of each child in a row */
  size_t width;       /* of a row */
} old_structs;

/** f is of a struct type. Errors: GLV_E_UNSUPPORTED for children without a fixed width of bytes;
 * GLV_E_LIMIT; GLV_E_NOMEM. */
glv_status old_structs_init(old_structs *s, glv_env *env, const field *f, size_t length,
                            glv_error *err);
void old_structs_dispose(old_structs *s); /* usable with CLEANUP */
/** Add the wanted rows of a page. */
glv_status old_structs_read(decoder *d, const old_encoding *e, uint64_t page_rows, const wanted *w,
                            old_structs *s, glv_error *err);
/** The finished array. */
glv_status old_structs_finish(old_structs *s, array *ret, glv_error *err);

#endif
