/**
 * @file rows_private.h
 * What delete, update and merge share: sets of rows by fragment, rows that move, the commit.
 */
#ifndef GLAIVE_TABLE_ROWS_PRIVATE_H
#define GLAIVE_TABLE_ROWS_PRIVATE_H

#include "base/arena.h"
#include "table/commit.h"
#include "table/retry.h"
#include "table/rows.h"
#include "table/scan.h"

/** Rows of a snapshot, by fragment. */
typedef struct row_marks {
  const table_snapshot *table; /* borrowed */
  bitmap **offsets;            /* per fragment of the table; NULL = none of it */
  uint64_t rows;
} row_marks;

/** No rows. The arrays live in the arena. Errors: GLV_E_NOMEM. */
glv_status row_marks_init(row_marks *m, arena *a, const table_snapshot *t, glv_error *err);
void row_marks_dispose(row_marks *m); /* usable with CLEANUP */
/** Add rows by address: ascending within a fragment, none of them twice. */
glv_status row_marks_add(row_marks *m, const uint64_t *addresses, size_t count, glv_error *err);
/** Add the rows of a scan; o: without columns, completed here. */
glv_status row_marks_scan(row_marks *m, scan_options *o, glv_error *err);
/** Add the rows of another set, which has none of these. */
glv_status row_marks_join(row_marks *m, const row_marks *other, glv_error *err);
/** The rows as a selection for a scan. The array lives in the arena, the sets in m. */
glv_status row_marks_fragments(const row_marks *m, arena *a, const scan_fragment **ret,
                               size_t *ret_count, glv_error *err);
/** Let op delete the rows: fragments of which no other row is alive go whole. */
glv_status row_marks_delete(const row_marks *m, arena *a, operation *op, glv_error *err);

/** Tell op the ids, children included, of the top-level columns that are set: those marked in
 * is_set, NULL = all. */
glv_status row_fields_set(const table_snapshot *t, arena *a, const bool *is_set, operation *op,
                          glv_error *err);

/** The identity of rows that move to new fragments, in their order. */
typedef struct row_moves {
  glv_env *env;   /* borrowed */
  bool is_stable; /* the table has stable row ids: the rest is filled */
  uint64_t *ids;
  size_t id_count;
  size_t id_capacity;
  version_run *created;
  size_t created_count;
  size_t created_capacity;
} row_moves;

void row_moves_init(row_moves *m, const table_snapshot *t);
void row_moves_dispose(row_moves *m); /* usable with CLEANUP */
/** Ask for the columns that row_moves_add reads; none without stable row ids. */
void row_moves_ask(const row_moves *m, scan_options *o);
/** Note rows by their columns of such a scan. Only with stable row ids. */
glv_status row_moves_add(row_moves *m, const array *ids, const array *created, glv_error *err);
/** Who the rows are; *ret is borrowed by op. Without stable row ids op has no origin. */
void row_moves_origin(const row_moves *m, row_origin *ret, operation *op);

/**
 * Commit an operation of an attempt.
 *
 * @param s  staged rows, or NULL; forgotten unless they are to be removed.
 * Other parameters and errors: as table_commit.
 */
glv_status row_commit(const table_snapshot *t, operation *op, struct staged **s,
                      cancel_token *cancel, table_snapshot **ret, uint32_t *ret_attempts,
                      glv_error *err);

/** The end of a change: the counts of its last attempt, the commits of all of them. */
void row_done(const row_result *last, uint32_t attempts, row_result *ret);

#endif
