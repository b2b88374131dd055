/* Correctly rounded parsing of floating-point numbers.
 *
 * The text becomes w * 10^q with w of at most 19 digits (more digits only tell that the value lies
 * between w and w + 1). Then, in order:
 *   1. w and 10^|q| are both exact in the target format: one multiplication or division rounds
 *      correctly;
 *   2. 10^q is known as T <= 10^q < T + 1 in units of its last place (128 bits), so the value lies
 *      between w * T and (w + 1) * (T + 1), or tighter bounds where something is exact. Rounding is
 *      monotone: when both bounds round to the same number, that is the answer;
 *   3. else the value is very near the middle between two neighbours, and is compared with that
 *      middle in big integers. Digits past the 770th cannot decide that comparison except by being
 *      there, so they shrink to one digit.
 *
 * The table of powers is exact for every exponent that can give a finite non-zero number. */
#include "base/int128.h"
#include "base/number.h"
#include "base/number_powers.h"

/* What a binary format is made of: mantissa bits with the hidden one, exponent of the smallest
 * subnormal, biased exponent of infinity. */
typedef struct float_format {
  int precision;
  int smallest;
  int infinite;
} float_format;

static const float_format format64 = {53, -1074, 0x7ff};
static const float_format format32 = {24, -149, 0xff};

enum { WORD_DIGITS = 19, MAX_DIGITS = 770, EXPONENT_CAP = 100000 };

/* A parsed text: (-1)^negative * w * 10^q, w < 10^19. */
typedef struct number_text {
  bool negative;
  bool is_nan;
  bool is_infinite;
  bool truncated; /* digits behind w were not all zero */
  uint64_t w;
  int64_t q;
  str mantissa; /* digits and at most one point, from the first non-zero digit on */
  int64_t last; /* exponent of ten of the last digit of mantissa */
} number_text;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool parse_word(str text, number_text *n) {
  static const char *const names[] = {"nan", "inf", "infinity"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (str_equal_ascii_case(text, str_of(names[i]))) {
      n->is_nan = i == 0;
      n->is_infinite = i != 0;
      return true;
    }
  }
  return false;
}

/* [sign] digits; the value saturates at EXPONENT_CAP. */
static bool parse_exponent(str text, int64_t *ret) {
  size_t i = text.size > 0 && (text.data[0] == '+' || text.data[0] == '-');
  if (i == text.size) {
    return false;
  }
  int64_t value = 0;
  for (; i < text.size; i++) {
    if (!is_digit(text.data[i])) {
      return false;
    }
    value = value * 10 + (text.data[i] - '0');
    value = value > EXPONENT_CAP ? EXPONENT_CAP : value;
  }
  *ret = text.data[0] == '-' ? -value : value;
  return true;
}

/* Digits with at most one point; *ret_size is their length in text. */
static bool scan_mantissa(str text, number_text *n, size_t *ret_size) {
  bool has_digits = false;
  bool has_point = false;
  int used = 0; /* digits in w */
  size_t first = SIZE_MAX;
  int64_t fraction = 0;
  size_t i = 0;
  for (; i < text.size; i++) {
    const char c = text.data[i];
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (!is_digit(c)) {
      break;
    }
    has_digits = true;
    fraction += has_point;
    if (c != '0' && first == SIZE_MAX) {
      first = i;
    }
    if (used < WORD_DIGITS) {
      n->w = n->w * 10 + (uint64_t)(c - '0');
      used += first != SIZE_MAX;
      n->q -= has_point;
    } else {
      n->truncated = n->truncated || c != '0';
      n->q += !has_point;
    }
  }
  n->last = -fraction;
  n->mantissa = first == SIZE_MAX ? str_slice(NULL, 0) : str_slice(text.data + first, i - first);
  *ret_size = i;
  return has_digits;
}

static bool parse_text(str text, number_text *n) {
  *n = (number_text){0};
  if (text.size > 0 && (text.data[0] == '+' || text.data[0] == '-')) {
    n->negative = text.data[0] == '-';
    text = str_slice(text.data + 1, text.size - 1);
  }
  size_t size;
  if (!scan_mantissa(text, n, &size)) {
    return size == 0 && parse_word(text, n);
  }
  if (size == text.size) {
    return true;
  }
  int64_t exponent;
  if ((text.data[size] | 0x20) != 'e' ||
      !parse_exponent(str_slice(text.data + size + 1, text.size - size - 1), &exponent)) {
    return false;
  }
  n->q += exponent;
  n->last += exponent;
  return true;
}

/* Round (high + something less than 1, if sticky) * 2^exponent to nearest, ties to even; the result
 * is the bit pattern of a positive number. The top bit of high is 1. */
static uint64_t round_bits(uint128 high, bool sticky, int exponent, const float_format *f) {
  int drop = 128 - f->precision;
  if (exponent + drop < f->smallest) {
    drop = f->smallest - exponent;
  }
  if (drop > 128) {
    return 0; /* below half of the smallest number */
  }
  const uint128 one = 1;
  const uint128 kept = drop == 128 ? 0 : high >> drop;
  const uint128 half = one << (drop - 1);
  const uint128 rest = drop == 128 ? high : high & ((one << drop) - 1);
  const bool up = rest > half || (rest == half && (sticky || (kept & 1) != 0));
  const uint64_t mantissa = (uint64_t)kept + up;
  /* Carries run from the mantissa into the exponent field by themselves. */
  const uint64_t hidden = UINT64_C(1) << (f->precision - 1);
  const int64_t biased = exponent + drop - f->smallest; /* 0 for subnormals and the first normals */
  const uint64_t infinity = (uint64_t)f->infinite << (f->precision - 1);
  if (mantissa < hidden) {
    return mantissa;
  }
  if (biased >= f->infinite) {
    return infinity;
  }
  const uint64_t bits = ((uint64_t)biased << (f->precision - 1)) + mantissa;
  return bits > infinity ? infinity : bits;
}

/* w * t * 2^exponent, rounded. w and t are not 0. */
static uint64_t round_product(uint64_t w, uint128 t, int exponent, const float_format *f) {
  const uint128 low = (uint128)w * (uint64_t)t;
  const uint128 top = (uint128)w * (uint64_t)(t >> 64) + (uint64_t)(low >> 64);
  uint64_t rest = (uint64_t)low; /* product = top * 2^64 + rest */
  const int zeros = (uint64_t)(top >> 64) != 0 ? __builtin_clzll((uint64_t)(top >> 64))
                                               : 64 + __builtin_clzll((uint64_t)top);
  uint128 high = top;
  if (zeros >= 64) {
    high = top << 64 | rest;
    rest = 0;
  }
  const int shift = zeros & 63;
  if (shift > 0) {
    high = high << shift | rest >> (64 - shift);
    rest <<= shift;
  }
  return round_bits(high, rest != 0, exponent + 64 - zeros, f);
}

/* Natural numbers of up to 5120 bits, least significant limb first: enough for 10^1100 * 2^54. */
enum { BIG_LIMBS = 160 };
typedef struct big {
  uint32_t limbs[BIG_LIMBS];
  int count;
} big;

static void big_multiply_add(big *b, uint32_t factor, uint32_t addend) {
  uint64_t carry = addend;
  for (int i = 0; i < b->count; i++) {
    carry += (uint64_t)b->limbs[i] * factor;
    b->limbs[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry != 0 && b->count < BIG_LIMBS) {
    b->limbs[b->count++] = (uint32_t)carry;
  }
}

static void big_multiply_power10(big *b, int64_t n) {
  for (; n >= 9; n -= 9) {
    big_multiply_add(b, 1000000000, 0);
  }
  for (; n > 0; n--) {
    big_multiply_add(b, 10, 0);
  }
}

static void big_shift_left(big *b, int64_t n) {
  for (; n >= 31; n -= 31) {
    big_multiply_add(b, UINT32_C(1) << 31, 0);
  }
  big_multiply_add(b, UINT32_C(1) << n, 0);
}

static int big_compare(const big *a, const big *b) {
  if (a->count != b->count) {
    return a->count < b->count ? -1 : 1;
  }
  for (int i = a->count; i-- > 0;) {
    if (a->limbs[i] != b->limbs[i]) {
      return a->limbs[i] < b->limbs[i] ? -1 : 1;
    }
  }
  return 0;
}

/* The digits of n as a number; *ret_exponent is the exponent of ten of its last digit. */
static void big_from_digits(const number_text *n, big *ret, int64_t *ret_exponent) {
  *ret = (big){0};
  int64_t total = 0;
  int used = 0;
  bool rest = false;
  for (size_t i = 0; i < n->mantissa.size; i++) {
    const char c = n->mantissa.data[i];
    if (c == '.') {
      continue;
    }
    total++;
    if (used < MAX_DIGITS) {
      big_multiply_add(ret, 10, (uint32_t)(c - '0'));
      used++;
    } else {
      rest = rest || c != '0';
    }
  }
  *ret_exponent = n->last + total - used;
  if (rest) {
    big_multiply_add(ret, 10, 1);
    (*ret_exponent)--;
  }
}

/* The value is between the number with the bits `lower` and the next one: which is nearer? */
static uint64_t round_exactly(const number_text *n, uint64_t lower, const float_format *f) {
  const uint64_t hidden = UINT64_C(1) << (f->precision - 1);
  const uint64_t field = lower >> (f->precision - 1);
  const uint64_t mantissa = field == 0 ? lower : (lower & (hidden - 1)) | hidden;
  /* middle = (2 * mantissa + 1) * 2^exponent */
  const int64_t exponent = f->smallest + (field == 0 ? 0 : (int64_t)field - 1) - 1;
  big value;
  int64_t q;
  big_from_digits(n, &value, &q);
  const uint64_t doubled = 2 * mantissa + 1;
  big middle = {.limbs = {(uint32_t)doubled, (uint32_t)(doubled >> 32)},
                .count = doubled >> 32 != 0 ? 2 : 1};
  big_multiply_power10(&value, q > 0 ? q : 0);
  big_multiply_power10(&middle, q < 0 ? -q : 0);
  big_shift_left(&value, exponent < 0 ? -exponent : 0);
  big_shift_left(&middle, exponent > 0 ? exponent : 0);
  const int order = big_compare(&value, &middle);
  return order > 0 || (order == 0 && (lower & 1) != 0) ? lower + 1 : lower;
}

/* The bits of |value| of a finite text. */
static uint64_t convert(const number_text *n, const float_format *f) {
  if (n->w == 0 || n->q < NUMBER_POWER_FIRST) {
    return 0;
  }
  if (n->q > NUMBER_POWER_LAST) {
    return (uint64_t)f->infinite << (f->precision - 1);
  }
  const int q = (int)n->q;
  const uint64_t *p = number_powers[q - NUMBER_POWER_FIRST];
  const uint128 t = (uint128)p[0] << 64 | p[1];
  const int exponent = ((q * 1741647) >> 19) - 127;
  const bool exact = q >= 0 && q <= NUMBER_POWER_EXACT;
  const uint64_t lower = round_product(n->w, t, exponent, f);
  if (exact && !n->truncated) {
    return lower;
  }
  const uint64_t upper = round_product(n->w + n->truncated, exact ? t : t + 1, exponent, f);
  return lower == upper ? lower : round_exactly(n, lower, f);
}

static const double powers64[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool number_parse64(str text, double *ret) {
  number_text n;
  if (!parse_text(text, &n)) {
    return false;
  }
  double value;
  if (n.is_nan || n.is_infinite) {
    value = n.is_nan ? (double)__builtin_nanf("") : (double)__builtin_inff();
  } else if (!n.truncated && n.w <= UINT64_C(1) << 53 && n.q >= -22 && n.q <= 22) {
    value = n.q < 0 ? (double)n.w / powers64[-n.q] : (double)n.w * powers64[n.q];
  } else {
    const uint64_t bits = convert(&n, &format64);
    memcpy(&value, &bits, sizeof value);
  }
  *ret = n.negative ? -value : value;
  return true;
}

bool number_parse32(str text, float *ret) {
  number_text n;
  if (!parse_text(text, &n)) {
    return false;
  }
  float value;
  if (n.is_nan || n.is_infinite) {
    value = n.is_nan ? __builtin_nanf("") : __builtin_inff();
  } else {
    const uint32_t bits = (uint32_t)convert(&n, &format32);
    memcpy(&value, &bits, sizeof value);
  }
  *ret = n.negative ? -value : value;
  return true;
}
