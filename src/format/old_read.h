/**
 * @file old_read.h
 * Fields of files of version 2.0, whose columns are encoded in another way: one column a field,
 * with trees of array encodings for pages.
 */
#ifndef GLAIVE_FORMAT_OLD_READ_H
#define GLAIVE_FORMAT_OLD_READ_H

#include "format/request.h"

/** As file_reader_read_field, which checks the rows and names file and column in errors. r is of
 * version 2.0. */
glv_status old_read_field(file_reader *r, const field_place *place, const read_request *q,
                          array *ret, glv_error *err);

#endif
