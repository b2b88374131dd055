/* Compression: what comes out decompresses to what went in, and who asked for it. */
#include <zlib.h>

#include "server/gzip.h"
#include "support/cmocka.h"
#include "support/test_env.h"

enum { TEXT_BYTES = 300000 };

static void decompress(const buf *in, char *out, size_t size) {
  z_stream z = {0};
  assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
  z.next_in = (Bytef *)in->data;
  z.avail_in = (uInt)in->size;
  z.next_out = (Bytef *)out;
  z.avail_out = (uInt)size;
  assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
  assert_int_equal(z.total_out, size);
  inflateEnd(&z);
}

static void parts_make_one_stream(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  char *text = mem_alloc(t.env, TEXT_BYTES);
  char *back = mem_alloc(t.env, TEXT_BYTES);
  for (size_t i = 0; i < TEXT_BYTES; i++) {
    text[i] = (char)((i * i >> 7) % 251);
  }
  static const size_t steps[] = {1, 7, 65536, 200000, TEXT_BYTES};
  for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
    gzip *z = NULL;
    buf out;
    buf_init(&out, t.env, SIZE_MAX / 2);
    assert_int_equal(gzip_new(t.env, &z, NULL), GLV_OK);
    for (size_t at = 0; at < TEXT_BYTES; at += steps[s]) {
      const size_t part = TEXT_BYTES - at < steps[s] ? TEXT_BYTES - at : steps[s];
      assert_int_equal(gzip_add(z, str_slice(text + at, part), at + part == TEXT_BYTES, &out, NULL),
                       GLV_OK);
    }
    decompress(&out, back, TEXT_BYTES);
    assert_memory_equal(back, text, TEXT_BYTES);
    gzip_free(z);
    buf_dispose(&out);
  }
  mem_free(t.env, text);
  mem_free(t.env, back);
  test_env_close(&t);
}

static void an_empty_text_is_a_stream_too(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  gzip *z = NULL;
  buf out;
  char none[1];
  buf_init(&out, t.env, SIZE_MAX / 2);
  assert_int_equal(gzip_new(t.env, &z, NULL), GLV_OK);
  assert_int_equal(gzip_add(z, (str){NULL, 0}, true, &out, NULL), GLV_OK);
  decompress(&out, none, 0);
  gzip_free(z);
  buf_dispose(&out);
  test_env_close(&t);
}

static void memory_may_be_missing(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  bool done = false;
  for (uint64_t n = 1; !done; n++) {
    gzip *z = NULL;
    buf out;
    buf_init(&out, t.env, SIZE_MAX / 2);
    alloc_fault_arm(&t.alloc, n, true);
    glv_status status = gzip_new(t.env, &z, NULL);
    status = status == GLV_OK ? gzip_add(z, STR("some text"), true, &out, NULL) : status;
    done = !atomic_load(&t.alloc.fired);
    alloc_fault_arm(&t.alloc, 0, false);
    assert_int_equal(status, done ? GLV_OK : GLV_E_NOMEM);
    gzip_free(z);
    buf_dispose(&out);
  }
  test_env_close(&t);
}

static void only_who_asks_gets_it(void **state) {
  (void)state;
  static const char *const yes[] = {
      "gzip",   "GZIP",        "deflate, gzip;q=0.5", "br,gzip",           "*",
      "x-gzip", "*;q=0.1, br", "gzip ; q=1.0",        "identity;q=0, gzip"};
  static const char *const no[] = {
      "", "identity", "deflate", "gzip;q=0", "gzip;q=0.000", "*;q=0", "gzipped", "br, gzip;q=0, *"};
  assert_false(gzip_is_accepted(NULL));
  for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
    assert_true(gzip_is_accepted(yes[i]));
  }
  for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
    assert_false(gzip_is_accepted(no[i]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_make_one_stream),
      cmocka_unit_test(an_empty_text_is_a_stream_too),
      cmocka_unit_test(memory_may_be_missing),
      cmocka_unit_test(only_who_asks_gets_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
