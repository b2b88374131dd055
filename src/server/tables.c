/*
 * Tables that requests read, kept open between requests: one handle per table, at the version that
 * was the latest when it was asked for last. A handle is never moved, for requests share it; when
 * there is a later version, a new handle takes its place, and the old one goes with the last
 * request that has it. Asking whether it is still the latest costs two looks at the file system
 * (glv_table_is_latest).
 *
 * Handles that nobody asked for in a while are given up, so that dropped tables, and versions that
 * a cleanup wants to remove, are not held for long.
 */
#include "server/tables.h"

#include "base/hash.h"
#include "server/jobs.h"
#include "server/tables_private.h"

enum { MOST_TABLES = 512, BUCKETS = 1024 };

static const int64_t IDLE_NS = INT64_C(10000000000);

struct kept_table {
  glv_env *env;
  atomic_uint refs;
  glv_table *table;
  str key; /* the parts of its id, each ended by a NUL */
  uint64_t hash;
  _Atomic(buf *) text; /* of server_table_remember; NULL = none yet */
  int64_t used_ns;     /* guarded by the cache's lock, like the list */
  kept_table *next;
};

struct table_cache {
  glv_env *env;
  mutex lock;
  size_t count;
  kept_table *buckets[BUCKETS];
};

/* ---- entries ---- */

static void kept_unref(kept_table *k) {
  if (k != NULL && atomic_fetch_sub(&k->refs, 1) == 1) {
    glv_table_free(k->table);
    buf *text = atomic_load(&k->text);
    if (text != NULL) {
      buf_dispose(text);
      mem_free(k->env, text);
    }
    mem_free(k->env, (void *)(uintptr_t)k->key.data);
    mem_free(k->env, k);
  }
}

/* Takes over the table. */
static glv_status kept_new(glv_env *env, glv_table *table, str key, kept_table **ret,
                           glv_error *err) {
  kept_table *k = mem_zalloc(env, sizeof *k);
  char *copy = mem_strndup(env, key.data, key.size);
  if (k == NULL || copy == NULL) {
    glv_table_free(table);
    mem_free(env, k);
    mem_free(env, copy);
    return error_nomem(err, sizeof *k);
  }
  k->env = env;
  atomic_init(&k->refs, 1);
  k->table = table;
  k->key = str_slice(copy, key.size);
  k->hash = hash_bytes(key.data, key.size);
  *ret = k;
  return GLV_OK;
}

/* ---- the cache ---- */

glv_status table_cache_new(glv_env *env, table_cache **ret, glv_error *err) {
  table_cache *c = mem_zalloc(env, sizeof *c);
  if (c == NULL) {
    return error_nomem(err, sizeof *c);
  }
  c->env = env;
  mutex_init(&c->lock);
  *ret = c;
  return GLV_OK;
}

/* Takes entries out, those that were last used before the time. With the
 * lock held; the list that is returned is to be released without. */
static kept_table *take_older(table_cache *c, int64_t before_ns) {
  kept_table *out = NULL;
  for (size_t b = 0; b < BUCKETS; b++) {
    kept_table **at = &c->buckets[b];
    while (*at != NULL) {
      kept_table *k = *at;
      if (k->used_ns < before_ns) {
        *at = k->next;
        k->next = out;
        out = k;
        c->count--;
      } else {
        at = &k->next;
      }
    }
  }
  return out;
}

static void release_list(kept_table *list) {
  while (list != NULL) {
    kept_table *next = list->next;
    kept_unref(list);
    list = next;
  }
}

void table_cache_trim(table_cache *c, int64_t before_ns) {
  mutex_lock(&c->lock);
  kept_table *old = take_older(c, before_ns);
  mutex_unlock(&c->lock);
  release_list(old);
}

void table_cache_free(table_cache *c) {
  if (c != NULL) {
    table_cache_trim(c, INT64_MAX);
    mutex_dispose(&c->lock);
    mem_free(c->env, c);
  }
}

static kept_table **place_of(table_cache *c, str key) {
  const uint64_t hash = hash_bytes(key.data, key.size);
  kept_table **at = &c->buckets[hash % BUCKETS];
  while (*at != NULL && ((*at)->hash != hash || !str_equal((*at)->key, key))) {
    at = &(*at)->next;
  }
  return at;
}

/* A reference, or NULL. */
static kept_table *find(table_cache *c, str key) {
  CLEANUP(mutex_cleanup) mutex *held = &c->lock;
  mutex_lock(held);
  kept_table *k = *place_of(c, key);
  if (k != NULL) {
    atomic_fetch_add(&k->refs, 1);
    k->used_ns = server_clock_ns();
  }
  return k;
}

/* In the place of what was there under its key; a full cache takes no further tables. */
static void put(table_cache *c, kept_table *k) {
  kept_table *old = NULL;
  mutex_lock(&c->lock);
  kept_table **at = place_of(c, k->key);
  if (*at != NULL) {
    old = *at;
    *at = old->next;
    old->next = NULL;
    c->count--;
  }
  if (c->count < MOST_TABLES) {
    atomic_fetch_add(&k->refs, 1);
    k->used_ns = server_clock_ns();
    at = &c->buckets[k->hash % BUCKETS];
    k->next = *at;
    *at = k;
    c->count++;
  }
  mutex_unlock(&c->lock);
  kept_unref(old);
}

void table_cache_idle(table_cache *c) { table_cache_trim(c, server_clock_ns() - IDLE_NS); }

/* ---- what handlers call ---- */

static glv_status remember(exchange *x, glv_table *own, kept_table *kept, glv_error *err) {
  open_table *t = ARENA_NEW(&x->memory, open_table);
  if (t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  *t = (open_table){own, kept, x->tables};
  x->tables = t;
  return GLV_OK;
}

void tables_release(exchange *x) {
  for (const open_table *t = x->tables; t != NULL; t = t->next) {
    glv_table_free(t->own);
    kept_unref(t->kept);
  }
  x->tables = NULL;
}

/* Takes over a reference. */
static glv_status hand_out(exchange *x, kept_table *k, glv_table **ret, glv_error *err) {
  const glv_status status = remember(x, NULL, k, err);
  if (status != GLV_OK) {
    kept_unref(k);
    return status;
  }
  *ret = k->table;
  return GLV_OK;
}

static glv_status open_kept(request *r, glv_id id, str key, kept_table **ret, glv_error *err) {
  glv_table *table = NULL;
  TRY(glv_table_open(r->server->conn, id, NULL, &table, err));
  TRY(kept_new(r->env, table, key, ret, err));
  put(r->server->tables, *ret);
  return GLV_OK;
}

glv_status server_table_open(request *r, glv_id id, uint64_t version, glv_table **ret,
                             glv_error *err) {
  if (version != 0) {
    glv_open_options options = GLV_OPTIONS(glv_open_options);
    options.version = version;
    return server_table_open_own(r, id, &options, ret, err);
  }
  str key;
  int is_latest = 0;
  TRY(jobs_check_name(r->server->jobs, id, err));
  TRY(server_id_key(r->memory, id, &key, err));
  kept_table *k = find(r->server->tables, key);
  if (k != NULL && (glv_table_is_latest(k->table, &is_latest, NULL) != GLV_OK || !is_latest)) {
    kept_unref(k);
    k = NULL;
  }
  if (k == NULL) {
    TRY(open_kept(r, id, key, &k, err));
  }
  return hand_out(exchange_of(r), k, ret, err);
}

glv_status server_table_open_own(request *r, glv_id id, const glv_open_options *options,
                                 glv_table **ret, glv_error *err) {
  glv_table *table = NULL;
  TRY(jobs_check_name(r->server->jobs, id, err));
  TRY(glv_table_open(r->server->conn, id, options, &table, err));
  const glv_status status = remember(exchange_of(r), table, NULL, err);
  if (status != GLV_OK) {
    glv_table_free(table);
    return status;
  }
  *ret = table;
  return GLV_OK;
}

/* The shared table behind a handle of this request; NULL when it is one of its own. */
static kept_table *kept_of(const request *r, const glv_table *table) {
  for (const open_table *t = exchange_of_const(r)->tables; t != NULL; t = t->next) {
    if (t->kept != NULL && t->kept->table == table) {
      return t->kept;
    }
  }
  return NULL;
}

bool server_table_recall(const request *r, const glv_table *table, str *ret) {
  kept_table *k = kept_of(r, table);
  const buf *text = k != NULL ? atomic_load(&k->text) : NULL;
  if (text != NULL) {
    *ret = buf_str(text);
  }
  return text != NULL;
}

void server_table_remember(const request *r, const glv_table *table, str text) {
  kept_table *k = kept_of(r, table);
  buf *copy = k != NULL ? mem_alloc(r->env, sizeof *copy) : NULL;
  if (copy == NULL) {
    return;
  }
  buf *none = NULL;
  buf_init(copy, r->env, SIZE_MAX / 2);
  if (buf_append_str(copy, text, NULL) != GLV_OK ||
      !atomic_compare_exchange_strong(&k->text, &none, copy)) {
    buf_dispose(copy);
    mem_free(r->env, copy);
  }
}

void server_table_forget(request *r, glv_id id) {
  str key;
  table_cache *c = r->server->tables;
  if (server_id_key(r->memory, id, &key, NULL) != GLV_OK) {
    return;
  }
  mutex_lock(&c->lock);
  kept_table **at = place_of(c, key);
  kept_table *old = *at;
  if (old != NULL) {
    *at = old->next;
    old->next = NULL;
    c->count--;
  }
  mutex_unlock(&c->lock);
  kept_unref(old);
}
