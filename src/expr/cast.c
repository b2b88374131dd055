/* Which types can be cast to which (the matrix of sql-expressions 11.2), and the choice of the
 * family that does it. Casts between types of the same layout share the memory. */
#include "expr/cast.h"

#include <stdarg.h>

#include "expr/cast_private.h"
#include "expr/zone.h"

enum cast_class cast_class_of(type_kind kind) {
  switch (kind) {
  case TYPE_NULL:
    return CAST_NULL;
  case TYPE_BOOL:
    return CAST_BOOL;
  case TYPE_INT8:
  case TYPE_INT16:
  case TYPE_UINT8:
  case TYPE_UINT16:
  case TYPE_UINT32:
  case TYPE_UINT64:
    return CAST_SMALL_INT;
  case TYPE_INT32:
    return CAST_INT32;
  case TYPE_INT64:
    return CAST_INT64;
  case TYPE_FLOAT16:
    return CAST_FLOAT16;
  case TYPE_FLOAT32:
  case TYPE_FLOAT64:
    return CAST_FLOAT;
  case TYPE_DECIMAL128:
  case TYPE_DECIMAL256:
    return CAST_DECIMAL;
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
  case TYPE_UTF8_VIEW:
    return CAST_STRING;
  case TYPE_BINARY:
  case TYPE_LARGE_BINARY:
    return CAST_BINARY;
  case TYPE_BINARY_VIEW:
    return CAST_BINARY_VIEW;
  case TYPE_FIXED_SIZE_BINARY:
    return CAST_FIXED_BINARY;
  case TYPE_DATE32:
  case TYPE_DATE64:
    return CAST_DATE;
  case TYPE_TIME32:
    return CAST_TIME32;
  case TYPE_TIME64:
    return CAST_TIME64;
  case TYPE_TIMESTAMP:
    return CAST_TIMESTAMP;
  case TYPE_DURATION:
    return CAST_DURATION;
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return CAST_INTERVAL;
  case TYPE_DICTIONARY:
    return CAST_DICTIONARY;
  case TYPE_NONE:
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_FIXED_SIZE_LIST:
  case TYPE_STRUCT:
  case TYPE_MAP:
    return CAST_OTHER;
  }
  return CAST_OTHER;
}

type_kind cast_storage(type_kind kind) {
  switch (kind) {
  case TYPE_DATE32:
  case TYPE_TIME32:
    return TYPE_INT32;
  case TYPE_DATE64:
  case TYPE_TIME64:
  case TYPE_TIMESTAMP:
  case TYPE_DURATION:
    return TYPE_INT64;
  default:
    return kind;
  }
}

#define B(class) (1u << (class))
#define INTEGERS (B(CAST_SMALL_INT) | B(CAST_INT32) | B(CAST_INT64))
#define NUMBERS (INTEGERS | B(CAST_FLOAT16) | B(CAST_FLOAT))
#define TIMES (B(CAST_TIME32) | B(CAST_TIME64))
#define TICKS (B(CAST_TIMESTAMP) | B(CAST_DURATION))
#define BINARIES (B(CAST_BINARY) | B(CAST_BINARY_VIEW))
/* What every integer becomes. */
#define FROM_INTEGER                                                                               \
  (B(CAST_BOOL) | NUMBERS | B(CAST_DECIMAL) | B(CAST_STRING) | B(CAST_BINARY) | TICKS)

/* For every source the set of targets. */
static const unsigned targets[CAST_CLASSES] = {
    [CAST_NULL] = ~0u,
    [CAST_BOOL] = B(CAST_BOOL) | NUMBERS | B(CAST_STRING),
    [CAST_SMALL_INT] = FROM_INTEGER,
    [CAST_INT32] = FROM_INTEGER | B(CAST_DATE) | B(CAST_TIME32),
    [CAST_INT64] = FROM_INTEGER | B(CAST_DATE) | B(CAST_TIME64),
    [CAST_FLOAT16] = B(CAST_BOOL) | NUMBERS | B(CAST_STRING) | TICKS,
    [CAST_FLOAT] = B(CAST_BOOL) | NUMBERS | B(CAST_DECIMAL) | B(CAST_STRING) | TICKS,
    [CAST_DECIMAL] =
        B(CAST_NULL) | INTEGERS | B(CAST_FLOAT) | B(CAST_DECIMAL) | B(CAST_STRING) | TICKS,
    [CAST_STRING] = B(CAST_BOOL) | NUMBERS | B(CAST_DECIMAL) | B(CAST_STRING) | BINARIES |
                    B(CAST_DATE) | TIMES | B(CAST_TIMESTAMP) | B(CAST_INTERVAL),
    [CAST_BINARY] = B(CAST_STRING) | BINARIES | B(CAST_FIXED_BINARY),
    [CAST_BINARY_VIEW] = B(CAST_STRING) | BINARIES,
    [CAST_FIXED_BINARY] = BINARIES,
    [CAST_DATE] = B(CAST_INT32) | B(CAST_INT64) | B(CAST_STRING) | B(CAST_DATE) | B(CAST_TIMESTAMP),
    [CAST_TIME32] = B(CAST_INT32) | B(CAST_INT64) | B(CAST_STRING) | TIMES,
    [CAST_TIME64] = B(CAST_INT64) | B(CAST_STRING) | TIMES,
    [CAST_TIMESTAMP] =
        NUMBERS | B(CAST_DECIMAL) | B(CAST_STRING) | B(CAST_DATE) | TIMES | B(CAST_TIMESTAMP),
    [CAST_DURATION] =
        NUMBERS | B(CAST_DECIMAL) | B(CAST_STRING) | B(CAST_DURATION) | B(CAST_INTERVAL),
    [CAST_INTERVAL] = B(CAST_STRING) | B(CAST_DURATION),
};

static const type *without_dictionary(const type *t) {
  return t->kind == TYPE_DICTIONARY ? t->children[0].type : t;
}

bool cast_is_supported(const type *from, const type *to) {
  from = without_dictionary(from);
  to = without_dictionary(to);
  if (type_equal(from, to)) {
    return true;
  }
  if (cast_is_nested(from) || cast_is_nested(to)) {
    return cast_nested_is_supported(from, to);
  }
  return (targets[cast_class_of(from->kind)] & B(cast_class_of(to->kind))) != 0;
}

glv_status cast_begin(const cast_job *job, array *ret, void **ret_values, glv_error *err) {
  const operand o = {.a = *job->from};
  return kernel_begin(job->env, job->to, &o, 1, job->from->length, ret, ret_values, err);
}

glv_status cast_reject(const cast_job *job, array *a, size_t row, glv_error *err,
                       const char *format, ...) {
  if (!array_is_valid(job->from, row)) {
    return GLV_OK;
  }
  if (job->is_try) {
    return kernel_set_null(job->env, a, row, err);
  }
  va_list arguments;
  va_start(arguments, format);
  const glv_status status = error_set_va(err, GLV_E_SQL_EXEC, format, arguments);
  va_end(arguments);
  return status;
}

glv_status cast_zone_of(glv_env *env, const type *t, zone **ret, glv_error *err) {
  if (t->kind != TYPE_TIMESTAMP || t->timezone == NULL) {
    return GLV_OK;
  }
  return zone_new(env, str_of(t->timezone), ret, err);
}

static bool is_temporal(enum cast_class c) { return c >= CAST_DATE && c <= CAST_INTERVAL; }

/* int32 days to a date in milliseconds, which takes the date in days between. */
static glv_status cast_days(const cast_job *job, array *ret, glv_error *err) {
  CLEANUP(array_unref) array days = kernel_retype(job->from, type_simple(TYPE_DATE32));
  cast_job second = *job;
  second.from = &days;
  return cast_temporal(&second, ret, err);
}

static glv_status cast_differing(const cast_job *job, array *ret, glv_error *err) {
  const enum cast_class from = cast_class_of(job->from->type->kind);
  const enum cast_class to = cast_class_of(job->to->kind);
  if (from == CAST_NULL || to == CAST_NULL) {
    return array_new_null(job->env, job->to, job->from->length, ret, err);
  }
  if (from == CAST_DICTIONARY) {
    return cast_from_dictionary(job, ret, err);
  }
  if (to == CAST_DICTIONARY) {
    return cast_to_dictionary(job, ret, err);
  }
  if (cast_is_nested(job->from->type) || cast_is_nested(job->to)) {
    return cast_nested(job, ret, err);
  }
  if (to == CAST_STRING) {
    return cast_to_text(job, ret, err);
  }
  if (to == CAST_BINARY || to == CAST_BINARY_VIEW || to == CAST_FIXED_BINARY) {
    return cast_to_binary(job, ret, err);
  }
  if (from == CAST_STRING) {
    return cast_from_text(job, ret, err);
  }
  if (is_temporal(from) && is_temporal(to)) {
    return cast_temporal(job, ret, err);
  }
  if (from == CAST_DECIMAL || to == CAST_DECIMAL) {
    return cast_decimals(job, ret, err);
  }
  if (from == CAST_INT32 && job->to->kind == TYPE_DATE64) {
    return cast_days(job, ret, err);
  }
  return cast_numbers_as(job, cast_storage(job->from->type->kind), cast_storage(job->to->kind), ret,
                         err);
}

glv_status cast_array(glv_env *env, const array *a, const type *to, bool is_try, array *ret,
                      glv_error *err) {
  if (type_equal(a->type, to)) {
    *ret = kernel_retype(a, to);
    return GLV_OK;
  }
  if (!cast_is_supported(a->type, to)) {
    return FAIL(err, GLV_E_SQL_PLAN, "Unsupported CAST from %s to %s", TYPE_TEXT(a->type),
                TYPE_TEXT(to));
  }
  const cast_job job = {.env = env, .from = a, .to = to, .is_try = is_try};
  return cast_differing(&job, ret, err);
}
