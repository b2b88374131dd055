/* What a commit of somebody else means for ours: the rows of the matrix of lance-table-format 13.1
 * for the operations that this release commits on top of others. Updates are always strict here:
 * any commit that came first makes them start again.
 *
 * Cells: '.' compatible, 'R' retryable, 'X' incompatible, a digit = a condition of that section
 * (a = 10, b = 11, g = 16, h = 17).
 */
#include "table/commit_private.h"

/* Columns App Del Upd Rew Mrg Prj Ovw Idx Cfg DRp Ovl Rsv Rst Cln Bas Mem Unk. */
static const char append_row[] = "....11X.....X..XX";
static const char overwrite_row[] = "......R........XX";
static const char config_row[] = "....a.g.h...g...X";

static size_t column_of(enum operation_kind kind) {
  switch (kind) {
  case OPERATION_APPEND:
    return 0;
  case OPERATION_DELETE:
    return 1;
  case OPERATION_UPDATE:
    return 2;
  case OPERATION_REWRITE:
    return 3;
  case OPERATION_MERGE:
    return 4;
  case OPERATION_PROJECT:
    return 5;
  case OPERATION_OVERWRITE:
    return 6;
  case OPERATION_CREATE_INDEX:
    return 7;
  case OPERATION_UPDATE_CONFIG:
    return 8;
  case OPERATION_DATA_REPLACEMENT:
    return 9;
  case OPERATION_DATA_OVERLAY:
    return 10;
  case OPERATION_RESERVE_FRAGMENTS:
    return 11;
  case OPERATION_RESTORE:
    return 12;
  case OPERATION_CLONE:
    return 13;
  case OPERATION_UPDATE_BASES:
    return 14;
  case OPERATION_UPDATE_MEM_WAL_STATE:
    return 15;
  case OPERATION_UNKNOWN:
    break;
  }
  return 16;
}

static const char *row_of(enum operation_kind kind) {
  return kind == OPERATION_APPEND      ? append_row
         : kind == OPERATION_OVERWRITE ? overwrite_row
                                       : config_row;
}

enum verdict conflict_check(const operation *ours, const transaction *theirs) {
  const bool changes_schema_metadata = ours->change_count > 0;
  switch (row_of(ours->kind)[column_of(theirs->kind)]) {
  case '.':
    return VERDICT_COMPATIBLE;
  case 'R':
    return VERDICT_RETRY;
  case '1': /* a column may have become non-nullable */
    return theirs->preserves_nullability ? VERDICT_COMPATIBLE : VERDICT_RETRY;
  case 'a':
    return changes_schema_metadata ? VERDICT_RETRY : VERDICT_COMPATIBLE;
  case 'g':
    return changes_schema_metadata ? VERDICT_INCOMPATIBLE : VERDICT_COMPATIBLE;
  case 'h': /* ours changes nothing but schema metadata */
    return changes_schema_metadata && theirs->schema_metadata.is_present ? VERDICT_INCOMPATIBLE
                                                                         : VERDICT_COMPATIBLE;
  default:
    return VERDICT_INCOMPATIBLE;
  }
}
