/*
 * Beside the inner store a shadow tree is kept. Each node knows its durable part and, in order, the
 * changes that are not durable yet; a handle carries the inner handle and the node it belongs to.
 * Nodes are never freed before the end, so that an entry whose removal is not durable can come
 * back.
 */
#include "support/io_crash.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/io.h"
#include "support/rng.h"

enum { SECTOR = 512, MAX_DEPTH = 32 };

struct node;

struct entry {
  char *name;
  struct node *node; /* NULL in a change: the name is removed */
  char *moved_from;  /* in a change: also removes this name, in the same step */
};

struct pending_write {
  size_t offset;
  size_t size;
};

typedef struct node {
  struct node *next_of_all;
  bool is_dir;
  struct entry *durable; /* directories */
  size_t durable_count;
  struct entry *changes;
  size_t change_count;
  char *data; /* files: everything written; the first synced_size bytes are durable */
  size_t size;
  size_t synced_size;
  struct pending_write *writes;
  size_t write_count;
} node;

typedef struct handle {
  void *inner;
  node *node; /* NULL outside the watched tree */
} handle;

struct io_crash {
  glv_io table;
  glv_io inner;
  glv_env *inner_env;
  char *root;
  pthread_mutex_t lock;
  node *all;
  node *top;
  uint64_t stop_at;
  uint64_t ignored_sync;
  uint64_t operations;
  uint64_t syncs;
  bool stopped;
};

static void *grown(void *items, size_t count, size_t width) {
  void *result = realloc(items, (count + 1) * width);
  assert(result != NULL);
  return result;
}

static char *copy_text(const char *text) {
  char *copy = strdup(text);
  assert(copy != NULL);
  return copy;
}

static node *node_new(io_crash *c, bool is_dir) {
  node *n = calloc(1, sizeof *n);
  assert(n != NULL);
  n->is_dir = is_dir;
  n->next_of_all = c->all;
  c->all = n;
  return n;
}

/* ---- entries ---- */

static void entry_put(struct entry **entries, size_t *count, const char *name, node *n) {
  for (size_t i = 0; i < *count; i++) {
    if (strcmp((*entries)[i].name, name) == 0) {
      (*entries)[i].node = n;
      return;
    }
  }
  *entries = grown(*entries, *count, sizeof **entries);
  (*entries)[(*count)++] = (struct entry){.name = copy_text(name), .node = n};
}

static void entry_drop(struct entry *entries, size_t *count, const char *name) {
  for (size_t i = 0; i < *count; i++) {
    if (strcmp(entries[i].name, name) == 0) {
      free(entries[i].name);
      entries[i] = entries[--*count];
      return;
    }
  }
}

static void apply_change(struct entry **entries, size_t *count, const struct entry *change) {
  if (change->moved_from != NULL) {
    entry_drop(*entries, count, change->moved_from);
  }
  if (change->node != NULL) {
    entry_put(entries, count, change->name, change->node);
  } else {
    entry_drop(*entries, count, change->name);
  }
}

static void record(node *dir, const char *name, node *n, const char *moved_from) {
  if (dir == NULL) {
    return;
  }
  dir->changes = grown(dir->changes, dir->change_count, sizeof *dir->changes);
  dir->changes[dir->change_count++] =
      (struct entry){copy_text(name), n, moved_from != NULL ? copy_text(moved_from) : NULL};
}

static void drop_changes(node *dir) {
  for (size_t i = 0; i < dir->change_count; i++) {
    free(dir->changes[i].name);
    free(dir->changes[i].moved_from);
  }
  dir->change_count = 0;
}

static void make_entries_durable(node *dir) {
  for (size_t i = 0; i < dir->change_count; i++) {
    apply_change(&dir->durable, &dir->durable_count, &dir->changes[i]);
  }
  drop_changes(dir);
}

/* What name stands for now, changes included. */
static node *lookup(const node *dir, const char *name) {
  for (size_t i = dir->change_count; i-- > 0;) {
    const struct entry *change = &dir->changes[i];
    if (strcmp(change->name, name) == 0) {
      return change->node;
    }
    if (change->moved_from != NULL && strcmp(change->moved_from, name) == 0) {
      return NULL;
    }
  }
  for (size_t i = 0; i < dir->durable_count; i++) {
    if (strcmp(dir->durable[i].name, name) == 0) {
      return dir->durable[i].node;
    }
  }
  return NULL;
}

/* The node of an absolute path, NULL when it is outside the tree or unknown. `made` = make missing
 * directories, as make_dirs does. */
static node *resolve(io_crash *c, const char *path, bool made) {
  const size_t size = strlen(c->root);
  if (strncmp(path, c->root, size) != 0 || (path[size] != '/' && path[size] != '\0')) {
    return NULL;
  }
  node *at = c->top;
  char rest[512];
  snprintf(rest, sizeof rest, "%s", path + size);
  char *save = NULL;
  for (char *name = strtok_r(rest, "/", &save); name != NULL && at != NULL;
       name = strtok_r(NULL, "/", &save)) {
    node *child = lookup(at, name);
    if (child == NULL && made) {
      child = node_new(c, true);
      make_entries_durable(at);
      entry_put(&at->durable, &at->durable_count, name, child);
    }
    at = child;
  }
  return at;
}

/* ---- counting and stopping ---- */

static glv_status dead(glv_error *err) {
  return error_set_errno(err, GLV_E_IO, EIO, "simulated crash");
}

/* Called with the lock held. */
static glv_status enter(io_crash *c, bool is_change, glv_error *err) {
  if (is_change && !c->stopped) {
    c->operations++;
    c->stopped = c->stop_at != 0 && c->operations >= c->stop_at;
  }
  return c->stopped ? dead(err) : GLV_OK;
}

static void unlock(pthread_mutex_t **lock) { pthread_mutex_unlock(*lock); }

#define ENTER(is_change)                                                                           \
  io_crash *c = user;                                                                              \
  CLEANUP(unlock) pthread_mutex_t *held = &c->lock;                                                \
  pthread_mutex_lock(held);                                                                        \
  TRY(enter(c, (is_change), err))

static void *wrap(void *inner, node *n) {
  handle *h = malloc(sizeof *h);
  assert(h != NULL);
  *h = (handle){inner, n};
  return h;
}

static void *inner_of(const void *dir) { return dir != NULL ? ((const handle *)dir)->inner : NULL; }
static node *node_of(const void *dir) { return dir != NULL ? ((const handle *)dir)->node : NULL; }

/* ---- operations that only read ---- */

static glv_status crash_dir_open(void *user, const char *path, void **ret, glv_error *err) {
  ENTER(false);
  void *inner;
  TRY(c->inner.dir_open(c->inner.user, path, &inner, err));
  *ret = wrap(inner, resolve(c, path, false));
  return GLV_OK;
}

static void crash_dir_close(void *user, void *dir) {
  const io_crash *c = user;
  c->inner.dir_close(c->inner.user, inner_of(dir));
  free(dir);
}

static glv_status crash_open_read(void *user, void *dir, const char *name, void **ret,
                                  glv_error *err) {
  ENTER(false);
  void *inner;
  TRY(c->inner.open_read(c->inner.user, inner_of(dir), name, &inner, err));
  *ret = wrap(inner, NULL);
  return GLV_OK;
}

static glv_status crash_size(void *user, void *file, uint64_t *ret, glv_error *err) {
  ENTER(false);
  return c->inner.size(c->inner.user, inner_of(file), ret, err);
}

static glv_status crash_read_at(void *user, void *file, uint64_t offset, void *data, size_t size,
                                glv_error *err) {
  ENTER(false);
  return c->inner.read_at(c->inner.user, inner_of(file), offset, data, size, err);
}

static glv_status crash_list(void *user, void *dir, const char *name, glv_io_visit visit,
                             void *context, glv_error *err) {
  io_crash *c = user;
  pthread_mutex_lock(&c->lock);
  const glv_status status = enter(c, false, err);
  pthread_mutex_unlock(&c->lock); /* the visitor may call back */
  TRY(status);
  return c->inner.list(c->inner.user, inner_of(dir), name, visit, context, err);
}

static glv_status crash_stat(void *user, void *dir, const char *name, glv_io_stat *ret,
                             glv_error *err) {
  ENTER(false);
  return c->inner.stat(c->inner.user, inner_of(dir), name, ret, err);
}

/* ---- operations that change ---- */

static glv_status crash_create(void *user, void *dir, const char *name, void **ret,
                               glv_error *err) {
  ENTER(true);
  assert(strchr(name, '/') == NULL);
  void *inner;
  TRY(c->inner.create(c->inner.user, inner_of(dir), name, &inner, err));
  node *n = node_new(c, false);
  record(node_of(dir), name, n, NULL);
  *ret = wrap(inner, n);
  return GLV_OK;
}

static glv_status crash_write(void *user, void *file, const void *data, size_t size,
                              glv_error *err) {
  ENTER(true);
  TRY(c->inner.write(c->inner.user, inner_of(file), data, size, err));
  node *n = node_of(file);
  n->data = realloc(n->data, n->size + size + 1);
  assert(n->data != NULL);
  memcpy(n->data + n->size, data, size);
  n->writes = grown(n->writes, n->write_count, sizeof *n->writes);
  n->writes[n->write_count++] = (struct pending_write){n->size, size};
  n->size += size;
  return GLV_OK;
}

static bool sync_counts(io_crash *c) {
  c->syncs++;
  return c->ignored_sync == 0 || c->syncs != c->ignored_sync;
}

static glv_status crash_sync(void *user, void *file, glv_error *err) {
  ENTER(true);
  TRY(c->inner.sync(c->inner.user, inner_of(file), err));
  node *n = node_of(file);
  if (sync_counts(c)) {
    n->synced_size = n->size;
    n->write_count = 0;
  }
  return GLV_OK;
}

static glv_status crash_close(void *user, void *file, glv_error *err) {
  io_crash *c = user;
  void *inner = inner_of(file);
  const bool was_written = node_of(file) != NULL;
  free(file);
  pthread_mutex_lock(&c->lock);
  const glv_status status = enter(c, was_written, err);
  pthread_mutex_unlock(&c->lock);
  const glv_status closed = c->inner.close(c->inner.user, inner, status == GLV_OK ? err : NULL);
  return status != GLV_OK ? status : closed;
}

static glv_status crash_publish(void *user, void *dir, const char *temp, const char *final,
                                int32_t if_absent, glv_error *err) {
  ENTER(true);
  TRY(c->inner.publish(c->inner.user, inner_of(dir), temp, final, if_absent, err));
  node *d = node_of(dir);
  node *n = d != NULL ? lookup(d, temp) : NULL;
  if (!if_absent || (n != NULL && n->is_dir)) { /* a directory is renamed, never linked */
    record(d, final, n, temp);
  } else {
    record(d, final, n, NULL);
    record(d, temp, NULL, NULL);
  }
  return GLV_OK;
}

static glv_status crash_dir_sync(void *user, void *dir, glv_error *err) {
  ENTER(true);
  TRY(c->inner.dir_sync(c->inner.user, inner_of(dir), err));
  if (node_of(dir) != NULL && sync_counts(c)) {
    make_entries_durable(node_of(dir));
  }
  return GLV_OK;
}

static glv_status crash_remove(void *user, void *dir, const char *name, glv_error *err) {
  ENTER(true);
  TRY(c->inner.remove(c->inner.user, inner_of(dir), name, err));
  record(node_of(dir), name, NULL, NULL);
  return GLV_OK;
}

static glv_status crash_make_dirs(void *user, const char *path, glv_error *err) {
  ENTER(true);
  TRY(c->inner.make_dirs(c->inner.user, path, err));
  (void)resolve(c, path, true);
  return GLV_OK;
}

static glv_status crash_remove_dir(void *user, const char *path, glv_error *err) {
  ENTER(true);
  TRY(c->inner.remove_dir(c->inner.user, path, err));
  char parent[512];
  snprintf(parent, sizeof parent, "%s", path);
  char *slash = strrchr(parent, '/');
  if (slash != NULL) {
    *slash = '\0';
    record(resolve(c, parent, false), slash + 1, NULL, NULL);
  }
  return GLV_OK;
}

static int64_t crash_now_ns(void *user) {
  const io_crash *c = user;
  return c->inner.now_ns(c->inner.user);
}

static void crash_sleep_ns(void *user, int64_t duration_ns) {
  const io_crash *c = user;
  c->inner.sleep_ns(c->inner.user, duration_ns);
}

static glv_status crash_random(void *user, void *data, size_t size, glv_error *err) {
  const io_crash *c = user;
  return c->inner.random(c->inner.user, data, size, err);
}

/* ---- making and ending ---- */

static void check(glv_status status, const glv_error *err) {
  if (status != GLV_OK) {
    fprintf(stderr, "io_crash: %s\n", err->message);
    abort();
  }
}

/* Takes over what is below path as durable. */
static void scan(io_crash *c, node *dir, const char *path, int depth) {
  assert(depth < MAX_DEPTH);
  arena a;
  arena_init(&a, c->inner_env);
  const char **names;
  bool *dirs;
  size_t count;
  glv_error err;
  check(io_list_sorted(c->inner_env, NULL, path, &a, &names, &dirs, &count, &err), &err);
  for (size_t i = 0; i < count; i++) {
    const char *child_path = path_join(&a, str_of(path), str_of(names[i]));
    node *child = node_new(c, dirs[i]);
    entry_put(&dir->durable, &dir->durable_count, names[i], child);
    if (dirs[i]) {
      scan(c, child, child_path, depth + 1);
    } else {
      buf content;
      buf_init(&content, c->inner_env, 1u << 30);
      check(io_read_file(c->inner_env, NULL, child_path, 1u << 30, &content, &err), &err);
      child->data = malloc(content.size + 1);
      assert(child->data != NULL);
      memcpy(child->data, content.size != 0 ? content.data : "", content.size);
      child->size = child->synced_size = content.size;
      buf_dispose(&content);
    }
  }
  arena_dispose(&a);
}

io_crash *io_crash_new(const glv_io *inner, const char *root) {
  io_crash *c = calloc(1, sizeof *c);
  assert(c != NULL);
  c->inner = *inner;
  c->root = copy_text(root);
  pthread_mutex_init(&c->lock, NULL);
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.io = inner;
  glv_error err;
  check(env_new(&options, &c->inner_env, &err), &err);
  c->top = node_new(c, true);
  scan(c, c->top, root, 0);
  c->table = (glv_io){c,
                      crash_dir_open,
                      crash_dir_close,
                      crash_open_read,
                      crash_size,
                      crash_read_at,
                      crash_create,
                      crash_write,
                      crash_sync,
                      crash_close,
                      crash_publish,
                      crash_dir_sync,
                      crash_remove,
                      crash_list,
                      crash_stat,
                      crash_make_dirs,
                      crash_remove_dir,
                      crash_now_ns,
                      crash_sleep_ns,
                      crash_random};
  return c;
}

static void node_free(node *n) {
  for (size_t i = 0; i < n->durable_count; i++) {
    free(n->durable[i].name);
  }
  drop_changes(n);
  free(n->durable);
  free(n->changes);
  free(n->data);
  free(n->writes);
  free(n);
}

void io_crash_free(io_crash *c) {
  while (c->all != NULL) {
    node *n = c->all;
    c->all = n->next_of_all;
    node_free(n);
  }
  env_unref(c->inner_env);
  pthread_mutex_destroy(&c->lock);
  free(c->root);
  free(c);
}

const glv_io *io_crash_table(const io_crash *c) { return &c->table; }

void io_crash_at(io_crash *c, uint64_t nth) {
  c->stop_at = nth;
  c->operations = 0;
  c->syncs = 0;
}

void io_crash_ignore_sync(io_crash *c, uint64_t nth) { c->ignored_sync = nth; }
bool io_crash_happened(const io_crash *c) { return c->stopped; }
uint64_t io_crash_operations(const io_crash *c) { return c->operations; }
uint64_t io_crash_syncs(const io_crash *c) { return c->syncs; }

/* ---- the state after a loss of power ---- */

/* How the pending changes of one run fare: none, all, or each by a coin. */
struct fate {
  rng random;
  unsigned mode;
};

static bool survives(struct fate *f) {
  return f->mode == 0 ? false : f->mode == 1 ? true : rng_below(&f->random, 2) == 0;
}

static size_t max_size(size_t a, size_t b) { return a > b ? a : b; }

/* Puts what is left of a file into out, which has room for all of it. @return its size. */
static size_t surviving_content(const node *n, struct fate *f, char *out) {
  memset(out, 0, n->size);
  memcpy(out, n->data != NULL ? n->data : "", n->synced_size);
  size_t size = n->synced_size;
  for (size_t i = 0; i < n->write_count; i++) {
    const struct pending_write *w = &n->writes[i];
    if (!survives(f)) {
      continue;
    }
    size_t kept = w->size;
    const bool is_torn = f->mode > 1 && rng_below(&f->random, 3) == 0;
    if (is_torn) {
      kept = (size_t)(rng_below(&f->random, w->size / SECTOR + 1) * SECTOR);
    }
    memcpy(out + w->offset, n->data + w->offset, kept);
    /* A torn write leaves a short file, or one of full length that ends in zeros. */
    const size_t reached = is_torn && rng_below(&f->random, 2) == 0 ? kept : w->size;
    size = max_size(size, w->offset + reached);
  }
  return size;
}

static void put_file(const node *n, struct fate *f, glv_env *target, const char *path) {
  char *content = malloc(n->size + 1);
  assert(content != NULL);
  const size_t size = surviving_content(n, f, content);
  char parent[512];
  snprintf(parent, sizeof parent, "%s", path);
  char *slash = strrchr(parent, '/');
  *slash = '\0';
  void *dir;
  glv_error err;
  check(io_dir_open(target, parent, &dir, &err), &err);
  check(io_write_file(target, dir, slash + 1, content, size, false, &err), &err);
  io_dir_close(target, dir);
  free(content);
}

static void put_dir(const node *dir, struct fate *f, glv_env *target, const char *path, int depth) {
  assert(depth < MAX_DEPTH);
  glv_error err;
  check(io_make_dirs(target, path, &err), &err);
  struct entry *entries = NULL;
  size_t count = 0;
  for (size_t i = 0; i < dir->durable_count; i++) {
    entry_put(&entries, &count, dir->durable[i].name, dir->durable[i].node);
  }
  for (size_t i = 0; i < dir->change_count; i++) {
    if (survives(f)) {
      apply_change(&entries, &count, &dir->changes[i]);
    }
  }
  for (size_t i = 0; i < count; i++) {
    char child[512];
    snprintf(child, sizeof child, "%s/%s", path, entries[i].name);
    if (entries[i].node->is_dir) {
      put_dir(entries[i].node, f, target, child, depth + 1);
    } else {
      put_file(entries[i].node, f, target, child);
    }
    free(entries[i].name);
  }
  free(entries);
}

void io_crash_materialise(const io_crash *c, uint64_t seed, glv_env *target, const char *path) {
  struct fate f = {.random = rng_of(seed)};
  f.mode = (unsigned)rng_below(&f.random, 8);
  put_dir(c->top, &f, target, path, 0);
}
