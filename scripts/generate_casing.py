#!/usr/bin/env python3
"""Prints the table UPPER_CASING of src/expr/unicode_case.c: the characters whose upper case is not
one character, from Python's Unicode tables."""

import sys

rows = []
for code in range(sys.maxunicode + 1):
    if 0xD800 <= code <= 0xDFFF:
        continue
    upper = chr(code).upper()
    if len(upper) > 1:
        parts = [ord(c) for c in upper] + [0] * (3 - len(upper))
        rows.append(f"    {{0x{code:04x}, {{{', '.join(f'0x{p:04x}' for p in parts)}}}}},")
print("\n".join(rows))
