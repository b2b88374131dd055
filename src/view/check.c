/* What a view asks of its source, and of its own table. */
#include "io/io.h"
#include "view/computed.h"
#include "view/plan.h"

glv_status view_check_source(const table_snapshot *source, bool at_create, glv_error *err) {
  if (!table_has_stable_row_ids(source)) {
    return at_create ? FAIL(err, GLV_E_INVALID_INPUT,
                            "materialized views require stable row ids on the source table; create "
                            "'%s' with storage option "
                            "new_table_enable_stable_row_ids=true, or give it row ids: glaive "
                            "table migrate NAME --stable-row-ids",
                            table_name(source))
                     : FAIL(err, GLV_E_INVALID_INPUT,
                            "source table '%s' does not have stable row ids; it is not the table "
                            "this view was declared over",
                            table_name(source));
  }
  return view_check_lsm(source, "source table", err);
}

static bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* 8-4-4-4-12 hex digits. */
static bool is_uuid(const char *name) {
  if (strlen(name) != 36) {
    return false;
  }
  for (size_t i = 0; i < 36; i++) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (hyphen ? name[i] != '-' : !is_hex(name[i])) {
      return false;
    }
  }
  return true;
}

static glv_status find_uuid(void *context, const char *name, int32_t is_directory, glv_error *err) {
  (void)err;
  bool *found = context;
  *found = *found || (is_directory != 0 && is_uuid(name));
  return GLV_OK;
}

glv_status view_check_lsm(const table_snapshot *t, const char *role, glv_error *err) {
  bool found = table_has_index(t, "__lance_mem_wal");
  if (!found) {
    CLEANUP(arena_dispose) arena a;
    arena_init(&a, table_env(t));
    const char *path = path_join(&a, str_of(table_path(t)), STR("_mem_wal"));
    if (path == NULL) {
      return error_nomem(err, 0);
    }
    glv_error error = {0};
    const glv_status status = io_list(table_env(t), NULL, path, find_uuid, &found, &error);
    if (status != GLV_OK && !io_is_missing(&error)) {
      if (err != NULL) {
        *err = error;
      }
      return status;
    }
  }
  return found ? FAIL(err, GLV_E_UNSUPPORTED,
                      "%s '%s' has an LSM write spec or retained un-compacted rows: rows in "
                      "un-compacted tiers are "
                      "invisible to refresh",
                      role, table_name(t))
               : GLV_OK;
}

static bool is_view_of(const type *stored, const type *planned) {
  return (planned->kind == TYPE_UTF8_VIEW && stored->kind == TYPE_UTF8) ||
         (planned->kind == TYPE_BINARY_VIEW && stored->kind == TYPE_BINARY);
}

static bool same_type(const field *stored, const field *planned) {
  return type_equal(stored->type, planned->type) || is_view_of(stored->type, planned->type);
}

/* Of groups, the engine that made the table may have known better which columns have no nulls; one
 * that turns up all the same is refused when it is written. */
glv_status view_plan_matches(const view_plan *p, const table_snapshot *view,
                             bool *ret_has_provenance, glv_error *err) {
  TRY(table_check_supported(view, err));
  const schema *stored = table_schema(view);
  const size_t planned_count = p->columns->field_count; /* provenance included */
  size_t count = 0;                                     /* stored columns but computed ones */
  bool ok = true;
  for (size_t i = 0; i < stored->field_count && ok; i++) {
    const field *s = &stored->fields[i];
    if (is_computed(s)) {
      continue;
    }
    const field *f = count < planned_count ? &p->columns->fields[count] : NULL;
    ok = f != NULL && strcmp(s->name, f->name) == 0 && same_type(s, f) &&
         (s->nullable || !f->nullable || view_plan_is_grouped(p));
    count++;
  }
  if (!ok || (count != planned_count && count + 1 != planned_count)) {
    return FAIL(
        err, GLV_E_SCHEMA,
        "the stored definition of view '%s' does not produce this view's schema; recreate the view",
        table_name(view));
  }
  *ret_has_provenance = count == planned_count;
  return GLV_OK;
}
