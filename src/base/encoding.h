/**
 * @file encoding.h
 * Bytes as text: hexadecimal digits and base64 (RFC 4648), and random UUIDs.
 */
#ifndef GLAIVE_BASE_ENCODING_H
#define GLAIVE_BASE_ENCODING_H

#include "base/env.h"
#include "base/str.h"

/** Lower-case digits, 2 * size of them, without NUL. */
void hex_encode(const void *data, size_t size, char *text);
/** Digits of either case into text.size / 2 bytes; false when text is not such, data is then
 * unspecified. */
bool hex_decode(str text, uint8_t *data);

/** Bytes of the base64 text of `size` bytes, with or without padding; size <= SIZE_MAX / 2. */
size_t base64_size(size_t size, bool pads);
/** base64_size() characters of the standard alphabet, without NUL. */
void base64_encode(const void *data, size_t size, bool pads, char *text);
/**
 * The bytes of a base64 text, at most text.size of them; padding may be there, in part too.
 * @return false for a character outside of the alphabet, a length that no bytes have, bits that are
 * left over and not zero, and more padding than fills a group of four; data is then unspecified.
 */
bool base64_decode(str text, uint8_t *data, size_t *ret_size);

#define UUID_TEXT_SIZE 36
/** A random UUID (version 4) as 8-4-4-4-12 digits, without NUL. Errors: those of env_random. */
glv_status uuid_random(glv_env *env, char text[UUID_TEXT_SIZE], glv_error *err);

#endif
