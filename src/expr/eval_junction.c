/*
 * AND and OR (sql-expressions 10.1, 10.5 with decision D3), and the selection of rows.
 *
 * The operands are taken in order, and a later operand counts only for the rows that the earlier
 * ones leave undecided. An operand that can raise is evaluated for exactly those rows; any other
 * one is evaluated for all rows while most of them are undecided, because whole columns are faster
 * than gathered ones.
 *
 * A filter needs less than the value: a row is kept where every operand of the top-level AND is
 * true, so rows drop out at the first operand that is false or null.
 */
#include "expr/eval_private.h"

enum { SPARSE = 4 }; /* fewer than 1/SPARSE of the rows: gather them */

/* The state over all rows: where the result is true or false so far. Neither = null; a row is
 * undecided while it is not `decided`. */
struct junction {
  bool is_and;
  size_t rows;
  uint64_t *value;   /* the value where known */
  uint64_t *known;   /* not null */
  uint64_t *decided; /* no later operand can change it */
};

/* Combine one operand's words into the state. */
static void combine_word(struct junction *j, size_t i, uint64_t value, uint64_t valid) {
  const uint64_t yes = value & valid;
  const uint64_t no = ~value & valid;
  const uint64_t old_yes = j->value[i] & j->known[i];
  const uint64_t old_no = ~j->value[i] & j->known[i];
  uint64_t all_yes = 0;
  uint64_t all_no = 0;
  if (j->is_and) {
    all_yes = old_yes & yes;
    all_no = old_no | no;
    j->decided[i] |= no;
  } else {
    all_yes = old_yes | yes;
    all_no = old_no & no;
    j->decided[i] |= yes;
  }
  j->value[i] = all_yes;
  j->known[i] = all_yes | all_no;
}

static void combine_all(struct junction *j, const operand *o) {
  const bool_reader r = bool_reader_of(o, j->rows);
  for (size_t i = 0; i < word_count(j->rows); i++) {
    uint64_t value = 0;
    uint64_t valid = 0;
    bool_read(&r, i, &value, &valid);
    combine_word(j, i, value, valid);
  }
}

/* o belongs to the rows at positions. */
static void combine_at(struct junction *j, const operand *o, const uint32_t *positions,
                       size_t count) {
  for (size_t k = 0; k < count; k++) {
    const size_t row = positions[k];
    const uint64_t bit = UINT64_C(1) << (row % 64);
    const bool valid = operand_is_valid(o, k);
    const bool value = valid && operand_bool(o, k);
    const size_t i = row / 64;
    /* rows that are not bit: neutral operands */
    const uint64_t neutral = j->is_and ? ~UINT64_C(0) : 0;
    combine_word(j, i, (neutral & ~bit) | (value ? bit : 0), ~bit | (valid ? bit : 0));
  }
}

static glv_status add_operand(const eval *v, const node *n, struct junction *j, size_t undecided,
                              glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  const bool sparse = undecided < j->rows && (n->is_fallible || undecided < j->rows / SPARSE);
  if (!sparse) {
    TRY(eval_node(v, n, &o, err));
    combine_all(j, &o);
    return GLV_OK;
  }
  const size_t words = word_count(j->rows);
  uint64_t *open = ARENA_ARRAY(v->scratch, uint64_t, words);
  uint32_t *positions = ARENA_ARRAY(v->scratch, uint32_t, undecided + 64);
  if (open == NULL || positions == NULL) {
    return error_nomem(err, undecided * sizeof *positions);
  }
  for (size_t i = 0; i < words; i++) {
    open[i] = ~j->decided[i] & tail_mask(j->rows, i);
  }
  (void)bits_positions(open, j->rows, positions);
  TRY(eval_at(v, n, positions, undecided, &o, err));
  combine_at(j, &o, positions, undecided);
  return GLV_OK;
}

static glv_status run_junction(const eval *v, const node *n, struct junction *j, glv_error *err) {
  for (size_t k = 0; k < n->child_count; k++) {
    const size_t undecided = j->rows - words_count(j->decided, j->rows);
    if (undecided == 0) {
      break;
    }
    const arena_mark mark = arena_mark_get(v->scratch);
    const glv_status status = add_operand(v, n->child[k], j, undecided, err);
    arena_reset_to(v->scratch, mark);
    if (status != GLV_OK) {
      return status;
    }
  }
  return GLV_OK;
}

glv_status eval_junction(const eval *v, const node *n, operand *ret, glv_error *err) {
  const size_t rows = v->rows.count;
  CLEANUP(bool_writer_dispose) bool_writer w = {0};
  TRY(bool_writer_init(v->env, rows, true, &w, err));
  uint64_t *decided = ARENA_ARRAY(v->scratch, uint64_t, word_count(rows));
  if (decided == NULL) {
    return error_nomem(err, word_count(rows) * sizeof *decided);
  }
  struct junction j = {n->kind == NODE_AND, rows, w.values, w.validity, decided};
  for (size_t i = 0; i < word_count(rows); i++) {
    j.known[i] = tail_mask(rows, i);
    j.value[i] = j.is_and ? tail_mask(rows, i) : 0;
  }
  TRY(run_junction(v, n, &j, err));
  for (size_t i = 0; i < word_count(rows); i++) {
    j.value[i] &= tail_mask(rows, i);
    j.known[i] &= tail_mask(rows, i);
  }
  *ret = bool_writer_finish(&w, false);
  return GLV_OK;
}

/* The rows still in play while a filter runs: bits over the selection, or, when few, a list. */
struct survivors {
  uint64_t *bits; /* over the rows of v */
  size_t count;
  uint32_t *rows; /* row numbers; used once is_list */
  bool is_list;
};

/* bits &= true rows of o */
static void keep_true(struct survivors *s, const operand *o, size_t rows) {
  const bool_reader r = bool_reader_of(o, rows);
  for (size_t i = 0; i < word_count(rows); i++) {
    uint64_t value = 0;
    uint64_t valid = 0;
    bool_read(&r, i, &value, &valid);
    s->bits[i] &= value & valid;
  }
  s->count = words_count(s->bits, rows);
}

/* From bits to row numbers. */
static void list_rows(const eval *v, struct survivors *s) {
  (void)bits_positions(s->bits, v->rows.count, s->rows);
  if (v->rows.rows != NULL) {
    for (size_t i = 0; i < s->count; i++) {
      s->rows[i] = v->rows.rows[s->rows[i]];
    }
  }
  s->is_list = true;
}

static glv_status filter_list(const eval *v, const node *n, struct survivors *s, glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  eval inner = *v;
  inner.rows = (selection){s->rows, s->count};
  inner.memo = NULL;
  TRY(eval_node(&inner, n, &o, err));
  size_t kept = 0;
  for (size_t i = 0; i < s->count; i++) {
    s->rows[kept] = s->rows[i];
    kept += operand_is_valid(&o, i) && operand_bool(&o, i) ? 1 : 0;
  }
  s->count = kept;
  return GLV_OK;
}

static glv_status filter(const eval *v, const node *n, struct survivors *s, glv_error *err) {
  const size_t rows = v->rows.count;
  const bool dense =
      !s->is_list && (s->count == rows || (!n->is_fallible && s->count >= rows / SPARSE));
  if (dense) {
    CLEANUP(operand_dispose) operand o = {0};
    TRY(eval_node(v, n, &o, err));
    keep_true(s, &o, rows);
    return GLV_OK;
  }
  if (!s->is_list) {
    list_rows(v, s);
  }
  return filter_list(v, n, s, err);
}

static glv_status select_rows(const eval *v, const node *root, struct survivors *s,
                              glv_error *err) {
  const bool is_and = root->kind == NODE_AND;
  const size_t count = is_and ? root->child_count : 1;
  for (size_t i = 0; i < count && s->count > 0; i++) {
    const arena_mark mark = arena_mark_get(v->scratch);
    const glv_status status = filter(v, is_and ? root->child[i] : root, s, err);
    arena_reset_to(v->scratch, mark);
    if (status != GLV_OK) {
      return status;
    }
  }
  if (!s->is_list) {
    list_rows(v, s);
  }
  return GLV_OK;
}

glv_status expr_select(const expr *e, const batch *b, selection rows, uint32_t *ret_rows,
                       size_t *ret_count, glv_error *err) {
  CLEANUP(arena_dispose) arena scratch;
  arena_init(&scratch, e->env);
  CLEANUP(eval_memo_dispose)
  eval v = {.plan = e, .env = e->env, .b = b, .rows = rows, .scratch = &scratch};
  TRY(eval_memo_init(&v, err));
  if (e->root->type->kind != TYPE_BOOL) {
    return FAIL(err, GLV_E_INTERNAL, "a selection by an expression of type %s",
                TYPE_TEXT(e->root->type));
  }
  struct survivors s = {.count = rows.count, .rows = ret_rows};
  s.bits = ARENA_ARRAY(&scratch, uint64_t, word_count(rows.count));
  if (s.bits == NULL) {
    return error_nomem(err, word_count(rows.count) * sizeof *s.bits);
  }
  for (size_t i = 0; i < word_count(rows.count); i++) {
    s.bits[i] = tail_mask(rows.count, i);
  }
  TRY(select_rows(&v, e->root, &s, err));
  *ret_count = s.count;
  return GLV_OK;
}
