/**
 * @file eval_private.h
 * Evaluation: what its files share.
 *
 * A node is evaluated for a selection of rows of a batch and gives a dense operand: value i belongs
 * to row i of the selection. Columns are gathered when the selection lists rows; without a list
 * they are taken as they are.
 */
#ifndef GLAIVE_EXPR_EVAL_PRIVATE_H
#define GLAIVE_EXPR_EVAL_PRIVATE_H

#include "expr/kernel.h"
#include "expr/plan_private.h"

typedef struct eval {
  const expr *plan;
  glv_env *env;
  const batch *b; /* NULL: an expression without columns */
  selection rows;
  arena *scratch; /* for this call of expr_eval or expr_select */
  operand *memo;  /* values of shared nodes for exactly these rows, empty until needed; or NULL */
} eval;

void operand_dispose(operand *o); /* usable with CLEANUP */
/** Hand an operand over: *from becomes empty. */
static inline operand operand_move(operand *from) {
  const operand o = *from;
  *from = (operand){0};
  return o;
}

/* eval.c */
/** A memo for the whole of an evaluation, in its scratch memory. Errors: GLV_E_NOMEM. */
glv_status eval_memo_init(eval *v, glv_error *err);
void eval_memo_dispose(eval *v); /* usable with CLEANUP */
glv_status eval_node(const eval *v, const node *n, operand *ret, glv_error *err);
/** Whether the value of n is in the memo, or will be. */
static inline bool eval_is_kept(const eval *v, const node *n) {
  return v->memo != NULL && n->memo != 0;
}
/** As eval_node, for the rows at `count` positions of v's selection, ascending. */
glv_status eval_at(const eval *v, const node *n, const uint32_t *positions, size_t count,
                   operand *ret, glv_error *err);
/** One value for each of `rows` rows. */
glv_status eval_expand(glv_env *env, const operand *o, size_t rows, array *ret, glv_error *err);

/* The rest: each computes one kind of node. `left` is the value of child 0. */

/* eval_bits.c */
glv_status eval_not(const eval *v, const operand *left, operand *ret, glv_error *err);
glv_status eval_is(const eval *v, const node *n, const operand *left, operand *ret, glv_error *err);
glv_status eval_distinct(const eval *v, const node *n, const operand *left, operand *ret,
                         glv_error *err);
glv_status eval_between(const eval *v, const node *n, const operand *left, operand *ret,
                        glv_error *err);
glv_status eval_in(const eval *v, const node *n, const operand *left, operand *ret, glv_error *err);
/* eval_junction.c */
glv_status eval_junction(const eval *v, const node *n, operand *ret, glv_error *err);
/* eval_case.c */
glv_status eval_case(const eval *v, const node *n, operand *ret, glv_error *err);
glv_status eval_coalesce(const eval *v, const node *n, operand *ret, glv_error *err);
/* fused.c */
/** Whether a node can be computed together with those below and above it: arithmetic on numbers or
 * a cast that cannot fail. */
bool fused_takes(const node *n);
/** The value of nodes of a chain, from the lowest, of which at least the first is one that
 * fused_takes; left: the value below them, which becomes empty. *ret_count: how many of them. */
glv_status eval_fused(const eval *v, const node *const *steps, size_t count, operand *left,
                      operand *ret, size_t *ret_count, glv_error *err);
/* arithmetic.c */
/** Division or remainder of integers. */
glv_status eval_division(const eval *v, const node *n, const operand *left, const operand *right,
                         operand *ret, glv_error *err);
glv_status eval_negate(const eval *v, const node *n, const operand *x, operand *ret,
                       glv_error *err);
glv_status eval_bitwise(const eval *v, const node *n, const operand *left, const operand *right,
                        operand *ret, glv_error *err);
/* decimal.c */
glv_status eval_decimal(const eval *v, const node *n, const operand *left, const operand *right,
                        operand *ret, glv_error *err);
/* arithmetic_time.c */
glv_status eval_temporal(const eval *v, const node *n, const operand *left, const operand *right,
                         operand *ret, glv_error *err);
/* eval_text.c */
glv_status eval_concat(const eval *v, const node *n, const operand *left, const operand *right,
                       operand *ret, glv_error *err);
glv_status eval_like(const eval *v, const node *n, const operand *left, const operand *right,
                     operand *ret, glv_error *err);

/** Rows of a result of operands: 1 when all are scalar, then *ret_is_scalar is set. */
size_t eval_rows(const eval *v, const operand *l, const operand *r, bool *ret_is_scalar);

/**
 * The validity of a result: where all operands are valid. Sets validity, bit_offset, null_count and
 * the owner of ret; shares memory where it can, but for a bool (whose values have the same bit
 * offset) the offset is always 0.
 */
glv_status eval_validity(glv_env *env, const operand *l, const operand *r, size_t rows, array *ret,
                         glv_error *err);

/** Whole words of booleans: value and validity of rows [64 i, 64 i + 64). */
typedef struct bool_reader {
  const uint8_t *values;
  const uint8_t *validity; /* NULL = all valid */
  size_t offset;
  size_t rows;
  uint64_t scalar_value; /* of a scalar: all bits alike */
  uint64_t scalar_valid;
  bool is_scalar;
} bool_reader;
bool_reader bool_reader_of(const operand *o, size_t rows);
void bool_read(const bool_reader *r, size_t word, uint64_t *ret_value, uint64_t *ret_valid);
/** 64 bits from `first` on, of which `rest` exist; the others are 0. */
uint64_t bits_word(const uint8_t *bits, size_t first, size_t rest);
/** Bits of the last word that belong to rows. */
static inline uint64_t tail_mask(size_t rows, size_t word) {
  const size_t rest = rows - word * 64;
  return rest >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << rest) - 1;
}
static inline size_t word_count(size_t rows) { return rows / 64 + (rows % 64 != 0); }

/** A bool array to be filled by words: both bitmaps begin at bit 0 and have room for whole words.
 */
typedef struct bool_writer {
  array a;
  uint64_t *values;
  uint64_t *validity; /* NULL = all valid */
} bool_writer;
glv_status bool_writer_init(glv_env *env, size_t rows, bool has_validity, bool_writer *ret,
                            glv_error *err);
void bool_writer_dispose(bool_writer *w);
/** The finished operand; *w becomes empty. */
operand bool_writer_finish(bool_writer *w, bool is_scalar);

/** Positions of the set bits among words[0..word_count(rows)), ascending. @return their number. */
size_t bits_positions(const uint64_t *words, size_t rows, uint32_t *positions);
size_t words_count(const uint64_t *words, size_t rows);

#endif
