/* JSON in binary form: text to it and back, paths, the functions, and bytes that nobody wrote. */
#include "base/encoding.h"
#include "expr/json_path.h"
#include "expr/jsonb.h"
#include "support/rng.h"
#include "unit/expr/sql_text.h"

static test_env t;
static buf bytes; /* of the last document */
static buf text;  /* printed last */

static int open_env(void **state) {
  (void)state;
  test_env_open_mem(&t);
  buf_init(&bytes, t.env, 1 << 20);
  buf_init(&text, t.env, 1 << 20);
  return 0;
}

static int close_env(void **state) {
  (void)state;
  buf_dispose(&bytes);
  buf_dispose(&text);
  test_env_close(&t);
  return 0;
}

/* The document of a text, in `bytes`. */
static jsonb document(const char *json) {
  glv_error err;
  jsonb v;
  buf_clear(&bytes);
  if (jsonb_parse(t.env, str_of(json), &bytes, &err) != GLV_OK) {
    fail_msg("%s: %s", json, err.message);
  }
  assert_true(jsonb_open(buf_str(&bytes), &v));
  return v;
}

static const char *printed(const jsonb *v) {
  buf_clear(&text);
  assert_int_equal(jsonb_print(v, &text, NULL), GLV_OK);
  return text.data;
}

/* ---- text ---- */

static const char *const TEXTS[][2] = {
    {"{\"b\": 1, \"a\": [1, 2.5, \"x\"]}", "{\"a\":[1,2.5,\"x\"],\"b\":1}"},
    {" null ", "null"},
    {"", "null"},
    {"TRUE", "true"},
    {"fAlse", "false"},
    {"[]", "[]"},
    {"{}", "{}"},
    {"[,1,,]", "[null,1,null,null]"},
    {"{'a': 'it', b_1$: 2, \xc3\xa9: 3}", "{\"a\":\"it\",\"b_1$\":2,\"\xc3\xa9\":3}"},
    {"\"\\u00e9\\ud83d\\ude00\\n\\u0001\\\"\\\\\\/\"",
     "\"\xc3\xa9\xf0\x9f\x98\x80\\n\\u0001\\\"\\\\/\""},
    {"\"\\ud800 \\u{0041}\"", "\"\\\\ud800 A\""},
    {"+7", "7"},
    {"007", "7"},
    {"-0", "0"},
    {".5", "0.5"},
    {"5.", "5"},
    {"1e3", "1000.0"},
    {"1e20", "1e+20"},
    {"1e-7", "1e-7"},
    {"0x1F", "31"},
    {"-0xff", "-255"},
    {"0x1F.8", "31.5"},
    {"18446744073709551615", "18446744073709551615"},
    {"18446744073709551616", "1.8446744073709552e+19"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"[NaN, -Infinity]", "[null,null]"},
};

static void test_texts(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
    const jsonb v = document(TEXTS[i][0]);
    assert_string_equal(printed(&v), TEXTS[i][1]);
  }
}

static void test_bad_texts(void **state) {
  static const char *const texts[] = {"{",     "[1",   "{\"a\"}",   "{\"a\" 1}", "{1: 2}",
                                      "[1] 2", "tru",  "1.2.3",     "1e",        ".",
                                      "-",     "-nan", "0x",        "\"\\x\"",   "\"\\u12\"",
                                      "\"a",   "{,}",  "{a:1,a:2}", "@",         "\"\\u{12345}\""};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    glv_error err;
    buf_clear(&bytes);
    assert_int_equal(jsonb_parse(t.env, str_of(texts[i]), &bytes, &err), GLV_E_INVALID_INPUT);
  }
  char deep[2000];
  memset(deep, '[', sizeof deep);
  assert_int_equal(jsonb_parse(t.env, str_slice(deep, sizeof deep), &bytes, NULL),
                   GLV_E_INVALID_INPUT);
}

/* The bytes are LanceDB's. */
static void test_bytes(void **state) {
  static const char *const documents[][2] = {
      {"12", "2000000020000002500c"},
      {"null", "2000000000000000"},
      {"true", "2000000040000000"},
      {"\"str\"", "2000000010000003737472"},
      {"[1.5, 300, -1, \"x\"]",
       "8000000420000009200000032000000210000001603ff800000000000050012c40ff78"},
      {"{\"b\": 0, \"a\": {}}", "400000021000000110000001500000042000000161624000000000"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
    char hex[128];
    (void)document(documents[i][0]);
    hex_encode(bytes.data, bytes.size, hex);
    assert_int_equal(2 * bytes.size, strlen(documents[i][1]));
    assert_memory_equal(hex, documents[i][1], 2 * bytes.size);
  }
}

/* ---- paths ---- */

/* What a path finds, one after another with spaces between them; NULL when it is no path. */
static const char *found(const char *json, const char *path) {
  json_path *p = NULL;
  json_matches m;
  (void)document(json);
  if (json_path_new(t.env, str_of(path), &p, NULL) != GLV_OK) {
    return NULL;
  }
  json_matches_init(&m, t.env);
  assert_int_equal(json_path_select(p, buf_str(&bytes), &m, NULL), GLV_OK);
  buf_clear(&text);
  assert_int_equal(buf_append(&text, "", 0, NULL), GLV_OK);
  for (size_t i = 0; i < m.count; i++) {
    assert_int_equal(i > 0 ? buf_append_char(&text, ' ', NULL) : GLV_OK, GLV_OK);
    assert_int_equal(jsonb_print(&m.items[i], &text, NULL), GLV_OK);
  }
  json_matches_dispose(&m);
  json_path_free(p);
  return text.data;
}

static const char BOOKS[] = "{\"b\":[{\"p\":5,\"t\":\"A\"},{\"p\":15,\"t\":\"B\"},{\"p\":25}],"
                            "\"x y\":2,\"n\":null,\"a\":[1,[2,3]]}";

static const char *const PATHS[][2] = {
    {"$.n", "null"},
    {"n", "null"},
    {"$.nope", ""},
    {"$.\"x y\"", "2"},
    {"$[\"x y\"]", "2"},
    {"$:a[0]", "1"},
    {"$.a[*]", "1 [2,3]"},
    {"$.a[1][last]", "3"},
    {"$.a[last - 1]", "1"},
    {"$.a[0 to last, 0]", "1 [2,3] 1"},
    {"$.a[1 to 0]", ""},
    {"$.a[7]", ""},
    {"$.a[-1]", ""},
    {"$.a.*", ""},
    {"$.x[*]", ""},
    {"$.n[*]", "null"},
    {"$.a.**", "[1,[2,3]] 1 [2,3] 2 3"},
    {"$.a.**{2}", "2 3"},
    {"$.a.**{1 to last}", "1 [2,3] 2 3"},
    {"$.b[*].p", "5 15 25"},
    {"$.b[*]?(@.p > 7).p", "15 25"},
    {"$.b[*]?(@.p > 7)", "{\"p\":15,\"t\":\"B\"} {\"p\":25}"},
    {"$.b[*] ? (@.p >= 15 && @.t == \"B\")", "{\"p\":15,\"t\":\"B\"}"},
    {"$.b[*]?(@.t starts with \"A\" || @.p == 25)", "{\"p\":5,\"t\":\"A\"} {\"p\":25}"},
    {"$.b[*]?(exists(@.t)).t", "\"A\" \"B\""},
    {"$.b[*].t?(@ != \"A\")", "\"B\""},
    {"$.b[*].p > 20", "true"},
    {"$.b[*].p > 30", "false"},
    {"$.b[*].t > 30", "null"},
    {"exists($.b[*]?(@.p == 5))", "true"},
    {"($.n == null) && ($.a[0] < 1.5)", "true"},
    {"$.n?(@ == null)", "null"},
    {"$..a", NULL},
    {"$.a b", NULL},
    {"$[", NULL},
    {"$.b[*].p + 1", NULL},
    {"@.a", NULL},
};

static void test_paths(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
    const char *result = found(BOOKS, PATHS[i][0]);
    if (PATHS[i][1] == NULL) {
      assert_null(result);
    } else {
      assert_non_null(result);
      assert_string_equal(result, PATHS[i][1]);
    }
  }
}

/* Steps that look at everything below multiply; conditions nest and chain. */
static void test_runaway_paths(void **state) {
  (void)state;
  char json[4096];
  size_t size = 0;
  for (size_t i = 0; i < 200; i++) {
    json[size++] = '[';
  }
  memset(json + size, ']', 200);
  json[size + 200] = '\0';
  (void)document(json);
  json_path *p = NULL;
  json_matches m;
  json_matches_init(&m, t.env);
  glv_error err;
  assert_int_equal(json_path_new(t.env, STR("$.**.**.**.**.**.**"), &p, &err), GLV_OK);
  assert_int_equal(json_path_select(p, buf_str(&bytes), &m, &err), GLV_E_SQL_EXEC);
  assert_non_null(strstr(err.message, "looks at more than"));
  json_matches_dispose(&m);
  json_path_free(p);
  memset(json, '(', sizeof json);
  assert_int_equal(json_path_new(t.env, str_slice(json, sizeof json), &p, &err), GLV_E_SQL_EXEC);
  size = 0;
  while (size + 8 < sizeof json) {
    memcpy(json + size, "1==1&&", 6);
    size += 6;
  }
  assert_int_equal(json_path_new(t.env, str_slice(json, size), &p, &err), GLV_E_SQL_EXEC);
}

/* ---- functions ---- */

/* {"a": 1, "s": "42", "t": true, "n": null} and [10, "x"] in LargeBinary. */
#define OBJECT                                                                                     \
  "arrow_cast(x'400000041000000110000001100000011000000120000002000000001000000240000000"          \
  "616e7374500134"                                                                                 \
  "32', 'LargeBinary')"
#define ARRAY                                                                                      \
  "arrow_cast(x'80000002200000021000000"                                                           \
  "1500a78', 'LargeBinary')"

static const struct sql_case CASES[] = {
    {"json_get_int(" OBJECT ", 'a')", "1"},
    {"json_get_int(" OBJECT ", 's')", "42"},
    {"json_get_int(" OBJECT ", 't')", "1"},
    {"json_get_int(" OBJECT ", 'n')", "NULL"},
    {"json_get_int(" OBJECT ", 'zz')", "NULL"},
    {"json_get_float(" OBJECT ", 's')", "42.0"},
    {"json_get_string(" OBJECT ", 'a')", "1"},
    {"json_get_string(" OBJECT ", 't')", "true"},
    {"json_get_bool(" OBJECT ", 't')", "true"},
    {"json_extract(" OBJECT ", '$.s')", "\"42\""},
    {"json_extract(" OBJECT ", '$')", "{\"a\":1,\"n\":null,\"s\":\"42\",\"t\":true}"},
    {"json_extract(" ARRAY ", '$[*]')", "[10,\"x\"]"},
    {"json_extract(" ARRAY ", NULL)", "NULL"},
    {"encode(json_get(" ARRAY ", '1'), 'hex')", "200000001000000178"},
    {"json_exists(" OBJECT ", '$.n')", "true"},
    {"json_exists(" OBJECT ", '$.nn')", "false"},
    {"json_array_length(" ARRAY ", '$')", "2"},
    {"json_array_length(" OBJECT ", '$.a')", "0"},
    {"json_array_length(" OBJECT ", '$.q')", "NULL"},
    {"json_array_contains(" ARRAY ", '$', '10')", "true"},
    {"json_array_contains(" ARRAY ", '$', 'x')", "true"},
    {"json_array_contains(" ARRAY ", '$', 'y')", "false"},
    {"json_get(arrow_cast(x'616263', 'LargeBinary'), 'a') IS NULL", "true"},
};

static const struct sql_failure FAILURES[] = {
    {"json_get_bool(" OBJECT ", 'a')", GLV_E_SQL_EXEC},
    {"json_get_int(" ARRAY ", '1')", GLV_E_SQL_EXEC},
    {"json_extract(" OBJECT ", '$..')", GLV_E_SQL_EXEC},
    {"json_extract(arrow_cast(x'616263', 'LargeBinary'), '$')", GLV_E_SQL_EXEC},
    {"json_get(x'80000000', 'a')", GLV_E_SQL_PLAN},
};

static void test_functions(void **state) {
  (void)state;
  assert_sql_cases(CASES);
  assert_sql_failures(FAILURES);
}

/* Literals are planned at the outer level of an expression only. */
static void test_literals(void **state) {
  static const struct sql_failure literals[] = {
      {"x'2000000020000002500c' = JSONB '12'", GLV_OK},
      {"CAST('[]' AS JSONB) = TRY_CAST('{}' AS JSONB)", GLV_OK},
      {"JSONB 'nope' = x''", GLV_E_SQL_PLAN},
      {"CAST(x AS JSONB) = x''", GLV_E_SQL_PLAN},
      {"coalesce(JSONB '1', NULL)", GLV_E_SQL_PLAN},
  };
  (void)state;
  sql_text s;
  sql_text_open(&s);
  const expr_scope scope = {s.schema, SIZE_MAX};
  for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
    CLEANUP(expr_cleanup) expr *e = NULL;
    CLEANUP(array_unref) array value = {0};
    const selection all = {NULL, s.rows.length};
    assert_int_equal(expr_plan_value(s.t.env, str_of(literals[i].sql), &scope, 0, &e, NULL),
                     literals[i].status);
    if (e != NULL) {
      assert_int_equal(expr_eval(e, &s.rows, all, &value, NULL), GLV_OK);
      assert_int_equal(array_bool(&value, 0), i == 0);
    }
  }
  sql_text_close(&s);
}

/* ---- bytes that nobody wrote ---- */

/* Everything is tried on a document; only its outcome is undefined. */
static void read_all(str data) {
  jsonb v;
  json_path *p = NULL;
  json_matches m;
  if (!jsonb_open(data, &v)) {
    return;
  }
  buf_clear(&text);
  (void)jsonb_print(&v, &text, NULL);
  json_matches_init(&m, t.env);
  assert_int_equal(json_path_new(t.env, STR("$.**?(@.a == 1 || @ > 2)"), &p, NULL), GLV_OK);
  (void)json_path_select(p, data, &m, NULL);
  json_matches_dispose(&m);
  json_path_free(p);
}

static void test_damaged(void **state) {
  (void)state;
  rng r = {7};
  char copy[512];
  for (size_t round = 0; round < 20000; round++) {
    (void)document(round % 2 == 0 ? BOOKS : "[1.5, -300, {\"k\": [true, null, \"\\u00e9\"]}]");
    const size_t size = round % 3 == 0 ? rng_below(&r, bytes.size + 1) : bytes.size;
    memcpy(copy, bytes.data, bytes.size);
    for (size_t n = rng_below(&r, 4); n > 0 && size > 0; n--) {
      copy[rng_below(&r, size)] = (char)rng_next(&r);
    }
    read_all(str_slice(copy, size));
  }
}

static void test_out_of_memory(void **state) {
  static const char *const rows[] = {"$.a", NULL, "$.**?(@ == 1)"};
  static const char *const texts[] = {
      "json_extract(" OBJECT ", x)",
      "json_get_string(" OBJECT ", 's') || json_extract(" OBJECT ", '$.**[0]?(exists(@.a))')",
  };
  (void)state;
  assert_sql_starves(rows, texts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_texts, open_env, close_env),
      cmocka_unit_test_setup_teardown(test_bad_texts, open_env, close_env),
      cmocka_unit_test_setup_teardown(test_bytes, open_env, close_env),
      cmocka_unit_test_setup_teardown(test_paths, open_env, close_env),
      cmocka_unit_test_setup_teardown(test_runaway_paths, open_env, close_env),
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_literals),
      cmocka_unit_test_setup_teardown(test_damaged, open_env, close_env),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
