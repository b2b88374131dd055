/**
 * @file old_read.h
 * Fields of files of version 2.0, whose columns are encoded in another way: one column a field,
 * with trees of array encodings for pages.
 */
#ifndef GLAIVE_FORMAT_OLD_READ_H
#define GLAIVE_FORMAT_OLD_READ_H

#include "format/file_reader.h"

/** As file_reader_read_field, whose checks of the rows have been made. r is of version 2.0. */
glv_status old_read_field(file_reader *r, const field_place *place, uint64_t first, uint64_t count,
                          const uint32_t *rows, size_t selected, array *ret, glv_error *err);

#endif
