/**
 * @file old_list.h
 * Lists of version 2.0: a column of ends, while the items are rows of the next columns, whose pages
 * are cut independently. Reading lists gives their offsets, their nulls, and which items to read.
 */
#ifndef GLAIVE_FORMAT_OLD_LIST_H
#define GLAIVE_FORMAT_OLD_LIST_H

#include "format/old_page.h"
#include "format/request.h"

/** Neighbouring rows of a child column. */
typedef struct item_range {
  uint64_t first;
  uint64_t count;
} item_range;

typedef struct old_lists {
  glv_env *env;          /* borrowed */
  const field *f;        /* borrowed */
  unsigned offset_width; /* 4 or 8 */
  size_t length;
  size_t filled;
  size_t null_count;
  uint64_t total;   /* items so far */
  buffer *offsets;  /* length + 1 of them */
  buffer *validity; /* NULL until the first null */
  item_range *ranges;
  size_t range_count;
  size_t range_capacity;
  uint32_t *rows; /* of the request for items */
} old_lists;

/** f is of type list or large_list. Errors: GLV_E_NOMEM. */
glv_status old_lists_init(old_lists *l, glv_env *env, const field *f, size_t length,
                          glv_error *err);
void old_lists_dispose(old_lists *l); /* usable with CLEANUP */

/** Add the wanted lists of a page, whose first item is row `base` of the child columns. Errors:
 * GLV_E_CORRUPT, GLV_E_LIMIT, GLV_E_IO, GLV_E_NOMEM. */
glv_status old_lists_read(decoder *d, const old_encoding *e, uint64_t base, const wanted *w,
                          old_lists *l, glv_error *err);
/** The rows of the child columns; valid until l is disposed. Errors: GLV_E_LIMIT, GLV_E_NOMEM. */
glv_status old_lists_items(old_lists *l, read_request *ret, glv_error *err);
/** The finished array without its child; l keeps nothing of it. */
void old_lists_finish(old_lists *l, array *ret);

#endif
