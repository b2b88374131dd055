/**
 * @file builder.h
 * Append values one by one into a new array of any type that is neither nested nor a dictionary.
 */
#ifndef GLAIVE_ARROW_BUILDER_H
#define GLAIVE_ARROW_BUILDER_H

#include "arrow/array.h"

typedef struct builder {
  glv_env *env;
  const type *type;
  size_t length;
  size_t null_count;
  size_t capacity;
  buffer *validity; /* NULL until the first null */
  buffer *values;   /* values, bits, or offsets */
  buffer *data;
  size_t data_size;
  size_t offset_width; /* of type */
} builder;

/** t is borrowed and must outlive the array. */
void builder_init(builder *b, glv_env *env, const type *t);
void builder_dispose(builder *b); /* usable with CLEANUP; a zeroed builder is fine */
/** Make room for more values (and bytes of variable-width data). Errors of all: GLV_E_NOMEM,
 * GLV_E_LIMIT past 2^31-1 bytes. */
glv_status builder_reserve(builder *b, size_t values, size_t bytes, glv_error *err);
glv_status builder_append_null(builder *b, glv_error *err);
glv_status builder_append_bool(builder *b, bool value, glv_error *err);
/** width(type) bytes. */
glv_status builder_append_fixed(builder *b, const void *value, glv_error *err);
glv_status builder_append_str(builder *b, str value, glv_error *err);
/** `count` texts that lie one after another: text i of bytes begins where text i - 1 ends, at
 * ends[i - 1] (0 for the first). */
glv_status builder_append_texts(builder *b, const char *bytes, const uint32_t *ends, size_t count,
                                glv_error *err);
/** Where the bytes of the next text can be written, at most `most` of them; builder_end_str tells
 * how many they were. */
glv_status builder_begin_str(builder *b, size_t most, char **ret, glv_error *err);
void builder_end_str(builder *b, size_t size);
/** The array; the builder becomes empty and usable again. */
glv_status builder_finish(builder *b, array *ret, glv_error *err);

#endif
