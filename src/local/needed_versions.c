/*
 * Which versions of a table the views of its database need, wherever they lie. Every table of every
 * namespace is opened and asked whether it is a view of this one; the source of a definition is
 * found the way a refresh would find it. What cannot be read might be a view, so it ends the search
 * with an error instead of being passed over.
 */
#include "local/local_private.h"
#include "view/definition.h"
#include "view/watermark.h"

enum { MAX_NAMESPACE_DEPTH = 64 };

struct search {
  local_conn *conn;
  arena *memory;
  const char *path; /* of the table */
  uint64_t *versions;
  size_t count;
  size_t capacity;
  uint64_t from; /* 0 = none */
};

static glv_status fail_unreadable(const char *name, const char *why, glv_error *err) {
  return FAIL(err, GLV_E_BAD_STATE,
              "table '%s' cannot be read, and might be a view that needs old versions: %s", name,
              why);
}

static void need_from(struct search *s, uint64_t version) {
  s->from = s->from == 0 ? version : u64_min(s->from, version);
}

static glv_status need(struct search *s, uint64_t version, glv_error *err) {
  if (s->count == s->capacity) {
    const size_t capacity = 2 * s->capacity + 16;
    uint64_t *versions = ARENA_ARRAY(s->memory, uint64_t, capacity);
    if (versions == NULL) {
      return error_nomem(err, capacity * sizeof *versions);
    }
    if (s->count > 0) {
      memcpy(versions, s->versions, s->count * sizeof *versions);
    }
    s->versions = versions;
    s->capacity = capacity;
  }
  s->versions[s->count++] = version;
  return GLV_OK;
}

static bool has_key(const table_snapshot *t, str key) {
  bool found = false;
  table_metadata_get(t, key, &found);
  return found;
}

/* What a view over the table needs: its source version; all when nobody can read which that is. */
static glv_status need_source(struct search *s, const table_snapshot *view, glv_error *err) {
  const watermark w = watermark_read(view);
  if (w.has_source_version) {
    return need(s, w.source_version, err);
  }
  if (has_key(view, STR("mv.source_version"))) {
    need_from(s, 1);
  }
  return GLV_OK;
}

/* Whether the source of a definition is the table. One that is not there is another. */
static glv_status is_source(struct search *s, const view_definition *d, bool *ret, glv_error *err) {
  const char **parts = ARENA_ARRAY(s->memory, const char *, d->namespace_count + 1);
  if (parts == NULL) {
    return error_nomem(err, d->namespace_count * sizeof *parts);
  }
  for (size_t i = 0; i < d->namespace_count; i++) {
    parts[i] = d->source_namespace[i];
  }
  parts[d->namespace_count] = d->source_table;
  catalog_table at;
  glv_error report = {0};
  const glv_status status = catalog_table_resolve(
      s->conn->db, (catalog_id){parts, d->namespace_count + 1}, s->memory, &at, &report);
  *ret = status == GLV_OK && strcmp(at.path, s->path) == 0;
  if (status == GLV_OK || status == GLV_E_TABLE_NOT_FOUND || status == GLV_E_INVALID_INPUT) {
    return GLV_OK;
  }
  return error_pass(err, &report);
}

static glv_status visit(struct search *s, const catalog_entry *entry, glv_error *err) {
  if (entry->path == NULL || strcmp(entry->path, s->path) == 0) {
    return GLV_OK;
  }
  CLEANUP(table_cleanup) table_snapshot *t = NULL;
  glv_error report = {0};
  const glv_status status =
      table_open(s->conn->base.handle.env, entry->path, entry->name, 0, &t, &report);
  if (status == GLV_E_TABLE_NOT_FOUND) {
    return GLV_OK;
  }
  if (status == GLV_E_CORRUPT || status == GLV_E_UNSUPPORTED) {
    return fail_unreadable(entry->name, report.message, err);
  }
  if (status != GLV_OK) {
    return error_pass(err, &report);
  }
  bool is_view = false;
  const str stored = table_metadata_get(t, STR(VIEW_KEY_DEFINITION), &is_view);
  if (!is_view) {
    return GLV_OK;
  }
  definition_read read;
  bool is_ours = false;
  TRY(definition_examine(s->memory, stored, false, &read, err));
  if (read.state != DEFINITION_OK) {
    return fail_unreadable(entry->name, "its definition is not understood", err);
  }
  TRY(is_source(s, &read.definition, &is_ours, err));
  return is_ours ? need_source(s, t, err) : GLV_OK;
}

static glv_status visit_below(struct search *s, glv_id ns, unsigned depth,
                              glv_error *err) { /* NOLINT(misc-no-recursion) */
  if (depth == MAX_NAMESPACE_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "namespaces nest deeper than %d", MAX_NAMESPACE_DEPTH);
  }
  catalog_list tables;
  catalog_list children;
  TRY(catalog_table_list(s->conn->db, catalog_path(ns), NULL, s->memory, &tables, err));
  for (size_t i = 0; i < tables.count; i++) {
    TRY(visit(s, &tables.entries[i], err));
  }
  TRY(catalog_namespace_list(s->conn->db, catalog_path(ns), NULL, s->memory, &children, err));
  for (size_t i = 0; i < children.count; i++) {
    const char **parts = ARENA_ARRAY(s->memory, const char *, ns.count + 1);
    if (parts == NULL) {
      return error_nomem(err, ns.count * sizeof *parts);
    }
    for (size_t k = 0; k < ns.count; k++) {
      parts[k] = ns.parts[k];
    }
    parts[ns.count] = children.entries[i].name;
    TRY(visit_below(s, (glv_id){parts, ns.count + 1}, depth + 1, err));
  }
  return GLV_OK;
}

/* The next refresh of a view walks the commits since its stamp. */
static void need_own(struct search *s, const table_snapshot *t) {
  if (!local_is_view(t)) {
    return;
  }
  const watermark w = watermark_read(t);
  if (w.has_view_version) {
    need_from(s, w.view_version);
  } else if (has_key(t, STR("mv.view_version"))) {
    need_from(s, 1);
  }
}

glv_status local_needed_versions(local_conn *conn, const table_snapshot *t, arena *a,
                                 uint64_t **ret, size_t *ret_count, uint64_t *ret_from,
                                 glv_error *err) {
  struct search s = {.conn = conn, .memory = a, .path = table_path(t)};
  need_own(&s, t);
  TRY(visit_below(&s, (glv_id){NULL, 0}, 0, err));
  *ret = s.versions;
  *ret_count = s.count;
  *ret_from = s.from;
  return GLV_OK;
}
