/*
 * Dictionary pages: the borders of the index widths and of the limits, and values that are hard to
 * tell apart.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arrow/builder.h"
#include "format/dictionary_build_private.h"
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

/* Bits of the indices of a page, or 0 when it is no dictionary page. */
static unsigned index_bits(const layout_message *m) {
  if (m->layout_case != LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_MINI_BLOCK ||
      m->mini_block->dictionary == NULL) {
    return 0;
  }
  const encoding_message *ce = m->mini_block->value_compression;
  return (unsigned)(ce->compression_case ==
                            LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT
                        ? ce->flat->bits_per_value
                        : ce->inline_bitpacking->uncompressed_bits_per_value);
}

/* Rows 0 .. n - 1 hold the numbers modulo `distinct` in another order. */
static array cycle(const type *t, size_t n, uint64_t distinct) {
  CLEANUP(builder_dispose) builder b;
  builder_init(&b, env.env, t);
  for (size_t i = 0; i < n; i++) {
    char text[32];
    const unsigned long long number = (unsigned long long)(i * UINT64_C(2654435761) % distinct);
    const int size = snprintf(text, sizeof text, "value %llu", number);
    ASSERT_OK(builder_append_str(&b, str_slice(text, (size_t)size), &err));
  }
  array a;
  ASSERT_OK(builder_finish(&b, &a, &err));
  return a;
}

static void widths(void **state) {
  (void)state;
  static const struct {
    uint64_t distinct;
    unsigned bits;
  } cases[] = {{1, 8},    {2, 8},      {255, 8},    {256, 8},
               {257, 16}, {65536, 16}, {65537, 32}, {100000, 32}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const type *t = type_simple(i % 2 == 0 ? TYPE_UTF8 : TYPE_LARGE_BINARY);
    const field f = field_of(t);
    CLEANUP(array_unref) array a = cycle(t, 400000, cases[i].distinct);
    page_output o;
    const layout_message *m = encode_page(env.env, &f, &a, 1, &o);
    assert_int_equal(index_bits(m), cases[i].bits);
    assert_int_equal(m->mini_block->num_dictionary_items, cases[i].distinct);
    assert_int_equal(o.buffer_count, 3);
    page_output_dispose(&o);
    check_round_trip(&env, &f, &a, 1);
  }
}

/* The number of a value as 4 bytes; row i holds number i modulo distinct. */
static array numbered(size_t n, uint64_t distinct) {
  array a;
  void *offsets;
  ASSERT_OK(array_new_fixed(env.env, type_simple(TYPE_INT32), n + 1, &a, &offsets, &err));
  ASSERT_OK(buffer_new(env.env, n * 4, &a.owners[2], &err));
  for (size_t i = 0; i <= n; i++) {
    ((int32_t *)offsets)[i] = (int32_t)(i * 4);
    if (i < n) {
      store_le32(a.owners[2]->data + i * 4, (uint32_t)(i % distinct));
    }
  }
  a.type = type_simple(TYPE_BINARY);
  a.length = n;
  a.data = a.owners[2]->data;
  return a;
}

static void a_million(void **state) {
  (void)state;
  const field f = field_of(type_simple(TYPE_BINARY));
  for (uint64_t extra = 0; extra <= 1; extra++) {
    CLEANUP(array_unref) array a = numbered(3000000, 1000000 + extra);
    page_output o;
    const layout_message *m = encode_page(env.env, &f, &a, 1, &o);
    assert_int_equal(index_bits(m), extra == 0 ? 32 : 0);
    page_output_dispose(&o);
  }
}

static void rows_and_halves(void **state) {
  (void)state;
  const field f = field_of(type_simple(TYPE_UTF8));
  static const struct {
    size_t rows;
    uint64_t distinct;
    bool is_dictionary;
  } cases[] = {{99, 2, false}, {100, 2, true}, {20000, 10001, false}, {20000, 19999, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CLEANUP(array_unref) array a = cycle(f.type, cases[i].rows, cases[i].distinct);
    page_output o;
    const layout_message *m = encode_page(env.env, &f, &a, 1, &o);
    assert_int_equal(index_bits(m) != 0, cases[i].is_dictionary);
    page_output_dispose(&o);
    check_round_trip(&env, &f, &a, 1);
  }
}

/* At most 8 MiB of dictionary text. */
static void text_limit(void **state) {
  (void)state;
  static const size_t sizes[] = {8388, 8389};
  const field f = field_of(type_simple(TYPE_BINARY));
  for (size_t i = 0; i < 2; i++) {
    CLEANUP(builder_dispose) builder b;
    builder_init(&b, env.env, f.type);
    char *value = calloc(1, sizes[i]);
    for (uint32_t row = 0; row < 3000; row++) {
      store_le32(value + 4000, row % 1000);
      ASSERT_OK(builder_append_str(&b, str_slice(value, sizes[i]), &err));
    }
    free(value);
    CLEANUP(array_unref) array a = {0};
    ASSERT_OK(builder_finish(&b, &a, &err));
    page_output o;
    const layout_message *m = encode_page(env.env, &f, &a, 1, &o);
    assert_int_equal(index_bits(m), i == 0 ? 16 : 0);
    page_output_dispose(&o);
  }
}

/* Values of all lengths that share beginnings, ends and, from 16 bytes on, both. */
static void similar_values(void **state) {
  (void)state;
  const field f = field_of(type_simple(TYPE_BINARY));
  CLEANUP(builder_dispose) builder b;
  builder_init(&b, env.env, f.type);
  for (size_t round = 0; round < 40; round++) {
    for (size_t size = 0; size < 40; size++) {
      for (size_t at = 0; at <= size; at++) {
        char value[40];
        memset(value, 0, sizeof value);
        value[at == size ? 0 : at] = at == size ? 0 : 1;
        ASSERT_OK(builder_append_str(&b, str_slice(value, size), &err));
      }
      if (round % 7 == 0) {
        ASSERT_OK(builder_append_null(&b, &err));
      }
    }
  }
  CLEANUP(array_unref) array a = {0};
  ASSERT_OK(builder_finish(&b, &a, &err));
  page_output o;
  const layout_message *m = encode_page(env.env, &f, &a, 1, &o);
  assert_int_equal(index_bits(m), 16);
  assert_int_equal(m->mini_block->num_dictionary_items, 40 + 39 * 40 / 2);
  page_output_dispose(&o);
  const size_t cuts[] = {1, 1000, 1007, 9000};
  CLEANUP(pieces_dispose) pieces p = pieces_of(&a, cuts, 4);
  check_round_trip(&env, &f, p.items, p.count);
}

/* The factor that undoes an odd factor. */
static uint64_t inverse(uint64_t factor) {
  uint64_t x = factor;
  for (int i = 0; i < 6; i++) {
    x *= 2 - factor * x;
  }
  return x;
}

/* The 8 bytes whose hash is 0 in its upper and `low` in its lower half: hash_of in reverse. */
static uint64_t chosen(uint32_t low) {
  uint64_t h = low * inverse(UINT64_C(0xD6E8FEB86659FD93));
  h ^= h >> 29 ^ h >> 58;
  h -= (UINT64_C(8) << 56) * UINT64_C(0xC2B2AE3D27D4EB4F);
  h = h >> 32 | h << 32;
  return h * inverse(UINT64_C(0x9E3779B97F4A7C15));
}

/* Values chosen to have one hash: the search gives up instead of taking quadratic time. */
static void chosen_values(void **state) {
  (void)state;
  enum { ROWS = 200000 };
  const field f = field_of(type_simple(TYPE_BINARY));
  CLEANUP(array_unref) array a = {0};
  void *offsets;
  ASSERT_OK(array_new_fixed(env.env, type_simple(TYPE_INT32), ROWS + 1, &a, &offsets, &err));
  ASSERT_OK(buffer_new(env.env, ROWS * 8, &a.owners[2], &err));
  for (size_t i = 0; i <= ROWS; i++) {
    ((int32_t *)offsets)[i] = (int32_t)(i * 8);
    if (i < ROWS) {
      store_le64(a.owners[2]->data + i * 8, chosen((uint32_t)(i % (ROWS / 4))));
    }
  }
  a.type = f.type;
  a.length = ROWS;
  a.data = a.owners[2]->data;
  page_output o;
  const layout_message *m = encode_page(env.env, &f, &a, 1, &o);
  assert_int_equal(index_bits(m), 0);
  page_output_dispose(&o);
  check_round_trip(&env, &f, &a, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(widths),          cmocka_unit_test(a_million),
      cmocka_unit_test(rows_and_halves), cmocka_unit_test(text_limit),
      cmocka_unit_test(similar_values),  cmocka_unit_test(chosen_values),
  };
  return cmocka_run_group_tests(tests, open_env, close_env);
}
