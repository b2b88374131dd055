/*
 * Fuzz target: any bytes as the manifest of version 1 of a table. Opens it, reads everything that
 * hangs on it (fragments, row ids, row versions, transaction), and where it is writable commits two
 * versions on top, which must open again and hold the fragments that they should.
 */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "io/io.h"
#include "table/commit.h"
#include "table/row_ids.h"
#include "table/transaction.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_LIMIT ((uint64_t)256 << 20)
enum { MAX_FRAGMENTS = 100, MAX_ROWS = 1000 };

static void must(bool holds) {
  if (!holds) {
    abort();
  }
}

static void read_fragment(const table_snapshot *t, const fragment *f, arena *a) {
  row_id_sequence *ids;
  row_versions versions;
  uint64_t values[MAX_ROWS];
  const uint64_t rows = u64_min(f->physical_rows, MAX_ROWS);
  if (fragment_row_ids(t, f, a, &ids, NULL) == GLV_OK) {
    row_ids_read(ids, 0, (size_t)rows, values);
    row_ids_read(ids, f->physical_rows - rows, (size_t)rows, values);
    uint64_t least;
    uint64_t most;
    if (row_ids_bounds(ids, &least, &most)) {
      must(least <= most);
      for (size_t i = 0; i < rows; i++) {
        must(values[i] >= least && values[i] <= most);
      }
    }
  }
  if (fragment_created_at(t, f, a, &versions, NULL) == GLV_OK) {
    row_versions_read(&versions, 0, (size_t)rows, values);
  }
  if (fragment_last_updated_at(t, f, a, &versions, NULL) == GLV_OK) {
    row_versions_read(&versions, f->physical_rows - rows, (size_t)rows, values);
  }
  for (size_t i = 0; i < f->file_count; i++) {
    char *path;
    (void)table_data_file_path(t, &f->files[i], a, &path, NULL);
  }
}

static void read_all(glv_env *env, const table_snapshot *t) {
  arena a;
  arena_init(&a, env);
  size_t count;
  const fragment *fragments = table_fragments(t, &count);
  for (size_t i = 0; i < count && i < MAX_FRAGMENTS; i++) {
    read_fragment(t, &fragments[i], &a);
    must(table_fragment(t, fragments[i].id) != NULL);
  }
  transaction *x;
  (void)transaction_read(t, table_version(t), &a, &x, NULL);
  version_entry *versions;
  (void)table_versions(t, &a, &versions, &count, NULL);
  (void)table_check_supported(t, NULL);
  (void)table_data_bytes(t);
  arena_dispose(&a);
}

/* Commits op on t and opens the result anew. */
static table_snapshot *commit(const table_snapshot *t, const operation *op) {
  table_snapshot *next = NULL;
  table_snapshot *again = NULL;
  const commit_options strict = {.strict = true};
  glv_error err;
  if (table_commit(t, op, &strict, &next, NULL, &err) != GLV_OK) {
    return NULL;
  }
  must(table_version(next) == table_version(t) + 1);
  const glv_status status = table_open_version(t, table_version(next), &again, &err);
  must(status == GLV_OK || status == GLV_E_NOMEM);
  table_unref(next);
  return again;
}

static void write_two(const table_snapshot *t) {
  const metadata_change change = {STR("mv.k"), STR("v")};
  const operation stamp = {.kind = OPERATION_UPDATE_CONFIG, .changes = &change, .change_count = 1};
  table_snapshot *second = commit(t, &stamp);
  size_t before;
  (void)table_fragments(t, &before);
  if (second != NULL) {
    size_t after;
    const fragment *fragments = table_fragments(second, &after);
    must(after == before);
    must(str_is(table_metadata_get(second, change.key, NULL), "v"));
    if (after > 0) {
      const uint64_t removed = fragments[0].id;
      const operation update = {.kind = OPERATION_UPDATE, .removed = &removed, .removed_count = 1};
      table_snapshot *third = commit(second, &update);
      if (third != NULL) {
        (void)table_fragments(third, &after);
        must(after == before - 1 && table_fragment(third, removed) == NULL);
      }
      table_unref(third);
    }
  }
  table_unref(second);
}

static void use(glv_env *env, const uint8_t *data, size_t size) {
  void *dir;
  glv_error err;
  if (io_make_dirs(env, "/t/_versions", &err) != GLV_OK ||
      io_dir_open(env, "/t/_versions", &dir, &err) != GLV_OK) {
    return;
  }
  const glv_status written =
      io_write_file(env, dir, "18446744073709551614.manifest", data, size, false, &err);
  io_dir_close(env, dir);
  table_snapshot *t;
  if (written == GLV_OK && table_open(env, "/t", "t", 0, &t, &err) == GLV_OK) {
    read_all(env, t);
    write_two(t);
    table_unref(t);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.io = io_local();
  options.threads = 1;
  options.memory_limit_bytes = MEMORY_LIMIT;
  glv_env *memory;
  glv_env *env;
  io_mem *store;
  if (env_new(&options, &memory, NULL) != GLV_OK) {
    return 0;
  }
  if (io_mem_new(memory, &store, NULL) == GLV_OK) {
    options.io = io_mem_table(store);
    if (env_new(&options, &env, NULL) == GLV_OK) {
      use(env, data, size);
      env_unref(env);
    }
    io_mem_free(store);
  }
  env_unref(memory);
  return 0;
}
