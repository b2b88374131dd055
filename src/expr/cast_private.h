/**
 * @file cast_private.h
 * The families of casts behind cast_array: one function each, which gets a supported pair of types
 * that differ.
 */
#ifndef GLAIVE_EXPR_CAST_PRIVATE_H
#define GLAIVE_EXPR_CAST_PRIVATE_H

#include "base/int256.h"
#include "expr/cast.h"
#include "expr/kernel.h"

/** One call of cast_array. */
typedef struct cast_job {
  glv_env *env;
  const array *from;
  const type *to;
  bool is_try;
} cast_job;

/** What a type is to a cast. */
enum cast_class {
  CAST_NULL,
  CAST_BOOL,
  CAST_SMALL_INT, /* those without a relation to dates: int8, int16, uint8 to uint64 */
  CAST_INT32,
  CAST_INT64,
  CAST_FLOAT16,
  CAST_FLOAT,
  CAST_DECIMAL,
  CAST_STRING,
  CAST_BINARY, /* binary, large_binary */
  CAST_BINARY_VIEW,
  CAST_FIXED_BINARY,
  CAST_DATE,
  CAST_TIME32,
  CAST_TIME64,
  CAST_TIMESTAMP,
  CAST_DURATION,
  CAST_INTERVAL,
  CAST_DICTIONARY, /* cast by its values */
  CAST_OTHER,      /* nested types */
  CAST_CLASSES
};
enum cast_class cast_class_of(type_kind kind);

/** The kind whose values lie in memory alike: int32 or int64 for dates, times, timestamps and
 * durations; all others as they are. */
type_kind cast_storage(type_kind kind);

/** kernel_begin for the result of a job. */
glv_status cast_begin(const cast_job *job, array *ret, void **ret_values, glv_error *err);

/** Row i has no value in the target type: make it null when trying, else fail with the formatted
 * message. Rows that are null are fine. */
glv_status cast_reject(const cast_job *job, array *a, size_t row, glv_error *err,
                       const char *format, ...) __attribute__((format(printf, 5, 6), cold));

/** bool, integers and floats among each other, by the kinds to read and write. */
glv_status cast_numbers_as(const cast_job *job, type_kind from, type_kind to, array *ret,
                           glv_error *err);
/** Decimals from and to numbers and other decimals. */
glv_status cast_decimals(const cast_job *job, array *ret, glv_error *err);
/** Anything to utf8, large_utf8, utf8_view. */
glv_status cast_to_text(const cast_job *job, array *ret, glv_error *err);
/** Strings to anything but strings and binaries. */
glv_status cast_from_text(const cast_job *job, array *ret, glv_error *err);
/** Strings, binaries and integers to binaries. */
glv_status cast_to_binary(const cast_job *job, array *ret, glv_error *err);
/** Dates, times, timestamps, durations and intervals among each other. */
glv_status cast_temporal(const cast_job *job, array *ret, glv_error *err);
/** A dictionary to anything; the result is never one. */
glv_status cast_from_dictionary(const cast_job *job, array *ret, glv_error *err);
/** Anything but a dictionary to a dictionary. */
glv_status cast_to_dictionary(const cast_job *job, array *ret, glv_error *err);

/** Whether a type has parts that are cast on their own: lists, structs, maps. */
bool cast_is_nested(const type *t);
/** cast_is_supported and the cast where one side is nested. */
bool cast_nested_is_supported(const type *from, const type *to);
glv_status cast_nested(const cast_job *job, array *ret, glv_error *err);

/** The zone of a timestamp type; *ret stays NULL when it has none. Release with zone_free. */
struct zone;
glv_status cast_zone_of(glv_env *env, const type *t, struct zone **ret, glv_error *err);

/** Decimal text (spaces around allowed, empty is 0, no exponent) as a number of that scale, rounded
 * half away from zero; false when it is not one or does not fit. */
bool cast_parse_decimal(str text, const type *to, void *ret_value);
/** Value i of a decimal array of either width. */
static inline int256 cast_decimal_at(const array *a, size_t i) {
  return a->type->kind == TYPE_DECIMAL256
             ? int256_load((const uint8_t *)a->values + i * sizeof(int256))
             : int256_of(int128_load((const uint8_t *)a->values + i * sizeof(int128)));
}

#endif
