/*
 * A thin layer over jansson. jansson reads exact 64-bit integers and keeps key order; its allocator
 * is global to the process, so its memory is not counted by the environment.
 *
 * `__wrap_stdin`: the archive of jansson refers to stdin in a function that is never called here
 * (json_loadf); the linker flag --wrap=stdin together with this definition lets the archive go into
 * a shared library.
 */
#include "base/json.h"

#include <jansson.h>
#include <stdio.h>

#include "base/limits.h"

FILE *__wrap_stdin; /* NOLINT: the name is what the linker asks for */

static const json_t *in(const json *node) { return (const json_t *)node; }
static json *out(json_t *node) { return (json *)node; }

glv_status js_parse(str text, json **ret, glv_error *err) {
  if (text.size > LIMIT_JSON_BYTES) {
    return FAIL(err, GLV_E_LIMIT, "JSON text of %zu bytes is longer than %u", text.size,
                LIMIT_JSON_BYTES);
  }
  json_error_t error;
  json_t *root = json_loadb(text.data != NULL ? text.data : "", text.size,
                            JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
  if (root == NULL) {
    const enum json_error_code code = json_error_code(&error);
    if (code == json_error_out_of_memory) {
      return error_nomem(err, text.size);
    }
    if (code == json_error_numeric_overflow) {
      return FAIL(err, GLV_E_CORRUPT, "number too large at line %d column %d", error.line,
                  error.column);
    }
    return FAIL(err, GLV_E_CORRUPT, "%s at line %d column %d", error.text, error.line,
                error.column);
  }
  *ret = out(root);
  return GLV_OK;
}

void js_free(json *root) { json_decref((json_t *)root); }
void js_cleanup(json **root) { js_free(*root); }

enum js_kind js_kind_of(const json *node) {
  switch (json_typeof(in(node))) {
  case JSON_OBJECT:
    return JS_OBJECT;
  case JSON_ARRAY:
    return JS_ARRAY;
  case JSON_STRING:
    return JS_STRING;
  case JSON_INTEGER:
    return JS_INT;
  case JSON_REAL:
    return JS_REAL;
  case JSON_TRUE:
  case JSON_FALSE:
    return JS_BOOL;
  case JSON_NULL:
    break;
  }
  return JS_NULL;
}

bool js_bool(const json *node) { return json_is_true(in(node)); }
int64_t js_int(const json *node) { return json_integer_value(in(node)); }
double js_real(const json *node) { return json_number_value(in(node)); }
str js_string(const json *node) {
  return str_slice(json_string_value(in(node)), json_string_length(in(node)));
}

size_t js_count(const json *node) {
  return json_is_array(in(node)) ? json_array_size(in(node)) : json_object_size(in(node));
}

const json *js_item(const json *array, size_t index) {
  return out(json_array_get(in(array), index));
}
const json *js_member(const json *object, const char *key) {
  return out(json_object_get(in(object), key));
}

const json *js_next_member(const json *object, void **position, str *ret_key) {
  json_t *object_in = (json_t *)(uintptr_t)in(object); /* jansson's iterators are not const */
  *position =
      *position == NULL ? json_object_iter(object_in) : json_object_iter_next(object_in, *position);
  if (*position == NULL) {
    return NULL;
  }
  *ret_key = str_slice(json_object_iter_key(*position), json_object_iter_key_len(*position));
  return out(json_object_iter_value(*position));
}

const json *js_member_at(const json *object, size_t index, str *ret_key) {
  void *position = NULL;
  const json *member = js_next_member(object, &position, ret_key);
  for (size_t i = 0; i < index && member != NULL; i++) {
    member = js_next_member(object, &position, ret_key);
  }
  return member;
}

json *js_new_null(void) { return out(json_null()); }
json *js_new_bool(bool value) { return out(json_boolean(value)); }
json *js_new_int(int64_t value) { return out(json_integer(value)); }
json *js_new_real(double value) { return out(json_real(value)); }
json *js_new_string(str text) {
  return out(json_stringn(text.data != NULL ? text.data : "", text.size));
}
json *js_new_array(void) { return out(json_array()); }
json *js_new_object(void) { return out(json_object()); }

json *js_copy(const json *node) { return out(json_deep_copy(in(node))); }

glv_status js_put(json *object, const char *key, json *value, glv_error *err) {
  if (value == NULL || json_object_set_new((json_t *)object, key, (json_t *)value) != 0) {
    return FAIL(err, GLV_E_NOMEM, "no memory, or no valid UTF-8, for the JSON member \"%s\"", key);
  }
  return GLV_OK;
}

glv_status js_put_str(json *object, str key, json *value, glv_error *err) {
  if (value == NULL || json_object_setn_new((json_t *)object, key.data != NULL ? key.data : "",
                                            key.size, (json_t *)value) != 0) {
    return FAIL(err, GLV_E_NOMEM, "no memory, or no valid UTF-8, for the JSON member \"%.*s\"",
                STR_ARG(key));
  }
  return GLV_OK;
}

glv_status js_push(json *array, json *value, glv_error *err) {
  if (value == NULL || json_array_append_new((json_t *)array, (json_t *)value) != 0) {
    return FAIL(err, GLV_E_NOMEM, "no memory, or no valid UTF-8, for a JSON item");
  }
  return GLV_OK;
}

struct sink {
  buf *out;
  glv_error *err;
  glv_status status;
};

/* The library overlooks that a piece of a text could not be written, and goes on: the failure
 * stays. */
static int append(const char *data, size_t size, void *context) {
  struct sink *sink = context;
  if (sink->status == GLV_OK) {
    sink->status = buf_append(sink->out, data, size, sink->err);
  }
  return sink->status == GLV_OK ? 0 : -1;
}

static glv_status dump(const json *node, size_t flags, buf *out_buf, glv_error *err) {
  struct sink sink = {out_buf, err, GLV_OK};
  const bool is_done = json_dump_callback(in(node), append, &sink, flags) == 0;
  TRY(sink.status);
  return is_done ? GLV_OK : FAIL(err, GLV_E_NOMEM, "no memory for a JSON text");
}

glv_status js_print(const json *node, unsigned indent, unsigned digits, buf *out_buf,
                    glv_error *err) {
  const size_t flags = JSON_ENCODE_ANY | JSON_INDENT(indent) | (indent == 0 ? JSON_COMPACT : 0) |
                       JSON_REAL_PRECISION(digits == 0 ? 17 : digits);
  return dump(node, flags, out_buf, err);
}

glv_status js_print_sorted(const json *node, buf *out_buf, glv_error *err) {
  const size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17);
  return dump(node, flags, out_buf, err);
}
