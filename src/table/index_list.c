/* Segments of one name are one index. What they cover together is counted by fragment, so that a
 * fragment in two segments counts once. */
#include "table/index_list.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bitmap.h"
#include "table/table_private.h"

typedef Lance__Table__IndexMetadata segment;

/* ---- columns ---- */

static glv_status path_of(const lance_schema *s, int32_t id, arena *a, const char **ret,
                          glv_error *err) {
  const lance_field *f = lance_schema_find_id(s, id);
  const char *path = "";
  for (; f != NULL; f = f->parent_id >= 0 ? lance_schema_find_id(s, f->parent_id) : NULL) {
    path = arena_printf(a, "%s%s%s", f->arrow.name, path[0] != '\0' ? "." : "", path);
    if (path == NULL) {
      return error_nomem(err, 0);
    }
  }
  *ret = path;
  return GLV_OK;
}

static glv_status read_columns(const table_snapshot *t, const segment *m, arena *a,
                               table_index *ret, glv_error *err) {
  const char **columns = ARENA_ARRAY(a, const char *, m->n_fields);
  if (columns == NULL) {
    return error_nomem(err, m->n_fields * sizeof *columns);
  }
  for (size_t i = 0; i < m->n_fields; i++) {
    TRY(path_of(table_lance_schema(t), m->fields[i], a, &columns[i], err));
  }
  ret->columns = columns;
  ret->column_count = m->n_fields;
  return GLV_OK;
}

/* ---- coverage ---- */

static uint64_t live_rows(const fragment *f) {
  return f->physical_rows - (f->has_deletions ? f->deletions.count : 0);
}

static glv_status add_coverage(const segment *m, bitmap *into, glv_error *err) {
  if (m->fragment_bitmap.len == 0) {
    return GLV_OK;
  }
  CLEANUP(bitmap_cleanup) bitmap *covered = NULL;
  const glv_status status =
      bitmap_read(m->fragment_bitmap.data, m->fragment_bitmap.len, &covered, err);
  if (status != GLV_OK) {
    return error_prefix(err, status, "index '%s': ", m->name);
  }
  bitmap_or(into, covered);
  return GLV_OK;
}

/* Of all segments of the name of the first one. */
static glv_status count_rows(const table_snapshot *t, table_index *ret, glv_error *err) {
  CLEANUP(bitmap_cleanup) bitmap *covered = bitmap_new();
  size_t count = 0;
  const fragment *fragments = table_fragments(t, &count);
  if (covered == NULL) {
    return error_nomem(err, 0);
  }
  for (size_t i = 0; i < t->index_count; i++) {
    const segment *m = t->index_messages[i];
    if (strcmp(m->name, ret->name) == 0) {
      ret->segments++;
      TRY(add_coverage(m, covered, err));
    }
  }
  for (size_t i = 0; i < count; i++) {
    const bool is_covered =
        fragments[i].id <= UINT32_MAX && bitmap_contains(covered, (uint32_t)fragments[i].id);
    *(is_covered ? &ret->rows_indexed : &ret->rows_unindexed) += live_rows(&fragments[i]);
  }
  return GLV_OK;
}

/* ---- all ---- */

static glv_status print_uuid(const segment *m, arena *a, const char **ret, glv_error *err) {
  const uint8_t *b = m->uuid != NULL && m->uuid->uuid.len == 16 ? m->uuid->uuid.data : NULL;
  if (b == NULL) {
    return FAIL(err, GLV_E_CORRUPT, "index '%s' has no identity", m->name);
  }
  *ret = arena_printf(a, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                      b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
                      b[12], b[13], b[14], b[15]);
  return *ret != NULL ? GLV_OK : error_nomem(err, 0);
}

static bool is_listed(const table_snapshot *t, size_t at) {
  const char *name = t->index_messages[at]->name;
  for (size_t i = 0; i < at; i++) {
    if (strcmp(t->index_messages[i]->name, name) == 0) {
      return false; /* another segment of one that was */
    }
  }
  return strncmp(name, "__lance_", 8) != 0;
}

static glv_status read_index(const table_snapshot *t, const segment *m, arena *a, table_index *ret,
                             glv_error *err) {
  const char *type_url = m->index_details != NULL ? m->index_details->type_url : "";
  *ret = (table_index){.name = arena_strdup(a, str_of(m->name)),
                       .type_url = arena_strdup(a, str_of(type_url)),
                       .version = m->opt_index_version_case != 0 ? m->index_version : 0,
                       .created_ms = m->opt_created_at_case != 0 ? (int64_t)m->created_at : 0};
  if (ret->name == NULL || ret->type_url == NULL) {
    return error_nomem(err, 0);
  }
  TRY(print_uuid(m, a, &ret->uuid, err));
  TRY(read_columns(t, m, a, ret, err));
  return count_rows(t, ret, err);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const table_index *)a)->name, ((const table_index *)b)->name);
}

glv_status table_indexes(const table_snapshot *t, arena *a, table_index **ret, size_t *ret_count,
                         glv_error *err) {
  table_index *all = ARENA_ARRAY(a, table_index, t->index_count);
  size_t count = 0;
  if (all == NULL) {
    return error_nomem(err, t->index_count * sizeof *all);
  }
  for (size_t i = 0; i < t->index_count; i++) {
    if (is_listed(t, i)) {
      TRY(read_index(t, t->index_messages[i], a, &all[count++], err));
    }
  }
  if (count > 1) {
    qsort(all, count, sizeof *all, by_name);
  }
  *ret = all;
  *ret_count = count;
  return GLV_OK;
}
