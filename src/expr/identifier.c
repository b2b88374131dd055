/*
 * SQL identifiers in canonical form (15.2): bare, or in backticks with those inside doubled.
 */
#include "expr/identifier.h"

#include "base/error.h"
#include "expr/expr.h"

/* Words that the reference's parser does not read back as an identifier. Ascending. */
static const char *const RESERVED[] = {
    "all",
    "analyze",
    "anti",
    "array",
    "asof",
    "cluster",
    "connect",
    "cross",
    "current_date",
    "current_time",
    "current_timestamp",
    "distinct",
    "distribute",
    "end",
    "except",
    "exclude",
    "exists",
    "explain",
    "false",
    "fetch",
    "for",
    "format",
    "from",
    "full",
    "global",
    "group",
    "having",
    "inner",
    "intersect",
    "interval",
    "into",
    "join",
    "lateral",
    "left",
    "limit",
    "match_condition",
    "match_recognize",
    "minus",
    "natural",
    "not",
    "null",
    "offset",
    "on",
    "open",
    "order",
    "outer",
    "output",
    "partition",
    "pivot",
    "prewhere",
    "qualify",
    "returning",
    "right",
    "sample",
    "select",
    "semi",
    "set",
    "settings",
    "sort",
    "start",
    "struct",
    "table",
    "tablesample",
    "top",
    "trim",
    "true",
    "union",
    "unnest",
    "unpivot",
    "using",
    "values",
    "view",
    "where",
    "window",
    "with",
};

bool identifier_is_reserved(str name) {
  size_t low = 0;
  size_t high = sizeof RESERVED / sizeof RESERVED[0];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = str_compare(name, str_of(RESERVED[middle]));
    if (order == 0) {
      return true;
    }
    if (order > 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return false;
}

bool identifier_is_bare(str name) {
  for (size_t i = 0; i < name.size; i++) {
    const char c = name.data[i];
    const bool is_digit = c >= '0' && c <= '9';
    if (!(c >= 'a' && c <= 'z') && c != '_' && (i == 0 || !is_digit)) {
      return false;
    }
  }
  return name.size != 0 && !identifier_is_reserved(name);
}

glv_status sql_put_quoted(buf *out, str text, char quote, glv_error *err) {
  TRY(buf_append_char(out, quote, err));
  for (size_t i = 0; i < text.size; i++) {
    if (text.data[i] == quote) {
      TRY(buf_append_char(out, quote, err));
    }
    TRY(buf_append_char(out, text.data[i], err));
  }
  return buf_append_char(out, quote, err);
}

glv_status expr_print_identifier(str name, buf *out, glv_error *err) {
  return identifier_is_bare(name) ? buf_append_str(out, name, err)
                                  : sql_put_quoted(out, name, '`', err);
}
