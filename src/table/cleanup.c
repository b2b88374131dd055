/* Removing old versions (lance-table-format 16.5).
 *
 *   read tags and branches; list the versions
 *   for every version: load it; it stays, or is claimed (base/pin.h) so that nobody in this
 *     environment begins to read it; note the files it refers to
 *   remove the manifests of the claimed ones, make that durable
 *   look for versions committed meanwhile (a restore may have taken up old files)
 *   remove the files that only removed versions refer to
 *
 * Manifests go first: a version that is listed is whole, whenever the process dies; what is left
 * then are files that nobody refers to, which a later cleanup removes when they are old enough.
 * Whatever cannot be read (a manifest, a tag, a branch) ends the cleanup before anything is gone.
 */
#include "table/cleanup.h"

#include <stdio.h>

#include "table/cleanup_private.h"
#include "table/tags.h"

struct cleanup {
  const table_snapshot *table;
  table_home *home;
  const cleanup_options *options;
  cleanup_result result;
  arena memory;
  file_refs refs;
  version_listing found;
  int64_t cutoff_ns;
  table_tag *tags;
  size_t tag_count;
  uint64_t *starts; /* of branches */
  size_t start_count;
  uint64_t *expired;
  size_t expired_count;
  pin *claims; /* one for each expired version; none in a dry run */
};

static void cleanup_dispose(struct cleanup *c) {
  for (size_t i = 0; c->claims != NULL && i < c->expired_count; i++) {
    pin_release_claim(&c->claims[i]);
  }
  refs_dispose(&c->refs);
  arena_dispose(&c->memory);
}

/* ---- deciding ---- */

static bool is_listed(const uint64_t *list, size_t count, uint64_t version) {
  for (size_t i = 0; i < count; i++) {
    if (list[i] == version) {
      return true;
    }
  }
  return false;
}

static const table_tag *find_tag(const struct cleanup *c, uint64_t version) {
  for (size_t i = 0; i < c->tag_count; i++) {
    if (c->tags[i].branch == NULL && c->tags[i].version == version) {
      return &c->tags[i];
    }
  }
  return NULL;
}

static bool is_wanted(const struct cleanup *c, uint64_t version) {
  const cleanup_options *o = c->options;
  return version == c->found.latest || (o->keep_from != 0 && version >= o->keep_from) ||
         is_listed(o->keep, o->keep_count, version) ||
         is_listed(c->starts, c->start_count, version);
}

/* Nobody in this environment reads the version, and from now on nobody can. */
static bool claim(struct cleanup *c, uint64_t version) {
  uint64_t key[3];
  version_key(c->home, version, key);
  return c->options->dry_run ? !pin_is_held(c->home->env, key)
                             : pin_claim(c->home->env, key, &c->claims[c->expired_count]);
}

static glv_status fail_tagged(const struct cleanup *c, const table_tag *tag, glv_error *err) {
  return FAIL(err, GLV_E_BAD_STATE,
              "table '%s': tagged version(s) have been marked for cleanup, such as %llu, which has "
              "the tag '%s'; drop the tag, or let tagged versions stay",
              c->home->name, (unsigned long long)tag->version, tag->name);
}

static glv_status inspect(struct cleanup *c, uint64_t version, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *t = NULL;
  glv_error report = {0};
  TRY(cancel_check(c->options->cancel, err));
  const glv_status status = snapshot_load(c->home, version, c->found.is_v1, &t, &report);
  if (status == GLV_E_VERSION_NOT_FOUND && version != c->found.latest) {
    return GLV_OK; /* another cleanup was faster */
  }
  if (status != GLV_OK) {
    return pass_report(err, &report);
  }
  pin_release(&t->pin); /* our own look does not count */
  bool goes = table_timestamp_ns(t) < c->cutoff_ns && !is_wanted(c, version);
  const table_tag *tag = goes ? find_tag(c, version) : NULL;
  if (tag != NULL && c->options->refuse_tagged) {
    return fail_tagged(c, tag, err);
  }
  goes = goes && tag == NULL && claim(c, version);
  if (goes) {
    c->expired[c->expired_count++] = version;
    c->result.bytes += t->file_size;
  }
  return refs_add(&c->refs, t, goes ? REFERRED_BY_REMOVED : REFERRED_BY_KEPT, err);
}

/* Versions outside of the chain are never removed: their files stay. */
static glv_status inspect_detached(struct cleanup *c, glv_error *err) {
  glv_env *env = c->home->env;
  const char **names = NULL;
  size_t count = 0;
  TRY(io_list_sorted(env, c->home->versions, "", &c->memory, &names, NULL, &count, err));
  for (size_t i = 0; i < count; i++) {
    if (names[i][0] != 'd' || !str_ends_with(str_of(names[i]), STR(".manifest"))) {
      continue;
    }
    CLEANUP(table_cleanup) table_snapshot *t = NULL;
    CLEANUP(buf_dispose) buf bytes;
    buf_init(&bytes, env, LIMIT_MANIFEST_BYTES);
    TRY(io_read_file(env, c->home->versions, names[i], LIMIT_MANIFEST_BYTES, &bytes, err));
    TRY(snapshot_decode(c->home, buf_str(&bytes), names[i], &t, err));
    TRY(refs_add(&c->refs, t, REFERRED_BY_KEPT, err));
  }
  return GLV_OK;
}

static glv_status inspect_all(struct cleanup *c, glv_error *err) {
  TRY(table_tags(c->table, &c->memory, &c->tags, &c->tag_count, err));
  TRY(branch_starts(c->home, &c->memory, &c->starts, &c->start_count, err));
  TRY(list_versions(c->home, &c->memory, &c->found, err));
  if (c->found.latest == 0) {
    return home_fail_dropped(c->home, err);
  }
  c->expired = ARENA_ARRAY(&c->memory, uint64_t, c->found.count);
  c->claims = ARENA_ARRAY(&c->memory, pin, c->found.count);
  if (c->expired == NULL || c->claims == NULL) {
    return error_nomem(err, c->found.count * sizeof *c->claims);
  }
  TRY(inspect_detached(c, err));
  for (size_t i = 0; i < c->found.count; i++) {
    TRY(inspect(c, c->found.versions[i], err));
  }
  return refs_add_branches(&c->refs, c->home, err);
}

/* ---- removing ---- */

static glv_status remove_manifests(const struct cleanup *c, glv_error *err) {
  glv_env *env = c->home->env;
  for (size_t i = 0; i < c->expired_count; i++) {
    char name[NAME_SIZE];
    glv_error report = {0};
    name_manifest(c->expired[i], c->found.is_v1, name);
    TRY(cancel_check(c->options->cancel, err));
    if (io_remove(env, c->home->versions, name, &report) != GLV_OK && !io_is_missing(&report)) {
      return pass_report(err, &report);
    }
  }
  return c->expired_count > 0 ? io_dir_sync(env, c->home->versions, err) : GLV_OK;
}

/* What was committed since the listing may refer to files of removed versions. */
static glv_status inspect_new(struct cleanup *c, glv_error *err) {
  version_listing now;
  TRY(list_versions(c->home, NULL, &now, err));
  for (uint64_t v = c->found.latest + 1; v <= now.latest; v++) {
    CLEANUP(table_cleanup) table_snapshot *t = NULL;
    glv_error report = {0};
    const glv_status status = snapshot_load(c->home, v, now.is_v1, &t, &report);
    if (status == GLV_OK) {
      TRY(refs_add(&c->refs, t, REFERRED_BY_KEPT, err));
    } else if (status != GLV_E_VERSION_NOT_FOUND) {
      return pass_report(err, &report);
    }
  }
  return GLV_OK;
}

static glv_status check_table(const table_snapshot *t, glv_error *err) {
  TRY(table_check_writable(t, err));
  return home_check_identity(t->home, err);
}

glv_status table_cleanup_versions(const table_snapshot *t, const cleanup_options *options,
                                  cleanup_result *ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  TRY(table_open_version(t, 0, &latest, err));
  TRY(check_table(latest, err));
  glv_env *env = t->home->env;
  CLEANUP(cleanup_dispose)
  struct cleanup c = {.table = latest,
                      .home = t->home,
                      .options = options,
                      .cutoff_ns = env_now_ns(env) - options->older_than_ns};
  arena_init(&c.memory, env);
  refs_init(&c.refs, env);
  TRY(inspect_all(&c, err));
  if (!options->dry_run) {
    TRY(remove_manifests(&c, err));
    TRY(inspect_new(&c, err));
  }
  c.result.versions = c.expired_count;
  TRY(sweep_files(c.home, &c.refs, options, &c.result, err));
  *ret = c.result;
  return GLV_OK;
}
