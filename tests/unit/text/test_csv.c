/* Reading and writing CSV: quoting, types, nulls, errors with their place, any piece size. */
#include "support/cmocka.h"
#include "support/rng.h"
#include "unit/text/reading.h"

static batch read_text(test_env *t, const char *text, const text_read_options *o) {
  return reading_text(t, csv_reader_open, text, 1000, o);
}

static void refuse(test_env *t, const char *text, const text_read_options *o, glv_status want,
                   const char *part) {
  reading_refused(t, csv_reader_open, text, o, want, part);
}

static void found_types(void **state) {
  test_env *t = *state;
  batch b = read_text(t,
                      "b,i,f,d,t,z,s,mixed,none,big,plus,fine\n"
                      "true,1,1.5,2020-02-29,2020-01-01T00:00:00,2020-01-01T00:00:00Z,a,1,,1,+1,"
                      "2020-01-01T00:00:00.1234567\n"
                      "FALSE,-2,2,1999-12-31,2020-01-01 10:20,2020-01-01 00:00:00.5+02:00,b,x,NA,"
                      "9223372036854775808,+2,2020-01-01T00:00:00\n"
                      "NA,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA\n",
                      NULL);
  assert_string_equal(reading_type(&b, "b"), "bool");
  assert_string_equal(reading_type(&b, "i"), "int64");
  assert_string_equal(reading_type(&b, "f"), "double");
  assert_string_equal(reading_type(&b, "d"), "date32[day]");
  assert_string_equal(reading_type(&b, "t"), "timestamp[us]");
  assert_string_equal(reading_type(&b, "z"), "timestamp[us, tz=UTC]");
  assert_string_equal(reading_type(&b, "s"), "string");
  assert_string_equal(reading_type(&b, "mixed"), "string");
  assert_string_equal(reading_type(&b, "none"), "string");
  assert_string_equal(reading_type(&b, "big"), "double");
  assert_string_equal(reading_type(&b, "plus"), "string");
  assert_string_equal(reading_type(&b, "fine"), "string");
  for (size_t i = 0; i < b.column_count; i++) {
    assert_false(array_is_valid(&b.columns[i], 2));
    assert_true(b.schema->fields[i].nullable);
  }
  assert_int_equal(ARRAY_VALUES(reading_column(&b, "d"), int32_t)[0], 18321);
  const int64_t *z = ARRAY_VALUES(reading_column(&b, "z"), int64_t);
  assert_int_equal(z[0], 1577836800000000);
  assert_int_equal(z[1], 1577836800000000 - 7200000000 + 500000);
  batch_dispose(&b);
}

static void late_values_count(void **state) {
  test_env *t = *state;
  buf text;
  buf_init(&text, t->env, 10 << 20);
  assert_int_equal(buf_append_str(&text, STR("a,b\n"), NULL), GLV_OK);
  for (int i = 0; i < 100000; i++) {
    assert_int_equal(buf_append_str(&text, STR("1,2\n"), NULL), GLV_OK);
  }
  assert_int_equal(buf_append_str(&text, STR("x,2.5\n"), NULL), GLV_OK);
  reading r = {.text = buf_str(&text), .piece = 100};
  batch b;
  assert_int_equal(reading_all(t->env, csv_reader_open, &r, NULL, &b, NULL), GLV_OK);
  assert_int_equal(b.length, 100001);
  assert_int_equal(r.opened, 2);
  assert_string_equal(reading_type(&b, "a"), "string");
  assert_string_equal(reading_type(&b, "b"), "double");
  batch_dispose(&b);
  buf_dispose(&text);
}

static void quoting(void **state) {
  test_env *t = *state;
  batch b = read_text(t,
                      "\xEF\xBB\xBF\"a,b\",c\r\n"
                      "\"x \"\"quoted\"\" é\"\"\",\"two\r\nlines\"\r\n"
                      "\"\",\"NA\"\r\n"
                      "\r\n"
                      ",NA\r\n"
                      "5 \" inch,NAN",
                      NULL);
  const array *a = reading_column(&b, "a,b");
  const array *c = reading_column(&b, "c");
  assert_int_equal(b.length, 4);
  assert_true(str_is(array_str(a, 0), "x \"quoted\" é\""));
  assert_true(str_is(array_str(c, 0), "two\r\nlines"));
  assert_true(array_is_valid(a, 1));
  assert_int_equal(array_str(a, 1).size, 0);
  assert_true(str_is(array_str(c, 1), "NA"));
  assert_false(array_is_valid(a, 2));
  assert_false(array_is_valid(c, 2));
  assert_true(str_is(array_str(a, 3), "5 \" inch"));
  assert_true(str_is(array_str(c, 3), "NAN"));
  batch_dispose(&b);
}

static void line_ends(void **state) {
  test_env *t = *state;
  static const char *const texts[] = {"a\n1\n2\n", "a\n1\n2", "a\r\n1\r\n2\r\n", "a\r1\r2",
                                      "\n\na\r1\n2\r\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    batch b = read_text(t, texts[i], NULL);
    const array *a = reading_column(&b, "a");
    assert_int_equal(b.length, 2);
    assert_int_equal(ARRAY_VALUES(a, int64_t)[0], 1);
    assert_int_equal(ARRAY_VALUES(a, int64_t)[1], 2);
    batch_dispose(&b);
  }
  batch b = read_text(t, "a\n1\n\n3\n", NULL); /* one column: a null */
  assert_int_equal(b.length, 3);
  assert_false(array_is_valid(&b.columns[0], 1));
  batch_dispose(&b);
  b = read_text(t, "a,b\n", NULL);
  assert_int_equal(b.length, 0);
  assert_int_equal(b.column_count, 2);
  batch_dispose(&b);
}

static void null_texts(void **state) {
  test_env *t = *state;
  const str nulls[] = {STR("-")};
  const text_read_options o = {.nulls = nulls, .null_count = 1};
  batch b = read_text(t, "a,b\n-,NA\n5,\n", &o);
  assert_string_equal(reading_type(&b, "a"), "int64");
  assert_false(array_is_valid(reading_column(&b, "a"), 0));
  assert_true(array_is_valid(reading_column(&b, "b"), 0));
  assert_true(array_is_valid(reading_column(&b, "b"), 1));
  batch_dispose(&b);
}

static void overrides(void **state) {
  test_env *t = *state;
  arena memory;
  arena_init(&memory, t->env);
  static const char *const names[][2] = {{"zip", "utf8"},
                                         {"v", "fixed_size_list<float>[3]"},
                                         {"at", "timestamp[ms, +02:00]"},
                                         {"d", "decimal128(6, 2)"},
                                         {"x", "binary"},
                                         {"u", "uint64"},
                                         {"f", "float32"},
                                         {"l", "list<item: string>"},
                                         {"t", "time32[ms]"},
                                         {"c", "uint8"}};
  text_type types[10];
  for (size_t i = 0; i < 10; i++) {
    types[i].column = str_of(names[i][0]);
    assert_int_equal(type_parse(&memory, str_of(names[i][1]), &types[i].type, NULL), GLV_OK);
  }
  const text_read_options o = {.types = types, .type_count = 10};
  batch b = read_text(t,
                      "zip,v,at,d,x,u,f,l,t,c,rest\n"
                      "00501,\"[1, 2.5, -3]\",2020-01-01T00:00:00,-12.5,00ff,18446744073709551615,"
                      "0.1,\"[\"\"a\"\",null]\",01:02:03.004,255,7\n"
                      "12345,,2020-01-01T00:00:00Z,1200,,0,1e3,[],23:59,0,8\n",
                      &o);
  assert_true(str_is(array_str(reading_column(&b, "zip"), 0), "00501"));
  const array *v = reading_column(&b, "v");
  assert_true(ARRAY_VALUES(&v->children[0], float)[1] == 2.5f);
  assert_false(array_is_valid(v, 1));
  assert_int_equal(ARRAY_VALUES(reading_column(&b, "at"), int64_t)[0], 1577836800000 - 7200000);
  assert_int_equal(ARRAY_VALUES(reading_column(&b, "at"), int64_t)[1], 1577836800000);
  assert_int_equal(((const int64_t *)reading_column(&b, "d")->values)[0], -1250);
  assert_int_equal(((const int64_t *)reading_column(&b, "d")->values)[2], 120000);
  assert_int_equal(array_str(reading_column(&b, "x"), 0).size, 2);
  assert_true(ARRAY_VALUES(reading_column(&b, "u"), uint64_t)[0] == UINT64_MAX);
  assert_true(ARRAY_VALUES(reading_column(&b, "f"), float)[0] == 0.1f);
  assert_int_equal(reading_column(&b, "l")->children[0].length, 2);
  assert_int_equal(ARRAY_VALUES(reading_column(&b, "t"), int32_t)[0], 3723004);
  assert_int_equal(ARRAY_VALUES(reading_column(&b, "c"), uint8_t)[0], 255);
  assert_string_equal(reading_type(&b, "rest"), "int64");
  batch_dispose(&b);
  refuse(t, "zip\n1\n", &o, GLV_E_COLUMN_NOT_FOUND, "no column 'v'");
  arena_dispose(&memory);
}

static void appending(void **state) {
  test_env *t = *state;
  arena memory;
  arena_init(&memory, t->env);
  const field fields[] = {
      {.name = "id", .type = type_simple(TYPE_INT32), .nullable = false},
      {.name = "name", .type = type_simple(TYPE_LARGE_UTF8), .nullable = true},
      {.name = "at", .type = type_timestamp(&memory, UNIT_SECOND, NULL), .nullable = true}};
  schema *s;
  assert_int_equal(schema_new(t->env, fields, 3, (metadata){0}, &s, NULL), GLV_OK);
  const text_read_options o = {.columns = s};
  reading r = {.text = STR("name,id\nx,1\n,2\n"), .piece = 3};
  batch b;
  assert_int_equal(reading_all(t->env, csv_reader_open, &r, &o, &b, NULL), GLV_OK);
  assert_int_equal(r.opened, 1);
  assert_int_equal(ARRAY_VALUES(&b.columns[0], int32_t)[1], 2);
  assert_false(array_is_valid(&b.columns[1], 1));
  assert_int_equal(array_null_count(&b.columns[2]), 2);
  batch_dispose(&b);
  refuse(t, "id,nme\n1,x\n", &o, GLV_E_COLUMN_NOT_FOUND, "column 'nme'");
  refuse(t, "name\nx\n", &o, GLV_E_COLUMN_NOT_FOUND, "lacks column 'id'");
  refuse(t, "id\n1\nNA\n", &o, GLV_E_INVALID_INPUT, "line 3, column 'id'");
  refuse(t, "id\n1\n2147483648\n", &o, GLV_E_INVALID_INPUT,
         "file 'f.txt' line 3, column 'id': '2147483648' is not of type int32");
  refuse(t, "id,at\n1,2020-01-01T00:00:00Z\n", &o, GLV_E_INVALID_INPUT, "line 2, column 'at'");
  refuse(t, "id,at\n1,2020-01-01T00:00:00.5\n", &o, GLV_E_INVALID_INPUT, "line 2, column 'at'");
  schema_unref(s);
  arena_dispose(&memory);
}

static void bad_texts(void **state) {
  test_env *t = *state;
  refuse(t, "", NULL, GLV_E_INVALID_INPUT, "'f.txt' is empty");
  refuse(t, "\n\n", NULL, GLV_E_INVALID_INPUT, "'f.txt' is empty");
  refuse(t, "a,b\n1,2\n3\n", NULL, GLV_E_INVALID_INPUT, "line 3: 1 fields, the header has 2");
  refuse(t, "a,b\n1,2\n3,4,5\n", NULL, GLV_E_INVALID_INPUT, "line 3: 3 fields");
  refuse(t, "a,a\n", NULL, GLV_E_INVALID_INPUT, "line 1, column 'a': the header names");
  refuse(t, "a,,c\n", NULL, GLV_E_INVALID_INPUT, "column 2 of the header has no name");
  refuse(t, "a,b\n\"x\ny\",1\n\"no end,2\n", NULL, GLV_E_INVALID_INPUT, "line 4: a quoted field");
  refuse(t, "a,b\n\"x\"y,1\n", NULL, GLV_E_INVALID_INPUT, "line 2: a closing quote");
  refuse(t, "a,b\n1,2\nx,\xC3(\n", NULL, GLV_E_INVALID_INPUT,
         "line 3, column 'b': the text is not UTF-8");
  refuse(t, "a\xFF,b\n", NULL, GLV_E_INVALID_INPUT, "line 1: the text is not UTF-8");
}

/* Failures of reading pass through. */
static void failing_source(void **state) {
  test_env *t = *state;
  for (size_t at = 1; at < 12; at++) {
    reading r = {.text = STR("a,b\n1,2\n3,4\n"), .piece = 1, .fail_at = at};
    batch b;
    glv_error err = {0};
    assert_int_equal(reading_all(t->env, csv_reader_open, &r, NULL, &b, &err), GLV_E_IO);
    assert_string_equal(err.message, "the disk is gone");
  }
}

static void any_pieces(void **state) {
  test_env *t = *state;
  static const char text[] =
      "\xEF\xBB\xBFone,\"t\"\"wo\",three\r\n1,\"a\r\nb\",x\r\n\r\n,\"\",NA\r\n"
      "3,\"\"\"\",\xC3\xA9\r4,z,\"\xE6\x97\xA5,\"\n";
  batch want = read_text(t, text, NULL);
  assert_int_equal(want.length, 4);
  for (size_t piece = 1; piece < sizeof text; piece++) {
    for (size_t rows = 1; rows < 4; rows += 2) {
      reading r = {.text = str_of(text), .piece = piece};
      const text_read_options o = {.batch_rows = rows};
      batch b;
      assert_int_equal(reading_all(t->env, csv_reader_open, &r, &o, &b, NULL), GLV_OK);
      assert_int_equal(b.length, 4);
      for (size_t i = 0; i < 3; i++) {
        assert_true(array_equal(&want.columns[i], &b.columns[i]));
      }
      batch_dispose(&b);
    }
  }
  batch_dispose(&want);
}

static struct one_batch {
  const batch *data;
  bool done;
} one;

static glv_status one_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  struct one_batch *o = state;
  (void)err;
  *ret_end = o->done;
  if (!o->done) {
    *ret = batch_ref(o->data);
    o->done = true;
  }
  return GLV_OK;
}

static void written_and_read(void **state) {
  test_env *t = *state;
  rng rnd = rng_of(31);
  static const char *const pieces[] = {"",  "NA",  "a",    ",",    "\"",  "\n", "\r", "é",
                                       " ", "1.5", "true", "\"\"", "x,y", "日", "\\", "'"};
  for (int round = 0; round < 300; round++) {
    buf text;
    buf again;
    buf_init(&text, t->env, 1 << 20);
    buf_init(&again, t->env, 1 << 20);
    assert_int_equal(buf_append_str(&text, STR("a,b\n"), NULL), GLV_OK);
    for (uint64_t row = rng_below(&rnd, 6); row != 0; row--) {
      for (int column = 0; column < 2; column++) {
        const bool is_null = rng_below(&rnd, 4) == 0;
        assert_int_equal(buf_append_str(&text, is_null ? STR("") : STR("\""), NULL), GLV_OK);
        for (uint64_t n = rng_below(&rnd, 4); n != 0 && !is_null; n--) {
          const char *p = pieces[rng_below(&rnd, 16)];
          for (; *p != '\0'; p++) {
            assert_int_equal(buf_append_str(&text, *p == '"' ? STR("\"\"") : str_slice(p, 1), NULL),
                             GLV_OK);
          }
        }
        assert_int_equal(buf_append_str(&text, is_null ? STR("") : STR("\""), NULL), GLV_OK);
        assert_int_equal(buf_append_char(&text, column == 0 ? ',' : '\n', NULL), GLV_OK);
      }
    }
    const text_type types[] = {{STR("a"), type_simple(TYPE_UTF8)},
                               {STR("b"), type_simple(TYPE_UTF8)}};
    const text_read_options o = {.types = types, .type_count = 2};
    reading r = {.text = buf_str(&text), .piece = 7};
    batch b;
    batch back;
    assert_int_equal(reading_all(t->env, csv_reader_open, &r, &o, &b, NULL), GLV_OK);
    one = (struct one_batch){&b, false};
    batch_reader source = {.schema = schema_ref(b.schema), .next = one_next, .state = &one};
    assert_int_equal(csv_write(t->env, &source, ipc_buf_sink(&again), NULL), GLV_OK);
    batch_reader_dispose(&source);
    reading r2 = {.text = buf_str(&again), .piece = 1};
    assert_int_equal(reading_all(t->env, csv_reader_open, &r2, &o, &back, NULL), GLV_OK);
    assert_true(array_equal(&b.columns[0], &back.columns[0]));
    assert_true(array_equal(&b.columns[1], &back.columns[1]));
    batch_dispose(&b);
    batch_dispose(&back);
    buf_dispose(&text);
    buf_dispose(&again);
  }
}

static void out_of_memory(void **state) {
  test_env *t = *state;
  static const char text[] = "a,b,c,d\n1,\"x\"\"y\",2020-01-01,\"[1,2]\"\n,,,\n2,z,2020-01-02,[]\n";
  arena memory;
  arena_init(&memory, t->env);
  text_type types[] = {{STR("d"), NULL}};
  assert_int_equal(type_parse(&memory, STR("list<item: int32>"), &types[0].type, NULL), GLV_OK);
  const text_read_options o = {.types = types, .type_count = 1};
  for (uint64_t n = 1;; n++) {
    reading r = {.text = str_of(text), .piece = 10};
    batch_reader reader = {0};
    buf out;
    buf_init(&out, t->env, 1 << 20);
    alloc_fault_arm(&t->alloc, n, false);
    glv_status status = csv_reader_open(t->env, reading_source(&r), &o, &reader, NULL);
    if (status == GLV_OK) {
      status = csv_write(t->env, &reader, ipc_buf_sink(&out), NULL);
    }
    const bool fired = t->alloc.fired;
    alloc_fault_arm(&t->alloc, 0, false);
    assert_int_equal(status, fired ? GLV_E_NOMEM : GLV_OK);
    batch_reader_dispose(&reader);
    buf_dispose(&out);
    if (!fired) {
      break;
    }
  }
  arena_dispose(&memory);
}

static void long_record(void **state) {
  test_env *t = *state;
  const size_t size = (size_t)LIMIT_RECORD_BYTES + (1 << 20);
  char *text = mem_alloc(t->env, size);
  memset(text, 'x', size);
  memcpy(text, "a\n", 2);
  reading r = {.text = str_slice(text, size), .piece = 1 << 20};
  batch b;
  glv_error err = {0};
  assert_int_equal(reading_all(t->env, csv_reader_open, &r, NULL, &b, &err), GLV_E_LIMIT);
  assert_non_null(strstr(err.message, "line 2"));
  mem_free(t->env, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(found_types),      cmocka_unit_test(late_values_count),
      cmocka_unit_test(quoting),          cmocka_unit_test(line_ends),
      cmocka_unit_test(null_texts),       cmocka_unit_test(overrides),
      cmocka_unit_test(appending),        cmocka_unit_test(bad_texts),
      cmocka_unit_test(failing_source),   cmocka_unit_test(any_pieces),
      cmocka_unit_test(written_and_read), cmocka_unit_test(out_of_memory),
      cmocka_unit_test(long_record),
  };
  return cmocka_run_group_tests(tests, reading_setup, reading_teardown);
}
