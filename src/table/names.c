/* Names of files, and the listing of `_versions` (lance-table-format 1.1, 1.2).
 *
 * A manifest is called `%020llu.manifest` of UINT64_MAX - version (V2), or `%llu.manifest` of the
 * version (V1). Whatever else lies in `_versions` is skipped: staging files have a suffix after
 * `.manifest`, detached versions begin with `d`, the hint ends in `.json`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "table/table_private.h"

enum { V2_NAME_LENGTH = 29 };

void name_manifest(uint64_t version, bool v1, char ret[NAME_SIZE]) {
  if (v1) {
    snprintf(ret, NAME_SIZE, "%" PRIu64 ".manifest", version);
  } else {
    snprintf(ret, NAME_SIZE, "%020" PRIu64 ".manifest", UINT64_MAX - version);
  }
}

/* Random bytes with the version and variant bits of a UUIDv4. */
static glv_status random_uuid(glv_env *env, uint8_t b[16], glv_error *err) {
  TRY(env_random(env, b, 16, err));
  b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
  b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
  return GLV_OK;
}

void name_of_uuid(const uint8_t b[16], char ret[37]) {
  size_t at = 0;
  for (size_t i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      ret[at++] = '-';
    }
    snprintf(ret + at, 3, "%02x", b[i]);
    at += 2;
  }
}

glv_status name_uuid(glv_env *env, char ret[37], glv_error *err) {
  uint8_t b[16];
  TRY(random_uuid(env, b, err));
  name_of_uuid(b, ret);
  return GLV_OK;
}

glv_status name_data_file(glv_env *env, char ret[NAME_SIZE], glv_error *err) {
  uint8_t b[16];
  TRY(random_uuid(env, b, err));
  size_t at = 0;
  for (size_t i = 0; i < 24; i++) {
    ret[at++] = (char)('0' + ((b[i / 8] >> (7 - i % 8)) & 1));
  }
  for (size_t i = 3; i < 16; i++) {
    snprintf(ret + at, 3, "%02x", b[i]);
    at += 2;
  }
  snprintf(ret + at, NAME_SIZE - at, ".lance");
  return GLV_OK;
}

void name_transaction(uint64_t read_version, const char *uuid, char ret[NAME_SIZE]) {
  snprintf(ret, NAME_SIZE, "%" PRIu64 "-%s.txn", read_version, uuid);
}

void name_deletion(uint64_t fragment_id, const deletion_file *d, char ret[NAME_SIZE]) {
  snprintf(ret, NAME_SIZE, "%" PRIu64 "-%" PRIu64 "-%" PRIu64 ".%s", fragment_id, d->read_version,
           d->id, d->form == DELETION_ARROW ? "arrow" : "bin");
}

/* Version of a file name of `_versions`; false when it is no manifest of the version chain. */
static bool parse_name(str name, uint64_t *ret, bool *ret_v1) {
  if (name.size == 0 || name.data[0] == 'd' || !str_ends_with(name, STR("manifest"))) {
    return false;
  }
  const char *dot = memchr(name.data, '.', name.size);
  uint64_t number;
  const size_t digits = dot != NULL ? (size_t)(dot - name.data) : 0;
  if (digits + sizeof ".manifest" - 1 != name.size ||
      !str_to_u64(str_slice(name.data, digits), &number)) {
    return false;
  }
  *ret_v1 = name.size != V2_NAME_LENGTH;
  *ret = *ret_v1 ? number : UINT64_MAX - number;
  return true;
}

struct listing {
  version_listing found;
  glv_env *env;
  bool keep;
  size_t capacity;
};

static glv_status visit_name(void *context, const char *name, int32_t is_directory,
                             glv_error *err) {
  struct listing *l = context;
  uint64_t version;
  bool v1;
  if (is_directory || !parse_name(str_of(name), &version, &v1)) {
    return GLV_OK;
  }
  l->found.latest = u64_max(l->found.latest, version);
  l->found.is_v1 |= v1;
  l->found.is_v2 |= !v1;
  if (l->keep) {
    TRY(vec_reserve(l->env, &l->found.versions, &l->capacity, l->found.count + 1,
                    sizeof *l->found.versions, err));
    l->found.versions[l->found.count] = version;
  }
  l->found.count++;
  return GLV_OK;
}

static int compare_versions(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a;
  const uint64_t y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

glv_status list_versions(const table_home *h, arena *a, version_listing *ret, glv_error *err) {
  struct listing l = {.env = h->env, .keep = a != NULL};
  glv_error report = {0};
  glv_status status = io_list(h->env, h->versions, "", visit_name, &l, &report);
  if (status == GLV_OK && l.keep && l.found.count > 0) {
    qsort(l.found.versions, l.found.count, sizeof *l.found.versions, compare_versions);
    uint64_t *kept = ARENA_ARRAY(a, uint64_t, l.found.count);
    if (kept == NULL) {
      status = error_nomem(&report, l.found.count * sizeof *kept);
    } else {
      memcpy(kept, l.found.versions, l.found.count * sizeof *kept);
    }
    mem_free(h->env, l.found.versions);
    l.found.versions = kept;
  } else {
    mem_free(h->env, l.found.versions);
    l.found.versions = NULL;
  }
  if (status != GLV_OK && io_is_missing(&report)) {
    return home_fail_dropped(h, err);
  }
  if (status != GLV_OK) {
    return pass_report(err, &report);
  }
  if (l.found.is_v1 && l.found.is_v2) {
    return FAIL(err, GLV_E_CORRUPT,
                "table '%s': Found multiple manifest naming schemes in the same directory",
                h->name);
  }
  *ret = l.found;
  return GLV_OK;
}
