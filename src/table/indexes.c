/* Which index segments survive a commit: the *retain* rule of lance-table-format section 14.
 *
 * A segment goes when a field it is built on has left the schema, or when none of its fragments is
 * live while another segment of its name still covers something. Of a name whose segments are all
 * empty the one created first stays. What is not known (no bitmap) stays, and with a fragment-reuse
 * entry everything stays.
 */
#include "table/commit_private.h"

static bool is_system(const char *name) { return strncmp(name, "__lance_", 8) == 0; }

static bool fields_exist(const Lance__Table__IndexMetadata *m, const lance_schema *s) {
  for (size_t i = 0; i < m->n_fields; i++) {
    if (lance_schema_find_id(s, m->fields[i]) == NULL) {
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

glv_status indexes_retain(const table_snapshot *latest, const lance_schema *s, const uint64_t *live,
                          size_t live_count, bool *kept, glv_error *err) {
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
    kept[i] = is_system(all[i]->name) || fields_exist(all[i], s);
    TRY(covers_something(all[i], live, live_count, &covers[i], err));
  }
  for (size_t i = 0; i < count; i++) {
    if (!is_system(all[i]->name) && is_first_of_name(all, kept, i)) {
      retain_name(all, count, i, covers, kept);
    }
  }
  return GLV_OK;
}
