/* Which index segments survive a commit: the *retain* rule of lance-table-format section 14.
 *
 * A segment goes when a field it is built on has left the schema, or when none of its fragments is
 * live while another segment of its name still covers something. Of a name whose segments are all
 * empty the one created first stays. What is not known (no bitmap) stays, and with a fragment-reuse
 * entry everything stays.
 */
#include <stdlib.h>

#include "table/commit_private.h"

static bool is_system(const char *name) { return strncmp(name, "__lance_", 8) == 0; }

static int compare_fields(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a;
  const int32_t y = *(const int32_t *)b;
  return x < y ? -1 : x > y;
}

static bool fields_exist(const Lance__Table__IndexMetadata *m, const int32_t *ids, size_t count) {
  for (size_t i = 0; i < m->n_fields; i++) {
    if (count == 0 || bsearch(&m->fields[i], ids, count, sizeof *ids, compare_fields) == NULL) {
      return false;
    }
  }
  return true;
}

/* True when the bitmap is unknown or holds a live fragment. */
static glv_status covers_something(const Lance__Table__IndexMetadata *m, const uint64_t *live,
                                   size_t live_count, bool *ret, glv_error *err) {
  *ret = m->fragment_bitmap.len == 0;
  if (*ret) {
    return GLV_OK;
  }
  CLEANUP(bitmap_cleanup) bitmap *covered = NULL;
  const glv_status status =
      bitmap_read(m->fragment_bitmap.data, m->fragment_bitmap.len, &covered, err);
  if (status != GLV_OK) {
    return error_prefix(err, status, "index '%s': ", m->name);
  }
  for (size_t i = 0; i < live_count && !*ret; i++) {
    *ret = bitmap_contains(covered, (uint32_t)live[i]);
  }
  return GLV_OK;
}

/* True when a was created before b: by time, segments without one last, then by version. */
static bool is_earlier(const Lance__Table__IndexMetadata *a, const Lance__Table__IndexMetadata *b) {
  const uint64_t x = a->opt_created_at_case != 0 ? a->created_at : UINT64_MAX;
  const uint64_t y = b->opt_created_at_case != 0 ? b->created_at : UINT64_MAX;
  return x != y ? x < y : a->dataset_version < b->dataset_version;
}

/* The rule for the segments of the name of segment `first`, the first of them that is kept. */
static void retain_name(Lance__Table__IndexMetadata *const *all, size_t count, size_t first,
                        const bool *covers, bool *kept) {
  size_t segments = 0;
  bool any_covers = false;
  size_t earliest = first;
  for (size_t i = first; i < count; i++) {
    if (kept[i] && strcmp(all[i]->name, all[first]->name) == 0) {
      segments++;
      any_covers |= covers[i];
      earliest = is_earlier(all[i], all[earliest]) ? i : earliest;
    }
  }
  for (size_t i = first; segments > 1 && i < count; i++) {
    if (strcmp(all[i]->name, all[first]->name) == 0) {
      kept[i] = kept[i] && (any_covers ? covers[i] : i == earliest);
    }
  }
}

static bool is_first_of_name(Lance__Table__IndexMetadata *const *all, const bool *kept, size_t i) {
  for (size_t k = 0; k < i; k++) {
    if (kept[k] && strcmp(all[k]->name, all[i]->name) == 0) {
      return false;
    }
  }
  return kept[i];
}

glv_status indexes_retain(const table_snapshot *latest, const int32_t *field_ids,
                          size_t field_count, const uint64_t *live, size_t live_count, bool *kept,
                          glv_error *err) {
  Lance__Table__IndexMetadata *const *all = latest->index_messages;
  const size_t count = latest->index_count;
  if (table_has_index(latest, "__lance_frag_reuse")) {
    return GLV_OK;
  }
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, latest->home->env);
  bool *covers = ARENA_ARRAY(&a, bool, count);
  if (covers == NULL) {
    return error_nomem(err, count);
  }
  for (size_t i = 0; i < count; i++) {
    kept[i] = is_system(all[i]->name) || fields_exist(all[i], field_ids, field_count);
    TRY(covers_something(all[i], live, live_count, &covers[i], err));
  }
  for (size_t i = 0; i < count; i++) {
    if (!is_system(all[i]->name) && is_first_of_name(all, kept, i)) {
      retain_name(all, count, i, covers, kept);
    }
  }
  return GLV_OK;
}

/* ---- compaction ---- */

static bool is_of_type(const Lance__Table__IndexMetadata *m, const char *name) {
  return m->index_details != NULL && strstr(m->index_details->type_url, name) != NULL;
}

/* Whether the index names rows by stable row ids, which a compaction keeps, not by addresses
 * (lance-table-format 15.3). */
static bool names_row_ids(const table_snapshot *t, const Lance__Table__IndexMetadata *m) {
  const bool has_addresses = is_of_type(m, "ZoneMap") || is_of_type(m, "BloomFilter") ||
                             is_of_type(m, "FM") ||
                             (is_of_type(m, "BTree") && m->index_version >= 1);
  return table_has_stable_row_ids(t) && m->index_details != NULL && !has_addresses;
}

/* Replaces the fragments of a group in the bitmap of an index that covers all of them. Not when
 * rows of it were deleted: the index still names them, and what tells its readers that they are
 * gone (or have other values elsewhere by now) are the deletion files of the old fragments. */
static bool follow_group(const commit_plan *p, const table_snapshot *latest, const rewrite_group *g,
                         size_t first, bitmap *covered, bitmap *gone) {
  for (size_t i = 0; i < g->old_count; i++) {
    const fragment *f = table_fragment(latest, g->old_ids[i]);
    if (f == NULL || f->has_deletions || !bitmap_contains(covered, (uint32_t)f->id)) {
      return false;
    }
  }
  for (size_t i = 0; i < g->old_count; i++) {
    bitmap_add(gone, (uint32_t)g->old_ids[i]);
  }
  for (size_t i = 0; i < g->new_count; i++) {
    bitmap_add(covered, (uint32_t)p->fragments[first + i].message.id);
  }
  return true;
}

static glv_status pack_coverage(const Lance__Table__IndexMetadata *m, str raw, bitmap *covered,
                                arena *a, str *ret, glv_error *err) {
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, a->env, LIMIT_MANIFEST_BYTES);
  TRY(bitmap_write(covered, true, &bytes, err));
  ProtobufCMessage *message;
  TRY(pb_unpack(a, raw, m->base.descriptor, "index", &message, err));
  ((Lance__Table__IndexMetadata *)message)->fragment_bitmap = binary_of_str(buf_str(&bytes));
  return pb_pack_arena(a, message, ret, err);
}

glv_status indexes_follow_rewrite(const commit_plan *p, const table_snapshot *latest, size_t i,
                                  arena *a, str *ret, glv_error *err) {
  const Lance__Table__IndexMetadata *m = latest->index_messages[i];
  *ret = latest->indexes[i];
  if (is_system(m->name) || m->fragment_bitmap.len == 0 || !names_row_ids(latest, m)) {
    return GLV_OK;
  }
  CLEANUP(bitmap_cleanup) bitmap *covered = NULL;
  TRY(bitmap_read(m->fragment_bitmap.data, m->fragment_bitmap.len, &covered, err));
  CLEANUP(bitmap_cleanup) bitmap *gone = bitmap_new();
  if (gone == NULL) {
    return error_nomem(err, 0);
  }
  bool changed = false;
  size_t first = 0;
  for (size_t k = 0; k < p->op->group_count; k++) {
    changed |= follow_group(p, latest, &p->op->groups[k], first, covered, gone);
    first += p->op->groups[k].new_count;
  }
  bitmap_andnot(covered, gone);
  return changed ? pack_coverage(m, latest->indexes[i], covered, a, ret, err) : GLV_OK;
}
