/*
 * Directories of tables, as the catalog handles them without opening the table.
 *
 * Removal: manifests go first, the oldest version first, and the emptied `_versions` is synced
 * before any data file is touched. A crash in between leaves the newest version with all its files,
 * or no version at all; and once `_versions` is gone, a commit that was under way fails instead of
 * publishing into a directory that is being removed.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/encoding.h"
#include "base/limits.h"
#include "catalog/catalog_private.h"

enum { REMOVE_ROUNDS = 16 };

typedef struct manifest_name {
  const char *name;
  uint64_t version; /* 0 = not a manifest: goes first */
} manifest_name;

/* The version that a file name stands for, in either naming scheme. */
static uint64_t version_of(const char *name) {
  enum { V2_NAME_BYTES = 29 };
  const str text = str_of(name);
  uint64_t number;
  if (!str_ends_with(text, STR(".manifest")) ||
      !str_to_u64(str_slice(name, text.size - (sizeof ".manifest" - 1)), &number)) {
    return 0;
  }
  return text.size == V2_NAME_BYTES ? UINT64_MAX - number : number;
}

static int compare_versions(const void *a, const void *b) {
  const uint64_t x = ((const manifest_name *)a)->version;
  const uint64_t y = ((const manifest_name *)b)->version;
  return (x > y) - (x < y);
}

static glv_status empty_versions(glv_env *env, void *dir, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  const char **names;
  size_t count;
  TRY(io_list_sorted(env, dir, "", &a, &names, NULL, &count, err));
  manifest_name *files = ARENA_ARRAY(&a, manifest_name, count);
  if (files == NULL) {
    return error_nomem(err, count * sizeof *files);
  }
  for (size_t i = 0; i < count; i++) {
    files[i] = (manifest_name){names[i], version_of(names[i])};
  }
  if (count != 0) {
    qsort(files, count, sizeof *files, compare_versions);
  }
  for (size_t i = 0; i < count; i++) {
    glv_error own = {0};
    const glv_status status = io_remove(env, dir, files[i].name, &own);
    if (status != GLV_OK && !io_is_missing(&own) && own.sys_errno != EISDIR) {
      return error_pass(err, &own);
    }
  }
  return io_dir_sync(env, dir, err);
}

/* Commits that are under way may put files in again: a few rounds. */
static glv_status remove_versions(glv_env *env, const char *path, glv_error *err) {
  for (int round = 0; round < REMOVE_ROUNDS; round++) {
    CLEANUP(io_scope_dispose) io_scope s = {env, NULL, NULL};
    TRY(io_dir_open(env, path, &s.dir, err));
    TRY(empty_versions(env, s.dir, err));
    glv_error own = {0};
    if (io_remove_dir(env, path, &own) == GLV_OK || own.sys_errno != ENOTEMPTY) {
      break; /* whatever else stands in the way is removed, or reported, with the tree */
    }
  }
  return GLV_OK;
}

/* Removes a directory of versions and data under the name that it has. */
static glv_status remove_in_place(glv_env *env, const char *path, arena *a, glv_error *err) {
  const char *versions = path_join(a, str_of(path), STR("_versions"));
  if (versions == NULL) {
    return error_nomem(err, LIMIT_PATH_BYTES);
  }
  glv_error own = {0};
  const glv_status status = remove_versions(env, versions, &own);
  if (status != GLV_OK && !io_is_missing(&own)) {
    return error_pass(err, &own);
  }
  return io_remove_tree(env, path, err);
}

/* The directory that path lies in, and its name there. */
static glv_status open_parent(glv_env *env, const char *path, arena *a, void **ret_dir,
                              const char **ret_name, glv_error *err) {
  const str name = path_name(str_of(path));
  const size_t size = strlen(path) - name.size;
  const char *parent = arena_strdup(a, size == 0 ? STR(".") : str_slice(path, size));
  *ret_name = arena_strdup(a, name);
  if (parent == NULL || *ret_name == NULL) {
    return error_nomem(err, size);
  }
  return io_dir_open(env, parent, ret_dir, err);
}

/* A name in the same directory that no client takes for a table. */
static glv_status aside_path(glv_env *env, const char *path, arena *a, const char **ret,
                             glv_error *err) {
  uint64_t number;
  TRY(env_random(env, &number, sizeof number, err));
  const size_t size = strlen(path) - path_name(str_of(path)).size;
  *ret =
      arena_printf(a, "%.*s.glaive-dropped-%016llx", (int)size, path, (unsigned long long)number);
  return *ret != NULL ? GLV_OK : error_nomem(err, size);
}

/* Renames path aside. Errors: GLV_E_IO with ENOTSUP when the store cannot do that. */
static glv_status move_aside(glv_env *env, const char *path, arena *a, const char **ret,
                             glv_error *err) {
  CLEANUP(io_scope_dispose) io_scope s = {env, NULL, NULL};
  const char *name;
  TRY(open_parent(env, path, a, &s.dir, &name, err));
  const char *aside;
  TRY(aside_path(env, path, a, &aside, err));
  TRY(io_publish(env, s.dir, name, path_name(str_of(aside)).data, true, err));
  *ret = aside;
  return io_dir_sync(env, s.dir, err);
}

glv_status dataset_remove(glv_env *env, const char *path, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  glv_error own = {0};
  const char *aside = path;
  glv_status status = move_aside(env, path, &a, &aside, &own);
  if (status == GLV_OK || own.sys_errno == ENOTSUP) {
    status = remove_in_place(env, aside, &a, &own);
  }
  if (status == GLV_OK || io_is_missing(&own)) {
    return GLV_OK;
  }
  return error_pass(err, &own);
}

static glv_status remove_child_dir(glv_env *env, const char *path, const char *name, arena *a,
                                   glv_error *err) {
  const char *child = name[0] != '\0' ? path_join(a, str_of(path), str_of(name)) : path;
  if (child == NULL) {
    return error_nomem(err, LIMIT_PATH_BYTES);
  }
  glv_error own = {0};
  return io_remove_dir(env, child, &own) == GLV_OK || io_is_missing(&own) ? GLV_OK
                                                                          : error_pass(err, &own);
}

glv_status dataset_remove_unfilled(glv_env *env, const char *path, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  TRY(remove_child_dir(env, path, "_versions", &a, err));
  CLEANUP(io_scope_dispose) io_scope s = {env, NULL, NULL};
  glv_error own = {0};
  if (io_dir_open(env, path, &s.dir, &own) != GLV_OK) {
    return io_is_missing(&own) ? GLV_OK : error_pass(err, &own);
  }
  if (io_remove(env, s.dir, MARKER_RESERVED, &own) != GLV_OK && !io_is_missing(&own)) {
    return error_pass(err, &own);
  }
  TRY(remove_child_dir(env, path, "data", &a, err));
  TRY(remove_child_dir(env, path, "_transactions", &a, err));
  return remove_child_dir(env, path, "", &a, err);
}

glv_status dataset_rename(glv_env *env, const char *from, const char *to, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  CLEANUP(io_scope_dispose) io_scope s = {env, NULL, NULL};
  const char *name;
  TRY(open_parent(env, to, &a, &s.dir, &name, err));
  TRY(io_publish(env, s.dir, path_name(str_of(from)).data, name, true, err));
  return io_dir_sync(env, s.dir, err);
}

static glv_status write_marker(glv_env *env, void *dir, glv_error *err) {
  unsigned char number[16];
  TRY(env_random(env, number, sizeof number, err));
  char staging[64] = "lance-marker.staging.";
  const size_t size = strlen(staging);
  hex_encode(number, sizeof number, staging + size);
  staging[size + 2 * sizeof number] = '\0';
  TRY(io_write_file(env, dir, staging, "reserved", 8, true, err));
  const glv_status status = io_publish(env, dir, staging, MARKER_RESERVED, true, err);
  if (status != GLV_OK) {
    (void)io_remove(env, dir, staging, NULL);
    return status;
  }
  return io_dir_sync(env, dir, err);
}

glv_status dataset_mark(glv_env *env, const char *path, glv_error *err) {
  TRY(io_make_dirs(env, path, err));
  CLEANUP(io_scope_dispose) io_scope s = {env, NULL, NULL};
  TRY(io_dir_open(env, path, &s.dir, err));
  glv_error own = {0};
  const glv_status status = write_marker(env, s.dir, &own);
  if (status != GLV_OK && io_is_taken(&own)) {
    return FAIL(err, GLV_E_TABLE_EXISTS, "directory '%s' is reserved already", path);
  }
  return status == GLV_OK ? GLV_OK : error_pass(err, &own);
}
