/* Values as text: extremes of every type, tables; all types out and in again. */
#include "arrow/builder.h"
#include "arrow/cdata.h"
#include "support/cmocka.h"
#include "unit/arrow/arrays.h"
#include "unit/text/reading.h"

static void show(test_env *t, const type *kind, const void *value, const char *want) {
  builder b;
  array a;
  buf out;
  buf_init(&out, t->env, 1000);
  builder_init(&b, t->env, kind);
  assert_int_equal(type_offset_width(kind->kind) != 0 ? builder_append_str(&b, str_of(value), NULL)
                                                      : builder_append_fixed(&b, value, NULL),
                   GLV_OK);
  assert_int_equal(builder_finish(&b, &a, NULL), GLV_OK);
  assert_int_equal(text_print_json(&a, 0, &out, NULL), GLV_OK);
  assert_string_equal(out.data, want);
  array_unref(&a);
  buf_dispose(&out);
}

static void flat_values(void **state) {
  test_env *t = *state;
  arena m;
  arena_init(&m, t->env);
  show(t, type_simple(TYPE_INT8), &(int8_t){-128}, "-128");
  show(t, type_simple(TYPE_INT64), &(int64_t){INT64_MIN}, "-9223372036854775808");
  show(t, type_simple(TYPE_UINT64), &(uint64_t){UINT64_MAX}, "18446744073709551615");
  show(t, type_simple(TYPE_FLOAT64), &(double){0.1}, "0.1");
  show(t, type_simple(TYPE_FLOAT64), &(uint64_t){0x7FF8000000000000u}, "\"NaN\"");
  show(t, type_simple(TYPE_FLOAT32), &(uint32_t){0xFF800000u}, "\"-Infinity\"");
  show(t, type_simple(TYPE_FLOAT16), &(uint16_t){0x0001}, "5.9604645e-8");
  show(t, type_simple(TYPE_FLOAT16), &(uint16_t){0xC000}, "-2.0");
  show(t, type_simple(TYPE_DATE32), &(int32_t){-1}, "\"1969-12-31\"");
  show(t, type_simple(TYPE_DATE64), &(int64_t){1500}, "\"1970-01-01T00:00:01.500\"");
  show(t, type_with_unit(&m, TYPE_TIME64, UNIT_NANO), &(int64_t){86399999999999},
       "\"23:59:59.999999999\"");
  show(t, type_with_unit(&m, TYPE_TIME32, UNIT_SECOND), &(int32_t){86400}, "\"86400\"");
  show(t, type_timestamp(&m, UNIT_MICRO, NULL), &(int64_t){-1}, "\"1969-12-31T23:59:59.999999\"");
  show(t, type_timestamp(&m, UNIT_MILLI, "UTC"), &(int64_t){0}, "\"1970-01-01T00:00:00Z\"");
  show(t, type_timestamp(&m, UNIT_SECOND, "-05:30"), &(int64_t){0},
       "\"1969-12-31T18:30:00-05:30\"");
  show(t, type_timestamp(&m, UNIT_SECOND, "Europe/Paris"), &(int64_t){0},
       "\"1970-01-01T00:00:00Z\"");
  show(t, type_with_unit(&m, TYPE_DURATION, UNIT_MILLI), &(int64_t){-7}, "-7");
  const int64_t decimal[4] = {-5, -1, -1, -1};
  show(t, type_decimal(&m, TYPE_DECIMAL128, 10, 3), decimal, "\"-0.005\"");
  show(t, type_decimal(&m, TYPE_DECIMAL256, 60, 3), decimal, "\"-0.005\"");
  show(t, type_decimal(&m, TYPE_DECIMAL256, 60, -2), decimal, "\"-500\"");
  const uint64_t large[4] = {0, 0, 0, 1}; /* 2^192 */
  show(t, type_decimal(&m, TYPE_DECIMAL256, 76, 0), large,
       "\"6277101735386680763835789423207666416102355444464034512896\"");
  const int32_t interval[4] = {-1, 2, 3, 0};
  show(t, type_simple(TYPE_INTERVAL_MONTH_DAY_NANO), interval,
       "{\"months\":-1,\"days\":2,\"nanoseconds\":3}");
  show(t, type_fixed_size_binary(&m, 2), "\xAB\x01", "\"ab01\"");
  show(t, type_simple(TYPE_UTF8), "a\"b\\\n\x1F", "\"a\\\"b\\\\\\n\\u001f\"");
  arena_dispose(&m);
}

/* What can be read back is the same; floats of 16 bits, dictionaries, intervals cannot. */
static void all_types(void **state) {
  test_env *t = *state;
  arena m;
  arena_init(&m, t->env);
  const field *samples = sample_fields(&m);
  rng r = rng_of(51);
  for (size_t i = 0; i < SAMPLE_TYPES; i++) {
    const type *kind = samples[i].type;
    schema *s;
    batch_reader reader;
    assert_int_equal(schema_new(t->env, &samples[i], 1, (metadata){0}, &s, NULL), GLV_OK);
    batch b = random_batch(t->env, s, 30, 3, &r);
    for (int form = 0; form < 3; form++) {
      buf out;
      buf_init(&out, t->env, 1 << 20);
      assert_int_equal(batch_reader_of(t->env, s, &b, 1, &reader, NULL), GLV_OK);
      uint64_t rows = 30;
      const glv_status status = form == 0 ? csv_write(t->env, &reader, ipc_buf_sink(&out), NULL)
                                : form == 1
                                    ? jsonl_write(t->env, &reader, ipc_buf_sink(&out), NULL)
                                    : table_write(t->env, &reader, ipc_buf_sink(&out), &rows, NULL);
      assert_int_equal(status, GLV_OK);
      assert_int_equal(rows, 30);
      assert_true(str_is_utf8(buf_str(&out)));
      batch_reader_dispose(&reader);
      const bool readable = kind->kind != TYPE_FLOAT16 && kind->kind != TYPE_DECIMAL256 &&
                            kind->kind != TYPE_INTERVAL_MONTH_DAY_NANO &&
                            kind->kind != TYPE_DICTIONARY;
      /* random times are not times of a day, random decimals have too many digits */
      const bool in_range = !type_is_decimal(kind->kind) && !type_is_temporal(kind->kind);
      if (form < 2) {
        reading source = {.text = buf_str(&out), .piece = 100};
        const text_read_options o = {.columns = s};
        batch back;
        glv_error err = {0};
        const glv_status read = reading_all(t->env, form == 0 ? csv_reader_open : jsonl_reader_open,
                                            &source, &o, &back, &err);
        if (!readable) {
          assert_int_equal(read, GLV_E_UNSUPPORTED);
          assert_non_null(strstr(err.message, samples[i].name));
        } else if (in_range) {
          assert_string_equal(err.message, "");
          assert_true(array_equal(&b.columns[0], &back.columns[0]));
        }
        if (read == GLV_OK) {
          batch_dispose(&back);
        }
      }
      buf_dispose(&out);
    }
    batch_dispose(&b);
    schema_unref(s);
  }
  arena_dispose(&m);
}

/* Dates of 4-digit years, times of a day, timestamps around them: all come back, both ways. */
static void temporal(void **state) {
  test_env *t = *state;
  arena m;
  arena_init(&m, t->env);
  static const int64_t per_second[] = {1, 1000, 1000000, 1000000000};
  static const char *const zones[] = {NULL, "UTC", "+05:30", "-11:00", "America/New_York"};
  rng r = rng_of(52);
  for (int round = 0; round < 400; round++) {
    const time_unit unit = (time_unit)rng_below(&r, 4);
    const int64_t scale = per_second[unit];
    const int64_t years = unit == UNIT_NANO ? 200 : 1900; /* around 1970 */
    const int64_t seconds = (int64_t)rng_below(&r, (uint64_t)years * 63000000) - years * 31500000;
    int64_t value = seconds * scale + (int64_t)rng_below(&r, (uint64_t)scale);
    const type *kind = type_timestamp(&m, unit, zones[rng_below(&r, 5)]);
    if (round % 4 == 1) {
      kind = type_with_unit(&m, unit <= UNIT_MILLI ? TYPE_TIME32 : TYPE_TIME64, unit);
      value = (int64_t)rng_below(&r, (uint64_t)(86400 * scale));
    } else if (round % 4 == 2) {
      kind = type_simple(round % 8 == 2 ? TYPE_DATE32 : TYPE_DATE64);
      value = seconds / 86400 * (kind->kind == TYPE_DATE32 ? 1 : 86400000);
    }
    const field column = {.name = "c", .type = kind, .nullable = false};
    schema *s;
    builder b;
    batch data;
    assert_int_equal(schema_new(t->env, &column, 1, (metadata){0}, &s, NULL), GLV_OK);
    assert_int_equal(batch_new(t->env, s, 1, 1, &data, NULL), GLV_OK);
    builder_init(&b, t->env, kind);
    assert_int_equal(builder_append_fixed(&b, &value, NULL), GLV_OK);
    assert_int_equal(builder_finish(&b, &data.columns[0], NULL), GLV_OK);
    for (int form = 0; form < 2; form++) {
      batch_reader reader;
      batch back;
      buf out;
      buf_init(&out, t->env, 1000);
      assert_int_equal(batch_reader_of(t->env, s, &data, 1, &reader, NULL), GLV_OK);
      assert_int_equal(
          (form == 0 ? csv_write : jsonl_write)(t->env, &reader, ipc_buf_sink(&out), NULL), GLV_OK);
      batch_reader_dispose(&reader);
      reading source = {.text = buf_str(&out), .piece = 100};
      const text_read_options o = {.columns = s};
      glv_error err = {0};
      const glv_status status = reading_all(t->env, form == 0 ? csv_reader_open : jsonl_reader_open,
                                            &source, &o, &back, &err);
      assert_string_equal(err.message, "");
      assert_int_equal(status, GLV_OK);
      assert_true(array_equal(&data.columns[0], &back.columns[0]));
      batch_dispose(&back);
      buf_dispose(&out);
    }
    batch_dispose(&data);
    schema_unref(s);
  }
  arena_dispose(&m);
}

static void table_of(test_env *t, const char *json, const char *want) {
  reading r = {.text = str_of(json), .piece = 100};
  batch_reader reader;
  buf out;
  buf_init(&out, t->env, 1 << 20);
  assert_int_equal(jsonl_reader_open(t->env, reading_source(&r), NULL, &reader, NULL), GLV_OK);
  assert_int_equal(table_write(t->env, &reader, ipc_buf_sink(&out), NULL, NULL), GLV_OK);
  assert_string_equal(out.data, want);
  batch_reader_dispose(&reader);
  buf_dispose(&out);
}

static void tables(void **state) {
  test_env *t = *state;
  table_of(t,
           "{\"id\":1,\"name\":\"a\",\"score\":0.5}\n"
           "{\"id\":10,\"name\":\"日本 \\u001b[31m\",\"score\":null}\n",
           " id | name        | score\n"
           "----+-------------+-------\n"
           "  1 | a           |   0.5\n"
           " 10 | 日本 \\e[31m |  NULL\n");
  table_of(t,
           "{\"long\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"}\n"
           "{\"long\":\"x\\ty\"}\n",
           " long\n"
           "--------------------------------------------------------------\n"
           " 01234567890123456789012345678901234567890123456789012345678…\n"
           " x\\ty\n");
}

/* The document of at most so many rows and bytes, of text in JSON Lines. */
static void cells_of(test_env *t, const char *text, uint64_t rows, size_t bytes, const char *want) {
  reading r = {.text = str_of(text), .piece = 1000};
  batch_reader reader;
  buf out;
  uint64_t count = 77;
  buf_init(&out, t->env, 10000);
  assert_int_equal(jsonl_reader_open(t->env, reading_source(&r),
                                     &(text_read_options){.batch_rows = 2}, &reader, NULL),
                   GLV_OK);
  assert_int_equal(cells_write(&reader, rows, bytes, &out, &count, NULL), GLV_OK);
  assert_string_equal(out.data, want);
  assert_true(count <= rows);
  batch_reader_dispose(&reader);
  buf_dispose(&out);
}

#define CELL_COLUMNS                                                                               \
  "{\"columns\":[{\"name\":\"a\\\"\",\"type\":\"int64\"},{\"name\":\"b\",\"type\":\"list<item: "   \
  "string>\"}],\"rows\":["

static void cells(void **state) {
  test_env *t = *state;
  const char *three = "{\"a\\\"\":9007199254740993,\"b\":[\"x\\n\"]}\n"
                      "{\"a\\\"\":null,\"b\":[]}\n"
                      "{\"a\\\"\":-1,\"b\":null}\n";
  const char *all =
      CELL_COLUMNS "[\"9007199254740993\",\"[\\\"x\\\\n\\\"]\"],[null,\"[]\"],[\"-1\",null]]"
                   ",\"more\":false}";
  cells_of(t, three, 100, SIZE_MAX, all);
  cells_of(t, three, 3, SIZE_MAX, all);
  cells_of(t, three, 0, SIZE_MAX, CELL_COLUMNS "],\"more\":true}");
  const char *two =
      CELL_COLUMNS "[\"9007199254740993\",\"[\\\"x\\\\n\\\"]\"],[null,\"[]\"]],\"more\":true}";
  cells_of(t, three, 2, SIZE_MAX, two);
  cells_of(t, three, 100, strlen(two) - strlen("],\"more\":true}"), two);
  cells_of(t, three, 100, strlen(two) - strlen("],\"more\":true}") + 1, all);
}

/* Memory that is missing anywhere. */
static void cells_without_memory(void **state) {
  test_env *t = *state;
  reading r = {.text = STR("{\"a\":1,\"b\":\"text\"}\n{\"a\":2,\"b\":null}\n"), .piece = 1000};
  batch b;
  bool done = false;
  assert_int_equal(reading_all(t->env, jsonl_reader_open, &r, NULL, &b, NULL), GLV_OK);
  for (uint64_t n = 1; !done; n++) {
    batch_reader reader;
    buf out;
    buf_init(&out, t->env, 1000);
    assert_int_equal(batch_reader_of(t->env, b.schema, &b, 1, &reader, NULL), GLV_OK);
    alloc_fault_arm(&t->alloc, n, true);
    const glv_status status = cells_write(&reader, 10, SIZE_MAX, &out, NULL, NULL);
    done = !atomic_load(&t->alloc.fired);
    alloc_fault_arm(&t->alloc, 0, false);
    assert_int_equal(status, done ? GLV_OK : GLV_E_NOMEM);
    batch_reader_dispose(&reader);
    buf_dispose(&out);
  }
  batch_dispose(&b);
}

/* A document that does not fit. */
static void cells_without_room(void **state) {
  test_env *t = *state;
  reading r = {.text = STR("{\"a\":1,\"b\":\"text\"}\n{\"a\":2,\"b\":null}\n"), .piece = 1000};
  batch b;
  glv_error err;
  assert_int_equal(reading_all(t->env, jsonl_reader_open, &r, NULL, &b, NULL), GLV_OK);
  for (size_t room = 0;; room++) {
    batch_reader reader;
    buf out;
    buf_init(&out, t->env, room);
    assert_int_equal(batch_reader_of(t->env, b.schema, &b, 1, &reader, NULL), GLV_OK);
    const glv_status status = cells_write(&reader, 10, SIZE_MAX, &out, NULL, &err);
    batch_reader_dispose(&reader);
    buf_dispose(&out);
    if (status == GLV_OK) {
      assert_true(room > 60);
      break;
    }
    assert_int_equal(status, GLV_E_LIMIT);
  }
  batch_dispose(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(flat_values),
                                     cmocka_unit_test(all_types),
                                     cmocka_unit_test(temporal),
                                     cmocka_unit_test(tables),
                                     cmocka_unit_test(cells),
                                     cmocka_unit_test(cells_without_room),
                                     cmocka_unit_test(cells_without_memory)};
  return cmocka_run_group_tests(tests, reading_setup, reading_teardown);
}
