/*
 * The choice of layouts and the shape of pages: which encoding a page gets, where its chunks end,
 * and what stands in its buffers.
 */
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

/* A page of one array. The output is released by the caller. */
static layout_message *encode(const type *t, size_t n, enum column_values how, size_t null_every,
                              page_output *out) {
  const field f = field_of(t);
  CLEANUP(array_unref) array a = column_new(env.env, t, n, how, null_every);
  return encode_page(env.env, &f, &a, 1, out);
}

/* Rows of chunk i, and checks that the words add up to the bytes of the chunks. */
static size_t chunk_rows(const page_output *o, const layout_message *m, size_t i) {
  const size_t count = o->sizes[0] / 4;
  uint64_t bytes = 0;
  uint64_t rows_before = 0;
  size_t rows = 0;
  assert_true(i < count);
  for (size_t k = 0; k < count; k++) {
    const uint32_t word = load_le32(o->bytes + o->offsets[0] + k * 4);
    bytes += ((uint64_t)(word >> 4) + 1) * 8;
    size_t here = (size_t)1 << (word & 15);
    if (k + 1 == count) {
      assert_int_equal(word & 15, 0);
      here = (size_t)(m->mini_block->num_items - rows_before);
    } else {
      assert_true((word & 15) >= 1);
    }
    rows = k == i ? here : rows;
    rows_before += here;
  }
  assert_int_equal(bytes, o->sizes[1]);
  return rows;
}

static size_t chunk_count(const page_output *o) { return o->sizes[0] / 4; }

#define IS_MINI(m) ((m)->layout_case == LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_MINI_BLOCK)
#define IS_CONSTANT(m) ((m)->layout_case == LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_CONSTANT)
#define IS_ZIP(m) ((m)->layout_case == LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP)
#define IS_CE(ce, NAME)                                                                            \
  ((ce)->compression_case == LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_##NAME)

/* ---- fixed width ---- */

static void flat_chunks(void **state) {
  (void)state;
  static const struct {
    int32_t width;
    size_t rows;
  } sizes[] = {{7, 4096}, {8, 4096}, {9, 2048}, {16, 2048}, {17, 1024}, {64, 512}, {255, 128}};
  arena a;
  arena_init(&a, env.env);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const type *t = type_fixed_size_binary(&a, sizes[i].width);
    for (size_t extra = 0; extra <= 1; extra++) {
      page_output o;
      const layout_message *m = encode(t, sizes[i].rows + extra, VALUES_RANDOM, 0, &o);
      assert_true(IS_MINI(m) && IS_CE(m->mini_block->value_compression, FLAT));
      assert_int_equal(m->mini_block->value_compression->flat->bits_per_value, sizes[i].width * 8);
      assert_true(m->mini_block->has_large_chunk);
      assert_int_equal(m->mini_block->num_buffers, 1);
      assert_int_equal(chunk_count(&o), 1 + extra);
      assert_int_equal(chunk_rows(&o, m, 0), sizes[i].rows);
      page_output_dispose(&o);
    }
  }
  arena_dispose(&a);
}

static void packed_or_flat(void **state) {
  (void)state;
  page_output o;
  const layout_message *m = encode(type_simple(TYPE_INT64), 5000, VALUES_SEQUENCE, 0, &o);
  assert_true(IS_CE(m->mini_block->value_compression, INLINE_BITPACKING));
  assert_int_equal(m->mini_block->value_compression->inline_bitpacking->uncompressed_bits_per_value,
                   64);
  assert_int_equal(chunk_count(&o), 5);
  assert_int_equal(chunk_rows(&o, m, 0), 1024);
  assert_int_equal(chunk_rows(&o, m, 4), 5000 - 4096);
  assert_null(m->mini_block->def_compression);
  /* levels 0, size of the values, their width, packed words */
  const uint8_t *chunk = o.bytes + o.offsets[1];
  assert_int_equal(load_le16(chunk), 0);
  assert_int_equal(load_le32(chunk + 2), 8 + 10 * 128);
  assert_int_equal(load_le64(chunk + 8), 10);
  page_output_dispose(&o);

  m = encode(type_simple(TYPE_INT64), 5000, VALUES_RANDOM, 0, &o);
  assert_true(IS_CE(m->mini_block->value_compression, FLAT));
  page_output_dispose(&o);
  /* Three small numbers: packing would need a whole group. */
  m = encode(type_simple(TYPE_UINT32), 3, VALUES_SEQUENCE, 0, &o);
  assert_true(IS_CE(m->mini_block->value_compression, FLAT));
  page_output_dispose(&o);
  m = encode(type_simple(TYPE_FLOAT64), 5000, VALUES_SMALL, 0, &o);
  assert_true(IS_CE(m->mini_block->value_compression, FLAT));
  page_output_dispose(&o);
}

/* 8 bits: 7 of them save an eighth less than the width byte, 6 save enough. */
static void an_eighth(void **state) {
  (void)state;
  uint64_t numbers[2048];
  for (unsigned width = 5; width <= 8; width++) {
    CLEANUP(array_unref) array a = {0};
    void *values;
    ASSERT_OK(array_new_fixed(env.env, type_simple(TYPE_UINT8), 2048, &a, &values, &err));
    for (size_t i = 0; i < 2048; i++) {
      numbers[i] = (UINT64_C(1) << width) - 1 - (i & 1);
      ((uint8_t *)values)[i] = (uint8_t)numbers[i];
    }
    const field f = field_of(a.type);
    page_output o;
    const layout_message *m = encode_page(env.env, &f, &a, 1, &o);
    assert_int_equal(IS_CE(m->mini_block->value_compression, INLINE_BITPACKING), width <= 6);
    page_output_dispose(&o);
  }
}

static void constants(void **state) {
  (void)state;
  page_output o;
  const layout_message *m = encode(type_simple(TYPE_INT32), 10, VALUES_EQUAL, 0, &o);
  assert_true(IS_CONSTANT(m));
  assert_int_equal(m->constant->inline_value.len, 4);
  assert_memory_equal(m->constant->inline_value.data, "\7\0\0\0", 4);
  assert_int_equal(o.buffer_count, 0);
  page_output_dispose(&o);

  m = encode(type_simple(TYPE_BOOL), 10, VALUES_EQUAL, 0, &o);
  assert_true(IS_CONSTANT(m) && m->constant->inline_value.len == 1);
  assert_int_equal(m->constant->inline_value.data[0], 1);
  page_output_dispose(&o);

  /* With nulls: two bytes of level a row beat eight of a double, not a few bits of a number. */
  m = encode(type_simple(TYPE_FLOAT64), 5000, VALUES_EQUAL, 3, &o);
  assert_true(IS_CONSTANT(m));
  assert_int_equal(m->constant->layers[0], LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM);
  assert_int_equal(o.buffer_count, 2);
  assert_int_equal(o.sizes[0], 0);
  assert_int_equal(o.sizes[1], 10000);
  assert_int_equal(load_le16(o.bytes + o.offsets[1]), 1);
  assert_int_equal(load_le16(o.bytes + o.offsets[1] + 2), 0);
  page_output_dispose(&o);
  m = encode(type_simple(TYPE_INT32), 5000, VALUES_EQUAL, 3, &o);
  assert_true(IS_MINI(m));
  page_output_dispose(&o);

  for (size_t i = 0; i < 3; i++) {
    const type_kind kinds[] = {TYPE_INT8, TYPE_UTF8, TYPE_BOOL};
    m = encode(type_simple(kinds[i]), 100, VALUES_RANDOM, 1, &o);
    assert_true(IS_CONSTANT(m));
    assert_int_equal(m->constant->opt_inline_value_case, 0);
    assert_int_equal(o.buffer_count, 0);
    page_output_dispose(&o);
  }
}

static void levels_of_chunks(void **state) {
  (void)state;
  page_output o;
  const layout_message *m = encode(type_simple(TYPE_FLOAT64), 4200, VALUES_RANDOM, 3, &o);
  assert_true(IS_CE(m->mini_block->def_compression, OUT_OF_LINE_BITPACKING));
  const uint8_t *chunk = o.bytes + o.offsets[1];
  assert_int_equal(load_le16(chunk), 4096);
  assert_int_equal(load_le16(chunk + 2), 4 * 128);
  assert_int_equal(load_le32(chunk + 4), 4096 * 8);
  /* The slot of a null is zero. */
  assert_true(load_le64(chunk + 8 + 4 * 128) == 0);
  assert_true(load_le64(chunk + 8 + 4 * 128 + 8) != 0);
  page_output_dispose(&o);
  /* Few levels are stored as they are, and said to be. */
  m = encode(type_simple(TYPE_FLOAT64), 64, VALUES_RANDOM, 3, &o);
  assert_true(IS_CE(m->mini_block->def_compression, FLAT));
  assert_int_equal(load_le16(o.bytes + o.offsets[1] + 2), 128);
  page_output_dispose(&o);
  m = encode(type_simple(TYPE_FLOAT64), 65, VALUES_RANDOM, 3, &o);
  assert_true(IS_CE(m->mini_block->def_compression, OUT_OF_LINE_BITPACKING));
  assert_int_equal(load_le16(o.bytes + o.offsets[1] + 2), 128);
  page_output_dispose(&o);
}

static void vectors(void **state) {
  (void)state;
  arena a;
  arena_init(&a, env.env);
  const field item = field_of(type_simple(TYPE_FLOAT32));
  page_output o;
  const layout_message *m =
      encode(type_fixed_size_list(&a, &item, 63), 200, VALUES_RANDOM, 0, &o); /* 252 bytes */
  assert_true(IS_MINI(m) && IS_CE(m->mini_block->value_compression, FIXED_SIZE_LIST));
  assert_int_equal(chunk_rows(&o, m, 0), 128);
  page_output_dispose(&o);

  m = encode(type_fixed_size_list(&a, &item, 64), 200, VALUES_RANDOM, 0, &o);
  assert_true(IS_ZIP(m));
  assert_int_equal(m->full_zip->bits_per_value, 64 * 32);
  assert_int_equal(o.sizes[0], 200 * 256); /* the values and nothing else */
  page_output_dispose(&o);

  m = encode(type_fixed_size_list(&a, &item, 65), 200, VALUES_RANDOM, 4, &o);
  assert_true(IS_ZIP(m));
  assert_true(m->full_zip->value_compression->fixed_size_list->has_validity);
  assert_int_equal(m->full_zip->bits_per_value, 65 * 32 + 9 * 8);
  assert_int_equal(m->full_zip->bits_def, 1);
  assert_int_equal(o.sizes[0], 200 * (1 + 9 + 65 * 4));
  page_output_dispose(&o);

  m = encode(type_fixed_size_list(&a, &item, 5), 200, VALUES_RANDOM, 4, &o);
  assert_int_equal(m->mini_block->num_buffers, 2);
  assert_int_equal(load_le32(o.bytes + o.offsets[1] + 4), 200 * 5 / 8);
  assert_int_equal(load_le32(o.bytes + o.offsets[1] + 8), 200 * 20);
  page_output_dispose(&o);
  arena_dispose(&a);
}

/* ---- text ---- */

/* Rows of the next chunk by the rule of 11.2, the slow way. */
static size_t expected_rows(const array *a, size_t first) {
  const size_t left = a->length - first;
  size_t sizes[4097] = {0};
  for (size_t i = 0; i < size_min(left, 4096); i++) {
    sizes[i + 1] = sizes[i] + (array_is_valid(a, first + i) ? array_str(a, first + i).size : 0);
  }
  size_t rows = 2;
  while (rows * 2 <= left && rows * 2 <= 4096 && sizes[rows * 2] + 4 * (rows * 2 + 1) <= 4096) {
    rows *= 2;
  }
  if (left <= 2 || (left <= 4096 && sizes[left] + 4 * (left + 1) <= 4096)) {
    return left;
  }
  return rows;
}

static void text_chunks(void **state) {
  (void)state;
  const pair plain = {STR("lance-encoding:compression"), STR("none")};
  field f = field_of(type_simple(TYPE_UTF8));
  f.metadata = (metadata){&plain, 1};
  rng r = rng_of(11);
  for (size_t round = 0; round < 60; round++) {
    const size_t n = 1 + (size_t)rng_below(&r, 3000);
    CLEANUP(array_unref)
    array a = column_new(env.env, f.type, n, VALUES_RANDOM, round % 3 == 0 ? 4 : 0);
    const size_t cuts[] = {n / 5, n / 5 + 1, n / 2};
    CLEANUP(pieces_dispose) pieces p = pieces_of(&a, cuts, round % 2 == 0 ? 3 : 0);
    page_output o;
    const layout_message *m = encode_page(env.env, &f, p.items, p.count, &o);
    if (IS_MINI(m) && m->mini_block->dictionary == NULL) {
      size_t first = 0;
      for (size_t i = 0; i < chunk_count(&o); i++) {
        const size_t rows = chunk_rows(&o, m, i);
        assert_int_equal(rows, expected_rows(&a, first));
        first += rows;
      }
    }
    page_output_dispose(&o);
  }
}

static void long_text(void **state) {
  (void)state;
  page_output o;
  const layout_message *m = encode(type_simple(TYPE_UTF8), 90, VALUES_LONG, 0, &o);
  assert_true(IS_ZIP(m));
  assert_int_equal(m->full_zip->bits_per_offset, 32);
  assert_int_equal(o.sizes[1], 91 * 2); /* less than 64 KiB */
  assert_int_equal(load_le16(o.bytes + o.offsets[1] + 90 * 2), o.sizes[0]);
  page_output_dispose(&o);
  m = encode(type_simple(TYPE_LARGE_BINARY), 90, VALUES_LONG, 5, &o);
  assert_int_equal(m->full_zip->bits_per_offset, 64);
  assert_int_equal(m->full_zip->bits_def, 1);
  assert_int_equal(o.bytes[o.offsets[0]], 1); /* row 0 is null: a control byte, nothing else */
  assert_int_equal(load_le16(o.bytes + o.offsets[1] + 2), 1);
  page_output_dispose(&o);
}

/* ["ab", null, "", "xyz"] as in 13.2, stretched by a value that makes the page full-zip. */
static void zip_bytes(void **state) {
  (void)state;
  const int32_t offsets[] = {0, 2, 2, 2, 5, 305};
  char text[305];
  memcpy(text, "abxyz", 5);
  memset(text + 5, 'q', 300);
  const uint8_t validity = 0x1D;
  const array a = {.type = type_simple(TYPE_UTF8),
                   .length = 5,
                   .null_count = 1,
                   .validity = &validity,
                   .values = offsets,
                   .data = (const uint8_t *)text};
  const field f = field_of(a.type);
  page_output o;
  (void)encode_page(env.env, &f, &a, 1, &o);
  static const uint8_t expected[] = {0, 2, 0, 0, 0, 'a', 'b', 1,   0,   0, 0,  0,
                                     0, 0, 3, 0, 0, 0,   'x', 'y', 'z', 0, 44, 1};
  assert_memory_equal(o.bytes + o.offsets[0], expected, sizeof expected);
  static const uint8_t starts[] = {0, 0, 7, 0, 8, 0, 13, 0, 21, 0};
  assert_memory_equal(o.bytes + o.offsets[1], starts, sizeof starts);
  page_output_dispose(&o);
}

static void lists_without_items(void **state) {
  (void)state;
  arena a;
  arena_init(&a, env.env);
  const field item = field_of(type_simple(TYPE_UTF8));
  const type *t = type_list(&a, TYPE_LIST, &item);
  static const int32_t offsets[4] = {0, 0, 0, 0};
  static const struct {
    uint8_t validity;
    Lance__Encodings21__RepDefLayer layer;
    uint16_t levels[3];
  } cases[] = {{0, LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_LIST, {1, 1, 1}},
               {7, LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_EMPTYABLE_LIST, {1, 1, 1}},
               {2, LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULL_AND_EMPTY_LIST, {1, 2, 1}}};
  for (size_t i = 0; i < 3; i++) {
    array no_items = {.type = item.type, .values = offsets, .data = (const uint8_t *)offsets};
    const array lists = {.type = t,
                         .children = &no_items,
                         .child_count = 1,
                         .length = 3,
                         .null_count = NULLS_UNKNOWN,
                         .validity = &cases[i].validity,
                         .values = offsets};
    const field f = field_of(t);
    page_output o;
    const layout_message *m = encode_page(env.env, &f, &lists, 1, &o);
    assert_true(IS_CONSTANT(m) && m->constant->n_layers == 2);
    assert_int_equal(m->constant->layers[0],
                     LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM);
    assert_int_equal(m->constant->layers[1], cases[i].layer);
    static const uint16_t starts[] = {1, 1, 1};
    assert_memory_equal(o.bytes + o.offsets[0], starts, 6);
    assert_memory_equal(o.bytes + o.offsets[1], cases[i].levels, 6);
    page_output_dispose(&o);
  }
  arena_dispose(&a);
}

/* What the metadata of a field asks for. */
static void compression(void **state) {
  (void)state;
  const pair pairs[] = {{STR("lance-encoding:compression"), STR("zstd")},
                        {STR("lance-encoding:compression-level"), STR("7")}};
  const type_kind kinds[] = {TYPE_UTF8, TYPE_FLOAT64};
  for (size_t i = 0; i < 2; i++) {
    field f = field_of(type_simple(kinds[i]));
    f.metadata = (metadata){pairs, 2};
    /* As integers in a double: few different bytes, yet nothing that is packed. */
    CLEANUP(array_unref)
    array a = column_new(env.env, f.type, 3000, VALUES_SEQUENCE, 0);
    page_output o;
    const layout_message *m = encode_page(env.env, &f, &a, 1, &o);
    assert_true(IS_CE(m->mini_block->value_compression, GENERAL));
    assert_int_equal(m->mini_block->value_compression->general->compression->scheme,
                     LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_ZSTD);
    page_output_dispose(&o);
  }
  /* Noise: compression would not make it smaller. */
  field f = field_of(type_simple(TYPE_FLOAT64));
  f.metadata = (metadata){pairs, 2};
  CLEANUP(array_unref) array a = column_new(env.env, f.type, 3000, VALUES_RANDOM, 0);
  page_output o;
  const layout_message *m = encode_page(env.env, &f, &a, 1, &o);
  assert_true(IS_CE(m->mini_block->value_compression, FLAT));
  page_output_dispose(&o);
}

static void rows_of_pages(void **state) {
  (void)state;
  const struct {
    const type *t;
    size_t rows;
  } cases[] = {{type_simple(TYPE_INT64), 1048576},
               {type_simple(TYPE_INT32), 2097152},
               {type_simple(TYPE_BOOL), 1 << 24},
               {type_simple(TYPE_NULL), 1 << 24}};
  for (size_t i = 0; i < 4; i++) {
    const field f = field_of(cases[i].t);
    page_leaf leaf;
    ASSERT_OK(page_leaf_init(&f, &leaf, &err));
    assert_int_equal(page_leaf_page_rows(&leaf, 8 << 20, 4096, 1 << 24), cases[i].rows);
  }
  const field f = field_of(type_simple(TYPE_UTF8));
  page_leaf leaf;
  ASSERT_OK(page_leaf_init(&f, &leaf, &err));
  CLEANUP(array_unref) array a = column_new(env.env, f.type, 1000, VALUES_EQUAL, 0);
  assert_int_equal(page_leaf_raw_bytes(&leaf, &a, 10, 7), 7 * 9);
  assert_int_equal(page_leaf_rows_within(&leaf, &a, 0, 1000, 90), 10);
  assert_int_equal(page_leaf_rows_within(&leaf, &a, 0, 1000, 91), 11);
  assert_int_equal(page_leaf_rows_within(&leaf, &a, 0, 1000, 1), 1);
  assert_int_equal(page_leaf_rows_within(&leaf, &a, 0, 5, 1 << 20), 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_chunks),      cmocka_unit_test(packed_or_flat),
      cmocka_unit_test(an_eighth),        cmocka_unit_test(constants),
      cmocka_unit_test(levels_of_chunks), cmocka_unit_test(vectors),
      cmocka_unit_test(text_chunks),      cmocka_unit_test(long_text),
      cmocka_unit_test(zip_bytes),        cmocka_unit_test(lists_without_items),
      cmocka_unit_test(compression),      cmocka_unit_test(rows_of_pages),
  };
  return cmocka_run_group_tests(tests, open_env, close_env);
}
