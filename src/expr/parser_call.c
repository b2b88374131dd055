/*
 * Calls with all that may stand within and behind their parentheses, and SELECTs in parentheses,
 * which are only scanned: no planner accepts them.
 */
#include "expr/parser_private.h"

glv_status parser_one_name(parser *p, const ast_name **ret, glv_error *err) {
  ast_name *name = ARENA_NEW(p->a, ast_name);
  if (name == NULL) {
    return error_nomem(err, sizeof *name);
  }
  TRY(parser_name(p, &p->at.tok, name, err));
  parser_advance(p);
  *ret = name;
  return GLV_OK;
}

bool parser_at_query(const parser *p) { return parser_at(p, KW_SELECT) || parser_at(p, KW_WITH); }

glv_status parser_skip_parenthesis(parser *p, str *ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  for (size_t open = 0; open != 0 || !parser_at_char(p, ')'); parser_advance(p)) {
    if (p->at.tok.kind == TOKEN_END || p->at.tok.kind == TOKEN_BAD) {
      return parser_expected(p, "`)`", err);
    }
    if (parser_at_char(p, '(')) {
      open++;
    } else if (parser_at_char(p, ')')) {
      open--;
    }
  }
  const uint32_t end = p->at.last_end > begin ? p->at.last_end : begin;
  parser_advance(p);
  *ret = str_slice(p->text.data + begin, end - begin);
  return GLV_OK;
}

glv_status parser_subquery(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  str text;
  TRY(parser_skip_parenthesis(p, &text, err));
  ast *node;
  TRY(parser_node(p, AST_SUBQUERY, begin, NULL, 0, &node, err));
  node->text = text;
  *ret = node;
  return GLV_OK;
}

glv_status parser_order(parser *p, const ast_order **ret, size_t *ret_count, glv_error *err) {
  ast_order *items = NULL;
  size_t count = 0;
  do {
    TRY(parser_grow(p, &items, count, sizeof *items, err));
    ast_order *item = &items[count++];
    TRY(parser_expression(p, PREC_NONE, &item->key, err));
    item->descending = parser_accept(p, KW_DESC);
    if (!item->descending) {
      parser_accept(p, KW_ASC);
    }
    if (parser_accept(p, KW_NULLS)) {
      item->has_nulls = true;
      item->nulls_first = parser_accept(p, KW_FIRST);
      if (!item->nulls_first) {
        TRY(parser_expect(p, KW_LAST, "FIRST or LAST after NULLS", err));
      }
    }
  } while (parser_accept_char(p, ','));
  *ret = items;
  *ret_count = count;
  return GLV_OK;
}

static glv_status argument(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  ast *node;
  if (token_is_op(&p->at.tok, OP_STAR)) {
    parser_advance(p);
    TRY(parser_node(p, AST_WILDCARD, begin, NULL, 0, &node, err));
    *ret = node;
    return GLV_OK;
  }
  if (parser_at_word(p) && token_is_op(&p->at.next, OP_NAMED)) {
    const ast_name *name;
    const ast *value;
    TRY(parser_one_name(p, &name, err));
    parser_advance(p);
    TRY(parser_expression(p, PREC_NONE, &value, err));
    TRY(parser_node(p, AST_NAMED_ARG, begin, &value, 1, &node, err));
    node->names = name;
    node->name_count = 1;
    *ret = node;
    return GLV_OK;
  }
  TRY(parser_expression(p, PREC_NONE, ret, err));
  if ((*ret)->kind == AST_COLUMN && parser_at_char(p, '.')) { /* t.*: accesses stop before it */
    parser_advance(p);
    parser_advance(p);
    const ast *prefix = *ret;
    TRY(parser_node(p, AST_WILDCARD, begin, NULL, 0, &node, err));
    node->names = prefix->names;
    node->name_count = prefix->name_count;
    *ret = node;
  }
  return GLV_OK;
}

static glv_status null_treatment(parser *p, ast_call *call, glv_error *err) {
  const bool ignores = parser_accept(p, KW_IGNORE);
  if (ignores || parser_accept(p, KW_RESPECT)) {
    TRY(parser_expect(p, KW_NULLS, "NULLS", err));
    call->ignore_nulls = ignores;
    call->respect_nulls = !ignores;
  }
  return GLV_OK;
}

/* What may stand between the arguments and `)`. */
static glv_status argument_clauses(parser *p, ast_call *call, glv_error *err) {
  if (p->takes_aggregates) {
    TRY(null_treatment(p, call, err));
  }
  if (parser_accept(p, KW_ORDER)) {
    TRY(parser_expect(p, KW_BY, "BY after ORDER", err));
    TRY(parser_order(p, &call->order, &call->order_count, err));
  }
  return GLV_OK;
}

static glv_status window(parser *p, ast_call *call, glv_error *err) {
  if (!parser_accept(p, KW_OVER)) {
    return GLV_OK;
  }
  call->over = true;
  const uint32_t begin = p->at.tok.begin;
  if (parser_accept_char(p, '(')) {
    TRY(parser_skip_parenthesis(p, &call->window, err));
  } else if (parser_at_word(p)) {
    parser_advance(p);
  } else {
    return parser_expected(p, "a window after OVER", err);
  }
  call->window = str_slice(p->text.data + begin, p->at.last_end - begin);
  return GLV_OK;
}

/* What may stand behind `)`. */
static glv_status call_clauses(parser *p, ast_call *call, glv_error *err) {
  if (parser_at(p, KW_WITHIN) && token_is(&p->at.next, KW_GROUP)) {
    parser_advance(p);
    parser_advance(p);
    TRY(parser_expect_char(p, '(', err));
    TRY(parser_expect(p, KW_ORDER, "ORDER BY", err));
    TRY(parser_expect(p, KW_BY, "BY after ORDER", err));
    TRY(parser_order(p, &call->order, &call->order_count, err));
    TRY(parser_expect_char(p, ')', err));
    call->within_group = true;
  }
  if (p->takes_aggregates && parser_accept(p, KW_FILTER)) {
    TRY(parser_expect_char(p, '(', err));
    TRY(parser_expect(p, KW_WHERE, "WHERE", err));
    TRY(parser_expression(p, PREC_NONE, &call->filter, err));
    TRY(parser_expect_char(p, ')', err));
  }
  if (!call->ignore_nulls && !call->respect_nulls) {
    TRY(null_treatment(p, call, err));
  }
  return window(p, call, err);
}

static glv_status call_node(parser *p, uint32_t begin, struct name_list name,
                            const node_list *arguments, const ast_call *call, const ast **ret,
                            glv_error *err) {
  ast_call *copy = ARENA_NEW(p->a, ast_call);
  if (copy == NULL) {
    return error_nomem(err, sizeof *copy);
  }
  *copy = *call;
  ast *node;
  TRY(parser_node(p, AST_CALL, begin, arguments->items, arguments->count, &node, err));
  node->names = name.names;
  node->name_count = name.count;
  node->call = copy;
  *ret = node;
  return GLV_OK;
}

glv_status parser_call_rest(parser *p, uint32_t begin, struct name_list name, const ast *first,
                            const ast **ret, glv_error *err) {
  ast_call call = {.has_parentheses = true};
  node_list arguments = {NULL, 0};
  bool goes_on = first == NULL ? !parser_at_char(p, ')') : parser_accept_char(p, ',');
  if (first != NULL) {
    TRY(parser_push(p, &arguments, first, err));
  } else if (goes_on && !parser_accept(p, KW_ALL)) {
    call.distinct = parser_accept(p, KW_DISTINCT);
  }
  while (goes_on) {
    const ast *item;
    TRY(argument(p, &item, err));
    TRY(parser_push(p, &arguments, item, err));
    goes_on = parser_accept_char(p, ',');
  }
  if (arguments.count != 0) {
    TRY(argument_clauses(p, &call, err));
  }
  TRY(parser_expect_char(p, ')', err));
  TRY(call_clauses(p, &call, err));
  return call_node(p, begin, name, &arguments, &call, ret, err);
}

glv_status parser_call(parser *p, uint32_t begin, const ast_name *names, uint32_t name_count,
                       const ast **ret, glv_error *err) {
  TRY(parser_expect_char(p, '(', err));
  return parser_call_rest(p, begin, (struct name_list){names, name_count}, NULL, ret, err);
}

glv_status parser_bare_call(parser *p, const ast **ret, glv_error *err) {
  const uint32_t begin = p->at.tok.begin;
  const ast_name *name;
  TRY(parser_one_name(p, &name, err));
  if (parser_at_char(p, '(')) {
    return parser_call(p, begin, name, 1, ret, err);
  }
  return call_node(p, begin, (struct name_list){name, 1}, &(node_list){NULL, 0},
                   &(ast_call){.has_parentheses = false}, ret, err);
}
