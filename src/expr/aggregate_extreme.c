/*
 * min and max of fixed-width values, and bit_and, bit_or, bit_xor: one value per group in the type
 * itself. Texts and nested values are picked (aggregate_pick.c).
 *
 * Floats: over one group without GROUP BY the order is total and NaN is the largest. Within groups
 * the reference takes a value over whenever it compares as better or not at all, so that a NaN is
 * forgotten with the next value of its group; zeros of either sign are equal there. Both are
 * reproduced, since views must hold what the reference would put there.
 */
#include "base/half.h"
#include "base/int256.h"
#include "expr/aggregate_private.h"

struct extremes {
  states best;
  states seen;
};

typedef void (*take_better)(void *best, uint8_t *seen, const accumulator_input *in);

#define IDENTITY(v) (v)
#define TOTAL32(v) ((v) ^ (((v) >> 31) & INT32_MAX))
#define TOTAL64(v) ((v) ^ (((v) >> 63) & INT64_MAX))
#define LESS(a, b) ((a) < (b))
#define GREATER(a, b) ((a) > (b))
#define NOT_GREATER_EQUAL(a, b) (!((a) >= (b)))
#define NOT_LESS_EQUAL(a, b) (!((a) <= (b)))

/* key: what values are compared by; is_better(new, old) */
#define DEFINE_BETTER(name, ctype, key, is_better)                                                 \
  static void name(void *best_values, uint8_t *seen, const accumulator_input *in) {                \
    const array *x = &in->args[0];                                                                 \
    const ctype *v = (const ctype *)x->values;                                                     \
    ctype *best = (ctype *)best_values;                                                            \
    const bool has_nulls = array_has_nulls(x);                                                     \
    if (in->group == NULL && !has_nulls && in->rows > 0) {                                         \
      ctype one = seen[0] ? best[0] : v[0];                                                        \
      for (size_t i = 0; i < in->rows; i++) {                                                      \
        one = is_better(key(v[i]), key(one)) ? v[i] : one;                                         \
      }                                                                                            \
      best[0] = one;                                                                               \
      seen[0] = 1;                                                                                 \
      return;                                                                                      \
    }                                                                                              \
    for (size_t i = 0; i < in->rows; i++) {                                                        \
      const size_t g = in->group != NULL ? in->group[i] : 0;                                       \
      if (has_nulls && !array_is_valid(x, i)) {                                                    \
        continue;                                                                                  \
      }                                                                                            \
      if (!seen[g] || is_better(key(v[i]), key(best[g]))) {                                        \
        best[g] = v[i];                                                                            \
        seen[g] = 1;                                                                               \
      }                                                                                            \
    }                                                                                              \
  }

#define DEFINE_BOTH(suffix, ctype, key)                                                            \
  DEFINE_BETTER(min_##suffix, ctype, key, LESS)                                                    \
  DEFINE_BETTER(max_##suffix, ctype, key, GREATER)

DEFINE_BOTH(i8, int8_t, IDENTITY)
DEFINE_BOTH(i16, int16_t, IDENTITY)
DEFINE_BOTH(i32, int32_t, IDENTITY)
DEFINE_BOTH(i64, int64_t, IDENTITY)
DEFINE_BOTH(u8, uint8_t, IDENTITY)
DEFINE_BOTH(u16, uint16_t, IDENTITY)
DEFINE_BOTH(u32, uint32_t, IDENTITY)
DEFINE_BOTH(u64, uint64_t, IDENTITY)
DEFINE_BOTH(total32, int32_t, TOTAL32)
DEFINE_BOTH(total64, int64_t, TOTAL64)
DEFINE_BETTER(min_f16, uint16_t, half_to_float, NOT_GREATER_EQUAL)
DEFINE_BETTER(max_f16, uint16_t, half_to_float, NOT_LESS_EQUAL)
DEFINE_BETTER(min_f32, float, IDENTITY, NOT_GREATER_EQUAL)
DEFINE_BETTER(max_f32, float, IDENTITY, NOT_LESS_EQUAL)
DEFINE_BETTER(min_f64, double, IDENTITY, NOT_GREATER_EQUAL)
DEFINE_BETTER(max_f64, double, IDENTITY, NOT_LESS_EQUAL)

/* Decimals stand at any alignment. */
static void better_decimal(const accumulator *a, void *best, uint8_t *seen,
                           const accumulator_input *in) {
  const array *x = &in->args[0];
  const size_t width = type_width(x->type);
  const bool is_min = a->plan->function->kind == AGGREGATE_MIN;
  for (size_t i = 0; i < in->rows; i++) {
    if (!array_is_valid(x, i)) {
      continue;
    }
    const size_t g = in->group != NULL ? in->group[i] : 0;
    const uint8_t *v = (const uint8_t *)x->values + i * width;
    uint8_t *old = (uint8_t *)best + g * width;
    int order = -1;
    if (seen[g] && width == 16) {
      const int128 l = int128_load(v);
      const int128 r = int128_load(old);
      order = is_min ? (l > r) - (l < r) : (l < r) - (l > r);
    } else if (seen[g]) {
      order = is_min ? int256_compare(int256_load(v), int256_load(old))
                     : int256_compare(int256_load(old), int256_load(v));
    }
    if (order < 0) {
      memcpy(old, v, width);
      seen[g] = 1;
    }
  }
}

static take_better better_float(type_kind kind, bool is_min, bool has_groups) {
  switch (kind) {
  case TYPE_FLOAT16:
    return is_min ? min_f16 : max_f16;
  case TYPE_FLOAT32:
    return has_groups ? (is_min ? min_f32 : max_f32) : (is_min ? min_total32 : max_total32);
  default:
    return has_groups ? (is_min ? min_f64 : max_f64) : (is_min ? min_total64 : max_total64);
  }
}

static take_better better_of(type_kind kind, bool is_min, bool has_groups) {
  switch (kind) {
  case TYPE_INT8:
    return is_min ? min_i8 : max_i8;
  case TYPE_INT16:
    return is_min ? min_i16 : max_i16;
  case TYPE_INT32:
  case TYPE_DATE32:
  case TYPE_TIME32:
    return is_min ? min_i32 : max_i32;
  case TYPE_UINT8:
    return is_min ? min_u8 : max_u8;
  case TYPE_UINT16:
    return is_min ? min_u16 : max_u16;
  case TYPE_UINT32:
    return is_min ? min_u32 : max_u32;
  case TYPE_UINT64:
    return is_min ? min_u64 : max_u64;
  case TYPE_FLOAT16:
  case TYPE_FLOAT32:
  case TYPE_FLOAT64:
    return better_float(kind, is_min, has_groups);
  default: /* int64 and what is stored like it */
    return is_min ? min_i64 : max_i64;
  }
}

static glv_status grow(struct extremes *s, size_t groups, glv_error *err) {
  TRY(states_grow(&s->best, groups, err));
  return states_grow(&s->seen, groups, err);
}

static glv_status extreme_update(accumulator *a, const accumulator_input *in, glv_error *err) {
  struct extremes *s = a->state;
  const type_kind kind = a->plan->result->kind;
  TRY(grow(s, in->groups, err));
  if (type_is_decimal(kind)) {
    better_decimal(a, s->best.b->data, STATES(&s->seen, uint8_t), in);
    return GLV_OK;
  }
  const bool is_min = a->plan->function->kind == AGGREGATE_MIN;
  better_of(kind, is_min, in->group != NULL)(s->best.b->data, STATES(&s->seen, uint8_t), in);
  return GLV_OK;
}

/* ---- bits ---- */

#define BITS_LOOP(ctype)                                                                           \
  do {                                                                                             \
    const ctype *v = (const ctype *)x->values;                                                     \
    ctype *to = STATES(&s->best, ctype);                                                           \
    for (size_t i = 0; i < in->rows; i++) {                                                        \
      const size_t g = in->group != NULL ? in->group[i] : 0;                                       \
      if (array_is_valid(x, i)) {                                                                  \
        const uint64_t old = to[g];                                                                \
        const uint64_t both = kind == AGGREGATE_BIT_AND  ? old & v[i]                              \
                              : kind == AGGREGATE_BIT_OR ? old | v[i]                              \
                                                         : old ^ v[i];                             \
        to[g] = (ctype)(seen[g] ? both : v[i]);                                                    \
        seen[g] = 1;                                                                               \
      }                                                                                            \
    }                                                                                              \
  } while (false)

static glv_status bits_update(accumulator *a, const accumulator_input *in, glv_error *err) {
  struct extremes *s = a->state;
  const array *x = &in->args[0];
  const enum aggregate_kind kind = a->plan->function->kind;
  TRY(grow(s, in->groups, err));
  uint8_t *seen = STATES(&s->seen, uint8_t);
  switch (type_width(x->type)) {
  case 1:
    BITS_LOOP(uint8_t);
    break;
  case 2:
    BITS_LOOP(uint16_t);
    break;
  case 4:
    BITS_LOOP(uint32_t);
    break;
  default:
    BITS_LOOP(uint64_t);
    break;
  }
  return GLV_OK;
}

static glv_status extreme_finish(accumulator *a, size_t groups, array *ret, glv_error *err) {
  struct extremes *s = a->state;
  TRY(grow(s, groups, err));
  return states_finish(&s->best, a->plan->result, &s->seen, groups, ret, err);
}

static void extreme_dispose(accumulator *a) {
  struct extremes *s = a->state;
  states_dispose(&s->best);
  states_dispose(&s->seen);
  mem_free(a->env, s);
}

glv_status accumulator_extreme(accumulator *ret, glv_error *err) {
  static const accumulator_kind extreme = {extreme_update, extreme_finish, extreme_dispose};
  static const accumulator_kind bits = {bits_update, extreme_finish, extreme_dispose};
  const enum aggregate_kind kind = ret->plan->function->kind;
  struct extremes *s = mem_alloc(ret->env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  *s = (struct extremes){.best = states_of(ret->env, type_width(ret->plan->result)),
                         .seen = states_of(ret->env, sizeof(uint8_t))};
  ret->state = s;
  ret->kind = kind == AGGREGATE_MIN || kind == AGGREGATE_MAX ? &extreme : &bits;
  return GLV_OK;
}
