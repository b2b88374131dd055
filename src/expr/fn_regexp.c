/* regexp_like, regexp_replace, regexp_count (sql-expressions 10.7, 13.1). A pattern and flags that
 * are constant are compiled once for the plan; otherwise the last one of a batch is kept. */
#include "arrow/builder.h"
#include "expr/function_private.h"
#include "expr/regexp.h"
#include "expr/unicode.h"

enum { FLAGS_MAX = 32 };

/* ---- compiled patterns ---- */

/* Where the pattern and the flags stand among the arguments; flags SIZE_MAX = there are none. */
typedef struct places {
  size_t pattern;
  size_t flags;
} places;

/* The expression in use by one call of a kernel. */
typedef struct current {
  const function_frame *f;
  const operand *arguments;
  places at;
  regexp_match *match;
  regexp *own; /* of the pattern and flags below */
  str pattern;
  str flags;
  bool is_global; /* the flags of the row hold a g */
} current;

static void current_dispose(current *c) {
  regexp_match_free(c->match);
  regexp_free(c->own);
}

static glv_status current_begin(current *c, const function_frame *f, const operand *arguments,
                                places at, glv_error *err) {
  *c = (current){.f = f, .arguments = arguments, .at = at};
  return regexp_match_new(f->env, &c->match, err);
}

/* Flags without g, which only replacing knows. The first g counts; a second one is unknown. */
static str strip_global(str flags, char room[FLAGS_MAX], bool *ret_is_global) {
  size_t n = 0;
  *ret_is_global = false;
  for (size_t i = 0; i < flags.size && n < FLAGS_MAX; i++) {
    if (flags.data[i] == 'g' && !*ret_is_global) {
      *ret_is_global = true;
    } else {
      room[n++] = flags.data[i];
    }
  }
  return str_slice(room, n);
}

static bool is_same(str a, str b) { return a.data == b.data && a.size == b.size; }

static str row_flags(const current *c, size_t i) {
  const bool has_flags = c->at.flags < c->f->binding->count &&
                         c->arguments[c->at.flags].a.type->kind != TYPE_NULL &&
                         operand_is_valid(&c->arguments[c->at.flags], i);
  return has_flags ? operand_str(&c->arguments[c->at.flags], i) : str_slice(NULL, 0);
}

/* The expression of row i, whose pattern is valid. */
static glv_status current_row(current *c, size_t i, bool allows_global, const regexp **ret,
                              glv_error *err) {
  const str pattern = operand_str(&c->arguments[c->at.pattern], i);
  const str flags = row_flags(c, i);
  char room[FLAGS_MAX];
  const str plain = strip_global(flags, room, &c->is_global);
  if (c->is_global && !allows_global) {
    return FAIL(err, GLV_E_SQL_EXEC, "%s() does not support the \"global\" option",
                c->f->binding->function->name);
  }
  if (c->f->binding->state != NULL) {
    *ret = c->f->binding->state;
    return GLV_OK;
  }
  if (c->own == NULL || !is_same(pattern, c->pattern) || !is_same(flags, c->flags)) {
    regexp_free(c->own);
    c->own = NULL;
    TRY(regexp_new(c->f->env, pattern, plain, &c->own, err));
    c->pattern = pattern;
    c->flags = flags;
  }
  *ret = c->own;
  return GLV_OK;
}

static void dispose_regexp(void *state) { regexp_free(state); }

/* A constant that is not null: its text. */
static bool constant_text(const function_binding *b, size_t i, str *ret) {
  const array *constant = b->arguments[i].constant;
  if (constant == NULL || constant->type->kind == TYPE_NULL || !array_is_valid(constant, 0) ||
      !type_is_string(constant->type->kind)) {
    return false;
  }
  *ret = array_str(constant, 0);
  return true;
}

/* Compile what is constant. A bad pattern is left for the rows, which then fail. */
static glv_status keep_constant(function_binding *b, places at, glv_error *err) {
  str pattern;
  str flags = {0};
  if (!constant_text(b, at.pattern, &pattern) ||
      (at.flags < b->count && b->arguments[at.flags].constant == NULL)) {
    return GLV_OK;
  }
  if (at.flags < b->count) {
    (void)constant_text(b, at.flags, &flags);
  }
  char room[FLAGS_MAX];
  bool is_global;
  regexp *r = NULL;
  const str plain = strip_global(flags, room, &is_global);
  const glv_status status = regexp_new(b->env, pattern, plain, &r, err);
  if (status == GLV_OK) {
    b->state = r;
    b->dispose = dispose_regexp;
  }
  return status;
}

/* ---- regexp_like ---- */

static const places LIKE_PLACES = {1, 2};

/* The reference rewrites calls without flags, with none, or with `i`, to operators while planning.
 */
static bool is_operator_form(const function_binding *b) {
  str flags;
  return b->count == 2 || (constant_text(b, 2, &flags) && (flags.size == 0 || str_is(flags, "i")));
}

/* It also rewrites the pattern `.*` to IS NOT NULL, which is false where the text is null. */
static bool matches_all(const function_binding *b) {
  str pattern;
  return is_operator_form(b) && !bind_is_null(b, 0) && constant_text(b, 1, &pattern) &&
         str_is(pattern, ".*");
}

static glv_status regexp_like(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(current_dispose) current c;
  void *values;
  TRY(current_begin(&c, f, arguments, LIKE_PLACES, err));
  const bool never_null = matches_all(f->binding);
  TRY(kernel_begin(f->env, f->binding->result, arguments, never_null ? 0 : 2, rows, &a, &values,
                   err));
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, 2, i)) {
      continue;
    }
    const regexp *r = NULL;
    bool found;
    TRY(current_row(&c, i, false, &r, err));
    TRY(regexp_find(r, c.match, operand_str(&arguments[0], i), 0, &found, err));
    bit_put(values, i, found);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_like(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 3, err));
  for (size_t i = 0; i < b->count; i++) {
    TRY(bind_string(b, i, err));
  }
  b->result = type_simple(TYPE_BOOL);
  glv_error why = {0};
  const glv_status status = keep_constant(b, LIKE_PLACES, &why);
  if (status == GLV_E_NOMEM || (status != GLV_OK && is_operator_form(b))) {
    return FAIL(err, status == GLV_E_NOMEM ? status : GLV_E_SQL_PLAN, "%s", why.message);
  }
  return GLV_OK;
}

/* ---- regexp_replace ---- */

static const places REPLACE_PLACES = {1, 3};

/* The reference puts the flags, without g, in front of the pattern as `(?flags)`, which must not be
 * empty; so an empty text of flags is an error. */
static glv_status check_flags(const current *c, size_t i, glv_error *err) {
  const size_t at = c->at.flags;
  if (at < c->f->binding->count && operand_is_valid(&c->arguments[at], i) &&
      row_flags(c, i).size == 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "Regular expression did not compile: empty flags");
  }
  return GLV_OK;
}

/* text with its first match replaced, or all of them. */
static glv_status replace_text(const current *c, const regexp *r, str text, str with, buf *out,
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

static glv_status regexp_replace(const function_frame *f, const operand *arguments, size_t rows,
                                 array *ret, glv_error *err) {
  CLEANUP(current_dispose) current c;
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, f->env, f->binding->result);
  buf_init(&text, f->env, INT32_MAX);
  TRY(current_begin(&c, f, arguments, REPLACE_PLACES, err));
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, f->binding->count, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    const regexp *r = NULL;
    buf_clear(&text);
    TRY(check_flags(&c, i, err));
    TRY(current_row(&c, i, true, &r, err));
    TRY(replace_text(&c, r, operand_str(&arguments[0], i), operand_str(&arguments[2], i), &text,
                     err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

/* All arguments become one string type: utf8 if all are, utf8_view if all are strings or null, else
 * large_utf8. */
static glv_status bind_replace(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 3, 4, err));
  bool all_utf8 = true;
  bool all_strings = true;
  for (size_t i = 0; i < b->count; i++) {
    const type_kind kind = b->arguments[i].type->kind;
    all_utf8 = all_utf8 && kind == TYPE_UTF8;
    all_strings = all_strings && (kind == TYPE_NULL || type_is_string(kind));
  }
  b->result = type_simple(all_utf8 ? TYPE_UTF8 : all_strings ? TYPE_UTF8_VIEW : TYPE_LARGE_UTF8);
  for (size_t i = 0; i < b->count; i++) {
    TRY(bind_castable(b, i, b->result, "String", err));
  }
  glv_error why = {0};
  return keep_constant(b, REPLACE_PLACES, &why) == GLV_E_NOMEM ? error_nomem(err, 0) : GLV_OK;
}

/* ---- regexp_count ---- */

static const places COUNT_PLACES = {1, 3};

/* What of row i is looked at: all of the text, or what begins at character `start`. *ret_is_empty
 * when it begins so far behind that nothing is counted. */
static glv_status counted_text(const function_frame *f, const operand *arguments, size_t i,
                               str *ret, bool *ret_is_empty, glv_error *err) {
  *ret = operand_str(&arguments[0], i);
  *ret_is_empty = false;
  if (f->binding->count < 3 || !operand_is_valid(&arguments[2], i)) {
    return GLV_OK;
  }
  const int64_t start = OPERAND_VALUE(&arguments[2], int64_t, i);
  if (start < 1) {
    return FAIL(err, GLV_E_SQL_EXEC, "regexp_count() requires start to be 1 based");
  }
  const size_t skipped = (size_t)start - 1;
  const size_t begin = unicode_offset(*ret, skipped);
  *ret_is_empty = begin == ret->size && skipped > unicode_count(*ret);
  *ret = str_slice(ret->data + begin, ret->size - begin);
  return GLV_OK;
}

static glv_status count_matches(current *c, size_t i, str text, int64_t *ret, glv_error *err) {
  const regexp *r = NULL;
  TRY(current_row(c, i, false, &r, err));
  regexp_walk w = regexp_walk_begin(r, c->match, text);
  for (*ret = 0;; (*ret)++) {
    bool found;
    TRY(regexp_walk_next(&w, &found, err));
    if (!found) {
      return GLV_OK;
    }
  }
}

/* Null in, 0 out. */
static glv_status regexp_count(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(current_dispose) current c;
  void *values;
  TRY(current_begin(&c, f, arguments, COUNT_PLACES, err));
  TRY(kernel_begin(f->env, f->binding->result, arguments, 0, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    int64_t *value = &((int64_t *)values)[i];
    *value = 0;
    if (!kernel_row_is_valid(arguments, 2, i)) {
      continue;
    }
    str text;
    bool is_empty;
    TRY(counted_text(f, arguments, i, &text, &is_empty, err));
    if (!is_empty) {
      TRY(count_matches(&c, i, text, value, err));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_count_matches(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 4, err));
  TRY(bind_text(b, 0, err));
  TRY(bind_text(b, 1, err));
  if (b->count > 2) {
    TRY(bind_int64(b, 2, err));
  }
  if (b->count > 3) {
    TRY(bind_string(b, 3, err));
  }
  b->result = type_simple(TYPE_INT64);
  glv_error why = {0};
  return keep_constant(b, COUNT_PLACES, &why) == GLV_E_NOMEM ? error_nomem(err, 0) : GLV_OK;
}

const function functions_regexp[] = {
    {.name = "regexp_like", .bind = bind_like, .kernel = regexp_like},
    {.name = "regexp_replace", .bind = bind_replace, .kernel = regexp_replace},
    {.name = "regexp_count", .bind = bind_count_matches, .kernel = regexp_count},
    {0},
};
