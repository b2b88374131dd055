/* Lists as vectors (sql-expressions 13.1, 13.2): distances, array_normalize, _cast_list_f16. Sums
 * are made in float64. A vector with a null inside has no distance; a zero vector has no cosine and
 * no direction. */
#include <math.h>

#include "arrow/builder.h"
#include "expr/cast.h"
#include "expr/function_private.h"
#include "expr/lists.h"

/* One vector: the values of a list. */
typedef struct vector {
  const array *items;
  size_t first;
  size_t size;
} vector;

static vector vector_of(const lists *l, size_t i) {
  const span s = lists_at(l, i);
  return (vector){.items = l->items, .first = s.first, .size = s.count};
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

/* ---- distances ---- */

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

/* A sum of nothing is -0.0 in the reference. */
static bool euclid(const vector *l, const vector *r, double *ret) {
  double sum = -0.0;
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

static bool is_large(const operand *o) { return o->a.type->kind == TYPE_LARGE_LIST; }

static glv_status measure(const function_frame *f, const operand *arguments, distance fn,
                          size_t rows, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(lists_require(f, &arguments[0], err));
  TRY(lists_require(f, &arguments[1], err));
  if (fn == euclid && is_large(&arguments[0]) != is_large(&arguments[1])) {
    return FAIL(err, GLV_E_SQL_EXEC, "array_distance does not support types %s and %s",
                TYPE_TEXT(arguments[0].a.type), TYPE_TEXT(arguments[1].a.type));
  }
  const lists left = lists_of(&arguments[0]);
  const lists right = lists_of(&arguments[1]);
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  memset(values, 0, rows * sizeof(double));
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, 2, i)) {
      continue;
    }
    const vector l = vector_of(&left, i);
    const vector r = vector_of(&right, i);
    const bool known = !has_null(&l) && !has_null(&r);
    if (l.size != r.size && (known || fn != euclid)) {
      return FAIL(err, GLV_E_SQL_EXEC, "Both arrays must have the same length, got %zu and %zu",
                  l.size, r.size);
    }
    if (!known || !fn(&l, &r, &((double *)values)[i])) {
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

/* The same kind of list with other items. */
static glv_status with_items(arena *a, const type *list, type_kind item, const type **ret,
                             glv_error *err) {
  field f = list->children[0];
  f.type = type_simple(item);
  *ret = list->kind == TYPE_FIXED_SIZE_LIST ? type_fixed_size_list(a, &f, list->width)
                                            : type_list(a, list->kind, &f);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

/* A list whose items become float64; float32 items are read as they are. */
static glv_status bind_vector(function_binding *b, size_t i, glv_error *err) {
  const type *t = b->arguments[i].type;
  if (t->kind == TYPE_NULL) {
    return list_type_new(b->arena, TYPE_LIST, type_simple(TYPE_FLOAT64), true, &b->targets[i], err);
  }
  if (!type_is_list(t->kind) || !cast_is_supported(list_item(t), type_simple(TYPE_FLOAT64))) {
    return bind_refuse(b, i, "List of numbers", err);
  }
  const type_kind kind = list_item(t)->kind;
  if (kind == TYPE_FLOAT32 || kind == TYPE_FLOAT64) {
    return GLV_OK;
  }
  return with_items(b->arena, t, TYPE_FLOAT64, &b->targets[i], err);
}

static glv_status bind_vectors(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  if (b->function->kernel == array_distance && (bind_is_null(b, 0) || bind_is_null(b, 1))) {
    return bind_refuse(b, bind_is_null(b, 0) ? 0 : 1, "List of numbers", err);
  }
  for (size_t i = 0; i < 2; i++) {
    TRY(bind_vector(b, i, err));
  }
  b->result = type_simple(TYPE_FLOAT64);
  return GLV_OK;
}

/* ---- array_normalize ---- */

/* The length of a vector; *ret_known false = it has no direction: a null inside, or all zeros. */
static double magnitude(const vector *v, bool *ret_known) {
  double sum = 0;
  for (size_t k = 0; k < v->size; k++) {
    sum += item(v, k) * item(v, k);
  }
  *ret_known = !has_null(v) && (sum != 0 || v->size == 0);
  return sqrt(sum);
}

static glv_status array_normalize(const function_frame *f, const operand *arguments, size_t rows,
                                  array *ret, glv_error *err) {
  const lists l = lists_of(&arguments[0]);
  CLEANUP(list_builder_dispose) list_builder b = {0};
  CLEANUP(builder_dispose) builder items;
  CLEANUP(array_unref) array values = {0};
  builder_init(&items, f->env, type_simple(TYPE_FLOAT64));
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  for (size_t i = 0; i < rows; i++) {
    const vector v = vector_of(&l, i);
    bool known = false;
    const double length = lists_is_valid(&l, i) ? magnitude(&v, &known) : 0;
    if (!known) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    for (size_t k = 0; k < v.size; k++) {
      const double scaled = item(&v, k) / length;
      TRY(builder_append_fixed(&items, &scaled, err));
    }
    b.pick_count += v.size;
    TRY(list_builder_end(&b, err));
  }
  TRY(builder_finish(&items, &values, err));
  return list_builder_finish_items(&b, &values, ret, err);
}

static glv_status bind_normalize(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_vector(b, 0, err));
  const bool large = b->targets[0]->kind == TYPE_LARGE_LIST;
  return list_type_new(b->arena, large ? TYPE_LARGE_LIST : TYPE_LIST, type_simple(TYPE_FLOAT64),
                       true, &b->result, err);
}

/* ---- _cast_list_f16 ---- */

static glv_status cast_list_f16(const function_frame *f, const operand *arguments, size_t rows,
                                array *ret, glv_error *err) {
  return kernel_column(f->env, &arguments[0], f->binding->result, rows, ret, err);
}

static glv_status bind_cast_f16(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  const type *t = b->arguments[0].type;
  const bool is_known = t->kind == TYPE_LIST || t->kind == TYPE_FIXED_SIZE_LIST;
  const type_kind item = is_known ? list_item(t)->kind : TYPE_NONE;
  if (item != TYPE_FLOAT16 && item != TYPE_FLOAT32) {
    return bind_refuse(b, 0, "List of Float16 or Float32", err);
  }
  TRY(with_items(b->arena, t, TYPE_FLOAT16, &b->targets[0], err));
  b->result = b->targets[0];
  return GLV_OK;
}

static const char *const distance_names[] = {"list_distance", NULL};
static const char *const product_names[] = {"dot_product", NULL};
static const char *const normalize_names[] = {"list_normalize", NULL};

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
    {.name = "array_normalize",
     .aliases = normalize_names,
     .bind = bind_normalize,
     .kernel = array_normalize},
    {.name = "_cast_list_f16", .bind = bind_cast_f16, .kernel = cast_list_f16},
    {0},
};
