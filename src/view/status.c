/*
 * A report is put together from what can be read: each step that fails ends it, with the message of
 * the failure as the reason why the distance to the source is unknown.
 */
#include "view/status.h"

#include "view/behind.h"
#include "view/refresh_private.h"

const char *view_state_text(arena *a, const definition_read *read, const table_snapshot *view) {
  switch (read->state) {
  case DEFINITION_OK:
    return watermark_read(view).has_source_version ? "ok" : "unfilled";
  case DEFINITION_NEWER:
    return arena_printf(a, "newer:%s", read->tag);
  case DEFINITION_UNREADABLE:
    break;
  }
  return arena_printf(a, "unreadable:%s", read->text);
}

/* What the view's own metadata says. */
static glv_status read_view(const table_snapshot *view, const char *name, arena *a,
                            view_report *ret, glv_error *err) {
  bool is_view = false;
  const str stored = table_metadata_get(view, STR(VIEW_KEY_DEFINITION), &is_view);
  if (!is_view) {
    return FAIL(err, GLV_E_NOT_A_VIEW, "Table '%s' is not a materialized view", name);
  }
  definition_read read;
  const char *text = arena_strdup(a, stored);
  if (text == NULL) {
    return error_nomem(err, stored.size);
  }
  TRY(definition_examine(a, str_of(text), false, &read, err));
  const watermark mark = watermark_read(view);
  *ret = (view_report){.state = view_state_text(a, &read, view),
                       .version = table_version(view),
                       .rows = table_live_rows(view),
                       .has_watermark = mark.has_source_version,
                       .source_version = mark.source_version,
                       .has_refreshed_at = mark.has_refreshed_at,
                       .refreshed_at_ms = mark.refreshed_at_ms,
                       .reason = ""};
  if (read.state == DEFINITION_OK) {
    ret->definition = read.definition;
    ret->form = definition_form_name(read.definition.form);
  }
  intact_result intact;
  TRY(view_intact(view, &mark, false, &intact, err));
  ret->is_intact = intact.state == VIEW_INTACT;
  return ret->state != NULL ? GLV_OK : error_nomem(err, 0);
}

/* Compare the source with itself at the watermark. */
static glv_status measure(struct attempt *a, view_report *ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *before = NULL;
  const glv_status status = table_open_version(a->source, a->mark.source_version, &before, err);
  if (status == GLV_E_VERSION_NOT_FOUND) {
    ret->reason = "watermark_gone";
    return GLV_OK;
  }
  TRY(status);
  if (!a->mark.has_timestamp ||
      a->mark.source_timestamp_ns != (uint64_t)table_timestamp_ns(before)) {
    ret->reason = "source_recreated";
    return GLV_OK;
  }
  TRY(source_behind(before, a->source, a->plan, &ret->has_behind, &ret->rows_behind, err));
  ret->reason = ret->has_behind ? "" : "input_identity";
  return GLV_OK;
}

static bool is_serious(glv_status status) {
  return status == GLV_E_NOMEM || status == GLV_E_IO || status == GLV_E_CANCELLED;
}

/* The source as it is now. */
static glv_status look_at_source(struct attempt *a, const char *path, const char *name,
                                 view_report *ret, glv_error *err) {
  glv_error report = {0};
  glv_status status = attempt_open(a, path, name, NULL, &report);
  if (a->source != NULL) {
    ret->has_source = true;
    ret->source_head = table_version(a->source);
  }
  if (status == GLV_OK && !a->mark.has_source_version) {
    ret->reason = "first";
    return GLV_OK;
  }
  status = status == GLV_OK ? measure(a, ret, &report) : status;
  if (is_serious(status)) {
    *(err != NULL ? err : &report) = report;
    return status;
  }
  if (status != GLV_OK) {
    ret->reason = arena_strdup(&a->memory, str_of(report.message));
  }
  return ret->reason != NULL ? GLV_OK : error_nomem(err, 0);
}

glv_status view_status(glv_env *env, const view_database *db, const char *path, const char *name,
                       arena *a, view_report *ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *view = NULL;
  TRY(table_open(env, path, name, 0, &view, err));
  TRY(read_view(view, name, a, ret, err));
  if (ret->form == NULL) {
    ret->reason = ret->state;
    return GLV_OK;
  }
  static const refresh_options defaults = {0};
  CLEANUP(attempt_dispose) struct attempt look = {.env = env, .db = db, .options = &defaults};
  arena_init(&look.memory, env);
  TRY(look_at_source(&look, path, name, ret, err));
  ret->reason = arena_strdup(a, str_of(ret->reason));
  return ret->reason != NULL ? GLV_OK : error_nomem(err, 0);
}
