/* The identity of rows on their way to new fragments: their stable ids, and the versions in which
 * they were made, read from the system columns of the scan that fetches them. */
#include "table/rows_private.h"
#include "table/table_private.h"

void row_moves_init(row_moves *m, const table_snapshot *t) {
  *m = (row_moves){.env = table_env(t), .is_stable = table_has_stable_row_ids(t)};
}

void row_moves_dispose(row_moves *m) {
  if (m->env != NULL) {
    mem_free(m->env, m->ids);
    mem_free(m->env, m->created);
  }
  *m = (row_moves){0};
}

void row_moves_ask(const row_moves *m, scan_options *o) {
  o->with_row_id = m->is_stable;
  o->with_created_at = m->is_stable;
}

static glv_status add_versions(row_moves *m, const uint64_t *versions, size_t count,
                               glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    version_run *last = m->created_count > 0 ? &m->created[m->created_count - 1] : NULL;
    if (last != NULL && last->version == versions[i]) {
      last->rows++;
      continue;
    }
    TRY(vec_reserve(m->env, &m->created, &m->created_capacity, m->created_count + 1,
                    sizeof *m->created, err));
    m->created[m->created_count++] = (version_run){1, versions[i]};
  }
  return GLV_OK;
}

glv_status row_moves_add(row_moves *m, const array *ids, const array *created, glv_error *err) {
  const size_t count = ids->length;
  TRY(vec_reserve(m->env, &m->ids, &m->id_capacity, m->id_count + count, sizeof *m->ids, err));
  memcpy(m->ids + m->id_count, ids->values, count * sizeof *m->ids);
  m->id_count += count;
  return add_versions(m, ARRAY_VALUES(created, uint64_t), count, err);
}

void row_moves_origin(const row_moves *m, row_origin *ret, operation *op) {
  if (m->is_stable) {
    *ret = (row_origin){.ids = m->ids,
                        .count = m->id_count,
                        .created = m->created,
                        .created_count = m->created_count};
    op->origin = ret;
  }
}
