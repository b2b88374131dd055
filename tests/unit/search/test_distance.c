/* Distances against plain sums in double, for every metric and element and many dimensions; they
 * are the same for every cut of the vectors into blocks. */
#include <math.h>

#include "base/half.h"
#include "search/distance.h"
#include "support/cmocka.h"
#include "support/rng.h"
#include "support/test_env.h"

enum { ROWS = 7, MOST = 70 };

static double expected(enum metric metric, const double *x, const float *q, size_t dimension) {
  double squares = 0, products = 0, x_length = 0, q_length = 0;
  double bits = 0;
  for (size_t i = 0; i < dimension; i++) {
    const double y = (double)q[i];
    squares += (x[i] - y) * (x[i] - y);
    products += x[i] * y;
    x_length += x[i] * x[i];
    q_length += y * y;
    if (metric == METRIC_HAMMING) {
      bits += __builtin_popcount((unsigned)x[i] ^ (unsigned)y);
    }
  }
  return metric == METRIC_L2       ? squares
         : metric == METRIC_DOT    ? 1 - products
         : metric == METRIC_COSINE ? 1 - products / sqrt(x_length * q_length)
                                   : bits;
}

/* Element i of a vector as the kind stores it. @return its value. */
static double store(enum vector_kind kind, uint8_t *at, size_t i, rng *r) {
  const float value = (float)rng_below(r, 2001) / 1000 - 1;
  const uint16_t half = half_from_float(value);
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits &= 0xffff0000;
  const uint16_t upper = (uint16_t)(bits >> 16);
  const uint8_t byte = (uint8_t)rng_next(r);
  float cut;
  memcpy(&cut, &bits, sizeof cut);
  switch (kind) {
  case VECTOR_FLOAT16:
    memcpy(at + 2 * i, &half, 2);
    return (double)half_to_float(half);
  case VECTOR_BFLOAT16:
    memcpy(at + 2 * i, &upper, 2);
    return (double)cut;
  case VECTOR_FLOAT32:
    memcpy(at + 4 * i, &value, 4);
    return (double)value;
  case VECTOR_FLOAT64:
    memcpy(at + 8 * i, &(double){(double)value}, 8);
    return (double)value;
  case VECTOR_INT8:
    at[i] = byte;
    return (int8_t)byte;
  default:
    at[i] = byte;
    return byte;
  }
}

static void check(glv_env *env, enum metric metric, enum vector_kind kind, size_t dimension,
                  rng *r) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  glv_error err;
  double values[ROWS][MOST];
  uint8_t *stored = arena_alloc(&a, ROWS * MOST * 8);
  float query[MOST];
  query_vector q;
  float all[ROWS];
  const size_t width = vector_element_bytes(kind);
  for (size_t i = 0; i < dimension; i++) {
    query[i] = kind == VECTOR_UINT8 || kind == VECTOR_INT8 ? (float)rng_below(r, 128)
                                                           : (float)rng_below(r, 2001) / 1000 - 1;
  }
  for (size_t v = 0; v < ROWS; v++) {
    for (size_t i = 0; i < dimension; i++) {
      values[v][i] = store(kind, stored + v * dimension * width, i, r);
    }
  }
  assert_int_equal(query_vector_init(&a, metric, kind, query, dimension, &q, &err), GLV_OK);
  query_vector_distances(&q, stored, ROWS, all);
  for (size_t v = 0; v < ROWS; v++) {
    const double wanted = expected(metric, values[v], query, dimension);
    const double scale = kind == VECTOR_INT8 && metric != METRIC_COSINE ? 1e6 : 10;
    float one;
    query_vector_distances(&q, stored + v * dimension * width, 1, &one);
    assert_memory_equal(&one, &all[v], sizeof one);
    assert_true(fabs((double)one - wanted) <= 1e-6 * scale + 1e-5 * fabs(wanted));
  }
}

static void test_all(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  rng r = rng_of(7);
  for (size_t dimension = 1; dimension <= MOST; dimension++) {
    for (int kind = VECTOR_FLOAT16; kind < VECTOR_UINT8; kind++) {
      check(t.env, METRIC_L2, kind, dimension, &r);
      check(t.env, METRIC_COSINE, kind, dimension, &r);
      check(t.env, METRIC_DOT, kind, dimension, &r);
    }
    check(t.env, METRIC_HAMMING, VECTOR_UINT8, dimension, &r);
  }
  test_env_close(&t);
}

static void test_without_length(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, t.env);
  glv_error err;
  query_vector q;
  float d[2];
  const float vectors[] = {0, 0, 1, 1};
  assert_int_equal(query_vector_init(&a, METRIC_COSINE, VECTOR_FLOAT32, vectors + 2, 2, &q, &err),
                   GLV_OK);
  query_vector_distances(&q, vectors, 2, d);
  assert_true(isnan(d[0]) && fabsf(d[1]) < 1e-6F);
  assert_int_equal(query_vector_init(&a, METRIC_COSINE, VECTOR_FLOAT32, vectors, 2, &q, &err),
                   GLV_OK);
  query_vector_distances(&q, vectors, 2, d);
  assert_true(isnan(d[0]) && isnan(d[1]));
  for (size_t i = 0; i < 4; i++) {
    const float wrong[] = {-1, 256, 0.5F, NAN};
    assert_int_equal(query_vector_init(&a, METRIC_HAMMING, VECTOR_UINT8, &wrong[i], 1, &q, &err),
                     GLV_E_INVALID_INPUT);
    assert_non_null(strstr(err.message, "uint8"));
  }
  arena_dispose(&a);
  arena_init(&a, t.env);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all),
                                     cmocka_unit_test(test_without_length)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
