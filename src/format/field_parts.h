/**
 * @file field_parts.h
 * A field whose parts lie in several data files: fields of a struct that were added, or stored anew
 * with another type, after the first file was written.
 */
#ifndef GLAIVE_FORMAT_FIELD_PARTS_H
#define GLAIVE_FORMAT_FIELD_PARTS_H

#include "format/file_reader.h"

/** What of a field one file holds: the places of all others have no column. */
typedef struct field_part {
  file_reader *reader; /* borrowed */
  field_place place;   /* trees of the same field */
} field_part;

/** Does the file hold anything of the place that is wanted? */
bool field_place_is_held(const field_place *place);

/**
 * Decode rows of one field from all files that hold a part of it, as file_reader_read_field does
 * from one. A struct is null where it is null in every file; lists must have the same lengths in
 * all of them, and are null where the first file says so.
 *
 * @param part_count  at least 1.
 * Errors: those of file_reader_read_field; GLV_E_CORRUPT when lists differ; GLV_E_UNSUPPORTED for
 * lists of version 2.0 that are split.
 */
glv_status field_parts_read(glv_env *env, const field_part *parts, size_t part_count,
                            uint64_t first, uint64_t count, const uint32_t *rows, size_t selected,
                            array *ret, glv_error *err);

#endif
