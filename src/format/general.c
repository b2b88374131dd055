/*
 * LZ4 and ZSTD. The sizes in front of the compressed bytes are untrusted: a size that the bytes
 * cannot reach with the best ratio of the method is refused before anything is allocated, and the
 * produced size must equal it. This is the only reading file that sees lz4 and zstd.
 */
#include "format/general.h"

#include <lz4.h>
#include <zstd.h>

#include "base/checked.h"
#include "base/limits.h"

enum {
  LZ4_PREFIX_BYTES = 4,
  ZSTD_PREFIX_BYTES = 8,
  LZ4_MAX_RATIO = 255,      /* one byte extends a match by at most 255 bytes */
  ZSTD_MAX_RATIO = 1 << 15, /* four bytes stand for at most one block of 128 KiB */
  ZSTD_SLACK = 1 << 17,
};
#define ZSTD_FRAME_MAGIC 0xFD2FB528u

/* A frame without the 64-bit length in front, as old writers stored it. A length that looks like
 * the magic number has the bits of the frame header descriptor above 2^32, so bit 4 tells. */
static bool is_bare_frame(span in) {
  return in.size < ZSTD_PREFIX_BYTES ||
         (load_le32(in.data) == ZSTD_FRAME_MAGIC && (in.data[4] & 0x10) == 0);
}

static glv_status bare_frame_size(span in, uint64_t *ret, glv_error *err) {
  const unsigned long long size = ZSTD_getFrameContentSize(in.data, in.size);
  if (size == ZSTD_CONTENTSIZE_ERROR) {
    return FAIL(err, GLV_E_CORRUPT, "zstd: not a frame");
  }
  if (size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return FAIL(err, GLV_E_CORRUPT, "zstd: a frame does not tell its size");
  }
  *ret = size;
  return GLV_OK;
}

static glv_status stated_size(general_scheme scheme, span in, uint64_t *ret, glv_error *err) {
  if (scheme == GENERAL_LZ4) {
    if (in.size < LZ4_PREFIX_BYTES) {
      return FAIL(err, GLV_E_CORRUPT, "lz4: %zu bytes are too few", in.size);
    }
    *ret = load_le32(in.data);
    return GLV_OK;
  }
  if (is_bare_frame(in)) {
    return bare_frame_size(in, ret, err);
  }
  *ret = load_le64(in.data);
  return GLV_OK;
}

glv_status general_size(general_scheme scheme, span in, size_t *ret, glv_error *err) {
  *ret = 0;
  if (in.size == 0) {
    return GLV_OK;
  }
  uint64_t size = 0;
  TRY(stated_size(scheme, in, &size, err));
  const uint64_t possible = scheme == GENERAL_LZ4 ? (uint64_t)in.size * LZ4_MAX_RATIO
                                                  : (uint64_t)in.size * ZSTD_MAX_RATIO + ZSTD_SLACK;
  if (size > possible || size > LIMIT_BLOCK_BYTES || !to_size(size, ret)) {
    return FAIL(err, GLV_E_CORRUPT, "%zu compressed bytes claim to hold %llu bytes", in.size,
                (unsigned long long)size);
  }
  return GLV_OK;
}

static glv_status decompress_lz4(span in, uint8_t *out, size_t size, glv_error *err) {
  in = span_of(in.data + LZ4_PREFIX_BYTES, in.size - LZ4_PREFIX_BYTES);
  if (in.size > INT32_MAX || size > INT32_MAX) {
    return FAIL(err, GLV_E_CORRUPT, "lz4: a block of %zu bytes is too large", in.size);
  }
  const int made = LZ4_decompress_safe((const char *)in.data, (char *)out, (int)in.size, (int)size);
  if (made < 0 || (size_t)made != size) {
    return FAIL(err, GLV_E_CORRUPT, "lz4: a block does not decompress to %zu bytes", size);
  }
  return GLV_OK;
}

void general_context_dispose(general_context *c) {
  ZSTD_freeDCtx(c->zstd);
  c->zstd = NULL;
}

static glv_status decompress_zstd(general_context *c, span in, uint8_t *out, size_t size,
                                  glv_error *err) {
  if (c->zstd == NULL) {
    c->zstd = ZSTD_createDCtx();
    if (c->zstd == NULL) {
      return FAIL(err, GLV_E_NOMEM, "no memory for a zstd context");
    }
  }
  if (!is_bare_frame(in)) {
    in = span_of(in.data + ZSTD_PREFIX_BYTES, in.size - ZSTD_PREFIX_BYTES);
  }
  const size_t made = ZSTD_decompressDCtx(c->zstd, out, size, in.data, in.size);
  if (ZSTD_isError(made)) {
    return FAIL(err, GLV_E_CORRUPT, "zstd: %s", ZSTD_getErrorName(made));
  }
  if (made != size) {
    return FAIL(err, GLV_E_CORRUPT, "zstd: %zu bytes instead of %zu", made, size);
  }
  return GLV_OK;
}

glv_status general_decompress(general_context *c, general_scheme scheme, span in, uint8_t *out,
                              size_t size, glv_error *err) {
  if (size == 0) {
    return GLV_OK;
  }
  switch (scheme) {
  case GENERAL_LZ4:
    return decompress_lz4(in, out, size, err);
  case GENERAL_ZSTD:
    return decompress_zstd(c, in, out, size, err);
  }
  return FAIL(err, GLV_E_INTERNAL, "unknown compression scheme");
}
