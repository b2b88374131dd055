/*
 * The comparison reads manifests and transactions only.
 *
 * Step 1, input identity: every column that the view reads has the same id, name and type, children
 * included, in both versions and in the schema of every commit between that carries one. Ids alone
 * prove nothing, because they are used again after a column was dropped.
 *
 * Step 2, fragments: one that stands in both versions is unchanged when the relevant columns lie in
 * the same files and columns, under the same row ids and deletions. A fragment that only the newer
 * version has is added when none of its rows has an id that was in use before. What was rewritten,
 * updated, deleted or moved shows as one of the other cases.
 */
#include "view/changes.h"

#include "base/limits.h"
#include "table/deletion.h"
#include "table/row_ids.h"
#include "table/transaction.h"

static const char reason_identity[] = "input_identity";
static const char reason_changed[] = "source_changed";

/* Versions between watermark and target whose transactions are looked at. */
enum { MAX_VERSIONS = 4096 };

/* ---- input identity ---- */

static bool same_field(const lance_field *a, const lance_field *b,
                       int depth) { /* NOLINT(misc-no-recursion) */
  if (depth == 0 || a->id != b->id || a->child_count != b->child_count ||
      strcmp(a->arrow.name, b->arrow.name) != 0 || strcmp(a->logical_type, b->logical_type) != 0) {
    return false;
  }
  for (size_t i = 0; i < a->child_count; i++) {
    if (!same_field(&a->children[i], &b->children[i], depth - 1)) {
      return false;
    }
  }
  return true;
}

/* The stored field of input column i of the plan. */
static const lance_field *input_field(const table_snapshot *to, const view_plan *plan, size_t i) {
  const schema *s = table_schema(to);
  return lance_schema_find(table_lance_schema(to), str_of(s->fields[plan->input_columns[i]].name));
}

static bool same_inputs(const table_snapshot *to, const view_plan *plan,
                        const lance_schema *other) {
  for (size_t i = 0; i < plan->input_column_count; i++) {
    const lance_field *here = input_field(to, plan, i);
    const lance_field *there =
        here != NULL ? lance_schema_find(other, str_of(here->arrow.name)) : NULL;
    if (there == NULL || !same_field(here, there, LIMIT_TYPE_DEPTH)) {
      return false;
    }
  }
  return true;
}

/* Whether the inputs kept their identity in every commit between; versions that a cleanup removed
 * tell nothing. */
static glv_status same_in_between(const table_snapshot *from, const table_snapshot *to,
                                  const view_plan *plan, bool *ret, glv_error *err) {
  const uint64_t first = table_version(from) + 1;
  const uint64_t last = table_version(to);
  *ret = true;
  if (last < first || last - first >= MAX_VERSIONS) {
    *ret = last < first;
    return GLV_OK;
  }
  for (uint64_t version = first; version <= last && *ret; version++) {
    CLEANUP(arena_dispose) arena a;
    arena_init(&a, table_env(to));
    transaction *t = NULL;
    const glv_status status = transaction_read(to, version, &a, &t, err);
    if (status == GLV_E_TRANSACTION_NOT_FOUND || status == GLV_E_CORRUPT) {
      *ret = false;
      return GLV_OK;
    }
    if (status == GLV_E_VERSION_NOT_FOUND) {
      continue;
    }
    TRY(status);
    *ret = t->schema == NULL || same_inputs(to, plan, t->schema);
  }
  return GLV_OK;
}

/* ---- fragments ---- */

static bool same_place(const fragment *a, const fragment *b, int32_t id) {
  uint32_t column_a = 0;
  uint32_t column_b = 0;
  const data_file *file_a = fragment_find_field(a, id, &column_a);
  const data_file *file_b = fragment_find_field(b, id, &column_b);
  if (file_a == NULL || file_b == NULL) {
    return file_a == file_b;
  }
  return column_a == column_b && strcmp(file_a->path, file_b->path) == 0;
}

static bool same_places(const fragment *a, const fragment *b, const lance_field *f,
                        int depth) { /* NOLINT(misc-no-recursion) */
  bool same = depth > 0 && same_place(a, b, f->id);
  for (size_t i = 0; i < f->child_count && same; i++) {
    same = same_places(a, b, &f->children[i], depth - 1);
  }
  return same;
}

static bool is_unchanged(const table_snapshot *to, const view_plan *plan, const fragment *old,
                         const fragment *now) {
  if (old->physical_rows != now->physical_rows || !deletion_same(old, now) ||
      !str_equal(old->row_ids, now->row_ids)) {
    return false;
  }
  for (size_t i = 0; i < plan->input_column_count; i++) {
    const lance_field *f = input_field(to, plan, i);
    if (f == NULL || !same_places(old, now, f, LIMIT_TYPE_DEPTH)) {
      return false;
    }
  }
  return true;
}

/* Whether every row of the fragment has an id that nothing had at the watermark. */
static glv_status is_fresh(const table_snapshot *from, const table_snapshot *to, const fragment *f,
                           bool *ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table_env(to));
  row_id_sequence *ids = NULL;
  TRY(fragment_row_ids(to, f, &a, &ids, err));
  uint64_t smallest = 0;
  uint64_t largest = 0;
  *ret = !row_ids_bounds(ids, &smallest, &largest) || smallest >= table_next_row_id(from);
  return GLV_OK;
}

static glv_status compare_fragments(const table_snapshot *from, const table_snapshot *to,
                                    const view_plan *plan, arena *a, source_changes *ret,
                                    glv_error *err) {
  size_t count = 0;
  const fragment *fragments = table_fragments(to, &count);
  uint64_t *added = ARENA_ARRAY(a, uint64_t, count);
  if (added == NULL) {
    return error_nomem(err, count * sizeof *added);
  }
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    const fragment *now = &fragments[i];
    const fragment *old = table_fragment(from, now->id);
    bool fresh = false;
    if (old != NULL && !is_unchanged(to, plan, old, now)) {
      ret->rebuild_reason = reason_changed;
      return GLV_OK;
    }
    if (old != NULL) {
      kept++;
      continue;
    }
    TRY(is_fresh(from, to, now, &fresh, err));
    if (!fresh) {
      ret->rebuild_reason = reason_changed;
      return GLV_OK;
    }
    added[ret->added_count++] = now->id;
    ret->added_rows += now->physical_rows;
  }
  size_t old_count = 0;
  table_fragments(from, &old_count);
  ret->rebuild_reason = kept == old_count ? "" : reason_changed;
  ret->added = added;
  return GLV_OK;
}

glv_status source_changes_find(const table_snapshot *from, const table_snapshot *to,
                               const view_plan *plan, arena *a, source_changes *ret,
                               glv_error *err) {
  *ret = (source_changes){.rebuild_reason = reason_identity};
  if (!same_inputs(to, plan, table_lance_schema(from))) {
    return GLV_OK;
  }
  bool same = false;
  TRY(same_in_between(from, to, plan, &same, err));
  if (!same) {
    return GLV_OK;
  }
  return compare_fragments(from, to, plan, a, ret, err);
}
