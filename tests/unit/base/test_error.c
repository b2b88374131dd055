/* The error type: messages cut at character boundaries, prefixes, names. */
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "support/cmocka.h"

static void size_is_fixed(void **state) {
  (void)state;
  assert_int_equal(sizeof(glv_error), 512);
  assert_int_equal(GLV_ERROR_MESSAGE_SIZE, 496);
}

static void long_message_is_cut_at_a_character(void **state) {
  (void)state;
  const char *characters[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  for (size_t c = 0; c < 4; c++) {
    for (size_t lead = 0; lead < 4; lead++) {
      char text[2100];
      size_t size = lead;
      memset(text, 'x', lead);
      while (size < 2000) {
        memcpy(text + size, characters[c], strlen(characters[c]));
        size += strlen(characters[c]);
      }
      text[size] = '\0';
      glv_error err = {0};
      assert_int_equal(FAIL(&err, GLV_E_CORRUPT, "%s", text), GLV_E_CORRUPT);
      const size_t length = strlen(err.message);
      assert_true(length <= 495 && length > 490);
      assert_true(str_is_utf8(str_of(err.message)));
      assert_memory_equal(err.message, text, length);
    }
  }
}

static void fits_exactly(void **state) {
  (void)state;
  char text[496];
  memset(text, 'y', 495);
  text[495] = '\0';
  glv_error err;
  FAIL(&err, GLV_E_LIMIT, "%s", text);
  assert_string_equal(err.message, text);
}

static void is_one_line(void **state) {
  (void)state;
  glv_error err;
  FAIL(&err, GLV_E_CORRUPT, "a\nb\r\nc");
  assert_string_equal(err.message, "a b  c");
}

static void null_error_is_fine(void **state) {
  (void)state;
  assert_int_equal(FAIL(NULL, GLV_E_IO, "x %d", 1), GLV_E_IO);
  assert_int_equal(error_set_errno(NULL, GLV_E_IO, EIO, "x"), GLV_E_IO);
  assert_int_equal(error_prefix(NULL, GLV_E_CORRUPT, "x"), GLV_E_CORRUPT);
  error_flag(NULL, GLV_ERROR_MAY_RETRY);
  assert_int_equal(error_nomem(NULL, 5), GLV_E_NOMEM);
}

static void errno_flags_and_reset(void **state) {
  (void)state;
  glv_error err;
  error_set_errno(&err, GLV_E_IO, ENOSPC, "disk");
  error_flag(&err, GLV_ERROR_MAY_RETRY);
  assert_int_equal(err.sys_errno, ENOSPC);
  assert_int_equal(err.flags, GLV_ERROR_MAY_RETRY);
  FAIL(&err, GLV_E_CORRUPT, "other");
  assert_int_equal(err.sys_errno, 0);
  assert_int_equal(err.flags, 0);
}

static void prefix_keeps_the_code(void **state) {
  (void)state;
  glv_error err;
  error_set_errno(&err, GLV_E_IO, EIO, "cannot read");
  assert_int_equal(error_prefix(&err, GLV_E_CORRUPT, "table '%s': ", "t"), GLV_E_IO);
  assert_string_equal(err.message, "table 't': cannot read");
  assert_int_equal(err.sys_errno, EIO);
  char text[600];
  memset(text, 'z', 300);
  text[300] = '\0';
  FAIL(&err, GLV_E_IO, "%s\xC3\xA9", text);
  text[194] = '\0'; /* 194 + 300 + 2 = 496: the last character does not fit any more */
  error_prefix(&err, GLV_E_IO, "%s", text);
  assert_int_equal(strlen(err.message), 494);
  assert_true(str_is_utf8(str_of(err.message)));
}

static void every_status_has_a_name(void **state) {
  (void)state;
  for (int32_t code = 0; code <= 20; code++) {
    assert_string_not_equal(error_name(code), "GLV_E_UNKNOWN_CODE");
  }
  for (int32_t code = 100; code <= 123; code++) {
    assert_string_not_equal(error_name(code), "GLV_E_UNKNOWN_CODE");
  }
  assert_string_equal(error_name(0), "GLV_OK");
  assert_string_equal(error_name(104), "GLV_E_TABLE_NOT_FOUND");
  assert_string_equal(error_name(21), "GLV_E_UNKNOWN_CODE");
  assert_string_equal(error_name(-1), "GLV_E_UNKNOWN_CODE");
  assert_string_equal(error_name(124), "GLV_E_UNKNOWN_CODE");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(size_is_fixed),         cmocka_unit_test(long_message_is_cut_at_a_character),
      cmocka_unit_test(fits_exactly),          cmocka_unit_test(is_one_line),
      cmocka_unit_test(null_error_is_fine),    cmocka_unit_test(errno_flags_and_reset),
      cmocka_unit_test(prefix_keeps_the_code), cmocka_unit_test(every_status_has_a_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
