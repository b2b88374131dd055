/**
 * @file bss.h
 * Byte stream split: byte j of all values together (lance-file-format section 8.1).
 */
#ifndef GLAIVE_FORMAT_BSS_H
#define GLAIVE_FORMAT_BSS_H

#include <stddef.h>
#include <stdint.h>

/** Put count values of `width` bytes together again; in and out hold count * width bytes each.
 * Thread class: T. */
void bss_join(const uint8_t *restrict in, size_t width, size_t count, uint8_t *restrict out);

#endif
