/*
 * Lists as text and text as lists (sql-expressions 13.1): array_to_string, string_to_array.
 *
 * The innermost items of a column become texts once; then each row joins those it reaches. Floats
 * are written without exponent here, unlike everywhere else.
 */
#include "arrow/builder.h"
#include "base/number.h"
#include "expr/cast.h"
#include "expr/find.h"
#include "expr/function_private.h"
#include "expr/lists.h"

/* ---- the texts of items ---- */

/* All digits, and zeros up to the point: 1e21 has 22 digits. */
static glv_status append_digits(const number_digits *d, buf *out, glv_error *err) {
  if (d->negative) {
    TRY(buf_append_char(out, '-', err));
  }
  if (d->exponent <= 0) {
    TRY(buf_append_str(out, STR("0."), err));
  }
  for (int i = d->exponent; i < 0; i++) {
    TRY(buf_append_char(out, '0', err));
  }
  for (int i = 0; i < d->count || i < d->exponent; i++) {
    if (i == d->exponent && i > 0) {
      TRY(buf_append_char(out, '.', err));
    }
    TRY(buf_append_char(out, i < d->count ? d->digits[i] : '0', err));
  }
  return GLV_OK;
}

static glv_status append_float(const array *a, size_t i, buf *out, glv_error *err) {
  const bool is_double = a->type->kind == TYPE_FLOAT64;
  const double value = is_double ? ARRAY_VALUES(a, double)[i] : (double)ARRAY_VALUES(a, float)[i];
  if (value != value) {
    return buf_append_str(out, STR("NaN"), err);
  }
  if (value - value != 0) {
    return buf_append_str(out, value > 0 ? STR("inf") : STR("-inf"), err);
  }
  const number_digits d =
      is_double ? number_shortest64(value) : number_shortest32(ARRAY_VALUES(a, float)[i]);
  return append_digits(&d, out, err);
}

static glv_status print_floats(glv_env *env, const array *a, array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, env, type_simple(TYPE_UTF8));
  buf_init(&text, env, INT32_MAX);
  for (size_t i = 0; i < a->length; i++) {
    if (!array_is_valid(a, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    buf_clear(&text);
    TRY(append_float(a, i, &text, err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

static const array *innermost(const array *items) {
  while (type_is_list(items->type->kind)) {
    items = &items->children[0];
  }
  return items;
}

static glv_status print_items(glv_env *env, const array *leaves, array *ret, glv_error *err) {
  if (leaves->type->kind == TYPE_FLOAT64 || leaves->type->kind == TYPE_FLOAT32) {
    return print_floats(env, leaves, ret, err);
  }
  if (!cast_is_supported(leaves->type, type_simple(TYPE_UTF8))) {
    return FAIL(err, GLV_E_SQL_EXEC, "Unsupported data type in array_to_string: %s",
                TYPE_TEXT(leaves->type));
  }
  return cast_array(env, leaves, type_simple(TYPE_UTF8), false, ret, err);
}

/* ---- array_to_string ---- */

/* Joining the items of one row. */
typedef struct joiner {
  const array *texts; /* of the innermost items */
  str separator;
  str null_text; /* data NULL: nulls are left out */
  bool is_later;
  buf *out;
  glv_error *err;
} joiner;

static glv_status join_text(joiner *j, str text) {
  if (j->is_later) {
    TRY(buf_append_str(j->out, j->separator, j->err));
  }
  j->is_later = true;
  return buf_append_str(j->out, text, j->err);
}

/* Types are nested at most LIMIT_TYPE_DEPTH deep, which bounds the recursion. */
static glv_status join_items(joiner *j, const array *items, span s) {
  const operand o = {.a = *items};
  const bool is_nested = type_is_list(items->type->kind);
  const lists l = is_nested ? lists_of(&o) : (lists){0};
  for (size_t k = s.first; k < s.first + s.count; k++) {
    if (!array_is_valid(items, k)) {
      if (j->null_text.data != NULL && items->type->kind != TYPE_NULL) {
        TRY(join_text(j, j->null_text));
      }
    } else if (is_nested) {
      TRY(join_items(j, l.items, lists_at(&l, k)));
    } else {
      TRY(join_text(j, array_str(j->texts, k)));
    }
  }
  return GLV_OK;
}

static str text_or_none(const operand *o, size_t i) {
  if (!operand_is_valid(o, i)) {
    return (str){0};
  }
  const str s = operand_str(o, i);
  return s.data != NULL ? s : STR("");
}

static glv_status array_to_string(const function_frame *f, const operand *arguments, size_t rows,
                                  array *ret, glv_error *err) {
  CLEANUP(array_unref) array texts = {0};
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, f->env, f->binding->result);
  buf_init(&text, f->env, INT32_MAX);
  TRY(lists_require(f, &arguments[0], err));
  const lists l = lists_of(&arguments[0]);
  TRY(print_items(f->env, innermost(l.items), &texts, err));
  for (size_t i = 0; i < rows; i++) {
    if (!lists_is_valid(&l, i) || !operand_is_valid(&arguments[1], i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    joiner j = {.texts = &texts,
                .separator = operand_str(&arguments[1], i),
                .null_text = f->binding->count == 3 ? text_or_none(&arguments[2], i) : (str){0},
                .out = &text,
                .err = err};
    buf_clear(&text);
    TRY(join_items(&j, l.items, lists_at(&l, i)));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status bind_to_string(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 3, err));
  TRY(bind_lists(b, "ass", false, err));
  b->result = type_simple(TYPE_UTF8);
  return GLV_OK;
}

/* ---- string_to_array ---- */

/* Cutting the text of one row. */
typedef struct cutter {
  builder items;
  needle separator;
  size_t count;  /* items of all rows so far */
  str null_text; /* data NULL: no part is a null */
} cutter;

static void cutter_dispose(cutter *c) {
  builder_dispose(&c->items);
  needle_dispose(&c->separator);
}

static glv_status add_part(cutter *c, str part, glv_error *err) {
  c->count++;
  const bool is_null = c->null_text.data != NULL && str_equal(part, c->null_text);
  return is_null ? builder_append_null(&c->items, err) : builder_append_str(&c->items, part, err);
}

static glv_status cut_code_points(cutter *c, str text, glv_error *err) {
  for (size_t i = 0; i < text.size;) {
    size_t end = i + 1;
    while (end < text.size && ((uint8_t)text.data[end] & 0xC0u) == 0x80u) {
      end++;
    }
    TRY(add_part(c, str_slice(text.data + i, end - i), err));
    i = end;
  }
  return GLV_OK;
}

/* No separator (data NULL): every code point; an empty one: the text as a whole. */
static glv_status cut(cutter *c, str text, str separator, glv_error *err) {
  if (separator.data == NULL) {
    return cut_code_points(c, text, err);
  }
  if (text.size == 0) {
    return GLV_OK;
  }
  size_t from = 0;
  TRY(needle_set(&c->separator, separator, err));
  for (size_t at; separator.size != 0; from = at + separator.size) {
    at = needle_find(&c->separator, text, from);
    if (at == SIZE_MAX) {
      break;
    }
    TRY(add_part(c, str_slice(text.data + from, at - from), err));
  }
  return add_part(c, str_slice(text.data + from, text.size - from), err);
}

static glv_status string_to_array(const function_frame *f, const operand *arguments, size_t rows,
                                  array *ret, glv_error *err) {
  CLEANUP(cutter_dispose) cutter c = {0};
  CLEANUP(list_builder_dispose) list_builder b = {0};
  CLEANUP(array_unref) array parts = {0};
  builder_init(&c.items, f->env, list_item(f->binding->result));
  needle_init(&c.separator, f->env);
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  for (size_t i = 0; i < rows; i++) {
    if (!operand_is_valid(&arguments[0], i)) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    c.null_text = f->binding->count == 3 ? text_or_none(&arguments[2], i) : (str){0};
    TRY(cut(&c, operand_str(&arguments[0], i), text_or_none(&arguments[1], i), err));
    b.pick_count = c.count;
    TRY(list_builder_end(&b, err));
  }
  TRY(builder_finish(&c.items, &parts, err));
  return list_builder_finish_items(&b, &parts, ret, err);
}

static glv_status bind_to_array(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 3, err));
  for (size_t i = 0; i < b->count; i++) {
    TRY(bind_string(b, i, err));
  }
  if (bind_is_null(b, 0)) {
    b->targets[0] = type_simple(TYPE_UTF8_VIEW);
  }
  return list_type_new(b->arena, TYPE_LIST, b->targets[0], true, &b->result, err);
}

static const char *const to_string_names[] = {"list_to_string", "array_join", "list_join", NULL};
static const char *const to_array_names[] = {"string_to_list", NULL};

const function functions_list_text[] = {
    {.name = "array_to_string",
     .aliases = to_string_names,
     .bind = bind_to_string,
     .kernel = array_to_string},
    {.name = "string_to_array",
     .aliases = to_array_names,
     .bind = bind_to_array,
     .kernel = string_to_array},
    {0},
};
