/* Translation of patterns, the frame: alternatives, groups, repetition, assertions, flags
 * (sql-expressions 10.7).
 *
 * The pattern is parsed by the rules of Rust's regex crate, and everything it refuses is refused
 * (look-around, back-references, atomic groups, recursion, conditions, unknown escapes, ...).
 * Nothing of it is copied over as it is: literals are escaped, `.`, `^` and `$` are written by the
 * flags in force, classes are written out. So only `i` remains a flag of the PCRE2 pattern. A
 * repetition of a repetition, as in `a++`, gets a group around the inner one, lest PCRE2 takes it
 * for a possessive one. */
#include <stdio.h>

#include "expr/alphabetic.h"
#include "expr/regexp_private.h"
#include "expr/unicode.h"

glv_status regexp_refuse(translator *t, const char *why) {
  t->why = why;
  return GLV_E_INVALID_INPUT;
}

uint32_t regexp_next(translator *t) {
  return regexp_at_end(t) ? 0 : unicode_next(t->pattern, &t->at);
}

void regexp_skip_blanks(translator *t) {
  while (t->flags.verbose && !regexp_at_end(t)) {
    size_t at = t->at;
    const uint32_t c = unicode_next(t->pattern, &at);
    if (c == '#') {
      while (!regexp_at_end(t) && t->pattern.data[t->at] != '\n') {
        t->at++;
      }
    } else if (unicode_is_space(c)) {
      t->at = at;
    } else {
      return;
    }
  }
}

glv_status regexp_put_literal(buf *out, uint32_t c) {
  const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return plain ? buf_append_char(out, (char)c, NULL) : buf_printf(out, NULL, "\\x{%x}", c);
}

static glv_status put(buf *out, const char *text) {
  return buf_append_str(out, str_of(text), NULL);
}

/* ---- flags ---- */

static const char FLAG_LETTERS[] = "imsxURu";

/* The flag of FLAG_LETTERS[i]; that of u has the opposite sense. */
static bool *flag_at(regexp_flags *f, size_t i) {
  bool *const flags[] = {&f->ignore_case, &f->multi_line, &f->dot_all, &f->verbose,
                         &f->swap_greed,  &f->crlf,       &f->ascii};
  return flags[i];
}

/* SIZE_MAX = no such letter. */
static size_t flag_index(char letter) {
  const char *at = letter != 0 ? strchr(FLAG_LETTERS, letter) : NULL;
  return at != NULL ? (size_t)(at - FLAG_LETTERS) : SIZE_MAX;
}

/* Letters up to `:` or `)`, which is left. */
static glv_status parse_flags(translator *t, regexp_flags *f) {
  bool on = true;
  unsigned seen = 0;
  bool has_letter = false;
  for (;; t->at++) {
    const char c = regexp_peek(t, 0);
    if (c == ':' || c == ')') {
      break;
    }
    if (c == '-' && on) {
      on = false;
      has_letter = false;
      continue;
    }
    const size_t index = flag_index(c);
    if (index == SIZE_MAX) {
      return regexp_refuse(t, regexp_at_end(t) ? "unexpected end of pattern in flags"
                                               : "unrecognized flag");
    }
    if ((seen & 1u << index) != 0) {
      return regexp_refuse(t, "duplicate flag");
    }
    seen |= 1u << index;
    has_letter = true;
    *flag_at(f, index) = c == 'u' ? !on : on;
  }
  return has_letter || on ? GLV_OK : regexp_refuse(t, "dangling flag negation operator");
}

static glv_status put_case(const translator *t, buf *out, const regexp_flags *before) {
  if (t->flags.ignore_case == before->ignore_case) {
    return GLV_OK;
  }
  return put(out, t->flags.ignore_case ? "(?i)" : "(?-i)");
}

/* ---- groups ---- */

static glv_status translate_alternatives(translator *t, buf *out);

static bool is_name_char(uint32_t c, bool is_first) {
  return c == '_' || unicode_is_alphabetic(c) ||
         (!is_first && (c == '.' || c == '[' || c == ']' || unicode_is_alphanumeric(c)));
}

/* Behind `<`: a name and `>`. */
static glv_status parse_name(translator *t) {
  const size_t begin = t->at;
  size_t end;
  for (;;) {
    end = t->at;
    const uint32_t c = regexp_next(t);
    if (c == '>') {
      break;
    }
    if (c == 0 || !is_name_char(c, end == begin)) {
      return regexp_refuse(t, "invalid capture group name");
    }
  }
  const str name = str_slice(t->pattern.data + begin, end - begin);
  if (name.size == 0) {
    return regexp_refuse(t, "empty capture group name");
  }
  for (size_t i = 0; i < t->names->count; i++) {
    if (str_equal(t->names->names[i].name, name)) {
      return regexp_refuse(t, "duplicate capture group name");
    }
  }
  TRY(vec_reserve(t->env, &t->names->names, &t->names->room, t->names->count + 1,
                  sizeof *t->names->names, NULL));
  t->names->names[t->names->count++] = (regexp_name){name, t->groups};
  return GLV_OK;
}

/* The inside of a group and its `)`. */
static glv_status finish_group(translator *t, buf *out, regexp_flags outer) {
  if (++t->depth > REGEXP_DEPTH) {
    return regexp_refuse(t, "the pattern is nested too deeply");
  }
  TRY(translate_alternatives(t, out));
  t->depth--;
  if (regexp_peek(t, 0) != ')') {
    return regexp_refuse(t, "unclosed group");
  }
  t->at++;
  t->flags = outer;
  return buf_append_char(out, ')', NULL);
}

static glv_status capture(translator *t, buf *out, regexp_flags outer) {
  TRY(buf_append_char(out, '(', NULL));
  return finish_group(t, out, outer);
}

/* Behind `(`. *ret_is_atom = false for flags that hold for the rest of the group. */
static glv_status translate_group(translator *t, buf *out, bool *ret_is_atom) {
  const regexp_flags outer = t->flags;
  *ret_is_atom = true;
  if (regexp_peek(t, 0) != '?') {
    t->groups++;
    return capture(t, out, outer);
  }
  t->at++;
  const bool is_long_name = regexp_peek(t, 0) == 'P' && regexp_peek(t, 1) == '<';
  const char after = regexp_peek(t, 1);
  if (is_long_name || (regexp_peek(t, 0) == '<' && after != '=' && after != '!')) {
    t->at += is_long_name ? 2 : 1;
    t->groups++;
    TRY(parse_name(t));
    return capture(t, out, outer);
  }
  if (regexp_peek(t, 0) == '=' || regexp_peek(t, 0) == '!' || regexp_peek(t, 0) == '<') {
    return regexp_refuse(t, "look-around, including look-ahead and look-behind, is not supported");
  }
  TRY(parse_flags(t, &t->flags));
  if (regexp_next(t) == ')') {
    *ret_is_atom = false;
    if (t->pattern.data[t->at - 2] == '?') {
      return regexp_refuse(t, "repetition operator missing expression");
    }
    return put_case(t, out, &outer);
  }
  TRY(put(out, "(?:"));
  TRY(put_case(t, out, &outer));
  return finish_group(t, out, outer);
}

/* ---- assertions and single characters ---- */

static glv_status put_boundary(const translator *t, buf *out, const char *form) {
  /* In form, W stands for the class of word characters. */
  const char *word = t->flags.ascii ? "[" REGEXP_ASCII_WORD "]" : "[" REGEXP_WORD "]";
  for (; *form != 0; form++) {
    TRY(*form == 'W' ? put(out, word) : buf_append_char(out, *form, NULL));
  }
  return GLV_OK;
}

#define BOUNDARY "(?:(?<=W)(?!W)|(?<!W)(?=W))"
#define NO_BOUNDARY "(?:(?<=W)(?=W)|(?<!W)(?!W))"
#define WORD_START "(?<!W)(?=W)"
#define WORD_END "(?<=W)(?!W)"

/* `\b{...}` */
static glv_status translate_named_boundary(translator *t, buf *out, bool *ret_done) {
  static const struct {
    const char *text, *form;
  } table[] = {{"{start}", WORD_START},
               {"{end}", WORD_END},
               {"{start-half}", "(?<!W)"},
               {"{end-half}", "(?!W)"}};
  const str rest = str_slice(t->pattern.data + t->at, t->pattern.size - t->at);
  *ret_done = false;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (str_starts_with(rest, str_of(table[i].text))) {
      t->at += strlen(table[i].text);
      *ret_done = true;
      return put_boundary(t, out, table[i].form);
    }
  }
  return GLV_OK;
}

/* Behind `\`: an assertion; *ret_done = false when it is none. */
static glv_status translate_assertion(translator *t, buf *out, bool *ret_done) {
  *ret_done = true;
  switch (regexp_peek(t, 0)) {
  case 'A':
    t->at++;
    return put(out, "\\A");
  case 'z':
    t->at++;
    return put(out, "\\z");
  case 'B':
    t->at++;
    return put_boundary(t, out, NO_BOUNDARY);
  case '<':
    t->at++;
    return put_boundary(t, out, WORD_START);
  case '>':
    t->at++;
    return put_boundary(t, out, WORD_END);
  case 'b': {
    t->at++;
    bool is_named = false;
    TRY(translate_named_boundary(t, out, &is_named));
    return is_named ? GLV_OK : put_boundary(t, out, BOUNDARY);
  }
  default:
    *ret_done = false;
    return GLV_OK;
  }
}

static glv_status translate_escape(translator *t, buf *out) {
  bool done = false;
  TRY(translate_assertion(t, out, &done));
  if (done) {
    return GLV_OK;
  }
  if (regexp_peek(t, 0) == 'W') {
    t->at++;
    return regexp_not_word(t, out);
  }
  const size_t begin = out->size;
  TRY(buf_append_char(out, '[', NULL));
  TRY(regexp_class_escape(t, out, &done));
  if (done) {
    return buf_append_char(out, ']', NULL);
  }
  out->size = begin;
  uint32_t c;
  TRY(regexp_char_escape(t, &c));
  return regexp_put_literal(out, c);
}

static glv_status translate_anchor(const translator *t, bool is_start, buf *out) {
  if (!t->flags.multi_line) {
    return put(out, is_start ? "\\A" : "\\z");
  }
  if (!t->flags.crlf) {
    return put(out, is_start ? "(?m:^)" : "(?m:$)");
  }
  return put(out,
             is_start ? "(?:\\A|(?<=\\n)|(?<=\\r)(?!\\n))" : "(?:\\z|(?=\\r)|(?<!\\r)(?=\\n))");
}

static glv_status translate_dot(translator *t, buf *out) {
  if (t->flags.ascii) {
    return regexp_refuse(t, "pattern can match invalid UTF-8");
  }
  return put(out, t->flags.dot_all ? "." : t->flags.crlf ? "[^\\r\\n]" : "[^\\n]");
}

/* One atom. *ret_is_atom = false when nothing was written that could be repeated. */
static glv_status translate_atom(translator *t, buf *out, bool *ret_is_atom) {
  const uint32_t c = regexp_next(t);
  *ret_is_atom = true;
  switch (c) {
  case '(':
    return translate_group(t, out, ret_is_atom);
  case '[':
    return regexp_class(t, out);
  case '\\':
    return translate_escape(t, out);
  case '.':
    return translate_dot(t, out);
  case '^':
  case '$':
    return translate_anchor(t, c == '^', out);
  case '*':
  case '+':
  case '?':
  case '{':
    return regexp_refuse(t, "repetition operator missing expression");
  default:
    return regexp_put_literal(out, c);
  }
}

/* ---- repetition ---- */

static bool parse_number(translator *t, unsigned *ret) {
  enum { MOST = 65535 };
  unsigned value = 0;
  const size_t begin = t->at;
  regexp_skip_blanks(t);
  while (regexp_peek(t, 0) >= '0' && regexp_peek(t, 0) <= '9' && value <= MOST) {
    value = value * 10 + (unsigned)(regexp_peek(t, 0) - '0');
    t->at++;
  }
  regexp_skip_blanks(t);
  *ret = value;
  return t->at > begin && value <= MOST;
}

/* Behind `{`: n} n,} n,m} */
static glv_status parse_counts(translator *t, char text[32]) {
  unsigned low;
  unsigned high;
  if (!parse_number(t, &low)) {
    return regexp_refuse(t, "repetition quantifier expects a valid decimal");
  }
  if (regexp_peek(t, 0) == '}') {
    t->at++;
    snprintf(text, 32, "{%u}", low);
    return GLV_OK;
  }
  if (regexp_peek(t, 0) != ',') {
    return regexp_refuse(t, "unclosed counted repetition");
  }
  t->at++;
  regexp_skip_blanks(t);
  if (regexp_peek(t, 0) == '}') {
    t->at++;
    snprintf(text, 32, "{%u,}", low);
    return GLV_OK;
  }
  if (!parse_number(t, &high)) {
    return regexp_refuse(t, "repetition quantifier expects a valid decimal");
  }
  if (regexp_peek(t, 0) != '}') {
    return regexp_refuse(t, "unclosed counted repetition");
  }
  t->at++;
  snprintf(text, 32, "{%u,%u}", low, high);
  return low <= high ? GLV_OK : regexp_refuse(t, "invalid repetition count range");
}

/* Put `(?:` before what begins at out[begin], and `)` behind it. */
static glv_status wrap(buf *out, size_t begin) {
  TRY(put(out, "(?:)"));
  memmove(out->data + begin + 3, out->data + begin, out->size - begin - 4);
  memcpy(out->data + begin, "(?:", 3);
  out->data[out->size - 1] = ')';
  return GLV_OK;
}

/* Whether the atom at out[begin] is more than one piece of PCRE2, or one that cannot be repeated.
 */
static bool needs_group(const buf *out, size_t begin) {
  const str atom = str_slice(out->data + begin, out->size - begin);
  return str_starts_with(atom, STR("(?<")) || str_starts_with(atom, STR("(?!")) ||
         str_starts_with(atom, STR("\\A")) || str_starts_with(atom, STR("\\z"));
}

/* All repetition operators behind the atom that begins at out[begin]. */
static glv_status translate_repetition(translator *t, size_t begin, buf *out) {
  enum { MOST_OPERATORS = 100 };
  for (int n = 0;; n++) {
    char text[32] = {0};
    regexp_skip_blanks(t);
    const char c = regexp_peek(t, 0);
    if (c != '*' && c != '+' && c != '?' && c != '{') {
      return GLV_OK;
    }
    if (n == MOST_OPERATORS) {
      return regexp_refuse(t, "the pattern is nested too deeply");
    }
    t->at++;
    text[0] = c;
    if (c == '{') {
      TRY(parse_counts(t, text));
    }
    const bool is_lazy = regexp_peek(t, 0) == '?';
    t->at += is_lazy;
    if (n > 0 || needs_group(out, begin)) {
      TRY(wrap(out, begin));
    }
    TRY(put(out, text));
    if (is_lazy != t->flags.swap_greed) {
      TRY(buf_append_char(out, '?', NULL));
    }
  }
}

static glv_status translate_sequence(translator *t, buf *out) {
  for (;;) {
    regexp_skip_blanks(t);
    const char c = regexp_peek(t, 0);
    if (regexp_at_end(t) || c == '|' || c == ')') {
      return GLV_OK;
    }
    const size_t begin = out->size;
    bool is_atom = false;
    TRY(translate_atom(t, out, &is_atom));
    if (is_atom) {
      TRY(translate_repetition(t, begin, out));
    }
  }
}

static glv_status translate_alternatives(translator *t, buf *out) {
  for (;;) {
    TRY(translate_sequence(t, out));
    if (regexp_peek(t, 0) != '|') {
      return GLV_OK;
    }
    t->at++;
    TRY(buf_append_char(out, '|', NULL));
  }
}

static glv_status translate_all(translator *t, str flags, buf *out) {
  const regexp_flags none = {0};
  for (size_t i = 0; i < flags.size; i++) {
    const size_t index = flags.data[i] == 'u' ? SIZE_MAX : flag_index(flags.data[i]);
    if (index == SIZE_MAX || *flag_at(&t->flags, index)) {
      return regexp_refuse(t, index == SIZE_MAX ? "unrecognized flag" : "duplicate flag");
    }
    *flag_at(&t->flags, index) = true;
  }
  TRY(put_case(t, out, &none));
  TRY(translate_alternatives(t, out));
  return regexp_at_end(t) ? GLV_OK : regexp_refuse(t, "unopened group");
}

glv_status regexp_translate(glv_env *env, str pattern, str flags, buf *out, regexp_names *names,
                            const char **ret_why) {
  translator t = {.env = env, .pattern = pattern, .names = names};
  glv_status status = translate_all(&t, flags, out);
  if (status == GLV_E_LIMIT) {
    status = regexp_refuse(&t, "the pattern is too large");
  }
  *ret_why = t.why;
  return status;
}
