/*
 * General compression (8.4): LZ4 as u32 length and one raw block, ZSTD as u64 length and one frame.
 */
#include <lz4.h>
#include <zstd.h>

#include "format/page_write_private.h"

enum { DEFAULT_ZSTD_LEVEL = 3, LZ4_PREFIX = 4, ZSTD_PREFIX = 8 };

size_t compress_bound(enum leaf_compression scheme, size_t size) {
  if (scheme == COMPRESS_LZ4) {
    return size > LZ4_MAX_INPUT_SIZE ? SIZE_MAX : LZ4_PREFIX + (size_t)LZ4_compressBound((int)size);
  }
  const size_t bound = ZSTD_compressBound(size);
  return ZSTD_isError(bound) ? SIZE_MAX : ZSTD_PREFIX + bound;
}

static glv_status write_lz4(const void *data, size_t size, uint8_t *ret, size_t room,
                            size_t *ret_size, glv_error *err) {
  store_le32(ret, (uint32_t)size);
  const int written = LZ4_compress_default(data, (char *)ret + LZ4_PREFIX, (int)size,
                                           (int)size_min(room - LZ4_PREFIX, INT32_MAX));
  if (written <= 0) {
    return FAIL(err, GLV_E_INTERNAL, "LZ4 could not compress %zu bytes", size);
  }
  *ret_size = LZ4_PREFIX + (size_t)written;
  return GLV_OK;
}

static glv_status write_zstd(int level, const void *data, size_t size, uint8_t *ret, size_t room,
                             size_t *ret_size, glv_error *err) {
  store_le64(ret, size);
  const size_t written = ZSTD_compress(ret + ZSTD_PREFIX, room - ZSTD_PREFIX, data, size,
                                       level != 0 ? level : DEFAULT_ZSTD_LEVEL);
  if (ZSTD_isError(written)) {
    return FAIL(err, GLV_E_INTERNAL, "ZSTD could not compress %zu bytes: %s", size,
                ZSTD_getErrorName(written));
  }
  *ret_size = ZSTD_PREFIX + written;
  return GLV_OK;
}

glv_status compress_write(enum leaf_compression scheme, int level, const void *data, size_t size,
                          void *ret, size_t room, size_t *ret_size, glv_error *err) {
  return scheme == COMPRESS_LZ4 ? write_lz4(data, size, ret, room, ret_size, err)
                                : write_zstd(level, data, size, ret, room, ret_size, err);
}
