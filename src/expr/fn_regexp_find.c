/* Where regular expressions match: regexp_count, regexp_instr, regexp_match (sql-expressions 10.7,
 * 13.1, 13.2). */
#include "arrow/builder.h"
#include "expr/function_private.h"
#include "expr/lists.h"
#include "expr/pattern.h"
#include "expr/unicode.h"

/* The first arguments of the shape, with one string type in all places of utf8. */
static glv_status bind_located(function_binding *b, const signature *shape, glv_error *err) {
  static const type_kind KINDS[] = {TYPE_UTF8_VIEW, TYPE_LARGE_UTF8, TYPE_UTF8};
  signature list[3] = {{{TYPE_NONE}}};
  for (size_t k = 0; k < 3; k++) {
    for (size_t i = 0; i < b->count && i < SIGNATURE_MAX; i++) {
      list[k].kinds[i] = shape->kinds[i] == TYPE_UTF8 ? KINDS[k] : shape->kinds[i];
    }
  }
  return bind_signature(b, list, 3, err);
}

/* ---- regexp_count ---- */

static const pattern_places COUNT_PLACES = {1, 3};

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

static glv_status count_matches(pattern *c, size_t i, str text, int64_t *ret, glv_error *err) {
  const regexp *r = NULL;
  TRY(pattern_row(c, i, false, &r, err));
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
  CLEANUP(pattern_dispose) pattern c;
  void *values;
  TRY(pattern_begin(&c, f, arguments, COUNT_PLACES, err));
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
  static const signature SHAPE = {{TYPE_UTF8, TYPE_UTF8, TYPE_INT64, TYPE_UTF8}};
  TRY(bind_count(b, 2, 4, err));
  TRY(bind_located(b, &SHAPE, err));
  b->result = type_simple(TYPE_INT64);
  glv_error why = {0};
  return pattern_keep_constant(b, COUNT_PLACES, &why) == GLV_E_NOMEM ? error_nomem(err, 0) : GLV_OK;
}

/* ---- regexp_instr ---- */

static const pattern_places INSTR_PLACES = {1, 4};

/* What row i asks for. */
typedef struct wanted {
  int64_t start; /* in characters, from 1 */
  int64_t nth;   /* match, from 1 */
  int64_t group; /* > 0: its place in the first match counts, not nth */
} wanted;

/* An argument that is not there has its default, a null is 0. */
static int64_t wanted_value(const function_frame *f, const operand *arguments, size_t k, size_t i,
                            int64_t missing) {
  if (k >= f->binding->count) {
    return missing;
  }
  return operand_is_valid(&arguments[k], i) ? OPERAND_VALUE(&arguments[k], int64_t, i) : 0;
}

static glv_status get_wanted(const function_frame *f, const operand *arguments, size_t i,
                             wanted *ret, glv_error *err) {
  *ret = (wanted){.start = wanted_value(f, arguments, 2, i, 1),
                  .nth = wanted_value(f, arguments, 3, i, 1),
                  .group = wanted_value(f, arguments, 5, i, 0)};
  if (ret->start < 1) {
    return FAIL(err, GLV_E_SQL_EXEC, "regexp_instr() requires start to be 1 based");
  }
  if (ret->nth < 1) {
    return FAIL(err, GLV_E_SQL_EXEC, "regexp_instr() requires n to be 1 or greater");
  }
  return GLV_OK;
}

/* Where in text the wanted match or group begins; SIZE_MAX = there is none. */
static glv_status locate(const pattern *c, const regexp *r, str text, const wanted *w, size_t *ret,
                         glv_error *err) {
  regexp_walk walk = regexp_walk_begin(r, c->match, text);
  *ret = SIZE_MAX;
  for (int64_t n = w->group > 0 ? w->nth : 1; n <= w->nth; n++) {
    bool found;
    TRY(regexp_walk_next(&walk, &found, err));
    if (!found) {
      return GLV_OK;
    }
  }
  size_t begin;
  size_t end;
  if (w->group <= UINT32_MAX &&
      regexp_group(c->match, w->group > 0 ? (uint32_t)w->group : 0, &begin, &end)) {
    *ret = begin;
  }
  return GLV_OK;
}

/* The position in characters, from 1; 0 = there is none. An empty text has none. */
static glv_status instr_row(pattern *c, size_t i, int64_t *ret, glv_error *err) {
  const str text = operand_str(&c->arguments[0], i);
  if (text.size == 0) {
    return GLV_OK;
  }
  const regexp *r = NULL;
  wanted w;
  TRY(pattern_row(c, i, false, &r, err));
  TRY(get_wanted(c->f, c->arguments, i, &w, err));
  if (w.start > (int64_t)text.size) { /* not more characters than bytes */
    return GLV_OK;
  }
  const size_t skipped = unicode_offset(text, (size_t)w.start - 1);
  size_t at;
  if (skipped == text.size) {
    return GLV_OK;
  }
  TRY(locate(c, r, str_slice(text.data + skipped, text.size - skipped), &w, &at, err));
  if (at != SIZE_MAX) {
    *ret = (int64_t)unicode_count(str_slice(text.data, skipped + at)) + 1;
  }
  return GLV_OK;
}

/* An empty pattern is nowhere, even in null. */
static glv_status regexp_instr(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(pattern_dispose) pattern c;
  void *values;
  TRY(pattern_begin(&c, f, arguments, INSTR_PLACES, err));
  TRY(kernel_begin(f->env, f->binding->result, &arguments[1], 1, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    ((int64_t *)values)[i] = 0;
    if (!operand_is_valid(&arguments[1], i) || operand_str(&arguments[1], i).size == 0) {
      continue;
    }
    if (!operand_is_valid(&arguments[0], i)) {
      TRY(kernel_set_null(f->env, &a, i, err));
    } else {
      TRY(instr_row(&c, i, &((int64_t *)values)[i], err));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_instr(function_binding *b, glv_error *err) {
  static const signature SHAPE = {
      {TYPE_UTF8, TYPE_UTF8, TYPE_INT64, TYPE_INT64, TYPE_UTF8, TYPE_INT64}};
  TRY(bind_count(b, 2, 6, err));
  TRY(bind_located(b, &SHAPE, err));
  b->result = type_simple(TYPE_INT64);
  glv_error why = {0};
  return pattern_keep_constant(b, INSTR_PLACES, &why) == GLV_E_NOMEM ? error_nomem(err, 0) : GLV_OK;
}

/* ---- regexp_match ---- */

static const pattern_places MATCH_PLACES = {1, 2};

/* The groups of the match that took part, or all of it when the expression has none. */
static glv_status append_groups(const pattern *c, str text, builder *texts, glv_error *err) {
  const uint32_t count = regexp_group_count(c->match);
  for (uint32_t g = count > 1 ? 1 : 0; g < count; g++) {
    size_t begin;
    size_t end;
    if (regexp_group(c->match, g, &begin, &end)) {
      TRY(builder_append_str(texts, str_slice(text.data + begin, end - begin), err));
    }
  }
  return GLV_OK;
}

/* The list of row i, whose pattern is valid; its texts go behind those of the rows before it. */
static glv_status match_row(pattern *c, size_t i, list_builder *groups, builder *texts,
                            glv_error *err) {
  const str text = operand_str(&c->arguments[0], i);
  const regexp *r = NULL;
  bool found;
  TRY(pattern_check_flags(c, i, err));
  TRY(pattern_row(c, i, false, &r, err));
  TRY(regexp_find(r, c->match, text, 0, &found, err));
  if (!found) {
    return list_builder_end_null(groups, err);
  }
  TRY(append_groups(c, text, texts, err));
  groups->pick_count = texts->length;
  return list_builder_end(groups, err);
}

static glv_status match(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err) {
  CLEANUP(list_builder_dispose) list_builder groups = {0};
  CLEANUP(array_unref) array items = {0};
  CLEANUP(builder_dispose) builder texts;
  CLEANUP(pattern_dispose) pattern c;
  builder_init(&texts, f->env, list_item(f->binding->result));
  TRY(pattern_begin(&c, f, arguments, MATCH_PLACES, err));
  TRY(list_builder_init(&groups, f->env, f->binding->result, rows, err));
  for (size_t i = 0; i < rows; i++) {
    if (kernel_row_is_valid(arguments, 2, i)) {
      TRY(match_row(&c, i, &groups, &texts, err));
    } else {
      TRY(list_builder_end_null(&groups, err));
    }
  }
  TRY(builder_finish(&texts, &items, err));
  return list_builder_finish_items(&groups, &items, ret, err);
}

static glv_status bind_match(function_binding *b, glv_error *err) {
  static const type_kind KINDS[] = {TYPE_UTF8_VIEW, TYPE_UTF8, TYPE_LARGE_UTF8};
  TRY(bind_count(b, 2, 3, err));
  TRY(bind_variadic(b, KINDS, 3, err));
  TRY(list_type_new(b->arena, TYPE_LIST, b->targets[0], true, &b->result, err));
  glv_error why = {0};
  return pattern_keep_constant(b, MATCH_PLACES, &why) == GLV_E_NOMEM ? error_nomem(err, 0) : GLV_OK;
}

const function functions_regexp_find[] = {
    {.name = "regexp_count", .bind = bind_count_matches, .kernel = regexp_count},
    {.name = "regexp_instr", .bind = bind_instr, .kernel = regexp_instr},
    {.name = "regexp_match", .bind = bind_match, .kernel = match},
    {0},
};
