/**
 * @file table_private.h
 * What the files of this module share: the snapshot, names of files, decoding and encoding of the
 * parts of a manifest.
 */
#ifndef GLAIVE_TABLE_TABLE_PRIVATE_H
#define GLAIVE_TABLE_TABLE_PRIVATE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/checked.h"
#include "base/limits.h"
#include "base/pin.h"
#include "base/thread.h"
#include "io/io.h"
#include "pb/lance_table.pb-c.h"
#include "pb/lance_transaction.pb-c.h"
#include "pb/pb.h"
#include "table/commit.h"
#include "table/readers.h"
#include "table/table.h"
#include "table/transaction.h"

/** The physical table that a family of snapshots belongs to. Counted. */
typedef struct table_home {
  glv_env *env; /* a reference */
  atomic_size_t refs;
  char *path;
  char *name;
  void *versions;  /* handle of `_versions`, open as long as the home lives */
  uint64_t device; /* with inode: identity of that directory */
  uint64_t inode;
  mutex lock;        /* guards what follows */
  int64_t seen_ns;   /* the directory's time of change when its names were last listed; 0 = never */
  int64_t listed_ns; /* when that was */
  uint64_t seen_latest;
} table_home;

struct table_snapshot {
  atomic_size_t refs;
  table_home *home; /* a reference */
  arena memory;     /* everything below */
  Lance__Table__Manifest *manifest;
  str transaction; /* inline copy; data NULL = none */
  str *indexes;    /* serialized IndexMetadata */
  Lance__Table__IndexMetadata **index_messages;
  size_t index_count;
  fragment *fragments;
  size_t fragment_count;
  bool is_sorted; /* fragments by ascending id */
  uint64_t physical_rows;
  uint64_t live_rows;
  lance_schema *lance;
  schema *arrow; /* a reference */
  metadata config;
  metadata table_metadata;
  uint64_t file_size;
  glv_io_stat file; /* its manifest when it was read; zero for a version made here */
  bool has_v1_name;
  kept_readers *readers; /* owned; not part of what never changes */
  pin pin;               /* held while the snapshot lives: a cleanup in this environment keeps the
                            version */
};

/** Opens `_versions` below path. Errors: GLV_E_TABLE_NOT_FOUND when it does not exist. */
glv_status home_open(glv_env *env, const char *path, const char *name, table_home **ret,
                     glv_error *err);
table_home *home_ref(table_home *h);
void home_unref(table_home *h); /* NULL is fine */
void home_cleanup(table_home **h);
/** GLV_E_TABLE_NOT_FOUND when another directory, or none, stands under the path of h by now. */
glv_status home_check_identity(const table_home *h, glv_error *err);
/**
 * Opens a directory of the table ("data", ...), made when missing; never makes a table directory
 * that was dropped. @param ret_made whether it was made; may be NULL.
 */
glv_status home_dir(const table_home *h, const char *name, void **ret, bool *ret_made,
                    glv_error *err);
glv_status home_fail_dropped(const table_home *h, glv_error *err);

/* ---- names (names.c) ---- */

#define NAME_SIZE 128

/** The file name of a manifest. */
void name_manifest(uint64_t version, bool v1, char ret[NAME_SIZE]);
/** A fresh data file name. */
glv_status name_data_file(glv_env *env, char ret[NAME_SIZE], glv_error *err);
/** A UUID as text: lower case, hyphenated. */
void name_of_uuid(const uint8_t b[16], char ret[37]);
/** A fresh one. */
glv_status name_uuid(glv_env *env, char ret[37], glv_error *err);
void name_transaction(uint64_t read_version, const char *uuid, char ret[NAME_SIZE]);
void name_deletion(uint64_t fragment_id, const deletion_file *d, char ret[NAME_SIZE]);

/** What a listing of `_versions` found. */
typedef struct version_listing {
  uint64_t latest; /* 0 = no manifest */
  bool is_v1;
  bool is_v2;
  uint64_t *versions; /* ascending; only when asked for */
  size_t count;
} version_listing;
/** @param a where ret->versions goes; NULL = not wanted. Errors: GLV_E_CORRUPT for mixed naming
 * schemes; GLV_E_TABLE_NOT_FOUND when the directory was removed; GLV_E_IO. */
glv_status list_versions(const table_home *h, arena *a, version_listing *ret, glv_error *err);

/* ---- manifests ---- */

/** What names a version of a table in pins. */
static inline void version_key(const table_home *h, uint64_t version, uint64_t ret[3]) {
  ret[0] = h->device;
  ret[1] = h->inode;
  ret[2] = version;
}

/** Decode the bytes of a manifest file (copied). @param file names it in reports. */
glv_status snapshot_decode(table_home *h, str bytes, const char *file, table_snapshot **ret,
                           glv_error *err);
/** Reads the manifest of a version that was listed. Errors: GLV_E_VERSION_NOT_FOUND. */
glv_status snapshot_load(table_home *h, uint64_t version, bool v1, table_snapshot **ret,
                         glv_error *err);

/** The path of a file of the table: `folder/name` below the table or one of its base paths. */
glv_status table_base_path(const table_snapshot *t, bool has_base, uint32_t base_id,
                           const char *folder, str name, arena *a, char **ret, glv_error *err);

/** Decode one DataFragment. raw is borrowed. */
glv_status fragment_decode(arena *a, str raw, const char *what, fragment *ret, glv_error *err);
/** Decode a serialized DataFile. */
glv_status data_file_decode(arena *a, str raw, const char *what, data_file *ret, glv_error *err);

/** Flag rules of a decoded manifest. Errors: GLV_E_UNSUPPORTED, GLV_E_CORRUPT. */
glv_status flags_check_readable(const table_snapshot *t, glv_error *err);

/* ---- transactions ---- */

/** The serialized transaction of t: inline, else its file. */
glv_status transaction_bytes(const table_snapshot *t, arena *a, str *ret, glv_error *err);
/** The operation of an unpacked transaction. */
enum operation_kind transaction_kind(const Lance__Table__Transaction *m);
glv_status transaction_unpack(arena *a, str bytes, const char *what,
                              Lance__Table__Transaction **ret, glv_error *err);

/** The plain form of an unpacked message; borrows from it. */
glv_status transaction_convert(arena *a, const Lance__Table__Transaction *m, const char *what,
                               transaction *ret, glv_error *err);

/** Copies of map entries as pairs in an arena. */
glv_status metadata_from_strings(arena *a, Lance__Table__StringEntry *const *entries, size_t count,
                                 metadata *ret, glv_error *err);
glv_status metadata_from_bytes(arena *a, Lance__File__BytesEntry *const *entries, size_t count,
                               metadata *ret, glv_error *err);

static inline str str_of_binary(ProtobufCBinaryData b) {
  return str_slice((const char *)b.data, b.len);
}
static inline ProtobufCBinaryData binary_of_str(str s) {
  return (ProtobufCBinaryData){.len = s.size, .data = (uint8_t *)(uintptr_t)s.data};
}

/** Passes on a report that was looked at first. @return its code. */
static inline glv_status pass_report(glv_error *err, const glv_error *report) {
  if (err != NULL) {
    *err = *report;
  }
  return report->code;
}

/** A CLEANUP helper for arenas. */
static inline void arena_cleanup(arena *a) { arena_dispose(a); }

#endif
