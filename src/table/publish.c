/* Making a manifest visible, once and for all (lance-table-format 12.2, 12.4).
 *
 *   create "<final>#<random>" in `_versions`, write, sync, close; meanwhile data and deletion files
 *   reach the disk
 *   publish it under its final name, only if that name is free
 *   sync the directory; meanwhile the .txn file reaches the disk (the manifest holds the same
 * bytes)
 *
 * All through the one handle that the base version was read through. ENOENT of create or publish
 * means that the table was dropped (and perhaps another stands under its path): nothing has landed.
 * After a failed publish with any other error the final name is looked at: the manifest there is
 * ours, somebody else's, absent, or unreadable. Once the name is taken by us, a failure of the last
 * sync leaves the outcome open.
 */
#include <stdio.h>

#include "table/commit_private.h"

/* Starts the syncs of the .txn file and its directory, unless they were started before. */
static glv_status sync_transaction(commit_plan *p, glv_error *err) {
  if (p->transaction_file == NULL) {
    return GLV_OK;
  }
  void *file = p->transaction_file;
  p->transaction_file = NULL;
  TRY(sync_file(&p->syncs, file, err));
  return sync_dir(&p->syncs, p->transaction_dir, err);
}

glv_status publish_transaction(commit_plan *p, glv_error *err) {
  if (p->transaction_dir == NULL) { /* else written before, for a version that somebody took */
    TRY(home_dir(p->home, "_transactions", &p->transaction_dir, NULL, err));
  }
  TRY(write_open_file(p->env, p->transaction_dir, p->transaction_name, p->transaction,
                      &p->transaction_file, err));
  p->wrote_transaction = true;
  /* Too large to stand in the manifest as well: the manifest depends on it. */
  return p->transaction.size > TRANSACTION_LARGEST_INLINE ? sync_transaction(p, err) : GLV_OK;
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

/* The staged manifest, durable like everything it refers to. */
static glv_status stage_manifest(commit_plan *p, const char *temp, str bytes, glv_error *err) {
  void *dir = p->home->versions;
  void *file;
  TRY(write_open_file(p->env, dir, temp, bytes, &file, err));
  glv_status status = io_sync(p->env, file, err);
  const glv_status closed = io_close(p->env, file, status == GLV_OK ? err : NULL);
  status = status == GLV_OK ? closed : status;
  const glv_status others = plan_wait(p, status == GLV_OK ? err : NULL);
  status = status == GLV_OK ? others : status;
  if (status != GLV_OK) {
    (void)io_remove(p->env, dir, temp, NULL);
  }
  return status;
}

/* After the publish: the name of the manifest, and the .txn file beside it. */
static glv_status sync_published(commit_plan *p, glv_error *err) {
  const glv_status started = sync_transaction(p, err);
  glv_error report = {0};
  glv_status status = io_dir_sync(p->env, p->home->versions, &report);
  if (status != GLV_OK && io_is_missing(&report)) {
    status = GLV_OK; /* the table was dropped right after our commit */
  }
  if (started == GLV_OK && status != GLV_OK) {
    pass_report(err, &report);
  }
  const bool is_first = started == GLV_OK && status == GLV_OK;
  const glv_status others = sync_wait(&p->syncs, is_first ? err : NULL);
  return started != GLV_OK ? started : status != GLV_OK ? status : others;
}

enum publish_outcome publish_manifest(commit_plan *p, uint64_t version, bool v1, str bytes,
                                      glv_error *err) {
  char name[NAME_SIZE];
  char temp[2 * NAME_SIZE];
  char suffix[32];
  uint64_t token;
  if (env_random(p->env, &token, sizeof token, err) != GLV_OK) {
    return PUBLISH_FAILED;
  }
  name_manifest(version, v1, name);
  snprintf(suffix, sizeof suffix, "%016llx", (unsigned long long)token);
  snprintf(temp, sizeof temp, "%s#%s", name, suffix);
  glv_error report = {0};
  if (stage_manifest(p, temp, bytes, &report) != GLV_OK) {
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
  if (sync_published(p, &report) != GLV_OK) {
    return fail_unknown(p, version, &report, err);
  }
  write_hint(p, version, suffix);
  return PUBLISH_DONE;
}
