/**
 * @file row_ids.h
 * Stable row ids and row versions of a fragment: one value per physical row, stored as segments.
 */
#ifndef GLAIVE_TABLE_ROW_IDS_H
#define GLAIVE_TABLE_ROW_IDS_H

#include "base/arena.h"
#include "base/buf.h"
#include "table/table.h"

/** A decoded sequence. Immutable; lives in the arena it was decoded into and borrows its bytes. */
typedef struct row_id_sequence row_id_sequence;

/**
 * Decode a RowIdSequence.
 *
 * @param bytes  borrowed as long as the sequence is used.
 * @param what   names it in reports.
 * Errors: GLV_E_CORRUPT (unsorted where order is promised, wrong bitmap length, padding bits set,
 * values past their range); GLV_E_NOMEM. Thread class: T.
 */
glv_status row_ids_decode(arena *a, str bytes, const char *what, row_id_sequence **ret,
                          glv_error *err);
uint64_t row_ids_count(const row_id_sequence *s);
/** Ids of the rows [first, first + count), which must exist. Thread class: T. */
void row_ids_read(const row_id_sequence *s, uint64_t first, size_t count, uint64_t *ret);
/** How many rows from `row` (which must exist) on have ids that ascend by one, at least 1; *ret_id
 * is the first of them. Neighbouring runs may continue each other. */
uint64_t row_ids_run(const row_id_sequence *s, uint64_t row, uint64_t *ret_id);
/** Smallest and largest id, in no more time than the number of segments and list entries; false
 * when the sequence is empty. */
bool row_ids_bounds(const row_id_sequence *s, uint64_t *ret_min, uint64_t *ret_max);

/**
 * Where ids stand in a sequence.
 *
 * @param ids   ascending, without repetitions.
 * @param rows  count places: the first row that has the id, or UINT64_MAX. Thread class: T.
 */
void row_ids_locate(const row_id_sequence *s, const uint64_t *ids, size_t count, uint64_t *rows);

/** Append the serialized sequence of the ids in that order to out. */
glv_status row_ids_encode(const uint64_t *ids, size_t count, buf *out, glv_error *err);
/** Append that of the ids first .. first + count - 1. */
glv_status row_ids_encode_range(uint64_t first, uint64_t count, buf *out, glv_error *err);

/** One run of rows with the same version. */
typedef struct version_run {
  uint64_t rows;
  uint64_t version;
} version_run;

typedef struct row_versions {
  const version_run *runs;
  size_t run_count;
  uint64_t rows; /* sum of the runs */
} row_versions;

/** Decode a RowVersionSequence. Errors: GLV_E_CORRUPT; GLV_E_NOMEM. */
glv_status row_versions_decode(arena *a, str bytes, const char *what, row_versions *ret,
                               glv_error *err);
/** Versions of the rows [first, first + count), which must exist. */
void row_versions_read(const row_versions *v, uint64_t first, size_t count, uint64_t *ret);
/** Append the serialized sequence to out. */
glv_status row_versions_encode(const version_run *runs, size_t count, buf *out, glv_error *err);

/**
 * The sequences of a fragment. Without stable row ids the ids are the row addresses; a missing
 * version sequence reads as version 1 for every row.
 * Errors: GLV_E_CORRUPT, also when a sequence does not have physical_rows values; GLV_E_NOMEM.
 */
glv_status fragment_row_ids(const table_snapshot *t, const fragment *f, arena *a,
                            row_id_sequence **ret, glv_error *err);
glv_status fragment_created_at(const table_snapshot *t, const fragment *f, arena *a,
                               row_versions *ret, glv_error *err);
glv_status fragment_last_updated_at(const table_snapshot *t, const fragment *f, arena *a,
                                    row_versions *ret, glv_error *err);

#endif
