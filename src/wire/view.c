/* Materialized views in bodies, as LanceDB 0.40 spells them; further keys are for our own kind. */
#include "wire/view.h"

#include "base/error.h"
#include "wire/members.h"

static glv_status give(json **built, json **ret) {
  *ret = *built;
  *built = NULL;
  return GLV_OK;
}

/* Left out when it is NULL. */
static glv_status put_optional(json *object, const char *key, const char *text, glv_error *err) {
  return text != NULL ? wire_put_text(object, key, text, err) : GLV_OK;
}

/* ---- creation ---- */

glv_status wire_view_create_write(const wire_view_create *v, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(wire_put_text(body, "query", v->query, err));
  TRY(wire_put_bool(body, "with_no_data", v->with_no_data, err));
  TRY(put_optional(body, "stored_form", v->stored_form, err));
  return give(&body, ret);
}

/* ---- definitions ---- */

static glv_status put_projections(const wire_view *v, json *body, glv_error *err) {
  CLEANUP(js_cleanup) json *array = js_new_array();
  for (size_t i = 0; i < v->projection_count; i++) {
    CLEANUP(js_cleanup) json *item = js_new_object();
    TRY(wire_put_text(item, "output_column", v->projections[i].output, err));
    TRY(wire_put_text(item, "expression", v->projections[i].expression, err));
    json *taken = item;
    item = NULL;
    TRY(js_push(array, taken, err));
  }
  json *taken = array;
  array = NULL;
  return js_put(body, "projections", taken, err);
}

glv_status wire_view_write(const wire_view *v, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(wire_put_text(body, "source_table", v->source_table, err));
  TRY(wire_put_texts(body, "source_namespace", v->source_namespace, v->namespace_count, err));
  TRY(put_projections(v, body, err));
  TRY(put_optional(body, "filter", v->filter, err));
  if (v->has_limit) {
    TRY(wire_put_uint(body, "limit", v->limit, err));
  }
  TRY(put_optional(body, "query", v->query, err));
  TRY(put_optional(body, "incarnation", v->incarnation, err));
  TRY(put_optional(body, "form", v->form, err));
  return give(&body, ret);
}

static glv_status read_projections(arena *memory, const json *body, wire_view *ret,
                                   glv_error *err) {
  const json *array = NULL;
  TRY(wire_array(body, "projections", &array, err));
  const size_t count = array != NULL ? js_count(array) : 0;
  wire_projection *items = ARENA_ARRAY(memory, wire_projection, count);
  if (items == NULL) {
    return error_nomem(err, count * sizeof *items);
  }
  for (size_t i = 0; i < count; i++) {
    const json *item = js_item(array, i);
    TRY(wire_expect(item, JS_OBJECT, "projections", err));
    TRY(wire_text_required(item, "output_column", &items[i].output, err));
    TRY(wire_text_required(item, "expression", &items[i].expression, err));
  }
  ret->projections = items;
  ret->projection_count = count;
  return GLV_OK;
}

glv_status wire_view_read(arena *memory, const json *body, wire_view *ret, glv_error *err) {
  *ret = (wire_view){0};
  TRY(wire_text_required(body, "source_table", &ret->source_table, err));
  TRY(wire_texts(memory, body, "source_namespace", &ret->source_namespace, &ret->namespace_count,
                 err));
  TRY(read_projections(memory, body, ret, err));
  TRY(wire_text(body, "filter", &ret->filter, err));
  const json *limit = js_member(body, "limit");
  ret->has_limit = limit != NULL && js_kind_of(limit) != JS_NULL;
  TRY(wire_uint(body, "limit", &ret->limit, err));
  TRY(wire_text(body, "query", &ret->query, err));
  TRY(wire_text(body, "incarnation", &ret->incarnation, err));
  return wire_text(body, "form", &ret->form, err);
}

/* ---- creation as it is read ---- */

/* The older namespace specification: no data is the default there. */
static glv_status read_older(const json *body, wire_view_create *ret, glv_error *err) {
  const char *kind = "query";
  bool auto_refresh = false;
  TRY(wire_text(body, "kind", &kind, err));
  TRY(wire_bool(body, "auto_refresh", &auto_refresh, err));
  if (strcmp(kind, "query") != 0) {
    return FAIL(err, GLV_E_UNSUPPORTED, "views of kind '%s' are not offered; use \"query\"", kind);
  }
  if (auto_refresh) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "views that refresh themselves are not offered; leave out 'auto_refresh'");
  }
  ret->with_no_data = true;
  TRY(wire_text_required(body, "source_query", &ret->query, err));
  return wire_text(body, "output_schema", &ret->output_schema, err);
}

static bool has(const json *body, const char *key) {
  const json *member = js_member(body, key);
  return member != NULL && js_kind_of(member) != JS_NULL;
}

glv_status wire_view_create_read(arena *memory, const json *body, wire_view_create *ret,
                                 glv_error *err) {
  const bool is_older = has(body, "kind") || has(body, "source_query");
  const bool is_in_parts = has(body, "source_table");
  *ret = (wire_view_create){0};
  if ((int)has(body, "query") + (int)is_older + (int)is_in_parts != 1) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "a view is created from one of 'query', 'source_table' and 'source_query'");
  }
  ret->is_older = is_older;
  if (is_older) {
    TRY(read_older(body, ret, err));
  } else if (is_in_parts) {
    TRY(wire_view_read(memory, body, &ret->parts, err));
  } else {
    TRY(wire_text_required(body, "query", &ret->query, err));
  }
  TRY(wire_bool(body, "with_no_data", &ret->with_no_data, err));
  return wire_text(body, "stored_form", &ret->stored_form, err);
}

/* ---- refresh ---- */

glv_status wire_refresh_write(const wire_refresh *r, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(wire_put_bool(body, "full", r->full, err));
  if (r->has_source_version) {
    TRY(wire_put_uint(body, "source_version", r->source_version, err));
  }
  TRY(put_optional(body, "expected_incarnation", r->expected_incarnation, err));
  if (r->require_incremental) {
    TRY(wire_put_text(body, "require", "incremental", err));
  }
  return give(&body, ret);
}

static bool is_there(const json *body, const char *key) {
  const json *node = js_member(body, key);
  return node != NULL && js_kind_of(node) != JS_NULL;
}

glv_status wire_refresh_read(const json *body, wire_refresh *ret, glv_error *err) {
  const char *require = NULL;
  uint64_t other = 0;
  *ret = (wire_refresh){0};
  TRY(wire_bool(body, "full", &ret->full, err));
  TRY(wire_uint(body, "src_version", &other, err));
  ret->source_version = other;
  TRY(wire_uint(body, "source_version", &ret->source_version, err));
  ret->has_source_version = is_there(body, "source_version") || is_there(body, "src_version");
  if (is_there(body, "src_version") && ret->source_version != other) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'source_version' and 'src_version' differ; give one");
  }
  TRY(wire_text(body, "expected_incarnation", &ret->expected_incarnation, err));
  TRY(wire_text(body, "require", &require, err));
  if (require != NULL && strcmp(require, "incremental") != 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'require' can only be \"incremental\"");
  }
  ret->require_incremental = require != NULL;
  return GLV_OK;
}

static const char *const modes[] = {"unknown", "rebuild", "incremental", "no_op"};

glv_status wire_refresh_result_write(const wire_refresh_result *r, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(wire_put_text(body, "mode", modes[r->mode], err));
  TRY(wire_put_int(body, "rows_written", r->rows_written, err));
  TRY(wire_put_int(body, "source_version", r->source_version, err));
  TRY(wire_put_uint(body, "version", r->version, err));
  TRY(wire_put_int(body, "rows_removed", r->rows_removed, err));
  TRY(wire_put_int(body, "duration_ms", r->duration_ms, err));
  TRY(wire_put_int(body, "source_rows_scanned", r->source_rows_scanned, err));
  TRY(wire_put_text(body, "reason", r->reason, err));
  return give(&body, ret);
}

static glv_status read_mode(const json *node, int *ret, glv_error *err) {
  const char *word = NULL;
  TRY(wire_text_required(node, "mode", &word, err));
  for (int i = 1; i < (int)(sizeof modes / sizeof modes[0]); i++) {
    if (strcmp(word, modes[i]) == 0) {
      *ret = i;
      return GLV_OK;
    }
  }
  return FAIL(err, GLV_E_INVALID_INPUT, "'mode' is '%.40s'", word);
}

/* A count that must be there. */
static glv_status read_count(const json *node, const char *key, int64_t *ret, glv_error *err) {
  uint64_t value = 0;
  TRY(wire_uint_required(node, key, &value, err));
  *ret = (int64_t)value;
  return GLV_OK;
}

glv_status wire_refresh_result_read(const json *node, wire_refresh_result *ret, glv_error *err) {
  *ret = (wire_refresh_result){
      .rows_removed = -1, .duration_ms = -1, .source_rows_scanned = -1, .reason = ""};
  if (node == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'result' is null");
  }
  TRY(wire_expect(node, JS_OBJECT, "result", err));
  TRY(read_mode(node, &ret->mode, err));
  TRY(read_count(node, "rows_written", &ret->rows_written, err));
  TRY(read_count(node, "source_version", &ret->source_version, err));
  TRY(wire_uint_required(node, "version", &ret->version, err));
  TRY(wire_int(node, "rows_removed", &ret->rows_removed, err));
  TRY(wire_int(node, "duration_ms", &ret->duration_ms, err));
  TRY(wire_int(node, "source_rows_scanned", &ret->source_rows_scanned, err));
  return wire_text(node, "reason", &ret->reason, err);
}
