/**
 * @file rng.h
 * Repeatable random numbers for tests (SplitMix64).
 */
#ifndef GLAIVE_TESTS_RNG_H
#define GLAIVE_TESTS_RNG_H

#include <stdint.h>

typedef struct rng {
  uint64_t state;
} rng;

static inline rng rng_of(uint64_t seed) { return (rng){seed}; }

static inline uint64_t rng_next(rng *r) {
  r->state += 0x9E3779B97F4A7C15u;
  uint64_t z = r->state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/** A number in [0, end). */
static inline uint64_t rng_below(rng *r, uint64_t end) { return rng_next(r) % end; }

#endif
