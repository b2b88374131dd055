/* Grouped definitions (materialized-views 9.1): the outputs are typed by the planner of groups,
 * keep the nullability that it gives them; keys that are columns, or parts of structs, keep their
 * metadata. */
#include "view/plan_private.h"

/* The one function that only LanceDB's grouped views have: it reads an index. */
static glv_status groups_failed(const struct planner *p, glv_status status, glv_error *err) {
  if (status == GLV_E_SQL_PLAN && err != NULL &&
      strstr(err->message, "Invalid function 'ivf_partition'") != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "function 'ivf_partition' is not supported: views grouped by the partitions of an "
                "index are refreshed by LanceDB only");
  }
  return planner_part_failed(p, status, "invalid grouped view: ", err);
}

/* What the groups read: columns of the source, and `_rowid`, which stands behind them. */
static glv_status add_reads(struct planner *p, const group_plan *g, glv_error *err) {
  size_t column_count = 0;
  size_t path_count = 0;
  const size_t *columns = group_plan_columns(g, &column_count);
  const char *const *paths = group_plan_paths(g, &path_count);
  const char **kept = ARENA_ARRAY(&p->plan->memory, const char *, path_count);
  if (kept == NULL) {
    return error_nomem(err, path_count * sizeof *kept);
  }
  size_t kept_count = 0;
  for (size_t i = 0; i < path_count; i++) {
    if (strcmp(paths[i], "_rowid") != 0) {
      kept[kept_count++] = paths[i];
    }
  }
  if (column_count > 0 && columns[column_count - 1] == p->visible->field_count) {
    column_count--;
  }
  return planner_add_reads(p, columns, column_count, kept, kept_count, err);
}

glv_status planner_plan_groups(struct planner *p, glv_error *err) {
  for (size_t i = 0; i < p->projection_count; i++) {
    TRY(planner_check_output(p, i, err));
  }
  group_options options;
  TRY(planner_group_options(&p->plan->memory, &p->plan->definition, &options, err));
  CLEANUP(group_plan_cleanup) group_plan *g = NULL;
  const glv_status status = table_group_plan(p->source, &options, &g, err);
  TRY(status != GLV_OK ? groups_failed(p, status, err) : GLV_OK);
  const schema *result = group_plan_schema(g);
  for (size_t i = 0; i < p->projection_count; i++) {
    field *f = &p->fields[i];
    bool ok = true;
    *f = (field){.name = p->projections[i].output, .nullable = result->fields[i].nullable};
    f->metadata = lineage_field_metadata(&p->plan->memory, result->fields[i].metadata, &ok);
    TRY(ok ? GLV_OK : error_nomem(err, sizeof *f));
    TRY(planner_store_type(p, i, result->fields[i].type, &f->type, err));
  }
  return add_reads(p, g, err);
}
