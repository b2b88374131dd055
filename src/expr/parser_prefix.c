/*
 * What stands before an operator: literals, names, parentheses, arrays, signs (section 4.1); a word
 * with a form of its own is handed to parser_form.c.
 *
 * A string in double quotes is a token of its own kind where "x" is a string; where it is a name,
 * the lexer gives a quoted name.
 */
#include "expr/parser_private.h"

/* A leaf of the current token, which is consumed. */
static glv_status leaf(parser *p, enum ast_kind kind, ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  parser_advance(p);
  return parser_node(p, kind, begin, NULL, 0, ret, err);
}

glv_status parser_number(parser *p, const ast **ret, glv_error *err) {
  str digits = token_source(&p->at.lex, &p->at.tok);
  digits.size -= digits.data[digits.size - 1] == 'L' ? 1 : 0;
  ast *node;
  TRY(leaf(p, AST_NUMBER, &node, err));
  node->text = digits;
  *ret = node;
  return GLV_OK;
}

static glv_status string(parser *p, const ast **ret, glv_error *err) {
  str text;
  TRY(parser_unquoted(p, &p->at.tok, &text, err));
  ast *node;
  TRY(leaf(p, AST_STRING, &node, err));
  node->text = text;
  *ret = node;
  return GLV_OK;
}

/* 0x1F, x'1F': the digits */
static glv_status hex(parser *p, const ast **ret, glv_error *err) {
  token inside = p->at.tok;
  str text = token_source(&p->at.lex, &inside);
  if (text.data[0] == '0') {
    text = str_slice(text.data + 2, text.size - 2);
  } else {
    inside.begin++;
    TRY(parser_unquoted(p, &inside, &text, err));
  }
  ast *node;
  TRY(leaf(p, AST_HEX, &node, err));
  node->text = text;
  *ret = node;
  return GLV_OK;
}

/* A parameter or a string with a prefix; `:a` is two tokens that touch. */
static glv_status odd_value(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  if (parser_at_char(p, ':')) {
    if ((p->at.next.kind != TOKEN_WORD && p->at.next.kind != TOKEN_NUMBER) ||
        p->at.next.begin != p->at.tok.end) {
      return parser_expected(p, "an expression", err);
    }
    parser_advance(p);
  }
  parser_advance(p);
  ast *node;
  TRY(parser_node(p, AST_ODD_VALUE, begin, NULL, 0, &node, err));
  node->text = str_slice(p->text.data + begin, p->at.last_end - begin);
  *ret = node;
  return GLV_OK;
}

bool parser_operand_follows(const parser *p) {
  const token *t = &p->at.next;
  switch (t->kind) {
  case TOKEN_WORD:
    return t->keyword != KW_END && t->keyword != KW_IS && t->keyword != KW_AND &&
           t->keyword != KW_OR && t->keyword != KW_THEN && t->keyword != KW_ELSE;
  case TOKEN_OPERATOR:
    return t->op == OP_PLUS || t->op == OP_MINUS || t->op == OP_TILDE;
  case TOKEN_PUNCTUATION:
    return t->op == '(' || t->op == '[' || t->op == '{' || t->op == ':';
  case TOKEN_END:
  case TOKEN_BAD:
    return false;
  case TOKEN_QUOTED:
  case TOKEN_STRING:
  case TOKEN_NUMBER:
  case TOKEN_HEX:
  case TOKEN_ODD:
    break;
  }
  return true;
}

static glv_status negation(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  parser_advance(p);
  ast *node;
  const ast *operand;
  if (parser_at(p, KW_EXISTS)) {
    TRY(parser_exists(p, &operand, err));
    TRY(parser_node(p, AST_EXISTS, begin, operand->child, 1, &node, err));
    node->flags = AST_NOT;
  } else {
    TRY(parser_expression(p, PREC_NOT, &operand, err));
    TRY(parser_node(p, AST_UNARY, begin, &operand, 1, &node, err));
    node->op = AST_UNARY_NOT;
  }
  *ret = node;
  return GLV_OK;
}

static glv_status sign(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  const unsigned op = token_is_op(&p->at.tok, OP_MINUS)  ? AST_MINUS
                      : token_is_op(&p->at.tok, OP_PLUS) ? AST_PLUS
                                                         : AST_TILDE;
  parser_advance(p);
  const ast *operand;
  TRY(parser_expression(p, op == AST_TILDE ? PREC_PLUS : PREC_TIMES, &operand, err));
  ast *node;
  TRY(parser_node(p, AST_UNARY, begin, &operand, 1, &node, err));
  node->op = op;
  *ret = node;
  return GLV_OK;
}

/* [a, b]; the word ARRAY, if any, and the bracket are consumed */
static glv_status array(parser *p, uint32_t begin, unsigned flags, const ast **ret,
                        glv_error *err) {
  node_list items = {NULL, 0};
  if (!parser_at_char(p, ']')) {
    do {
      const ast *item;
      TRY(parser_expression(p, PREC_NONE, &item, err));
      TRY(parser_push(p, &items, item, err));
    } while (parser_accept_char(p, ','));
  }
  TRY(parser_expect_char(p, ']', err));
  ast *node;
  TRY(parser_node(p, AST_ARRAY, begin, items.items, items.count, &node, err));
  node->flags = flags;
  *ret = node;
  return GLV_OK;
}

/* MAP {a: b, ...}, the word being the current token */
static glv_status dictionary(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  parser_advance(p);
  parser_advance(p);
  node_list items = {NULL, 0};
  if (!parser_at_char(p, '}')) {
    do {
      const ast *item;
      TRY(parser_expression(p, PREC_PIPE, &item, err));
      TRY(parser_push(p, &items, item, err));
      TRY(parser_expect_char(p, ':', err));
      TRY(parser_expression(p, PREC_NONE, &item, err));
      TRY(parser_push(p, &items, item, err));
    } while (parser_accept_char(p, ','));
  }
  TRY(parser_expect_char(p, '}', err));
  ast *node;
  TRY(parser_node(p, AST_DICTIONARY, begin, items.items, items.count, &node, err));
  *ret = node;
  return GLV_OK;
}

static glv_status parenthesis(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  parser_advance(p);
  ast *node;
  if (parser_at_query(p)) {
    const ast *query;
    TRY(parser_subquery(p, &query, err));
    TRY(parser_node(p, AST_PAREN, begin, &query, 1, &node, err));
    *ret = node;
    return GLV_OK;
  }
  node_list items = {NULL, 0};
  do {
    const ast *item;
    TRY(parser_expression(p, PREC_NONE, &item, err));
    TRY(parser_push(p, &items, item, err));
  } while (parser_accept_char(p, ','));
  TRY(parser_form_end(p, items.count == 1 ? AST_PAREN : AST_TUPLE, begin, items.items, items.count,
                      &node, err));
  *ret = node;
  return GLV_OK;
}

/* type 'text'; *ret stays NULL when the tokens are something else */
static glv_status typed_string(parser *p, const ast **ret, glv_error *err) {
  *ret = NULL;
  const uint32_t begin = p->at.tok.begin;
  const parser_mark mark = p->at;
  const ast_type *t;
  TRY(parser_try_type(p, &t, err));
  if (t == NULL || p->at.tok.kind != TOKEN_STRING) {
    p->at = mark;
    return GLV_OK;
  }
  str text;
  TRY(parser_unquoted(p, &p->at.tok, &text, err));
  parser_advance(p);
  ast *node;
  TRY(parser_node(p, AST_TYPED_STRING, begin, NULL, 0, &node, err));
  node->type = t;
  node->text = text;
  *ret = node;
  return GLV_OK;
}

/* {ts '..'}, {d '..'}, {t '..'} */
static glv_status braces(parser *p, const ast **ret, glv_error *err) {
  static const struct {
    const char *word;
    const char *name;
  } FORMS[] = {{"ts", "TIMESTAMP"}, {"d", "DATE"}, {"t", "TIME"}};
  const uint32_t begin = p->at.tok.begin;
  const char *name = NULL;
  for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++) {
    if (p->at.next.kind == TOKEN_WORD &&
        str_is(token_source(&p->at.lex, &p->at.next), FORMS[i].word)) {
      name = FORMS[i].name;
    }
  }
  const token value = parser_peek(p);
  if (name == NULL || value.kind != TOKEN_STRING) {
    return parser_expected(p, "an expression", err);
  }
  parser_advance(p);
  ast_type *t = ARENA_NEW(p->a, ast_type);
  if (t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  *t = (ast_type){.name = str_of(name),
                  .known = true,
                  .canonical = str_of(name),
                  .begin = p->at.tok.begin,
                  .end = p->at.tok.end};
  parser_advance(p);
  str text;
  TRY(parser_unquoted(p, &p->at.tok, &text, err));
  parser_advance(p);
  TRY(parser_accept_char(p, '}') ? GLV_OK : parser_expected(p, "`}`", err));
  ast *node;
  TRY(parser_node(p, AST_TYPED_STRING, begin, NULL, 0, &node, err));
  node->op = 1;
  node->type = t;
  node->text = text;
  *ret = node;
  return GLV_OK;
}

glv_status parser_column_or_call(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  const ast_name *name;
  TRY(parser_one_name(p, &name, err));
  if (parser_at_char(p, '(')) {
    return parser_call(p, begin, name, 1, ret, err);
  }
  ast *node;
  TRY(parser_node(p, AST_COLUMN, begin, NULL, 0, &node, err));
  node->names = name;
  node->name_count = 1;
  *ret = node;
  return GLV_OK;
}

static glv_status constant(parser *p, const ast **ret, glv_error *err) {
  const bool is_null = parser_at(p, KW_NULL);
  const bool is_true = parser_at(p, KW_TRUE);
  ast *node;
  TRY(leaf(p, is_null ? AST_NULL : AST_BOOL, &node, err));
  node->op = is_true;
  *ret = node;
  return GLV_OK;
}

static glv_status word(parser *p, const ast **ret, glv_error *err) {
  const bool opens = token_is_char(&p->at.next, '(');
  switch (p->at.tok.keyword) {
  case KW_NULL:
  case KW_TRUE:
  case KW_FALSE:
    return constant(p, ret, err);
  case KW_CURRENT_DATE:
  case KW_CURRENT_TIME:
  case KW_CURRENT_TIMESTAMP:
  case KW_LOCALTIME:
  case KW_LOCALTIMESTAMP:
    return parser_bare_call(p, ret, err);
  case KW_CAST:
  case KW_TRY_CAST:
  case KW_SAFE_CAST:
  case KW_CONVERT:
  case KW_CEIL:
  case KW_FLOOR:
  case KW_POSITION:
  case KW_SUBSTR:
  case KW_SUBSTRING:
  case KW_OVERLAY:
    return opens ? parser_form_or_call(p, ret, err) : parser_column_or_call(p, ret, err);
  case KW_EXTRACT:
    return parser_extract_or_call(p, ret, err);
  case KW_TRIM:
    return parser_trim(p, ret, err);
  case KW_EXISTS:
    return parser_exists(p, ret, err);
  case KW_INTERVAL:
    return parser_interval(p, ret, err);
  case KW_NOT:
    return parser_operand_follows(p) ? negation(p, ret, err) : parser_column_or_call(p, ret, err);
  case KW_CASE:
    TRY(parser_case(p, ret, err));
    return *ret != NULL ? GLV_OK : parser_column_or_call(p, ret, err);
  case KW_ARRAY:
    if (token_is_char(&p->at.next, '[')) {
      const uint32_t begin = p->at.tok.begin;
      parser_advance(p);
      parser_advance(p);
      return array(p, begin, AST_KEYWORD, ret, err);
    }
    return parser_column_or_call(p, ret, err);
  case KW_MAP:
    return token_is_char(&p->at.next, '{') ? dictionary(p, ret, err)
                                           : parser_column_or_call(p, ret, err);
  default: /* a word without a form of its own */
    return parser_column_or_call(p, ret, err);
  }
}

glv_status parser_prefix(parser *p, const ast **ret, glv_error *err) {
  switch (p->at.tok.kind) {
  case TOKEN_WORD:
    if (parser_at_type(p) && !parser_at(p, KW_INTERVAL)) {
      TRY(typed_string(p, ret, err));
      if (*ret != NULL) {
        return GLV_OK;
      }
    }
    return word(p, ret, err);
  case TOKEN_QUOTED:
    return parser_column_or_call(p, ret, err);
  case TOKEN_STRING:
    return string(p, ret, err);
  case TOKEN_NUMBER:
    return parser_number(p, ret, err);
  case TOKEN_HEX:
    return hex(p, ret, err);
  case TOKEN_ODD:
    return odd_value(p, ret, err);
  case TOKEN_OPERATOR:
    if (p->at.tok.op == OP_MINUS || p->at.tok.op == OP_PLUS || p->at.tok.op == OP_TILDE) {
      return sign(p, ret, err);
    }
    break;
  case TOKEN_PUNCTUATION:
    if (p->at.tok.op == '(') {
      return parenthesis(p, ret, err);
    }
    if (p->at.tok.op == '[') {
      const uint32_t begin = p->at.tok.begin;
      parser_advance(p);
      return array(p, begin, 0, ret, err);
    }
    if (p->at.tok.op == '{') {
      return braces(p, ret, err);
    }
    if (p->at.tok.op == ':') {
      return odd_value(p, ret, err);
    }
    break;
  case TOKEN_END:
  case TOKEN_BAD:
    break;
  }
  return parser_expected(p, "an expression", err);
}
