/**
 * @file verify.h
 * Does a view hold what its definition says (materialized-views 7.13)?
 */
#ifndef GLAIVE_VIEW_VERIFY_H
#define GLAIVE_VIEW_VERIFY_H

#include "view/refresh.h"

/** Where a row that makes a difference was found. */
typedef enum verify_side {
  VERIFY_WANTED, /* the definition gives it, the view does not hold it */
  VERIFY_FOUND,  /* the other way round */
} verify_side;

typedef struct verify_options {
  size_t most_shown;    /* rows shown from each side; 0 = none */
  cancel_token *cancel; /* may be NULL */
  /** Called for the first rows that differ; `rows` has the declared columns of the view and, unless
   * it has none, its provenance column. */
  glv_status (*show)(void *context, verify_side side, const batch *rows, size_t row,
                     glv_error *err);
  void *context;
} verify_options;

typedef struct verify_result {
  bool is_equal;
  uint64_t source_version; /* that the view claims to reflect */
  uint64_t version;        /* of the view */
  uint64_t rows_wanted;    /* that the definition gives there; of a limit view: as many as it may
                              hold */
  uint64_t rows_found;
  uint64_t missing;   /* only the definition has them */
  uint64_t extra;     /* only the view has them */
  uint64_t different; /* rows of the same source row with other values */
} verify_result;

/**
 * Evaluate the definition over the source at the watermark and compare the rows with those of the
 * view, by provenance and values. Values are equal as in GROUP BY (expr/row_set.h). A view with a
 * limit may hold any of the rows, as many as the limit allows. Reads everything; holds 16 bytes for
 * each row of both sides.
 *
 * Errors: GLV_E_BAD_STATE when the view was never filled, or was filled from a source that has been
 * dropped and made again; GLV_E_VERSION_NOT_FOUND when the source version is gone; those of
 * view_refresh. Rows that differ are no error here. Thread class: T.
 */
glv_status view_verify(glv_env *env, const view_database *db, const char *path, const char *name,
                       const verify_options *options, verify_result *ret, glv_error *err);

#endif
