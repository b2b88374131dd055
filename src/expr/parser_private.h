/**
 * @file parser_private.h
 * The state of a parser and its parts, shared by the files that parse expressions, types and SELECT
 * statements.
 */
#ifndef GLAIVE_EXPR_PARSER_PRIVATE_H
#define GLAIVE_EXPR_PARSER_PRIVATE_H

#include "expr/ast.h"
#include "expr/lexer.h"

/** Where a parser stands: copied to come back later. */
typedef struct parser_mark {
  lexer lex;         /* behind `next` */
  token tok;         /* the current token */
  token next;        /* the one behind it */
  uint32_t last_end; /* end of the token before the current one */
} parser_mark;

typedef struct parser {
  arena *a;
  str text;
  parser_mark at;
  size_t depth;
  size_t max_depth;
  size_t node_count;
  bool takes_aggregates;
  bool is_too_deep;      /* the depth limit was passed: no other reading of the text will help */
  unsigned char *failed; /* one bit a byte of text: a CASE that starts there does not parse */
} parser;

/** A list of nodes under construction, in the parser's arena. */
typedef struct node_list {
  const ast **items;
  size_t count;
} node_list;

/** flags and max_depth as in ast_parse. Errors: GLV_E_SQL_PARSE (text is not UTF-8), GLV_E_LIMIT.
 */
glv_status parser_init(parser *p, arena *a, str text, unsigned flags, size_t max_depth,
                       glv_error *err);
void parser_advance(parser *p);
/** The token behind `next`. */
token parser_peek(const parser *p);

/** GLV_E_SQL_PARSE with the position of t; err may be NULL (then nothing is formatted). */
glv_status parser_fail(const parser *p, const token *t, glv_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));
/** "expected <what>, found <the current token>". */
glv_status parser_expected(const parser *p, const char *what, glv_error *err);

/** Consume the current token if it is what is asked for. */
bool parser_accept(parser *p, enum keyword k);
bool parser_accept_char(parser *p, char c);
glv_status parser_expect(parser *p, enum keyword k, const char *what, glv_error *err);
glv_status parser_expect_char(parser *p, char c, glv_error *err);

static inline bool parser_at(const parser *p, enum keyword k) { return token_is(&p->at.tok, k); }
static inline bool parser_at_char(const parser *p, char c) { return token_is_char(&p->at.tok, c); }
static inline bool parser_at_word(const parser *p) {
  return p->at.tok.kind == TOKEN_WORD || p->at.tok.kind == TOKEN_QUOTED;
}
/** The unquoted word w, in any case; for words that are not in KEYWORD_MAP. */
bool parser_at_text(const parser *p, const char *w);

/** Decoded name of a word, quoted name or string; texts of strings. */
glv_status parser_name(parser *p, const token *t, ast_name *ret, glv_error *err);
glv_status parser_unquoted(parser *p, const token *t, str *ret, glv_error *err);
/** name { "." name } into the arena. */
glv_status parser_path(parser *p, const ast_name **ret, uint32_t *ret_count, glv_error *err);

/** A node that starts at byte `begin` and ends at the last token consumed. */
glv_status parser_node(parser *p, enum ast_kind kind, uint32_t begin, const ast *const *children,
                       size_t count, ast **ret, glv_error *err);
/** Room for one more item in an array of the arena that has count of them; capacities are powers of
 * two. items_pointer is the address of the pointer to the first item, NULL when count is 0. */
glv_status parser_grow(parser *p, void *items_pointer, size_t count, size_t width, glv_error *err);
glv_status parser_push(parser *p, node_list *list, const ast *node, glv_error *err);

/** One level deeper; `p->depth--` undoes it. */
glv_status parser_enter(parser *p, glv_error *err);
/** An expression, taking only operators that bind tighter than `above`. */
glv_status parser_expression(parser *p, unsigned above, const ast **ret, glv_error *err);
/** The same, with its left-most operand parsed already. */
glv_status parser_climb(parser *p, unsigned above, const ast *left, const ast **ret,
                        glv_error *err);
/** The subscripts, fields and COLLATE behind an operand. */
glv_status parser_accesses(parser *p, const ast *left, const ast **ret, glv_error *err);
/** What may stand before any operator: literals, names, calls, special forms, parentheses. */
glv_status parser_prefix(parser *p, const ast **ret, glv_error *err);
/** A literal of the current token. */
glv_status parser_number(parser *p, const ast **ret, glv_error *err);
/** The name of the current token, which is consumed. */
glv_status parser_one_name(parser *p, const ast_name **ret, glv_error *err);
/** A word or quoted name: a call if a parenthesis follows, else a column. */
glv_status parser_column_or_call(parser *p, const ast **ret, glv_error *err);
/** The next token can begin an operand, so that the word before it need not be a name. */
bool parser_operand_follows(const parser *p);

/** The form of the current word, or an ordinary call of that name, whose parenthesis is the next
 * token: CAST, TRY_CAST, SAFE_CAST, CONVERT, CEIL, FLOOR, POSITION, SUBSTR, SUBSTRING, OVERLAY. */
glv_status parser_form_or_call(parser *p, const ast **ret, glv_error *err);
/** EXTRACT(word FROM ..); anything else is a column or call. */
glv_status parser_extract_or_call(parser *p, const ast **ret, glv_error *err);
/** CASE: the form if it parses as one, else *ret is NULL and nothing is consumed: it is a name. */
glv_status parser_case(parser *p, const ast **ret, glv_error *err);
/** TRIM, EXISTS, INTERVAL, whose words mean nothing else. */
glv_status parser_trim(parser *p, const ast **ret, glv_error *err);
glv_status parser_exists(parser *p, const ast **ret, glv_error *err);
glv_status parser_interval(parser *p, const ast **ret, glv_error *err);
/** `)` and the node of what ends with it. */
glv_status parser_form_end(parser *p, enum ast_kind kind, uint32_t begin,
                           const ast *const *children, size_t count, ast **ret, glv_error *err);

struct name_list {
  const ast_name *names;
  uint32_t count;
};
/** The rest of a call of which `first` was parsed already; NULL = nothing behind the parenthesis.
 */
glv_status parser_call_rest(parser *p, uint32_t begin, struct name_list name, const ast *first,
                            const ast **ret, glv_error *err);
/** CURRENT_DATE and the like: a call without parentheses, if none follow. */
glv_status parser_bare_call(parser *p, const ast **ret, glv_error *err);
/** A call from the opening parenthesis on; the name stands in `names`. */
glv_status parser_call(parser *p, uint32_t begin, const ast_name *names, uint32_t name_count,
                       const ast **ret, glv_error *err);
/** key [ASC | DESC] [NULLS FIRST | LAST], ...: behind ORDER BY. */
glv_status parser_order(parser *p, const ast_order **ret, size_t *ret_count, glv_error *err);
/** The source up to the parenthesis that closes the one just consumed, which is consumed too. */
glv_status parser_skip_parenthesis(parser *p, str *ret, glv_error *err);
/** A SELECT within parentheses, of which the first is consumed; the last one is consumed too. */
glv_status parser_subquery(parser *p, const ast **ret, glv_error *err);
/** The current token starts a SELECT. */
bool parser_at_query(const parser *p);

/** A type. */
glv_status parser_type(parser *p, const ast_type **ret, glv_error *err);
/** A type, if the tokens are one; else *ret is NULL and the parser stands anywhere. */
glv_status parser_try_type(parser *p, const ast_type **ret, glv_error *err);
/** The current token is the first word of a type that SQL names. */
bool parser_at_type(const parser *p);

/** Levels of precedence (4.2). */
enum precedence {
  PREC_NONE = 0,
  PREC_OR = 5,
  PREC_AND = 10,
  PREC_NOT = 15,
  PREC_ARROW = 16,
  PREC_IS = 17,
  PREC_LIKE = 19,
  PREC_COMPARE = 20,
  PREC_PIPE = 21,
  PREC_CARET = 22,
  PREC_AMPERSAND = 23,
  PREC_XOR = 24,
  PREC_PLUS = 30,
  PREC_TIMES = 40,
  PREC_AT = 41,
  PREC_COLONS = 50
};

#endif
