/* Strings as numbers, booleans, decimals, dates, times, timestamps and intervals (sql-expressions
 * 11.3): all of the text must be the value. */
#include "base/cpu.h"
#include "base/half.h"
#include "base/number.h"
#include "expr/cast_private.h"
#include "expr/interval.h"
#include "expr/temporal.h"
#include "expr/unicode.h"

/* [sign] digits; the magnitude in *ret. */
static bool parse_integer(str text, uint64_t *ret, bool *ret_negative) {
  *ret_negative = str_starts_with(text, STR("-"));
  if (*ret_negative || str_starts_with(text, STR("+"))) {
    text = str_slice(text.data + 1, text.size - 1);
  }
  return str_to_u64(text, ret);
}

/* Whether the integer is in [-low, high]. */
static bool parse_bounded(str text, uint64_t low, uint64_t high, uint64_t *ret) {
  uint64_t magnitude = 0;
  bool negative = false;
  if (!parse_integer(text, &magnitude, &negative) || magnitude > (negative ? low : high)) {
    return false;
  }
  *ret = negative ? 0 - magnitude : magnitude;
  return true;
}

static bool parse_bool(str text, bool *ret) {
  static const char *const yes[] = {"t", "tr", "tru", "true", "y", "ye", "yes", "on", "1"};
  static const char *const no[] = {"f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0"};
  text = unicode_trim_space(text);
  for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
    if (str_equal_ascii_case(text, str_of(yes[i]))) {
      *ret = true;
      return true;
    }
  }
  for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
    if (str_equal_ascii_case(text, str_of(no[i]))) {
      *ret = false;
      return true;
    }
  }
  return false;
}

static const char out_of_unit[] = "the value is out of range of the unit";

static bool store_timestamp(temporal_parser *p, str text, const type *t, int64_t *ret,
                            const char **why) {
  instant at;
  *why = temporal_parse_timestamp(p, text, &at);
  *ret = 0;
  if (*why == NULL && !temporal_ticks(at, t->unit, ret)) {
    *why = out_of_unit;
  }
  return *why == NULL;
}

/* A date alone is short; what is longer is a timestamp, in UTC. */
static bool store_date64(temporal_parser *p, str text, int64_t *ret, const char **why) {
  enum { DATE_BYTES = 10 };
  instant at = {0};
  int64_t days = 0;
  if (text.size <= DATE_BYTES) {
    *why = temporal_parse_date(p, text, &days);
    at.seconds = days * DAY_SECONDS;
  } else {
    *why = temporal_parse_timestamp(p, text, &at);
  }
  *ret = 0;
  if (*why == NULL && !temporal_ticks(at, UNIT_MILLI, ret)) {
    *why = out_of_unit;
  }
  return *why == NULL;
}

/* A time of day, or else a number of ticks. */
static bool store_time(str text, const type *t, void *values, size_t i) {
  int64_t ticks = 0;
  uint64_t number = 0;
  const bool wide = t->kind == TYPE_TIME64;
  if (temporal_parse_time(text, &ticks)) {
    ticks /= INT64_C(1000000000) / temporal_rate(t->unit);
  } else if (parse_bounded(text, wide ? UINT64_C(1) << 63 : 2147483648,
                           wide ? INT64_MAX : INT32_MAX, &number)) {
    ticks = (int64_t)number;
  } else {
    return false;
  }
  if (wide) {
    ((int64_t *)values)[i] = ticks;
  } else {
    ((int32_t *)values)[i] = (int32_t)ticks;
  }
  return true;
}

static bool store_interval(str text, void *values, size_t i) {
  interval v;
  const bool ok = interval_parse(text, INTERVAL_MONTHS, &v);
  if (ok) {
    interval_store((uint8_t *)values + i * sizeof v, v);
  }
  return ok;
}

static bool store_half(str text, uint16_t *ret) {
  float value = 0;
  const bool ok = number_parse32(text, &value);
  *ret = half_from_float(value);
  return ok;
}

/* Parse one text into values[i]; false when it is not a value of the type. */
static bool store_value(temporal_parser *p, str text, const type *t, void *values, size_t i,
                        const char **why) {
  switch (t->kind) {
  case TYPE_FLOAT16:
    return store_half(text, &((uint16_t *)values)[i]);
  case TYPE_FLOAT32:
    return number_parse32(text, &((float *)values)[i]);
  case TYPE_FLOAT64:
    return number_parse64(text, &((double *)values)[i]);
  case TYPE_BOOL: {
    bool v = false;
    const bool ok = parse_bool(text, &v);
    bit_put(values, i, v);
    return ok;
  }
  case TYPE_DECIMAL128:
  case TYPE_DECIMAL256:
    return cast_parse_decimal(text, t, (uint8_t *)values + i * type_width(t));
  case TYPE_TIME32:
  case TYPE_TIME64:
    return store_time(text, t, values, i);
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return store_interval(text, values, i);
  case TYPE_DATE64:
    return store_date64(p, text, &((int64_t *)values)[i], why);
  case TYPE_DATE32: {
    int64_t days = 0;
    *why = temporal_parse_date(p, text, &days);
    ((int32_t *)values)[i] = *why == NULL ? (int32_t)days : 0;
    return *why == NULL;
  }
  default:
    return store_timestamp(p, text, t, &((int64_t *)values)[i], why);
  }
}

/* How far integers of a kind reach below and above zero. */
static void integer_limits(type_kind kind, size_t width, uint64_t *ret_low, uint64_t *ret_high) {
  const uint64_t all = UINT64_MAX >> (64 - 8 * width);
  const bool is_signed = type_is_signed(kind);
  *ret_low = is_signed ? all / 2 + 1 : 0;
  *ret_high = is_signed ? all / 2 : all;
}

static glv_status refuse_text(const cast_job *job, array *a, size_t i, str text, const char *why,
                              glv_error *err) {
  return cast_reject(job, a, i, err, "Cannot cast string '%.*s' to value of %s type%s%s",
                     STR_ARG(text), TYPE_TEXT(job->to), why != NULL ? ": " : "",
                     why != NULL ? why : "");
}

enum { RUN = 256, SHORT = 8 };
#define BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

/* What is no number of 1 to 8 digits. */
#define NOT_SHORT UINT64_MAX

/* The values of the digits of a short text, the first in the lowest byte, behind as many zeros as
 * fill the word; NOT_SHORT for others. Bytes that are no digits become 10 or more. `end`: of what
 * can be read. */
static inline uint64_t short_digits(str text, const char *end) {
  if (text.size - 1 >= SHORT || (size_t)(end - text.data) < SHORT) {
    return NOT_SHORT;
  }
  return (load_le64(text.data) ^ BYTES('0')) << (64 - 8 * text.size);
}

/* Not 0 when some byte is 10 or more. */
static inline uint64_t not_digits(uint64_t word) {
  return (word | (word + BYTES(0x76))) & BYTES(0x80);
}

/* The numbers that words of short_digits mean; *ret_all = all are numbers up to `high`. */
CPU_CLONES static void sum_digits(const uint64_t *words, size_t count, uint64_t high,
                                  uint64_t *values, bool *ret_all) {
  uint64_t bad = 0;
  for (size_t i = 0; i < count; i++) {
    const uint64_t word = words[i];
    const uint64_t twos = (word * 10 + (word >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    const uint64_t fours = (twos * 100 + (twos >> 16)) & UINT64_C(0x0000ffff0000ffff);
    values[i] = (fours & UINT32_MAX) * 10000 + (fours >> 32);
    bad |= not_digits(word) | (uint64_t)(values[i] > high);
  }
  *ret_all = bad == 0;
}

#define STORE_RUN(ctype)                                                                           \
  for (size_t i = 0; i < count; i++) {                                                             \
    ((ctype *)to)[first + i] = (ctype)from[i];                                                     \
  }                                                                                                \
  break

/* The low bytes of each number. */
static void store_integers(const uint64_t *from, size_t width, size_t first, size_t count,
                           void *to) {
  switch (width) {
  case 1:
    STORE_RUN(uint8_t);
  case 2:
    STORE_RUN(uint16_t);
  case 4:
    STORE_RUN(uint32_t);
  default:
    STORE_RUN(uint64_t);
  }
}

/* Rows that are null become 0; those that are no short number are read byte by byte. */
static glv_status parse_rest(const cast_job *job, const text_reader *r, size_t first, size_t count,
                             const uint64_t *words, uint64_t *values, array *a, glv_error *err) {
  uint64_t low = 0;
  uint64_t high = 0;
  integer_limits(job->to->kind, type_width(job->to), &low, &high);
  for (size_t i = 0; i < count; i++) {
    if (!array_is_valid(job->from, first + i)) {
      values[i] = 0;
    } else if (not_digits(words[i]) != 0 || values[i] > high) {
      const str text = text_at(r, first + i);
      values[i] = 0;
      if (!parse_bounded(text, low, high, &values[i])) {
        TRY(refuse_text(job, a, first + i, text, NULL, err));
      }
    }
  }
  return GLV_OK;
}

static glv_status parse_integers(const cast_job *job, array *a, void *values, glv_error *err) {
  const operand o = {.a = *job->from};
  const text_reader r = text_reader_of(&o);
  const str last = a->length > 0 ? text_at(&r, a->length - 1) : str_slice(NULL, 0);
  uint64_t low = 0;
  uint64_t high = 0;
  integer_limits(job->to->kind, type_width(job->to), &low, &high);
  for (size_t first = 0; first < a->length; first += RUN) {
    uint64_t words[RUN];
    uint64_t numbers[RUN];
    bool all = false;
    const size_t count = size_min(RUN, a->length - first);
    for (size_t i = 0; i < count; i++) {
      words[i] = short_digits(text_at(&r, first + i), last.data + last.size);
    }
    sum_digits(words, count, high, numbers, &all);
    if (!all || a->validity != NULL) {
      TRY(parse_rest(job, &r, first, count, words, numbers, a, err));
    }
    store_integers(numbers, type_width(job->to), first, count, values);
  }
  return GLV_OK;
}

static glv_status parse_values(const cast_job *job, temporal_parser *p, array *a, void *values,
                               glv_error *err) {
  memset(values, 0, a->length * type_width(job->to)); /* bools are zero already */
  for (size_t i = 0; i < a->length; i++) {
    if (!array_is_valid(job->from, i)) {
      continue; /* the value stays zero */
    }
    const str text = array_str(job->from, i);
    const char *why = NULL;
    if (!store_value(p, text, job->to, values, i, &why)) {
      if (why == temporal_no_memory) {
        return error_nomem(err, text.size);
      }
      TRY(refuse_text(job, a, i, text, why, err));
    }
  }
  return GLV_OK;
}

glv_status cast_from_text(const cast_job *job, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(zone_cleanup) zone *z = NULL;
  if (type_is_decimal(job->to->kind) && job->to->scale < 0 && job->from->length > 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "Cannot cast string to decimal with negative scale %d",
                (int)job->to->scale);
  }
  TRY(cast_zone_of(job->env, job->to, &z, err));
  CLEANUP(temporal_parser_dispose) temporal_parser p;
  temporal_parser_init(&p, job->env, z);
  void *values;
  TRY(cast_begin(job, &a, &values, err));
  TRY(type_is_integer(job->to->kind) ? parse_integers(job, &a, values, err)
                                     : parse_values(job, &p, &a, values, err));
  *ret = a;
  a = (array){0};
  return GLV_OK;
}
