/**
 * @file io.h
 * The stores behind glv_io, and short forms of its operations on the table of an environment.
 *
 * `dir` and `file` are the handles of <glaive/env.h>. All errors are GLV_E_IO with sys_errno unless
 * a function says otherwise.
 */
#ifndef GLAIVE_IO_IO_H
#define GLAIVE_IO_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/env.h"
#include "io/path.h"

/** The local file system. A static table; handles are plain descriptors, nothing is allocated.
 * Thread class: T. */
const glv_io *io_local(void);

typedef struct io_mem io_mem;

/**
 * An empty store in memory, with one root directory "/"; relative paths start there too. A handle
 * to a directory that was removed gives ENOENT, also after a new one took its path.
 *
 * @param memory where nodes and contents are allocated, and whose clock and entropy the store uses;
 * referenced. It must not be an environment over this very store.
 * @param ret the store; io_mem_free after every handle was closed. Errors: GLV_E_NOMEM.
 */
glv_status io_mem_new(glv_env *memory, io_mem **ret, glv_error *err);
void io_mem_free(io_mem *m); /* NULL is fine */
/** The table of the store; lives as long as it. */
const glv_io *io_mem_table(const io_mem *m);

/* ---- the operations of glv_io on the table of env ---- */

static inline glv_status io_dir_open(glv_env *env, const char *path, void **ret, glv_error *err) {
  return env_io(env)->dir_open(env_io(env)->user, path, ret, err);
}
/** NULL is fine. */
static inline void io_dir_close(glv_env *env, void *dir) {
  if (dir != NULL) {
    env_io(env)->dir_close(env_io(env)->user, dir);
  }
}
static inline glv_status io_open_read(glv_env *env, void *dir, const char *name, void **ret,
                                      glv_error *err) {
  return env_io(env)->open_read(env_io(env)->user, dir, name, ret, err);
}
static inline glv_status io_size(glv_env *env, void *file, uint64_t *ret, glv_error *err) {
  return env_io(env)->size(env_io(env)->user, file, ret, err);
}
static inline glv_status io_read_at(glv_env *env, void *file, uint64_t offset, void *data,
                                    size_t size, glv_error *err) {
  return env_io(env)->read_at(env_io(env)->user, file, offset, data, size, err);
}
static inline glv_status io_create(glv_env *env, void *dir, const char *name, void **ret,
                                   glv_error *err) {
  return env_io(env)->create(env_io(env)->user, dir, name, ret, err);
}
static inline glv_status io_write(glv_env *env, void *file, const void *data, size_t size,
                                  glv_error *err) {
  return env_io(env)->write(env_io(env)->user, file, data, size, err);
}
static inline glv_status io_sync(glv_env *env, void *file, glv_error *err) {
  return env_io(env)->sync(env_io(env)->user, file, err);
}
static inline glv_status io_close(glv_env *env, void *file, glv_error *err) {
  return env_io(env)->close(env_io(env)->user, file, err);
}
static inline glv_status io_publish(glv_env *env, void *dir, const char *temp, const char *final,
                                    bool if_absent, glv_error *err) {
  return env_io(env)->publish(env_io(env)->user, dir, temp, final, if_absent, err);
}
static inline glv_status io_dir_sync(glv_env *env, void *dir, glv_error *err) {
  return env_io(env)->dir_sync(env_io(env)->user, dir, err);
}
static inline glv_status io_remove(glv_env *env, void *dir, const char *name, glv_error *err) {
  return env_io(env)->remove(env_io(env)->user, dir, name, err);
}
static inline glv_status io_list(glv_env *env, void *dir, const char *name, glv_io_visit visit,
                                 void *context, glv_error *err) {
  return env_io(env)->list(env_io(env)->user, dir, name, visit, context, err);
}
static inline glv_status io_stat(glv_env *env, void *dir, const char *name, glv_io_stat *ret,
                                 glv_error *err) {
  return env_io(env)->stat(env_io(env)->user, dir, name, ret, err);
}
static inline glv_status io_make_dirs(glv_env *env, const char *path, glv_error *err) {
  return env_io(env)->make_dirs(env_io(env)->user, path, err);
}
static inline glv_status io_remove_dir(glv_env *env, const char *path, glv_error *err) {
  return env_io(env)->remove_dir(env_io(env)->user, path, err);
}
static inline void io_sleep_ns(glv_env *env, int64_t duration_ns) {
  env_io(env)->sleep_ns(env_io(env)->user, duration_ns);
}

/* ---- on top of them ---- */

/** A directory or file handle that closes itself: `CLEANUP(io_scope_dispose) io_scope s = {env,
 * NULL, NULL};`. An error of the close is lost, so writers close their file themselves. */
typedef struct io_scope {
  glv_env *env; /* borrowed */
  void *dir;
  void *file;
} io_scope;
void io_scope_dispose(io_scope *s);

/**
 * Append the whole file to out.
 *
 * @param dir       may be NULL; name is then a path.
 * @param max_bytes a longer file is GLV_E_LIMIT.
 * Errors: GLV_E_IO (ENOENT when absent), GLV_E_LIMIT, GLV_E_NOMEM, GLV_E_CORRUPT when the file
 * shrinks meanwhile. Thread class: T.
 */
glv_status io_read_file(glv_env *env, void *dir, const char *name, uint64_t max_bytes, buf *out,
                        glv_error *err);

/**
 * Create a file with that content (EEXIST when the name is taken). After a failure the file is
 * removed again, as far as that is possible. The directory is not synced.
 *
 * @param sync make the content durable before returning.
 */
glv_status io_write_file(glv_env *env, void *dir, const char *name, const void *data, size_t size,
                         bool sync, glv_error *err);

/** *ret = whether the name exists. Errors: GLV_E_IO for everything but ENOENT and ENOTDIR. */
glv_status io_exists(glv_env *env, void *dir, const char *name, bool *ret, glv_error *err);

/**
 * The names in a directory, sorted by bytes, in an array of arena.
 *
 * @param dir      may be NULL.
 * @param name     "" = dir itself.
 * @param ret_dirs which of them are directories (links to directories count); may be NULL.
 */
glv_status io_list_sorted(glv_env *env, void *dir, const char *name, arena *a, const char ***ret,
                          bool **ret_dirs, size_t *ret_count, glv_error *err);

/**
 * Remove a directory with everything below it. Links are removed, never followed. Entries that
 * appear meanwhile are removed too, a few rounds long. A missing directory is ENOENT; names that
 * vanish meanwhile are fine.
 */
glv_status io_remove_tree(glv_env *env, const char *path, glv_error *err);

/** True when err tells that a name or its directory does not exist. */
bool io_is_missing(const glv_error *err);
/** True when err tells that a name is taken. */
bool io_is_taken(const glv_error *err);

#endif
