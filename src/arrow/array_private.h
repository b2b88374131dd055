/**
 * @file array_private.h
 * What the files about arrays share.
 */
#ifndef GLAIVE_ARROW_ARRAY_PRIVATE_H
#define GLAIVE_ARROW_ARRAY_PRIVATE_H

#include "arrow/array.h"

/** 64 zero bytes: the values, offsets or data of empty arrays. */
extern const uint8_t array_no_bytes[64] __attribute__((aligned(64)));

/** How the values of a type are stored. */
typedef enum array_layout {
  LAYOUT_NULL,
  LAYOUT_BOOL,
  LAYOUT_FIXED, /* also the indices of a dictionary */
  LAYOUT_BYTES, /* offsets and data */
  LAYOUT_LIST,  /* offsets and one child; also map */
  LAYOUT_FIXED_LIST,
  LAYOUT_STRUCT,
} array_layout;

array_layout array_layout_of(const type *t);

/** Offset i of a variable-width or list array. */
static inline int64_t array_offset(const array *a, size_t i) {
  return type_offset_width(a->type->kind) == 8 ? ((const int64_t *)a->values)[i]
                                               : ((const int32_t *)a->values)[i];
}

/** An array of a type and length with neither memory nor nulls. */
array array_empty(const type *t, size_t length);
/** Fails when bytes do not fit into the offsets of a type. */
glv_status array_check_offset_range(const type *t, size_t bytes, glv_error *err);

#endif
