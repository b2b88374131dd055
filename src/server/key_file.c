/*
 * keys.json: {"keys": [{"id", "sha256", "scope", "namespaces": ["dotted.name"], "created"}]}.
 *
 * It is changed under a lock (keys.lock, held with flock, so that a process that dies gives it up)
 * and replaced in one step; only its owner may read it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/name.h"
#include "server/keys_private.h"

enum { KEY_BYTES = 32, ID_BYTES = 6, MOST_FILE_BYTES = 16 << 20 };

#define KEYS_NAME "keys.json"

glv_status key_file_path(const char *data_dir, const char *name, char *path, size_t size,
                         glv_error *err) {
  const int length = snprintf(path, size, "%s/%s", data_dir, name);
  return length > 0 && (size_t)length < size
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT, "the path '%s' is too long", data_dir);
}

access_scope key_scope_of(str name) {
  return str_is(name, "read")    ? ACCESS_READ
         : str_is(name, "write") ? ACCESS_WRITE
         : str_is(name, "admin") ? ACCESS_ADMIN
                                 : ACCESS_NONE;
}

/* ---- reading ---- */

static void close_fd(int *fd) {
  if (*fd >= 0) {
    close(*fd);
  }
}

static glv_status read_all(int fd, const char *path, buf *out, glv_error *err) {
  for (;;) {
    enum { STEP = 64 << 10 };
    TRY(buf_reserve(out, STEP, err));
    const ssize_t got = read(fd, out->data + out->size, STEP);
    if (got < 0 && errno != EINTR) {
      return error_set_errno(err, GLV_E_IO, errno, "'%s' cannot be read", path);
    }
    if (got == 0) {
      return GLV_OK;
    }
    out->size += got > 0 ? (size_t)got : 0;
  }
}

static bool is_text(const json *entry, const char *key) {
  const json *value = js_member(entry, key);
  return value != NULL && js_kind_of(value) == JS_STRING;
}

static bool is_entry(const json *entry) {
  unsigned char bytes[KEY_BYTES];
  if (js_kind_of(entry) != JS_OBJECT || !is_text(entry, "id") || !is_text(entry, "sha256") ||
      !is_text(entry, "scope") || !is_text(entry, "created")) {
    return false;
  }
  const str hex = js_string(js_member(entry, "sha256"));
  const json *namespaces = js_member(entry, "namespaces");
  if (hex.size != 2 * sizeof bytes || !hex_decode(hex, bytes) ||
      key_scope_of(js_string(js_member(entry, "scope"))) == ACCESS_NONE || namespaces == NULL ||
      js_kind_of(namespaces) != JS_ARRAY) {
    return false;
  }
  for (size_t i = 0; i < js_count(namespaces); i++) {
    if (js_kind_of(js_item(namespaces, i)) != JS_STRING) {
      return false;
    }
  }
  return true;
}

static glv_status check_document(const json *document, const char *path, glv_error *err) {
  const json *entries = js_kind_of(document) == JS_OBJECT ? js_member(document, "keys") : NULL;
  if (entries == NULL || js_kind_of(entries) != JS_ARRAY) {
    return FAIL(err, GLV_E_CORRUPT, "'%s' is not a file of keys", path);
  }
  for (size_t i = 0; i < js_count(entries); i++) {
    if (!is_entry(js_item(entries, i))) {
      return FAIL(err, GLV_E_CORRUPT, "key %zu of '%s' is not one", i + 1, path);
    }
  }
  return GLV_OK;
}

static glv_status empty_document(json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *document = js_new_object();
  if (document == NULL) {
    return error_nomem(err, 0);
  }
  TRY(js_put(document, "keys", js_new_array(), err));
  *ret = document;
  document = NULL;
  return GLV_OK;
}

glv_status key_file_read(glv_env *env, const char *data_dir, json **ret, struct stat *ret_stat,
                         glv_error *err) {
  char path[LIMIT_PATH_BYTES];
  TRY(key_file_path(data_dir, KEYS_NAME, path, sizeof path, err));
  *ret_stat = (struct stat){0};
  CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) {
    return empty_document(ret, err);
  }
  if (fd < 0 || fstat(fd, ret_stat) != 0) {
    return error_set_errno(err, GLV_E_IO, errno, "'%s' cannot be read", path);
  }
  CLEANUP(buf_dispose) buf text;
  CLEANUP(js_cleanup) json *document = NULL;
  buf_init(&text, env, MOST_FILE_BYTES);
  TRY(read_all(fd, path, &text, err));
  if (text.size == 0) {
    return empty_document(ret, err);
  }
  TRY(js_parse(buf_str(&text), &document, err));
  TRY(check_document(document, path, err));
  *ret = document;
  document = NULL;
  return GLV_OK;
}

/* ---- changing ---- */

/* The lock of a data directory, which is made if it is missing. */
static glv_status lock_file(glv_env *env, const char *data_dir, int *ret, glv_error *err) {
  char path[LIMIT_PATH_BYTES];
  const glv_io *io = env_io(env);
  TRY(io->make_dirs(io->user, data_dir, err));
  TRY(key_file_path(data_dir, "keys.lock", path, sizeof path, err));
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || flock(fd, LOCK_EX) != 0) {
    const int code = errno;
    close_fd(&(int){fd});
    return error_set_errno(err, GLV_E_IO, code, "'%s' cannot be locked", path);
  }
  *ret = fd;
  return GLV_OK;
}

static glv_status write_file(const char *path, str text, glv_error *err) {
  CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  while (fd >= 0 && text.size != 0) {
    const ssize_t done = write(fd, text.data, text.size);
    if (done < 0 && errno != EINTR) {
      break;
    }
    const size_t part = done > 0 ? (size_t)done : 0;
    text = str_slice(text.data + part, text.size - part);
  }
  if (fd < 0 || text.size != 0 || fsync(fd) != 0) {
    return error_set_errno(err, GLV_E_IO, errno, "'%s' cannot be written", path);
  }
  return GLV_OK;
}

static glv_status sync_dir(const char *path, glv_error *err) {
  CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd >= 0 && fsync(fd) == 0
             ? GLV_OK
             : error_set_errno(err, GLV_E_IO, errno, "'%s' cannot be synced", path);
}

/* With the lock held. */
static glv_status replace(glv_env *env, const char *data_dir, const json *document,
                          glv_error *err) {
  CLEANUP(buf_dispose) buf text;
  char path[LIMIT_PATH_BYTES];
  char staged[LIMIT_PATH_BYTES];
  buf_init(&text, env, MOST_FILE_BYTES);
  TRY(js_print(document, 2, 0, &text, err));
  TRY(buf_append_char(&text, '\n', err));
  TRY(key_file_path(data_dir, KEYS_NAME, path, sizeof path, err));
  TRY(key_file_path(data_dir, KEYS_NAME ".new", staged, sizeof staged, err));
  TRY(write_file(staged, buf_str(&text), err));
  if (rename(staged, path) != 0) {
    return error_set_errno(err, GLV_E_IO, errno, "'%s' cannot be replaced", path);
  }
  return sync_dir(data_dir, err);
}

/* ---- entries ---- */

static glv_status put_text(json *object, const char *key, str text, glv_error *err) {
  return js_put(object, key, js_new_string(text), err);
}

/* The dotted name as it is printed. */
static glv_status add_namespace(json *list, arena *a, const char *name, glv_error *err) {
  const char **parts;
  size_t count;
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, a->env, SIZE_MAX / 2);
  TRY(name_parse(a, str_of(name), &parts, &count, err));
  if (count == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "a key for the root is one for all namespaces: give no namespace");
  }
  TRY(name_print(parts, count, &text, err));
  return js_push(list, js_new_string(buf_str(&text)), err);
}

static glv_status put_namespaces(glv_env *env, json *entry, glv_strs namespaces, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  CLEANUP(js_cleanup) json *list = js_new_array();
  arena_init_small(&a, env);
  if (list == NULL) {
    return error_nomem(err, 0);
  }
  for (size_t i = 0; i < namespaces.count; i++) {
    TRY(add_namespace(list, &a, namespaces.items[i], err));
  }
  json *taken = list;
  list = NULL;
  return js_put(entry, "namespaces", taken, err);
}

static glv_status put_created(glv_env *env, json *entry, glv_error *err) {
  const time_t now = (time_t)(env_now_ns(env) / 1000000000);
  struct tm utc = {0};
  char text[64];
  (void)gmtime_r(&now, &utc);
  const size_t size = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return put_text(entry, "created", str_slice(text, size), err);
}

static glv_status make_key(glv_env *env, json *entry, char text[KEY_TEXT_SIZE], glv_error *err) {
  unsigned char secret[KEY_BYTES];
  unsigned char id[ID_BYTES];
  uint8_t hash[DIGEST_SIZE_MAX];
  char hex[2 * KEY_BYTES];
  TRY(env_random(env, secret, sizeof secret, err));
  TRY(env_random(env, id, sizeof id, err));
  memcpy(text, "glv_", 4);
  hex_encode(secret, sizeof secret, text + 4);
  CLEANUP(digest_cleanup) digest *d = NULL;
  TRY(digest_new(env, DIGEST_SHA256, &d, err));
  digest_of(d, str_slice(text, KEY_TEXT_SIZE), hash);
  hex_encode(id, sizeof id, hex);
  TRY(put_text(entry, "id", str_slice(hex, 2 * sizeof id), err));
  hex_encode(hash, KEY_BYTES, hex);
  return put_text(entry, "sha256", str_slice(hex, sizeof hex), err);
}

static glv_status make_entry(glv_env *env, const char *scope, glv_strs namespaces, json **ret,
                             char text[KEY_TEXT_SIZE], glv_error *err) {
  CLEANUP(js_cleanup) json *entry = js_new_object();
  if (entry == NULL) {
    return error_nomem(err, 0);
  }
  TRY(make_key(env, entry, text, err));
  TRY(put_text(entry, "scope", str_of(scope), err));
  TRY(put_namespaces(env, entry, namespaces, err));
  TRY(put_created(env, entry, err));
  *ret = entry;
  entry = NULL;
  return GLV_OK;
}

/* An entry without its digest. */
static glv_status shown_entry(const json *entry, json **ret, glv_error *err) {
  static const char *const shown[] = {"id", "scope", "namespaces", "created"};
  CLEANUP(js_cleanup) json *copy = js_new_object();
  if (copy == NULL) {
    return error_nomem(err, 0);
  }
  for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
    TRY(js_put(copy, shown[i], js_copy(js_member(entry, shown[i])), err));
  }
  *ret = copy;
  copy = NULL;
  return GLV_OK;
}

glv_status keys_create(glv_env *env, const char *data_dir, const char *scope, glv_strs namespaces,
                       json **ret, glv_error *err) {
  if (key_scope_of(str_of(scope)) == ACCESS_NONE) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the scope of a key is read, write or admin, not '%s'",
                scope);
  }
  CLEANUP(js_cleanup) json *document = NULL;
  CLEANUP(js_cleanup) json *entry = NULL;
  CLEANUP(js_cleanup) json *shown = NULL;
  CLEANUP(close_fd) int lock = -1;
  char text[KEY_TEXT_SIZE];
  struct stat known;
  TRY(make_entry(env, scope, namespaces, &entry, text, err));
  TRY(shown_entry(entry, &shown, err));
  TRY(put_text(shown, "key", str_slice(text, sizeof text), err));
  TRY(lock_file(env, data_dir, &lock, err));
  TRY(key_file_read(env, data_dir, &document, &known, err));
  CLEANUP(js_cleanup) json *all = js_copy(js_member(document, "keys"));
  if (all == NULL) {
    return error_nomem(err, 0);
  }
  json *taken = entry;
  entry = NULL;
  TRY(js_push(all, taken, err));
  taken = all;
  all = NULL;
  TRY(js_put(document, "keys", taken, err));
  TRY(replace(env, data_dir, document, err));
  *ret = shown;
  shown = NULL;
  return GLV_OK;
}

glv_status keys_list(glv_env *env, const char *data_dir, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *document = NULL;
  CLEANUP(js_cleanup) json *list = js_new_array();
  struct stat known;
  TRY(key_file_read(env, data_dir, &document, &known, err));
  const json *all = js_member(document, "keys");
  for (size_t i = 0; i < js_count(all) && list != NULL; i++) {
    json *shown = NULL;
    TRY(shown_entry(js_item(all, i), &shown, err));
    TRY(js_push(list, shown, err));
  }
  *ret = list;
  list = NULL;
  return *ret != NULL ? GLV_OK : error_nomem(err, 0);
}

glv_status keys_revoke(glv_env *env, const char *data_dir, const char *id, glv_error *err) {
  CLEANUP(js_cleanup) json *document = NULL;
  CLEANUP(js_cleanup) json *kept = js_new_array();
  CLEANUP(close_fd) int lock = -1;
  struct stat known;
  TRY(lock_file(env, data_dir, &lock, err));
  TRY(key_file_read(env, data_dir, &document, &known, err));
  const json *all = js_member(document, "keys");
  for (size_t i = 0; i < js_count(all) && kept != NULL; i++) {
    const json *entry = js_item(all, i);
    if (!str_is(js_string(js_member(entry, "id")), id)) {
      TRY(js_push(kept, js_copy(entry), err));
    }
  }
  if (kept == NULL) {
    return error_nomem(err, 0);
  }
  if (js_count(kept) == js_count(all)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "there is no key '%s'; see glaive key list", id);
  }
  json *taken = kept;
  kept = NULL;
  TRY(js_put(document, "keys", taken, err));
  return replace(env, data_dir, document, err);
}
