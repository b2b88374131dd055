/* Roaring bitmaps: the portable bytes, hostile bytes, set operations against a plain array. */
#include <stdio.h>

#include "base/bitmap.h"
#include "base/checked.h"
#include "support/cmocka.h"
#include "support/rng.h"
#include "support/test_env.h"

static test_env t;

static int open_env(void **state) {
  (void)state;
  test_env_open_mem(&t);
  return 0;
}

static int close_env(void **state) {
  (void)state;
  test_env_close(&t);
  return 0;
}

/* Bytes of hex digits; spaces are skipped. */
static size_t unhex(const char *text, uint8_t *out) {
  size_t size = 0;
  for (; *text != '\0'; text++) {
    if (*text != ' ') {
      unsigned byte;
      assert_int_equal(sscanf(text, "%2x", &byte), 1);
      out[size++] = (uint8_t)byte;
      text++;
    }
  }
  return size;
}

static void check_corrupt(const char *hex) {
  uint8_t bytes[256];
  const size_t size = unhex(hex, bytes);
  bitmap *b = NULL;
  glv_error err = {0};
  assert_int_equal(bitmap_read(bytes, size, &b, &err), GLV_E_CORRUPT);
  assert_null(b);
  assert_non_null(strstr(err.message, "Roaring"));
}

static void reads_the_portable_form(void **state) {
  (void)state;
  uint8_t bytes[64];
  const size_t size = unhex("3a300000 01000000 0000 0100 10000000 0300 0500", bytes);
  bitmap *b;
  glv_error err;
  assert_int_equal(bitmap_read(bytes, size, &b, &err), GLV_OK);
  assert_int_equal(bitmap_count(b), 2);
  assert_true(bitmap_contains(b, 3) && bitmap_contains(b, 5) && !bitmap_contains(b, 4));
  assert_int_equal(bitmap_max(b), 5);
  bitmap_free(b);
  bitmap_free(NULL);
}

static void refuses_malformed(void **state) {
  (void)state;
  check_corrupt("3a300000 01000000 0000 0100 10000000 0500 0300"); /* out of order */
  check_corrupt("3a300000 01000000 0000 0100 10000000 0300 0300"); /* repeated */
  check_corrupt("3a300000 01000000 0000 0100 10000000 0300");      /* cut */
  check_corrupt("3a300000 01000000 0000 0100 10000000 0300 0500 0000");
  check_corrupt(
      "3a300000 02000000 0100 0000 0000 0000 18000000 1a000000 0100 0100"); /* keys 1, 0 */
  check_corrupt(
      "3a300000 02000000 0000 0000 0000 0000 18000000 1a000000 0100 0100"); /* keys 0, 0 */
  check_corrupt("3a300000 ffffffff");
  check_corrupt("3a300000");
  check_corrupt("ffffffff");
  check_corrupt("");
}

static void every_cut_and_every_flip_is_survived(void **state) {
  (void)state;
  bitmap *b = bitmap_new();
  bitmap_add_range(b, 70000, 140000);
  for (uint32_t i = 0; i < 500; i++) {
    bitmap_add(b, i * 3);
  }
  buf out;
  buf_init(&out, t.env, 1 << 20);
  glv_error err;
  assert_int_equal(bitmap_write(b, true, &out, &err), GLV_OK);
  bitmap_free(b);
  for (size_t cut = 0; cut < out.size; cut++) {
    char *exact = mem_alloc(t.env, cut); /* its own block, so that over-reads are seen */
    memcpy(exact, out.data, cut);
    bitmap *read = NULL;
    assert_int_equal(bitmap_read(exact, cut, &read, &err), GLV_E_CORRUPT);
    mem_free(t.env, exact);
  }
  for (size_t i = 0; i < out.size * 8; i++) {
    char *copy = mem_alloc(t.env, out.size);
    memcpy(copy, out.data, out.size);
    copy[i / 8] = (char)(copy[i / 8] ^ (1 << (i % 8)));
    bitmap *read = NULL;
    if (bitmap_read(copy, out.size, &read, &err) == GLV_OK) {
      bitmap_free(read);
    }
    mem_free(t.env, copy);
  }
  buf_dispose(&out);
}

static void writes_the_portable_form(void **state) {
  (void)state;
  bitmap *b = bitmap_new();
  const uint32_t values[] = {1, 2, 3, 100000};
  bitmap_add_many(b, values, 4);
  buf out;
  buf_init(&out, t.env, 1000);
  glv_error err;
  assert_int_equal(bitmap_write(b, false, &out, &err), GLV_OK);
  uint8_t expected[64];
  const size_t size = unhex(
      "3a300000 02000000 0000 0200 0100 0000 18000000 1e000000 0100 0200 0300 a086", expected);
  assert_int_equal(out.size, size);
  assert_memory_equal(out.data, expected, size);
  buf_dispose(&out);
  bitmap_free(b);
}

static void against_an_array(void **state) {
  (void)state;
  enum { END = 200000 };
  static bool a_in[END];
  static bool b_in[END];
  rng r = rng_of(5);
  bitmap *a = bitmap_new();
  bitmap *b = bitmap_new();
  for (int i = 0; i < 20000; i++) {
    const uint32_t v = (uint32_t)rng_below(&r, END);
    const uint32_t w = (uint32_t)rng_below(&r, END);
    a_in[v] = b_in[w] = true;
    bitmap_add(a, v);
    bitmap_add(b, w);
  }
  bitmap *sets[4] = {bitmap_copy(a), bitmap_copy(a), bitmap_copy(a), bitmap_copy(a)};
  assert_true(bitmap_equal(sets[0], a));
  assert_false(bitmap_equal(a, b));
  bitmap_or(sets[1], b);
  bitmap_and(sets[2], b);
  bitmap_andnot(sets[3], b);
  static uint32_t values[END];
  for (int s = 0; s < 4; s++) {
    uint64_t count = 0;
    for (uint32_t v = 0; v < END; v++) {
      const bool in = s == 0   ? a_in[v]
                      : s == 1 ? a_in[v] || b_in[v]
                      : s == 2 ? a_in[v] && b_in[v]
                               : a_in[v] && !b_in[v];
      assert_int_equal(bitmap_contains(sets[s], v), in);
      if (in) {
        values[count++] = v;
      }
    }
    assert_int_equal(bitmap_count(sets[s]), count);
    static uint32_t got[END];
    assert_int_equal(bitmap_values(sets[s], 0, UINT64_C(1) << 32, got, END), count);
    assert_memory_equal(got, values, count * sizeof *got);
    const size_t some = bitmap_values(sets[s], values[10], values[20], got, END);
    assert_int_equal(some, 10);
    assert_memory_equal(got, values + 10, 10 * sizeof *got);
    assert_int_equal(bitmap_values(sets[s], values[10], values[20], got, 4), 4);
    assert_int_equal(bitmap_count_range(sets[s], values[10], values[20]), 10);
    bitmap_free(sets[s]);
  }
  bitmap_free(a);
  bitmap_free(b);
}

static void the_ends_of_the_range(void **state) {
  (void)state;
  bitmap *b = bitmap_new();
  bitmap_add_range(b, UINT64_C(0xFFFFFFFE), UINT64_C(0x100000000));
  assert_int_equal(bitmap_count(b), 2);
  assert_true(bitmap_contains(b, UINT32_MAX));
  assert_true(bitmap_max(b) == UINT32_MAX);
  uint32_t got[4];
  assert_int_equal(bitmap_values(b, UINT64_C(0xFFFFFFFF), UINT64_C(0x100000000), got, 4), 1);
  assert_int_equal(bitmap_values(b, UINT64_C(0x100000000), UINT64_MAX, got, 4), 0);
  bitmap_add_range(b, 7, 7);
  assert_int_equal(bitmap_count(b), 2);
  bitmap_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_the_portable_form),
      cmocka_unit_test(refuses_malformed),
      cmocka_unit_test(every_cut_and_every_flip_is_survived),
      cmocka_unit_test(writes_the_portable_form),
      cmocka_unit_test(against_an_array),
      cmocka_unit_test(the_ends_of_the_range),
  };
  return cmocka_run_group_tests(tests, open_env, close_env);
}
