/**
 * @file alphabetic.h
 * Unicode properties that the lexer and the string functions need.
 */
#ifndef GLAIVE_EXPR_ALPHABETIC_H
#define GLAIVE_EXPR_ALPHABETIC_H

#include <stdbool.h>
#include <stdint.h>

/** Property Alphabetic. */
bool unicode_is_alphabetic(uint32_t code_point);
/** Property White_Space. */
bool unicode_is_space(uint32_t code_point);

#endif
