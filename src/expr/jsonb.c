/* Reading the binary form in place, and writing values out of it. */
#include "expr/jsonb.h"

#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/number.h"
#include "expr/jsonb_private.h"

static uint32_t load_be32(const char *p) { return __builtin_bswap32(load_le32(p)); }
static uint64_t load_be64(const char *p) { return __builtin_bswap64(load_le64(p)); }

static bool open_container(str data, jsonb *ret) {
  if (data.size < JSONB_WORD) {
    return false;
  }
  const uint32_t header = load_be32(data.data);
  const uint32_t kind = header & JSONB_HEADER_KIND;
  const uint32_t count = header & JSONB_HEADER_COUNT;
  if (kind != JSONB_HEADER_ARRAY && kind != JSONB_HEADER_OBJECT) {
    return false;
  }
  const size_t width = kind == JSONB_HEADER_OBJECT ? 2 * JSONB_WORD : JSONB_WORD;
  *ret = (jsonb){kind == JSONB_HEADER_OBJECT ? JSONB_OBJECT : JSONB_ARRAY, count, data};
  return count <= (data.size - JSONB_WORD) / width;
}

/* What an entry describes, whose bytes are `data`. */
static bool open_item(uint32_t entry, str data, jsonb *ret) {
  switch (entry & JSONB_ENTRY_KIND) {
  case JSONB_ENTRY_NULL:
    *ret = (jsonb){.kind = JSONB_NULL};
    return true;
  case JSONB_ENTRY_FALSE:
    *ret = (jsonb){.kind = JSONB_FALSE};
    return true;
  case JSONB_ENTRY_TRUE:
    *ret = (jsonb){.kind = JSONB_TRUE};
    return true;
  case JSONB_ENTRY_NUMBER:
    *ret = (jsonb){.kind = JSONB_NUMBER, .data = data};
    return data.size > 0;
  case JSONB_ENTRY_STRING:
    *ret = (jsonb){.kind = JSONB_STRING, .data = data};
    return str_is_utf8(data);
  case JSONB_ENTRY_EXTENSION:
    *ret = (jsonb){.kind = JSONB_EXTENSION, .data = data};
    return true;
  case JSONB_ENTRY_CONTAINER:
    return open_container(data, ret);
  default:
    return false;
  }
}

/* The item that the entry at *entry describes and that begins at *at; both move on. */
static bool take(str data, size_t *entry, size_t *at, uint32_t *ret_entry, str *ret) {
  *ret_entry = load_be32(data.data + *entry);
  const uint32_t size = *ret_entry & JSONB_ENTRY_SIZE;
  if (!range_within(*at, size, data.size)) {
    return false;
  }
  *ret = str_slice(data.data + *at, size);
  *entry += JSONB_WORD;
  *at += size;
  return true;
}

bool jsonb_open(str document, jsonb *ret) {
  if (document.size < JSONB_WORD ||
      (load_be32(document.data) & JSONB_HEADER_KIND) != JSONB_HEADER_SCALAR) {
    return open_container(document, ret);
  }
  size_t entry = JSONB_WORD;
  size_t at = 2 * JSONB_WORD;
  uint32_t described;
  str data;
  return document.size >= at && take(document, &entry, &at, &described, &data) &&
         (described & JSONB_ENTRY_KIND) != JSONB_ENTRY_CONTAINER && open_item(described, data, ret);
}

bool jsonb_walk_begin(const jsonb *container, jsonb_walk *ret) {
  const size_t count = container->count;
  *ret = (jsonb_walk){.data = container->data, .left = container->count, .entry = JSONB_WORD};
  ret->at = JSONB_WORD + count * JSONB_WORD;
  if (container->kind != JSONB_OBJECT) {
    return true;
  }
  ret->has_keys = true;
  ret->key_entry = JSONB_WORD;
  ret->key_at = JSONB_WORD + 2 * count * JSONB_WORD;
  ret->entry = JSONB_WORD + count * JSONB_WORD;
  ret->at = ret->key_at;
  for (size_t i = 0; i < count; i++) { /* the values begin behind all keys */
    ret->at += load_be32(ret->data.data + ret->key_entry + i * JSONB_WORD) & JSONB_ENTRY_SIZE;
  }
  return ret->at <= ret->data.size;
}

bool jsonb_walk_next(jsonb_walk *w, str *ret_key, jsonb *ret, bool *ret_end) {
  uint32_t described;
  str data;
  *ret_end = w->left == 0;
  *ret_key = str_slice(NULL, 0);
  if (*ret_end) {
    return true;
  }
  w->left--;
  if (w->has_keys) {
    jsonb key;
    if (!take(w->data, &w->key_entry, &w->key_at, &described, &data) ||
        !open_item(described, data, &key) || key.kind != JSONB_STRING) {
      return false;
    }
    *ret_key = key.data;
  }
  return take(w->data, &w->entry, &w->at, &described, &data) && open_item(described, data, ret);
}

bool jsonb_member(const jsonb *object, str key, jsonb *ret, bool *ret_found) {
  jsonb_walk w;
  *ret_found = false;
  if (object->kind != JSONB_OBJECT) {
    return true;
  }
  if (!jsonb_walk_begin(object, &w)) {
    return false;
  }
  for (;;) {
    str name;
    bool end;
    if (!jsonb_walk_next(&w, &name, ret, &end)) {
      return false;
    }
    if (end || str_equal(name, key)) {
      *ret_found = !end;
      return true;
    }
  }
}

bool jsonb_item(const jsonb *array, uint64_t index, jsonb *ret, bool *ret_found) {
  jsonb_walk w;
  *ret_found = array->kind == JSONB_ARRAY && index < array->count;
  if (!*ret_found) {
    return true;
  }
  if (!jsonb_walk_begin(array, &w)) {
    return false;
  }
  for (uint64_t i = 0; i <= index; i++) {
    str name;
    bool end;
    if (!jsonb_walk_next(&w, &name, ret, &end)) {
      return false;
    }
  }
  return true;
}

/* ---- numbers ---- */

/* A big-endian integer of size bytes, at most 8, with its sign if it has one. */
static uint64_t load_be(const char *p, size_t size, bool is_signed) {
  uint64_t value = is_signed && (p[0] & 0x80) != 0 ? UINT64_MAX : 0;
  for (size_t i = 0; i < size; i++) {
    value = value << 8 | (uint8_t)p[i];
  }
  return value;
}

static bool load_decimal(const char *p, size_t size, jsonb_number *ret) {
  ret->kind = JSONB_DECIMAL;
  const uint128 upper = (uint128)load_be64(p) << 64;
  switch (size) { /* the value, perhaps a byte of precision, the scale */
  case 9:
    ret->decimal = int256_of((int64_t)load_be64(p));
    break;
  case 17:
  case 18:
    ret->decimal = int256_of((int128)(upper | load_be64(p + 8)));
    break;
  case 33:
  case 34:
    ret->decimal = (int256){(uint128)load_be64(p + 16) << 64 | load_be64(p + 24),
                            (int128)(upper | load_be64(p + 8))};
    break;
  default:
    return false;
  }
  ret->scale = (uint8_t)p[size - 1];
  return ret->scale <= DECIMAL256_DIGITS;
}

bool jsonb_number_of(const jsonb *v, jsonb_number *ret) {
  const size_t size = v->data.size - 1;
  const char *p = v->data.data + 1;
  const bool is_word = size == 1 || size == 2 || size == 4 || size == 8;
  *ret = (jsonb_number){.kind = JSONB_FLOAT64};
  switch ((uint8_t)v->data.data[0]) {
  case JSONB_NUMBER_ZERO:
    ret->kind = JSONB_UINT64;
    return true;
  case JSONB_NUMBER_NAN:
    ret->f = (double)NAN;
    return true;
  case JSONB_NUMBER_INFINITY:
    ret->f = (double)INFINITY;
    return true;
  case JSONB_NUMBER_MINUS_INFINITY:
    ret->f = -(double)INFINITY;
    return true;
  case JSONB_NUMBER_INT:
    ret->kind = JSONB_INT64;
    ret->i = is_word ? (int64_t)load_be(p, size, true) : 0;
    return is_word;
  case JSONB_NUMBER_UINT:
    ret->kind = JSONB_UINT64;
    ret->u = is_word ? load_be(p, size, false) : 0;
    return is_word;
  case JSONB_NUMBER_FLOAT:
    if (size == sizeof ret->f) {
      const uint64_t bits = load_be64(p);
      memcpy(&ret->f, &bits, sizeof bits);
    }
    return size == sizeof ret->f;
  case JSONB_NUMBER_DECIMAL:
    return size >= 9 && load_decimal(p, size, ret);
  default:
    return false;
  }
}

double jsonb_number_double(const jsonb_number *n) {
  switch (n->kind) {
  case JSONB_INT64:
    return (double)n->i;
  case JSONB_UINT64:
    return (double)n->u;
  case JSONB_FLOAT64:
    return n->f;
  case JSONB_DECIMAL:
    break;
  }
  return int256_to_double(n->decimal) / pow(10.0, n->scale);
}

static int128 whole(const jsonb_number *n) {
  return n->kind == JSONB_INT64 ? (int128)n->i : (int128)n->u;
}

int jsonb_number_compare(const jsonb_number *a, const jsonb_number *b) {
  if (a->kind <= JSONB_UINT64 && b->kind <= JSONB_UINT64) {
    return (whole(a) > whole(b)) - (whole(a) < whole(b));
  }
  const double l = jsonb_number_double(a);
  const double r = jsonb_number_double(b);
  if (isnan(l) || isnan(r)) {
    return isnan(l) - isnan(r);
  }
  return (l > r) - (l < r);
}

/* Shortest digits; the exponent has a sign always. */
static glv_status print_double(double value, buf *out, glv_error *err) {
  char text[NUMBER_TEXT_SIZE];
  const str all = str_slice(text, number_print64(value, text));
  const char *e = isfinite(value) ? memchr(all.data, 'e', all.size) : NULL;
  if (e == NULL || e[1] == '-') {
    return buf_append_str(out, all, err);
  }
  const size_t mantissa = (size_t)(e - all.data) + 1;
  TRY(buf_append(out, all.data, mantissa, err));
  TRY(buf_append_char(out, '+', err));
  return buf_append(out, e + 1, all.size - mantissa, err);
}

glv_status jsonb_number_print(const jsonb_number *n, buf *out, glv_error *err) {
  char text[INT256_TEXT_SIZE + DECIMAL256_DIGITS];
  switch (n->kind) {
  case JSONB_INT64:
    return buf_printf(out, err, "%lld", (long long)n->i);
  case JSONB_UINT64:
    return buf_printf(out, err, "%llu", (unsigned long long)n->u);
  case JSONB_FLOAT64:
    return print_double(n->f, out, err);
  case JSONB_DECIMAL:
    break;
  }
  return buf_append(out, text, int256_print(n->decimal, n->scale, text), err);
}

/* ---- writing ---- */

uint32_t jsonb_entry_of(enum jsonb_kind kind) {
  static const uint32_t ENTRIES[] = {
      [JSONB_NULL] = JSONB_ENTRY_NULL,       [JSONB_FALSE] = JSONB_ENTRY_FALSE,
      [JSONB_TRUE] = JSONB_ENTRY_TRUE,       [JSONB_NUMBER] = JSONB_ENTRY_NUMBER,
      [JSONB_STRING] = JSONB_ENTRY_STRING,   [JSONB_EXTENSION] = JSONB_ENTRY_EXTENSION,
      [JSONB_ARRAY] = JSONB_ENTRY_CONTAINER, [JSONB_OBJECT] = JSONB_ENTRY_CONTAINER};
  return ENTRIES[kind];
}

glv_status jsonb_write(const jsonb *v, buf *out, glv_error *err) {
  if (v->kind >= JSONB_ARRAY) {
    return buf_append_str(out, v->data, err);
  }
  TRY(jsonb_put_word(out, JSONB_HEADER_SCALAR, err));
  TRY(jsonb_put_word(out, jsonb_entry_of(v->kind) | (uint32_t)v->data.size, err));
  return buf_append_str(out, v->data, err);
}

static glv_status corrupt(glv_error *err) {
  return FAIL(err, GLV_E_SQL_EXEC, "a JSON value is not well-formed in its binary form");
}

static glv_status print_escaped(char c, buf *out, glv_error *err) {
  static const char SHORT[] = "btnvfr"; /* of 8 to 13; 11 has none */
  if (c == '"' || c == '\\') {
    return buf_printf(out, err, "\\%c", c);
  }
  if (c >= 8 && c <= 13 && c != 11) {
    return buf_printf(out, err, "\\%c", SHORT[c - 8]);
  }
  return buf_printf(out, err, "\\u%04x", (unsigned)c);
}

static glv_status print_string(str text, buf *out, glv_error *err) {
  TRY(buf_append_char(out, '"', err));
  size_t plain = 0; /* where what is not written yet begins */
  for (size_t i = 0; i < text.size; i++) {
    const char c = text.data[i];
    if (c == '"' || c == '\\' || (unsigned char)c < 0x20) {
      TRY(buf_append(out, text.data + plain, i - plain, err));
      TRY(print_escaped(c, out, err));
      plain = i + 1;
    }
  }
  TRY(buf_append(out, text.data + plain, text.size - plain, err));
  return buf_append_char(out, '"', err);
}

static glv_status print_number(const jsonb *v, buf *out, glv_error *err) {
  jsonb_number n;
  if (!jsonb_number_of(v, &n)) {
    return corrupt(err);
  }
  if (n.kind == JSONB_DECIMAL) {
    n = (jsonb_number){.kind = JSONB_FLOAT64, .f = jsonb_number_double(&n)};
  }
  if (n.kind == JSONB_FLOAT64 && !isfinite(n.f)) {
    return buf_append_str(out, STR("null"), err);
  }
  return jsonb_number_print(&n, out, err);
}

static glv_status print_value(const jsonb *v, unsigned depth, buf *out, glv_error *err);

static glv_status print_container(const jsonb *v, unsigned depth, buf *out, glv_error *err) {
  jsonb_walk w;
  jsonb item;
  str key;
  bool end;
  if (depth == LIMIT_JSONB_DEPTH) {
    return FAIL(err, GLV_E_SQL_EXEC, "a JSON value is nested more than %d deep", LIMIT_JSONB_DEPTH);
  }
  if (!jsonb_walk_begin(v, &w)) {
    return corrupt(err);
  }
  TRY(buf_append_char(out, w.has_keys ? '{' : '[', err));
  for (bool is_first = true;; is_first = false) {
    if (!jsonb_walk_next(&w, &key, &item, &end)) {
      return corrupt(err);
    }
    if (end) {
      break;
    }
    if (!is_first) {
      TRY(buf_append_char(out, ',', err));
    }
    if (w.has_keys) {
      TRY(print_string(key, out, err));
      TRY(buf_append_char(out, ':', err));
    }
    TRY(print_value(&item, depth + 1, out, err));
  }
  return buf_append_char(out, w.has_keys ? '}' : ']', err);
}

static glv_status print_value(const jsonb *v, unsigned depth, buf *out, glv_error *err) {
  switch (v->kind) {
  case JSONB_NULL:
    return buf_append_str(out, STR("null"), err);
  case JSONB_FALSE:
    return buf_append_str(out, STR("false"), err);
  case JSONB_TRUE:
    return buf_append_str(out, STR("true"), err);
  case JSONB_NUMBER:
    return print_number(v, out, err);
  case JSONB_STRING:
    return print_string(v->data, out, err);
  case JSONB_EXTENSION:
    return FAIL(err, GLV_E_SQL_EXEC,
                "a JSON value holds a date, an interval or bytes, which have no form in JSON");
  case JSONB_ARRAY:
  case JSONB_OBJECT:
    break;
  }
  return print_container(v, depth, out, err);
}

glv_status jsonb_print(const jsonb *v, buf *out, glv_error *err) {
  return print_value(v, 0, out, err);
}
