/*
 * The canonical rendering of expressions: section 15.3 of the SQL design.
 *
 * Parentheses and unquoted names come out as they were written, so the text has the meaning of the
 * tree. A name that was quoted is written bare where the reference does so (expr_print_identifier),
 * except where a bare word would be read as something else: ANY behind an operator, ARRAY before a
 * bracket, and the like. Two signs in a row get a blank between them, because `--` is a comment.
 *
 * Chains to the left are printed by a loop over ast_spine; the recursion is as deep as the parser's
 * depth limit allows.
 */
#include "expr/ast.h"
#include "expr/expr.h"
#include "expr/identifier.h"

struct printer {
  buf *out;
  arena scratch;
  const ast *quoted_name; /* the column or call whose first name must keep its quotes */
};

static glv_status print(struct printer *p, const ast *node, glv_error *err);

static glv_status put(struct printer *p, const char *text, glv_error *err) {
  return buf_append_str(p->out, str_of(text), err);
}

/* Names that are read as the start of something else when they stand bare as an operand. */
static bool is_risky(str name) {
  static const char *const RISKY[] = {"any", "some", "case", "both", "leading", "trailing"};
  for (size_t i = 0; i < sizeof RISKY / sizeof RISKY[0]; i++) {
    if (str_is(name, RISKY[i])) {
      return true;
    }
  }
  return false;
}

/* Names of calls that are forms when they stand bare. */
static bool is_form(str name) {
  static const char *const FORMS[] = {"cast",      "try_cast", "safe_cast", "convert",
                                      "ceil",      "floor",    "position",  "substr",
                                      "substring", "overlay",  "extract"};
  for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++) {
    if (str_is(name, FORMS[i])) {
      return true;
    }
  }
  return false;
}

static glv_status put_name(struct printer *p, const ast_name *name, bool keeps_quotes,
                           glv_error *err) {
  switch (name->quote) {
  case AST_BARE:
    return buf_append_str(p->out, name->text, err);
  case AST_SINGLE:
    return sql_put_quoted(p->out, name->text, '\'', err);
  case AST_BACKTICK:
  case AST_DOUBLE:
    break;
  }
  return keeps_quotes ? sql_put_quoted(p->out, name->text, '`', err)
                      : expr_print_identifier(name->text, p->out, err);
}

/* a.b.c; a `_` that begins a part is read only behind a name */
static glv_status put_path(struct printer *p, const ast *node, glv_error *err) {
  const bool is_call = node->kind == AST_CALL;
  for (uint32_t i = 0; i < node->name_count; i++) {
    const ast_name *name = &node->names[i];
    const bool keeps =
        i == 0 ? node == p->quoted_name || is_risky(name->text) || (is_call && is_form(name->text))
               : node->names[i - 1].quote == AST_SINGLE;
    TRY(i != 0 ? put(p, ".", err) : GLV_OK);
    TRY(put_name(p, name, keeps, err));
  }
  return GLV_OK;
}

static glv_status put_list(struct printer *p, const ast *const *items, size_t count,
                           const char *separator, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    TRY(i != 0 ? put(p, separator, err) : GLV_OK);
    TRY(print(p, items[i], err));
  }
  return GLV_OK;
}

/* The node whose first token is the first of node. */
static const ast *leftmost(const ast *node) {
  while (ast_has_left(node) || node->kind == AST_AND || node->kind == AST_OR) {
    node = node->child[0];
  }
  return node;
}

static glv_status print_unary(struct printer *p, const ast *node, glv_error *err) {
  const ast *first = leftmost(node->child[0]);
  switch ((enum ast_unary)node->op) {
  case AST_MINUS:
    TRY(put(p, "-", err));
    break;
  case AST_PLUS:
    TRY(put(p, "+", err));
    break;
  case AST_UNARY_NOT:
    TRY(put(p, "NOT ", err));
    break;
  case AST_TILDE:
    TRY(put(p, "~", err));
    break;
  }
  if (first->kind == AST_UNARY && first->op == node->op && node->op != AST_UNARY_NOT) {
    TRY(put(p, " ", err));
  }
  return print(p, node->child[0], err);
}

static glv_status print_case(struct printer *p, const ast *node, glv_error *err) {
  size_t i = 0;
  TRY(put(p, "CASE", err));
  if ((node->flags & AST_HAS_OPERAND) != 0) {
    const ast *first = leftmost(node->child[0]);
    if ((first->kind == AST_COLUMN || first->kind == AST_CALL) &&
        str_is(first->names[0].text, "when")) {
      p->quoted_name = first;
    }
    TRY(put(p, " ", err));
    TRY(print(p, node->child[i++], err));
  }
  const size_t last = (node->flags & AST_HAS_ELSE) != 0 ? 1 : 0;
  for (; i + last < node->child_count; i += 2) {
    TRY(put(p, " WHEN ", err));
    TRY(print(p, node->child[i], err));
    TRY(put(p, " THEN ", err));
    TRY(print(p, node->child[i + 1], err));
  }
  if (last != 0) {
    TRY(put(p, " ELSE ", err));
    TRY(print(p, node->child[i], err));
  }
  return put(p, " END", err);
}

static glv_status put_order(struct printer *p, const ast_call *call, glv_error *err) {
  for (size_t i = 0; i < call->order_count; i++) {
    const ast_order *item = &call->order[i];
    TRY(put(p, i == 0 ? "ORDER BY " : ", ", err));
    TRY(print(p, item->key, err));
    TRY(item->descending ? put(p, " DESC", err) : GLV_OK);
    if (item->has_nulls) {
      TRY(put(p, item->nulls_first ? " NULLS FIRST" : " NULLS LAST", err));
    }
  }
  return GLV_OK;
}

static glv_status put_call_clauses(struct printer *p, const ast_call *call, glv_error *err) {
  if (call->within_group) {
    TRY(put(p, " WITHIN GROUP (", err));
    TRY(put_order(p, call, err));
    TRY(put(p, ")", err));
  }
  if (call->filter != NULL) {
    TRY(put(p, " FILTER (WHERE ", err));
    TRY(print(p, call->filter, err));
    TRY(put(p, ")", err));
  }
  if (call->ignore_nulls || call->respect_nulls) {
    TRY(put(p, call->ignore_nulls ? " IGNORE NULLS" : " RESPECT NULLS", err));
  }
  if (call->over) {
    TRY(put(p, " OVER ", err));
    TRY(buf_append_str(p->out, call->window, err));
  }
  return GLV_OK;
}

static glv_status print_call(struct printer *p, const ast *node, glv_error *err) {
  const ast_call *call = node->call;
  const ast_name *name = &node->names[0];
  if (node->name_count == 1 && name->quote == AST_BARE &&
      str_equal_ascii_case(name->text, STR("struct"))) {
    TRY(put(p, "STRUCT", err));
  } else {
    TRY(put_path(p, node, err));
  }
  if (call->has_parentheses) {
    TRY(put(p, call->distinct ? "(DISTINCT " : "(", err));
    TRY(put_list(p, node->child, node->child_count, ", ", err));
    if (call->order_count != 0 && !call->within_group) {
      TRY(put(p, " ", err));
      TRY(put_order(p, call, err));
    }
    TRY(put(p, ")", err));
  }
  return put_call_clauses(p, call, err);
}

static glv_status print_typed_string(struct printer *p, const ast *node, glv_error *err) {
  if (node->op == 1) {
    const str name = node->type->name;
    TRY(put(p, str_is(name, "DATE") ? "{d " : str_is(name, "TIME") ? "{t " : "{ts ", err));
    TRY(sql_put_quoted(p->out, node->text, '\'', err));
    return put(p, "}", err);
  }
  TRY(buf_append_str(p->out, node->type->canonical, err));
  TRY(put(p, " ", err));
  return sql_put_quoted(p->out, node->text, '\'', err);
}

static glv_status print_interval(struct printer *p, const ast *node, glv_error *err) {
  TRY(put(p, "INTERVAL ", err));
  TRY(print(p, node->child[0], err));
  if (node->name_count != 0) {
    TRY(put(p, " ", err));
    TRY(put_path(p, node, err));
  }
  if (node->text.size != 0) {
    TRY(put(p, " ", err));
    TRY(buf_append_str(p->out, node->text, err));
  }
  return GLV_OK;
}

static glv_status print_cast(struct printer *p, const ast *node, glv_error *err) {
  static const char *const NAMES[] = {"CAST(", "TRY_CAST(", "SAFE_CAST("};
  TRY(put(p, NAMES[node->op], err));
  TRY(print(p, node->child[0], err));
  TRY(put(p, " AS ", err));
  TRY(buf_append_str(p->out, node->type->canonical, err));
  return put(p, ")", err);
}

static glv_status print_convert(struct printer *p, const ast *node, glv_error *err) {
  TRY(put(p, "CONVERT(", err));
  TRY(print(p, node->child[0], err));
  if (node->type != NULL) {
    TRY(put(p, ", ", err));
    TRY(buf_append_str(p->out, node->type->canonical, err));
  } else {
    TRY(put(p, " USING ", err));
    TRY(put_path(p, node, err));
  }
  return put(p, ")", err);
}

static glv_status print_rounding(struct printer *p, const ast *node, glv_error *err) {
  TRY(put(p, node->kind == AST_CEIL ? "CEIL(" : "FLOOR(", err));
  TRY(put_list(p, node->child, node->child_count, ", ", err));
  if (node->name_count != 0) {
    TRY(put(p, " TO ", err));
    TRY(put_path(p, node, err));
  }
  return put(p, ")", err);
}

static glv_status print_substring(struct printer *p, const ast *node, glv_error *err) {
  const bool has_commas = (node->flags & AST_COMMA) != 0;
  size_t i = 0;
  TRY(put(p, node->op == 1 ? "SUBSTR(" : "SUBSTRING(", err));
  TRY(print(p, node->child[i++], err));
  if ((node->flags & AST_HAS_FROM) != 0) {
    TRY(put(p, has_commas ? ", " : " FROM ", err));
    TRY(print(p, node->child[i++], err));
  }
  if ((node->flags & AST_HAS_FOR) != 0) {
    TRY(put(p, has_commas ? ", " : " FOR ", err));
    TRY(print(p, node->child[i], err));
  }
  return put(p, ")", err);
}

static glv_status print_trim(struct printer *p, const ast *node, glv_error *err) {
  static const char *const SIDES[] = {"TRIM(", "TRIM(BOTH ", "TRIM(LEADING ", "TRIM(TRAILING "};
  TRY(put(p, SIDES[node->op], err));
  if ((node->flags & AST_HAS_FROM) != 0) {
    TRY(print(p, node->child[1], err));
    TRY(put(p, " FROM ", err));
  }
  TRY(print(p, node->child[0], err));
  return put(p, ")", err);
}

static glv_status print_overlay(struct printer *p, const ast *node, glv_error *err) {
  static const char *const BEFORE[] = {"OVERLAY(", " PLACING ", " FROM ", " FOR "};
  for (size_t i = 0; i < node->child_count; i++) {
    TRY(put(p, BEFORE[i], err));
    TRY(print(p, node->child[i], err));
  }
  return put(p, ")", err);
}

static glv_status print_dictionary(struct printer *p, const ast *node, glv_error *err) {
  TRY(put(p, "MAP {", err));
  for (size_t i = 0; i < node->child_count; i++) {
    TRY(i != 0 ? put(p, i % 2 != 0 ? ": " : ", ", err) : GLV_OK);
    TRY(print(p, node->child[i], err));
  }
  return put(p, "}", err);
}

static glv_status print_enclosed(struct printer *p, const char *before, const ast *node,
                                 const char *separator, const char *after, glv_error *err) {
  TRY(put(p, before, err));
  TRY(put_list(p, node->child, node->child_count, separator, err));
  return put(p, after, err);
}

/* A node without left operand. */
static glv_status print_first(struct printer *p, const ast *node, glv_error *err) {
  switch (node->kind) {
  case AST_COLUMN:
    return put_path(p, node, err);
  case AST_NUMBER:
  case AST_ODD_VALUE:
  case AST_SUBQUERY:
    return buf_append_str(p->out, node->text, err);
  case AST_STRING:
    return sql_put_quoted(p->out, node->text, '\'', err);
  case AST_HEX:
    TRY(put(p, "X", err));
    return sql_put_quoted(p->out, node->text, '\'', err);
  case AST_BOOL:
    return put(p, node->op != 0 ? "true" : "false", err);
  case AST_NULL:
    return put(p, "NULL", err);
  case AST_WILDCARD:
    TRY(put_path(p, node, err));
    return put(p, node->name_count != 0 ? ".*" : "*", err);
  case AST_UNARY:
    return print_unary(p, node, err);
  case AST_AND:
    return put_list(p, node->child, node->child_count, " AND ", err);
  case AST_OR:
    return put_list(p, node->child, node->child_count, " OR ", err);
  case AST_PAREN:
  case AST_TUPLE:
    return print_enclosed(p, "(", node, ", ", ")", err);
  case AST_EXISTS:
    return print_enclosed(p, (node->flags & AST_NOT) != 0 ? "NOT EXISTS (" : "EXISTS (", node, "",
                          ")", err);
  case AST_TYPED_STRING:
    return print_typed_string(p, node, err);
  case AST_INTERVAL:
    return print_interval(p, node, err);
  case AST_CASE:
    return print_case(p, node, err);
  case AST_CAST:
    return print_cast(p, node, err);
  case AST_CONVERT:
    return print_convert(p, node, err);
  case AST_EXTRACT:
    TRY(put(p, "EXTRACT(", err));
    TRY(put_path(p, node, err));
    return print_enclosed(p, " FROM ", node, "", ")", err);
  case AST_CEIL:
  case AST_FLOOR:
    return print_rounding(p, node, err);
  case AST_POSITION:
    return print_enclosed(p, "POSITION(", node, " IN ", ")", err);
  case AST_SUBSTRING:
    return print_substring(p, node, err);
  case AST_TRIM:
    return print_trim(p, node, err);
  case AST_OVERLAY:
    return print_overlay(p, node, err);
  case AST_ARRAY:
    return print_enclosed(p, (node->flags & AST_KEYWORD) != 0 ? "ARRAY[" : "[", node, ", ", "]",
                          err);
  case AST_DICTIONARY:
    return print_dictionary(p, node, err);
  case AST_CALL:
    return print_call(p, node, err);
  case AST_NAMED_ARG:
    TRY(put_path(p, node, err));
    return print_enclosed(p, " => ", node, "", "", err);
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
    break;
  }
  return FAIL(err, GLV_E_INTERNAL, "a syntax node of kind %d has a left operand", (int)node->kind);
}

static glv_status suffix_binary(struct printer *p, const ast *node, glv_error *err) {
  if (node->op == AST_BINARY_OTHER && str_is(node->text, ":")) {
    TRY(put(p, ":", err));
    return print(p, node->child[1], err);
  }
  TRY(put(p, " ", err));
  TRY(node->op == AST_BINARY_OTHER ? buf_append_str(p->out, node->text, err)
                                   : put(p, ast_binary_text(node->op), err));
  TRY(put(p, " ", err));
  return print(p, node->child[1], err);
}

static glv_status suffix_is(struct printer *p, const ast *node, glv_error *err) {
  static const char *const TESTS[] = {"NULL", "TRUE", "FALSE", "UNKNOWN", "NORMALIZED"};
  TRY(put(p, (node->flags & AST_NOT) != 0 ? " IS NOT " : " IS ", err));
  TRY(buf_append_str(p->out, node->text, err));
  TRY(node->text.size != 0 ? put(p, " ", err) : GLV_OK);
  return put(p, TESTS[node->op], err);
}

static glv_status suffix_like(struct printer *p, const ast *node, glv_error *err) {
  static const char *const WORDS[] = {"LIKE ", "ILIKE ", "SIMILAR TO ", "RLIKE ", "REGEXP "};
  TRY(put(p, (node->flags & AST_NOT) != 0 ? " NOT " : " ", err));
  TRY(put(p, WORDS[node->op], err));
  TRY((node->flags & AST_ANY) != 0 ? put(p, "ANY ", err) : GLV_OK);
  TRY(print(p, node->child[1], err));
  if ((node->flags & AST_HAS_ESCAPE) != 0) {
    TRY(put(p, " ESCAPE ", err));
    TRY((node->flags & AST_KEYWORD) != 0 ? buf_append_str(p->out, node->text, err)
                                         : sql_put_quoted(p->out, node->text, '\'', err));
  }
  return GLV_OK;
}

static glv_status suffix_in(struct printer *p, const ast *node, glv_error *err) {
  TRY(put(p, (node->flags & AST_NOT) != 0 ? " NOT IN " : " IN ", err));
  TRY(put(p, (node->flags & AST_KEYWORD) != 0 ? "UNNEST(" : "(", err));
  TRY(put_list(p, node->child + 1, node->child_count - 1, ", ", err));
  return put(p, ")", err);
}

static glv_status suffix_between(struct printer *p, const ast *node, glv_error *err) {
  TRY(put(p, (node->flags & AST_NOT) != 0 ? " NOT BETWEEN " : " BETWEEN ", err));
  return put_list(p, node->child + 1, 2, " AND ", err);
}

static glv_status suffix_quantified(struct printer *p, const ast *node, glv_error *err) {
  TRY(put(p, " ", err));
  TRY(put(p, ast_binary_text(node->op), err));
  TRY(put(p,
          (node->flags & AST_ALL) != 0       ? " ALL("
          : (node->flags & AST_KEYWORD) != 0 ? " SOME("
                                             : " ANY(",
          err));
  TRY(print(p, node->child[1], err));
  return put(p, ")", err);
}

static glv_status suffix_slice(struct printer *p, const ast *node, glv_error *err) {
  for (size_t i = 1; i < node->child_count; i++) {
    const bool is_there = node->child[i] != NULL;
    TRY(i == 1 ? put(p, "[", err) : i == 2 || is_there ? put(p, ":", err) : GLV_OK);
    TRY(is_there ? print(p, node->child[i], err) : GLV_OK);
  }
  return put(p, "]", err);
}

/* A point behind a digit or a word would be read as part of it. */
static glv_status suffix_field(struct printer *p, const ast *node, glv_error *err) {
  const char last = p->out->data[p->out->size - 1];
  const bool is_tight = last == ')' || last == ']' || last == '\'' || last == '}' || last == '`';
  TRY(put(p, is_tight ? "." : " .", err));
  const str name = node->names[0].text;
  return put_name(p, &node->names[0], name.size != 0 && name.data[0] == '_', err);
}

/* What a node adds to the text of its left operand. */
static glv_status print_suffix(struct printer *p, const ast *node, glv_error *err) {
  switch (node->kind) {
  case AST_BINARY:
    return suffix_binary(p, node, err);
  case AST_IS:
    return suffix_is(p, node, err);
  case AST_IS_DISTINCT:
    TRY(put(p, (node->flags & AST_NOT) != 0 ? " IS NOT DISTINCT FROM " : " IS DISTINCT FROM ",
            err));
    return print(p, node->child[1], err);
  case AST_IN:
  case AST_IN_SUBQUERY:
    return suffix_in(p, node, err);
  case AST_BETWEEN:
    return suffix_between(p, node, err);
  case AST_LIKE:
    return suffix_like(p, node, err);
  case AST_MEMBER_OF:
    TRY(put(p, " MEMBER OF(", err));
    TRY(print(p, node->child[1], err));
    return put(p, ")", err);
  case AST_QUANTIFIED:
    return suffix_quantified(p, node, err);
  case AST_COLLATE:
    TRY(put(p, " COLLATE ", err));
    return put_path(p, node, err);
  case AST_AT_TIME_ZONE:
    TRY(put(p, " AT TIME ZONE ", err));
    return print(p, node->child[1], err);
  case AST_SUBSCRIPT:
    TRY(put(p, "[", err));
    TRY(print(p, node->child[1], err));
    return put(p, "]", err);
  case AST_SLICE:
    return suffix_slice(p, node, err);
  case AST_FIELD:
    return suffix_field(p, node, err);
  default: /* AST_CAST is the only other kind with a left operand */
    TRY(put(p, "::", err));
    return buf_append_str(p->out, node->type->canonical, err);
  }
}

static glv_status print(struct printer *p, const ast *node, glv_error *err) {
  if (node->spine == 0) {
    return print_first(p, node, err);
  }
  if (node->spine == 1 && node->kind != AST_SUBSCRIPT) {
    TRY(print_first(p, node->child[0], err));
    return print_suffix(p, node, err);
  }
  const ast **nodes;
  size_t count;
  const arena_mark mark = arena_mark_get(&p->scratch);
  TRY(ast_spine(&p->scratch, node, &nodes, &count, err));
  const ast_name *first = nodes[0]->kind == AST_COLUMN ? &nodes[0]->names[0] : NULL;
  if (first != NULL && nodes[1]->kind == AST_SUBSCRIPT && str_is(first->text, "array")) {
    p->quoted_name = nodes[0];
  }
  TRY(print_first(p, nodes[0], err));
  for (size_t i = 1; i < count; i++) {
    TRY(print_suffix(p, nodes[i], err));
  }
  arena_reset_to(&p->scratch, mark);
  return GLV_OK;
}

glv_status ast_print(const ast *node, buf *out, glv_error *err) {
  struct printer p = {.out = out};
  arena_init(&p.scratch, out->env);
  const glv_status status = print(&p, node, err);
  arena_dispose(&p.scratch);
  return status;
}
