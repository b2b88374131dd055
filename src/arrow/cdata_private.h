/**
 * @file cdata_private.h
 * What the C data interface and IPC share.
 */
#ifndef GLAIVE_ARROW_CDATA_PRIVATE_H
#define GLAIVE_ARROW_CDATA_PRIVATE_H

#include "arrow/array.h"

/** Values of a utf8_view or binary_view column as Arrow lays them out. */
typedef struct view_column {
  const uint8_t *views;          /* 16 bytes a value */
  const uint8_t *const *buffers; /* of the values longer than 12 bytes */
  const int64_t *sizes;          /* bytes of each buffer, at any address */
  size_t buffer_count;
} view_column;

/**
 * Copy views into the offset layout: sets values, data and their owners of a, whose type, length
 * and validity are set. Errors: GLV_E_INVALID_INPUT naming the column for views that point
 * nowhere; GLV_E_LIMIT when the bytes do not fit into 32-bit offsets.
 */
glv_status array_from_views(glv_env *env, const view_column *v, const char *column, array *a,
                            glv_error *err);

/** Make values of `width` bytes aligned: copies *values into a new buffer when they are not. *owner
 * is replaced then. */
glv_status array_align(glv_env *env, size_t width, size_t size, const void **values, buffer **owner,
                       glv_error *err);

#endif
