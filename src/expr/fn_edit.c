/* Texts changed character by character or in one place: translate, overlay (sql-expressions 13.2).
 */
#include <stdlib.h>

#include "expr/function_private.h"
#include "expr/unicode.h"

/* ---- translate ---- */

enum { DELETED = -1, KEPT = -2, ASCII = 128 };

/* A character and what takes its place: a code point or DELETED. */
typedef struct replacement {
  uint32_t from;
  uint32_t order; /* in the list of characters: the first one counts */
  int32_t to;
} replacement;

/* What replaces characters: of ASCII by a table, of others by a sorted list. */
typedef struct translation {
  glv_env *env;
  int32_t ascii[ASCII]; /* a code point, DELETED or KEPT */
  replacement *others;
  size_t other_count;
  size_t capacity;
  str from; /* what it was made of; data NULL = not made yet */
  str to;
} translation;

static void translation_dispose(translation *t) { mem_free(t->env, t->others); }

static int compare_replacements(const void *left, const void *right) {
  const replacement *l = left;
  const replacement *r = right;
  if (l->from != r->from) {
    return l->from < r->from ? -1 : 1;
  }
  return l->order < r->order ? -1 : l->order > r->order;
}

static glv_status add_replacement(translation *t, replacement r, glv_error *err) {
  if (r.from < ASCII) {
    t->ascii[r.from] = t->ascii[r.from] == KEPT ? r.to : t->ascii[r.from];
    return GLV_OK;
  }
  TRY(vec_reserve(t->env, &t->others, &t->capacity, t->other_count + 1, sizeof *t->others, err));
  t->others[t->other_count++] = r;
  return GLV_OK;
}

static bool is_same(str a, str b) { return a.data == b.data && a.size == b.size; }

/* Characters of `from` become those of `to` at the same places, or nothing where `to` has ended. */
static glv_status translation_set(translation *t, str from, str to, glv_error *err) {
  if (t->from.data != NULL && is_same(from, t->from) && is_same(to, t->to)) {
    return GLV_OK;
  }
  for (size_t c = 0; c < ASCII; c++) {
    t->ascii[c] = KEPT;
  }
  t->other_count = 0;
  size_t with = 0;
  uint32_t order = 0;
  for (size_t at = 0; at < from.size; order++) {
    const uint32_t c = unicode_next(from, &at);
    const int32_t new = with < to.size ? (int32_t)unicode_next(to, &with) : DELETED;
    TRY(add_replacement(t, (replacement){c, order, new}, err));
  }
  if (t->other_count > 1) {
    qsort(t->others, t->other_count, sizeof *t->others, compare_replacements);
  }
  t->from = from;
  t->to = to;
  return GLV_OK;
}

static int32_t replacement_of(const translation *t, uint32_t c) {
  if (c < ASCII) {
    return t->ascii[c];
  }
  size_t low = 0;
  size_t high = t->other_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (t->others[middle].from < c) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < t->other_count && t->others[low].from == c ? t->others[low].to : KEPT;
}

static glv_status translate_text(const translation *t, str text, buf *out, glv_error *err) {
  TRY(buf_reserve(out, text.size, err));
  for (size_t at = 0; at < text.size;) {
    const size_t begin = at;
    const int32_t new = replacement_of(t, unicode_next(text, &at));
    char bytes[4];
    if (new == KEPT) {
      TRY(buf_append(out, text.data + begin, at - begin, err));
    } else if (new != DELETED) {
      TRY(buf_append(out, bytes, unicode_encode((uint32_t) new, bytes), err));
    }
  }
  return GLV_OK;
}

static glv_status translate(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  CLEANUP(translation_dispose) translation t = {.env = f->env};
  builder_init(&b, f->env, f->binding->result);
  buf_init(&text, f->env, INT32_MAX);
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, 3, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    buf_clear(&text);
    TRY(translation_set(&t, operand_str(&arguments[1], i), operand_str(&arguments[2], i), err));
    TRY(translate_text(&t, operand_str(&arguments[0], i), &text, err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status bind_translate(function_binding *b, glv_error *err) {
  static const signature SIGNATURES[] = {{{TYPE_UTF8_VIEW, TYPE_UTF8, TYPE_UTF8}},
                                         {{TYPE_UTF8, TYPE_UTF8, TYPE_UTF8}},
                                         {{TYPE_LARGE_UTF8, TYPE_UTF8, TYPE_UTF8}}};
  TRY(bind_count(b, 3, 3, err));
  TRY(bind_signature(b, SIGNATURES, 3, err));
  b->result = bind_text_result(b, TEXT_LIKE_FIRST);
  return GLV_OK;
}

/* ---- overlay ---- */

/* The text before `start`, what is put there, and the text behind `count` characters from there;
 * a start behind the end appends. */
static glv_status overlay_row(const function_frame *f, const operand *arguments, size_t i,
                              text_writer *w, glv_error *err) {
  const str text = operand_str(&arguments[0], i);
  const str put = operand_str(&arguments[1], i);
  const int64_t start = OPERAND_VALUE(&arguments[2], int64_t, i);
  const bool has_count = f->binding->count > 3;
  const int64_t count =
      has_count ? OPERAND_VALUE(&arguments[3], int64_t, i) : (int64_t)unicode_count(put);
  if (start < 1) {
    return FAIL(err, GLV_E_SQL_EXEC, "overlay: negative substring length not allowed");
  }
  int64_t end; /* of what is replaced */
  if (__builtin_add_overflow(start - 1, count, &end)) {
    end = INT64_MAX; /* start is positive */
  }
  const size_t prefix = unicode_offset(text, (size_t)(start - 1));
  const size_t suffix = end <= 0 ? 0 : unicode_offset(text, (size_t)end);
  TRY(buf_append(&w->scratch, text.data, prefix, err));
  TRY(buf_append_str(&w->scratch, put, err));
  TRY(buf_append(&w->scratch, text.data + suffix, text.size - suffix, err));
  return builder_append_str(&w->b, buf_str(&w->scratch), err);
}

static glv_status overlay(const function_frame *f, const operand *arguments, size_t rows,
                          array *ret, glv_error *err) {
  return function_text_rows(f, arguments, rows, overlay_row, ret, err);
}

static glv_status bind_overlay(function_binding *b, glv_error *err) {
  static const signature SIGNATURES[] = {
      {{TYPE_UTF8_VIEW, TYPE_UTF8_VIEW, TYPE_INT64, TYPE_INT64}},
      {{TYPE_UTF8, TYPE_UTF8, TYPE_INT64, TYPE_INT64}},
      {{TYPE_LARGE_UTF8, TYPE_LARGE_UTF8, TYPE_INT64, TYPE_INT64}},
      {{TYPE_UTF8_VIEW, TYPE_UTF8_VIEW, TYPE_INT64}},
      {{TYPE_UTF8, TYPE_UTF8, TYPE_INT64}},
      {{TYPE_LARGE_UTF8, TYPE_LARGE_UTF8, TYPE_INT64}},
  };
  TRY(bind_count(b, 3, 4, err));
  TRY(bind_signature(b, SIGNATURES, sizeof SIGNATURES / sizeof *SIGNATURES, err));
  b->result = bind_text_result(b, TEXT_LARGE_OR_UTF8);
  return GLV_OK;
}

const function functions_edit[] = {
    {.name = "translate", .bind = bind_translate, .kernel = translate},
    {.name = "overlay", .bind = bind_overlay, .kernel = overlay},
    {0},
};
