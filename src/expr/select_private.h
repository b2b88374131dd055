/**
 * @file select_private.h
 * What the parsers of view definitions and of ad-hoc queries share.
 */
#ifndef GLAIVE_EXPR_SELECT_PRIVATE_H
#define GLAIVE_EXPR_SELECT_PRIVATE_H

#include "expr/parser_private.h"
#include "expr/select.h"

/** One item of a SELECT list. */
typedef struct select_part {
  const ast *expression; /* NULL: `*` */
  bool has_alias;
  ast_name alias;
} select_part;

/** name { "." name } of a table, each part as written. */
glv_status select_table(parser *p, const ast_name **ret, uint32_t *ret_count, glv_error *err);
/** `*` or expression [[AS] name]. `t.*` is refused. */
glv_status select_part_parse(parser *p, select_part *ret, glv_error *err);
/** Decoded parts of a table's name into a statement. */
glv_status select_set_table(parser *p, const ast_name *names, uint32_t count, select_statement *ret,
                            glv_error *err);
/** Skip a comma or CROSS JOIN, and LATERAL, which stand before a second item of FROM; whether one
 * follows. */
bool select_at_lateral(parser *p);
/** [AS] name, which must be there: `missing` says so. */
glv_status select_alias(parser *p, const char *missing, ast_name *ret, glv_error *err);
/** UNNEST(column) AS alias into a statement, standing at UNNEST; its names as written. */
glv_status select_unnest(parser *p, const ast **ret_column, ast_name *ret_alias,
                         select_statement *ret, glv_error *err);
/** Items of a statement from its parsed parts; an item without a name must be a path. */
glv_status select_set_item(parser *p, const select_part *part, select_item *ret, glv_error *err);
/**
 * GROUP BY expr, ..., if it stands here. Everything but a plain list is refused with that phrase.
 */
glv_status select_group_by(parser *p, const char *refusal, node_list *ret, glv_error *err);
/** The texts of the keys into a statement. */
glv_status select_set_groups(parser *p, const node_list *groups, select_statement *ret,
                             glv_error *err);
/** The current token is a word that begins or joins a clause, so that it cannot be a name. */
bool select_at_clause(const parser *p);
/** The canonical text of an item: bare when it is a path that ends in its output. */
glv_status select_print_item(const ast *expression, str output, buf *out, glv_error *err);

#endif
