/*
 * Which unread column an expression means. Columns of types that this release does not read are
 * missing from the schema that expressions are planned against, so a text that uses one fails as
 * if the column did not exist. The report of such a failure looks here first: the tokens of the
 * text are compared with the names of the unread columns. A word after a period is a field of
 * something else, one before "(" is a function.
 */
#include "base/buf.h"
#include "expr/lexer.h"
#include "table/table.h"

static bool names_column(str name, bool is_quoted, const char *column) {
  return is_quoted ? str_is(name, column) : str_equal_ascii_case(name, str_of(column));
}

static glv_status check_name(const table_snapshot *t, str name, bool is_quoted, glv_error *err) {
  if (schema_find(table_schema(t), name) != SIZE_MAX) {
    return GLV_OK;
  }
  const lance_schema *stored = table_lance_schema(t);
  for (size_t i = 0; i < stored->field_count; i++) {
    const lance_field *f = &stored->fields[i];
    if (!f->is_supported && names_column(name, is_quoted, f->arrow.name)) {
      return FAIL(err, GLV_E_UNSUPPORTED,
                  "column '%s' of '%s' has type %s, which this release does not read; leave it out",
                  f->arrow.name, table_name(t), f->logical_type);
    }
  }
  return GLV_OK;
}

static glv_status check_token(const table_snapshot *t, const lexer *x, const token *word,
                              glv_error *err) {
  if (word->kind == TOKEN_WORD) {
    return check_name(t, token_source(x, word), false, err);
  }
  CLEANUP(buf_dispose) buf name;
  buf_init(&name, table_env(t), SIZE_MAX / 2);
  TRY(token_unquote(token_source(x, word), &name, err));
  return check_name(t, buf_str(&name), true, err);
}

glv_status table_check_names(const table_snapshot *t, str text, bool dquote_identifier,
                             glv_error *err) {
  lexer x = lexer_new(text, dquote_identifier);
  bool after_period = false;
  for (token now = lexer_next(&x); now.kind != TOKEN_END && now.kind != TOKEN_BAD;) {
    const token next = lexer_next(&x);
    const bool is_name = now.kind == TOKEN_WORD || now.kind == TOKEN_QUOTED;
    if (is_name && !after_period && !token_is_char(&next, '(')) {
      TRY(check_token(t, &x, &now, err));
    }
    after_period = token_is_char(&now, '.');
    now = next;
  }
  return GLV_OK;
}
