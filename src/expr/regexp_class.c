/* Translation of patterns, what stands for one character: classes in brackets, \d \s \w \p, escaped
 * characters.
 *
 * A class of Rust's crate can hold other classes and be combined with them: && intersection,
 * -- difference, ~~ symmetric difference, all binding alike from left to right. PCRE2 has none of
 * these, so a class becomes an expression that matches one character: `[items]`, alternatives of
 * such, or one with a look-ahead in front that tests the same character: L && R is (?=L)R, L -- R
 * is
 * (?!R)L. */
#include "expr/alphabetic.h"
#include "expr/regexp_private.h"
#include "expr/unicode.h"

/* Items of classes. ASCII ones are those of (?-u). */
#define SPACE                                                                                      \
  "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{"  \
  "205f}\\x{3000}"
#define ASCII_SPACE "\\x{9}-\\x{d}\\x{20}"

static glv_status put(buf *out, const char *text) {
  return buf_append_str(out, str_of(text), NULL);
}

/* ---- \p{...} ---- */

/* Long names of general categories, without case, space, `_` and `-`. */
static const struct {
  const char *name, *code;
} CATEGORIES[] = {{"letter", "L"},
                  {"casedletter", "LC"},
                  {"uppercaseletter", "Lu"},
                  {"lowercaseletter", "Ll"},
                  {"titlecaseletter", "Lt"},
                  {"modifierletter", "Lm"},
                  {"otherletter", "Lo"},
                  {"mark", "M"},
                  {"combiningmark", "M"},
                  {"nonspacingmark", "Mn"},
                  {"spacingmark", "Mc"},
                  {"enclosingmark", "Me"},
                  {"number", "N"},
                  {"decimalnumber", "Nd"},
                  {"digit", "Nd"},
                  {"letternumber", "Nl"},
                  {"othernumber", "No"},
                  {"punctuation", "P"},
                  {"punct", "P"},
                  {"connectorpunctuation", "Pc"},
                  {"dashpunctuation", "Pd"},
                  {"openpunctuation", "Ps"},
                  {"closepunctuation", "Pe"},
                  {"initialpunctuation", "Pi"},
                  {"finalpunctuation", "Pf"},
                  {"otherpunctuation", "Po"},
                  {"symbol", "S"},
                  {"mathsymbol", "Sm"},
                  {"currencysymbol", "Sc"},
                  {"modifiersymbol", "Sk"},
                  {"othersymbol", "So"},
                  {"separator", "Z"},
                  {"spaceseparator", "Zs"},
                  {"lineseparator", "Zl"},
                  {"paragraphseparator", "Zp"},
                  {"other", "C"},
                  {"control", "Cc"},
                  {"cntrl", "Cc"},
                  {"format", "Cf"},
                  {"surrogate", "Cs"},
                  {"privateuse", "Co"},
                  {"unassigned", "Cn"},
                  {"l", "L"},
                  {"lc", "LC"},
                  {"lu", "Lu"},
                  {"ll", "Ll"},
                  {"lt", "Lt"},
                  {"lm", "Lm"},
                  {"lo", "Lo"},
                  {"m", "M"},
                  {"mn", "Mn"},
                  {"mc", "Mc"},
                  {"me", "Me"},
                  {"n", "N"},
                  {"nd", "Nd"},
                  {"nl", "Nl"},
                  {"no", "No"},
                  {"p", "P"},
                  {"pc", "Pc"},
                  {"pd", "Pd"},
                  {"ps", "Ps"},
                  {"pe", "Pe"},
                  {"pi", "Pi"},
                  {"pf", "Pf"},
                  {"po", "Po"},
                  {"s", "S"},
                  {"sm", "Sm"},
                  {"sc", "Sc"},
                  {"sk", "Sk"},
                  {"so", "So"},
                  {"z", "Z"},
                  {"zs", "Zs"},
                  {"zl", "Zl"},
                  {"zp", "Zp"},
                  {"c", "C"},
                  {"cc", "Cc"},
                  {"cf", "Cf"},
                  {"cs", "Cs"},
                  {"co", "Co"},
                  {"cn", "Cn"}};

/* Boolean properties; every other name is taken for one of a script. */
static const char *const PROPERTIES[] = {"alphabetic",
                                         "alpha",
                                         "asciihexdigit",
                                         "ahex",
                                         "bidicontrol",
                                         "caseignorable",
                                         "ci",
                                         "cased",
                                         "changeswhencasefolded",
                                         "changeswhencasemapped",
                                         "changeswhenlowercased",
                                         "changeswhentitlecased",
                                         "changeswhenuppercased",
                                         "dash",
                                         "defaultignorablecodepoint",
                                         "di",
                                         "deprecated",
                                         "diacritic",
                                         "dia",
                                         "emoji",
                                         "emojicomponent",
                                         "emojimodifier",
                                         "emojimodifierbase",
                                         "emojipresentation",
                                         "extendedpictographic",
                                         "extender",
                                         "ext",
                                         "graphemebase",
                                         "graphemeextend",
                                         "hexdigit",
                                         "hex",
                                         "idsbinaryoperator",
                                         "idstrinaryoperator",
                                         "idcontinue",
                                         "idc",
                                         "idstart",
                                         "ids",
                                         "ideographic",
                                         "ideo",
                                         "joincontrol",
                                         "logicalorderexception",
                                         "lowercase",
                                         "lower",
                                         "math",
                                         "noncharactercodepoint",
                                         "patternsyntax",
                                         "patternwhitespace",
                                         "prependedconcatenationmark",
                                         "quotationmark",
                                         "radical",
                                         "regionalindicator",
                                         "sentenceterminal",
                                         "softdotted",
                                         "terminalpunctuation",
                                         "unifiedideograph",
                                         "uppercase",
                                         "upper",
                                         "variationselector",
                                         "whitespace",
                                         "space",
                                         "xidcontinue",
                                         "xidstart"};

enum { PROPERTY_SIZE = 48 };

static const char *category_code(const char *name) {
  for (size_t i = 0; i < sizeof CATEGORIES / sizeof CATEGORIES[0]; i++) {
    if (strcmp(CATEGORIES[i].name, name) == 0) {
      return CATEGORIES[i].code;
    }
  }
  return NULL;
}

static bool is_property(const char *name) {
  for (size_t i = 0; i < sizeof PROPERTIES / sizeof PROPERTIES[0]; i++) {
    if (strcmp(PROPERTIES[i], name) == 0) {
      return true;
    }
  }
  return false;
}

static glv_status put_property(translator *t, const char *kind, const char *name, bool negated,
                               buf *items) {
  const bool is_script = strcmp(kind, "script") == 0 || strcmp(kind, "sc") == 0;
  const bool is_extension = strcmp(kind, "scriptextensions") == 0 || strcmp(kind, "scx") == 0;
  const bool is_category = strcmp(kind, "generalcategory") == 0 || strcmp(kind, "gc") == 0;
  const char *sign = negated ? "P" : "p";
  const char *code = is_script || is_extension ? NULL : category_code(name);
  if (code != NULL) {
    const bool has_case = strcmp(code, "Lu") == 0 || strcmp(code, "Ll") == 0;
    if (strcmp(code, "LC") == 0 || (has_case && t->flags.ignore_case)) {
      code = "L&"; /* PCRE2 does not fold properties; nearly every such letter has a partner */
    }
    return buf_printf(items, NULL, "\\%s{%s}", sign, code);
  }
  if (is_category || (kind[0] != 0 && !is_script && !is_extension)) {
    return regexp_refuse(t, "Unicode property not found");
  }
  if (kind[0] == 0 && strcmp(name, "any") == 0) {
    return buf_printf(items, NULL, "\\%s{Any}", sign);
  }
  if (kind[0] == 0 && strcmp(name, "assigned") == 0) {
    return buf_printf(items, NULL, "\\%s{Cn}", negated ? "p" : "P");
  }
  if (kind[0] == 0 && strcmp(name, "ascii") == 0) {
    return put(items, negated ? "\\x{80}-\\x{10ffff}" : "\\x{0}-\\x{7f}");
  }
  if (kind[0] == 0 && is_property(name)) {
    return buf_printf(items, NULL, "\\%s{%s}", sign, name);
  }
  return buf_printf(items, NULL, "\\%s{%s:%s}", sign, is_extension ? "scx" : "sc", name);
}

/* Lower-case letters and digits of text; false when it holds anything but these and space _ -. */
static bool normalize(str text, char name[PROPERTY_SIZE]) {
  size_t n = 0;
  for (size_t i = 0; i < text.size; i++) {
    const char c = text.data[i];
    const char lower = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    if (c == ' ' || c == '_' || c == '-') {
      continue;
    }
    if (!((lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9')) || n + 1 == PROPERTY_SIZE) {
      return false;
    }
    name[n++] = lower;
  }
  name[n] = 0;
  return n > 0;
}

/* Behind `\p` or `\P`. */
static glv_status translate_property(translator *t, bool negated, buf *items) {
  char name[PROPERTY_SIZE];
  char kind[PROPERTY_SIZE] = {0};
  if (regexp_peek(t, 0) != '{') {
    const size_t begin = t->at;
    const uint32_t c = regexp_next(t);
    if (c == 0 || !normalize(str_slice(t->pattern.data + begin, t->at - begin), name)) {
      return regexp_refuse(t, "Unicode property not found");
    }
    return put_property(t, "gc", name, negated, items);
  }
  const size_t begin = ++t->at;
  size_t split = 0;
  while (!regexp_at_end(t) && t->pattern.data[t->at] != '}') {
    const char c = t->pattern.data[t->at];
    split = c == '=' || c == ':' ? t->at : split;
    t->at++;
  }
  if (regexp_at_end(t)) {
    return regexp_refuse(t, "unclosed Unicode property");
  }
  const char *text = t->pattern.data;
  bool ok = true;
  if (split != 0) {
    const bool differs = split > begin && text[split] == '=' && text[split - 1] == '!';
    negated = negated != differs;
    ok = normalize(str_slice(text + begin, split - differs - begin), kind);
  }
  const size_t first = split == 0 ? begin : split + 1;
  ok = ok && normalize(str_slice(text + first, t->at - first), name);
  t->at++;
  return ok ? put_property(t, kind, name, negated, items)
            : regexp_refuse(t, "Unicode property not found");
}

/* ---- escapes ---- */

glv_status regexp_class_escape(translator *t, buf *items, bool *ret_is_class) {
  const char c = regexp_peek(t, 0);
  const bool negated = c >= 'A' && c <= 'Z';
  const bool ascii = t->flags.ascii;
  *ret_is_class = c != 0 && strchr("dDsSwpP", c) != NULL;
  if (!*ret_is_class) {
    return GLV_OK;
  }
  t->at++;
  if ((c | 0x20) == 'p') {
    return translate_property(t, negated, items);
  }
  if (negated && ascii) {
    return regexp_refuse(t, "pattern can match invalid UTF-8");
  }
  switch (c) {
  case 'd':
    return put(items, ascii ? "0-9" : "\\p{Nd}");
  case 'D':
    return put(items, "\\P{Nd}");
  case 's':
    return put(items, ascii ? ASCII_SPACE : SPACE);
  case 'S': /* the gaps between the spaces */
    return put(items, "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}"
                      "\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}"
                      "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{10ffff}");
  default: /* w */
    return put(items, ascii ? REGEXP_ASCII_WORD : REGEXP_WORD);
  }
}

glv_status regexp_not_word(translator *t, buf *out) {
  return t->flags.ascii ? regexp_refuse(t, "pattern can match invalid UTF-8")
                        : put(out, "[^" REGEXP_WORD "]");
}

static int hex_value(char c) {
  return c >= '0' && c <= '9'                     ? c - '0'
         : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                  : -1;
}

/* Behind \x, \u or \U: `digits` hexadecimal digits, or any number of them in braces. */
static glv_status parse_hex(translator *t, int digits, uint32_t *ret) {
  const bool braces = regexp_peek(t, 0) == '{';
  uint32_t value = 0;
  int n = 0;
  t->at += braces;
  for (; (braces || n < digits) && hex_value(regexp_peek(t, 0)) >= 0; n++, t->at++) {
    value = value << 4 | (uint32_t)hex_value(regexp_peek(t, 0));
    if (value > 0x10ffff) {
      return regexp_refuse(t, "hexadecimal literal is not a Unicode scalar value");
    }
  }
  if (n == 0 || (braces ? regexp_peek(t, 0) != '}' : n != digits)) {
    return regexp_refuse(t, "invalid hexadecimal digit");
  }
  t->at += braces;
  if (value >= 0xd800 && value <= 0xdfff) {
    return regexp_refuse(t, "hexadecimal literal is not a Unicode scalar value");
  }
  *ret = value;
  return GLV_OK;
}

glv_status regexp_char_escape(translator *t, uint32_t *ret) {
  if (regexp_at_end(t)) {
    return regexp_refuse(t, "incomplete escape sequence, reached end of pattern prematurely");
  }
  const uint32_t c = regexp_next(t);
  *ret = c;
  switch (c) {
  case 'x':
    return parse_hex(t, 2, ret);
  case 'u':
    return parse_hex(t, 4, ret);
  case 'U':
    return parse_hex(t, 8, ret);
  case 'a':
    *ret = 7;
    return GLV_OK;
  case 'f':
    *ret = '\f';
    return GLV_OK;
  case 't':
    *ret = '\t';
    return GLV_OK;
  case 'n':
    *ret = '\n';
    return GLV_OK;
  case 'r':
    *ret = '\r';
    return GLV_OK;
  case 'v':
    *ret = '\v';
    return GLV_OK;
  default:
    break;
  }
  if (c >= '0' && c <= '9') {
    return regexp_refuse(t, "backreferences are not supported");
  }
  const bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
  return c >= 0x80 || is_letter || c == '<' || c == '>'
             ? regexp_refuse(t, "unrecognized escape sequence")
             : GLV_OK;
}

/* ---- classes in brackets ---- */

/* `[:name:]` behind its `[`; *ret_done = false when it is none. */
static glv_status translate_posix(translator *t, buf *items, bool *ret_done) {
  static const struct {
    const char *name, *items, *others; /* others: the items of the negation */
  } table[] = {
      {"alnum", "0-9A-Za-z", "\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{60}\\x{7b}-\\x{10ffff}"},
      {"alpha", "A-Za-z", "\\x{0}-\\x{40}\\x{5b}-\\x{60}\\x{7b}-\\x{10ffff}"},
      {"ascii", "\\x{0}-\\x{7f}", "\\x{80}-\\x{10ffff}"},
      {"blank", "\\x{9}\\x{20}", "\\x{0}-\\x{8}\\x{a}-\\x{1f}\\x{21}-\\x{10ffff}"},
      {"cntrl", "\\x{0}-\\x{1f}\\x{7f}", "\\x{20}-\\x{7e}\\x{80}-\\x{10ffff}"},
      {"digit", "0-9", "\\x{0}-\\x{2f}\\x{3a}-\\x{10ffff}"},
      {"graph", "\\x{21}-\\x{7e}", "\\x{0}-\\x{20}\\x{7f}-\\x{10ffff}"},
      {"lower", "a-z", "\\x{0}-\\x{60}\\x{7b}-\\x{10ffff}"},
      {"print", "\\x{20}-\\x{7e}", "\\x{0}-\\x{1f}\\x{7f}-\\x{10ffff}"},
      {"punct", "\\x{21}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{60}\\x{7b}-\\x{7e}",
       "\\x{0}-\\x{20}0-9A-Za-z\\x{7f}-\\x{10ffff}"},
      {"space", "\\x{9}-\\x{d}\\x{20}", "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{10ffff}"},
      {"upper", "A-Z", "\\x{0}-\\x{40}\\x{5b}-\\x{10ffff}"},
      {"word", REGEXP_ASCII_WORD,
       "\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}\\x{7b}-\\x{10ffff}"},
      {"xdigit", "0-9A-Fa-f", "\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{47}-\\x{60}\\x{67}-\\x{10ffff}"}};
  *ret_done = false;
  if (regexp_peek(t, 0) != ':') {
    return GLV_OK;
  }
  const bool negated = regexp_peek(t, 1) == '^';
  const size_t skipped = negated ? 2 : 1;
  const str rest = str_slice(t->pattern.data + t->at + skipped, t->pattern.size - t->at - skipped);
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    const size_t size = strlen(table[i].name);
    if (rest.size >= size + 2 && memcmp(rest.data, table[i].name, size) == 0 &&
        rest.data[size] == ':' && rest.data[size + 1] == ']') {
      t->at += skipped + size + 2;
      *ret_done = true;
      return put(items, negated ? table[i].others : table[i].items);
    }
  }
  return GLV_OK;
}

/* What a class has been read of: items of a plain class, and expressions for classes inside. */
typedef struct class_union {
  buf items;
  buf nested; /* `|` before each */
} class_union;

static void union_init(class_union *u, glv_env *env, size_t max) {
  buf_init(&u->items, env, max);
  buf_init(&u->nested, env, max);
}
static void union_dispose(class_union *u) {
  buf_dispose(&u->items);
  buf_dispose(&u->nested);
}

/* The union as an expression; empty = nothing matches. */
static glv_status put_union(const class_union *u, buf *out) {
  if (u->nested.size == 0) {
    return u->items.size == 0 ? put(out, "(?!)")
                              : buf_printf(out, NULL, "[%.*s]", STR_ARG(buf_str(&u->items)));
  }
  if (u->items.size == 0) {
    return buf_printf(out, NULL, "(?:%.*s)", (int)u->nested.size - 1, u->nested.data + 1);
  }
  return buf_printf(out, NULL, "(?:[%.*s]%.*s)", STR_ARG(buf_str(&u->items)),
                    STR_ARG(buf_str(&u->nested)));
}

/* One character of a range: *ret_is_class when it was an escape that stands for many. */
static glv_status parse_class_char(translator *t, buf *items, uint32_t *ret, bool *ret_is_class) {
  *ret_is_class = false;
  if (regexp_at_end(t)) {
    return regexp_refuse(t, "unclosed character class");
  }
  *ret = regexp_next(t);
  if (*ret != '\\') {
    return GLV_OK;
  }
  TRY(regexp_class_escape(t, items, ret_is_class));
  return *ret_is_class ? GLV_OK : regexp_char_escape(t, ret);
}

/* A character, or a range. */
static glv_status translate_class_item(translator *t, buf *items) {
  uint32_t low = 0;
  uint32_t high = 0;
  bool is_class;
  TRY(parse_class_char(t, items, &low, &is_class));
  regexp_skip_blanks(t);
  const bool is_range = regexp_peek(t, 0) == '-' && regexp_peek(t, 1) != ']' &&
                        regexp_peek(t, 1) != '-' && t->at + 1 < t->pattern.size;
  if (is_class || !is_range) {
    return is_class ? GLV_OK : regexp_put_literal(items, low);
  }
  t->at++;
  regexp_skip_blanks(t);
  TRY(parse_class_char(t, items, &high, &is_class));
  if (is_class || low > high) {
    return regexp_refuse(t, "invalid character class range");
  }
  TRY(regexp_put_literal(items, low));
  TRY(buf_append_char(items, '-', NULL));
  return regexp_put_literal(items, high);
}

enum set_operator { SET_NONE, SET_AND, SET_MINUS, SET_XOR };

static enum set_operator peek_operator(const translator *t) {
  const char c = regexp_peek(t, 0);
  if (c != regexp_peek(t, 1)) {
    return SET_NONE;
  }
  return c == '&' ? SET_AND : c == '-' ? SET_MINUS : c == '~' ? SET_XOR : SET_NONE;
}

/* left = left op right, as an expression */
static glv_status combine(enum set_operator op, buf *left, const class_union *right, glv_env *env) {
  CLEANUP(buf_dispose) buf r;
  CLEANUP(buf_dispose) buf joined;
  buf_init(&r, env, left->max);
  buf_init(&joined, env, left->max);
  TRY(put_union(right, &r));
  const str a = buf_str(left);
  const str b = buf_str(&r);
  switch (op) {
  case SET_NONE:
    TRY(buf_append_str(&joined, b, NULL));
    break;
  case SET_AND:
    TRY(buf_printf(&joined, NULL, "(?:(?=%.*s)%.*s)", STR_ARG(a), STR_ARG(b)));
    break;
  case SET_MINUS:
    TRY(buf_printf(&joined, NULL, "(?:(?!%.*s)%.*s)", STR_ARG(b), STR_ARG(a)));
    break;
  case SET_XOR:
    TRY(buf_printf(&joined, NULL, "(?:(?!%.*s)%.*s|(?!%.*s)%.*s)", STR_ARG(a), STR_ARG(b),
                   STR_ARG(b), STR_ARG(a)));
    break;
  }
  buf_clear(left);
  return buf_append_str(left, buf_str(&joined), NULL);
}

/* Behind the opening of a class: any number of `-`, or one `]`, are literals. */
static glv_status translate_first(translator *t, class_union *u) {
  regexp_skip_blanks(t);
  if (regexp_peek(t, 0) == ']') {
    t->at++;
    return regexp_put_literal(&u->items, ']');
  }
  for (; regexp_peek(t, 0) == '-'; regexp_skip_blanks(t)) {
    t->at++;
    TRY(regexp_put_literal(&u->items, '-'));
  }
  return GLV_OK;
}

/* The items up to the next operator or the end. */
static glv_status translate_union(translator *t, class_union *u) {
  for (;;) {
    regexp_skip_blanks(t);
    const char c = regexp_peek(t, 0);
    if (regexp_at_end(t)) {
      return regexp_refuse(t, "unclosed character class");
    }
    if (c == ']' || peek_operator(t) != SET_NONE) {
      return GLV_OK;
    }
    if (c == '\\' && regexp_peek(t, 1) == 'W') {
      t->at += 2;
      TRY(buf_append_char(&u->nested, '|', NULL));
      TRY(regexp_not_word(t, &u->nested));
      continue;
    }
    if (c != '[') {
      TRY(translate_class_item(t, &u->items));
      continue;
    }
    bool is_posix;
    t->at++;
    TRY(translate_posix(t, &u->items, &is_posix));
    if (!is_posix) {
      TRY(buf_append_char(&u->nested, '|', NULL));
      TRY(regexp_class(t, &u->nested));
    }
  }
}

static glv_status finish_class(translator *t, bool negated, bool is_plain, const class_union *u,
                               const buf *set, buf *out) {
  if (negated && t->flags.ascii) {
    return regexp_refuse(t, "pattern can match invalid UTF-8");
  }
  if (!negated) {
    return buf_append_str(out, buf_str(set), NULL);
  }
  if (is_plain && u->items.size != 0) {
    return buf_printf(out, NULL, "[^%.*s]", STR_ARG(buf_str(&u->items)));
  }
  return buf_printf(out, NULL, "(?:(?!%.*s).)", STR_ARG(buf_str(set)));
}

glv_status regexp_class(translator *t, buf *out) {
  CLEANUP(union_dispose) class_union u;
  CLEANUP(buf_dispose) buf set;
  union_init(&u, t->env, out->max);
  buf_init(&set, t->env, out->max);
  if (++t->depth > REGEXP_DEPTH) {
    return regexp_refuse(t, "the pattern is nested too deeply");
  }
  const bool negated = regexp_peek(t, 0) == '^';
  t->at += negated;
  enum set_operator op = SET_NONE;
  bool is_plain = true;
  for (bool is_first = true;; is_first = false) {
    if (is_first) {
      TRY(translate_first(t, &u));
    }
    TRY(translate_union(t, &u));
    is_plain = is_plain && is_first && u.nested.size == 0;
    TRY(combine(op, &set, &u, t->env));
    op = peek_operator(t);
    if (op == SET_NONE) {
      break;
    }
    t->at += 2;
    is_plain = false;
    buf_clear(&u.items);
    buf_clear(&u.nested);
  }
  t->at++; /* the bracket */
  t->depth--;
  return finish_class(t, negated, is_plain, &u, &set, out);
}
