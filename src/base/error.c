/*
 * The error type: one line of text in a buffer of fixed size, so that reporting needs no memory and
 * one struct copy moves a report to another thread. Invariant: message is always NUL-terminated and
 * never ends inside a UTF-8 sequence.
 */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Cut text[0..size) so that it does not end inside a multi-byte character. */
static size_t whole_characters(const char *text, size_t size) {
  size_t start = size;
  while (start > 0 && ((unsigned char)text[start - 1] & 0xC0u) == 0x80u) {
    start--;
  }
  if (start == 0) {
    return 0;
  }
  const unsigned char lead = (unsigned char)text[start - 1];
  const size_t need = lead < 0x80u ? 1u : lead >= 0xF0u ? 4u : lead >= 0xE0u ? 3u : 2u;
  return size - (start - 1) >= need ? size : start - 1;
}

__attribute__((format(printf, 2, 0))) static void set_message(glv_error *err, const char *format,
                                                              va_list arguments) {
  const int length = vsnprintf(err->message, sizeof err->message, format, arguments);
  if (length < 0) {
    err->message[0] = '\0';
  } else if ((size_t)length >= sizeof err->message) {
    err->message[whole_characters(err->message, sizeof err->message - 1)] = '\0';
  }
  for (char *c = err->message; *c != '\0'; c++) {
    if (*c == '\n' || *c == '\r') {
      *c = ' ';
    }
  }
}

glv_status error_set_va(glv_error *err, glv_status code, const char *format, va_list arguments) {
  if (err != NULL) {
    err->code = code;
    err->sys_errno = 0;
    err->http_status = 0;
    err->flags = 0;
    set_message(err, format, arguments);
  }
  return code;
}

glv_status error_set(glv_error *err, glv_status code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  error_set_va(err, code, format, arguments);
  va_end(arguments);
  return code;
}

glv_status error_set_errno(glv_error *err, glv_status code, int sys_errno, const char *format,
                           ...) {
  va_list arguments;
  va_start(arguments, format);
  error_set_va(err, code, format, arguments);
  va_end(arguments);
  if (err != NULL) {
    err->sys_errno = sys_errno;
  }
  return code;
}

glv_status error_prefix(glv_error *err, glv_status code, const char *format, ...) {
  if (err == NULL) {
    return code;
  }
  char rest[GLV_ERROR_MESSAGE_SIZE];
  memcpy(rest, err->message, sizeof rest);
  va_list arguments;
  va_start(arguments, format);
  set_message(err, format, arguments);
  va_end(arguments);
  const size_t used = strlen(err->message);
  const size_t room = sizeof err->message - 1 - used;
  const size_t length = strlen(rest);
  const size_t keep = length <= room ? length : whole_characters(rest, room);
  memcpy(err->message + used, rest, keep);
  err->message[used + keep] = '\0';
  return err->code;
}

glv_status error_pass(glv_error *err, const glv_error *from) {
  if (err != NULL) {
    *err = *from;
  }
  return from->code;
}

void error_flag(glv_error *err, uint32_t flags) {
  if (err != NULL) {
    err->flags |= flags;
  }
}

void error_report_nomem(glv_error *err, size_t size) {
  error_set(err, GLV_E_NOMEM, "out of memory: %zu bytes could not be allocated", size);
}

const char *error_name(glv_status status) {
  switch (status) {
#define STATUS_NAME(name, value, text)                                                             \
  case value:                                                                                      \
    return #name;
    GLV_STATUS_MAP(STATUS_NAME)
#undef STATUS_NAME
  default:
    return "GLV_E_UNKNOWN_CODE";
  }
}
