/**
 * @file select.h
 * SELECT statements: those that define views (sql-expressions section 15) and those of ad-hoc
 * queries.
 */
#ifndef GLAIVE_EXPR_SELECT_H
#define GLAIVE_EXPR_SELECT_H

#include "base/arena.h"
#include "base/buf.h"
#include "expr/sort.h"

typedef struct select_item {
  str output;         /* name of the column */
  str expression;     /* the trimmed slice of the source text, without the alias */
  bool is_identifier; /* expression is one lone identifier; then `name` holds it decoded */
  str name;
} select_item;

/** A parsed statement; everything lives in the arena it was parsed into. */
typedef struct select_statement {
  bool star;       /* SELECT * */
  bool count_star; /* SELECT count(*) without UNNEST and GROUP BY: queries only */
  const select_item *items;
  size_t item_count;
  const str *table; /* decoded parts, outermost first; the last is the table */
  size_t table_parts;
  str filter; /* slice of the source text; size 0 = none */
  bool has_limit;
  uint64_t limit;
  bool has_offset; /* queries only */
  uint64_t offset;
  const sort_by *order; /* queries only */
  size_t order_count;
  bool has_unnest; /* FROM t, UNNEST(col) AS alias */
  str unnest_column;
  str unnest_alias;
  bool has_function; /* views: FROM t, fn(...) AS alias */
  str function_name;
  bool is_grouped;   /* has GROUP BY; queries also: an item calls an aggregate */
  const str *groups; /* GROUP BY: slices of the source text */
  size_t group_count;
  const char *canonical; /* views: the canonical text (15.3) */
} select_statement;

/**
 * Parse a view definition with all shape checks of 15.2 and 15.4; expressions are parsed, not
 * planned. Errors: GLV_E_SQL_PARSE with the phrases of 15.4 and line:column where they apply;
 * GLV_E_LIMIT.
 */
glv_status select_parse_view(arena *a, str text, select_statement *ret, glv_error *err);

/**
 * Parse an ad-hoc query: SELECT items | * FROM table [, UNNEST(col) AS alias] [WHERE] [GROUP BY
 * expr, ...] [ORDER BY column [ASC|DESC] [NULLS FIRST|LAST], ...] [LIMIT n] [OFFSET n]. "x" is an
 * identifier. Errors: GLV_E_SQL_PARSE.
 */
glv_status select_parse_query(arena *a, str text, select_statement *ret, glv_error *err);

/** Render a select-shaped definition as canonical query text (materialized-views 2.3). */
glv_status select_print_view(arena *a, const select_statement *s, buf *out, glv_error *err);

/* Dotted names such as ops."a.b".t are read and written by base/name.h. */

#endif
