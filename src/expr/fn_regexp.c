/* regexp_like and regexp_replace (sql-expressions 10.7, 13.1). */
#include <assert.h>

#include "arrow/builder.h"
#include "expr/function_private.h"
#include "expr/pattern.h"
#include "expr/text_search.h"

/* ---- regexp_like ---- */

static const pattern_places LIKE_PLACES = {1, 2};

/* The reference rewrites calls without flags, with none, or with `i`, to operators while planning.
 */
static bool is_operator_form(const function_binding *b) {
  str flags;
  return b->count == 2 ||
         (pattern_constant_text(b, 2, &flags) && (flags.size == 0 || str_is(flags, "i")));
}

/* It also rewrites the pattern `.*` to IS NOT NULL, which is false where the text is null. */
static bool matches_all(const function_binding *b) {
  str text;
  return is_operator_form(b) && !bind_is_null(b, 0) && pattern_constant_text(b, 1, &text) &&
         str_is(text, ".*");
}

/* Rows that may match, by what every match needs. */
static void find_candidates(const regexp *r, const array *texts, uint64_t *words) {
  const regexp_needs needs = regexp_necessary(r);
  if (needs.has_last) {
    text_rows_ending(texts, needs.last, words);
  } else {
    text_rows_with_bytes(texts, needs.bytes, needs.count, words); /* all rows when none is known */
  }
}

/* One expression for a column: rows that cannot match are sorted out all at once. words: of the
 * result, all 0. */
static glv_status match_column(const pattern *c, const operand *text, array *a, uint64_t *words,
                               glv_error *err) {
  find_candidates(c->constant, &text->a, words);
  for (size_t i = 0; i < a->length; i += 64) {
    for (uint64_t rest = words[i / 64]; rest != 0; rest &= rest - 1) {
      const size_t row = i + (size_t)__builtin_ctzll(rest);
      bool found = array_is_valid(&text->a, row);
      if (found) {
        TRY(regexp_find(c->constant, c->match, array_str(&text->a, row), 0, &found, err));
      }
      if (!found) {
        words[i / 64] &= ~(rest & (0 - rest));
      }
    }
  }
  return GLV_OK;
}

static glv_status match_rows(pattern *c, const operand *arguments, array *a, void *values,
                             glv_error *err) {
  for (size_t i = 0; i < a->length; i++) {
    if (!kernel_row_is_valid(arguments, 2, i)) {
      continue;
    }
    const regexp *r = NULL;
    bool found;
    TRY(pattern_row(c, i, false, &r, err));
    TRY(regexp_find(r, c->match, operand_str(&arguments[0], i), 0, &found, err));
    bit_put(values, i, found);
  }
  return GLV_OK;
}

static glv_status regexp_like(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(pattern_dispose) pattern c;
  void *values;
  TRY(pattern_begin(&c, f, arguments, LIKE_PLACES, err));
  const bool never_null = matches_all(f->binding);
  TRY(kernel_begin(f->env, f->binding->result, arguments, never_null ? 0 : 2, rows, &a, &values,
                   err));
  if (c.constant != NULL && !arguments[0].is_scalar && rows > 0) {
    TRY(match_column(&c, &arguments[0], &a, values, err));
  } else {
    TRY(match_rows(&c, arguments, &a, values, err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_like(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 3, err));
  TRY(bind_strings(b, err));
  b->result = type_simple(TYPE_BOOL);
  glv_error why = {0};
  const glv_status status = pattern_keep_constant(b, LIKE_PLACES, &why);
  if (status == GLV_E_NOMEM || (status != GLV_OK && is_operator_form(b))) {
    return FAIL(err, status == GLV_E_NOMEM ? status : GLV_E_SQL_PLAN, "%s", why.message);
  }
  return GLV_OK;
}

/* ---- regexp_replace ---- */

static const pattern_places REPLACE_PLACES = {1, 3};

/* text with its first match replaced, or all of them. */
static glv_status replace_text(const pattern *c, const regexp *r, str text, str with, buf *out,
                               glv_error *err) {
  regexp_walk w = regexp_walk_begin(r, c->match, text);
  size_t copied = 0;
  for (;;) {
    bool found;
    size_t begin;
    size_t end;
    TRY(regexp_walk_next(&w, &found, err));
    if (!found || !regexp_group(c->match, 0, &begin, &end)) {
      break;
    }
    TRY(buf_append(out, text.data + copied, begin - copied, err));
    TRY(regexp_expand(r, c->match, text, with, out, err));
    copied = end;
    if (!c->is_global) {
      break;
    }
  }
  return buf_append(out, text.data + copied, text.size - copied, err);
}

/* Nothing in a replacement stands for a group. */
static bool is_plain(str with) {
  return with.data == NULL || with.size == 0 ||
         (memchr(with.data, '$', with.size) == NULL && memchr(with.data, '\\', with.size) == NULL);
}

/* Append text with its first match replaced by a plain text. */
static glv_status replace_first(const pattern *c, const regexp *r, str text, str with, builder *b,
                                glv_error *err) {
  bool found;
  size_t begin;
  size_t end;
  char *to = NULL;
  TRY(regexp_find(r, c->match, text, 0, &found, err));
  if (!found || !regexp_group(c->match, 0, &begin, &end)) {
    return builder_append_str(b, text, err);
  }
  assert(text.data != NULL && with.data != NULL); /* texts have an address, also empty ones */
  TRY(builder_begin_str(b, text.size + with.size, &to, err));
  memcpy(to, text.data, begin);
  memcpy(to + begin, with.data, with.size);
  memcpy(to + begin + with.size, text.data + end, text.size - end);
  builder_end_str(b, begin + with.size + text.size - end);
  return GLV_OK;
}

static glv_status regexp_replace(const function_frame *f, const operand *arguments, size_t rows,
                                 array *ret, glv_error *err) {
  CLEANUP(pattern_dispose) pattern c;
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  str known = {0}; /* the last replacement that was looked at */
  bool known_is_plain = is_plain(known);
  builder_init(&b, f->env, f->binding->result);
  buf_init(&text, f->env, INT32_MAX);
  TRY(pattern_begin(&c, f, arguments, REPLACE_PLACES, err));
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, f->binding->count, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    const regexp *r = NULL;
    const str with = operand_str(&arguments[2], i);
    TRY(pattern_check_flags(&c, i, err));
    TRY(pattern_row(&c, i, true, &r, err));
    if (with.data != known.data || with.size != known.size) {
      known = with;
      known_is_plain = is_plain(with);
    }
    if (known_is_plain && !c.is_global) {
      TRY(replace_first(&c, r, operand_str(&arguments[0], i), with, &b, err));
      continue;
    }
    buf_clear(&text);
    TRY(replace_text(&c, r, operand_str(&arguments[0], i), with, &text, err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status bind_replace(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 3, 4, err));
  static const type_kind KINDS[] = {TYPE_UTF8_VIEW, TYPE_LARGE_UTF8, TYPE_UTF8};
  TRY(bind_variadic(b, KINDS, 3, err));
  b->result = b->targets[0];
  glv_error why = {0};
  return pattern_keep_constant(b, REPLACE_PLACES, &why) == GLV_E_NOMEM ? error_nomem(err, 0)
                                                                       : GLV_OK;
}

const function functions_regexp[] = {
    {.name = "regexp_like", .bind = bind_like, .kernel = regexp_like},
    {.name = "regexp_replace", .bind = bind_replace, .kernel = regexp_replace},
    {0},
};
