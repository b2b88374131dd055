/* Casts among booleans, integers and floats (sql-expressions 11.3).
 *
 * Pairs that cannot fail and occur often have a loop of their own. All others go in two steps over
 * runs of values: widen to int64, uint64 or double, which is exact, then narrow with a check. A run
 * is converted without looking at validity, which vectorizes; only a run in which something did not
 * fit is looked at value by value. */
#include <stdio.h>

#include "base/cpu.h"
#include "base/half.h"
#include "expr/cast_private.h"
#include "expr/number_kernel.h"

enum { RUN = 512 };

enum wide_kind { WIDE_INT, WIDE_UINT, WIDE_FLOAT };

/* Values of 8 bytes each: those of the array, or widened ones in the room. */
typedef struct wide_run {
  enum wide_kind kind;
  union {
    const int64_t *ints;
    const uint64_t *uints;
    const double *floats;
  } v;
  union {
    int64_t ints[RUN];
    uint64_t uints[RUN];
    double floats[RUN];
  } room;
} wide_run;

#define WIDEN(kind_, ctype, member, wide)                                                          \
  case kind_:                                                                                      \
    for (size_t i = 0; i < count; i++) {                                                           \
      r->room.member[i] = wide(((const ctype *)a->values)[first + i]);                             \
    }                                                                                              \
    r->v.member = r->room.member;                                                                  \
    break

static void widen(const array *a, type_kind kind, size_t first, size_t count, wide_run *r) {
  r->kind = type_is_float(kind) ? WIDE_FLOAT : kind == TYPE_UINT64 ? WIDE_UINT : WIDE_INT;
  switch (kind) {
    WIDEN(TYPE_INT8, int8_t, ints, (int64_t));
    WIDEN(TYPE_INT16, int16_t, ints, (int64_t));
    WIDEN(TYPE_INT32, int32_t, ints, (int64_t));
    WIDEN(TYPE_UINT8, uint8_t, ints, (int64_t));
    WIDEN(TYPE_UINT16, uint16_t, ints, (int64_t));
    WIDEN(TYPE_UINT32, uint32_t, ints, (int64_t));
    WIDEN(TYPE_FLOAT16, uint16_t, floats, (double)half_to_float);
    WIDEN(TYPE_FLOAT32, float, floats, (double));
  case TYPE_INT64:
  case TYPE_UINT64:
  case TYPE_FLOAT64:
    r->v.ints = (const int64_t *)a->values + first; /* of any member: all are of one width */
    break;
  default: /* bool */
    for (size_t i = 0; i < count; i++) {
      r->room.ints[i] = array_bool(a, first + i);
    }
    r->v.ints = r->room.ints;
  }
}

/* Smallest and largest value of a target as the wide kinds see them; floats: exclusive bounds, the
 * target's range after truncation. */
typedef struct limits {
  int64_t low, high;
  uint64_t uhigh;
  double above, below;
} limits;

static limits limits_of(type_kind kind) {
  switch (kind) {
  case TYPE_INT8:
    return (limits){INT8_MIN, INT8_MAX, INT8_MAX, -129.0, 128.0};
  case TYPE_INT16:
    return (limits){INT16_MIN, INT16_MAX, INT16_MAX, -32769.0, 32768.0};
  case TYPE_INT32:
    return (limits){INT32_MIN, INT32_MAX, INT32_MAX, -2147483649.0, 2147483648.0};
  case TYPE_UINT8:
    return (limits){0, UINT8_MAX, UINT8_MAX, -1.0, 256.0};
  case TYPE_UINT16:
    return (limits){0, UINT16_MAX, UINT16_MAX, -1.0, 65536.0};
  case TYPE_UINT32:
    return (limits){0, UINT32_MAX, UINT32_MAX, -1.0, 4294967296.0};
  case TYPE_UINT64:
    return (limits){0, INT64_MAX, UINT64_MAX, -1.0, 18446744073709551616.0};
  default: /* int64: the double below -2^63 is -2^63 - 2048 */
    return (limits){INT64_MIN, INT64_MAX, INT64_MAX, -9223372036854777856.0, 9223372036854775808.0};
  }
}

static bool wide_fits(const wide_run *r, size_t i, const limits *l) {
  switch (r->kind) {
  case WIDE_INT:
    return r->v.ints[i] >= l->low && r->v.ints[i] <= l->high;
  case WIDE_UINT:
    return r->v.uints[i] <= l->uhigh;
  case WIDE_FLOAT:
    return r->v.floats[i] > l->above && r->v.floats[i] < l->below;
  }
  return false;
}

/* The bits are gathered in the width of the values, which vectorises. */
CPU_CLONES static bool all_fit(const wide_run *r, size_t count, const limits *l) {
  uint64_t odd = 0;
  switch (r->kind) {
  case WIDE_INT:
    for (size_t i = 0; i < count; i++) {
      odd |= (uint64_t)(r->v.ints[i] < l->low) | (uint64_t)(r->v.ints[i] > l->high);
    }
    break;
  case WIDE_UINT:
    for (size_t i = 0; i < count; i++) {
      odd |= (uint64_t)(r->v.uints[i] > l->uhigh);
    }
    break;
  case WIDE_FLOAT:
    for (size_t i = 0; i < count; i++) {
      odd |= (uint64_t) !(r->v.floats[i] > l->above) | (uint64_t) !(r->v.floats[i] < l->below);
    }
    break;
  }
  return odd == 0;
}

static const char *wide_text(const wide_run *r, size_t i, char text[64]) {
  switch (r->kind) {
  case WIDE_INT:
    snprintf(text, 64, "%lld", (long long)r->v.ints[i]);
    break;
  case WIDE_UINT:
    snprintf(text, 64, "%llu", (unsigned long long)r->v.uints[i]);
    break;
  case WIDE_FLOAT:
    snprintf(text, 64, "%.17g", r->v.floats[i]);
    break;
  }
  return text;
}

/* Refuse the values that do not fit and put 0 in their place. */
static glv_status reject_run(const cast_job *job, wide_run *r, size_t first, size_t count,
                             const limits *l, array *ret, glv_error *err) {
  if (r->v.ints != r->room.ints) {
    memcpy(&r->room, r->v.ints, count * sizeof *r->v.ints);
    r->v.ints = r->room.ints;
  }
  for (size_t i = 0; i < count; i++) {
    if (wide_fits(r, i, l)) {
      continue;
    }
    if (job->is_try) {
      TRY(kernel_set_null(job->env, ret, first + i, err));
    } else if (array_is_valid(job->from, first + i)) {
      return FAIL(err, GLV_E_SQL_EXEC, "Can't cast value %s to type %s",
                  wide_text(r, i, (char[64]){0}), TYPE_TEXT(job->to));
    }
    r->room.ints[i] = 0; /* all bits zero is 0 in every member */
  }
  return GLV_OK;
}

#define NARROW_RUN(ctype, member, to)                                                              \
  for (size_t i = 0; i < count; i++) {                                                             \
    ((ctype *)values)[first + i] = to(r->v.member[i]);                                             \
  }

#define NARROW_TO(kind_, ctype, to)                                                                \
  case kind_:                                                                                      \
    switch (r->kind) {                                                                             \
    case WIDE_INT:                                                                                 \
      NARROW_RUN(ctype, ints, to) break;                                                           \
    case WIDE_UINT:                                                                                \
      NARROW_RUN(ctype, uints, to) break;                                                          \
    case WIDE_FLOAT:                                                                               \
      NARROW_RUN(ctype, floats, to) break;                                                         \
    }                                                                                              \
    break
#define NARROW(kind_, ctype) NARROW_TO(kind_, ctype, (ctype))
/* As the reference does, by way of 32 bits, which may round twice. */
#define TO_HALF(v) half_from_float((float)(v))

CPU_CLONES static void narrow(const wide_run *r, type_kind kind, void *values, size_t first,
                              size_t count) {
  switch (kind) {
    NARROW(TYPE_INT8, int8_t);
    NARROW(TYPE_INT16, int16_t);
    NARROW(TYPE_INT32, int32_t);
    NARROW(TYPE_INT64, int64_t);
    NARROW(TYPE_UINT8, uint8_t);
    NARROW(TYPE_UINT16, uint16_t);
    NARROW(TYPE_UINT32, uint32_t);
    NARROW(TYPE_UINT64, uint64_t);
    NARROW_TO(TYPE_FLOAT16, uint16_t, TO_HALF);
    NARROW(TYPE_FLOAT32, float);
    NARROW(TYPE_FLOAT64, double);
  default: /* bool: everything but zero, NaN included */
    for (size_t i = 0; i < count; i++) {
      const bool zero = r->kind == WIDE_FLOAT ? r->v.floats[i] == 0.0 : r->v.ints[i] == 0;
      bit_put(values, first + i, !zero);
    }
  }
}

glv_status cast_numbers_as(const cast_job *job, type_kind from, type_kind to, array *ret,
                           glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(cast_begin(job, &a, &values, err));
  const bool checked = type_is_integer(to);
  const limits l = limits_of(to);
  size_t length = a.length;
  if (number_widens(from, to)) {
    number_widen(from, to, job->from->values, length, values);
    length = 0;
  }
  const size_t width = type_width(job->from->type);
  for (size_t first = 0; first < length; first += RUN) {
    wide_run r;
    const size_t count = size_min(RUN, length - first);
    const size_t next = first + count;
    cpu_fetch((const char *)job->from->values + width * next, width * size_min(RUN, length - next));
    widen(job->from, from, first, count, &r);
    if (checked && !all_fit(&r, count, &l)) {
      TRY(reject_run(job, &r, first, count, &l, &a, err));
    }
    narrow(&r, to, values, first, count);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}
