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
static const int64_t RETRY_STEP_NS = 10 * 1000 * 1000;

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

/* ---- the new rows as a stream of batches ---- */

typedef struct rewrite {
  glv_env *env;
  batch_reader old; /* every column of the version being replaced */
  const manifest_change *change;
  size_t id_column;
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

static glv_status keep_rows(const rewrite *w, const batch *b, batch *ret, glv_error *err) {
  uint32_t *rows;
  size_t count;
  TRY(kept_rows(w, b, &rows, &count, err));
  CLEANUP(batch_dispose) batch kept = {0};
  glv_status status = batch_new(w->env, w->old.schema, count, b->column_count, &kept, err);
  for (size_t k = 0; k < b->column_count && status == GLV_OK; k++) {
    status = array_take(w->env, &b->columns[k], rows, count, &kept.columns[k], err);
  }
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
  const schema *s = w->old.schema;
  CLEANUP(batch_dispose) batch b = {0};
  TRY(batch_new(w->env, s, 1, s->field_count, &b, err));
  for (size_t k = 0; k < s->field_count; k++) {
    TRY(added_column(w, &s->fields[k], &b.columns[k], err));
  }
  *ret = b;
  b = (batch){0};
  return GLV_OK;
}

static glv_status rewrite_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  rewrite *w = state;
  bool end = w->added_is_out;
  while (!end) {
    CLEANUP(batch_dispose) batch old = {0};
    TRY(w->old.next(w->old.state, &old, &end, err));
    if (end) {
      break;
    }
    CLEANUP(batch_dispose) batch kept = {0};
    TRY(keep_rows(w, &old, &kept, err));
    if (kept.length != 0) {
      *ret = kept;
      kept = (batch){0};
      *ret_end = false;
      return GLV_OK;
    }
  }
  if (w->added_is_out || w->change->added == NULL) {
    *ret_end = true;
    return GLV_OK;
  }
  w->added_is_out = true;
  *ret_end = false;
  return added_batch(w, ret, err);
}

static glv_status rewrite_open(const manifest *m, const manifest_change *change, batch_reader *ret,
                               glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader old = {0};
  TRY(table_scan(m->snapshot, NULL, &old, err));
  rewrite *w = mem_zalloc(m->env, sizeof *w);
  if (w == NULL) {
    return error_nomem(err, sizeof *w);
  }
  *w = (rewrite){.env = m->env,
                 .old = old,
                 .change = change,
                 .id_column = schema_find(old.schema, STR("object_id"))};
  old = (batch_reader){0};
  *ret = (batch_reader){.schema = schema_ref(w->old.schema),
                        .next = rewrite_next,
                        .dispose = rewrite_dispose,
                        .state = w};
  return GLV_OK;
}

/* ---- committing ---- */

/* The stored schema, with the primary-key metadata on object_id if it is missing. */
static glv_status target_schema(const table_snapshot *t, arena *a, lance_schema *ret,
                                glv_error *err) {
  const lance_schema *stored = table_lance_schema(t);
  lance_field *fields = ARENA_ARRAY(a, lance_field, stored->field_count);
  if (fields == NULL) {
    return error_nomem(err, stored->field_count * sizeof *fields);
  }
  for (size_t i = 0; i < stored->field_count; i++) {
    fields[i] = stored->fields[i];
    bool found = true;
    if (strcmp(fields[i].arrow.name, "object_id") == 0) {
      (void)metadata_get(fields[i].arrow.metadata, PRIMARY_KEY.key, &found);
    }
    if (!found) {
      fields[i].arrow.metadata = (metadata){&PRIMARY_KEY, 1};
      fields[i].raw = str_slice(NULL, 0); /* so that it is written anew */
    }
  }
  *ret = (lance_schema){fields, stored->field_count, stored->metadata};
  return GLV_OK;
}

static glv_status commit_change(const manifest *m, const manifest_change *change, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, m->env);
  TRY(table_check_supported(m->snapshot, err));
  lance_schema target;
  TRY(target_schema(m->snapshot, &a, &target, err));
  batch_reader rows = {0};
  TRY(rewrite_open(m, change, &rows, err));
  staged *files = NULL;
  TRY(table_stage(m->snapshot, &rows, NULL, &files, err));
  const operation op = {.kind = OPERATION_OVERWRITE, .rows = files, .schema = &target};
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
  if (status != GLV_OK && err != NULL) {
    *err = own;
  }
  return status;
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
  if (status != GLV_OK && err != NULL) {
    *err = own;
  }
  return status;
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
