/**
 * @file catalog_private.h
 * What the files of this module share: the catalog table in memory, changes to it, names.
 */
#ifndef GLAIVE_CATALOG_CATALOG_PRIVATE_H
#define GLAIVE_CATALOG_CATALOG_PRIVATE_H

#include <stdatomic.h>

#include "base/hash.h"
#include "base/thread.h"
#include "catalog/catalog.h"
#include "io/io.h"
#include "table/table.h"

#define MANIFEST_NAME "__manifest"
#define TABLE_SUFFIX ".lance"
#define MARKER_RESERVED ".lance-reserved"
#define MARKER_DEREGISTERED ".lance-deregistered"
#define TYPE_TABLE "table"
#define TYPE_NAMESPACE "namespace"
/** Separates the parts of an object id. */
#define ID_SEPARATOR '$'
/** Longest file name of a directory. */
#define LIMIT_NAME_BYTES 255

/** One row of the catalog table. data NULL = null. */
typedef struct row {
  str id;
  str type;
  str location;
  str metadata;
} row;

/** One version of the catalog table, read. Counted and immutable. */
typedef struct manifest {
  atomic_size_t refs;
  glv_env *env;             /* a reference */
  table_snapshot *snapshot; /* NULL = there is no catalog table */
  arena memory;             /* rows and their texts */
  row *rows;
  size_t count;
  map newest;            /* id -> index of its last row */
  const char *duplicate; /* an id that stands in two rows, or NULL */
  uint64_t writer_flags; /* unknown bits of the catalog's own writer flags */
} manifest;

struct catalog {
  atomic_size_t refs;
  glv_env *env; /* a reference */
  char *root;
  catalog_kind kind;
  uint64_t device; /* identity of the root: the key of the lock around changes */
  uint64_t inode;
  mutex lock;
  manifest *cached; /* the last one read; guarded by lock */
};

/* ---- names (names.c) ---- */

/** The directory that a row of a table points to. Errors: GLV_E_INVALID_INPUT, GLV_E_UNSUPPORTED
 * for a location that is not followed. */
glv_status row_path(const catalog *c, const row *r, arena *a, char **ret, glv_error *err);
/** Parts joined with `$`, in an arena; NULL = no memory. */
char *id_object(arena *a, catalog_id id);
/** The first count parts. */
static inline catalog_id id_prefix(catalog_id id, size_t count) {
  return (catalog_id){id.parts, count};
}
/** Every part obeys the rule for names; the last one is that of a table when ends_in_table. */
glv_status id_check(catalog_id id, bool ends_in_table, glv_error *err);
/** `<root>/<location>` in an arena. */
glv_status catalog_path_of(const catalog *c, str location, arena *a, char **ret, glv_error *err);
/** The location of a root table. */
glv_status root_location(arena *a, const char *name, char **ret, glv_error *err);
/** True iff a stored location is inside the root and not one of the catalog's own directories. */
bool location_is_safe(str location);
/** True iff other tools keep the data of such a location elsewhere, percent-encoded (trap T4). */
bool location_is_escaped(str location);
glv_status fail_table_not_found(catalog_id id, arena *a, glv_error *err);
glv_status fail_table_exists(catalog_id id, arena *a, glv_error *err);
glv_status fail_namespace(glv_status code, const char *what, catalog_id id, arena *a,
                          glv_error *err);

/* ---- reading the catalog table (manifest.c) ---- */

/** The newest version. Errors: GLV_E_UNSUPPORTED for unknown reader flags; those of the table. */
glv_status manifest_load(catalog *c, manifest **ret, glv_error *err);
/** The same for readers, who ask often: does not list the versions again when nothing was changed
 * (table_is_current). */
glv_status manifest_look(catalog *c, manifest **ret, glv_error *err);
/** GLV_E_UNSUPPORTED when its flags demand a newer reader. No row is read. */
glv_status manifest_check_readable(catalog *c, glv_error *err);
void manifest_unref(manifest *m); /* NULL is fine */
void manifest_cleanup(manifest **m);
/** The row of an id, its newest when there are several; NULL = none. */
const row *manifest_find(const manifest *m, str id);
/** Rows of any type whose id lies below id. */
size_t manifest_count_below(const manifest *m, str id);
/** True iff candidate lies below parent ("" = the root); *ret_name is what follows. */
bool id_is_below(str candidate, str parent, str *ret_name);

/* ---- changing it (manifest_write.c) ---- */

/** What one change does. */
typedef struct manifest_change {
  bool is_needed;
  bool (*removes)(const void *context, str id); /* NULL = nothing goes */
  const void *context;
  const row *added; /* NULL = nothing comes */
} manifest_change;

/** Looks at the newest state and decides; called again after a lost race. Whatever it allocates
 * comes from a. */
typedef glv_status (*manifest_decide)(void *context, const manifest *m, arena *a,
                                      manifest_change *ret, glv_error *err);

/** Decide and commit, making the catalog table if need be. Errors: those of decide;
 * GLV_E_UNSUPPORTED for unknown writer flags; GLV_E_INTERNAL for duplicate ids; GLV_E_CONFLICT. */
glv_status manifest_update(catalog *c, manifest_decide decide, void *context, glv_error *err);
/** What keeps the catalog table from being changed, before anything is touched. */
glv_status manifest_check_writable(const manifest *m, glv_error *err);
/** The schema of a new catalog table: five fields in an arena. NULL = no memory. */
const field *manifest_fields(arena *a, size_t *ret_count);

/** GLV_E_NAMESPACE_NOT_FOUND naming the first proper prefix of id that is no namespace. */
glv_status check_parents(const manifest *m, catalog_id id, arena *a, glv_error *err);
static inline bool is_table(const row *r) { return r != NULL && str_is(r->type, TYPE_TABLE); }
static inline bool is_namespace(const row *r) {
  return r != NULL && str_is(r->type, TYPE_NAMESPACE);
}

/* ---- properties (properties.c) ---- */

/** The stored text; *ret {NULL, 0} when there are none. */
glv_status properties_to_text(glv_env *env, metadata properties, arena *a, str *ret,
                              glv_error *err);
/** id: the namespace, for reports. */
glv_status properties_from_text(str text, str id, arena *a, metadata *ret, glv_error *err);

/* ---- lists (page.c) ---- */

/** Names under construction. */
typedef struct name_set {
  glv_env *env;
  catalog_entry *entries;
  size_t count;
  size_t capacity;
} name_set;
void name_set_dispose(name_set *s);
glv_status name_set_add(name_set *s, catalog_entry entry, glv_error *err);
/** Sort, drop repeated names (the last added stays), and cut out the page. is_root_tables: tokens
 * may have the form `<name>.lance/`. */
glv_status name_set_page(name_set *s, const catalog_page *page, bool is_root_tables, arena *a,
                         catalog_list *ret, glv_error *err);

/* ---- datasets (dataset.c) ---- */

/** Remove the directory of a table; a missing one is fine. */
glv_status dataset_remove(glv_env *env, const char *path, glv_error *err);
/** Remove the place of a table that was not written: marker and empty directories. Fails when
 * anything else is in it. A missing directory is fine. */
glv_status dataset_remove_unfilled(glv_env *env, const char *path, glv_error *err);
/** Rename a directory within its parent. Errors: GLV_E_IO with EEXIST, ENOENT, ENOTSUP. */
glv_status dataset_rename(glv_env *env, const char *from, const char *to, glv_error *err);
/** Write the marker into a directory (made with its parents); GLV_E_TABLE_EXISTS when it is there.
 */
glv_status dataset_mark(glv_env *env, const char *path, glv_error *err);

#endif
