/**
 * @file env.h
 * The environment: memory, storage, clock, entropy, threads and log of everything made under it.
 */
#ifndef GLAIVE_ENV_H
#define GLAIVE_ENV_H

#include <stddef.h>
#include <stdint.h>

#include <glaive/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glv_env glv_env;

/** Memory functions. All three may be called from any thread at once. */
typedef struct glv_allocator {
  /** size > 0 bytes at a multiple of align (a power of two, at least 8), or NULL. */
  void *(*alloc)(void *user, size_t size, size_t align);
  /** Like realloc for a block made with the same align; old_size is what it was made with. NULL
   * leaves old alone. */
  void *(*resize)(void *user, void *old, size_t old_size, size_t size, size_t align);
  /** Releases a block; size is what it was made with. */
  void (*free)(void *user, void *block, size_t size);
  void *user;
} glv_allocator;

/** What glv_io.stat tells. */
typedef struct glv_io_stat {
  uint64_t size_bytes;
  int64_t modified_ns; /**< since the epoch, UTC */
  uint64_t
      device; /**< with inode: identity of the file or directory; equal pairs are the same one */
  uint64_t inode;
  int32_t is_directory;
} glv_io_stat;

/** Called by glv_io.list once per entry; name is valid during the call. A non-zero return ends the
 * listing with it. */
typedef glv_status (*glv_io_visit)(void *context, const char *name, int32_t is_directory,
                                   glv_error *err);

/**
 * Storage, clock and entropy. Everything the library does to them goes through one of these tables.
 * `dir` is what dir_open returned, `file` what open_read or create returned; where a function says
 * so, dir may be NULL and name is then a path. Errors are GLV_E_IO with sys_errno set (ENOENT and
 * EEXIST have the stated meanings). Every function may be called from any thread; one file is
 * written by one thread at a time.
 */
typedef struct glv_io {
  void *user;
  /** Opens a directory; the handle stays bound to that very directory when the path comes to name
   * another one. */
  glv_status (*dir_open)(void *user, const char *path, void **ret, glv_error *err);
  void (*dir_close)(void *user, void *dir);
  /** dir may be NULL. */
  glv_status (*open_read)(void *user, void *dir, const char *name, void **ret, glv_error *err);
  glv_status (*size)(void *user, void *file, uint64_t *ret, glv_error *err);
  /** Fills all of [offset, offset + size) or fails; a range past the end is an error with sys_errno
   * 0. */
  glv_status (*read_at)(void *user, void *file, uint64_t offset, void *data, size_t size,
                        glv_error *err);
  /** Exclusive: EEXIST when the name is taken, ENOENT when the directory behind dir was removed. */
  glv_status (*create)(void *user, void *dir, const char *name, void **ret, glv_error *err);
  /** Takes all bytes, at the end of what was written before, or fails. */
  glv_status (*write)(void *user, void *file, const void *data, size_t size, glv_error *err);
  glv_status (*sync)(void *user, void *file, glv_error *err);
  /** Releases the file also when it fails. */
  glv_status (*close)(void *user, void *file, glv_error *err);
  /** Makes the finished file `temp` visible as `final` in one step. if_absent: EEXIST when the name
   * is taken. */
  glv_status (*publish)(void *user, void *dir, const char *temp, const char *final,
                        int32_t if_absent, glv_error *err);
  /** Makes earlier create, publish and remove in dir durable. */
  glv_status (*dir_sync)(void *user, void *dir, glv_error *err);
  glv_status (*remove)(void *user, void *dir, const char *name, glv_error *err);
  /** Entries in unspecified order, without "." and "..". dir may be NULL; name "" or "." is dir
   * itself. */
  glv_status (*list)(void *user, void *dir, const char *name, glv_io_visit visit, void *context,
                     glv_error *err);
  /** dir may be NULL. */
  glv_status (*stat)(void *user, void *dir, const char *name, glv_io_stat *ret, glv_error *err);
  /** Makes the directory and its missing parents, and makes their entries durable; existing ones
   * are fine. */
  glv_status (*make_dirs)(void *user, const char *path, glv_error *err);
  /** Removes an empty directory. */
  glv_status (*remove_dir)(void *user, const char *path, glv_error *err);
  /** Wall clock, UTC, nanoseconds since the epoch. */
  int64_t (*now_ns)(void *user);
  void (*sleep_ns)(void *user, int64_t duration_ns);
  glv_status (*random)(void *user, void *data, size_t size, glv_error *err);
} glv_io;

enum glv_log_level { GLV_LOG_ERROR = 1, GLV_LOG_WARNING = 2, GLV_LOG_INFO = 3, GLV_LOG_DEBUG = 4 };

/** One line of log, without a newline; text is valid during the call. May be called from any
 * thread. */
typedef void (*glv_log_callback)(void *user, int32_t level, const char *text);

/** Options of glv_env_new. Make it with GLV_OPTIONS(glv_env_options). */
typedef struct glv_env_options {
  uint32_t struct_size;
  uint32_t flags;                 /**< 0 */
  uint32_t threads;               /**< worker threads; 0 = number of processors, at most 8 */
  int32_t log_level;              /**< GLV_LOG_*; 0 = GLV_LOG_WARNING */
  uint64_t memory_limit_bytes;    /**< 0 = none; above it allocations fail with GLV_E_NOMEM */
  const glv_allocator *allocator; /**< NULL = the C library's; copied */
  const glv_io
      *io; /**< NULL = the local file system; copied, `user` must outlive the environment */
  glv_log_callback log; /**< NULL = silent */
  void *log_user;
} glv_env_options;

/**
 * Zeroed options with struct_size set. Every option struct of the library begins with `uint32_t
 * struct_size, flags`; zero always means the default.
 */
#ifdef __cplusplus
} /* extern "C" */
template <typename T> inline T glv_options_of() {
  T options = T();
  options.struct_size = (uint32_t)sizeof(T);
  return options;
}
extern "C" {
#define GLV_OPTIONS(type) (glv_options_of<type>())
#else
#define GLV_OPTIONS(type) ((type){.struct_size = (uint32_t)sizeof(type)})
#endif

/**
 * Make an environment.
 *
 * @param options NULL = defaults.
 * @param ret     the environment; the caller releases it with glv_env_free. Handles made under it
 * keep it alive.
 * @param err     NULL, or filled on failure.
 * Errors: GLV_E_INVALID_INPUT for unusable options; GLV_E_NOMEM. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_env_new(const glv_env_options *options, glv_env **ret,
                                           glv_error *err);

/**
 * Bytes allocated through the environment. Without an allocator of the caller's, up to 16 MiB of
 * freed blocks are kept for later requests and not counted here; they are given back when
 * memory_limit_bytes needs them, and with the environment.
 *
 * @param env      the environment.
 * @param ret_used bytes in use now; may be NULL.
 * @param ret_peak largest value of ret_used so far; may be NULL. Thread class: T.
 */
GLV_API void glv_env_memory(const glv_env *env, uint64_t *ret_used, uint64_t *ret_peak);

/**
 * Give up the caller's reference. What was made under the environment goes on working until it is
 * released too.
 *
 * @param env NULL is fine. Thread class: T, for each reference once.
 */
GLV_API void glv_env_free(glv_env *env);

#ifdef __cplusplus
}
#endif
#endif
