/**
 * @file cmocka.h
 * cmocka with the headers that it wants before it, in the order it wants them.
 */
#ifndef GLAIVE_TESTS_SUPPORT_CMOCKA_H
#define GLAIVE_TESTS_SUPPORT_CMOCKA_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#endif
