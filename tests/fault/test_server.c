/* Faults of the store and of memory in the middle of changes (rest-protocol 4, 14.2): a change that
 * was made is answered as made, or with 412 when the server cannot tell; one that is refused was
 * not made; and the client sends none of them twice. */
#include <errno.h>

#include <glaive/glaive.h>

#include "server/server.h"
#include "support/cmocka.h"
#include "support/rows.h"
#include "support/suite.h"
#include "support/test_env.h"

#define COLUMNS "id int64 | name utf8"

/* A server whose store and memory fail on demand, a client of it, and the database beside it. */
typedef struct fixture {
  test_env faulty;
  test_env sound;
  server *server;
  glv_conn *remote;
  glv_conn *local;
  glv_table *table; /* through the server */
  glv_error err;
} fixture;

static void open_remote(fixture *f) {
  char url[64];
  glv_connect_options options = GLV_OPTIONS(glv_connect_options);
  snprintf(url, sizeof url, "http://127.0.0.1:%u", (unsigned)server_port(f->server));
  options.retries = 1;
  must(f, glv_connect(f->sound.env, url, &options, &f->remote, &f->err));
}

static void setup(fixture *f) {
  *f = (fixture){0};
  struct ArrowArrayStream rows;
  test_env_open_local(&f->faulty);
  test_env_open_local(&f->sound);
  const server_options options = {.database = f->faulty.root, .no_access_log = true};
  must(f, server_start(f->faulty.env, &options, &f->server, &f->err));
  open_remote(f);
  must(f, glv_connect(f->sound.env, f->faulty.root, NULL, &f->local, &f->err));
  rows_stream(f->sound.env, COLUMNS, "1 | a\n2 | b\n3 | c", &rows);
  must(f, glv_table_create(f->remote, ID("t"), &rows, NULL, &f->table, &f->err));
}

static void teardown(fixture *f) {
  glv_table_free(f->table);
  glv_conn_free(f->remote);
  glv_conn_free(f->local);
  server_stop(f->server, 1000);
  server_free(f->server);
  test_env_close(&f->sound);
  test_env_close(&f->faulty);
}

static uint64_t version_of(fixture *f) {
  glv_table *t = NULL;
  must(f, glv_table_open(f->local, ID("t"), NULL, &t, &f->err));
  const uint64_t version = glv_table_version(t);
  glv_table_free(t);
  return version;
}

/* ---- changes ---- */

static glv_status append(fixture *f, glv_error *err) {
  struct ArrowArrayStream rows;
  rows_stream(f->sound.env, COLUMNS, "4 | d", &rows);
  return glv_table_append(f->table, &rows, NULL, NULL, err);
}

static glv_status update(fixture *f, glv_error *err) {
  const glv_pair set = {"name", "name || 'x'"};
  return glv_table_update(f->table, (glv_pairs){&set, 1}, "id = 2", NULL, NULL, err);
}

static glv_status delete_one(fixture *f, glv_error *err) {
  return glv_table_delete(f->table, "id = 4 OR id = 2", NULL, NULL, err);
}

static glv_status merge(fixture *f, glv_error *err) {
  struct ArrowArrayStream rows;
  const char *on[] = {"id"};
  glv_merge_options options = GLV_OPTIONS(glv_merge_options);
  options.flags = GLV_MERGE_UPDATE | GLV_MERGE_INSERT;
  options.on = (glv_strs){on, 1};
  rows_stream(f->sound.env, COLUMNS, "2 | B\n9 | Z", &rows);
  return glv_table_merge(f->table, &rows, &options, NULL, err);
}

static glv_status tag_metadata(fixture *f, glv_error *err) {
  const glv_pair item = {"k", "v"};
  return glv_table_set_metadata(f->table, (glv_pairs){&item, 1}, NULL, NULL, err);
}

typedef glv_status (*change)(fixture *f, glv_error *err);
static const change changes[] = {append, update, delete_one, merge, tag_metadata};

/* ---- judging ---- */

/* Seen so far: changes made and told, made and not known, refused. */
typedef struct tally {
  size_t told;
  size_t unknown;
  size_t refused;
} tally;

/* One change while something fails. */
static void judge(fixture *f, change make, tally *seen, uint64_t n) {
  const uint64_t before = version_of(f);
  glv_error err = {0};
  const glv_status status = make(f, &err);
  io_fault_arm(&f->faulty.io, (io_fault_plan){0});
  alloc_fault_arm(&f->faulty.alloc, 0, false);
  const uint64_t made = version_of(f) - before;
  if (made > 1) {
    fail_msg("fault %u: sent twice", (unsigned)n);
  }
  if (status == GLV_OK) {
    seen->told++;
    return;
  }
  if (status == GLV_E_UNKNOWN_OUTCOME) {
    assert_true(err.http_status == 412 || err.http_status == 0); /* 0: there was no answer */
    seen->unknown++;
    return;
  }
  if (made != 0) {
    fail_msg("fault %u: made, but refused with %d: %s", (unsigned)n, (int)err.http_status,
             err.message);
  }
  seen->refused++;
}

/* How often an operation of the store is done during a change; nothing fails. */
static uint64_t count_operations(fixture *f, change make) {
  glv_error err = {0};
  io_fault_arm(&f->faulty.io, (io_fault_plan){.mask = IO_MASK_ALL});
  if (make(f, &err) != GLV_OK) {
    fail_msg("without a fault: %s", err.message);
  }
  return f->faulty.io.matches;
}

static void faults_of_the_store(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  tally seen = {0};
  for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
    const uint64_t count = count_operations(&f, changes[c]);
    for (uint64_t n = 1; n <= count; n++) {
      for (int kind = 0; kind < 4; kind++) {
        const io_fault_plan plan = {.mask = IO_MASK_ALL,
                                    .nth = n,
                                    .number = EIO,
                                    .persistent = (kind & 1) != 0,
                                    .after = (kind & 2) != 0};
        io_fault_arm(&f.faulty.io, plan);
        judge(&f, changes[c], &seen, n);
      }
    }
  }
  assert_true(seen.refused > 20);
  assert_true(seen.unknown > 0);
  teardown(&f);
}

static void faults_of_memory(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  tally seen = {0};
  for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
    for (uint64_t n = 1; n < 4000; n += n < 200 ? 1 : 37) {
      alloc_fault_arm(&f.faulty.alloc, n, (n & 1) != 0);
      judge(&f, changes[c], &seen, n);
    }
  }
  assert_true(seen.refused > 20);
  assert_true(seen.told > 20);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(faults_of_the_store),
                                     cmocka_unit_test(faults_of_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
