/*
 * Arithmetic on numbers that cannot fail, and the widening casts below it, whole trees at a time:
 * rows go through all operations of a tree in blocks that stay in the first-level cache, and only
 * the result is written to memory (sql-expressions 10.2).
 *
 * A tree becomes a list of steps. The operands at its leaves are evaluated first, from the left;
 * results of steps in between lie in registers of one block, numbered by how far to the right they
 * stand. A cast above the tree that may fail is a last step of it; when some value does not fit,
 * the tree is computed once more without it, and the cast says which. While one block is computed
 * the memory that the next one reads is fetched. Sums, differences and products wrap; they are
 * computed for null rows too, whose values nobody reads.
 */
#include <assert.h>

#include "base/cpu.h"
#include "expr/eval_private.h"
#include "expr/number_kernel.h"

enum {
  BLOCK = 512, /* rows */
  DEPTH = 4,   /* to the right */
  REGISTERS = 2 * DEPTH,
  /* Registers begin at different places of their pages: what is read ahead of one must not look
   * like what was just written to another. */
  REGISTER_BYTES = BLOCK * 8 + 1088
};

/* Where a step finds or leaves its values. */
typedef struct span {
  uint8_t *at;            /* of row 0; read only but for registers and the result */
  size_t stride;          /* bytes from row to row: 0 when every block begins at the same place */
  bool is_one;            /* one value for all rows */
  size_t register_number; /* 1 and up: `at` is not known yet; 0: in no register */
} span;

typedef struct step {
  struct step *next;
  const node *n;
  span left, right, to;
  divider by; /* of a division */
} step;

typedef struct leaf {
  struct leaf *next; /* the one before it */
  operand o;
} leaf;

typedef struct program {
  const eval *v;
  leaf *leaves;
  step *first;
  step *last;
} program;

static bool is_number(type_kind kind) { return type_is_integer(kind) || type_is_float(kind); }

static bool is_division(const node *n) {
  return (n->op == ARITHMETIC_DIV || n->op == ARITHMETIC_MOD) && type_is_integer(n->type->kind);
}

/* The number an integer division divides by; 0: it is not one positive number. */
static uint64_t divisor_of(const node *n) {
  const node *by = n->child[1];
  if (by->kind != NODE_CONSTANT || !array_is_valid(by->constant, 0)) {
    return 0;
  }
  const size_t width = type_width(by->type);
  uint64_t value = 0;
  memcpy(&value, by->constant->values, width); /* the low bytes come first */
  return type_is_signed(by->type->kind) && value >> (8 * width - 1) != 0 ? 0 : value;
}

bool fused_takes(const node *n) {
  const type_kind kind = n->type->kind;
  if (n->kind == NODE_CAST) {
    return number_widens(n->child[0]->type->kind, kind);
  }
  return n->kind == NODE_ARITHMETIC && is_number(kind) && n->child[0]->type->kind == kind &&
         n->child[1]->type->kind == kind && (!is_division(n) || divisor_of(n) != 0);
}

/* ---- making a program ---- */

static glv_status add_leaf(program *p, operand **ret, glv_error *err) {
  leaf *l = ARENA_NEW(p->v->scratch, leaf);
  if (l == NULL) {
    return error_nomem(err, sizeof *l);
  }
  l->next = p->leaves;
  p->leaves = l;
  *ret = &l->o;
  return GLV_OK;
}

static span span_of(const operand *o) {
  /* Nobody writes to what a step reads. */
  uint8_t *values = (uint8_t *)(uintptr_t)o->a.values;
  return (span){values, o->is_scalar ? 0 : type_width(o->a.type), o->is_scalar, 0};
}

/* A step for n, whose result goes to one of the two registers of that depth; *at, its left operand
 * before, is its place afterwards. */
static glv_status add_step(program *p, const node *n, span right, size_t number, span *at,
                           glv_error *err) {
  step *s = ARENA_NEW(p->v->scratch, step);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  *s = (step){.n = n, .left = *at, .right = right};
  /* Not over an operand of another width: a loop would write what it has yet to read. */
  const bool is_free = at->register_number != 2 * number - 1 || n->kind != NODE_CAST;
  s->to = (span){.is_one = at->is_one, .register_number = 2 * number - (is_free ? 1 : 0)};
  if (n->kind == NODE_ARITHMETIC && is_division(n)) {
    s->by = divider_of(divisor_of(n));
  } else if (n->kind == NODE_ARITHMETIC) {
    s->to.is_one = at->is_one && right.is_one;
  }
  *(p->last != NULL ? &p->last->next : &p->first) = s;
  p->last = s;
  *at = s->to;
  return GLV_OK;
}

static glv_status add_tree(program *p, const node *n, size_t number, span *ret, glv_error *err);

/* Steps for nodes of a chain, from the lowest; *at: the value of what is below them, then theirs.
 */
static glv_status add_chain(program *p, const node *const *steps, size_t count, size_t number,
                            span *at, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    span right = {0};
    if (steps[i]->kind == NODE_ARITHMETIC && !is_division(steps[i])) {
      TRY(add_tree(p, steps[i]->child[1], number + 1, &right, err));
    }
    TRY(add_step(p, steps[i], right, number, at, err));
  }
  return GLV_OK;
}

/* The value of n in a register of that depth, or where it is anyway. */
static glv_status add_tree(program *p, const node *n, size_t number, span *ret, glv_error *err) {
  size_t count = 0;
  const node *first = n;
  while (number <= DEPTH && fused_takes(first) && !eval_is_kept(p->v, first)) {
    first = first->child[0];
    count++;
  }
  const node **steps = ARENA_ARRAY(p->v->scratch, const node *, count);
  operand *o = NULL;
  if (steps == NULL) {
    return error_nomem(err, count * sizeof *steps);
  }
  for (size_t i = count; i > 0; i--) {
    steps[i - 1] = n;
    n = n->child[0];
  }
  TRY(add_leaf(p, &o, err));
  TRY(eval_node(p->v, first, o, err));
  *ret = span_of(o);
  return add_chain(p, steps, count, number, ret, err);
}

/* ---- running it ---- */

static uint8_t *span_at(const span *s, size_t row) { return s->at + s->stride * row; }

static bool is_narrowing(const node *n) {
  return n->kind == NODE_CAST && number_narrows(n->child[0]->type->kind, n->type->kind);
}

/* False: a value does not fit. */
static bool run_step(const step *s, size_t first, size_t count) {
  const type_kind kind = s->n->type->kind;
  const size_t rows = s->to.is_one ? 1 : count;
  const uint8_t *left = span_at(&s->left, first);
  uint8_t *to = span_at(&s->to, first);
  if (is_narrowing(s->n)) {
    return number_narrow(kind, (const double *)(const void *)left, rows, to);
  }
  if (s->n->kind == NODE_CAST) {
    number_widen(s->n->child[0]->type->kind, kind, left, rows, to);
  } else if (s->by.divisor != 0) {
    number_divide(kind, s->n->op == ARITHMETIC_MOD, left, &s->by, rows, to);
  } else {
    const enum number_shape shape = s->right.is_one  ? SHAPE_RIGHT_ONE
                                    : s->left.is_one ? SHAPE_LEFT_ONE
                                                     : SHAPE_ROWS;
    number_arithmetic(kind, (enum arithmetic_op)s->n->op, shape, left, span_at(&s->right, first),
                      rows, to);
  }
  return true;
}

static void settle(span *s, uint8_t *registers) {
  if (s->register_number != 0) {
    s->at = registers + (s->register_number - 1) * REGISTER_BYTES;
  }
}

/* The part of a leaf that the block at `first` reads. */
static void fetch(const span *s, size_t first, size_t rows) {
  if (s->stride != 0 && first < rows) {
    cpu_fetch(span_at(s, first), s->stride * size_min(BLOCK, rows - first));
  }
}

/* False: a value does not fit. */
static bool run_blocks(program *p, span result, size_t rows) {
  uint8_t registers[REGISTERS * REGISTER_BYTES] __attribute__((aligned(64)));
  p->last->to = result;
  for (step *s = p->first; s != NULL; s = s->next) {
    settle(&s->left, registers);
    settle(&s->right, registers);
    settle(&s->to, registers);
  }
  for (size_t first = 0; first < rows; first += BLOCK) {
    for (const step *s = p->first; s != NULL; s = s->next) {
      fetch(&s->left, first + BLOCK, rows);
      fetch(&s->right, first + BLOCK, rows);
      if (!run_step(s, first, size_min(BLOCK, rows - first))) {
        return false;
      }
    }
  }
  return true;
}

/* Valid where all leaves are. */
static glv_status intersect_leaves(const program *p, size_t rows, array *a, glv_error *err) {
  for (const leaf *l = p->leaves; l != NULL; l = l->next) {
    CLEANUP(operand_dispose) operand before = {.a = *a};
    a->owners[0] = NULL;
    before.a.owners[1] = NULL; /* the values stay with a */
    TRY(eval_validity(p->v->env, &before, &l->o, rows, a, err));
  }
  return GLV_OK;
}

/* *ret_fits = false: a value does not fit, and there is no result. */
static glv_status run(program *p, operand *ret, bool *ret_fits, glv_error *err) {
  const step *last = p->last;
  CLEANUP(operand_dispose) operand o = {.is_scalar = last->to.is_one};
  for (const leaf *l = p->leaves; l != NULL; l = l->next) {
    if (l->o.is_scalar && !array_is_valid(&l->o.a, 0)) {
      ret->is_scalar = true;
      return array_new_null(p->v->env, last->n->type, 1, &ret->a, err);
    }
  }
  const size_t rows = o.is_scalar ? 1 : p->v->rows.count;
  void *values = NULL;
  TRY(array_new_fixed(p->v->env, last->n->type, rows, &o.a, &values, err));
  TRY(intersect_leaves(p, rows, &o.a, err));
  *ret_fits = run_blocks(p, (span){values, type_width(last->n->type), o.is_scalar, 0}, rows);
  *ret = *ret_fits ? operand_move(&o) : (operand){0};
  return GLV_OK;
}

static void dispose_leaves(program *p) {
  for (leaf *l = p->leaves; l != NULL; l = l->next) {
    operand_dispose(&l->o);
  }
}

glv_status eval_fused(const eval *v, const node *const *steps, size_t count, operand *left,
                      operand *ret, size_t *ret_count, glv_error *err) {
  CLEANUP(dispose_leaves) program p = {.v = v};
  operand *o = NULL;
  size_t taken = 0;
  bool fits = true;
  while (taken < count && fused_takes(steps[taken])) {
    taken++;
  }
  TRY(add_leaf(&p, &o, err));
  *o = operand_move(left);
  span at = span_of(o);
  TRY(add_chain(&p, steps, taken, 1, &at, err));
  step *whole = p.last;  /* of all that cannot fail */
  assert(whole != NULL); /* the caller found that the first one fits */
  *ret_count = taken;
  if (taken < count && is_narrowing(steps[taken])) {
    TRY(add_step(&p, steps[taken], (span){0}, 1, &at, err));
    TRY(run(&p, ret, &fits, err));
    if (fits) {
      *ret_count = taken + 1;
      return GLV_OK;
    }
    whole->next = NULL;
    p.last = whole;
  }
  return run(&p, ret, &fits, err);
}
