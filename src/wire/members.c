/* Typed access to JSON members, by the rules of rest-protocol.md 14.6. */
#include "wire/members.h"

#include "base/error.h"

static const char *kind_name(enum js_kind kind) {
  switch (kind) {
  case JS_NULL:
    return "null";
  case JS_BOOL:
    return "true or false";
  case JS_INT:
    return "an integer";
  case JS_REAL:
    return "a number";
  case JS_STRING:
    return "a text";
  case JS_ARRAY:
    return "an array";
  case JS_OBJECT:
    return "an object";
  }
  return "unknown";
}

glv_status wire_expect(const json *node, enum js_kind kind, const char *what, glv_error *err) {
  return js_kind_of(node) == kind ? GLV_OK
                                  : FAIL(err, GLV_E_INVALID_INPUT, "'%s' must be %s, and is %s",
                                         what, kind_name(kind), kind_name(js_kind_of(node)));
}

/* *ret NULL: absent or null. */
static glv_status find(const json *object, const char *key, enum js_kind kind, const json **ret,
                       glv_error *err) {
  const json *node = js_member(object, key);
  *ret = node != NULL && js_kind_of(node) != JS_NULL ? node : NULL;
  return *ret != NULL ? wire_expect(*ret, kind, key, err) : GLV_OK;
}

static glv_status absent(const char *key, glv_error *err) {
  return FAIL(err, GLV_E_INVALID_INPUT, "'%s' is missing", key);
}

static glv_status text_of(const json *node, const char *key, const char **ret, glv_error *err) {
  const str text = js_string(node);
  if (text.size > 0 && memchr(text.data, '\0', text.size) != NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'%s' has a NUL character", key);
  }
  *ret = text.data;
  return GLV_OK;
}

glv_status wire_text(const json *object, const char *key, const char **ret, glv_error *err) {
  const json *node;
  TRY(find(object, key, JS_STRING, &node, err));
  return node != NULL ? text_of(node, key, ret, err) : GLV_OK;
}

glv_status wire_text_required(const json *object, const char *key, const char **ret,
                              glv_error *err) {
  const char *text = NULL;
  TRY(wire_text(object, key, &text, err));
  if (text == NULL) {
    return absent(key, err);
  }
  if (text[0] == '\0') {
    return FAIL(err, GLV_E_INVALID_INPUT, "'%s' is empty", key);
  }
  *ret = text;
  return GLV_OK;
}

glv_status wire_bool(const json *object, const char *key, bool *ret, glv_error *err) {
  const json *node;
  TRY(find(object, key, JS_BOOL, &node, err));
  *ret = node != NULL ? js_bool(node) : *ret;
  return GLV_OK;
}

glv_status wire_int(const json *object, const char *key, int64_t *ret, glv_error *err) {
  const json *node;
  TRY(find(object, key, JS_INT, &node, err));
  *ret = node != NULL ? js_int(node) : *ret;
  return GLV_OK;
}

/* *ret_found: neither absent nor null. */
static glv_status find_uint(const json *object, const char *key, uint64_t *ret, bool *ret_found,
                            glv_error *err) {
  const json *node;
  TRY(find(object, key, JS_INT, &node, err));
  *ret_found = node != NULL;
  if (node != NULL && js_int(node) < 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'%s' must be 0 or more, and is %lld", key,
                (long long)js_int(node));
  }
  *ret = node != NULL ? (uint64_t)js_int(node) : *ret;
  return GLV_OK;
}

glv_status wire_uint(const json *object, const char *key, uint64_t *ret, glv_error *err) {
  bool is_there;
  return find_uint(object, key, ret, &is_there, err);
}

glv_status wire_uint_required(const json *object, const char *key, uint64_t *ret, glv_error *err) {
  bool is_there;
  TRY(find_uint(object, key, ret, &is_there, err));
  return is_there ? GLV_OK : absent(key, err);
}

glv_status wire_real(const json *object, const char *key, double *ret, glv_error *err) {
  const json *node = js_member(object, key);
  if (node == NULL || js_kind_of(node) == JS_NULL) {
    return GLV_OK;
  }
  if (js_kind_of(node) == JS_INT) {
    *ret = (double)js_int(node);
    return GLV_OK;
  }
  TRY(wire_expect(node, JS_REAL, key, err));
  *ret = js_real(node);
  return GLV_OK;
}

glv_status wire_array(const json *object, const char *key, const json **ret, glv_error *err) {
  const json *node;
  TRY(find(object, key, JS_ARRAY, &node, err));
  *ret = node != NULL ? node : *ret;
  return GLV_OK;
}

glv_status wire_object(const json *object, const char *key, const json **ret, glv_error *err) {
  const json *node;
  TRY(find(object, key, JS_OBJECT, &node, err));
  *ret = node != NULL ? node : *ret;
  return GLV_OK;
}

glv_status wire_texts(arena *memory, const json *object, const char *key, const char *const **ret,
                      size_t *ret_count, glv_error *err) {
  const json *array = NULL;
  TRY(wire_array(object, key, &array, err));
  if (array == NULL) {
    return GLV_OK;
  }
  const size_t count = js_count(array);
  const char **texts = ARENA_ARRAY(memory, const char *, count);
  if (texts == NULL) {
    return error_nomem(err, count * sizeof *texts);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(wire_expect(js_item(array, i), JS_STRING, key, err));
    TRY(text_of(js_item(array, i), key, &texts[i], err));
  }
  *ret = texts;
  *ret_count = count;
  return GLV_OK;
}

glv_status wire_parse_object(str body, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *root = NULL;
  glv_error error;
  const glv_status status = js_parse(body.size > 0 ? body : STR("{}"), &root, &error);
  if (status == GLV_E_CORRUPT) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the body is not JSON: %s", error.message);
  }
  if (status != GLV_OK) {
    return error_pass(err, &error);
  }
  if (js_kind_of(root) != JS_OBJECT) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the body must be a JSON object, and is %s",
                kind_name(js_kind_of(root)));
  }
  *ret = root;
  root = NULL;
  return GLV_OK;
}

/* ---- building ---- */

glv_status wire_put_text(json *object, const char *key, const char *text, glv_error *err) {
  return js_put(object, key, text != NULL ? js_new_string(str_of(text)) : js_new_null(), err);
}

glv_status wire_put_uint(json *object, const char *key, uint64_t value, glv_error *err) {
  if (value > INT64_MAX) {
    return FAIL(err, GLV_E_LIMIT, "'%s' is larger than 2^63 - 1", key);
  }
  return js_put(object, key, js_new_int((int64_t)value), err);
}

glv_status wire_put_int(json *object, const char *key, int64_t value, glv_error *err) {
  return js_put(object, key, js_new_int(value), err);
}

glv_status wire_put_bool(json *object, const char *key, bool value, glv_error *err) {
  return js_put(object, key, js_new_bool(value), err);
}

glv_status wire_put_texts(json *object, const char *key, const char *const *texts, size_t count,
                          glv_error *err) {
  CLEANUP(js_cleanup) json *array = js_new_array();
  for (size_t i = 0; i < count; i++) {
    TRY(js_push(array, js_new_string(str_of(texts[i])), err));
  }
  json *taken = array;
  array = NULL;
  return js_put(object, key, taken, err);
}
