/*
 * Changes of the catalog table (namespaces.md 8): read the newest version, decide, write the whole
 * table anew as one fragment, and commit exactly the next version as an Overwrite. Whoever loses
 * the race decides again on what is there then. The uniqueness of ids is thereby checked on the
 * very state that the new version replaces, and Lance's own conflict resolution has nothing to
 * rebase.
 *
 * Rows that stay are copied as they are, columns and types that this release does not know
 * included; only object_id gets the primary-key metadata that old catalogs lack.
 */
#include "arrow/builder.h"
#include "base/keyed_lock.h"
#include "catalog/catalog_private.h"
#include "table/commit.h"
#include "table/scan.h"
#include "table/write.h"

enum { RETRIES = 20, COLUMN_BASE_OBJECTS = 4, COLUMN_COUNT = 5 };
static const int64_t RETRY_STEP_NS = INT64_C(10) * 1000 * 1000;

static const pair PRIMARY_KEY = {{"lance-schema:unenforced-primary-key:position",
                                  sizeof "lance-schema:unenforced-primary-key:position" - 1},
                                 {"0", 1}};

const field *manifest_fields(arena *a, size_t *ret_count) {
  field *fields = ARENA_ARRAY(a, field, COLUMN_COUNT);
  const field item = {.name = "object_id", .type = type_simple(TYPE_UTF8), .nullable = true};
  const type *list = type_list(a, TYPE_LIST, &item);
  if (fields == NULL || list == NULL) {
    return NULL;
  }
  const type *text = type_simple(TYPE_UTF8);
  fields[0] = (field){.name = "object_id", .type = text, .metadata = {&PRIMARY_KEY, 1}};
  fields[1] = (field){.name = "object_type", .type = text};
  fields[2] = (field){.name = "location", .type = text, .nullable = true};
  fields[3] = (field){.name = "metadata", .type = text, .nullable = true};
  fields[COLUMN_BASE_OBJECTS] = (field){.name = "base_objects", .type = list, .nullable = true};
  *ret_count = COLUMN_COUNT;
  return fields;
}

/* ---- the schema to write ---- */

typedef struct target {
  lance_schema stored;
  schema *arrow;         /* counted */
  const size_t *sources; /* of each column: its place in the old version, or SIZE_MAX */
} target;

static void target_dispose(target *s) { schema_unref(s->arrow); }

static int32_t largest_id(const lance_field *fields, size_t count) {
  int32_t largest = -1;
  for (size_t i = 0; i < count; i++) { /* trees are at most LIMIT_TYPE_DEPTH deep */
    const int32_t below = largest_id(fields[i].children, fields[i].child_count);
    const int32_t here = fields[i].id > below ? fields[i].id : below;
    largest = here > largest ? here : largest;
  }
  return largest;
}

/* The columns that t lacks, with new ids, in the arena. */
static glv_status missing_columns(const table_snapshot *t, arena *a, lance_schema *ret,
                                  glv_error *err) {
  size_t wanted_count;
  const field *wanted = manifest_fields(a, &wanted_count);
  field *missing = ARENA_ARRAY(a, field, COLUMN_COUNT);
  if (wanted == NULL || missing == NULL) {
    return error_nomem(err, COLUMN_COUNT * sizeof *missing);
  }
  const lance_schema *stored = table_lance_schema(t);
  size_t count = 0;
  for (size_t i = 0; i < wanted_count; i++) {
    if (lance_schema_find(stored, str_of(wanted[i].name)) == NULL) {
      missing[count++] = wanted[i];
    }
  }
  int32_t next_id = largest_id(stored->fields, stored->field_count) + 1;
  lance_schema *added;
  TRY(lance_schema_from_arrow(a, missing, count, (metadata){NULL, 0}, &next_id, &added, err));
  *ret = *added;
  return GLV_OK;
}

/* A stored field as it is written again. */
static lance_field kept_field(const lance_field *old) {
  lance_field f = *old;
  bool found = true;
  if (strcmp(f.arrow.name, "object_id") == 0) {
    (void)metadata_get(f.arrow.metadata, PRIMARY_KEY.key, &found);
  }
  if (!found) {
    f.arrow.metadata = (metadata){&PRIMARY_KEY, 1};
    f.raw = str_slice(NULL, 0); /* so that the message is made anew */
  }
  return f;
}

static glv_status target_of(const table_snapshot *t, arena *a, target *ret, glv_error *err) {
  const lance_schema *stored = table_lance_schema(t);
  lance_schema missing;
  TRY(missing_columns(t, a, &missing, err));
  const size_t count = stored->field_count + missing.field_count;
  lance_field *fields = ARENA_ARRAY(a, lance_field, count);
  field *arrow = ARENA_ARRAY(a, field, count);
  size_t *sources = ARENA_ARRAY(a, size_t, count);
  if (fields == NULL || arrow == NULL || sources == NULL) {
    return error_nomem(err, count * sizeof *fields);
  }
  for (size_t i = 0; i < count; i++) {
    const bool is_old = i < stored->field_count;
    fields[i] = is_old ? kept_field(&stored->fields[i]) : missing.fields[i - stored->field_count];
    arrow[i] = fields[i].arrow;
    sources[i] = is_old ? i : SIZE_MAX;
  }
  TRY(schema_new(table_env(t), arrow, count, (metadata){NULL, 0}, &ret->arrow, err));
  ret->stored = (lance_schema){fields, count, stored->metadata};
  ret->sources = sources;
  return GLV_OK;
}

/* ---- the new rows as a stream of batches ---- */

typedef struct rewrite {
  glv_env *env;
  batch_reader old; /* every column of the version being replaced */
  const manifest_change *change;
  const target *to;
  size_t id_column; /* of old */
  bool added_is_out;
} rewrite;

static void rewrite_dispose(void *state) {
  rewrite *w = state;
  batch_reader_dispose(&w->old);
  mem_free(w->env, w);
}

/* The rows of b that stay, as indices in *ret (mem_free). */
static glv_status kept_rows(const rewrite *w, const batch *b, uint32_t **ret, size_t *ret_count,
                            glv_error *err) {
  uint32_t *rows = mem_calloc(w->env, b->length, sizeof *rows);
  if (rows == NULL) {
    return error_nomem(err, b->length * sizeof *rows);
  }
  size_t count = 0;
  for (size_t i = 0; i < b->length; i++) {
    const str id = array_str(&b->columns[w->id_column], i);
    if (w->change->removes == NULL || !w->change->removes(w->change->context, id)) {
      rows[count++] = (uint32_t)i;
    }
  }
  *ret = rows;
  *ret_count = count;
  return GLV_OK;
}

static glv_status keep_columns(const rewrite *w, const batch *old, const uint32_t *rows,
                               batch *kept, glv_error *err) {
  for (size_t k = 0; k < kept->column_count; k++) {
    const size_t source = w->to->sources[k];
    TRY(source == SIZE_MAX ? array_new_null(w->env, w->to->arrow->fields[k].type, kept->length,
                                            &kept->columns[k], err)
                           : array_take(w->env, &old->columns[source], rows, kept->length,
                                        &kept->columns[k], err));
  }
  return GLV_OK;
}

static glv_status keep_rows(const rewrite *w, const batch *old, batch *ret, glv_error *err) {
  uint32_t *rows;
  size_t count;
  TRY(kept_rows(w, old, &rows, &count, err));
  CLEANUP(batch_dispose) batch kept = {0};
  glv_status status = batch_new(w->env, w->to->arrow, count, w->to->arrow->field_count, &kept, err);
  status = status == GLV_OK ? keep_columns(w, old, rows, &kept, err) : status;
  mem_free(w->env, rows);
  TRY(status);
  *ret = kept;
  kept = (batch){0};
  return GLV_OK;
}

/* The value of a column of the added row; {NULL, 0} = null. */
static str added_value(const row *r, const char *column) {
  const str values[] = {r->id, r->type, r->location, r->metadata};
  const char *const names[] = {"object_id", "object_type", "location", "metadata"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    if (strcmp(names[k], column) == 0) {
      return values[k];
    }
  }
  return str_slice(NULL, 0);
}

static glv_status added_column(const rewrite *w, const field *f, array *ret, glv_error *err) {
  const str value = added_value(w->change->added, f->name);
  if (value.data == NULL) {
    return array_new_null(w->env, f->type, 1, ret, err);
  }
  CLEANUP(builder_dispose) builder b;
  builder_init(&b, w->env, f->type);
  TRY(builder_append_str(&b, value, err));
  return builder_finish(&b, ret, err);
}

static glv_status added_batch(const rewrite *w, batch *ret, glv_error *err) {
  const schema *s = w->to->arrow;
  CLEANUP(batch_dispose) batch b = {0};
  TRY(batch_new(w->env, s, 1, s->field_count, &b, err));
  for (size_t k = 0; k < s->field_count; k++) {
    TRY(added_column(w, &s->fields[k], &b.columns[k], err));
  }
  *ret = b;
  b = (batch){0};
  return GLV_OK;
}

/* The next old batch of which something stays. */
static glv_status next_kept(rewrite *w, batch *ret, bool *ret_end, glv_error *err) {
  for (;;) {
    CLEANUP(batch_dispose) batch old = {0};
    *ret_end = false;
    TRY(w->old.next(w->old.state, &old, ret_end, err));
    if (*ret_end) {
      return GLV_OK;
    }
    CLEANUP(batch_dispose) batch kept = {0};
    TRY(keep_rows(w, &old, &kept, err));
    if (kept.length != 0) {
      *ret = kept;
      kept = (batch){0};
      return GLV_OK;
    }
  }
}

static glv_status rewrite_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  rewrite *w = state;
  *ret_end = true;
  if (w->added_is_out) {
    return GLV_OK;
  }
  TRY(next_kept(w, ret, ret_end, err));
  if (!*ret_end || w->change->added == NULL) {
    return GLV_OK;
  }
  w->added_is_out = true;
  *ret_end = false;
  return added_batch(w, ret, err);
}

static glv_status rewrite_open(const manifest *m, const manifest_change *change, const target *to,
                               batch_reader *ret, glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader old = {0};
  TRY(table_scan(m->snapshot, NULL, &old, err));
  rewrite *w = mem_zalloc(m->env, sizeof *w);
  if (w == NULL) {
    return error_nomem(err, sizeof *w);
  }
  *w = (rewrite){.env = m->env,
                 .old = old,
                 .change = change,
                 .to = to,
                 .id_column = schema_find(old.schema, STR("object_id"))};
  old = (batch_reader){0};
  *ret = (batch_reader){.schema = schema_ref(to->arrow),
                        .next = rewrite_next,
                        .dispose = rewrite_dispose,
                        .state = w};
  return GLV_OK;
}

/* ---- committing ---- */

static glv_status commit_change(const manifest *m, const manifest_change *change, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, m->env);
  TRY(table_check_supported(m->snapshot, err));
  CLEANUP(target_dispose) target to = {0};
  TRY(target_of(m->snapshot, &a, &to, err));
  batch_reader rows = {0};
  TRY(rewrite_open(m, change, &to, &rows, err));
  staged *files = NULL;
  TRY(table_stage_as(m->snapshot, &to.stored, &rows, NULL, &files, err));
  const operation op = {.kind = OPERATION_OVERWRITE, .rows = files, .schema = &to.stored};
  const commit_options options = {.strict = true};
  const glv_status status = table_commit(m->snapshot, &op, &options, NULL, NULL, err);
  if (status == GLV_OK || status == GLV_E_UNKNOWN_OUTCOME) {
    staged_free(files);
  } else {
    staged_discard(files);
  }
  return status;
}

/* Version 1: the schema and no rows. Somebody else's version 1 is as good. */
static glv_status create_table(catalog *c, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, c->env);
  char *path;
  TRY(catalog_path_of(c, STR(MANIFEST_NAME), &a, &path, err));
  size_t count;
  const field *fields = manifest_fields(&a, &count);
  if (fields == NULL) {
    return error_nomem(err, COLUMN_COUNT * sizeof *fields);
  }
  CLEANUP(schema_cleanup) schema *s = NULL;
  TRY(schema_new(c->env, fields, count, (metadata){NULL, 0}, &s, err));
  const create_options options = {.no_stable_row_ids = true};
  glv_error own = {0};
  const glv_status status =
      table_create(c->env, path, MANIFEST_NAME, s, NULL, &options, NULL, &own);
  if (status == GLV_E_TABLE_EXISTS) {
    return GLV_OK;
  }
  return status == GLV_OK ? GLV_OK : error_pass(err, &own);
}

/* One try. *ret_done = false: the table had to be made first, or somebody else was faster. */
static glv_status try_update(catalog *c, manifest_decide decide, void *context, bool *ret_done,
                             glv_error *err) {
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  TRY(manifest_load(c, &m, err));
  TRY(manifest_check_writable(m, err));
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, c->env);
  manifest_change change = {0};
  TRY(decide(context, m, &a, &change, err));
  *ret_done = true;
  if (!change.is_needed) {
    return GLV_OK;
  }
  if (m->snapshot == NULL) {
    *ret_done = false;
    return create_table(c, err);
  }
  glv_error own = {0};
  const glv_status status = commit_change(m, &change, &own);
  if (status == GLV_E_CONFLICT || status == GLV_E_TABLE_NOT_FOUND) {
    *ret_done = false;
    return GLV_OK;
  }
  return status == GLV_OK ? GLV_OK : error_pass(err, &own);
}

glv_status manifest_update(catalog *c, manifest_decide decide, void *context, glv_error *err) {
  CLEANUP(keyed_lock_release) keyed_lock held = {0};
  TRY(keyed_lock_acquire(c->env, c->device, c->inode, NULL, &held, err));
  for (int attempt = 0; attempt <= RETRIES; attempt++) {
    bool done = false;
    TRY(try_update(c, decide, context, &done, err));
    if (done) {
      return GLV_OK;
    }
    io_sleep_ns(c->env, attempt == 0 ? 0 : attempt * RETRY_STEP_NS);
  }
  const glv_status status =
      FAIL(err, GLV_E_CONFLICT,
           "too many concurrent writers of the catalog of '%s': gave up after %d retries", c->root,
           RETRIES);
  error_flag(err, GLV_ERROR_MAY_RETRY);
  return status;
}
