/*
 * The lexer: section 3 of the SQL design.
 *
 * A token is found by its first character; operators are matched longest spelling first. Quoted
 * things run to the next quote that is not doubled; there are no backslash escapes. A text that
 * ends inside a quote or a comment, and a character that starts nothing, give TOKEN_BAD, so that a
 * parser that looks ahead needs no second way to fail.
 *
 * Words start with an alphabetic character, `_`, `@` or `#` and go on with those, ASCII digits and
 * `$`. `#` and `@` also begin operators; those win.
 */
#include "expr/lexer.h"

#include "base/error.h"
#include "expr/alphabetic.h"

uint32_t text_code_point(str text, size_t at, size_t *ret_length) {
  const unsigned char *p = (const unsigned char *)text.data + at;
  if (p[0] < 0x80) {
    *ret_length = 1;
    return p[0];
  }
  const size_t length = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
  uint32_t c = p[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    c = c << 6 | (p[i] & 0x3fu);
  }
  *ret_length = length;
  return c;
}

void text_position(str text, size_t offset, size_t *ret_line, size_t *ret_column) {
  *ret_line = 1;
  *ret_column = 1;
  for (size_t i = 0; i < offset && i < text.size; i++) {
    if (text.data[i] == '\n') {
      (*ret_line)++;
      *ret_column = 1;
    } else if (((unsigned char)text.data[i] & 0xc0) != 0x80) {
      (*ret_column)++;
    }
  }
}

static const char *const OPERATORS[] = {
#define OPERATOR_TEXT(name, spelling) spelling,
    OPERATOR_MAP(OPERATOR_TEXT)
#undef OPERATOR_TEXT
};
enum { OPERATOR_COUNT = sizeof OPERATORS / sizeof OPERATORS[0] };

const char *token_operator_text(unsigned op) { return OPERATORS[op]; }

static const char *const KEYWORDS[] = {
#define KEYWORD_TEXT(name) #name,
    KEYWORD_MAP(KEYWORD_TEXT)
#undef KEYWORD_TEXT
};

int token_compare(str word, const char *keyword) {
  for (size_t i = 0; i < word.size; i++) {
    const char c = word.data[i];
    const int difference = (c >= 'a' && c <= 'z' ? c - 'a' + 'A' : (unsigned char)c) - keyword[i];
    if (difference != 0) {
      return difference;
    }
  }
  return keyword[word.size] == '\0' ? 0 : -1;
}

static enum keyword find_keyword(str word) {
  size_t low = 0;
  size_t high = sizeof KEYWORDS / sizeof KEYWORDS[0];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = token_compare(word, KEYWORDS[middle]);
    if (order == 0) {
      return (enum keyword)(middle + 1);
    }
    if (order > 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return KW_NONE;
}

lexer lexer_new(str text, bool dquote_identifier) {
  return (lexer){text, 0, dquote_identifier, false};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
/* The byte at offset, 0 behind the end. */
static char byte_at(const lexer *x, size_t offset) {
  return offset < x->text.size ? x->text.data[offset] : '\0';
}

static bool is_word_start(uint32_t c) {
  return c == '_' || c == '@' || c == '#' || unicode_is_alphabetic(c);
}
static bool is_word_part(uint32_t c) {
  return c == '$' || (c >= '0' && c <= '9') || is_word_start(c);
}

static size_t skip_word_parts(const lexer *x, size_t at) {
  while (at < x->text.size) {
    size_t length;
    if (!is_word_part(text_code_point(x->text, at, &length))) {
      break;
    }
    at += length;
  }
  return at;
}

/* The offset behind the comment at `at`, or `at` if none is there; SIZE_MAX = it does not end. */
static size_t skip_comment(const lexer *x, size_t at) {
  const char second = byte_at(x, at + 1);
  if (byte_at(x, at) == '-' && second == '-') {
    const char *end = memchr(x->text.data + at, '\n', x->text.size - at);
    return end != NULL ? (size_t)(end - x->text.data) : x->text.size;
  }
  if (byte_at(x, at) == '/' && second == '*') {
    for (size_t i = at + 2; i + 1 < x->text.size; i++) {
      if (x->text.data[i] == '*' && x->text.data[i + 1] == '/') {
        return i + 2;
      }
    }
    return SIZE_MAX;
  }
  return at;
}

/* Past white space and comments; false = a comment does not end (x->at is where it starts). */
static bool skip_blanks(lexer *x) {
  while (x->at < x->text.size) {
    size_t length;
    if (unicode_is_space(text_code_point(x->text, x->at, &length))) {
      x->at += length;
      continue;
    }
    const size_t behind = skip_comment(x, x->at);
    if (behind == SIZE_MAX) {
      return false;
    }
    if (behind == x->at) {
      break;
    }
    x->at = behind;
  }
  return true;
}

/* The offset behind the closing quote of what opens at `at`; 0 = it does not close. */
static size_t skip_quoted(const lexer *x, size_t at) {
  const char quote = x->text.data[at];
  for (size_t i = at + 1; i < x->text.size; i++) {
    if (x->text.data[i] == quote) {
      if (byte_at(x, i + 1) != quote) {
        return i + 1;
      }
      i++;
    }
  }
  return 0;
}

static token bad(const lexer *x, size_t begin, const char *problem) {
  return (token){.kind = TOKEN_BAD,
                 .begin = (uint32_t)begin,
                 .end = (uint32_t)x->text.size,
                 .problem = problem};
}

/* The token of `kind` from begin to x->at, which moves to end. */
static token take(lexer *x, enum token_kind kind, size_t begin, size_t end) {
  x->at = end;
  return (token){.kind = kind, .begin = (uint32_t)begin, .end = (uint32_t)end};
}

static token take_quoted(lexer *x, enum token_kind kind, size_t begin, size_t quote_at) {
  const size_t end = skip_quoted(x, quote_at);
  return end != 0 ? take(x, kind, begin, end) : bad(x, begin, "a quote is not closed");
}

static token take_number(lexer *x) {
  const size_t begin = x->at;
  size_t at = begin;
  if (byte_at(x, at) == '0' && byte_at(x, at + 1) == 'x') {
    at += 2;
    while (is_hex_digit(byte_at(x, at))) {
      at++;
    }
    return take(x, TOKEN_HEX, begin, at);
  }
  while (is_digit(byte_at(x, at))) {
    at++;
  }
  if (byte_at(x, at) == '.') {
    at++;
    while (is_digit(byte_at(x, at))) {
      at++;
    }
  }
  if (byte_at(x, at) == 'e' || byte_at(x, at) == 'E') {
    const char sign = byte_at(x, at + 1);
    size_t exponent = at + (sign == '+' || sign == '-' ? 2 : 1);
    if (is_digit(byte_at(x, exponent))) {
      while (is_digit(byte_at(x, exponent))) {
        exponent++;
      }
      at = exponent;
    }
  }
  return take(x, TOKEN_NUMBER, begin, at + (byte_at(x, at) == 'L' ? 1 : 0));
}

/* `$name`, `$1`, `$$..$$`, `$tag$..$tag$` */
static token take_dollar(lexer *x) {
  const size_t begin = x->at;
  size_t at = begin + 1;
  while (byte_at(x, at) != '$' && byte_at(x, at) != '\0') {
    size_t length;
    const uint32_t c = text_code_point(x->text, at, &length);
    if (c != '_' && !(c < 0x80 && is_digit((char)c)) && !unicode_is_alphabetic(c)) {
      break;
    }
    at += length;
  }
  if (byte_at(x, at) != '$') {
    return take(x, TOKEN_ODD, begin, at);
  }
  const size_t tag = at + 1 - begin;
  for (size_t i = at + 1; i + tag <= x->text.size; i++) {
    if (memcmp(x->text.data + i, x->text.data + begin, tag) == 0) {
      return take(x, TOKEN_ODD, begin, i + tag);
    }
  }
  return bad(x, begin, "a string in dollars is not closed");
}

static token take_word(lexer *x, size_t first_length) {
  const size_t begin = x->at;
  token t = take(x, TOKEN_WORD, begin, skip_word_parts(x, begin + first_length));
  t.keyword = find_keyword(token_source(x, &t));
  return t;
}

/* x'..' and the prefixes of strings that mean nothing here; else a word. */
static token take_letter(lexer *x) {
  const char c = x->text.data[x->at];
  const char next = byte_at(x, x->at + 1);
  const bool is_single = next == '\'';
  if ((c == 'x' || c == 'X') && is_single) {
    return take_quoted(x, TOKEN_HEX, x->at, x->at + 1);
  }
  const bool takes_both = c == 'b' || c == 'B' || c == 'r' || c == 'R';
  if (((c == 'n' || c == 'N' || takes_both) && is_single) || (takes_both && next == '"')) {
    return take_quoted(x, TOKEN_ODD, x->at, x->at + 1);
  }
  return take_word(x, 1);
}

static bool take_operator(lexer *x, token *ret) {
  for (unsigned i = 0; i < OPERATOR_COUNT; i++) {
    const size_t size = strlen(OPERATORS[i]);
    if (size <= x->text.size - x->at && memcmp(x->text.data + x->at, OPERATORS[i], size) == 0) {
      *ret = take(x, TOKEN_OPERATOR, x->at, x->at + size);
      ret->op = i;
      return true;
    }
  }
  return false;
}

static bool is_word_part_at(const lexer *x, size_t at) {
  size_t length;
  return at < x->text.size && is_word_part(text_code_point(x->text, at, &length));
}

/* `#` and `@` open a word if one follows; `@@` opens one unless it is the operator. */
static bool opens_word(const lexer *x) {
  const bool is_double_at = x->text.data[x->at] == '@' && byte_at(x, x->at + 1) == '@';
  return is_word_part_at(x, x->at + (is_double_at ? 2 : 1));
}

static token take_character(lexer *x) {
  const char c = x->text.data[x->at];
  token t = take(x, TOKEN_PUNCTUATION, x->at, x->at + 1);
  t.op = (unsigned char)c;
  return t;
}

static token take_parameter(lexer *x) {
  size_t at = x->at + 1;
  while (is_digit(byte_at(x, at))) {
    at++;
  }
  return take(x, TOKEN_ODD, x->at, at);
}

static token take_period(lexer *x) {
  const char next = byte_at(x, x->at + 1);
  if (is_digit(next)) {
    return take_number(x);
  }
  if (next == '_' && !x->after_word) {
    return bad(x, x->at, "a name that starts with `_` must follow a name");
  }
  return take_character(x);
}

static token take_symbol(lexer *x) {
  const char c = x->text.data[x->at];
  if (strchr("()[]{},;", c) != NULL) {
    return take_character(x);
  }
  if (c == '.') {
    return take_period(x);
  }
  if (c == '?') {
    return take_parameter(x);
  }
  if ((c == '#' || c == '@') && opens_word(x)) {
    return take_word(x, 1);
  }
  token t;
  if (take_operator(x, &t)) {
    return t;
  }
  return c == ':' ? take_character(x) : bad(x, x->at, "a character that has no meaning here");
}

static token take_any(lexer *x) {
  const char c = x->text.data[x->at];
  size_t length;
  const uint32_t code_point = text_code_point(x->text, x->at, &length);
  if (is_digit(c)) {
    return take_number(x);
  }
  if (c == '\'' || c == '"') {
    const bool is_name = c == '"' && x->dquote_identifier;
    return take_quoted(x, is_name ? TOKEN_QUOTED : TOKEN_STRING, x->at, x->at);
  }
  if (c == '`') {
    return take_quoted(x, TOKEN_QUOTED, x->at, x->at);
  }
  if (c == '$') {
    return take_dollar(x);
  }
  if (c == '_' || length > 1) {
    return is_word_start(code_point) ? take_word(x, length)
                                     : bad(x, x->at, "a character that has no meaning here");
  }
  if (c == '\0') {
    return bad(x, x->at, "a NUL character");
  }
  return unicode_is_alphabetic(code_point) ? take_letter(x) : take_symbol(x);
}

token lexer_next(lexer *x) {
  if (!skip_blanks(x)) {
    return bad(x, x->at, "a comment is not closed");
  }
  if (x->at >= x->text.size) {
    return take(x, TOKEN_END, x->text.size, x->text.size);
  }
  const token t = take_any(x);
  x->after_word = t.kind == TOKEN_WORD || t.kind == TOKEN_QUOTED;
  return t;
}

glv_status token_unquote(str quoted, buf *out, glv_error *err) {
  const char quote = quoted.data[0];
  for (size_t i = 1; i + 1 < quoted.size; i++) {
    TRY(buf_append_char(out, quoted.data[i], err));
    if (quoted.data[i] == quote) {
      i++;
    }
  }
  return GLV_OK;
}
