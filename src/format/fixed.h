/**
 * @file fixed.h
 * Decoding of fixed-width values: chunks of mini-block pages, and blocks (levels, dictionaries).
 */
#ifndef GLAIVE_FORMAT_FIXED_H
#define GLAIVE_FORMAT_FIXED_H

#include "format/bitpack.h"
#include "format/codec.h"
#include "format/decoder.h"
#include "format/page.h"

/** Bytes of room that decoders need for count values of `bits` bits: whole groups of 1024. SIZE_MAX
 * when that overflows. */
size_t fixed_room(size_t count, unsigned bits);

/** Value buffers of a chunk. */
typedef struct chunk_buffers {
  span buffers[CHUNK_BUFFERS];
  size_t count;
} chunk_buffers;

/**
 * Decode a whole chunk.
 *
 * @param c     the encoding, not General.
 * @param b     its buffers, from `at` on.
 * @param bits  bits of a value: 1 or a multiple of 8.
 * @param dest  NULL, or room for fixed_room(count, bits) bytes where the values may be put.
 * @param ret   the values: dest, or inside the chunk, or in d->values.
 * Errors: GLV_E_CORRUPT, GLV_E_UNSUPPORTED for an encoding that may not stand here, GLV_E_NOMEM.
 */
glv_status fixed_chunk(decoder *d, const codec *c, const chunk_buffers *b, size_t at, size_t count,
                       unsigned bits, uint8_t *dest, const uint8_t **ret, glv_error *err);

/**
 * Decode a block of count values into out, which has fixed_room(count, bits) bytes.
 * @param bits  8, 16, 32, 64, or any multiple of 8 for Flat.
 * Errors: as fixed_chunk.
 */
glv_status fixed_block(decoder *d, const codec *c, span in, size_t count, unsigned bits,
                       uint8_t *out, glv_error *err);

/** Number of values that the lengths of a block of runs tell; 0 for other codecs, which do not
 * tell. Errors: GLV_E_CORRUPT. */
glv_status fixed_block_runs(const codec *c, span in, uint64_t *ret, glv_error *err);

/** Bits of the values that a codec produces; 0 when it is not one of fixed width. General is looked
 * through. */
unsigned fixed_bits(const codec *c);

#endif
