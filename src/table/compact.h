/**
 * @file compact.h
 * Compaction: small fragments become large ones and deleted rows leave the files
 * (lance-table-format 18). Rows keep their stable ids and versions; indexes stay right.
 */
#ifndef GLAIVE_TABLE_COMPACT_H
#define GLAIVE_TABLE_COMPACT_H

#include "table/write.h"

/** Zero means the default everywhere. */
typedef struct compact_options {
  /** Fragments with fewer physical rows are joined with their neighbours. New files have that many
   * rows at least, where there are enough, and less than twice as many. 0 = TABLE_FILE_ROWS. */
  uint64_t target_rows;
  /** A fragment of which a larger part is deleted is rewritten by itself. 0 = 0.1. */
  double deletion_threshold;
  /** How new files are written; file_rows and cuts are set here. */
  stage_options stage;
} compact_options;

typedef struct compact_result {
  uint64_t fragments_removed;
  uint64_t fragments_added;
  uint64_t files_removed; /* data files that the removed fragments had */
  uint64_t files_added;
  uint64_t rows;  /* copied */
  uint64_t bytes; /* of the new files */
  uint32_t attempts;
} compact_result;

/**
 * Compact t, and again what is left to do on the latest version when somebody else changed the same
 * fragments meanwhile.
 *
 * Very large tables take several commits. Each one is a reservation of fragment ids and a rewrite.
 * Fragments are never joined across a difference in what indexes cover. Nothing to do = no commit.
 *
 * @param ret  the new version, or a further reference to t; may be NULL.
 * Errors: GLV_E_UNSUPPORTED naming a blob column, a type that is not written, or an index of
 * another engine that forbids it; those of table_scan, table_stage and table_retry. Thread class:
 * T.
 */
glv_status table_compact(const table_snapshot *t, const compact_options *options,
                         table_snapshot **ret, compact_result *ret_result, glv_error *err);

#endif
