/* nullif, greatest, least. The result is picked from the arguments: their columns are put one after
 * another, and a list of row numbers chooses, whatever the type. */
#include "arrow/bits.h"
#include "base/checked.h"
#include "expr/coerce.h"
#include "expr/compare.h"
#include "expr/function_private.h"

/* The operands as one array, and where each begins in it. */
typedef struct pick {
  glv_env *env;
  array all;
  uint32_t *starts;
  uint32_t *rows; /* of all, to be filled in: one for each row of the result */
} pick;

static void pick_dispose(pick *p) {
  array_unref(&p->all);
  mem_free(p->env, p->starts);
  mem_free(p->env, p->rows);
}

static glv_status pick_begin(pick *p, const array *columns, size_t count, size_t rows,
                             glv_error *err) {
  p->starts = mem_calloc(p->env, count, sizeof *p->starts);
  p->rows = mem_calloc(p->env, rows, sizeof *p->rows);
  if (p->starts == NULL || p->rows == NULL) {
    return error_nomem(err, rows * sizeof *p->rows);
  }
  size_t start = 0;
  for (size_t i = 0; i < count; i++) {
    p->starts[i] = (uint32_t)start;
    start += columns[i].length;
  }
  return array_concat(p->env, columns, count, &p->all, err);
}

static glv_status pick_end(pick *p, const type *t, size_t rows, array *ret, glv_error *err) {
  TRY(array_take(p->env, &p->all, p->rows, rows, ret, err));
  ret->type = t;
  return GLV_OK;
}

/* ---- greatest, least ---- */

/* The operand whose value wins in row i; nulls lose, those inside of lists and structs, too. */
static size_t winner(const operand *arguments, size_t count, int sign, size_t i) {
  size_t best = 0;
  for (size_t k = 1; k < count; k++) {
    const operand *a = &arguments[best];
    const operand *b = &arguments[k];
    if (!operand_is_valid(b, i)) {
      continue;
    }
    if (!operand_is_valid(a, i) ||
        sign * compare_values_nulls(&b->a, operand_row(b, i), &a->a, operand_row(a, i), sign < 0) >
            0) {
      best = k;
    }
  }
  return best;
}

static glv_status choose(const function_frame *f, const operand *arguments, int sign, size_t rows,
                         array *ret, glv_error *err) {
  const size_t count = f->binding->count;
  CLEANUP(pick_dispose) pick p = {.env = f->env};
  array *columns = mem_calloc(f->env, count, sizeof *columns);
  if (columns == NULL) {
    return error_nomem(err, count * sizeof *columns);
  }
  for (size_t k = 0; k < count; k++) {
    columns[k] = arguments[k].a;
  }
  const glv_status status = pick_begin(&p, columns, count, rows, err);
  mem_free(f->env, columns);
  TRY(status);
  for (size_t i = 0; i < rows; i++) {
    const size_t k = winner(arguments, count, sign, i);
    p.rows[i] = p.starts[k] + (uint32_t)operand_row(&arguments[k], i);
  }
  return pick_end(&p, f->binding->result, rows, ret, err);
}

static glv_status greatest(const function_frame *f, const operand *arguments, size_t rows,
                           array *ret, glv_error *err) {
  return choose(f, arguments, 1, rows, ret, err);
}
static glv_status least(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err) {
  return choose(f, arguments, -1, rows, ret, err);
}

static glv_status no_common_type(const function_binding *b, const type *l, const type *r,
                                 glv_error *err) {
  return FAIL(err, GLV_E_SQL_PLAN,
              "Failed to coerce arguments to satisfy a call to '%.*s' function: %s and %s",
              STR_ARG(b->name), TYPE_TEXT(l), TYPE_TEXT(r));
}

static glv_status bind_choice(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, SIZE_MAX, err));
  const type *t = b->arguments[0].type;
  for (size_t i = 1; i < b->count; i++) {
    const type *joined = NULL;
    TRY(coerce_choice(b->arena, t, b->arguments[i].type, &joined, err));
    if (joined == NULL) {
      return no_common_type(b, t, b->arguments[i].type, err);
    }
    t = joined;
  }
  for (size_t i = 0; i < b->count; i++) {
    b->targets[i] = t;
  }
  b->result = t;
  return GLV_OK;
}

/* ---- nullif ---- */

/* The lists of o, but null where `equal`. Such rows keep their items, which array_append would see.
 */
static glv_status nullif_lists(const function_frame *f, const operand *o, const array *equal,
                               size_t rows, array *ret, glv_error *err) {
  CLEANUP(pick_dispose) pick p = {.env = f->env};
  CLEANUP(array_unref) array a = {0};
  buffer *valid = NULL;
  if (o->is_scalar) { /* row 0 in every row */
    TRY(pick_begin(&p, &o->a, 1, rows, err));
    TRY(pick_end(&p, f->binding->result, rows, &a, err));
  } else {
    a = array_ref(&o->a); /* taking rows would drop what lies below those that are null already */
    a.type = f->binding->result;
  }
  TRY(buffer_new_zeroed(f->env, bits_size(rows), &valid, err));
  size_t nulls = 0;
  for (size_t i = 0; i < rows; i++) {
    const bool is_equal = array_is_valid(equal, i) && array_bool(equal, i);
    const bool is_null = is_equal || !array_is_valid(&a, i);
    nulls += is_null;
    bit_put(valid->data, i, !is_null);
  }
  buffer_unref(a.owners[0]);
  a.owners[0] = valid;
  a.validity = valid->data;
  a.bit_offset = 0;
  a.null_count = nulls;
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* Null where both are equal, else the first. */
static glv_status nullif(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  CLEANUP(array_unref) array equal = {0};
  CLEANUP(array_unref) array null = {0};
  CLEANUP(pick_dispose) pick p = {.env = f->env};
  TRY(compare_operands(f->env, COMPARE_EQ, &arguments[0], &arguments[1], rows, &equal, err));
  if (type_is_list(arguments[0].a.type->kind) &&
      !(arguments[0].is_scalar && arguments[1].is_scalar)) {
    return nullif_lists(f, &arguments[0], &equal, rows, ret, err);
  }
  TRY(array_new_null(f->env, arguments[0].a.type, 1, &null, err));
  const array columns[] = {arguments[0].a, null};
  TRY(pick_begin(&p, columns, 2, rows, err));
  for (size_t i = 0; i < rows; i++) {
    const bool is_equal = array_is_valid(&equal, i) && array_bool(&equal, i);
    p.rows[i] = is_equal ? p.starts[1] : (uint32_t)operand_row(&arguments[0], i);
  }
  return pick_end(&p, f->binding->result, rows, ret, err);
}

static glv_status bind_nullif(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  const type *t = NULL;
  if (bind_is_null(b, 0) && bind_is_null(b, 1)) {
    t = type_simple(TYPE_UTF8_VIEW);
  } else {
    TRY(coerce_choice(b->arena, b->arguments[0].type, b->arguments[1].type, &t, err));
  }
  if (t == NULL) {
    return no_common_type(b, b->arguments[0].type, b->arguments[1].type, err);
  }
  b->targets[0] = b->targets[1] = t;
  b->result = t;
  return GLV_OK;
}

const function functions_condition[] = {
    {.name = "nullif", .bind = bind_nullif, .kernel = nullif},
    {.name = "greatest", .bind = bind_choice, .kernel = greatest},
    {.name = "least", .bind = bind_choice, .kernel = least},
    {0},
};
