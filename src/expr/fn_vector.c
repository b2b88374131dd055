/* Distances of vectors: fixed_size_list of float32 or float64 (sql-expressions 13.1). Sums are made
 * in float64. A vector with a null inside has no cosine and no inner product; a zero vector has no
 * cosine. */
#include <math.h>

#include "expr/function_private.h"

/* One vector: the values of a list. */
typedef struct vector {
  const array *items;
  size_t first;
  size_t size;
} vector;

static vector vector_of(const operand *o, size_t i) {
  const size_t size = (size_t)o->a.type->width;
  return (vector){.items = &o->a.children[0], .first = operand_row(o, i) * size, .size = size};
}

static double item(const vector *v, size_t k) {
  const array *a = v->items;
  return a->type->kind == TYPE_FLOAT32 ? (double)ARRAY_VALUES(a, float)[v->first + k]
                                       : ARRAY_VALUES(a, double)[v->first + k];
}

static bool has_null(const vector *v) {
  for (size_t k = 0; v->items->validity != NULL && k < v->size; k++) {
    if (!array_is_valid(v->items, v->first + k)) {
      return true;
    }
  }
  return false;
}

typedef bool (*distance)(const vector *l, const vector *r, double *ret);

static bool cosine(const vector *l, const vector *r, double *ret) {
  double dot = 0;
  double left = 0;
  double right = 0;
  for (size_t k = 0; k < l->size; k++) {
    dot += item(l, k) * item(r, k);
    left += item(l, k) * item(l, k);
    right += item(r, k) * item(r, k);
  }
  *ret = 1.0 - dot / (sqrt(left) * sqrt(right));
  return left != 0 && right != 0;
}

static bool euclid(const vector *l, const vector *r, double *ret) {
  double sum = 0;
  for (size_t k = 0; k < l->size; k++) {
    const double d = item(l, k) - item(r, k);
    sum += d * d;
  }
  *ret = sqrt(sum);
  return true;
}

static bool dot_product(const vector *l, const vector *r, double *ret) {
  double sum = 0;
  for (size_t k = 0; k < l->size; k++) {
    sum += item(l, k) * item(r, k);
  }
  *ret = sum;
  return true;
}

static glv_status measure(const function_frame *f, const operand *arguments, distance fn,
                          size_t rows, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  memset(values, 0, rows * sizeof(double));
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, 2, i)) {
      continue;
    }
    const vector l = vector_of(&arguments[0], i);
    const vector r = vector_of(&arguments[1], i);
    if (l.size != r.size) {
      return FAIL(err, GLV_E_SQL_EXEC, "Both arrays must have the same length, got %zu and %zu",
                  l.size, r.size);
    }
    if (has_null(&l) || has_null(&r) || !fn(&l, &r, &((double *)values)[i])) {
      TRY(kernel_set_null(f->env, &a, i, err));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

#define DISTANCE_KERNEL(name, fn)                                                                  \
  static glv_status name(const function_frame *f, const operand *arguments, size_t rows,           \
                         array *ret, glv_error *err) {                                             \
    return measure(f, arguments, fn, rows, ret, err);                                              \
  }

DISTANCE_KERNEL(cosine_distance, cosine)
DISTANCE_KERNEL(array_distance, euclid)
DISTANCE_KERNEL(inner_product, dot_product)

static glv_status bind_vectors(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  for (size_t i = 0; i < 2; i++) {
    const type *t = b->arguments[i].type;
    switch (t->kind) {
    case TYPE_FIXED_SIZE_LIST:
      if (t->children[0].type->kind == TYPE_FLOAT32 || t->children[0].type->kind == TYPE_FLOAT64) {
        break;
      }
      return FAIL(err, GLV_E_SQL_PLAN, "function '%.*s' of %s is not supported yet",
                  STR_ARG(b->name), TYPE_TEXT(t));
    case TYPE_LIST:
    case TYPE_LARGE_LIST:
    case TYPE_NULL:
      return FAIL(err, GLV_E_SQL_PLAN, "function '%.*s' of %s is not supported yet",
                  STR_ARG(b->name), TYPE_TEXT(t));
    default:
      return bind_refuse(b, i, "List", err);
    }
  }
  b->result = type_simple(TYPE_FLOAT64);
  return GLV_OK;
}

static const char *const distance_names[] = {"list_distance", NULL};
static const char *const product_names[] = {"dot_product", NULL};

const function functions_vector[] = {
    {.name = "cosine_distance", .bind = bind_vectors, .kernel = cosine_distance},
    {.name = "array_distance",
     .aliases = distance_names,
     .bind = bind_vectors,
     .kernel = array_distance},
    {.name = "inner_product",
     .aliases = product_names,
     .bind = bind_vectors,
     .kernel = inner_product},
    {0},
};
