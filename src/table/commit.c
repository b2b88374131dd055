/* The commit loop (lance-table-format 12.1).
 *
 *   plan once: deletion files, transaction
 *   loop:  list `_versions`; for every version after the last one examined, read its transaction
 *          and apply the conflict rules; take the newest as the base of the manifest; join the
 *          deletions of ours with theirs
 *          write the .txn file (once, unless deletions were joined)
 *          build the manifest and publish it
 *          lost the name: wait a little, again
 *
 * A strict commit skips the loop: it wants the version after its base or nothing. A version whose
 * transaction is ours (same UUID) means that an attempt that looked lost had gone through.
 */
#include "table/commit.h"

#include <stdio.h>

#include "table/commit_private.h"

/* The retry phase ends after this time, as Lance's does. */
static const int64_t retry_ns = INT64_C(30) * 1000000000;

struct loop {
  commit_plan plan;
  const commit_options *options;
  bool wants_result;
  table_snapshot *result; /* the new version, decoded before it is published */
  table_snapshot *latest;
  uint64_t examined;  /* last version whose transaction was checked */
  uint64_t committed; /* ours; 0 = not yet */
  uint32_t attempts;
  bool is_unknown;
  buf bytes;
};

static void loop_cleanup(struct loop *l) {
  table_unref(l->result);
  table_unref(l->latest);
  buf_dispose(&l->bytes);
  plan_dispose(&l->plan);
}

static glv_status fail_conflict(const struct loop *l, enum verdict v, const transaction *theirs,
                                uint64_t version, glv_error *err) {
  const char *ours = operation_name(l->plan.op->kind);
  const char *other = operation_name(theirs->kind);
  if (v == VERDICT_INCOMPATIBLE) {
    return FAIL(err, GLV_E_CONFLICT,
                "table '%s': This %s transaction is incompatible with concurrent transaction %s at "
                "version %llu.",
                l->plan.home->name, ours, other, (unsigned long long)version);
  }
  error_set(err, GLV_E_CONFLICT,
            "table '%s': This %s transaction was preempted by concurrent transaction %s at version "
            "%llu. Please retry.",
            l->plan.home->name, ours, other, (unsigned long long)version);
  error_flag(err, GLV_ERROR_MAY_RETRY);
  return GLV_E_CONFLICT;
}

static void set_result(struct loop *l, table_snapshot *t) {
  table_unref(l->result);
  l->result = t;
}

/* One version that somebody committed after our base. */
static glv_status examine(struct loop *l, const table_snapshot *t, glv_error *err) {
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, l->plan.env);
  transaction *theirs;
  TRY(transaction_read(t, t->manifest->version, &a, &theirs, err));
  if (strcmp(theirs->uuid, l->plan.uuid) == 0) {
    l->committed = t->manifest->version;
    set_result(l, table_ref(t));
    return GLV_OK;
  }
  const enum verdict v = conflict_check(&l->plan, theirs);
  return v == VERDICT_COMPATIBLE ? GLV_OK : fail_conflict(l, v, theirs, t->manifest->version, err);
}

static void set_latest(struct loop *l, table_snapshot *t) {
  table_unref(l->latest);
  l->latest = t;
}

/* Whether the operation says something about rows, files or columns as they were in its base. */
static bool depends_on_base(enum operation_kind kind) {
  return kind == OPERATION_DELETE || kind == OPERATION_UPDATE || kind == OPERATION_REWRITE ||
         kind == OPERATION_MERGE || kind == OPERATION_PROJECT;
}

static glv_status fail_gap(const struct loop *l, uint64_t version, glv_error *err) {
  error_set(err, GLV_E_CONFLICT,
            "table '%s': version %llu was removed by a cleanup before this %s transaction was "
            "compared with it. Please retry.",
            l->plan.home->name, (unsigned long long)version, operation_name(l->plan.op->kind));
  error_flag(err, GLV_ERROR_MAY_RETRY);
  return GLV_E_CONFLICT;
}

/* Reads what was committed since the last look. Of a version that a cleanup removed nobody knows
 * what it did: an operation that depends on its base is computed again, others go on. */
static glv_status catch_up(struct loop *l, const version_listing *found, glv_error *err) {
  for (uint64_t v = l->examined + 1; v <= found->latest && l->committed == 0; v++) {
    table_snapshot *t;
    glv_error report = {0};
    const glv_status status = snapshot_load(l->plan.home, v, found->is_v1, &t, &report);
    if (status == GLV_E_VERSION_NOT_FOUND && v != found->latest) {
      TRY(depends_on_base(l->plan.op->kind) ? fail_gap(l, v, err) : GLV_OK);
      continue;
    }
    if (status != GLV_OK) {
      return pass_report(err, &report);
    }
    const glv_status verdict = examine(l, t, err);
    set_latest(l, t);
    TRY(verdict);
    l->examined = v;
  }
  return GLV_OK;
}

static glv_status fail_strict(const struct loop *l, glv_error *err) {
  error_set(err, GLV_E_CONFLICT,
            "table '%s': version %llu was committed by somebody else meanwhile", l->plan.home->name,
            (unsigned long long)l->plan.read_version + 1);
  error_flag(err, GLV_ERROR_MAY_RETRY);
  return GLV_E_CONFLICT;
}

/* Checks a listing taken before an attempt. */
static glv_status look(struct loop *l, glv_error *err) {
  version_listing found;
  TRY(list_versions(l->plan.home, NULL, &found, err));
  if (found.latest == 0) {
    return home_fail_dropped(l->plan.home, err);
  }
  if (found.latest == l->latest->manifest->version) {
    return GLV_OK;
  }
  if (found.latest < l->latest->manifest->version) {
    return FAIL(err, GLV_E_CORRUPT, "table '%s': version %llu has vanished", l->plan.home->name,
                (unsigned long long)l->latest->manifest->version);
  }
  if (l->options->strict) {
    return fail_strict(l, err);
  }
  TRY(catch_up(l, &found, err));
  return l->committed == 0 ? plan_catch_up(&l->plan, l->latest, err) : GLV_OK;
}

static glv_status check_applicable(const struct loop *l, glv_error *err) {
  TRY(table_check_writable(l->latest, err));
  if (l->plan.op->kind == OPERATION_OVERWRITE &&
      (table_writer_flags(l->latest) & TABLE_FLAG_FIELD_IDS) != 0) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s' has non-reusable field ids; this release does not overwrite it",
                l->plan.home->name);
  }
  return GLV_OK;
}

/* The manifest after `base`, and its snapshot when somebody wants it: nothing but the publishing
 * itself can fail afterwards. */
static glv_status build(struct loop *l, const table_snapshot *base, glv_error *err) {
  const uint64_t version = base != NULL ? base->manifest->version + 1 : 1;
  const bool v1 = base != NULL && base->has_v1_name;
  buf_clear(&l->bytes);
  TRY(manifest_build(&l->plan, base, env_now_ns(l->plan.env), &l->bytes, err));
  if (!l->wants_result) {
    return GLV_OK;
  }
  char name[NAME_SIZE];
  table_snapshot *t;
  name_manifest(version, v1, name);
  TRY(snapshot_decode(l->plan.home, buf_str(&l->bytes), name, &t, err));
  t->has_v1_name = v1;
  set_result(l, t);
  return GLV_OK;
}

/* *ret_lost: the version was taken in the last moment. */
static glv_status attempt(struct loop *l, bool *ret_lost, glv_error *err) {
  *ret_lost = false;
  TRY(check_applicable(l, err));
  if (!l->plan.wrote_transaction) {
    TRY(publish_transaction(&l->plan, err));
  }
  TRY(build(l, l->latest, err));
  const uint64_t version = l->latest->manifest->version + 1;
  glv_error report = {0};
  switch (
      publish_manifest(&l->plan, version, l->latest->has_v1_name, buf_str(&l->bytes), &report)) {
  case PUBLISH_DONE:
    l->committed = version;
    return GLV_OK;
  case PUBLISH_LOST:
    *ret_lost = true;
    return GLV_OK;
  case PUBLISH_UNKNOWN:
    l->is_unknown = true;
    return pass_report(err, &report);
  case PUBLISH_FAILED:
    break;
  }
  return pass_report(err, &report);
}

/* Sleeps a random number of units: the more attempts, the more slots to choose from. */
static glv_status back_off(const struct loop *l, int64_t unit_ns, glv_error *err) {
  uint32_t number;
  TRY(env_random(l->plan.env, &number, sizeof number, err));
  const unsigned exponent = l->attempts + 1 < 7 ? l->attempts + 1 : 7;
  io_sleep_ns(l->plan.env, (int64_t)(number % (1u << exponent)) * unit_ns);
  return GLV_OK;
}

static glv_status run(struct loop *l, glv_error *err) {
  const int64_t started = env_now_ns(l->plan.env);
  int64_t unit_ns = 0;
  while (l->attempts < LIMIT_COMMIT_ATTEMPTS) {
    TRY(cancel_check(l->options->cancel, err));
    TRY(look(l, err));
    if (l->committed != 0) {
      return GLV_OK;
    }
    bool is_lost;
    l->attempts++;
    TRY(attempt(l, &is_lost, err));
    if (!is_lost) {
      return GLV_OK;
    }
    if (l->options->strict) {
      return fail_strict(l, err);
    }
    const int64_t now = env_now_ns(l->plan.env);
    unit_ns = unit_ns != 0 ? unit_ns : (now - started) / 10 * 11 + 1;
    if (now - started > retry_ns) {
      break;
    }
    TRY(back_off(l, unit_ns, err));
  }
  error_set(err, GLV_E_CONFLICT, "table '%s': Failed to commit the transaction after %u retries.",
            l->plan.home->name, l->attempts);
  error_flag(err, GLV_ERROR_MAY_RETRY);
  return GLV_E_CONFLICT;
}

static void hand_out(struct loop *l, table_snapshot **ret) {
  if (ret != NULL) {
    *ret = l->result;
    l->result = NULL;
  }
}

static bool changes_metadata(const operation *op) {
  return op->change_count > 0 || op->config.is_present || op->table_metadata.is_present ||
         op->metadata_field_count > 0;
}

/* Ids that are given to the rows of one version must not meet other rows, and indexes would take
 * them for addresses. */
static glv_status check_row_ids(const table_snapshot *base, bool strict, glv_error *err) {
  if (!strict || table_has_stable_row_ids(base)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "row ids are enabled once, and strictly only");
  }
  return base->index_count == 0
             ? GLV_OK
             : FAIL(err, GLV_E_UNSUPPORTED,
                    "table '%s' has indexes, such as '%s', which name rows by their addresses; "
                    "drop the indexes, migrate, then build them again",
                    base->home->name, base->index_messages[0]->name);
}

static glv_status check_operation(const table_snapshot *base, const operation *op, bool strict,
                                  glv_error *err) {
  TRY(table_check_writable(base, err));
  if (op->kind == OPERATION_UPDATE && op->change_count > 0 && !strict) {
    return FAIL(err, GLV_E_INVALID_INPUT, "an update with metadata is committed strictly only");
  }
  if (op->kind == OPERATION_UPDATE_CONFIG && !changes_metadata(op)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a change of metadata needs keys");
  }
  if (op->kind == OPERATION_MERGE && op->enables_row_ids) {
    return check_row_ids(base, strict, err);
  }
  if (op->kind == OPERATION_REWRITE && op->group_count == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a compaction needs groups of fragments");
  }
  if (op->kind == OPERATION_RESERVE_FRAGMENTS && op->reserved == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a reservation needs a number of ids");
  }
  if (op->kind == OPERATION_REWRITE && table_has_index(base, "__lance_frag_reuse")) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s' has a fragment-reuse index; this release does not compact it",
                base->home->name);
  }
  return GLV_OK;
}

glv_status table_commit(const table_snapshot *base, const operation *op,
                        const commit_options *options, table_snapshot **ret, uint32_t *ret_attempts,
                        glv_error *err) {
  static const commit_options defaults = {0};
  const commit_options *o = options != NULL ? options : &defaults;
  TRY(check_operation(base, op, o->strict, err));
  CLEANUP(loop_cleanup)
  struct loop l = {.options = o,
                   .wants_result = ret != NULL,
                   .latest = table_ref(base),
                   .examined = base->manifest->version};
  buf_init(&l.bytes, base->home->env, LIMIT_MANIFEST_BYTES);
  glv_status status = plan_make(base->home, base, op, &l.plan, err);
  if (status == GLV_OK) {
    status = run(&l, err);
  }
  if (ret_attempts != NULL) {
    *ret_attempts = l.attempts;
  }
  if (status != GLV_OK) {
    if (!l.is_unknown) {
      plan_undo(&l.plan);
    }
    return status;
  }
  hand_out(&l, ret);
  return GLV_OK;
}

/* ---- creation ---- */

glv_status commit_create(table_home *h, const operation *op, bool stable_row_ids,
                         const char *data_version, table_snapshot **ret, glv_error *err) {
  static const commit_options defaults = {0};
  CLEANUP(loop_cleanup) struct loop l = {.options = &defaults, .wants_result = ret != NULL};
  buf_init(&l.bytes, h->env, LIMIT_MANIFEST_BYTES);
  glv_error report = {0};
  glv_status status = plan_make(h, NULL, op, &l.plan, &report);
  l.plan.stable_row_ids = stable_row_ids;
  l.plan.data_version = data_version;
  if (status == GLV_OK) {
    status = publish_transaction(&l.plan, &report);
  }
  if (status == GLV_OK) {
    status = build(&l, NULL, &report);
  }
  enum publish_outcome outcome = PUBLISH_FAILED;
  if (status == GLV_OK) {
    outcome = publish_manifest(&l.plan, 1, false, buf_str(&l.bytes), &report);
  }
  switch (outcome) {
  case PUBLISH_DONE:
    hand_out(&l, ret);
    return GLV_OK;
  case PUBLISH_LOST:
    plan_undo(&l.plan);
    return FAIL(err, GLV_E_TABLE_EXISTS, "Table '%s' already exists", h->name);
  case PUBLISH_UNKNOWN:
    return pass_report(err, &report);
  case PUBLISH_FAILED:
    break;
  }
  plan_undo(&l.plan);
  return pass_report(err, &report);
}
