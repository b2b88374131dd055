/*
 * A scanner over one text in memory. Values are skipped without recursion: brackets are matched by
 * a stack of bits, as deep as LIMIT_JSON_DEPTH.
 */
#include "text/json_scan.h"

enum { LIMIT_JSON_DEPTH = 512 };

static bool fail(json_scan *s, const char *problem) {
  if (s->problem == NULL) {
    s->problem = problem;
  }
  return false;
}

static void skip_space(json_scan *s) {
  while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r')) {
    s->at++;
  }
}

enum json_kind json_scan_peek(json_scan *s) {
  skip_space(s);
  switch (s->at < s->end ? *s->at : '\0') {
  case 'n':
    return JSON_NULL;
  case 't':
  case 'f':
    return JSON_BOOL;
  case '"':
    return JSON_STRING;
  case '[':
    return JSON_ARRAY;
  case '{':
    return JSON_OBJECT;
  case '-':
  case '0':
  case '1':
  case '2':
  case '3':
  case '4':
  case '5':
  case '6':
  case '7':
  case '8':
  case '9':
    return JSON_NUMBER;
  default:
    fail(s, "a JSON value is missing");
    return JSON_BAD;
  }
}

static bool word(json_scan *s, str w) {
  skip_space(s);
  if (!str_starts_with(str_slice(s->at, (size_t)(s->end - s->at)), w)) {
    return fail(s, "unknown JSON word");
  }
  s->at += w.size;
  return true;
}

bool json_scan_null(json_scan *s) { return word(s, STR("null")); }

bool json_scan_bool(json_scan *s, bool *ret) {
  skip_space(s);
  *ret = s->at < s->end && *s->at == 't';
  return word(s, *ret ? STR("true") : STR("false"));
}

static bool digits(json_scan *s) {
  const char *start = s->at;
  while (s->at < s->end && *s->at >= '0' && *s->at <= '9') {
    s->at++;
  }
  return s->at != start || fail(s, "malformed JSON number");
}

static bool accept(json_scan *s, char c) {
  if (s->at < s->end && *s->at == c) {
    s->at++;
    return true;
  }
  return false;
}

bool json_scan_number(json_scan *s, str *ret, bool *ret_integer) {
  skip_space(s);
  const char *start = s->at;
  (void)accept(s, '-');
  const bool zero = s->at < s->end && *s->at == '0';
  const char *first = s->at;
  if (!digits(s) || (zero && s->at - first > 1)) {
    return fail(s, "malformed JSON number");
  }
  *ret_integer = true;
  if (accept(s, '.')) {
    *ret_integer = false;
    if (!digits(s)) {
      return false;
    }
  }
  if (accept(s, 'e') || accept(s, 'E')) {
    *ret_integer = false;
    if (!accept(s, '+')) {
      (void)accept(s, '-');
    }
    if (!digits(s)) {
      return false;
    }
  }
  *ret = str_slice(start, (size_t)(s->at - start));
  return true;
}

static bool hex4(json_scan *s, unsigned *ret) {
  unsigned value = 0;
  if (s->end - s->at < 4) {
    return fail(s, "malformed escape in a JSON string");
  }
  for (int i = 0; i < 4; i++) {
    const char c = *s->at++;
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) {
      return fail(s, "malformed escape in a JSON string");
    }
    value = value * 16 + (unsigned)digit;
  }
  *ret = value;
  return true;
}

static size_t put_utf8(char *out, unsigned c) {
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  if (c < 0x800) {
    out[0] = (char)(0xC0 | (c >> 6));
    out[1] = (char)(0x80 | (c & 0x3F));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = (char)(0xE0 | (c >> 12));
    out[1] = (char)(0x80 | ((c >> 6) & 0x3F));
    out[2] = (char)(0x80 | (c & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 | (c >> 18));
  out[1] = (char)(0x80 | ((c >> 12) & 0x3F));
  out[2] = (char)(0x80 | ((c >> 6) & 0x3F));
  out[3] = (char)(0x80 | (c & 0x3F));
  return 4;
}

/* After \u: one character, from two escapes when it is outside of the basic plane. */
static bool unicode_escape(json_scan *s, unsigned *ret) {
  unsigned low = 0;
  if (!hex4(s, ret)) {
    return false;
  }
  if (*ret >= 0xDC00 && *ret <= 0xDFFF) {
    return fail(s, "half a surrogate pair in a JSON string");
  }
  if (*ret >= 0xD800 && *ret <= 0xDBFF) {
    if (!accept(s, '\\') || !accept(s, 'u') || !hex4(s, &low) || low < 0xDC00 || low > 0xDFFF) {
      return fail(s, "half a surrogate pair in a JSON string");
    }
    *ret = 0x10000 + ((*ret - 0xD800) << 10) + (low - 0xDC00);
  }
  return true;
}

/* After a backslash. */
static bool escape(json_scan *s, buf *out) {
  static const char from[] = "\"\\/bfnrt";
  static const char to[] = "\"\\/\b\f\n\r\t";
  char text[4];
  size_t size = 1;
  const char c = s->at < s->end ? *s->at++ : '\0';
  const char *known = c != '\0' ? memchr(from, c, sizeof from - 1) : NULL;
  if (known != NULL) {
    text[0] = to[known - from];
  } else if (c == 'u') {
    unsigned code = 0;
    if (!unicode_escape(s, &code)) {
      return false;
    }
    size = put_utf8(text, code);
  } else {
    return fail(s, "malformed escape in a JSON string");
  }
  s->status = buf_append(out, text, size, NULL);
  return s->status == GLV_OK || fail(s, "no memory");
}

/* Up to the next quote, backslash or control character. */
static str plain_run(json_scan *s) {
  const char *start = s->at;
  while (s->at < s->end && *s->at != '"' && *s->at != '\\' && (unsigned char)*s->at >= 0x20) {
    s->at++;
  }
  return str_slice(start, (size_t)(s->at - start));
}

bool json_scan_string(json_scan *s, buf *scratch, str *ret) {
  skip_space(s);
  if (!accept(s, '"')) {
    return fail(s, "a JSON string is missing");
  }
  str run = plain_run(s);
  if (accept(s, '"')) {
    *ret = run;
    return true;
  }
  buf_clear(scratch);
  for (;;) {
    s->status = buf_append_str(scratch, run, NULL);
    if (s->status != GLV_OK) {
      return fail(s, "no memory");
    }
    if (accept(s, '"')) {
      *ret = buf_str(scratch);
      return true;
    }
    if (!accept(s, '\\')) {
      return fail(s, s->at < s->end ? "control character in a JSON string"
                                    : "a JSON string does not end");
    }
    if (!escape(s, scratch)) {
      return false;
    }
    run = plain_run(s);
  }
}

bool json_scan_begin(json_scan *s, char open) {
  skip_space(s);
  return accept(s, open) || fail(s, open == '[' ? "`[` is missing" : "`{` is missing");
}

bool json_scan_more(json_scan *s, char close, bool *first) {
  skip_space(s);
  if (s->problem != NULL) {
    return false;
  }
  if (accept(s, close)) {
    return false;
  }
  if (!*first && !accept(s, ',')) {
    return fail(s, close == ']' ? "`,` or `]` is missing" : "`,` or `}` is missing");
  }
  *first = false;
  return true;
}

bool json_scan_key(json_scan *s, buf *scratch, str *ret) {
  if (!json_scan_string(s, scratch, ret)) {
    return false;
  }
  skip_space(s);
  return accept(s, ':') || fail(s, "`:` is missing");
}

bool json_scan_at_end(json_scan *s) {
  skip_space(s);
  return s->at == s->end;
}

/* A string, unread: its escapes are only stepped over. */
static bool skip_string(json_scan *s) {
  (void)accept(s, '"');
  for (;;) {
    (void)plain_run(s);
    if (accept(s, '"')) {
      return true;
    }
    if (!accept(s, '\\') || s->at == s->end) {
      return fail(s, "a JSON string does not end");
    }
    s->at++;
  }
}

static bool skip_flat(json_scan *s) {
  str text;
  bool flag;
  switch (json_scan_peek(s)) {
  case JSON_NULL:
    return json_scan_null(s);
  case JSON_BOOL:
    return json_scan_bool(s, &flag);
  case JSON_NUMBER:
    return json_scan_number(s, &text, &flag);
  case JSON_STRING:
    return skip_string(s);
  case JSON_BAD:
  case JSON_ARRAY:
  case JSON_OBJECT:
    break;
  }
  return false;
}

/* Skip the key in front of a member. */
static bool skip_key(json_scan *s) {
  skip_space(s);
  if (s->at == s->end || *s->at != '"' || !skip_string(s)) {
    return fail(s, "a JSON string is missing");
  }
  skip_space(s);
  return accept(s, ':') || fail(s, "`:` is missing");
}

bool json_scan_skip(json_scan *s, str *ret) {
  bool is_object[LIMIT_JSON_DEPTH];
  size_t depth = 0;
  bool first = false;
  skip_space(s);
  const char *start = s->at;
  do {
    const enum json_kind kind = json_scan_peek(s);
    if (kind == JSON_ARRAY || kind == JSON_OBJECT) {
      if (depth == LIMIT_JSON_DEPTH) {
        return fail(s, "JSON nests too deep");
      }
      is_object[depth++] = kind == JSON_OBJECT;
      s->at++;
      first = true;
    } else if (!skip_flat(s)) {
      return false;
    }
    while (depth != 0 && !json_scan_more(s, is_object[depth - 1] ? '}' : ']', &first)) {
      if (s->problem != NULL) {
        return false;
      }
      depth--;
    }
    if (depth != 0 && is_object[depth - 1] && !skip_key(s)) {
      return false;
    }
  } while (depth != 0);
  *ret = str_slice(start, (size_t)(s->at - start));
  return true;
}
