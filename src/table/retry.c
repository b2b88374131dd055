/* Running an operation again after a conflict that a new computation can resolve.
 *
 * The commit itself rebases an operation on top of commits that it does not meet. What is left are
 * conflicts of substance: the rows or files that the operation was computed from are not those of
 * the latest version any more. Then only the caller's work, done again on that version, helps.
 * Between two runs we wait a random time that grows with the number of runs and is measured in the
 * time of the first, so that competing writers of equal speed get out of each other's way.
 */
#include "table/retry.h"

#include "base/limits.h"
#include "io/io.h"

static const int64_t retry_ns = INT64_C(30) * 1000000000;

static bool may_retry(const glv_error *report) {
  return report->code == GLV_E_CONFLICT && (report->flags & GLV_ERROR_MAY_RETRY) != 0;
}

static glv_status wait_a_little(glv_env *env, unsigned runs, int64_t unit_ns, glv_error *err) {
  uint32_t number;
  TRY(env_random(env, &number, sizeof number, err));
  const unsigned exponent = runs + 1 < 7 ? runs + 1 : 7;
  io_sleep_ns(env, (int64_t)(number % (1u << exponent)) * unit_ns);
  return GLV_OK;
}

static glv_status fail_contention(const table_snapshot *t, unsigned runs, glv_error *err) {
  error_set(err, GLV_E_CONFLICT, "table '%s': Too many concurrent writers. Attempted %u retries.",
            table_name(t), runs - 1);
  error_flag(err, GLV_ERROR_MAY_RETRY);
  return GLV_E_CONFLICT;
}

struct retrying {
  glv_env *env;
  table_snapshot *base; /* a reference */
  int64_t started;
  int64_t unit_ns; /* 0 until the first run has ended */
  unsigned runs;
};

static void retrying_cleanup(struct retrying *r) { table_unref(r->base); }

/* Gets ready for another run after a conflict: a pause, and the latest version. */
static glv_status start_again(struct retrying *r, glv_error *err) {
  const int64_t elapsed = env_now_ns(r->env) - r->started;
  if (r->runs > LIMIT_RECOMPUTATIONS || elapsed > retry_ns) {
    return fail_contention(r->base, r->runs, err);
  }
  r->unit_ns = r->unit_ns != 0 ? r->unit_ns : elapsed / 10 + 1;
  TRY(wait_a_little(r->env, r->runs, r->unit_ns, err));
  table_snapshot *latest = NULL;
  TRY(table_open_version(r->base, 0, &latest, err));
  table_unref(r->base);
  r->base = latest;
  return GLV_OK;
}

glv_status table_retry(const table_snapshot *t, table_work work, void *context,
                       cancel_token *cancel, table_snapshot **ret, uint32_t *ret_attempts,
                       glv_error *err) {
  CLEANUP(retrying_cleanup) struct retrying r = {.env = table_env(t), .base = table_ref(t)};
  CLEANUP(table_cleanup) table_snapshot *made = NULL;
  uint32_t attempts = 0;
  r.started = env_now_ns(r.env);
  for (;;) {
    uint32_t tried = 0;
    glv_error report = {0};
    TRY(cancel_check(cancel, err));
    const glv_status status = work(context, r.base, &made, &tried, &report);
    attempts += tried;
    r.runs++;
    if (status == GLV_OK) {
      break;
    }
    if (!may_retry(&report)) {
      return error_pass(err, &report);
    }
    TRY(start_again(&r, err));
  }
  if (ret != NULL) {
    *ret = made;
    made = NULL;
  }
  if (ret_attempts != NULL) {
    *ret_attempts = attempts;
  }
  return GLV_OK;
}
