/* Parts of texts by code points, and texts made longer: substr, left, right, lpad, rpad, repeat. */
#include "arrow/builder.h"
#include "expr/function_private.h"
#include "expr/unicode.h"

/* The code points [first, end) of text; both are clamped to the text. */
static str code_points(str text, int64_t first, int64_t end) {
  const size_t most = text.size; /* no text has more code points than bytes */
  const size_t skip = first < 0 ? 0 : first > (int64_t)most ? most : (size_t)first;
  const size_t stop = end < 0 ? 0 : end > (int64_t)most ? most : (size_t)end;
  const size_t begin = unicode_offset(text, skip);
  const str rest = str_slice(text.data + begin, text.size - begin);
  return str_slice(rest.data, stop > skip ? unicode_offset(rest, stop - skip) : 0);
}

/* The code points that substr(text, start, count) means, as [*ret_first, *ret_end). Positions
 * before the first character count as characters that are not there. */
static glv_status substr_range(const function_frame *f, const operand *arguments, size_t i,
                               int64_t *ret_first, int64_t *ret_end, glv_error *err) {
  const int64_t start = OPERAND_VALUE(&arguments[1], int64_t, i);
  int64_t end = INT64_MAX;
  if (f->binding->count > 2) {
    const int64_t count = OPERAND_VALUE(&arguments[2], int64_t, i);
    if (count < 0) {
      return FAIL(err, GLV_E_SQL_EXEC,
                  "negative substring length not allowed: substr(<str>, %lld, %lld)",
                  (long long)start, (long long)count);
    }
    if (__builtin_add_overflow(start, count, &end)) {
      end = INT64_MAX;
    }
    end = end == INT64_MIN ? end : end - 1; /* from 1-based to 0-based */
  }
  *ret_first = start < 1 ? 0 : start - 1;
  *ret_end = end;
  return GLV_OK;
}

static glv_status substr_row(const function_frame *f, const operand *arguments, size_t i,
                             text_writer *w, glv_error *err) {
  int64_t first = 0;
  int64_t end = 0;
  TRY(substr_range(f, arguments, i, &first, &end, err));
  return builder_append_str(&w->b, code_points(operand_str(&arguments[0], i), first, end), err);
}

enum { SHORT = 16 };

/* @return the size of all slices of a, which are written to `to`, of size SHORT more than the
 * texts. Short ones are copied with whatever lies behind them. first <= stop */
static size_t slice_rows(const array *a, size_t first, size_t stop, int32_t *offsets, char *to) {
  const int32_t *from = ARRAY_VALUES(a, int32_t);
  const char *bytes = (const char *)a->data;
  const bool all_valid = a->validity == NULL;
  const size_t length = a->length;
  const size_t end = (size_t)from[length];
  size_t begin = (size_t)from[0];
  size_t at = 0;
  offsets[0] = 0;
  for (size_t i = 0; i < length; i++) {
    const size_t next = (size_t)from[i + 1];
    const size_t size = all_valid || array_is_valid(a, i) ? next - begin : 0;
    const size_t skipped = begin + size_min(first, size);
    const size_t taken = begin + size_min(stop, size) - skipped;
    if (taken <= SHORT && skipped + SHORT <= end) {
      const uint64_t low = load_le64(bytes + skipped);
      const uint64_t high = load_le64(bytes + skipped + 8);
      store_le64(to + at, low);
      store_le64(to + at + 8, high);
    } else {
      memcpy(to + at, bytes + skipped, taken);
    }
    at += taken;
    offsets[i + 1] = (int32_t)at;
    begin = next;
  }
  return at;
}

/* The same bytes [first, end) of every text of a column of ASCII. */
static glv_status slice_bytes(const function_frame *f, const array *a, int64_t first, int64_t end,
                              array *ret, glv_error *err) {
  CLEANUP(array_unref) array out = {.type = f->binding->result, .length = a->length};
  const int32_t *from = ARRAY_VALUES(a, int32_t);
  const size_t bytes = (size_t)(from[a->length] - from[0]);
  TRY(buffer_new(f->env, (a->length + 1) * sizeof(int32_t), &out.owners[1], err));
  TRY(buffer_new(f->env, bytes + SHORT, &out.owners[2], err));
  out.values = out.owners[1]->data;
  out.data = out.owners[2]->data;
  const size_t size =
      slice_rows(a, (size_t)first, (size_t)(end < first ? first : end),
                 (int32_t *)(void *)out.owners[1]->data, (char *)out.owners[2]->data);
  TRY(buffer_resize(out.owners[2], size, err));
  kernel_share_nulls(a, &out);
  *ret = out;
  out = (array){0};
  return GLV_OK;
}

/* Whether all but the text of the arguments is one value, not null, and the text a column of
 * ASCII. */
static bool is_plain(const function_frame *f, const operand *arguments, size_t rows) {
  if (rows == 0 || arguments[0].is_scalar) {
    return false;
  }
  for (size_t i = 1; i < f->binding->count; i++) {
    if (!arguments[i].is_scalar || !operand_is_valid(&arguments[i], 0)) {
      return false;
    }
  }
  if (f->binding->count > 2 && OPERAND_VALUE(&arguments[2], int64_t, 0) < 0) {
    return false; /* fails, if there is a text */
  }
  const str last = array_str(&arguments[0].a, rows - 1);
  const char *begin = array_str(&arguments[0].a, 0).data;
  return unicode_is_ascii(begin, (size_t)(last.data + last.size - begin));
}

static glv_status substr(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  if (is_plain(f, arguments, rows)) {
    int64_t first = 0;
    int64_t end = 0;
    TRY(substr_range(f, arguments, 0, &first, &end, err));
    return slice_bytes(f, &arguments[0].a, first, end, ret, err);
  }
  return function_text_rows(f, arguments, rows, substr_row, ret, err);
}

/* n < 0: all but the last |n|. */
static glv_status left_row(const function_frame *f, const operand *arguments, size_t i,
                           text_writer *w, glv_error *err) {
  (void)f;
  const str text = operand_str(&arguments[0], i);
  int64_t n = OPERAND_VALUE(&arguments[1], int64_t, i);
  if (n < 0) {
    n = n < -(int64_t)text.size ? 0 : (int64_t)unicode_count(text) + n;
  }
  return builder_append_str(&w->b, code_points(text, 0, n), err);
}

/* n < 0: all but the first |n|. */
static glv_status right_row(const function_frame *f, const operand *arguments, size_t i,
                            text_writer *w, glv_error *err) {
  (void)f;
  const str text = operand_str(&arguments[0], i);
  const int64_t n = OPERAND_VALUE(&arguments[1], int64_t, i);
  int64_t first;
  if (n < 0) {
    first = n < -(int64_t)text.size ? (int64_t)text.size : -n;
  } else {
    const int64_t count = (int64_t)unicode_count(text);
    first = n > count ? 0 : count - n;
  }
  return builder_append_str(&w->b, code_points(text, first, INT64_MAX), err);
}

static glv_status left(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                       glv_error *err) {
  return function_text_rows(f, arguments, rows, left_row, ret, err);
}
static glv_status right(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err) {
  return function_text_rows(f, arguments, rows, right_row, ret, err);
}

/* Append `count` code points of pad, repeated, to out. */
static glv_status append_padding(buf *out, str pad, size_t count, glv_error *err) {
  const size_t in_pad = unicode_count(pad);
  if (pad.size == 1) {
    return buf_append_fill(out, pad.data[0], count, err);
  }
  for (; count >= in_pad; count -= in_pad) {
    TRY(buf_append_str(out, pad, err));
  }
  return buf_append(out, pad.data, unicode_offset(pad, count), err);
}

static glv_status pad_row(const function_frame *f, const operand *arguments, size_t i, bool at_left,
                          text_writer *w, glv_error *err) {
  const str text = operand_str(&arguments[0], i);
  const str pad = f->binding->count > 2 ? operand_str(&arguments[2], i) : STR(" ");
  const int64_t wanted = OPERAND_VALUE(&arguments[1], int64_t, i);
  if (wanted > INT32_MAX) {
    return FAIL(err, GLV_E_SQL_EXEC, "%s: requested length %lld is too large",
                f->binding->function->name, (long long)wanted);
  }
  const int64_t count = (int64_t)unicode_count(text);
  if (wanted <= count || pad.size == 0) {
    return builder_append_str(&w->b, code_points(text, 0, wanted), err);
  }
  buf *out = &w->scratch;
  if (!at_left) {
    TRY(buf_append_str(out, text, err));
  }
  TRY(append_padding(out, pad, (size_t)(wanted - count), err));
  if (at_left) {
    TRY(buf_append_str(out, text, err));
  }
  return builder_append_str(&w->b, buf_str(out), err);
}

static glv_status lpad_row(const function_frame *f, const operand *arguments, size_t i,
                           text_writer *w, glv_error *err) {
  return pad_row(f, arguments, i, true, w, err);
}
static glv_status rpad_row(const function_frame *f, const operand *arguments, size_t i,
                           text_writer *w, glv_error *err) {
  return pad_row(f, arguments, i, false, w, err);
}
static glv_status lpad(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                       glv_error *err) {
  return function_text_rows(f, arguments, rows, lpad_row, ret, err);
}
static glv_status rpad(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                       glv_error *err) {
  return function_text_rows(f, arguments, rows, rpad_row, ret, err);
}

static glv_status repeat_row(const function_frame *f, const operand *arguments, size_t i,
                             text_writer *w, glv_error *err) {
  (void)f;
  const str text = operand_str(&arguments[0], i);
  const int64_t n = OPERAND_VALUE(&arguments[1], int64_t, i);
  const size_t times = n < 0 || text.size == 0 ? 0 : (size_t)n;
  buf *out = &w->scratch;
  size_t total;
  if (!size_mul(text.size, times, &total) || total > INT32_MAX) {
    return FAIL(err, GLV_E_SQL_EXEC, "string size overflow on repeat, max size is %d", INT32_MAX);
  }
  TRY(buf_reserve(out, total, err));
  for (size_t k = 0; k < times; k++) {
    TRY(buf_append_str(out, text, err));
  }
  return builder_append_str(&w->b, buf_str(out), err);
}

static glv_status repeat(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err) {
  return function_text_rows(f, arguments, rows, repeat_row, ret, err);
}

/* Start and length are int64 as they are, or integer literals. */
static glv_status bind_substr(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 3, err));
  TRY(bind_string(b, 0, err));
  for (size_t i = 1; i < b->count; i++) {
    if (b->arguments[i].type->kind != TYPE_INT64 && !bind_is_null(b, i)) {
      return bind_refuse(b, i, "Int64", err);
    }
    b->targets[i] = type_simple(TYPE_INT64);
  }
  b->targets[0] = type_simple(TYPE_UTF8_VIEW);
  b->result = type_simple(TYPE_UTF8_VIEW);
  return GLV_OK;
}

static glv_status bind_side(function_binding *b, glv_error *err) {
  static const signature SIGNATURES[] = {
      {{TYPE_UTF8_VIEW, TYPE_INT64}}, {{TYPE_UTF8, TYPE_INT64}}, {{TYPE_LARGE_UTF8, TYPE_INT64}}};
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_signature(b, SIGNATURES, 3, err));
  b->result = type_simple(TYPE_UTF8_VIEW);
  return GLV_OK;
}

static glv_status bind_pad(function_binding *b, glv_error *err) {
  static const signature SIGNATURES[] = {
      {{TYPE_UTF8_VIEW, TYPE_INT64}},
      {{TYPE_UTF8_VIEW, TYPE_INT64, TYPE_UTF8_VIEW}},
      {{TYPE_UTF8_VIEW, TYPE_INT64, TYPE_UTF8}},
      {{TYPE_UTF8_VIEW, TYPE_INT64, TYPE_LARGE_UTF8}},
      {{TYPE_UTF8, TYPE_INT64}},
      {{TYPE_UTF8, TYPE_INT64, TYPE_UTF8_VIEW}},
      {{TYPE_UTF8, TYPE_INT64, TYPE_UTF8}},
      {{TYPE_UTF8, TYPE_INT64, TYPE_LARGE_UTF8}},
      {{TYPE_LARGE_UTF8, TYPE_INT64}},
      {{TYPE_LARGE_UTF8, TYPE_INT64, TYPE_UTF8_VIEW}},
      {{TYPE_LARGE_UTF8, TYPE_INT64, TYPE_UTF8}},
      {{TYPE_LARGE_UTF8, TYPE_INT64, TYPE_LARGE_UTF8}},
  };
  TRY(bind_count(b, 2, 3, err));
  TRY(bind_signature(b, SIGNATURES, sizeof SIGNATURES / sizeof *SIGNATURES, err));
  b->result = bind_text_result(b, TEXT_LARGE_OR_UTF8);
  return GLV_OK;
}

static glv_status bind_repeat(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_string(b, 0, err));
  TRY(bind_int64(b, 1, err));
  b->result = bind_text_result(b, TEXT_LIKE_FIRST);
  return GLV_OK;
}

static const char *const substr_names[] = {"substring", NULL};

const function functions_slice[] = {
    {.name = "substr", .aliases = substr_names, .bind = bind_substr, .kernel = substr},
    {.name = "left", .bind = bind_side, .kernel = left},
    {.name = "right", .bind = bind_side, .kernel = right},
    {.name = "lpad", .bind = bind_pad, .kernel = lpad},
    {.name = "rpad", .bind = bind_pad, .kernel = rpad},
    {.name = "repeat", .bind = bind_repeat, .kernel = repeat},
    {0},
};
