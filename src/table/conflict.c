/* What a commit of somebody else means for ours: the rows of the matrix of lance-table-format 13.1
 * for the operations that this release commits.
 *
 * Cells: '.' compatible, 'R' retryable, 'X' incompatible, else a condition of that section: the
 * digit of its number, or a = 10, b = 3 and 4, e = 11 and 16, g = 16, h = 17.
 */
#include "table/bloom.h"
#include "table/commit_private.h"
#include "table/deletion.h"

/* Columns App Del Upd Rew Mrg Prj Ovw Idx Cfg DRp Ovl Rsv Rst Cln Bas Mem Unk. */
enum { COLUMNS = 17 };

struct row {
  enum operation_kind ours;
  char cells[COLUMNS + 1];
};

static const struct row rows[] = {
    {OPERATION_APPEND, "....11X.....X..XX"},
    {OPERATION_DELETE, ".332R.X..2..X..XX"},
    {OPERATION_UPDATE, "43b2R1X..22.X...X"},
    {OPERATION_REWRITE, ".222R.X8.22.X...X"},
    {OPERATION_MERGE, "RRRRRXX9aRR.X..XX"},
    {OPERATION_PROJECT, "1.1.RRX..11.X..XX"},
    {OPERATION_OVERWRITE, "......R........XX"},
    {OPERATION_UPDATE_CONFIG, "....a.e.h...g...X"},
    {OPERATION_RESERVE_FRAGMENTS, "......X.....X...X"},
    {OPERATION_RESTORE, "........g......XX"},
};

static size_t column_of(enum operation_kind kind) {
  switch (kind) {
  case OPERATION_APPEND:
    return 0;
  case OPERATION_DELETE:
    return 1;
  case OPERATION_UPDATE:
    return 2;
  case OPERATION_REWRITE:
    return 3;
  case OPERATION_MERGE:
    return 4;
  case OPERATION_PROJECT:
    return 5;
  case OPERATION_OVERWRITE:
    return 6;
  case OPERATION_CREATE_INDEX:
    return 7;
  case OPERATION_UPDATE_CONFIG:
    return 8;
  case OPERATION_DATA_REPLACEMENT:
    return 9;
  case OPERATION_DATA_OVERLAY:
    return 10;
  case OPERATION_RESERVE_FRAGMENTS:
    return 11;
  case OPERATION_RESTORE:
    return 12;
  case OPERATION_CLONE:
    return 13;
  case OPERATION_UPDATE_BASES:
    return 14;
  case OPERATION_UPDATE_MEM_WAL_STATE:
    return 15;
  case OPERATION_UNKNOWN:
    break;
  }
  return 16;
}

static char cell(enum operation_kind ours, enum operation_kind theirs) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].ours == ours) {
      return rows[i].cells[column_of(theirs)];
    }
  }
  return 'X';
}

static enum verdict retry_if(bool met) { return met ? VERDICT_RETRY : VERDICT_COMPATIBLE; }

static enum verdict refuse_if(bool met) { return met ? VERDICT_INCOMPATIBLE : VERDICT_COMPATIBLE; }

/* ---- nullability (condition 1) ---- */

static enum verdict check_nullability(const operation *ours, const transaction *theirs) {
  const bool ours_changes = ours->kind == OPERATION_PROJECT && !ours->preserves_nullability;
  const bool theirs_changes =
      (theirs->kind == OPERATION_PROJECT || theirs->kind == OPERATION_MERGE) &&
      !theirs->preserves_nullability;
  return retry_if(ours_changes || theirs_changes);
}

/* ---- fragments (conditions 2 and 3) ---- */

static bool touches(const commit_plan *ours, uint64_t id) {
  return plan_find_update(ours, id) != NULL || plan_removes(ours, id);
}

static bool overlaps(const commit_plan *ours, const transaction *theirs) {
  for (size_t i = 0; i < theirs->updated_fragment_count; i++) {
    if (touches(ours, theirs->updated_fragments[i].id)) {
      return true;
    }
  }
  for (size_t i = 0; i < theirs->removed_count; i++) {
    if (touches(ours, theirs->removed_ids[i])) {
      return true;
    }
  }
  for (size_t i = 0; i < theirs->new_file_count; i++) {
    if (touches(ours, theirs->new_file_fragments[i])) {
      return true;
    }
  }
  return false;
}

static bool same_files(const fragment *a, const fragment *b) {
  if (a->file_count != b->file_count) {
    return false;
  }
  for (size_t i = 0; i < a->file_count; i++) {
    const data_file *x = &a->files[i];
    const data_file *y = &b->files[i];
    if (strcmp(x->path, y->path) != 0 || x->count != y->count ||
        memcmp(x->fields, y->fields, x->count * sizeof *x->fields) != 0) {
      return false;
    }
  }
  return true;
}

/* Row deletions on both sides: joined later (plan_catch_up) where the fragments are the same. */
static enum verdict check_rows(const commit_plan *ours, const transaction *theirs) {
  for (size_t i = 0; i < theirs->removed_count; i++) {
    if (touches(ours, theirs->removed_ids[i])) {
      return VERDICT_RETRY;
    }
  }
  for (size_t i = 0; i < theirs->updated_fragment_count; i++) {
    const fragment *f = &theirs->updated_fragments[i];
    if (plan_removes(ours, f->id)) {
      return VERDICT_RETRY;
    }
    planned_update *u = plan_find_update(ours, f->id);
    if (u == NULL) {
      continue;
    }
    if (!same_files(u->at_base, f)) {
      return VERDICT_RETRY;
    }
    u->is_stale |= !deletion_same(u->at_base, f);
  }
  return VERDICT_COMPATIBLE;
}

/* ---- inserted keys (condition 4) ---- */

static bool same_fields(const operation *ours, const transaction *theirs) {
  return ours->filter_field_count == theirs->filter_field_count &&
         memcmp(ours->filter_fields, theirs->filter_fields,
                ours->filter_field_count * sizeof *ours->filter_fields) == 0;
}

/* Whether some key may be in both filters, or nobody can tell. Ours is a Bloom filter. */
static bool keys_meet(const operation *ours, const transaction *theirs) {
  if (!same_fields(ours, theirs)) {
    return true;
  }
  const uint8_t *mine = (const uint8_t *)ours->filter_bloom.data;
  if (theirs->has_exact_filter) {
    for (size_t i = 0; i < theirs->filter_hash_count; i++) {
      if (bloom_may_contain_hash(mine, theirs->filter_hashes[i])) {
        return true;
      }
    }
    return false;
  }
  /* Zero stands for the parameters that everybody uses. */
  const bool same_items = theirs->filter_items == 0 || theirs->filter_items == BLOOM_ITEMS;
  const double probability = theirs->filter_probability;
  const bool same_probability = probability == 0 || probability == BLOOM_PROBABILITY;
  if (!same_items || !same_probability || theirs->filter_bloom.size != BLOOM_BYTES) {
    return true;
  }
  for (size_t i = 0; i < BLOOM_BYTES; i++) {
    if ((mine[i] & (uint8_t)theirs->filter_bloom.data[i]) != 0) {
      return true;
    }
  }
  return false;
}

static enum verdict check_inserted(const operation *ours, const transaction *theirs) {
  if (ours->filter_fields == NULL) {
    return VERDICT_COMPATIBLE;
  }
  return retry_if(theirs->kind == OPERATION_APPEND || !theirs->has_filter ||
                  keys_meet(ours, theirs));
}

/* ---- indexes (conditions 8 and 9) ---- */

/* An index that was built over fragments that ours rewrites. */
static enum verdict check_new_indexes(const commit_plan *ours, const transaction *theirs) {
  for (size_t i = 0; i < theirs->added_index_count; i++) {
    const str covered = theirs->added_index_fragments[i];
    CLEANUP(bitmap_cleanup) bitmap *b = NULL;
    if (covered.size == 0 || bitmap_read(covered.data, covered.size, &b, NULL) != GLV_OK) {
      return VERDICT_RETRY;
    }
    for (size_t k = 0; k < ours->removed_count; k++) {
      if (bitmap_contains(b, (uint32_t)ours->removed_ids[k])) {
        return VERDICT_RETRY;
      }
    }
  }
  return VERDICT_COMPATIBLE;
}

static enum verdict check_mem_wal_index(const transaction *theirs) {
  for (size_t i = 0; i < theirs->added_index_count; i++) {
    if (strcmp(theirs->added_indexes[i], "__lance_mem_wal") == 0) {
      return VERDICT_RETRY;
    }
  }
  return VERDICT_COMPATIBLE;
}

/* ---- metadata (conditions 10, 11, 16, 17) ---- */

static bool ours_changes_schema(const operation *ours) {
  return ours->kind == OPERATION_UPDATE_CONFIG &&
         (ours->change_count > 0 || ours->metadata_field_count > 0);
}

static bool theirs_changes_schema(const transaction *theirs) {
  return theirs->kind == OPERATION_UPDATE_CONFIG &&
         (theirs->schema_metadata.is_present || theirs->metadata_field_count > 0);
}

static bool keys_common(const metadata_update *a, const metadata_update *b) {
  for (size_t i = 0; i < a->count; i++) {
    for (size_t k = 0; k < b->count; k++) {
      if (str_equal(a->changes[i].key, b->changes[k].key)) {
        return true;
      }
    }
  }
  return false;
}

static bool maps_meet(const metadata_update *a, const metadata_update *b) {
  return a->is_present && b->is_present && (a->replace || b->replace || keys_common(a, b));
}

static bool fields_meet(const operation *ours, const transaction *theirs) {
  for (size_t i = 0; i < ours->metadata_field_count; i++) {
    for (size_t k = 0; k < theirs->metadata_field_count; k++) {
      if (ours->metadata_fields[i] == theirs->metadata_fields[k]) {
        return true;
      }
    }
  }
  return false;
}

static enum verdict check_config(const operation *ours, const transaction *theirs) {
  const bool both_schema = ours->change_count > 0 && theirs->schema_metadata.is_present;
  return refuse_if(both_schema || keys_common(&ours->config, &theirs->config) ||
                   maps_meet(&ours->table_metadata, &theirs->table_metadata) ||
                   fields_meet(ours, theirs));
}

enum verdict conflict_check(const commit_plan *ours, const transaction *theirs) {
  const operation *op = ours->op;
  switch (cell(op->kind, theirs->kind)) {
  case '.':
    return VERDICT_COMPATIBLE;
  case 'R':
    return VERDICT_RETRY;
  case '1':
    return check_nullability(op, theirs);
  case '2':
    return retry_if(overlaps(ours, theirs));
  case '3':
    return check_rows(ours, theirs);
  case '4':
    return check_inserted(op, theirs);
  case 'b': {
    const enum verdict keys = check_inserted(op, theirs);
    return keys != VERDICT_COMPATIBLE ? keys : check_rows(ours, theirs);
  }
  case '8':
    return check_new_indexes(ours, theirs);
  case '9':
    return check_mem_wal_index(theirs);
  case 'a':
    return retry_if(ours_changes_schema(op) || theirs_changes_schema(theirs));
  case 'e':
    return refuse_if(ours_changes_schema(op) || keys_common(&op->config, &theirs->config));
  case 'g':
    return refuse_if(ours_changes_schema(op) || theirs_changes_schema(theirs));
  case 'h':
    return check_config(op, theirs);
  default:
    return VERDICT_INCOMPATIBLE;
  }
}
