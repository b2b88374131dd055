/*
 * The power-loss model against the commit protocol of a table: three versions, each one data file
 * and one manifest that names it. The full protocol loses no acknowledged version and shows no torn
 * one, whatever the moment and the seed; without any single sync some seed does.
 */
#include <stdio.h>

#include "support/cmocka.h"
#include "support/io_crash.h"
#include "support/rng.h"
#include "support/test_env.h"

enum { VERSIONS = 3, DATA_BYTES = 3000 };

static glv_status put_synced(glv_env *env, void *dir, const char *name, const void *data,
                             size_t size, glv_error *err) {
  return io_write_file(env, dir, name, data, size, true, err);
}

static void fill(char *data, int version) {
  for (size_t i = 0; i < DATA_BYTES; i++) {
    data[i] = (char)('A' + (int)((i + (size_t)version * 7) % 26));
  }
}

static glv_status commit_version(glv_env *env, const io_scope *data, const io_scope *versions,
                                 int version, glv_error *err) {
  char name[32];
  char temp[32];
  char content[DATA_BYTES];
  fill(content, version);
  snprintf(name, sizeof name, "%d.lance", version);
  TRY(put_synced(env, data->dir, name, content, DATA_BYTES, err));
  TRY(io_dir_sync(env, data->dir, err));
  snprintf(name, sizeof name, "%d.manifest", version);
  snprintf(temp, sizeof temp, "%d.manifest#1", version);
  fill(content, 100 + version);
  TRY(put_synced(env, versions->dir, temp, content, 1000, err));
  TRY(io_publish(env, versions->dir, temp, name, true, err));
  return io_dir_sync(env, versions->dir, err);
}

/* @return how many versions were acknowledged. */
static int run(glv_env *env) {
  glv_error err;
  CLEANUP(io_scope_dispose) io_scope data = {env, NULL, NULL};
  CLEANUP(io_scope_dispose) io_scope versions = {env, NULL, NULL};
  if (io_make_dirs(env, "/db/t/data", &err) != GLV_OK ||
      io_make_dirs(env, "/db/t/_versions", &err) != GLV_OK ||
      io_dir_open(env, "/db/t/data", &data.dir, &err) != GLV_OK ||
      io_dir_open(env, "/db/t/_versions", &versions.dir, &err) != GLV_OK) {
    return 0;
  }
  int acknowledged = 0;
  while (acknowledged < VERSIONS &&
         commit_version(env, &data, &versions, acknowledged + 1, &err) == GLV_OK) {
    acknowledged++;
  }
  return acknowledged;
}

static bool file_equals(glv_env *env, const char *path, int fill_number, size_t size) {
  CLEANUP(buf_dispose) buf b;
  buf_init(&b, env, DATA_BYTES);
  char expected[DATA_BYTES];
  fill(expected, fill_number);
  glv_error err;
  return io_read_file(env, NULL, path, DATA_BYTES, &b, &err) == GLV_OK && b.size == size &&
         memcmp(b.data, expected, size) == 0;
}

/* Whether the state below path shows every acknowledged version, and only whole ones. */
static bool is_sound(glv_env *env, const char *path, int acknowledged) {
  for (int version = 1; version <= VERSIONS; version++) {
    char manifest[128];
    char data[128];
    snprintf(manifest, sizeof manifest, "%s/t/_versions/%d.manifest", path, version);
    snprintf(data, sizeof data, "%s/t/data/%d.lance", path, version);
    bool exists;
    glv_error err;
    assert_int_equal(io_exists(env, NULL, manifest, &exists, &err), GLV_OK);
    if (!exists && version <= acknowledged) {
      return false;
    }
    if (exists && (!file_equals(env, manifest, 100 + version, 1000) ||
                   !file_equals(env, data, version, DATA_BYTES))) {
      return false;
    }
  }
  return true;
}

/* One crash: at operation `at`, with sync number `ignored` left out (0 = none). */
static bool survives(uint64_t at, uint64_t ignored, uint64_t seed, uint64_t *ret_operations,
                     uint64_t *ret_syncs) {
  test_env t;
  test_env_open_mem(&t);
  io_crash *c = io_crash_new(io_mem_table(t.mem), "/db");
  io_crash_at(c, at);
  io_crash_ignore_sync(c, ignored);
  glv_env *env = test_env_over(io_crash_table(c));
  const int acknowledged = run(env);
  env_unref(env);
  if (ret_operations != NULL) {
    *ret_operations = io_crash_operations(c);
    *ret_syncs = io_crash_syncs(c);
  }
  /* A dead process alone leaves what the store shows. */
  assert_true(is_sound(t.env, "/db", acknowledged));
  io_crash_materialise(c, seed, t.env, "/after");
  const bool sound = is_sound(t.env, "/after", acknowledged);
  io_crash_free(c);
  test_env_close(&t);
  return sound;
}

static void full_protocol_loses_nothing(void **state) {
  (void)state;
  uint64_t operations;
  uint64_t syncs;
  assert_true(survives(0, 0, 1, &operations, &syncs));
  assert_int_equal(syncs, VERSIONS * 4);
  rng r = rng_of(2024);
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    const uint64_t at = 1 + rng_below(&r, operations + 1);
    if (!survives(at, 0, seed, NULL, NULL)) {
      fail_msg("seed %d, operation %d", (int)seed, (int)at);
    }
  }
}

static void every_sync_is_needed(void **state) {
  (void)state;
  uint64_t operations;
  uint64_t syncs;
  assert_true(survives(0, 0, 1, &operations, &syncs));
  for (uint64_t ignored = 1; ignored <= syncs; ignored++) {
    rng r = rng_of(ignored);
    bool found = false;
    for (uint64_t seed = 1; seed <= 1000 && !found; seed++) {
      found = !survives(1 + rng_below(&r, operations + 1), ignored, seed, NULL, NULL);
    }
    if (!found) {
      fail_msg("sync %d is not needed", (int)ignored);
    }
  }
}

static void removed_names_may_come_back(void **state) {
  (void)state;
  int came_back = 0;
  for (uint64_t seed = 1; seed <= 100; seed++) {
    test_env t;
    test_env_open_mem(&t);
    glv_error err;
    assert_int_equal(io_make_dirs(t.env, "/db/d", &err), GLV_OK);
    CLEANUP(io_scope_dispose) io_scope s = {t.env, NULL, NULL};
    assert_int_equal(io_dir_open(t.env, "/db/d", &s.dir, &err), GLV_OK);
    assert_int_equal(io_write_file(t.env, s.dir, "kept", "1", 1, true, &err), GLV_OK);
    io_scope_dispose(&s);
    io_crash *c = io_crash_new(io_mem_table(t.mem), "/db");
    glv_env *env = test_env_over(io_crash_table(c));
    assert_int_equal(io_remove_tree(env, "/db/d", &err), GLV_OK);
    env_unref(env);
    io_crash_materialise(c, seed, t.env, "/after");
    bool exists;
    assert_int_equal(io_exists(t.env, NULL, "/after/d/kept", &exists, &err), GLV_OK);
    came_back += exists;
    io_crash_free(c);
    test_env_close(&t);
  }
  assert_true(came_back > 0 && came_back < 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(full_protocol_loses_nothing),
      cmocka_unit_test(every_sync_is_needed),
      cmocka_unit_test(removed_names_may_come_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
