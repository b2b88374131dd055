/* Hexadecimal and base64 texts, UUIDs, digests. */
#include "base/digest.h"
#include "base/encoding.h"
#include "support/cmocka.h"
#include "support/test_env.h"

static void hex(void **state) {
  (void)state;
  char text[8];
  uint8_t bytes[4];
  hex_encode("\x00\xff\x1a\x7f", 4, text);
  assert_memory_equal(text, "00ff1a7f", 8);
  assert_true(hex_decode(STR("00Ff1A7f"), bytes));
  assert_memory_equal(bytes, "\x00\xff\x1a\x7f", 4);
  assert_true(hex_decode(STR(""), bytes));
  assert_false(hex_decode(STR("0"), bytes));
  assert_false(hex_decode(STR("0g"), bytes));
  assert_false(hex_decode(STR("g0"), bytes));
}

static const struct {
  str bytes;
  const char *plain;
  const char *padded;
} BASE64[] = {
    {{"", 0}, "", ""},
    {{"f", 1}, "Zg", "Zg=="},
    {{"fo", 2}, "Zm8", "Zm8="},
    {{"foo", 3}, "Zm9v", "Zm9v"},
    {{"foob", 4}, "Zm9vYg", "Zm9vYg=="},
    {{"\xff\xfe\xfd", 3}, "//79", "//79"},
    {{"\xfb\xef\xbe", 3}, "++++", "++++"},
};

static void base64(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof BASE64 / sizeof *BASE64; i++) {
    char text[16];
    uint8_t bytes[16];
    size_t size;
    const str input = BASE64[i].bytes;
    for (int pads = 0; pads < 2; pads++) {
      const char *expected = pads != 0 ? BASE64[i].padded : BASE64[i].plain;
      assert_int_equal(base64_size(input.size, pads != 0), strlen(expected));
      base64_encode(input.data, input.size, pads != 0, text);
      assert_memory_equal(text, expected, strlen(expected));
      assert_true(base64_decode(str_of(expected), bytes, &size));
      assert_true(str_equal(str_slice((const char *)bytes, size), input));
    }
  }
}

/* Padding may be there in part; what is left over must be zero. */
static void base64_forms(void **state) {
  static const char *const good[] = {"Zg=", "Zg==", "Zg", "Zm8="};
  static const char *const bad[] = {"Z",  "Zh",     "Zm9",   "Zg===", "Zm9v=",  "=",
                                    "==", "Zg==Zg", "Zm 9v", "Zm-9v", "Zm9v\n", "Zm9vZ"};
  (void)state;
  uint8_t bytes[16];
  size_t size;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    assert_true(base64_decode(str_of(good[i]), bytes, &size));
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(base64_decode(str_of(bad[i]), bytes, &size));
  }
}

static void uuid(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  char first[UUID_TEXT_SIZE];
  char second[UUID_TEXT_SIZE];
  assert_int_equal(uuid_random(t.env, first, NULL), GLV_OK);
  assert_int_equal(uuid_random(t.env, second, NULL), GLV_OK);
  assert_memory_not_equal(first, second, UUID_TEXT_SIZE);
  for (size_t i = 0; i < UUID_TEXT_SIZE; i++) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    assert_true(is_dash ? first[i] == '-' : strchr("0123456789abcdef", first[i]) != NULL);
  }
  assert_int_equal(first[14], '4');
  assert_non_null(strchr("89ab", first[19]));
  test_env_close(&t);
}

/* The digests of `abc` as the standards give them. */
static const char *const ABC[DIGEST_KINDS] = {
    [DIGEST_MD5] = "900150983cd24fb0d6963f7d28e17f72",
    [DIGEST_SHA224] = "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
    [DIGEST_SHA256] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    [DIGEST_SHA384] =
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2"
        "358baeca134c825a7",
    [DIGEST_SHA512] =
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a"
        "836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    [DIGEST_BLAKE2B] = "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                       "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
    [DIGEST_BLAKE2S] = "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982",
};

static void digests(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  for (size_t k = 0; k < DIGEST_KINDS; k++) {
    uint8_t bytes[DIGEST_SIZE_MAX];
    char text[2 * DIGEST_SIZE_MAX];
    digest *d = NULL;
    assert_int_equal(digest_new(t.env, (enum digest_kind)k, &d, NULL), GLV_OK);
    digest_of(d, STR("something else before"), bytes);
    digest_of(d, STR("abc"), bytes);
    digest_free(d);
    assert_int_equal(2 * digest_size((enum digest_kind)k), strlen(ABC[k]));
    hex_encode(bytes, digest_size((enum digest_kind)k), text);
    assert_memory_equal(text, ABC[k], strlen(ABC[k]));
  }
  test_env_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hex),  cmocka_unit_test(base64),  cmocka_unit_test(base64_forms),
      cmocka_unit_test(uuid), cmocka_unit_test(digests),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
