/*
 * Byte stream split. The two widths that writers produce have loops of their own, in which a value
 * is assembled in a register.
 */
#include "format/bss.h"

#include "base/checked.h"

static void join4(const uint8_t *restrict in, size_t count, uint8_t *restrict out) {
  for (size_t i = 0; i < count; i++) {
    const uint32_t value = (uint32_t)in[i] | (uint32_t)in[count + i] << 8 |
                           (uint32_t)in[2 * count + i] << 16 | (uint32_t)in[3 * count + i] << 24;
    store_le32(out + 4 * i, value);
  }
}

static void join8(const uint8_t *restrict in, size_t count, uint8_t *restrict out) {
  for (size_t i = 0; i < count; i++) {
    uint64_t value = 0;
    for (unsigned j = 0; j < 8; j++) {
      value |= (uint64_t)in[j * count + i] << (8 * j);
    }
    store_le64(out + 8 * i, value);
  }
}

void bss_join(const uint8_t *restrict in, size_t width, size_t count, uint8_t *restrict out) {
  if (width == 4) {
    join4(in, count, out);
    return;
  }
  if (width == 8) {
    join8(in, count, out);
    return;
  }
  for (size_t j = 0; j < width; j++) {
    for (size_t i = 0; i < count; i++) {
      out[i * width + j] = in[j * count + i];
    }
  }
}
