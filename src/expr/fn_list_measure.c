/*
 * How long and how deep lists are (sql-expressions 13.1, 13.2): array_length, cardinality,
 * array_ndims, array_dims, empty.
 *
 * Dimensions below the first are those of the first item, of its first item, and so on: what the
 * reference looks at.
 */
#include "expr/function_private.h"
#include "expr/lists.h"

/* The first items down from row i of a column of lists. */
typedef struct descent {
  lists l;
  operand inner; /* borrowed: the column that l views, below the first level */
  span at;
} descent;

static void descend_init(descent *d, const operand *o, size_t i) {
  d->l = lists_of(o);
  d->at = lists_at(&d->l, i);
}

enum descend { DESCEND_OK, DESCEND_NO_LIST, DESCEND_NO_ITEM };

/* One level down. A null list has no items. */
static enum descend descend(descent *d) {
  const array *items = d->l.items;
  if (!type_is_list(items->type->kind)) {
    return DESCEND_NO_LIST;
  }
  const size_t first = d->at.first;
  const bool has_item = d->at.count != 0;
  d->inner = (operand){.a = *items};
  d->l = lists_of(&d->inner);
  if (!has_item) {
    d->at = (span){0};
    return DESCEND_NO_ITEM;
  }
  const bool is_fixed = items->type->kind == TYPE_FIXED_SIZE_LIST;
  d->at = is_fixed || lists_is_valid(&d->l, first) ? lists_at(&d->l, first) : (span){0};
  return DESCEND_OK;
}

/* ---- array_length ---- */

/* The length of dimension `dimension` of row i; *ret_known false = it has none. */
static glv_status length_of(const operand *list, int64_t dimension, size_t i, uint64_t *ret,
                            bool *ret_known, glv_error *err) {
  descent d;
  descend_init(&d, list, i);
  *ret_known = dimension >= 1;
  for (int64_t level = 1; level < dimension; level++) {
    const enum descend found = descend(&d);
    if (found == DESCEND_NO_ITEM) {
      return FAIL(err, GLV_E_SQL_EXEC,
                  "array_length: row %zu has no dimension %lld, because a list is empty", i,
                  (long long)dimension);
    }
    if (found == DESCEND_NO_LIST) {
      *ret_known = false;
      return GLV_OK;
    }
  }
  *ret = *ret_known ? d.at.count : 0;
  return GLV_OK;
}

static glv_status array_length(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values = NULL;
  const size_t count = f->binding->count;
  TRY(lists_require(f, &arguments[0], err));
  TRY(kernel_begin(f->env, f->binding->result, arguments, count, rows, &a, &values, err));
  uint64_t *lengths = values;
  for (size_t i = 0; i < rows; i++) {
    bool known = true;
    lengths[i] = 0;
    if (!kernel_row_is_valid(arguments, count, i)) {
      continue;
    }
    const int64_t dimension = count == 2 ? OPERAND_VALUE(&arguments[1], int64_t, i) : 1;
    TRY(length_of(&arguments[0], dimension, i, &lengths[i], &known, err));
    if (!known) {
      TRY(kernel_set_null(f->env, &a, i, err));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_length(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 2, err));
  TRY(bind_lists(b, "ai", true, err));
  b->result = type_simple(TYPE_UINT64);
  return GLV_OK;
}

/* ---- cardinality ---- */

/* The product of all dimensions. */
static uint64_t leaves(const operand *o, size_t i) {
  descent d;
  descend_init(&d, o, i);
  uint64_t product = d.at.count;
  while (product != 0 && descend(&d) == DESCEND_OK) {
    product *= d.at.count;
  }
  return product;
}

static glv_status cardinality(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  const type *t = arguments[0].a.type;
  if (t->kind == TYPE_NULL) {
    return array_new_null(f->env, f->binding->result, rows, ret, err);
  }
  CLEANUP(array_unref) array a = {0};
  void *values = NULL;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 1, rows, &a, &values, err));
  const lists l = lists_of(&arguments[0]);
  for (size_t i = 0; i < rows; i++) {
    ((uint64_t *)values)[i] =
        t->kind == TYPE_MAP ? lists_at(&l, i).count : leaves(&arguments[0], i);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_cardinality(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  if (b->arguments[0].type->kind != TYPE_MAP) {
    TRY(bind_lists(b, "a", false, err));
  }
  b->result = type_simple(TYPE_UINT64);
  return GLV_OK;
}

/* ---- array_ndims, array_dims ---- */

static glv_status array_ndims(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  const type *t = arguments[0].a.type;
  if (t->kind == TYPE_NULL) {
    return array_new_null(f->env, f->binding->result, rows, ret, err);
  }
  CLEANUP(array_unref) array a = {0};
  void *values = NULL;
  const uint64_t depth = list_dimensions(t);
  TRY(kernel_begin(f->env, f->binding->result, arguments, 1, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    ((uint64_t *)values)[i] = depth;
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* The dimensions of row i, at most one for each level of the type. */
static size_t dimensions_of(const operand *o, size_t i, uint64_t *out) {
  descent d;
  size_t count = 0;
  descend_init(&d, o, i);
  enum descend found = DESCEND_OK;
  while (found != DESCEND_NO_LIST) {
    out[count++] = d.at.count;
    found = descend(&d);
  }
  return count;
}

static glv_status array_dims(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  CLEANUP(list_builder_dispose) list_builder b = {0};
  CLEANUP(array_unref) array numbers = {0};
  TRY(lists_require(f, &arguments[0], err));
  const lists l = lists_of(&arguments[0]);
  const size_t depth = type_depth(arguments[0].a.type);
  void *values = NULL;
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(array_new_fixed(f->env, type_simple(TYPE_UINT64), rows * depth, &numbers, &values, err));
  for (size_t i = 0; i < rows; i++) {
    if (!lists_is_valid(&l, i) || lists_at(&l, i).count == 0) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    b.pick_count += dimensions_of(&arguments[0], i, (uint64_t *)values + b.pick_count);
    TRY(list_builder_end(&b, err));
  }
  CLEANUP(array_unref) array used = array_slice(&numbers, 0, b.pick_count);
  return list_builder_finish_items(&b, &used, ret, err);
}

static glv_status bind_ndims(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_lists(b, "a", true, err));
  b->result = type_simple(TYPE_UINT64);
  return GLV_OK;
}

static glv_status bind_dims(function_binding *b, glv_error *err) {
  TRY(bind_ndims(b, err));
  return list_type_new(b->arena, TYPE_LIST, b->result, true, &b->result, err);
}

/* ---- empty ---- */

static glv_status empty(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values = NULL;
  TRY(lists_require(f, &arguments[0], err));
  const lists l = lists_of(&arguments[0]);
  TRY(kernel_begin(f->env, f->binding->result, arguments, 1, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    bit_put(values, i, lists_at(&l, i).count == 0);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_empty(function_binding *b, glv_error *err) {
  TRY(bind_ndims(b, err));
  b->result = type_simple(TYPE_BOOL);
  return GLV_OK;
}

static const char *const length_names[] = {"list_length", NULL};
static const char *const ndims_names[] = {"list_ndims", NULL};
static const char *const dims_names[] = {"list_dims", NULL};
static const char *const empty_names[] = {"array_empty", "list_empty", NULL};

const function functions_list_measure[] = {
    {.name = "array_length", .aliases = length_names, .bind = bind_length, .kernel = array_length},
    {.name = "cardinality", .bind = bind_cardinality, .kernel = cardinality},
    {.name = "array_ndims", .aliases = ndims_names, .bind = bind_ndims, .kernel = array_ndims},
    {.name = "array_dims", .aliases = dims_names, .bind = bind_dims, .kernel = array_dims},
    {.name = "empty", .aliases = empty_names, .bind = bind_empty, .kernel = empty},
    {0},
};
