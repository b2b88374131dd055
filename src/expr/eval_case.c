/*
 * CASE and coalesce: operands evaluated only for the rows that come to them, and one array made of
 * the pieces (sql-expressions 10.5).
 *
 * Each branch yields a piece: an operand and the positions of the rows it is for. Values of fixed
 * width are written to their rows at once. For all other types the pieces are kept; `source` tells
 * for every row which value of which piece it gets, as an index into the pieces laid end to end,
 * and the result is one concatenation and one gather.
 */
#include "arrow/bits.h"
#include "expr/eval_private.h"

struct merge {
  const eval *v;
  const type *type;
  size_t width;      /* of a value; 0 = the pieces are kept */
  array result;      /* fixed width: under construction, with a validity bitmap */
  uint8_t *values;   /* of result */
  uint8_t *validity; /* of result: all set at first */
  bool has_nulls;
  array *pieces;
  size_t count;
  size_t total;     /* values in all pieces */
  uint32_t *source; /* by row */
  uint32_t *open;   /* positions of the rows without a value; not filled while all_open */
  bool all_open;
  size_t open_count;
};

static void merge_dispose(struct merge *m) {
  for (size_t i = 0; i < m->count; i++) {
    array_unref(&m->pieces[i]);
  }
  m->count = 0;
  array_unref(&m->result);
}

/* Widths that can be written by one assignment. */
static size_t direct_width(const type *t) {
  const size_t width = t->kind == TYPE_DICTIONARY ? 0 : type_width(t);
  return width == 1 || width == 2 || width == 4 || width == 8 ? width : 0;
}

static glv_status merge_init(struct merge *m, const eval *v, const node *n, glv_error *err) {
  const size_t rows = v->rows.count;
  *m = (struct merge){.v = v, .type = n->type, .width = direct_width(n->type), .open_count = rows};
  m->open = ARENA_ARRAY(v->scratch, uint32_t, rows);
  if (m->open == NULL) {
    return error_nomem(err, rows * sizeof *m->open);
  }
  m->all_open = true;
  if (m->width != 0) {
    void *values = NULL;
    TRY(array_new_fixed(v->env, n->type, rows, &m->result, &values, err));
    TRY(buffer_new(v->env, bits_size(rows), &m->result.owners[0], err));
    m->values = values;
    m->validity = m->result.owners[0]->data;
    bits_fill(m->validity, 0, rows, true);
    return GLV_OK;
  }
  m->pieces = ARENA_ARRAY(v->scratch, array, n->child_count);
  m->source = ARENA_ARRAY(v->scratch, uint32_t, rows);
  if (m->pieces == NULL || m->source == NULL) {
    return error_nomem(err, rows * sizeof *m->source);
  }
  return GLV_OK;
}

/* Values to the rows at positions; NULL = to all rows, in order. */
#define SCATTER(ctype)                                                                             \
  do {                                                                                             \
    const ctype *from = o->a.values;                                                               \
    ctype *to = (void *)m->values;                                                                 \
    if (step == 0) {                                                                               \
      const ctype one = from[0];                                                                   \
      for (size_t i = 0; i < count; i++) {                                                         \
        to[positions != NULL ? positions[i] : i] = one;                                            \
      }                                                                                            \
    } else if (positions == NULL) {                                                                \
      memcpy(to, from, count * sizeof *to);                                                        \
    } else {                                                                                       \
      for (size_t i = 0; i < count; i++) {                                                         \
        to[positions[i]] = from[i];                                                                \
      }                                                                                            \
    }                                                                                              \
  } while (0)

static void scatter_nulls(struct merge *m, const operand *o, const uint32_t *positions,
                          size_t count) {
  if (o->a.validity == NULL || o->a.null_count == 0) {
    return;
  }
  m->has_nulls = true;
  if (positions == NULL && !o->is_scalar) {
    bits_copy(m->validity, 0, o->a.validity, o->a.bit_offset, count);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (!operand_is_valid(o, i)) {
      bit_clear(m->validity, positions != NULL ? positions[i] : i);
    }
  }
}

/* Values of fixed width to their rows. */
static void scatter(struct merge *m, const operand *o, const uint32_t *positions, size_t count) {
  const size_t step = o->is_scalar ? 0 : 1;
  if (m->width == 1) {
    SCATTER(uint8_t);
  } else if (m->width == 2) {
    SCATTER(uint16_t);
  } else if (m->width == 4) {
    SCATTER(uint32_t);
  } else {
    SCATTER(uint64_t);
  }
  scatter_nulls(m, o, positions, count);
}

/* Value k of o goes to the row at positions[k] (NULL: to row k). Takes the array of o. */
static glv_status merge_add(struct merge *m, operand *o, const uint32_t *positions, size_t count,
                            glv_error *err) {
  if (m->width != 0) {
    scatter(m, o, positions, count);
    return GLV_OK;
  }
  if (m->total + o->a.length > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "a batch of more than %u values", UINT32_MAX);
  }
  const uint32_t first = (uint32_t)m->total;
  const uint32_t step = o->is_scalar ? 0 : 1;
  for (size_t i = 0; i < count; i++) {
    m->source[positions != NULL ? positions[i] : i] = first + (uint32_t)i * step;
  }
  m->pieces[m->count] = o->a;
  m->pieces[m->count].type = m->type;
  m->count++;
  m->total += o->a.length;
  o->a = (array){0};
  return GLV_OK;
}

/* The positions of the open rows; NULL = all. */
static const uint32_t *open_rows(const struct merge *m) { return m->all_open ? NULL : m->open; }

static glv_status eval_rows_at(const struct merge *m, const node *n, const uint32_t *positions,
                               size_t count, operand *ret, glv_error *err) {
  return positions == NULL ? eval_node(m->v, n, ret, err)
                           : eval_at(m->v, n, positions, count, ret, err);
}

/* The rows at positions get the values of n. */
static glv_status merge_rows(struct merge *m, const node *n, const uint32_t *positions,
                             size_t count, glv_error *err) {
  if (count == 0) {
    return GLV_OK;
  }
  CLEANUP(operand_dispose) operand o = {0};
  TRY(eval_rows_at(m, n, positions, count, &o, err));
  return merge_add(m, &o, positions, count, err);
}

static glv_status merge_finish(struct merge *m, operand *ret, glv_error *err) {
  glv_env *env = m->v->env;
  const size_t rows = m->v->rows.count;
  ret->is_scalar = false;
  if (m->width != 0) {
    m->result.validity = m->has_nulls ? m->validity : NULL;
    m->result.null_count = m->has_nulls ? NULLS_UNKNOWN : 0;
    ret->a = m->result;
    m->result = (array){0};
    return GLV_OK;
  }
  CLEANUP(array_unref) array all = {0};
  if (m->count == 1) {
    all = array_ref(&m->pieces[0]);
  } else {
    TRY(array_concat(env, m->pieces, m->count, &all, err));
  }
  all.type = m->type;
  return array_take(env, &all, m->source, rows, &ret->a, err);
}

/* As split_open, of all rows. */
static size_t split_all(struct merge *m, const bool_reader *r, uint64_t *words, uint32_t *matched) {
  const size_t rows = m->open_count;
  for (size_t i = 0; i < word_count(rows); i++) {
    uint64_t value = 0;
    uint64_t valid = 0;
    bool_read(r, i, &value, &valid);
    words[i] = value & valid;
  }
  const size_t yes = bits_positions(words, rows, matched);
  if (yes == 0) {
    return 0; /* all rows stay open */
  }
  for (size_t i = 0; i < word_count(rows); i++) {
    words[i] = ~words[i] & tail_mask(rows, i);
  }
  m->open_count = bits_positions(words, rows, m->open);
  m->all_open = false;
  return yes;
}

/* Split the open rows by a condition over them; the true ones go to matched. @return their number.
 */
static size_t split_open(struct merge *m, const operand *condition, uint64_t *words,
                         uint32_t *matched) {
  size_t yes = 0;
  size_t no = 0;
  const bool_reader r = bool_reader_of(condition, m->open_count);
  if (m->all_open) {
    return split_all(m, &r, words, matched);
  }
  for (size_t i = 0; i < word_count(m->open_count); i++) {
    uint64_t value = 0;
    uint64_t valid = 0;
    bool_read(&r, i, &value, &valid);
    uint64_t bits = value & valid;
    const size_t end = size_min(m->open_count, 64 * i + 64);
    for (size_t k = 64 * i; k < end; k++, bits >>= 1) {
      const uint32_t row = m->open[k];
      matched[yes] = row; /* written over unless it counts */
      m->open[no] = row;
      yes += bits & 1;
      no += ~bits & 1;
    }
  }
  m->open_count = no;
  return yes;
}

/* CASE x: x = when, for the open rows. */
static glv_status case_equals(struct merge *m, const operand *x, const node *when, operand *ret,
                              glv_error *err) {
  CLEANUP(operand_dispose) operand here = {.is_scalar = x->is_scalar};
  CLEANUP(operand_dispose) operand value = {0};
  const eval *v = m->v;
  if (x->is_scalar || m->all_open) {
    here.a = array_ref(&x->a);
  } else {
    TRY(array_take(v->env, &x->a, m->open, m->open_count, &here.a, err));
  }
  TRY(eval_rows_at(m, when, open_rows(m), m->open_count, &value, err));
  ret->is_scalar = here.is_scalar && value.is_scalar;
  const size_t rows = ret->is_scalar ? 1 : m->open_count;
  return compare_operands(v->env, COMPARE_EQ, &here, &value, rows, &ret->a, err);
}

/* The positions of the open rows where o, which is for the open rows, is null. */
static size_t still_open(const struct merge *m, const operand *o, uint32_t *positions) {
  size_t count = 0;
  if ((o->a.validity == NULL || o->a.null_count == 0) && o->a.type->kind != TYPE_NULL) {
    return 0;
  }
  for (size_t i = 0; i < m->open_count; i++) {
    positions[count] = m->all_open ? (uint32_t)i : m->open[i];
    count += operand_is_valid(o, i) ? 0 : 1;
  }
  return count;
}

/* The rows without rows[count]; both ascending. */
static void close_rows(struct merge *m, const uint32_t *rows, size_t count) {
  size_t kept = 0;
  size_t next = 0;
  for (size_t i = 0; i < m->open_count; i++) {
    const uint32_t row = m->all_open ? (uint32_t)i : m->open[i];
    if (next < count && rows[next] == row) {
      next++;
    } else {
      m->open[kept++] = row;
    }
  }
  m->all_open = false;
  m->open_count = kept;
}

/* Open rows[count] again; both ascending. There is room: from the end, in place. */
static void open_rows_again(struct merge *m, const uint32_t *rows, size_t count) {
  size_t old = m->open_count;
  m->open_count += count;
  for (size_t to = m->open_count; count > 0; to--) {
    const bool is_old = old > 0 && m->open[old - 1] > rows[count - 1];
    m->open[to - 1] = is_old ? m->open[--old] : rows[--count];
  }
}

/* CASE x: the rows where x is null go to ELSE; no WHEN is evaluated for them. */
static glv_status set_aside_nulls(struct merge *m, const operand *x, uint32_t **ret, size_t *count,
                                  glv_error *err) {
  *ret = ARENA_ARRAY(m->v->scratch, uint32_t, m->v->rows.count + 1);
  if (*ret == NULL) {
    return error_nomem(err, m->v->rows.count * sizeof **ret);
  }
  *count = still_open(m, x, *ret);
  if (*count > 0) {
    close_rows(m, *ret, *count);
  }
  return GLV_OK;
}

static glv_status run_case(struct merge *m, const node *n, const operand *x, glv_error *err) {
  uint32_t *matched = ARENA_ARRAY(m->v->scratch, uint32_t, m->v->rows.count + 1);
  uint64_t *words = ARENA_ARRAY(m->v->scratch, uint64_t, word_count(m->v->rows.count));
  if (matched == NULL || words == NULL) {
    return error_nomem(err, m->v->rows.count * sizeof *matched);
  }
  const size_t first = n->has_operand ? 1 : 0;
  uint32_t *nulls = NULL;
  size_t null_count = 0;
  if (n->has_operand) {
    TRY(set_aside_nulls(m, x, &nulls, &null_count, err));
  }
  for (size_t i = first; i + 1 < n->child_count && m->open_count > 0; i += 2) {
    CLEANUP(operand_dispose) operand condition = {0};
    if (n->has_operand) {
      TRY(case_equals(m, x, n->child[i], &condition, err));
    } else {
      TRY(eval_rows_at(m, n->child[i], open_rows(m), m->open_count, &condition, err));
    }
    const size_t count = split_open(m, &condition, words, matched);
    TRY(merge_rows(m, n->child[i + 1], matched, count, err));
  }
  open_rows_again(m, nulls, null_count);
  return merge_rows(m, n->child[n->child_count - 1], open_rows(m), m->open_count, err);
}

glv_status eval_case(const eval *v, const node *n, operand *ret, glv_error *err) {
  CLEANUP(merge_dispose) struct merge m = {0};
  CLEANUP(operand_dispose) operand x = {0};
  TRY(merge_init(&m, v, n, err));
  if (n->has_operand) {
    TRY(eval_node(v, n->child[0], &x, err));
  }
  TRY(run_case(&m, n, &x, err));
  return merge_finish(&m, ret, err);
}

/* A row whose operands are all null keeps the null of the last one; a null that a later operand
 * replaces is made valid again. */
static void reopen(struct merge *m, const uint32_t *positions, size_t count) {
  if (m->width != 0) {
    for (size_t i = 0; i < count; i++) {
      bit_set(m->validity, positions[i]);
    }
    m->has_nulls = false;
  }
}

glv_status eval_coalesce(const eval *v, const node *n, operand *ret, glv_error *err) {
  CLEANUP(merge_dispose) struct merge m = {0};
  TRY(merge_init(&m, v, n, err));
  uint32_t *next = ARENA_ARRAY(v->scratch, uint32_t, v->rows.count + 1);
  if (next == NULL) {
    return error_nomem(err, v->rows.count * sizeof *next);
  }
  for (size_t i = 0; i < n->child_count && m.open_count > 0; i++) {
    CLEANUP(operand_dispose) operand o = {0};
    TRY(eval_rows_at(&m, n->child[i], open_rows(&m), m.open_count, &o, err));
    const size_t count = still_open(&m, &o, next);
    reopen(&m, m.open, i == 0 ? 0 : m.open_count);
    TRY(merge_add(&m, &o, open_rows(&m), m.open_count, err));
    m.all_open = false;
    uint32_t *old = m.open;
    m.open = next;
    m.open_count = count;
    next = old;
  }
  return merge_finish(&m, ret, err);
}
