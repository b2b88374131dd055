/* Questions that a snapshot answers from its decoded manifest. */
#include "table/table_private.h"

glv_env *table_env(const table_snapshot *t) { return t->home->env; }
const char *table_path(const table_snapshot *t) { return t->home->path; }
const char *table_name(const table_snapshot *t) { return t->home->name; }
uint64_t table_version(const table_snapshot *t) { return t->manifest->version; }

int64_t table_timestamp_ns(const table_snapshot *t) {
  const Lance__Table__Timestamp *stamp = t->manifest->timestamp;
  int64_t ns = 0;
  if (stamp == NULL || __builtin_mul_overflow(stamp->seconds, INT64_C(1000000000), &ns) ||
      __builtin_add_overflow(ns, (int64_t)stamp->nanos, &ns)) {
    return 0;
  }
  return ns;
}

const schema *table_schema(const table_snapshot *t) { return t->arrow; }
const lance_schema *table_lance_schema(const table_snapshot *t) { return t->lance; }

glv_status table_check_supported(const table_snapshot *t, glv_error *err) {
  for (size_t i = 0; i < t->lance->field_count; i++) {
    const lance_field *f = &t->lance->fields[i];
    if (!f->is_supported) {
      return FAIL(err, GLV_E_UNSUPPORTED,
                  "table '%s': column '%s' has type '%s', which this release does not read; choose "
                  "other columns",
                  t->home->name, f->arrow.name, f->logical_type);
    }
  }
  return GLV_OK;
}

metadata table_metadata(const table_snapshot *t) { return t->lance->metadata; }
str table_metadata_get(const table_snapshot *t, str key, bool *ret_found) {
  return metadata_get(t->lance->metadata, key, ret_found);
}
metadata table_config(const table_snapshot *t) { return t->config; }
metadata table_own_metadata(const table_snapshot *t) { return t->table_metadata; }

const char *table_data_version_text(const table_snapshot *t) {
  return t->manifest->data_format != NULL ? t->manifest->data_format->version : "";
}

format_version table_data_version(const table_snapshot *t) {
  return format_version_parse(str_of(table_data_version_text(t)));
}

const fragment *table_fragments(const table_snapshot *t, size_t *ret_count) {
  *ret_count = t->fragment_count;
  return t->fragments;
}

const fragment *table_fragment(const table_snapshot *t, uint64_t id) {
  if (!t->is_sorted) {
    for (size_t i = 0; i < t->fragment_count; i++) {
      if (t->fragments[i].id == id) {
        return &t->fragments[i];
      }
    }
    return NULL;
  }
  size_t low = 0;
  size_t high = t->fragment_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (t->fragments[middle].id < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < t->fragment_count && t->fragments[low].id == id ? &t->fragments[low] : NULL;
}

uint64_t table_physical_rows(const table_snapshot *t) { return t->physical_rows; }
uint64_t table_live_rows(const table_snapshot *t) { return t->live_rows; }

uint64_t table_data_bytes(const table_snapshot *t) {
  uint64_t sum = 0;
  for (size_t i = 0; i < t->fragment_count; i++) {
    for (size_t k = 0; k < t->fragments[i].file_count; k++) {
      sum += t->fragments[i].files[k].size_bytes;
    }
  }
  return sum;
}

bool table_has_stable_row_ids(const table_snapshot *t) {
  return (t->manifest->reader_feature_flags & TABLE_FLAG_STABLE_ROW_IDS) != 0;
}
uint64_t table_fragment_mark(const table_snapshot *t) { return t->manifest->max_fragment_id; }
uint64_t table_next_row_id(const table_snapshot *t) { return t->manifest->next_row_id; }
uint64_t table_reader_flags(const table_snapshot *t) { return t->manifest->reader_feature_flags; }
uint64_t table_writer_flags(const table_snapshot *t) { return t->manifest->writer_feature_flags; }

bool table_has_index(const table_snapshot *t, const char *name) {
  for (size_t i = 0; i < t->index_count; i++) {
    if (strcmp(t->index_messages[i]->name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* The base path with that id, or NULL. */
static const Lance__Table__BasePath *find_base(const table_snapshot *t, uint32_t id) {
  for (size_t i = 0; i < t->manifest->n_base_paths; i++) {
    if (t->manifest->base_paths[i]->id == id) {
      return t->manifest->base_paths[i];
    }
  }
  return NULL;
}

glv_status table_base_path(const table_snapshot *t, bool has_base, uint32_t base_id,
                           const char *folder, str name, arena *a, char **ret, glv_error *err) {
  if (!path_is_inside(name)) {
    return FAIL(err, GLV_E_CORRUPT, "table '%s': file '%.*s' lies outside its directory",
                t->home->name, STR_ARG(name));
  }
  const char *root = t->home->path;
  const Lance__Table__BasePath *base = NULL;
  if (has_base) {
    base = find_base(t, base_id);
    if (base == NULL) {
      return FAIL(err, GLV_E_CORRUPT, "table '%s': file '%.*s' has the unknown base path %u",
                  t->home->name, STR_ARG(name), base_id);
    }
    char *path = NULL;
    TRY(path_from_uri(a, str_of(base->path), &path, err));
    root = path;
  }
  *ret = base == NULL || base->is_dataset_root
             ? arena_printf(a, "%s/%s/%.*s", root, folder, STR_ARG(name))
             : arena_printf(a, "%s/%.*s", root, STR_ARG(name));
  return *ret != NULL ? GLV_OK : error_nomem(err, name.size);
}

glv_status table_data_file_path(const table_snapshot *t, const data_file *f, arena *a, char **ret,
                                glv_error *err) {
  return table_base_path(t, f->has_base, f->base_id, "data", str_of(f->path), a, ret, err);
}
