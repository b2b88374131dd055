/*
 * Each commit after the stamp is judged by its transaction alone. Benign are those that cannot
 * change a row value or the provenance column: building, merging and removing indexes (unless they
 * turn the table into an LSM tree), compaction and its reservation of ids, table configuration and
 * table metadata, base paths, and schema metadata that is neither ours nor that of LanceDB. So are
 * fills of computed columns, which a refresh does not write: updates and replacements of nothing
 * but such columns, and field metadata on them.
 */
#include "view/intact.h"

#include "table/transaction.h"
#include "view/computed.h"

enum { MAX_COMMITS = 512 };

static bool is_guarded_key(str key) {
  return str_starts_with(key, STR("mv.")) || str_starts_with(key, STR("lancedb::")) ||
         str_is(key, "embedding_functions");
}

static bool is_benign_metadata(const metadata_update *u) {
  if (!u->is_present) {
    return true;
  }
  for (size_t i = 0; i < u->count; i++) {
    if (is_guarded_key(u->changes[i].key)) {
      return false;
    }
  }
  return !u->replace;
}

static bool adds_lsm_index(const transaction *t) {
  for (size_t i = 0; i < t->added_index_count; i++) {
    if (strcmp(t->added_indexes[i], "__lance_mem_wal") == 0) {
      return true;
    }
  }
  return false;
}

/* ---- fills of computed columns ---- */

static bool fills_in_place(const transaction *t, const lance_schema *s) {
  bool fills = !t->moves_rows && t->removed_count == 0 && t->new_fragment_count == 0 &&
               t->fields_modified_count > 0;
  for (size_t i = 0; i < t->fields_modified_count && fills; i++) {
    fills = is_computed_id(s, t->fields_modified[i]);
  }
  return fills;
}

static bool replaces_computed(const transaction *t, const lance_schema *s) {
  bool fills = t->new_file_count > 0;
  for (size_t i = 0; i < t->new_file_count && fills; i++) {
    const data_file *f = &t->new_files[i];
    fills = f->count > 0;
    for (size_t k = 0; k < f->count && fills; k++) {
      fills = is_computed_id(s, f->fields[k]);
    }
  }
  return fills;
}

/* Field metadata, if any, is that of computed columns. */
static bool marks_computed(const transaction *t, const lance_schema *s) {
  bool marks = true;
  for (size_t i = 0; i < t->metadata_field_count && marks; i++) {
    marks = is_computed_id(s, t->metadata_fields[i]);
  }
  return marks;
}

static bool is_fill(const transaction *t, const lance_schema *s) {
  switch ((int)t->kind) {
  case OPERATION_UPDATE:
    return fills_in_place(t, s);
  case OPERATION_DATA_REPLACEMENT:
    return replaces_computed(t, s);
  case OPERATION_UPDATE_CONFIG:
    return t->metadata_field_count > 0 && marks_computed(t, s) && !t->config.is_present &&
           !t->table_metadata.is_present && !t->schema_metadata.is_present;
  default:
    return false;
  }
}

static bool is_benign(const transaction *t, const lance_schema *s) {
  switch (t->kind) {
  case OPERATION_CREATE_INDEX:
    return !adds_lsm_index(t);
  case OPERATION_REWRITE:
  case OPERATION_RESERVE_FRAGMENTS:
  case OPERATION_UPDATE_BASES:
    return true;
  case OPERATION_UPDATE_CONFIG:
    return is_benign_metadata(&t->schema_metadata) && marks_computed(t, s);
  case OPERATION_UPDATE:
  case OPERATION_DATA_REPLACEMENT:
    return is_fill(t, s);
  case OPERATION_UNKNOWN:
  case OPERATION_APPEND:
  case OPERATION_DELETE:
  case OPERATION_OVERWRITE:
  case OPERATION_MERGE:
  case OPERATION_RESTORE:
  case OPERATION_PROJECT:
  case OPERATION_UPDATE_MEM_WAL_STATE:
  case OPERATION_CLONE:
  case OPERATION_DATA_OVERLAY:
    break;
  }
  return false;
}

/* ---- the walk ---- */

/* The state after looking at one version; VIEW_INTACT = it is benign. */
static glv_status judge(const table_snapshot *view, uint64_t version, bool fills_only,
                        view_state *ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table_env(view));
  transaction *t = NULL;
  const glv_status status = transaction_read(view, version, &a, &t, err);
  if (status == GLV_OK) {
    const lance_schema *s = table_lance_schema(view);
    *ret = (fills_only ? is_fill(t, s) : is_benign(t, s)) ? VIEW_INTACT : VIEW_DRIFTED;
    return GLV_OK;
  }
  if (status == GLV_E_VERSION_NOT_FOUND) {
    *ret = VIEW_STAMP_GONE;
    return GLV_OK;
  }
  if (status == GLV_E_TRANSACTION_NOT_FOUND || status == GLV_E_CORRUPT) {
    *ret = VIEW_DRIFTED;
    return GLV_OK;
  }
  return status;
}

glv_status view_intact(const table_snapshot *view, const watermark *w, bool fills_only,
                       intact_result *ret, glv_error *err) {
  const uint64_t head = table_version(view);
  *ret = (intact_result){VIEW_DRIFTED, 0};
  if (!w->has_view_version || w->view_version > head || head - w->view_version > MAX_COMMITS) {
    return GLV_OK;
  }
  view_state state = VIEW_INTACT;
  for (uint64_t version = w->view_version + 1; version <= head && state == VIEW_INTACT; version++) {
    TRY(judge(view, version, fills_only, &state, err));
  }
  *ret = (intact_result){state, state == VIEW_INTACT ? head - w->view_version : 0};
  return GLV_OK;
}
