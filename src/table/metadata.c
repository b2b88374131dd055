/* Changes of metadata maps: one UpdateConfig. The schema metadata of a commit changes in merge mode
 * only, so replacing it is spelled out: every key that goes is removed by name. */
#include "table/metadata.h"

#include "base/hash.h"
#include "table/columns_private.h"

#define KEY_PREFIX "lance-schema:unenforced-"

struct setting {
  enum metadata_target target;
  str path;
  const metadata_change *changes;
  size_t count;
  bool replace;
  const column_options *options;
};

static glv_status check_keys(glv_env *env, const metadata_change *changes, size_t count,
                             glv_error *err) {
  CLEANUP(map_dispose) map keys;
  map_init(&keys, env);
  for (size_t i = 0; i < count; i++) {
    uint64_t *value = NULL;
    bool is_new = false;
    if (changes[i].key.size == 0) {
      return FAIL(err, GLV_E_INVALID_INPUT, "a key of metadata is empty");
    }
    TRY(map_put(&keys, changes[i].key, &value, &is_new, err));
    if (!is_new) {
      return FAIL(err, GLV_E_INVALID_INPUT, "the key '%.*s' is given twice",
                  STR_ARG(changes[i].key));
    }
  }
  return GLV_OK;
}

/* ---- schema metadata ---- */

static bool is_changed(const struct setting *s, str key) {
  for (size_t i = 0; i < s->count; i++) {
    if (str_equal(s->changes[i].key, key)) {
      return true;
    }
  }
  return false;
}

/* The changes, and with replace the removal of everything else. */
static glv_status spell_out(const struct setting *s, const table_snapshot *t, arena *a,
                            operation *op, glv_error *err) {
  const metadata old = table_metadata(t);
  metadata_change *changes = ARENA_ARRAY(a, metadata_change, s->count + old.count);
  if (changes == NULL) {
    return error_nomem(err, (s->count + old.count) * sizeof *changes);
  }
  size_t count = 0;
  for (; count < s->count; count++) {
    changes[count] = s->changes[count];
  }
  for (size_t i = 0; s->replace && i < old.count; i++) {
    if (!is_changed(s, old.pairs[i].key)) {
      changes[count++] = (metadata_change){.key = old.pairs[i].key};
    }
  }
  op->changes = changes;
  op->change_count = count;
  return GLV_OK;
}

/* ---- metadata of a field ---- */

static bool is_key(const Lance__File__Field *m) {
  return m->unenforced_primary_key || m->unenforced_clustering_key_position != 0;
}

static bool has_key_column(const schema_edit *e) {
  bool has_key = false;
  for (size_t i = 0; i < e->count; i++) {
    has_key |= is_key(e->fields[i].message);
  }
  return has_key;
}

/* A column becomes a key: its marks mean something, and it cannot be null. */
static glv_status check_new_key(const struct setting *s, schema_edit *e, size_t at,
                                glv_error *err) {
  pair *pairs = ARENA_ARRAY(e->memory, pair, s->count);
  const lance_schema *ignored;
  if (pairs == NULL) {
    return error_nomem(err, s->count * sizeof *pairs);
  }
  for (size_t i = 0; i < s->count; i++) {
    pairs[i] = (pair){s->changes[i].key, s->changes[i].value};
  }
  lance_field_mark_keys((metadata){pairs, s->count}, e->fields[at].message);
  return is_key(e->fields[at].message)
             ? edit_finish(e, &ignored, err)
             : FAIL(err, GLV_E_INVALID_INPUT,
                    "table '%s': the unenforced keys are reserved and cannot be set to an invalid "
                    "value",
                    table_name(e->table));
}

/* Which columns are keys is said once. */
static glv_status check_keys_of_field(const struct setting *s, schema_edit *e, size_t at,
                                      glv_error *err) {
  bool touches = s->replace && is_key(e->fields[at].message);
  for (size_t i = 0; i < s->count; i++) {
    touches |= str_starts_with(s->changes[i].key, STR(KEY_PREFIX));
  }
  if (!touches) {
    return GLV_OK;
  }
  return has_key_column(e)
             ? FAIL(err, GLV_E_INVALID_INPUT,
                    "table '%s': the unenforced keys are reserved and cannot be changed once set",
                    table_name(e->table))
             : check_new_key(s, e, at, err);
}

static glv_status set_field(const struct setting *s, const table_snapshot *t, arena *a,
                            operation *op, glv_error *err) {
  schema_edit e;
  size_t at;
  int32_t *id = ARENA_NEW(a, int32_t);
  metadata_update *update = ARENA_NEW(a, metadata_update);
  if (id == NULL || update == NULL) {
    return error_nomem(err, sizeof *update);
  }
  TRY(edit_begin(t, a, &e, err));
  TRY(edit_find(&e, s->path, &at, err));
  TRY(check_keys_of_field(s, &e, at, err));
  *id = e.fields[at].message->id;
  *update = (metadata_update){true, s->replace, s->changes, s->count};
  op->metadata_fields = id;
  op->field_metadata = update;
  op->metadata_field_count = 1;
  return GLV_OK;
}

/* ---- the operation ---- */

static glv_status set(void *context, const table_snapshot *base, table_snapshot **ret,
                      uint32_t *ret_attempts, glv_error *err) {
  const struct setting *s = context;
  const metadata_update update = {true, s->replace, s->changes, s->count};
  operation op = {.kind = OPERATION_UPDATE_CONFIG};
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, table_env(base));
  switch (s->target) {
  case METADATA_SCHEMA:
    TRY(spell_out(s, base, &a, &op, err));
    break;
  case METADATA_TABLE:
    op.table_metadata = update;
    break;
  case METADATA_CONFIG:
    op.config = update;
    break;
  case METADATA_FIELD:
    TRY(set_field(s, base, &a, &op, err));
    break;
  }
  if (s->target == METADATA_SCHEMA && op.change_count == 0) {
    *ret = table_ref(base);
    return GLV_OK;
  }
  const commit_options how = {.cancel = s->options->cancel};
  return table_commit(base, &op, &how, ret, ret_attempts, err);
}

glv_status table_set_metadata(const table_snapshot *t, enum metadata_target target, str path,
                              const metadata_update *update, cancel_token *cancel,
                              table_snapshot **ret, write_result *ret_result, glv_error *err) {
  const column_options options = {.cancel = cancel};
  struct setting s = {target, path, update->changes, update->count, update->replace, &options};
  TRY(check_keys(table_env(t), update->changes, update->count, err));
  return columns_run(t, update->count + update->replace, set, &s, &options, ret, ret_result, err);
}
