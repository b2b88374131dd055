/* A span ends where the run of ids, one of the runs of versions, or the row before a deleted one
 * ends. Every one of these is found once and kept, so that a walk costs the number of spans, not of
 * rows, wherever the sequences are ranges.
 */
#include "table/row_spans.h"

#include "base/checked.h"

glv_status row_spans_open_all(const table_snapshot *t, const fragment *f, arena *a, row_spans *ret,
                              glv_error *err) {
  row_id_sequence *ids = NULL;
  *ret = (row_spans){.rows = f->physical_rows};
  TRY(fragment_row_ids(t, f, a, &ids, err));
  ret->ids = ids;
  TRY(fragment_created_at(t, f, a, &ret->created, err));
  return fragment_last_updated_at(t, f, a, &ret->updated, err);
}

glv_status row_spans_open(const table_snapshot *t, const fragment *f, arena *a, row_spans *ret,
                          glv_error *err) {
  TRY(row_spans_open_all(t, f, a, ret, err));
  return deletion_load(t, f, &ret->deleted, err);
}

/* The first deleted row at or behind the next one. */
static uint64_t next_dead(row_spans *s) {
  enum { ROOM = sizeof s->dead / sizeof s->dead[0] };
  if (s->deleted == NULL) {
    return s->rows;
  }
  while (s->dead_next < s->dead_count && s->dead[s->dead_next] < s->next) {
    s->dead_next++;
  }
  if (s->dead_next == s->dead_count) {
    s->dead_count = bitmap_values(s->deleted, s->next, s->rows, s->dead, ROOM);
    s->dead_next = 0;
  }
  return s->dead_count > 0 ? s->dead[s->dead_next] : s->rows;
}

/* The version of the next row; *end: the row before which the run ends. */
static uint64_t version_of(const row_versions *v, uint64_t next, size_t *run, uint64_t *end) {
  while (*end <= next) {
    *end += v->runs[(*run)++].rows;
  }
  return v->runs[*run - 1].version;
}

bool row_spans_next(row_spans *s, row_span *ret) {
  uint64_t dead = next_dead(s);
  while (s->next < s->rows && dead == s->next) {
    s->next++;
    dead = next_dead(s);
  }
  if (s->next == s->rows) {
    return false;
  }
  if (s->run_end <= s->next) {
    s->run_row = s->next;
    s->run_end = s->next + row_ids_run(s->ids, s->next, &s->run_id);
  }
  *ret = (row_span){.offset = s->next, .id = s->run_id + (s->next - s->run_row)};
  ret->created = version_of(&s->created, s->next, &s->created_run, &s->created_end);
  ret->updated = version_of(&s->updated, s->next, &s->updated_run, &s->updated_end);
  const uint64_t versions_end = u64_min(s->created_end, s->updated_end);
  const uint64_t end = u64_min(u64_min(s->run_end, dead), versions_end);
  ret->count = end - s->next;
  s->next = end;
  return true;
}

void row_spans_close(row_spans *s) {
  bitmap_free(s->deleted);
  s->deleted = NULL;
}
