/**
 * @file function.h
 * The contract between the planner and the scalar functions (sql-expressions section 13): a
 * function is one table entry with two calls. `bind` runs once per call site while planning and
 * decides types; `kernel` runs once per batch over whole columns.
 *
 * What the planner does, so that functions need not: evaluates arguments, folds constant calls of
 * immutable and stable functions, inserts the casts that bind asks for, refuses unsupported casts,
 * refuses named arguments, looks names up. The lazy functions coalesce, nvl, ifnull and nvl2,
 * is_valid, and the casts by Arrow names are part of the planner and not in the table.
 */
#ifndef GLAIVE_EXPR_FUNCTION_H
#define GLAIVE_EXPR_FUNCTION_H

#include "arrow/array.h"

/** One evaluated column: `rows` values, or one value that stands for every row. */
typedef struct operand {
  array a;
  bool is_scalar; /* a.length is 1 */
} operand;

/** Index into o->a of the value of row i. */
static inline size_t operand_row(const operand *o, size_t i) { return o->is_scalar ? 0 : i; }
static inline bool operand_is_valid(const operand *o, size_t i) {
  return array_is_valid(&o->a, operand_row(o, i));
}
static inline str operand_str(const operand *o, size_t i) {
  return array_str(&o->a, operand_row(o, i));
}
static inline bool operand_bool(const operand *o, size_t i) {
  return array_bool(&o->a, operand_row(o, i));
}
/** `OPERAND_VALUE(o, int64_t, i)` */
#define OPERAND_VALUE(o, ctype, i) (((const ctype *)(o)->a.values)[operand_row((o), (i))])

enum function_volatility {
  FUNCTION_IMMUTABLE,
  FUNCTION_STABLE,  /* the same within one plan: now() */
  FUNCTION_VOLATILE /* runs for every row, never folded: random() */
};

enum function_flags {
  FUNCTION_NOT_IN_VIEWS = 1u << 0, /* immutable, yet refused in view definitions: arrow_typeof */
};

/** An argument as bind sees it. */
typedef struct function_argument {
  const type *type;      /* TYPE_NULL for an untyped NULL */
  const array *constant; /* its value, one row of `type`, when it is constant; else NULL */
  bool is_literal;       /* written as a literal (or a negated one), not merely constant */
} function_argument;

/** The binding of one call site: filled by the planner, completed by bind. */
typedef struct function_binding {
  glv_env *env;
  arena *arena; /* of the plan: types that bind makes live here */
  const struct function *function;
  str name; /* as it was called, for messages (an alias perhaps) */
  size_t count;
  const function_argument *arguments;

  /** In: the types of the arguments. Out: the types the kernel wants; the planner casts to them. */
  const type **targets;
  const type *result; /* out: required */
  /**
   * Out, optional: whatever the kernel wants to keep, such as a compiled constant pattern. Shared
   * by threads, so the kernel must not change it. dispose(state) is called once when the plan goes,
   * also when bind or planning fails after dispose was set.
   */
  void *state;
  void (*dispose)(void *state);
} function_binding;

/** What a kernel gets besides its arguments. */
typedef struct function_frame {
  glv_env *env;
  const function_binding *binding; /* result type, state */
  int64_t now_ns;                  /* wall clock of the plan */
} function_frame;

/**
 * Check count, types and constants of the arguments; set targets and result.
 * Errors: GLV_E_SQL_PLAN (section 9.7 phrases), GLV_E_NOMEM.
 */
typedef glv_status (*function_bind)(function_binding *b, glv_error *err);

/**
 * Compute one value per row.
 *
 * @param arguments  binding->count operands of the target types (utf8_view and binary_view have the
 *                   layout of utf8 and binary). When all are scalar and the function is not
 * volatile, rows is 1. Rows that are not asked for are never passed.
 * @param rows       may be 0.
 * @param ret        `rows` values whose type is binding->result (that very pointer).
 * Errors: GLV_E_SQL_EXEC for a bad value of a row, GLV_E_NOMEM, GLV_E_LIMIT. Thread class: T.
 */
typedef glv_status (*function_kernel)(const function_frame *f, const operand *arguments,
                                      size_t rows, array *ret, glv_error *err);

typedef struct function {
  const char *name;           /* lower case */
  const char *const *aliases; /* NULL-terminated, or NULL */
  enum function_volatility volatility;
  unsigned flags;
  function_bind bind;
  function_kernel kernel;
} function;

/** The function of that exact name or alias, or NULL. Thread class: T. */
const function *function_find(str name);
/** The known name most like `name`, for "did you mean"; NULL = none is near. Borrowed. */
const char *function_suggest(str name);

#endif
