/* materialized-view definitions as text: the rules are in json_canonical.h. */
#include "base/json_canonical.h"

static const char *short_escape(char c) {
  switch (c) {
  case '"':
    return "\\\"";
  case '\\':
    return "\\\\";
  case '\b':
    return "\\b";
  case '\f':
    return "\\f";
  case '\n':
    return "\\n";
  case '\r':
    return "\\r";
  case '\t':
    return "\\t";
  default:
    return NULL;
  }
}

glv_status json_canonical_string(buf *out, str text, glv_error *err) {
  if (!str_is_utf8(text)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a text of the definition is not valid UTF-8");
  }
  TRY(buf_append_char(out, '"', err));
  for (size_t i = 0; i < text.size; i++) {
    const char c = text.data[i];
    const char *escape = short_escape(c);
    if (escape != NULL) {
      TRY(buf_append_str(out, str_of(escape), err));
    } else if ((unsigned char)c < 0x20) {
      TRY(buf_printf(out, err, "\\u%04x", (unsigned)(unsigned char)c));
    } else {
      TRY(buf_append_char(out, c, err));
    }
  }
  return buf_append_char(out, '"', err);
}
