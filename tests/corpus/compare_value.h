/**
 * @file compare_value.h
 * Values of an array against values as the corpus writes them.
 */
#ifndef GLAIVE_TESTS_CORPUS_COMPARE_VALUE_H
#define GLAIVE_TESTS_CORPUS_COMPARE_VALUE_H

#include "arrow/array.h"
#include "corpus/value.h"

/** Whether value i of a is `expected`; floats may differ by `ulp` units in the last place. */
bool value_matches(const array *a, size_t i, const value *expected, unsigned ulp);

#endif
