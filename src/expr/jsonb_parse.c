/* JSON text to its binary form: a recursive parser makes a tree, whose objects are sorted, and the
 * tree is laid out. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/number.h"
#include "expr/jsonb.h"
#include "expr/jsonb_private.h"
#include "expr/unicode.h"

/* A value; `bytes` are the text of a string or the coded form of a number. */
typedef struct tree {
  enum jsonb_kind kind;
  uint32_t count;
  str bytes;
  str key; /* in an object */
  struct tree *first;
  struct tree *next;
} tree;

typedef struct parser {
  glv_env *env;
  arena nodes;
  buf scratch;
  str text;
  size_t at;
  unsigned depth;
} parser;

static void parser_dispose(parser *p) {
  arena_dispose(&p->nodes);
  buf_dispose(&p->scratch);
}

static glv_status fail(const parser *p, const char *what, glv_error *err) {
  return FAIL(err, GLV_E_INVALID_INPUT, "Failed to encode JSONB: %s at byte %zu", what, p->at);
}

static char peek(const parser *p) { return p->at < p->text.size ? p->text.data[p->at] : '\0'; }
static bool at_end(const parser *p) { return p->at >= p->text.size; }

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* White space, also written as an escape sequence. */
static void skip_space(parser *p) {
  while (!at_end(p)) {
    const str rest = str_slice(p->text.data + p->at, p->text.size - p->at);
    if (is_space(rest.data[0])) {
      p->at++;
    } else if (str_starts_with(rest, STR("\\n")) || str_starts_with(rest, STR("\\r")) ||
               str_starts_with(rest, STR("\\t"))) {
      p->at += 2;
    } else if (str_starts_with(rest, STR("\\x0C"))) {
      p->at += 4;
    } else {
      return;
    }
  }
}

/* A word in any case. */
static bool accept(parser *p, str word) {
  if (p->text.size - p->at < word.size ||
      !str_equal_ascii_case(str_slice(p->text.data + p->at, word.size), word)) {
    return false;
  }
  p->at += word.size;
  return true;
}

/* ---- strings ---- */

/* Four hexadecimal digits, perhaps in braces, behind \u. */
static bool read_code(str text, size_t *at, str *ret_digits, uint32_t *ret) {
  const bool braces = *at < text.size && text.data[*at] == '{';
  const size_t begin = *at + (braces ? 1 : 0);
  if (text.size < begin || text.size - begin < 4 ||
      (braces && (text.size - begin < 5 || text.data[begin + 4] != '}'))) {
    return false;
  }
  *ret = 0;
  for (size_t i = 0; i < 4; i++) {
    const char c = text.data[begin + i];
    const char letter = (char)(c | 0x20);
    if (c >= '0' && c <= '9') {
      *ret = *ret << 4 | (uint32_t)(c - '0');
    } else if (letter >= 'a' && letter <= 'f') {
      *ret = *ret << 4 | (uint32_t)(letter - 'a' + 10);
    } else {
      return false;
    }
  }
  *ret_digits = str_slice(text.data + begin, 4);
  *at = begin + (braces ? 5 : 4);
  return true;
}

/* Half of a pair alone stays as it was written. */
static glv_status put_written(str digits, buf *out, glv_error *err) {
  TRY(buf_append_str(out, STR("\\u"), err));
  return buf_append_str(out, digits, err);
}

static glv_status unescape_code(str text, size_t *at, buf *out, glv_error *err) {
  str digits;
  str second = {0};
  uint32_t c;
  uint32_t low = 0;
  char bytes[4];
  if (!read_code(text, at, &digits, &c)) {
    return GLV_E_INVALID_INPUT;
  }
  if (c >= 0xdc00 && c < 0xe000) {
    return put_written(digits, out, err);
  }
  if (c < 0xd800 || c >= 0xe000) {
    return buf_append(out, bytes, unicode_encode(c, bytes), err);
  }
  if (text.size - *at < 2 || text.data[*at] != '\\' || text.data[*at + 1] != 'u') {
    return put_written(digits, out, err);
  }
  *at += 2;
  if (!read_code(text, at, &second, &low)) {
    return GLV_E_INVALID_INPUT;
  }
  if (low < 0xdc00 || low >= 0xe000) {
    TRY(put_written(digits, out, err));
    return put_written(second, out, err);
  }
  c = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
  return buf_append(out, bytes, unicode_encode(c, bytes), err);
}

glv_status jsonb_unescape(str text, size_t *at, buf *out, glv_error *err) {
  static const char NAMES[] = "\\\"/bfnrt";
  static const char VALUES[] = "\\\"/\b\f\n\r\t";
  if (*at >= text.size) {
    return GLV_E_INVALID_INPUT;
  }
  const char c = text.data[(*at)++];
  const char *name = c != '\0' ? strchr(NAMES, c) : NULL;
  if (name != NULL) {
    return buf_append_char(out, VALUES[name - NAMES], err);
  }
  return c == 'u' ? unescape_code(text, at, out, err) : GLV_E_INVALID_INPUT;
}

static glv_status keep(parser *p, str text, str *ret, glv_error *err) {
  const char *copy = arena_strdup(&p->nodes, text);
  *ret = str_slice(copy, text.size);
  return copy != NULL ? GLV_OK : error_nomem(err, text.size);
}

/* The rest of a string behind its opening quote. */
static glv_status parse_quoted(parser *p, char quote, str *ret, glv_error *err) {
  buf_clear(&p->scratch);
  for (;;) {
    if (at_end(p)) {
      return fail(p, "the string does not end", err);
    }
    const char c = p->text.data[p->at++];
    if (c == quote) {
      return keep(p, buf_str(&p->scratch), ret, err);
    }
    if (c != '\\') {
      TRY(buf_append_char(&p->scratch, c, err));
      continue;
    }
    const glv_status status = jsonb_unescape(p->text, &p->at, &p->scratch, err);
    if (status == GLV_E_INVALID_INPUT) {
      return fail(p, "invalid escape sequence", err);
    }
    TRY(status);
  }
}

/* ---- numbers ---- */

static glv_status number_bytes(parser *p, uint8_t kind, uint64_t value, size_t size, tree *ret,
                               glv_error *err) {
  char bytes[1 + sizeof value];
  bytes[0] = (char)kind;
  for (size_t i = 0; i < size; i++) {
    bytes[1 + i] = (char)(value >> 8 * (size - 1 - i));
  }
  ret->kind = JSONB_NUMBER;
  return keep(p, str_slice(bytes, 1 + size), &ret->bytes, err);
}

/* In as few of 1, 2, 4, 8 bytes as hold it. */
static glv_status put_integer(parser *p, bool is_negative, uint64_t magnitude, tree *ret,
                              glv_error *err) {
  if (magnitude == 0) {
    return number_bytes(p, JSONB_NUMBER_ZERO, 0, 0, ret, err);
  }
  size_t size = 1;
  while (size < 8 && (is_negative ? magnitude - 1 : magnitude / 2) >> (8 * size - 1) != 0) {
    size *= 2;
  }
  const uint64_t value = is_negative ? 0 - magnitude : magnitude;
  return number_bytes(p, is_negative ? JSONB_NUMBER_INT : JSONB_NUMBER_UINT, value, size, ret, err);
}

static glv_status put_double(parser *p, double value, tree *ret, glv_error *err) {
  uint64_t bits;
  if (isnan(value)) {
    return number_bytes(p, JSONB_NUMBER_NAN, 0, 0, ret, err);
  }
  if (isinf(value)) {
    const bool is_negative = value < 0;
    return number_bytes(p, is_negative ? JSONB_NUMBER_MINUS_INFINITY : JSONB_NUMBER_INFINITY, 0, 0,
                        ret, err);
  }
  memcpy(&bits, &value, sizeof bits);
  return number_bytes(p, JSONB_NUMBER_FLOAT, bits, sizeof bits, ret, err);
}

static size_t skip_digits(parser *p) {
  const size_t begin = p->at;
  while (peek(p) >= '0' && peek(p) <= '9') {
    p->at++;
  }
  return p->at - begin;
}

/* Digits to base 16 behind 0x; at least one. *ret_digits: how many. */
static bool parse_hex_digits(parser *p, uint128 *ret, int *ret_digits) {
  *ret = 0;
  for (*ret_digits = 0;; (*ret_digits)++) {
    const char c = peek(p);
    const char letter = (char)(c | 0x20);
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && !(letter >= 'a' && letter <= 'f')) {
      return *ret_digits > 0;
    }
    if (*ret >> 124 != 0) {
      return false;
    }
    const unsigned digit = (unsigned)(is_digit ? c - '0' : letter - 'a' + 10);
    *ret = *ret << 4 | digit;
    p->at++;
  }
}

static glv_status parse_hex(parser *p, bool is_negative, tree *ret, glv_error *err) {
  uint128 value;
  uint128 fraction = 0;
  int digits;
  const uint64_t most = is_negative ? UINT64_C(1) << 63 : UINT64_MAX;
  if (!parse_hex_digits(p, &value, &digits)) {
    return fail(p, "invalid number", err);
  }
  if (peek(p) != '.') {
    return value <= most ? put_integer(p, is_negative, (uint64_t)value, ret, err)
                         : put_double(p, is_negative ? -(double)value : (double)value, ret, err);
  }
  p->at++;
  if (!parse_hex_digits(p, &fraction, &digits)) {
    return fail(p, "invalid number", err);
  }
  const double all = (double)value + ldexp((double)fraction, -4 * digits);
  return put_double(p, is_negative ? -all : all, ret, err);
}

/* infinity and nan behind the sign, which nan does not have when it is a minus. */
static glv_status parse_special(parser *p, bool is_negative, tree *ret, glv_error *err) {
  if (accept(p, STR("infinity"))) {
    return put_double(p, is_negative ? -(double)INFINITY : (double)INFINITY, ret, err);
  }
  if (!is_negative && accept(p, STR("nan"))) {
    return put_double(p, (double)NAN, ret, err);
  }
  return fail(p, "invalid number", err);
}

/* Digits of an integer as a number when they fit 64 bits. */
static bool integer_of(str digits, bool is_negative, uint64_t *ret) {
  return str_to_u64(digits, ret) && (!is_negative || *ret <= UINT64_C(1) << 63);
}

static glv_status parse_number(parser *p, tree *ret, glv_error *err) {
  const size_t begin = p->at;
  const bool is_negative = peek(p) == '-';
  p->at += is_negative || peek(p) == '+';
  const char *first = p->text.data + p->at;
  const str digits = str_slice(first, skip_digits(p));
  if (str_is(digits, "0") && (peek(p) | 0x20) == 'x') {
    p->at++;
    return parse_hex(p, is_negative, ret, err);
  }
  size_t fraction = 0;
  const bool has_point = peek(p) == '.';
  if (has_point) {
    p->at++;
    fraction = skip_digits(p);
  }
  if (digits.size + fraction == 0) {
    return has_point ? fail(p, "invalid number", err) : parse_special(p, is_negative, ret, err);
  }
  const bool has_exponent = (peek(p) | 0x20) == 'e';
  if (has_exponent) {
    p->at++;
    p->at += peek(p) == '+' || peek(p) == '-';
    if (skip_digits(p) == 0) {
      return fail(p, "invalid number", err);
    }
  }
  uint64_t integer;
  double value;
  if (!has_exponent && fraction == 0 && integer_of(digits, is_negative, &integer)) {
    return put_integer(p, is_negative, integer, ret, err);
  }
  if (peek(p) == '.' || !number_parse64(str_slice(p->text.data + begin, p->at - begin), &value)) {
    return fail(p, "invalid number", err);
  }
  return put_double(p, value, ret, err);
}

/* ---- arrays and objects ---- */

static glv_status parse_tree(parser *p, tree *ret, glv_error *err);

static glv_status add_child(parser *p, tree *parent, tree ***last, tree **ret, glv_error *err) {
  tree *child = ARENA_NEW(&p->nodes, tree);
  if (child == NULL) {
    return error_nomem(err, sizeof *child);
  }
  if (parent->count == JSONB_HEADER_COUNT) {
    return fail(p, "too many items", err);
  }
  parent->count++;
  **last = child;
  *last = &child->next;
  *ret = child;
  return GLV_OK;
}

/* The closing character, or a comma before an item that is not the first. */
static glv_status parse_separator(parser *p, bool is_first, char closing, bool *ret_end,
                                  glv_error *err) {
  skip_space(p);
  if (at_end(p)) {
    return fail(p, "the text ends too early", err);
  }
  *ret_end = peek(p) == closing;
  if (*ret_end) {
    p->at++;
  } else if (!is_first) {
    if (peek(p) != ',') {
      return fail(p, "expected a comma or the end", err);
    }
    p->at++;
    skip_space(p);
  }
  return GLV_OK;
}

static glv_status parse_array(parser *p, tree *ret, glv_error *err) {
  tree **last = &ret->first;
  ret->kind = JSONB_ARRAY;
  for (;;) {
    bool end;
    tree *item;
    TRY(parse_separator(p, ret->count == 0, ']', &end, err));
    if (end) {
      return GLV_OK;
    }
    TRY(add_child(p, ret, &last, &item, err));
    if (peek(p) != ',' && peek(p) != ']') { /* an item that is missing is null */
      TRY(parse_tree(p, item, err));
    }
  }
}

static bool is_name(char c) {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
         c == '$' || (c & 0x80) != 0;
}

static glv_status parse_key(parser *p, str *ret, glv_error *err) {
  const char quote = peek(p);
  if (quote == '"' || quote == '\'') {
    p->at++;
    return parse_quoted(p, quote, ret, err);
  }
  const size_t begin = p->at;
  while (!at_end(p) && is_name(peek(p))) {
    p->at++;
  }
  if (p->at == begin || (quote >= '0' && quote <= '9')) {
    return fail(p, "invalid key of an object", err);
  }
  *ret = str_slice(p->text.data + begin, p->at - begin);
  return GLV_OK;
}

static int compare_keys(const void *left, const void *right) {
  return str_compare((*(tree *const *)left)->key, (*(tree *const *)right)->key);
}

/* Members in the order of their keys, each of which is there once. */
static glv_status sort_members(parser *p, tree *object, glv_error *err) {
  tree **members = ARENA_ARRAY(&p->nodes, tree *, object->count);
  if (members == NULL) {
    return error_nomem(err, object->count * sizeof(tree *));
  }
  size_t n = 0;
  for (tree *t = object->first; t != NULL; t = t->next) {
    members[n++] = t;
  }
  if (n > 1) {
    qsort(members, n, sizeof *members, compare_keys);
  }
  tree **last = &object->first;
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && str_equal(members[i]->key, members[i - 1]->key)) {
      return FAIL(err, GLV_E_INVALID_INPUT, "Failed to encode JSONB: duplicate key '%.*s'",
                  STR_ARG(str_slice(members[i]->key.data, size_min(members[i]->key.size, 100))));
    }
    *last = members[i];
    last = &members[i]->next;
  }
  *last = NULL;
  return GLV_OK;
}

static glv_status parse_object(parser *p, tree *ret, glv_error *err) {
  tree **last = &ret->first;
  ret->kind = JSONB_OBJECT;
  for (;;) {
    bool end;
    tree *member;
    TRY(parse_separator(p, ret->count == 0, '}', &end, err));
    if (end) {
      return sort_members(p, ret, err);
    }
    TRY(add_child(p, ret, &last, &member, err));
    TRY(parse_key(p, &member->key, err));
    skip_space(p);
    if (peek(p) != ':') {
      return fail(p, "expected a colon", err);
    }
    p->at++;
    TRY(parse_tree(p, member, err));
  }
}

/* ---- values ---- */

static glv_status parse_word(parser *p, tree *ret, glv_error *err) {
  static const struct {
    str word;
    enum jsonb_kind kind;
  } WORDS[] = {{{"null", 4}, JSONB_NULL}, {{"true", 4}, JSONB_TRUE}, {{"false", 5}, JSONB_FALSE}};
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
    if (accept(p, WORDS[i].word)) {
      ret->kind = WORDS[i].kind;
      return GLV_OK;
    }
  }
  return parse_special(p, false, ret, err);
}

static glv_status parse_nested(parser *p, tree *ret, glv_error *err) {
  const bool is_array = peek(p) == '[';
  if (p->depth == LIMIT_JSONB_DEPTH) {
    return fail(p, "nested too deeply", err);
  }
  p->at++;
  p->depth++;
  const glv_status status = (is_array ? parse_array : parse_object)(p, ret, err);
  p->depth--;
  return status;
}

/* An empty text is null. *ret is zeroed, which is null. */
static glv_status parse_tree(parser *p, tree *ret, glv_error *err) {
  skip_space(p);
  const char c = peek(p);
  if (at_end(p)) {
    return GLV_OK;
  }
  if (c == '[' || c == '{') {
    return parse_nested(p, ret, err);
  }
  if (c == '"' || c == '\'') {
    p->at++;
    ret->kind = JSONB_STRING;
    return parse_quoted(p, c, &ret->bytes, err);
  }
  if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.') {
    return parse_number(p, ret, err);
  }
  if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') {
    return parse_word(p, ret, err);
  }
  return fail(p, "expected a value", err);
}

/* ---- layout ---- */

static void patch_word(buf *out, size_t at, uint32_t word) {
  const uint32_t bytes = __builtin_bswap32(word);
  memcpy(out->data + at, &bytes, sizeof bytes);
}

/* The entry at `at` for what was appended since `begin`. */
static glv_status put_entry(buf *out, size_t at, enum jsonb_kind kind, size_t begin,
                            glv_error *err) {
  const size_t size = out->size - begin;
  if (size > JSONB_ENTRY_SIZE) {
    return FAIL(err, GLV_E_LIMIT, "a part of a JSON value has %zu bytes, more than %u", size,
                JSONB_ENTRY_SIZE);
  }
  patch_word(out, at, jsonb_entry_of(kind) | (uint32_t)size);
  return GLV_OK;
}

static glv_status lay_out(const tree *t, buf *out, glv_error *err) {
  if (t->kind < JSONB_ARRAY) {
    return buf_append_str(out, t->bytes, err);
  }
  const bool is_object = t->kind == JSONB_OBJECT;
  TRY(jsonb_put_word(out, (is_object ? JSONB_HEADER_OBJECT : JSONB_HEADER_ARRAY) | t->count, err));
  size_t entry = out->size;
  TRY(buf_append_fill(out, 0, t->count * JSONB_WORD * (is_object ? 2 : 1), err));
  for (const tree *i = is_object ? t->first : NULL; i != NULL; i = i->next, entry += JSONB_WORD) {
    const size_t begin = out->size;
    TRY(buf_append_str(out, i->key, err));
    TRY(put_entry(out, entry, JSONB_STRING, begin, err));
  }
  for (const tree *i = t->first; i != NULL; i = i->next, entry += JSONB_WORD) {
    const size_t begin = out->size;
    TRY(lay_out(i, out, err));
    TRY(put_entry(out, entry, i->kind, begin, err));
  }
  return GLV_OK;
}

glv_status jsonb_parse(glv_env *env, str text, buf *out, glv_error *err) {
  CLEANUP(parser_dispose) parser p = {.env = env, .text = text};
  tree root = {0};
  arena_init(&p.nodes, env);
  buf_init(&p.scratch, env, LIMIT_JSON_BYTES);
  TRY(parse_tree(&p, &root, err));
  skip_space(&p);
  if (!at_end(&p)) {
    return fail(&p, "unexpected text behind the value", err);
  }
  if (root.kind >= JSONB_ARRAY) {
    return lay_out(&root, out, err);
  }
  return jsonb_write(&(jsonb){.kind = root.kind, .data = root.bytes}, out, err);
}
