/*
 * Concatenation and LIKE (sql-expressions 9.6, 10.7).
 *
 * LIKE: a constant pattern is looked at once per batch; the frequent shapes (a word, word%, %word,
 * %word%) become comparisons of bytes. All others run a matcher over tokens: a literal code point,
 * any one, any number. It backtracks to the last `%` only, so its time is bounded by the product of
 * the lengths. A backslash takes the next character literally; at the end it stands for itself.
 *
 * ILIKE compares code points after simple case folding.
 */
#include <utf8proc.h>

#include "expr/block.h"
#include "expr/eval_private.h"
#include "expr/unicode.h"

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

/* Tokens: code points, or one of these. */
enum { ANY_ONE = 0x110000, ANY_NUMBER = 0x110001 };

enum pattern_shape { PATTERN_EXACT, PATTERN_PREFIX, PATTERN_SUFFIX, PATTERN_PART, PATTERN_OTHER };

struct pattern {
  enum pattern_shape shape;
  bool fold;
  str word; /* of the simple shapes: what must be there, unescaped */
  uint32_t *tokens;
  size_t count;
};

/* Simple case folding by way of the simple mappings; the dotted and the dotless i fold to nothing
 * else. */
static uint32_t fold(uint32_t c) {
  if (c < 0x80) {
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
  }
  if (c == 0x130 || c == 0x131) {
    return c;
  }
  const utf8proc_int32_t upper = utf8proc_toupper((utf8proc_int32_t)c);
  return (uint32_t)utf8proc_tolower(upper);
}

static size_t parse_tokens(str text, bool folds, uint32_t *tokens) {
  size_t count = 0;
  size_t at = 0;
  while (at < text.size) {
    uint32_t c = unicode_next(text, &at);
    if (c == '%') {
      c = ANY_NUMBER;
    } else if (c == '_') {
      c = ANY_ONE;
    } else {
      if (c == '\\' && at < text.size) {
        c = unicode_next(text, &at);
      }
      c = folds ? fold(c) : c;
    }
    if (c != ANY_NUMBER || count == 0 || tokens[count - 1] != ANY_NUMBER) {
      tokens[count++] = c;
    }
  }
  return count;
}

/* The simple shape of the tokens, if they have one; *word gets the bytes between the %. */
static enum pattern_shape shape_of(const struct pattern *p, char *word, size_t *ret_size) {
  size_t size = 0;
  const size_t first = p->count > 0 && p->tokens[0] == ANY_NUMBER ? 1 : 0;
  const size_t last = p->count > first && p->tokens[p->count - 1] == ANY_NUMBER ? 1 : 0;
  for (size_t i = first; i < p->count - last; i++) {
    if (p->tokens[i] >= ANY_ONE) {
      return PATTERN_OTHER;
    }
    size += unicode_encode(p->tokens[i], word + size);
  }
  *ret_size = size;
  if (first != 0) {
    return last != 0 || p->count == 1 ? PATTERN_PART : PATTERN_SUFFIX;
  }
  return last != 0 ? PATTERN_PREFIX : PATTERN_EXACT;
}

static glv_status parse_pattern(arena *a, str text, bool folds, struct pattern *ret,
                                glv_error *err) {
  *ret = (struct pattern){.shape = PATTERN_OTHER, .fold = folds};
  ret->tokens = ARENA_ARRAY(a, uint32_t, text.size);
  char *word = arena_alloc(a, text.size + 4);
  if (ret->tokens == NULL || word == NULL) {
    return error_nomem(err, text.size);
  }
  ret->count = parse_tokens(text, folds, ret->tokens);
  if (!folds) {
    size_t size = 0;
    ret->shape = shape_of(ret, word, &size);
    ret->word = str_slice(word, size);
  }
  return GLV_OK;
}

static bool contains(str text, str part) {
  if (part.size == 0) {
    return true;
  }
  const char *at = text.data;
  size_t rest = text.size;
  while (rest >= part.size) {
    const char *next = memchr(at, part.data[0], rest - part.size + 1);
    if (next == NULL) {
      return false;
    }
    if (memcmp(next, part.data, part.size) == 0) {
      return true;
    }
    rest -= (size_t)(next - at) + 1;
    at = next + 1;
  }
  return false;
}

/* unicode_next, with the frequent case in line. */
static inline uint32_t next_code(str text, size_t *at) {
  const unsigned char c = (unsigned char)text.data[*at];
  if (c < 0x80) {
    (*at)++;
    return c;
  }
  return unicode_next(text, at);
}

static bool match_tokens(const struct pattern *p, str text) {
  size_t at = 0;
  size_t token = 0;
  size_t star = SIZE_MAX; /* the token behind the last % */
  size_t star_at = 0;     /* where its text began */
  while (at < text.size) {
    if (token < p->count && p->tokens[token] == ANY_NUMBER) {
      star = ++token;
      star_at = at;
      continue;
    }
    size_t next = at;
    const uint32_t c = next_code(text, &next);
    if (token < p->count &&
        (p->tokens[token] == ANY_ONE || p->tokens[token] == (p->fold ? fold(c) : c))) {
      at = next;
      token++;
      continue;
    }
    if (star == SIZE_MAX) {
      return false;
    }
    (void)next_code(text, &star_at);
    at = star_at;
    token = star;
  }
  while (token < p->count && p->tokens[token] == ANY_NUMBER) {
    token++;
  }
  return token == p->count;
}

static bool matches(const struct pattern *p, str text) {
  switch (p->shape) {
  case PATTERN_EXACT:
    return str_equal(text, p->word);
  case PATTERN_PREFIX:
    return str_starts_with(text, p->word);
  case PATTERN_SUFFIX:
    return str_ends_with(text, p->word);
  case PATTERN_PART:
    return contains(text, p->word);
  case PATTERN_OTHER:
    return match_tokens(p, text);
  }
  return false;
}

/* Every row has its own pattern. */
static glv_status like_rows(const eval *v, const node *n, const operand *left, const operand *right,
                            size_t rows, uint64_t *words, glv_error *err) {
  for (size_t i = 0; i < rows; i++) {
    if (!operand_is_valid(left, i) || !operand_is_valid(right, i)) {
      continue;
    }
    const arena_mark mark = arena_mark_get(v->scratch);
    struct pattern p;
    TRY(parse_pattern(v->scratch, operand_str(right, i), n->op != 0, &p, err));
    const bool value = matches(&p, operand_str(left, i)) != n->negated;
    arena_reset_to(v->scratch, mark);
    words[i / 64] |= (uint64_t)value << (i % 64);
  }
  return GLV_OK;
}

static glv_status like_one(const eval *v, const node *n, const operand *left, str pattern,
                           size_t rows, uint64_t *words, glv_error *err) {
  struct pattern p;
  TRY(parse_pattern(v->scratch, pattern, n->op != 0, &p, err));
  const text_reader r = text_reader_of(left);
  const str w = p.word;
  if (p.shape == PATTERN_PREFIX) {
    BLOCK_LOOP(rows, words, =, const str a = text_at(&r, i + j);
               bytes[j] = (a.size >= w.size && memcmp(a.data, w.data, w.size) == 0) != n->negated);
  } else {
    BLOCK_LOOP(rows, words, =, bytes[j] = matches(&p, text_at(&r, i + j)) != n->negated);
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
