/* The rows of a planned view: which scan of the source gives them. */
#include "view/plan_private.h"

scan_unnest planner_unnest(const view_definition *d) {
  return d->unnest_column == NULL
             ? (scan_unnest){0}
             : (scan_unnest){str_of(d->unnest_column), str_of(d->unnest_alias)};
}

glv_status planner_group_options(arena *a, const view_definition *d, group_options *ret,
                                 glv_error *err) {
  group_item *items = ARENA_ARRAY(a, group_item, d->projection_count);
  str *keys = ARENA_ARRAY(a, str, d->group_count);
  if (items == NULL || keys == NULL) {
    return error_nomem(err, d->projection_count * sizeof *items);
  }
  for (size_t i = 0; i < d->projection_count; i++) {
    items[i] = (group_item){str_of(d->projections[i].output), str_of(d->projections[i].expression)};
  }
  for (size_t i = 0; i < d->group_count; i++) {
    keys[i] = str_of(d->groups[i]);
  }
  *ret = (group_options){.items = items,
                         .item_count = d->projection_count,
                         .keys = keys,
                         .key_count = d->group_count,
                         .expr_flags = EXPR_VIEW,
                         .filter = str_of(d->filter)};
  return GLV_OK;
}

static glv_status scan_groups(const view_plan *p, const table_snapshot *source,
                              const view_scan *what, batch_reader *ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, p->env);
  group_options options;
  TRY(planner_group_options(&a, &p->definition, &options, err));
  options.row_id_name = what->with_provenance ? VIEW_SOURCE_ROW_ID : NULL;
  options.cancel = what->cancel;
  return table_scan_groups(source, &options, ret, err);
}

glv_status view_plan_scan(const view_plan *p, const table_snapshot *source, const view_scan *what,
                          batch_reader *ret, glv_error *err) {
  if (view_plan_is_grouped(p)) {
    return scan_groups(p, source, what, ret, err);
  }
  const scan_options options = {.columns = p->outputs,
                                .column_count = p->output_count,
                                .unnest = planner_unnest(&p->definition),
                                .filter = str_of(p->definition.filter),
                                .expr_flags = EXPR_VIEW,
                                .has_limit = what->has_limit,
                                .limit = what->limit,
                                .with_row_id = what->with_provenance,
                                .row_id_name = VIEW_SOURCE_ROW_ID,
                                .fragments = what->fragments,
                                .fragment_count = what->fragment_count,
                                .cancel = what->cancel};
  return table_scan(source, &options, ret, err);
}
