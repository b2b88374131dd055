/*
 * The parts of SELECT statements that view definitions and queries have in common: items, aliases,
 * table names, UNNEST, GROUP BY.
 *
 * An alias without AS may be any word that does not begin a clause.
 */
#include "base/limits.h"
#include "expr/expr.h"
#include "expr/identifier.h"
#include "expr/select_private.h"

bool select_at_clause(const parser *p) {
  if (p->at.tok.kind != TOKEN_WORD) {
    return false;
  }
  char lower[32];
  const str word = token_source(&p->at.lex, &p->at.tok);
  if (word.size > sizeof lower) {
    return false;
  }
  for (size_t i = 0; i < word.size; i++) {
    const char c = word.data[i];
    lower[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return identifier_is_reserved(str_slice(lower, word.size));
}

glv_status select_table(parser *p, const ast_name **ret, uint32_t *ret_count, glv_error *err) {
  if (select_at_clause(p)) {
    return parser_expected(p, "the name of a table", err);
  }
  return parser_path(p, ret, ret_count, err);
}

static glv_status alias(parser *p, select_part *ret, glv_error *err) {
  const bool is_explicit = parser_accept(p, KW_AS);
  if (!is_explicit && (!parser_at_word(p) || select_at_clause(p))) {
    return GLV_OK;
  }
  if (!parser_at_word(p)) {
    return parser_expected(p, "a name after AS", err);
  }
  TRY(parser_name(p, &p->at.tok, &ret->alias, err));
  parser_advance(p);
  ret->has_alias = true;
  return GLV_OK;
}

glv_status select_part_parse(parser *p, select_part *ret, glv_error *err) {
  *ret = (select_part){NULL, false, {{NULL, 0}, AST_BARE}};
  if (token_is_op(&p->at.tok, OP_STAR)) {
    parser_advance(p);
    return GLV_OK;
  }
  const token first = p->at.tok;
  TRY(parser_expression(p, PREC_NONE, &ret->expression, err));
  if (parser_at_char(p, '.')) {
    parser_advance(p);
    parser_advance(p);
    return parser_fail(p, &first, err, "unsupported select item '%.*s'",
                       (int)(p->at.last_end - first.begin), p->text.data + first.begin);
  }
  return alias(p, ret, err);
}

glv_status select_set_table(parser *p, const ast_name *names, uint32_t count, select_statement *ret,
                            glv_error *err) {
  str *parts = ARENA_ARRAY(p->a, str, count);
  if (parts == NULL) {
    return error_nomem(err, count * sizeof *parts);
  }
  for (uint32_t i = 0; i < count; i++) {
    parts[i] = names[i].text;
  }
  ret->table = parts;
  ret->table_parts = count;
  return GLV_OK;
}

bool select_at_lateral(parser *p) {
  const bool is_cross_join = parser_at(p, KW_CROSS) && token_is(&p->at.next, KW_JOIN);
  if (is_cross_join) {
    parser_advance(p);
    parser_advance(p);
  }
  const bool is_there = is_cross_join || parser_accept_char(p, ',');
  if (is_there) {
    parser_accept(p, KW_LATERAL);
  }
  return is_there;
}

glv_status select_alias(parser *p, const char *missing, ast_name *ret, glv_error *err) {
  const bool is_explicit = parser_accept(p, KW_AS);
  if (!parser_at_word(p) || (!is_explicit && select_at_clause(p))) {
    return parser_fail(p, &p->at.tok, err, "%s", missing);
  }
  TRY(parser_name(p, &p->at.tok, ret, err));
  parser_advance(p);
  return GLV_OK;
}

glv_status select_unnest(parser *p, const ast **ret_column, ast_name *ret_alias,
                         select_statement *ret, glv_error *err) {
  parser_advance(p);
  TRY(parser_expect_char(p, '(', err));
  const ast *column;
  TRY(parser_expression(p, PREC_NONE, &column, err));
  if (column->kind != AST_COLUMN || column->name_count != 1 || !parser_at_char(p, ')')) {
    return parser_fail(p, &p->at.tok, err, "UNNEST takes one top-level list column of the table");
  }
  parser_advance(p);
  TRY(select_alias(p, "UNNEST needs an alias: `UNNEST(column) AS alias`", ret_alias, err));
  ret->has_unnest = true;
  ret->unnest_column = column->names[0].text;
  ret->unnest_alias = ret_alias->text;
  *ret_column = column;
  return GLV_OK;
}

static glv_status refuse_unnamed(const parser *p, const ast *e, glv_error *err) {
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, p->a->env, LIMIT_SQL_BYTES);
  TRY(ast_print(e, &text, err));
  const token at = {.kind = TOKEN_WORD, .begin = e->begin, .end = e->end};
  return parser_fail(p, &at, err, "view column `%.*s` needs a name: `%.*s AS name`",
                     STR_ARG(buf_str(&text)), STR_ARG(buf_str(&text)));
}

glv_status select_set_item(parser *p, const select_part *part, select_item *ret, glv_error *err) {
  const ast *e = part->expression;
  const bool is_path = e->kind == AST_COLUMN;
  const str source = ast_source(e, p->text);
  if (!part->has_alias && !is_path) {
    return refuse_unnamed(p, e, err);
  }
  const str last = is_path ? e->names[e->name_count - 1].text : source;
  *ret = (select_item){.output = part->has_alias ? part->alias.text : last,
                       .expression = source,
                       .is_identifier = is_path && e->name_count == 1,
                       .name = last};
  return GLV_OK;
}

glv_status select_group_by(parser *p, const char *refusal, node_list *ret, glv_error *err) {
  if (!parser_accept(p, KW_GROUP)) {
    return GLV_OK;
  }
  TRY(parser_expect(p, KW_BY, "BY after GROUP", err));
  const bool is_set =
      (parser_at(p, KW_ROLLUP) || parser_at(p, KW_CUBE)) && token_is_char(&p->at.next, '(');
  const bool is_sets = parser_at(p, KW_GROUPING) && token_is(&p->at.next, KW_SETS);
  if (parser_at(p, KW_ALL) || is_set || is_sets) {
    return parser_fail(p, &p->at.tok, err, "%s", refusal);
  }
  do {
    const ast *key;
    TRY(parser_expression(p, PREC_NONE, &key, err));
    TRY(parser_push(p, ret, key, err));
  } while (parser_accept_char(p, ','));
  return parser_at(p, KW_WITH) ? parser_fail(p, &p->at.tok, err, "%s", refusal) : GLV_OK;
}

glv_status select_set_groups(parser *p, const node_list *groups, select_statement *ret,
                             glv_error *err) {
  str *texts = ARENA_ARRAY(p->a, str, groups->count);
  if (texts == NULL) {
    return error_nomem(err, groups->count * sizeof *texts);
  }
  for (size_t i = 0; i < groups->count; i++) {
    texts[i] = ast_source(groups->items[i], p->text);
  }
  ret->groups = texts;
  ret->group_count = groups->count;
  return GLV_OK;
}

glv_status select_print_item(const ast *expression, str output, buf *out, glv_error *err) {
  TRY(ast_print(expression, out, err));
  if (expression->kind == AST_COLUMN &&
      str_equal(expression->names[expression->name_count - 1].text, output)) {
    return GLV_OK;
  }
  TRY(buf_append_str(out, STR(" AS "), err));
  return expr_print_identifier(output, out, err);
}
