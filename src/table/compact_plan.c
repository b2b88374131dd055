/* Which fragments a compaction joins (lance-table-format 18).
 *
 * A fragment is a candidate by itself when too large a part of it is deleted, else a candidate with
 * its neighbours when it has fewer rows than the target. A run of candidates that the same indexes
 * cover is a bin; a bin of one that is no candidate by itself is nothing to do; a bin is split
 * wherever both parts have the target's rows at least.
 */
#include <stdlib.h>

#include "base/bitmap.h"
#include "table/compact_private.h"

enum candidacy { NO_CANDIDATE, WITH_NEIGHBOURS, BY_ITSELF };

struct planner {
  const table_snapshot *table;
  const compact_options *options;
  const fragment **fragments; /* by id */
  size_t count;
  bitmap **covered; /* for each index that tells it: the fragments it covers */
  size_t covered_count;
  compact_group *groups;
  size_t group_count;
};

static void planner_cleanup(struct planner *p) {
  for (size_t i = 0; i < p->covered_count; i++) {
    bitmap_free(p->covered[i]);
  }
}

static int compare_ids(const void *a, const void *b) {
  const uint64_t x = (*(const fragment *const *)a)->id;
  const uint64_t y = (*(const fragment *const *)b)->id;
  return x < y ? -1 : x > y;
}

static uint64_t live_rows(const fragment *f) {
  return f->physical_rows - (f->has_deletions ? f->deletions.count : 0);
}

static enum candidacy judge(const struct planner *p, const fragment *f) {
  const uint64_t deleted = f->has_deletions ? f->deletions.count : 0;
  if ((double)deleted > p->options->deletion_threshold * (double)f->physical_rows) {
    return BY_ITSELF;
  }
  return f->physical_rows < p->options->target_rows ? WITH_NEIGHBOURS : NO_CANDIDATE;
}

/* An index that does not tell what it covers is taken to cover everything. */
static glv_status read_coverage(struct planner *p, arena *a, glv_error *err) {
  const table_snapshot *t = p->table;
  p->covered = ARENA_ARRAY(a, bitmap *, t->index_count);
  if (p->covered == NULL) {
    return error_nomem(err, t->index_count * sizeof *p->covered);
  }
  for (size_t i = 0; i < t->index_count; i++) {
    const Lance__Table__IndexMetadata *m = t->index_messages[i];
    if (strncmp(m->name, "__lance_", 8) == 0 || m->fragment_bitmap.len == 0) {
      continue;
    }
    TRY(bitmap_read(m->fragment_bitmap.data, m->fragment_bitmap.len, &p->covered[p->covered_count],
                    err));
    p->covered_count++;
  }
  return GLV_OK;
}

static bool same_coverage(const struct planner *p, const fragment *a, const fragment *b) {
  for (size_t i = 0; i < p->covered_count; i++) {
    if (bitmap_contains(p->covered[i], (uint32_t)a->id) !=
        bitmap_contains(p->covered[i], (uint32_t)b->id)) {
      return false;
    }
  }
  return true;
}

static void add_group(struct planner *p, size_t first, size_t end, uint64_t rows) {
  p->groups[p->group_count++] = (compact_group){&p->fragments[first], end - first, rows};
}

/* The bin [first, end), split where that leaves enough for another. */
static void close_bin(struct planner *p, size_t first, size_t end) {
  if (end - first < 2 && (end == first || judge(p, p->fragments[first]) != BY_ITSELF)) {
    return;
  }
  uint64_t left = 0;
  for (size_t i = first; i < end; i++) {
    left += live_rows(p->fragments[i]);
  }
  uint64_t rows = 0;
  for (size_t i = first; i < end; i++) {
    rows += live_rows(p->fragments[i]);
    left -= live_rows(p->fragments[i]);
    if (rows >= p->options->target_rows && left >= p->options->target_rows) {
      add_group(p, first, i + 1, rows);
      first = i + 1;
      rows = 0;
    }
  }
  add_group(p, first, end, rows);
}

static void make_groups(struct planner *p) {
  size_t first = 0; /* of the open bin, which ends before i */
  for (size_t i = 0; i < p->count; i++) {
    const fragment *f = p->fragments[i];
    if (judge(p, f) == NO_CANDIDATE) {
      close_bin(p, first, i);
      first = i + 1;
    } else if (first < i && !same_coverage(p, p->fragments[i - 1], f)) {
      close_bin(p, first, i);
      first = i;
    }
  }
  close_bin(p, first, p->count);
}

glv_status compact_plan(const table_snapshot *t, const compact_options *options, arena *a,
                        compact_group **ret, size_t *ret_count, glv_error *err) {
  CLEANUP(planner_cleanup)
  struct planner p = {.table = t, .options = options, .count = t->fragment_count};
  p.fragments = ARENA_ARRAY(a, const fragment *, p.count);
  p.groups = ARENA_ARRAY(a, compact_group, p.count);
  if (p.fragments == NULL || p.groups == NULL) {
    return error_nomem(err, p.count * sizeof *p.groups);
  }
  for (size_t i = 0; i < p.count; i++) {
    p.fragments[i] = &t->fragments[i];
  }
  if (!t->is_sorted) {
    qsort(p.fragments, p.count, sizeof *p.fragments, compare_ids);
  }
  TRY(read_coverage(&p, a, err));
  make_groups(&p);
  *ret = p.groups;
  *ret_count = p.group_count;
  return GLV_OK;
}
