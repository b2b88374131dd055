#!/usr/bin/env python3
"""Prints src/base/number_powers.c: the powers of ten that number.c needs.

Usage: scripts/generate_powers.py > src/base/number_powers.c
"""

FIRST, LAST = -342, 324

HEAD = """/* The powers of ten from 10^{first} to 10^{last}, made by scripts/generate_powers.py.
 *
 * Entry i stands for 10^({first} + i): the 128 most significant bits of its binary expansion, rounded
 * down, as two words with the more significant one first. The topmost bit is always 1, so the power
 * is entry * 2^(floor(log2(10^q)) - 127), exactly for 0 <= q <= 55 and with an error below one unit
 * otherwise. */
#include "base/number_powers.h"

/* clang-format off */
const uint64_t number_powers[NUMBER_POWER_LAST - NUMBER_POWER_FIRST + 1][2] = {{"""


def significand(q: int) -> int:
    if q >= 0:
        power = 10**q
        shift = power.bit_length() - 128
        return power >> shift if shift >= 0 else power << -shift
    power = 10**-q
    bits = power.bit_length() + 128
    value = (1 << bits) // power
    return value >> (value.bit_length() - 128)


def main() -> None:
    print(HEAD.format(first=FIRST, last=LAST))
    for q in range(FIRST, LAST + 1):
        s = significand(q)
        print(f"    {{0x{s >> 64:016x}u, 0x{s & (2**64 - 1):016x}u}},")
    print("};")
    print("/* clang-format on */")


main()
