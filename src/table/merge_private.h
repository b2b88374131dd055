/**
 * @file merge_private.h
 * The parts of a merge: the buffered source with its keys, the matches found in the target, the
 * condition of updates, the rows to write.
 */
#ifndef GLAIVE_TABLE_MERGE_PRIVATE_H
#define GLAIVE_TABLE_MERGE_PRIVATE_H

#include "expr/expr.h"
#include "expr/row_set.h"
#include "table/bloom.h"
#include "table/rows_private.h"

#define NO_ROW UINT32_MAX

/** The rows of the source, held for all attempts, and an index of their keys. */
typedef struct merge_source {
  glv_env *env; /* borrowed */
  schema *schema;
  batch *batches;
  size_t count;
  size_t capacity;
  uint32_t *starts; /* number of the first row of each batch; behind them the number of rows */
  size_t start_capacity;
  size_t rows;
  bool has_keys;   /* what follows is filled */
  row_set keys;    /* keys without nulls */
  uint32_t *first; /* per key: a row that has it */
  uint32_t *next;  /* per row: another row of the same key, or NO_ROW */
} merge_source;

/** Take in all rows. The reader is left at its end. Errors: those of the reader; GLV_E_LIMIT for
 * 2^32 - 1 rows and more; GLV_E_NOMEM; GLV_E_CANCELLED. */
glv_status merge_source_read(merge_source *s, batch_reader *in, cancel_token *cancel,
                             glv_error *err);
void merge_source_dispose(merge_source *s); /* usable with CLEANUP */
/** Index the rows by columns of the source. Once. */
glv_status merge_source_index(merge_source *s, const size_t *columns, size_t count, glv_error *err);
/** Values of rows in any order: *ret[i] of column columns[i]. Nothing of it is left after a
 * failure. */
glv_status merge_source_take(const merge_source *s, const size_t *columns, size_t count,
                             const uint32_t *rows, size_t row_count, array *ret, glv_error *err);
/** The batch that holds a row; *ret_row = its place there. */
const batch *merge_source_batch(const merge_source *s, uint32_t row, size_t *ret_row);

/** What one attempt found. */
typedef struct merge_matches {
  glv_env *env;        /* borrowed */
  uint64_t *addresses; /* of target rows to update, in the order of the table */
  uint32_t *rows;      /* of the source, one for each */
  size_t count;
  size_t address_capacity;
  size_t row_capacity;
  uint8_t *is_matched; /* bit per row of the source: some target row has its key */
  row_marks matched;   /* the rows at addresses, each once */
  row_marks unmatched; /* target rows that no source row matches */
} merge_matches;

/** A merge whose names were resolved against one version. */
typedef struct merge_plan {
  const table_snapshot *table;
  const merge_source *source;
  const merge_options *options;
  arena *memory;
  size_t *key_columns; /* of the source */
  int32_t *key_fields; /* their ids */
  scan_column *keys;   /* in the target */
  size_t key_count;
  bool is_primary;   /* the keys are the primary key of the table */
  size_t *positions; /* per column of the table: that of the source, or SIZE_MAX */
  size_t missing;    /* columns that the source lacks */
} merge_plan;

/** Resolve the key columns of p: table, source, options and memory are set. Errors:
 * GLV_E_COLUMN_NOT_FOUND; GLV_E_INVALID_INPUT when there are none. */
glv_status merge_choose_keys(merge_plan *p, glv_error *err);
/** Record the keys of the inserted rows. */
glv_status merge_filter(const merge_plan *p, const merge_matches *m, bloom *into, glv_error *err);

/** Find matches by a scan of the target's keys. Errors: those of table_scan; GLV_E_INVALID_INPUT
 * for a target row that several source rows would update. */
glv_status merge_match(const merge_plan *p, merge_matches *m, glv_error *err);
void merge_matches_dispose(merge_matches *m); /* usable with CLEANUP */
/** The report of such a row. */
glv_status merge_fail_ambiguous(const merge_plan *p, uint32_t row, glv_error *err);
/** Keep the matches for which the condition of updates is true. */
glv_status merge_where(const merge_plan *p, merge_matches *m, glv_error *err);

/** The rows to write: those that replace matched ones, in the order of the table, then the
 * inserted ones, in the order of the source. moves is filled on the way. */
glv_status merge_rows(const merge_plan *p, const merge_matches *m, row_moves *moves,
                      batch_reader *ret, glv_error *err);

static inline bool merge_is_inserted(const merge_matches *m, size_t row) {
  return !bit_get(m->is_matched, row);
}

#endif
