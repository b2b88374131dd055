/* Tables whose data somebody else puts there, or has put there: they get a row, or lose it
 * (namespaces.md 6.3, 6.4). */
#include "catalog/catalog_private.h"

static glv_status nomem(glv_error *err) { return error_nomem(err, sizeof(row)); }

/* A change of the row of one table. */
typedef struct registration {
  catalog *c;
  catalog_id id;
  const char *object;
  str location;  /* of the new row; or, once found, of the old one */
  arena *memory; /* for what outlives the change */
} registration;

static glv_status begin(registration *r, glv_error *err) {
  if (r->id.count == 0) {
    return catalog_check_name("table", STR(""), err);
  }
  if (r->id.count == 1) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s': what lies at the root of a database is found by its directory; give "
                "the table a namespace",
                r->id.parts[0]);
  }
  r->object = id_object(r->memory, r->id);
  return r->object != NULL ? GLV_OK : nomem(err);
}

/* ---- register ---- */

static glv_status decide_register(void *context, const manifest *m, arena *a, manifest_change *ret,
                                  glv_error *err) {
  const registration *r = context;
  TRY(check_parents(m, r->id, a, err));
  const row *found = manifest_find(m, str_of(r->object));
  if (found != NULL) {
    return is_table(found)
               ? fail_table_exists(r->id, a, err)
               : fail_namespace(GLV_E_NAMESPACE_EXISTS, "Namespace already exists", r->id, a, err);
  }
  row *added = ARENA_NEW(a, row);
  if (added == NULL) {
    return nomem(err);
  }
  *added = (row){.id = str_of(r->object), .type = STR(TYPE_TABLE), .location = r->location};
  *ret = (manifest_change){.is_needed = true, .added = added};
  return GLV_OK;
}

glv_status catalog_table_register(catalog *c, catalog_id id, const char *location, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, c->env);
  registration r = {.c = c, .id = id, .location = str_of(location), .memory = &a};
  TRY(begin(&r, err));
  TRY(id_check(id, true, err));
  if (!location_is_safe(r.location) || strstr(location, "://") != NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "'%s' is no location of a table: it must be a path below the root of the database",
                location);
  }
  return manifest_update(c, decide_register, &r, err);
}

/* ---- deregister ---- */

static bool removes_object(const void *context, str id) { return str_is(id, context); }

static glv_status decide_deregister(void *context, const manifest *m, arena *a,
                                    manifest_change *ret, glv_error *err) {
  registration *r = context;
  const row *found = manifest_find(m, str_of(r->object));
  if (!is_table(found)) {
    return fail_table_not_found(r->id, a, err);
  }
  const char *location = arena_strdup(r->memory, found->location);
  if (location == NULL) {
    return nomem(err);
  }
  r->location = str_of(location);
  *ret = (manifest_change){.is_needed = true, .removes = removes_object, .context = r->object};
  return GLV_OK;
}

glv_status catalog_table_deregister(catalog *c, catalog_id id, arena *a, const char **ret_path,
                                    glv_error *err) {
  registration r = {.c = c, .id = id, .memory = a};
  char *path;
  TRY(begin(&r, err));
  TRY(manifest_update(c, decide_deregister, &r, err));
  TRY(catalog_path_of(c, r.location, a, &path, err));
  *ret_path = path;
  return GLV_OK;
}

/* ---- locate ---- */

glv_status catalog_table_locate(catalog *c, catalog_id id, arena *a, catalog_table *ret,
                                bool *ret_is_declared, glv_error *err) {
  bool is_filled;
  bool is_there = true;
  TRY(catalog_table_resolve(c, id, a, ret, err));
  TRY(table_exists(c->env, ret->path, &is_filled, err));
  if (!is_filled && id.count == 1) {
    TRY(io_exists(c->env, NULL, ret->path, &is_there, err));
  }
  *ret_is_declared = !is_filled;
  return is_there ? GLV_OK : fail_table_not_found(id, a, err);
}
