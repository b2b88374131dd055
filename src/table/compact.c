/* Compaction (lance-table-format 18): plan groups of fragments, copy their live rows in order into
 * new files, reserve ids for these, commit.
 *
 *   plan on one snapshot S
 *   for rounds of groups, each of a bounded number of rows:
 *     scan the groups' fragments as one stream into new files, cut at the borders of groups
 *     ReserveFragments: ids max_fragment_id + 1 .. + n
 *     Rewrite, computed from S
 *
 * The groups of a plan have no fragment in common, so the rounds of one plan do not meet each
 * other. A commit of somebody else that touches a group ends the plan with a conflict; what is left
 * is then planned anew on the latest version. A failed round leaves a reservation at most, which
 * costs numbers and nothing else. Memory: the scan's windows, and 8 bytes for each row of a round.
 */
#include "table/compact.h"

#include <stdio.h>

#include "table/compact_private.h"
#include "table/retry.h"
#include "table/scan.h"
#include "table/stage_private.h"

static const uint64_t round_rows = 8u << 20;
static const double default_threshold = 0.1;

/* ---- one round ---- */

struct round {
  const table_snapshot *table;
  const compact_options *options;
  const compact_group *groups;
  size_t count;
  arena memory;
  scan_fragment *fragments;
  size_t fragment_count;
  uint64_t live_rows;
  uint64_t data_files; /* of the old fragments */
  uint64_t *cuts;      /* where files end */
  size_t cut_count;
  rewrite_group *rewritten;
  carried_rows carried;
  staged *rows;
  uint64_t first_id;
};

static void round_cleanup(struct round *r) {
  staged_discard(r->rows);
  carried_dispose(&r->carried);
  arena_dispose(&r->memory);
}

/* Files of about equal size, none smaller than the target when there are several. */
static uint64_t files_of(const struct round *r, const compact_group *g) {
  return g->live_rows == 0 ? 0 : u64_max(1, g->live_rows / r->options->target_rows);
}

static void cut_group(struct round *r, const compact_group *g) {
  const uint64_t files = files_of(r, g);
  for (uint64_t i = 0; i < files; i++) {
    r->live_rows += g->live_rows / files + (i < g->live_rows % files);
    r->cuts[r->cut_count++] = r->live_rows;
  }
}

static glv_status describe_group(struct round *r, size_t index, glv_error *err) {
  const compact_group *g = &r->groups[index];
  uint64_t *ids = ARENA_ARRAY(&r->memory, uint64_t, g->count);
  if (ids == NULL) {
    return error_nomem(err, g->count * sizeof *ids);
  }
  for (size_t i = 0; i < g->count; i++) {
    const fragment *f = g->fragments[i];
    ids[i] = f->id;
    r->fragments[r->fragment_count++] = (scan_fragment){f->id, NULL};
    r->data_files += f->file_count;
    if (table_has_stable_row_ids(r->table)) {
      TRY(carried_add(&r->carried, r->table, f, err));
    }
  }
  cut_group(r, g);
  r->rewritten[index] = (rewrite_group){ids, g->count, (size_t)files_of(r, g)};
  return GLV_OK;
}

static glv_status describe_groups(struct round *r, glv_error *err) {
  size_t fragments = 0;
  size_t files = 0;
  for (size_t i = 0; i < r->count; i++) {
    fragments += r->groups[i].count;
    files += (size_t)files_of(r, &r->groups[i]);
  }
  r->fragments = ARENA_ARRAY(&r->memory, scan_fragment, fragments);
  r->cuts = ARENA_ARRAY(&r->memory, uint64_t, files);
  r->rewritten = ARENA_ARRAY(&r->memory, rewrite_group, r->count);
  if (r->fragments == NULL || r->cuts == NULL || r->rewritten == NULL) {
    return error_nomem(err, fragments * sizeof *r->fragments);
  }
  for (size_t i = 0; i < r->count; i++) {
    TRY(describe_group(r, i, err));
  }
  return GLV_OK;
}

static glv_status copy_rows(struct round *r, glv_error *err) {
  const char *name = table_name(r->table);
  const scan_options scan = {.fragments = r->fragments,
                             .fragment_count = r->fragment_count,
                             .cancel = r->options->stage.cancel};
  stage_options stage = r->options->stage;
  stage.file_rows = UINT64_MAX; /* the cuts alone decide */
  stage.cuts = r->cuts;
  stage.cut_count = r->cut_count;
  batch_reader reader;
  TRY(table_scan(r->table, &scan, &reader, err));
  TRY(table_stage(r->table, &reader, &stage, &r->rows, err));
  const bool is_stable = table_has_stable_row_ids(r->table);
  if (staged_rows(r->rows) != r->live_rows || (is_stable && r->carried.count != r->live_rows)) {
    return FAIL(err, GLV_E_CORRUPT,
                "table '%s': version %llu promises %llu rows in the fragments to compact, there "
                "are %llu",
                name, (unsigned long long)table_version(r->table), (unsigned long long)r->live_rows,
                (unsigned long long)staged_rows(r->rows));
  }
  return GLV_OK;
}

/* Ids for the new fragments: the highest ones of the version that reserved them. */
static glv_status reserve_ids(struct round *r, uint32_t *attempts, glv_error *err) {
  const size_t files = staged_file_count(r->rows);
  if (files == 0) {
    return GLV_OK;
  }
  const operation op = {.kind = OPERATION_RESERVE_FRAGMENTS, .reserved = (uint32_t)files};
  const commit_options how = {.cancel = r->options->stage.cancel};
  CLEANUP(table_cleanup) table_snapshot *made = NULL;
  uint32_t tried = 0;
  TRY(table_commit(r->table, &op, &how, &made, &tried, err));
  *attempts += tried;
  r->first_id = (uint64_t)made->manifest->max_fragment_id - files + 1;
  return GLV_OK;
}

static glv_status rewrite(struct round *r, table_snapshot **ret, uint32_t *attempts,
                          glv_error *err) {
  const row_origin origin = {.ids = r->carried.ids,
                             .count = r->carried.count,
                             .created = r->carried.created,
                             .created_count = r->carried.created_count,
                             .updated = r->carried.updated,
                             .updated_count = r->carried.updated_count};
  const operation op = {.kind = OPERATION_REWRITE,
                        .rows = r->rows,
                        .origin = r->carried.count > 0 ? &origin : NULL,
                        .groups = r->rewritten,
                        .group_count = r->count,
                        .first_id = r->first_id};
  const commit_options how = {.cancel = r->options->stage.cancel};
  uint32_t tried = 0;
  const glv_status status = table_commit(r->table, &op, &how, ret, &tried, err);
  *attempts += tried;
  return status;
}

/* Copies and commits some groups. */
static glv_status run_round(const table_snapshot *t, const compact_options *options,
                            const compact_group *groups, size_t count, table_snapshot **ret,
                            compact_result *result, glv_error *err) {
  CLEANUP(round_cleanup)
  struct round r = {.table = t, .options = options, .groups = groups, .count = count};
  arena_init(&r.memory, table_env(t));
  carried_init(&r.carried, table_env(t));
  TRY(describe_groups(&r, err));
  TRY(copy_rows(&r, err));
  const uint64_t files = staged_file_count(r.rows);
  const uint64_t bytes = staged_bytes(r.rows);
  TRY(reserve_ids(&r, &result->attempts, err));
  table_snapshot *made = NULL;
  TRY(staged_settle(&r.rows, rewrite(&r, &made, &result->attempts, err)));
  table_unref(*ret);
  *ret = made;
  result->fragments_removed += r.fragment_count;
  result->fragments_added += files;
  result->files_removed += r.data_files;
  result->files_added += files;
  result->rows += r.live_rows;
  result->bytes += bytes;
  return GLV_OK;
}

/* ---- all of them ---- */

/* In the column or below. Schemas are not deeper than LIMIT_TYPE_DEPTH. */
static bool has_blobs(const lance_field *f) { /* NOLINT(misc-no-recursion) */
  bool found = f->blob != BLOB_NONE;
  for (size_t i = 0; i < f->child_count && !found; i++) {
    found = has_blobs(&f->children[i]);
  }
  return found;
}

/* What cannot be compacted is told before anything is copied. */
static glv_status check_table(const table_snapshot *t, glv_error *err) {
  const lance_schema *s = table_lance_schema(t);
  TRY(table_check_writable(t, err));
  TRY(table_check_supported(t, err));
  if (table_has_index(t, "__lance_frag_reuse")) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s': pylance has put off the remapping of its indexes "
                "(__lance_frag_reuse); compact the table with it",
                table_name(t));
  }
  for (size_t i = 0; i < s->field_count; i++) {
    if (has_blobs(&s->fields[i])) {
      return FAIL(err, GLV_E_UNSUPPORTED,
                  "table '%s': column '%s' holds blobs, which this release does not write; compact "
                  "the table with pylance",
                  table_name(t), s->fields[i].arrow.name);
    }
  }
  return GLV_OK;
}

/* Groups that a round takes: at least one, and no more rows than a round may have. */
static size_t take_groups(const compact_group *groups, size_t count) {
  uint64_t rows = groups[0].live_rows;
  size_t taken = 1;
  while (taken < count && rows + groups[taken].live_rows <= round_rows) {
    rows += groups[taken++].live_rows;
  }
  return taken;
}

struct compaction {
  const compact_options *options;
  compact_result result;
};

/* A table_work: everything that is to be done on base. */
static glv_status compact_all(void *context, const table_snapshot *base, table_snapshot **ret,
                              uint32_t *ret_attempts, glv_error *err) {
  struct compaction *c = context;
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, table_env(base));
  compact_group *groups;
  size_t count;
  const uint32_t before = c->result.attempts;
  TRY(compact_plan(base, c->options, &a, &groups, &count, err));
  if (count > 0) {
    TRY(check_table(base, err));
  }
  CLEANUP(table_cleanup) table_snapshot *made = table_ref(base);
  for (size_t first = 0; first < count;) {
    const size_t taken = take_groups(groups + first, count - first);
    TRY(run_round(base, c->options, groups + first, taken, &made, &c->result, err));
    first += taken;
  }
  *ret = made;
  made = NULL;
  *ret_attempts = c->result.attempts - before;
  return GLV_OK;
}

glv_status table_compact(const table_snapshot *t, const compact_options *options,
                         table_snapshot **ret, compact_result *ret_result, glv_error *err) {
  compact_options o = options != NULL ? *options : (compact_options){0};
  o.target_rows = o.target_rows != 0 ? o.target_rows : TABLE_FILE_ROWS;
  o.deletion_threshold = o.deletion_threshold != 0 ? o.deletion_threshold : default_threshold;
  struct compaction c = {.options = &o};
  TRY(table_retry(t, compact_all, &c, o.stage.cancel, ret, NULL, err));
  if (ret_result != NULL) {
    *ret_result = c.result;
  }
  return GLV_OK;
}
