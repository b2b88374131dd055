/*
 * FSST: what is coded with a trained table decodes to the same text, whatever the text is, and
 * pages of text are coded when that makes them smaller.
 */
#include "format/fsst_private.h"
#include "write_support.h"

static test_env env;

static int open_env(void **state) {
  (void)state;
  test_env_open_mem(&env);
  return 0;
}

static int close_env(void **state) {
  (void)state;
  test_env_close(&env);
  return 0;
}

/* Codes every value with a table made from all of them, decodes it with the stored table.
 * @return coded bytes. */
static size_t round_trip(const str *values, size_t count) {
  fsst_coder *c;
  uint64_t estimate;
  ASSERT_OK(fsst_train(env.env, values, count, &c, &estimate, &err));
  uint8_t stored[FSST_TABLE_BYTES];
  fsst_store(c, stored);
  fsst_table t;
  ASSERT_OK(fsst_table_read((span){stored, sizeof stored}, &t, &err));
  size_t total = 0;
  for (size_t i = 0; i < count; i++) {
    static uint8_t coded[2 * FSST_SAMPLE_BYTES];
    static uint8_t decoded[FSST_SYMBOL_BYTES * 2 * FSST_SAMPLE_BYTES + FSST_SYMBOL_BYTES];
    const char *end = values[i].data + values[i].size;
    const size_t size = fsst_encode(c, values[i], end, coded);
    size_t decoded_size;
    ASSERT_OK(fsst_decode(&t, (span){coded, size}, decoded, &decoded_size, &err));
    assert_true(str_equal(str_slice((char *)decoded, decoded_size), values[i]));
    total += size;
  }
  assert_int_equal(total, estimate);
  mem_free(env.env, c);
  return total;
}

static void texts(void **state) {
  (void)state;
  static const char *const lines[] = {"the quick brown fox",
                                      "the lazy dog",
                                      "",
                                      "t",
                                      "jumps over the quick dog and the quick fox",
                                      "th"};
  str values[6];
  size_t bytes = 0;
  for (size_t i = 0; i < 6; i++) {
    values[i] = str_of(lines[i]);
    bytes += values[i].size;
  }
  assert_true(round_trip(values, 6) < bytes);
  assert_int_equal(round_trip(values, 0), 0);
  assert_int_equal(round_trip(&values[2], 1), 0);
}

/* Bytes of all kinds, zeros among them: few symbols fit, nothing is lost. */
static void random_bytes(void **state) {
  (void)state;
  static char bytes[FSST_SAMPLE_BYTES];
  str values[300];
  for (uint64_t seed = 0; seed < 20; seed++) {
    rng r = rng_of(seed);
    const uint64_t alphabet = seed % 4 == 0 ? 256 : 1 + rng_below(&r, 30);
    for (size_t i = 0; i < sizeof bytes; i++) {
      bytes[i] = (char)rng_below(&r, alphabet);
    }
    size_t at = 0;
    size_t count = 0;
    while (count < 300 && at < sizeof bytes) {
      const size_t size = size_min((size_t)rng_below(&r, 120), sizeof bytes - at);
      values[count++] = str_slice(bytes + at, size);
      at += size;
    }
    (void)round_trip(values, count);
  }
}

static bool is_coded(const layout_message *m) {
  const encoding_message *e =
      m->mini_block != NULL ? m->mini_block->value_compression : m->full_zip->value_compression;
  return e->compression_case == LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FSST;
}

/* Text of 32 KiB and more is coded unless the metadata says otherwise; bytes only when it asks. */
static void choice(void **state) {
  (void)state;
  static const struct {
    type_kind kind;
    const char *compression;
    size_t rows;
    bool is_coded;
  } cases[] = {{TYPE_UTF8, "", 3000, true},     {TYPE_LARGE_UTF8, "", 3000, true},
               {TYPE_UTF8, "", 500, false},     {TYPE_UTF8, "none", 3000, false},
               {TYPE_BINARY, "", 3000, false},  {TYPE_BINARY, "fsst", 3000, true},
               {TYPE_UTF8, "zstd", 3000, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const pair hint = {STR("lance-encoding:compression"), str_of(cases[i].compression)};
    field f = field_of(type_simple(cases[i].kind));
    f.metadata = (metadata){&hint, 1};
    uint64_t numbers[3000];
    for (size_t k = 0; k < cases[i].rows; k++) {
      numbers[k] = k;
    }
    CLEANUP(array_unref)
    array a = column_of_numbers(env.env, f.type, "some words in a line ", numbers, cases[i].rows);
    page_output o;
    const layout_message *m = encode_page(env.env, &f, &a, 1, &o);
    assert_int_equal(is_coded(m), cases[i].is_coded);
    page_output_dispose(&o);
  }
}

static void files(void **state) {
  (void)state;
  const type_kind kinds[] = {TYPE_UTF8, TYPE_LARGE_UTF8};
  for (size_t i = 0; i < 2; i++) {
    const field f = field_of(type_simple(kinds[i]));
    for (size_t nulls = 0; nulls <= 4; nulls += 4) {
      CLEANUP(array_unref) array a = column_new(env.env, f.type, 6000, VALUES_RANDOM, nulls);
      const size_t cuts[] = {100, 101, 3500};
      CLEANUP(pieces_dispose) pieces p = pieces_of(&a, cuts, 3);
      check_round_trip(&env, &f, p.items, p.count);
      CLEANUP(array_unref) array wide = column_new(env.env, f.type, 2000, VALUES_LONG, nulls);
      check_round_trip(&env, &f, &wide, 1);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts),
      cmocka_unit_test(random_bytes),
      cmocka_unit_test(choice),
      cmocka_unit_test(files),
  };
  return cmocka_run_group_tests(tests, open_env, close_env);
}
