/*
 * Concatenation and LIKE (sql-expressions 9.6, 10.7). Patterns are matched in like.c; a constant
 * one is looked at once per batch, and a word that must occur is searched in all rows at once.
 */
#include "expr/block.h"
#include "expr/eval_private.h"
#include "expr/like.h"
#include "expr/text_search.h"

/* Bytes of all results; null rows may hold bytes, which are not counted. */
static size_t concat_size(const array *a, const text_reader *l, const text_reader *r, size_t rows) {
  size_t size = 0;
  for (size_t i = 0; i < rows; i++) {
    if (array_is_valid(a, i)) {
      size += text_at(l, i).size + text_at(r, i).size;
    }
  }
  return size;
}

static void put_offset(const array *a, void *offsets, size_t i, size_t value) {
  if (type_offset_width(a->type->kind) == 8) {
    ((int64_t *)offsets)[i] = (int64_t)value;
  } else {
    ((int32_t *)offsets)[i] = (int32_t)value;
  }
}

static char *append(char *to, str text) {
  if (text.size > 0) {
    memcpy(to, text.data, text.size);
  }
  return to + text.size;
}

static void concat_rows(const array *a, const text_reader *l, const text_reader *r, void *offsets,
                        char *data) {
  char *to = data;
  put_offset(a, offsets, 0, 0);
  for (size_t i = 0; i < a->length; i++) {
    if (array_is_valid(a, i)) {
      to = append(append(to, text_at(l, i)), text_at(r, i));
    }
    put_offset(a, offsets, i + 1, (size_t)(to - data));
  }
}

glv_status eval_concat(const eval *v, const node *n, const operand *left, const operand *right,
                       operand *ret, glv_error *err) {
  CLEANUP(operand_dispose) operand o = {0};
  const size_t rows = eval_rows(v, left, right, &o.is_scalar);
  const size_t width = type_offset_width(n->type->kind);
  array *a = &o.a;
  *a = (array){.type = n->type, .length = rows};
  TRY(eval_validity(v->env, left, right, rows, a, err));
  const text_reader l = text_reader_of(left);
  const text_reader r = text_reader_of(right);
  const size_t size = concat_size(a, &l, &r, rows);
  if (width == 4 && size > INT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "%zu bytes of text do not fit into one array", size);
  }
  TRY(buffer_new(v->env, (rows + 1) * width, &a->owners[1], err));
  TRY(buffer_new(v->env, size, &a->owners[2], err));
  a->values = a->owners[1]->data;
  a->data = a->owners[2]->data;
  concat_rows(a, &l, &r, a->owners[1]->data, (char *)a->owners[2]->data);
  *ret = operand_move(&o);
  return GLV_OK;
}

/* Every row has its own pattern. */
static glv_status like_rows(const eval *v, const node *n, const operand *left, const operand *right,
                            size_t rows, uint64_t *words, glv_error *err) {
  for (size_t i = 0; i < rows; i++) {
    if (!operand_is_valid(left, i) || !operand_is_valid(right, i)) {
      continue;
    }
    const arena_mark mark = arena_mark_get(v->scratch);
    like_pattern p;
    TRY(like_parse(v->scratch, operand_str(right, i), n->op != 0, &p, err));
    const bool value = like_matches(&p, operand_str(left, i)) != n->negated;
    arena_reset_to(v->scratch, mark);
    words[i / 64] |= (uint64_t)value << (i % 64);
  }
  return GLV_OK;
}

/* One pattern for all rows. */
static glv_status like_one(const eval *v, const node *n, const operand *left, str pattern,
                           size_t rows, uint64_t *words, glv_error *err) {
  like_pattern p;
  TRY(like_parse(v->scratch, pattern, n->op != 0, &p, err));
  const text_reader r = text_reader_of(left);
  if (p.shape == LIKE_PART && p.word.size > 0 && !left->is_scalar) {
    text_rows_with(&left->a, p.word, words);
  } else {
    BLOCK_LOOP(rows, words, =, bytes[j] = like_matches(&p, text_at(&r, i + j)));
  }
  for (size_t i = 0; n->negated && i < word_count(rows); i++) {
    words[i] = ~words[i] & tail_mask(rows, i);
  }
  return GLV_OK;
}

glv_status eval_like(const eval *v, const node *n, const operand *left, const operand *right,
                     operand *ret, glv_error *err) {
  bool is_scalar = false;
  const size_t rows = eval_rows(v, left, right, &is_scalar);
  CLEANUP(bool_writer_dispose) bool_writer w = {0};
  if (!type_is_string(left->a.type->kind)) {
    return FAIL(err, GLV_E_SQL_EXEC, "Invalid string operation: %s LIKE %s",
                TYPE_TEXT(left->a.type), TYPE_TEXT(right->a.type));
  }
  TRY(bool_writer_init(v->env, rows, false, &w, err));
  TRY(eval_validity(v->env, left, right, rows, &w.a, err));
  if (right->is_scalar && array_is_valid(&right->a, 0)) {
    TRY(like_one(v, n, left, array_str(&right->a, 0), rows, w.values, err));
  } else if (!right->is_scalar) {
    TRY(like_rows(v, n, left, right, rows, w.values, err));
  }
  *ret = bool_writer_finish(&w, is_scalar);
  return GLV_OK;
}
