/* A part is a file that was unlinked as soon as it was made: when its descriptor is closed, by us
 * or by the end of the process, it is gone. Its rows are written as an IPC stream after they were
 * read as one, so that what is wrong with a body is told to who sent it.
 */
#include "server/multipart.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arrow/cdata.h"
#include "arrow/ipc.h"
#include "base/encoding.h"
#include "base/limits.h"
#include "base/thread.h"
#include "server/jobs_private.h"
#include "server/server_private.h"
#include "server/table_body.h"
#include "server/tables.h"

enum { MOST_OPEN = 64, MOST_PARTS = 1024 };
static const int64_t kept_ns = INT64_C(3600) * 1000000000;
static const int64_t idle_ns = INT64_C(24) * 3600 * 1000000000;

typedef struct part {
  struct part *next;
  int fd;
  char id[]; /* NUL-terminated */
} part;

/* One write. */
struct multipart_write {
  struct multipart_write *next;
  multipart *owner;
  glv_env *env;
  size_t refs; /* of the list, and of requests that use it; guarded by the list's lock */
  int64_t used_ns;
  char id[UUID_TEXT_SIZE];
  char *target; /* the table */
  mutex lock;   /* guards what follows, and is held for the commit */
  part *parts;  /* in the order in which they came, the last first */
  size_t part_count;
  bool overwrites;
  atomic_bool is_over; /* read without the lock, too */
  glv_write_result result;
};

typedef struct multipart_write session;

struct multipart {
  glv_env *env;
  char *dir;
  mutex lock; /* guards what follows */
  session *sessions;
  size_t count;
};

/* ---- sessions ---- */

static void drop_parts(session *s) {
  while (s->parts != NULL) {
    part *p = s->parts;
    s->parts = p->next;
    close(p->fd);
    mem_free(s->env, p);
  }
  s->part_count = 0;
}

static void session_free(session *s) {
  drop_parts(s);
  mutex_dispose(&s->lock);
  mem_free(s->env, s->target);
  mem_free(s->env, s);
}

/* With the list's lock held. */
static void session_unref(session *s) {
  if (--s->refs == 0) {
    session_free(s);
  }
}

glv_status multipart_new(glv_env *env, const char *data_dir, multipart **ret, glv_error *err) {
  multipart *m = mem_zalloc(env, sizeof *m);
  char *dir = mem_strndup(env, data_dir, strlen(data_dir));
  if (m == NULL || dir == NULL) {
    mem_free(env, m);
    mem_free(env, dir);
    return error_nomem(err, sizeof *m);
  }
  m->env = env;
  m->dir = dir;
  mutex_init(&m->lock);
  *ret = m;
  return GLV_OK;
}

void multipart_free(multipart *m) {
  if (m == NULL) {
    return;
  }
  while (m->sessions != NULL) {
    session *s = m->sessions;
    m->sessions = s->next;
    session_unref(s);
  }
  mutex_dispose(&m->lock);
  mem_free(m->env, m->dir);
  mem_free(m->env, m);
}

/* Forget what nobody asks about any more. With the lock held. */
static void sweep(multipart *m) {
  const int64_t now_ns = server_clock_ns();
  for (session **at = &m->sessions; *at != NULL;) {
    session *s = *at;
    if (s->refs == 1 && now_ns - s->used_ns > (s->is_over ? kept_ns : idle_ns)) {
      *at = s->next;
      m->count--;
      session_unref(s);
    } else {
      at = &s->next;
    }
  }
}

static size_t count_open(const multipart *m) {
  size_t count = 0;
  for (const session *s = m->sessions; s != NULL; s = s->next) {
    count += !s->is_over;
  }
  return count;
}

static glv_status session_new(request *r, session **ret, glv_error *err) {
  const char *wanted = NULL;
  TRY(jobs_target(r->memory, r->id, &wanted, err));
  session *s = mem_zalloc(r->env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  s->owner = r->server->multipart;
  s->env = r->env;
  s->refs = 1;
  s->used_ns = server_clock_ns();
  mutex_init(&s->lock);
  s->target = mem_strndup(r->env, wanted, strlen(wanted));
  const glv_status status =
      s->target != NULL ? uuid_random(r->env, s->id, err) : error_nomem(err, strlen(wanted));
  if (status != GLV_OK) {
    session_free(s);
    return status;
  }
  *ret = s;
  return GLV_OK;
}

glv_status multipart_begin(request *r, const char **ret, glv_error *err) {
  multipart *m = r->server->multipart;
  session *s = NULL;
  TRY(session_new(r, &s, err));
  *ret = arena_strdup(r->memory, str_of(s->id));
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  sweep(m);
  const bool is_full = count_open(m) >= MOST_OPEN;
  if (*ret == NULL || is_full) {
    session_free(s);
    return is_full ? FAIL(err, GLV_E_THROTTLED, "%d writes in several parts are open, the limit",
                          MOST_OPEN)
                   : error_nomem(err, sizeof s->id);
  }
  s->next = m->sessions;
  m->sessions = s;
  m->count++;
  return GLV_OK;
}

glv_status multipart_enter(request *r, const char *id, multipart_write **ret, glv_error *err) {
  multipart *m = r->server->multipart;
  const char *wanted = NULL;
  TRY(jobs_target(r->memory, r->id, &wanted, err));
  CLEANUP(mutex_cleanup) mutex *held = &m->lock;
  mutex_lock(held);
  for (session *s = m->sessions; s != NULL; s = s->next) {
    if (strcmp(s->id, id) == 0 && strcmp(s->target, wanted) == 0) {
      s->refs++;
      s->used_ns = server_clock_ns();
      *ret = s;
      return GLV_OK;
    }
  }
  return FAIL(err, GLV_E_TRANSACTION_NOT_FOUND,
              "no write in several parts '%s' is open on this table", id);
}

void multipart_leave(multipart_write *s) {
  multipart *m = s->owner;
  mutex_lock(&m->lock);
  session_unref(s);
  mutex_unlock(&m->lock);
}

/* ---- parts ---- */

static glv_status open_file(const multipart *m, int *ret, glv_error *err) {
  char path[LIMIT_PATH_BYTES];
  snprintf(path, sizeof path, "%s/part.XXXXXX", m->dir);
  const int fd = mkstemp(path);
  if (fd < 0) {
    return error_set_errno(err, GLV_E_IO, errno, "no file for a part can be made in '%s'", m->dir);
  }
  (void)unlink(path);
  *ret = fd;
  return GLV_OK;
}

static glv_status write_bytes(void *context, const void *data, size_t size, glv_error *err) {
  const char *at = data;
  while (size > 0) {
    const ssize_t done = write(*(const int *)context, at, size);
    if (done < 0 && errno != EINTR) {
      return error_set_errno(err, GLV_E_IO, errno, "a part cannot be written");
    }
    at += done > 0 ? done : 0;
    size -= done > 0 ? (size_t)done : 0;
  }
  return GLV_OK;
}

static glv_status write_part(request *r, int *fd, struct ArrowArrayStream *rows, glv_error *err) {
  batch_reader reader;
  TRY(cdata_import_stream(r->env, rows, &reader, err));
  const glv_status status = ipc_write(r->env, &reader, false, (byte_sink){write_bytes, fd}, err);
  batch_reader_dispose(&reader);
  return status;
}

/* In the place of the part of that id, or as the last one. With the session's lock held. */
static glv_status put_part(session *s, part *p, glv_error *err) {
  if (s->is_over) {
    return FAIL(err, GLV_E_TRANSACTION_NOT_FOUND, "the write '%s' is over", s->id);
  }
  for (part *old = s->parts; old != NULL; old = old->next) {
    if (strcmp(old->id, p->id) == 0) {
      const int fd = old->fd;
      old->fd = p->fd;
      p->fd = fd;
      return GLV_OK; /* the caller disposes of what was replaced */
    }
  }
  if (s->part_count == MOST_PARTS) {
    return FAIL(err, GLV_E_LIMIT, "a write has at most %d parts", MOST_PARTS);
  }
  part *kept = mem_alloc(s->env, sizeof *kept + strlen(p->id) + 1);
  if (kept == NULL) {
    return error_nomem(err, sizeof *kept);
  }
  memcpy(kept->id, p->id, strlen(p->id) + 1);
  kept->fd = p->fd;
  kept->next = s->parts;
  s->parts = kept;
  s->part_count++;
  p->fd = -1;
  return GLV_OK;
}

glv_status multipart_add(request *r, const char *id, const char *part_id, bool overwrite,
                         struct ArrowArrayStream *rows, glv_error *err) {
  session *s = NULL;
  const size_t size = strlen(part_id) + 1;
  part *p = arena_alloc(r->memory, sizeof *p + size);
  glv_status status = p != NULL ? multipart_enter(r, id, &s, err) : error_nomem(err, size);
  if (status != GLV_OK) {
    rows->release(rows);
    return status;
  }
  p->fd = -1;
  memcpy(p->id, part_id, size);
  status = open_file(r->server->multipart, &p->fd, err);
  if (status == GLV_OK) {
    status = write_part(r, &p->fd, rows, err);
  } else {
    rows->release(rows);
  }
  if (status == GLV_OK) {
    mutex_lock(&s->lock);
    status = put_part(s, p, err);
    s->overwrites = s->overwrites || (status == GLV_OK && overwrite);
    mutex_unlock(&s->lock);
  }
  if (p->fd >= 0) {
    close(p->fd);
  }
  multipart_leave(s);
  return status;
}

/* ---- all rows ---- */

/* The parts one after the other. */
typedef struct chain {
  glv_env *env;
  const part *const *parts; /* in the order in which they came */
  size_t count;
  size_t at;
  struct part_file {
    int fd;
    off_t position;
  } file;
  batch_reader reader; /* of part `at` */
  bool is_open;
  schema *schema;
} chain;

static glv_status read_bytes(void *context, void *data, size_t size, size_t *ret_read,
                             glv_error *err) {
  struct part_file *f = context;
  ssize_t got;
  do {
    got = pread(f->fd, data, size, f->position);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return error_set_errno(err, GLV_E_IO, errno, "a part cannot be read");
  }
  f->position += got;
  *ret_read = (size_t)got;
  return GLV_OK;
}

static glv_status chain_open(chain *c, glv_error *err) {
  c->file = (struct part_file){c->parts[c->at]->fd, 0};
  const byte_source source = {read_bytes, NULL, &c->file};
  TRY(ipc_reader_open(c->env, source, &c->reader, err));
  c->is_open = true;
  if (c->schema == NULL) {
    c->schema = schema_ref(c->reader.schema);
  }
  return schema_equal(c->schema, c->reader.schema)
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT, "part '%s' has other columns than the first part",
                    c->parts[c->at]->id);
}

static glv_status chain_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  chain *c = state;
  for (;;) {
    if (!c->is_open) {
      TRY(chain_open(c, err));
    }
    TRY(c->reader.next(c->reader.state, ret, ret_end, err));
    if (!*ret_end || c->at + 1 == c->count) {
      return GLV_OK;
    }
    batch_reader_dispose(&c->reader);
    c->is_open = false;
    c->at++;
  }
}

static void chain_dispose(void *state) {
  chain *c = state;
  if (c->is_open) {
    batch_reader_dispose(&c->reader);
  }
  schema_unref(c->schema);
  mem_free(c->env, c);
}

static glv_status all_rows(const session *s, arena *memory, struct ArrowArrayStream *ret,
                           glv_error *err) {
  const part **parts = ARENA_ARRAY(memory, const part *, s->part_count);
  chain *c = mem_zalloc(s->env, sizeof *c);
  if (parts == NULL || c == NULL) {
    mem_free(s->env, c);
    return error_nomem(err, sizeof *c);
  }
  size_t at = s->part_count;
  for (const part *p = s->parts; p != NULL; p = p->next) {
    parts[--at] = p;
  }
  *c = (chain){.env = s->env, .parts = parts, .count = s->part_count};
  const glv_status status = chain_open(c, err);
  if (status != GLV_OK) {
    chain_dispose(c);
    return status;
  }
  batch_reader reader = {
      .schema = schema_ref(c->schema), .next = chain_next, .dispose = chain_dispose, .state = c};
  return cdata_export_stream(s->env, &reader, ret, err);
}

/* With the session's lock held. */
static glv_status commit(session *s, glv_table *table, glv_cancel *cancel, glv_error *err) {
  CLEANUP(arena_dispose) arena memory;
  arena_init_small(&memory, s->env);
  struct ArrowArrayStream rows;
  glv_write_options options = GLV_OPTIONS(glv_write_options);
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  if (s->part_count == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the write '%s' has no parts; abort it", s->id);
  }
  TRY(all_rows(s, &memory, &rows, err));
  options.cancel = cancel;
  TRY(s->overwrites ? glv_table_overwrite(table, &rows, &options, &result, err)
                    : glv_table_append(table, &rows, &options, &result, err));
  s->result = result;
  s->is_over = true;
  drop_parts(s);
  return GLV_OK;
}

glv_status multipart_commit(multipart_write *s, glv_table *table, glv_cancel *cancel,
                            glv_write_result *ret, glv_error *err) {
  mutex_lock(&s->lock);
  glv_status status = GLV_OK;
  if (s->is_over && s->result.version == 0) {
    status = FAIL(err, GLV_E_TRANSACTION_NOT_FOUND, "the write '%s' was aborted", s->id);
  } else if (!s->is_over) {
    status = commit(s, table, cancel, err);
  }
  *ret = s->result;
  mutex_unlock(&s->lock);
  return status;
}

glv_status multipart_complete(request *r, const char *id, glv_write_result *ret, glv_error *err) {
  session *s = NULL;
  glv_table *table = NULL;
  TRY(multipart_enter(r, id, &s, err));
  glv_status status = server_table_open_own(r, r->id, NULL, &table, err);
  if (status == GLV_OK) {
    status = table_body_refused(r, multipart_commit(s, table, r->cancel, ret, err), err);
  }
  multipart_leave(s);
  return status;
}

glv_status multipart_abort(request *r, const char *id, glv_error *err) {
  session *s = NULL;
  TRY(multipart_enter(r, id, &s, err));
  mutex_lock(&s->lock);
  const bool was_committed = s->is_over && s->result.version != 0;
  s->is_over = true;
  drop_parts(s);
  mutex_unlock(&s->lock);
  multipart_leave(s);
  return was_committed ? FAIL(err, GLV_E_BAD_STATE, "the write '%s' was completed already", id)
                       : GLV_OK;
}
