/**
 * @file fsst.h
 * Decoding of FSST: strings whose frequent pieces of 1 to 8 bytes are replaced by one-byte codes
 * (lance-file-format section 8.5).
 */
#ifndef GLAIVE_FORMAT_FSST_H
#define GLAIVE_FORMAT_FSST_H

#include <stdbool.h>

#include "base/error.h"
#include "format/span.h"

/** Size of a stored symbol table. */
#define FSST_TABLE_BYTES 2312
/** A code never stands for more bytes than this, and decoding writes up to this many bytes past the
 * end. */
#define FSST_SYMBOL_BYTES 8

typedef struct fsst_table {
  bool is_on; /* false: the bytes are not compressed */
  unsigned count;
  uint64_t symbols[256]; /* little endian, first byte first */
  uint8_t lengths[256];
} fsst_table;

/** Read a stored table. Errors: GLV_E_CORRUPT. */
glv_status fsst_table_read(span stored, fsst_table *ret, glv_error *err);

/**
 * Decode one value.
 *
 * @param out  room for FSST_SYMBOL_BYTES * code.size + FSST_SYMBOL_BYTES bytes; bytes past the
 * result may be written.
 * @param ret_size  bytes of the result.
 * Errors: GLV_E_CORRUPT for a code without symbol and for an escape at the end.
 */
glv_status fsst_decode(const fsst_table *t, span code, uint8_t *restrict out, size_t *ret_size,
                       glv_error *err);

/** Code bytes that fsst_decode_run takes at once. */
#define FSST_RUN_BYTES 4096

/**
 * Decode neighbouring values together.
 *
 * @param code  at most FSST_RUN_BYTES bytes.
 * @param out   as for fsst_decode.
 * @param positions  code.size + 1 numbers: positions[i] is how many bytes come out of the first i
 * bytes of code, and FSST_INSIDE where i is in the middle of an escape.
 * Errors: as for fsst_decode.
 */
glv_status fsst_decode_run(const fsst_table *t, span code, uint8_t *restrict out,
                           uint32_t *restrict positions, glv_error *err);
#define FSST_INSIDE UINT32_MAX

#endif
