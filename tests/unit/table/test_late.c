/* Late materialisation: a filter reads its own column, and of the others only the chunks that hold
 * rows that pass, texts and vectors included. */
#include "support/io_hook.h"
#include "tables.h"

enum { ROWS = 100000, ITEMS = 32, TEXT_BYTES = 100 };

/* Columns id int64 = the number of the row; text utf8, 100 bytes, all different; vector of floats.
 */
static schema *wide_schema(glv_env *env, arena *a) {
  const field item = {.name = "item", .type = type_simple(TYPE_FLOAT32), .nullable = true};
  const field fields[] = {{.name = "id", .type = type_simple(TYPE_INT64)},
                          {.name = "text", .type = type_simple(TYPE_UTF8)},
                          {.name = "vector", .type = type_fixed_size_list(a, &item, ITEMS)}};
  schema *s;
  OK(schema_new(env, fields, 3, (metadata){0}, &s, err));
  return s;
}

static void fill_vectors(glv_env *env, const type *t, array *ret) {
  void *values;
  *ret = (array){.type = t, .length = ROWS};
  OK(array_new_children(env, 1, ret, err));
  OK(array_new_fixed(env, t->children[0].type, (size_t)ROWS * ITEMS, &ret->children[0], &values,
                     err));
  for (size_t i = 0; i < (size_t)ROWS * ITEMS; i++) {
    ((float *)values)[i] = (float)(i * 2654435761u % 1000003u) / 7.0f;
  }
}

static batch_reader wide_rows(glv_env *env, schema *s) {
  builder ids;
  builder texts;
  builder_init(&ids, env, s->fields[0].type);
  builder_init(&texts, env, s->fields[1].type);
  for (int64_t i = 0; i < ROWS; i++) {
    char text[TEXT_BYTES + 1];
    uint64_t state = (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t k = 0; k < TEXT_BYTES; k++) {
      state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
      text[k] = (char)('!' + (state >> 33) % 90);
    }
    OK(builder_append_fixed(&ids, &i, err));
    OK(builder_append_str(&texts, str_slice(text, TEXT_BYTES), err));
  }
  batch b;
  OK(batch_new(env, s, ROWS, 3, &b, err));
  OK(builder_finish(&ids, &b.columns[0], err));
  OK(builder_finish(&texts, &b.columns[1], err));
  builder_dispose(&ids);
  builder_dispose(&texts);
  fill_vectors(env, s->fields[2].type, &b.columns[2]);
  batch_reader r;
  OK(batch_reader_of(env, s, &b, 1, &r, err));
  batch_dispose(&b);
  return r;
}

/* Bytes read by a scan that gives `rows` rows. */
static uint64_t bytes_of(glv_env *env, io_hook *hook, const char *path, const char *filter,
                         size_t rows) {
  table_snapshot *t;
  OK(table_open(env, path, "t", 0, &t, err));
  const uint64_t before = hook->bytes_read;
  const scan_options o = {.filter = str_of(filter)};
  batch_reader r;
  OK(table_scan(t, &o, &r, err));
  size_t found = 0;
  for (;;) {
    batch b = {0};
    bool at_end = false;
    OK(r.next(r.state, &b, &at_end, err));
    if (at_end) {
      break;
    }
    found += b.length;
    batch_dispose(&b);
  }
  batch_reader_dispose(&r);
  table_unref(t);
  assert_int_equal(found, rows);
  return hook->bytes_read - before;
}

static void test_bytes(void **state) {
  (void)state;
  static const char *const versions[] = {"2.0", "2.1", "2.2"};
  for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
    test_env t;
    test_env_open_mem(&t);
    const char *path = test_env_path(&t, "t");
    io_hook hook;
    io_hook_init(&hook, env_io(t.env));
    glv_env *env = test_env_over(&hook.table);
    arena a;
    arena_init(&a, env);
    schema *s = wide_schema(env, &a);
    batch_reader r = wide_rows(env, s);
    const create_options o = {.version = versions[i]};
    OK(table_create(env, path, "t", s, &r, &o, NULL, err));
    const uint64_t all = bytes_of(env, &hook, path, "", ROWS);
    const uint64_t none = bytes_of(env, &hook, path, "id < 0", 0);
    const uint64_t few = bytes_of(env, &hook, path, "id IN (5, 50000, 99990)", 3);
    assert_true(all > (uint64_t)ROWS * (TEXT_BYTES + 4 * ITEMS) * 9 / 10);
    /* The ids are at most 8 bytes a row; nothing of the others is read in vain. */
    if (none > (uint64_t)ROWS * 8 + 65536 || few > none + all / 20) {
      fail_msg("%s: all %llu, none %llu, few %llu bytes", versions[i], (unsigned long long)all,
               (unsigned long long)none, (unsigned long long)few);
    }
    schema_unref(s);
    arena_dispose(&a);
    env_unref(env);
    test_env_close(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
