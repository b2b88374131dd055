/* What views tell about themselves, as JSON: explain, status, verify. */
#include "base/json.h"
#include "base/json_canonical.h"
#include "local/local_private.h"
#include "text/text.h"
#include "view/status.h"
#include "view/verify.h"

/* ---- building ---- */

/* `value` is taken over; NULL = no memory. */
static glv_status put_text(json *o, const char *key, const char *text, glv_error *err) {
  return js_put(o, key, text != NULL ? js_new_string(str_of(text)) : js_new_null(), err);
}

static glv_status put_count(json *o, const char *key, bool is_known, uint64_t count,
                            glv_error *err) {
  return js_put(o, key, is_known ? js_new_int((int64_t)count) : js_new_null(), err);
}

struct named_count {
  const char *name;
  uint64_t count;
};

/* An object of counts, or null. */
static glv_status put_counts(json *o, const char *key, bool is_known,
                             const struct named_count *counts, size_t count, glv_error *err) {
  if (!is_known) {
    return js_put(o, key, js_new_null(), err);
  }
  json *inner = js_new_object();
  for (size_t i = 0; i < count; i++) {
    if (js_put(inner, counts[i].name, js_new_int((int64_t)counts[i].count), err) != GLV_OK) {
      js_free(inner);
      return error_nomem(err, 0);
    }
  }
  return js_put(o, key, inner, err);
}

static const char *mode_text(refresh_mode mode) {
  return mode == REFRESH_REBUILD ? "rebuild" : mode == REFRESH_NO_OP ? "no_op" : "incremental";
}

/* ---- explain ---- */

static glv_status explain_json(const refresh_outlook *r, json *o, glv_error *err) {
  const change_counts *c = &r->changes;
  const struct named_count fragments[] = {{"same", c->fragments_same},
                                          {"deleted", c->fragments_deleted},
                                          {"changed", c->fragments_changed},
                                          {"new", c->fragments_new},
                                          {"gone", c->fragments_gone}};
  const struct named_count rows[] = {{"fresh", c->rows_fresh},
                                     {"touched", c->rows_touched},
                                     {"revived", c->rows_revived},
                                     {"removed", c->rows_removed}};
  TRY(put_text(o, "mode", mode_text(r->mode), err));
  TRY(put_text(o, "reason", r->reason, err));
  TRY(put_count(o, "source_version", true, r->source_version, err));
  TRY(put_count(o, "version", true, r->version, err));
  TRY(put_count(o, "rows_to_compute", true, r->additions, err));
  TRY(put_count(o, "ids_to_remove", r->has_changes, r->evicted, err));
  TRY(put_count(o, "bytes_to_read", r->has_changes, c->bytes, err));
  TRY(put_counts(o, "fragments", r->has_changes, fragments, 5, err));
  return put_counts(o, "rows", r->has_changes, rows, 4, err);
}

glv_status local_view_explain(glv_view *view, const glv_refresh_options *options, buf *ret_json,
                              glv_error *err) {
  local_view *v = view_of(view);
  const refresh_options refresh = local_refresh_options(options);
  CLEANUP(local_sources_dispose) local_sources sources = {.conn = conn_of(view->conn)};
  const view_database db = local_database(&sources);
  refresh_outlook outlook;
  TRY(view_explain(view->handle.env, &db, v->table->path, v->table->name, &refresh, &outlook, err));
  CLEANUP(js_cleanup) json *o = js_new_object();
  TRY(o != NULL ? explain_json(&outlook, o, err) : error_nomem(err, 0));
  return js_print(o, 0, 0, ret_json, err);
}

/* ---- status ---- */

static glv_status put_source(json *o, const view_report *r, glv_error *err) {
  const view_definition *d = &r->definition;
  TRY(put_text(o, "source", r->form != NULL ? d->source_table : NULL, err));
  json *names = js_new_array();
  for (size_t i = 0; i < d->namespace_count; i++) {
    if (js_push(names, js_new_string(str_of(d->source_namespace[i])), err) != GLV_OK) {
      js_free(names);
      return error_nomem(err, 0);
    }
  }
  return js_put(o, "source_namespace", names, err);
}

static glv_status status_json(const view_report *r, json *o, glv_error *err) {
  const bool both = r->has_source && r->has_watermark && r->source_head >= r->source_version;
  TRY(put_text(o, "state", r->state, err));
  TRY(put_text(o, "form", r->form, err));
  TRY(put_source(o, r, err));
  TRY(put_count(o, "version", true, r->version, err));
  TRY(put_count(o, "rows", true, r->rows, err));
  TRY(js_put(o, "intact", js_new_bool(r->is_intact), err));
  TRY(put_count(o, "source_version", r->has_watermark, r->source_version, err));
  TRY(put_count(o, "source_head", r->has_source, r->source_head, err));
  TRY(put_count(o, "versions_behind", both, r->source_head - r->source_version, err));
  TRY(put_count(o, "rows_behind", r->has_behind, r->rows_behind, err));
  TRY(put_text(o, "reason", r->reason, err));
  return put_count(o, "refreshed_at_ms", r->has_refreshed_at, r->refreshed_at_ms, err);
}

glv_status local_view_status(glv_view *view, const glv_call_options *options, buf *ret_json,
                             glv_error *err) {
  (void)options;
  local_view *v = view_of(view);
  CLEANUP(local_sources_dispose) local_sources sources = {.conn = conn_of(view->conn)};
  const view_database db = local_database(&sources);
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, view->handle.env);
  view_report report;
  TRY(view_status(view->handle.env, &db, v->table->path, v->table->name, &a, &report, err));
  CLEANUP(js_cleanup) json *o = js_new_object();
  TRY(o != NULL ? status_json(&report, o, err) : error_nomem(err, 0));
  return js_print(o, 0, 0, ret_json, err);
}

/* ---- verify ---- */

enum { MOST_SHOWN = 10 };

/* Rows of both sides as texts of JSON objects, separated by commas. */
struct shown_rows {
  buf rows[2];
};

static void shown_dispose(struct shown_rows *s) {
  buf_dispose(&s->rows[0]);
  buf_dispose(&s->rows[1]);
}

static glv_status show_row(void *context, verify_side side, const batch *rows, size_t row,
                           glv_error *err) {
  buf *out = &((struct shown_rows *)context)->rows[side];
  TRY(buf_append_str(out, out->size > 0 ? STR(", {") : STR("{"), err));
  for (size_t i = 0; i < rows->column_count; i++) {
    TRY(i > 0 ? buf_append_str(out, STR(", "), err) : GLV_OK);
    TRY(json_canonical_string(out, str_of(rows->schema->fields[i].name), err));
    TRY(buf_append_str(out, STR(": "), err));
    TRY(text_print_json(&rows->columns[i], row, out, err));
  }
  return buf_append_str(out, STR("}"), err);
}

static glv_status verify_json(const verify_result *r, const struct shown_rows *shown, buf *out,
                              glv_error *err) {
  TRY(buf_printf(out, err,
                 "{\"equal\": %s, \"source_version\": %llu, \"version\": %llu, "
                 "\"rows_expected\": %llu, \"rows_found\": %llu, \"missing\": %llu, "
                 "\"extra\": %llu, \"different\": %llu, \"expected\": [",
                 r->is_equal ? "true" : "false", (unsigned long long)r->source_version,
                 (unsigned long long)r->version, (unsigned long long)r->rows_wanted,
                 (unsigned long long)r->rows_found, (unsigned long long)r->missing,
                 (unsigned long long)r->extra, (unsigned long long)r->different));
  TRY(buf_append_str(out, buf_str(&shown->rows[VERIFY_WANTED]), err));
  TRY(buf_append_str(out, STR("], \"found\": ["), err));
  TRY(buf_append_str(out, buf_str(&shown->rows[VERIFY_FOUND]), err));
  return buf_append_str(out, STR("]}"), err);
}

glv_status local_view_verify(glv_view *view, const glv_call_options *options, buf *ret_json,
                             glv_error *err) {
  local_view *v = view_of(view);
  glv_env *env = view->handle.env;
  CLEANUP(local_sources_dispose) local_sources sources = {.conn = conn_of(view->conn)};
  const view_database db = local_database(&sources);
  CLEANUP(shown_dispose) struct shown_rows shown;
  buf_init(&shown.rows[0], env, SIZE_MAX / 2);
  buf_init(&shown.rows[1], env, SIZE_MAX / 2);
  const verify_options how = {
      .most_shown = MOST_SHOWN, .cancel = options->cancel, .show = show_row, .context = &shown};
  verify_result r;
  TRY(view_verify(env, &db, v->table->path, v->table->name, &how, &r, err));
  TRY(verify_json(&r, &shown, ret_json, err));
  return r.is_equal
             ? GLV_OK
             : FAIL(err, GLV_E_DIFFERS,
                    "view '%s' differs from its definition at source version %llu: %llu rows "
                    "missing, %llu extra, %llu different; refresh it with --full",
                    v->table->name, (unsigned long long)r.source_version,
                    (unsigned long long)r.missing, (unsigned long long)r.extra,
                    (unsigned long long)r.different);
}
