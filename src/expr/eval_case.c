/*
 * CASE and coalesce: operands evaluated only for the rows that come to them, and one array made of
 * the pieces (sql-expressions 10.5).
 *
 * Each branch yields a piece: an operand and the rows it is for. `source` tells for every row which
 * value of which piece it gets, as an index into the pieces laid end to end; a scalar piece is one
 * value long. The result is one concatenation and one gather.
 */
#include "expr/eval_private.h"

struct merge {
  const eval *v;
  const type *type;
  array *pieces;
  size_t count;
  size_t capacity;
  size_t total;     /* values in all pieces */
  uint32_t *source; /* by row */
  uint32_t *open;   /* positions of the rows without a value */
  size_t open_count;
};

static void merge_dispose(struct merge *m) {
  for (size_t i = 0; i < m->count; i++) {
    array_unref(&m->pieces[i]);
  }
  m->count = 0;
}

static glv_status merge_init(struct merge *m, const eval *v, const node *n, size_t pieces,
                             glv_error *err) {
  const size_t rows = v->rows.count;
  *m = (struct merge){.v = v, .type = n->type, .capacity = pieces, .open_count = rows};
  m->pieces = ARENA_ARRAY(v->scratch, array, pieces);
  m->source = ARENA_ARRAY(v->scratch, uint32_t, rows);
  m->open = ARENA_ARRAY(v->scratch, uint32_t, rows);
  if (m->pieces == NULL || m->source == NULL || m->open == NULL) {
    return error_nomem(err, rows * sizeof *m->source);
  }
  for (size_t i = 0; i < rows; i++) {
    m->open[i] = (uint32_t)i;
  }
  return GLV_OK;
}

/* Value k of the operand goes to the row at positions[k], where keep(k) or keep is NULL. */
static glv_status merge_add(struct merge *m, operand *o, glv_error *err) {
  if (m->total + o->a.length > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "a batch of more than %u values", UINT32_MAX);
  }
  m->pieces[m->count] = o->a;
  m->pieces[m->count].type = m->type;
  m->count++;
  m->total += o->a.length;
  o->a = (array){0};
  return GLV_OK;
}

/* All open rows get the values of n. */
static glv_status merge_rest(struct merge *m, const node *n, glv_error *err) {
  if (m->open_count == 0) {
    return GLV_OK;
  }
  CLEANUP(operand_dispose) operand o = {0};
  TRY(eval_at(m->v, n, m->open, m->open_count, &o, err));
  const uint32_t first = (uint32_t)m->total;
  const uint32_t step = o.is_scalar ? 0 : 1;
  for (size_t i = 0; i < m->open_count; i++) {
    m->source[m->open[i]] = first + (uint32_t)i * step;
  }
  m->open_count = 0;
  return merge_add(m, &o, err);
}

static glv_status merge_finish(struct merge *m, operand *ret, glv_error *err) {
  glv_env *env = m->v->env;
  const size_t rows = m->v->rows.count;
  CLEANUP(array_unref) array all = {0};
  ret->is_scalar = false;
  if (m->count == 1 && m->pieces[0].length == rows) {
    ret->a = array_ref(&m->pieces[0]);
    return GLV_OK;
  }
  if (m->count == 1) {
    all = array_ref(&m->pieces[0]);
  } else {
    TRY(array_concat(env, m->pieces, m->count, &all, err));
  }
  all.type = m->type;
  return array_take(env, &all, m->source, rows, &ret->a, err);
}

/* Split the open rows by a condition over them; the true ones go to matched. @return their number.
 */
static size_t split_open(struct merge *m, const operand *condition, uint32_t *matched) {
  size_t yes = 0;
  size_t no = 0;
  for (size_t i = 0; i < m->open_count; i++) {
    const uint32_t row = m->open[i];
    if (operand_is_valid(condition, i) && operand_bool(condition, i)) {
      matched[yes++] = row;
    } else {
      m->open[no++] = row;
    }
  }
  m->open_count = no;
  return yes;
}

/* The rows at positions get the values of n. */
static glv_status merge_rows(struct merge *m, const node *n, const uint32_t *positions,
                             size_t count, glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  TRY(eval_at(m->v, n, positions, count, &o, err));
  const uint32_t first = (uint32_t)m->total;
  const uint32_t step = o.is_scalar ? 0 : 1;
  for (size_t i = 0; i < count; i++) {
    m->source[positions[i]] = first + (uint32_t)i * step;
  }
  return merge_add(m, &o, err);
}

/* CASE x: x = when, for the open rows. */
static glv_status case_equals(struct merge *m, const operand *x, const node *when, operand *ret,
                              glv_error *err) {
  CLEANUP(operand_dispose) operand here = {.is_scalar = x->is_scalar};
  CLEANUP(operand_dispose) operand value = {0};
  const eval *v = m->v;
  if (x->is_scalar || m->open_count == v->rows.count) {
    here.a = array_ref(&x->a);
  } else {
    TRY(array_take(v->env, &x->a, m->open, m->open_count, &here.a, err));
  }
  TRY(eval_at(v, when, m->open, m->open_count, &value, err));
  ret->is_scalar = here.is_scalar && value.is_scalar;
  const size_t rows = ret->is_scalar ? 1 : m->open_count;
  return compare_operands(v->env, COMPARE_EQ, &here, &value, rows, &ret->a, err);
}

static glv_status run_case(struct merge *m, const node *n, const operand *x, glv_error *err) {
  uint32_t *matched = ARENA_ARRAY(m->v->scratch, uint32_t, m->v->rows.count);
  if (matched == NULL) {
    return error_nomem(err, m->v->rows.count * sizeof *matched);
  }
  const size_t first = n->has_operand ? 1 : 0;
  for (size_t i = first; i + 1 < n->child_count && m->open_count > 0; i += 2) {
    CLEANUP(operand_dispose) operand condition = {0};
    if (n->has_operand) {
      TRY(case_equals(m, x, n->child[i], &condition, err));
    } else {
      TRY(eval_at(m->v, n->child[i], m->open, m->open_count, &condition, err));
    }
    const size_t count = split_open(m, &condition, matched);
    if (count > 0) {
      TRY(merge_rows(m, n->child[i + 1], matched, count, err));
    }
  }
  return merge_rest(m, n->child[n->child_count - 1], err);
}

glv_status eval_case(const eval *v, const node *n, operand *ret, glv_error *err) {
  CLEANUP(merge_dispose) struct merge m = {0};
  CLEANUP(operand_dispose) operand x = {0};
  TRY(merge_init(&m, v, n, n->child_count, err));
  if (n->has_operand) {
    TRY(eval_node(v, n->child[0], &x, err));
  }
  TRY(run_case(&m, n, &x, err));
  return merge_finish(&m, ret, err);
}

/* Valid values of o, which is for the open rows, are taken; the rows of the others stay open. */
static void take_valid(struct merge *m, const operand *o) {
  const uint32_t first = (uint32_t)m->total;
  const uint32_t step = o->is_scalar ? 0 : 1;
  size_t open = 0;
  for (size_t i = 0; i < m->open_count; i++) {
    const uint32_t row = m->open[i];
    m->source[row] = first + (uint32_t)i * step;
    m->open[open] = row;
    open += operand_is_valid(o, i) ? 0 : 1;
  }
  m->open_count = open;
}

/* A row whose operands are all null keeps the null of the last one. */
glv_status eval_coalesce(const eval *v, const node *n, operand *ret, glv_error *err) {
  CLEANUP(merge_dispose) struct merge m = {0};
  TRY(merge_init(&m, v, n, n->child_count, err));
  for (size_t i = 0; i < n->child_count && m.open_count > 0; i++) {
    CLEANUP(operand_dispose) operand o = {0};
    TRY(eval_at(v, n->child[i], m.open, m.open_count, &o, err));
    take_valid(&m, &o);
    TRY(merge_add(&m, &o, err));
  }
  return merge_finish(&m, ret, err);
}
