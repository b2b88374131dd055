/*
 * The text forms that view definitions need: double quotes into backticks, canonical rendering, and
 * whether an expression must be stored wrapped.
 *
 * Wrapping (decision D1): Lance plans the outer part of an expression with a small planner of its
 * own (context L of section 5) and the arguments of calls with DataFusion's (context D). What only
 * D accepts moves there by `coalesce(<expr>, NULL)`. The search for such constructs goes down from
 * the root and stops at calls, whose arguments are in D already; only is_valid(x) is planned in L
 * with its argument.
 */
#include "base/limits.h"
#include "expr/ast.h"
#include "expr/expr.h"
#include "expr/lexer.h"

static size_t depth_limit(unsigned flags) {
  return (flags & EXPR_VIEW) != 0 ? LIMIT_SQL_VIEW_DEPTH : LIMIT_SQL_DEPTH;
}

static glv_status fail_at(str text, const token *t, glv_error *err) {
  size_t line;
  size_t column;
  text_position(text, t->begin, &line, &column);
  return FAIL(err, GLV_E_SQL_PARSE, "SQL: %s at line %zu, column %zu", t->problem, line, column);
}

/* "x" as `x` */
static glv_status put_backticks(str quoted, buf *out, glv_error *err) {
  TRY(buf_append_char(out, '`', err));
  for (size_t i = 1; i + 1 < quoted.size; i++) {
    const char c = quoted.data[i];
    if (c == '`') {
      TRY(buf_append_char(out, '`', err));
    } else if (c == '"') {
      i++;
    }
    TRY(buf_append_char(out, c, err));
  }
  return buf_append_char(out, '`', err);
}

glv_status expr_requote(str text, buf *out, glv_error *err) {
  if (text.size > LIMIT_SQL_BYTES) {
    return FAIL(err, GLV_E_LIMIT, "SQL text of %zu bytes is longer than %u", text.size,
                LIMIT_SQL_BYTES);
  }
  if (!str_is_utf8(text)) {
    return FAIL(err, GLV_E_SQL_PARSE, "the SQL text is not valid UTF-8");
  }
  lexer x = lexer_new(text, true);
  size_t copied = 0;
  for (token t = lexer_next(&x); t.kind != TOKEN_END; t = lexer_next(&x)) {
    if (t.kind == TOKEN_BAD) {
      return fail_at(text, &t, err);
    }
    if (t.kind == TOKEN_QUOTED && text.data[t.begin] == '"') {
      TRY(buf_append(out, text.data + copied, t.begin - copied, err));
      TRY(put_backticks(token_source(&x, &t), out, err));
      copied = t.end;
    }
  }
  return copied < text.size ? buf_append(out, text.data + copied, text.size - copied, err) : GLV_OK;
}

glv_status expr_print_canonical(glv_env *env, str text, unsigned flags, buf *out, glv_error *err) {
  arena a;
  arena_init(&a, env);
  const ast *root;
  glv_status status = ast_parse(&a, text, flags, depth_limit(flags), &root, err);
  if (status == GLV_OK) {
    status = ast_print(root, out, err);
  }
  arena_dispose(&a);
  return status;
}

/* Types that D knows and L does not (section 11.1). */
static bool is_wide_type(const ast_type *t) {
  static const char *const WIDE[] = {
      "VARCHAR", "TEXT", "CHAR", "BOOL",  "REAL", "FLOAT4",  "FLOAT8",  "DOUBLE PRECISION",
      "INT2",    "INT4", "INT8", "BYTEA", "TIME", "NUMERIC", "INTERVAL"};
  if (!t->known) {
    return false;
  }
  if (str_is(t->name, "DECIMAL")) {
    return t->number_count < 2;
  }
  if (str_is(t->name, "TIMESTAMP")) {
    return t->zone != AST_ZONE_NONE;
  }
  for (size_t i = 0; i < sizeof WIDE / sizeof WIDE[0]; i++) {
    if (str_is(t->name, WIDE[i])) {
      return true;
    }
  }
  return false;
}

static bool is_wide_operator(unsigned op) {
  switch (op) {
  case AST_BIT_AND:
  case AST_BIT_OR:
  case AST_BIT_XOR:
  case AST_CONTAINS:
  case AST_CONTAINED:
    return true;
  default:
    return op >= AST_REGEX && op <= AST_NOT_ILIKE_OP;
  }
}

/* Kinds of array elements that L takes; 0 = none of them. */
static unsigned literal_kind(const ast *item) {
  switch (item->kind) {
  case AST_NUMBER: {
    const bool is_float = memchr(item->text.data, '.', item->text.size) != NULL ||
                          memchr(item->text.data, 'e', item->text.size) != NULL ||
                          memchr(item->text.data, 'E', item->text.size) != NULL;
    return is_float ? 1 : 2;
  }
  case AST_STRING:
    return 3;
  case AST_BOOL:
    return 4;
  case AST_HEX:
    return 5;
  case AST_UNARY:
    return item->op == AST_MINUS && item->child[0]->kind == AST_NUMBER
               ? literal_kind(item->child[0])
               : 0;
  default:
    return 0;
  }
}

/* L takes literals of one type only, not NULL; whole numbers may follow a float (7.4). */
static bool is_wide_array(const ast *node) {
  const unsigned first = node->child_count != 0 ? literal_kind(node->child[0]) : 0;
  for (size_t i = 0; i < node->child_count; i++) {
    const unsigned kind = literal_kind(node->child[i]);
    if (kind != first && !(first == 1 && kind == 2)) {
      return true;
    }
  }
  return first == 0;
}

struct search {
  arena scratch;
  bool is_view;
};

static bool is_is_valid(const ast *node) {
  return node->name_count == 1 && node->names[0].quote == AST_BARE && node->child_count != 0 &&
         str_is(node->names[0].text, "is_valid");
}

/* The node itself is what only D accepts. */
static bool is_wide(const ast *node, bool is_view) {
  switch (node->kind) {
  case AST_CASE:
  case AST_CEIL:
  case AST_FLOOR:
  case AST_SUBSTRING:
  case AST_TRIM:
  case AST_POSITION:
  case AST_EXTRACT:
  case AST_OVERLAY:
  case AST_INTERVAL:
  case AST_AT_TIME_ZONE:
  case AST_SLICE:
    return true;
  case AST_IS_DISTINCT:
    return is_view; /* engines that read views refuse it at the outer level (16.3) */
  case AST_IS:
    return node->op == AST_IS_UNKNOWN;
  case AST_LIKE:
    return node->op == AST_OP_SIMILAR;
  case AST_BINARY:
    return is_wide_operator(node->op);
  case AST_UNARY:
    return node->op == AST_PLUS;
  case AST_QUANTIFIED:
    return node->op == AST_EQ && (node->flags & AST_ANY) != 0 &&
           node->child[1]->kind != AST_SUBQUERY;
  case AST_ARRAY:
    return is_wide_array(node);
  case AST_CAST:
  case AST_TYPED_STRING:
    return is_wide_type(node->type);
  default:
    return false;
  }
}

/* L plans the children of node, not only node. */
static bool goes_inside(const ast *node) {
  return node->kind != AST_ARRAY && (node->kind != AST_CALL || is_is_valid(node));
}

static glv_status find_wide(struct search *s, const ast *node, bool *ret, glv_error *err) {
  const ast **nodes;
  size_t count;
  const arena_mark mark = arena_mark_get(&s->scratch);
  TRY(ast_spine(&s->scratch, node, &nodes, &count, err));
  for (size_t i = 0; i < count && !*ret; i++) {
    *ret = is_wide(nodes[i], s->is_view);
    const size_t end = goes_inside(nodes[i]) ? nodes[i]->child_count : 0;
    for (size_t k = i == 0 ? 0 : 1; k < end && !*ret; k++) {
      if (nodes[i]->child[k] != NULL) {
        TRY(find_wide(s, nodes[i]->child[k], ret, err));
      }
    }
  }
  arena_reset_to(&s->scratch, mark);
  return GLV_OK;
}

glv_status expr_needs_wrap(glv_env *env, str text, unsigned flags, bool *ret, glv_error *err) {
  arena a;
  arena_init(&a, env);
  struct search s = {.is_view = (flags & EXPR_VIEW) != 0};
  arena_init(&s.scratch, env);
  const ast *root;
  bool is_found = false;
  glv_status status = ast_parse(&a, text, flags, depth_limit(flags), &root, err);
  if (status == GLV_OK) {
    status = find_wide(&s, root, &is_found, err);
  }
  if (status == GLV_OK) {
    *ret = is_found;
  }
  arena_dispose(&s.scratch);
  arena_dispose(&a);
  return status;
}
