/*
 * Merging rows by key. An attempt, computed from one version:
 *
 *   key columns of the target -> which rows match which source rows -> the condition of updates
 *   target rows without a match -> the condition of deletes
 *   new fragments: the updated rows, then the inserted ones
 *   one commit: the new fragments, and the deletion of rows that were updated or are to go
 *
 * The source is read once, before the first attempt, and held until the last.
 */
#include "table/merge_private.h"
#include "table/stage_private.h"
#include "table/table_private.h"

struct job {
  merge_source source;
  const merge_options *options;
  row_result result; /* of the last attempt */
};

static void job_dispose(struct job *j) { merge_source_dispose(&j->source); }

/* ---- resolving ---- */

/* Where the source has the columns of the table. */
static glv_status match_columns(merge_plan *p, glv_error *err) {
  const lance_schema *s = table_lance_schema(p->table);
  TRY(stage_check_names(table_name(p->table), s, p->source->schema, err));
  p->positions = ARENA_ARRAY(p->memory, size_t, s->field_count);
  if (p->positions == NULL) {
    return error_nomem(err, s->field_count * sizeof *p->positions);
  }
  for (size_t i = 0; i < s->field_count; i++) {
    TRY(stage_match(table_name(p->table), &s->fields[i], p->source->schema, &p->positions[i], err));
    if (p->positions[i] != SIZE_MAX) {
      continue;
    }
    p->missing++;
    if (p->options->insert_unmatched && !s->fields[i].arrow.nullable) {
      return FAIL(err, GLV_E_SCHEMA,
                  "table '%s': Cannot insert rows with a partial-schema source: column '%s' is "
                  "missing in the data and cannot be null",
                  table_name(p->table), s->fields[i].arrow.name);
    }
  }
  return GLV_OK;
}

/* ---- the commit ---- */

/* Rows of the target to delete because no source row matches them. */
static glv_status choose_deleted(const merge_plan *p, const merge_matches *m, row_marks *ret,
                                 glv_error *err) {
  if (p->options->delete_if.size == 0 || m->unmatched.rows == 0) {
    return row_marks_join(ret, &m->unmatched, err);
  }
  scan_options scan = {.filter = p->options->delete_if,
                       .expr_flags = p->options->expr_flags,
                       .cancel = p->options->cancel};
  TRY(row_marks_fragments(&m->unmatched, p->memory, &scan.fragments, &scan.fragment_count, err));
  return row_marks_scan(ret, &scan, err);
}

static glv_status stage_rows_of(const merge_plan *p, const merge_matches *m, row_moves *moves,
                                staged **ret, glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  TRY(merge_rows(p, m, moves, &r, err));
  const stage_options stage = {.cancel = p->options->cancel};
  return table_stage(p->table, &r, &stage, ret, err);
}

static uint64_t count_inserted(const merge_plan *p, const merge_matches *m) {
  uint64_t count = 0;
  for (size_t row = 0; p->options->insert_unmatched && row < p->source->rows; row++) {
    count += merge_is_inserted(m, row);
  }
  return count;
}

/* The filter of inserted keys, when rows are written by primary key. */
static glv_status add_filter(const merge_plan *p, const merge_matches *m, operation *op,
                             glv_error *err) {
  bloom *filter = arena_alloc(p->memory, sizeof *filter);
  if (filter == NULL) {
    return error_nomem(err, sizeof *filter);
  }
  TRY(merge_filter(p, m, filter, err));
  op->filter_fields = p->key_fields;
  op->filter_field_count = p->key_count;
  op->filter_bloom = bloom_bytes(filter);
  return GLV_OK;
}

static glv_status commit(const merge_plan *p, const merge_matches *m, row_result *result,
                         table_snapshot **ret, uint32_t *ret_attempts, glv_error *err) {
  CLEANUP(row_marks_dispose) row_marks gone = {0};
  CLEANUP(row_moves_dispose) row_moves moves = {0};
  CLEANUP(staged_cleanup) staged *files = NULL;
  TRY(row_marks_init(&gone, p->memory, p->table, err));
  row_moves_init(&moves, p->table);
  TRY(choose_deleted(p, m, &gone, err));
  *result =
      (row_result){.inserted = count_inserted(p, m), .updated = m->count, .deleted = gone.rows};
  TRY(row_marks_join(&gone, &m->matched, err));
  operation op = {.kind = OPERATION_UPDATE};
  row_origin origin;
  if (result->inserted + result->updated > 0) {
    TRY(stage_rows_of(p, m, &moves, &files, err));
    row_moves_origin(&moves, &origin, &op);
    TRY(p->is_primary ? add_filter(p, m, &op, err) : GLV_OK);
  } else if (result->deleted == 0) {
    *ret = table_ref(p->table);
    return GLV_OK;
  }
  TRY(row_marks_delete(&gone, p->memory, &op, err));
  TRY(row_fields_set(p->table, p->memory, NULL, &op, err));
  return row_commit(p->table, &op, &files, p->options->cancel, ret, ret_attempts, err);
}

static glv_status attempt(void *context, const table_snapshot *t, table_snapshot **ret,
                          uint32_t *ret_attempts, glv_error *err) {
  struct job *j = context;
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, table_env(t));
  merge_plan p = {.table = t, .source = &j->source, .options = j->options, .memory = &a};
  TRY(table_check_supported(t, err));
  TRY(merge_choose_keys(&p, err));
  TRY(match_columns(&p, err));
  TRY(j->source.has_keys ? GLV_OK
                         : merge_source_index(&j->source, p.key_columns, p.key_count, err));
  CLEANUP(merge_matches_dispose) merge_matches m = {0};
  TRY(merge_match(&p, &m, err));
  return commit(&p, &m, &j->result, ret, ret_attempts, err);
}

glv_status table_merge(const table_snapshot *t, batch_reader *in, const merge_options *options,
                       table_snapshot **ret, row_result *ret_result, glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader r = *in;
  *in = (batch_reader){0};
  TRY(table_check_writable(t, err));
  if (!options->update_matched && !options->insert_unmatched && !options->delete_unmatched) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "The merge insert job is not configured to change the data in any way");
  }
  CLEANUP(job_dispose) struct job j = {.options = options};
  j.source.env = table_env(t);
  TRY(merge_source_read(&j.source, &r, options->cancel, err));
  uint32_t attempts = 0;
  TRY(table_retry(t, attempt, &j, options->cancel, ret, &attempts, err));
  row_done(&j.result, attempts, ret_result);
  return GLV_OK;
}
