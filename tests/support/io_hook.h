/**
 * @file io_hook.h
 * A glv_io that calls a function once before a chosen operation: the place where a test lets
 * somebody else act. It counts what is read.
 */
#ifndef GLAIVE_TESTS_IO_HOOK_H
#define GLAIVE_TESTS_IO_HOOK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include <glaive/env.h>

typedef struct io_hook {
  glv_io table;
  glv_io inner;
  bool before_create;  /* act before the next create of a file whose name has the text */
  bool before_publish; /* act before the next publish of such a file */
  const char *text;
  void (*act)(void *context);
  void *context;
  bool done;
  atomic_size_t files_read; /* opened for it */
  atomic_uint_fast64_t bytes_read;
} io_hook;

static inline void io_hook_fire(io_hook *h, bool here, const char *name) {
  if (here && !h->done && h->act != NULL && strstr(name, h->text) != NULL) {
    h->done = true;
    h->act(h->context);
  }
}

static inline glv_status io_hook_create(void *user, void *dir, const char *name, void **ret,
                                        glv_error *err) {
  io_hook *h = user;
  io_hook_fire(h, h->before_create, name);
  return h->inner.create(h->inner.user, dir, name, ret, err);
}

static inline glv_status io_hook_publish(void *user, void *dir, const char *temp,
                                         const char *final_name, int32_t if_absent,
                                         glv_error *err) {
  io_hook *h = user;
  io_hook_fire(h, h->before_publish, final_name);
  return h->inner.publish(h->inner.user, dir, temp, final_name, if_absent, err);
}

#define HOOK_INNER(h) ((io_hook *)(h))->inner
static inline glv_status io_hook_dir_open(void *u, const char *p, void **r, glv_error *e) {
  return HOOK_INNER(u).dir_open(HOOK_INNER(u).user, p, r, e);
}
static inline void io_hook_dir_close(void *u, void *d) {
  HOOK_INNER(u).dir_close(HOOK_INNER(u).user, d);
}
static inline glv_status io_hook_open_read(void *u, void *d, const char *n, void **r,
                                           glv_error *e) {
  ((io_hook *)u)->files_read++;
  return HOOK_INNER(u).open_read(HOOK_INNER(u).user, d, n, r, e);
}
static inline glv_status io_hook_size(void *u, void *f, uint64_t *r, glv_error *e) {
  return HOOK_INNER(u).size(HOOK_INNER(u).user, f, r, e);
}
static inline glv_status io_hook_read_at(void *u, void *f, uint64_t o, void *p, size_t s,
                                         glv_error *e) {
  ((io_hook *)u)->bytes_read += s;
  return HOOK_INNER(u).read_at(HOOK_INNER(u).user, f, o, p, s, e);
}
static inline glv_status io_hook_write(void *u, void *f, const void *p, size_t s, glv_error *e) {
  return HOOK_INNER(u).write(HOOK_INNER(u).user, f, p, s, e);
}
static inline glv_status io_hook_sync(void *u, void *f, glv_error *e) {
  return HOOK_INNER(u).sync(HOOK_INNER(u).user, f, e);
}
static inline glv_status io_hook_close(void *u, void *f, glv_error *e) {
  return HOOK_INNER(u).close(HOOK_INNER(u).user, f, e);
}
static inline glv_status io_hook_dir_sync(void *u, void *d, glv_error *e) {
  return HOOK_INNER(u).dir_sync(HOOK_INNER(u).user, d, e);
}
static inline glv_status io_hook_remove(void *u, void *d, const char *n, glv_error *e) {
  return HOOK_INNER(u).remove(HOOK_INNER(u).user, d, n, e);
}
static inline glv_status io_hook_list(void *u, void *d, const char *n, glv_io_visit v, void *c,
                                      glv_error *e) {
  return HOOK_INNER(u).list(HOOK_INNER(u).user, d, n, v, c, e);
}
static inline glv_status io_hook_stat(void *u, void *d, const char *n, glv_io_stat *r,
                                      glv_error *e) {
  return HOOK_INNER(u).stat(HOOK_INNER(u).user, d, n, r, e);
}
static inline glv_status io_hook_make_dirs(void *u, const char *p, glv_error *e) {
  return HOOK_INNER(u).make_dirs(HOOK_INNER(u).user, p, e);
}
static inline glv_status io_hook_remove_dir(void *u, const char *p, glv_error *e) {
  return HOOK_INNER(u).remove_dir(HOOK_INNER(u).user, p, e);
}
static inline int64_t io_hook_now_ns(void *u) { return HOOK_INNER(u).now_ns(HOOK_INNER(u).user); }
static inline void io_hook_sleep_ns(void *u, int64_t n) {
  HOOK_INNER(u).sleep_ns(HOOK_INNER(u).user, n);
}
static inline glv_status io_hook_random(void *u, void *p, size_t s, glv_error *e) {
  return HOOK_INNER(u).random(HOOK_INNER(u).user, p, s, e);
}

static inline void io_hook_init(io_hook *h, const glv_io *inner) {
  memset(h, 0, sizeof *h);
  h->inner = *inner;
  h->table = (glv_io){h,
                      io_hook_dir_open,
                      io_hook_dir_close,
                      io_hook_open_read,
                      io_hook_size,
                      io_hook_read_at,
                      io_hook_create,
                      io_hook_write,
                      io_hook_sync,
                      io_hook_close,
                      io_hook_publish,
                      io_hook_dir_sync,
                      io_hook_remove,
                      io_hook_list,
                      io_hook_stat,
                      io_hook_make_dirs,
                      io_hook_remove_dir,
                      io_hook_now_ns,
                      io_hook_sleep_ns,
                      io_hook_random};
}

#endif
