/* Finding the rows of a view by their provenance: with summaries, without, and with wrong ones
 * (materialized-views 7.12). */
#include "base/hash.h"
#include "format/file_reader.h"
#include "support/rng.h"
#include "table/deletion.h"
#include "unit/table/tables.h"
#include "view/definition.h"
#include "view/evict.h"
#include "view/summary.h"

enum { ROWS = 9000 };

/* What is done to the summary of a file. */
enum damage {
  SOUND,
  NONE,
  BAD_MAGIC,
  BAD_HASH,
  BAD_VERSION,
  BAD_FLAGS,
  BAD_COLUMN,
  BAD_ROWS,
  BAD_CHUNKS,
  BAD_COUNT,
  BAD_ORDER,
  BAD_RANGE,
  FOREIGN,
  DAMAGES
};

struct made {
  glv_env *env;
  enum damage damage;
};

static void damage_bytes(buf *b, enum damage damage) {
  unsigned char *p = (unsigned char *)b->data;
  const size_t count = load_le32(p + 12);
  switch (damage) {
  case BAD_MAGIC:
    p[0] = 'X';
    break;
  case BAD_VERSION:
    store_le16(p + 4, 2);
    break;
  case BAD_FLAGS:
    store_le16(p + 6, 3);
    break;
  case BAD_COLUMN:
    store_le32(p + 8, 0);
    break;
  case BAD_ROWS:
    store_le64(p + 16, ROWS + 1);
    break;
  case BAD_CHUNKS:
    store_le64(p + 24 + 8, load_le64(p + 24 + 8) - 1);
    break;
  case BAD_COUNT:
    store_le32(p + 12, (uint32_t)count - 1);
    break;
  case BAD_ORDER: /* minimum above maximum */
    store_le64(p + 24 + 8 * count, UINT64_MAX);
    break;
  case BAD_RANGE: /* the first chunk says that it starts later than it does */
    store_le64(p + 24 + 8 * count, load_le64(p + 24 + 8 * count) + 1);
    break;
  default:
    break;
  }
  store_le64(p + b->size - 8, hash_xx64(p, b->size - 8, 0));
  if (damage == BAD_HASH) {
    p[30] ^= 1;
  }
}

static glv_status add_damaged(void *context, file_writer *w, glv_error *err) {
  const struct made *m = context;
  buf b;
  buf_init(&b, m->env, SIZE_MAX);
  glv_status status = view_summary_write(file_writer_summary(w), 1, &b, err);
  damage_bytes(&b, m->damage);
  if (status == GLV_OK && m->damage == FOREIGN) {
    status = file_writer_add_global(w, "GL", 2, err);
  } else if (status == GLV_OK && m->damage != NONE) {
    status = file_writer_add_global(w, b.data, b.size, err);
  }
  buf_dispose(&b);
  return status;
}

/* One view file with these ids, in two pages and more. */
static table_snapshot *make_view_of(test_env *t, const uint64_t *ids, size_t count,
                                    enum damage damage, const char *version) {
  const field fields[] = {{.name = "x", .type = type_simple(TYPE_INT64)},
                          {.name = VIEW_SOURCE_ROW_ID, .type = type_simple(TYPE_UINT64)}};
  schema *s;
  OK(schema_new(t->env, fields, 2, (metadata){0}, &s, err));
  batch b;
  OK(batch_new(t->env, s, count, 2, &b, err));
  for (size_t c = 0; c < 2; c++) {
    builder values;
    builder_init(&values, t->env, fields[c].type);
    for (size_t i = 0; i < count; i++) {
      OK(builder_append_fixed(&values, &ids[i], err));
    }
    OK(builder_finish(&values, &b.columns[c], err));
    builder_dispose(&values);
  }
  batch_reader r;
  OK(batch_reader_of(t->env, s, &b, 1, &r, err));
  struct made context = {t->env, damage};
  const create_options o = {.version = version,
                            .stage = {.page_bytes = 32768,
                                      .summary_column = VIEW_SOURCE_ROW_ID,
                                      .globals = add_damaged,
                                      .globals_context = &context}};
  table_snapshot *view;
  OK(table_create(t->env, test_env_path(t, "v"), "v", s, &r, &o, &view, err));
  batch_dispose(&b);
  schema_unref(s);
  return view;
}

static table_snapshot *make_view(test_env *t, const uint64_t *ids, size_t count,
                                 enum damage damage) {
  return make_view_of(t, ids, count, damage, NULL);
}

/* The rows found are those whose id is wanted and that are live. */
static void expect_found(const table_snapshot *view, const uint64_t *ids, size_t count,
                         const id_runs *wanted) {
  evictions e;
  OK(evictions_find(view, wanted, NULL, &e, err));
  bitmap *deleted = NULL;
  OK(deletion_load(view, &table_fragments(view, &(size_t){0})[0], &deleted, err));
  const bitmap *found = e.count > 0 ? e.updates[0].deleted : NULL;
  uint64_t total = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t at = id_runs_find(wanted, ids[i]);
    const bool is_live = deleted == NULL || !bitmap_contains(deleted, (uint32_t)i);
    const bool is_wanted = at < wanted->count && wanted->runs[at].first <= ids[i] && is_live;
    if ((found != NULL && bitmap_contains(found, (uint32_t)i)) != is_wanted) {
      fail_msg("row %zu with id %llu", i, (unsigned long long)ids[i]);
    }
    total += is_wanted;
  }
  assert_int_equal(e.rows, total);
  bitmap_free(deleted);
  evictions_dispose(&e);
}

static void choose(rng *random, id_runs *wanted) {
  for (size_t i = rng_below(random, 6); i > 0; i--) {
    OK(id_runs_add(wanted, rng_below(random, 2 * ROWS), 1 + rng_below(random, 40), err));
  }
  id_runs_sort(wanted);
}

/* order 0: ascending, 1: repeated (UNNEST), 2: any */
static void fill_ids(rng *random, int order, uint64_t *ids) {
  for (size_t i = 0; i < ROWS; i++) {
    ids[i] = order == 0 ? 2 * i : order == 1 ? i / 3 : rng_below(random, 2 * ROWS);
  }
}

static void count_line(void *user, int32_t level, const char *message) {
  (void)level;
  assert_non_null(strstr(message, "provenance summary"));
  ++*(size_t *)user;
}

/* Whether evictions trust the summary of such a file; if not, the log says so. */
static bool is_trusted(enum damage damage, const char *version) {
  static uint64_t ids[ROWS];
  rng random = rng_of(4);
  size_t lines = 0;
  const glv_env_options o = {.struct_size = sizeof o, .log = count_line, .log_user = &lines};
  test_env t;
  test_env_open_mem_with(&t, &o);
  fill_ids(&random, 0, ids);
  table_snapshot *view = make_view_of(&t, ids, ROWS, damage, version);
  id_runs wanted;
  id_runs_init(&wanted, t.env);
  OK(id_runs_add(&wanted, 0, 2 * ROWS, err));
  expect_found(view, ids, ROWS, &wanted);
  id_runs_dispose(&wanted);
  table_unref(view);
  test_env_close(&t);
  return lines == 0;
}

static void sound_summaries_are_trusted(void **state) {
  (void)state;
  assert_true(is_trusted(SOUND, "2.0"));
  assert_true(is_trusted(SOUND, "2.1"));
  assert_true(is_trusted(SOUND, "2.2"));
  for (int damage = BAD_HASH; damage < FOREIGN; damage++) {
    assert_false(is_trusted((enum damage)damage, "2.2"));
  }
}

static void with_every_summary(void **state) {
  (void)state;
  static uint64_t ids[ROWS];
  rng random = rng_of(11);
  for (int damage = 0; damage < DAMAGES; damage++) {
    for (int order = 0; order < 3; order++) {
      test_env t;
      const glv_env_options quiet = {.struct_size = sizeof quiet, .log_level = GLV_LOG_ERROR};
      test_env_open_mem_with(&t, &quiet);
      fill_ids(&random, order, ids);
      table_snapshot *view = make_view(&t, ids, ROWS, (enum damage)damage);
      for (int round = 0; round < 5; round++) {
        id_runs wanted;
        id_runs_init(&wanted, t.env);
        choose(&random, &wanted);
        if (damage == BAD_RANGE) { /* found out when the chunk is decoded */
          OK(id_runs_add(&wanted, 0, ROWS, err));
          id_runs_sort(&wanted);
        }
        expect_found(view, ids, ROWS, &wanted);
        id_runs_dispose(&wanted);
      }
      table_unref(view);
      test_env_close(&t);
    }
  }
}

/* A summary says which chunks to read: of the other pages only the tables of chunks are. */
static void only_candidates_are_read(void **state) {
  (void)state;
  static uint64_t ids[ROWS];
  rng random = rng_of(1);
  fill_ids(&random, 0, ids);
  test_env t;
  test_env_open_mem(&t);
  uint64_t reads[2];
  for (int i = 0; i < 2; i++) {
    table_snapshot *view = make_view(&t, ids, ROWS, i == 0 ? SOUND : NONE);
    id_runs wanted;
    id_runs_init(&wanted, t.env);
    OK(id_runs_add(&wanted, 700, 1, err));
    reads[i] = t.io.counts[IO_OP_READ_AT];
    expect_found(view, ids, ROWS, &wanted);
    reads[i] = t.io.counts[IO_OP_READ_AT] - reads[i];
    id_runs_dispose(&wanted);
    table_unref(view);
    OK(io_remove_tree(t.env, test_env_path(&t, "v"), err));
  }
  assert_true(reads[0] < reads[1]);
  test_env_close(&t);
}

static void deleted_rows_are_not_found_again(void **state) {
  (void)state;
  static uint64_t ids[ROWS];
  rng random = rng_of(2);
  fill_ids(&random, 1, ids);
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *view = make_view(&t, ids, ROWS, SOUND);
  bitmap *gone = bitmap_new();
  bitmap_add_range(gone, 300, 304);
  const deletion_update d = {0, gone};
  const operation op = {.kind = OPERATION_DELETE, .updated = &d, .updated_count = 1};
  table_snapshot *next;
  OK(table_commit(view, &op, NULL, &next, NULL, err));
  id_runs wanted;
  id_runs_init(&wanted, t.env);
  OK(id_runs_add(&wanted, 99, 3, err)); /* rows 297 .. 305 */
  expect_found(next, ids, ROWS, &wanted);
  evictions e;
  OK(evictions_find(next, &wanted, NULL, &e, err));
  assert_int_equal(e.rows, 5);
  evictions_dispose(&e);
  id_runs_dispose(&wanted);
  id_runs_init(&wanted, t.env);
  OK(evictions_find(next, &wanted, NULL, &e, err)); /* nothing is wanted */
  assert_int_equal(e.count, 0);
  bitmap_free(gone);
  table_unref(next);
  table_unref(view);
  test_env_close(&t);
}

static void every_allocation_fails(void **state) {
  (void)state;
  static uint64_t ids[ROWS];
  rng random = rng_of(3);
  fill_ids(&random, 0, ids);
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *view = make_view(&t, ids, ROWS, SOUND);
  id_runs wanted;
  id_runs_init(&wanted, t.env);
  OK(id_runs_add(&wanted, 500, 40, err));
  OK(id_runs_add(&wanted, 9000, 10, err));
  bool fired = true;
  for (uint64_t nth = 1; fired; nth++) {
    evictions e;
    glv_error err = {0};
    alloc_fault_arm(&t.alloc, nth, false);
    const glv_status status = evictions_find(view, &wanted, NULL, &e, &err);
    fired = t.alloc.fired;
    alloc_fault_arm(&t.alloc, 0, false);
    assert_true(status == GLV_E_NOMEM ? fired : status == GLV_OK && e.rows == 25);
    evictions_dispose(&e);
    assert_true(nth < 2000);
  }
  id_runs_dispose(&wanted);
  table_unref(view);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sound_summaries_are_trusted),
      cmocka_unit_test(with_every_summary),
      cmocka_unit_test(only_candidates_are_read),
      cmocka_unit_test(deleted_rows_are_not_found_again),
      cmocka_unit_test(every_allocation_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
