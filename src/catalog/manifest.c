/*
 * The catalog table in memory (namespaces.md 3): an ordinary Lance table `__manifest` with one row
 * per namespace and table. All of it is read at once; the last reading is kept and used again as
 * long as no newer version exists, which costs one listing of its versions.
 *
 * Its rows may stand in several fragments and come in any order; the same id may stand in two rows
 * when something other than Glaive or LanceDB wrote them: the later one counts (R8). Missing
 * columns read as null. Unknown bits of the catalog's own reader flags, which are kept in the
 * table's own metadata map, refuse everything (section 9).
 */
#include "catalog/catalog_private.h"
#include "table/properties.h"
#include "table/scan.h"

enum { COLUMN_ID, COLUMN_TYPE, COLUMN_LOCATION, COLUMN_METADATA, COLUMN_COUNT };

static const char *const COLUMN_NAMES[COLUMN_COUNT] = {"object_id", "object_type", "location",
                                                       "metadata"};

void manifest_unref(manifest *m) {
  if (m == NULL || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1) {
    return;
  }
  glv_env *env = m->env;
  map_dispose(&m->newest);
  mem_free(env, m->rows);
  arena_dispose(&m->memory);
  table_unref(m->snapshot);
  mem_free(env, m);
  env_unref(env);
}

void manifest_cleanup(manifest **m) { manifest_unref(*m); }

static manifest *manifest_ref(manifest *m) {
  atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
  return m;
}

static glv_status manifest_new(glv_env *env, manifest **ret, glv_error *err) {
  manifest *m = mem_zalloc(env, sizeof *m);
  if (m == NULL) {
    return error_nomem(err, sizeof *m);
  }
  atomic_init(&m->refs, 1);
  m->env = env_ref(env);
  arena_init(&m->memory, env);
  map_init(&m->newest, env);
  *ret = m;
  return GLV_OK;
}

/* ---- flags ---- */

static glv_status read_flags(metadata properties, const char *which, uint64_t *ret,
                             glv_error *err) {
  bool found;
  const str text = metadata_get(properties, str_of(which), &found);
  *ret = 0;
  if (found && !str_to_u64(text, ret)) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "the catalog table has the flags '%.*s' under %s, which this release does not "
                "understand; please upgrade",
                STR_ARG(text), which);
  }
  return GLV_OK;
}

static glv_status check_flags(manifest *m, glv_error *err) {
  metadata properties;
  TRY(table_properties(m->snapshot, &m->memory, &properties, err));
  uint64_t reader;
  TRY(read_flags(properties, "lance.namespace.manifest.reader_feature_flags", &reader, err));
  if (reader != 0) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "the catalog table needs a reader with the features %llu, which this release does "
                "not have; please upgrade",
                (unsigned long long)reader);
  }
  glv_error own = {0};
  if (read_flags(properties, "lance.namespace.manifest.writer_feature_flags", &m->writer_flags,
                 &own) != GLV_OK) {
    m->writer_flags = UINT64_MAX; /* reading is not affected */
  }
  return GLV_OK;
}

/* ---- rows ---- */

static glv_status copy_value(arena *a, const array *column, size_t i, str *ret, glv_error *err) {
  *ret = str_slice(NULL, 0);
  if (column == NULL || !array_is_valid(column, i)) {
    return GLV_OK;
  }
  const str value = array_str(column, i);
  const char *copy = arena_strdup(a, value);
  if (copy == NULL) {
    return error_nomem(err, value.size);
  }
  *ret = str_slice(copy, value.size);
  return GLV_OK;
}

static glv_status add_batch(manifest *m, const batch *b, const size_t columns[COLUMN_COUNT],
                            size_t *capacity, glv_error *err) {
  const array *sources[COLUMN_COUNT];
  for (size_t k = 0; k < COLUMN_COUNT; k++) {
    sources[k] = columns[k] == SIZE_MAX ? NULL : &b->columns[columns[k]];
  }
  TRY(vec_reserve(m->env, &m->rows, capacity, m->count + b->length, sizeof *m->rows, err));
  for (size_t i = 0; i < b->length; i++) {
    row *r = &m->rows[m->count];
    TRY(copy_value(&m->memory, sources[COLUMN_ID], i, &r->id, err));
    TRY(copy_value(&m->memory, sources[COLUMN_TYPE], i, &r->type, err));
    TRY(copy_value(&m->memory, sources[COLUMN_LOCATION], i, &r->location, err));
    TRY(copy_value(&m->memory, sources[COLUMN_METADATA], i, &r->metadata, err));
    m->count++;
  }
  return GLV_OK;
}

static glv_status read_batches(manifest *m, batch_reader *reader,
                               const size_t columns[COLUMN_COUNT], glv_error *err) {
  size_t capacity = 0;
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool end = false;
    TRY(reader->next(reader->state, &b, &end, err));
    if (end) {
      return GLV_OK;
    }
    TRY(add_batch(m, &b, columns, &capacity, err));
  }
}

/* Which of the columns exist; columns[k] becomes the place of column k in the scan. */
static glv_status choose_columns(const manifest *m, scan_column scanned[COLUMN_COUNT],
                                 size_t columns[COLUMN_COUNT], size_t *ret_count, glv_error *err) {
  const schema *s = table_schema(m->snapshot);
  size_t count = 0;
  for (size_t k = 0; k < COLUMN_COUNT; k++) {
    const size_t at = schema_find(s, str_of(COLUMN_NAMES[k]));
    columns[k] = SIZE_MAX;
    if (at != SIZE_MAX && type_is_string(s->fields[at].type->kind)) {
      scanned[count] = (scan_column){.name = str_of(COLUMN_NAMES[k])};
      columns[k] = count++;
    } else if (at != SIZE_MAX || k == COLUMN_ID || k == COLUMN_TYPE) {
      return FAIL(err, GLV_E_CORRUPT, "the catalog table has no text column '%s'", COLUMN_NAMES[k]);
    }
  }
  *ret_count = count;
  return GLV_OK;
}

static glv_status read_rows(manifest *m, glv_error *err) {
  scan_column scanned[COLUMN_COUNT];
  size_t columns[COLUMN_COUNT];
  scan_options options = {.columns = scanned};
  TRY(choose_columns(m, scanned, columns, &options.column_count, err));
  CLEANUP(batch_reader_dispose) batch_reader reader = {0};
  TRY(table_scan(m->snapshot, &options, &reader, err));
  return read_batches(m, &reader, columns, err);
}

static glv_status index_rows(manifest *m, glv_error *err) {
  for (size_t i = 0; i < m->count; i++) {
    uint64_t *slot;
    bool is_new;
    TRY(map_put(&m->newest, m->rows[i].id, &slot, &is_new, err));
    *slot = i;
    m->duplicate = is_new ? m->duplicate : m->rows[i].id.data;
  }
  return GLV_OK;
}

/* Reads a snapshot; NULL gives the empty catalog. Takes over the reference. */
static glv_status manifest_read(glv_env *env, table_snapshot *snapshot, manifest **ret,
                                glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *held = snapshot;
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  TRY(manifest_new(env, &m, err));
  m->snapshot = held;
  held = NULL;
  if (m->snapshot != NULL) {
    TRY(check_flags(m, err));
    TRY(read_rows(m, err));
    TRY(index_rows(m, err));
  }
  *ret = m;
  m = NULL;
  return GLV_OK;
}

/* ---- the newest version ---- */

static manifest *take_cached(catalog *c) {
  CLEANUP(mutex_cleanup) mutex *held = &c->lock;
  mutex_lock(held);
  return c->cached != NULL ? manifest_ref(c->cached) : NULL;
}

static void put_cached(catalog *c, manifest *m) {
  mutex_lock(&c->lock);
  manifest *old = c->cached;
  c->cached = manifest_ref(m);
  mutex_unlock(&c->lock);
  manifest_unref(old);
}

/* The newest snapshot; NULL when there is no catalog table. */
static glv_status open_newest(catalog *c, const manifest *known, table_snapshot **ret,
                              glv_error *err) {
  glv_error own = {0};
  if (known != NULL && known->snapshot != NULL &&
      table_open_version(known->snapshot, 0, ret, &own) == GLV_OK) {
    return GLV_OK;
  }
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, c->env);
  char *path;
  TRY(catalog_path_of(c, STR(MANIFEST_NAME), &a, &path, err));
  const glv_status status = table_open(c->env, path, MANIFEST_NAME, 0, ret, &own);
  if (status == GLV_E_TABLE_NOT_FOUND) {
    *ret = NULL;
    return GLV_OK;
  }
  return status == GLV_OK ? GLV_OK : error_pass(err, &own);
}

glv_status manifest_check_readable(catalog *c, glv_error *err) {
  CLEANUP(manifest_cleanup) manifest *m = NULL;
  TRY(manifest_new(c->env, &m, err));
  TRY(open_newest(c, NULL, &m->snapshot, err));
  return m->snapshot != NULL ? check_flags(m, err) : GLV_OK;
}

glv_status manifest_load(catalog *c, manifest **ret, glv_error *err) {
  CLEANUP(manifest_cleanup) manifest *known = take_cached(c);
  table_snapshot *snapshot = NULL;
  TRY(open_newest(c, known, &snapshot, err));
  if (known != NULL && known->snapshot == snapshot) {
    table_unref(snapshot); /* table_open_version gave a further reference to the same one */
    *ret = known;
    known = NULL;
    return GLV_OK;
  }
  manifest *m = NULL;
  TRY(manifest_read(c->env, snapshot, &m, err));
  put_cached(c, m);
  *ret = m;
  return GLV_OK;
}

glv_status manifest_look(catalog *c, manifest **ret, glv_error *err) {
  CLEANUP(manifest_cleanup) manifest *known = take_cached(c);
  bool is_current = false;
  if (known != NULL && known->snapshot != NULL &&
      table_is_current(known->snapshot, &is_current, NULL) == GLV_OK && is_current) {
    *ret = known;
    known = NULL;
    return GLV_OK;
  }
  return manifest_load(c, ret, err);
}

const row *manifest_find(const manifest *m, str id) {
  const uint64_t *at = map_get(&m->newest, id);
  return at != NULL ? &m->rows[*at] : NULL;
}

bool id_is_below(str candidate, str parent, str *ret_name) {
  if (parent.size == 0) {
    *ret_name = candidate;
    return true;
  }
  if (candidate.size <= parent.size + 1 || !str_starts_with(candidate, parent) ||
      candidate.data[parent.size] != ID_SEPARATOR) {
    return false;
  }
  *ret_name = str_slice(candidate.data + parent.size + 1, candidate.size - parent.size - 1);
  return true;
}

size_t manifest_count_below(const manifest *m, str id) {
  size_t count = 0;
  for (size_t i = 0; i < m->count; i++) {
    str name;
    count += id_is_below(m->rows[i].id, id, &name);
  }
  return count;
}

glv_status manifest_check_writable(const manifest *m, glv_error *err) {
  if (m->writer_flags != 0) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "the catalog table needs a writer with features that this release does not have; "
                "please upgrade");
  }
  if (m->duplicate != NULL) {
    return FAIL(err, GLV_E_INTERNAL, "Manifest contains duplicate object_id '%s'", m->duplicate);
  }
  return m->snapshot != NULL ? table_check_writable(m->snapshot, err) : GLV_OK;
}
