/* Making a manifest visible, once and for all (lance-table-format 12.2, 12.4).
 *
 *   create "<final>#<random>" in `_versions`, write, sync, close
 *   publish it under its final name, only if that name is free
 *   sync the directory
 *
 * All through the one handle that the base version was read through. ENOENT of create or publish
 * means that the table was dropped (and perhaps another stands under its path): nothing has landed.
 * After a failed publish with any other error the final name is looked at: the manifest there is
 * ours, somebody else's, absent, or unreadable. Once the name is taken by us, a failure of the last
 * sync leaves the outcome open.
 */
#include <stdio.h>

#include "table/commit_private.h"

glv_status publish_transaction(commit_plan *p, glv_error *err) {
  CLEANUP(io_scope_dispose) io_scope scope = {.env = p->env};
  TRY(home_dir(p->home, "_transactions", &scope.dir, NULL, err));
  TRY(io_write_file(p->env, scope.dir, p->transaction_name, p->transaction.data,
                    p->transaction.size, true, err));
  p->wrote_transaction = true;
  return io_dir_sync(p->env, scope.dir, err);
}

/* Best effort: other engines start their search here. */
static void write_hint(const commit_plan *p, uint64_t version, const char *suffix) {
  char temp[NAME_SIZE];
  char text[64];
  snprintf(temp, sizeof temp, "latest_version_hint.json#%s", suffix);
  const int length = snprintf(text, sizeof text, "{\"version\":%llu}", (unsigned long long)version);
  void *dir = p->home->versions;
  if (io_write_file(p->env, dir, temp, text, (size_t)length, false, NULL) == GLV_OK &&
      io_publish(p->env, dir, temp, "latest_version_hint.json", false, NULL) != GLV_OK) {
    (void)io_remove(p->env, dir, temp, NULL);
  }
}

enum owner { OWNER_NOBODY, OWNER_US, OWNER_OTHER, OWNER_UNREADABLE };

/* Whose manifest stands under the final name, after an ambiguous result. */
static enum owner find_owner(const commit_plan *p, uint64_t version, bool v1) {
  enum { TRIES = 3 };
  for (int i = 0; i < TRIES; i++) {
    CLEANUP(table_cleanup) table_snapshot *t = NULL;
    CLEANUP(arena_cleanup) arena a;
    arena_init(&a, p->env);
    str bytes;
    Lance__Table__Transaction *m;
    glv_status status = snapshot_load(p->home, version, v1, &t, NULL);
    if (status == GLV_E_VERSION_NOT_FOUND) {
      return OWNER_NOBODY;
    }
    if (status == GLV_OK) {
      status = transaction_bytes(t, &a, &bytes, NULL);
    }
    if (status == GLV_OK) {
      status = transaction_unpack(&a, bytes, "transaction", &m, NULL);
    }
    if (status == GLV_OK) {
      return strcmp(m->uuid, p->uuid) == 0 ? OWNER_US : OWNER_OTHER;
    }
  }
  return OWNER_UNREADABLE;
}

static enum publish_outcome fail_unknown(const commit_plan *p, uint64_t version,
                                         const glv_error *report, glv_error *err) {
  error_set_errno(err, GLV_E_UNKNOWN_OUTCOME, report->sys_errno,
                  "table '%s': it is not known whether version %llu was committed: %s",
                  p->home->name, (unsigned long long)version, report->message);
  return PUBLISH_UNKNOWN;
}

/* publish failed with something else than "taken" or "gone". */
static enum publish_outcome settle(const commit_plan *p, uint64_t version, bool v1,
                                   const glv_error *report, glv_error *err) {
  switch (find_owner(p, version, v1)) {
  case OWNER_NOBODY:
    pass_report(err, report);
    return PUBLISH_FAILED;
  case OWNER_US:
    return PUBLISH_DONE;
  case OWNER_OTHER:
    return PUBLISH_LOST;
  case OWNER_UNREADABLE:
    break;
  }
  return fail_unknown(p, version, report, err);
}

static enum publish_outcome link_manifest(const commit_plan *p, const char *temp, uint64_t version,
                                          bool v1, glv_error *err) {
  char name[NAME_SIZE];
  name_manifest(version, v1, name);
  void *dir = p->home->versions;
  glv_error report = {0};
  if (io_publish(p->env, dir, temp, name, true, &report) == GLV_OK) {
    return PUBLISH_DONE;
  }
  const bool is_taken = io_is_taken(&report);
  const bool is_gone = io_is_missing(&report);
  enum publish_outcome outcome = PUBLISH_LOST;
  if (is_gone) {
    home_fail_dropped(p->home, err);
    outcome = PUBLISH_FAILED;
  } else if (!is_taken) {
    outcome = settle(p, version, v1, &report, err);
  }
  if (!is_gone) {
    (void)io_remove(p->env, dir, temp, NULL);
  }
  return outcome;
}

enum publish_outcome publish_manifest(const commit_plan *p, uint64_t version, bool v1, str bytes,
                                      glv_error *err) {
  char name[NAME_SIZE];
  char temp[2 * NAME_SIZE];
  char suffix[32];
  uint64_t token;
  void *dir = p->home->versions;
  if (env_random(p->env, &token, sizeof token, err) != GLV_OK) {
    return PUBLISH_FAILED;
  }
  name_manifest(version, v1, name);
  snprintf(suffix, sizeof suffix, "%016llx", (unsigned long long)token);
  snprintf(temp, sizeof temp, "%s#%s", name, suffix);
  glv_error report = {0};
  if (io_write_file(p->env, dir, temp, bytes.data, bytes.size, true, &report) != GLV_OK) {
    if (io_is_missing(&report)) {
      home_fail_dropped(p->home, err);
    } else {
      pass_report(err, &report);
    }
    return PUBLISH_FAILED;
  }
  const enum publish_outcome outcome = link_manifest(p, temp, version, v1, err);
  if (outcome != PUBLISH_DONE) {
    return outcome;
  }
  if (io_dir_sync(p->env, dir, &report) != GLV_OK && !io_is_missing(&report)) {
    return fail_unknown(p, version, &report, err);
  }
  write_hint(p, version, suffix);
  return PUBLISH_DONE;
}
