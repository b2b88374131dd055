/*
 * Expansion of runs. The lengths are summed first, so that the loops that write need no check but
 * for the last run, which may be cut off.
 */
#include "format/rle.h"

#include "base/checked.h"

/* How many runs give `count` values; their lengths are all positive. */
static glv_status count_runs(span lengths, size_t count, bool exact, size_t *ret_runs,
                             glv_error *err) {
  size_t total = 0;
  size_t runs = 0;
  while (runs < lengths.size && (total < count || exact)) {
    if (lengths.data[runs] == 0) {
      return FAIL(err, GLV_E_CORRUPT, "RLE run %zu has length 0", runs);
    }
    total += lengths.data[runs++];
  }
  if (total < count || (exact && total != count)) {
    return FAIL(err, GLV_E_CORRUPT, "RLE decoding produced %zu values, expected %zu", total, count);
  }
  *ret_runs = runs;
  return GLV_OK;
}

#define DEFINE_EXPAND(T)                                                                           \
  static void expand##T(const uint8_t *values, const uint8_t *lengths, size_t runs, size_t count,  \
                        uint##T##_t *out) {                                                        \
    for (size_t run = 0; run < runs; run++) {                                                      \
      uint##T##_t value;                                                                           \
      memcpy(&value, values + run * sizeof value, sizeof value);                                   \
      const size_t length = size_min(lengths[run], count);                                         \
      for (size_t i = 0; i < length; i++) {                                                        \
        out[i] = value;                                                                            \
      }                                                                                            \
      out += length;                                                                               \
      count -= length;                                                                             \
    }                                                                                              \
  }
DEFINE_EXPAND(8)
DEFINE_EXPAND(16)
DEFINE_EXPAND(32)
DEFINE_EXPAND(64)

glv_status rle_expand(unsigned bits, span values, span lengths, size_t count, bool exact, void *out,
                      glv_error *err) {
  if (values.size % (bits / 8) != 0 || values.size / (bits / 8) != lengths.size) {
    return FAIL(err, GLV_E_CORRUPT, "RLE has %zu bytes of values of %u bits for %zu lengths",
                values.size, bits, lengths.size);
  }
  size_t runs = 0;
  TRY(count_runs(lengths, count, exact, &runs, err));
  switch (bits) {
  case 8:
    expand8(values.data, lengths.data, runs, count, out);
    return GLV_OK;
  case 16:
    expand16(values.data, lengths.data, runs, count, out);
    return GLV_OK;
  case 32:
    expand32(values.data, lengths.data, runs, count, out);
    return GLV_OK;
  case 64:
    expand64(values.data, lengths.data, runs, count, out);
    return GLV_OK;
  }
  return FAIL(err, GLV_E_UNSUPPORTED, "RLE of values of %u bits is not supported", bits);
}
