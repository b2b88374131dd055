/**
 * @file definition.h
 * The stored definition of a view: reading in two strengths, writing byte for byte as LanceDB does,
 * and the ways between SQL text and structured fields (materialized-views sections 1, 2 and 8.3).
 */
#ifndef GLAIVE_VIEW_DEFINITION_H
#define GLAIVE_VIEW_DEFINITION_H

#include "base/arena.h"
#include "base/buf.h"

/** Keys of a view's schema metadata. */
#define VIEW_KEY_DEFINITION "mv.definition"
#define VIEW_KEY_INCARNATION "mv.incarnation"
#define VIEW_KEY_SOURCE_VERSION "mv.source_version"
#define VIEW_KEY_SOURCE_TIMESTAMP "mv.source_version_ts"
#define VIEW_KEY_VIEW_VERSION "mv.view_version"
#define VIEW_KEY_REFRESHED_AT "mv.refreshed_at_ms"
#define VIEW_KEY_STAGING "mv.staging"
/** The provenance column: stable row id of the source row, always last. */
#define VIEW_SOURCE_ROW_ID "__source_row_id"
/** Prefix of internal input columns. */
#define VIEW_INPUT_PREFIX "__input_"

/** How a definition is stored. Values and names equal those of glv_view_def.form and glv_list_form.
 */
typedef enum definition_form {
  DEFINITION_ANY = 0,    /* asks for S1 or S2 where they can hold the definition, else Q */
  DEFINITION_SELECT = 1, /* S1 */
  DEFINITION_NAMESPACED_SELECT = 2, /* S2 */
  DEFINITION_QUERY = 3,             /* Q1, Q2 */
} definition_form;
const char *definition_form_name(definition_form form);

typedef struct view_projection {
  const char *output;
  const char *expression;
} view_projection;

/** A definition; everything lives in the arena it was made in. */
typedef struct view_definition {
  definition_form form;
  uint64_t format; /* of the query form: 1 or 2; else 0 */
  const char *source_table;
  const char *const *source_namespace;
  size_t namespace_count;
  const view_projection *projections; /* empty for S1 with [] and with a function in FROM */
  size_t projection_count;
  bool star;          /* input and query form: SELECT *, or no projections given: all columns */
  const char *filter; /* NULL = none */
  bool has_limit;
  uint64_t limit;
  const char *const *inputs; /* as stored; not trusted */
  size_t input_count;
  const char *query; /* query form: the stored text; select forms: the canonical text, NULL without
                        projections */
  /* Query form only: */
  const char *unnest_column; /* FROM t, UNNEST(column) AS alias; NULL = none */
  const char *unnest_alias;
  const char *const *groups; /* GROUP BY; the expressions as written */
  size_t group_count;
  const char *function; /* FROM t, function(...) AS alias; NULL = none */
} view_definition;

/** What reading found. */
typedef enum definition_state {
  DEFINITION_OK,
  DEFINITION_NEWER,      /* an unknown kind or format: `tag` names it, e.g. "kind 'join'", "5" */
  DEFINITION_UNREADABLE, /* `text` tells why */
} definition_state;

typedef struct definition_read {
  definition_state state;
  view_definition definition; /* DEFINITION_OK */
  const char *tag;            /* DEFINITION_NEWER */
  const char *text;           /* DEFINITION_UNREADABLE, e.g. "missing kind tag and format tag" */
} definition_read;

/**
 * The reading procedure of section 2.4 on the value of mv.definition, without turning its outcomes
 * into errors (for lists).
 *
 * @param parse_only  an absent `projections` reads as empty.
 * Errors: GLV_E_NOMEM only.
 */
glv_status definition_examine(arena *a, str json, bool parse_only, definition_read *ret,
                              glv_error *err);

/**
 * The same with errors: GLV_E_CORRUPT "unreadable materialized view definition: ...",
 * GLV_E_UNSUPPORTED "materialized view 'V' is stored in format F, which this version of glaive
 * cannot refresh".
 */
glv_status definition_parse(arena *a, str json, const char *view_name, bool parse_only,
                            view_definition *ret, glv_error *err);

/** Append the stored JSON text of a definition: S1, S2 or Q1/Q2 by its form. Errors:
 * GLV_E_INVALID_INPUT (not UTF-8). */
glv_status definition_write(const view_definition *d, buf *out, glv_error *err);

/** Whether S1 or S2 can hold the definition: a query over one table, row by row. */
bool definition_is_select(const view_definition *d);

/**
 * A definition from one SQL text, cut into the parts that S1/S2 store (2.7 rules 4 and 5) or kept
 * as query (form DEFINITION_QUERY in `form`: the canonical text). `form` DEFINITION_SELECT means S1
 * or S2 by the namespace. star is set for `SELECT *`; the planner expands it. Errors:
 * GLV_E_SQL_PARSE; GLV_E_UNSUPPORTED for UNNEST and GROUP BY in the select form.
 */
glv_status definition_from_sql(arena *a, str text, definition_form form, view_definition *ret,
                               glv_error *err);

/**
 * The stored spelling of one expression that a caller gave: "x" re-quoted to `x`, wrapped in
 * coalesce(..., NULL) when Lance's outer planner would refuse it (2.7 rule 4). Errors:
 * GLV_E_SQL_PARSE.
 */
glv_status definition_store_expression(arena *a, str text, const char **ret, glv_error *err);
/** A bare column name as stored expression: in backticks, ` doubled. NULL = no memory. */
const char *definition_quote_column(arena *a, str name);

/** Set d->query of a select-form definition to its canonical text (needs projections). Errors:
 * GLV_E_SQL_PARSE. */
glv_status definition_make_query(arena *a, view_definition *d, glv_error *err);

#endif
