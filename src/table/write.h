/**
 * @file write.h
 * Writing rows: data files that no version refers to yet (staging), and the plain operations on
 * top: create, append, overwrite.
 */
#ifndef GLAIVE_TABLE_WRITE_H
#define GLAIVE_TABLE_WRITE_H

#include "format/file_writer.h"
#include "table/table.h"

/** Rows of one data file, as Lance writes them. */
#define TABLE_FILE_ROWS 1048576

/** Written, synced data files that no manifest refers to yet. */
typedef struct staged staged;

typedef struct stage_options {
  uint64_t file_rows;  /* most rows of one file; 0 = TABLE_FILE_ROWS */
  uint64_t page_bytes; /* see file_writer_options */
  /** Column whose per-chunk summary is handed to globals: its name, or NULL. uint64. */
  const char *summary_column;
  /** See file_writer_options; called once per file, one file at a time. */
  glv_status (*globals)(void *context, file_writer *w, glv_error *err);
  void *globals_context;
  /** Rows of the reader before which a new file begins in any case, ascending; none = NULL. */
  const uint64_t *cuts;
  size_t cut_count;
  cancel_token *cancel; /* polled between batches; may be NULL */
} stage_options;

/**
 * Write the rows of a reader as new data files for t, by its schema. Columns are matched by name;
 * nullable columns that the reader lacks become null.
 *
 * @param in       taken over in every case.
 * @param options  NULL = defaults.
 * @param ret      may hold no file at all when there were no rows; staged_discard or staged_free.
 * Errors: GLV_E_SCHEMA naming the column (missing and not nullable, unknown, other type, nulls in a
 * column that is not nullable); GLV_E_UNSUPPORTED; GLV_E_IO; GLV_E_CANCELLED; those of the reader.
 * After a failure every file has been removed. Thread class: T.
 */
glv_status table_stage(const table_snapshot *t, batch_reader *in, const stage_options *options,
                       staged **ret, glv_error *err);
/** As table_stage, by the schema that an overwrite is going to commit. s: borrowed for the call. */
glv_status table_stage_as(const table_snapshot *t, const lance_schema *s, batch_reader *in,
                          const stage_options *options, staged **ret, glv_error *err);
uint64_t staged_rows(const staged *s);
size_t staged_file_count(const staged *s);
uint64_t staged_bytes(const staged *s);
/** Forget about the files without touching them: after a commit, or when its outcome is unknown.
 * NULL is fine. */
void staged_free(staged *s);
/** Remove the files: after a commit that certainly failed. NULL is fine. */
void staged_discard(staged *s);
void staged_cleanup(staged **s); /* staged_discard */

typedef struct write_result {
  uint64_t rows;
  uint32_t attempts; /* commits tried; 1 = nobody interfered */
} write_result;

typedef struct create_options {
  bool no_stable_row_ids; /* views and their sources need stable row ids */
  const char *version;    /* of data files: "2.0", "2.1" or "2.2"; NULL = "2.2" */
  stage_options stage;
} create_options;

/**
 * Create a table at path: version 1.
 *
 * @param name   for messages; NULL = path.
 * @param s      columns and schema metadata (borrowed).
 * @param in     rows, taken over in every case; NULL = none. Its columns are matched by name.
 * @param ret    the new table; may be NULL.
 * Errors: GLV_E_TABLE_EXISTS; those of table_stage and lance_schema_from_arrow; GLV_E_IO;
 * GLV_E_UNKNOWN_OUTCOME. After a failure that is certain nothing is left. Thread class: T.
 */
glv_status table_create(glv_env *env, const char *path, const char *name, const schema *s,
                        batch_reader *in, const create_options *options, table_snapshot **ret,
                        glv_error *err);

/**
 * Append rows; repeated on top of other writers' commits. A reader without rows commits nothing:
 * *ret is then a further reference to t.
 *
 * @param in          taken over in every case.
 * @param options     NULL = defaults.
 * @param ret         the new version; may be NULL.
 * @param ret_result  may be NULL.
 * Errors: those of table_stage and table_commit. Thread class: T.
 */
glv_status table_append(const table_snapshot *t, batch_reader *in, const stage_options *options,
                        table_snapshot **ret, write_result *ret_result, glv_error *err);

/** Replace schema and rows by those of the reader. As table_append, but commits also without rows.
 */
glv_status table_overwrite(const table_snapshot *t, batch_reader *in, const stage_options *options,
                           table_snapshot **ret, write_result *ret_result, glv_error *err);

#endif
