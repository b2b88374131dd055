/* Opening one fragment for a scan: the data files that hold wanted columns, the deletions, the row
 * ids and versions when a system column asks for them. Runs once, on the pool, before the windows
 * of the fragment look inside.
 */
#include "table/deletion.h"
#include "table/scan_private.h"

glv_status fragment_scan_new(const scan_plan *p, const fragment *f, const bitmap *offsets,
                             uint64_t first_live, fragment_scan **ret, glv_error *err) {
  fragment_scan *s = mem_zalloc(p->env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  s->open = (task){.run = fragment_scan_open, .context = s};
  s->plan = p;
  s->fragment = f;
  s->offsets = offsets;
  s->first_live = first_live;
  arena_init(&s->memory, p->env);
  s->refs = 1;
  *ret = s;
  return GLV_OK;
}

void fragment_scan_unref(fragment_scan *f) {
  if (f == NULL || --f->refs > 0) {
    return;
  }
  if (f->is_submitted) {
    (void)task_wait(f->plan->env, &f->open, NULL);
  }
  for (size_t i = 0; f->readers != NULL && i < f->fragment->file_count; i++) {
    if (f->plan->keep_open && f->readers[i] != NULL) {
      file_reader_trim(f->readers[i], KEPT_READER_BYTES);
    }
    file_reader_unref(f->readers[i]);
  }
  bitmap_free(f->deleted);
  arena_dispose(&f->memory);
  mem_free(f->plan->env, f);
}

static bool is_wanted(const scan_plan *p, size_t column) {
  return p->in_filter[column] || p->in_output[column];
}

static bool is_wanted_system(const scan_plan *p, enum system_column which) {
  return is_wanted(p, p->column_count + which);
}

static glv_status open_file(fragment_scan *s, size_t i, glv_error *err) {
  const scan_plan *p = s->plan;
  const data_file *f = &s->fragment->files[i];
  char *path;
  if (f->version == 0) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s': data file '%s' has format version %u.%u, which this release does not "
                "read; rewrite the table with pylance in version 2.2",
                table_name(p->table), f->path, f->major, f->minor);
  }
  s->readers[i] = p->keep_open ? kept_readers_find(p->table->readers, f) : NULL;
  if (s->readers[i] != NULL) {
    return GLV_OK;
  }
  TRY(table_data_file_path(p->table, f, &s->memory, &path, err));
  TRY(file_reader_open(p->env, NULL, path, &s->readers[i], err));
  const uint64_t rows = file_reader_rows(s->readers[i]);
  if (rows != s->fragment->physical_rows) {
    return FAIL(err, GLV_E_CORRUPT,
                "table '%s': data file '%s' has %llu rows, the manifest says %llu",
                table_name(p->table), f->path, (unsigned long long)rows,
                (unsigned long long)s->fragment->physical_rows);
  }
  if (p->keep_open) {
    kept_readers_add(p->table->readers, f, s->readers[i]);
  }
  return GLV_OK;
}

/* Finds the columns of one field in one file. */
struct locator {
  const fragment *fragment;
  const data_file *file;
};

static void locate(void *context, const lance_field *f, field_place *place) {
  const struct locator *l = context;
  uint32_t column;
  place->is_wanted = true;
  if (fragment_find_field(l->fragment, f->id, &column) == l->file) {
    place->column = column;
  }
}

/* The places of a column in file i. */
static glv_status find_places(fragment_scan *s, size_t column, size_t i, field_place *ret,
                              bool *ret_any, glv_error *err) {
  const scan_plan *p = s->plan;
  const lance_field *stored = p->stored[column];
  struct locator l = {s->fragment, &s->fragment->files[i]};
  TRY(field_place_new(&s->memory, stored, scan_plan_stored_as(p, column), locate, &l, ret, err));
  *ret_any = field_place_is_held(ret);
  return field_place_choose(&s->memory, ret, stored->arrow.name, p->paths, p->path_count, err);
}

static glv_status add_part(fragment_scan *s, column_source *to, size_t i, const field_place *place,
                           glv_error *err) {
  if (s->readers[i] == NULL) {
    TRY(open_file(s, i, err));
  }
  to->parts[to->part_count++] = (field_part){s->readers[i], *place};
  return GLV_OK;
}

/* A leaf lies in one file. */
static glv_status find_leaf(fragment_scan *s, size_t column, glv_error *err) {
  const scan_plan *p = s->plan;
  const lance_field *stored = p->stored[column];
  column_source *to = &s->sources[column];
  uint32_t number;
  const data_file *file = fragment_find_field(s->fragment, stored->id, &number);
  if (file == NULL) {
    return GLV_OK;
  }
  const size_t i = (size_t)(file - s->fragment->files);
  field_place place;
  bool has_any;
  TRY(find_places(s, column, i, &place, &has_any, err));
  TRY(add_part(s, to, i, &place, err));
  if (stored->blob == BLOB_NONE) {
    return GLV_OK;
  }
  char *path;
  TRY(table_data_file_path(p->table, file, &s->memory, &path, err));
  to->path = path;
  return GLV_OK;
}

/* Files that hold wanted parts of a nested column. When no wanted part is stored, the first file
 * that holds another one tells which rows are null. */
static glv_status find_parts(fragment_scan *s, size_t column, glv_error *err) {
  column_source *to = &s->sources[column];
  const size_t file_count = s->fragment->file_count;
  size_t other = file_count;
  field_place other_place = {0};
  for (size_t i = 0; i < file_count; i++) {
    field_place place;
    bool has_any;
    TRY(find_places(s, column, i, &place, &has_any, err));
    if (field_place_is_held(&place)) {
      TRY(add_part(s, to, i, &place, err));
    } else if (has_any && other == file_count) {
      other = i;
      other_place = place;
    }
  }
  return to->part_count == 0 && other != file_count ? add_part(s, to, other, &other_place, err)
                                                    : GLV_OK;
}

static glv_status find_source(fragment_scan *s, size_t column, glv_error *err) {
  const bool is_leaf = s->plan->stored[column]->is_leaf;
  column_source *to = &s->sources[column];
  to->parts = ARENA_ARRAY(&s->memory, field_part, is_leaf ? 1 : s->fragment->file_count);
  if (to->parts == NULL) {
    return error_nomem(err, s->fragment->file_count * sizeof *to->parts);
  }
  return is_leaf ? find_leaf(s, column, err) : find_parts(s, column, err);
}

static glv_status open_files(fragment_scan *s, glv_error *err) {
  const scan_plan *p = s->plan;
  s->readers = ARENA_ARRAY(&s->memory, file_reader *, s->fragment->file_count);
  s->sources = ARENA_ARRAY(&s->memory, column_source, p->column_count);
  if (s->readers == NULL || s->sources == NULL) {
    return error_nomem(err, p->column_count * sizeof *s->sources);
  }
  for (size_t i = 0; i < p->column_count; i++) {
    if (is_wanted(p, i)) {
      TRY(find_source(s, i, err));
    }
  }
  return GLV_OK;
}

glv_status fragment_scan_open(void *context, glv_error *err) {
  fragment_scan *s = context;
  const scan_plan *p = s->plan;
  TRY(deletion_load(p->table, s->fragment, &s->deleted, err));
  TRY(open_files(s, err));
  if (is_wanted_system(p, SYSTEM_ROW_ID)) {
    TRY(fragment_row_ids(p->table, s->fragment, &s->memory, &s->row_ids, err));
  }
  if (is_wanted_system(p, SYSTEM_CREATED_AT)) {
    TRY(fragment_created_at(p->table, s->fragment, &s->memory, &s->created_at, err));
  }
  if (is_wanted_system(p, SYSTEM_LAST_UPDATED_AT)) {
    TRY(fragment_last_updated_at(p->table, s->fragment, &s->memory, &s->last_updated_at, err));
  }
  return GLV_OK;
}
