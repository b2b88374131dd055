/*
 * Operators, and what follows an operand: section 4 of the SQL design, table 4.2.
 *
 * The left operand is a variable that grows into a node with every operator of sufficient
 * precedence; see parser.c. The right operand of IS [NOT] DISTINCT FROM takes in everything, even
 * AND and OR: that is how the reference reads it.
 */
#include "expr/parser_private.h"

/* A node whose first child is its left operand. */
static glv_status suffix_node(parser *p, enum ast_kind kind, const ast *const *children,
                              size_t count, ast **ret, glv_error *err) {
  TRY(parser_node(p, kind, children[0]->begin, children, count, ret, err));
  (*ret)->spine = children[0]->spine + 1;
  return GLV_OK;
}

struct infix {
  unsigned precedence;
  unsigned op; /* enum ast_binary */
};

/* Binary operators that are not words; precedence 0 = none. */
static struct infix infix_of(unsigned op) {
  static const struct infix TABLE[] = {
      [OP_NOT_ILIKE] = {PREC_COMPARE, AST_NOT_ILIKE_OP},
      [OP_NOT_LIKE] = {PREC_COMPARE, AST_NOT_LIKE_OP},
      [OP_NOT_REGEX_I] = {PREC_COMPARE, AST_NOT_REGEX_I},
      [OP_LONG_ARROW] = {PREC_ARROW, AST_LONG_ARROW},
      [OP_HASH_LONG_ARROW] = {PREC_ARROW, AST_HASH_LONG_ARROW},
      [OP_ILIKE] = {PREC_COMPARE, AST_ILIKE_OP},
      [OP_SPACESHIP] = {PREC_COMPARE, AST_SPACESHIP},
      [OP_NOT_REGEX] = {PREC_COMPARE, AST_NOT_REGEX},
      [OP_BANG_EQ] = {PREC_COMPARE, AST_NE},
      [OP_ARROW] = {PREC_ARROW, AST_ARROW},
      [OP_HASH_ARROW] = {PREC_ARROW, AST_HASH_ARROW},
      [OP_HASH_MINUS] = {PREC_ARROW, AST_BINARY_OTHER},
      [OP_LIKE] = {PREC_COMPARE, AST_LIKE_OP},
      [OP_REGEX_I] = {PREC_COMPARE, AST_REGEX_I},
      [OP_LE] = {PREC_COMPARE, AST_LE},
      [OP_NE] = {PREC_COMPARE, AST_NE},
      [OP_SHL] = {PREC_CARET, AST_SHL},
      [OP_CONTAINED] = {PREC_ARROW, AST_CONTAINED},
      [OP_GE] = {PREC_COMPARE, AST_GE},
      [OP_SHR] = {PREC_CARET, AST_SHR},
      [OP_CONCAT] = {PREC_TIMES, AST_CONCAT},
      [OP_EQ_EQ] = {PREC_COMPARE, AST_EQ},
      [OP_ASSIGN] = {PREC_COMPARE, AST_ASSIGN},
      [OP_OVERLAP] = {PREC_PIPE, AST_OVERLAP},
      [OP_STARTS_WITH] = {PREC_COLONS, AST_STARTS_WITH},
      [OP_CONTAINS] = {PREC_ARROW, AST_CONTAINS},
      [OP_AT_QUESTION] = {PREC_ARROW, AST_BINARY_OTHER},
      [OP_AT_AT] = {PREC_ARROW, AST_BINARY_OTHER},
      [OP_INT_DIV] = {PREC_TIMES, AST_INT_DIV},
      [OP_PLUS] = {PREC_PLUS, AST_ADD},
      [OP_MINUS] = {PREC_PLUS, AST_SUB},
      [OP_STAR] = {PREC_TIMES, AST_MUL},
      [OP_SLASH] = {PREC_TIMES, AST_DIV},
      [OP_PERCENT] = {PREC_TIMES, AST_MOD},
      [OP_EQ] = {PREC_COMPARE, AST_EQ},
      [OP_LT] = {PREC_COMPARE, AST_LT},
      [OP_GT] = {PREC_COMPARE, AST_GT},
      [OP_AMPERSAND] = {PREC_AMPERSAND, AST_BIT_AND},
      [OP_PIPE] = {PREC_PIPE, AST_BIT_OR},
      [OP_CARET] = {PREC_CARET, AST_BIT_XOR},
      [OP_TILDE] = {PREC_COMPARE, AST_REGEX},
      [OP_AT] = {PREC_NONE, 0},
  };
  return TABLE[op];
}

/* Precedence of the operator that the words from the current token on make, 0 = none. */
static unsigned word_precedence(const parser *p) {
  enum keyword k = p->at.tok.keyword;
  if (k == KW_NOT) {
    k = p->at.next.kind == TOKEN_WORD ? p->at.next.keyword : KW_NONE;
    switch (k) {
    case KW_NULL:
      return PREC_IS;
    case KW_IN:
    case KW_BETWEEN:
      return PREC_COMPARE;
    case KW_LIKE:
    case KW_ILIKE:
    case KW_RLIKE:
    case KW_REGEXP:
    case KW_SIMILAR:
      return PREC_LIKE;
    default: /* NOT is no suffix then */
      return PREC_NONE;
    }
  }
  switch (k) {
  case KW_OR:
    return PREC_OR;
  case KW_AND:
    return PREC_AND;
  case KW_XOR:
    return PREC_XOR;
  case KW_IS:
    return PREC_IS;
  case KW_IN:
  case KW_BETWEEN:
  case KW_OVERLAPS:
    return PREC_COMPARE;
  case KW_LIKE:
  case KW_ILIKE:
  case KW_RLIKE:
  case KW_REGEXP:
  case KW_SIMILAR:
  case KW_MEMBER:
    return PREC_LIKE;
  case KW_AT: {
    const token third = parser_peek(p);
    return token_is(&p->at.next, KW_TIME) && token_is(&third, KW_ZONE) ? PREC_AT : PREC_NONE;
  }
  default: /* any other word ends the expression */
    return PREC_NONE;
  }
}

static unsigned next_precedence(const parser *p) {
  switch (p->at.tok.kind) {
  case TOKEN_WORD:
    return word_precedence(p);
  case TOKEN_OPERATOR:
    return p->at.tok.op == OP_COLONS ? PREC_COLONS : infix_of(p->at.tok.op).precedence;
  case TOKEN_PUNCTUATION:
    return p->at.tok.op == ':' && (p->at.next.kind == TOKEN_WORD || p->at.next.kind == TOKEN_QUOTED)
               ? PREC_PIPE
               : PREC_NONE;
  case TOKEN_END:
  case TOKEN_BAD:
  case TOKEN_QUOTED:
  case TOKEN_STRING:
  case TOKEN_NUMBER:
  case TOKEN_HEX:
  case TOKEN_ODD:
    break;
  }
  return PREC_NONE;
}

static bool is_comparison(unsigned op) {
  switch (op) {
  case AST_EQ:
  case AST_NE:
  case AST_LT:
  case AST_LE:
  case AST_GT:
  case AST_GE:
    return true;
  default:
    return op >= AST_REGEX && op <= AST_NOT_ILIKE_OP;
  }
}

/* `left op ANY (...)`, the operator being consumed. */
static glv_status quantified(parser *p, unsigned op, unsigned precedence, const ast *left,
                             const ast **ret, glv_error *err) {
  const unsigned flags = parser_at(p, KW_ALL)    ? AST_ALL
                         : parser_at(p, KW_SOME) ? AST_ANY | AST_KEYWORD
                                                 : AST_ANY;
  parser_advance(p);
  if (!is_comparison(op)) {
    return parser_expected(p, "a comparison before ANY or ALL", err);
  }
  TRY(parser_expect_char(p, '(', err));
  const ast *children[2] = {left, NULL};
  if (parser_at_query(p)) {
    TRY(parser_subquery(p, &children[1], err));
  } else {
    TRY(parser_expression(p, precedence, &children[1], err));
    TRY(parser_expect_char(p, ')', err));
  }
  ast *node;
  TRY(suffix_node(p, AST_QUANTIFIED, children, 2, &node, err));
  node->op = op;
  node->flags = flags;
  *ret = node;
  return GLV_OK;
}

static glv_status binary(parser *p, unsigned op, unsigned precedence, const ast *left,
                         const ast **ret, glv_error *err) {
  const str spelling = token_source(&p->at.lex, &p->at.tok);
  parser_advance(p);
  if (parser_at(p, KW_ANY) || parser_at(p, KW_ALL) || parser_at(p, KW_SOME)) {
    return quantified(p, op, precedence, left, ret, err);
  }
  const ast *children[2] = {left, NULL};
  TRY(parser_expression(p, precedence, &children[1], err));
  ast *node;
  TRY(suffix_node(p, AST_BINARY, children, 2, &node, err));
  node->op = op;
  node->text = op == AST_BINARY_OTHER ? spelling : (str){NULL, 0};
  *ret = node;
  return GLV_OK;
}

/* left AND x AND y ..., or OR */
static glv_status chain(parser *p, enum keyword k, const ast *left, const ast **ret,
                        glv_error *err) {
  node_list items = {NULL, 0};
  TRY(parser_push(p, &items, left, err));
  while (parser_accept(p, k)) {
    const ast *item;
    TRY(parser_expression(p, k == KW_AND ? PREC_AND : PREC_OR, &item, err));
    TRY(parser_push(p, &items, item, err));
  }
  ast *node;
  TRY(parser_node(p, k == KW_AND ? AST_AND : AST_OR, left->begin, items.items, items.count, &node,
                  err));
  *ret = node;
  return GLV_OK;
}

/* NFC, NFD, NFKC or NFKD, which IS NORMALIZED may name; taken into text. */
static bool accept_normal_form(parser *p, str *ret) {
  static const char *const FORMS[] = {"NFC", "NFD", "NFKC", "NFKD"};
  for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++) {
    if (parser_at_text(p, FORMS[i])) {
      *ret = str_of(FORMS[i]);
      parser_advance(p);
      return true;
    }
  }
  return false;
}

/* What IS tests, the words IS [NOT] being consumed. */
static glv_status is_what(parser *p, unsigned *ret_op, str *ret_text, glv_error *err) {
  *ret_text = (str){NULL, 0};
  if (parser_accept(p, KW_NULL)) {
    *ret_op = AST_IS_NULL;
  } else if (parser_accept(p, KW_TRUE)) {
    *ret_op = AST_IS_TRUE;
  } else if (parser_accept(p, KW_FALSE)) {
    *ret_op = AST_IS_FALSE;
  } else if (parser_accept(p, KW_UNKNOWN)) {
    *ret_op = AST_IS_UNKNOWN;
  } else {
    accept_normal_form(p, ret_text);
    if (!parser_at_text(p, "NORMALIZED")) {
      return parser_expected(p, "NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM after IS", err);
    }
    parser_advance(p);
    *ret_op = AST_IS_NORMALIZED;
  }
  return GLV_OK;
}

static glv_status is_suffix(parser *p, const ast *left, const ast **ret, glv_error *err) {
  parser_advance(p);
  const unsigned flags = parser_accept(p, KW_NOT) ? AST_NOT : 0;
  const ast *children[2] = {left, NULL};
  ast *node;
  if (parser_accept(p, KW_DISTINCT)) {
    TRY(parser_expect(p, KW_FROM, "FROM after IS DISTINCT", err));
    TRY(parser_expression(p, PREC_NONE, &children[1], err));
    TRY(suffix_node(p, AST_IS_DISTINCT, children, 2, &node, err));
  } else {
    unsigned op = AST_IS_NULL;
    str form = {NULL, 0};
    TRY(is_what(p, &op, &form, err));
    TRY(suffix_node(p, AST_IS, children, 1, &node, err));
    node->op = op;
    node->text = form;
  }
  node->flags = flags;
  *ret = node;
  return GLV_OK;
}

/* IN UNNEST(array) of other dialects, the word IN being consumed */
static glv_status in_unnest(parser *p, const ast *left, unsigned flags, const ast **ret,
                            glv_error *err) {
  parser_advance(p);
  TRY(parser_expect_char(p, '(', err));
  const ast *children[2] = {left, NULL};
  TRY(parser_expression(p, PREC_NONE, &children[1], err));
  TRY(parser_expect_char(p, ')', err));
  ast *node;
  TRY(suffix_node(p, AST_IN_SUBQUERY, children, 2, &node, err));
  node->flags = flags | AST_KEYWORD;
  *ret = node;
  return GLV_OK;
}

static glv_status in_suffix(parser *p, const ast *left, unsigned flags, const ast **ret,
                            glv_error *err) {
  parser_advance(p);
  if (parser_at(p, KW_UNNEST)) {
    return in_unnest(p, left, flags, ret, err);
  }
  TRY(parser_expect_char(p, '(', err));
  node_list items = {NULL, 0};
  TRY(parser_push(p, &items, left, err));
  const ast *item;
  const bool is_query = parser_at_query(p);
  if (is_query) {
    TRY(parser_subquery(p, &item, err));
    TRY(parser_push(p, &items, item, err));
  } else {
    do {
      TRY(parser_expression(p, PREC_NONE, &item, err));
      TRY(parser_push(p, &items, item, err));
    } while (parser_accept_char(p, ','));
    TRY(parser_expect_char(p, ')', err));
  }
  ast *node;
  TRY(suffix_node(p, is_query ? AST_IN_SUBQUERY : AST_IN, items.items, items.count, &node, err));
  node->flags = flags;
  *ret = node;
  return GLV_OK;
}

static glv_status between_suffix(parser *p, const ast *left, unsigned flags, const ast **ret,
                                 glv_error *err) {
  parser_advance(p);
  const ast *children[3] = {left, NULL, NULL};
  TRY(parser_expression(p, PREC_COMPARE, &children[1], err));
  TRY(parser_expect(p, KW_AND, "AND of BETWEEN", err));
  TRY(parser_expression(p, PREC_COMPARE, &children[2], err));
  ast *node;
  TRY(suffix_node(p, AST_BETWEEN, children, 3, &node, err));
  node->flags = flags;
  *ret = node;
  return GLV_OK;
}

static unsigned like_op(enum keyword k) {
  return k == KW_LIKE      ? AST_OP_LIKE
         : k == KW_ILIKE   ? AST_OP_ILIKE
         : k == KW_SIMILAR ? AST_OP_SIMILAR
         : k == KW_RLIKE   ? AST_OP_RLIKE
                           : AST_OP_REGEXP;
}

static glv_status like_suffix(parser *p, const ast *left, unsigned flags, const ast **ret,
                              glv_error *err) {
  const unsigned op = like_op(p->at.tok.keyword);
  parser_advance(p);
  if (op == AST_OP_SIMILAR) {
    TRY(parser_expect(p, KW_TO, "TO after SIMILAR", err));
  } else if ((op == AST_OP_LIKE || op == AST_OP_ILIKE) && parser_accept(p, KW_ANY)) {
    flags |= AST_ANY;
  }
  const ast *children[2] = {left, NULL};
  TRY(parser_expression(p, PREC_LIKE, &children[1], err));
  str escape = {NULL, 0};
  if (op != AST_OP_RLIKE && op != AST_OP_REGEXP && parser_accept(p, KW_ESCAPE)) {
    const bool is_string = p->at.tok.kind == TOKEN_STRING;
    if (!is_string && p->at.tok.kind != TOKEN_NUMBER && !parser_at(p, KW_NULL)) {
      return parser_expected(p, "a string after ESCAPE", err);
    }
    escape = token_source(&p->at.lex, &p->at.tok);
    TRY(is_string ? parser_unquoted(p, &p->at.tok, &escape, err) : GLV_OK);
    parser_advance(p);
    flags |= is_string ? AST_HAS_ESCAPE : AST_HAS_ESCAPE | AST_KEYWORD;
  }
  ast *node;
  TRY(suffix_node(p, AST_LIKE, children, 2, &node, err));
  node->op = op;
  node->flags = flags;
  node->text = escape;
  *ret = node;
  return GLV_OK;
}

/* A suffix that begins with the word NOT, IN, BETWEEN, LIKE or one of its kin. */
static glv_status negatable_suffix(parser *p, const ast *left, const ast **ret, glv_error *err) {
  const unsigned flags = parser_accept(p, KW_NOT) ? AST_NOT : 0;
  if (flags != 0 && parser_accept(p, KW_NULL)) {
    ast *node;
    TRY(suffix_node(p, AST_IS, &left, 1, &node, err));
    node->op = AST_IS_NULL;
    node->flags = AST_NOT;
    *ret = node;
    return GLV_OK;
  }
  if (parser_at(p, KW_IN)) {
    return in_suffix(p, left, flags, ret, err);
  }
  if (parser_at(p, KW_BETWEEN)) {
    return between_suffix(p, left, flags, ret, err);
  }
  return like_suffix(p, left, flags, ret, err);
}

static glv_status member_suffix(parser *p, const ast *left, const ast **ret, glv_error *err) {
  parser_advance(p);
  TRY(parser_expect(p, KW_OF, "OF after MEMBER", err));
  TRY(parser_expect_char(p, '(', err));
  const ast *children[2] = {left, NULL};
  TRY(parser_expression(p, PREC_NONE, &children[1], err));
  TRY(parser_expect_char(p, ')', err));
  ast *node;
  TRY(suffix_node(p, AST_MEMBER_OF, children, 2, &node, err));
  *ret = node;
  return GLV_OK;
}

static glv_status zone_suffix(parser *p, const ast *left, const ast **ret, glv_error *err) {
  parser_advance(p);
  parser_advance(p);
  parser_advance(p);
  const ast *children[2] = {left, NULL};
  TRY(parser_expression(p, PREC_AT, &children[1], err));
  ast *node;
  TRY(suffix_node(p, AST_AT_TIME_ZONE, children, 2, &node, err));
  *ret = node;
  return GLV_OK;
}

static glv_status word_suffix(parser *p, unsigned precedence, const ast *left, const ast **ret,
                              glv_error *err) {
  switch (p->at.tok.keyword) {
  case KW_AND:
  case KW_OR:
    return chain(p, p->at.tok.keyword, left, ret, err);
  case KW_XOR:
    return binary(p, AST_XOR, precedence, left, ret, err);
  case KW_OVERLAPS:
    return binary(p, AST_OVERLAPS, precedence, left, ret, err);
  case KW_IS:
    return is_suffix(p, left, ret, err);
  case KW_MEMBER:
    return member_suffix(p, left, ret, err);
  case KW_AT:
    return zone_suffix(p, left, ret, err);
  default: /* the others that word_precedence lets through */
    return negatable_suffix(p, left, ret, err);
  }
}

static glv_status cast_suffix(parser *p, const ast *left, const ast **ret, glv_error *err) {
  parser_advance(p);
  const ast_type *t;
  TRY(parser_type(p, &t, err));
  ast *node;
  TRY(suffix_node(p, AST_CAST, &left, 1, &node, err));
  node->op = AST_CAST_COLONS;
  node->type = t;
  *ret = node;
  return GLV_OK;
}

/* left:name, the way into JSON of other dialects */
static glv_status json_suffix(parser *p, const ast *left, const ast **ret, glv_error *err) {
  parser_advance(p);
  const uint32_t begin = p->at.tok.begin;
  const ast_name *names;
  uint32_t count;
  TRY(parser_path(p, &names, &count, err));
  ast *path;
  TRY(parser_node(p, AST_COLUMN, begin, NULL, 0, &path, err));
  path->names = names;
  path->name_count = count;
  ast *node;
  TRY(suffix_node(p, AST_BINARY, (const ast *const[]){left, path}, 2, &node, err));
  node->op = AST_BINARY_OTHER;
  node->text = STR(":");
  *ret = node;
  return GLV_OK;
}

glv_status parser_climb(parser *p, unsigned above, const ast *left, const ast **ret,
                        glv_error *err) {
  for (unsigned precedence = next_precedence(p); precedence > above;
       precedence = next_precedence(p)) {
    if (p->at.tok.kind == TOKEN_WORD) {
      TRY(word_suffix(p, precedence, left, &left, err));
    } else if (token_is_op(&p->at.tok, OP_COLONS)) {
      TRY(cast_suffix(p, left, &left, err));
    } else if (parser_at_char(p, ':')) {
      TRY(json_suffix(p, left, &left, err));
    } else {
      TRY(binary(p, infix_of(p->at.tok.op).op, precedence, left, &left, err));
    }
  }
  *ret = left;
  return GLV_OK;
}

/* x[i], x[a:b:c], the bracket being consumed */
static glv_status subscript(parser *p, const ast *left, const ast **ret, glv_error *err) {
  const ast *children[4] = {left, NULL, NULL, NULL};
  size_t bounds = 1;
  if (!parser_at_char(p, ':')) {
    TRY(parser_expression(p, PREC_PIPE, &children[1], err));
  }
  const bool is_slice = parser_at_char(p, ':');
  while (bounds < 3 && parser_accept_char(p, ':')) {
    bounds++;
    if (!parser_at_char(p, ']')) {
      TRY(parser_expression(p, bounds == 3 ? PREC_NONE : PREC_PIPE, &children[bounds], err));
    }
  }
  TRY(parser_expect_char(p, ']', err));
  ast *node;
  TRY(suffix_node(p, is_slice ? AST_SLICE : AST_SUBSCRIPT, children, is_slice ? 4 : 2, &node, err));
  *ret = node;
  return GLV_OK;
}

static bool at_field(const parser *p) {
  return parser_at_char(p, '.') && !token_is_op(&p->at.next, OP_STAR);
}

/* The current token can be a name behind a point. */
static bool at_field_name(const parser *p) {
  return parser_at_word(p) ||
         (p->at.tok.kind == TOKEN_STRING && p->text.data[p->at.tok.begin] == '\'');
}

/* A column with names behind points, or the call of a qualified name. */
static glv_status path(parser *p, const ast *left, const ast **ret, glv_error *err) {
  ast_name *names = NULL;
  uint32_t count = 0;
  TRY(parser_grow(p, &names, count, sizeof *names, err));
  names[count++] = left->names[0];
  while (at_field(p)) {
    parser_advance(p);
    if (!at_field_name(p)) {
      return parser_expected(p, "a name after `.`", err);
    }
    TRY(parser_grow(p, &names, count, sizeof *names, err));
    TRY(parser_name(p, &p->at.tok, &names[count++], err));
    parser_advance(p);
    if (parser_at_char(p, '(')) {
      return parser_call(p, left->begin, names, count, ret, err);
    }
  }
  ast *node;
  TRY(parser_node(p, AST_COLUMN, left->begin, NULL, 0, &node, err));
  node->names = names;
  node->name_count = count;
  *ret = node;
  return GLV_OK;
}

/* left.name where left is no plain path */
static glv_status field(parser *p, const ast *left, const ast **ret, glv_error *err) {
  parser_advance(p);
  if (!at_field_name(p) || token_is_char(&p->at.next, '(')) {
    return parser_expected(p, "a name after `.`", err);
  }
  ast_name *name = ARENA_NEW(p->a, ast_name);
  if (name == NULL) {
    return error_nomem(err, sizeof *name);
  }
  TRY(parser_name(p, &p->at.tok, name, err));
  parser_advance(p);
  ast *node;
  TRY(suffix_node(p, AST_FIELD, &left, 1, &node, err));
  node->names = name;
  node->name_count = 1;
  *ret = node;
  return GLV_OK;
}

static glv_status collation(parser *p, const ast *left, const ast **ret, glv_error *err) {
  parser_advance(p);
  ast_name *name = ARENA_NEW(p->a, ast_name);
  if (name == NULL) {
    return error_nomem(err, sizeof *name);
  }
  const ast_name *names = name;
  uint32_t count = 1;
  if (p->at.tok.kind == TOKEN_STRING) {
    TRY(parser_name(p, &p->at.tok, name, err));
    parser_advance(p);
  } else {
    TRY(parser_path(p, &names, &count, err));
  }
  ast *node;
  TRY(suffix_node(p, AST_COLLATE, &left, 1, &node, err));
  node->names = names;
  node->name_count = count;
  *ret = node;
  return GLV_OK;
}

glv_status parser_accesses(parser *p, const ast *left, const ast **ret, glv_error *err) {
  if (left->kind == AST_COLUMN && at_field(p)) {
    TRY(path(p, left, &left, err));
  }
  for (;;) {
    if (parser_accept_char(p, '[')) {
      TRY(subscript(p, left, &left, err));
    } else if (at_field(p)) {
      TRY(field(p, left, &left, err));
    } else {
      break;
    }
  }
  if (parser_at(p, KW_COLLATE)) {
    return collation(p, left, ret, err);
  }
  *ret = left;
  return GLV_OK;
}
