/*
 * The keys in memory: an immutable set, replaced when the file changes; requests hold on to the set
 * that theirs came from. The text that a client gives is hashed and compared with every hash, each
 * in full, so that the time tells nothing.
 *
 * The count of running requests begins anew with a new set: while old ones end, a key may have a
 * few more than its limit.
 */
#include "server/keys.h"

#include "base/digest.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/name.h"
#include "base/thread.h"
#include "server/keys_private.h"

enum { MOST_TEXT_BYTES = 1024 };

struct key_set {
  glv_env *env;
  atomic_uint refs;
  arena memory;
  access_key *items;
  size_t count;
};

struct keys {
  glv_env *env;
  char *data_dir;
  atomic_bool needed;
  mutex lock;        /* guards the pointer that follows */
  key_set *set;      /* a reference */
  struct stat known; /* of the file that the set was read from */
  bool was_reported;
};

/* ---- sets ---- */

static void set_unref(key_set *s) {
  if (s != NULL && atomic_fetch_sub(&s->refs, 1) == 1) {
    arena_dispose(&s->memory);
    mem_free(s->env, s);
  }
}

static void set_cleanup(key_set **s) { set_unref(*s); }

void key_unref(access_key *key) {
  if (key != NULL) {
    set_unref(key->set);
  }
}

static glv_status read_namespaces(key_set *s, const json *list, access_key *key, glv_error *err) {
  const size_t count = js_count(list);
  glv_id *ids = ARENA_ARRAY(&s->memory, glv_id, count);
  if (ids == NULL) {
    return error_nomem(err, count * sizeof *ids);
  }
  for (size_t i = 0; i < count; i++) {
    const char **parts;
    TRY(name_parse(&s->memory, js_string(js_item(list, i)), &parts, &ids[i].count, err));
    ids[i].parts = parts;
  }
  key->namespaces = ids;
  key->namespace_count = count;
  return GLV_OK;
}

static glv_status read_key(key_set *s, const json *entry, access_key *key, glv_error *err) {
  key->id = arena_strdup(&s->memory, js_string(js_member(entry, "id")));
  if (key->id == NULL) {
    return error_nomem(err, 0);
  }
  if (!hex_decode(js_string(js_member(entry, "sha256")), key->digest)) {
    return FAIL(err, GLV_E_CORRUPT, "key '%s' has no digest", key->id);
  }
  key->scope = key_scope_of(js_string(js_member(entry, "scope")));
  key->set = s;
  return read_namespaces(s, js_member(entry, "namespaces"), key, err);
}

static glv_status set_read(glv_env *env, const char *data_dir, key_set **ret, struct stat *ret_stat,
                           glv_error *err) {
  CLEANUP(js_cleanup) json *document = NULL;
  CLEANUP(set_cleanup) key_set *s = NULL;
  TRY(key_file_read(env, data_dir, &document, ret_stat, err));
  const json *all = js_member(document, "keys");
  s = mem_zalloc(env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  s->env = env;
  atomic_init(&s->refs, 1);
  arena_init_small(&s->memory, env);
  s->count = js_count(all);
  s->items = ARENA_ARRAY(&s->memory, access_key, s->count);
  if (s->items == NULL) {
    return error_nomem(err, s->count * sizeof *s->items);
  }
  for (size_t i = 0; i < s->count; i++) {
    TRY(read_key(s, js_item(all, i), &s->items[i], err));
  }
  *ret = s;
  s = NULL;
  return GLV_OK;
}

/* ---- the keys of a server ---- */

glv_status keys_open(glv_env *env, const char *data_dir, keys **ret, glv_error *err) {
  keys *k = mem_zalloc(env, sizeof *k);
  if (k == NULL) {
    return error_nomem(err, sizeof *k);
  }
  k->env = env;
  mutex_init(&k->lock);
  k->data_dir = mem_strndup(env, data_dir, strlen(data_dir));
  const glv_status status = k->data_dir != NULL ? set_read(env, data_dir, &k->set, &k->known, err)
                                                : error_nomem(err, strlen(data_dir));
  if (status != GLV_OK) {
    keys_free(k);
    return status;
  }
  atomic_store(&k->needed, k->set->count != 0);
  *ret = k;
  return GLV_OK;
}

void keys_free(keys *k) {
  if (k != NULL) {
    set_unref(k->set);
    mutex_dispose(&k->lock);
    mem_free(k->env, k->data_dir);
    mem_free(k->env, k);
  }
}

bool keys_are_needed(const keys *k) { return atomic_load(&k->needed); }

static bool is_same_file(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void keys_refresh(keys *k) {
  char path[LIMIT_PATH_BYTES];
  struct stat now = {0};
  if (key_file_path(k->data_dir, "keys.json", path, sizeof path, NULL) != GLV_OK) {
    return;
  }
  if (stat(path, &now) != 0) {
    now = (struct stat){0};
  }
  if (is_same_file(&now, &k->known)) {
    return;
  }
  key_set *fresh = NULL;
  glv_error error;
  if (set_read(k->env, k->data_dir, &fresh, &now, &error) != GLV_OK) {
    if (!k->was_reported) {
      env_log(k->env, GLV_LOG_ERROR, "%s; the keys stay as they were", error.message);
    }
    k->was_reported = true;
    return;
  }
  k->was_reported = false;
  k->known = now;
  if (fresh->count != 0) {
    atomic_store(&k->needed, true);
  }
  mutex_lock(&k->lock);
  key_set *old = k->set;
  k->set = fresh;
  mutex_unlock(&k->lock);
  set_unref(old);
}

static key_set *take_set(keys *k) {
  CLEANUP(mutex_cleanup) mutex *held = &k->lock;
  mutex_lock(held);
  atomic_fetch_add(&k->set->refs, 1);
  return k->set;
}

/* 1 iff the two are equal; takes the same time for all. */
static unsigned is_equal(const unsigned char a[32], const unsigned char b[32]) {
  unsigned difference = 0;
  for (size_t i = 0; i < 32; i++) {
    difference |= (unsigned)(a[i] ^ b[i]);
  }
  return ((difference - 1u) >> 8) & 1u;
}

glv_status keys_find(keys *k, const char *text, access_key **ret, glv_error *err) {
  *ret = NULL;
  if (!keys_are_needed(k)) {
    return GLV_OK;
  }
  const size_t size = text != NULL ? strlen(text) : 0;
  if (size == 0 || size > MOST_TEXT_BYTES) {
    return FAIL(err, GLV_E_UNAUTHENTICATED, "this server needs a key, in the header x-api-key");
  }
  uint8_t hash[DIGEST_SIZE_MAX];
  CLEANUP(digest_cleanup) digest *d = NULL;
  TRY(digest_new(k->env, DIGEST_SHA256, &d, err));
  digest_of(d, str_slice(text, size), hash);
  CLEANUP(set_cleanup) key_set *s = take_set(k);
  size_t found = s->count;
  for (size_t i = 0; i < s->count; i++) {
    found = is_equal(s->items[i].digest, hash) != 0 ? i : found;
  }
  if (found == s->count) {
    return FAIL(err, GLV_E_UNAUTHENTICATED, "the key in the header x-api-key is not known");
  }
  *ret = &s->items[found];
  s = NULL; /* the key keeps it */
  return GLV_OK;
}

/* ---- namespaces ---- */

/* Whether the parts of `above` begin those of `below`. */
static bool is_prefix(glv_id above, glv_id below) {
  bool same = above.count <= below.count;
  for (size_t i = 0; same && i < above.count; i++) {
    same = strcmp(above.parts[i], below.parts[i]) == 0;
  }
  return same;
}

bool key_covers(const access_key *key, glv_id ns) {
  bool covers = key == NULL || key->namespace_count == 0;
  for (size_t i = 0; !covers && i < key->namespace_count; i++) {
    covers = is_prefix(key->namespaces[i], ns);
  }
  return covers;
}

bool key_leads_to(const access_key *key, glv_id ns) {
  bool leads = key == NULL || key->namespace_count == 0;
  for (size_t i = 0; !leads && i < key->namespace_count; i++) {
    leads = is_prefix(ns, key->namespaces[i]);
  }
  return leads;
}
