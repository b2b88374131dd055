/* Staging: rows into new data files that no version refers to yet.
 *
 * Batches of a reader are conformed to the stored schema (matched by name, missing columns null),
 * cut at the row limit of a file, and handed to the file writer, which encodes in parallel. Each
 * finished file, and at the end the directory, starts on its way to the disk at once; the commit
 * waits for all of them before its manifest appears (style: order duty of writers).
 */
#include <stdio.h>

#include "table/stage_private.h"
#include "table/table_private.h"

/* ---- conforming ---- */

glv_status stage_check_names(const char *table, const lance_schema *s, const schema *in,
                             glv_error *err) {
  for (size_t i = 0; i < in->field_count; i++) {
    if (lance_schema_find(s, str_of(in->fields[i].name)) == NULL) {
      return FAIL(err, GLV_E_SCHEMA, "table '%s' has no column '%s'", table, in->fields[i].name);
    }
  }
  return GLV_OK;
}

glv_status stage_match(const char *table, const lance_field *f, const schema *in, size_t *ret,
                       glv_error *err) {
  const field *to = &f->arrow;
  if (!f->is_supported) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "table '%s': column '%s' has type '%s', which this release does not write; "
                "append with pylance",
                table, to->name, f->logical_type);
  }
  *ret = schema_find(in, str_of(to->name));
  if (*ret == SIZE_MAX) {
    return GLV_OK;
  }
  const type *from = in->fields[*ret].type;
  return type_is_storable(from, to->type)
             ? GLV_OK
             : FAIL(err, GLV_E_SCHEMA, "table '%s': column '%s' has type %s, the data has %s",
                    table, to->name, TYPE_TEXT(to->type), TYPE_TEXT(from));
}

/* For each stored column the position of the reader's column, or SIZE_MAX. */
static glv_status match_columns(const table_home *h, const lance_schema *s, const schema *in,
                                size_t *positions, glv_error *err) {
  TRY(stage_check_names(h->name, s, in, err));
  for (size_t i = 0; i < s->field_count; i++) {
    const field *to = &s->fields[i].arrow;
    TRY(stage_match(h->name, &s->fields[i], in, &positions[i], err));
    if (positions[i] == SIZE_MAX && !to->nullable) {
      return FAIL(err, GLV_E_SCHEMA,
                  "table '%s': column '%s' is missing in the data and cannot be null", h->name,
                  to->name);
    }
  }
  return GLV_OK;
}

/* ---- files ---- */

struct stage_job {
  const table_home *home;
  const lance_schema *schema;
  format_version version;
  const stage_options *options;
  uint64_t file_rows;
  uint64_t taken; /* rows of the reader written so far */
  size_t cut;     /* of options->cuts: the next one */
  size_t summary_leaf;
  size_t *positions;
  const lance_field **leaves;
  size_t leaf_count;
  staged *into;
  file_writer *writer; /* open file, or NULL */
  char *writer_name;
};

static void job_cleanup(struct stage_job *j) { file_writer_discard(j->writer); }

static glv_status open_file(struct stage_job *j, glv_error *err) {
  glv_env *env = j->home->env;
  char name[NAME_SIZE];
  TRY(name_data_file(env, name, err));
  j->writer_name = arena_strdup(&j->into->memory, str_of(name));
  if (j->writer_name == NULL) {
    return error_nomem(err, sizeof name);
  }
  const file_writer_options options = {.version = j->version,
                                       .page_bytes = j->options->page_bytes,
                                       .summary_leaf = j->summary_leaf,
                                       .globals = j->options->globals,
                                       .globals_context = j->options->globals_context,
                                       .keep_open = true};
  return file_writer_new(env, j->into->dir, j->writer_name, j->schema, &options, &j->writer, err);
}

static glv_status describe_file(struct stage_job *j, const file_written *w, staged_file *ret,
                                glv_error *err) {
  arena *a = &j->into->memory;
  int32_t *fields = ARENA_ARRAY(a, int32_t, j->leaf_count);
  int32_t *columns = ARENA_ARRAY(a, int32_t, j->leaf_count);
  if (fields == NULL || columns == NULL) {
    return error_nomem(err, j->leaf_count * sizeof *fields);
  }
  for (size_t i = 0; i < j->leaf_count; i++) {
    fields[i] = j->leaves[i]->id;
    columns[i] = (int32_t)i;
  }
  *ret = (staged_file){.name = j->writer_name,
                       .fields = fields,
                       .columns = columns,
                       .count = j->leaf_count,
                       .rows = w->rows,
                       .size_bytes = w->size_bytes,
                       .major = w->major,
                       .minor = w->minor};
  return GLV_OK;
}

static glv_status finish_file(struct stage_job *j, glv_error *err) {
  staged *s = j->into;
  TRY(vec_reserve(s->env, &s->files, &s->file_capacity, s->file_count + 1, sizeof *s->files, err));
  staged_file *file = &s->files[s->file_count];
  file_writer *w = j->writer;
  j->writer = NULL;
  file_written written;
  TRY(file_writer_finish(w, &written, err));
  *file = (staged_file){.name = j->writer_name};
  s->file_count++; /* from here on staged_discard removes it */
  TRY(sync_file(&s->syncs, written.file, err));
  TRY(describe_file(j, &written, file, err));
  s->rows += written.rows;
  s->bytes += written.size_bytes;
  return GLV_OK;
}

/* Rows [first, first + count) of a batch of the reader, in the columns of the table. */
static glv_status conform(const struct stage_job *j, const batch *in, size_t first, size_t count,
                          batch *ret, glv_error *err) {
  glv_env *env = j->home->env;
  CLEANUP(batch_dispose) batch b = {0};
  TRY(batch_new(env, NULL, count, j->schema->field_count, &b, err));
  for (size_t i = 0; i < j->schema->field_count; i++) {
    const type *t = j->schema->fields[i].arrow.type;
    if (j->positions[i] == SIZE_MAX) {
      TRY(array_new_null(env, t, count, &b.columns[i], err));
    } else {
      b.columns[i] = array_slice(&in->columns[j->positions[i]], first, count);
      b.columns[i].type = t;
    }
  }
  *ret = b;
  b = (batch){0};
  return GLV_OK;
}

/* Rows that may still go into the open file. */
static uint64_t room_in_file(struct stage_job *j) {
  const stage_options *o = j->options;
  while (j->cut < o->cut_count && o->cuts[j->cut] <= j->taken) {
    j->cut++;
  }
  const uint64_t room = j->file_rows - file_writer_rows(j->writer);
  return j->cut < o->cut_count ? u64_min(room, o->cuts[j->cut] - j->taken) : room;
}

static glv_status write_batch(struct stage_job *j, const batch *in, glv_error *err) {
  for (size_t first = 0; first < in->length;) {
    if (j->writer == NULL) {
      TRY(open_file(j, err));
    }
    const uint64_t room = room_in_file(j);
    const size_t count = (size_t)u64_min(room, in->length - first);
    CLEANUP(batch_dispose) batch b = {0};
    TRY(conform(j, in, first, count, &b, err));
    TRY(file_writer_write(j->writer, &b, err));
    first += count;
    j->taken += count;
    if (count == room) {
      TRY(finish_file(j, err));
    }
  }
  return GLV_OK;
}

static glv_status write_all(struct stage_job *j, batch_reader *in, glv_error *err) {
  for (;;) {
    TRY(cancel_check(j->options->cancel, err));
    CLEANUP(batch_dispose) batch b = {0};
    bool at_end = false;
    TRY(in->next(in->state, &b, &at_end, err));
    if (at_end) {
      break;
    }
    TRY(write_batch(j, &b, err));
  }
  if (j->writer != NULL) {
    TRY(finish_file(j, err));
  }
  return j->into->file_count > 0 ? sync_dir(&j->into->syncs, j->into->dir, err) : GLV_OK;
}

static glv_status find_summary_leaf(struct stage_job *j, glv_error *err) {
  j->summary_leaf = SIZE_MAX;
  if (j->options->summary_column == NULL) {
    return GLV_OK;
  }
  for (size_t i = 0; i < j->leaf_count; i++) {
    if (j->leaves[i]->parent_id == -1 &&
        strcmp(j->leaves[i]->arrow.name, j->options->summary_column) == 0) {
      j->summary_leaf = i;
      return GLV_OK;
    }
  }
  return FAIL(err, GLV_E_COLUMN_NOT_FOUND, "table '%s' has no column '%s'", j->home->name,
              j->options->summary_column);
}

static glv_status prepare_job(struct stage_job *j, const schema *in, glv_error *err) {
  arena *a = &j->into->memory;
  j->file_rows = j->options->file_rows != 0 ? j->options->file_rows : TABLE_FILE_ROWS;
  j->positions = ARENA_ARRAY(a, size_t, j->schema->field_count);
  j->leaf_count = lance_schema_columns(j->schema, j->version, NULL, 0);
  j->leaves = ARENA_ARRAY(a, const lance_field *, j->leaf_count);
  if (j->positions == NULL || j->leaves == NULL) {
    return error_nomem(err, j->leaf_count * sizeof *j->leaves);
  }
  lance_schema_columns(j->schema, j->version, j->leaves, j->leaf_count);
  TRY(match_columns(j->home, j->schema, in, j->positions, err));
  TRY(find_summary_leaf(j, err));
  return home_dir(j->home, "data", &j->into->dir, &j->into->made_dir, err);
}

glv_status stage_rows(table_home *h, const lance_schema *s, format_version version,
                      batch_reader *in, const stage_options *options, staged **ret,
                      glv_error *err) {
  static const stage_options defaults = {0};
  CLEANUP(batch_reader_dispose) batch_reader r = *in;
  *in = (batch_reader){0};
  CLEANUP(staged_cleanup) staged *into = mem_zalloc(h->env, sizeof *into);
  if (into == NULL) {
    return error_nomem(err, sizeof *into);
  }
  into->env = env_ref(h->env);
  into->syncs.env = h->env;
  into->home = home_ref(h);
  arena_init(&into->memory, h->env);
  CLEANUP(job_cleanup)
  struct stage_job j = {.home = h,
                        .schema = s,
                        .version = version,
                        .options = options != NULL ? options : &defaults,
                        .into = into};
  TRY(prepare_job(&j, r.schema, err));
  TRY(write_all(&j, &r, err));
  *ret = into;
  into = NULL;
  return GLV_OK;
}

glv_status table_stage(const table_snapshot *t, batch_reader *in, const stage_options *options,
                       staged **ret, glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader r = *in;
  *in = (batch_reader){0};
  TRY(table_check_writable(t, err));
  return stage_rows(t->home, t->lance, table_data_version(t), &r, options, ret, err);
}

glv_status table_stage_as(const table_snapshot *t, const lance_schema *s, batch_reader *in,
                          const stage_options *options, staged **ret, glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader r = *in;
  *in = (batch_reader){0};
  TRY(table_check_writable(t, err));
  return stage_rows(t->home, s, table_data_version(t), &r, options, ret, err);
}

/* ---- staged files ---- */

uint64_t staged_rows(const staged *s) { return s->rows; }
size_t staged_file_count(const staged *s) { return s->file_count; }
uint64_t staged_bytes(const staged *s) { return s->bytes; }

void staged_free(staged *s) {
  if (s == NULL) {
    return;
  }
  glv_env *env = s->env;
  (void)sync_wait(&s->syncs, NULL);
  io_dir_close(env, s->dir);
  home_unref(s->home);
  arena_dispose(&s->memory);
  mem_free(env, s->files);
  mem_free(env, s);
  env_unref(env);
}

void staged_discard(staged *s) {
  if (s == NULL) {
    return;
  }
  (void)sync_wait(&s->syncs, NULL);
  for (size_t i = 0; i < s->file_count; i++) {
    (void)io_remove(s->env, s->dir, s->files[i].name, NULL);
  }
  if (s->made_dir) {
    char path[LIMIT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/data", s->home->path);
    (void)io_remove_dir(s->env, path, NULL); /* only succeeds while it is empty */
  }
  staged_free(s);
}

void staged_cleanup(staged **s) { staged_discard(*s); }

glv_status staged_settle(staged **s, glv_status status) {
  if (status == GLV_OK || status == GLV_E_UNKNOWN_OUTCOME) {
    staged_free(*s);
    *s = NULL;
  }
  return status;
}
