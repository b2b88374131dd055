/**
 * @file general.h
 * General-purpose compression of whole buffers or single values, with the framing of Lance
 * (lance-file-format section 8.4): LZ4 blocks behind a 32-bit length, ZSTD frames behind a 64-bit
 * length or bare.
 */
#ifndef GLAIVE_FORMAT_GENERAL_H
#define GLAIVE_FORMAT_GENERAL_H

#include "base/env.h"
#include "format/span.h"

typedef enum general_scheme { GENERAL_LZ4 = 1, GENERAL_ZSTD = 2 } general_scheme;

/**
 * The decompressed size that the framing states; *ret is bounded by what the bytes can possibly
 * hold and by LIMIT_BLOCK_BYTES, so memory may be allocated for it.
 * Errors: GLV_E_CORRUPT.
 */
glv_status general_size(general_scheme scheme, span in, size_t *ret, glv_error *err);

/** Working memory of the decompressors, for many calls of one thread; starts as {0}. */
typedef struct general_context {
  void *zstd;
} general_context;
void general_context_dispose(general_context *c);

/** Decompress into out[0..size), size being what general_size told. Errors: GLV_E_CORRUPT,
 * GLV_E_NOMEM. Thread class: one thread a context. */
glv_status general_decompress(general_context *c, general_scheme scheme, span in, uint8_t *out,
                              size_t size, glv_error *err);

#endif
