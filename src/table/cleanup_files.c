/* Removing files that no version that stays refers to.
 *
 *   _transactions, _deletions, data: files, by their own name
 *   data/STEM: side files of blobs, with data/STEM.lance
 *   _indices/UUID: everything below, with the directory
 *   _versions: staging files of commits that died
 *
 * Nothing else is looked at. What a removed version refers to goes at once; what nobody refers to
 * may belong to a commit under way and goes when it is older than the grace time.
 */
#include <stdio.h>

#include "table/cleanup_private.h"

enum { INDEX_DEPTH = 16 };

struct sweep {
  const table_home *home;
  const file_refs *refs;
  const cleanup_options *options;
  cleanup_result *result;
  int64_t grace_end; /* older files are nobody's */
  glv_error failure; /* the first; code 0 = none */
};

/* One directory below the table. */
struct folder {
  arena memory;
  io_scope scope;
  const char *name; /* "data", "_indices/<uuid>", ... */
  const char **names;
  bool *dirs;
  size_t count;
};

static void folder_cleanup(struct folder *f) {
  io_scope_dispose(&f->scope);
  arena_dispose(&f->memory);
}

/* A missing directory has no names. */
static glv_status open_folder(const struct sweep *s, const char *name, struct folder *ret,
                              glv_error *err) {
  glv_env *env = s->home->env;
  arena_init(&ret->memory, env);
  ret->scope.env = env;
  ret->name = name;
  const char *path = arena_printf(&ret->memory, "%s/%s", s->home->path, name);
  if (path == NULL) {
    return error_nomem(err, 0);
  }
  glv_error report = {0};
  glv_status status = io_dir_open(env, path, &ret->scope.dir, &report);
  if (status == GLV_OK) {
    status = io_list_sorted(env, ret->scope.dir, "", &ret->memory, &ret->names, &ret->dirs,
                            &ret->count, &report);
  }
  return status == GLV_OK || io_is_missing(&report) ? GLV_OK : pass_report(err, &report);
}

static uint64_t find_flags(const struct sweep *s, const char *folder, str name) {
  char text[LIMIT_PATH_BYTES];
  const int length = snprintf(text, sizeof text, "%s/%.*s", folder, STR_ARG(name));
  if (length < 0 || (size_t)length >= sizeof text) {
    return REFERRED_BY_KEPT;
  }
  const uint64_t *flags = map_get(&s->refs->flags, str_slice(text, (size_t)length));
  return flags != NULL ? *flags : 0;
}

/* Whether a file with these flags and that age may go. */
static bool may_go(const struct sweep *s, uint64_t flags, int64_t modified_ns) {
  return (flags & REFERRED_BY_KEPT) == 0 &&
         ((flags & REFERRED_BY_REMOVED) != 0 || modified_ns < s->grace_end);
}

/* Remove a file that may go, and count it. A failure does not end the sweep. */
static glv_status consider(struct sweep *s, const struct folder *f, const char *name,
                           uint64_t flags, uint64_t *counter, glv_error *err) {
  glv_env *env = s->home->env;
  glv_io_stat found;
  glv_error report = {0};
  TRY(cancel_check(s->options->cancel, err));
  if ((flags & REFERRED_BY_KEPT) != 0) {
    return GLV_OK;
  }
  glv_status status = io_stat(env, f->scope.dir, name, &found, &report);
  if (status == GLV_OK && !may_go(s, flags, found.modified_ns)) {
    return GLV_OK;
  }
  if (status == GLV_OK && !s->options->dry_run) {
    status = io_remove(env, f->scope.dir, name, &report);
  }
  if (status == GLV_OK) {
    *counter += 1;
    s->result->bytes += found.size_bytes;
  } else if (!io_is_missing(&report) && s->failure.code == GLV_OK) {
    s->failure = report;
  }
  return GLV_OK;
}

/* Files with one of two endings, by their own name. */
static glv_status sweep_flat(struct sweep *s, const char *name, str ending, str other,
                             uint64_t *counter, glv_error *err) {
  CLEANUP(folder_cleanup) struct folder f = {0};
  TRY(open_folder(s, name, &f, err));
  for (size_t i = 0; i < f.count; i++) {
    const str file = str_of(f.names[i]);
    if (!f.dirs[i] && (str_ends_with(file, ending) || str_ends_with(file, other))) {
      TRY(consider(s, &f, f.names[i], find_flags(s, name, file), counter, err));
    }
  }
  return GLV_OK;
}

static void remove_if_empty(const struct sweep *s, const char *name) {
  char path[LIMIT_PATH_BYTES];
  const int length = snprintf(path, sizeof path, "%s/%s", s->home->path, name);
  if (!s->options->dry_run && length > 0 && (size_t)length < sizeof path) {
    (void)io_remove_dir(s->home->env, path, NULL); /* only succeeds while it is empty */
  }
}

/* Side files of the blobs of one data file. */
static glv_status sweep_blobs(struct sweep *s, const char *name, uint64_t flags, glv_error *err) {
  CLEANUP(folder_cleanup) struct folder f = {0};
  TRY(open_folder(s, name, &f, err));
  for (size_t i = 0; i < f.count; i++) {
    if (!f.dirs[i] && str_ends_with(str_of(f.names[i]), STR(".blob"))) {
      TRY(consider(s, &f, f.names[i], flags, &s->result->data_files, err));
    }
  }
  remove_if_empty(s, name);
  return GLV_OK;
}

static glv_status sweep_data(struct sweep *s, glv_error *err) {
  TRY(sweep_flat(s, "data", STR(".lance"), STR(".lance"), &s->result->data_files, err));
  CLEANUP(folder_cleanup) struct folder f = {0};
  TRY(open_folder(s, "data", &f, err));
  for (size_t i = 0; i < f.count; i++) {
    if (!f.dirs[i]) {
      continue;
    }
    const char *owner = arena_printf(&f.memory, "%s.lance", f.names[i]);
    const char *below = arena_printf(&f.memory, "data/%s", f.names[i]);
    if (owner == NULL || below == NULL) {
      return error_nomem(err, 0);
    }
    const uint64_t flags = find_flags(s, "data", str_of(owner));
    if ((flags & REFERRED_BY_KEPT) == 0) {
      TRY(sweep_blobs(s, below, flags, err));
    }
  }
  return GLV_OK;
}

static glv_status sweep_index(struct sweep *s, const char *name, uint64_t flags, unsigned depth,
                              glv_error *err) { /* NOLINT(misc-no-recursion) */
  CLEANUP(folder_cleanup) struct folder f = {0};
  if (depth == INDEX_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "table '%s': '%s' nests deeper than %d", s->home->name, name,
                INDEX_DEPTH);
  }
  TRY(open_folder(s, name, &f, err));
  for (size_t i = 0; i < f.count; i++) {
    if (!f.dirs[i]) {
      TRY(consider(s, &f, f.names[i], flags, &s->result->index_files, err));
      continue;
    }
    const char *below = arena_printf(&f.memory, "%s/%s", name, f.names[i]);
    if (below == NULL) {
      return error_nomem(err, 0);
    }
    TRY(sweep_index(s, below, flags, depth + 1, err));
  }
  remove_if_empty(s, name);
  return GLV_OK;
}

static glv_status sweep_indexes(struct sweep *s, glv_error *err) {
  CLEANUP(folder_cleanup) struct folder f = {0};
  TRY(open_folder(s, "_indices", &f, err));
  for (size_t i = 0; i < f.count; i++) {
    const uint64_t flags = find_flags(s, "_indices", str_of(f.names[i]));
    if (!f.dirs[i] || (flags & REFERRED_BY_KEPT) != 0) {
      continue;
    }
    const char *below = arena_printf(&f.memory, "_indices/%s", f.names[i]);
    if (below == NULL) {
      return error_nomem(err, 0);
    }
    TRY(sweep_index(s, below, flags, 0, err));
  }
  return GLV_OK;
}

/* Manifests that were being written when their writer died. */
static glv_status sweep_staging(struct sweep *s, glv_error *err) {
  CLEANUP(folder_cleanup) struct folder f = {0};
  uint64_t ignored = 0;
  TRY(open_folder(s, "_versions", &f, err));
  for (size_t i = 0; i < f.count; i++) {
    if (!f.dirs[i] && strstr(f.names[i], ".manifest#") != NULL) {
      TRY(consider(s, &f, f.names[i], 0, &ignored, err));
    }
  }
  return GLV_OK;
}

glv_status sweep_files(const table_home *h, const file_refs *r, const cleanup_options *options,
                       cleanup_result *ret, glv_error *err) {
  struct sweep s = {.home = h,
                    .refs = r,
                    .options = options,
                    .result = ret,
                    .grace_end = env_now_ns(h->env) - CLEANUP_GRACE_NS};
  TRY(sweep_flat(&s, "_transactions", STR(".txn"), STR(".txn"), &ret->transaction_files, err));
  TRY(sweep_data(&s, err));
  TRY(sweep_flat(&s, "_deletions", STR(".bin"), STR(".arrow"), &ret->deletion_files, err));
  TRY(sweep_indexes(&s, err));
  TRY(sweep_staging(&s, err));
  return s.failure.code == GLV_OK ? GLV_OK : pass_report(err, &s.failure);
}
