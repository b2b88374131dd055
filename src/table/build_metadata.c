/* The metadata maps of a new manifest: schema metadata, configuration, table metadata, and the
 * metadata of fields (lance-table-format 3.1, 3.2, 14). */
#include "table/commit_private.h"

/* old with the changes of u; keys keep their place. */
static glv_status apply(arena *a, metadata old, const metadata_update *u, metadata *ret,
                        glv_error *err) {
  const size_t kept = u->replace ? 0 : old.count;
  pair *pairs = ARENA_ARRAY(a, pair, kept + u->count);
  if (pairs == NULL) {
    return error_nomem(err, (kept + u->count) * sizeof *pairs);
  }
  size_t count = 0;
  for (; count < kept; count++) {
    pairs[count] = old.pairs[count];
  }
  for (size_t i = 0; i < u->count; i++) {
    const metadata_change *change = &u->changes[i];
    size_t at = 0;
    while (at < count && !str_equal(pairs[at].key, change->key)) {
      at++;
    }
    if (change->value.data != NULL) {
      pairs[at] = (pair){change->key, change->value};
      count += at == count;
    } else if (at < count) {
      memmove(&pairs[at], &pairs[at + 1], (count - at - 1) * sizeof *pairs);
      count--;
    }
  }
  *ret = (metadata){pairs, count};
  return GLV_OK;
}

static glv_status bytes_entries(arena *a, metadata pairs, Lance__File__BytesEntry ***ret,
                                glv_error *err) {
  Lance__File__BytesEntry *entries = ARENA_ARRAY(a, Lance__File__BytesEntry, pairs.count);
  *ret = ARENA_ARRAY(a, Lance__File__BytesEntry *, pairs.count);
  if (entries == NULL || *ret == NULL) {
    return error_nomem(err, pairs.count * sizeof *entries);
  }
  for (size_t i = 0; i < pairs.count; i++) {
    lance__file__bytes_entry__init(&entries[i]);
    entries[i].key = arena_strdup(a, pairs.pairs[i].key);
    entries[i].value = binary_of_str(pairs.pairs[i].value);
    if (entries[i].key == NULL) {
      return error_nomem(err, pairs.pairs[i].key.size);
    }
    (*ret)[i] = &entries[i];
  }
  return GLV_OK;
}

static glv_status string_entries(arena *a, metadata pairs, Lance__Table__StringEntry ***ret,
                                 glv_error *err) {
  Lance__Table__StringEntry *entries = ARENA_ARRAY(a, Lance__Table__StringEntry, pairs.count);
  *ret = ARENA_ARRAY(a, Lance__Table__StringEntry *, pairs.count);
  if (entries == NULL || *ret == NULL) {
    return error_nomem(err, pairs.count * sizeof *entries);
  }
  for (size_t i = 0; i < pairs.count; i++) {
    lance__table__string_entry__init(&entries[i]);
    entries[i].key = arena_strdup(a, pairs.pairs[i].key);
    entries[i].value = arena_strdup(a, pairs.pairs[i].value);
    if (entries[i].key == NULL || entries[i].value == NULL) {
      return error_nomem(err, pairs.pairs[i].value.size);
    }
    (*ret)[i] = &entries[i];
  }
  return GLV_OK;
}

glv_status manifest_set_metadata(arena *a, Lance__Table__Manifest *m, metadata pairs,
                                 glv_error *err) {
  TRY(bytes_entries(a, pairs, &m->schema_metadata, err));
  m->n_schema_metadata = pairs.count;
  return GLV_OK;
}

/* A map of text to text with the changes of u. */
static glv_status change_strings(arena *a, const metadata_update *u,
                                 Lance__Table__StringEntry ***entries, size_t *count,
                                 glv_error *err) {
  if (!u->is_present) {
    return GLV_OK;
  }
  metadata old;
  metadata changed;
  TRY(metadata_from_strings(a, *entries, *count, &old, err));
  TRY(apply(a, old, u, &changed, err));
  TRY(string_entries(a, changed, entries, err));
  *count = changed.count;
  return GLV_OK;
}

/* ---- fields ---- */

static Lance__File__Field *find_field(const Lance__Table__Manifest *m, int32_t id) {
  for (size_t i = 0; i < m->n_fields; i++) {
    if (m->fields[i]->id == id) {
      return m->fields[i];
    }
  }
  return NULL;
}

/* Makes m own its list of fields, so that single ones can be exchanged. */
static glv_status own_fields(arena *a, Lance__Table__Manifest *m, glv_error *err) {
  Lance__File__Field **fields = ARENA_ARRAY(a, Lance__File__Field *, m->n_fields);
  Lance__File__Field *copies = ARENA_ARRAY(a, Lance__File__Field, m->n_fields);
  if (fields == NULL || copies == NULL) {
    return error_nomem(err, m->n_fields * sizeof *copies);
  }
  for (size_t i = 0; i < m->n_fields; i++) {
    copies[i] = *m->fields[i];
    fields[i] = &copies[i];
  }
  m->fields = fields;
  return GLV_OK;
}

static glv_status change_field(arena *a, Lance__Table__Manifest *m, int32_t id,
                               const metadata_update *u, glv_error *err) {
  Lance__File__Field *f = find_field(m, id);
  if (f == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "field %ld, whose metadata is to change, is not in the schema", (long)id);
  }
  metadata old;
  metadata changed;
  TRY(metadata_from_bytes(a, f->metadata, f->n_metadata, &old, err));
  TRY(apply(a, old, u, &changed, err));
  TRY(bytes_entries(a, changed, &f->metadata, err));
  f->n_metadata = changed.count;
  lance_field_mark_keys(changed, f);
  return GLV_OK;
}

glv_status manifest_change_metadata(arena *a, Lance__Table__Manifest *m,
                                    const table_snapshot *latest, const operation *op,
                                    glv_error *err) {
  if (op->change_count > 0) {
    const metadata_update u = {true, false, op->changes, op->change_count};
    metadata changed;
    TRY(apply(a, latest->lance->metadata, &u, &changed, err));
    TRY(manifest_set_metadata(a, m, changed, err));
  }
  TRY(change_strings(a, &op->config, &m->config, &m->n_config, err));
  TRY(change_strings(a, &op->table_metadata, &m->table_metadata, &m->n_table_metadata, err));
  if (op->metadata_field_count > 0) {
    TRY(own_fields(a, m, err));
  }
  for (size_t i = 0; i < op->metadata_field_count; i++) {
    TRY(change_field(a, m, op->metadata_fields[i], &op->field_metadata[i], err));
  }
  return GLV_OK;
}

glv_status manifest_keep_field_metadata(arena *a, Lance__Table__Manifest *m,
                                        const Lance__Table__Manifest *latest, glv_error *err) {
  TRY(own_fields(a, m, err));
  for (size_t i = 0; i < m->n_fields; i++) {
    const Lance__File__Field *there = find_field(latest, m->fields[i]->id);
    if (there != NULL) {
      m->fields[i]->metadata = there->metadata;
      m->fields[i]->n_metadata = there->n_metadata;
    }
  }
  return GLV_OK;
}
