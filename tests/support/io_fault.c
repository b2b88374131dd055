/*
 * Each operation first asks `hit`. A failing close still closes the inner handle, as the contract
 * of glv_io demands; `after` turns the report of a finished operation into a failure, which is how
 * a publish becomes "may have happened".
 */
#include "support/io_fault.h"

#include <string.h>

#include "base/error.h"

static bool hit(io_fault *f, enum io_op op) {
  pthread_mutex_lock(&f->lock);
  f->counts[op]++;
  bool fails = false;
  if ((f->plan.mask & IO_MASK(op)) != 0) {
    f->matches++;
    fails = f->plan.nth != 0 &&
            (f->matches == f->plan.nth || (f->plan.persistent && f->matches > f->plan.nth));
    f->fired |= fails;
  }
  pthread_mutex_unlock(&f->lock);
  return fails;
}

static void count_handle(io_fault *f, int by) {
  pthread_mutex_lock(&f->lock);
  f->open_handles += by;
  pthread_mutex_unlock(&f->lock);
}

static glv_status fail(const io_fault *f, const char *what, glv_error *err) {
  return error_set_errno(err, GLV_E_IO, f->plan.number, "injected failure of %s: %s", what,
                         strerror(f->plan.number));
}

/* Run `call` unless it is to fail first; report the failure before or after. */
#define INJECT(op, what, call)                                                                     \
  do {                                                                                             \
    io_fault *f = user;                                                                            \
    const bool fails = hit(f, (op));                                                               \
    if (fails && !f->plan.after) {                                                                 \
      return fail(f, (what), err);                                                                 \
    }                                                                                              \
    TRY(call);                                                                                     \
    return fails ? fail(f, (what), err) : GLV_OK;                                                  \
  } while (0)

static glv_status open_handle(io_fault *f, enum io_op op, const char *what, glv_error *err) {
  if (hit(f, op)) { /* a handle that was opened could not be returned: never `after` */
    return fail(f, what, err);
  }
  count_handle(f, 1);
  return GLV_OK;
}

static glv_status fault_dir_open(void *user, const char *path, void **ret, glv_error *err) {
  io_fault *f = user;
  TRY(open_handle(f, IO_OP_DIR_OPEN, "dir_open", err));
  const glv_status status = f->inner.dir_open(f->inner.user, path, ret, err);
  count_handle(f, status == GLV_OK ? 0 : -1);
  return status;
}

static void fault_dir_close(void *user, void *dir) {
  io_fault *f = user;
  count_handle(f, -1);
  f->inner.dir_close(f->inner.user, dir);
}

static glv_status fault_open_read(void *user, void *dir, const char *name, void **ret,
                                  glv_error *err) {
  io_fault *f = user;
  TRY(open_handle(f, IO_OP_OPEN_READ, "open_read", err));
  const glv_status status = f->inner.open_read(f->inner.user, dir, name, ret, err);
  count_handle(f, status == GLV_OK ? 0 : -1);
  return status;
}

static glv_status fault_create(void *user, void *dir, const char *name, void **ret,
                               glv_error *err) {
  io_fault *f = user;
  TRY(open_handle(f, IO_OP_CREATE, "create", err));
  const glv_status status = f->inner.create(f->inner.user, dir, name, ret, err);
  count_handle(f, status == GLV_OK ? 0 : -1);
  return status;
}

static glv_status fault_size(void *user, void *file, uint64_t *ret, glv_error *err) {
  INJECT(IO_OP_SIZE, "size", f->inner.size(f->inner.user, file, ret, err));
}

static glv_status fault_read_at(void *user, void *file, uint64_t offset, void *data, size_t size,
                                glv_error *err) {
  INJECT(IO_OP_READ_AT, "read_at", f->inner.read_at(f->inner.user, file, offset, data, size, err));
}

static glv_status fault_write(void *user, void *file, const void *data, size_t size,
                              glv_error *err) {
  io_fault *f = user;
  const bool fails = hit(f, IO_OP_WRITE);
  if (!fails) {
    return f->inner.write(f->inner.user, file, data, size, err);
  }
  if (f->plan.short_write) {
    TRY(f->inner.write(f->inner.user, file, data, size / 2, err));
  }
  return fail(f, "write", err);
}

static glv_status fault_sync(void *user, void *file, glv_error *err) {
  INJECT(IO_OP_SYNC, "sync", f->inner.sync(f->inner.user, file, err));
}

static glv_status fault_close(void *user, void *file, glv_error *err) {
  io_fault *f = user;
  const bool fails = hit(f, IO_OP_CLOSE);
  count_handle(f, -1);
  TRY(f->inner.close(f->inner.user, file, err));
  return fails ? fail(f, "close", err) : GLV_OK;
}

static glv_status fault_publish(void *user, void *dir, const char *temp, const char *final,
                                int32_t if_absent, glv_error *err) {
  INJECT(IO_OP_PUBLISH, "publish",
         f->inner.publish(f->inner.user, dir, temp, final, if_absent, err));
}

static glv_status fault_dir_sync(void *user, void *dir, glv_error *err) {
  INJECT(IO_OP_DIR_SYNC, "dir_sync", f->inner.dir_sync(f->inner.user, dir, err));
}

static glv_status fault_remove(void *user, void *dir, const char *name, glv_error *err) {
  INJECT(IO_OP_REMOVE, "remove", f->inner.remove(f->inner.user, dir, name, err));
}

static glv_status fault_list(void *user, void *dir, const char *name, glv_io_visit visit,
                             void *context, glv_error *err) {
  INJECT(IO_OP_LIST, "list", f->inner.list(f->inner.user, dir, name, visit, context, err));
}

static glv_status fault_stat(void *user, void *dir, const char *name, glv_io_stat *ret,
                             glv_error *err) {
  INJECT(IO_OP_STAT, "stat", f->inner.stat(f->inner.user, dir, name, ret, err));
}

static glv_status fault_make_dirs(void *user, const char *path, glv_error *err) {
  INJECT(IO_OP_MAKE_DIRS, "make_dirs", f->inner.make_dirs(f->inner.user, path, err));
}

static glv_status fault_remove_dir(void *user, const char *path, glv_error *err) {
  INJECT(IO_OP_REMOVE_DIR, "remove_dir", f->inner.remove_dir(f->inner.user, path, err));
}

static int64_t fault_now_ns(void *user) {
  const io_fault *f = user;
  return f->inner.now_ns(f->inner.user);
}

static void fault_sleep_ns(void *user, int64_t duration_ns) {
  const io_fault *f = user;
  f->inner.sleep_ns(f->inner.user, duration_ns);
}

static glv_status fault_random(void *user, void *data, size_t size, glv_error *err) {
  INJECT(IO_OP_RANDOM, "random", f->inner.random(f->inner.user, data, size, err));
}

void io_fault_init(io_fault *f, const glv_io *inner) {
  memset(f, 0, sizeof *f);
  f->inner = *inner;
  pthread_mutex_init(&f->lock, NULL);
  f->table = (glv_io){.user = f,
                      .dir_open = fault_dir_open,
                      .dir_close = fault_dir_close,
                      .open_read = fault_open_read,
                      .size = fault_size,
                      .read_at = fault_read_at,
                      .create = fault_create,
                      .write = fault_write,
                      .sync = fault_sync,
                      .close = fault_close,
                      .publish = fault_publish,
                      .dir_sync = fault_dir_sync,
                      .remove = fault_remove,
                      .list = fault_list,
                      .stat = fault_stat,
                      .make_dirs = fault_make_dirs,
                      .remove_dir = fault_remove_dir,
                      .now_ns = fault_now_ns,
                      .sleep_ns = fault_sleep_ns,
                      .random = fault_random};
}

void io_fault_arm(io_fault *f, io_fault_plan plan) {
  pthread_mutex_lock(&f->lock);
  f->plan = plan;
  f->matches = 0;
  f->fired = false;
  pthread_mutex_unlock(&f->lock);
}

void io_fault_dispose(io_fault *f) { pthread_mutex_destroy(&f->lock); }
