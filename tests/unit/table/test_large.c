/* A manifest of 100,000 fragments: opening, appending, memory (checklist 40). */
#include <time.h>

#include "tables.h"

enum { FRAGMENTS = 100000 };
#define V1 "18446744073709551614.manifest"

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The one fragment of the table, FRAGMENTS times under different ids. */
static void multiply(Lance__Table__Manifest *m, void *context) {
  arena *a = context;
  ProtobufCBinaryData *list = ARENA_ARRAY(a, ProtobufCBinaryData, FRAGMENTS);
  ProtobufCMessage *message;
  OK(pb_unpack(a, str_slice((const char *)m->fragments[0].data, m->fragments[0].len),
               &lance__table__data_fragment__descriptor, "f", &message, err));
  for (size_t i = 0; i < FRAGMENTS; i++) {
    ((Lance__Table__DataFragment *)message)->id = i;
    str packed;
    OK(pb_pack_arena(a, message, &packed, err));
    list[i] = (ProtobufCBinaryData){packed.size, (uint8_t *)(uintptr_t)packed.data};
  }
  m->fragments = list;
  m->n_fragments = FRAGMENTS;
  m->max_fragment_id = FRAGMENTS - 1;
}

static void test_large(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  const char *root = test_env_path(&t, "t");
  table_unref(create_rows(t.env, root, 0, 1, true));
  arena a;
  arena_init(&a, t.env);
  edit_manifest(t.env, root, V1, multiply, &a);
  arena_dispose(&a);
  const double start = seconds();
  table_snapshot *s;
  OK(table_open(t.env, root, "t", 0, &s, err));
  const double opened = seconds();
  assert_int_equal(table_live_rows(s), FRAGMENTS);
  assert_int_equal(table_fragment(s, 54321)->id, 54321);
  append_rows(&s, 1, 1);
  const double appended = seconds();
  assert_int_equal(table_live_rows(s), FRAGMENTS + 1);
  assert_int_equal(table_fragment(s, FRAGMENTS)->physical_rows, 1);
  uint64_t peak;
  env_memory(t.env, NULL, &peak);
  print_message("open %.3f s, append %.3f s, %.0f MB\n", opened - start, appended - opened,
                (double)peak / 1e6);
  assert_true(opened - start < 5); /* far above what is expected, for slow and instrumented runs */
  assert_true(appended - opened < 10);
  assert_true(peak < UINT64_C(400) << 20);
  table_unref(s);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_large)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
