/*
 * Batches in, a data file out.
 *
 * Every column collects references to the arrays it is given until they amount to a page
 * (lance-file-format 11.1); large arrays are sliced. A full page becomes a job for the thread pool,
 * which encodes it and lets go of the arrays. Jobs are written to the file in the order in which
 * they were submitted, by the thread that calls the writer, so that a file depends on the data
 * alone and not on timing.
 *
 * Memory: at most job_limit pages are being encoded; a column holds less than a page; and when many
 * columns together hold too much, the fullest is closed early.
 */
#include "format/file_writer.h"

#include "format/file_writer_private.h"
#include "io/io.h"

enum {
  PAGE_RAW_BYTES = 8 << 20,
  PAGE_MAX_ROWS = 1 << 24,
  PAGE_ROW_STEP = 4096, /* pages of fixed-width columns hold a multiple of this */
  WAITING_RAW_BYTES = 128 << 20,
  SMALL_RAW_BYTES = 64 << 10, /* not worth waking a thread */
  MIN_JOBS = 2,
  MAX_JOBS = 8
};

/* A page on its way. */
struct page_job {
  task work;
  struct page_job *next;
  bool is_small; /* encoded by the thread that writes it */
  size_t column;
  uint64_t first_row;
  size_t rows;
  page_input in;
  page_output out;
  array *pieces; /* become the runs of in */
  size_t piece_count;
};

/* ---- jobs ---- */

static void drop_pieces(glv_env *env, array *pieces, size_t count) {
  for (size_t i = 0; i < count; i++) {
    array_unref(&pieces[i]);
  }
  mem_free(env, pieces);
}

static void drop_runs(page_input *in) {
  for (size_t i = 0; i < in->run_count; i++) {
    array_unref(&in->runs[i].kept);
  }
  mem_free(in->env, in->runs);
  in->runs = NULL;
  in->run_count = 0;
}

static glv_status make_runs(struct page_job *job, glv_error *err) {
  page_input *in = &job->in;
  in->runs = mem_calloc(in->env, job->piece_count, sizeof *in->runs);
  if (in->runs == NULL) {
    return error_nomem(err, job->piece_count * sizeof *in->runs);
  }
  for (size_t i = 0; i < job->piece_count; i++) {
    page_run_init(in->leaf, &job->pieces[i], &in->runs[i]);
    in->has_item_nulls = in->has_item_nulls || in->runs[i].item_validity != NULL;
    in->run_count++;
  }
  return GLV_OK;
}

static glv_status run_job(void *context, glv_error *err) {
  struct page_job *job = context;
  glv_status status = make_runs(job, err);
  if (status == GLV_OK) {
    status = page_encode(&job->in, &job->out, err);
  }
  drop_runs(&job->in); /* the arrays are released as early as possible */
  return status;
}

static void free_job(file_writer *w, struct page_job *job) {
  drop_pieces(w->env, job->pieces, job->piece_count);
  drop_runs(&job->in);
  page_output_dispose(&job->out);
  mem_free(w->env, job);
}

static glv_status record_page(file_writer *w, const struct page_job *job, glv_error *err) {
  column_writer *c = &w->columns[job->column];
  const page_output *out = &job->out;
  TRY(vec_reserve(w->env, &c->pages, &c->page_capacity, c->page_count + 1, sizeof *c->pages, err));
  page_record *p = &c->pages[c->page_count];
  *p = (page_record){
      .first_row = job->first_row, .rows = job->rows, .buffer_count = out->buffer_count};
  for (size_t i = 0; i < out->buffer_count; i++) {
    p->offsets[i] = w->position + out->offsets[i];
    p->sizes[i] = out->sizes[i];
  }
  char *layout = arena_strdup(&w->records, buf_str(&out->layout));
  if (layout == NULL) {
    return error_nomem(err, out->layout.size);
  }
  p->layout = str_slice(layout, out->layout.size);
  c->page_count++;
  return c->leaf.is_summarised ? summary_add(w, job->first_row, out, err) : GLV_OK;
}

/* Wait for the oldest job and, unless the file has failed already, write its page. */
static glv_status retire(file_writer *w, bool is_wanted, glv_error *err) {
  struct page_job *job = w->first;
  w->first = job->next;
  w->last = w->first != NULL ? w->last : NULL;
  w->job_count--;
  glv_status status = GLV_OK;
  if (!job->is_small) {
    status = task_wait(w->env, &job->work, err);
  } else if (is_wanted) {
    status = run_job(job, err);
  }
  if (status == GLV_OK && is_wanted) {
    status = record_page(w, job, err);
    if (status == GLV_OK) {
      status = container_write(w, job->out.bytes, job->out.size, err);
    }
  }
  free_job(w, job);
  return status;
}

static glv_status submit(file_writer *w, struct page_job *job, glv_error *err) {
  glv_status status = GLV_OK;
  while (status == GLV_OK && w->job_count >= w->job_limit) {
    status = retire(w, true, err);
  }
  if (status != GLV_OK) {
    free_job(w, job);
    return status;
  }
  job->work = (task){.run = run_job, .context = job};
  if (w->last != NULL) {
    w->last->next = job;
  } else {
    w->first = job;
  }
  w->last = job;
  w->job_count++;
  if (!job->is_small) {
    task_submit(w->env, &job->work);
  }
  return GLV_OK;
}

/* The waiting rows of a column become a page. */
static glv_status close_page(file_writer *w, size_t column, glv_error *err) {
  column_writer *c = &w->columns[column];
  if (c->rows == 0) {
    return GLV_OK;
  }
  struct page_job *job = mem_zalloc(w->env, sizeof *job);
  if (job == NULL) {
    return error_nomem(err, sizeof *job);
  }
  job->is_small = c->raw_bytes < SMALL_RAW_BYTES;
  job->column = column;
  job->first_row = c->first_row;
  job->rows = c->rows;
  job->in =
      (page_input){.env = w->env, .leaf = &c->leaf, .rows = c->rows, .null_count = c->null_count};
  page_output_init(&job->out, w->env);
  job->pieces = c->pieces;
  job->piece_count = c->piece_count;
  w->raw_bytes -= c->raw_bytes;
  c->pieces = NULL;
  c->piece_count = c->piece_capacity = 0;
  c->first_row += c->rows;
  c->raw_bytes = 0;
  c->rows = c->null_count = 0;
  return submit(w, job, err);
}

/* ---- taking batches ---- */

static glv_status keep(file_writer *w, column_writer *c, const array *a, size_t first, size_t rows,
                       glv_error *err) {
  TRY(vec_reserve(w->env, &c->pieces, &c->piece_capacity, c->piece_count + 1, sizeof *c->pieces,
                  err));
  array piece = array_slice(a, first, rows);
  if (piece.type == NULL) {
    return error_nomem(err, sizeof piece);
  }
  c->null_count += array_null_count(&piece);
  piece.type = c->leaf.type; /* that of the batch may go with it */
  c->pieces[c->piece_count++] = piece;
  const uint64_t raw = page_leaf_raw_bytes(&c->leaf, a, first, rows);
  c->raw_bytes += raw;
  w->raw_bytes += raw;
  c->rows += rows;
  return GLV_OK;
}

/* How many of the rows from first on still belong to the page. */
static size_t rows_for_page(const column_writer *c, const array *a, size_t first, size_t rows) {
  const page_leaf *leaf = &c->leaf;
  if (leaf->form == LEAF_VARIABLE) {
    rows = size_min(rows, PAGE_MAX_ROWS - c->rows);
    return page_leaf_rows_within(leaf, a, first, rows, PAGE_RAW_BYTES - c->raw_bytes);
  }
  return size_min(rows, page_leaf_page_rows(leaf, PAGE_RAW_BYTES, PAGE_ROW_STEP, PAGE_MAX_ROWS) -
                            c->rows);
}

static bool is_full(const column_writer *c) {
  return c->leaf.form == LEAF_VARIABLE
             ? c->raw_bytes >= PAGE_RAW_BYTES || c->rows >= PAGE_MAX_ROWS
             : c->rows ==
                   page_leaf_page_rows(&c->leaf, PAGE_RAW_BYTES, PAGE_ROW_STEP, PAGE_MAX_ROWS);
}

static glv_status take_column(file_writer *w, size_t column, const array *a, glv_error *err) {
  column_writer *c = &w->columns[column];
  glv_status status = GLV_OK;
  for (size_t first = 0; status == GLV_OK && first < a->length;) {
    const size_t rows = rows_for_page(c, a, first, a->length - first);
    status = keep(w, c, a, first, rows, err);
    first += rows;
    if (status == GLV_OK && is_full(c)) {
      status = close_page(w, column, err);
    }
  }
  return status;
}

static size_t fullest_column(const file_writer *w) {
  size_t fullest = 0;
  for (size_t i = 1; i < w->column_count; i++) {
    fullest = w->columns[i].raw_bytes > w->columns[fullest].raw_bytes ? i : fullest;
  }
  return fullest;
}

static type_kind stored_kind(type_kind kind) {
  return kind == TYPE_UTF8_VIEW ? TYPE_UTF8 : kind == TYPE_BINARY_VIEW ? TYPE_BINARY : kind;
}

/* Names of children do not matter, and views have the layout of plain text in arrays. Types that
 * can be written have at most one child on each level. */
static bool fits(const type *stored, const type *given) {
  while (stored->child_count == 1) {
    if (given->child_count != 1 || stored->kind != given->kind || stored->width != given->width) {
      return false;
    }
    stored = stored->children[0].type;
    given = given->children[0].type;
  }
  const bool is_text = type_is_string(stored->kind) || type_is_binary(stored->kind);
  return type_equal(stored, given) ||
         (is_text && stored_kind(stored->kind) == stored_kind(given->kind));
}

static glv_status check_column(const column_writer *c, const array *a, size_t rows,
                               glv_error *err) {
  if (a->type == NULL) {
    return FAIL(err, GLV_E_SCHEMA, "column '%s' is missing from the data", c->leaf.name);
  }
  if (!fits(c->leaf.type, a->type)) {
    char given[TYPE_TEXT_SIZE] = {0};
    return FAIL(err, GLV_E_SCHEMA, "column '%s' has type %s, but the data has type %s",
                c->leaf.name, TYPE_TEXT(c->leaf.type), type_text(a->type, given, sizeof given));
  }
  if (a->length != rows) {
    return FAIL(err, GLV_E_SCHEMA, "column '%s' has %zu values in a batch of %zu rows",
                c->leaf.name, a->length, rows);
  }
  if (!c->is_nullable && array_has_nulls(a)) {
    return FAIL(err, GLV_E_SCHEMA,
                "The field `%s` contained null values even though the field is marked non-null "
                "in the schema",
                c->leaf.name);
  }
  return GLV_OK;
}

glv_status file_writer_write(file_writer *w, const batch *b, glv_error *err) {
  if (b->column_count != w->column_count) {
    return FAIL(err, GLV_E_SCHEMA, "the data has %zu columns, the schema %zu", b->column_count,
                w->column_count);
  }
  for (size_t i = 0; i < w->column_count; i++) {
    TRY(check_column(&w->columns[i], &b->columns[i], b->length, err));
  }
  for (size_t i = 0; i < w->column_count; i++) {
    TRY(take_column(w, i, &b->columns[i], err));
  }
  w->rows += b->length;
  while (w->raw_bytes > WAITING_RAW_BYTES) {
    TRY(close_page(w, fullest_column(w), err));
  }
  return GLV_OK;
}

uint64_t file_writer_rows(const file_writer *w) { return w->rows; }

/* ---- beginning and end ---- */

static void free_writer(file_writer *w) {
  while (w->first != NULL) {
    (void)retire(w, false, NULL);
  }
  for (size_t i = 0; i < w->column_count; i++) {
    drop_pieces(w->env, w->columns[i].pieces, w->columns[i].piece_count);
    mem_free(w->env, w->columns[i].pages);
  }
  for (size_t i = 0; i < 3; i++) {
    mem_free(w->env, w->summary.columns[i]);
  }
  arena_dispose(&w->records);
  mem_free(w->env, w->globals);
  mem_free(w->env, w->columns);
  mem_free(w->env, w->name);
  glv_env *env = w->env;
  mem_free(env, w);
  env_unref(env);
}

void file_writer_discard(file_writer *w) {
  if (w == NULL) {
    return;
  }
  if (w->file != NULL) {
    (void)io_close(w->env, w->file, NULL);
    w->file = NULL;
    (void)io_remove(w->env, w->dir, w->name, NULL);
  }
  free_writer(w);
}

static void discard_writer(file_writer **w) { file_writer_discard(*w); }

static glv_status init_columns(file_writer *w, glv_error *err) {
  w->columns = mem_calloc(w->env, w->schema->field_count, sizeof *w->columns);
  if (w->columns == NULL) {
    return error_nomem(err, w->schema->field_count * sizeof *w->columns);
  }
  for (size_t i = 0; i < w->schema->field_count; i++) {
    const lance_field *f = &w->schema->fields[i];
    column_writer *c = &w->columns[i];
    if (!f->is_supported || f->arrow.type == NULL) {
      return FAIL(err, GLV_E_UNSUPPORTED, "column '%s' has type %s, which cannot be written yet",
                  f->arrow.name, f->logical_type);
    }
    TRY(page_leaf_init(&f->arrow, &c->leaf, err));
    c->is_nullable = f->arrow.nullable;
    w->column_count++;
  }
  return GLV_OK;
}

static glv_status choose_summary(file_writer *w, glv_error *err) {
  const size_t leaf = w->options.summary_leaf;
  if (leaf == SIZE_MAX) {
    return GLV_OK;
  }
  if (leaf >= w->column_count || w->columns[leaf].leaf.type->kind != TYPE_UINT64) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "column %zu of the file cannot be summarised: it is not "
                "of type uint64",
                leaf);
  }
  w->columns[leaf].leaf.is_summarised = true;
  return GLV_OK;
}

static size_t clamp_jobs(size_t threads) { return size_min(size_max(threads, MIN_JOBS), MAX_JOBS); }

glv_status file_writer_new(glv_env *env, void *dir, const char *name, const lance_schema *s,
                           const file_writer_options *options, file_writer **ret, glv_error *err) {
  if (options->version != 0 && options->version != FORMAT_2_2) {
    return FAIL(err, GLV_E_UNSUPPORTED, "data files of version %s cannot be written yet",
                format_version_text(options->version));
  }
  CLEANUP(discard_writer) file_writer *w = mem_zalloc(env, sizeof *w);
  if (w == NULL) {
    return error_nomem(err, sizeof *w);
  }
  w->env = env_ref(env);
  w->dir = dir;
  w->schema = s;
  w->options = *options;
  w->job_limit = clamp_jobs(env_threads(env));
  w->summary.view.sorted = true;
  arena_init(&w->records, env);
  w->name = mem_strndup(env, name, strlen(name));
  if (w->name == NULL) {
    return error_nomem(err, strlen(name));
  }
  TRY(init_columns(w, err));
  TRY(choose_summary(w, err));
  TRY(io_create(env, dir, name, &w->file, err));
  *ret = w;
  w = NULL;
  return GLV_OK;
}

static glv_status finish(file_writer *w, glv_error *err) {
  for (size_t i = 0; i < w->column_count; i++) {
    TRY(close_page(w, i, err));
  }
  while (w->first != NULL) {
    TRY(retire(w, true, err));
  }
  w->summary.view.rows = w->rows;
  if (w->options.globals != NULL) {
    TRY(w->options.globals(w->options.globals_context, w, err));
  }
  TRY(container_finish(w, err));
  return w->options.keep_open ? GLV_OK : io_sync(w->env, w->file, err);
}

glv_status file_writer_finish(file_writer *w, file_written *ret, glv_error *err) {
  glv_status status = finish(w, err);
  void *kept = NULL;
  if (status == GLV_OK && w->options.keep_open) {
    kept = w->file;
    w->file = NULL;
  } else if (status == GLV_OK) {
    void *file = w->file;
    w->file = NULL;
    status = io_close(w->env, file, err);
    if (status != GLV_OK) {
      (void)io_remove(w->env, w->dir, w->name, NULL);
    }
  }
  if (status == GLV_OK) {
    *ret = (file_written){
        .rows = w->rows, .size_bytes = w->position, .major = 2, .minor = 2, .file = kept};
  }
  file_writer_discard(w);
  return status;
}

/* ---- for the globals callback ---- */

const file_summary *file_writer_summary(const file_writer *w) { return &w->summary.view; }

glv_status file_writer_add_global(file_writer *w, const void *data, size_t size, glv_error *err) {
  TRY(vec_reserve(w->env, &w->globals, &w->global_capacity, w->global_count + 1, sizeof *w->globals,
                  err));
  TRY(container_align(w, err));
  w->globals[w->global_count++] = (file_range){w->position, size};
  return container_write(w, data, size, err);
}

static glv_status reserve_summary(file_writer *w, size_t more, glv_error *err) {
  summary_writer *s = &w->summary;
  for (size_t i = 0; i < 3; i++) {
    TRY(vec_reserve(w->env, &s->columns[i], &s->capacity[i], s->view.count + more, sizeof(uint64_t),
                    err));
  }
  return GLV_OK;
}

glv_status summary_add(file_writer *w, uint64_t first_row, const page_output *page,
                       glv_error *err) {
  summary_writer *s = &w->summary;
  TRY(reserve_summary(w, page->extreme_count, err));
  for (size_t i = 0; i < page->extreme_count; i++) {
    s->columns[0][s->view.count] = first_row + page->extremes[i].first_row;
    s->columns[1][s->view.count] = page->extremes[i].minimum;
    s->columns[2][s->view.count] = page->extremes[i].maximum;
    s->view.count++;
  }
  s->view.first_rows = s->columns[0];
  s->view.minima = s->columns[1];
  s->view.maxima = s->columns[2];
  if (page->has_values) {
    const bool follows = !s->has_values || page->first_value >= s->last_value;
    s->view.sorted = s->view.sorted && page->is_sorted && follows;
    s->has_values = true;
    s->last_value = page->last_value;
  }
  return GLV_OK;
}
