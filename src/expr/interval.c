/* Texts of intervals follow PostgreSQL as far as amounts and units go: `HH:MM:SS`, ISO 8601 and
 * `ago` are not read. */
#include "expr/interval.h"

#include <inttypes.h>
#include <stdio.h>

#include "expr/alphabetic.h"
#include "expr/unicode.h"

bool interval_add(interval a, interval b, interval *ret) {
  return !__builtin_add_overflow(a.months, b.months, &ret->months) &&
         !__builtin_add_overflow(a.days, b.days, &ret->days) &&
         !__builtin_add_overflow(a.nanos, b.nanos, &ret->nanos);
}

bool interval_sub(interval a, interval b, interval *ret) {
  return !__builtin_sub_overflow(a.months, b.months, &ret->months) &&
         !__builtin_sub_overflow(a.days, b.days, &ret->days) &&
         !__builtin_sub_overflow(a.nanos, b.nanos, &ret->nanos);
}

/* ---- reading ---- */

enum unit {
  UNIT_CENTURY,
  UNIT_DECADE,
  UNIT_YEAR,
  UNIT_MONTH,
  UNIT_WEEK,
  UNIT_DAY,
  UNIT_HOUR,
  UNIT_MINUTE,
  UNIT_SECONDS,
  UNIT_MILLISECOND,
  UNIT_MICROSECOND,
  UNIT_NANOSECOND,
  UNITS
};

/* Months, days or nanoseconds in a unit. */
static const struct {
  const char *names; /* separated by spaces */
  int32_t months;
  int32_t days;
  int64_t nanos;
} units[UNITS] = {
    [UNIT_CENTURY] = {"c cent cents century centuries", 1200, 0, 0},
    [UNIT_DECADE] = {"dec decs decade decades", 120, 0, 0},
    [UNIT_YEAR] = {"y yr yrs year years", 12, 0, 0},
    [UNIT_MONTH] = {"mon mons month months", 1, 0, 0},
    [UNIT_WEEK] = {"w week weeks", 0, 7, 0},
    [UNIT_DAY] = {"d day days", 0, 1, 0},
    [UNIT_HOUR] = {"h hr hrs hour hours", 0, 0, INT64_C(3600000000000)},
    [UNIT_MINUTE] = {"m min mins minute minutes", 0, 0, INT64_C(60000000000)},
    [UNIT_SECONDS] = {"s sec secs second seconds", 0, 0, INT64_C(1000000000)},
    [UNIT_MILLISECOND] = {"ms msec msecs msecond mseconds millisecond milliseconds", 0, 0, 1000000},
    [UNIT_MICROSECOND] = {"us usec usecs usecond useconds microsecond microseconds", 0, 0, 1000},
    [UNIT_NANOSECOND] = {"nanosecond nanoseconds", 0, 0, 1},
};

static bool is_among(const char *names, str word) {
  str rest = str_of(names);
  while (rest.size > 0) {
    const char *space = memchr(rest.data, ' ', rest.size);
    const size_t size = space != NULL ? (size_t)(space - rest.data) : rest.size;
    if (str_equal_ascii_case(word, str_slice(rest.data, size))) {
      return true;
    }
    const size_t used = space != NULL ? size + 1 : size;
    rest = str_slice(rest.data + used, rest.size - used);
  }
  return false;
}

static enum unit find_unit(str word) {
  enum unit u = UNIT_CENTURY;
  while (u < UNITS && !is_among(units[u].names, word)) {
    u++;
  }
  return u;
}

enum { FRACTION_DIGITS = 15 };
#define FRACTION_ONE INT64_C(1000000000000000)

/* whole + fraction / 10^15, both of one sign. */
typedef struct amount {
  int64_t whole;
  int64_t fraction;
} amount;

static bool parse_amount(str text, amount *ret) {
  const bool negative = text.size > 0 && text.data[0] == '-';
  if (negative) {
    text = str_slice(text.data + 1, text.size - 1);
  }
  const char *point = text.size > 0 ? memchr(text.data, '.', text.size) : NULL;
  const size_t whole_size = point != NULL ? (size_t)(point - text.data) : text.size;
  uint64_t whole = 0;
  uint64_t fraction = 0;
  const str digits = str_slice(text.data, whole_size);
  if (!(point != NULL && digits.size == 0) && !str_to_u64(digits, &whole)) {
    return false;
  }
  if (point != NULL) {
    const str rest = str_slice(point + 1, text.size - whole_size - 1);
    if (rest.size > FRACTION_DIGITS || !str_to_u64(rest, &fraction)) {
      return false;
    }
    for (size_t i = rest.size; i < FRACTION_DIGITS; i++) {
      fraction *= 10;
    }
  }
  if (whole > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
    return false;
  }
  ret->whole = (int64_t)(negative ? 0 - whole : whole);
  ret->fraction = negative ? -(int64_t)fraction : (int64_t)fraction;
  return true;
}

static bool fits32(int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; }

/* fraction * factor / 10^15, toward zero; the factor is at most a week of nanoseconds. */
static int64_t part_of(int64_t fraction, int64_t factor) {
  __extension__ typedef __int128 wide;
  return (int64_t)((wide)fraction * factor / FRACTION_ONE);
}

/* Years and more: rounded to months. A fraction of a month is days, of a day or week nanoseconds.
 */
static bool interval_of(const amount *a, enum unit u, interval *ret) {
  int64_t months = 0;
  int64_t days = 0;
  int64_t nanos = 0;
  const int64_t day_nanos = 24 * units[UNIT_HOUR].nanos;
  if (__builtin_mul_overflow(a->whole, (int64_t)units[u].months, &months) ||
      __builtin_mul_overflow(a->whole, (int64_t)units[u].days, &days) ||
      __builtin_mul_overflow(a->whole, units[u].nanos, &nanos)) {
    return false;
  }
  if (units[u].months > 1) {
    months += part_of(a->fraction, units[u].months);
  } else if (units[u].months == 1) {
    days = part_of(a->fraction, 30);
  } else if (units[u].days > 0) {
    nanos = part_of(a->fraction, units[u].days * day_nanos);
  } else if (__builtin_add_overflow(nanos, part_of(a->fraction, units[u].nanos), &nanos)) {
    return false;
  }
  *ret = (interval){(int32_t)months, (int32_t)days, nanos};
  return fits32(months) && fits32(days);
}

static bool is_amount_byte(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; }

/* The text up to the next space, which is skipped; *ret_more tells whether there was one. */
static str take_word(str *rest, bool *ret_more) {
  size_t end = 0;
  size_t at = 0;
  *ret_more = false;
  while (at < rest->size && !*ret_more) {
    end = at;
    *ret_more = unicode_is_space(unicode_next(*rest, &at));
  }
  const str word = str_slice(rest->data, *ret_more ? end : rest->size);
  *rest = str_slice(rest->data + at, rest->size - at);
  return word;
}

bool interval_parse(str text, enum interval_default unit, interval *ret) {
  bool more = true;
  unsigned seen = 0;
  interval sum = {0};
  while (more) {
    str word = take_word(&text, &more);
    size_t split = 0;
    while (split < word.size && is_amount_byte(word.data[split])) {
      split++;
    }
    const str digits = str_slice(word.data, split);
    enum unit u = unit == INTERVAL_MONTHS ? UNIT_MONTH : UNIT_SECONDS;
    if (split < word.size) {
      u = find_unit(str_slice(word.data + split, word.size - split));
    } else if (more) {
      u = find_unit(take_word(&text, &more));
    }
    amount a;
    interval part;
    if (u == UNITS || (seen & 1u << u) != 0 || !parse_amount(digits, &a) ||
        !interval_of(&a, u, &part) || !interval_add(sum, part, &sum)) {
      return false;
    }
    seen |= 1u << u;
  }
  *ret = sum;
  return true;
}

/* ---- writing ---- */

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

static size_t print_nanos(int64_t nanos, bool is_first, char *text, size_t size) {
  const int64_t seconds = nanos / INT64_C(1000000000);
  const int64_t minutes = seconds / 60;
  const int64_t parts[] = {minutes / 60, minutes % 60};
  static const char *const names[] = {"hours", "mins"};
  size_t used = 0;
  for (size_t i = 0; i < 2; i++) {
    if (parts[i] != 0) {
      used += (size_t)snprintf(text + used, size - used, "%s%" PRId64 " %s", is_first ? "" : " ",
                               parts[i], names[i]);
      is_first = false;
    }
  }
  const int64_t rest = nanos % INT64_C(1000000000);
  if (seconds % 60 != 0 || rest != 0) {
    used += (size_t)snprintf(text + used, size - used, "%s%s%" PRId64 ".%09" PRId64 " secs",
                             is_first ? "" : " ", nanos < 0 ? "-" : "", magnitude(seconds % 60),
                             magnitude(rest));
  }
  return used;
}

size_t interval_print(interval v, char text[INTERVAL_TEXT_SIZE]) {
  size_t used = 0;
  if (v.months == 0 && v.days == 0 && v.nanos == 0) {
    return (size_t)snprintf(text, INTERVAL_TEXT_SIZE, "0 secs");
  }
  if (v.months != 0) {
    used = (size_t)snprintf(text, INTERVAL_TEXT_SIZE, "%" PRId32 " mons", v.months);
  }
  if (v.days != 0) {
    used += (size_t)snprintf(text + used, INTERVAL_TEXT_SIZE - used, "%s%" PRId32 " days",
                             used == 0 ? "" : " ", v.days);
  }
  return used + print_nanos(v.nanos, used == 0, text + used, INTERVAL_TEXT_SIZE - used);
}

static const int64_t rates[] = {1, 1000, 1000000, 1000000000};

/* Whether what counts durations in milliseconds can hold it. */
static bool is_countable(int64_t ticks, time_unit unit) {
  return unit != UNIT_SECOND || (ticks <= INT64_MAX / 1000 && ticks >= -(INT64_MAX / 1000));
}

size_t interval_print_duration(int64_t ticks, time_unit unit, char text[INTERVAL_TEXT_SIZE]) {
  if (!is_countable(ticks, unit)) {
    return (size_t)snprintf(text, INTERVAL_TEXT_SIZE, "<invalid>");
  }
  const int64_t seconds = ticks / rates[unit];
  const int64_t minutes = seconds / 60;
  const int64_t hours = minutes / 60;
  size_t used = (size_t)snprintf(text, INTERVAL_TEXT_SIZE,
                                 "%" PRId64 " days %" PRId64 " hours %" PRId64 " mins ", hours / 24,
                                 hours % 24, minutes % 60);
  const size_t left = INTERVAL_TEXT_SIZE - used;
  const int64_t rest = ticks % rates[unit];
  if (unit == UNIT_SECOND) {
    return used + (size_t)snprintf(text + used, left, "%" PRId64 " secs", seconds % 60);
  }
  used += (size_t)snprintf(text + used, left, "%s%" PRId64 ".%0*" PRId64 " secs",
                           rest < 0 ? "-" : "", rest < 0 ? magnitude(seconds % 60) : seconds % 60,
                           3 * (int)unit, magnitude(rest));
  return used;
}

size_t interval_print_iso_duration(int64_t ticks, time_unit unit, char text[INTERVAL_TEXT_SIZE]) {
  if (!is_countable(ticks, unit)) {
    return (size_t)snprintf(text, INTERVAL_TEXT_SIZE, "<invalid>");
  }
  if (ticks == 0) {
    return (size_t)snprintf(text, INTERVAL_TEXT_SIZE, "P0D");
  }
  size_t used = (size_t)snprintf(text, INTERVAL_TEXT_SIZE, "%sPT%" PRId64, ticks < 0 ? "-" : "",
                                 magnitude(ticks / rates[unit]));
  const int64_t rest = magnitude(ticks % rates[unit]);
  if (rest != 0) {
    used += (size_t)snprintf(text + used, INTERVAL_TEXT_SIZE - used, ".%0*" PRId64, 3 * (int)unit,
                             rest);
    while (text[used - 1] == '0') {
      used--;
    }
  }
  text[used++] = 'S';
  return used;
}
