/*
 * Lists of views. A view is a table whose metadata carries a definition, so every table of the
 * namespace is opened; one that cannot be opened is no view, and a definition that cannot be read
 * is told as the state of its entry. Entries come in the order (namespace path, name), a namespace
 * before those in it; the page token is the dotted name of the last.
 */
#include "base/name.h"
#include "local/local_private.h"
#include "view/definition.h"
#include "view/status.h"

enum { DEFAULT_PAGE = 1000, MAX_NAMESPACE_DEPTH = 64 };

struct listing {
  local_conn *conn;
  arena *memory;
  glv_list *into;
  uint64_t room;      /* entries that still fit on the page */
  bool more;          /* a view was found that does not fit */
  const char **after; /* path of the last entry of the page before; NULL = from the start */
  size_t after_count;
};

/* Order of full paths (namespace, then name): < 0, 0, > 0. */
static int compare_paths(const char *const *a, size_t a_count, const char *const *b,
                         size_t b_count) {
  const size_t common = size_min(a_count, b_count) - 1;
  for (size_t i = 0; i < common; i++) {
    const int order = strcmp(a[i], b[i]);
    if (order != 0) {
      return order;
    }
  }
  return a_count != b_count ? (a_count > b_count) - (a_count < b_count)
                            : strcmp(a[a_count - 1], b[b_count - 1]);
}

static glv_status with_name(arena *a, glv_id ns, const char *name, glv_id *ret, glv_error *err) {
  const char **parts = ARENA_ARRAY(a, const char *, ns.count + 1);
  if (parts == NULL) {
    return error_nomem(err, (ns.count + 1) * sizeof *parts);
  }
  for (size_t i = 0; i < ns.count; i++) {
    parts[i] = ns.parts[i];
  }
  parts[ns.count] = name;
  *ret = (glv_id){parts, ns.count + 1};
  return GLV_OK;
}

/* Add the table to the list if it is a view. */
static glv_status visit(struct listing *l, glv_id ns, const catalog_entry *entry, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *t = NULL;
  if (entry->path == NULL) {
    return GLV_OK;
  }
  const glv_status status =
      table_open(l->conn->base.handle.env, entry->path, entry->name, 0, &t, NULL);
  if (status != GLV_OK) {
    return status == GLV_E_NOMEM ? error_nomem(err, 0) : GLV_OK;
  }
  bool is_view = false;
  const str stored = table_metadata_get(t, STR(VIEW_KEY_DEFINITION), &is_view);
  if (!is_view) {
    return GLV_OK;
  }
  if (l->room == 0) {
    l->more = true;
    return GLV_OK;
  }
  definition_read read;
  TRY(definition_examine(l->memory, stored, false, &read, err));
  const char *state = view_state_text(l->memory, &read, t);
  if (state == NULL) {
    return error_nomem(err, 0);
  }
  const char *form =
      read.state == DEFINITION_OK ? definition_form_name(read.definition.form) : NULL;
  TRY(list_add(l->into, ns, str_of(entry->name), form, state, err));
  l->room--;
  return GLV_OK;
}

static glv_status list_namespace(struct listing *l, glv_id ns, glv_error *err) {
  catalog_list tables;
  TRY(catalog_table_list(l->conn->db, catalog_path(ns), NULL, l->memory, &tables, err));
  for (size_t i = 0; i < tables.count && !l->more; i++) {
    glv_id id;
    TRY(with_name(l->memory, ns, tables.entries[i].name, &id, err));
    if (l->after == NULL || compare_paths(id.parts, id.count, l->after, l->after_count) > 0) {
      TRY(visit(l, ns, &tables.entries[i], err));
    }
  }
  return GLV_OK;
}

static glv_status list_below(struct listing *l, glv_id ns, unsigned depth,
                             glv_error *err) { /* NOLINT(misc-no-recursion) */
  if (depth == MAX_NAMESPACE_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "namespaces nest deeper than %d", MAX_NAMESPACE_DEPTH);
  }
  TRY(list_namespace(l, ns, err));
  catalog_list children;
  TRY(catalog_namespace_list(l->conn->db, catalog_path(ns), NULL, l->memory, &children, err));
  for (size_t i = 0; i < children.count && !l->more; i++) {
    glv_id child;
    TRY(with_name(l->memory, ns, children.entries[i].name, &child, err));
    TRY(list_below(l, child, depth + 1, err));
  }
  return GLV_OK;
}

static glv_status set_token(struct listing *l, glv_error *err) {
  if (!l->more || l->into->count == 0) {
    return GLV_OK;
  }
  const list_entry *last = &l->into->entries[l->into->count - 1];
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, l->memory->env, SIZE_MAX / 2);
  TRY(name_print(last->parts, last->part_count, &text, err));
  return list_set_token(l->into, buf_str(&text), err);
}

glv_status local_view_list(glv_conn *conn, glv_id parent, const page *p, glv_list *into,
                           glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, conn->handle.env);
  struct listing l = {.conn = conn_of(conn),
                      .memory = &a,
                      .into = into,
                      .room = p->has_limit ? p->limit : DEFAULT_PAGE};
  if (l.room == 0) {
    return GLV_OK;
  }
  if (p->token != NULL) {
    TRY(name_parse(&a, str_of(p->token), &l.after, &l.after_count, err));
    if (l.after_count == 0) {
      return FAIL(err, GLV_E_INVALID_INPUT, "page token '%s' is not one of this list", p->token);
    }
  }
  TRY(p->recursive ? list_below(&l, parent, 0, err) : list_namespace(&l, parent, err));
  return set_token(&l, err);
}
