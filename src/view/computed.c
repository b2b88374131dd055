/* A declaration is metadata of the field: a flag, a kind, and what belongs to the kind: an
 * expression, or the id of a Function binding, which the metadata of the schema holds as JSON, and
 * the number of one of its outputs. A field with a part of that is not an ordinary column but a
 * broken one.
 */
#include "view/computed.h"

#include "base/json.h"
#include "base/limits.h"

/* The output number of the column that keeps a struct result's own validity. */
#define ORDINAL_ASSIGNMENT UINT32_MAX
static const char key_bindings[] = "lancedb::function_bindings";

static str value_of(const field *f, const char *key) {
  return metadata_get(f->metadata, str_of(key), NULL);
}

static bool has_value(const field *f, const char *key) {
  bool found = false;
  (void)metadata_get(f->metadata, str_of(key), &found);
  return found;
}

bool is_computed(const field *f) {
  if (!str_is(value_of(f, "computed_column"), "true") || !has_value(f, "computed_column.kind")) {
    return false;
  }
  return !str_is(value_of(f, "computed_column.kind"), "sql") ||
         has_value(f, "computed_column.expression");
}

static bool has_id(const lance_field *f, int64_t id, int depth) { /* NOLINT(misc-no-recursion) */
  bool found = f->id == id;
  for (size_t i = 0; i < f->child_count && depth > 0 && !found; i++) {
    found = has_id(&f->children[i], id, depth - 1);
  }
  return found;
}

bool is_computed_id(const lance_schema *s, int64_t id) {
  for (size_t i = 0; i < s->field_count; i++) {
    if (is_computed(&s->fields[i].arrow) && has_id(&s->fields[i], id, LIMIT_TYPE_DEPTH)) {
      return true;
    }
  }
  return false;
}

/* ---- completeness ---- */

static bool has_declaration_key(const field *f) {
  for (size_t i = 0; i < f->metadata.count; i++) {
    const str key = f->metadata.pairs[i].key;
    if (str_is(key, "computed_column") || str_starts_with(key, STR("computed_column.")) ||
        str_starts_with(key, STR("computed_refresh."))) {
      return true;
    }
  }
  return false;
}

/* The binding of that id; NULL = there is none. */
static const json *find_binding(const json *envelope, str id) {
  const json *bindings = js_member(envelope, "bindings");
  for (size_t i = 0; bindings != NULL && i < js_count(bindings); i++) {
    const json *one = js_item(bindings, i);
    const json *name = js_kind_of(one) == JS_OBJECT ? js_member(one, "binding_id") : NULL;
    if (name != NULL && js_kind_of(name) == JS_STRING && str_equal(js_string(name), id)) {
      return one;
    }
  }
  return NULL;
}

/* The column that an output of a binding goes to; size 0 = it has no such output. */
static str destination(const json *binding, uint64_t ordinal) {
  const json *target = js_member(binding, "assignment");
  if (ordinal != ORDINAL_ASSIGNMENT) {
    const json *outputs = js_member(binding, "outputs");
    const bool is_list = outputs != NULL && js_kind_of(outputs) == JS_ARRAY;
    target = is_list && ordinal < js_count(outputs) ? js_item(outputs, (size_t)ordinal) : NULL;
  }
  const json *name =
      target != NULL && js_kind_of(target) == JS_OBJECT ? js_member(target, "output_name") : NULL;
  return name != NULL && js_kind_of(name) == JS_STRING ? js_string(name) : (str){0};
}

static glv_status check_function(const field *f, const json *envelope, glv_error *err) {
  const str id = value_of(f, "computed_column.function.binding_id");
  uint64_t ordinal = 0;
  if (id.size == 0 ||
      !str_to_u64(value_of(f, "computed_column.function.output_ordinal"), &ordinal)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "computed column '%s' has an incomplete declaration",
                f->name);
  }
  const json *binding = envelope != NULL ? find_binding(envelope, id) : NULL;
  if (binding == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "Function output '%s' references missing binding '%.*s'",
                f->name, STR_ARG(id));
  }
  if (!str_is(destination(binding, ordinal), f->name)) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "Function output '%s' does not match an output of binding '%.*s'", f->name,
                STR_ARG(id));
  }
  return GLV_OK;
}

static glv_status check_field(const table_snapshot *view, const field *f, const json *envelope,
                              glv_error *err) {
  if (!is_computed(f)) {
    return !has_declaration_key(f)
               ? GLV_OK
               : FAIL(err, GLV_E_INVALID_INPUT,
                      "field '%s' carries an incomplete computed-column declaration", f->name);
  }
  if (!f->nullable) {
    return FAIL(err, GLV_E_SCHEMA,
                "computed column '%s' of view '%s' cannot hold NULL; recreate the view", f->name,
                table_name(view));
  }
  const str kind = value_of(f, "computed_column.kind");
  if (str_is(kind, "function")) {
    return check_function(f, envelope, err);
  }
  return str_is(kind, "sql") ? GLV_OK
                             : FAIL(err, GLV_E_UNSUPPORTED,
                                    "computed column '%s' is defined by '%.*s', which this version "
                                    "of glaive cannot fill",
                                    f->name, STR_ARG(kind));
}

/* The bindings of the view's schema; *ret stays NULL when it has none. */
static glv_status read_bindings(const table_snapshot *view, json **ret, glv_error *err) {
  bool found = false;
  const str text = table_metadata_get(view, STR(key_bindings), &found);
  if (!found) {
    return GLV_OK;
  }
  CLEANUP(js_cleanup) json *envelope = NULL;
  const glv_status status = js_parse(text, &envelope, err);
  if (status != GLV_OK) {
    return error_prefix(err, status, "invalid Function binding metadata: ");
  }
  const json *version = js_kind_of(envelope) == JS_OBJECT ? js_member(envelope, "version") : NULL;
  if (version == NULL || js_kind_of(version) != JS_INT || js_int(version) != 1) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "the Function binding metadata of view '%s' has a version that this release does "
                "not know",
                table_name(view));
  }
  *ret = envelope;
  envelope = NULL;
  return GLV_OK;
}

glv_status computed_check(const table_snapshot *view, glv_error *err) {
  const schema *s = table_schema(view);
  CLEANUP(js_cleanup) json *envelope = NULL;
  TRY(read_bindings(view, &envelope, err));
  for (size_t i = 0; i < s->field_count; i++) {
    TRY(check_field(view, &s->fields[i], envelope, err));
  }
  return GLV_OK;
}
