/*
 * Fuzz target: any text as SQL. The low bits of the first byte choose what double quotes mean,
 * whether aggregates are syntax, and between an expression, a view definition and a query. The
 * canonical text of what parses must parse too and be its own canonical text, and an expression
 * whose double quotes were replaced must mean the same.
 */
#include <stdlib.h>

#include "base/env.h"
#include "base/limits.h"
#include "expr/ast.h"
#include "expr/expr.h"
#include "expr/select.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_LIMIT ((uint64_t)64 << 20)

static void require(bool ok) {
  if (!ok) {
    abort();
  }
}

/* The canonical text of an expression; false when memory did not suffice or it does not parse. */
static bool canonical(arena *a, str text, unsigned flags, buf *out, glv_status *ret_status) {
  const ast *root;
  *ret_status = ast_parse(a, text, flags, LIMIT_SQL_DEPTH, &root, NULL);
  if (*ret_status == GLV_OK) {
    *ret_status = ast_print(root, out, NULL);
  }
  return *ret_status == GLV_OK;
}

static bool is_memory(glv_status status) { return status == GLV_E_NOMEM || status == GLV_E_LIMIT; }

/* "x" made `x` reads as the same expression. */
static void check_requoted(arena *a, str text, str expected) {
  buf requoted;
  buf again;
  glv_status status;
  buf_init(&requoted, a->env, 1 << 24);
  buf_init(&again, a->env, 1 << 24);
  if (expr_requote(text, &requoted, NULL) == GLV_OK) {
    const bool is_plain = memchr(expected.data, '"', expected.size) == NULL;
    const bool ok = canonical(a, buf_str(&requoted), 0, &again, &status);
    require(ok || is_memory(status));
    require(!ok || !is_plain || str_equal(buf_str(&again), expected));
  }
  buf_dispose(&requoted);
  buf_dispose(&again);
}

static void check_expression(arena *a, str text, unsigned flags) {
  buf first;
  buf second;
  glv_status status;
  buf_init(&first, a->env, 1 << 24);
  buf_init(&second, a->env, 1 << 24);
  if (canonical(a, text, flags, &first, &status)) {
    const bool ok = canonical(a, buf_str(&first), flags, &second, &status);
    require(ok || is_memory(status));
    require(!ok || str_equal(buf_str(&first), buf_str(&second)));
    if (flags == EXPR_DQUOTE_IDENTIFIER) {
      bool wraps;
      status = expr_needs_wrap(a->env, text, flags, &wraps, NULL);
      require(status == GLV_OK || is_memory(status));
      check_requoted(a, text, buf_str(&first));
    }
  }
  buf_dispose(&first);
  buf_dispose(&second);
}

static void check_view(arena *a, str text) {
  select_statement s;
  glv_error err;
  const glv_status status = select_parse_view(a, text, &s, &err);
  if (status != GLV_OK) {
    require(status == GLV_E_SQL_PARSE || is_memory(status));
    return;
  }
  select_statement again;
  const glv_status second = select_parse_view(a, str_of(s.canonical), &again, &err);
  require(second == GLV_OK || is_memory(second));
  require(second != GLV_OK || str_is(str_of(s.canonical), again.canonical));
}

static void check_query(arena *a, str text) {
  select_statement s;
  glv_error err;
  const glv_status status = select_parse_query(a, text, &s, &err);
  require(status == GLV_OK || status == GLV_E_SQL_PARSE || is_memory(status));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) {
    return 0;
  }
  static const glv_io no_io;
  const glv_env_options options = {
      .struct_size = sizeof options, .memory_limit_bytes = MEMORY_LIMIT, .io = &no_io};
  glv_env *env;
  require(env_new(&options, &env, NULL) == GLV_OK);
  arena a;
  arena_init(&a, env);
  const str text = str_slice((const char *)data + 1, size - 1);
  switch (data[0] & 7) {
  case 0:
    check_expression(&a, text, 0);
    break;
  case 1:
    check_expression(&a, text, EXPR_DQUOTE_IDENTIFIER);
    break;
  case 2:
    check_expression(&a, text, AST_PARSE_AGGREGATES);
    break;
  case 3:
    check_query(&a, text);
    break;
  default:
    check_view(&a, text);
    break;
  }
  arena_dispose(&a);
  env_unref(env);
  return 0;
}
