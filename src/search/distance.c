/* One loop per metric and element, over blocks of vectors, each in the versions of base/cpu.h. */
#include "search/distance.h"

#include <math.h>

#include "base/cpu.h"
#include "base/half.h"

enum { LANES = 16 };

const char *metric_name(enum metric metric) {
  static const char *const names[] = {"l2", "cosine", "dot", "hamming"};
  return names[metric];
}

size_t vector_element_bytes(enum vector_kind kind) {
  switch (kind) {
  case VECTOR_FLOAT16:
  case VECTOR_BFLOAT16:
    return 2;
  case VECTOR_FLOAT32:
    return 4;
  case VECTOR_FLOAT64:
    return 8;
  default:
    return 1;
  }
}

/* The sum of the lanes, pairwise. */
#define DEFINE_SUM(name, real)                                                                     \
  static inline real name(real *lanes) {                                                           \
    for (size_t half = LANES / 2; half > 0; half /= 2) {                                           \
      for (size_t i = 0; i < half; i++) {                                                          \
        lanes[i] += lanes[i + half];                                                               \
      }                                                                                            \
    }                                                                                              \
    return lanes[0];                                                                               \
  }

DEFINE_SUM(sum_floats, float)
DEFINE_SUM(sum_doubles, double)

/* ---- l2, dot ---- */

/* Adds up TERM of x[i] and q[i]. */
#define DEFINE_TERMS(name, real, sum, TERM, FINISH)                                                \
  CPU_CLONES static void name(const real *x, const real *q, size_t dimension, size_t count,        \
                              float *ret) {                                                        \
    for (size_t v = 0; v < count; v++, x += dimension) {                                           \
      real lanes[LANES] = {0};                                                                     \
      size_t i = 0;                                                                                \
      for (; i + LANES <= dimension; i += LANES) {                                                 \
        for (size_t l = 0; l < LANES; l++) {                                                       \
          lanes[l] += TERM(x[i + l], q[i + l]);                                                    \
        }                                                                                          \
      }                                                                                            \
      for (size_t l = 0; i + l < dimension; l++) {                                                 \
        lanes[l] += TERM(x[i + l], q[i + l]);                                                      \
      }                                                                                            \
      ret[v] = (float)FINISH(sum(lanes));                                                          \
    }                                                                                              \
  }

#define SQUARE(a, b) (((a) - (b)) * ((a) - (b)))
#define PRODUCT(a, b) ((a) * (b))
#define AS_IS(sum) (sum)
#define FROM_ONE(sum) (1 - (sum))

DEFINE_TERMS(l2_floats, float, sum_floats, SQUARE, AS_IS)
DEFINE_TERMS(l2_doubles, double, sum_doubles, SQUARE, AS_IS)
DEFINE_TERMS(dot_floats, float, sum_floats, PRODUCT, FROM_ONE)
DEFINE_TERMS(dot_doubles, double, sum_doubles, PRODUCT, FROM_ONE)

/* ---- cosine ---- */

/* length: of q. */
#define DEFINE_COSINE(name, real, sum, root)                                                       \
  CPU_CLONES static void name(const real *x, const real *q, real length, size_t dimension,         \
                              size_t count, float *ret) {                                          \
    for (size_t v = 0; v < count; v++, x += dimension) {                                           \
      real products[LANES] = {0};                                                                  \
      real squares[LANES] = {0};                                                                   \
      size_t i = 0;                                                                                \
      for (; i + LANES <= dimension; i += LANES) {                                                 \
        for (size_t l = 0; l < LANES; l++) {                                                       \
          products[l] += x[i + l] * q[i + l];                                                      \
          squares[l] += x[i + l] * x[i + l];                                                       \
        }                                                                                          \
      }                                                                                            \
      for (size_t l = 0; i + l < dimension; l++) {                                                 \
        products[l] += x[i + l] * q[i + l];                                                        \
        squares[l] += x[i + l] * x[i + l];                                                         \
      }                                                                                            \
      ret[v] = (float)(1 - sum(products) / root(sum(squares)) / length);                           \
    }                                                                                              \
  }

DEFINE_COSINE(cosine_floats, float, sum_floats, sqrtf)
DEFINE_COSINE(cosine_doubles, double, sum_doubles, sqrt)

/* ---- hamming ---- */

CPU_CLONES static void hamming(const uint8_t *x, const uint8_t *q, size_t dimension, size_t count,
                               float *ret) {
  for (size_t v = 0; v < count; v++, x += dimension) {
    uint64_t bits = 0;
    size_t i = 0;
    for (; i + 8 <= dimension; i += 8) {
      uint64_t left;
      uint64_t right;
      memcpy(&left, x + i, 8);
      memcpy(&right, q + i, 8);
      bits += (uint64_t)__builtin_popcountll(left ^ right);
    }
    for (; i < dimension; i++) {
      bits += (uint64_t)__builtin_popcount((unsigned)(x[i] ^ q[i]));
    }
    ret[v] = (float)bits;
  }
}

/* ---- widening ---- */

CPU_CLONES static void widen_halves(const uint16_t *from, size_t count, float *to) {
  for (size_t i = 0; i < count; i++) {
    to[i] = half_to_float(from[i]);
  }
}

CPU_CLONES static void widen_bfloats(const uint16_t *from, size_t count, float *to) {
  for (size_t i = 0; i < count; i++) {
    const uint32_t bits = (uint32_t)from[i] << 16;
    memcpy(&to[i], &bits, sizeof bits);
  }
}

CPU_CLONES static void widen_bytes(const int8_t *from, size_t count, float *to) {
  for (size_t i = 0; i < count; i++) {
    to[i] = from[i];
  }
}

/* ---- queries ---- */

static glv_status init_bytes(arena *a, query_vector *q, glv_error *err) {
  uint8_t *bytes = ARENA_ARRAY(a, uint8_t, q->dimension);
  if (bytes == NULL) {
    return error_nomem(err, q->dimension);
  }
  for (size_t i = 0; i < q->dimension; i++) {
    const float value = q->floats[i];
    if (!(value >= 0 && value <= 255) || value != floorf(value)) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "%g is in a query vector for a column of uint8; its elements are whole numbers "
                  "from 0 to 255",
                  (double)value);
    }
    bytes[i] = (uint8_t)value;
  }
  q->bytes = bytes;
  return GLV_OK;
}

static glv_status init_doubles(arena *a, query_vector *q, glv_error *err) {
  double *doubles = ARENA_ARRAY(a, double, q->dimension);
  if (doubles == NULL) {
    return error_nomem(err, q->dimension * sizeof *doubles);
  }
  for (size_t i = 0; i < q->dimension; i++) {
    doubles[i] = (double)q->floats[i];
  }
  q->doubles = doubles;
  return GLV_OK;
}

static double length_of(const float *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += (double)values[i] * (double)values[i];
  }
  return sqrt(sum);
}

glv_status query_vector_init(arena *a, enum metric metric, enum vector_kind kind,
                             const float *values, size_t dimension, query_vector *ret,
                             glv_error *err) {
  *ret = (query_vector){.metric = metric,
                        .kind = kind,
                        .dimension = dimension,
                        .floats = values,
                        .length = length_of(values, dimension),
                        .widened = ARENA_ARRAY(a, float, dimension)};
  if (ret->widened == NULL) {
    return error_nomem(err, dimension * sizeof(float));
  }
  return kind == VECTOR_UINT8     ? init_bytes(a, ret, err)
         : kind == VECTOR_FLOAT64 ? init_doubles(a, ret, err)
                                  : GLV_OK;
}

static void float_distances(const query_vector *q, const float *x, size_t count, float *ret) {
  if (q->metric == METRIC_L2) {
    l2_floats(x, q->floats, q->dimension, count, ret);
  } else if (q->metric == METRIC_DOT) {
    dot_floats(x, q->floats, q->dimension, count, ret);
  } else {
    cosine_floats(x, q->floats, (float)q->length, q->dimension, count, ret);
  }
}

static void double_distances(const query_vector *q, const double *x, size_t count, float *ret) {
  if (q->metric == METRIC_L2) {
    l2_doubles(x, q->doubles, q->dimension, count, ret);
  } else if (q->metric == METRIC_DOT) {
    dot_doubles(x, q->doubles, q->dimension, count, ret);
  } else {
    cosine_doubles(x, q->doubles, q->length, q->dimension, count, ret);
  }
}

static void widen(const query_vector *q, const void *vector) {
  if (q->kind == VECTOR_FLOAT16) {
    widen_halves(vector, q->dimension, q->widened);
  } else if (q->kind == VECTOR_BFLOAT16) {
    widen_bfloats(vector, q->dimension, q->widened);
  } else {
    widen_bytes(vector, q->dimension, q->widened);
  }
}

void query_vector_distances(const query_vector *q, const void *vectors, size_t count, float *ret) {
  if (q->kind == VECTOR_FLOAT32) {
    float_distances(q, vectors, count, ret);
  } else if (q->kind == VECTOR_FLOAT64) {
    double_distances(q, vectors, count, ret);
  } else if (q->kind == VECTOR_UINT8) {
    hamming(vectors, q->bytes, q->dimension, count, ret);
  } else {
    const size_t bytes = q->dimension * vector_element_bytes(q->kind);
    for (size_t i = 0; i < count; i++) {
      widen(q, (const uint8_t *)vectors + i * bytes);
      float_distances(q, q->widened, 1, &ret[i]);
    }
  }
}
