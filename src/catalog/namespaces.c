/* Namespaces: rows of the catalog table and nothing else (namespaces.md 6.1). */
#include "base/limits.h"
#include "catalog/catalog_private.h"

static glv_status nomem(glv_error *err) { return error_nomem(err, LIMIT_PATH_BYTES); }

/* ---- create ---- */

typedef struct creation {
  catalog_id id;
  const char *object;
  str properties;
  catalog_create_mode mode;
} creation;

static bool removes_object(const void *context, str id) { return str_is(id, context); }

glv_status check_parents(const manifest *m, catalog_id id, arena *a, glv_error *err) {
  for (size_t n = 1; n < id.count; n++) {
    const char *object = id_object(a, id_prefix(id, n));
    if (object == NULL) {
      return nomem(err);
    }
    if (!is_namespace(manifest_find(m, str_of(object)))) {
      return fail_namespace(GLV_E_NAMESPACE_NOT_FOUND, "Namespace not found", id_prefix(id, n), a,
                            err);
    }
  }
  return GLV_OK;
}

static glv_status decide_existing(const creation *n, const manifest *m, const row *found, arena *a,
                                  manifest_change *ret, glv_error *err) {
  if (!is_namespace(found) || n->mode == CATALOG_CREATE) {
    return fail_namespace(GLV_E_NAMESPACE_EXISTS, "Namespace already exists", n->id, a, err);
  }
  if (n->mode == CATALOG_EXIST_OK) {
    ret->is_needed = false;
    return GLV_OK;
  }
  if (manifest_count_below(m, found->id) != 0) {
    return fail_namespace(GLV_E_INVALID_INPUT, "only an empty namespace can be overwritten", n->id,
                          a, err);
  }
  ret->removes = removes_object;
  ret->context = n->object;
  return GLV_OK;
}

static glv_status decide_create(void *context, const manifest *m, arena *a, manifest_change *ret,
                                glv_error *err) {
  const creation *n = context;
  TRY(check_parents(m, n->id, a, err));
  ret->is_needed = true;
  const row *found = manifest_find(m, str_of(n->object));
  if (found != NULL) {
    TRY(decide_existing(n, m, found, a, ret, err));
  }
  row *added = ARENA_NEW(a, row);
  if (added == NULL) {
    return nomem(err);
  }
  *added = (row){.id = str_of(n->object), .type = STR(TYPE_NAMESPACE), .metadata = n->properties};
  ret->added = added;
  return GLV_OK;
}

glv_status catalog_namespace_create(catalog *c, catalog_id ns, metadata properties,
                                    catalog_create_mode mode, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, c->env);
  if (ns.count == 0) {
    return mode == CATALOG_EXIST_OK
               ? GLV_OK
               : FAIL(err, GLV_E_NAMESPACE_EXISTS, "Namespace already exists: root namespace");
  }
  TRY(id_check(ns, false, err));
  creation n = {.id = ns, .object = id_object(&a, ns), .mode = mode};
  if (n.object == NULL) {
    return nomem(err);
  }
  TRY(properties_to_text(c->env, properties, &a, &n.properties, err));
  return manifest_update(c, decide_create, &n, err);
}

/* ---- read ---- */

static glv_status find(catalog *c, catalog_id ns, arena *a, manifest **ret_manifest,
                       const row **ret, glv_error *err) {
  const char *object = id_object(a, ns);
  if (object == NULL) {
    return nomem(err);
  }
  TRY(manifest_look(c, ret_manifest, err));
  *ret = manifest_find(*ret_manifest, str_of(object));
  return GLV_OK;
}

glv_status catalog_namespace_describe(catalog *c, catalog_id ns, arena *a, metadata *ret,
                                      glv_error *err) {
  if (ns.count == 0) {
    *ret = (metadata){NULL, 0};
    return GLV_OK;
  }
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  const row *found = NULL;
  TRY(find(c, ns, a, &m, &found, err));
  if (!is_namespace(found)) {
    return fail_namespace(GLV_E_NAMESPACE_NOT_FOUND, "Namespace not found", ns, a, err);
  }
  return properties_from_text(found->metadata, found->id, a, ret, err);
}

glv_status catalog_namespace_exists(catalog *c, catalog_id ns, bool *ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, c->env);
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  const row *found = NULL;
  if (ns.count != 0) {
    TRY(find(c, ns, &a, &m, &found, err));
  }
  *ret = ns.count == 0 || is_namespace(found);
  return GLV_OK;
}

glv_status catalog_namespace_list(catalog *c, catalog_id parent, const catalog_page *page, arena *a,
                                  catalog_list *ret, glv_error *err) {
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  TRY(manifest_look(c, &m, err));
  const char *object = id_object(a, parent);
  if (object == NULL) {
    return nomem(err);
  }
  CLEANUP(name_set_dispose) name_set names = {.env = c->env};
  for (size_t i = 0; i < m->count; i++) {
    str name;
    if (is_namespace(&m->rows[i]) && id_is_below(m->rows[i].id, str_of(object), &name) &&
        memchr(name.data, ID_SEPARATOR, name.size) == NULL) {
      const char *copy = arena_strdup(a, name);
      if (copy == NULL) {
        return nomem(err);
      }
      TRY(name_set_add(&names, (catalog_entry){.name = copy}, err));
    }
  }
  return name_set_page(&names, page, false, a, ret, err);
}

/* ---- drop ---- */

typedef struct removal {
  catalog_id id;
  const char *object;
  bool if_exists;
  bool cascade;
  arena *memory; /* outlives the tries */
  const char **locations;
  size_t location_count;
} removal;

static bool removes_subtree(const void *context, str id) {
  const removal *r = context;
  str name;
  return str_is(id, r->object) || id_is_below(id, str_of(r->object), &name);
}

/* Where the tables below lie, for the time after the commit. */
static glv_status collect_locations(removal *r, const manifest *m, glv_error *err) {
  r->location_count = 0;
  r->locations = ARENA_ARRAY(r->memory, const char *, m->count);
  if (r->locations == NULL) {
    return nomem(err);
  }
  for (size_t i = 0; i < m->count; i++) {
    const row *one = &m->rows[i];
    if (one->location.data != NULL && str_is(one->type, TYPE_TABLE) &&
        removes_subtree(r, one->id) && location_is_safe(one->location)) {
      const char *copy = arena_strdup(r->memory, one->location);
      if (copy == NULL) {
        return nomem(err);
      }
      r->locations[r->location_count++] = copy;
    }
  }
  return GLV_OK;
}

static glv_status decide_drop(void *context, const manifest *m, arena *a, manifest_change *ret,
                              glv_error *err) {
  removal *r = context;
  const row *found = manifest_find(m, str_of(r->object));
  if (!is_namespace(found)) {
    return r->if_exists
               ? GLV_OK
               : fail_namespace(GLV_E_NAMESPACE_NOT_FOUND, "Namespace not found", r->id, a, err);
  }
  const size_t below = manifest_count_below(m, found->id);
  if (below != 0 && !r->cascade) {
    const char *text = catalog_id_text(a, r->id);
    return FAIL(err, GLV_E_NAMESPACE_NOT_EMPTY, "Namespace not empty: %s holds %zu object%s",
                text != NULL ? text : "", below, below == 1 ? "" : "s");
  }
  TRY(collect_locations(r, m, err));
  *ret = (manifest_change){.is_needed = true, .removes = removes_subtree, .context = r};
  return GLV_OK;
}

glv_status catalog_namespace_drop(catalog *c, catalog_id ns, bool if_exists, bool cascade,
                                  glv_error *err) {
  if (ns.count == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the root namespace cannot be dropped");
  }
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, c->env);
  removal r = {.id = ns,
               .object = id_object(&a, ns),
               .if_exists = if_exists,
               .cascade = cascade,
               .memory = &a};
  if (r.object == NULL) {
    return nomem(err);
  }
  TRY(manifest_update(c, decide_drop, &r, err));
  for (size_t i = 0; i < r.location_count; i++) {
    char *path;
    TRY(catalog_path_of(c, str_of(r.locations[i]), &a, &path, err));
    TRY(dataset_remove(c->env, path, err));
  }
  return GLV_OK;
}
