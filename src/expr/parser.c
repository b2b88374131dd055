/*
 * The parser of expressions: section 4 of the SQL design. This file has the state and the entry;
 * parser_prefix.c has what stands before an operator, parser_infix.c operators, parser_type.c
 * types.
 *
 * Operators are parsed by precedence climbing: the left operand grows in a loop, so chains such as
 * `a + b + c` of any length need no recursion; only right operands, parentheses, arguments and the
 * like recurse, and each such entry counts against the depth limit, in the same way as the
 * reference's parser counts, whose limit is 50: a view text within LIMIT_SQL_VIEW_DEPTH can be read
 * by it. AND and OR chains become one node each.
 *
 * Two tokens of look-ahead decide nearly everything. What they cannot decide is tried with err ==
 * NULL from a parser_mark and taken back: the type before a string, and CASE, which may also be a
 * column name.
 */
#include <stdio.h>

#include "base/limits.h"
#include "expr/expr.h"
#include "expr/parser_private.h"

glv_status parser_init(parser *p, arena *a, str text, unsigned flags, size_t max_depth,
                       glv_error *err) {
  if (text.size > LIMIT_SQL_BYTES) {
    return FAIL(err, GLV_E_LIMIT, "SQL text of %zu bytes is longer than %u", text.size,
                LIMIT_SQL_BYTES);
  }
  if (!str_is_utf8(text)) {
    return FAIL(err, GLV_E_SQL_PARSE, "the SQL text is not valid UTF-8");
  }
  *p = (parser){.a = a,
                .text = text,
                .max_depth = max_depth,
                .takes_aggregates = (flags & AST_PARSE_AGGREGATES) != 0};
  p->at.lex = lexer_new(text, (flags & EXPR_DQUOTE_IDENTIFIER) != 0);
  p->at.tok = lexer_next(&p->at.lex);
  p->at.next = lexer_next(&p->at.lex);
  return GLV_OK;
}

void parser_advance(parser *p) {
  p->at.last_end = p->at.tok.end;
  p->at.tok = p->at.next;
  p->at.next = lexer_next(&p->at.lex);
}

token parser_peek(const parser *p) {
  lexer copy = p->at.lex;
  return lexer_next(&copy);
}

/* Take away what is left of a character that was cut off at the end of a text. */
static void cut_last_character(char *text) {
  size_t size = strlen(text);
  size_t start = size;
  while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) {
    start--;
  }
  if (start > 0 && !str_is_utf8(str_slice(text + start - 1, size - start + 1))) {
    text[start - 1] = '\0';
  }
}

glv_status parser_fail(const parser *p, const token *t, glv_error *err, const char *format, ...) {
  if (err == NULL) {
    return GLV_E_SQL_PARSE;
  }
  char message[GLV_ERROR_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  cut_last_character(message);
  size_t line;
  size_t column;
  text_position(p->text, t->begin, &line, &column);
  if (t->kind == TOKEN_BAD) {
    return FAIL(err, GLV_E_SQL_PARSE, "SQL: %s at line %zu, column %zu", t->problem, line, column);
  }
  return FAIL(err, GLV_E_SQL_PARSE, "SQL: %s at line %zu, column %zu", message, line, column);
}

glv_status parser_expected(const parser *p, const char *what, glv_error *err) {
  const token *t = &p->at.tok;
  if (t->kind == TOKEN_END) {
    return parser_fail(p, t, err, "expected %s, found the end", what);
  }
  str source = token_source(&p->at.lex, t);
  const bool is_long = source.size > 40;
  if (is_long) {
    source.size = 40;
    while (source.size > 0 && ((unsigned char)source.data[source.size] & 0xc0) == 0x80) {
      source.size--;
    }
  }
  return parser_fail(p, t, err, "expected %s, found %.*s%s", what, STR_ARG(source),
                     is_long ? "..." : "");
}

bool parser_accept(parser *p, enum keyword k) {
  const bool is_there = parser_at(p, k);
  if (is_there) {
    parser_advance(p);
  }
  return is_there;
}

bool parser_accept_char(parser *p, char c) {
  const bool is_there = parser_at_char(p, c);
  if (is_there) {
    parser_advance(p);
  }
  return is_there;
}

glv_status parser_expect(parser *p, enum keyword k, const char *what, glv_error *err) {
  return parser_accept(p, k) ? GLV_OK : parser_expected(p, what, err);
}

glv_status parser_expect_char(parser *p, char c, glv_error *err) {
  const char what[] = {'`', c, '`', '\0'};
  return parser_accept_char(p, c) ? GLV_OK : parser_expected(p, what, err);
}

bool parser_at_text(const parser *p, const char *w) {
  return p->at.tok.kind == TOKEN_WORD &&
         str_equal_ascii_case(token_source(&p->at.lex, &p->at.tok), str_of(w));
}

glv_status parser_unquoted(parser *p, const token *t, str *ret, glv_error *err) {
  const str source = token_source(&p->at.lex, t);
  const str inside = str_slice(source.data + 1, source.size - 2);
  if (memchr(inside.data, source.data[0], inside.size) == NULL) {
    *ret = inside;
    return GLV_OK;
  }
  char *copy = arena_alloc(p->a, inside.size);
  if (copy == NULL) {
    return error_nomem(err, inside.size);
  }
  size_t size = 0;
  for (size_t i = 0; i < inside.size; i++) {
    copy[size++] = inside.data[i];
    i += inside.data[i] == source.data[0] ? 1 : 0;
  }
  *ret = str_slice(copy, size);
  return GLV_OK;
}

/* One node or name more. */
static glv_status count_part(parser *p, glv_error *err) {
  return ++p->node_count <= LIMIT_SQL_NODES
             ? GLV_OK
             : FAIL(err, GLV_E_LIMIT, "an SQL expression of more than %u parts", LIMIT_SQL_NODES);
}

glv_status parser_name(parser *p, const token *t, ast_name *ret, glv_error *err) {
  TRY(count_part(p, err));
  if (t->kind == TOKEN_WORD) {
    *ret = (ast_name){token_source(&p->at.lex, t), AST_BARE};
    return GLV_OK;
  }
  const char quote = p->text.data[t->begin];
  ret->quote = quote == '`' ? AST_BACKTICK : quote == '"' ? AST_DOUBLE : AST_SINGLE;
  return parser_unquoted(p, t, &ret->text, err);
}

glv_status parser_grow(parser *p, void *items_pointer, size_t count, size_t width, glv_error *err) {
  void **items = items_pointer;
  if (count != 0 && (count & (count - 1)) != 0) {
    return GLV_OK;
  }
  void *larger = arena_calloc(p->a, count == 0 ? 1 : 2 * count, width);
  if (larger == NULL) {
    return error_nomem(err, count * width);
  }
  if (count != 0) {
    memcpy(larger, *items, count * width);
  }
  *items = larger;
  return GLV_OK;
}

glv_status parser_path(parser *p, const ast_name **ret, uint32_t *ret_count, glv_error *err) {
  ast_name *names = NULL;
  uint32_t count = 0;
  do {
    if (!parser_at_word(p) && (count == 0 || p->at.tok.kind != TOKEN_STRING)) {
      return parser_expected(p, "a name", err);
    }
    TRY(parser_grow(p, &names, count, sizeof *names, err));
    TRY(parser_name(p, &p->at.tok, &names[count++], err));
    parser_advance(p);
  } while (parser_accept_char(p, '.'));
  *ret = names;
  *ret_count = count;
  return GLV_OK;
}

glv_status parser_push(parser *p, node_list *list, const ast *node, glv_error *err) {
  TRY(parser_grow(p, &list->items, list->count, sizeof *list->items, err));
  list->items[list->count++] = node;
  return GLV_OK;
}

bool ast_has_left(const ast *node) {
  switch (node->kind) {
  case AST_BINARY:
  case AST_IS:
  case AST_IS_DISTINCT:
  case AST_IN:
  case AST_IN_SUBQUERY:
  case AST_BETWEEN:
  case AST_LIKE:
  case AST_MEMBER_OF:
  case AST_QUANTIFIED:
  case AST_COLLATE:
  case AST_AT_TIME_ZONE:
  case AST_SUBSCRIPT:
  case AST_SLICE:
  case AST_FIELD:
    return true;
  case AST_CAST:
    return node->op == AST_CAST_COLONS;
  default: /* every other kind starts with a token of its own */
    return false;
  }
}

glv_status parser_node(parser *p, enum ast_kind kind, uint32_t begin, const ast *const *children,
                       size_t count, ast **ret, glv_error *err) {
  TRY(count_part(p, err));
  ast *node = ARENA_NEW(p->a, ast);
  const ast **copy = count != 0 ? ARENA_ARRAY(p->a, const ast *, count) : NULL;
  if (node == NULL || (count != 0 && copy == NULL)) {
    return error_nomem(err, sizeof *node);
  }
  if (count != 0) {
    memcpy(copy, children, count * sizeof *copy);
  }
  *node = (ast){.kind = kind,
                .begin = begin,
                .end = p->at.last_end,
                .child = copy,
                .child_count = (uint32_t)count};
  *ret = node;
  return GLV_OK;
}

glv_status parser_enter(parser *p, glv_error *err) {
  if (p->depth > p->max_depth || p->is_too_deep) {
    p->is_too_deep = true;
    return parser_fail(p, &p->at.tok, err, "expression nested too deeply");
  }
  p->depth++;
  return GLV_OK;
}

glv_status parser_expression(parser *p, unsigned above, const ast **ret, glv_error *err) {
  TRY(parser_enter(p, err));
  const ast *left;
  glv_status status = parser_prefix(p, &left, err);
  if (status == GLV_OK) {
    status = parser_accesses(p, left, &left, err);
  }
  if (status == GLV_OK) {
    status = parser_climb(p, above, left, ret, err);
  }
  p->depth--;
  return status;
}

glv_status ast_parse(arena *a, str text, unsigned flags, size_t max_depth, const ast **ret,
                     glv_error *err) {
  parser p;
  TRY(parser_init(&p, a, text, flags, max_depth, err));
  const ast *root;
  TRY(parser_expression(&p, PREC_NONE, &root, err));
  if (p.at.tok.kind != TOKEN_END) {
    return parser_expected(&p, "the end of the expression", err);
  }
  *ret = root;
  return GLV_OK;
}

glv_status ast_spine(arena *a, const ast *node, const ast ***ret, size_t *ret_count,
                     glv_error *err) {
  const size_t count = (size_t)node->spine + 1;
  const ast **nodes = ARENA_ARRAY(a, const ast *, count);
  if (nodes == NULL) {
    return error_nomem(err, count * sizeof *nodes);
  }
  for (size_t i = count; i-- > 0; node = i > 0 ? node->child[0] : NULL) {
    nodes[i] = node;
  }
  *ret = nodes;
  *ret_count = count;
  return GLV_OK;
}

const ast *ast_strip(const ast *node) {
  while (node->kind == AST_PAREN) {
    node = node->child[0];
  }
  return node;
}

const char *ast_binary_text(unsigned op) {
  static const char *const TEXTS[] = {
#define AST_BINARY_TEXT(name, spelling) spelling,
      AST_BINARY_MAP(AST_BINARY_TEXT)
#undef AST_BINARY_TEXT
  };
  return TEXTS[op];
}
