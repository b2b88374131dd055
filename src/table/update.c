/*
 * Updating rows: one scan reads the rows that match, with the set columns computed, and hands them
 * to the staging of new data files; what it saw of their identity on the way goes into the commit,
 * together with the deletion of the rows where they stood.
 */
#include "expr/json_columns.h"
#include "table/rows_private.h"
#include "table/table_private.h"
#include "table/write.h"

struct job {
  const row_assignment *set;
  size_t count;
  str filter;
  const row_options *options;
  row_result result; /* of the last attempt */
};

/* ---- assignments ---- */

static glv_status find_column(const table_snapshot *t, str name, const lance_field **ret,
                              glv_error *err) {
  *ret = lance_schema_find(t->lance, name);
  if (*ret != NULL) {
    return GLV_OK;
  }
  const char *dot = memchr(name.data, '.', name.size);
  if (dot != NULL &&
      lance_schema_find(t->lance, str_slice(name.data, (size_t)(dot - name.data))) != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s': '%.*s' is a field of a column; an update sets whole columns",
                table_name(t), STR_ARG(name));
  }
  return FAIL(err, GLV_E_COLUMN_NOT_FOUND, "table '%s' has no column '%.*s'", table_name(t),
              STR_ARG(name));
}

static const row_assignment *assignment_of(const struct job *j, const char *column) {
  for (size_t i = 0; i < j->count; i++) {
    if (str_is(j->set[i].column, column)) {
      return &j->set[i];
    }
  }
  return NULL;
}

static glv_status check_assignments(const table_snapshot *t, const struct job *j, glv_error *err) {
  if (j->count == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "No updates provided");
  }
  for (size_t i = 0; i < j->count; i++) {
    const lance_field *f = NULL;
    TRY(find_column(t, j->set[i].column, &f, err));
    if (assignment_of(j, f->arrow.name) != &j->set[i]) {
      return FAIL(err, GLV_E_INVALID_INPUT, "column '%s' is set twice", f->arrow.name);
    }
  }
  return GLV_OK;
}

/* All columns of the table, the set ones as expressions. */
static glv_status choose_columns(const table_snapshot *t, const struct job *j, arena *a,
                                 scan_options *o, glv_error *err) {
  const schema *s = table_schema(t);
  scan_column *columns = ARENA_ARRAY(a, scan_column, s->field_count);
  if (columns == NULL) {
    return error_nomem(err, s->field_count * sizeof *columns);
  }
  for (size_t i = 0; i < s->field_count; i++) {
    const row_assignment *set = assignment_of(j, s->fields[i].name);
    columns[i].name = str_of(s->fields[i].name);
    if (set != NULL) {
      columns[i].expression = set->expression;
      columns[i].assigned_to = &s->fields[i];
    }
  }
  o->columns = columns;
  o->column_count = s->field_count;
  return GLV_OK;
}

/* The ids of the set columns, for the record. */
static glv_status note_fields(const table_snapshot *t, const struct job *j, arena *a, operation *op,
                              glv_error *err) {
  bool *is_set = ARENA_ARRAY(a, bool, t->lance->field_count);
  if (is_set == NULL) {
    return error_nomem(err, t->lance->field_count);
  }
  for (size_t i = 0; i < t->lance->field_count; i++) {
    is_set[i] = assignment_of(j, t->lance->fields[i].arrow.name) != NULL;
  }
  return row_fields_set(t, a, is_set, op, err);
}

/* ---- the rows ---- */

/* The rows that match: where they stood, and who they are. */
struct rows {
  row_marks marks;
  row_moves moves;
};

static void rows_dispose(struct rows *r) {
  row_marks_dispose(&r->marks);
  row_moves_dispose(&r->moves);
}

/* System columns of the scan: the stable id, the address, and the version of creation; or the
 * address alone. */
static size_t ask(const struct rows *r, scan_options *o) {
  o->with_row_address = true;
  row_moves_ask(&r->moves, o);
  return r->moves.is_stable ? 3 : 1;
}

static glv_status note(struct rows *r, const array *columns, glv_error *err) {
  const array *address = &columns[r->moves.is_stable ? 1 : 0];
  TRY(row_marks_add(&r->marks, ARRAY_VALUES(address, uint64_t), address->length, err));
  return r->moves.is_stable ? row_moves_add(&r->moves, &columns[0], &columns[2], err) : GLV_OK;
}

/* A scan without its system columns, which are noted as they pass. */
typedef struct noting {
  glv_env *env; /* a reference */
  batch_reader inner;
  schema *shown; /* borrowed from the reader */
  struct rows *rows;
} noting;

static glv_status noting_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  noting *n = state;
  CLEANUP(batch_dispose) batch in = {0};
  TRY(n->inner.next(n->inner.state, &in, ret_end, err));
  if (*ret_end) {
    return GLV_OK;
  }
  TRY(note(n->rows, in.columns + n->shown->field_count, err));
  CLEANUP(batch_dispose) batch out = {0};
  TRY(batch_new(n->env, n->shown, in.length, n->shown->field_count, &out, err));
  for (size_t i = 0; i < out.column_count; i++) {
    out.columns[i] = array_ref(&in.columns[i]);
  }
  *ret = out;
  out = (batch){0};
  return GLV_OK;
}

static void noting_dispose(void *state) {
  noting *n = state;
  glv_env *env = n->env;
  batch_reader_dispose(&n->inner);
  mem_free(env, n);
  env_unref(env);
}

/* Wraps *r, whose last `more` columns are those of ask. */
static glv_status note_rows(glv_env *env, batch_reader *r, size_t more, struct rows *rows,
                            glv_error *err) {
  schema *shown = NULL;
  TRY(schema_new(env, r->schema->fields, r->schema->field_count - more, (metadata){0}, &shown,
                 err));
  noting *n = mem_zalloc(env, sizeof *n);
  if (n == NULL) {
    schema_unref(shown);
    return error_nomem(err, sizeof *n);
  }
  *n = (noting){.env = env_ref(env), .inner = *r, .shown = shown, .rows = rows};
  *r = (batch_reader){.schema = shown, .next = noting_next, .dispose = noting_dispose, .state = n};
  return GLV_OK;
}

static glv_status stage_updated(const table_snapshot *t, const struct job *j, arena *a,
                                struct rows *rows, staged **ret, glv_error *err) {
  scan_options scan = {
      .filter = j->filter, .expr_flags = j->options->expr_flags, .cancel = j->options->cancel};
  TRY(choose_columns(t, j, a, &scan, err));
  const size_t more = ask(rows, &scan);
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  TRY(table_scan(t, &scan, &r, err));
  TRY(note_rows(table_env(t), &r, more, rows, err));
  TRY(json_reader(table_env(t), JSON_STORE, &r, err));
  const stage_options stage = {.cancel = j->options->cancel};
  return table_stage(t, &r, &stage, ret, err);
}

static glv_status attempt(void *context, const table_snapshot *t, table_snapshot **ret,
                          uint32_t *ret_attempts, glv_error *err) {
  struct job *j = context;
  j->result = (row_result){0};
  TRY(table_check_supported(t, err));
  TRY(check_assignments(t, j, err));
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, table_env(t));
  CLEANUP(rows_dispose) struct rows rows = {0};
  TRY(row_marks_init(&rows.marks, &a, t, err));
  row_moves_init(&rows.moves, t);
  CLEANUP(staged_cleanup) staged *files = NULL;
  TRY(stage_updated(t, j, &a, &rows, &files, err));
  if (rows.marks.rows == 0) {
    *ret = table_ref(t);
    return GLV_OK;
  }
  operation op = {.kind = OPERATION_UPDATE};
  row_origin origin;
  row_moves_origin(&rows.moves, &origin, &op);
  TRY(row_marks_delete(&rows.marks, &a, &op, err));
  TRY(note_fields(t, j, &a, &op, err));
  j->result.updated = rows.marks.rows;
  return row_commit(t, &op, &files, j->options->cancel, ret, ret_attempts, err);
}

glv_status table_update(const table_snapshot *t, const row_assignment *set, size_t count,
                        str filter, const row_options *options, table_snapshot **ret,
                        row_result *ret_result, glv_error *err) {
  static const row_options defaults = {0};
  TRY(table_check_writable(t, err));
  struct job j = {.set = set,
                  .count = count,
                  .filter = filter,
                  .options = options != NULL ? options : &defaults};
  uint32_t attempts = 0;
  TRY(table_retry(t, attempt, &j, j.options->cancel, ret, &attempts, err));
  row_done(&j.result, attempts, ret_result);
  return GLV_OK;
}
