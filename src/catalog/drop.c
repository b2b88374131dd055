/*
 * Dropping and renaming tables (namespaces.md 6.4, 11 R3): the row goes first, so that nobody finds
 * the way to a directory that is being removed. Renaming a root table renames its directory before
 * the row, and back again when the row cannot follow; a table in a namespace keeps its directory,
 * whose name means nothing.
 */
#include <errno.h>

#include "base/limits.h"
#include "catalog/catalog_private.h"

static glv_status nomem(glv_error *err) { return error_nomem(err, LIMIT_PATH_BYTES); }

static bool removes_object(const void *context, str id) { return str_is(id, context); }

typedef struct drop {
  catalog *c;
  catalog_id id;
  const char *object;
  const char *root_path; /* of a root table, else NULL */
  arena *memory;
  bool found_row;
  const char *row_path; /* where the row points; NULL = nowhere inside the root */
} drop;

/* Whether this connection sees the table that the row describes. */
static bool row_counts(const drop *d, const row *r) {
  return d->root_path == NULL || d->c->kind == CATALOG_NAMESPACE ||
         str_is(r->location, path_name(str_of(d->root_path)).data);
}

static glv_status decide_drop(void *context, const manifest *m, arena *a, manifest_change *ret,
                              glv_error *err) {
  (void)a;
  drop *d = context;
  const row *found = manifest_find(m, str_of(d->object));
  d->found_row = is_table(found) && row_counts(d, found);
  d->row_path = NULL;
  if (!d->found_row) {
    return GLV_OK;
  }
  if (found->location.data != NULL && location_is_safe(found->location)) {
    char *path;
    TRY(catalog_path_of(d->c, found->location, d->memory, &path, err));
    d->row_path = path;
  }
  *ret = (manifest_change){.is_needed = true, .removes = removes_object, .context = d->object};
  return GLV_OK;
}

static glv_status drop_row(drop *d, glv_error *err) {
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  TRY(manifest_load(d->c, &m, err));
  return m->snapshot != NULL ? manifest_update(d->c, decide_drop, d, err) : GLV_OK;
}

static glv_status drop_table(drop *d, bool if_exists, glv_error *err) {
  bool has_directory = false;
  if (d->root_path != NULL) {
    TRY(io_exists(d->c->env, NULL, d->root_path, &has_directory, err));
  }
  TRY(drop_row(d, err));
  if (!d->found_row && !has_directory) {
    return if_exists ? GLV_OK : fail_table_not_found(d->id, d->memory, err);
  }
  /* Where the row of a root table points elsewhere, its data is that of another, registered table:
   * it goes only when there is nothing else that the name could mean. */
  const char *path = has_directory ? d->root_path : d->row_path;
  return path != NULL ? dataset_remove(d->c->env, path, err) : GLV_OK;
}

glv_status catalog_table_drop(catalog *c, catalog_id id, bool if_exists, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, c->env);
  if (id.count == 0) {
    return catalog_check_name("table", STR(""), err);
  }
  drop d = {.c = c, .id = id, .object = id_object(&a, id), .memory = &a};
  if (d.object == NULL) {
    return nomem(err);
  }
  if (id.count == 1) {
    catalog_table root = {0};
    glv_error own = {0};
    const glv_status status = catalog_table_resolve(c, id, &a, &root, &own);
    if (status == GLV_E_TABLE_NOT_FOUND && if_exists) {
      return GLV_OK; /* hidden from this connection */
    }
    if (status != GLV_OK) {
      return error_pass(err, &own);
    }
    d.root_path = root.path;
  }
  return drop_table(&d, if_exists, err);
}

/* ---- rename ---- */

typedef struct renaming {
  catalog_id from;
  catalog_id to;
  const char *from_object;
  const char *to_object;
  const char *to_location; /* of a root table; NULL = the location stays */
} renaming;

/* The old name, and at the root a row that took the new one meanwhile: it has no directory. */
static bool removes_names(const void *context, str id) {
  const renaming *r = context;
  return str_is(id, r->from_object) || (r->to_location != NULL && str_is(id, r->to_object));
}

static glv_status decide_rename(void *context, const manifest *m, arena *a, manifest_change *ret,
                                glv_error *err) {
  const renaming *r = context;
  const row *found = manifest_find(m, str_of(r->from_object));
  const bool is_root = r->to_location != NULL;
  if (!is_table(found)) {
    return is_root ? GLV_OK : fail_table_not_found(r->from, a, err);
  }
  TRY(check_parents(m, r->to, a, err));
  const row *taken = manifest_find(m, str_of(r->to_object));
  if (taken != NULL && (!is_root || !is_table(taken))) {
    return fail_table_exists(r->to, a, err);
  }
  row *added = ARENA_NEW(a, row);
  if (added == NULL) {
    return nomem(err);
  }
  *added = *found;
  added->id = str_of(r->to_object);
  added->location = is_root ? str_of(r->to_location) : found->location;
  *ret =
      (manifest_change){.is_needed = true, .removes = removes_names, .context = r, .added = added};
  return GLV_OK;
}

/* A row of the new name, stale or not, must not come into the way of the renamed one. */
static glv_status check_root_target(catalog *c, const renaming *r, arena *a, glv_error *err) {
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  TRY(manifest_load(c, &m, err));
  if (manifest_find(m, str_of(r->from_object)) == NULL) {
    return GLV_OK;
  }
  TRY(manifest_check_writable(m, err));
  return manifest_find(m, str_of(r->to_object)) != NULL ? fail_table_exists(r->to, a, err) : GLV_OK;
}

static glv_status rename_root(catalog *c, renaming *r, arena *a, glv_error *err) {
  catalog_table from;
  catalog_table to;
  TRY(catalog_table_resolve(c, r->from, a, &from, err));
  TRY(catalog_table_resolve(c, r->to, a, &to, err));
  char *location;
  TRY(root_location(a, r->to.parts[0], &location, err));
  r->to_location = location;
  TRY(check_root_target(c, r, a, err));
  glv_error own = {0};
  glv_status status = dataset_rename(c->env, from.path, to.path, &own);
  if (status != GLV_OK && io_is_missing(&own)) {
    return fail_table_not_found(r->from, a, err);
  }
  if (status != GLV_OK && io_is_taken(&own)) {
    return fail_table_exists(r->to, a, err);
  }
  if (status == GLV_OK) {
    status = manifest_update(c, decide_rename, r, &own);
    if (status != GLV_OK && status != GLV_E_UNKNOWN_OUTCOME) {
      (void)dataset_rename(c->env, to.path, from.path, NULL);
    }
  }
  return status == GLV_OK ? GLV_OK : error_pass(err, &own);
}

glv_status catalog_table_rename(catalog *c, catalog_id from, catalog_id to, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, c->env);
  TRY(id_check(to, true, err));
  if (from.count == 0 || to.count == 0) {
    return catalog_check_name("table", STR(""), err);
  }
  if ((from.count == 1) != (to.count == 1)) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "a table cannot be moved between the root and a namespace by renaming it");
  }
  renaming r = {
      .from = from, .to = to, .from_object = id_object(&a, from), .to_object = id_object(&a, to)};
  if (r.from_object == NULL || r.to_object == NULL) {
    return nomem(err);
  }
  return from.count == 1 ? rename_root(c, &r, &a, err) : manifest_update(c, decide_rename, &r, err);
}
