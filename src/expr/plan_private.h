/**
 * @file plan_private.h
 * The typed tree that planning makes and evaluation runs, and the planner's own state.
 */
#ifndef GLAIVE_EXPR_PLAN_PRIVATE_H
#define GLAIVE_EXPR_PLAN_PRIVATE_H

#include "expr/ast.h"
#include "expr/compare.h"
#include "expr/expr.h"
#include "expr/function.h"

struct in_set;

/* `c0`, `c1`: child[0], child[1]. "L": c0 is the left operand, chains of it have any length. */
enum node_kind {
  NODE_COLUMN,     /* index: the column of the batch */
  NODE_CONSTANT,   /* constant: one row */
  NODE_FIELD,      /* L; index: the child of the struct c0; negated: also where c0 is null */
  NODE_CAST,       /* L; negated: TRY_CAST */
  NODE_ARITHMETIC, /* L; op: enum arithmetic_op; both sides of equal type, but for times */
  NODE_BITWISE,    /* L; op: enum bitwise_op; equal integer types */
  NODE_COMPARE,    /* L; op: enum compare_op; equal types */
  NODE_DISTINCT,   /* L; c0 IS DISTINCT FROM c1; negated: NOT DISTINCT */
  NODE_CONCAT,     /* L; equal string or binary types */
  NODE_NEGATE,     /* L */
  NODE_NOT,        /* L */
  NODE_IS,         /* L; op: enum is_op; negated */
  NODE_BETWEEN,    /* L; c0 between c1 and c2, equal types; negated */
  NODE_IN,       /* L; c0 in c1...; negated; set: the constant items, which are no children then */
  NODE_LIKE,     /* L; op: 1 = ignore case; negated; c1: pattern */
  NODE_AND,      /* c0 .. cn */
  NODE_OR,       /* c0 .. cn */
  NODE_CASE,     /* flag has_operand: c0; then WHEN, THEN pairs; then ELSE (always there) */
  NODE_COALESCE, /* first that is not null */
  NODE_CALL      /* call; children are the arguments, cast to the targets */
};

enum arithmetic_op {
  ARITHMETIC_ADD,
  ARITHMETIC_SUB,
  ARITHMETIC_MUL,
  ARITHMETIC_DIV,
  ARITHMETIC_MOD
};
enum bitwise_op { BITWISE_AND, BITWISE_OR, BITWISE_XOR, BITWISE_SHL, BITWISE_SHR };
enum is_op { IS_NULL, IS_TRUE, IS_FALSE };

typedef struct node {
  enum node_kind kind;
  unsigned op;
  bool negated;
  bool has_operand;
  bool is_literal;  /* NODE_CONSTANT: written as a literal */
  bool is_fallible; /* evaluation may raise, or is costly: not to be run on rows nobody asked for */
  bool is_volatile; /* differs from row to row and from run to run */
  bool is_path;     /* a column or struct path as written (section 8) */
  bool nullable;    /* may give a null */
  uint32_t parents; /* nodes that it is a child of, once equal nodes are shared */
  uint32_t memo;    /* 1 + its place in the memo of an evaluation; 0 = it is not kept there */
  uint32_t spine;   /* steps to the left-most operand: 0 when kind is not an "L" kind */
  const type *type;
  size_t index;
  size_t child_count;
  const struct node **child;
  const array *constant;
  const function_binding *call;
  const struct in_set *set;
} node;

/** Things of the plan that need an end of their own. */
typedef struct owned {
  struct owned *next;
  array *a;                  /* array_unref */
  function_binding *binding; /* its state */
} owned;

struct expr {
  glv_env *env;
  arena arena; /* nodes, types, texts */
  const schema *schema;
  const node *root;
  size_t shared_count; /* nodes with a place in the memo */
  owned *owned;
  int64_t now_ns;
  bool nullable;
  size_t *columns;
  size_t column_count;
  const char **paths;
  size_t path_count;
};

/** What planning one text knows. */
typedef struct planner {
  expr *plan; /* what is being made */
  glv_env *env;
  arena *arena;
  str text;
  const schema *schema;
  size_t system_first;
  unsigned flags;
  bool is_filter;
  const field *assigned_to;  /* the column that takes the value, or NULL */
  const ast *root;           /* without parentheses; a bare system column may stand here only */
  struct group_scope *group; /* context G, else NULL */
  bool keeps_casts;          /* no plan_unwrap: what stands below a cast may be a key of GROUP BY */
} planner;

/** Where a node is planned: section 5, and whether section 8 reaches it. */
typedef struct place {
  bool inner;    /* context D */
  bool resolves; /* reachable from the root through AND and OR: literals take the column's type */
  const type *literal_type; /* literals here become this type, or NULL */
} place;

/* plan.c */
/** The field at the end of a column or struct path of that schema; NULL for other nodes. */
const field *plan_path_field(const node *n, const schema *s);
/** An empty plan over a schema; release with expr_free. Errors: GLV_E_NOMEM. */
glv_status plan_new_expr(glv_env *env, const schema *s, expr **ret, glv_error *err);
/** Set the columns and paths of the plan to those that the roots read. */
glv_status plan_collect(planner *p, const node *const *roots, size_t count, glv_error *err);

/* plan_expr.c */
glv_status plan_node(planner *p, const ast *a, place at, const node **ret, glv_error *err);
/** `Expression '..' is not supported SQL in lance`. */
glv_status plan_refuse(planner *p, const ast *a, glv_error *err);
/** The place of what stands inside a call. */
static inline place place_inner(void) { return (place){.inner = true}; }
static inline place place_plain(place at) { return (place){.inner = at.inner}; }

/* plan_name.c */
glv_status plan_column(planner *p, const ast *a, place at, const node **ret, glv_error *err);
/** Section 6.1: the whole text names a column. SIZE_MAX = it does not. */
size_t plan_whole_text(const planner *p);
/** A node for a top-level column. */
glv_status plan_column_node(planner *p, size_t column, const node **ret, glv_error *err);
/** A field of a struct, or the value of a key of a map. */
glv_status plan_field(planner *p, const node *n, str name, const node **ret, glv_error *err);

/* plan_literal.c */
glv_status plan_number(planner *p, const ast *a, bool negative, place at, const node **ret,
                       glv_error *err);
glv_status plan_string(planner *p, str text, const node **ret, glv_error *err);
glv_status plan_hex(planner *p, const ast *a, const node **ret, glv_error *err);
/** JSON text in its binary form, a literal of large_binary. Errors: GLV_E_SQL_PLAN. */
glv_status plan_jsonb(planner *p, str text, const node **ret, glv_error *err);
glv_status plan_bool(planner *p, bool value, const node **ret, glv_error *err);
/** 7.4: an array literal of L. */
glv_status plan_array_literal(planner *p, const ast *a, const node **ret, glv_error *err);
glv_status plan_null(planner *p, const type *t, const node **ret, glv_error *err);
glv_status plan_int64(planner *p, int64_t value, const node **ret, glv_error *err);
/** 8.2: a literal takes another type. NULL stays as it is. Errors: GLV_E_SQL_PLAN. */
glv_status plan_convert_literal(planner *p, const node *n, const type *t, const node **ret,
                                glv_error *err);
/** Whether an expression is made of literals and arithmetic only (no comparison). */
bool plan_is_literal_tree(const ast *a);
bool plan_is_literal(const ast *a);

/* plan_type.c */
glv_status plan_type(planner *p, const ast_type *t, place at, const type **ret, glv_error *err);

/** arrow_cast, arrow_try_cast: a cast to the type that the second argument names. */
glv_status plan_arrow_cast(planner *p, const char *name, const node **arguments, size_t count,
                           const node **ret, glv_error *err);

/* plan_build.c: nodes over planned operands, typed, folded */
/** A blank node with room for children. NULL = no memory. */
node *plan_new(planner *p, enum node_kind kind, const type *t, size_t child_count);
/** Take over a as a constant. a is empty afterwards, also on failure. */
glv_status plan_constant(planner *p, array *a, bool is_literal, const node **ret, glv_error *err);
/** Complete a node: spine, flags; a constant when all children are. */
glv_status plan_finish(planner *p, node *n, const node **ret, glv_error *err);
/** Keep for the end of the plan: whatever dispose b has by then is called. */
glv_status plan_own_binding(planner *p, function_binding *b, glv_error *err);
/** n as type t; n itself when it has it. Errors: GLV_E_SQL_PLAN when there is no such cast. */
glv_status plan_cast(planner *p, const node *n, const type *t, bool is_try, const node **ret,
                     glv_error *err);
static inline bool node_is_constant(const node *n) { return n->kind == NODE_CONSTANT; }
bool node_is_null(const node *n); /* a constant null */

/* plan_share.c */
/** Equal sub-trees of *root become one node each; those that are worth it get a place in the memo.
 * Errors: GLV_E_NOMEM. */
glv_status plan_share(planner *p, const node **root, glv_error *err);

/* plan_rebase.c */
/** Equality of everything but the children. */
bool node_head_equal(const node *a, const node *b);

/* plan_temporal.c */
/** 9.5: arithmetic of dates, times, durations and intervals. *ret stays NULL when neither side is
 * one. */
glv_status plan_temporal(planner *p, enum arithmetic_op op, const node *l, const node *r,
                         const node **ret, glv_error *err);
/** INTERVAL '..' [unit]; negative: a minus stands before it. */
glv_status plan_interval(planner *p, const ast *a, bool negative, const node **ret, glv_error *err);

/* plan_operator.c */
/** The node for l op r, cast to lt and rt. */
glv_status plan_arithmetic_as(planner *p, enum arithmetic_op op, const type *result, const node *l,
                              const type *lt, const node *r, const type *rt, const node **ret,
                              glv_error *err);
/** `Cannot coerce arithmetic expression ..`. */
glv_status plan_refuse_arithmetic(enum arithmetic_op op, const node *l, const node *r,
                                  glv_error *err);
glv_status plan_arithmetic(planner *p, enum arithmetic_op op, const node *l, const node *r,
                           const node **ret, glv_error *err);
glv_status plan_bitwise(planner *p, enum bitwise_op op, const node *l, const node *r,
                        const node **ret, glv_error *err);
glv_status plan_concat(planner *p, const node *l, const node *r, const node **ret, glv_error *err);
glv_status plan_negate(planner *p, const node *n, const node **ret, glv_error *err);

/* plan_predicate.c */
glv_status plan_compare(planner *p, enum compare_op op, const node *l, const node *r,
                        const node **ret, glv_error *err);
glv_status plan_distinct(planner *p, bool negated, const node *l, const node *r, const node **ret,
                         glv_error *err);
glv_status plan_in(planner *p, bool negated, const node *l, const node **items, size_t count,
                   const node **ret, glv_error *err);
glv_status plan_between(planner *p, bool negated, const node *x, const node *low, const node *high,
                        const node **ret, glv_error *err);
glv_status plan_is(planner *p, enum is_op op, bool negated, const node *n, const node **ret,
                   glv_error *err);
glv_status plan_not(planner *p, const node *n, const node **ret, glv_error *err);
/** AND or OR of count >= 1 children. */
glv_status plan_junction(planner *p, bool is_and, const node **children, size_t count,
                         const node **ret, glv_error *err);
glv_status plan_like(planner *p, bool ignore_case, bool negated, const node *l, const node *r,
                     const node **ret, glv_error *err);

/* plan_unwrap.c */
/** A constant in the inner type t of a cast to its own type; *ret NULL = it cannot be. */
glv_status plan_unwrap_constant(planner *p, const node *c, const type *t, const node **ret,
                                glv_error *err);
/** Take casts off x, and convert the constant it is compared with, as long as that goes. */
glv_status plan_unwrap(planner *p, const node **x, const node **c, glv_error *err);
/** Whether n may be evaluated twice: a column or a constant, perhaps under casts. */
bool plan_is_cheap(const node *n);

/* plan_call.c */
glv_status plan_call(planner *p, const ast *a, place at, const node **ret, glv_error *err);
/** In a filter, a call of regexp_match that stands as a condition asks whether there is a match:
 * *n, the plan of a, becomes `IS NOT NULL` then (8.1). */
glv_status plan_condition(planner *p, const ast *a, place at, const node **n, glv_error *err);
glv_status plan_case(planner *p, const ast *a, place at, const node **ret, glv_error *err);
/** EXTRACT, CEIL, FLOOR, POSITION, SUBSTRING, TRIM, OVERLAY. */
glv_status plan_special(planner *p, const ast *a, place at, const node **ret, glv_error *err);
/** A call of a table function over planned arguments. */
glv_status plan_function(planner *p, const char *name, const node **arguments, size_t count,
                         const node **ret, glv_error *err);

/* coerce.c */
/** 9.2 for non-decimal, non-temporal types: NULL = none. */
const type *coerce_arithmetic(const type *l, const type *r);
/** 9.6: << >> & | ^: NULL = none. */
const type *coerce_bitwise(const type *l, const type *r);
const type *coerce_nvl(const type *l, const type *r);
/** 9.6: LIKE; *ret NULL = none. */
const type *coerce_like(const type *l, const type *r);
/** The wider of two string types. */
const type *coerce_strings(const type *l, const type *r);

/* coerce_nested.c */
/** How parts of nested types are joined: one of the functions of coerce.h. */
typedef glv_status (*coerce_part)(arena *a, const type *l, const type *r, const type **ret,
                                  glv_error *err);
/** Two lists, two structs or two maps; *ret NULL = they are not, or their parts do not join. */
glv_status coerce_nested(arena *a, coerce_part part, const type *l, const type *r, const type **ret,
                         glv_error *err);

/* in_set.c */
/** Whether values of a type can be in a set: lists, structs and maps cannot. */
bool in_set_takes(const type *t);
/**
 * The constants of an IN list as a set, when there are enough of them and their type allows it.
 * @param values the items, all of the type; *ret_has_null tells whether one is null.
 */
glv_status in_set_new(arena *a, const array *values, const struct in_set **ret, glv_error *err);
/** Set bit i of words where value i is in the set. Bits of null rows are unspecified. */
void in_set_probe(const struct in_set *s, const array *values, uint64_t *words);
bool in_set_has_null(const struct in_set *s);
/** Whether two sets were made of the same items in the same order; NULL equals NULL. */
bool in_set_equal(const struct in_set *a, const struct in_set *b);

/* eval.c */
/** The value of a node without columns. *ret has one row. */
glv_status eval_constant(const expr *e, const node *n, array *ret, glv_error *err);

#endif
