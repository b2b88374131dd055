/* A small JSON reader: recursive descent over trusted lines, everything in an arena. */
#include "corpus/value.h"

enum { DEPTH_MAX = 64 };

struct reader {
  arena *a;
  const char *at;
  const char *end;
  int depth;
};

static bool read_value(struct reader *r, value *ret);

static void skip_space(struct reader *r) {
  while (r->at < r->end && strchr(" \t\r\n", *r->at) != NULL) {
    r->at++;
  }
}

static bool take(struct reader *r, char c) {
  skip_space(r);
  if (r->at < r->end && *r->at == c) {
    r->at++;
    return true;
  }
  return false;
}

static bool take_word(struct reader *r, const char *word) {
  const size_t size = strlen(word);
  if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0) {
    return false;
  }
  r->at += size;
  return true;
}

static bool read_hex(struct reader *r, uint32_t *ret) {
  *ret = 0;
  for (int i = 0; i < 4; i++) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = r->at < r->end && *r->at != '\0' ? strchr(digits, *r->at) : NULL;
    if (found == NULL) {
      return false;
    }
    *ret = *ret << 4 | (uint32_t)((found - digits) % 16);
    r->at++;
  }
  return true;
}

static size_t encode(uint32_t c, char *out) {
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  if (c < 0x800) {
    out[0] = (char)(0xC0 | c >> 6);
    out[1] = (char)(0x80 | (c & 0x3F));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = (char)(0xE0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3F));
    out[2] = (char)(0x80 | (c & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 | c >> 18);
  out[1] = (char)(0x80 | (c >> 12 & 0x3F));
  out[2] = (char)(0x80 | (c >> 6 & 0x3F));
  out[3] = (char)(0x80 | (c & 0x3F));
  return 4;
}

static bool read_escape(struct reader *r, char *out, size_t *size) {
  static const char from[] = "\"\\/bfnrt";
  static const char to[] = "\"\\/\b\f\n\r\t";
  const char c = *r->at++;
  if (c != 'u') {
    const char *found = strchr(from, c);
    if (c == '\0' || found == NULL) {
      return false;
    }
    out[(*size)++] = to[found - from];
    return true;
  }
  uint32_t code = 0;
  uint32_t low = 0;
  if (!read_hex(r, &code)) {
    return false;
  }
  if (code >= 0xD800 && code < 0xDC00) {
    if (!take_word(r, "\\u") || !read_hex(r, &low)) {
      return false;
    }
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  *size += encode(code, out + *size);
  return true;
}

/* The opening quote is taken. */
static bool read_string(struct reader *r, str *ret) {
  const char *stop = r->at;
  while (stop < r->end && *stop != '"') {
    stop += *stop == '\\' ? 2 : 1;
  }
  if (stop >= r->end) {
    return false;
  }
  char *out = arena_alloc(r->a, (size_t)(stop - r->at) + 4);
  size_t size = 0;
  if (out == NULL) {
    return false;
  }
  while (r->at < stop) {
    if (*r->at == '\\') {
      r->at++;
      if (!read_escape(r, out, &size)) {
        return false;
      }
    } else {
      out[size++] = *r->at++;
    }
  }
  r->at++;
  *ret = str_slice(out, size);
  return true;
}

/* Items up to `close`, with keys in an object. */
static bool read_items(struct reader *r, bool has_keys, char close, value *ret) {
  size_t capacity = 0;
  if (take(r, close)) {
    return true;
  }
  do {
    if (ret->count == capacity) {
      capacity = capacity == 0 ? 16 : 2 * capacity;
      value *more = ARENA_ARRAY(r->a, value, capacity);
      if (more == NULL) {
        return false;
      }
      if (ret->count > 0) {
        memcpy(more, ret->items, ret->count * sizeof *more);
      }
      ret->items = more;
    }
    value *item = &ret->items[ret->count];
    str key = {0};
    if (has_keys && (!take(r, '"') || !read_string(r, &key) || !take(r, ':'))) {
      return false;
    }
    if (!read_value(r, item)) {
      return false;
    }
    item->key = key;
    ret->count++;
  } while (take(r, ','));
  return take(r, close);
}

static bool read_number(struct reader *r, value *ret) {
  const char *first = r->at;
  while (r->at < r->end && strchr("+-.0123456789eE", *r->at) != NULL) {
    r->at++;
  }
  ret->kind = VALUE_NUMBER;
  ret->text = str_slice(first, (size_t)(r->at - first));
  return ret->text.size > 0;
}

static bool read_nested(struct reader *r, char open, value *ret) {
  const bool is_object = open == '{';
  ret->kind = is_object ? VALUE_OBJECT : VALUE_ARRAY;
  if (++r->depth > DEPTH_MAX) {
    return false;
  }
  const bool ok = read_items(r, is_object, is_object ? '}' : ']', ret);
  r->depth--;
  return ok;
}

static bool read_value(struct reader *r, value *ret) {
  *ret = (value){0};
  skip_space(r);
  if (r->at >= r->end) {
    return false;
  }
  switch (*r->at) {
  case '{':
  case '[':
    return read_nested(r, *r->at++, ret);
  case '"':
    r->at++;
    ret->kind = VALUE_STRING;
    return read_string(r, &ret->text);
  case 't':
  case 'f':
    ret->kind = VALUE_BOOL;
    ret->truth = *r->at == 't';
    return take_word(r, ret->truth ? "true" : "false");
  case 'n':
    return take_word(r, "null");
  default:
    return read_number(r, ret);
  }
}

const value *value_parse(arena *a, str text) {
  struct reader r = {.a = a, .at = text.data, .end = text.data + text.size};
  value *root = ARENA_NEW(a, value);
  if (root == NULL || !read_value(&r, root)) {
    return NULL;
  }
  skip_space(&r);
  return r.at == r.end ? root : NULL;
}

const value *value_member(const value *object, const char *key) {
  for (size_t i = 0; i < object->count; i++) {
    if (str_is(object->items[i].key, key)) {
      return &object->items[i];
    }
  }
  return NULL;
}

str value_text(const value *object, const char *key) {
  const value *v = value_member(object, key);
  return v != NULL && v->kind == VALUE_STRING ? v->text : STR("");
}
