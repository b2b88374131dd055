/* Properties of a namespace or table: a JSON object whose values are all strings, or null when
 * there are none (namespaces.md 3.2). */
#include "base/json.h"
#include "base/json_canonical.h"
#include "base/limits.h"
#include "catalog/catalog_private.h"

static glv_status print(buf *out, metadata properties, glv_error *err) {
  TRY(buf_append_char(out, '{', err));
  for (size_t i = 0; i < properties.count; i++) {
    if (i > 0) {
      TRY(buf_append_char(out, ',', err));
    }
    TRY(json_canonical_string(out, properties.pairs[i].key, err));
    TRY(buf_append_char(out, ':', err));
    TRY(json_canonical_string(out, properties.pairs[i].value, err));
  }
  return buf_append_char(out, '}', err);
}

glv_status properties_to_text(glv_env *env, metadata properties, arena *a, str *ret,
                              glv_error *err) {
  if (properties.count == 0) {
    *ret = str_slice(NULL, 0);
    return GLV_OK;
  }
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, env, LIMIT_JSON_BYTES);
  TRY(print(&out, properties, err));
  const char *text = arena_strdup(a, buf_str(&out));
  if (text == NULL) {
    return error_nomem(err, out.size);
  }
  *ret = str_slice(text, out.size);
  return GLV_OK;
}

static glv_status fail_malformed(str id, glv_error *err) {
  return FAIL(err, GLV_E_INTERNAL,
              "the properties of '%.*s' are not stored as a JSON object of strings", STR_ARG(id));
}

static glv_status copy_member(const json *object, size_t index, str id, arena *a, pair *ret,
                              glv_error *err) {
  str key = {"", 0};
  const json *value = js_member_at(object, index, &key);
  if (value == NULL || js_kind_of(value) != JS_STRING) {
    return fail_malformed(id, err);
  }
  const char *key_text = arena_strdup(a, key);
  const char *value_text = arena_strdup(a, js_string(value));
  if (key_text == NULL || value_text == NULL) {
    return error_nomem(err, key.size);
  }
  *ret = (pair){str_slice(key_text, key.size), str_slice(value_text, js_string(value).size)};
  return GLV_OK;
}

glv_status properties_from_text(str text, str id, arena *a, metadata *ret, glv_error *err) {
  if (text.data == NULL) {
    *ret = (metadata){NULL, 0};
    return GLV_OK;
  }
  CLEANUP(js_cleanup) json *root = NULL;
  glv_error own = {0};
  const glv_status status = js_parse(text, &root, &own);
  if (status == GLV_E_NOMEM) {
    return error_nomem(err, text.size);
  }
  if (status != GLV_OK || js_kind_of(root) != JS_OBJECT) {
    return fail_malformed(id, err);
  }
  const size_t count = js_count(root);
  pair *pairs = ARENA_ARRAY(a, pair, count);
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(copy_member(root, i, id, a, &pairs[i], err));
  }
  *ret = (metadata){pairs, count};
  return GLV_OK;
}
