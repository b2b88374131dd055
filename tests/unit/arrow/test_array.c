/* Builders, slices, gathering, joining, comparison and validation, over every type. */
#include "arrow/array.h"
#include "arrow/bits.h"
#include "arrow/builder.h"
#include "support/cmocka.h"
#include "support/test_env.h"
#include "unit/arrow/arrays.h"

typedef struct fixture {
  test_env t;
  arena memory;
  const field *fields;
} fixture;

static int setup(void **state) {
  static fixture f;
  test_env_open_mem(&f.t);
  arena_init(&f.memory, f.t.env);
  f.fields = sample_fields(&f.memory);
  *state = &f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  arena_dispose(&f->memory);
  test_env_close(&f->t);
  return 0;
}

/* Row i of a equals row j of b. */
static bool row_equal(const array *a, size_t i, const array *b, size_t j) {
  array x = array_slice(a, i, 1);
  array y = array_slice(b, j, 1);
  assert_non_null(x.type);
  assert_non_null(y.type);
  const bool equal = array_equal(&x, &y);
  array_unref(&x);
  array_unref(&y);
  return equal;
}

static void build(void **state) {
  fixture *f = *state;
  glv_env *env = f->t.env;
  builder b;
  array a;
  builder_init(&b, env, type_simple(TYPE_INT32));
  for (int32_t i = 0; i < 1000; i++) {
    assert_int_equal(
        i % 7 == 3 ? builder_append_null(&b, NULL) : builder_append_fixed(&b, &i, NULL), GLV_OK);
  }
  assert_int_equal(builder_finish(&b, &a, NULL), GLV_OK);
  assert_int_equal(a.length, 1000);
  assert_int_equal(array_null_count(&a), 143);
  for (int32_t i = 0; i < 1000; i++) {
    assert_true(array_is_valid(&a, (size_t)i) == (i % 7 != 3));
    assert_int_equal(ARRAY_VALUES(&a, int32_t)[i], i % 7 == 3 ? 0 : i);
  }
  array_unref(&a);
  builder_init(&b, env, type_simple(TYPE_LARGE_UTF8));
  assert_int_equal(builder_append_str(&b, STR("ab"), NULL), GLV_OK);
  assert_int_equal(builder_append_null(&b, NULL), GLV_OK);
  assert_int_equal(builder_append_str(&b, STR(""), NULL), GLV_OK);
  assert_int_equal(builder_append_str(&b, STR("cde"), NULL), GLV_OK);
  assert_int_equal(builder_finish(&b, &a, NULL), GLV_OK);
  assert_true(str_is(array_str(&a, 0), "ab"));
  assert_false(array_is_valid(&a, 1));
  assert_true(str_is(array_str(&a, 2), ""));
  assert_true(str_is(array_str(&a, 3), "cde"));
  array_unref(&a);
  assert_int_equal(builder_finish(&b, &a, NULL), GLV_OK);
  assert_int_equal(a.length, 0);
  array_unref(&a);
  builder_init(&b, env, type_simple(TYPE_UTF8));
  assert_int_equal(builder_reserve(&b, 1, (size_t)INT32_MAX + 1, NULL), GLV_E_LIMIT);
  builder_dispose(&b);
}

static void slices(void **state) {
  fixture *f = *state;
  rng r = rng_of(2);
  for (size_t i = 0; i < SAMPLE_TYPES; i++) {
    for (unsigned nulls = 0; nulls < 5; nulls += 2) {
      array a = random_array(f->t.env, f->fields[i].type, 50, nulls, &r);
      for (int round = 0; round < 20; round++) {
        const size_t first = (size_t)rng_below(&r, 51);
        const size_t count = (size_t)rng_below(&r, 51 - first);
        array s = array_slice(&a, first, count);
        assert_int_equal(s.length, count);
        size_t null_count = 0;
        for (size_t k = 0; k < count; k++) {
          assert_true(row_equal(&a, first + k, &s, k));
          null_count += !array_is_valid(&s, k);
        }
        assert_int_equal(array_null_count(&s), null_count);
        assert_int_equal(array_has_nulls(&s), null_count != 0);
        array_unref(&s);
      }
      array_unref(&a);
    }
  }
}

static void take_rows(fixture *f, const array *a, rng *r) {
  uint32_t rows[90];
  const size_t count = a->length == 0 ? 0 : (size_t)rng_below(r, 90);
  array taken;
  for (size_t k = 0; k < count; k++) {
    rows[k] = (uint32_t)rng_below(r, a->length);
  }
  assert_int_equal(array_take(f->t.env, a, rows, count, &taken, NULL), GLV_OK);
  assert_int_equal(taken.length, count);
  for (size_t k = 0; k < count; k++) {
    assert_true(row_equal(a, rows[k], &taken, k));
  }
  assert_int_equal(array_validate(&taken, SIZE_MAX, "x", NULL), GLV_OK);
  array_unref(&taken);
}

static void take(void **state) {
  fixture *f = *state;
  rng r = rng_of(3);
  for (size_t i = 0; i < SAMPLE_TYPES; i++) {
    for (unsigned nulls = 0; nulls < 5; nulls += 2) {
      array a = random_array(f->t.env, f->fields[i].type, 60, nulls, &r);
      for (int round = 0; round < 8; round++) {
        const size_t first = (size_t)rng_below(&r, 60);
        array s = array_slice(&a, first, (size_t)rng_below(&r, 61 - first));
        take_rows(f, &s, &r);
        array_unref(&s);
      }
      array_unref(&a);
    }
  }
}

static void concat(void **state) {
  fixture *f = *state;
  rng r = rng_of(4);
  for (size_t i = 0; i < SAMPLE_TYPES; i++) {
    for (int round = 0; round < 12; round++) {
      array parts[4];
      array joined;
      const size_t count = 1 + (size_t)rng_below(&r, 4);
      for (size_t k = 0; k < count; k++) {
        array a = random_array(f->t.env, f->fields[i].type, 40, (unsigned)rng_below(&r, 3), &r);
        const size_t first = (size_t)rng_below(&r, 40);
        parts[k] = array_slice(&a, first, (size_t)rng_below(&r, 41 - first));
        array_unref(&a);
      }
      assert_int_equal(array_concat(f->t.env, parts, count, &joined, NULL), GLV_OK);
      size_t at = 0;
      for (size_t k = 0; k < count; k++) {
        array back = array_slice(&joined, at, parts[k].length);
        assert_true(array_equal(&back, &parts[k]));
        at += parts[k].length;
        array_unref(&back);
        array_unref(&parts[k]);
      }
      assert_int_equal(joined.length, at);
      assert_int_equal(array_validate(&joined, SIZE_MAX, "x", NULL), GLV_OK);
      array_unref(&joined);
    }
  }
}

static void equality(void **state) {
  fixture *f = *state;
  glv_env *env = f->t.env;
  void *x;
  void *y;
  array a;
  array b;
  assert_int_equal(array_new_fixed(env, type_simple(TYPE_FLOAT64), 3, &a, &x, NULL), GLV_OK);
  assert_int_equal(array_new_fixed(env, type_simple(TYPE_FLOAT64), 3, &b, &y, NULL), GLV_OK);
  const uint64_t one[] = {0x7FF8000000000000u, 0, 0x3FF0000000000000u};
  const uint64_t two[] = {0xFFF8000000000001u, 0, 0x3FF0000000000000u};
  memcpy(x, one, sizeof one);
  memcpy(y, two, sizeof two);
  assert_true(array_equal(&a, &b));
  ((uint64_t *)y)[1] = UINT64_C(1) << 63; /* -0.0 */
  assert_false(array_equal(&a, &b));
  array_unref(&a);
  array_unref(&b);
  rng r = rng_of(5);
  for (size_t i = 0; i < SAMPLE_TYPES; i++) {
    array n;
    assert_int_equal(array_new_null(env, f->fields[i].type, 9, &n, NULL), GLV_OK);
    assert_int_equal(array_null_count(&n), 9);
    assert_int_equal(array_validate(&n, SIZE_MAX, "x", NULL), GLV_OK);
    array v = random_array(env, f->fields[i].type, 9, 0, &r);
    assert_true(array_equal(&n, &v) == (f->fields[i].type->kind == TYPE_NULL));
    array shorter = array_slice(&v, 0, 8);
    assert_false(array_equal(&v, &shorter));
    array_unref(&shorter);
    array_unref(&n);
    array_unref(&v);
  }
}

/* A utf8 array of 3 values over given offsets and bytes. */
static array text_of(const int32_t *offsets, const char *data) {
  return (array){.type = type_simple(TYPE_UTF8),
                 .length = 3,
                 .values = offsets,
                 .data = (const uint8_t *)data};
}

static glv_status check(const array *a, size_t size, const char *part) {
  glv_error err = {0};
  const glv_status status = array_validate(a, size, "name", &err);
  if (status != GLV_OK) {
    assert_non_null(strstr(err.message, "'name'"));
    assert_non_null(strstr(err.message, part));
  }
  return status;
}

static void validation(void **state) {
  (void)state;
  const int32_t good[] = {0, 1, 3, 4};
  const int32_t falls[] = {0, 3, 1, 4};
  const int32_t negative[] = {-1, 1, 3, 4};
  const int32_t splits[] = {0, 2, 3, 4};
  array a = text_of(good, "a\xC3\xA9z");
  assert_int_equal(check(&a, 4, ""), GLV_OK);
  assert_int_equal(check(&a, 3, "offset 4 at position 3"), GLV_E_INVALID_INPUT);
  a = text_of(falls, "a\xC3\xA9z");
  assert_int_equal(check(&a, 4, "offset 1 at position 2"), GLV_E_INVALID_INPUT);
  a = text_of(negative, "a\xC3\xA9z");
  assert_int_equal(check(&a, 4, "offset -1 at position 0"), GLV_E_INVALID_INPUT);
  a = text_of(splits, "a\xC3\xA9z");
  assert_int_equal(check(&a, 4, "value 0 is not UTF-8"), GLV_E_INVALID_INPUT);
  a = text_of(good, "\xFFzzz");
  assert_int_equal(check(&a, 4, "value 0 is not UTF-8"), GLV_E_INVALID_INPUT);
  const uint8_t valid = 6; /* value 0 is null: what stands there does not matter */
  a.validity = &valid;
  a.null_count = 1;
  assert_int_equal(check(&a, 4, ""), GLV_OK);
  a.type = type_simple(TYPE_BINARY);
  a.validity = NULL;
  assert_int_equal(check(&a, 4, ""), GLV_OK);
}

static void dictionary_range(void **state) {
  fixture *f = *state;
  rng r = rng_of(6);
  array a = random_array(f->t.env, f->fields[31].type, 8, 0, &r);
  a.owners[1]->data[5] = 0xFF; /* -1 */
  assert_int_equal(check(&a, SIZE_MAX, "index at position 5"), GLV_E_INVALID_INPUT);
  a.owners[1]->data[5] = 7;
  assert_int_equal(check(&a, SIZE_MAX, "index at position 5"), GLV_E_INVALID_INPUT);
  a.owners[1]->data[5] = 6;
  assert_int_equal(check(&a, SIZE_MAX, ""), GLV_OK);
  /* 20 different dictionaries of 7 values do not fit into int8 */
  array parts[20];
  array joined;
  for (size_t i = 0; i < 20; i++) {
    parts[i] = random_array(f->t.env, f->fields[31].type, 8, 0, &r);
  }
  assert_int_equal(array_concat(f->t.env, parts, 20, &joined, NULL), GLV_E_LIMIT);
  for (size_t i = 0; i < 20; i++) {
    array_unref(&parts[i]);
  }
  array_unref(&a);
}

static void batches(void **state) {
  fixture *f = *state;
  rng r = rng_of(7);
  schema *s;
  glv_status status;
  assert_int_equal(schema_new(f->t.env, f->fields, SAMPLE_TYPES, (metadata){0}, &s, NULL), GLV_OK);
  batch b = random_batch(f->t.env, s, 30, 3, &r);
  schema_unref(s);
  array_unref(&b.columns[4]); /* absent */
  batch c = batch_ref(&b);
  batch part = batch_slice(f->t.env, &b, 10, 7, NULL, &status);
  assert_int_equal(status, GLV_OK);
  batch_dispose(&b);
  assert_null(part.columns[4].type);
  for (size_t k = 0; k < 7; k++) {
    assert_true(row_equal(&c.columns[16], 10 + k, &part.columns[16], k));
  }
  batch_dispose(&c);
  batch_dispose(&part);
}

/* Every allocation of these calls fails once. */
static void out_of_memory(void **state) {
  fixture *f = *state;
  rng r = rng_of(8);
  const uint32_t rows[] = {3, 1, 1, 7};
  for (size_t i = 0; i < SAMPLE_TYPES; i++) {
    array a = random_array(f->t.env, f->fields[i].type, 10, 3, &r);
    array part = array_slice(&a, 2, 5);
    const array both[] = {a, part};
    for (uint64_t n = 1;; n++) {
      array taken = {0};
      array joined = {0};
      array sliced;
      alloc_fault_arm(&f->t.alloc, n, false);
      const glv_status x = array_take(f->t.env, &a, rows, 4, &taken, NULL);
      const glv_status y = array_concat(f->t.env, both, 2, &joined, NULL);
      sliced = array_slice(&a, 1, 4);
      const bool fired = f->t.alloc.fired;
      alloc_fault_arm(&f->t.alloc, 0, false);
      if (!fired) {
        assert_int_equal(x, GLV_OK);
        assert_int_equal(y, GLV_OK);
      } else {
        assert_true(x == GLV_E_NOMEM || y == GLV_E_NOMEM || sliced.type == NULL);
      }
      array_unref(&taken);
      array_unref(&joined);
      array_unref(&sliced);
      if (!fired) {
        break;
      }
    }
    array_unref(&part);
    array_unref(&a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(build),
      cmocka_unit_test(slices),
      cmocka_unit_test(take),
      cmocka_unit_test(concat),
      cmocka_unit_test(equality),
      cmocka_unit_test(validation),
      cmocka_unit_test(dictionary_range),
      cmocka_unit_test(batches),
      cmocka_unit_test(out_of_memory),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
