/*
 * Places for new tables (namespaces.md 6.2, 11 R2, R4).
 *
 *   root, opened as a directory   nothing but the directory that the writer makes; if the table is
 *                                 declared only, with a marker
 *   root, opened as a namespace   marker, then row; the location is `<name>.lance`
 *   in a namespace                marker, then row; the location is `<8 hex digits>_<object id>`
 *
 * Marker before row and row before data: a concurrent reader sees a declared table, never a row
 * without a place. Every test comes before the first write, so a refused call leaves nothing.
 * Between begin and finish another process may remove the row, and between begin and undo it may
 * have filled the table: both look again.
 */
#include "base/limits.h"
#include "catalog/catalog_private.h"

static glv_status nomem(glv_error *err) { return error_nomem(err, LIMIT_PATH_BYTES); }

/* What the tests of one call share. */
typedef struct place {
  catalog *c;
  catalog_id id;
  arena *memory;
  str properties;
  catalog_creation *out;
  bool adopts;      /* a row of somebody else's is taken over, wherever it points */
  bool must_be_new; /* a row that is there already is an error */
} place;

static glv_status set_location(const place *p, const char *location, glv_error *err) {
  char *path;
  TRY(catalog_path_of(p->c, str_of(location), p->memory, &path, err));
  p->out->location = location;
  p->out->table.path = path;
  return GLV_OK;
}

/* GLV_E_TABLE_EXISTS when a version stands at the place. */
static glv_status check_unfilled(const place *p, glv_error *err) {
  bool exists;
  TRY(table_exists(p->c->env, p->out->table.path, &exists, err));
  return exists ? fail_table_exists(p->id, p->memory, err) : GLV_OK;
}

/* A row of another kind keeps a table from taking its id. */
static glv_status check_kind(const place *p, const row *found, glv_error *err) {
  return found == NULL || is_table(found)
             ? GLV_OK
             : fail_namespace(GLV_E_NAMESPACE_EXISTS, "Namespace already exists", p->id, p->memory,
                              err);
}

/* ---- the row ---- */

static bool removes_object(const void *context, str id) { return str_is(id, context); }

static glv_status new_row(const place *p, arena *a, manifest_change *ret, glv_error *err) {
  row *added = ARENA_NEW(a, row);
  if (added == NULL) {
    return nomem(err);
  }
  *added = (row){.id = str_of(p->out->object),
                 .type = STR(TYPE_TABLE),
                 .location = str_of(p->out->location),
                 .metadata = p->properties};
  *ret = (manifest_change){.is_needed = true, .added = added};
  return GLV_OK;
}

/* A row that came up since the tests: take its place over if it may still be filled. */
static glv_status adopt(place *p, const row *found, glv_error *err) {
  char *path;
  TRY(row_path(p->c, found, p->memory, &path, err));
  const char *location = arena_strdup(p->memory, found->location);
  if (location == NULL) {
    return nomem(err);
  }
  p->out->location = location;
  p->out->table.path = path;
  p->out->made_row = false;
  return check_unfilled(p, err);
}

static glv_status decide_row(void *context, const manifest *m, arena *a, manifest_change *ret,
                             glv_error *err) {
  place *p = context;
  TRY(check_parents(m, p->id, a, err));
  const row *found = manifest_find(m, str_of(p->out->object));
  TRY(check_kind(p, found, err));
  if (found != NULL && p->must_be_new) {
    return fail_table_exists(p->id, p->memory, err);
  }
  if (found != NULL && p->adopts) {
    return adopt(p, found, err);
  }
  const bool needs_row = p->id.count > 1 || p->c->kind == CATALOG_NAMESPACE || found != NULL;
  if (!needs_row || (found != NULL && str_is(found->location, p->out->location))) {
    return GLV_OK;
  }
  TRY(new_row(p, a, ret, err));
  p->out->made_row = true;
  if (found != NULL) { /* a stale row of a root table that points elsewhere */
    ret->removes = removes_object;
    ret->context = p->out->object;
    p->out->made_row = false;
  }
  return GLV_OK;
}

/* Marker, then row. Whatever this call made is taken back when it fails. */
static glv_status mark_and_insert(place *p, glv_error *err) {
  glv_env *env = p->c->env;
  const char *marked = p->out->table.path;
  bool existed;
  TRY(io_exists(env, NULL, marked, &existed, err));
  glv_error own = {0};
  glv_status status = dataset_mark(env, marked, &own);
  if (status == GLV_E_TABLE_EXISTS && !p->must_be_new) {
    status = GLV_OK; /* reserved, but neither row nor version: filled now */
  }
  p->out->made_directory = !existed;
  status = status == GLV_OK ? manifest_update(p->c, decide_row, p, &own) : status;
  const bool went_elsewhere = status == GLV_OK && strcmp(marked, p->out->table.path) != 0;
  if (!existed && status != GLV_E_UNKNOWN_OUTCOME && (status != GLV_OK || went_elsewhere)) {
    (void)dataset_remove_unfilled(env, marked, NULL);
    p->out->made_directory = false;
  }
  return status == GLV_OK ? GLV_OK : error_pass(err, &own);
}

/* ---- the three kinds of place ---- */

/* A row of another location whose dataset is gone is stale; one whose dataset is there belongs to a
 * registered table. */
static glv_status row_is_stale(const place *p, const row *found, bool *ret, glv_error *err) {
  *ret = false;
  if (!is_table(found) || str_is(found->location, p->out->location)) {
    return GLV_OK;
  }
  *ret = true;
  if (found->location.data == NULL || !location_is_safe(found->location)) {
    return GLV_OK;
  }
  char *path;
  TRY(catalog_path_of(p->c, found->location, p->memory, &path, err));
  bool exists;
  TRY(table_exists(p->c->env, path, &exists, err));
  *ret = !exists;
  return GLV_OK;
}

static glv_status begin_root(place *p, const manifest *m, const row *found, glv_error *err) {
  char *location;
  TRY(root_location(p->memory, p->id.parts[0], &location, err));
  TRY(set_location(p, location, err));
  TRY(check_unfilled(p, err));
  bool is_stale;
  TRY(row_is_stale(p, found, &is_stale, err));
  if (p->c->kind == CATALOG_DIRECTORY) {
    bool existed;
    TRY(io_exists(p->c->env, NULL, p->out->table.path, &existed, err));
    p->out->made_directory = !existed;
    glv_status status = p->must_be_new ? dataset_mark(p->c->env, p->out->table.path, err) : GLV_OK;
    status = status == GLV_OK && is_stale ? manifest_update(p->c, decide_row, p, err) : status;
    p->out->object = NULL;
    return status;
  }
  TRY(check_kind(p, found, err));
  if (found != NULL && !is_stale && !str_is(found->location, location)) {
    return fail_table_exists(p->id, p->memory, err);
  }
  TRY(manifest_check_writable(m, err));
  return mark_and_insert(p, err);
}

static glv_status new_child_location(const place *p, glv_error *err) {
  uint32_t number;
  TRY(env_random(p->c->env, &number, sizeof number, err));
  const char *location = arena_printf(p->memory, "%08x_%s", number, p->out->object);
  if (location == NULL) {
    return nomem(err);
  }
  if (strlen(location) > LIMIT_NAME_BYTES) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "Invalid table name (\"%s\"): with its namespace it must not be longer than %d "
                "bytes",
                p->out->object, LIMIT_NAME_BYTES - 9);
  }
  return set_location(p, location, err);
}

static glv_status begin_child(place *p, const manifest *m, const row *found, glv_error *err) {
  TRY(check_parents(m, p->id, p->memory, err));
  TRY(check_kind(p, found, err));
  TRY(manifest_check_writable(m, err));
  p->adopts = true;
  if (found != NULL) {
    return p->must_be_new ? fail_table_exists(p->id, p->memory, err) : adopt(p, found, err);
  }
  TRY(new_child_location(p, err));
  return mark_and_insert(p, err);
}

static glv_status begin(catalog *c, catalog_id id, metadata properties, bool must_be_new, arena *a,
                        catalog_creation *ret, glv_error *err) {
  if (id.count == 0) {
    return catalog_check_name("table", STR(""), err);
  }
  TRY(id_check(id, true, err));
  if (properties.count != 0 && id.count == 1 && c->kind == CATALOG_DIRECTORY) {
    return FAIL(err, GLV_E_UNSUPPORTED, "table '%s' has no catalog row that could hold properties",
                id.parts[0]);
  }
  catalog_creation made = {.object = id_object(a, id)};
  made.table.name = catalog_id_text(a, id);
  if (made.object == NULL || made.table.name == NULL) {
    return nomem(err);
  }
  place p = {.c = c, .id = id, .memory = a, .out = &made, .must_be_new = must_be_new};
  TRY(properties_to_text(c->env, properties, a, &p.properties, err));
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  TRY(manifest_load(c, &m, err));
  const row *found = manifest_find(m, str_of(made.object));
  TRY(id.count == 1 ? begin_root(&p, m, found, err) : begin_child(&p, m, found, err));
  *ret = made;
  return GLV_OK;
}

glv_status catalog_table_begin(catalog *c, catalog_id id, metadata properties, arena *a,
                               catalog_creation *ret, glv_error *err) {
  return begin(c, id, properties, false, a, ret, err);
}

glv_status catalog_table_declare(catalog *c, catalog_id id, metadata properties, arena *a,
                                 catalog_table *ret, glv_error *err) {
  catalog_creation made = {0};
  TRY(begin(c, id, properties, true, a, &made, err));
  *ret = made.table;
  return GLV_OK;
}

/* ---- afterwards ---- */

/* What finish found. */
typedef struct finish {
  const catalog_creation *made;
  bool is_lost; /* another table has the name by now */
} finish;

static bool has_location(const manifest *m, const char *location) {
  for (size_t i = 0; i < m->count; i++) {
    if (str_is(m->rows[i].location, location)) {
      return true;
    }
  }
  return false;
}

/* The row is there, perhaps under another name; or it was removed and comes back; or the name went
 * to another table. */
static glv_status decide_finish(void *context, const manifest *m, arena *a, manifest_change *ret,
                                glv_error *err) {
  finish *f = context;
  f->is_lost = false;
  if (has_location(m, f->made->location)) {
    return GLV_OK;
  }
  if (manifest_find(m, str_of(f->made->object)) != NULL) {
    f->is_lost = true;
    return GLV_OK;
  }
  row *added = ARENA_NEW(a, row);
  if (added == NULL) {
    return nomem(err);
  }
  *added = (row){.id = str_of(f->made->object),
                 .type = STR(TYPE_TABLE),
                 .location = str_of(f->made->location)};
  *ret = (manifest_change){.is_needed = true, .added = added};
  return GLV_OK;
}

glv_status catalog_table_finish(catalog *c, const catalog_creation *t, glv_error *err) {
  if (t->object == NULL) {
    return GLV_OK;
  }
  finish f = {.made = t};
  TRY(manifest_update(c, decide_finish, &f, err));
  if (!f.is_lost) {
    return GLV_OK;
  }
  TRY(dataset_remove(c->env, t->table.path, err));
  return FAIL(err, GLV_E_TABLE_EXISTS, "Table '%s' already exists", t->table.name);
}

static glv_status decide_undo(void *context, const manifest *m, arena *a, manifest_change *ret,
                              glv_error *err) {
  (void)a;
  (void)err;
  const catalog_creation *t = context;
  const row *found = manifest_find(m, str_of(t->object));
  ret->is_needed = is_table(found) && str_is(found->location, t->location);
  ret->removes = removes_object;
  ret->context = t->object;
  return GLV_OK;
}

void catalog_table_undo(catalog *c, const catalog_creation *t) {
  bool exists = true;
  if (table_exists(c->env, t->table.path, &exists, NULL) != GLV_OK || exists) {
    return;
  }
  catalog_creation copy = *t;
  if (t->made_row && manifest_update(c, decide_undo, &copy, NULL) != GLV_OK) {
    return; /* a declared table stays, which the next create fills */
  }
  const bool is_used =
      t->made_directory && dataset_remove_unfilled(c->env, t->table.path, NULL) != GLV_OK;
  if (is_used && t->made_row) { /* somebody else is filling it */
    finish f = {.made = t};
    (void)manifest_update(c, decide_finish, &f, NULL);
  }
}
