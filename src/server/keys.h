/**
 * @file keys.h
 * Who may do what: the file keys.json in the server's data directory. A key is 256 random bits, of
 * which only the SHA-256 is kept; a scope; and, optionally, the namespaces that it is for.
 */
#ifndef GLAIVE_SERVER_KEYS_H
#define GLAIVE_SERVER_KEYS_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/json.h"
#include "server/request.h"

/* ---- what a server sees ---- */

typedef struct key_set key_set;

typedef struct access_key {
  const char *id; /* its public name */
  unsigned char digest[32];
  access_scope scope;
  const glv_id *namespaces; /* none = all */
  size_t namespace_count;
  atomic_uint running; /* requests with this key that are under way */
  key_set *set;        /* that it lives in */
} access_key;

typedef struct keys keys;

/** Read the keys of a data directory; a missing file has none. Errors: GLV_E_CORRUPT for a file
 * that is not one, GLV_E_IO. */
glv_status keys_open(glv_env *env, const char *data_dir, keys **ret, glv_error *err);
void keys_free(keys *k); /* NULL is fine */
/** Whether requests need a key: there is one, or was while the server ran. */
bool keys_are_needed(const keys *k);
/** Read the file again if it was changed. A file that cannot be read leaves the keys as they are,
 * and is reported once. One thread. */
void keys_refresh(keys *k);
/**
 * Find a key by its text; NULL = none was given.
 * @param ret a reference; key_unref. NULL when no keys are needed.
 * Errors: GLV_E_UNAUTHENTICATED.
 */
glv_status keys_find(keys *k, const char *text, access_key **ret, glv_error *err);
void key_unref(access_key *key); /* NULL is fine */

/** Whether the key is for the whole of this namespace: for all, for it, or for one above it. NULL,
 * the key of a server without keys, is for all. */
bool key_covers(const access_key *key, glv_id ns);
/** Whether the namespace lies above one that the key is for. */
bool key_leads_to(const access_key *key, glv_id ns);

/* ---- what the command `key` does ---- */

/** The characters of a key: "glv_" and 64 hexadecimal digits. */
#define KEY_TEXT_SIZE 68

/**
 * Make a key and add it to the file, which is made if it is missing.
 *
 * @param namespaces dotted names; none = all.
 * @param ret        the entry as keys_list shows it, and its text as "key", which is not kept
 * anywhere.
 * Errors: GLV_E_INVALID_INPUT for a bad scope or name, GLV_E_IO, GLV_E_CORRUPT.
 */
glv_status keys_create(glv_env *env, const char *data_dir, const char *scope, glv_strs namespaces,
                       json **ret, glv_error *err);
/** [{"id", "scope", "namespaces", "created"}] in the order of their making. */
glv_status keys_list(glv_env *env, const char *data_dir, json **ret, glv_error *err);
/** Take a key out. Errors: GLV_E_INVALID_INPUT when there is none of that id. */
glv_status keys_revoke(glv_env *env, const char *data_dir, const char *id, glv_error *err);

#endif
