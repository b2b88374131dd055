/**
 * @file rle.h
 * Run-length encoding: values of 8 to 64 bits, each with a length of one byte (lance-file-format
 * sections 8.1 and 8.2).
 */
#ifndef GLAIVE_FORMAT_RLE_H
#define GLAIVE_FORMAT_RLE_H

#include <stdbool.h>

#include "base/error.h"
#include "format/span.h"

/**
 * Expand runs into count values.
 *
 * @param bits     bits of a value: 8, 16, 32 or 64.
 * @param values   one value per run.
 * @param lengths  one byte per run.
 * @param exact    the lengths must sum to count; else a longer sum is cut off.
 * @param out      room for count values, aligned.
 * Errors: GLV_E_CORRUPT. Thread class: T.
 */
glv_status rle_expand(unsigned bits, span values, span lengths, size_t count, bool exact, void *out,
                      glv_error *err);

#endif
