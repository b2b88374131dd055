/**
 * @file assemble.h
 * Nested arrays out of leaves and their levels (lance-file-format section 6).
 */
#ifndef GLAIVE_FORMAT_ASSEMBLE_H
#define GLAIVE_FORMAT_ASSEMBLE_H

#include "format/file_reader.h"
#include "format/levels.h"

/** What was read of a leaf. */
typedef struct leaf_data {
  const field_place *place;
  leaf_path path;
  level_list levels;
  array values; /* one for each entry that owns one */
} leaf_data;

/**
 * Put together the array of a field.
 *
 * @param leaves  those that were read, in the order of the tree; each has the same rows. The values
 * are moved out.
 * @param rows    of the result.
 * Errors: GLV_E_CORRUPT when leaves below one list disagree about it; GLV_E_LIMIT; GLV_E_NOMEM.
 */
glv_status assemble(glv_env *env, const field_place *place, leaf_data *leaves, size_t count,
                    size_t rows, array *ret, glv_error *err);

#endif
