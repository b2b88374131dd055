/* Feature flags: what this release reads and writes (the table of lance-table-format section 4).
 *
 * A bit in the reader word that is not understood refuses the table, one in the writer word refuses
 * writing only. Paired bits must stand in both words or in neither.
 */
#include "table/table_private.h"

/* One row of the table. */
struct feature {
  uint64_t bit;
  const char *name;
  bool can_read;
  bool can_write;
  bool is_paired;
};

static const struct feature features[] = {
    {TABLE_FLAG_DELETIONS, "deletion files", true, true, false},
    {TABLE_FLAG_STABLE_ROW_IDS, "stable row ids", true, true, false},
    {TABLE_FLAG_V2_FILES, "version 2 data files", true, true, false},
    {TABLE_FLAG_CONFIG, "table configuration", true, true, false},
    {TABLE_FLAG_BASE_PATHS, "base paths", true, true, false},
    {TABLE_FLAG_NO_TRANSACTION_FILE, "no transaction files", true, true, false},
    {TABLE_FLAG_OVERLAYS, "data overlays", false, false, false},
    {TABLE_FLAG_COVERING_INDEX, "indexes with covering fields", true, true, false},
    {TABLE_FLAG_MIXED_FILES, "data files of several versions", true, true, true},
    {TABLE_FLAG_REUSE_STABLE, "fragment reuse with stable row ids", false, false, false},
    {TABLE_FLAG_REUSE_HISTORY, "fragment reuse history", true, false, true},
    {TABLE_FLAG_SPILLED_LINEAGE, "row ids kept in hidden columns", false, false, false},
    {TABLE_FLAG_FRAGMENT_TREE, "fragment tree", false, false, false},
    {TABLE_FLAG_INDEPENDENT_COVERING, "independent covering fields", false, false, false},
    {TABLE_FLAG_MANAGED_BLOBS, "managed blobs", false, false, true},
    {TABLE_FLAG_FIELD_IDS, "non-reusable field ids", true, true, false},
    {TABLE_FLAG_ZONE_SEEDS, "zone map seeds", false, false, true},
    {TABLE_FLAG_CLUSTERING, "clustering", true, false, false},
};

enum { FEATURE_COUNT = sizeof features / sizeof features[0] };

/* The first set bit of word that cannot be read (or written); its name in *ret_name. */
static uint64_t find_refused(uint64_t word, bool writing, const char **ret_name) {
  for (unsigned i = 0; i < 64; i++) {
    const uint64_t bit = UINT64_C(1) << i;
    if ((word & bit) == 0) {
      continue;
    }
    if (i >= FEATURE_COUNT) {
      *ret_name = "unknown";
      return bit;
    }
    if (!(writing ? features[i].can_write : features[i].can_read)) {
      *ret_name = features[i].name;
      return bit;
    }
  }
  return 0;
}

static glv_status check_pairs(const table_snapshot *t, uint64_t reader, uint64_t writer,
                              glv_error *err) {
  for (size_t i = 0; i < FEATURE_COUNT; i++) {
    if (features[i].is_paired && ((reader ^ writer) & features[i].bit) != 0) {
      return FAIL(err, GLV_E_CORRUPT,
                  "table '%s': feature flag %llu (%s) is set for readers or writers only",
                  t->home->name, (unsigned long long)features[i].bit, features[i].name);
    }
  }
  const bool has_high_mark = t->manifest->opt_max_allocated_field_id_case !=
                             LANCE__TABLE__MANIFEST__OPT_MAX_ALLOCATED_FIELD_ID__NOT_SET;
  if ((reader & TABLE_FLAG_FIELD_IDS) != 0 ||
      ((writer & TABLE_FLAG_FIELD_IDS) != 0) != has_high_mark) {
    return FAIL(err, GLV_E_CORRUPT,
                "table '%s': feature flag 32768 (non-reusable field ids) does not fit the manifest",
                t->home->name);
  }
  return GLV_OK;
}

glv_status flags_check_readable(const table_snapshot *t, glv_error *err) {
  const uint64_t reader = t->manifest->reader_feature_flags;
  const uint64_t writer = t->manifest->writer_feature_flags;
  const char *name;
  TRY(check_pairs(t, reader, writer, err));
  if (find_refused(reader, false, &name) == 0) {
    return GLV_OK;
  }
  return FAIL(err, GLV_E_UNSUPPORTED,
              "table '%s': This dataset cannot be read by this version of Glaive. Please upgrade "
              "Glaive to read this dataset. Flags: %llu (%s)",
              t->home->name, (unsigned long long)reader, name);
}

glv_status table_check_writable(const table_snapshot *t, glv_error *err) {
  const uint64_t writer = t->manifest->writer_feature_flags;
  const char *name;
  if (find_refused(writer | t->manifest->reader_feature_flags, true, &name) != 0) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s': This dataset cannot be written by this version of Glaive. Please "
                "upgrade Glaive to write to this dataset. Flags: %llu (%s)",
                t->home->name, (unsigned long long)writer, name);
  }
  if (table_data_version(t) == 0) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s' has data files of version '%s', which this release does not write",
                t->home->name, table_data_version_text(t));
  }
  return GLV_OK;
}
