/*
 * A view is created complete and empty: one version with its columns, its definition, and an
 * incarnation token that no other physical table has. Filling it is a refresh like any other.
 */
#include "view/create.h"

#include "table/write.h"
#include "view/watermark.h"

/* ---- cycles ---- */

struct coordinate {
  const char *const *names;
  size_t name_count;
  const char *table;
};

static bool same_coordinate(const struct coordinate *a, const struct coordinate *b) {
  bool same = a->name_count == b->name_count && strcmp(a->table, b->table) == 0;
  for (size_t i = 0; i < a->name_count && same; i++) {
    same = strcmp(a->names[i], b->names[i]) == 0;
  }
  return same;
}

static glv_status append_coordinate(buf *path, const struct coordinate *c, glv_error *err) {
  for (size_t i = 0; i < c->name_count; i++) {
    TRY(buf_printf(path, err, "%s.", c->names[i]));
  }
  return buf_append_str(path, str_of(c->table), err);
}

/* The source of the view at `at`; *ret_found is false when there is no readable view there. */
static glv_status next_source(const view_database *db, arena *a, const struct coordinate *at,
                              struct coordinate *ret, bool *ret_found, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *t = NULL;
  *ret_found = false;
  const glv_status status = db->open(db->context, at->names, at->name_count, at->table, 0, &t, err);
  if (status == GLV_E_TABLE_NOT_FOUND) {
    return GLV_OK;
  }
  TRY(status);
  bool is_view = false;
  const str stored = table_metadata_get(t, STR(VIEW_KEY_DEFINITION), &is_view);
  if (!is_view) {
    return GLV_OK;
  }
  definition_read read;
  TRY(definition_examine(a, stored, false, &read, err));
  if (read.state == DEFINITION_OK) {
    *ret = (struct coordinate){read.definition.source_namespace, read.definition.namespace_count,
                               read.definition.source_table};
    *ret_found = true;
  }
  return GLV_OK;
}

glv_status view_check_cycle(glv_env *env, const view_database *db, const view_definition *d,
                            const char *const *names, size_t name_count, const char *table,
                            glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  CLEANUP(buf_dispose) buf path;
  buf_init(&path, env, SIZE_MAX / 2);
  const struct coordinate self = {names, name_count, table};
  struct coordinate at = {d->source_namespace, d->namespace_count, d->source_table};
  TRY(append_coordinate(&path, &self, err));
  for (unsigned depth = 1;; depth++) {
    TRY(buf_append_str(&path, STR(" -> "), err));
    TRY(append_coordinate(&path, &at, err));
    if (same_coordinate(&at, &self)) {
      return FAIL(err, GLV_E_INVALID_INPUT, "materialized view '%s' would read itself: %s", table,
                  path.data);
    }
    bool found = false;
    TRY(next_source(db, &a, &at, &at, &found, err));
    if (!found) {
      return GLV_OK;
    }
    if (depth == VIEW_MAX_DEPTH) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "materialized view '%s' would nest deeper than %d views", table, VIEW_MAX_DEPTH);
    }
  }
}

/* ---- the table ---- */

glv_status view_create_table(const view_plan *plan, const char *path, const char *name,
                             table_snapshot **ret, glv_error *err) {
  CLEANUP(buf_dispose) buf definition;
  buf_init(&definition, plan->env, SIZE_MAX / 2);
  TRY(definition_write(&plan->definition, &definition, err));
  char incarnation[INCARNATION_SIZE + 1];
  TRY(incarnation_new(plan->env, incarnation, err));

  CLEANUP(arena_dispose) arena a;
  arena_init(&a, plan->env);
  const metadata carried = plan->columns->metadata;
  pair *pairs = ARENA_ARRAY(&a, pair, carried.count + 2);
  if (pairs == NULL) {
    return error_nomem(err, (carried.count + 2) * sizeof *pairs);
  }
  for (size_t i = 0; i < carried.count; i++) {
    pairs[i] = carried.pairs[i];
  }
  pairs[carried.count] = (pair){STR(VIEW_KEY_DEFINITION), buf_str(&definition)};
  pairs[carried.count + 1] = (pair){STR(VIEW_KEY_INCARNATION), str_of(incarnation)};

  CLEANUP(schema_cleanup) schema *s = NULL;
  TRY(schema_new(plan->env, plan->columns->fields, plan->columns->field_count,
                 (metadata){pairs, carried.count + 2}, &s, err));
  return table_create(plan->env, path, name, s, NULL, NULL, ret, err);
}
