/**
 * @file arrays.h
 * Types and random arrays for tests.
 */
#ifndef GLAIVE_TESTS_ARROW_ARRAYS_H
#define GLAIVE_TESTS_ARROW_ARRAYS_H

#include "arrow/array.h"
#include "support/rng.h"

/** One type of every kind, nested ones included. */
enum { SAMPLE_TYPES = 44 };
/** Fields f0, f1, ... of these types, in the arena. */
const field *sample_fields(arena *a);
/** A random array; one in `null_every` values is null (0: none). Asserts on failure. */
array random_array(glv_env *env, const type *t, size_t length, unsigned null_every, rng *r);
/** Random columns for the fields. */
batch random_batch(glv_env *env, const schema *s, size_t length, unsigned null_every, rng *r);
/** The same values, with as few shared buffers as possible. */
bool batch_equal(const batch *a, const batch *b);

#endif
