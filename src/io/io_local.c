/*
 * glv_io over the local file system. A handle is a descriptor, carried in the pointer itself as
 * descriptor + 1, so that nothing is allocated and nothing can leak but descriptors.
 *
 * Publishing without overwriting is a hard link from the temporary to the final name (link fails
 * with EEXIST, and readers see the whole file or none), then the removal of the temporary name.
 * File systems without hard links get renameat2(RENAME_NOREPLACE); where neither works, writing is
 * refused, since plain rename could replace another writer's version (lance-table-format.md 12.2).
 *
 * Every call is restarted after EINTR; reads and writes loop until everything went through. close
 * is not repeated: Linux releases the descriptor also when it reports EINTR.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/limits.h"
#include "io/io.h"

enum { LARGEST_TRANSFER = 1 << 30, LISTING_BYTES = 16 << 10 };
static const int64_t NS_PER_S = 1000000000;

static void *handle_of(int fd) { return (void *)((intptr_t)fd + 1); }
static int fd_of(const void *handle) { return (int)((intptr_t)handle - 1); }
static int dir_fd_of(const void *dir) { return dir != NULL ? fd_of(dir) : AT_FDCWD; }

/* The description of an errno, in lower case since it ends a sentence. */
static const char *describe(int number, char text[static 96]) {
  const char *description = strerrordesc_np(number);
  if (description == NULL) {
    snprintf(text, 96, "error %d", number);
    return text;
  }
  snprintf(text, 96, "%s", description);
  if (text[0] >= 'A' && text[0] <= 'Z' && !(text[1] >= 'A' && text[1] <= 'Z')) {
    text[0] = (char)(text[0] - 'A' + 'a');
  }
  return text;
}

/* The path behind a descriptor, for reports only. */
static const char *path_of(int fd, char path[static LIMIT_PATH_BYTES]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, LIMIT_PATH_BYTES - 1);
  if (size < 0) {
    snprintf(path, LIMIT_PATH_BYTES, "descriptor %d", fd);
  } else {
    path[size] = '\0';
  }
  return path;
}

static glv_status fail_fd(glv_error *err, int number, const char *what, int fd) {
  char reason[96];
  char path[LIMIT_PATH_BYTES];
  return error_set_errno(err, GLV_E_IO, number, "cannot %s '%s': %s", what, path_of(fd, path),
                         describe(number, reason));
}

/* dir may be AT_FDCWD. */
static glv_status fail_name(glv_error *err, int number, const char *what, int dir,
                            const char *name) {
  char reason[96];
  char path[LIMIT_PATH_BYTES];
  if (name[0] == '\0') {
    return fail_fd(err, number, what, dir);
  }
  if (dir == AT_FDCWD || name[0] == '/') {
    return error_set_errno(err, GLV_E_IO, number, "cannot %s '%s': %s", what, name,
                           describe(number, reason));
  }
  return error_set_errno(err, GLV_E_IO, number, "cannot %s '%s/%s': %s", what, path_of(dir, path),
                         name, describe(number, reason));
}

static int open_again(int dir, const char *name, int flags) {
  int fd;
  do {
    fd = openat(dir, name, flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

static int sync_again(int fd) {
  int result;
  do {
    result = fsync(fd);
  } while (result != 0 && errno == EINTR);
  return result;
}

static glv_status local_dir_open(void *user, const char *path, void **ret, glv_error *err) {
  (void)user;
  const int fd = open_again(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  if (fd < 0) {
    return fail_name(err, errno, "open directory", AT_FDCWD, path);
  }
  *ret = handle_of(fd);
  return GLV_OK;
}

static void local_dir_close(void *user, void *dir) {
  (void)user;
  close(fd_of(dir));
}

static glv_status local_open_read(void *user, void *dir, const char *name, void **ret,
                                  glv_error *err) {
  (void)user;
  /* O_NONBLOCK: a FIFO under that name must not hang the caller; for files it means nothing. */
  const int fd = open_again(dir_fd_of(dir), name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    return fail_name(err, errno, "open", dir_fd_of(dir), name);
  }
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    close(fd);
    return fail_name(err, S_ISDIR(st.st_mode) ? EISDIR : EINVAL, "read", dir_fd_of(dir), name);
  }
  *ret = handle_of(fd);
  return GLV_OK;
}

static glv_status local_size(void *user, void *file, uint64_t *ret, glv_error *err) {
  (void)user;
  struct stat st;
  if (fstat(fd_of(file), &st) != 0) {
    return fail_fd(err, errno, "examine", fd_of(file));
  }
  *ret = (uint64_t)st.st_size;
  return GLV_OK;
}

static glv_status fail_past_end(glv_error *err, int fd, uint64_t offset, size_t size) {
  char path[LIMIT_PATH_BYTES];
  return FAIL(err, GLV_E_CORRUPT, "file '%s' ends before byte %llu + %zu", path_of(fd, path),
              (unsigned long long)offset, size);
}

static glv_status local_read_at(void *user, void *file, uint64_t offset, void *data, size_t size,
                                glv_error *err) {
  (void)user;
  const int fd = fd_of(file);
  if (!range_within(offset, size, INT64_MAX)) {
    return fail_past_end(err, fd, offset, size);
  }
  size_t done = 0;
  while (done < size) {
    const ssize_t n = pread(fd, (char *)data + done, size_min(size - done, LARGEST_TRANSFER),
                            (off_t)(offset + done));
    if (n == 0) {
      return fail_past_end(err, fd, offset, size);
    }
    if (n < 0 && errno != EINTR) {
      return fail_fd(err, errno, "read", fd);
    }
    done += n > 0 ? (size_t)n : 0;
  }
  return GLV_OK;
}

static glv_status local_create(void *user, void *dir, const char *name, void **ret,
                               glv_error *err) {
  (void)user;
  const int fd = open_again(fd_of(dir), name, O_WRONLY | O_CREAT | O_EXCL);
  if (fd < 0) {
    return fail_name(err, errno, "create", fd_of(dir), name);
  }
  *ret = handle_of(fd);
  return GLV_OK;
}

static glv_status local_write(void *user, void *file, const void *data, size_t size,
                              glv_error *err) {
  (void)user;
  const int fd = fd_of(file);
  size_t done = 0;
  while (done < size) {
    const ssize_t n = write(fd, (const char *)data + done, size_min(size - done, LARGEST_TRANSFER));
    if (n < 0 && errno != EINTR) {
      return fail_fd(err, errno, "write", fd);
    }
    done += n > 0 ? (size_t)n : 0;
  }
  return GLV_OK;
}

static glv_status local_sync(void *user, void *file, glv_error *err) {
  (void)user;
  return sync_again(fd_of(file)) == 0 ? GLV_OK : fail_fd(err, errno, "sync", fd_of(file));
}

static glv_status local_close(void *user, void *file, glv_error *err) {
  (void)user;
  if (close(fd_of(file)) != 0 && errno != EINTR) {
    const int number = errno;
    char reason[96];
    return error_set_errno(err, GLV_E_IO, number, "cannot close a file: %s",
                           describe(number, reason));
  }
  return GLV_OK;
}

/* rename that fails with EEXIST; the errnos of a file system that cannot do it are made ENOTSUP. */
static int rename_if_absent(int dir, const char *temp, const char *final) {
  if (renameat2(dir, temp, dir, final, RENAME_NOREPLACE) == 0) {
    return 0;
  }
  return errno == EINVAL || errno == ENOSYS || errno == EPERM || errno == EOPNOTSUPP ? ENOTSUP
                                                                                     : errno;
}

static glv_status publish_if_absent(int dir, const char *temp, const char *final, glv_error *err) {
  if (linkat(dir, temp, dir, final, 0) == 0) {
    /* The file is published; a temporary name that stays is garbage which every lister ignores. */
    (void)unlinkat(dir, temp, 0);
    return GLV_OK;
  }
  int number = errno;
  if (number == EPERM || number == EOPNOTSUPP || number == ENOSYS || number == EMLINK) {
    number = rename_if_absent(dir, temp, final);
    if (number == ENOTSUP) {
      char path[LIMIT_PATH_BYTES];
      return error_set_errno(err, GLV_E_IO, ENOTSUP,
                             "cannot publish '%s/%s': the file system has neither hard links nor "
                             "rename without replacement, so writing there is not safe",
                             path_of(dir, path), final);
    }
  }
  return number == 0 ? GLV_OK : fail_name(err, number, "publish", dir, final);
}

static glv_status local_publish(void *user, void *dir, const char *temp, const char *final,
                                int32_t if_absent, glv_error *err) {
  (void)user;
  const int fd = fd_of(dir);
  if (if_absent) {
    return publish_if_absent(fd, temp, final, err);
  }
  return renameat(fd, temp, fd, final) == 0 ? GLV_OK : fail_name(err, errno, "publish", fd, final);
}

static glv_status local_dir_sync(void *user, void *dir, glv_error *err) {
  (void)user;
  /* EINVAL: the file system has no notion of syncing a directory. */
  if (sync_again(fd_of(dir)) != 0 && errno != EINVAL) {
    return fail_fd(err, errno, "sync directory", fd_of(dir));
  }
  return GLV_OK;
}

static glv_status local_remove(void *user, void *dir, const char *name, glv_error *err) {
  (void)user;
  return unlinkat(fd_of(dir), name, 0) == 0 ? GLV_OK
                                            : fail_name(err, errno, "remove", fd_of(dir), name);
}

static bool is_directory(int dir, const struct dirent64 *entry) {
  if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK) {
    return entry->d_type == DT_DIR;
  }
  struct stat st;
  return fstatat(dir, entry->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

/* The calls behind readdir: a refresh with nothing to do is little more than two listings, and a
 * DIR stream would cost it a block of memory and three calls for each. */
static glv_status visit_entries(int fd, glv_io_visit visit, void *context, glv_error *err) {
  union {
    struct dirent64 entry;
    char bytes[LISTING_BYTES];
  } block;
  for (;;) {
    const ssize_t size = getdents64(fd, &block, sizeof block);
    if (size <= 0) {
      return size == 0 ? GLV_OK : fail_fd(err, errno, "list directory", fd);
    }
    for (ssize_t at = 0; at < size;) {
      const struct dirent64 *entry = (const void *)(block.bytes + at);
      at += entry->d_reclen;
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
        TRY(visit(context, entry->d_name, is_directory(fd, entry), err));
      }
    }
  }
}

static glv_status local_list(void *user, void *dir, const char *name, glv_io_visit visit,
                             void *context, glv_error *err) {
  (void)user;
  const char *target = name[0] != '\0' ? name : ".";
  const int fd = open_again(dir_fd_of(dir), target, O_RDONLY | O_DIRECTORY);
  if (fd < 0) {
    return fail_name(err, errno, "list directory", dir_fd_of(dir), target);
  }
  const glv_status status = visit_entries(fd, visit, context, err);
  close(fd);
  return status;
}

static glv_status local_stat(void *user, void *dir, const char *name, glv_io_stat *ret,
                             glv_error *err) {
  (void)user;
  struct stat st;
  if (fstatat(dir_fd_of(dir), name, &st, dir != NULL ? AT_EMPTY_PATH : 0) != 0) {
    return fail_name(err, errno, "examine", dir_fd_of(dir), name);
  }
  *ret = (glv_io_stat){.size_bytes = (uint64_t)st.st_size,
                       .modified_ns = st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec,
                       .device = st.st_dev,
                       .inode = st.st_ino,
                       .is_directory = S_ISDIR(st.st_mode)};
  return GLV_OK;
}

/* Makes the directory entry of path durable. */
static glv_status sync_parent(const char *path, glv_error *err) {
  char parent[LIMIT_PATH_BYTES];
  const char *slash = strrchr(path, '/');
  const size_t size = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
  memcpy(parent, path, size);
  parent[size] = '\0';
  void *dir = NULL;
  glv_error own = {0};
  if (local_dir_open(NULL, size != 0 ? parent : ".", &dir, &own) != GLV_OK) {
    /* A directory that may be changed but not read cannot be synced. */
    return own.sys_errno == EACCES ? GLV_OK : error_pass(err, &own);
  }
  const glv_status status = local_dir_sync(NULL, dir, err);
  local_dir_close(NULL, dir);
  return status;
}

static glv_status make_dir(const char *path, glv_error *err) {
  if (mkdir(path, 0777) == 0) {
    return sync_parent(path, err);
  }
  const int number = errno;
  struct stat st;
  if (number == EEXIST || number == EISDIR || number == EROFS || number == EACCES ||
      number == EPERM) {
    if (stat(path, &st) == 0) { /* an existing directory is fine where mkdir is not allowed, too */
      return S_ISDIR(st.st_mode) ? GLV_OK
                                 : fail_name(err, ENOTDIR, "make directory", AT_FDCWD, path);
    }
  }
  return fail_name(err, number, "make directory", AT_FDCWD, path);
}

static glv_status local_make_dirs(void *user, const char *path, glv_error *err) {
  (void)user;
  char prefix[LIMIT_PATH_BYTES];
  const size_t size = strlen(path);
  if (size == 0 || size >= sizeof prefix) {
    return fail_name(err, size == 0 ? ENOENT : ENAMETOOLONG, "make directory", AT_FDCWD, path);
  }
  struct stat st;
  if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
    return GLV_OK;
  }
  for (size_t i = 1; i <= size; i++) {
    if ((i == size || path[i] == '/') && path[i - 1] != '/') {
      memcpy(prefix, path, i);
      prefix[i] = '\0';
      TRY(make_dir(prefix, err));
    }
  }
  return GLV_OK;
}

static glv_status local_remove_dir(void *user, const char *path, glv_error *err) {
  (void)user;
  return rmdir(path) == 0 ? GLV_OK : fail_name(err, errno, "remove directory", AT_FDCWD, path);
}

static int64_t local_now_ns(void *user) {
  (void)user;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void local_sleep_ns(void *user, int64_t duration_ns) {
  (void)user;
  if (duration_ns <= 0) {
    return;
  }
  struct timespec left = {.tv_sec = duration_ns / NS_PER_S, .tv_nsec = duration_ns % NS_PER_S};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

static glv_status local_random(void *user, void *data, size_t size, glv_error *err) {
  (void)user;
  size_t done = 0;
  while (done < size) {
    const ssize_t n = getrandom((char *)data + done, size - done, 0);
    if (n < 0 && errno != EINTR) {
      const int number = errno;
      char reason[96];
      return error_set_errno(err, GLV_E_IO, number, "cannot get random bytes: %s",
                             describe(number, reason));
    }
    done += n > 0 ? (size_t)n : 0;
  }
  return GLV_OK;
}

const glv_io *io_local(void) {
  static const glv_io table = {.dir_open = local_dir_open,
                               .dir_close = local_dir_close,
                               .open_read = local_open_read,
                               .size = local_size,
                               .read_at = local_read_at,
                               .create = local_create,
                               .write = local_write,
                               .sync = local_sync,
                               .close = local_close,
                               .publish = local_publish,
                               .dir_sync = local_dir_sync,
                               .remove = local_remove,
                               .list = local_list,
                               .stat = local_stat,
                               .make_dirs = local_make_dirs,
                               .remove_dir = local_remove_dir,
                               .now_ns = local_now_ns,
                               .sleep_ns = local_sleep_ns,
                               .random = local_random};
  return &table;
}
