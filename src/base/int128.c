/* Decimal arithmetic on 128-bit integers: scaling by powers of ten, conversion to double, text. */
#include "base/int128.h"

int128 int128_power10(int n) {
  int128 p = 1;
  for (; n > 0; n--) {
    p *= 10;
  }
  return p;
}

int128 int128_scale_down(int128 v, int n) {
  if (n > DECIMAL128_DIGITS) {
    return 0;
  }
  const uint128 p = (uint128)int128_power10(n);
  const uint128 m = int128_magnitude(v);
  const uint128 rounded = m / p + (m % p >= p - m % p);
  return v < 0 ? (int128)(0 - rounded) : (int128)rounded;
}

bool int128_scale_up(int128 v, int n, int128 *ret) {
  if (v == 0) {
    *ret = 0;
    return true;
  }
  return n <= DECIMAL128_DIGITS && !__builtin_mul_overflow(v, int128_power10(n), ret);
}

double int128_to_double(int128 v) { return (double)v; }

size_t int128_layout(const char *reversed, int digits, bool negative, int scale, char *text) {
  size_t size = 0;
  if (negative) {
    text[size++] = '-';
  }
  const int least = scale > 0 ? scale + 1 : 1;
  int position = digits > least ? digits : least; /* digits to write, leading zeros included */
  for (; position > 0; position--) {
    if (position == scale) {
      text[size++] = '.';
    }
    text[size++] = position <= digits ? reversed[position - 1] : '0';
  }
  for (; scale < 0 && digits > 0; scale++) {
    text[size++] = '0';
  }
  return size;
}

size_t int128_print(int128 v, int scale, char *text) {
  char reversed[40];
  int digits = 0;
  for (uint128 rest = int128_magnitude(v); rest != 0; rest /= 10) {
    reversed[digits++] = (char)('0' + (int)(rest % 10));
  }
  return int128_layout(reversed, digits, v < 0, scale, text);
}
