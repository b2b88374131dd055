/**
 * @file sink_private.h
 * The fields of packed structs and the values of dictionaries, for the functions of all sinks.
 */
#ifndef GLAIVE_FORMAT_SINK_PRIVATE_H
#define GLAIVE_FORMAT_SINK_PRIVATE_H

#include "format/sink.h"

/** As the functions of the same names, for every field. */
glv_status sink_init_parts(sink *s, glv_error *err);
void sink_dispose_parts(sink *s);
/** Room for `length` rows. */
glv_status sink_grow_parts(sink *s, size_t length, glv_error *err);
glv_status sink_zero_parts(sink *s, size_t count, glv_error *err);
/** The children of a struct array. */
glv_status sink_finish_parts(sink *s, array *parent, glv_error *err);

/** Make a the finished array of a dictionary type, whose length and validity are set. */
glv_status sink_finish_dictionary(sink *s, array *a, glv_error *err);
void sink_dispose_dictionary(sink *s);

#endif
