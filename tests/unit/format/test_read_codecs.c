/* The codecs by themselves: FSST, LZ4 and ZSTD framing, runs, byte streams, text, blocks. */
#include <lz4.h>
#include <string.h>
#include <zstd.h>

#include "format/bss.h"
#include "format/fixed.h"
#include "format/general.h"
#include "format/rle.h"
#include "read_support.h"

static void fails(glv_status status, const glv_error *err, const char *text) {
  assert_int_equal(status, GLV_E_CORRUPT);
  if (strstr(err->message, text) == NULL) {
    fail_msg("'%s' does not contain '%s'", err->message, text);
  }
}

/* ---- FSST ---- */

static void make_table(uint8_t *table, unsigned count, bool is_on) {
  static const char *const symbols[] = {"a", "bc", "lanceabc", "xyz"};
  memset(table, 0, FSST_TABLE_BYTES);
  const uint64_t header = (uint64_t)0x46535354 << 32 | (is_on ? 1u << 24 : 0) | count;
  memcpy(table, &header, 8);
  for (unsigned i = 0; i < count; i++) {
    memcpy(table + 8 + 8 * i, symbols[i], strlen(symbols[i]));
    table[8 + 8 * count + i] = (uint8_t)strlen(symbols[i]);
  }
}

static void fsst_decodes(void **state) {
  (void)state;
  uint8_t stored[FSST_TABLE_BYTES];
  make_table(stored, 4, true);
  fsst_table t;
  glv_error err;
  assert_int_equal(fsst_table_read(span_of(stored, sizeof stored), &t, &err), GLV_OK);
  uint8_t out[256];
  size_t size = 0;
  const uint8_t code[] = {2, 0, 255, '!', 1, 3, 255, 255};
  assert_int_equal(fsst_decode(&t, span_of(code, sizeof code), out, &size, &err), GLV_OK);
  assert_int_equal(size, 16);
  assert_memory_equal(out, "lanceabca!bcxyz\xff", 16);
  assert_int_equal(fsst_decode(&t, span_of(code, 0), out, &size, &err), GLV_OK);
  assert_int_equal(size, 0);
  fails(fsst_decode(&t, span_of(code, 3), out, &size, &err), &err, "fsst");
  const uint8_t unknown[] = {0, 4, 1};
  fails(fsst_decode(&t, span_of(unknown, 3), out, &size, &err), &err, "fsst");
}

static void fsst_decodes_runs(void **state) {
  (void)state;
  uint8_t stored[FSST_TABLE_BYTES];
  make_table(stored, 4, true);
  fsst_table t;
  glv_error err;
  assert_int_equal(fsst_table_read(span_of(stored, sizeof stored), &t, &err), GLV_OK);
  uint8_t out[256];
  uint32_t positions[16];
  const uint8_t code[] = {2, 0, 255, '!', 1, 3};
  static const uint32_t expected[] = {0, 8, 9, FSST_INSIDE, 10, 12, 15};
  assert_int_equal(fsst_decode_run(&t, span_of(code, sizeof code), out, positions, &err), GLV_OK);
  assert_memory_equal(out, "lanceabca!bcxyz", 15);
  assert_memory_equal(positions, expected, sizeof expected);
  fails(fsst_decode_run(&t, span_of(code, 3), out, positions, &err), &err, "fsst");
  const uint8_t unknown[] = {0, 4, 1};
  fails(fsst_decode_run(&t, span_of(unknown, 3), out, positions, &err), &err, "fsst");
  assert_int_equal(fsst_decode_run(&t, span_of(code, 0), out, positions, &err), GLV_OK);
  assert_int_equal(positions[0], 0);
}

static void fsst_refuses_tables(void **state) {
  (void)state;
  uint8_t stored[FSST_TABLE_BYTES];
  fsst_table t;
  glv_error err;
  make_table(stored, 4, true);
  fails(fsst_table_read(span_of(stored, sizeof stored - 1), &t, &err), &err, "fsst");
  stored[8 + 32] = 9; /* length of symbol 0 */
  fails(fsst_table_read(span_of(stored, sizeof stored), &t, &err), &err, "fsst");
  make_table(stored, 4, true);
  stored[7] = 0; /* the magic number */
  fails(fsst_table_read(span_of(stored, sizeof stored), &t, &err), &err, "fsst");
  make_table(stored, 4, false);
  assert_int_equal(fsst_table_read(span_of(stored, sizeof stored), &t, &err), GLV_OK);
  assert_false(t.is_on);
}

/* ---- LZ4 and ZSTD ---- */

static void general_frames(void **state) {
  (void)state;
  static const char text[] = "the same words, the same words, the same words, the same words";
  char in[256];
  uint8_t out[256];
  size_t size = 0;
  glv_error err;
  general_context c = {0};

  const uint32_t length32 = sizeof text;
  memcpy(in, &length32, 4);
  const int lz4 = LZ4_compress_default(text, in + 4, sizeof text, sizeof in - 4);
  const span packed = span_of(in, (size_t)lz4 + 4);
  assert_int_equal(general_size(GENERAL_LZ4, packed, &size, &err), GLV_OK);
  assert_int_equal(size, sizeof text);
  assert_int_equal(general_decompress(&c, GENERAL_LZ4, packed, out, size, &err), GLV_OK);
  assert_memory_equal(out, text, sizeof text);
  const span cut = span_of(in, packed.size - 1);
  fails(general_decompress(&c, GENERAL_LZ4, cut, out, size, &err), &err, "lz4");
  fails(general_size(GENERAL_LZ4, span_of(in, 3), &size, &err), &err, "lz4");

  const uint64_t length64 = sizeof text;
  memcpy(in, &length64, 8);
  const size_t zstd = ZSTD_compress(in + 8, sizeof in - 8, text, sizeof text, 3);
  const span framed = span_of(in, zstd + 8);
  const span bare = span_of(in + 8, zstd);
  memset(out, 0, sizeof out);
  assert_int_equal(general_size(GENERAL_ZSTD, framed, &size, &err), GLV_OK);
  assert_int_equal(general_decompress(&c, GENERAL_ZSTD, framed, out, size, &err), GLV_OK);
  assert_memory_equal(out, text, sizeof text);
  memset(out, 0, sizeof out);
  assert_int_equal(general_size(GENERAL_ZSTD, bare, &size, &err), GLV_OK);
  assert_int_equal(size, sizeof text);
  assert_int_equal(general_decompress(&c, GENERAL_ZSTD, bare, out, size, &err), GLV_OK);
  assert_memory_equal(out, text, sizeof text);
  fails(general_decompress(&c, GENERAL_ZSTD, framed, out, size - 1, &err), &err, "zstd");
  assert_int_equal(general_size(GENERAL_ZSTD, span_of(in, 0), &size, &err), GLV_OK);
  assert_int_equal(size, 0);
  general_context_dispose(&c);
}

static void general_bounds_sizes(void **state) {
  (void)state;
  glv_error err;
  size_t size = 0;
  const uint8_t lz4[] = {0xff, 0xff, 0xff, 0x7f, 0, 0};
  fails(general_size(GENERAL_LZ4, span_of(lz4, sizeof lz4), &size, &err), &err, "claim");
  const uint8_t zstd[12] = {0xff, 0xff, 0xff, 0xff, 1};
  fails(general_size(GENERAL_ZSTD, span_of(zstd, sizeof zstd), &size, &err), &err, "claim");
}

/* ---- runs and byte streams ---- */

static void runs_expand(void **state) {
  (void)state;
  glv_error err;
  uint64_t out[16];
  const uint16_t values[] = {7, 9, 1000};
  const uint8_t lengths[] = {2, 1, 3};
  const uint16_t expected[] = {7, 7, 9, 1000, 1000, 1000};
  const span v = span_of(values, sizeof values);
  const span l = span_of(lengths, sizeof lengths);
  assert_int_equal(rle_expand(16, v, l, 6, true, out, &err), GLV_OK);
  assert_memory_equal(out, expected, sizeof expected);
  assert_int_equal(rle_expand(16, v, l, 5, false, out, &err), GLV_OK); /* cut off */
  fails(rle_expand(16, v, l, 5, true, out, &err), &err,
        "RLE decoding produced 6 values, expected 5");
  fails(rle_expand(16, v, l, 7, false, out, &err), &err,
        "RLE decoding produced 6 values, expected 7");
  fails(rle_expand(16, v, span_of(lengths, 2), 3, false, out, &err), &err, "RLE");
  const uint8_t zero[] = {2, 0, 3};
  fails(rle_expand(16, v, span_of(zero, 3), 5, false, out, &err), &err, "length 0");
  const uint64_t wide[] = {1, UINT64_MAX};
  assert_int_equal(
      rle_expand(64, span_of(wide, sizeof wide), span_of(lengths, 2), 3, true, out, &err), GLV_OK);
  assert_true(out[1] == 1 && out[2] == UINT64_MAX);
}

static void byte_streams_join(void **state) {
  (void)state;
  static const size_t widths[] = {2, 4, 8};
  uint8_t in[80];
  uint8_t out[80];
  for (size_t w = 0; w < 3; w++) {
    const size_t count = 7;
    for (size_t i = 0; i < count; i++) {
      for (size_t j = 0; j < widths[w]; j++) {
        in[j * count + i] = (uint8_t)(16 * i + j);
      }
    }
    bss_join(in, widths[w], count, out);
    for (size_t i = 0; i < count * widths[w]; i++) {
      assert_int_equal(out[i], 16 * (i / widths[w]) + i % widths[w]);
    }
  }
}

/* ---- text ---- */

static void text_in_chunks(void **state) {
  (void)state;
  glv_error err;
  text_view v;
  const uint32_t good[] = {12, 13, 15, 0x00636261};
  const span in = span_of(good, 15);
  assert_int_equal(text_of_chunk(in, 32, 2, &v, &err), GLV_OK);
  assert_int_equal(text_check(&v, 0, 2, &err), GLV_OK);
  span value = {0};
  assert_int_equal(text_value(&v, 1, &value, &err), GLV_OK);
  assert_int_equal(value.size, 2);
  assert_memory_equal(value.data, "bc", 2);
  fails(text_of_chunk(span_of(good, 11), 32, 2, &v, &err), &err, "binary mini-block");
  static const uint32_t bad[][4] = {{12, 11, 15, 0}, {12, 13, 17, 0}, {8, 13, 15, 0}};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(text_of_chunk(span_of(bad[i], 16), 32, 2, &v, &err), GLV_OK);
    fails(text_check(&v, 0, 2, &err), &err, "binary mini-block");
    assert_true(text_value(&v, 0, &value, &err) != GLV_OK ||
                text_value(&v, 1, &value, &err) != GLV_OK);
  }
}

static void text_in_blocks(void **state) {
  (void)state;
  glv_error err;
  text_view v;
  uint8_t block[64];
  const size_t size =
      hex_bytes("20000000 14000000 00000000 01000000 03000000 616263", block, sizeof block);
  assert_int_equal(text_of_block(span_of(block, size), 2, &v, &err), GLV_OK);
  assert_int_equal(text_check(&v, 0, 2, &err), GLV_OK);
  assert_int_equal(v.bytes.size, 3);
  fails(text_of_block(span_of(block, size), 3, &v, &err), &err, "block of text");
  fails(text_of_block(span_of(block, 7), 0, &v, &err), &err, "block of text");
  block[0] = 33;
  fails(text_of_block(span_of(block, size), 2, &v, &err), &err, "block of text");
  const size_t wide = hex_bytes("4000000000000000 2000000000000000 0000000000000000"
                                "0100000000000000 61",
                                block, sizeof block);
  assert_int_equal(text_of_block(span_of(block, wide), 1, &v, &err), GLV_OK);
  assert_int_equal(v.offset_width, 8);
}

/* ---- blocks ---- */

static void out_of_line_tails(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  decoder d = {.env = t.env};
  static uint16_t raw[512];
  static uint16_t out[2048];
  glv_error err;
  for (size_t i = 0; i < 512; i++) {
    raw[i] = (uint16_t)(i % 2);
  }
  for (unsigned width = 1; width <= 3; width++) {
    const codec c = {.kind = CODEC_OUT_OF_LINE, .bits = 16, .packed_bits = width};
    for (size_t tail = 64 * width - 1; tail <= 64 * width + 1; tail++) {
      /* a tail of raw values is known by its size */
      assert_int_equal(fixed_block(&d, &c, span_of(raw, tail * 2), tail, 16, (uint8_t *)out, &err),
                       GLV_OK);
      assert_memory_equal(out, raw, tail * 2);
      fails(fixed_block(&d, &c, span_of(raw, tail * 2 + 4), tail, 16, (uint8_t *)out, &err), &err,
            "packed values");
    }
    static uint16_t packed[1024];
    memset(packed, 0xff, sizeof packed);
    const size_t group = bitpack_group_bytes(width);
    assert_int_equal(
        fixed_block(&d, &c, span_of(packed, 2 * group), 1700, 16, (uint8_t *)out, &err), GLV_OK);
    assert_int_equal(out[1699], (1 << width) - 1);
  }
  decoder_dispose(&d);
  test_env_close(&t);
}

static void inline_blocks(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  decoder d = {.env = t.env};
  static uint32_t out[1024];
  uint32_t in[1 + 2 * 32] = {2};
  glv_error err;
  const codec c = {.kind = CODEC_INLINE, .bits = 32};
  const span all = span_of(in, sizeof in);
  assert_int_equal(fixed_block(&d, &c, all, 1000, 32, (uint8_t *)out, &err), GLV_OK);
  fails(fixed_block(&d, &c, all, 1025, 32, (uint8_t *)out, &err), &err, "Inline bitpacking");
  fails(fixed_block(&d, &c, span_of(in, 100), 10, 32, (uint8_t *)out, &err), &err,
        "Inline bitpacking");
  fails(fixed_block(&d, &c, span_of(in, 0), 10, 32, (uint8_t *)out, &err), &err,
        "Inline bitpacking");
  in[0] = 33;
  fails(fixed_block(&d, &c, all, 10, 32, (uint8_t *)out, &err), &err, "Inline bitpacking");
  fails(fixed_block(&d, &c, all, 10, 16, (uint8_t *)out, &err), &err, "bits");
  decoder_dispose(&d);
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fsst_decodes),         cmocka_unit_test(fsst_decodes_runs),
      cmocka_unit_test(fsst_refuses_tables),  cmocka_unit_test(general_frames),
      cmocka_unit_test(general_bounds_sizes), cmocka_unit_test(runs_expand),
      cmocka_unit_test(byte_streams_join),    cmocka_unit_test(text_in_chunks),
      cmocka_unit_test(text_in_blocks),       cmocka_unit_test(out_of_line_tails),
      cmocka_unit_test(inline_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
