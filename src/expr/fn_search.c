/* Texts in texts: contains, starts_with, ends_with, strpos, replace, split_part, substr_index,
 * find_in_set. */
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

/* ---- parts between delimiters, and sets ---- */

/* Bytes in the opposite order. */
static glv_status mirror(str text, buf *out, glv_error *err) {
  buf_clear(out);
  TRY(buf_reserve(out, text.size, err));
  for (size_t i = 0; i < text.size; i++) {
    out->data[i] = text.data[text.size - 1 - i];
  }
  out->size = text.size;
  return GLV_OK;
}

/* Where match number `count` of the needle begins; SIZE_MAX when there are not that many. */
static size_t find_nth(const needle *n, str text, uint64_t count) {
  size_t at = needle_find(n, text, 0);
  for (uint64_t k = 1; k < count && at != SIZE_MAX; k++) {
    at = needle_find(n, text, at + n->text.size);
  }
  return at;
}

/* Texts that are looked at from behind, and the needles for both directions. */
typedef struct side_search {
  needle forward;
  needle backward;
  buf text;
  buf delimiter;
  str mirrored; /* what `delimiter` is the mirror image of; borrowed */
} side_search;

static void side_search_dispose(side_search *s) {
  needle_dispose(&s->forward);
  needle_dispose(&s->backward);
  buf_dispose(&s->text);
  buf_dispose(&s->delimiter);
}

/* The backward needle looks for this delimiter from now on. */
static glv_status set_backward(side_search *s, str delimiter, glv_error *err) {
  if (s->mirrored.data == delimiter.data && s->mirrored.size == delimiter.size) {
    return GLV_OK;
  }
  needle_dispose(&s->backward); /* the image lies where the last one lay */
  needle_init(&s->backward, s->forward.env);
  s->mirrored = str_slice(NULL, 0);
  TRY(mirror(delimiter, &s->delimiter, err));
  TRY(needle_set(&s->backward, buf_str(&s->delimiter), err));
  s->mirrored = delimiter;
  return GLV_OK;
}

/* All before delimiter number `count`, or behind number -count from the end; all of the text when
 * there are not that many. */
static glv_status side_of(side_search *s, str text, str delimiter, int64_t count, str *ret,
                          glv_error *err) {
  *ret = str_slice(text.data, 0);
  if (count == 0 || delimiter.size == 0) {
    return GLV_OK;
  }
  if (count > 0) {
    TRY(needle_set(&s->forward, delimiter, err));
    *ret = str_slice(text.data, size_min(find_nth(&s->forward, text, (uint64_t)count), text.size));
    return GLV_OK;
  }
  TRY(mirror(text, &s->text, err));
  TRY(set_backward(s, delimiter, err));
  const uint64_t nth = 0 - (uint64_t)count;
  const size_t size = size_min(find_nth(&s->backward, buf_str(&s->text), nth), text.size);
  *ret = str_slice(text.data + (text.size - size), size);
  return GLV_OK;
}

static glv_status substr_index(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(side_search_dispose) side_search s = {0};
  builder_init(&b, f->env, f->binding->result);
  needle_init(&s.forward, f->env);
  needle_init(&s.backward, f->env);
  buf_init(&s.text, f->env, INT32_MAX);
  buf_init(&s.delimiter, f->env, INT32_MAX);
  for (size_t i = 0; i < rows; i++) {
    str part;
    if (!kernel_row_is_valid(arguments, 3, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    TRY(side_of(&s, operand_str(&arguments[0], i), operand_str(&arguments[1], i),
                OPERAND_VALUE(&arguments[2], int64_t, i), &part, err));
    TRY(builder_append_str(&b, part, err));
  }
  return builder_finish(&b, ret, err);
}

/* The place of item in a list that commas divide, from 1; 0 = it is not there. */
static size_t place_in_set(str item, str list) {
  size_t place = 1;
  for (size_t begin = 0;; place++) {
    const char *comma =
        list.size > begin ? memchr(list.data + begin, ',', list.size - begin) : NULL;
    const size_t end = comma != NULL ? (size_t)(comma - list.data) : list.size;
    if (str_equal(item, str_slice(list.data + begin, end - begin))) {
      return place;
    }
    if (comma == NULL) {
      return 0;
    }
    begin = end + 1;
  }
}

static glv_status find_in_set(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  const bool wide = f->binding->result->kind == TYPE_INT64;
  for (size_t i = 0; i < rows; i++) {
    size_t place = 0;
    if (kernel_row_is_valid(arguments, 2, i)) {
      place = place_in_set(operand_str(&arguments[0], i), operand_str(&arguments[1], i));
    }
    if (wide) {
      ((int64_t *)values)[i] = (int64_t)place;
    } else {
      ((int32_t *)values)[i] = (int32_t)place;
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
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

static glv_status bind_substr_index(function_binding *b, glv_error *err) {
  static const signature SIGNATURES[] = {{{TYPE_UTF8_VIEW, TYPE_UTF8_VIEW, TYPE_INT64}},
                                         {{TYPE_UTF8, TYPE_UTF8, TYPE_INT64}},
                                         {{TYPE_LARGE_UTF8, TYPE_LARGE_UTF8, TYPE_INT64}}};
  TRY(bind_count(b, 3, 3, err));
  TRY(bind_signature(b, SIGNATURES, 3, err));
  b->result = bind_text_result(b, TEXT_LIKE_FIRST);
  return GLV_OK;
}

static glv_status bind_find_in_set(function_binding *b, glv_error *err) {
  static const type_kind KINDS[] = {TYPE_UTF8_VIEW, TYPE_UTF8, TYPE_LARGE_UTF8};
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_variadic(b, KINDS, 3, err));
  b->result = bind_position_result(b);
  return GLV_OK;
}

static const char *const substr_index_names[] = {"substring_index", NULL};
static const char *const strpos_names[] = {"instr", "position", NULL};

const function functions_search[] = {
    {.name = "contains", .bind = bind_test, .kernel = contains},
    {.name = "starts_with", .bind = bind_test, .kernel = starts_with},
    {.name = "ends_with", .bind = bind_test, .kernel = ends_with},
    {.name = "strpos", .aliases = strpos_names, .bind = bind_strpos, .kernel = strpos},
    {.name = "replace", .bind = bind_replace, .kernel = replace},
    {.name = "split_part", .bind = bind_split, .kernel = split_part},
    {.name = "substr_index",
     .aliases = substr_index_names,
     .bind = bind_substr_index,
     .kernel = substr_index},
    {.name = "find_in_set", .bind = bind_find_in_set, .kernel = find_in_set},
    {0},
};
