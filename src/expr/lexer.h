/**
 * @file lexer.h
 * SQL text into tokens, one at a time. A token is a range of the text; decoding happens when
 * somebody needs the value.
 */
#ifndef GLAIVE_EXPR_LEXER_H
#define GLAIVE_EXPR_LEXER_H

#include "base/buf.h"

enum token_kind {
  TOKEN_END,        /* of the text */
  TOKEN_BAD,        /* nothing that the language knows; see token.problem */
  TOKEN_WORD,       /* unquoted */
  TOKEN_QUOTED,     /* `..`, or ".." where that is an identifier */
  TOKEN_STRING,     /* '..', or ".." where that is a string */
  TOKEN_NUMBER,     /* 12, 1.5e3, 7L */
  TOKEN_HEX,        /* 0x1F, x'1F' */
  TOKEN_ODD,        /* a parameter or a string with a prefix that means nothing here */
  TOKEN_OPERATOR,   /* token.op */
  TOKEN_PUNCTUATION /* token.op is the character: ( ) [ ] { } , ; : . */
};

/* clang-format off */
/** Words that the grammar knows. X(name): the spelling is the name; ascending order. */
#define KEYWORD_MAP(X)                                                                             \
  X(ALL) X(AND) X(ANY) X(ARRAY) X(AS) X(ASC) X(AT) X(BETWEEN) X(BOTH) X(BY) X(CASE) X(CAST)        \
  X(CEIL) X(COLLATE) X(CONVERT) X(CROSS) X(CUBE) X(CURRENT_DATE) X(CURRENT_TIME)                   \
  X(CURRENT_TIMESTAMP) X(DESC) X(DISTINCT) X(DIV) X(ELSE) X(END) X(ESCAPE) X(EXCEPT) X(EXISTS)     \
  X(EXTRACT) X(FALSE) X(FETCH) X(FILTER) X(FIRST) X(FLOOR) X(FOR) X(FROM) X(FULL) X(GLOB)          \
  X(GROUP) X(GROUPING) X(HAVING) X(IGNORE) X(ILIKE) X(IN) X(INNER) X(INTERSECT) X(INTERVAL)        \
  X(INTO) X(IS) X(JOIN) X(LAST) X(LATERAL) X(LEADING) X(LEFT) X(LIKE) X(LIMIT) X(LOCALTIME)        \
  X(LOCALTIMESTAMP) X(MAP) X(MATCH) X(MEMBER) X(MINUS) X(NATURAL) X(NOT) X(NULL) X(NULLS) X(OF)    \
  X(OFFSET) X(OPERATOR) X(OR) X(ORDER) X(OUTER) X(OVER) X(OVERLAPS) X(OVERLAY) X(PLACING)          \
  X(POSITION) X(QUALIFY) X(REGEXP) X(RESPECT) X(RIGHT) X(RLIKE) X(ROLLUP) X(SAFE_CAST) X(SELECT)   \
  X(SETS) X(SIMILAR) X(SOME) X(SUBSTR) X(SUBSTRING) X(TABLESAMPLE) X(THEN) X(TIME) X(TO) X(TOP)    \
  X(TRAILING) X(TRIM) X(TRUE) X(TRY_CAST) X(UNION) X(UNKNOWN) X(UNNEST) X(USING) X(VALUES)         \
  X(WHEN) X(WHERE) X(WINDOW) X(WITH) X(WITHIN) X(XOR) X(ZONE)
/* clang-format on */

enum keyword {
  KW_NONE, /* any other word */
#define KEYWORD_ENUM(name) KW_##name,
  KEYWORD_MAP(KEYWORD_ENUM)
#undef KEYWORD_ENUM
};

/* clang-format off */
/** Operators: X(name, spelling), longer spellings before their prefixes. */
#define OPERATOR_MAP(X)                                                                            \
  X(NOT_ILIKE, "!~~*") X(NOT_LIKE, "!~~") X(NOT_REGEX_I, "!~*") X(LONG_ARROW, "->>")               \
  X(HASH_LONG_ARROW, "#>>") X(ILIKE, "~~*") X(SPACESHIP, "<=>") X(CUBE_ROOT, "||/")                \
  X(NOT_REGEX, "!~") X(BANG_BANG, "!!") X(BANG_EQ, "!=") X(ARROW, "->") X(HASH_ARROW, "#>")        \
  X(HASH_MINUS, "#-") X(LIKE, "~~") X(REGEX_I, "~*") X(LE, "<=") X(NE, "<>") X(SHL, "<<")          \
  X(CONTAINED, "<@") X(GE, ">=") X(SHR, ">>") X(CONCAT, "||") X(ROOT, "|/") X(NAMED, "=>")         \
  X(EQ_EQ, "==") X(COLONS, "::") X(ASSIGN, ":=") X(OVERLAP, "&&") X(STARTS_WITH, "^@")             \
  X(CONTAINS, "@>") X(AT_QUESTION, "@?") X(AT_AT, "@@") X(INT_DIV, "//") X(PLUS, "+")              \
  X(MINUS, "-") X(STAR, "*") X(SLASH, "/") X(PERCENT, "%") X(EQ, "=") X(LT, "<") X(GT, ">")        \
  X(AMPERSAND, "&") X(PIPE, "|") X(CARET, "^") X(TILDE, "~") X(BANG, "!") X(SHARP, "#")            \
  X(AT, "@")
/* clang-format on */

enum operator_token {
#define OPERATOR_ENUM(name, spelling) OP_##name,
  OPERATOR_MAP(OPERATOR_ENUM)
#undef OPERATOR_ENUM
};

typedef struct token {
  enum token_kind kind;
  unsigned op;          /* enum operator_token, or the character of TOKEN_PUNCTUATION */
  enum keyword keyword; /* of TOKEN_WORD */
  uint32_t begin;       /* byte offsets in the text */
  uint32_t end;
  const char *problem; /* of TOKEN_BAD: a static text */
} token;

typedef struct lexer {
  str text;
  size_t at;
  bool dquote_identifier;
  bool after_word; /* the token before was a word */
} lexer;

/** text is UTF-8 and shorter than 4 GiB; it must outlive the tokens. */
lexer lexer_new(str text, bool dquote_identifier);
/** The next token; TOKEN_END for ever at the end. */
token lexer_next(lexer *x);

/** The bytes of a token. */
static inline str token_source(const lexer *x, const token *t) {
  return str_slice(x->text.data + t->begin, t->end - t->begin);
}
/** True iff t is the unquoted word k. */
static inline bool token_is(const token *t, enum keyword k) {
  return t->kind == TOKEN_WORD && t->keyword == k;
}
static inline bool token_is_char(const token *t, char c) {
  return t->kind == TOKEN_PUNCTUATION && t->op == (unsigned char)c;
}
static inline bool token_is_op(const token *t, enum operator_token op) {
  return t->kind == TOKEN_OPERATOR && t->op == op;
}
const char *token_operator_text(unsigned op);
/** Order of a word, put into capitals, and a text in capitals. @return < 0, 0, > 0. */
int token_compare(str word, const char *capitals);

/**
 * Append the value of a text in quotes (its first and last byte), a doubled quote being one.
 * Errors: GLV_E_NOMEM, GLV_E_LIMIT.
 */
glv_status token_unquote(str quoted, buf *out, glv_error *err);

/** One-based line and column, in characters, of a byte offset. */
void text_position(str text, size_t offset, size_t *ret_line, size_t *ret_column);

/** The code point at text.data[at] of well-formed UTF-8 and its length in bytes. */
uint32_t text_code_point(str text, size_t at, size_t *ret_length);

#endif
