/*
 * Booleans by words of 64 rows: reading and writing their two bitmaps, validity of results, and the
 * nodes that work on them: NOT, IS, IS DISTINCT FROM, BETWEEN, IN (sql-expressions 10.1).
 *
 * A reader gives 0 for the bits past the last row, and value 0 where a row is null is not promised.
 * A writer's bitmaps begin at bit 0 and are zero past the last row.
 */
#include "arrow/bits.h"
#include "expr/eval_private.h"

uint64_t bits_word(const uint8_t *bits, size_t first, size_t rest) {
  const uint8_t *from = bits + first / 8;
  const unsigned shift = (unsigned)(first % 8);
  if (rest >= 64) {
    const uint64_t low = load_le64(from) >> shift;
    return shift == 0 ? low : low | (uint64_t)from[8] << (64 - shift);
  }
  uint64_t word = 0;
  const size_t bytes = bits_size(shift + rest);
  for (size_t i = 0; i < bytes && i < 8; i++) {
    word |= (uint64_t)from[i] << (8 * i);
  }
  word >>= shift;
  if (bytes > 8) {
    word |= (uint64_t)from[8] << (64 - shift);
  }
  return word & ((UINT64_C(1) << rest) - 1);
}

bool_reader bool_reader_of(const operand *o, size_t rows) {
  bool_reader r = {.rows = rows, .is_scalar = o->is_scalar};
  if (o->is_scalar) {
    const bool valid = array_is_valid(&o->a, 0);
    r.scalar_valid = valid ? ~UINT64_C(0) : 0;
    r.scalar_value = valid && array_bool(&o->a, 0) ? ~UINT64_C(0) : 0;
    return r;
  }
  r.values = (const uint8_t *)o->a.values;
  r.validity = o->a.null_count == 0 ? NULL : o->a.validity;
  r.offset = o->a.bit_offset;
  return r;
}

void bool_read(const bool_reader *r, size_t word, uint64_t *ret_value, uint64_t *ret_valid) {
  const size_t first = word * 64;
  const size_t rest = r->rows - first;
  if (r->is_scalar) {
    const uint64_t mask = tail_mask(r->rows, word);
    *ret_value = r->scalar_value & mask;
    *ret_valid = r->scalar_valid & mask;
    return;
  }
  *ret_value = bits_word(r->values, r->offset + first, rest);
  *ret_valid = r->validity != NULL ? bits_word(r->validity, r->offset + first, rest)
                                   : tail_mask(r->rows, word);
}

glv_status bool_writer_init(glv_env *env, size_t rows, bool has_validity, bool_writer *ret,
                            glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values = NULL;
  TRY(array_new_fixed(env, type_simple(TYPE_BOOL), rows, &a, &values, err));
  *ret = (bool_writer){.values = values};
  if (has_validity) {
    TRY(buffer_new_zeroed(env, bits_size(rows), &a.owners[0], err));
    a.validity = a.owners[0]->data;
    a.null_count = NULLS_UNKNOWN;
    ret->validity = (void *)a.owners[0]->data;
  }
  ret->a = a;
  a = (array){0};
  return GLV_OK;
}

void bool_writer_dispose(bool_writer *w) {
  array_unref(&w->a);
  w->values = NULL;
  w->validity = NULL;
}

operand bool_writer_finish(bool_writer *w, bool is_scalar) {
  const operand o = {w->a, is_scalar};
  *w = (bool_writer){0};
  return o;
}

size_t words_count(const uint64_t *words, size_t rows) {
  size_t count = 0;
  for (size_t i = 0; i < word_count(rows); i++) {
    count += (size_t)__builtin_popcountll(words[i]);
  }
  return count;
}

/* Positions of the ones of four bits; the rest of each line does not matter. */
static const uint32_t nibble_positions[16][4] = {
    {0, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {2, 0, 0, 0}, {0, 2, 0, 0},
    {1, 2, 0, 0}, {0, 1, 2, 0}, {3, 0, 0, 0}, {0, 3, 0, 0}, {1, 3, 0, 0}, {0, 1, 3, 0},
    {2, 3, 0, 0}, {0, 2, 3, 0}, {1, 2, 3, 0}, {0, 1, 2, 3},
};
static const uint8_t nibble_counts[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

/* Four positions are written for every four bits, and those too many written over. That never goes
 * past the room, since four rows lie behind the last position written. */
static size_t dense_positions(uint64_t word, uint32_t base, uint32_t *to) {
  size_t count = 0;
  for (uint32_t k = 0; k < 64; k += 4) {
    const size_t nibble = (size_t)(word >> k) & 15;
    for (size_t i = 0; i < 4; i++) {
      to[count + i] = base + k + nibble_positions[nibble][i];
    }
    count += nibble_counts[nibble];
  }
  return count;
}

enum { DENSE_BITS = 12 }; /* from so many ones in a word on it is cheaper to look at all bits */

size_t bits_positions(const uint64_t *words, size_t rows, uint32_t *positions) {
  size_t count = 0;
  for (size_t i = 0; i < word_count(rows); i++) {
    const uint32_t base = (uint32_t)(i * 64);
    uint64_t word = words[i];
    if (rows - i * 64 >= 64 && __builtin_popcountll(word) >= DENSE_BITS) {
      count += dense_positions(word, base, positions + count);
      continue;
    }
    for (; word != 0; word &= word - 1) {
      positions[count++] = base + (uint32_t)__builtin_ctzll(word);
    }
  }
  return count;
}

static bool may_be_null(const operand *o) {
  return o != NULL &&
         (o->a.type->kind == TYPE_NULL || (o->a.validity != NULL && o->a.null_count != 0));
}

/* Words of the validity of an operand. */
static uint64_t validity_word(const operand *o, size_t word, size_t rows) {
  if (o->a.validity == NULL || o->a.null_count == 0) {
    return o->a.type->kind == TYPE_NULL ? 0 : ~UINT64_C(0);
  }
  if (o->is_scalar) {
    return array_is_valid(&o->a, 0) ? ~UINT64_C(0) : 0;
  }
  return bits_word(o->a.validity, o->a.bit_offset + word * 64, rows - word * 64);
}

glv_status eval_validity(glv_env *env, const operand *l, const operand *r, size_t rows, array *ret,
                         glv_error *err) {
  const bool l_nulls = may_be_null(l);
  const bool r_nulls = may_be_null(r);
  ret->bit_offset = 0;
  ret->validity = NULL;
  ret->null_count = 0;
  if (!l_nulls && !r_nulls) {
    return GLV_OK;
  }
  const operand *only = l_nulls ? l : r;
  if (l_nulls != r_nulls && !only->is_scalar && only->a.validity != NULL &&
      (ret->type->kind != TYPE_BOOL || only->a.bit_offset == 0)) {
    kernel_share_nulls(&only->a, ret);
    return GLV_OK;
  }
  TRY(buffer_new(env, bits_size(rows), &ret->owners[0], err));
  uint64_t *words = (void *)ret->owners[0]->data;
  for (size_t i = 0; i < word_count(rows); i++) {
    const uint64_t both = (l_nulls ? validity_word(l, i, rows) : ~UINT64_C(0)) &
                          (r_nulls ? validity_word(r, i, rows) : ~UINT64_C(0));
    words[i] = both & tail_mask(rows, i);
  }
  ret->validity = ret->owners[0]->data;
  ret->null_count = rows - words_count(words, rows);
  return GLV_OK;
}

glv_status eval_not(const eval *v, const operand *left, operand *ret, glv_error *err) {
  bool is_scalar = false;
  const size_t rows = eval_rows(v, left, NULL, &is_scalar);
  const bool_reader r = bool_reader_of(left, rows);
  CLEANUP(bool_writer_dispose) bool_writer w = {0};
  TRY(bool_writer_init(v->env, rows, false, &w, err));
  for (size_t i = 0; i < word_count(rows); i++) {
    uint64_t value = 0;
    uint64_t valid = 0;
    bool_read(&r, i, &value, &valid);
    w.values[i] = ~value & valid;
  }
  TRY(eval_validity(v->env, left, NULL, rows, &w.a, err));
  *ret = bool_writer_finish(&w, is_scalar);
  return GLV_OK;
}

static uint64_t is_word(enum is_op op, uint64_t value, uint64_t valid) {
  switch (op) {
  case IS_NULL:
    return ~valid;
  case IS_TRUE:
    return value & valid;
  case IS_FALSE:
    return ~value & valid;
  }
  return 0;
}

glv_status eval_is(const eval *v, const node *n, const operand *left, operand *ret,
                   glv_error *err) {
  bool is_scalar = false;
  const size_t rows = eval_rows(v, left, NULL, &is_scalar);
  const bool values = n->op != IS_NULL;
  const bool_reader r = values ? bool_reader_of(left, rows) : (bool_reader){0};
  CLEANUP(bool_writer_dispose) bool_writer w = {0};
  TRY(bool_writer_init(v->env, rows, false, &w, err));
  for (size_t i = 0; i < word_count(rows); i++) {
    uint64_t value = 0;
    uint64_t valid = 0;
    if (values) {
      bool_read(&r, i, &value, &valid);
    } else {
      valid = validity_word(left, i, rows);
    }
    const uint64_t word = is_word((enum is_op)n->op, value, valid);
    w.values[i] = (n->negated ? ~word : word) & tail_mask(rows, i);
  }
  *ret = bool_writer_finish(&w, is_scalar);
  return GLV_OK;
}

/* Equal values, or both null; the result is never null. */
glv_status eval_distinct(const eval *v, const node *n, const operand *left, operand *ret,
                         glv_error *err) {
  CLEANUP(operand_dispose) operand right = {0};
  CLEANUP(operand_dispose) operand same = {0};
  TRY(eval_node(v, n->child[1], &right, err));
  bool is_scalar = false;
  const size_t rows = eval_rows(v, left, &right, &is_scalar);
  TRY(compare_operands(v->env, COMPARE_EQ, left, &right, rows, &same.a, err));
  const bool_reader r = bool_reader_of(&same, rows);
  CLEANUP(bool_writer_dispose) bool_writer w = {0};
  TRY(bool_writer_init(v->env, rows, false, &w, err));
  for (size_t i = 0; i < word_count(rows); i++) {
    uint64_t value = 0;
    uint64_t valid = 0;
    bool_read(&r, i, &value, &valid);
    const uint64_t nulls = ~validity_word(left, i, rows) & ~validity_word(&right, i, rows);
    const uint64_t equal = (value & valid) | nulls;
    w.values[i] = (n->negated ? equal : ~equal) & tail_mask(rows, i);
  }
  *ret = bool_writer_finish(&w, is_scalar);
  return GLV_OK;
}

/* l AND r in three-valued logic, perhaps negated. */
static glv_status kleene_and(const eval *v, const operand *l, const operand *r, size_t rows,
                             bool negated, bool_writer *w, glv_error *err) {
  const bool_reader lr = bool_reader_of(l, rows);
  const bool_reader rr = bool_reader_of(r, rows);
  TRY(bool_writer_init(v->env, rows, true, w, err));
  for (size_t i = 0; i < word_count(rows); i++) {
    uint64_t lv = 0;
    uint64_t lk = 0;
    uint64_t rv = 0;
    uint64_t rk = 0;
    bool_read(&lr, i, &lv, &lk);
    bool_read(&rr, i, &rv, &rk);
    const uint64_t yes = lv & lk & rv & rk;
    const uint64_t known = yes | (lk & ~lv) | (rk & ~rv);
    w->values[i] = negated ? known & ~yes : yes;
    w->validity[i] = known;
  }
  return GLV_OK;
}

glv_status eval_between(const eval *v, const node *n, const operand *left, operand *ret,
                        glv_error *err) {
  CLEANUP(operand_dispose) operand low = {0};
  CLEANUP(operand_dispose) operand high = {0};
  CLEANUP(operand_dispose) operand above = {0};
  CLEANUP(operand_dispose) operand below = {0};
  TRY(eval_node(v, n->child[1], &low, err));
  TRY(eval_node(v, n->child[2], &high, err));
  const bool is_scalar = left->is_scalar && low.is_scalar && high.is_scalar;
  const size_t rows = is_scalar ? 1 : v->rows.count;
  TRY(compare_operands(v->env, COMPARE_GE, left, &low, rows, &above.a, err));
  TRY(compare_operands(v->env, COMPARE_LE, left, &high, rows, &below.a, err));
  CLEANUP(bool_writer_dispose) bool_writer w = {0};
  TRY(kleene_and(v, &above, &below, rows, n->negated, &w, err));
  *ret = bool_writer_finish(&w, is_scalar);
  return GLV_OK;
}

/* w |= left = item; nulls: rows where an item is null. */
static glv_status in_item(const eval *v, const node *item, const operand *left, size_t rows,
                          bool_writer *w, uint64_t *nulls, glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  CLEANUP(operand_dispose) operand same = {0};
  TRY(eval_node(v, item, &o, err));
  TRY(compare_operands(v->env, COMPARE_EQ, left, &o, rows, &same.a, err));
  const bool_reader r = bool_reader_of(&same, rows);
  for (size_t i = 0; i < word_count(rows); i++) {
    uint64_t value = 0;
    uint64_t valid = 0;
    bool_read(&r, i, &value, &valid);
    w->values[i] |= value & valid;
    nulls[i] |= ~validity_word(&o, i, rows);
  }
  return GLV_OK;
}

/* As in_item for an item that may raise: only rows that are not found yet are looked at. */
static glv_status in_open_rows(const eval *v, const node *item, const operand *left, size_t rows,
                               bool_writer *w, uint64_t *nulls, glv_error *err) {
  const size_t open = rows - words_count(w->values, rows);
  if (open == rows) {
    return in_item(v, item, left, rows, w, nulls, err);
  }
  uint64_t *bits = ARENA_ARRAY(v->scratch, uint64_t, word_count(rows));
  uint32_t *positions = ARENA_ARRAY(v->scratch, uint32_t, open);
  if (bits == NULL || positions == NULL) {
    return error_nomem(err, open * sizeof *positions);
  }
  for (size_t i = 0; i < word_count(rows); i++) {
    bits[i] = ~w->values[i] & tail_mask(rows, i);
  }
  (void)bits_positions(bits, rows, positions);
  CLEANUP(operand_dispose) operand here = {.is_scalar = left->is_scalar};
  CLEANUP(operand_dispose) operand o = {0};
  CLEANUP(operand_dispose) operand same = {0};
  TRY(eval_at(v, item, positions, open, &o, err));
  if (left->is_scalar) {
    here.a = array_ref(&left->a);
  } else {
    TRY(array_take(v->env, &left->a, positions, open, &here.a, err));
  }
  TRY(compare_operands(v->env, COMPARE_EQ, &here, &o, open, &same.a, err));
  for (size_t k = 0; k < open; k++) {
    const uint64_t bit = UINT64_C(1) << (positions[k] % 64);
    if (operand_is_valid(&same, k) && operand_bool(&same, k)) {
      w->values[positions[k] / 64] |= bit;
    }
    if (!operand_is_valid(&o, k)) {
      nulls[positions[k] / 64] |= bit;
    }
  }
  return GLV_OK;
}

/* Found, or else null when x or some item is null. */
glv_status eval_in(const eval *v, const node *n, const operand *left, operand *ret,
                   glv_error *err) {
  const bool is_scalar = left->is_scalar && n->child_count == 1;
  const size_t rows = is_scalar ? 1 : v->rows.count;
  const size_t words = word_count(rows);
  uint64_t *nulls = ARENA_ARRAY(v->scratch, uint64_t, words);
  if (nulls == NULL) {
    return error_nomem(err, words * sizeof *nulls);
  }
  CLEANUP(bool_writer_dispose) bool_writer w = {0};
  TRY(bool_writer_init(v->env, rows, true, &w, err));
  if (n->set != NULL) {
    if (left->is_scalar && !is_scalar) {
      CLEANUP(operand_dispose) operand all = {0};
      TRY(eval_expand(v->env, left, rows, &all.a, err));
      in_set_probe(n->set, &all.a, w.values);
    } else {
      in_set_probe(n->set, &left->a, w.values);
    }
  }
  for (size_t i = 1; i < n->child_count; i++) {
    const node *item = n->child[i];
    TRY((item->is_fallible ? in_open_rows : in_item)(v, item, left, rows, &w, nulls, err));
  }
  const uint64_t set_null = n->set != NULL && in_set_has_null(n->set) ? ~UINT64_C(0) : 0;
  for (size_t i = 0; i < words; i++) {
    const uint64_t valid = validity_word(left, i, rows);
    const uint64_t found = w.values[i] & valid;
    const uint64_t known = (found | (valid & ~(nulls[i] | set_null))) & tail_mask(rows, i);
    w.values[i] = n->negated ? known & ~found : found;
    w.validity[i] = known;
  }
  *ret = bool_writer_finish(&w, is_scalar);
  return GLV_OK;
}
