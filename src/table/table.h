/**
 * @file table.h
 * Opening a table: immutable snapshots of one version, found through one directory handle.
 *
 * A table_snapshot is a decoded manifest. It is counted, never changes, and keeps open the handle
 * of the `_versions` directory it was read through; later versions opened from it, and commits made
 * on it, go through the same handle, so that a table which was dropped and made again under the
 * same path is never mistaken for this one.
 */
#ifndef GLAIVE_TABLE_TABLE_H
#define GLAIVE_TABLE_TABLE_H

#include "arrow/array.h"
#include "base/cancel.h"
#include "format/file_reader.h"
#include "format/lance_schema.h"

typedef struct table_snapshot table_snapshot;

/** One file of a fragment. fields[i] is stored in column columns[i] of the file. */
typedef struct data_file {
  const char *path; /* relative to the data directory of its base */
  const int32_t *fields;
  const int32_t *columns;
  size_t count;
  format_version version; /* 0 = one that this release does not read */
  uint32_t major;         /* of the version, as stored */
  uint32_t minor;
  uint64_t size_bytes; /* 0 = unknown */
  bool has_base;
  uint32_t base_id;
} data_file;

enum deletion_form { DELETION_ARROW = 0, DELETION_BITMAP = 1 };

/** Names the deletion file of a fragment. */
typedef struct deletion_file {
  enum deletion_form form;
  uint64_t read_version;
  uint64_t id;
  uint64_t count; /* deleted rows; 0 = unknown */
  bool has_base;
  uint32_t base_id;
} deletion_file;

/** A horizontal slice of a table as its manifest describes it. */
typedef struct fragment {
  uint64_t id;
  uint64_t physical_rows; /* deleted rows included */
  const data_file *files;
  size_t file_count;
  bool has_deletions;
  deletion_file deletions;
  bool has_row_ids; /* serialized sequences; table/row_ids.h reads them */
  bool has_created_at;
  bool has_last_updated_at;
  str row_ids;
  str created_at;
  str last_updated_at;
  str raw; /* the whole message as it stands in the manifest */
} fragment;

/**
 * Open a table.
 *
 * @param path     its directory (`....lance`).
 * @param name     what messages call it, e.g. `ops.nyc.flights`; NULL = path.
 * @param version  0 = the latest.
 * @param ret      one reference; table_unref.
 * Errors: GLV_E_TABLE_NOT_FOUND (no manifest), GLV_E_VERSION_NOT_FOUND, GLV_E_UNSUPPORTED naming
 * the feature that this release does not read, GLV_E_CORRUPT, GLV_E_IO. Thread class: T.
 */
glv_status table_open(glv_env *env, const char *path, const char *name, uint64_t version,
                      table_snapshot **ret, glv_error *err);

/**
 * Open the latest version of a table of which a version was opened before. While `known` is of the
 * very directory that stands at path, the latest there, and its manifest the file that was read,
 * nothing is read but the names of the versions, and *ret is a further reference to it.
 *
 * @param known  any snapshot, or NULL.
 * Errors: as table_open. Thread class: T.
 */
glv_status table_open_again(glv_env *env, const char *path, const char *name,
                            const table_snapshot *known, table_snapshot **ret, glv_error *err);

/**
 * *ret = whether t is the latest version of the table that stands under its path. Costs two looks
 * at the file system, and a listing of the versions when they were changed lately or not listed for
 * a second. Errors: GLV_E_IO. Thread class: T.
 */
glv_status table_is_current(const table_snapshot *t, bool *ret, glv_error *err);

/**
 * Open another version of the same physical table, through the directory handle of t.
 *
 * @param version  0 = the latest; when that is the version of t, *ret is a further reference to t.
 * Errors: as table_open; GLV_E_TABLE_NOT_FOUND also when the table was dropped since, even when
 * another stands under its path now.
 */
glv_status table_open_version(const table_snapshot *t, uint64_t version, table_snapshot **ret,
                              glv_error *err);

/** *ret = whether a table (at least one manifest) stands under path. Errors: GLV_E_IO. */
glv_status table_exists(glv_env *env, const char *path, bool *ret, glv_error *err);

table_snapshot *table_ref(const table_snapshot *t); /* NULL gives NULL */
void table_unref(const table_snapshot *t);          /* NULL is fine; the last reference frees */
void table_cleanup(table_snapshot **t);

/* Getters. What they return is borrowed from the snapshot. Thread class: P. */
glv_env *table_env(const table_snapshot *t);
const char *table_path(const table_snapshot *t);
const char *table_name(const table_snapshot *t);
uint64_t table_version(const table_snapshot *t);
/** Time of the commit: seconds * 10^9 + nanos of the manifest. */
int64_t table_timestamp_ns(const table_snapshot *t);

/**
 * The top-level columns whose types this release reads, in order, with the schema metadata.
 * Columns of other types are left out; table_check_supported tells of them.
 */
const schema *table_schema(const table_snapshot *t);
/** GLV_E_UNSUPPORTED naming the first column whose type is not read, and its stored type. */
glv_status table_check_supported(const table_snapshot *t, glv_error *err);
/**
 * For the report of an expression that did not plan: GLV_E_UNSUPPORTED when the text names a column
 * whose type is not read, else GLV_OK.
 *
 * @param dquote_identifier  "x" names a column; else it is a text.
 */
glv_status table_check_names(const table_snapshot *t, str text, bool dquote_identifier,
                             glv_error *err);
/** The schema as stored: every column, ids, stored types. */
const lance_schema *table_lance_schema(const table_snapshot *t);
/** Schema metadata (`mv.*` and the like); table_metadata_get: absent gives {NULL, 0}. */
metadata table_metadata(const table_snapshot *t);
str table_metadata_get(const table_snapshot *t, str key, bool *ret_found);
metadata table_config(const table_snapshot *t);
/** What users keep with the table, apart from its schema. */
metadata table_own_metadata(const table_snapshot *t);
/** The version of new data files. 0 = one that this release does not write. */
format_version table_data_version(const table_snapshot *t);
const char *table_data_version_text(const table_snapshot *t);

const fragment *table_fragments(const table_snapshot *t, size_t *ret_count);
/** The fragment with that id, or NULL. */
const fragment *table_fragment(const table_snapshot *t, uint64_t id);
/** Highest fragment id that was ever used or reserved; 0 when there was none. */
uint64_t table_fragment_mark(const table_snapshot *t);
uint64_t table_physical_rows(const table_snapshot *t);
uint64_t table_live_rows(const table_snapshot *t);
/** Sum of the known sizes of the data files. */
uint64_t table_data_bytes(const table_snapshot *t);

bool table_has_stable_row_ids(const table_snapshot *t);
/** Next unused stable row id: every id in use is below. 0 without stable row ids. */
uint64_t table_next_row_id(const table_snapshot *t);
uint64_t table_reader_flags(const table_snapshot *t);
uint64_t table_writer_flags(const table_snapshot *t);
/** GLV_E_UNSUPPORTED naming the feature that keeps this release from writing to the table. */
glv_status table_check_writable(const table_snapshot *t, glv_error *err);
/** True iff an index of that name (for example `__lance_mem_wal`) is registered. */
bool table_has_index(const table_snapshot *t, const char *name);

/** Identity of the physical table at path: device and inode of its `_versions`, which is not
 * opened; name as for table_open. Errors: GLV_E_TABLE_NOT_FOUND, GLV_E_INVALID_INPUT, GLV_E_IO. */
glv_status table_identity(glv_env *env, const char *path, const char *name, uint64_t *ret_device,
                          uint64_t *ret_inode, glv_error *err);

/** One existing version. */
typedef struct version_entry {
  uint64_t version;
  int64_t timestamp_ns;
  uint64_t live_rows;
  const char *operation; /* name of the transaction's operation, e.g. "Append"; NULL = unknown */
} version_entry;

/** The versions that exist, ascending, in an array of arena. Errors: as table_open_version. */
glv_status table_versions(const table_snapshot *t, arena *a, version_entry **ret, size_t *ret_count,
                          glv_error *err);
/** Number of the latest version, seen through the handle of t; reads names only. Errors: as
 * table_open_version. */
glv_status table_latest_version(const table_snapshot *t, uint64_t *ret, glv_error *err);

/** Path of a data file, base paths resolved, in an arena. Errors: GLV_E_CORRUPT for an unknown base
 * or a path that leaves its directory; GLV_E_NOMEM. */
glv_status table_data_file_path(const table_snapshot *t, const data_file *f, arena *a, char **ret,
                                glv_error *err);
/** The file of fragment f that holds field `id`, and its column there; NULL = none does, the column
 * is null in this fragment. */
const data_file *fragment_find_field(const fragment *f, int32_t id, uint32_t *ret_column);

/** Bits of the flag words of manifests. */
enum table_flag {
  TABLE_FLAG_DELETIONS = 1,
  TABLE_FLAG_STABLE_ROW_IDS = 2,
  TABLE_FLAG_V2_FILES = 4,
  TABLE_FLAG_CONFIG = 8,
  TABLE_FLAG_BASE_PATHS = 16,
  TABLE_FLAG_NO_TRANSACTION_FILE = 32,
  TABLE_FLAG_OVERLAYS = 64,
  TABLE_FLAG_COVERING_INDEX = 128,
  TABLE_FLAG_MIXED_FILES = 256,
  TABLE_FLAG_REUSE_STABLE = 512,
  TABLE_FLAG_REUSE_HISTORY = 1024,
  TABLE_FLAG_SPILLED_LINEAGE = 2048,
  TABLE_FLAG_FRAGMENT_TREE = 4096,
  TABLE_FLAG_INDEPENDENT_COVERING = 8192,
  TABLE_FLAG_MANAGED_BLOBS = 16384,
  TABLE_FLAG_FIELD_IDS = 32768,
  TABLE_FLAG_ZONE_SEEDS = 65536,
  TABLE_FLAG_CLUSTERING = 131072,
};

#endif
