/*
 * Finding and listing tables (namespaces.md 4, 5, 11). At the root the directory listing is the
 * truth: a table is there iff `<name>.lance` is. In namespaces the rows of the catalog table are.
 * A location comes from a file that anybody may have written: it never leads out of the root.
 */
#include "base/limits.h"
#include "catalog/catalog_private.h"

static glv_status nomem(glv_error *err) { return error_nomem(err, LIMIT_PATH_BYTES); }

/* ---- lists ---- */

/* Whether the table carries the mark that hides it from directory namespaces. */
static glv_status is_deregistered(const catalog *c, const char *path, arena *a, bool *ret,
                                  glv_error *err) {
  const char *marker = path_join(a, str_of(path), STR(MARKER_DEREGISTERED));
  return marker != NULL ? io_exists(c->env, NULL, marker, ret, err) : nomem(err);
}

static glv_status add_root_table(const catalog *c, name_set *names, str directory, arena *a,
                                 glv_error *err) {
  const str suffix = STR(TABLE_SUFFIX);
  if (!str_ends_with(directory, suffix)) {
    return GLV_OK;
  }
  const str name = str_slice(directory.data, directory.size - suffix.size);
  if (catalog_check_name("table", name, NULL) != GLV_OK) {
    return GLV_OK;
  }
  catalog_entry entry = {.name = arena_strdup(a, name)};
  char *path;
  TRY(catalog_path_of(c, directory, a, &path, err));
  entry.path = path;
  if (entry.name == NULL) {
    return nomem(err);
  }
  TRY(is_deregistered(c, path, a, &entry.is_deregistered, err));
  return c->kind == CATALOG_NAMESPACE && entry.is_deregistered ? GLV_OK
                                                               : name_set_add(names, entry, err);
}

static glv_status collect_root(const catalog *c, name_set *names, arena *a, glv_error *err) {
  const char **entries;
  bool *dirs;
  size_t count;
  TRY(io_list_sorted(c->env, NULL, c->root, a, &entries, &dirs, &count, err));
  for (size_t i = 0; i < count; i++) {
    if (dirs[i]) {
      TRY(add_root_table(c, names, str_of(entries[i]), a, err));
    }
  }
  return GLV_OK;
}

static glv_status add_child_table(const catalog *c, name_set *names, const row *r, str name,
                                  arena *a, glv_error *err) {
  catalog_entry entry = {.name = arena_strdup(a, name)};
  if (entry.name == NULL) {
    return nomem(err);
  }
  if (r->location.data != NULL && location_is_safe(r->location) &&
      !location_is_escaped(r->location)) {
    char *path;
    TRY(catalog_path_of(c, r->location, a, &path, err));
    entry.path = path;
  }
  return name_set_add(names, entry, err);
}

static glv_status collect_children(catalog *c, catalog_id ns, name_set *names, arena *a,
                                   glv_error *err) {
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  TRY(manifest_look(c, &m, err));
  const char *parent = id_object(a, ns);
  if (parent == NULL) {
    return nomem(err);
  }
  for (size_t i = 0; i < m->count; i++) {
    const row *r = &m->rows[i];
    str name;
    if (is_table(r) && manifest_find(m, r->id) == r && id_is_below(r->id, str_of(parent), &name) &&
        memchr(name.data, ID_SEPARATOR, name.size) == NULL) {
      TRY(add_child_table(c, names, r, name, a, err));
    }
  }
  return GLV_OK;
}

glv_status catalog_table_list(catalog *c, catalog_id ns, const catalog_page *page, arena *a,
                              catalog_list *ret, glv_error *err) {
  CLEANUP(name_set_dispose) name_set names = {.env = c->env};
  if (ns.count == 0) {
    TRY(collect_root(c, &names, a, err));
  } else {
    TRY(collect_children(c, ns, &names, a, err));
  }
  return name_set_page(&names, page, ns.count == 0, a, ret, err);
}

/* ---- one table ---- */

static glv_status resolve_root(const catalog *c, catalog_id id, arena *a, char **ret,
                               glv_error *err) {
  TRY(id_check(id, true, err));
  char *location;
  TRY(root_location(a, id.parts[0], &location, err));
  TRY(catalog_path_of(c, str_of(location), a, ret, err));
  if (c->kind == CATALOG_NAMESPACE) {
    bool hidden;
    TRY(is_deregistered(c, *ret, a, &hidden, err));
    return hidden ? fail_table_not_found(id, a, err) : GLV_OK;
  }
  return GLV_OK;
}

glv_status row_path(const catalog *c, const row *r, arena *a, char **ret, glv_error *err) {
  if (r->location.data == NULL || !location_is_safe(r->location)) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "the catalog gives table '%.*s' the location '%.*s', which is not inside the "
                "database",
                STR_ARG(r->id), STR_ARG(r->location));
  }
  if (location_is_escaped(r->location)) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "the catalog gives table '%.*s' the location '%.*s', whose characters other tools "
                "store escaped: it cannot be opened",
                STR_ARG(r->id), STR_ARG(r->location));
  }
  return catalog_path_of(c, r->location, a, ret, err);
}

static glv_status resolve_child(catalog *c, catalog_id id, arena *a, char **ret, glv_error *err) {
  const char *object = id_object(a, id);
  if (object == NULL) {
    return nomem(err);
  }
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  TRY(manifest_look(c, &m, err));
  const row *r = manifest_find(m, str_of(object));
  return is_table(r) ? row_path(c, r, a, ret, err) : fail_table_not_found(id, a, err);
}

glv_status catalog_table_resolve(catalog *c, catalog_id id, arena *a, catalog_table *ret,
                                 glv_error *err) {
  if (id.count == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "Invalid table name (\"\"): it must not be empty");
  }
  char *path = NULL;
  if (id.count == 1) {
    TRY(resolve_root(c, id, a, &path, err));
  } else {
    TRY(resolve_child(c, id, a, &path, err));
  }
  const char *name = catalog_id_text(a, id);
  if (name == NULL) {
    return nomem(err);
  }
  *ret = (catalog_table){path, name};
  return GLV_OK;
}
