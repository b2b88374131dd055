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

/** Pass on the status of a commit: forgets the files (*s becomes NULL) unless it certainly failed.
 */
glv_status staged_settle(staged **s, glv_status status);

/** table_stage for a table that need not have a version yet. in is taken over. */
glv_status stage_rows(table_home *h, const lance_schema *s, format_version version,
                      batch_reader *in, const stage_options *options, staged **ret, glv_error *err);

/** GLV_E_SCHEMA when the data has a column that the table has not. table: its name. */
glv_status stage_check_names(const char *table, const lance_schema *s, const schema *in,
                             glv_error *err);
/** Where the data has the values of a column: *ret, or SIZE_MAX. Errors: GLV_E_SCHEMA for another
 * type; GLV_E_UNSUPPORTED for a type that is not written. */
glv_status stage_match(const char *table, const lance_field *f, const schema *in, size_t *ret,
                       glv_error *err);

#endif
