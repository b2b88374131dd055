/*
 * The forms of the grammar that begin with a word: CASE, INTERVAL, and those that look like calls.
 *
 * Words are not reserved. CAST, CEIL, SUBSTRING, OVERLAY, POSITION and CONVERT parse their first
 * operand and then see whether the form goes on; if not, what was parsed is the first argument of
 * an ordinary call. Only CASE needs to be tried and taken back; where that failed is remembered, so
 * that no text takes exponential time.
 */
#include "expr/parser_private.h"

static glv_status fixed_name(parser *p, const char *text, const ast_name **ret, glv_error *err) {
  ast_name *name = ARENA_NEW(p->a, ast_name);
  if (name == NULL) {
    return error_nomem(err, sizeof *name);
  }
  *name = (ast_name){str_of(text), AST_BARE};
  *ret = name;
  return GLV_OK;
}

/* The current token, the first within parentheses, can only be that of an ordinary call. */
static bool at_plain_arguments(const parser *p) {
  return parser_at_char(p, ')') || token_is_op(&p->at.tok, OP_STAR) || parser_at(p, KW_DISTINCT) ||
         parser_at(p, KW_ALL) || (parser_at_word(p) && token_is_op(&p->at.next, OP_NAMED));
}

glv_status parser_form_end(parser *p, enum ast_kind kind, uint32_t begin,
                           const ast *const *children, size_t count, ast **ret, glv_error *err) {
  TRY(parser_expect_char(p, ')', err));
  return parser_node(p, kind, begin, children, count, ret, err);
}

static glv_status cast_form(parser *p, uint32_t begin, unsigned op, const ast *operand,
                            const ast **ret, glv_error *err) {
  parser_advance(p);
  const ast_type *t;
  TRY(parser_type(p, &t, err));
  ast *node;
  TRY(parser_form_end(p, AST_CAST, begin, &operand, 1, &node, err));
  node->op = op;
  node->type = t;
  *ret = node;
  return GLV_OK;
}

/* CONVERT(operand, type) or CONVERT(operand USING charset); *ret stays NULL when it is neither */
static glv_status convert_form(parser *p, uint32_t begin, const ast *operand, const ast **ret,
                               glv_error *err) {
  ast *node;
  if (parser_accept(p, KW_USING)) {
    const ast_name *names;
    uint32_t count;
    TRY(parser_path(p, &names, &count, err));
    TRY(parser_form_end(p, AST_CONVERT, begin, &operand, 1, &node, err));
    node->names = names;
    node->name_count = count;
    *ret = node;
    return GLV_OK;
  }
  const parser_mark mark = p->at;
  const ast_type *t = NULL;
  if (parser_accept_char(p, ',')) {
    TRY(parser_try_type(p, &t, err));
  }
  if (t == NULL || !parser_at_char(p, ')')) {
    p->at = mark;
    return GLV_OK;
  }
  TRY(parser_form_end(p, AST_CONVERT, begin, &operand, 1, &node, err));
  node->type = t;
  *ret = node;
  return GLV_OK;
}

static bool at_time_field(const parser *p) {
  static const char *const FIELDS[] = {"CENTURY",
                                       "DATE",
                                       "DATETIME",
                                       "DAY",
                                       "DAYOFWEEK",
                                       "DAYOFYEAR",
                                       "DAYS",
                                       "DECADE",
                                       "DOW",
                                       "DOY",
                                       "EPOCH",
                                       "HOUR",
                                       "HOURS",
                                       "ISODOW",
                                       "ISOWEEK",
                                       "ISOYEAR",
                                       "JULIAN",
                                       "MICROSECOND",
                                       "MICROSECONDS",
                                       "MILLENIUM",
                                       "MILLENNIUM",
                                       "MILLISECOND",
                                       "MILLISECONDS",
                                       "MINUTE",
                                       "MINUTES",
                                       "MONTH",
                                       "MONTHS",
                                       "NANOSECOND",
                                       "NANOSECONDS",
                                       "QUARTER",
                                       "SECOND",
                                       "SECONDS",
                                       "TIME",
                                       "TIMEZONE",
                                       "TIMEZONE_ABBR",
                                       "TIMEZONE_HOUR",
                                       "TIMEZONE_MINUTE",
                                       "TIMEZONE_REGION",
                                       "WEEK",
                                       "WEEKS",
                                       "YEAR",
                                       "YEARS"};
  for (size_t i = 0; i < sizeof FIELDS / sizeof FIELDS[0]; i++) {
    if (parser_at_text(p, FIELDS[i])) {
      return true;
    }
  }
  return false;
}

/* YEAR, DAY, ...: the name in capitals */
static glv_status time_field(parser *p, const ast_name **ret, glv_error *err) {
  if (!at_time_field(p)) {
    return parser_expected(p, "a part of a date or time", err);
  }
  char *capitals = arena_strdup(p->a, token_source(&p->at.lex, &p->at.tok));
  if (capitals == NULL) {
    return error_nomem(err, 0);
  }
  for (char *c = capitals; *c != '\0'; c++) {
    *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
  }
  parser_advance(p);
  return fixed_name(p, capitals, ret, err);
}

static glv_status rounding_form(parser *p, enum ast_kind kind, uint32_t begin, const ast *operand,
                                const ast **ret, glv_error *err) {
  const ast *children[2] = {operand, NULL};
  const ast_name *field = NULL;
  size_t count = 1;
  if (parser_accept(p, KW_TO)) {
    TRY(time_field(p, &field, err));
  } else if (parser_accept_char(p, ',')) {
    TRY(parser_number(p, &children[1], err));
    count = 2;
  }
  ast *node;
  TRY(parser_form_end(p, kind, begin, children, count, &node, err));
  node->names = field;
  node->name_count = field != NULL ? 1 : 0;
  *ret = node;
  return GLV_OK;
}

/* The operand of CEIL and FLOOR goes on as the form, not as a call with more arguments. */
static bool at_rounding(const parser *p) {
  const token third = parser_peek(p);
  return parser_at_char(p, ')') || parser_at(p, KW_TO) ||
         (parser_at_char(p, ',') && p->at.next.kind == TOKEN_NUMBER && token_is_char(&third, ')'));
}

static glv_status position_form(parser *p, uint32_t begin, const ast *operand, const ast **ret,
                                glv_error *err) {
  parser_advance(p);
  const ast *children[2] = {operand, NULL};
  TRY(parser_expression(p, PREC_NONE, &children[1], err));
  ast *node;
  TRY(parser_form_end(p, AST_POSITION, begin, children, 2, &node, err));
  *ret = node;
  return GLV_OK;
}

static glv_status overlay_form(parser *p, uint32_t begin, const ast *operand, const ast **ret,
                               glv_error *err) {
  parser_advance(p);
  const ast *children[4] = {operand, NULL, NULL, NULL};
  size_t count = 3;
  TRY(parser_expression(p, PREC_NONE, &children[1], err));
  TRY(parser_expect(p, KW_FROM, "FROM of OVERLAY", err));
  TRY(parser_expression(p, PREC_NONE, &children[2], err));
  if (parser_accept(p, KW_FOR)) {
    TRY(parser_expression(p, PREC_NONE, &children[count++], err));
  }
  ast *node;
  TRY(parser_form_end(p, AST_OVERLAY, begin, children, count, &node, err));
  *ret = node;
  return GLV_OK;
}

static glv_status substring_form(parser *p, uint32_t begin, unsigned op, const ast *operand,
                                 const ast **ret, glv_error *err) {
  const ast *children[3] = {operand, NULL, NULL};
  size_t count = 1;
  unsigned flags = parser_at_char(p, ',') ? AST_COMMA : 0;
  if (parser_accept_char(p, ',') || parser_accept(p, KW_FROM)) {
    TRY(parser_expression(p, PREC_NONE, &children[count++], err));
    flags |= AST_HAS_FROM;
  }
  if (parser_accept(p, KW_FOR) || parser_accept_char(p, ',')) {
    TRY(parser_expression(p, PREC_NONE, &children[count++], err));
    flags |= AST_HAS_FOR;
  }
  ast *node;
  TRY(parser_form_end(p, AST_SUBSTRING, begin, children, count, &node, err));
  node->op = op;
  node->flags = flags;
  *ret = node;
  return GLV_OK;
}

static unsigned cast_op(enum keyword k) {
  return k == KW_CAST ? AST_CAST_PLAIN : k == KW_TRY_CAST ? AST_CAST_TRY : AST_CAST_SAFE;
}

/* The form that `k` begins, its first operand being parsed; *ret stays NULL when it is a call. */
static glv_status form_rest(parser *p, enum keyword k, uint32_t begin, const ast *operand,
                            const ast **ret, glv_error *err) {
  switch (k) {
  case KW_CAST:
  case KW_TRY_CAST:
  case KW_SAFE_CAST:
    return parser_at(p, KW_AS) ? cast_form(p, begin, cast_op(k), operand, ret, err) : GLV_OK;
  case KW_CONVERT:
    return convert_form(p, begin, operand, ret, err);
  case KW_CEIL:
  case KW_FLOOR:
    return at_rounding(p)
               ? rounding_form(p, k == KW_CEIL ? AST_CEIL : AST_FLOOR, begin, operand, ret, err)
               : GLV_OK;
  case KW_POSITION:
    return parser_at(p, KW_IN) ? position_form(p, begin, operand, ret, err) : GLV_OK;
  case KW_OVERLAY:
    return parser_at(p, KW_PLACING) ? overlay_form(p, begin, operand, ret, err) : GLV_OK;
  default: /* SUBSTR, SUBSTRING */
    return substring_form(p, begin, k == KW_SUBSTR, operand, ret, err);
  }
}

glv_status parser_form_or_call(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  const enum keyword k = p->at.tok.keyword;
  const ast_name *name;
  TRY(parser_one_name(p, &name, err));
  parser_advance(p);
  const struct name_list names = {name, 1};
  if (at_plain_arguments(p)) {
    return parser_call_rest(p, begin, names, NULL, ret, err);
  }
  const ast *operand;
  TRY(parser_expression(p, k == KW_POSITION ? PREC_COMPARE : PREC_NONE, &operand, err));
  *ret = NULL;
  TRY(form_rest(p, k, begin, operand, ret, err));
  if (*ret != NULL) {
    return GLV_OK;
  }
  if (k == KW_POSITION) {
    TRY(parser_climb(p, PREC_NONE, operand, &operand, err));
  }
  return parser_call_rest(p, begin, names, operand, ret, err);
}

/* EXTRACT(field FROM operand), the parenthesis being the next token */
static glv_status extract(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  parser_advance(p);
  parser_advance(p);
  const ast_name *field = NULL;
  const ast *operand = NULL;
  TRY(time_field(p, &field, err));
  TRY(parser_expect(p, KW_FROM, "FROM of EXTRACT", err));
  TRY(parser_expression(p, PREC_NONE, &operand, err));
  ast *node;
  TRY(parser_form_end(p, AST_EXTRACT, begin, &operand, 1, &node, err));
  node->names = field;
  node->name_count = 1;
  *ret = node;
  return GLV_OK;
}

static unsigned trim_side(parser *p) {
  if (parser_accept(p, KW_BOTH)) {
    return AST_TRIM_BOTH;
  }
  if (parser_accept(p, KW_LEADING)) {
    return AST_TRIM_LEADING;
  }
  return parser_accept(p, KW_TRAILING) ? AST_TRIM_TRAILING : AST_TRIM_PLAIN;
}

glv_status parser_trim(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  parser_advance(p);
  TRY(parser_expect_char(p, '(', err));
  const unsigned op = trim_side(p);
  const ast *children[2] = {NULL, NULL};
  size_t count = 1;
  TRY(parser_expression(p, PREC_NONE, &children[0], err));
  if (parser_accept(p, KW_FROM)) {
    children[count++] = children[0];
    TRY(parser_expression(p, PREC_NONE, &children[0], err));
  }
  ast *node;
  TRY(parser_form_end(p, AST_TRIM, begin, children, count, &node, err));
  node->op = op;
  node->flags = count == 2 ? AST_HAS_FROM : 0;
  *ret = node;
  return GLV_OK;
}

glv_status parser_exists(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  parser_advance(p);
  TRY(parser_expect_char(p, '(', err));
  if (!parser_at_query(p)) {
    return parser_expected(p, "SELECT", err);
  }
  const ast *query;
  TRY(parser_subquery(p, &query, err));
  ast *node;
  TRY(parser_node(p, AST_EXISTS, begin, &query, 1, &node, err));
  *ret = node;
  return GLV_OK;
}

/* ( n [, m] ) or nothing */
static glv_status skip_precision(parser *p, glv_error *err) {
  if (!parser_accept_char(p, '(')) {
    return GLV_OK;
  }
  do {
    if (p->at.tok.kind != TOKEN_NUMBER) {
      return parser_expected(p, "a whole number", err);
    }
    parser_advance(p);
  } while (parser_accept_char(p, ','));
  return parser_expect_char(p, ')', err);
}

glv_status parser_interval(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  parser_advance(p);
  const ast *value;
  TRY(parser_enter(p, err));
  const glv_status status = parser_prefix(p, &value, err);
  p->depth--;
  TRY(status);
  const ast_name *unit = NULL;
  str tail = {NULL, 0};
  if (at_time_field(p)) {
    TRY(time_field(p, &unit, err));
    const uint32_t tail_begin = p->at.tok.begin;
    const uint32_t unit_end = p->at.last_end;
    TRY(skip_precision(p, err));
    if (parser_accept(p, KW_TO)) {
      const ast_name *last;
      TRY(time_field(p, &last, err));
      TRY(skip_precision(p, err));
    }
    if (p->at.last_end != unit_end) {
      tail = str_slice(p->text.data + tail_begin, p->at.last_end - tail_begin);
    }
  }
  ast *node;
  TRY(parser_node(p, AST_INTERVAL, begin, &value, 1, &node, err));
  node->names = unit;
  node->name_count = unit != NULL ? 1 : 0;
  node->text = tail;
  *ret = node;
  return GLV_OK;
}

static glv_status case_form(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  parser_advance(p);
  node_list parts = {NULL, 0};
  unsigned flags = 0;
  const ast *part;
  if (!parser_at(p, KW_WHEN)) {
    TRY(parser_expression(p, PREC_NONE, &part, err));
    TRY(parser_push(p, &parts, part, err));
    flags |= AST_HAS_OPERAND;
  }
  TRY(parser_expect(p, KW_WHEN, "WHEN of CASE", err));
  do {
    TRY(parser_expression(p, PREC_NONE, &part, err));
    TRY(parser_push(p, &parts, part, err));
    TRY(parser_expect(p, KW_THEN, "THEN of CASE", err));
    TRY(parser_expression(p, PREC_NONE, &part, err));
    TRY(parser_push(p, &parts, part, err));
  } while (parser_accept(p, KW_WHEN));
  if (parser_accept(p, KW_ELSE)) {
    TRY(parser_expression(p, PREC_NONE, &part, err));
    TRY(parser_push(p, &parts, part, err));
    flags |= AST_HAS_ELSE;
  }
  TRY(parser_expect(p, KW_END, "END of CASE", err));
  ast *node;
  TRY(parser_node(p, AST_CASE, begin, parts.items, parts.count, &node, err));
  node->flags = flags;
  *ret = node;
  return GLV_OK;
}

/* Remember that CASE at byte `at` is a name. */
static glv_status note_failure(parser *p, uint32_t at, glv_error *err) {
  if (p->failed == NULL) {
    p->failed = arena_alloc(p->a, p->text.size / 8 + 1);
    if (p->failed == NULL) {
      return error_nomem(err, p->text.size / 8 + 1);
    }
  }
  p->failed[at / 8] = (unsigned char)(p->failed[at / 8] | 1u << at % 8);
  return GLV_OK;
}

glv_status parser_case(parser *p, const ast **ret, glv_error *err) {
  *ret = NULL;
  const uint32_t at = p->at.tok.begin;
  if (token_is(&p->at.next, KW_WHEN)) {
    return case_form(p, ret, err);
  }
  if (!parser_operand_follows(p) || (p->failed != NULL && (p->failed[at / 8] >> at % 8 & 1) != 0)) {
    return GLV_OK;
  }
  const parser_mark mark = p->at;
  const glv_status status = case_form(p, ret, NULL);
  if (status == GLV_OK) {
    return GLV_OK;
  }
  *ret = NULL;
  p->at = mark;
  if (status != GLV_E_SQL_PARSE) {
    return FAIL(err, status, "no memory for an SQL expression, or too many parts");
  }
  if (p->is_too_deep) {
    return case_form(p, ret, err); /* fails again in the same way, and says how */
  }
  return note_failure(p, at, err);
}

glv_status parser_extract_or_call(parser *p, const ast **ret, glv_error *err) {
  lexer copy = p->at.lex;
  const token third = lexer_next(&copy);
  const token fourth = lexer_next(&copy);
  const bool is_form =
      token_is_char(&p->at.next, '(') && third.kind == TOKEN_WORD && token_is(&fourth, KW_FROM);
  return is_form ? extract(p, ret, err) : parser_column_or_call(p, ret, err);
}
