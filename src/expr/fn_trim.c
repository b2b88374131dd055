/* trim (btrim), ltrim, rtrim: remove characters of a set, by default the space, from the ends. */
#include "arrow/builder.h"
#include "expr/function_private.h"
#include "expr/unicode.h"

enum trim_end { TRIM_LEFT = 1, TRIM_RIGHT = 2 };

/* Whether one of the characters of set begins at text[0..size). */
static bool is_in_set(str set, const char *character, size_t size) {
  for (size_t at = 0; at < set.size;) {
    const size_t begin = at;
    unicode_next(set, &at);
    if (at - begin == size && memcmp(set.data + begin, character, size) == 0) {
      return true;
    }
  }
  return false;
}

static str trim_text(str text, str set, unsigned ends) {
  size_t begin = 0;
  size_t end = text.size;
  while ((ends & TRIM_LEFT) != 0 && begin < end) {
    size_t next = begin;
    unicode_next(text, &next);
    if (!is_in_set(set, text.data + begin, next - begin)) {
      break;
    }
    begin = next;
  }
  while ((ends & TRIM_RIGHT) != 0 && begin < end) {
    size_t last = end - 1;
    while (last > begin && ((uint8_t)text.data[last] & 0xc0) == 0x80) {
      last--;
    }
    if (!is_in_set(set, text.data + last, end - last)) {
      break;
    }
    end = last;
  }
  return str_slice(text.data + begin, end - begin);
}

static glv_status trim_all(const function_frame *f, const operand *arguments, unsigned ends,
                           size_t rows, array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  builder_init(&b, f->env, f->binding->result);
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, f->binding->count, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    const str set = f->binding->count > 1 ? operand_str(&arguments[1], i) : STR(" ");
    TRY(builder_append_str(&b, trim_text(operand_str(&arguments[0], i), set, ends), err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status trim(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                       glv_error *err) {
  return trim_all(f, arguments, TRIM_LEFT | TRIM_RIGHT, rows, ret, err);
}
static glv_status ltrim(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err) {
  return trim_all(f, arguments, TRIM_LEFT, rows, ret, err);
}
static glv_status rtrim(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err) {
  return trim_all(f, arguments, TRIM_RIGHT, rows, ret, err);
}

static glv_status bind_trim(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 2, err));
  TRY(bind_strings(b, err));
  b->result = bind_text_result(b, TEXT_LIKE_FIRST);
  return GLV_OK;
}

static const char *const trim_names[] = {"trim", NULL};

const function functions_trim[] = {
    {.name = "btrim", .aliases = trim_names, .bind = bind_trim, .kernel = trim},
    {.name = "ltrim", .bind = bind_trim, .kernel = ltrim},
    {.name = "rtrim", .bind = bind_trim, .kernel = rtrim},
    {0},
};
