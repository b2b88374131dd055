/* The serialized transaction of a plan: one message per operation (lance-table-format 3.5). */
#include "table/bloom.h"
#include "table/commit_private.h"

typedef Lance__Table__Transaction transaction_message;

static glv_status pack_new_fragments(commit_plan *p, size_t first, size_t count,
                                     ProtobufCBinaryData **ret, glv_error *err) {
  ProtobufCBinaryData *packed = ARENA_ARRAY(&p->memory, ProtobufCBinaryData, count);
  if (packed == NULL) {
    return error_nomem(err, count * sizeof *packed);
  }
  for (size_t i = 0; i < count; i++) {
    str bytes;
    TRY(pb_pack_arena(&p->memory, &p->fragments[first + i].message.base, &bytes, err));
    packed[i] = binary_of_str(bytes);
  }
  *ret = packed;
  return GLV_OK;
}

/* The fragments that change, as the next version has them. */
static glv_status pack_updated(commit_plan *p, ProtobufCBinaryData **ret, glv_error *err) {
  *ret = ARENA_ARRAY(&p->memory, ProtobufCBinaryData, p->updated_count);
  if (*ret == NULL) {
    return error_nomem(err, p->updated_count * sizeof **ret);
  }
  for (size_t i = 0; i < p->updated_count; i++) {
    (*ret)[i] = binary_of_str(p->updated[i].raw);
  }
  return GLV_OK;
}

static glv_status pack(commit_plan *p, transaction_message *t, glv_error *err) {
  t->read_version = p->read_version;
  t->uuid = p->uuid;
  name_transaction(p->read_version, p->uuid, p->transaction_name);
  return pb_pack_arena(&p->memory, &t->base, &p->transaction, err);
}

#define START(t, case_name)                                                                        \
  transaction_message t;                                                                           \
  lance__table__transaction__init(&t);                                                             \
  t.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_##case_name

static glv_status make_append(commit_plan *p, glv_error *err) {
  Lance__Table__Append m = LANCE__TABLE__APPEND__INIT;
  m.n_fragments = p->fragment_count;
  TRY(pack_new_fragments(p, 0, p->fragment_count, &m.fragments, err));
  START(t, APPEND);
  t.append = &m;
  return pack(p, &t, err);
}

static glv_status make_delete(commit_plan *p, glv_error *err) {
  Lance__Table__Delete m;
  lance__table__delete__init(&m);
  m.n_updated_fragments = p->updated_count;
  TRY(pack_updated(p, &m.updated_fragments, err));
  m.n_deleted_fragment_ids = p->removed_count;
  m.deleted_fragment_ids = p->removed_ids;
  m.predicate = arena_strdup(&p->memory, p->op->predicate);
  if (m.predicate == NULL) {
    return error_nomem(err, p->op->predicate.size);
  }
  START(t, DELETE);
  t.delete_ = &m;
  return pack(p, &t, err);
}

static glv_status make_overwrite(commit_plan *p, glv_error *err) {
  Lance__Table__Overwrite m = LANCE__TABLE__OVERWRITE__INIT;
  m.n_fragments = p->fragment_count;
  TRY(pack_new_fragments(p, 0, p->fragment_count, &m.fragments, err));
  TRY(lance_schema_to_messages(&p->memory, p->op->schema, &m.schema, &m.n_schema, err));
  START(t, OVERWRITE);
  t.overwrite = &m;
  return pack(p, &t, err);
}

/* ---- update ---- */

struct filter_message {
  Lance__Table__KeyExistenceFilter filter;
  Lance__Table__BloomFilter bits;
};

static void fill_filter(const operation *op, struct filter_message *m) {
  lance__table__bloom_filter__init(&m->bits);
  m->bits.bitmap = binary_of_str(op->filter_bloom);
  m->bits.num_bits = BLOOM_BITS;
  m->bits.number_of_items = BLOOM_ITEMS;
  m->bits.probability = BLOOM_PROBABILITY;
  lance__table__key_existence_filter__init(&m->filter);
  m->filter.n_field_ids = op->filter_field_count;
  m->filter.field_ids = (int32_t *)(uintptr_t)op->filter_fields;
  m->filter.data_case = LANCE__TABLE__KEY_EXISTENCE_FILTER__DATA_BLOOM;
  m->filter.bloom = &m->bits;
}

static glv_status make_update(commit_plan *p, glv_error *err) {
  const operation *op = p->op;
  Lance__Table__Update m = LANCE__TABLE__UPDATE__INIT;
  m.n_new_fragments = p->fragment_count;
  TRY(pack_new_fragments(p, 0, p->fragment_count, &m.new_fragments, err));
  m.n_removed_fragment_ids = p->removed_count;
  m.removed_fragment_ids = p->removed_ids;
  m.n_updated_fragments = p->updated_count;
  TRY(pack_updated(p, &m.updated_fragments, err));
  m.n_fields_for_preserving_frag_bitmap = op->fields_set_count;
  m.fields_for_preserving_frag_bitmap = (uint32_t *)(uintptr_t)op->fields_set;
  struct filter_message filter;
  if (op->filter_fields != NULL) {
    fill_filter(op, &filter);
    m.inserted_rows = &filter.filter;
  }
  START(t, UPDATE);
  t.update = &m;
  return pack(p, &t, err);
}

/* ---- rewrite ---- */

static glv_status fill_group(commit_plan *p, const rewrite_group *g, size_t first,
                             Lance__Table__RewriteGroup *m, glv_error *err) {
  lance__table__rewrite_group__init(m);
  m->n_old_fragments = g->old_count;
  m->old_fragments = ARENA_ARRAY(&p->memory, ProtobufCBinaryData, g->old_count);
  if (m->old_fragments == NULL) {
    return error_nomem(err, g->old_count * sizeof *m->old_fragments);
  }
  for (size_t i = 0; i < g->old_count; i++) {
    const fragment *f = table_fragment(p->base, g->old_ids[i]);
    if (f == NULL) {
      return FAIL(err, GLV_E_INVALID_INPUT, "table '%s' has no fragment %llu", p->home->name,
                  (unsigned long long)g->old_ids[i]);
    }
    m->old_fragments[i] = binary_of_str(f->raw);
  }
  m->n_new_fragments = g->new_count;
  return pack_new_fragments(p, first, g->new_count, &m->new_fragments, err);
}

static glv_status make_rewrite(commit_plan *p, glv_error *err) {
  const operation *op = p->op;
  Lance__Table__RewriteGroup *groups =
      ARENA_ARRAY(&p->memory, Lance__Table__RewriteGroup, op->group_count);
  Lance__Table__RewriteGroup **list =
      ARENA_ARRAY(&p->memory, Lance__Table__RewriteGroup *, op->group_count);
  if (groups == NULL || list == NULL) {
    return error_nomem(err, op->group_count * sizeof *groups);
  }
  size_t first = 0;
  for (size_t i = 0; i < op->group_count; i++) {
    TRY(fill_group(p, &op->groups[i], first, &groups[i], err));
    list[i] = &groups[i];
    first += op->groups[i].new_count;
  }
  Lance__Table__Rewrite m = LANCE__TABLE__REWRITE__INIT;
  m.n_groups = op->group_count;
  m.groups = list;
  START(t, REWRITE);
  t.rewrite = &m;
  return pack(p, &t, err);
}

/* ---- schema ---- */

/* All fragments of the table, those with new files changed. */
static glv_status make_merge(commit_plan *p, glv_error *err) {
  Lance__Table__Merge m = LANCE__TABLE__MERGE__INIT;
  m.n_fragments = p->base->fragment_count;
  m.fragments = ARENA_ARRAY(&p->memory, ProtobufCBinaryData, m.n_fragments);
  if (m.fragments == NULL) {
    return error_nomem(err, m.n_fragments * sizeof *m.fragments);
  }
  for (size_t i = 0; i < m.n_fragments; i++) {
    const fragment *f = &p->base->fragments[i];
    const planned_update *u = plan_find_update(p, f->id);
    m.fragments[i] = binary_of_str(u != NULL ? u->raw : f->raw);
  }
  if (p->op->enables_row_ids) {
    m.schema = p->base->manifest->fields;
    m.n_schema = p->base->manifest->n_fields;
  } else {
    TRY(lance_schema_to_messages(&p->memory, p->op->schema, &m.schema, &m.n_schema, err));
  }
  m.preserves_nullability = p->op->preserves_nullability || p->op->enables_row_ids;
  START(t, MERGE);
  t.merge = &m;
  return pack(p, &t, err);
}

static glv_status make_project(commit_plan *p, glv_error *err) {
  Lance__Table__Project m = LANCE__TABLE__PROJECT__INIT;
  TRY(lance_schema_to_messages(&p->memory, p->op->schema, &m.schema, &m.n_schema, err));
  m.preserves_nullability = p->op->preserves_nullability;
  START(t, PROJECT);
  t.project = &m;
  return pack(p, &t, err);
}

/* ---- versions and ids ---- */

static glv_status make_restore(commit_plan *p, glv_error *err) {
  Lance__Table__Restore m = LANCE__TABLE__RESTORE__INIT;
  m.version = p->op->restored_version;
  START(t, RESTORE);
  t.restore = &m;
  return pack(p, &t, err);
}

static glv_status make_reserve(commit_plan *p, glv_error *err) {
  Lance__Table__ReserveFragments m = LANCE__TABLE__RESERVE_FRAGMENTS__INIT;
  m.num_fragments = p->op->reserved;
  START(t, RESERVE_FRAGMENTS);
  t.reserve_fragments = &m;
  return pack(p, &t, err);
}

/* ---- metadata ---- */

static glv_status fill_entry(arena *a, const metadata_change *change,
                             Lance__Table__UpdateMapEntry *e, glv_error *err) {
  lance__table__update_map_entry__init(e);
  e->key = arena_strdup(a, change->key);
  if (change->value.data != NULL) {
    e->opt_value_case = LANCE__TABLE__UPDATE_MAP_ENTRY__OPT_VALUE_VALUE;
    e->value = arena_strdup(a, change->value);
  }
  const bool has_value = change->value.data == NULL || e->value != NULL;
  return e->key != NULL && has_value ? GLV_OK : error_nomem(err, change->value.size);
}

/* NULL for a map that does not change. */
static glv_status make_map(commit_plan *p, const metadata_update *u, Lance__Table__UpdateMap **ret,
                           glv_error *err) {
  arena *a = &p->memory;
  *ret = NULL;
  if (!u->is_present) {
    return GLV_OK;
  }
  Lance__Table__UpdateMap *m = ARENA_NEW(a, Lance__Table__UpdateMap);
  Lance__Table__UpdateMapEntry *entries = ARENA_ARRAY(a, Lance__Table__UpdateMapEntry, u->count);
  Lance__Table__UpdateMapEntry **list = ARENA_ARRAY(a, Lance__Table__UpdateMapEntry *, u->count);
  if (m == NULL || entries == NULL || list == NULL) {
    return error_nomem(err, u->count * sizeof *entries);
  }
  for (size_t i = 0; i < u->count; i++) {
    TRY(fill_entry(a, &u->changes[i], &entries[i], err));
    list[i] = &entries[i];
  }
  lance__table__update_map__init(m);
  m->n_update_entries = u->count;
  m->update_entries = list;
  m->replace = u->replace;
  *ret = m;
  return GLV_OK;
}

static glv_status make_field_maps(commit_plan *p, Lance__Table__UpdateConfig *m, glv_error *err) {
  const operation *op = p->op;
  const size_t count = op->metadata_field_count;
  Lance__Table__FieldUpdateEntry *entries =
      ARENA_ARRAY(&p->memory, Lance__Table__FieldUpdateEntry, count);
  m->field_metadata_updates = ARENA_ARRAY(&p->memory, Lance__Table__FieldUpdateEntry *, count);
  if (entries == NULL || m->field_metadata_updates == NULL) {
    return error_nomem(err, count * sizeof *entries);
  }
  for (size_t i = 0; i < count; i++) {
    lance__table__field_update_entry__init(&entries[i]);
    entries[i].key = op->metadata_fields[i];
    TRY(make_map(p, &op->field_metadata[i], &entries[i].value, err));
    m->field_metadata_updates[i] = &entries[i];
  }
  m->n_field_metadata_updates = count;
  return GLV_OK;
}

static glv_status make_update_config(commit_plan *p, glv_error *err) {
  const operation *op = p->op;
  const metadata_update schema_changes = {op->change_count > 0, false, op->changes,
                                          op->change_count};
  Lance__Table__UpdateConfig m = LANCE__TABLE__UPDATE_CONFIG__INIT;
  TRY(make_map(p, &op->config, &m.config_updates, err));
  TRY(make_map(p, &op->table_metadata, &m.table_metadata_updates, err));
  TRY(make_map(p, &schema_changes, &m.schema_metadata_updates, err));
  TRY(make_field_maps(p, &m, err));
  START(t, UPDATE_CONFIG);
  t.update_config = &m;
  return pack(p, &t, err);
}

glv_status plan_message(commit_plan *p, glv_error *err) {
  switch (p->op->kind) {
  case OPERATION_APPEND:
    return make_append(p, err);
  case OPERATION_DELETE:
    return make_delete(p, err);
  case OPERATION_OVERWRITE:
    return make_overwrite(p, err);
  case OPERATION_REWRITE:
    return make_rewrite(p, err);
  case OPERATION_MERGE:
    return make_merge(p, err);
  case OPERATION_RESTORE:
    return make_restore(p, err);
  case OPERATION_RESERVE_FRAGMENTS:
    return make_reserve(p, err);
  case OPERATION_UPDATE:
    return make_update(p, err);
  case OPERATION_PROJECT:
    return make_project(p, err);
  case OPERATION_UPDATE_CONFIG:
    return make_update_config(p, err);
  case OPERATION_UNKNOWN:
  case OPERATION_CREATE_INDEX:
  case OPERATION_DATA_REPLACEMENT:
  case OPERATION_UPDATE_MEM_WAL_STATE:
  case OPERATION_CLONE:
  case OPERATION_UPDATE_BASES:
  case OPERATION_DATA_OVERLAY:
    break;
  }
  return FAIL(err, GLV_E_UNSUPPORTED, "operation %s cannot be committed by this release",
              operation_name(p->op->kind));
}
