/* Shortest printing of floating-point numbers.
 *
 * The method is Schubfach (R. Giulietti, "The Schubfach way to render doubles"). A value c * 2^q
 * has a rounding interval [(4c - 2) * 2^(q-2), (4c + 2) * 2^(q-2)] (the lower half is half as wide
 * above a power of two). With k = floor(log10 of the interval's width), the interval holds at least
 * one multiple of 10^k and at most one of 10^(k+1), so the shortest digits are found by testing two
 * candidates at each of the two scales. Interval bounds are scaled by a power of ten with a 128-bit
 * significand, rounded up, and reduced to 64 bits "to odd", which keeps every comparison exact.
 * float32 goes the same way with its own c and q.
 *
 * Parsing is in number_parse.c. */
#include "base/number.h"

#include "base/checked.h"
#include "base/int128.h"
#include "base/number_powers.h"

/* A finite, positive value c * 2^q. */
typedef struct binary {
  uint64_t c;
  int q;
  bool lower_is_closer; /* the next smaller value is half as far away as the next larger one */
} binary;

/* value = digits * 10^exponent */
typedef struct decimal {
  uint64_t digits;
  int exponent;
} decimal;

/* Right shifts of negative numbers are arithmetic on every compiler in use; these are exact for
 * |e| < 1650. */
static int floor_log10_pow2(int e) { return (e * 1262611) >> 22; }
static int floor_log10_three_quarters_pow2(int e) { return (e * 1262611 - 524031) >> 22; }
static int floor_log2_pow10(int e) { return (e * 1741647) >> 19; }

/* floor(g * cp / 2^128) with the lowest bit set when anything but a rounding error was cut off. */
static uint64_t scale_to_odd(uint128 g, uint64_t cp) {
  const uint128 low = (uint128)(uint64_t)g * cp;
  const uint128 high = (uint128)(uint64_t)(g >> 64) * cp + (uint64_t)(low >> 64);
  return (uint64_t)(high >> 64) | (uint64_t)((uint64_t)high > 1);
}

/* 10^q as a 128-bit significand, rounded up. */
static uint128 power_ceiling(int q) {
  const uint64_t *p = number_powers[q - NUMBER_POWER_FIRST];
  const uint128 floor = (uint128)p[0] << 64 | p[1];
  return q >= 0 && q <= NUMBER_POWER_EXACT ? floor : floor + 1;
}

static decimal shortest(binary v) {
  const uint64_t odd = v.c & 1; /* the bounds themselves read back only to an even c */
  const int k = v.lower_is_closer ? floor_log10_three_quarters_pow2(v.q) : floor_log10_pow2(v.q);
  const int h = v.q + floor_log2_pow10(-k) + 1;
  const uint128 g = power_ceiling(-k);
  const uint64_t lower = scale_to_odd(g, (4 * v.c - 2 + v.lower_is_closer) << h) + odd;
  const uint64_t middle = scale_to_odd(g, (4 * v.c) << h);
  const uint64_t upper = scale_to_odd(g, (4 * v.c + 2) << h) - odd;

  const uint64_t s = middle / 4;
  if (s >= 10) {
    const uint64_t tens = s / 10;
    const bool down_inside = lower <= 40 * tens;
    const bool up_inside = 40 * tens + 40 <= upper;
    if (down_inside != up_inside) {
      return (decimal){tens + up_inside, k + 1};
    }
  }
  const bool down_inside = lower <= 4 * s;
  const bool up_inside = 4 * s + 4 <= upper;
  if (down_inside != up_inside) {
    return (decimal){s + up_inside, k};
  }
  const uint64_t half = 4 * s + 2;
  return (decimal){s + (middle > half || (middle == half && (s & 1) != 0)), k};
}

static number_digits spell(decimal d, bool negative) {
  while (d.digits % 10 == 0) {
    d.digits /= 10;
    d.exponent++;
  }
  number_digits ret = {.negative = negative};
  for (uint64_t rest = d.digits; rest != 0; rest /= 10) {
    ret.count++;
  }
  for (int i = ret.count; i-- > 0; d.digits /= 10) {
    ret.digits[i] = (char)('0' + d.digits % 10);
  }
  ret.exponent = ret.count + d.exponent;
  return ret;
}

static number_digits spell_zero(bool negative) {
  return (number_digits){.digits = "0", .count = 1, .exponent = 1, .negative = negative};
}

number_digits number_shortest64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const bool negative = bits >> 63 != 0;
  const int biased = (int)(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  if (biased == 0 && fraction == 0) {
    return spell_zero(negative);
  }
  const binary v = {.c = biased == 0 ? fraction : fraction | UINT64_C(1) << 52,
                    .q = (biased == 0 ? 1 : biased) - 1075,
                    .lower_is_closer = fraction == 0 && biased > 1};
  return spell(shortest(v), negative);
}

number_digits number_shortest32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const bool negative = bits >> 31 != 0;
  const int biased = (int)(bits >> 23 & 0xff);
  const uint32_t fraction = bits & ((UINT32_C(1) << 23) - 1);
  if (biased == 0 && fraction == 0) {
    return spell_zero(negative);
  }
  const binary v = {.c = biased == 0 ? fraction : fraction | UINT32_C(1) << 23,
                    .q = (biased == 0 ? 1 : biased) - 150,
                    .lower_is_closer = fraction == 0 && biased > 1};
  return spell(shortest(v), negative);
}

/* A cursor over the caller's text. */
typedef struct sink {
  char *text;
  size_t size;
} sink;

static void put(sink *s, const char *data, size_t size) {
  memcpy(s->text + s->size, data, size);
  s->size += size;
}
static void put_char(sink *s, char c) { s->text[s->size++] = c; }
static void put_zeros(sink *s, int count) {
  memset(s->text + s->size, '0', (size_t)count);
  s->size += (size_t)count;
}

static void put_small(sink *s, int value) {
  char reversed[8];
  int n = 0;
  do {
    reversed[n++] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  while (n > 0) {
    put_char(s, reversed[--n]);
  }
}

/* d.ddde-7: no point when there is one digit. */
static void put_scientific(sink *s, const number_digits *d) {
  put_char(s, d->digits[0]);
  if (d->count > 1) {
    put_char(s, '.');
    put(s, d->digits + 1, (size_t)d->count - 1);
  }
  put_char(s, 'e');
  const int exponent = d->exponent - 1;
  if (exponent < 0) {
    put_char(s, '-');
  }
  put_small(s, exponent < 0 ? -exponent : exponent);
}

/* 123.0, 12.5, 0.00012: at least one digit on either side of the point. */
static void put_plain(sink *s, const number_digits *d) {
  if (d->exponent <= 0) {
    put(s, "0.", 2);
    put_zeros(s, -d->exponent);
    put(s, d->digits, (size_t)d->count);
    return;
  }
  const int whole = d->count < d->exponent ? d->count : d->exponent;
  put(s, d->digits, (size_t)whole);
  put_zeros(s, d->exponent - whole);
  put_char(s, '.');
  if (whole < d->count) {
    put(s, d->digits + whole, (size_t)(d->count - whole));
  } else {
    put_char(s, '0');
  }
}

size_t number_layout(const number_digits *d, int first, int end, char text[NUMBER_TEXT_SIZE]) {
  sink s = {.text = text};
  if (d->negative) {
    put_char(&s, '-');
  }
  const int exponent = d->exponent - 1;
  if (exponent >= first && exponent < end) {
    put_plain(&s, d);
  } else {
    put_scientific(&s, d);
  }
  return s.size;
}

static size_t print_special(bool is_nan, bool negative, char *text) {
  const char *name = is_nan ? "NaN" : negative ? "-inf" : "inf";
  const size_t size = strlen(name);
  memcpy(text, name, size);
  return size;
}

size_t number_print64(double value, char text[NUMBER_TEXT_SIZE]) {
  if (!(value - value == 0)) {
    return print_special(value != value, value < 0, text);
  }
  const number_digits d = number_shortest64(value);
  return number_layout(&d, NUMBER_PLAIN_FIRST, NUMBER_PLAIN_END, text);
}

size_t number_print32(float value, char text[NUMBER_TEXT_SIZE]) {
  if (!(value - value == 0)) {
    return print_special(value != value, value < 0, text);
  }
  const number_digits d = number_shortest32(value);
  return number_layout(&d, NUMBER_PLAIN_FIRST, NUMBER_PLAIN_END, text);
}
