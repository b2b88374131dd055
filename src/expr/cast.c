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
  case TYPE_INT64:
    return CAST_INT;
  case TYPE_FLOAT32:
  case TYPE_FLOAT64:
    return CAST_FLOAT;
  case TYPE_DECIMAL128:
    return CAST_DECIMAL;
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
  case TYPE_UTF8_VIEW:
    return CAST_STRING;
  case TYPE_BINARY:
  case TYPE_LARGE_BINARY:
  case TYPE_BINARY_VIEW:
    return CAST_BINARY;
  case TYPE_DATE32:
    return CAST_DATE;
  case TYPE_TIMESTAMP:
    return CAST_TIMESTAMP;
  case TYPE_NONE:
  case TYPE_FLOAT16:
  case TYPE_DECIMAL256:
  case TYPE_DATE64:
  case TYPE_TIME32:
  case TYPE_TIME64:
  case TYPE_DURATION:
  case TYPE_INTERVAL_MONTH_DAY_NANO:
  case TYPE_FIXED_SIZE_BINARY:
  case TYPE_DICTIONARY:
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_FIXED_SIZE_LIST:
  case TYPE_STRUCT:
  case TYPE_MAP:
    return CAST_OTHER;
  }
  return CAST_OTHER;
}

#define B(class) (1u << (class))

/* For every source the set of targets. */
static const unsigned targets[CAST_CLASSES] = {
    [CAST_NULL] = ~0u,
    [CAST_BOOL] = B(CAST_BOOL) | B(CAST_SMALL_INT) | B(CAST_INT) | B(CAST_FLOAT) | B(CAST_STRING),
    [CAST_SMALL_INT] = B(CAST_BOOL) | B(CAST_SMALL_INT) | B(CAST_INT) | B(CAST_FLOAT) |
                       B(CAST_DECIMAL) | B(CAST_STRING) | B(CAST_BINARY) | B(CAST_TIMESTAMP),
    [CAST_INT] = B(CAST_BOOL) | B(CAST_SMALL_INT) | B(CAST_INT) | B(CAST_FLOAT) | B(CAST_DECIMAL) |
                 B(CAST_STRING) | B(CAST_BINARY) | B(CAST_DATE) | B(CAST_TIMESTAMP),
    [CAST_FLOAT] = B(CAST_BOOL) | B(CAST_SMALL_INT) | B(CAST_INT) | B(CAST_FLOAT) |
                   B(CAST_DECIMAL) | B(CAST_STRING) | B(CAST_TIMESTAMP),
    [CAST_DECIMAL] = B(CAST_SMALL_INT) | B(CAST_INT) | B(CAST_FLOAT) | B(CAST_DECIMAL) |
                     B(CAST_STRING) | B(CAST_TIMESTAMP),
    [CAST_STRING] = B(CAST_BOOL) | B(CAST_SMALL_INT) | B(CAST_INT) | B(CAST_FLOAT) |
                    B(CAST_DECIMAL) | B(CAST_STRING) | B(CAST_BINARY) | B(CAST_DATE) |
                    B(CAST_TIMESTAMP),
    [CAST_BINARY] = B(CAST_STRING) | B(CAST_BINARY),
    [CAST_DATE] = B(CAST_INT) | B(CAST_STRING) | B(CAST_DATE) | B(CAST_TIMESTAMP),
    [CAST_TIMESTAMP] = B(CAST_SMALL_INT) | B(CAST_INT) | B(CAST_FLOAT) | B(CAST_DECIMAL) |
                       B(CAST_STRING) | B(CAST_DATE) | B(CAST_TIMESTAMP),
    [CAST_OTHER] = 0,
};

bool cast_is_supported(const type *from, const type *to) {
  if (type_equal(from, to)) {
    return true;
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

static glv_status cast_from_temporal(const cast_job *job, enum cast_class to, array *ret,
                                     glv_error *err) {
  if (to == CAST_DATE || to == CAST_TIMESTAMP) {
    return cast_temporal(job, ret, err);
  }
  return cast_numbers_as(job, job->from->type->kind == TYPE_DATE32 ? TYPE_INT32 : TYPE_INT64,
                         job->to->kind, ret, err);
}

static glv_status cast_differing(const cast_job *job, array *ret, glv_error *err) {
  const enum cast_class from = cast_class_of(job->from->type->kind);
  const enum cast_class to = cast_class_of(job->to->kind);
  if (from == CAST_NULL) {
    return array_new_null(job->env, job->to, job->from->length, ret, err);
  }
  if (to == CAST_STRING) {
    return cast_to_text(job, ret, err);
  }
  if (to == CAST_BINARY) {
    return cast_to_binary(job, ret, err);
  }
  if (from == CAST_STRING) {
    return cast_from_text(job, ret, err);
  }
  if (from == CAST_DECIMAL || to == CAST_DECIMAL) {
    return cast_decimals(job, ret, err);
  }
  if (from == CAST_DATE || from == CAST_TIMESTAMP) {
    return cast_from_temporal(job, to, ret, err);
  }
  if (to == CAST_DATE || to == CAST_TIMESTAMP) {
    return cast_numbers_as(job, job->from->type->kind, to == CAST_DATE ? TYPE_INT32 : TYPE_INT64,
                           ret, err);
  }
  return cast_numbers(job, ret, err);
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
