/* Spans of rows and runs of ids against reading every row for itself. */
#include "support/rng.h"
#include "table/row_spans.h"
#include "tables.h"

enum { ROWS = 200 };

/* Random ids in one of the shapes that sequences are stored in. */
static void choose_ids(rng *random, uint64_t *ids) {
  const uint64_t shape = rng_below(random, 4);
  uint64_t next = rng_below(random, 1000);
  for (size_t i = 0; i < ROWS; i++) {
    ids[i] = next;
    next += shape == 0   ? 1
            : shape == 1 ? 1 + (rng_below(random, 20) == 0)
                         : 1 + rng_below(random, 3);
  }
  for (size_t i = 0; shape == 3 && i < 10; i++) {
    const size_t a = rng_below(random, ROWS);
    const size_t b = rng_below(random, ROWS);
    const uint64_t id = ids[a];
    ids[a] = ids[b];
    ids[b] = id;
  }
}

static void runs_of_ids(void **state) {
  test_env *t = *state;
  rng random = rng_of(3);
  for (int round = 0; round < 400; round++) {
    uint64_t ids[ROWS];
    choose_ids(&random, ids);
    buf bytes;
    buf_init(&bytes, t->env, SIZE_MAX);
    const size_t cut = rng_below(&random, ROWS); /* two segments, one perhaps empty */
    OK(row_ids_encode(ids, cut, &bytes, err));
    OK(row_ids_encode(ids + cut, ROWS - cut, &bytes, err));
    arena a;
    arena_init(&a, t->env);
    row_id_sequence *s;
    OK(row_ids_decode(&a, buf_str(&bytes), "ids", &s, err));
    for (size_t row = 0; row < ROWS; row++) {
      uint64_t first = 0;
      const uint64_t count = row_ids_run(s, row, &first);
      assert_true(count >= 1 && row + count <= ROWS);
      for (size_t i = 0; i < count; i++) {
        assert_int_equal(first + i, ids[row + i]);
      }
    }
    arena_dispose(&a);
    buf_dispose(&bytes);
  }
}

/* A fragment with deletions and versions, walked in spans. */
static void spans_of_a_fragment(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, ROWS, true);
  rng random = rng_of(5);
  bitmap *dead = bitmap_new();
  bitmap_add_range(dead, 10, 110); /* more than are looked at in one go */
  for (int i = 0; i < 20; i++) {
    bitmap_add(dead, (uint32_t)rng_below(&random, ROWS));
  }
  const deletion_update d = {0, dead};
  const operation op = {.kind = OPERATION_DELETE, .updated = &d, .updated_count = 1};
  table_snapshot *next;
  OK(table_commit(s, &op, NULL, &next, NULL, err));
  version_run created[] = {{50, 1}, {100, 2}, {50, 3}};
  version_run updated[] = {{120, 4}, {80, 5}};
  fragment f = *table_fragment(next, 0);
  buf bytes[2];
  for (int i = 0; i < 2; i++) {
    buf_init(&bytes[i], t.env, SIZE_MAX);
  }
  OK(row_versions_encode(created, 3, &bytes[0], err));
  OK(row_versions_encode(updated, 2, &bytes[1], err));
  f.created_at = buf_str(&bytes[0]);
  f.last_updated_at = buf_str(&bytes[1]);
  arena a;
  arena_init(&a, t.env);
  row_spans spans;
  OK(row_spans_open(next, &f, &a, &spans, err));
  row_span span;
  uint64_t row = 0;
  while (row_spans_next(&spans, &span)) {
    for (uint64_t i = 0; i < span.count; i++) {
      while (bitmap_contains(dead, (uint32_t)row)) {
        row++;
      }
      assert_int_equal(span.offset + i, row);
      assert_int_equal(span.id + i, row);
      assert_int_equal(span.created, row < 50 ? 1 : row < 150 ? 2 : 3);
      assert_int_equal(span.updated, row < 120 ? 4 : 5);
      row++;
    }
  }
  while (row < ROWS) {
    assert_true(bitmap_contains(dead, (uint32_t)row++));
  }
  row_spans_close(&spans);
  arena_dispose(&a);
  for (int i = 0; i < 2; i++) {
    buf_dispose(&bytes[i]);
  }
  bitmap_free(dead);
  table_unref(next);
  table_unref(s);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(runs_of_ids, test_env_setup, test_env_teardown),
      cmocka_unit_test(spans_of_a_fragment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
