/*
 * Ad-hoc queries: SELECT items | * FROM table [, UNNEST(column) AS alias] [WHERE] [GROUP BY]
 * [ORDER BY] [LIMIT] [OFFSET].
 *
 * A computed item without alias is named by its own text. Nulls come last in ascending order and
 * first in descending order unless the query says otherwise. A query with an aggregate is a grouped
 * one, with or without GROUP BY, but for count(*) of a table alone, which is counted without
 * reading rows.
 */
#include "base/limits.h"
#include "expr/expr.h"
#include "expr/group_private.h"
#include "expr/select_private.h"

struct query {
  parser p;
  select_statement *s;
  select_item *items;
  sort_by *order;
};

/* count(*) */
static bool is_count_star(const ast *e) {
  return e->kind == AST_CALL && e->name_count == 1 &&
         str_equal_ascii_case(e->names[0].text, STR("count")) && e->child_count == 1 &&
         e->child[0]->kind == AST_WILDCARD && e->child[0]->name_count == 0 && !e->call->distinct &&
         e->call->filter == NULL && !e->call->over && !e->call->ignore_nulls &&
         !e->call->respect_nulls;
}

static glv_status item(struct query *q, glv_error *err) {
  parser *p = &q->p;
  const token first = p->at.tok;
  select_part part;
  TRY(select_part_parse(p, &part, err));
  const bool is_first = q->s->item_count == 0 && !q->s->star;
  if (part.expression == NULL) {
    q->s->star = true;
    return is_first ? GLV_OK : parser_fail(p, &first, err, "`*` must be the only column selected");
  }
  if (q->s->star) {
    return parser_fail(p, &first, err, "`*` must be the only column selected");
  }
  q->s->count_star = is_first && is_count_star(part.expression);
  q->s->is_grouped = q->s->is_grouped || ast_calls_aggregate(part.expression);
  const bool named_by_text = !part.has_alias && part.expression->kind != AST_COLUMN;
  if (named_by_text) {
    part.has_alias = true;
    part.alias.text = ast_source(part.expression, p->text);
  }
  TRY(parser_grow(p, &q->items, q->s->item_count, sizeof *q->items, err));
  return select_set_item(p, &part, &q->items[q->s->item_count++], err);
}

static glv_status items(struct query *q, glv_error *err) {
  do {
    TRY(item(q, err));
  } while (parser_accept_char(&q->p, ','));
  q->s->items = q->items;
  return GLV_OK;
}

static glv_status table(struct query *q, glv_error *err) {
  parser *p = &q->p;
  const ast_name *names;
  uint32_t count;
  TRY(parser_expect(p, KW_FROM, "FROM", err));
  TRY(select_table(p, &names, &count, err));
  TRY(select_set_table(p, names, count, q->s, err));
  if (!select_at_lateral(p)) {
    return GLV_OK;
  }
  const ast *column;
  ast_name alias;
  q->s->count_star = false;
  return parser_at(p, KW_UNNEST) ? select_unnest(p, &column, &alias, q->s, err)
                                 : parser_expected(p, "UNNEST(column) AS alias", err);
}

static glv_status group_by(struct query *q, glv_error *err) {
  node_list groups = {NULL, 0};
  TRY(select_group_by(&q->p, "GROUP BY takes a plain list: `GROUP BY expr, ...`", &groups, err));
  TRY(select_set_groups(&q->p, &groups, q->s, err));
  if (groups.count != 0 && q->s->star) {
    return parser_fail(&q->p, &q->p.at.tok, err,
                       "a grouped query selects its keys and aggregates, not `*`");
  }
  q->s->is_grouped = (q->s->is_grouped || groups.count != 0);
  q->s->count_star = q->s->count_star && groups.count == 0;
  return GLV_OK;
}

static glv_status order_key(struct query *q, glv_error *err) {
  parser *p = &q->p;
  if (!parser_at_word(p)) {
    return parser_expected(p, "a column after ORDER BY", err);
  }
  ast_name name;
  TRY(parser_name(p, &p->at.tok, &name, err));
  parser_advance(p);
  const bool descending = parser_accept(p, KW_DESC);
  if (!descending) {
    parser_accept(p, KW_ASC);
  }
  bool nulls_first = descending;
  if (parser_accept(p, KW_NULLS)) {
    nulls_first = parser_accept(p, KW_FIRST);
    TRY(nulls_first ? GLV_OK : parser_expect(p, KW_LAST, "FIRST or LAST after NULLS", err));
  }
  TRY(parser_grow(p, &q->order, q->s->order_count, sizeof *q->order, err));
  q->order[q->s->order_count++] = (sort_by){name.text, descending, nulls_first};
  return GLV_OK;
}

static glv_status order_by(struct query *q, glv_error *err) {
  parser *p = &q->p;
  if (!parser_accept(p, KW_ORDER)) {
    return GLV_OK;
  }
  TRY(parser_expect(p, KW_BY, "BY after ORDER", err));
  do {
    TRY(order_key(q, err));
  } while (parser_accept_char(p, ','));
  q->s->order = q->order;
  return GLV_OK;
}

static glv_status number(struct query *q, const char *what, uint64_t *ret, glv_error *err) {
  parser *p = &q->p;
  if (p->at.tok.kind != TOKEN_NUMBER || !str_to_u64(token_source(&p->at.lex, &p->at.tok), ret)) {
    return parser_expected(p, what, err);
  }
  parser_advance(p);
  return GLV_OK;
}

/* LIMIT and OFFSET, each at most once, in either order */
static glv_status window(struct query *q, glv_error *err) {
  parser *p = &q->p;
  select_statement *s = q->s;
  bool had_limit = false;
  for (;;) {
    if (!had_limit && parser_accept(p, KW_LIMIT)) {
      had_limit = true;
      s->has_limit = !parser_accept(p, KW_ALL);
      TRY(s->has_limit ? number(q, "a whole number after LIMIT", &s->limit, err) : GLV_OK);
    } else if (!s->has_offset && parser_accept(p, KW_OFFSET)) {
      s->has_offset = true;
      TRY(number(q, "a whole number after OFFSET", &s->offset, err));
    } else {
      return GLV_OK;
    }
  }
}

static glv_status refuse(const parser *p, glv_error *err) {
  const str word = token_source(&p->at.lex, &p->at.tok);
  return parser_fail(p, &p->at.tok, err,
                     "a query is `SELECT columns FROM table [, UNNEST(column) AS alias] [WHERE "
                     "predicate] [GROUP BY expr, ...] [ORDER BY column, ...] [LIMIT n] [OFFSET "
                     "n]`; %.*s is not part of it",
                     STR_ARG(word));
}

static glv_status parse_query(struct query *q, glv_error *err) {
  parser *p = &q->p;
  TRY(parser_expect(p, KW_SELECT, "SELECT", err));
  if (parser_at(p, KW_DISTINCT) || parser_at(p, KW_ALL) || parser_at(p, KW_TOP)) {
    return refuse(p, err);
  }
  TRY(items(q, err));
  TRY(table(q, err));
  if (parser_accept(p, KW_WHERE)) {
    const ast *filter;
    TRY(parser_expression(p, PREC_NONE, &filter, err));
    q->s->filter = ast_source(filter, p->text);
  }
  TRY(group_by(q, err));
  TRY(order_by(q, err));
  TRY(window(q, err));
  while (parser_accept_char(p, ';')) {
  }
  if (p->at.tok.kind == TOKEN_END) {
    return GLV_OK;
  }
  return select_at_clause(p) ? refuse(p, err) : parser_expected(p, "the end of the query", err);
}

glv_status select_parse_query(arena *a, str text, select_statement *ret, glv_error *err) {
  select_statement s = {0};
  struct query q = {.s = &s};
  TRY(parser_init(&q.p, a, text, EXPR_DQUOTE_IDENTIFIER | AST_PARSE_AGGREGATES, LIMIT_SQL_DEPTH,
                  err));
  TRY(parse_query(&q, err));
  *ret = s;
  return GLV_OK;
}
