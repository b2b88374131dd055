/* upper, lower, initcap, reverse (sql-expressions 13.1).
 *
 * upper and lower change the whole byte buffer in one pass and keep the offsets. When that pass
 * finds bytes that are not ASCII, values go one by one instead. */
#include "arrow/builder.h"
#include "expr/function_private.h"
#include "expr/unicode.h"

/* Most bytes that one value can grow to. */
enum { VALUE_MAX = INT32_MAX };

typedef bool (*ascii_map)(char *to, const char *from, size_t size);
typedef glv_status (*text_map)(str text, buf *out, glv_error *err);

/* The bytes of all values of a string array. */
static str all_bytes(const array *a) {
  if (a->length == 0) {
    return str_slice(NULL, 0);
  }
  const str first = array_str(a, 0);
  const str last = array_str(a, a->length - 1);
  return str_slice(first.data, (size_t)(last.data + last.size - first.data));
}

/* Offsets that begin with 0: those of a, or shifted ones. */
static glv_status rebase_offsets(glv_env *env, const array *a, array *ret, glv_error *err) {
  const size_t width = type_offset_width(a->type->kind);
  const bool wide = width == 8;
  if (wide ? ARRAY_VALUES(a, int64_t)[0] == 0 : ARRAY_VALUES(a, int32_t)[0] == 0) {
    return GLV_OK;
  }
  buffer *offsets;
  TRY(buffer_new(env, (a->length + 1) * width, &offsets, err));
  for (size_t i = 0; i <= a->length; i++) {
    if (wide) {
      ((int64_t *)(void *)offsets->data)[i] =
          ARRAY_VALUES(a, int64_t)[i] - ARRAY_VALUES(a, int64_t)[0];
    } else {
      ((int32_t *)(void *)offsets->data)[i] =
          ARRAY_VALUES(a, int32_t)[i] - ARRAY_VALUES(a, int32_t)[0];
    }
  }
  buffer_unref(ret->owners[1]);
  ret->owners[1] = offsets;
  ret->values = offsets->data;
  return GLV_OK;
}

/* *ret stays empty when some byte is not ASCII. */
static glv_status map_ascii(const function_frame *f, const array *a, ascii_map map, array *ret,
                            glv_error *err) {
  CLEANUP(buffer_cleanup) buffer *data = NULL;
  const str bytes = all_bytes(a);
  TRY(buffer_new(f->env, bytes.size, &data, err));
  if (!map((char *)data->data, bytes.data, bytes.size)) {
    return GLV_OK;
  }
  CLEANUP(array_unref) array out = kernel_retype(a, f->binding->result);
  TRY(rebase_offsets(f->env, a, &out, err));
  buffer_unref(out.owners[2]);
  out.owners[2] = data;
  out.data = data->data;
  data = NULL;
  *ret = out;
  out = (array){0};
  return GLV_OK;
}

/* map over every value. */
static glv_status map_each(const function_frame *f, const array *a, text_map map, array *ret,
                           glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, f->env, f->binding->result);
  buf_init(&text, f->env, VALUE_MAX);
  TRY(builder_reserve(&b, a->length, all_bytes(a).size, err));
  for (size_t i = 0; i < a->length; i++) {
    if (!array_is_valid(a, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    buf_clear(&text);
    TRY(map(array_str(a, i), &text, err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status map_case(const function_frame *f, const array *a, ascii_map ascii, text_map map,
                           array *ret, glv_error *err) {
  TRY(map_ascii(f, a, ascii, ret, err));
  return ret->type != NULL ? GLV_OK : map_each(f, a, map, ret, err);
}

static glv_status upper(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err) {
  (void)rows;
  return map_case(f, &arguments[0].a, unicode_ascii_upper, unicode_upper, ret, err);
}

static glv_status lower(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err) {
  (void)rows;
  return map_case(f, &arguments[0].a, unicode_ascii_lower, unicode_lower, ret, err);
}

static glv_status capitalize_ascii(str text, buf *out, glv_error *err) {
  TRY(buf_reserve(out, text.size, err));
  bool in_word = false;
  for (size_t i = 0; i < text.size; i++) {
    const char c = text.data[i];
    const bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    out->data[out->size++] = (char)(!is_letter ? c : in_word ? c | 0x20 : c & ~0x20);
    in_word = is_letter || (c >= '0' && c <= '9');
  }
  return GLV_OK;
}

/* The first character of every alphanumeric run in upper case, the others in lower case. */
static glv_status capitalize(str text, buf *out, glv_error *err) {
  if (unicode_is_ascii(text.data, text.size)) {
    return capitalize_ascii(text, out, err);
  }
  bool in_word = false;
  for (size_t at = 0; at < text.size;) {
    const uint32_t c = unicode_next(text, &at);
    uint32_t mapped[3];
    const size_t count = in_word ? unicode_lower_of(c, mapped) : unicode_upper_of(c, mapped);
    for (size_t i = 0; i < count; i++) {
      char bytes[4];
      TRY(buf_append(out, bytes, unicode_encode(mapped[i], bytes), err));
    }
    in_word = unicode_is_alphanumeric(c);
  }
  return GLV_OK;
}

static glv_status initcap(const function_frame *f, const operand *arguments, size_t rows,
                          array *ret, glv_error *err) {
  (void)rows;
  return map_each(f, &arguments[0].a, capitalize, ret, err);
}

/* Code points in the opposite order. */
static glv_status turn_around(str text, buf *out, glv_error *err) {
  TRY(buf_reserve(out, text.size, err));
  for (size_t end = text.size; end > 0;) {
    size_t begin = end - 1;
    while (begin > 0 && ((uint8_t)text.data[begin] & 0xc0) == 0x80) {
      begin--;
    }
    memcpy(out->data + out->size, text.data + begin, end - begin);
    out->size += end - begin;
    end = begin;
  }
  return GLV_OK;
}

static glv_status reverse(const function_frame *f, const operand *arguments, size_t rows,
                          array *ret, glv_error *err) {
  (void)rows;
  return map_each(f, &arguments[0].a, turn_around, ret, err);
}

static glv_status bind_case(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_string(b, 0, err));
  b->result = bind_text_result(b, TEXT_LIKE_FIRST);
  return GLV_OK;
}

static glv_status bind_reverse(function_binding *b, glv_error *err) {
  static const type_kind KINDS[] = {TYPE_UTF8_VIEW, TYPE_UTF8, TYPE_LARGE_UTF8};
  TRY(bind_count(b, 1, 1, err));
  TRY(bind_variadic(b, KINDS, 3, err));
  b->result = bind_text_result(b, TEXT_LIKE_FIRST);
  return GLV_OK;
}

const function functions_case[] = {
    {.name = "upper", .bind = bind_case, .kernel = upper},
    {.name = "lower", .bind = bind_case, .kernel = lower},
    {.name = "initcap", .bind = bind_case, .kernel = initcap},
    {.name = "reverse", .bind = bind_reverse, .kernel = reverse},
    {0},
};
