/* Decimal sums: plain integers of 128 or 256 bits, as the reference adds them. */
#include "expr/aggregate_decimal.h"

#include "base/int256.h"

static void add128(void *sums, const accumulator_input *in) {
  const array *x = &in->args[0];
  const uint8_t *v = x->values;
  uint8_t *to = sums;
  for (size_t i = 0; i < in->rows; i++) {
    if (array_is_valid(x, i)) {
      uint8_t *at = to + 16 * (size_t)(in->group != NULL ? in->group[i] : 0);
      int128_store(at, (int128)((uint128)int128_load(at) + (uint128)int128_load(v + 16 * i)));
    }
  }
}

static void add256(void *sums, const accumulator_input *in) {
  const array *x = &in->args[0];
  const uint8_t *v = x->values;
  uint8_t *to = sums;
  for (size_t i = 0; i < in->rows; i++) {
    if (array_is_valid(x, i)) {
      uint8_t *at = to + 32 * (size_t)(in->group != NULL ? in->group[i] : 0);
      const int256 a = int256_load(at);
      const int256 b = int256_load(v + 32 * i);
      const uint128 low = a.low + b.low;
      const uint128 high = (uint128)a.high + (uint128)b.high + (low < a.low);
      int256_store(at, (int256){low, (int128)high});
    }
  }
}

void decimal_add(void *sums, const accumulator_input *in) {
  if (in->args[0].type->kind == TYPE_DECIMAL128) {
    add128(sums, in);
  } else {
    add256(sums, in);
  }
}

static glv_status overflow(glv_error *err) {
  return FAIL(err, GLV_E_SQL_EXEC,
              "Arithmetic Overflow in AvgAccumulator: an average does not "
              "fit its decimal type");
}

static glv_status divide128(uint8_t *sums, const uint64_t *counts, size_t groups, int up,
                            const type *to, glv_error *err) {
  const uint128 limit = (uint128)int128_power10(to->precision);
  for (size_t i = 0; i < groups; i++) {
    int128 value = int128_load(sums + 16 * i);
    if (counts[i] == 0) {
      continue;
    }
    if (!int128_scale_up(value, up, &value)) {
      return overflow(err);
    }
    value /= (int128)counts[i];
    if (int128_magnitude(value) >= limit) {
      return overflow(err);
    }
    int128_store(sums + 16 * i, value);
  }
  return GLV_OK;
}

static glv_status divide256(uint8_t *sums, const uint64_t *counts, size_t groups, int up,
                            const type *to, glv_error *err) {
  for (size_t i = 0; i < groups; i++) {
    int256 value = int256_load(sums + 32 * i);
    int256 rest = {0};
    if (counts[i] == 0) {
      continue;
    }
    if (!int256_scale_up(value, up, &value) ||
        !int256_div(value, int256_of((int128)counts[i]), &value, &rest) ||
        !int256_has_digits(value, to->precision)) {
      return overflow(err);
    }
    int256_store(sums + 32 * i, value);
  }
  return GLV_OK;
}

glv_status decimal_divide(void *sums, const uint64_t *counts, size_t groups, const type *from,
                          const type *to, glv_error *err) {
  const int up = to->scale - from->scale;
  if (up < 0) { /* a negative scale at the edge of what the type holds */
    return overflow(err);
  }
  return to->kind == TYPE_DECIMAL128 ? divide128(sums, counts, groups, up, to, err)
                                     : divide256(sums, counts, groups, up, to, err);
}
