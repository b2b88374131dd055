/* Upkeep of tables: opening by tag and branch, tags, compaction, restore, migration,
 * cleanup. */
#include "backend/rows.h"
#include "local/local_private.h"
#include "table/cleanup.h"
#include "table/compact.h"
#include "table/migrate.h"
#include "table/restore.h"
#include "table/tags.h"
#include "view/maintain.h"
#include "view/summary.h"

/* ---- opening ---- */

static glv_status open_branch(const table_snapshot *root, const char *branch, uint64_t version,
                              table_snapshot **ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table_env(root));
  char *path;
  TRY(table_branch_path(&a, table_path(root), branch, &path, err));
  const char *name = arena_printf(&a, "%s@%s", table_name(root), branch);
  if (name == NULL) {
    return error_nomem(err, 0);
  }
  glv_error report = {0};
  const glv_status status = table_open(table_env(root), path, name, version, ret, &report);
  if (status == GLV_E_TABLE_NOT_FOUND) {
    return FAIL(err, GLV_E_BRANCH_NOT_FOUND, "table '%s' has no branch '%s'", table_name(root),
                branch);
  }
  if (status != GLV_OK && err != NULL) {
    *err = report;
  }
  return status;
}

static glv_status open_tag(const table_snapshot *root, const char *name, table_snapshot **ret,
                           glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table_env(root));
  table_tag tag;
  TRY(table_tag_find(root, name, &a, &tag, err));
  return tag.branch != NULL ? open_branch(root, tag.branch, tag.version, ret, err)
                            : table_open_version(root, tag.version, ret, err);
}

glv_status local_table_open_at(local_conn *conn, glv_id id, const glv_open_options *options,
                               arena *a, catalog_table *ret_at, table_snapshot **ret,
                               glv_error *err) {
  if (options->tag == NULL && options->branch == NULL) {
    return local_table_find(conn, id, options->version, a, ret_at, ret, err);
  }
  CLEANUP(table_cleanup) table_snapshot *root = NULL;
  TRY(local_table_find(conn, id, 0, a, ret_at, &root, err));
  return options->tag != NULL ? open_tag(root, options->tag, ret, err)
                              : open_branch(root, options->branch, options->version, ret, err);
}

glv_status local_table_open_other(const table_snapshot *t, const glv_open_options *options,
                                  table_snapshot **ret, glv_error *err) {
  return options->tag != NULL ? open_tag(t, options->tag, ret, err)
                              : table_open_version(t, options->version, ret, err);
}

/* ---- tags ---- */

glv_status local_table_tags(glv_table *table, batch_reader *ret, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  table_tag *tags = NULL;
  size_t count = 0;
  TRY(table_tags(snapshot, &a, &tags, &count, err));
  tag_row *rows = ARENA_ARRAY(&a, tag_row, count);
  if (rows == NULL) {
    return error_nomem(err, count * sizeof *rows);
  }
  for (size_t i = 0; i < count; i++) {
    const table_tag *t = &tags[i];
    rows[i] = (tag_row){.name = t->name,
                        .version = t->version,
                        .branch = t->branch,
                        .has_created = t->has_created,
                        .has_updated = t->has_updated,
                        .created_ns = t->created_ns,
                        .updated_ns = t->updated_ns,
                        .has_manifest_size = t->manifest_bytes != 0,
                        .manifest_size = t->manifest_bytes};
  }
  return tag_rows_reader(table->handle.env, rows, count, ret, err);
}

glv_status local_table_tag_set(glv_table *table, const char *tag, uint64_t version,
                               const glv_call_options *options, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  return table_tag_set(snapshot, tag, version != 0 ? version : table_version(snapshot),
                       (options->flags & GLV_TAG_MOVE) != 0, err);
}

glv_status local_table_tag_drop(glv_table *table, const char *tag, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  return table_tag_drop(snapshot, tag, err);
}

/* ---- compaction ---- */

/* LanceDB takes a view with a commit after its stamp for changed: an intact one is stamped again.
 * The compaction stands whatever becomes of that; the next refresh stamps, too. */
static table_snapshot *stamp_compacted(table_snapshot *made, cancel_token *cancel) {
  table_snapshot *stamped = NULL;
  if (view_stamp_maintained(made, cancel, &stamped, NULL) != GLV_OK) {
    return made;
  }
  table_unref(made);
  return stamped;
}

static void fill_compacted(const compact_result *from, uint64_t version, glv_compact_result *ret) {
  ret->attempts = from->attempts;
  ret->version = version;
  ret->fragments_removed = from->fragments_removed;
  ret->fragments_added = from->fragments_added;
  ret->files_removed = from->files_removed;
  ret->files_added = from->files_added;
  ret->rows = from->rows;
  ret->bytes = from->bytes;
}

glv_status local_table_compact(glv_table *table, const glv_compact_options *options,
                               glv_compact_result *ret, glv_error *err) {
  local_table *t = table_of(table);
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  TRY(local_latest_for_write(t, "compact", GLV_WRITE_VIEW, &latest, err));
  bool was_intact = false;
  struct summary_context context;
  compact_options o = {.target_rows = options->target_rows,
                       .deletion_threshold = options->deletion_threshold,
                       .stage = {.cancel = options->cancel}};
  if (local_is_view(latest)) {
    TRY(view_is_intact(latest, &was_intact, err));
    TRY(view_summary_stage(latest, &context, &o.stage, err));
  }
  compact_result result = {0};
  table_snapshot *made = NULL;
  TRY(table_compact(latest, &o, &made, &result, err));
  if (was_intact && result.attempts > 0) {
    made = stamp_compacted(made, options->cancel);
  }
  fill_compacted(&result, table_version(made), ret);
  local_table_advance(t, made);
  return GLV_OK;
}

/* ---- restore ---- */

glv_status local_table_restore(glv_table *table, const glv_call_options *options, glv_error *err) {
  local_table *t = table_of(table);
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(t);
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  if (table_branch(snapshot) != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "cannot restore branch '%s' of '%s': branches are only read",
                table_branch(snapshot), t->name);
  }
  TRY(table_open_version(snapshot, 0, &latest, err));
  if ((options->flags & GLV_WRITE_VIEW) == 0 && local_is_view(latest)) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "cannot restore '%s': it is a materialized view, which only refresh writes",
                t->name);
  }
  table_snapshot *made = NULL;
  TRY(table_restore(latest, table_version(snapshot), options->cancel, &made, err));
  local_table_move(t, made, false);
  return GLV_OK;
}

/* ---- migration ---- */

glv_status local_table_migrate(glv_table *table, const glv_call_options *options, glv_error *err) {
  local_table *t = table_of(table);
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  table_snapshot *made = NULL;
  TRY(local_latest_for_write(t, "migrate", 0, &latest, err));
  TRY(table_migrate_row_ids(latest, options->cancel, &made, err));
  local_table_advance(t, made);
  return GLV_OK;
}

/* ---- cleanup ---- */

static int64_t ms_to_ns(int64_t ms) {
  int64_t ns;
  return __builtin_mul_overflow(ms, INT64_C(1000000), &ns) ? INT64_MAX : ns;
}

glv_status local_table_cleanup(glv_table *table, int64_t older_than_ms,
                               const glv_call_options *options, glv_cleanup_result *ret,
                               glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *snapshot = local_table_snapshot(table_of(table));
  CLEANUP(table_cleanup) table_snapshot *latest = NULL;
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table->handle.env);
  TRY(table_open_version(snapshot, 0, &latest, err));
  uint64_t *keep = NULL;
  cleanup_options o = {.older_than_ns = ms_to_ns(older_than_ms),
                       .refuse_tagged = (options->flags & GLV_CLEANUP_REFUSE_TAGGED) != 0,
                       .dry_run = (options->flags & GLV_CLEANUP_DRY_RUN) != 0,
                       .cancel = options->cancel};
  TRY(local_needed_versions(conn_of(table->conn), latest, &a, &keep, &o.keep_count, &o.keep_from,
                            err));
  o.keep = keep;
  cleanup_result result = {0};
  TRY(table_cleanup_versions(latest, &o, &result, err));
  ret->versions = result.versions;
  ret->data_files = result.data_files;
  ret->deletion_files = result.deletion_files;
  ret->transaction_files = result.transaction_files;
  ret->index_files = result.index_files;
  ret->bytes = result.bytes;
  return GLV_OK;
}
