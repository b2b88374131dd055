/*
 * Whole files and whole trees on top of glv_io, for every store alike. Errors are told apart by
 * sys_errno, so functions that must tell "missing" from "failed" keep a report of their own when
 * the caller gave none.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/limits.h"
#include "io/io.h"

enum { TREE_ROUNDS = 16, TREE_DEPTH = 128 };

bool io_is_missing(const glv_error *err) {
  return err->code == GLV_E_IO && (err->sys_errno == ENOENT || err->sys_errno == ENOTDIR);
}

bool io_is_taken(const glv_error *err) { return err->code == GLV_E_IO && err->sys_errno == EEXIST; }

void io_scope_dispose(io_scope *s) {
  if (s->file != NULL) {
    (void)io_close(s->env, s->file, NULL);
  }
  io_dir_close(s->env, s->dir);
  s->dir = s->file = NULL;
}

glv_status io_read_file(glv_env *env, void *dir, const char *name, uint64_t max_bytes, buf *out,
                        glv_error *err) {
  CLEANUP(io_scope_dispose) io_scope s = {env, NULL, NULL};
  TRY(io_open_read(env, dir, name, &s.file, err));
  uint64_t size;
  TRY(io_size(env, s.file, &size, err));
  size_t wanted;
  if (size > max_bytes || !to_size(size, &wanted)) {
    return FAIL(err, GLV_E_LIMIT, "file '%s' of %llu bytes is longer than %llu", name,
                (unsigned long long)size, (unsigned long long)max_bytes);
  }
  TRY(buf_reserve(out, wanted, err));
  TRY(io_read_at(env, s.file, 0, out->data + out->size, wanted, err));
  out->size += wanted;
  out->data[out->size] = '\0';
  return GLV_OK;
}

static glv_status fill_file(glv_env *env, void *file, const void *data, size_t size, bool sync,
                            glv_error *err) {
  TRY(io_write(env, file, data, size, err));
  return sync ? io_sync(env, file, err) : GLV_OK;
}

glv_status io_write_file(glv_env *env, void *dir, const char *name, const void *data, size_t size,
                         bool sync, glv_error *err) {
  void *file;
  TRY(io_create(env, dir, name, &file, err));
  glv_status status = fill_file(env, file, data, size, sync, err);
  const glv_status closed = io_close(env, file, status == GLV_OK ? err : NULL);
  status = status == GLV_OK ? closed : status;
  if (status != GLV_OK) {
    (void)io_remove(env, dir, name, NULL);
  }
  return status;
}

glv_status io_exists(glv_env *env, void *dir, const char *name, bool *ret, glv_error *err) {
  glv_io_stat st;
  glv_error own = {0};
  const glv_status status = io_stat(env, dir, name, &st, &own);
  if (status == GLV_OK || io_is_missing(&own)) {
    *ret = status == GLV_OK;
    return GLV_OK;
  }
  return error_pass(err, &own);
}

/* ---- listing ---- */

struct entry {
  const char *name;
  bool is_dir;
};

struct listing {
  glv_env *env;
  arena *names;
  struct entry *entries;
  size_t count;
  size_t capacity;
};

static void listing_dispose(struct listing *l) { mem_free(l->env, l->entries); }

static glv_status add_entry(void *context, const char *name, int32_t is_directory, glv_error *err) {
  struct listing *l = context;
  TRY(vec_reserve(l->env, &l->entries, &l->capacity, l->count + 1, sizeof *l->entries, err));
  const char *copy = arena_strdup(l->names, str_of(name));
  if (copy == NULL) {
    return error_nomem(err, strlen(name) + 1);
  }
  l->entries[l->count++] = (struct entry){copy, is_directory != 0};
  return GLV_OK;
}

static int compare_entries(const void *a, const void *b) {
  return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

glv_status io_list_sorted(glv_env *env, void *dir, const char *name, arena *a, const char ***ret,
                          bool **ret_dirs, size_t *ret_count, glv_error *err) {
  CLEANUP(listing_dispose) struct listing l = {.env = env, .names = a};
  TRY(io_list(env, dir, name, add_entry, &l, err));
  const char **names = ARENA_ARRAY(a, const char *, l.count);
  bool *dirs = ARENA_ARRAY(a, bool, l.count);
  if (names == NULL || dirs == NULL) {
    return error_nomem(err, l.count * sizeof *names);
  }
  if (l.count != 0) {
    qsort(l.entries, l.count, sizeof *l.entries, compare_entries);
  }
  for (size_t i = 0; i < l.count; i++) {
    names[i] = l.entries[i].name;
    dirs[i] = l.entries[i].is_dir;
  }
  *ret = names;
  *ret_count = l.count;
  if (ret_dirs != NULL) {
    *ret_dirs = dirs;
  }
  return GLV_OK;
}

/* ---- removing a tree ---- */

static glv_status remove_tree(glv_env *env, const char *path, int depth, glv_error *err);

/* One entry: as a file or link first, and only what turns out to be a directory as one, so that a
 * link to a directory is never followed. */
static glv_status remove_entry(glv_env *env, void *dir, arena *a, const char *path,
                               const char *name, int depth, glv_error *err) {
  glv_error own = {0};
  glv_status status = io_remove(env, dir, name, &own);
  if (status != GLV_OK && own.code == GLV_E_IO && own.sys_errno == EISDIR) {
    const char *child = path_join(a, str_of(path), str_of(name));
    if (child == NULL) {
      return error_nomem(err, LIMIT_PATH_BYTES);
    }
    status = remove_tree(env, child, depth + 1, &own);
  }
  return status == GLV_OK || io_is_missing(&own) ? GLV_OK : error_pass(err, &own);
}

static glv_status remove_entries(glv_env *env, const char *path, int depth, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  CLEANUP(io_scope_dispose) io_scope s = {env, NULL, NULL};
  TRY(io_dir_open(env, path, &s.dir, err));
  const char **names;
  size_t count;
  TRY(io_list_sorted(env, s.dir, "", &a, &names, NULL, &count, err));
  for (size_t i = 0; i < count; i++) {
    TRY(remove_entry(env, s.dir, &a, path, names[i], depth, err));
  }
  return GLV_OK;
}

static glv_status remove_tree(glv_env *env, const char *path, int depth, glv_error *err) {
  if (depth > TREE_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "directory '%s' is nested more than %d deep", path, TREE_DEPTH);
  }
  glv_error own = {0};
  for (int round = 0; round < TREE_ROUNDS; round++) {
    TRY(remove_entries(env, path, depth, err));
    if (io_remove_dir(env, path, &own) == GLV_OK) {
      return GLV_OK;
    }
    if (own.sys_errno != ENOTEMPTY && own.sys_errno != EEXIST) {
      break;
    }
  }
  return error_pass(err, &own);
}

glv_status io_remove_tree(glv_env *env, const char *path, glv_error *err) {
  return remove_tree(env, path, 0, err);
}
