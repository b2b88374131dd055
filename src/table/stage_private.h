/**
 * @file stage_private.h
 * Staged data files as the commit sees them.
 */
#ifndef GLAIVE_TABLE_STAGE_PRIVATE_H
#define GLAIVE_TABLE_STAGE_PRIVATE_H

#include "base/arena.h"
#include "table/sync_private.h"
#include "table/table_private.h"
#include "table/write.h"

/** One finished data file; it becomes one fragment. */
typedef struct staged_file {
  char *name;
  int32_t *fields;
  int32_t *columns;
  size_t count;
  uint64_t rows;
  uint64_t size_bytes;
  uint32_t major;
  uint32_t minor;
} staged_file;

struct staged {
  glv_env *env;     /* a reference */
  table_home *home; /* a reference */
  arena memory;
  void *dir; /* handle of `data` */
  bool made_dir;
  sync_group syncs; /* of the files and their directory; the commit waits for them */
  staged_file *files;
  size_t file_count;
  size_t file_capacity;
  uint64_t rows;
  uint64_t bytes;
};

/** table_stage for a table that need not have a version yet. in is taken over. */
glv_status stage_rows(table_home *h, const lance_schema *s, format_version version,
                      batch_reader *in, const stage_options *options, staged **ret, glv_error *err);

#endif
