/*
 * SELECT statements that define views: section 15 of the SQL design.
 *
 * The grammar is small, so everything else must be refused by name. The reference renders what it
 * understood and compares that with the text; a difference is `unsupported clause in the view
 * query`. Here the parser knows every clause that it takes, and two details of that comparison are
 * checked directly: names of tables and outputs must be written the way they are rendered (an
 * unquoted `T` would come back in backticks), and a limit without leading zeros.
 *
 * The canonical text is made from the syntax trees while they are at hand; select_print_view makes
 * it from the texts of a definition instead.
 */
#include "expr/select.h"

#include <inttypes.h>

#include "base/limits.h"
#include "expr/expr.h"
#include "expr/identifier.h"
#include "expr/select_private.h"

static const char SHAPE[] =
    "a materialized view is defined by `SELECT columns FROM table [, function(args) AS alias | , "
    "UNNEST(column) AS alias] [WHERE predicate] [GROUP BY expr, ...] [LIMIT n]`";

/* A FROM item behind the table. */
struct lateral {
  bool is_there;
  ast_name function;
  node_list arguments;
  ast_name alias;
};

struct view {
  parser p;
  select_statement *s;
  select_part *parts;
  size_t part_count;
  const ast_name *table;
  uint32_t table_parts;
  struct lateral lateral;
  const ast *filter;
  node_list groups;
};

static glv_status refuse_shape(const parser *p, const char *what, glv_error *err) {
  return parser_fail(p, &p->at.tok, err, "%s; %s", what, SHAPE);
}

static glv_status unsupported_clause(const parser *p, glv_error *err) {
  return refuse_shape(p, "unsupported clause in the view query", err);
}

/* A bare name must be what canonical text has bare. */
static glv_status check_name(const parser *p, const ast_name *name, glv_error *err) {
  if (name->quote != AST_BARE || identifier_is_bare(name->text)) {
    return GLV_OK;
  }
  return parser_fail(p, &p->at.tok, err,
                     "unsupported clause in the view query: the name %.*s must be written in "
                     "backticks; %s",
                     STR_ARG(name->text), SHAPE);
}

/* ---- statement start ---- */

static glv_status begin(struct view *v, glv_error *err) {
  parser *p = &v->p;
  while (parser_accept_char(p, ';')) {
  }
  if (parser_at(p, KW_SELECT)) {
    parser_advance(p);
    return GLV_OK;
  }
  if (parser_at(p, KW_WITH) || parser_at(p, KW_FROM)) {
    return unsupported_clause(p, err);
  }
  if (parser_at(p, KW_VALUES) || parser_at_char(p, '(')) {
    return refuse_shape(p, "expected a SELECT", err);
  }
  return refuse_shape(p, "expected a single SELECT statement", err);
}

static glv_status items(struct view *v, glv_error *err) {
  parser *p = &v->p;
  if (parser_at(p, KW_DISTINCT) || parser_at(p, KW_ALL) || parser_at(p, KW_TOP) ||
      parser_at(p, KW_FROM)) {
    return unsupported_clause(p, err);
  }
  do {
    if (v->part_count != 0 && parser_at(p, KW_FROM)) {
      break; /* behind a trailing comma */
    }
    TRY(parser_grow(p, &v->parts, v->part_count, sizeof *v->parts, err));
    TRY(select_part_parse(p, &v->parts[v->part_count++], err));
  } while (parser_accept_char(p, ','));
  return GLV_OK;
}

/* The items into the statement, once the whole text is known to have the shape. */
static glv_status set_items(struct view *v, glv_error *err) {
  parser *p = &v->p;
  select_item *list = ARENA_ARRAY(p->a, select_item, v->part_count);
  if (list == NULL) {
    return error_nomem(err, v->part_count * sizeof *list);
  }
  for (size_t i = 0; i < v->part_count; i++) {
    const select_part *part = &v->parts[i];
    if (part->expression == NULL) {
      if (v->part_count > 1) {
        return parser_fail(p, &p->at.tok, err, "`*` must be the only column selected");
      }
      v->s->star = true;
      return GLV_OK;
    }
    TRY(select_set_item(p, part, &list[i], err));
    const bool prints_alias = part->has_alias && !(part->expression->kind == AST_COLUMN &&
                                                   str_equal(list[i].name, list[i].output));
    TRY(prints_alias ? check_name(p, &part->alias, err) : GLV_OK);
  }
  v->s->items = list;
  v->s->item_count = v->part_count;
  return GLV_OK;
}

/* ---- FROM ---- */

static glv_status unnest(struct view *v, glv_error *err) {
  const ast *column = NULL;
  TRY(select_unnest(&v->p, &column, &v->lateral.alias, v->s, err));
  TRY(check_name(&v->p, &column->names[0], err));
  TRY(check_name(&v->p, &v->lateral.alias, err));
  return GLV_OK;
}

static glv_status function_arguments(struct view *v, glv_error *err) {
  parser *p = &v->p;
  const ast_name *name = &v->lateral.function;
  if (parser_accept_char(p, ')')) {
    return GLV_OK;
  }
  do {
    const ast *argument;
    if (parser_at_word(p) && token_is_op(&p->at.next, OP_NAMED)) {
      return parser_fail(p, &p->at.tok, err, "'%.*s' takes positional expression arguments",
                         STR_ARG(name->text));
    }
    TRY(parser_expression(p, PREC_NONE, &argument, err));
    TRY(parser_push(p, &v->lateral.arguments, argument, err));
  } while (parser_accept_char(p, ','));
  return parser_expect_char(p, ')', err);
}

/* f(args) [AS] alias, the name being parsed and the parenthesis consumed */
static glv_status function(struct view *v, const ast_name *names, uint32_t count, glv_error *err) {
  parser *p = &v->p;
  if (count != 1) {
    return parser_fail(p, &p->at.tok, err,
                       "a Function in FROM position must be a single name, not '%.*s.%.*s'",
                       STR_ARG(names[0].text), STR_ARG(names[1].text));
  }
  v->lateral.function = names[0];
  TRY(check_name(p, &names[0], err));
  TRY(function_arguments(v, err));
  char *missing = arena_printf(p->a, "'%.*s' in FROM position needs an alias: `%.*s(...) AS alias`",
                               STR_ARG(names[0].text), STR_ARG(names[0].text));
  if (missing == NULL) {
    return error_nomem(err, 0);
  }
  v->s->has_function = true;
  v->s->function_name = names[0].text;
  TRY(select_alias(p, missing, &v->lateral.alias, err));
  return check_name(p, &v->lateral.alias, err);
}

/* What follows the comma, or CROSS JOIN, behind the table. */
static glv_status lateral(struct view *v, glv_error *err) {
  parser *p = &v->p;
  v->lateral.is_there = true;
  if (parser_at(p, KW_UNNEST)) {
    return unnest(v, err);
  }
  if (!parser_at_word(p)) {
    return refuse_shape(p, "the view must read one table", err);
  }
  const ast_name *names;
  uint32_t count;
  TRY(select_table(p, &names, &count, err));
  if (!parser_accept_char(p, '(')) {
    return refuse_shape(p, "the view must read one table", err);
  }
  return function(v, names, count, err);
}

static glv_status table_alias(const parser *p, glv_error *err) {
  const token *name = parser_at(p, KW_AS) ? &p->at.next : &p->at.tok;
  const str source = token_source(&p->at.lex, name);
  return parser_fail(p, &p->at.tok, err,
                     "table aliases are not supported (`AS %.*s`); refer to columns unqualified",
                     STR_ARG(source));
}

static glv_status from(struct view *v, glv_error *err) {
  parser *p = &v->p;
  if (parser_at(p, KW_INTO)) {
    return unsupported_clause(p, err);
  }
  if (!parser_accept(p, KW_FROM)) {
    return p->at.tok.kind == TOKEN_END || parser_at_char(p, ';') || select_at_clause(p)
               ? refuse_shape(p, "the view must read one table", err)
               : parser_expected(p, "FROM", err);
  }
  if (parser_at_char(p, '(')) {
    return refuse_shape(p, "the view must read one table", err);
  }
  TRY(select_table(p, &v->table, &v->table_parts, err));
  if (parser_at_char(p, '(')) {
    return parser_fail(p, &p->at.tok, err,
                       "a view reads a table; a Function in FROM position follows it: `FROM table, "
                       "function(args) AS alias`");
  }
  for (uint32_t i = 0; i < v->table_parts; i++) {
    TRY(check_name(p, &v->table[i], err));
  }
  if (parser_at(p, KW_AS) || (parser_at_word(p) && !select_at_clause(p))) {
    return table_alias(p, err);
  }
  if (select_at_lateral(p)) {
    TRY(lateral(v, err));
  }
  return parser_at_char(p, ',') || parser_at(p, KW_CROSS)
             ? refuse_shape(p, "the view must read one table", err)
             : select_set_table(p, v->table, v->table_parts, v->s, err);
}

/* ---- the clauses behind FROM ---- */

static glv_status group_by(struct view *v, glv_error *err) {
  TRY(select_group_by(&v->p, "a view groups by a plain `GROUP BY expr, ...` list", &v->groups,
                      err));
  v->s->is_grouped = v->groups.count != 0;
  return select_set_groups(&v->p, &v->groups, v->s, err);
}

static glv_status limit_number(struct view *v, glv_error *err) {
  parser *p = &v->p;
  const str digits = token_source(&p->at.lex, &p->at.tok);
  const bool is_plain = digits.data[digits.size - 1] != 'L' &&
                        (digits.size == 1 || digits.data[0] != '0' || digits.data[1] == '.');
  if (!is_plain) {
    return unsupported_clause(p, err);
  }
  if (!str_to_u64(digits, &v->s->limit)) {
    return parser_fail(p, &p->at.tok, err, "view limit %.*s is not a non-negative integer",
                       STR_ARG(digits));
  }
  parser_advance(p);
  v->s->has_limit = true;
  return GLV_OK;
}

static glv_status limit(struct view *v, glv_error *err) {
  parser *p = &v->p;
  const bool is_there = parser_accept(p, KW_LIMIT);
  if (is_there && p->at.tok.kind == TOKEN_STRING) {
    return parser_fail(p, &p->at.tok, err, "view limit must be an integer literal");
  }
  if (is_there && !parser_accept(p, KW_ALL)) {
    if (p->at.tok.kind != TOKEN_NUMBER) {
      return parser_fail(p, &p->at.tok, err, "view limit must be a plain `LIMIT n`");
    }
    TRY(limit_number(v, err));
  }
  if (parser_at(p, KW_OFFSET) ||
      (is_there && (parser_at_char(p, ',') || p->at.tok.kind == TOKEN_OPERATOR))) {
    return parser_fail(p, &p->at.tok, err, "view limit must be a plain `LIMIT n`");
  }
  return GLV_OK;
}

static glv_status end(struct view *v, glv_error *err) {
  parser *p = &v->p;
  if (parser_at(p, KW_HAVING)) {
    return parser_fail(p, &p->at.tok, err, "HAVING is not supported in a view query");
  }
  if (parser_at(p, KW_UNION) || parser_at(p, KW_EXCEPT) || parser_at(p, KW_INTERSECT) ||
      parser_at(p, KW_MINUS)) {
    return refuse_shape(p, "expected a SELECT", err);
  }
  if (select_at_clause(p)) {
    return unsupported_clause(p, err);
  }
  const bool is_over = parser_at_char(p, ';');
  while (parser_accept_char(p, ';')) {
  }
  if (is_over && p->at.tok.kind != TOKEN_END) {
    return refuse_shape(p, "expected a single SELECT statement", err);
  }
  return p->at.tok.kind == TOKEN_END ? GLV_OK : parser_expected(p, "the end of the query", err);
}

/* What does not go together, once everything is parsed. */
static glv_status check_grouping(const struct view *v, glv_error *err) {
  const parser *p = &v->p;
  if (!v->s->is_grouped) {
    return GLV_OK;
  }
  if (v->s->star) {
    return parser_fail(p, &p->at.tok, err,
                       "a grouped view selects its keys and aggregates, not "
                       "`*`");
  }
  if (v->s->has_limit) {
    return parser_fail(p, &p->at.tok, err, "LIMIT is not supported together with GROUP BY");
  }
  if (v->lateral.is_there) {
    return parser_fail(p, &p->at.tok, err,
                       "GROUP BY cannot be combined with a FROM-position item; group in one view "
                       "and expand in a view over it");
  }
  return GLV_OK;
}

/* ---- canonical text ---- */

static glv_status put_list(const ast *const *list, size_t count, buf *out, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    TRY(i != 0 ? buf_append_str(out, STR(", "), err) : GLV_OK);
    TRY(ast_print(list[i], out, err));
  }
  return GLV_OK;
}

static glv_status put_table(const str *parts, size_t count, buf *out, glv_error *err) {
  TRY(buf_append_str(out, STR(" FROM "), err));
  for (size_t i = 0; i < count; i++) {
    TRY(i != 0 ? buf_append_char(out, '.', err) : GLV_OK);
    TRY(expr_print_identifier(parts[i], out, err));
  }
  return GLV_OK;
}

static glv_status put_unnest(const select_statement *s, buf *out, glv_error *err) {
  if (!s->has_unnest) {
    return GLV_OK;
  }
  TRY(buf_append_str(out, STR(", UNNEST("), err));
  TRY(expr_print_identifier(s->unnest_column, out, err));
  TRY(buf_append_str(out, STR(") AS "), err));
  return expr_print_identifier(s->unnest_alias, out, err);
}

static glv_status put_limit(const select_statement *s, buf *out, glv_error *err) {
  return s->has_limit ? buf_printf(out, err, " LIMIT %" PRIu64, s->limit) : GLV_OK;
}

static glv_status put_function(const struct view *v, buf *out, glv_error *err) {
  const struct lateral *l = &v->lateral;
  if (!v->s->has_function) {
    return GLV_OK;
  }
  TRY(buf_append_str(out, STR(", "), err));
  TRY(expr_print_identifier(l->function.text, out, err));
  TRY(buf_append_char(out, '(', err));
  TRY(put_list(l->arguments.items, l->arguments.count, out, err));
  TRY(buf_append_str(out, STR(") AS "), err));
  return expr_print_identifier(l->alias.text, out, err);
}

static glv_status print_parsed(const struct view *v, buf *out, glv_error *err) {
  TRY(buf_append_str(out, v->s->star ? STR("SELECT *") : STR("SELECT "), err));
  for (size_t i = 0; i < v->s->item_count; i++) {
    TRY(i != 0 ? buf_append_str(out, STR(", "), err) : GLV_OK);
    TRY(select_print_item(v->parts[i].expression, v->s->items[i].output, out, err));
  }
  TRY(put_table(v->s->table, v->s->table_parts, out, err));
  TRY(put_unnest(v->s, out, err));
  TRY(put_function(v, out, err));
  if (v->filter != NULL) {
    TRY(buf_append_str(out, STR(" WHERE "), err));
    TRY(ast_print(v->filter, out, err));
  }
  if (v->groups.count != 0) {
    TRY(buf_append_str(out, STR(" GROUP BY "), err));
    TRY(put_list(v->groups.items, v->groups.count, out, err));
  }
  return put_limit(v->s, out, err);
}

static glv_status set_canonical(struct view *v, glv_error *err) {
  CLEANUP(buf_dispose) buf out;
  buf_init(&out, v->p.a->env, LIMIT_SQL_BYTES);
  TRY(print_parsed(v, &out, err));
  v->s->canonical = arena_strdup(v->p.a, buf_str(&out));
  return v->s->canonical != NULL ? GLV_OK : error_nomem(err, out.size);
}

static glv_status parse_view(struct view *v, glv_error *err) {
  parser *p = &v->p;
  TRY(begin(v, err));
  TRY(items(v, err));
  TRY(from(v, err));
  if (parser_accept(p, KW_WHERE)) {
    TRY(parser_expression(p, PREC_NONE, &v->filter, err));
    v->s->filter = ast_source(v->filter, p->text);
  }
  TRY(group_by(v, err));
  if (parser_at(p, KW_HAVING)) {
    return end(v, err);
  }
  TRY(limit(v, err));
  TRY(end(v, err));
  TRY(set_items(v, err));
  TRY(check_grouping(v, err));
  return set_canonical(v, err);
}

glv_status select_parse_view(arena *a, str text, select_statement *ret, glv_error *err) {
  select_statement s = {0};
  struct view v = {.s = &s};
  if (text.size != 0 && memchr(text.data, '\0', text.size) != NULL) {
    return FAIL(err, GLV_E_SQL_PARSE, "the view query holds a NUL character");
  }
  TRY(parser_init(&v.p, a, text, EXPR_DQUOTE_IDENTIFIER | AST_PARSE_AGGREGATES,
                  LIMIT_SQL_VIEW_DEPTH, err));
  TRY(parse_view(&v, err));
  *ret = s;
  return GLV_OK;
}

/* ---- a definition's texts as query ---- */

static glv_status put_expression(arena *a, str text, str output, bool is_item, buf *out,
                                 glv_error *err) {
  const ast *root;
  TRY(ast_parse(a, text, EXPR_DQUOTE_IDENTIFIER | AST_PARSE_AGGREGATES, LIMIT_SQL_DEPTH, &root,
                err));
  return is_item ? select_print_item(root, output, out, err) : ast_print(root, out, err);
}

glv_status select_print_view(arena *a, const select_statement *s, buf *out, glv_error *err) {
  if (!s->star && s->item_count == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a view without columns has no query text");
  }
  TRY(buf_append_str(out, s->star ? STR("SELECT *") : STR("SELECT "), err));
  for (size_t i = 0; i < s->item_count && !s->star; i++) {
    TRY(i != 0 ? buf_append_str(out, STR(", "), err) : GLV_OK);
    TRY(put_expression(a, s->items[i].expression, s->items[i].output, true, out, err));
  }
  TRY(put_table(s->table, s->table_parts, out, err));
  TRY(put_unnest(s, out, err));
  if (s->filter.size != 0) {
    TRY(buf_append_str(out, STR(" WHERE "), err));
    TRY(put_expression(a, s->filter, (str){NULL, 0}, false, out, err));
  }
  for (size_t i = 0; i < s->group_count; i++) {
    TRY(buf_append_str(out, i == 0 ? STR(" GROUP BY ") : STR(", "), err));
    TRY(put_expression(a, s->groups[i], (str){NULL, 0}, false, out, err));
  }
  return put_limit(s, out, err);
}
