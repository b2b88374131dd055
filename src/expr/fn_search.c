/* Texts in texts: contains, starts_with, ends_with, strpos, replace, split_part. */
#include "arrow/builder.h"
#include "expr/find.h"
#include "expr/function_private.h"
#include "expr/unicode.h"

typedef bool (*text_test)(const needle *n, str text, str other);

static bool contains_text(const needle *n, str text, str other) {
  (void)other;
  return needle_find(n, text, 0) != SIZE_MAX;
}
static bool starts_with_text(const needle *n, str text, str other) {
  (void)n;
  return str_starts_with(text, other);
}
static bool ends_with_text(const needle *n, str text, str other) {
  (void)n;
  return str_ends_with(text, other);
}

static glv_status test_all(const function_frame *f, const operand *arguments, text_test test,
                           size_t rows, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(needle_dispose) needle n;
  void *values;
  needle_init(&n, f->env);
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  for (size_t i = 0; i < rows; i++) {
    if (kernel_row_is_valid(arguments, 2, i)) {
      const str other = operand_str(&arguments[1], i);
      TRY(needle_set(&n, other, err));
      bit_put(values, i, test(&n, operand_str(&arguments[0], i), other));
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status contains(const function_frame *f, const operand *arguments, size_t rows,
                           array *ret, glv_error *err) {
  return test_all(f, arguments, contains_text, rows, ret, err);
}
static glv_status starts_with(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  return test_all(f, arguments, starts_with_text, rows, ret, err);
}
static glv_status ends_with(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  return test_all(f, arguments, ends_with_text, rows, ret, err);
}

/* 1-based, in code points; 0 = absent. */
static glv_status strpos(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(needle_dispose) needle n;
  void *values;
  needle_init(&n, f->env);
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  const bool wide = f->binding->result->kind == TYPE_INT64;
  for (size_t i = 0; i < rows; i++) {
    size_t position = 0;
    if (kernel_row_is_valid(arguments, 2, i)) {
      const str text = operand_str(&arguments[0], i);
      TRY(needle_set(&n, operand_str(&arguments[1], i), err));
      const size_t at = needle_find(&n, text, 0);
      position = at == SIZE_MAX ? 0 : unicode_count(str_slice(text.data, at)) + 1;
    }
    if (wide) {
      ((int64_t *)values)[i] = (int64_t)position;
    } else {
      ((int32_t *)values)[i] = (int32_t)position;
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* An empty search text stands before and behind every code point. */
static glv_status insert_everywhere(str text, str with, buf *out, glv_error *err) {
  TRY(buf_append_str(out, with, err));
  for (size_t at = 0; at < text.size;) {
    const size_t begin = at;
    unicode_next(text, &at);
    TRY(buf_append(out, text.data + begin, at - begin, err));
    TRY(buf_append_str(out, with, err));
  }
  return GLV_OK;
}

static glv_status replace_text(const needle *n, str text, str with, buf *out, glv_error *err) {
  if (n->text.size == 0) {
    return insert_everywhere(text, with, out, err);
  }
  size_t begin = 0;
  for (;;) {
    const size_t at = needle_find(n, text, begin);
    if (at == SIZE_MAX) {
      return buf_append(out, text.data + begin, text.size - begin, err);
    }
    TRY(buf_append(out, text.data + begin, at - begin, err));
    TRY(buf_append_str(out, with, err));
    begin = at + n->text.size;
  }
}

static glv_status replace(const function_frame *f, const operand *arguments, size_t rows,
                          array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(needle_dispose) needle n;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, f->env, f->binding->result);
  needle_init(&n, f->env);
  buf_init(&text, f->env, INT32_MAX);
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, 3, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    buf_clear(&text);
    TRY(needle_set(&n, operand_str(&arguments[1], i), err));
    TRY(replace_text(&n, operand_str(&arguments[0], i), operand_str(&arguments[2], i), &text, err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

/* Number of parts that the separator cuts text into. */
static int64_t count_parts(const needle *n, str text) {
  int64_t count = 1;
  for (size_t at = needle_find(n, text, 0); at != SIZE_MAX;
       at = needle_find(n, text, at + n->text.size)) {
    count++;
  }
  return count;
}

/* Part `index` (from 0); empty when there is none. */
static str part_of(const needle *n, str text, int64_t index) {
  size_t begin = 0;
  for (;;) {
    const size_t at = needle_find(n, text, begin);
    if (index == 0) {
      return str_slice(text.data + begin, (at == SIZE_MAX ? text.size : at) - begin);
    }
    if (at == SIZE_MAX) {
      return str_slice(text.data, 0);
    }
    begin = at + n->text.size;
    index--;
  }
}

static str split_text(const needle *n, str text, int64_t position) {
  if (n->text.size == 0) {
    return position == 1 || position == -1 ? text : str_slice(text.data, 0);
  }
  if (position > 0) {
    return part_of(n, text, position - 1);
  }
  const int64_t count = count_parts(n, text);
  return position < -count ? str_slice(text.data, 0) : part_of(n, text, count + position);
}

static glv_status split_part(const function_frame *f, const operand *arguments, size_t rows,
                             array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(needle_dispose) needle n;
  builder_init(&b, f->env, f->binding->result);
  needle_init(&n, f->env);
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, 3, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    const int64_t position = OPERAND_VALUE(&arguments[2], int64_t, i);
    if (position == 0) {
      return FAIL(err, GLV_E_SQL_EXEC, "field position must not be zero");
    }
    TRY(needle_set(&n, operand_str(&arguments[1], i), err));
    TRY(builder_append_str(&b, split_text(&n, operand_str(&arguments[0], i), position), err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status bind_test(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_strings(b, err));
  b->result = type_simple(TYPE_BOOL);
  return GLV_OK;
}

static glv_status bind_strpos(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_strings(b, err));
  b->result = bind_position_result(b);
  return GLV_OK;
}

static glv_status bind_replace(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 3, 3, err));
  TRY(bind_strings(b, err));
  bool any_large = false;
  bool any_view = false;
  for (size_t i = 0; i < 3; i++) {
    any_large = any_large || b->targets[i]->kind == TYPE_LARGE_UTF8;
    any_view = any_view || b->targets[i]->kind == TYPE_UTF8_VIEW;
  }
  b->result = type_simple(any_large && !any_view ? TYPE_LARGE_UTF8 : TYPE_UTF8);
  return GLV_OK;
}

static glv_status bind_split(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 3, 3, err));
  TRY(bind_string(b, 0, err));
  TRY(bind_string(b, 1, err));
  TRY(bind_int64(b, 2, err));
  b->result = bind_text_result(b, TEXT_LIKE_FIRST);
  return GLV_OK;
}

static const char *const strpos_names[] = {"instr", "position", NULL};

const function functions_search[] = {
    {.name = "contains", .bind = bind_test, .kernel = contains},
    {.name = "starts_with", .bind = bind_test, .kernel = starts_with},
    {.name = "ends_with", .bind = bind_test, .kernel = ends_with},
    {.name = "strpos", .aliases = strpos_names, .bind = bind_strpos, .kernel = strpos},
    {.name = "replace", .bind = bind_replace, .kernel = replace},
    {.name = "split_part", .bind = bind_split, .kernel = split_part},
    {0},
};
