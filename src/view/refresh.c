/*
 * A refresh is a sequence of attempts. Each attempt opens the view at its latest version P, decides
 * what has to be done, and publishes at P + 1 or not at all; an attempt that lost against another
 * commit is repeated on the new P. Every attempt is bound to the physical view that the first one
 * saw (its incarnation, and the directory handle of the snapshot): a view that was dropped and made
 * again meanwhile is never written to.
 *
 * Order of decisions: identity of the view, definition, source, plan, schema; then whether the
 * stamp still speaks for the rows; then no_op, incremental or rebuild. Nothing is written before
 * the mode is known.
 */
#include "view/refresh.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/keyed_lock.h"
#include "expr/expr.h"
#include "io/io.h"
#include "view/computed.h"
#include "view/refresh_private.h"

/* Longest pause between attempts. */
enum { MAX_PAUSE_MS = 50 };

void attempt_dispose(struct attempt *a) {
  source_changes_dispose(&a->changes);
  view_plan_free(a->plan);
  table_unref(a->source);
  table_unref(a->view);
  arena_dispose(&a->memory);
}

/* ---- identity of the view ---- */

static glv_status check_incarnation(const struct attempt *a, const char *expected, glv_error *err) {
  const str actual = a->mark.incarnation;
  if (expected == NULL || (actual.size != 0 && str_is(actual, expected))) {
    return GLV_OK;
  }
  if (actual.size == 0) {
    return FAIL(err, GLV_E_STALE_VIEW,
                "materialized view '%s' carries no incarnation token: its schema metadata was "
                "replaced since the token "
                "was captured",
                table_name(a->view));
  }
  return FAIL(err, GLV_E_STALE_VIEW,
              "materialized view '%s' is not the incarnation this refresh was requested for: it "
              "was dropped and "
              "recreated",
              table_name(a->view));
}

static glv_status keep_incarnation(struct attempt *a, glv_error *err) {
  const str actual = a->mark.incarnation;
  if (actual.size == 0) {
    return incarnation_new(a->env, a->incarnation, err);
  }
  if (actual.size >= sizeof a->incarnation) {
    return FAIL(err, GLV_E_CORRUPT,
                "the incarnation token of materialized view '%s' is %zu bytes long",
                table_name(a->view), actual.size);
  }
  memcpy(a->incarnation, actual.data, actual.size);
  a->incarnation[actual.size] = '\0';
  return GLV_OK;
}

/* ---- definition ---- */

/* "x" re-quoted to `x`; *changed is set when that made a difference. */
static glv_status requote(struct attempt *a, const char **text, bool *changed, glv_error *err) {
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, a->env, SIZE_MAX / 2);
  const glv_status status = expr_requote(str_of(*text), &out, err);
  if (status == GLV_E_SQL_PARSE) {
    return GLV_OK; /* planning reports it with the name of the column */
  }
  TRY(status);
  if (!str_is(buf_str(&out), *text)) {
    *text = arena_strdup(&a->memory, buf_str(&out));
    *changed = true;
  }
  return *text != NULL ? GLV_OK : error_nomem(err, out.size);
}

/*
 * Older releases read "x" in a stored select as a string, newer ones as a column: text and rows may
 * disagree. Such a definition is stored anew in the same form, and the rows are computed anew.
 */
static glv_status normalise_definition(struct attempt *a, glv_error *err) {
  view_definition *d = &a->definition;
  if (d->form == DEFINITION_QUERY) {
    return GLV_OK;
  }
  view_projection *projections = ARENA_ARRAY(&a->memory, view_projection, d->projection_count);
  if (projections == NULL) {
    return error_nomem(err, d->projection_count * sizeof *projections);
  }
  bool changed = false;
  for (size_t i = 0; i < d->projection_count; i++) {
    projections[i] = d->projections[i];
    TRY(requote(a, &projections[i].expression, &changed, err));
  }
  if (d->filter != NULL) {
    TRY(requote(a, &d->filter, &changed, err));
  }
  d->projections = projections;
  a->new_definition = changed ? STR("") : str_slice(NULL, 0);
  return GLV_OK;
}

/* The new text of a normalised definition, with its inputs as planned. */
static glv_status write_definition(struct attempt *a, glv_error *err) {
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, a->env, SIZE_MAX / 2);
  TRY(definition_write(&a->plan->definition, &out, err));
  const char *text = arena_strdup(&a->memory, buf_str(&out));
  a->new_definition = str_of(text);
  return text != NULL ? GLV_OK : error_nomem(err, out.size);
}

static glv_status open_view(struct attempt *a, const char *path, const char *name,
                            const char *incarnation, glv_error *err) {
  TRY(table_open_again(a->env, path, name, a->options->known, &a->view, err));
  bool is_view = false;
  const str stored = table_metadata_get(a->view, STR(VIEW_KEY_DEFINITION), &is_view);
  if (!is_view) {
    return FAIL(err, GLV_E_NOT_A_VIEW, "Table '%s' is not a materialized view", name);
  }
  a->mark = watermark_read(a->view);
  TRY(check_incarnation(a, incarnation, err));
  TRY(keep_incarnation(a, err));
  TRY(definition_parse(&a->memory, stored, name, false, &a->definition, err));
  TRY(normalise_definition(a, err));
  return view_check_lsm(a->view, "materialized view", err);
}

/* ---- source and plan ---- */

static glv_status open_source(struct attempt *a, glv_error *err) {
  const view_definition *d = &a->definition;
  const uint64_t version = a->options->has_source_version ? a->options->source_version : 0;
  if (a->options->has_source_version && version == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "source version 0 does not exist; versions start at 1");
  }
  TRY(a->db->open(a->db->context, d->source_namespace, d->namespace_count, d->source_table, version,
                  &a->source, err));
  return view_check_source(a->source, false, err);
}

static glv_status make_plan(struct attempt *a, glv_error *err) {
  const glv_status status = view_plan_make(a->source, &a->definition, PLAN_REFRESH, &a->plan, err);
  if (status == GLV_E_INVALID_INPUT || status == GLV_E_COLUMN_EXISTS ||
      status == GLV_E_INVALID_EXPRESSION) {
    if (err != NULL) {
      err->code = GLV_E_SCHEMA;
    }
    return GLV_E_SCHEMA;
  }
  TRY(status);
  TRY(computed_check(a->view, err));
  TRY(view_plan_matches(a->plan, a->view, &a->has_provenance, err));
  return a->new_definition.data != NULL ? write_definition(a, err) : GLV_OK;
}

/* ---- attempts ---- */

glv_status attempt_open(struct attempt *a, const char *path, const char *name,
                        const char *incarnation, glv_error *err) {
  TRY(open_view(a, path, name, incarnation, err));
  TRY(open_source(a, err));
  return make_plan(a, err);
}

/* Everything up to the mode; writes nothing. */
static glv_status attempt_prepare(struct attempt *a, const char *path, const char *name,
                                  const char *incarnation, glv_error *err) {
  TRY(attempt_open(a, path, name, incarnation, err));
  const bool fills_only = a->options->policy == REFRESH_UPSTREAM;
  TRY(view_intact(a->view, &a->mark, fills_only, &a->intact, err));
  return attempt_decide(a, err);
}

static glv_status attempt_run(struct attempt *a, const char *path, const char *name,
                              const char *incarnation, glv_error *err) {
  TRY(attempt_prepare(a, path, name, incarnation, err));
  if (a->result.mode == REFRESH_REBUILD && a->options->require_incremental) {
    return FAIL(err, GLV_E_BAD_STATE,
                "view '%s' would be rebuilt (%s), which was not allowed; nothing was written", name,
                a->result.reason);
  }
  TRY(cancel_check(a->cancel, err));
  if (a->result.mode != REFRESH_NO_OP) {
    return attempt_publish(a, err);
  }
  const bool restamp = a->intact.benign_commits > 0 && !a->options->no_stamp;
  return restamp ? attempt_stamp(a, err) : GLV_OK;
}

/* A few milliseconds, different for every caller. */
static glv_status pause_before_retry(glv_env *env, glv_error *err) {
  uint16_t number = 0;
  TRY(env_random(env, &number, sizeof number, err));
  io_sleep_ns(env, (int64_t)(1 + number % MAX_PAUSE_MS) * 1000000);
  return GLV_OK;
}

static glv_status lock_view(glv_env *env, const char *path, const char *name, cancel_token *cancel,
                            keyed_lock *ret, glv_error *err) {
  uint64_t device = 0;
  uint64_t inode = 0;
  TRY(table_identity(env, path, name, &device, &inode, err));
  return keyed_lock_acquire(env, device, inode, cancel, ret, err);
}

/* One attempt, bound to the incarnation in `bound` unless that is empty; it gets the one seen. */
static glv_status attempt_once(struct attempt *a, const char *path, const char *name,
                               char bound[64], refresh_result *ret, glv_error *err) {
  const char *expected = a->options->incarnation;
  if (expected == NULL && bound[0] != '\0') {
    expected = bound;
  }
  const glv_status status = attempt_run(a, path, name, expected, err);
  if (status == GLV_OK) {
    *ret = a->result;
  }
  if (a->mark.incarnation.size != 0) {
    memcpy(bound, a->incarnation, sizeof a->incarnation);
  }
  return status;
}

glv_status view_refresh(glv_env *env, const view_database *db, const char *path, const char *name,
                        const refresh_options *options, refresh_result *ret, glv_error *err) {
  CLEANUP(cancel_cleanup) cancel_token *cancel = NULL;
  TRY(cancel_new(env, options->cancel, &cancel, err));
  CLEANUP(keyed_lock_release) keyed_lock lock = {0};
  TRY(lock_view(env, path, name, cancel, &lock, err));
  char bound[64] = ""; /* the incarnation that the first attempt saw */
  glv_error error = {0};
  glv_status status = GLV_E_CONFLICT;
  for (unsigned number = 0; number <= options->retries && status == GLV_E_CONFLICT; number++) {
    TRY(number > 0 ? pause_before_retry(env, err) : GLV_OK);
    CLEANUP(attempt_dispose)
    struct attempt a = {.env = env, .db = db, .options = options, .cancel = cancel};
    arena_init(&a.memory, env);
    status = attempt_once(&a, path, name, bound, ret, &error);
  }
  if (status != GLV_OK && err != NULL) {
    *err = error;
  }
  return status;
}

glv_status view_explain(glv_env *env, const view_database *db, const char *path, const char *name,
                        const refresh_options *options, refresh_outlook *ret, glv_error *err) {
  CLEANUP(attempt_dispose)
  struct attempt a = {.env = env, .db = db, .options = options, .cancel = options->cancel};
  arena_init(&a.memory, env);
  TRY(attempt_prepare(&a, path, name, options->incarnation, err));
  *ret = (refresh_outlook){.mode = a.result.mode,
                           .reason = a.result.reason,
                           .source_version = a.result.source_version,
                           .version = a.result.version,
                           .has_changes = a.has_changes,
                           .changes = a.changes.counts,
                           .additions = a.changes.additions,
                           .evicted = a.changes.evicted_count};
  if (a.result.mode == REFRESH_REBUILD) {
    ret->additions = table_live_rows(a.source);
  }
  return GLV_OK;
}
