/*
 * glv_io over a tree of nodes in memory. A directory keeps its children in an array sorted by name.
 * Nodes are reference-counted: the tree holds one reference, every open handle another, so a
 * removed file stays readable through its handle, and a removed directory stays the directory of
 * its handle: `is_removed` makes every create and publish through it ENOENT, whatever its path
 * names by then. The node's number (`inode`) is the generation; it is never given twice.
 *
 * A handle of dir_open, open_read or create is the node itself. One mutex guards everything; it is
 * held for short times, with allocations of one file's size at most, and never while the caller's
 * visitor runs.
 */
#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "base/limits.h"
#include "base/thread.h"
#include "io/io.h"

typedef struct node {
  size_t refs;
  uint64_t inode;
  int64_t modified_ns;
  bool is_dir;
  bool is_removed;     /* directories only */
  struct node *parent; /* borrowed; NULL for the root and for removed directories */
  struct child *children;
  size_t child_count;
  size_t child_capacity;
  unsigned char *data;
  size_t size;
  size_t capacity;
} node;

struct child {
  char *name;
  node *node;
};

struct io_mem {
  glv_env *memory;
  mutex lock;
  node *root;
  uint64_t next_inode;
  glv_io table;
};

static glv_status fail(glv_error *err, int number, const char *what, const char *name) {
  const char *reason = number == ENOENT      ? "no such file or directory"
                       : number == EEXIST    ? "file exists"
                       : number == ENOTDIR   ? "not a directory"
                       : number == EISDIR    ? "is a directory"
                       : number == ENOTEMPTY ? "directory not empty"
                                             : "invalid argument";
  return error_set_errno(err, GLV_E_IO, number, "cannot %s '%s': %s", what, name, reason);
}

/* ---- nodes; the lock is held ---- */

static node *node_new(io_mem *m, bool is_dir) {
  node *n = mem_zalloc(m->memory, sizeof *n);
  if (n != NULL) {
    n->refs = 1;
    n->inode = m->next_inode++;
    n->modified_ns = env_now_ns(m->memory);
    n->is_dir = is_dir;
  }
  return n;
}

static void node_free(io_mem *m, node *n) {
  mem_free(m->memory, n->children);
  mem_free(m->memory, n->data);
  mem_free(m->memory, n);
}

static void node_unref(io_mem *m, node *n) {
  if (n != NULL && --n->refs == 0) {
    node_free(m, n); /* a directory leaves the tree only when it is empty */
  }
}

/* The index of name among the children, or where it belongs. */
static size_t child_index(const node *dir, str name, bool *ret_found) {
  size_t low = 0;
  size_t high = dir->child_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (str_compare(str_of(dir->children[middle].name), name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *ret_found = low < dir->child_count && str_equal(str_of(dir->children[low].name), name);
  return low;
}

/* Adds a reference to n under name. */
static glv_status child_put(io_mem *m, node *dir, str name, node *n, glv_error *err) {
  bool found;
  const size_t at = child_index(dir, name, &found);
  if (found) {
    node_unref(m, dir->children[at].node);
  } else {
    TRY(vec_reserve(m->memory, &dir->children, &dir->child_capacity, dir->child_count + 1,
                    sizeof *dir->children, err));
    char *copy = mem_strndup(m->memory, name.data, name.size);
    if (copy == NULL) {
      return error_nomem(err, name.size);
    }
    memmove(dir->children + at + 1, dir->children + at,
            (dir->child_count - at) * sizeof *dir->children);
    dir->children[at].name = copy;
    dir->child_count++;
  }
  dir->children[at].node = n;
  dir->modified_ns = env_now_ns(m->memory);
  n->refs++;
  return GLV_OK;
}

static void child_remove(io_mem *m, node *dir, size_t at) {
  node_unref(m, dir->children[at].node);
  mem_free(m->memory, dir->children[at].name);
  memmove(dir->children + at, dir->children + at + 1,
          (dir->child_count - at - 1) * sizeof *dir->children);
  dir->child_count--;
  dir->modified_ns = env_now_ns(m->memory);
}

/* Walks path from start as far as its last segment: *ret_dir is the directory that should hold
 * *ret_name. An empty name means the directory itself. @return 0 or an errno. */
static int walk(const io_mem *m, node *start, const char *path, node **ret_dir, str *ret_name) {
  node *at = start == NULL || path[0] == '/' ? m->root : start;
  str name = {"", 0};
  for (const char *p = path; *p != '\0';) {
    const size_t n = strcspn(p, "/");
    const str segment = str_slice(p, n);
    p += n + (p[n] == '/' ? 1 : 0);
    if (n == 0 || str_is(segment, ".")) {
      continue;
    }
    if (name.size != 0) {
      bool found;
      const size_t i = child_index(at, name, &found);
      if (!found) {
        return ENOENT;
      }
      at = at->children[i].node;
      if (!at->is_dir) {
        return ENOTDIR;
      }
    }
    name = segment;
    if (str_is(segment, "..")) {
      at = at->parent != NULL ? at->parent : at;
      name = (str){"", 0};
    }
  }
  *ret_dir = at;
  *ret_name = name;
  return 0;
}

/* The node that path names, borrowed. @return 0 or an errno. */
static int find(const io_mem *m, node *start, const char *path, node **ret) {
  node *dir;
  str name;
  const int number = walk(m, start, path, &dir, &name);
  if (number != 0 || name.size == 0) {
    *ret = number == 0 ? dir : NULL;
    return number;
  }
  bool found;
  const size_t at = child_index(dir, name, &found);
  *ret = found ? dir->children[at].node : NULL;
  return found ? 0 : ENOENT;
}

/* ---- the operations ---- */

static glv_status mem_dir_open(void *user, const char *path, void **ret, glv_error *err) {
  io_mem *m = user;
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  node *n;
  int number = find(m, NULL, path, &n);
  number = number == 0 && !n->is_dir ? ENOTDIR : number;
  if (number != 0) {
    return fail(err, number, "open directory", path);
  }
  n->refs++;
  *ret = n;
  return GLV_OK;
}

static void release(io_mem *m, node *n) {
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  node_unref(m, n);
}

static void mem_dir_close(void *user, void *dir) { release(user, dir); }

static glv_status mem_open_read(void *user, void *dir, const char *name, void **ret,
                                glv_error *err) {
  io_mem *m = user;
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  node *n;
  int number = find(m, dir, name, &n);
  number = number == 0 && n->is_dir ? EISDIR : number;
  if (number != 0) {
    return fail(err, number, "open", name);
  }
  n->refs++;
  *ret = n;
  return GLV_OK;
}

static glv_status mem_size(void *user, void *file, uint64_t *ret, glv_error *err) {
  (void)err;
  io_mem *m = user;
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  *ret = ((const node *)file)->size;
  return GLV_OK;
}

static glv_status mem_read_at(void *user, void *file, uint64_t offset, void *data, size_t size,
                              glv_error *err) {
  io_mem *m = user;
  const node *n = file;
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  if (!range_within(offset, size, n->size)) {
    return FAIL(err, GLV_E_CORRUPT, "a file of %zu bytes ends before byte %llu + %zu", n->size,
                (unsigned long long)offset, size);
  }
  if (size != 0) {
    memcpy(data, n->data + offset, size);
  }
  return GLV_OK;
}

static glv_status mem_create(void *user, void *dir, const char *name, void **ret, glv_error *err) {
  io_mem *m = user;
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  node *parent;
  str last;
  int number = walk(m, dir, name, &parent, &last);
  bool found = false;
  if (number == 0) {
    number = parent->is_removed ? ENOENT : last.size == 0 ? EISDIR : 0;
    (void)child_index(parent, last, &found);
  }
  if (number != 0 || found) {
    return fail(err, number != 0 ? number : EEXIST, "create", name);
  }
  node *n = node_new(m, false);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  const glv_status status = child_put(m, parent, last, n, err);
  if (status != GLV_OK) {
    node_unref(m, n);
    return status;
  }
  *ret = n;
  return GLV_OK;
}

static glv_status mem_write(void *user, void *file, const void *data, size_t size, glv_error *err) {
  io_mem *m = user;
  node *n = file;
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  size_t need;
  if (!size_add(n->size, size, &need)) {
    return fail(err, EFBIG, "write", "a file in memory");
  }
  TRY(vec_reserve(m->memory, &n->data, &n->capacity, need, 1, err));
  if (size != 0) {
    memcpy(n->data + n->size, data, size);
  }
  n->size = need;
  n->modified_ns = env_now_ns(m->memory);
  return GLV_OK;
}

static glv_status mem_sync(void *user, void *file, glv_error *err) {
  (void)user;
  (void)file;
  (void)err;
  return GLV_OK;
}

static glv_status mem_close(void *user, void *file, glv_error *err) {
  (void)err;
  release(user, file);
  return GLV_OK;
}

static glv_status mem_publish(void *user, void *dir, const char *temp, const char *final,
                              int32_t if_absent, glv_error *err) {
  io_mem *m = user;
  node *d = dir;
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  bool found;
  bool taken;
  size_t at = child_index(d, str_of(temp), &found);
  (void)child_index(d, str_of(final), &taken);
  if (d->is_removed || !found || (taken && if_absent)) {
    return fail(err, found && !d->is_removed ? EEXIST : ENOENT, "publish", final);
  }
  TRY(child_put(m, d, str_of(final), d->children[at].node, err));
  at = child_index(d, str_of(temp), &found);
  child_remove(m, d, at);
  return GLV_OK;
}

static glv_status mem_dir_sync(void *user, void *dir, glv_error *err) {
  (void)user;
  (void)dir;
  (void)err;
  return GLV_OK;
}

static glv_status mem_remove(void *user, void *dir, const char *name, glv_error *err) {
  io_mem *m = user;
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  node *parent;
  str last;
  int number = walk(m, dir, name, &parent, &last);
  bool found = false;
  const size_t at = number == 0 ? child_index(parent, last, &found) : 0;
  number = number != 0 ? number : !found ? ENOENT : parent->children[at].node->is_dir ? EISDIR : 0;
  if (number != 0) {
    return fail(err, number, "remove", name);
  }
  child_remove(m, parent, at);
  return GLV_OK;
}

/* The children of n copied out, so that the visitor runs without the lock. */
static glv_status copy_children(const node *n, arena *a, const char ***ret, bool **ret_dirs,
                                glv_error *err) {
  const char **names = ARENA_ARRAY(a, const char *, n->child_count);
  bool *dirs = ARENA_ARRAY(a, bool, n->child_count);
  if (names == NULL || dirs == NULL) {
    return error_nomem(err, n->child_count * sizeof *names);
  }
  for (size_t i = 0; i < n->child_count; i++) {
    names[i] = arena_strdup(a, str_of(n->children[i].name));
    dirs[i] = n->children[i].node->is_dir;
    if (names[i] == NULL) {
      return error_nomem(err, LIMIT_PATH_BYTES);
    }
  }
  *ret = names;
  *ret_dirs = dirs;
  return GLV_OK;
}

static glv_status mem_list(void *user, void *dir, const char *name, glv_io_visit visit,
                           void *context, glv_error *err) {
  io_mem *m = user;
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, m->memory);
  const char **names = NULL;
  bool *dirs = NULL;
  size_t count = 0;
  node *n;
  mutex_lock(&m->lock);
  int number = find(m, dir, name, &n);
  number = number == 0 && !n->is_dir ? ENOTDIR : number;
  glv_status status = GLV_OK;
  if (number == 0) {
    count = n->child_count;
    status = copy_children(n, &a, &names, &dirs, err);
  }
  mutex_unlock(&m->lock);
  TRY(status);
  if (number != 0) {
    return fail(err, number, "list directory", name);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(visit(context, names[i], dirs[i], err));
  }
  return GLV_OK;
}

static glv_status mem_stat(void *user, void *dir, const char *name, glv_io_stat *ret,
                           glv_error *err) {
  io_mem *m = user;
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  node *n;
  const int number = find(m, dir, name, &n);
  if (number != 0) {
    return fail(err, number, "examine", name);
  }
  *ret = (glv_io_stat){.size_bytes = n->size,
                       .modified_ns = n->modified_ns,
                       .device = 1,
                       .inode = n->inode,
                       .is_directory = n->is_dir};
  return GLV_OK;
}

/* Makes one directory below parent, or finds it. */
static glv_status make_child(io_mem *m, node *parent, str name, node **ret, glv_error *err) {
  bool found;
  const size_t at = child_index(parent, name, &found);
  if (found) {
    *ret = parent->children[at].node;
    return GLV_OK;
  }
  node *n = node_new(m, true);
  if (n == NULL) {
    return error_nomem(err, sizeof *n);
  }
  const glv_status status = child_put(m, parent, name, n, err);
  n->parent = parent;
  node_unref(m, n);
  *ret = n;
  return status;
}

static glv_status mem_make_dirs(void *user, const char *path, glv_error *err) {
  io_mem *m = user;
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  node *at = m->root;
  for (const char *p = path; *p != '\0';) {
    const size_t n = strcspn(p, "/");
    const str segment = str_slice(p, n);
    p += n + (p[n] == '/' ? 1 : 0);
    if (n == 0 || str_is(segment, ".")) {
      continue;
    }
    if (str_is(segment, "..")) {
      at = at->parent != NULL ? at->parent : at;
      continue;
    }
    TRY(make_child(m, at, segment, &at, err));
    if (!at->is_dir) {
      return fail(err, ENOTDIR, "make directory", path);
    }
  }
  return GLV_OK;
}

static glv_status mem_remove_dir(void *user, const char *path, glv_error *err) {
  io_mem *m = user;
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  node *parent;
  str last;
  int number = walk(m, NULL, path, &parent, &last);
  bool found = false;
  const size_t at = number == 0 ? child_index(parent, last, &found) : 0;
  node *n = found ? parent->children[at].node : NULL;
  number = number != 0           ? number
           : last.size == 0      ? EINVAL
           : n == NULL           ? ENOENT
           : !n->is_dir          ? ENOTDIR
           : n->child_count != 0 ? ENOTEMPTY
                                 : 0;
  if (number != 0) {
    return fail(err, number, "remove directory", path);
  }
  n->is_removed = true;
  n->parent = NULL;
  child_remove(m, parent, at);
  return GLV_OK;
}

static int64_t mem_now_ns(void *user) { return env_now_ns(((io_mem *)user)->memory); }

static void mem_sleep_ns(void *user, int64_t duration_ns) {
  io_sleep_ns(((io_mem *)user)->memory, duration_ns);
}

static glv_status mem_random(void *user, void *data, size_t size, glv_error *err) {
  return env_random(((io_mem *)user)->memory, data, size, err);
}

glv_status io_mem_new(glv_env *memory, io_mem **ret, glv_error *err) {
  io_mem *m = mem_zalloc(memory, sizeof *m);
  if (m == NULL) {
    return error_nomem(err, sizeof *m);
  }
  m->memory = memory;
  m->next_inode = 1;
  m->root = node_new(m, true);
  if (m->root == NULL) {
    mem_free(memory, m);
    return error_nomem(err, sizeof(node));
  }
  env_ref(memory);
  mutex_init(&m->lock);
  m->table = (glv_io){m,
                      mem_dir_open,
                      mem_dir_close,
                      mem_open_read,
                      mem_size,
                      mem_read_at,
                      mem_create,
                      mem_write,
                      mem_sync,
                      mem_close,
                      mem_publish,
                      mem_dir_sync,
                      mem_remove,
                      mem_list,
                      mem_stat,
                      mem_make_dirs,
                      mem_remove_dir,
                      mem_now_ns,
                      mem_sleep_ns,
                      mem_random};
  *ret = m;
  return GLV_OK;
}

/* Releases the tree without recursion: the deepest leaf of the last child first. */
static void free_tree(io_mem *m) {
  node *at = m->root;
  while (at != NULL) {
    if (at->child_count != 0) {
      node *last = at->children[at->child_count - 1].node;
      if (last->is_dir && last->child_count != 0) {
        at = last;
      } else {
        child_remove(m, at, at->child_count - 1);
      }
    } else {
      at = at->parent;
    }
  }
  node_unref(m, m->root);
}

void io_mem_free(io_mem *m) {
  if (m == NULL) {
    return;
  }
  free_tree(m);
  mutex_dispose(&m->lock);
  glv_env *memory = m->memory;
  mem_free(memory, m);
  env_unref(memory);
}

const glv_io *io_mem_table(const io_mem *m) { return &m->table; }
