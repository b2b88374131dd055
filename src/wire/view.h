/**
 * @file view.h
 * Materialized views in bodies (rest-protocol.md 9): creation, definition, refresh and its result.
 * Texts and arrays are borrowed from the tree or the memory they were read into.
 */
#ifndef GLAIVE_WIRE_VIEW_H
#define GLAIVE_WIRE_VIEW_H

#include "base/arena.h"
#include "base/json.h"

/** In lists of our own servers, beside the names: an array of texts, "" = none, one for each name.
 */
#define WIRE_LIST_FORMS "forms"
#define WIRE_LIST_STATES "states"

typedef struct wire_projection {
  const char *output;
  const char *expression;
} wire_projection;

/** A definition: what describe answers. */
typedef struct wire_view {
  const char *source_table;
  const char *const *source_namespace;
  size_t namespace_count;
  const wire_projection *projections;
  size_t projection_count;
  const char *filter; /* NULL = none */
  bool has_limit;
  uint64_t limit;
  const char *query;       /* the canonical SQL; NULL = not told */
  const char *incarnation; /* NULL = not told */
  const char *form;        /* as glv_list_form; NULL = not told */
} wire_view;

glv_status wire_view_write(const wire_view *v, json **ret, glv_error *err);
/** Errors: GLV_E_INVALID_INPUT, also without source_table. */
glv_status wire_view_read(arena *memory, const json *body, wire_view *ret, glv_error *err);

/** The body of a creation: a query, as LanceDB 0.40 and the older namespace specification (in
 * `source_query`) send it, or a definition in parts, for our servers. */
typedef struct wire_view_create {
  const char *query; /* NULL = in parts */
  wire_view parts;   /* of these only what a definition has, as describe tells it */
  bool with_no_data;
  const char *stored_form;   /* NULL = the default; "select", "query": for our servers */
  const char *output_schema; /* base64 of an Arrow schema that must be the result; NULL = any */
  bool is_older;             /* came as `source_query` */
} wire_view_create;

/** Writes query, with_no_data and stored_form. */
glv_status wire_view_create_write(const wire_view_create *v, json **ret, glv_error *err);
/**
 * @param memory what the parts live in.
 * Errors: GLV_E_INVALID_INPUT, also for a body that is of none of the kinds or of two;
 * GLV_E_UNSUPPORTED for kinds of views that are not queries, and for automatic refreshes.
 */
glv_status wire_view_create_read(arena *memory, const json *body, wire_view_create *ret,
                                 glv_error *err);

/** The body of a refresh, and of an explanation of one. */
typedef struct wire_refresh {
  bool full;
  bool has_source_version;
  uint64_t source_version;
  const char *expected_incarnation; /* NULL = any */
  bool require_incremental; /* refuse a rebuild; for our servers, others do not look at it */
} wire_refresh;

glv_status wire_refresh_write(const wire_refresh *r, json **ret, glv_error *err);
/** `src_version` counts as source_version. Errors: GLV_E_INVALID_INPUT, also for two that differ.
 */
glv_status wire_refresh_read(const json *body, wire_refresh *ret, glv_error *err);

/** The result of a refresh job. Modes are those of glv_refresh_result, by number. */
typedef struct wire_refresh_result {
  int mode; /* 1 rebuild, 2 incremental, 3 no_op */
  int64_t rows_written;
  int64_t source_version;
  uint64_t version;
  int64_t rows_removed; /* -1 = not told, as the following */
  int64_t duration_ms;
  int64_t source_rows_scanned;
  const char *reason; /* "" = none */
} wire_refresh_result;

glv_status wire_refresh_result_write(const wire_refresh_result *r, json **ret, glv_error *err);
/** node may be NULL (a result of null). The first four members are required. Errors:
 * GLV_E_INVALID_INPUT. */
glv_status wire_refresh_result_read(const json *node, wire_refresh_result *ret, glv_error *err);

#endif
