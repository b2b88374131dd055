/*
 * An id is percent-decoded before it is split, for some clients encode the delimiter and some do
 * not; what is printed here has it bare, as the remote clients of LanceDB do.
 */
#include "wire/path.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"

enum { MAX_PART_BYTES = 4096 };

static bool is_unreserved(unsigned char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

glv_status wire_percent_encode(str text, buf *out, glv_error *err) {
  static const char digits[] = "0123456789ABCDEF";
  for (size_t i = 0; i < text.size; i++) {
    const unsigned char c = (unsigned char)text.data[i];
    if (is_unreserved(c)) {
      TRY(buf_append_char(out, (char)c, err));
    } else {
      const char escape[] = {'%', digits[c >> 4], digits[c & 15]};
      TRY(buf_append(out, escape, sizeof escape, err));
    }
  }
  return GLV_OK;
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

glv_status wire_percent_decode(arena *memory, str text, bool plus, char **ret, glv_error *err) {
  if (text.size > MAX_PART_BYTES && !plus) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a part of the path is longer than %d bytes",
                MAX_PART_BYTES);
  }
  char *out = arena_alloc(memory, text.size + 1);
  if (out == NULL) {
    return error_nomem(err, text.size + 1);
  }
  size_t size = 0;
  for (size_t i = 0; i < text.size; i++) {
    char c = text.data[i];
    if (c == '%') {
      const int high = i + 2 < text.size ? hex_digit(text.data[i + 1]) : -1;
      const int low = high >= 0 ? hex_digit(text.data[i + 2]) : -1;
      if (low < 0) {
        return FAIL(err, GLV_E_INVALID_INPUT,
                    "the address has a '%%' that two hexadecimal digits do not follow");
      }
      c = (char)(high * 16 + low);
      i += 2;
    } else if (plus && c == '+') {
      c = ' ';
    }
    if (c == '\0') {
      return FAIL(err, GLV_E_INVALID_INPUT, "the address has a NUL byte");
    }
    out[size++] = c;
  }
  if (!str_is_utf8(str_slice(out, size))) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the address is not UTF-8");
  }
  *ret = out;
  return GLV_OK;
}

glv_status wire_check_name(str name, glv_error *err) {
  if (name.size == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a name in the path is empty");
  }
  if (str_is(name, ".") || str_is(name, "..")) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "the name '%.*s' is read as a relative path segment and cannot address an object",
                STR_ARG(name));
  }
  for (size_t i = 0; i < name.size; i++) {
    const unsigned char c = (unsigned char)name.data[i];
    if (c < 0x20 || c == 0x7F || c == '/' || c == '\\' || c == '$') {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "a name in the path contains a character that no name may have (0x%02x)", c);
    }
  }
  return GLV_OK;
}

glv_status wire_id_split(arena *memory, char *text, const char *delimiter, const char *const **ret,
                         size_t *ret_count, glv_error *err) {
  const size_t width = strlen(delimiter);
  if (width == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the parameter 'delimiter' is empty");
  }
  const char **parts = ARENA_ARRAY(memory, const char *, WIRE_MAX_ID_PARTS);
  if (parts == NULL) {
    return error_nomem(err, WIRE_MAX_ID_PARTS * sizeof *parts);
  }
  size_t count = 0;
  for (char *next = strcmp(text, delimiter) != 0 ? text : NULL; next != NULL;) {
    char *part = next;
    next = strstr(part, delimiter);
    if (next != NULL) {
      *next = '\0';
      next += width;
    }
    if (count == WIRE_MAX_ID_PARTS) {
      return FAIL(err, GLV_E_INVALID_INPUT, "the path of the object has more than %d parts",
                  WIRE_MAX_ID_PARTS);
    }
    TRY(wire_check_name(str_of(part), err));
    parts[count++] = part;
  }
  *ret = parts;
  *ret_count = count;
  return GLV_OK;
}

/* ---- making ---- */

glv_status wire_id_print(const char *const *parts, size_t count, buf *out, glv_error *err) {
  if (count == 0) {
    return buf_append_str(out, STR(WIRE_DELIMITER), err);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(wire_check_name(str_of(parts[i]), err));
    TRY(buf_append_str(out, i > 0 ? STR(WIRE_DELIMITER) : (str){NULL, 0}, err));
    TRY(wire_percent_encode(str_of(parts[i]), out, err));
  }
  return GLV_OK;
}

glv_status wire_path(const char *pattern, const wire_target *target, buf *out, glv_error *err) {
  for (const char *rest = pattern; *rest != '\0';) {
    const char *brace = strchr(rest, '{');
    const size_t literal = brace != NULL ? (size_t)(brace - rest) : strlen(rest);
    TRY(buf_append(out, rest, literal, err));
    rest += literal;
    if (str_starts_with(str_of(rest), STR("{id}"))) {
      TRY(wire_id_print(target->id, target->id_count, out, err));
      rest += strlen("{id}");
    } else if (str_starts_with(str_of(rest), STR("{name}"))) {
      TRY(wire_check_name(str_of(target->name), err));
      TRY(wire_percent_encode(str_of(target->name), out, err));
      rest += strlen("{name}");
    } else if (*rest != '\0') {
      return FAIL(err, GLV_E_INTERNAL, "the pattern '%s' has an unknown place", pattern);
    }
  }
  return GLV_OK;
}

glv_status wire_param(buf *target, const char *name, str value, glv_error *err) {
  const bool first = target->size == 0 || memchr(target->data, '?', target->size) == NULL;
  TRY(buf_append_char(target, first ? '?' : '&', err));
  TRY(wire_percent_encode(str_of(name), target, err));
  TRY(buf_append_char(target, '=', err));
  return wire_percent_encode(value, target, err);
}

glv_status wire_param_uint(buf *target, const char *name, uint64_t value, glv_error *err) {
  char digits[24];
  const int size = snprintf(digits, sizeof digits, "%" PRIu64, value);
  return wire_param(target, name, str_slice(digits, (size_t)size), err);
}

glv_status wire_param_bool(buf *target, const char *name, bool value, glv_error *err) {
  return wire_param(target, name, value ? STR("true") : STR("false"), err);
}
