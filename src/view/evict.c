/* Each file is searched for itself, several at a time. The chunks that its summary does not rule
 * out are decoded, many neighbours at once; a chunk whose ids do not lie within what the summary
 * says makes the summary a wrong one, and the file is searched again without it. A file without a
 * summary is cut into pieces whose smallest and largest id are computed instead.
 */
#include "view/evict.h"

#include "base/checked.h"
#include "base/thread.h"
#include "format/file_reader.h"
#include "table/deletion.h"
#include "view/definition.h"
#include "view/summary.h"

enum {
  PIECE_ROWS = 1024,  /* as many as chunks usually have */
  BLOCK_ROWS = 65536, /* decoded at a time */
};

/* The search of one file. */
typedef struct search {
  const table_snapshot *view;
  const id_runs *ids;
  file_reader *reader;
  uint32_t column;
  const field *field;
  uint64_t rows;
  bitmap *found; /* offsets */
} search;

/* ---- decoded ids ---- */

/* Ids that were decoded, and what is known of them. */
typedef struct piece {
  const uint64_t *values;
  size_t count; /* not 0 */
  uint64_t row; /* of the first */
  bool ascends;
  uint64_t least;
  uint64_t most;
} piece;

static piece piece_of(const uint64_t *values, size_t count, uint64_t row) {
  bool ascends = true;
  for (size_t i = 1; i < count; i++) {
    ascends &= values[i - 1] <= values[i];
  }
  piece p = {values, count, row, ascends, values[0], values[count - 1]};
  for (size_t i = 0; i < count && !ascends; i++) {
    p.least = u64_min(p.least, values[i]);
    p.most = u64_max(p.most, values[i]);
  }
  return p;
}

/* The first value of an ascending piece that is not below id. */
static size_t lower_bound(const piece *p, uint64_t id) {
  size_t low = 0;
  size_t high = p->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (p->values[middle] < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The rows of the piece that are wanted. */
static void match(search *s, const piece *p) {
  const id_runs *ids = s->ids;
  const size_t low = id_runs_find(ids, p->least);
  size_t high = low;
  if (p->ascends) {
    for (; high < ids->count && ids->runs[high].first <= p->most; high++) {
      const size_t first = lower_bound(p, ids->runs[high].first);
      const size_t end = lower_bound(p, ids->runs[high].end);
      bitmap_add_range(s->found, p->row + first, p->row + end);
    }
    return;
  }
  high = id_runs_find(ids, p->most);
  const id_runs near = {.runs = ids->runs + low, .count = size_min(high + 1, ids->count) - low};
  for (size_t i = 0; i < p->count && near.count > 0; i++) {
    const size_t k = id_runs_find(&near, p->values[i]);
    if (k < near.count && near.runs[k].first <= p->values[i]) {
      bitmap_add(s->found, (uint32_t)(p->row + i));
    }
  }
}

static glv_status decode(const search *s, uint64_t first, uint64_t count, array *ret,
                         glv_error *err) {
  return file_reader_read(s->reader, s->column, s->field, first, count, NULL, 0, ret, err);
}

/* ---- with and without a summary ---- */

static uint64_t chunk_end(const file_summary *m, size_t i) {
  return i + 1 < m->count ? m->first_rows[i + 1] : m->rows;
}

/* The chunks [first, end) that follow each other; *ret_fits = whether the summary was right. */
static glv_status search_chunks(search *s, const file_summary *m, size_t first, size_t end,
                                bool *ret_fits, glv_error *err) {
  const uint64_t start = m->first_rows[first];
  CLEANUP(array_unref) array ids = {0};
  TRY(decode(s, start, chunk_end(m, end - 1) - start, &ids, err));
  const uint64_t *values = ARRAY_VALUES(&ids, uint64_t);
  for (size_t i = first; i < end && *ret_fits; i++) {
    const uint64_t row = m->first_rows[i];
    const piece p = piece_of(values + (row - start), (size_t)(chunk_end(m, i) - row), row);
    *ret_fits = p.least >= m->minima[i] && p.most <= m->maxima[i];
    match(s, &p);
  }
  return GLV_OK;
}

/* The first chunk from number i on whose largest id is not below id; the maxima ascend. */
static size_t skip_chunks(const file_summary *m, size_t i, uint64_t id) {
  size_t low = i;
  size_t high = m->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (m->maxima[middle] < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The first chunk from number i on that can hold a wanted id; m->count = none. */
static size_t next_candidate(const search *s, const file_summary *m, size_t i) {
  while (i < m->count && !id_runs_meet(s->ids, m->minima[i], m->maxima[i])) {
    const size_t run = m->sorted ? id_runs_find(s->ids, m->minima[i]) : 0;
    if (run == s->ids->count) {
      return m->count;
    }
    i = m->sorted ? skip_chunks(m, i + 1, s->ids->runs[run].first) : i + 1;
  }
  return i;
}

static glv_status search_with(search *s, const file_summary *m, bool *ret_fits, glv_error *err) {
  *ret_fits = true;
  for (size_t i = next_candidate(s, m, 0); i < m->count && *ret_fits;) {
    size_t end = i + 1;
    while (end < m->count && next_candidate(s, m, end) == end &&
           chunk_end(m, end) - m->first_rows[i] <= BLOCK_ROWS) {
      end++;
    }
    TRY(search_chunks(s, m, i, end, ret_fits, err));
    i = next_candidate(s, m, end);
  }
  return GLV_OK;
}

static glv_status search_all(search *s, glv_error *err) {
  for (uint64_t first = 0; first < s->rows; first += BLOCK_ROWS) {
    CLEANUP(array_unref) array ids = {0};
    const size_t count = (size_t)u64_min(BLOCK_ROWS, s->rows - first);
    TRY(decode(s, first, count, &ids, err));
    const uint64_t *values = ARRAY_VALUES(&ids, uint64_t);
    for (size_t i = 0; i < count; i += PIECE_ROWS) {
      const piece p = piece_of(values + i, size_min(PIECE_ROWS, count - i), first + i);
      match(s, &p);
    }
  }
  return GLV_OK;
}

static glv_status search_file(search *s, const char *name, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, table_env(s->view));
  file_summary m;
  bool fits = false;
  TRY(view_summary_find(s->reader, name, s->column, &a, &m, &fits, err));
  if (fits) {
    TRY(search_with(s, &m, &fits, err));
    if (fits) {
      return GLV_OK;
    }
    env_log(table_env(s->view), GLV_LOG_WARNING,
            "data file '%s': its provenance summary is wrong; ignored", name);
    bitmap_free(s->found);
    s->found = bitmap_new();
  }
  return s->found != NULL ? search_all(s, err) : error_nomem(err, 0);
}

/* ---- fragments ---- */

static glv_status search_fragment(search *s, const fragment *f, int32_t field_id, glv_error *err) {
  const data_file *file = fragment_find_field(f, field_id, &s->column);
  if (file == NULL || file->version == 0) {
    return FAIL(err, GLV_E_CORRUPT,
                "view '%s': fragment %llu has no file with its provenance column that this release "
                "reads",
                table_name(s->view), (unsigned long long)f->id);
  }
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, table_env(s->view));
  char *path = NULL;
  TRY(table_data_file_path(s->view, file, &a, &path, err));
  TRY(file_reader_open(table_env(s->view), NULL, path, &s->reader, err));
  s->rows = f->physical_rows;
  if (file_reader_rows(s->reader) != s->rows) {
    return FAIL(err, GLV_E_CORRUPT,
                "view '%s': data file '%s' has %llu rows, the manifest says %llu",
                table_name(s->view), file->path, (unsigned long long)file_reader_rows(s->reader),
                (unsigned long long)s->rows);
  }
  return search_file(s, file->path, err);
}

/* The search of all fragments, each on its own. */
typedef struct search_plan {
  const table_snapshot *view;
  const fragment *fragments;
  const lance_field *provenance;
  const id_runs *ids;
  cancel_token *cancel;
  bitmap **found; /* by position of the fragment: its live rows that are wanted; NULL = none */
} search_plan;

/* Keep of what was found what is live. The bitmap is taken over. */
static glv_status keep_live(const search_plan *p, size_t i, bitmap *found, glv_error *err) {
  CLEANUP(bitmap_cleanup) bitmap *rows = found;
  CLEANUP(bitmap_cleanup) bitmap *deleted = NULL;
  if (rows == NULL || bitmap_count(rows) == 0) {
    return GLV_OK;
  }
  TRY(deletion_load(p->view, &p->fragments[i], &deleted, err));
  if (deleted != NULL) {
    bitmap_andnot(rows, deleted);
  }
  if (bitmap_count(rows) > 0) {
    p->found[i] = rows;
    rows = NULL;
  }
  return GLV_OK;
}

static glv_status find_in_fragment(void *context, size_t i, glv_error *err) {
  const search_plan *p = context;
  const fragment *f = &p->fragments[i];
  TRY(cancel_check(p->cancel, err));
  if (f->physical_rows == 0) {
    return GLV_OK;
  }
  search s = {
      .view = p->view, .ids = p->ids, .field = &p->provenance->arrow, .found = bitmap_new()};
  glv_status status =
      s.found != NULL ? search_fragment(&s, f, p->provenance->id, err) : error_nomem(err, 0);
  file_reader_unref(s.reader);
  if (status != GLV_OK) {
    bitmap_free(s.found);
    return status;
  }
  return keep_live(p, i, s.found, err);
}

static void add_found(evictions *e, const fragment *f, bitmap *rows) {
  if (rows != NULL) {
    e->updates[e->count++] = (deletion_update){f->id, rows};
    e->rows += bitmap_count(rows);
  }
}

glv_status evictions_find(const table_snapshot *view, const id_runs *ids, cancel_token *cancel,
                          evictions *ret, glv_error *err) {
  *ret = (evictions){.env = table_env(view)};
  size_t count = 0;
  const fragment *fragments = table_fragments(view, &count);
  if (ids->count == 0) {
    return GLV_OK;
  }
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, table_env(view));
  search_plan p = {.view = view,
                   .fragments = fragments,
                   .provenance =
                       lance_schema_find(table_lance_schema(view), STR(VIEW_SOURCE_ROW_ID)),
                   .ids = ids,
                   .cancel = cancel};
  TRY(vec_reserve(ret->env, &ret->updates, &ret->capacity, count, sizeof *ret->updates, err));
  p.found = ARENA_ARRAY(&a, bitmap *, count);
  if (p.found == NULL && count > 0) {
    return error_nomem(err, 0);
  }
  const glv_status status = parallel_for(table_env(view), count, find_in_fragment, &p, err);
  for (size_t i = 0; i < count; i++) {
    add_found(ret, &fragments[i], p.found[i]);
  }
  return status;
}

void evictions_dispose(evictions *e) {
  for (size_t i = 0; i < e->count; i++) {
    bitmap_free((bitmap *)(uintptr_t)e->updates[i].deleted);
  }
  if (e->env != NULL) {
    mem_free(e->env, e->updates);
  }
  *e = (evictions){0};
}
