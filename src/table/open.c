/* Finding versions and answering questions about a snapshot.
 *
 * The latest version is the highest manifest name in `_versions`. The hint file there is written
 * for other engines but not believed here: probing upwards from it, or from a version held, would
 * stop at a version that a cleanup kept while it removed the next ones. One listing through the
 * open handle costs a few microseconds and is always right (lance-table-format 1.3, 11).
 */
#include <assert.h>
#include <stdio.h>

#include "table/table_private.h"

/* ---- home ---- */

static void home_free(table_home *h) {
  glv_env *env = h->env;
  io_dir_close(env, h->versions);
  mutex_dispose(&h->lock);
  mem_free(env, h->path);
  mem_free(env, h->name);
  mem_free(env, h);
  env_unref(env);
}

static glv_status fail_no_table(const char *path, const char *name, glv_error *err) {
  return name == NULL
             ? FAIL(err, GLV_E_TABLE_NOT_FOUND, "Dataset at path %s was not found", path)
             : FAIL(err, GLV_E_TABLE_NOT_FOUND,
                    "Table '%s' was not found: Dataset at path %s was not found", name, path);
}

static glv_status versions_path(const char *path, const char *name, char ret[LIMIT_PATH_BYTES],
                                glv_error *err) {
  const int length = snprintf(ret, LIMIT_PATH_BYTES, "%s/_versions", path);
  if (length < 0 || length >= LIMIT_PATH_BYTES) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the path of table '%s' is too long",
                name != NULL ? name : path);
  }
  return GLV_OK;
}

glv_status home_open(glv_env *env, const char *path, const char *name, table_home **ret,
                     glv_error *err) {
  CLEANUP(home_cleanup) table_home *h = mem_zalloc(env, sizeof *h);
  if (h == NULL) {
    return error_nomem(err, sizeof *h);
  }
  h->env = env_ref(env);
  atomic_init(&h->refs, 1);
  mutex_init(&h->lock);
  h->path = mem_strndup(env, path, strlen(path));
  h->name = mem_strndup(env, name != NULL ? name : path, strlen(name != NULL ? name : path));
  if (h->path == NULL || h->name == NULL) {
    return error_nomem(err, strlen(path));
  }
  char versions[LIMIT_PATH_BYTES];
  TRY(versions_path(path, name, versions, err));
  glv_error report = {0};
  glv_io_stat found;
  glv_status status = io_dir_open(env, versions, &h->versions, &report);
  status = status == GLV_OK ? io_stat(env, h->versions, "", &found, &report) : status;
  if (status != GLV_OK) {
    return io_is_missing(&report) ? fail_no_table(path, name, err) : pass_report(err, &report);
  }
  h->device = found.device;
  h->inode = found.inode;
  *ret = h;
  h = NULL;
  return GLV_OK;
}

table_home *home_ref(table_home *h) {
  atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed);
  return h;
}

void home_unref(table_home *h) {
  if (h != NULL && atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) == 1) {
    home_free(h);
  }
}

void home_cleanup(table_home **h) { home_unref(*h); }

glv_status home_fail_dropped(const table_home *h, glv_error *err) {
  return FAIL(err, GLV_E_TABLE_NOT_FOUND, "table '%s' was dropped, or dropped and recreated",
              h->name);
}

glv_status home_check_identity(const table_home *h, glv_error *err) {
  char path[LIMIT_PATH_BYTES];
  snprintf(path, sizeof path, "%s/_versions", h->path);
  glv_io_stat mine;
  glv_io_stat found;
  glv_error report = {0};
  glv_status status = io_stat(h->env, h->versions, "", &mine, &report);
  if (status == GLV_OK) {
    status = io_stat(h->env, NULL, path, &found, &report);
  }
  if (status != GLV_OK && !io_is_missing(&report)) {
    return pass_report(err, &report);
  }
  if (status != GLV_OK || mine.device != found.device || mine.inode != found.inode) {
    return home_fail_dropped(h, err);
  }
  return GLV_OK;
}

glv_status home_dir(const table_home *h, const char *name, void **ret, bool *ret_made,
                    glv_error *err) {
  char path[LIMIT_PATH_BYTES];
  snprintf(path, sizeof path, "%s/%s", h->path, name);
  if (ret_made != NULL) {
    *ret_made = false;
  }
  glv_error report = {0};
  const glv_status status = io_dir_open(h->env, path, ret, &report);
  if (status == GLV_OK) {
    return GLV_OK;
  }
  if (!io_is_missing(&report)) {
    return pass_report(err, &report);
  }
  TRY(home_check_identity(h, err));
  TRY(io_make_dirs(h->env, path, err));
  if (ret_made != NULL) {
    *ret_made = true;
  }
  return io_dir_open(h->env, path, ret, err);
}

/* ---- opening ---- */

static glv_status open_latest(table_home *h, table_snapshot **ret, glv_error *err) {
  enum { ROUNDS = 3 };
  glv_error report = {0};
  for (int i = 0; i < ROUNDS; i++) {
    version_listing found;
    TRY(list_versions(h, NULL, &found, err));
    if (found.latest == 0) {
      return fail_no_table(h->path, h->name, err);
    }
    const glv_status status = snapshot_load(h, found.latest, found.is_v1, ret, &report);
    if (status != GLV_E_VERSION_NOT_FOUND) {
      if (status != GLV_OK && err != NULL) {
        *err = report;
      }
      return status;
    }
  } /* a cleanup removed it between listing and reading: there is a later one */
  return pass_report(err, &report);
}

static glv_status open_numbered(table_home *h, uint64_t version, table_snapshot **ret,
                                glv_error *err) {
  glv_error report = {0};
  const glv_status status = snapshot_load(h, version, false, ret, &report);
  if (status == GLV_E_VERSION_NOT_FOUND) {
    return snapshot_load(h, version, true, ret, err);
  }
  if (status != GLV_OK && err != NULL) {
    *err = report;
  }
  return status;
}

glv_status table_open(glv_env *env, const char *path, const char *name, uint64_t version,
                      table_snapshot **ret, glv_error *err) {
  CLEANUP(home_cleanup) table_home *h = NULL;
  TRY(home_open(env, path, name, &h, err));
  assert(h != NULL);
  if (version == 0) {
    return open_latest(h, ret, err);
  }
  glv_error report = {0};
  const glv_status status = open_numbered(h, version, ret, &report);
  if (status == GLV_E_VERSION_NOT_FOUND) {
    version_listing found;
    TRY(list_versions(h, NULL, &found, err));
    if (found.latest == 0) {
      return fail_no_table(path, name, err);
    }
  }
  if (status != GLV_OK && err != NULL) {
    *err = report;
  }
  return status;
}

glv_status table_latest_version(const table_snapshot *t, uint64_t *ret, glv_error *err) {
  version_listing found;
  TRY(list_versions(t->home, NULL, &found, err));
  if (found.latest == 0) {
    return home_fail_dropped(t->home, err);
  }
  *ret = found.latest;
  return GLV_OK;
}

glv_status table_open_version(const table_snapshot *t, uint64_t version, table_snapshot **ret,
                              glv_error *err) {
  if (version != 0) {
    return open_numbered(t->home, version, ret, err);
  }
  uint64_t latest;
  TRY(table_latest_version(t, &latest, err));
  if (latest == t->manifest->version) {
    *ret = table_ref(t);
    return GLV_OK;
  }
  return open_latest(t->home, ret, err);
}

/* Whether the manifest of t is still the file that was read. Engines never touch a version that has
 * its name; people who restore a copy of a table may. */
static bool is_untouched(const table_snapshot *t) {
  char name[NAME_SIZE];
  name_manifest(t->manifest->version, t->has_v1_name, name);
  glv_io_stat now;
  return io_stat(t->home->env, t->home->versions, name, &now, NULL) == GLV_OK &&
         now.device == t->file.device && now.inode == t->file.inode &&
         now.size_bytes == t->file.size_bytes && now.modified_ns == t->file.modified_ns;
}

glv_status table_open_again(glv_env *env, const char *path, const char *name,
                            const table_snapshot *known, table_snapshot **ret, glv_error *err) {
  if (known != NULL && strcmp(known->home->path, path) == 0 &&
      strcmp(known->home->name, name != NULL ? name : path) == 0 &&
      home_check_identity(known->home, NULL) == GLV_OK && is_untouched(known) &&
      table_open_version(known, 0, ret, NULL) == GLV_OK) {
    return GLV_OK;
  }
  return table_open(env, path, name, 0, ret, err); /* and says what is wrong */
}

/* What the last listing found, if the directory was not changed since. Its time of change may be as
 * coarse as the clock of the file system, so a listing counts only when it was made well after the
 * last change; and some file systems do not keep it at all, so none counts for long. */
static bool remembered_latest(table_home *h, int64_t modified_ns, uint64_t *ret) {
  const int64_t second_ns = 1000000000;
  const int64_t now_ns = env_now_ns(h->env);
  CLEANUP(mutex_cleanup) mutex *held = &h->lock;
  mutex_lock(held);
  *ret = h->seen_latest;
  return h->seen_ns == modified_ns && h->seen_ns != 0 &&
         h->listed_ns - h->seen_ns > 3 * second_ns && now_ns >= h->listed_ns &&
         now_ns - h->listed_ns < second_ns;
}

static void remember_latest(table_home *h, int64_t modified_ns, int64_t listed_ns,
                            uint64_t latest) {
  CLEANUP(mutex_cleanup) mutex *held = &h->lock;
  mutex_lock(held);
  h->seen_ns = modified_ns;
  h->listed_ns = listed_ns;
  h->seen_latest = latest;
}

/* found: of the directory, from before the call. */
static glv_status latest_since(table_home *h, const glv_io_stat *found, uint64_t *ret,
                               glv_error *err) {
  if (remembered_latest(h, found->modified_ns, ret)) {
    return GLV_OK;
  }
  version_listing listing;
  const int64_t listed_ns = env_now_ns(h->env);
  TRY(list_versions(h, NULL, &listing, err));
  remember_latest(h, found->modified_ns, listed_ns, listing.latest);
  *ret = listing.latest;
  return GLV_OK;
}

glv_status table_is_current(const table_snapshot *t, bool *ret, glv_error *err) {
  table_home *h = t->home;
  char path[LIMIT_PATH_BYTES];
  glv_io_stat found;
  glv_error report = {0};
  uint64_t latest = 0;
  *ret = false;
  TRY(versions_path(h->path, h->name, path, err));
  const glv_status status = io_stat(h->env, NULL, path, &found, &report);
  if (status != GLV_OK) {
    return io_is_missing(&report) ? GLV_OK : pass_report(err, &report);
  }
  const bool was_read = t->file.inode != 0; /* or made by the commit that wrote it */
  if (found.device != h->device || found.inode != h->inode || (was_read && !is_untouched(t))) {
    return GLV_OK;
  }
  TRY(latest_since(h, &found, &latest, err));
  *ret = latest == t->manifest->version;
  return GLV_OK;
}

glv_status table_exists(glv_env *env, const char *path, bool *ret, glv_error *err) {
  CLEANUP(home_cleanup) table_home *h = NULL;
  glv_error report = {0};
  glv_status status = home_open(env, path, NULL, &h, &report);
  version_listing found = {0};
  if (status == GLV_OK) {
    status = list_versions(h, NULL, &found, &report);
  }
  if (status != GLV_OK && status != GLV_E_TABLE_NOT_FOUND && status != GLV_E_CORRUPT) {
    return pass_report(err, &report);
  }
  *ret = status == GLV_E_CORRUPT || found.latest != 0;
  return GLV_OK;
}

glv_status table_identity(glv_env *env, const char *path, const char *name, uint64_t *ret_device,
                          uint64_t *ret_inode, glv_error *err) {
  char versions[LIMIT_PATH_BYTES];
  TRY(versions_path(path, name, versions, err));
  glv_io_stat found;
  glv_error report = {0};
  const glv_status status = io_stat(env, NULL, versions, &found, &report);
  if (status != GLV_OK) {
    return io_is_missing(&report) ? fail_no_table(path, name, err) : pass_report(err, &report);
  }
  *ret_device = found.device;
  *ret_inode = found.inode;
  return GLV_OK;
}

static glv_status describe_version(const table_snapshot *t, uint64_t version, bool v1, arena *a,
                                   version_entry *ret, bool *ret_found, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *old = NULL;
  glv_error report = {0};
  const glv_status status = snapshot_load(t->home, version, v1, &old, &report);
  *ret_found = status == GLV_OK;
  if (status != GLV_OK) {
    if (status != GLV_E_VERSION_NOT_FOUND && err != NULL) {
      *err = report;
    }
    return status == GLV_E_VERSION_NOT_FOUND ? GLV_OK : status;
  }
  *ret = (version_entry){version, table_timestamp_ns(old), old->live_rows, NULL};
  const arena_mark mark = arena_mark_get(a);
  str bytes;
  Lance__Table__Transaction *message;
  if (transaction_bytes(old, a, &bytes, NULL) == GLV_OK &&
      transaction_unpack(a, bytes, "transaction", &message, NULL) == GLV_OK) {
    ret->operation = operation_name(transaction_kind(message));
  }
  arena_reset_to(a, mark);
  return GLV_OK;
}

glv_status table_versions(const table_snapshot *t, arena *a, version_entry **ret, size_t *ret_count,
                          glv_error *err) {
  version_listing found;
  TRY(list_versions(t->home, a, &found, err));
  version_entry *entries = ARENA_ARRAY(a, version_entry, found.count);
  if (entries == NULL) {
    return error_nomem(err, found.count * sizeof *entries);
  }
  size_t count = 0;
  for (size_t i = 0; i < found.count; i++) {
    bool is_there;
    TRY(describe_version(t, found.versions[i], found.is_v1, a, &entries[count], &is_there, err));
    count += is_there;
  }
  *ret = entries;
  *ret_count = count;
  return GLV_OK;
}
