/* Functions of JSON in Lance's binary form: paths into it, members of it, and its conversion
 * (sql-expressions 13.1). */
#include <math.h>

#include "base/number.h"
#include "expr/function_private.h"
#include "expr/json_path.h"

/* ---- paths ---- */

/* The path in use by one call of a kernel, and what it found last. */
typedef struct path_use {
  const function_frame *f;
  const operand *arguments;
  json_path *own; /* of the text below */
  str text;
  json_matches found;
} path_use;

static void path_use_dispose(path_use *u) {
  json_path_free(u->own);
  json_matches_dispose(&u->found);
}

static void path_use_begin(path_use *u, const function_frame *f, const operand *arguments) {
  *u = (path_use){.f = f, .arguments = arguments};
  json_matches_init(&u->found, f->env);
}

/* What the path of row i finds in its document, both not null, into u->found. */
static glv_status select_row(path_use *u, size_t i, glv_error *err) {
  const json_path *p = u->f->binding->state;
  if (p == NULL) {
    const str text = operand_str(&u->arguments[1], i);
    if (u->own == NULL || text.data != u->text.data || text.size != u->text.size) {
      json_path_free(u->own);
      u->own = NULL;
      TRY(json_path_new(u->f->env, text, &u->own, err));
      u->text = text;
    }
    p = u->own;
  }
  return json_path_select(p, operand_str(&u->arguments[0], i), &u->found, err);
}

/* One match as it is, several as an array. */
static glv_status print_matches(const json_matches *found, buf *out, glv_error *err) {
  const bool is_array = found->count > 1;
  if (is_array) {
    TRY(buf_append_char(out, '[', err));
  }
  for (size_t i = 0; i < found->count; i++) {
    if (i > 0) {
      TRY(buf_append_char(out, ',', err));
    }
    TRY(jsonb_print(&found->items[i], out, err));
  }
  return is_array ? buf_append_char(out, ']', err) : GLV_OK;
}

static glv_status json_extract(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  CLEANUP(path_use_dispose) path_use u;
  builder_init(&b, f->env, f->binding->result);
  buf_init(&text, f->env, INT32_MAX);
  path_use_begin(&u, f, arguments);
  for (size_t i = 0; i < rows; i++) {
    const bool has_row = kernel_row_is_valid(arguments, 2, i);
    if (has_row) {
      TRY(select_row(&u, i, err));
    }
    if (!has_row || u.found.count == 0) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    buf_clear(&text);
    TRY(print_matches(&u.found, &text, err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

/* Whether row i, whose matches are u->found, is true. */
typedef glv_status (*match_test)(const path_use *u, size_t i, buf *scratch, bool *ret,
                                 glv_error *err);

static glv_status test_matches(const function_frame *f, const operand *arguments, match_test test,
                               size_t rows, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(buf_dispose) buf scratch;
  CLEANUP(path_use_dispose) path_use u;
  void *values;
  const size_t count = f->binding->count;
  buf_init(&scratch, f->env, INT32_MAX);
  path_use_begin(&u, f, arguments);
  TRY(kernel_begin(f->env, f->binding->result, arguments, count, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    bool value;
    if (!kernel_row_is_valid(arguments, count, i)) {
      continue;
    }
    TRY(select_row(&u, i, err));
    TRY(test(&u, i, &scratch, &value, err));
    bit_put(values, i, value);
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status has_match(const path_use *u, size_t i, buf *scratch, bool *ret, glv_error *err) {
  (void)i;
  (void)scratch;
  (void)err;
  *ret = u->found.count > 0;
  return GLV_OK;
}

static glv_status json_exists(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  return test_matches(f, arguments, has_match, rows, ret, err);
}

/* Whether the JSON text of an item is the wanted text, or that in quotes. */
static bool is_wanted(str item, str wanted) {
  const bool is_quoted = item.size >= 2 && item.data[0] == '"';
  return str_equal(item, wanted) ||
         (is_quoted && str_equal(str_slice(item.data + 1, item.size - 2), wanted));
}

static glv_status array_holds(const jsonb *v, str wanted, buf *scratch, bool *ret, glv_error *err) {
  jsonb_walk w;
  bool is_good = jsonb_walk_begin(v, &w);
  *ret = false;
  while (is_good && !*ret) {
    str key;
    jsonb item;
    bool end;
    is_good = jsonb_walk_next(&w, &key, &item, &end);
    if (!is_good || end) {
      break;
    }
    buf_clear(scratch);
    TRY(jsonb_print(&item, scratch, err));
    *ret = is_wanted(buf_str(scratch), wanted);
  }
  return is_good ? GLV_OK
                 : FAIL(err, GLV_E_SQL_EXEC, "a JSON array is not well-formed in its binary form");
}

static glv_status any_array_holds(const path_use *u, size_t i, buf *scratch, bool *ret,
                                  glv_error *err) {
  *ret = false;
  for (size_t k = 0; k < u->found.count && !*ret; k++) {
    if (u->found.items[k].kind == JSONB_ARRAY) {
      TRY(array_holds(&u->found.items[k], operand_str(&u->arguments[2], i), scratch, ret, err));
    }
  }
  return GLV_OK;
}

static glv_status json_array_contains(const function_frame *f, const operand *arguments,
                                      size_t rows, array *ret, glv_error *err) {
  return test_matches(f, arguments, any_array_holds, rows, ret, err);
}

/* Of the first match; what is no array has none. */
static glv_status json_array_length(const function_frame *f, const operand *arguments, size_t rows,
                                    array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(path_use_dispose) path_use u;
  void *values;
  path_use_begin(&u, f, arguments);
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    int64_t *value = &((int64_t *)values)[i];
    *value = 0;
    if (!kernel_row_is_valid(arguments, 2, i)) {
      continue;
    }
    TRY(select_row(&u, i, err));
    if (u.found.count == 0) {
      TRY(kernel_set_null(f->env, &a, i, err));
    } else if (u.found.items[0].kind == JSONB_ARRAY) {
      *value = u.found.items[0].count;
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* ---- members ---- */

/* An index in digits, perhaps behind a plus. */
static bool index_of(str key, uint64_t *ret) {
  const size_t sign = key.size > 0 && key.data[0] == '+' ? 1 : 0;
  return str_to_u64(str_slice(key.data + sign, key.size - sign), ret);
}

/* The member of an object by its key, or the item of an array by its index, of row i. What is no
 * document has none. */
static glv_status find_member(const operand *arguments, size_t i, jsonb *ret, bool *ret_found,
                              glv_error *err) {
  const str key = operand_str(&arguments[1], i);
  jsonb document;
  uint64_t index;
  bool is_good = true;
  *ret_found = false;
  if (!jsonb_open(operand_str(&arguments[0], i), &document)) {
    return GLV_OK;
  }
  if (document.kind == JSONB_OBJECT) {
    is_good = jsonb_member(&document, key, ret, ret_found);
  } else if (document.kind == JSONB_ARRAY && index_of(key, &index)) {
    is_good = jsonb_item(&document, index, ret, ret_found);
  }
  return is_good ? GLV_OK
                 : FAIL(err, GLV_E_SQL_EXEC, "a JSON value is not well-formed in its binary form");
}

/* Append the value of a member, which is not null unless the function is json_get. */
typedef glv_status (*member_append)(const function_frame *f, const jsonb *v, buf *scratch,
                                    builder *b, glv_error *err);

static glv_status get_members(const function_frame *f, const operand *arguments,
                              member_append append, bool keeps_null, size_t rows, array *ret,
                              glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf scratch;
  builder_init(&b, f->env, f->binding->result);
  buf_init(&scratch, f->env, INT32_MAX);
  for (size_t i = 0; i < rows; i++) {
    jsonb v = {0};
    bool found = false;
    if (kernel_row_is_valid(arguments, 2, i)) {
      TRY(find_member(arguments, i, &v, &found, err));
    }
    if (!found || (v.kind == JSONB_NULL && !keeps_null)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    buf_clear(&scratch);
    TRY(append(f, &v, &scratch, &b, err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status append_document(const function_frame *f, const jsonb *v, buf *scratch, builder *b,
                                  glv_error *err) {
  (void)f;
  TRY(jsonb_write(v, scratch, err));
  return builder_append_str(b, buf_str(scratch), err);
}

static glv_status cannot_convert(const function_frame *f, glv_error *err) {
  return FAIL(err, GLV_E_SQL_EXEC, "%s: the JSON value cannot be converted to %s",
              f->binding->function->name, TYPE_TEXT(f->binding->result));
}

static glv_status append_text(const function_frame *f, const jsonb *v, buf *scratch, builder *b,
                              glv_error *err) {
  jsonb_number n;
  switch (v->kind) {
  case JSONB_STRING:
    return builder_append_str(b, v->data, err);
  case JSONB_TRUE:
  case JSONB_FALSE:
    return builder_append_str(b, v->kind == JSONB_TRUE ? STR("true") : STR("false"), err);
  case JSONB_NUMBER:
    if (jsonb_number_of(v, &n)) {
      TRY(jsonb_number_print(&n, scratch, err));
      return builder_append_str(b, buf_str(scratch), err);
    }
    break;
  default:
    break;
  }
  return cannot_convert(f, err);
}

/* Rounded half away from zero; false when it does not fit. */
static bool round_double(double value, int64_t *ret) {
  const double rounded = round(value);
  const bool fits = rounded >= -0x1p63 && rounded < 0x1p63;
  *ret = fits ? (int64_t)rounded : 0;
  return fits;
}

static bool integer_of(const jsonb_number *n, int64_t *ret) {
  switch (n->kind) {
  case JSONB_INT64:
    *ret = n->i;
    return true;
  case JSONB_UINT64:
    *ret = (int64_t)n->u;
    return n->u <= INT64_MAX;
  case JSONB_FLOAT64:
    return round_double(n->f, ret);
  case JSONB_DECIMAL:
    break;
  }
  const int256 whole = int256_scale_down(n->decimal, n->scale);
  *ret = (int64_t)whole.low;
  return int256_is_narrow(whole) && (int128)whole.low == *ret;
}

/* Digits behind a sign, perhaps, within int64. */
static bool parse_integer(str text, int64_t *ret) {
  const bool is_negative = text.size > 0 && text.data[0] == '-';
  const size_t sign = is_negative || (text.size > 0 && text.data[0] == '+') ? 1 : 0;
  uint64_t value;
  if (!str_to_u64(str_slice(text.data + sign, text.size - sign), &value) ||
      value > (uint64_t)INT64_MAX + (is_negative ? 1 : 0)) {
    return false;
  }
  *ret = is_negative ? (int64_t)(0 - value) : (int64_t)value;
  return true;
}

static glv_status append_integer(const function_frame *f, const jsonb *v, buf *scratch, builder *b,
                                 glv_error *err) {
  int64_t value = v->kind == JSONB_TRUE;
  bool is_good = v->kind == JSONB_TRUE || v->kind == JSONB_FALSE;
  jsonb_number n;
  double number;
  (void)scratch;
  if (v->kind == JSONB_NUMBER) {
    is_good = jsonb_number_of(v, &n) && integer_of(&n, &value);
  } else if (v->kind == JSONB_STRING) {
    is_good = parse_integer(v->data, &value) ||
              (number_parse64(v->data, &number) && round_double(number, &value));
  }
  return is_good ? builder_append_fixed(b, &value, err) : cannot_convert(f, err);
}

static glv_status append_double(const function_frame *f, const jsonb *v, buf *scratch, builder *b,
                                glv_error *err) {
  double value = v->kind == JSONB_TRUE;
  bool is_good = v->kind == JSONB_TRUE || v->kind == JSONB_FALSE;
  jsonb_number n;
  (void)scratch;
  if (v->kind == JSONB_NUMBER) {
    is_good = jsonb_number_of(v, &n);
    value = is_good ? jsonb_number_double(&n) : 0;
  } else if (v->kind == JSONB_STRING) {
    is_good = number_parse64(v->data, &value);
  }
  return is_good ? builder_append_fixed(b, &value, err) : cannot_convert(f, err);
}

static glv_status append_bool(const function_frame *f, const jsonb *v, buf *scratch, builder *b,
                              glv_error *err) {
  (void)scratch;
  const bool is_text = v->kind == JSONB_STRING;
  const bool is_yes = is_text && (str_equal_ascii_case(v->data, STR("true")) ||
                                  str_equal_ascii_case(v->data, STR("yes")));
  const bool is_no = is_text && (str_equal_ascii_case(v->data, STR("false")) ||
                                 str_equal_ascii_case(v->data, STR("no")));
  if (v->kind == JSONB_TRUE || v->kind == JSONB_FALSE || is_yes || is_no) {
    return builder_append_bool(b, v->kind == JSONB_TRUE || is_yes, err);
  }
  return cannot_convert(f, err);
}

#define MEMBER_KERNEL(name, append, keeps_null)                                                    \
  static glv_status name(const function_frame *f, const operand *arguments, size_t rows,           \
                         array *ret, glv_error *err) {                                             \
    return get_members(f, arguments, append, keeps_null, rows, ret, err);                          \
  }

MEMBER_KERNEL(json_get, append_document, true)
MEMBER_KERNEL(json_get_string, append_text, false)
MEMBER_KERNEL(json_get_int, append_integer, false)
MEMBER_KERNEL(json_get_float, append_double, false)
MEMBER_KERNEL(json_get_bool, append_bool, false)

/* ---- binding ---- */

static void dispose_path(void *state) { json_path_free(state); }

/* Parse a path that is constant; a bad one is left for the rows, which then fail. */
static glv_status keep_path(function_binding *b, glv_error *err) {
  const array *constant = b->arguments[1].constant;
  if (constant == NULL || !type_is_string(constant->type->kind) || !array_is_valid(constant, 0)) {
    return GLV_OK;
  }
  json_path *p = NULL;
  glv_error why = {0};
  const glv_status status = json_path_new(b->env, array_str(constant, 0), &p, &why);
  if (status == GLV_OK) {
    b->state = p;
    b->dispose = dispose_path;
  }
  return status == GLV_E_NOMEM ? error_nomem(err, 0) : GLV_OK;
}

static glv_status bind_json(function_binding *b, size_t count, type_kind result, glv_error *err) {
  static const signature SIGNATURES[] = {{{TYPE_LARGE_BINARY, TYPE_UTF8}},
                                         {{TYPE_LARGE_BINARY, TYPE_UTF8, TYPE_UTF8}}};
  TRY(bind_count(b, count, count, err));
  TRY(bind_signature(b, SIGNATURES, 2, err));
  b->result = type_simple(result);
  return GLV_OK;
}

#define MEMBER_BIND(name, result)                                                                  \
  static glv_status name(function_binding *b, glv_error *err) {                                    \
    return bind_json(b, 2, result, err);                                                           \
  }
#define PATH_BIND(name, count, result)                                                             \
  static glv_status name(function_binding *b, glv_error *err) {                                    \
    TRY(bind_json(b, count, result, err));                                                         \
    return keep_path(b, err);                                                                      \
  }

MEMBER_BIND(bind_get, TYPE_LARGE_BINARY)
MEMBER_BIND(bind_get_string, TYPE_UTF8)
MEMBER_BIND(bind_get_int, TYPE_INT64)
MEMBER_BIND(bind_get_float, TYPE_FLOAT64)
MEMBER_BIND(bind_get_bool, TYPE_BOOL)
PATH_BIND(bind_extract, 2, TYPE_UTF8)
PATH_BIND(bind_exists, 2, TYPE_BOOL)
PATH_BIND(bind_contains, 3, TYPE_BOOL)
PATH_BIND(bind_length, 2, TYPE_INT64)

const function functions_json[] = {
    {.name = "json_extract", .bind = bind_extract, .kernel = json_extract},
    {.name = "json_exists", .bind = bind_exists, .kernel = json_exists},
    {.name = "json_array_contains", .bind = bind_contains, .kernel = json_array_contains},
    {.name = "json_array_length", .bind = bind_length, .kernel = json_array_length},
    {.name = "json_get", .bind = bind_get, .kernel = json_get},
    {.name = "json_get_string", .bind = bind_get_string, .kernel = json_get_string},
    {.name = "json_get_int", .bind = bind_get_int, .kernel = json_get_int},
    {.name = "json_get_float", .bind = bind_get_float, .kernel = json_get_float},
    {.name = "json_get_bool", .bind = bind_get_bool, .kernel = json_get_bool},
    {0},
};
