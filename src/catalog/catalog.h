/**
 * @file catalog.h
 * Names to directories: a directory as a database, its namespaces, and where their tables lie
 * (namespaces.md).
 *
 * Root tables are the directories `<name>.lance` of the root. Namespaces and the tables in them are
 * rows of the Lance table `<root>/__manifest`, which is made when the first of them is. Every call
 * reads the newest state; nothing that another process did stays unseen.
 *
 * The catalog never opens or writes the tables themselves. Who creates one calls
 * catalog_table_begin, writes version 1 to the path it was given, and reports by
 * catalog_table_finish or catalog_table_undo.
 */
#ifndef GLAIVE_CATALOG_CATALOG_H
#define GLAIVE_CATALOG_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow/type.h"
#include "base/arena.h"
#include "base/env.h"

typedef struct catalog catalog;

/** How the database was opened. */
typedef enum catalog_kind {
  CATALOG_DIRECTORY, /* as LanceDB's connect(path): root tables have no catalog row */
  CATALOG_NAMESPACE, /* as connect_namespace("dir", {root}): root tables have marker and row */
} catalog_kind;

/** A namespace path, or a namespace path and a name: strings, outermost first. As a namespace,
 * count 0 is the root. Borrowed for the call. */
typedef struct catalog_id {
  const char *const *parts;
  size_t count;
} catalog_id;

/**
 * Open a database; its directory is made with its parents if missing.
 *
 * @param root  a path (path_from_uri removed a scheme).
 * @param ret   one reference; catalog_unref.
 * Errors: GLV_E_UNSUPPORTED when the catalog table demands a newer reader; GLV_E_CORRUPT when its
 * manifest is; GLV_E_IO; GLV_E_NOMEM. Its rows are read when they are needed first. Thread class of
 * this and all further functions: T.
 */
glv_status catalog_open(glv_env *env, const char *root, catalog_kind kind, catalog **ret,
                        glv_error *err);
catalog *catalog_ref(catalog *c);
void catalog_unref(catalog *c); /* NULL is fine */
void catalog_cleanup(catalog **c);
const char *catalog_root(const catalog *c);
catalog_kind catalog_kind_of(const catalog *c);
glv_env *catalog_env(const catalog *c);

/* ---- names ---- */

/** The path as messages and JSON show it, `ops.nyc."a b"`, in an arena. NULL = no memory. */
char *catalog_id_text(arena *a, catalog_id id);

/**
 * The rule for names of tables and namespaces: 1 or more of `A-Z a-z 0-9 _ - .`, neither "." nor
 * "..". what: "table" or "namespace". Errors: GLV_E_INVALID_INPUT.
 */
glv_status catalog_check_name(const char *what, str name, glv_error *err);

/* ---- namespaces ---- */

typedef enum catalog_create_mode {
  CATALOG_CREATE,    /* an existing one is an error */
  CATALOG_EXIST_OK,  /* an existing one is fine and stays as it is */
  CATALOG_OVERWRITE, /* an existing empty one gets the new properties */
} catalog_create_mode;

/**
 * Create a namespace.
 *
 * @param properties  stored with it; keys are distinct.
 * Errors: GLV_E_NAMESPACE_EXISTS (also for the root, and when a table has that path);
 * GLV_E_NAMESPACE_NOT_FOUND naming the first missing parent; GLV_E_INVALID_INPUT for names, and for
 * CATALOG_OVERWRITE of one that is not empty; GLV_E_CONFLICT after too many lost races;
 * GLV_E_UNSUPPORTED when the catalog table demands a newer writer; those of the table layer.
 */
glv_status catalog_namespace_create(catalog *c, catalog_id ns, metadata properties,
                                    catalog_create_mode mode, glv_error *err);

/** The properties of a namespace, in an arena; none for the root. Errors:
 * GLV_E_NAMESPACE_NOT_FOUND; GLV_E_INTERNAL when they are not stored as a JSON object of strings.
 */
glv_status catalog_namespace_describe(catalog *c, catalog_id ns, arena *a, metadata *ret,
                                      glv_error *err);
/** The root always exists. */
glv_status catalog_namespace_exists(catalog *c, catalog_id ns, bool *ret, glv_error *err);

/** if_exists: a missing one is fine. cascade: tables and namespaces below go too, with their data.
 * Errors: GLV_E_INVALID_INPUT for the root; GLV_E_NAMESPACE_NOT_FOUND; GLV_E_NAMESPACE_NOT_EMPTY
 * with the count; as catalog_namespace_create. */
glv_status catalog_namespace_drop(catalog *c, catalog_id ns, bool if_exists, bool cascade,
                                  glv_error *err);

/** Which part of a list. */
typedef struct catalog_page {
  bool has_limit; /* else everything is on one page */
  uint64_t limit;
  const char *token; /* NULL = from the start */
} catalog_page;

/** A table or namespace in a list. */
typedef struct catalog_entry {
  const char *name;
  const char *path;     /* directory of a table; NULL when its location is not usable */
  bool is_deregistered; /* root tables: marked by `.lance-deregistered` */
} catalog_entry;

typedef struct catalog_list {
  const catalog_entry *entries; /* ascending by the bytes of their names */
  size_t count;
  const char *token; /* NULL on the last page */
} catalog_list;

/** Namespaces one level below parent; an unknown parent has none. page NULL = everything. The list
 * lives in the arena. */
glv_status catalog_namespace_list(catalog *c, catalog_id parent, const catalog_page *page, arena *a,
                                  catalog_list *ret, glv_error *err);

/* ---- tables ---- */

/** Tables of a namespace, declared ones included; an unknown one has none. */
glv_status catalog_table_list(catalog *c, catalog_id ns, const catalog_page *page, arena *a,
                              catalog_list *ret, glv_error *err);

/** Where a table lies. */
typedef struct catalog_table {
  const char *path; /* its directory */
  const char *name; /* what messages call it */
} catalog_table;

/**
 * Find a table by its path. The directory need not hold a version: opening it then is
 * GLV_E_TABLE_NOT_FOUND, too.
 * @param ret  lives in the arena.
 * Errors: GLV_E_TABLE_NOT_FOUND; GLV_E_INVALID_INPUT for a bad root name, and for a stored location
 * that leaves the root; GLV_E_UNSUPPORTED for one that other tools cannot find either.
 */
glv_status catalog_table_resolve(catalog *c, catalog_id id, arena *a, catalog_table *ret,
                                 glv_error *err);

/** A table being created; zero-initialise. */
typedef struct catalog_creation {
  catalog_table table; /* in the arena given to catalog_table_begin */
  const char *object;  /* its id in the catalog table; NULL = it has no row */
  const char *location;
  bool made_row;
  bool made_directory;
} catalog_creation;

/**
 * Prepare a place for a new table: checks, then (child tables, and root tables of
 * CATALOG_NAMESPACE) marker and catalog row. A refused call leaves nothing behind. A declared table
 * without a version is taken over.
 *
 * @param properties  stored in the row; must be empty where there is none.
 * @param ret         texts live in the arena.
 * Errors: GLV_E_TABLE_EXISTS; GLV_E_NAMESPACE_NOT_FOUND; GLV_E_NAMESPACE_EXISTS when a namespace
 * has that path; GLV_E_INVALID_INPUT; as catalog_namespace_create.
 */
glv_status catalog_table_begin(catalog *c, catalog_id id, metadata properties, arena *a,
                               catalog_creation *ret, glv_error *err);
/** Version 1 stands. Puts the row back when somebody removed it meanwhile. Errors:
 * GLV_E_TABLE_EXISTS when another table has taken the name by then: the new one is removed; as
 * catalog_namespace_create. */
glv_status catalog_table_finish(catalog *c, const catalog_creation *t, glv_error *err);
/** Version 1 could not be written: takes back what catalog_table_begin made, unless a version
 * stands by now. */
void catalog_table_undo(catalog *c, const catalog_creation *t);

/**
 * Prepare a place and leave it: a declared table, which a create fills.
 *
 * @param ret  lives in the arena. Errors: as catalog_table_begin; GLV_E_TABLE_EXISTS when it is
 * declared already.
 */
glv_status catalog_table_declare(catalog *c, catalog_id id, metadata properties, arena *a,
                                 catalog_table *ret, glv_error *err);

/**
 * Give a name to a table that lies, or will lie, somewhere below the root.
 *
 * @param location  a path relative to the root.
 * Errors: GLV_E_TABLE_EXISTS, GLV_E_NAMESPACE_EXISTS, GLV_E_NAMESPACE_NOT_FOUND,
 * GLV_E_INVALID_INPUT; GLV_E_UNSUPPORTED for a root table; as catalog_namespace_create.
 */
glv_status catalog_table_register(catalog *c, catalog_id id, const char *location, glv_error *err);
/** Take the name of a table away and leave its data. ret_path: where they are, in the arena.
 * Errors: GLV_E_TABLE_NOT_FOUND; as catalog_table_register. */
glv_status catalog_table_deregister(catalog *c, catalog_id id, arena *a, const char **ret_path,
                                    glv_error *err);
/** Where a table lies that may be declared only. ret: lives in the arena. Errors: as
 * catalog_table_resolve; GLV_E_TABLE_NOT_FOUND when there is nothing at the root. */
glv_status catalog_table_locate(catalog *c, catalog_id id, arena *a, catalog_table *ret,
                                bool *ret_is_declared, glv_error *err);

/** Remove a table: its row first, then its directory. if_exists: a missing one is fine. Errors:
 * GLV_E_TABLE_NOT_FOUND; as catalog_namespace_create. */
glv_status catalog_table_drop(catalog *c, catalog_id id, bool if_exists, glv_error *err);

/**
 * Give a table another path; both at the root, or both in namespaces.
 * Errors: GLV_E_TABLE_NOT_FOUND; GLV_E_TABLE_EXISTS; GLV_E_NAMESPACE_NOT_FOUND; GLV_E_UNSUPPORTED
 * for the root on one side only; as catalog_namespace_create.
 */
glv_status catalog_table_rename(catalog *c, catalog_id from, catalog_id to, glv_error *err);

#endif
