/* Sets of rows by fragment: what a scan with row addresses found, as selection for another scan and
 * as the deletions of a commit; the fields that a commit
 * changes, and the commit itself. */
#include "table/rows_private.h"
#include "table/stage_private.h"
#include "table/table_private.h"

glv_status row_marks_init(row_marks *m, arena *a, const table_snapshot *t, glv_error *err) {
  *m = (row_marks){.table = t, .offsets = ARENA_ARRAY(a, bitmap *, t->fragment_count)};
  return m->offsets != NULL ? GLV_OK : error_nomem(err, t->fragment_count * sizeof *m->offsets);
}

void row_marks_dispose(row_marks *m) {
  for (size_t i = 0; m->offsets != NULL && i < m->table->fragment_count; i++) {
    bitmap_free(m->offsets[i]);
  }
  *m = (row_marks){0};
}

/* The set of a fragment, made when missing. */
static bitmap *marks_of(row_marks *m, uint64_t fragment_id) {
  const fragment *f = table_fragment(m->table, fragment_id);
  bitmap **at = &m->offsets[f - m->table->fragments];
  if (*at == NULL) {
    *at = bitmap_new();
  }
  return *at;
}

glv_status row_marks_add(row_marks *m, const uint64_t *addresses, size_t count, glv_error *err) {
  enum { PART = 1024 };
  uint32_t offsets[PART];
  for (size_t i = 0; i < count;) {
    const uint64_t id = addresses[i] >> 32;
    size_t part = 0;
    for (; part < PART && i < count && addresses[i] >> 32 == id; i++) {
      offsets[part++] = (uint32_t)addresses[i];
    }
    bitmap *b = marks_of(m, id);
    if (b == NULL) {
      return error_nomem(err, sizeof offsets);
    }
    bitmap_add_many(b, offsets, part);
  }
  m->rows += count;
  return GLV_OK;
}

glv_status row_marks_scan(row_marks *m, scan_options *o, glv_error *err) {
  static const scan_column none = {0};
  o->columns = &none;
  o->column_count = 0;
  o->with_row_address = true;
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  TRY(table_scan(m->table, o, &r, err));
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool at_end = false;
    TRY(r.next(r.state, &b, &at_end, err));
    if (at_end) {
      return GLV_OK;
    }
    TRY(row_marks_add(m, ARRAY_VALUES(&b.columns[0], uint64_t), b.length, err));
  }
}

glv_status row_marks_join(row_marks *m, const row_marks *other, glv_error *err) {
  for (size_t i = 0; i < m->table->fragment_count; i++) {
    if (other->offsets[i] != NULL) {
      bitmap *b = marks_of(m, m->table->fragments[i].id);
      if (b == NULL) {
        return error_nomem(err, sizeof b);
      }
      bitmap_or(b, other->offsets[i]);
    }
  }
  m->rows += other->rows;
  return GLV_OK;
}

glv_status row_marks_fragments(const row_marks *m, arena *a, const scan_fragment **ret,
                               size_t *ret_count, glv_error *err) {
  scan_fragment *list = ARENA_ARRAY(a, scan_fragment, m->table->fragment_count);
  size_t count = 0;
  if (list == NULL) {
    return error_nomem(err, m->table->fragment_count * sizeof *list);
  }
  for (size_t i = 0; i < m->table->fragment_count; i++) {
    if (m->offsets[i] != NULL) {
      list[count++] = (scan_fragment){m->table->fragments[i].id, m->offsets[i]};
    }
  }
  *ret = list;
  *ret_count = count;
  return GLV_OK;
}

glv_status row_marks_delete(const row_marks *m, arena *a, operation *op, glv_error *err) {
  const size_t most = m->table->fragment_count;
  uint64_t *removed = ARENA_ARRAY(a, uint64_t, most);
  deletion_update *updated = ARENA_ARRAY(a, deletion_update, most);
  if (removed == NULL || updated == NULL) {
    return error_nomem(err, most * sizeof *updated);
  }
  op->removed = removed;
  op->updated = updated;
  for (size_t i = 0; i < most; i++) {
    const fragment *f = &m->table->fragments[i];
    if (m->offsets[i] == NULL) {
      continue;
    }
    const uint64_t dead = f->has_deletions ? f->deletions.count : 0;
    const bool is_known = !f->has_deletions || dead != 0;
    if (is_known && bitmap_count(m->offsets[i]) == f->physical_rows - dead) {
      removed[op->removed_count++] = f->id;
    } else {
      updated[op->updated_count++] = (deletion_update){f->id, m->offsets[i]};
    }
  }
  return GLV_OK;
}

static void add_ids(const lance_field *f, uint32_t *ids, size_t *count) {
  if (ids != NULL) {
    ids[*count] = (uint32_t)f->id;
  }
  ++*count;
  for (size_t i = 0; i < f->child_count; i++) {
    add_ids(&f->children[i], ids, count);
  }
}

/* ids NULL: only counts them. */
static size_t list_ids(const lance_schema *s, const bool *is_set, uint32_t *ids) {
  size_t count = 0;
  for (size_t i = 0; i < s->field_count; i++) {
    if (is_set == NULL || is_set[i]) {
      add_ids(&s->fields[i], ids, &count);
    }
  }
  return count;
}

glv_status row_fields_set(const table_snapshot *t, arena *a, const bool *is_set, operation *op,
                          glv_error *err) {
  op->fields_set_count = list_ids(t->lance, is_set, NULL);
  uint32_t *ids = ARENA_ARRAY(a, uint32_t, op->fields_set_count);
  if (ids == NULL) {
    return error_nomem(err, op->fields_set_count * sizeof *ids);
  }
  list_ids(t->lance, is_set, ids);
  op->fields_set = ids;
  return GLV_OK;
}

/* ---- the commit ---- */

glv_status row_commit(const table_snapshot *t, operation *op, staged **s, cancel_token *cancel,
                      table_snapshot **ret, uint32_t *ret_attempts, glv_error *err) {
  const commit_options how = {.cancel = cancel};
  op->rows = *s;
  const glv_status status = table_commit(t, op, &how, ret, ret_attempts, err);
  *ret_attempts = *ret_attempts > 0 ? *ret_attempts : 1; /* 0: met a conflict before publishing */
  return staged_settle(s, status);
}

void row_done(const row_result *last, uint32_t attempts, row_result *ret) {
  if (ret != NULL) {
    *ret = *last;
    ret->attempts = attempts;
  }
}
