/* Files of new columns. A data file has a value for every row of its fragment, the deleted ones
 * too; but expressions are evaluated for live rows only, so that a deleted row cannot fail them.
 *
 *   scan:     live rows, with their addresses
 *   restored: rows 0 .. physical_rows - 1 of each fragment, where a deleted row repeats the live
 *             row before it (the first ones that after them): no new nulls in a column without any
 *
 * Batches of the scan never cross fragments. A fragment without a live row gets nulls.
 */
#include "table/columns_private.h"

enum { RESTORED_LEAST_ROWS = 1024 };

struct restorer {
  glv_env *env; /* a reference */
  const table_snapshot *table;
  schema *schema; /* of the result; a reference */
  batch_reader in;
  batch live; /* of the scan; its last column: addresses */
  size_t next_live;
  bool is_ended;
  size_t fragment; /* position of the one that is being restored */
  uint64_t row;    /* its next row */
  batch last;      /* the last live row of this fragment; empty = none came */
  uint32_t *rows;  /* for taking */
  size_t capacity;
};

static void restorer_dispose(void *state) {
  struct restorer *r = state;
  glv_env *env = r->env;
  batch_dispose(&r->live);
  batch_dispose(&r->last);
  batch_reader_dispose(&r->in);
  schema_unref(r->schema);
  mem_free(env, r->rows);
  mem_free(env, r);
  env_unref(env);
}

static const fragment *current(const struct restorer *r) {
  return &r->table->fragments[r->fragment];
}

/* Address of live row i. */
static uint64_t address(const struct restorer *r, size_t i) {
  return ARRAY_VALUES(&r->live.columns[r->live.column_count - 1], uint64_t)[i];
}

static bool has_live(const struct restorer *r) { return r->next_live < r->live.length; }

static glv_status fetch_live(struct restorer *r, glv_error *err) {
  if (!has_live(r) && !r->is_ended) {
    batch_dispose(&r->live);
    r->next_live = 0;
    TRY(r->in.next(r->in.state, &r->live, &r->is_ended, err));
  }
  return GLV_OK;
}

/* The listed rows of b, or all when rows is NULL, without the column of addresses. */
static glv_status pick(struct restorer *r, const batch *b, const uint32_t *rows, size_t count,
                       batch *ret, glv_error *err) {
  CLEANUP(batch_dispose) batch out = {0};
  TRY(batch_new(r->env, r->schema, count, r->schema->field_count, &out, err));
  for (size_t i = 0; i < out.column_count; i++) {
    if (rows == NULL) {
      out.columns[i] = array_ref(&b->columns[i]);
    } else {
      TRY(array_take(r->env, &b->columns[i], rows, count, &out.columns[i], err));
    }
  }
  *ret = out;
  out = (batch){0};
  return GLV_OK;
}

/* The next rows as far as the batch at hand reaches, some of them deleted. */
static glv_status restore_some(struct restorer *r, batch *ret, glv_error *err) {
  const size_t most = r->live.length > RESTORED_LEAST_ROWS ? r->live.length : RESTORED_LEAST_ROWS;
  TRY(vec_reserve(r->env, &r->rows, &r->capacity, most, sizeof *r->rows, err));
  size_t count = 0;
  while (count < most && has_live(r)) {
    const bool is_live = (uint32_t)address(r, r->next_live) == r->row;
    const size_t before = r->next_live > 0 && !is_live ? r->next_live - 1 : r->next_live;
    r->rows[count++] = (uint32_t)before;
    r->next_live += is_live;
    r->row++;
  }
  return pick(r, &r->live, r->rows, count, ret, err);
}

/* Rows for the end of a fragment behind its last live row. */
static glv_status restore_end(struct restorer *r, batch *ret, glv_error *err) {
  const size_t count = (size_t)u64_min(current(r)->physical_rows - r->row, RESTORED_LEAST_ROWS);
  r->row += count;
  if (r->last.length > 0) {
    TRY(vec_reserve(r->env, &r->rows, &r->capacity, count, sizeof *r->rows, err));
    memset(r->rows, 0, count * sizeof *r->rows);
    return pick(r, &r->last, r->rows, count, ret, err);
  }
  CLEANUP(batch_dispose) batch out = {0};
  TRY(batch_new(r->env, r->schema, count, r->schema->field_count, &out, err));
  for (size_t i = 0; i < out.column_count; i++) {
    TRY(array_new_null(r->env, r->schema->fields[i].type, count, &out.columns[i], err));
  }
  *ret = out;
  out = (batch){0};
  return GLV_OK;
}

static glv_status restore_live(struct restorer *r, batch *ret, glv_error *err) {
  if (!current(r)->has_deletions) {
    r->row += r->live.length;
    r->next_live = r->live.length;
    return pick(r, &r->live, NULL, r->live.length, ret, err);
  }
  TRY(restore_some(r, ret, err));
  if (has_live(r)) {
    return GLV_OK;
  }
  glv_status status = GLV_OK;
  batch_dispose(&r->last);
  r->last = batch_slice(r->env, &r->live, r->live.length - 1, 1, err, &status);
  return status;
}

static glv_status restorer_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  struct restorer *r = state;
  *ret_end = false;
  TRY(fetch_live(r, err));
  if (r->fragment < r->table->fragment_count && r->row == current(r)->physical_rows) {
    r->fragment++;
    r->row = 0;
    batch_dispose(&r->last);
  }
  if (r->fragment == r->table->fragment_count) {
    *ret_end = true;
    return GLV_OK;
  }
  const bool is_live = has_live(r) && address(r, r->next_live) >> 32 == current(r)->id;
  const glv_status status = is_live ? restore_live(r, ret, err) : restore_end(r, ret, err);
  if (status != GLV_OK) {
    batch_dispose(ret);
  }
  return status;
}

static glv_status restorer_open(const table_snapshot *t, batch_reader *in, batch_reader *ret,
                                glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader from = *in;
  *in = (batch_reader){0};
  for (size_t i = 0; i < t->fragment_count; i++) {
    if (t->fragments[i].physical_rows == 0) {
      return FAIL(err, GLV_E_UNSUPPORTED,
                  "table '%s': the number of rows of fragment %llu is not known; compact the table",
                  table_name(t), (unsigned long long)t->fragments[i].id);
    }
  }
  glv_env *env = table_env(t);
  CLEANUP(schema_cleanup) schema *s = NULL;
  TRY(schema_new(env, from.schema->fields, from.schema->field_count - 1, (metadata){0}, &s, err));
  struct restorer *r = mem_zalloc(env, sizeof *r);
  if (r == NULL) {
    return error_nomem(err, sizeof *r);
  }
  r->env = env_ref(env);
  r->table = t;
  r->schema = schema_ref(s);
  r->in = from;
  from = (batch_reader){0};
  *ret = (batch_reader){s, restorer_next, restorer_dispose, r};
  s = NULL;
  return GLV_OK;
}

/* The rows before which the file of the next fragment begins. */
static glv_status find_cuts(const table_snapshot *t, arena *a, const uint64_t **ret,
                            glv_error *err) {
  uint64_t *cuts = ARENA_ARRAY(a, uint64_t, t->fragment_count);
  if (cuts == NULL) {
    return error_nomem(err, t->fragment_count * sizeof *cuts);
  }
  uint64_t rows = 0;
  for (size_t i = 0; i < t->fragment_count; i++) {
    rows += t->fragments[i].physical_rows;
    cuts[i] = rows;
  }
  *ret = cuts;
  return GLV_OK;
}

glv_status columns_stage(const table_snapshot *t, const lance_schema *s, batch_reader *in,
                         cancel_token *cancel, staged **ret, glv_error *err) {
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, table_env(t));
  stage_options o = {.file_rows = UINT32_MAX, .cut_count = t->fragment_count, .cancel = cancel};
  const glv_status status = find_cuts(t, &a, &o.cuts, err);
  if (status != GLV_OK) {
    batch_reader_dispose(in);
    return status;
  }
  CLEANUP(batch_reader_dispose) batch_reader restored = {0};
  TRY(restorer_open(t, in, &restored, err));
  return table_stage_as(t, s, &restored, &o, ret, err);
}
