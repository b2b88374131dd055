/*
 * The stored definition of a view: materialized-views sections 2.1 to 2.5.
 *
 * Reading decides in this order: not JSON; `format` (the query form, or Newer); no `kind`; an
 * unknown `kind` (Newer); the fields of the select forms; kind against namespace. Unknown keys are
 * ignored, the last of equal keys wins, `inputs` is kept but nobody trusts it. The texts are those
 * that LanceDB's readers give, because people and tests compare them.
 *
 * Writing emits the keys in ascending byte order without white space; see json_canonical.h for
 * strings. A select definition in the root namespace has no `source_namespace` key and kind
 * `select`; with a namespace it is `namespaced_select`, so that readers that know nothing of
 * namespaces refuse it instead of taking a table of that name at the root.
 */
#include "view/definition.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/json.h"
#include "base/json_canonical.h"
#include "base/limits.h"
#include "base/number.h"
#include "expr/expr.h"
#include "expr/select.h"

enum { NEWEST_FORMAT = 2 };

static const char KIND_SELECT[] = "select";
static const char KIND_NAMESPACED[] = "namespaced_select";
static const char KIND_QUERY[] = "query";

const char *definition_form_name(definition_form form) {
  switch (form) {
  case DEFINITION_ANY:
  case DEFINITION_SELECT:
    return KIND_SELECT;
  case DEFINITION_NAMESPACED_SELECT:
    return KIND_NAMESPACED;
  case DEFINITION_QUERY:
    break;
  }
  return KIND_QUERY;
}

/* ---- reading ---- */

struct reader {
  arena *a;
  definition_read *ret;
  glv_error *err;
};

/* Formatted text in the arena, at most as long as an error message. */
static const char *__attribute__((format(printf, 2, 0)))
format_text(arena *a, const char *format, va_list arguments) {
  glv_error message = {0};
  error_set_va(&message, GLV_E_CORRUPT, format, arguments);
  return arena_strdup(a, str_of(message.message));
}

/* The outcome "unreadable"; only lack of memory is an error. */
static glv_status __attribute__((format(printf, 2, 3)))
unreadable(struct reader *r, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  r->ret->state = DEFINITION_UNREADABLE;
  r->ret->text = format_text(r->a, format, arguments);
  va_end(arguments);
  return r->ret->text != NULL ? GLV_OK : error_nomem(r->err, 0);
}

static glv_status __attribute__((format(printf, 2, 3)))
newer(struct reader *r, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  r->ret->state = DEFINITION_NEWER;
  r->ret->tag = format_text(r->a, format, arguments);
  va_end(arguments);
  return r->ret->tag != NULL ? GLV_OK : error_nomem(r->err, 0);
}

static bool failed(const struct reader *r) { return r->ret->state != DEFINITION_OK; }

/* A value as JSON text, for messages. */
static glv_status value_text(struct reader *r, const json *value, const char **ret) {
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, r->a->env, LIMIT_JSON_BYTES);
  TRY(js_print(value, 0, 0, &out, r->err));
  *ret = arena_strdup(r->a, buf_str(&out));
  return *ret != NULL ? GLV_OK : error_nomem(r->err, out.size);
}

/* invalid type: integer `5`, expected <what>: in the words of LanceDB's reader */
static glv_status wrong_type(struct reader *r, const json *value, const char *what) {
  const char *text = "";
  switch (js_kind_of(value)) {
  case JS_NULL:
    return unreadable(r, "invalid type: null, expected %s", what);
  case JS_ARRAY:
    return unreadable(r, "invalid type: sequence, expected %s", what);
  case JS_OBJECT:
    return unreadable(r, "invalid type: map, expected %s", what);
  case JS_BOOL:
    return unreadable(r, "invalid type: boolean `%s`, expected %s",
                      js_bool(value) ? "true" : "false", what);
  case JS_STRING:
    TRY(value_text(r, value, &text));
    return unreadable(r, "invalid type: string %s, expected %s", text, what);
  case JS_INT:
    return unreadable(r, "invalid type: integer `%" PRId64 "`, expected %s", js_int(value), what);
  case JS_REAL:
    break;
  }
  char digits[NUMBER_TEXT_SIZE];
  const size_t size = number_print64(js_real(value), digits);
  return unreadable(r, "invalid type: floating point `%.*s`, expected %s", (int)size, digits, what);
}

static glv_status read_string(struct reader *r, const json *value, const char **ret) {
  if (js_kind_of(value) != JS_STRING) {
    return wrong_type(r, value, "a string");
  }
  const str text = js_string(value);
  if (memchr(text.data, '\0', text.size) != NULL) {
    return unreadable(r, "invalid value: a string with a NUL character");
  }
  *ret = arena_strdup(r->a, text);
  return *ret != NULL ? GLV_OK : error_nomem(r->err, text.size);
}

/* A list of strings; an absent one is empty. */
static glv_status read_strings(struct reader *r, const json *object, const char *key,
                               const char *const **ret, size_t *ret_count) {
  const json *list = js_member(object, key);
  *ret = NULL;
  *ret_count = 0;
  if (list == NULL) {
    return GLV_OK;
  }
  if (js_kind_of(list) != JS_ARRAY) {
    return wrong_type(r, list, "a sequence");
  }
  const size_t count = js_count(list);
  const char **items = ARENA_ARRAY(r->a, const char *, count);
  if (items == NULL) {
    return error_nomem(r->err, count * sizeof *items);
  }
  for (size_t i = 0; i < count && !failed(r); i++) {
    TRY(read_string(r, js_item(list, i), &items[i]));
  }
  *ret = items;
  *ret_count = count;
  return GLV_OK;
}

/* A string member that may be absent or null. */
static glv_status read_optional(struct reader *r, const json *object, const char *key,
                                const char **ret) {
  const json *value = js_member(object, key);
  *ret = NULL;
  return value == NULL || js_kind_of(value) == JS_NULL ? GLV_OK : read_string(r, value, ret);
}

static glv_status read_required(struct reader *r, const json *object, const char *key,
                                const char **ret) {
  const json *value = js_member(object, key);
  return value == NULL ? unreadable(r, "missing field `%s`", key) : read_string(r, value, ret);
}

static glv_status read_limit(struct reader *r, const json *object, view_definition *d) {
  const json *value = js_member(object, "limit");
  if (value == NULL || js_kind_of(value) == JS_NULL) {
    return GLV_OK;
  }
  if (js_kind_of(value) != JS_INT) {
    return wrong_type(r, value, "u64");
  }
  if (js_int(value) < 0) {
    return unreadable(r, "invalid value: integer `%" PRId64 "`, expected u64", js_int(value));
  }
  d->has_limit = true;
  d->limit = (uint64_t)js_int(value);
  return GLV_OK;
}

static glv_status read_projection(struct reader *r, const json *value, view_projection *ret) {
  if (js_kind_of(value) != JS_OBJECT) {
    return wrong_type(r, value, "struct ViewProjection");
  }
  TRY(read_required(r, value, "output", &ret->output));
  return failed(r) ? GLV_OK : read_required(r, value, "expression", &ret->expression);
}

static glv_status read_projections(struct reader *r, const json *object, bool parse_only,
                                   view_definition *d) {
  const json *list = js_member(object, "projections");
  if (list == NULL) {
    return parse_only ? GLV_OK : unreadable(r, "missing field `projections`");
  }
  if (js_kind_of(list) != JS_ARRAY) {
    return wrong_type(r, list, "a sequence");
  }
  const size_t count = js_count(list);
  view_projection *items = ARENA_ARRAY(r->a, view_projection, count);
  if (items == NULL) {
    return error_nomem(r->err, count * sizeof *items);
  }
  for (size_t i = 0; i < count && !failed(r); i++) {
    TRY(read_projection(r, js_item(list, i), &items[i]));
  }
  d->projections = items;
  d->projection_count = count;
  return GLV_OK;
}

/* ["a","b"] as messages show a namespace: ["a", "b"] */
static glv_status namespace_text(struct reader *r, const view_definition *d, const char **ret) {
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, r->a->env, LIMIT_JSON_BYTES);
  TRY(buf_append_char(&out, '[', r->err));
  for (size_t i = 0; i < d->namespace_count; i++) {
    TRY(i != 0 ? buf_append_str(&out, STR(", "), r->err) : GLV_OK);
    TRY(json_canonical_string(&out, str_of(d->source_namespace[i]), r->err));
  }
  TRY(buf_append_char(&out, ']', r->err));
  *ret = arena_strdup(r->a, buf_str(&out));
  return *ret != NULL ? GLV_OK : error_nomem(r->err, out.size);
}

/* `inputs` is derived, so anything but a list of texts counts as absent. */
static bool has_inputs(const json *object) {
  const json *list = js_member(object, "inputs");
  if (list == NULL || js_kind_of(list) != JS_ARRAY) {
    return false;
  }
  for (size_t i = 0; i < js_count(list); i++) {
    if (js_kind_of(js_item(list, i)) != JS_STRING) {
      return false;
    }
  }
  return true;
}

/* Steps 8 to 10: the select forms. */
static glv_status read_select(struct reader *r, const json *object, bool is_namespaced,
                              bool parse_only) {
  view_definition *d = &r->ret->definition;
  *d = (view_definition){.form = is_namespaced ? DEFINITION_NAMESPACED_SELECT : DEFINITION_SELECT};
  TRY(read_required(r, object, "source_table", &d->source_table));
  if (!failed(r)) {
    TRY(read_strings(r, object, "source_namespace", &d->source_namespace, &d->namespace_count));
  }
  if (!failed(r)) {
    TRY(read_projections(r, object, parse_only, d));
  }
  if (!failed(r)) {
    TRY(read_optional(r, object, "filter", &d->filter));
  }
  if (!failed(r)) {
    TRY(read_limit(r, object, d));
  }
  if (!failed(r) && has_inputs(object)) {
    TRY(read_strings(r, object, "inputs", &d->inputs, &d->input_count));
  }
  if (failed(r) || is_namespaced == (d->namespace_count != 0)) {
    return GLV_OK;
  }
  const char *text;
  TRY(namespace_text(r, d, &text));
  return unreadable(r, "kind '%s' does not match its source namespace %s",
                    definition_form_name(d->form), text);
}

/* ---- query text into fields ---- */

static glv_status copy_text(arena *a, str text, const char **ret, glv_error *err) {
  if (memchr(text.data, '\0', text.size) != NULL) {
    return FAIL(err, GLV_E_SQL_PARSE, "a name or text of the query holds a NUL character");
  }
  *ret = arena_strdup(a, text);
  return *ret != NULL ? GLV_OK : error_nomem(err, text.size);
}

static glv_status set_source(arena *a, const select_statement *s, view_definition *d,
                             glv_error *err) {
  const size_t count = s->table_parts - 1;
  const char **path = ARENA_ARRAY(a, const char *, count);
  if (path == NULL) {
    return error_nomem(err, count * sizeof *path);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(copy_text(a, s->table[i], &path[i], err));
  }
  d->source_namespace = path;
  d->namespace_count = count;
  return copy_text(a, s->table[count], &d->source_table, err);
}

bool definition_is_select(const view_definition *d) {
  return d->unnest_column == NULL && d->group_count == 0 && d->function == NULL;
}

/* One part of a query as canonical expression. */
static glv_status canonical_part(arena *a, str text, const char **ret, glv_error *err) {
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, a->env, LIMIT_SQL_BYTES);
  TRY(expr_print_canonical(a->env, text, EXPR_DQUOTE_IDENTIFIER, &out, err));
  return copy_text(a, buf_str(&out), ret, err);
}

const char *definition_quote_column(arena *a, str name) {
  char *text = arena_alloc(a, 2 * name.size + 3);
  if (text == NULL) {
    return NULL;
  }
  size_t size = 0;
  text[size++] = '`';
  for (size_t i = 0; i < name.size; i++) {
    if (name.data[i] == '`') {
      text[size++] = '`';
    }
    text[size++] = name.data[i];
  }
  text[size] = '`';
  return text;
}

/* coalesce(text, NULL); a line comment at the end of text must not swallow the rest */
static glv_status wrap(arena *a, str text, bool on_new_line, buf *out, glv_error *err) {
  bool ignored;
  buf_clear(out);
  TRY(buf_append_str(out, STR("coalesce("), err));
  TRY(expr_requote(text, out, err));
  TRY(buf_append_str(out, on_new_line ? STR("\n, NULL)") : STR(", NULL)"), err));
  return expr_needs_wrap(a->env, buf_str(out), EXPR_DQUOTE_IDENTIFIER | EXPR_VIEW, &ignored, err);
}

glv_status definition_store_expression(arena *a, str text, const char **ret, glv_error *err) {
  bool is_wide;
  TRY(expr_needs_wrap(a->env, text, EXPR_DQUOTE_IDENTIFIER | EXPR_VIEW, &is_wide, err));
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, a->env, (size_t)2 * LIMIT_SQL_BYTES);
  if (!is_wide) {
    TRY(expr_requote(text, &out, err));
  } else if (wrap(a, text, false, &out, NULL) != GLV_OK) {
    TRY(wrap(a, text, true, &out, err));
  }
  return copy_text(a, buf_str(&out), ret, err);
}

/* What only the query form has. */
static glv_status set_shape(arena *a, const select_statement *s, view_definition *d,
                            glv_error *err) {
  if (s->has_unnest) {
    TRY(copy_text(a, s->unnest_column, &d->unnest_column, err));
    TRY(copy_text(a, s->unnest_alias, &d->unnest_alias, err));
  }
  if (s->has_function) {
    TRY(copy_text(a, s->function_name, &d->function, err));
  }
  const char **groups = ARENA_ARRAY(a, const char *, s->group_count);
  if (groups == NULL) {
    return error_nomem(err, s->group_count * sizeof *groups);
  }
  for (size_t i = 0; i < s->group_count; i++) {
    TRY(copy_text(a, s->groups[i], &groups[i], err));
  }
  d->groups = groups;
  d->group_count = s->group_count;
  return GLV_OK;
}

/* The structured fields of a statement, with canonical expressions or as the select forms store
 * them. Items of a grouped one stay as written: its planner knows both quotes. */
static glv_status set_fields(arena *a, const select_statement *s, view_definition *d,
                             glv_error *err) {
  const bool is_query = d->form == DEFINITION_QUERY;
  view_projection *items = ARENA_ARRAY(a, view_projection, s->item_count);
  if (items == NULL) {
    return error_nomem(err, s->item_count * sizeof *items);
  }
  for (size_t i = 0; i < s->item_count; i++) {
    const select_item *item = &s->items[i];
    TRY(copy_text(a, item->output, &items[i].output, err));
    if (s->is_grouped) {
      TRY(copy_text(a, item->expression, &items[i].expression, err));
    } else if (is_query) {
      TRY(canonical_part(a, item->expression, &items[i].expression, err));
    } else if (item->is_identifier) {
      items[i].expression = definition_quote_column(a, item->name);
      TRY(items[i].expression != NULL ? GLV_OK : error_nomem(err, item->name.size));
    } else {
      TRY(definition_store_expression(a, item->expression, &items[i].expression, err));
    }
  }
  d->projections = items;
  d->projection_count = s->item_count;
  d->star = s->star;
  d->has_limit = s->has_limit;
  d->limit = s->limit;
  if (s->filter.size == 0) {
    return GLV_OK;
  }
  return is_query ? canonical_part(a, s->filter, &d->filter, err)
                  : definition_store_expression(a, s->filter, &d->filter, err);
}

/* A query-form definition from a statement; `query` is its text. */
static glv_status set_query(arena *a, const select_statement *s, const char *query,
                            view_definition *d, glv_error *err) {
  *d = (view_definition){.form = DEFINITION_QUERY, .format = s->is_grouped ? 2 : 1, .query = query};
  TRY(set_source(a, s, d, err));
  TRY(set_shape(a, s, d, err));
  return s->has_function ? GLV_OK : set_fields(a, s, d, err);
}

/* Steps 3 to 5: the query form. */
static glv_status read_query(struct reader *r, const json *object, const json *format) {
  if (js_kind_of(format) != JS_INT || js_int(format) < 0) {
    const char *text;
    TRY(value_text(r, format, &text));
    return unreadable(r, "format tag %s is not a number", text);
  }
  if (js_int(format) > NEWEST_FORMAT) {
    return newer(r, "%" PRId64, js_int(format));
  }
  const json *query = js_member(object, "query");
  if (query == NULL || js_kind_of(query) != JS_STRING) {
    return unreadable(r, "missing query");
  }
  const char *text = arena_strdup(r->a, js_string(query));
  if (text == NULL) {
    return error_nomem(r->err, 0);
  }
  select_statement s;
  glv_error why = {0};
  glv_status status = select_parse_view(r->a, js_string(query), &s, &why);
  view_definition *d = &r->ret->definition;
  if (status == GLV_OK) {
    status = set_query(r->a, &s, text, d, &why);
  }
  if (status == GLV_E_NOMEM) {
    return error_nomem(r->err, 0);
  }
  if (status != GLV_OK) {
    return unreadable(r, "%s", why.message);
  }
  const uint64_t stored = (uint64_t)js_int(format);
  if (stored < d->format) {
    return unreadable(r, "format %" PRIu64 " cannot carry this query; it needs %" PRIu64, stored,
                      d->format);
  }
  d->format = stored;
  return GLV_OK;
}

static glv_status read_object(struct reader *r, const json *root, bool parse_only) {
  const bool is_object = js_kind_of(root) == JS_OBJECT;
  const json *format = is_object ? js_member(root, "format") : NULL;
  if (format != NULL) {
    return read_query(r, root, format);
  }
  const json *kind = is_object ? js_member(root, "kind") : NULL;
  if (kind == NULL || js_kind_of(kind) != JS_STRING) {
    return unreadable(r, "missing kind tag and format tag");
  }
  const str name = js_string(kind);
  if (str_is(name, KIND_SELECT) || str_is(name, KIND_NAMESPACED)) {
    return read_select(r, root, str_is(name, KIND_NAMESPACED), parse_only);
  }
  return newer(r, "kind '%.*s'", STR_ARG(name));
}

glv_status definition_examine(arena *a, str text, bool parse_only, definition_read *ret,
                              glv_error *err) {
  *ret = (definition_read){.state = DEFINITION_OK};
  struct reader r = {a, ret, err};
  CLEANUP(js_cleanup) json *root = NULL;
  glv_error why = {0};
  const glv_status status = js_parse(text, &root, &why);
  if (status == GLV_E_NOMEM) {
    return error_nomem(err, text.size);
  }
  return status != GLV_OK ? unreadable(&r, "%s", why.message) : read_object(&r, root, parse_only);
}

glv_status definition_parse(arena *a, str text, const char *view_name, bool parse_only,
                            view_definition *ret, glv_error *err) {
  definition_read read;
  TRY(definition_examine(a, text, parse_only, &read, err));
  switch (read.state) {
  case DEFINITION_OK:
    *ret = read.definition;
    return GLV_OK;
  case DEFINITION_NEWER:
    return FAIL(err, GLV_E_UNSUPPORTED,
                "materialized view '%s' is stored in format %s, which this version of glaive "
                "cannot refresh",
                view_name, read.tag);
  case DEFINITION_UNREADABLE:
    break;
  }
  return FAIL(err, GLV_E_CORRUPT, "unreadable materialized view definition: %s", read.text);
}

/* ---- writing ---- */

/* "key":"text" behind what is there */
static glv_status put_member(buf *out, const char *before, const char *text, glv_error *err) {
  TRY(buf_append_str(out, str_of(before), err));
  return json_canonical_string(out, str_of(text), err);
}

static glv_status put_strings(buf *out, const char *before, const char *const *items, size_t count,
                              glv_error *err) {
  TRY(buf_append_str(out, str_of(before), err));
  for (size_t i = 0; i < count; i++) {
    TRY(put_member(out, i == 0 ? "" : ",", items[i], err));
  }
  return buf_append_char(out, ']', err);
}

static glv_status put_projections(const view_definition *d, buf *out, glv_error *err) {
  TRY(buf_append_str(out, STR(",\"projections\":["), err));
  for (size_t i = 0; i < d->projection_count; i++) {
    TRY(put_member(
        out, i == 0 ? "{\"expression\":" : ",{\"expression\":", d->projections[i].expression, err));
    TRY(put_member(out, ",\"output\":", d->projections[i].output, err));
    TRY(buf_append_char(out, '}', err));
  }
  return buf_append_char(out, ']', err);
}

static glv_status write_select(const view_definition *d, buf *out, glv_error *err) {
  const bool is_namespaced = d->namespace_count != 0;
  TRY(buf_append_char(out, '{', err));
  if (d->filter != NULL) {
    TRY(put_member(out, "\"filter\":", d->filter, err));
    TRY(buf_append_char(out, ',', err));
  }
  TRY(put_strings(out, "\"inputs\":[", d->inputs, d->input_count, err));
  TRY(put_member(out, ",\"kind\":", is_namespaced ? KIND_NAMESPACED : KIND_SELECT, err));
  TRY(d->has_limit ? buf_printf(out, err, ",\"limit\":%" PRIu64, d->limit) : GLV_OK);
  TRY(put_projections(d, out, err));
  if (is_namespaced) {
    TRY(put_strings(out, ",\"source_namespace\":[", d->source_namespace, d->namespace_count, err));
  }
  TRY(put_member(out, ",\"source_table\":", d->source_table, err));
  return buf_append_char(out, '}', err);
}

glv_status definition_write(const view_definition *d, buf *out, glv_error *err) {
  if (d->form != DEFINITION_QUERY) {
    return write_select(d, out, err);
  }
  TRY(buf_printf(out, err, "{\"format\":%" PRIu64, d->format));
  TRY(put_member(out, ",\"kind\":", KIND_QUERY, err));
  TRY(put_member(out, ",\"query\":", d->query, err));
  return buf_append_char(out, '}', err);
}

/* ---- between SQL text and fields ---- */

/* A canonical text must read back as itself before anybody stores it. */
static glv_status check_round_trip(arena *a, const char *canonical, glv_error *err) {
  select_statement again;
  const glv_status status = select_parse_view(a, str_of(canonical), &again, err);
  if (status != GLV_OK || strcmp(canonical, again.canonical) == 0) {
    return status;
  }
  return FAIL(err, GLV_E_SQL_PARSE, "the query reads back differently from its canonical form");
}

glv_status definition_from_sql(arena *a, str text, definition_form form, view_definition *ret,
                               glv_error *err) {
  select_statement s;
  TRY(select_parse_view(a, text, &s, err));
  const bool is_select = !s.has_unnest && !s.has_function && !s.is_grouped;
  if (form == DEFINITION_QUERY || (form == DEFINITION_ANY && !is_select)) {
    TRY(check_round_trip(a, s.canonical, err));
    return set_query(a, &s, s.canonical, ret, err);
  }
  if (!is_select) {
    return FAIL(err, GLV_E_UNSUPPORTED, "a view with %s cannot be stored in the select form",
                s.is_grouped   ? "GROUP BY"
                : s.has_unnest ? "UNNEST"
                               : "a function in FROM position");
  }
  *ret = (view_definition){.form = s.table_parts > 1 ? DEFINITION_NAMESPACED_SELECT
                                                     : DEFINITION_SELECT};
  TRY(set_source(a, &s, ret, err));
  return set_fields(a, &s, ret, err);
}

glv_status definition_make_query(arena *a, view_definition *d, glv_error *err) {
  select_item *items = ARENA_ARRAY(a, select_item, d->projection_count);
  str *table = ARENA_ARRAY(a, str, d->namespace_count + 1);
  if (items == NULL || table == NULL) {
    return error_nomem(err, d->projection_count * sizeof *items);
  }
  for (size_t i = 0; i < d->projection_count; i++) {
    items[i] = (select_item){.output = str_of(d->projections[i].output),
                             .expression = str_of(d->projections[i].expression)};
  }
  for (size_t i = 0; i < d->namespace_count; i++) {
    table[i] = str_of(d->source_namespace[i]);
  }
  table[d->namespace_count] = str_of(d->source_table);
  const select_statement s = {.star = d->star && d->projection_count == 0,
                              .items = items,
                              .item_count = d->projection_count,
                              .table = table,
                              .table_parts = d->namespace_count + 1,
                              .filter = str_of(d->filter),
                              .has_unnest = d->unnest_column != NULL,
                              .unnest_column = str_of(d->unnest_column),
                              .unnest_alias = str_of(d->unnest_alias),
                              .has_limit = d->has_limit,
                              .limit = d->limit};
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, a->env, (size_t)2 * LIMIT_SQL_BYTES);
  TRY(select_print_view(a, &s, &out, err));
  return copy_text(a, buf_str(&out), &d->query, err);
}
