/**
 * @file index_list.h
 * The indexes that other engines built on a table, as its manifest tells of them.
 */
#ifndef GLAIVE_TABLE_INDEX_LIST_H
#define GLAIVE_TABLE_INDEX_LIST_H

#include "base/arena.h"
#include "table/table.h"

/** One index, of one or more segments. Lives in the arena it was read into. */
typedef struct table_index {
  const char *name;
  const char *const *columns; /* paths: "a.b" */
  size_t column_count;
  const char *uuid;      /* of the first segment */
  const char *type_url;  /* of its details: "/lance.table.BTreeIndexDetails"; "" = not told */
  uint64_t rows_indexed; /* live rows of the fragments that it covers */
  uint64_t rows_unindexed;
  size_t segments;
  int64_t version;
  int64_t created_ms; /* since the epoch; 0 = not told */
} table_index;

/** All indexes but those of the format itself, by name. Errors: GLV_E_CORRUPT naming the index;
 * GLV_E_NOMEM. Thread class: T. */
glv_status table_indexes(const table_snapshot *t, arena *a, table_index **ret, size_t *ret_count,
                         glv_error *err);

#endif
