/*
 * The mode of a refresh. Reasons that need no look at the source come first, then no_op, then the
 * comparison of the source with itself at the watermark. A comparison that works still gives way to
 * a rebuild when following it would cost more, or when rows beyond the cap of the view would be
 * needed.
 */
#include "view/refresh_private.h"
#include "view/upstream.h"

#define MOST_EVICTED UINT64_C(4194304)
#define MOST_TOUCHED 0.5

static bool is_up_to_date(const struct attempt *a) {
  return !a->options->full && a->new_definition.data == NULL && a->mark.has_source_version &&
         a->mark.source_version == table_version(a->source) && a->intact.state == VIEW_INTACT &&
         a->mark.has_timestamp &&
         a->mark.source_timestamp_ns == (uint64_t)table_timestamp_ns(a->source);
}

/* Reasons that need no look at the source's history; NULL = none. */
static const char *plain_reason(const struct attempt *a) {
  if (!a->mark.has_source_version) {
    return "first";
  }
  if (a->options->full) {
    return "full";
  }
  if (a->new_definition.data != NULL) {
    return "definition";
  }
  if (a->intact.state != VIEW_INTACT) {
    return a->intact.state == VIEW_STAMP_GONE ? "stamp_gone" : "drift";
  }
  if (view_plan_is_grouped(a->plan)) {
    return "grouped";
  }
  return a->has_provenance ? NULL : "no_provenance";
}

static bool is_too_much(const struct attempt *a) {
  const refresh_options *o = a->options;
  const source_changes *c = &a->changes;
  const uint64_t most = o->most_evicted != 0 ? o->most_evicted : MOST_EVICTED;
  const double part = o->most_touched != 0 ? o->most_touched : MOST_TOUCHED;
  if (o->policy == REFRESH_UPSTREAM) {
    return c->evicted_count > most;
  }
  return c->evicted_count > most ||
         (double)c->counts.rows_touched > part * (double)table_live_rows(a->source);
}

/* The view holds as many rows as it may: which rows could take the place of evicted ones, nobody
 * remembers. */
static bool is_past_limit(const struct attempt *a) {
  return a->definition.has_limit && a->changes.evicted_count > 0 &&
         table_live_rows(a->view) >= a->definition.limit;
}

static glv_status judge_changes(struct attempt *a, const table_snapshot *before,
                                const char **reason, glv_error *err) {
  if (a->changes.is_broken) {
    *reason = "input_identity";
    return GLV_OK;
  }
  bool follows = true;
  if (a->options->policy == REFRESH_UPSTREAM) {
    TRY(upstream_follows(before, a->source, a->plan, &follows, err));
  }
  *reason = !follows           ? "upstream"
            : is_too_much(a)   ? "too_many_changes"
            : is_past_limit(a) ? "limit"
                               : "";
  return GLV_OK;
}

/* Compare the source with itself at the watermark. */
static glv_status find_changes(struct attempt *a, const char **reason, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *before = NULL;
  const glv_status status = table_open_version(a->source, a->mark.source_version, &before, err);
  if (status == GLV_E_VERSION_NOT_FOUND) {
    *reason = "watermark_gone";
    return GLV_OK;
  }
  if (status == GLV_E_UNSUPPORTED) { /* it cannot be compared, but need not be read either */
    *reason = "input_identity";
    return GLV_OK;
  }
  TRY(status);
  if (!a->mark.has_timestamp ||
      a->mark.source_timestamp_ns != (uint64_t)table_timestamp_ns(before)) {
    *reason = "source_recreated";
    return GLV_OK;
  }
  a->has_changes = true;
  TRY(source_changes_find(before, a->source, a->plan, &a->changes, err));
  return judge_changes(a, before, reason, err);
}

glv_status attempt_decide(struct attempt *a, glv_error *err) {
  a->result = (refresh_result){
      .source_version = table_version(a->source), .version = table_version(a->view), .reason = ""};
  if (is_up_to_date(a)) {
    a->result.mode = REFRESH_NO_OP;
    return GLV_OK;
  }
  const char *reason = plain_reason(a);
  if (reason == NULL) {
    TRY(find_changes(a, &reason, err));
  }
  a->result.reason = reason;
  a->result.mode = reason[0] == '\0' ? REFRESH_INCREMENTAL : REFRESH_REBUILD;
  return GLV_OK;
}
