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
#include "format/old_write_private.h"
#include "format/shred_private.h"
#include "io/io.h"

enum {
  USUAL_PAGE_BYTES = 8 << 20,
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

static glv_status make_runs(struct page_job *job, glv_error *err) {
  page_input *in = &job->in;
  in->runs = mem_calloc(in->env, job->piece_count, sizeof *in->runs);
  if (in->runs == NULL) {
    return error_nomem(err, job->piece_count * sizeof *in->runs);
  }
  for (size_t i = 0; i < job->piece_count; i++) {
    page_run *run = &in->runs[in->run_count++];
    TRY(page_run_init(in->env, in->leaf, &job->pieces[i], run, err));
  }
  return page_input_finish(in, err);
}

static glv_status run_job(void *context, glv_error *err) {
  struct page_job *job = context;
  glv_status status = make_runs(job, err);
  if (status == GLV_OK) {
    status = job->in.leaf->version == FORMAT_2_0 ? old_page_encode(&job->in, &job->out, err)
                                                 : page_encode(&job->in, &job->out, err);
  }
  page_input_dispose(&job->in); /* the arrays are released as early as possible */
  return status;
}

static void free_job(file_writer *w, struct page_job *job) {
  drop_pieces(w->env, job->pieces, job->piece_count);
  page_input_dispose(&job->in);
  page_output_dispose(&job->out);
  mem_free(w->env, job);
}

static glv_status record_page(file_writer *w, const struct page_job *job, glv_error *err) {
  column_writer *c = &w->columns[job->column];
  const page_output *out = &job->out;
  TRY(vec_reserve(w->env, &c->pages, &c->page_capacity, c->page_count + 1, sizeof *c->pages, err));
  page_record *p = &c->pages[c->page_count];
  *p = (page_record){
      .first_row = job->first_row, .length = job->in.rows, .buffer_count = out->buffer_count};
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
  job->in = (page_input){.env = w->env, .leaf = &c->leaf, .rows = c->rows * c->leaf.repeat};
  page_output_init(&job->out, w->env);
  job->pieces = c->pieces;
  job->piece_count = c->piece_count;
  w->raw_bytes -= c->raw_bytes;
  c->pieces = NULL;
  c->piece_count = c->piece_capacity = 0;
  c->first_row += c->rows;
  c->raw_bytes = 0;
  c->rows = 0;
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
  c->pieces[c->piece_count++] = piece;
  const uint64_t raw = page_leaf_raw_bytes(&c->leaf, a, first, rows);
  c->raw_bytes += raw;
  w->raw_bytes += raw;
  c->rows += rows;
  return GLV_OK;
}

static size_t full_rows(const column_writer *c) {
  return page_leaf_page_rows(&c->leaf, c->page_bytes, PAGE_ROW_STEP, PAGE_MAX_ROWS);
}

/* How many of the rows from first on still belong to the page. */
static size_t rows_for_page(const column_writer *c, const array *a, size_t first, size_t rows) {
  if (page_leaf_is_even(&c->leaf)) {
    return size_min(rows, full_rows(c) - c->rows);
  }
  rows = size_min(rows, PAGE_MAX_ROWS - c->rows);
  return page_leaf_rows_within(&c->leaf, a, first, rows, c->page_bytes - c->raw_bytes);
}

static bool is_full(const column_writer *c) {
  return page_leaf_is_even(&c->leaf) ? c->rows == full_rows(c)
                                     : c->raw_bytes >= c->page_bytes || c->rows >= PAGE_MAX_ROWS;
}

/* A page has one dictionary. */
static bool has_other_dictionary(const column_writer *c, const array *narrow) {
  if (!c->leaf.is_dictionary || c->piece_count == 0) {
    return false;
  }
  const array *before = &leaf_array(&c->leaf, &c->pieces[0])->children[0];
  const array *now = &leaf_array(&c->leaf, narrow)->children[0];
  return before->values != now->values && !array_equal(before, now);
}

glv_status column_take(file_writer *w, size_t column, const array *a, glv_error *err) {
  column_writer *c = &w->columns[column];
  CLEANUP(array_unref) array narrow = {0};
  TRY(leaf_narrow(w->env, &c->leaf, a, &narrow, err));
  if (has_other_dictionary(c, &narrow)) {
    TRY(close_page(w, column, err));
  }
  for (size_t first = 0; first < a->length;) {
    const size_t rows = rows_for_page(c, &narrow, first, a->length - first);
    TRY(keep(w, c, &narrow, first, rows, err));
    first += rows;
    if (is_full(c)) {
      TRY(close_page(w, column, err));
    }
  }
  return GLV_OK;
}

static size_t fullest_column(const file_writer *w) {
  size_t fullest = 0;
  for (size_t i = 1; i < w->column_count; i++) {
    fullest = w->columns[i].raw_bytes > w->columns[fullest].raw_bytes ? i : fullest;
  }
  return fullest;
}

static glv_status check_column(const field *f, const array *a, size_t rows, glv_error *err) {
  if (a->type == NULL) {
    return FAIL(err, GLV_E_SCHEMA, "column '%s' is missing from the data", f->name);
  }
  if (!type_is_storable(a->type, f->type)) {
    char given[TYPE_TEXT_SIZE] = {0};
    return FAIL(err, GLV_E_SCHEMA, "column '%s' has type %s, but the data has type %s", f->name,
                TYPE_TEXT(f->type), type_text(a->type, given, sizeof given));
  }
  if (a->length != rows) {
    return FAIL(err, GLV_E_SCHEMA, "column '%s' has %zu values in a batch of %zu rows", f->name,
                a->length, rows);
  }
  if (!f->nullable && f->type->kind != TYPE_NULL && array_has_nulls(a)) {
    return shred_refuse_nulls(f->name, err); /* below the top level this is found by shred */
  }
  return GLV_OK;
}

static glv_status take_batch(file_writer *w, const batch *b, glv_error *err) {
  if (w->version != FORMAT_2_0) {
    for (size_t i = 0; i < w->column_count; i++) {
      TRY(column_take(w, i, &b->columns[w->columns[i].field], err));
    }
    return GLV_OK;
  }
  for (size_t i = 0, column = 0; i < b->column_count; i++) {
    TRY(old_take(w, &w->schema->fields[i], &b->columns[i], &column, err));
  }
  return GLV_OK;
}

glv_status file_writer_write(file_writer *w, const batch *b, glv_error *err) {
  const lance_schema *s = w->schema;
  if (b->column_count != s->field_count) {
    return FAIL(err, GLV_E_SCHEMA, "the data has %zu columns, the schema %zu", b->column_count,
                s->field_count);
  }
  for (size_t i = 0; i < s->field_count; i++) {
    TRY(check_column(&s->fields[i].arrow, &b->columns[i], b->length, err));
  }
  TRY(take_batch(w, b, err));
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
  leaf_column *leaves;
  size_t count;
  TRY(leaf_columns_of(&w->records, w->schema, w->version, &leaves, &count, err));
  w->columns = mem_calloc(w->env, count, sizeof *w->columns);
  if (w->columns == NULL) {
    return error_nomem(err, count * sizeof *w->columns);
  }
  for (size_t i = 0; i < count; i++) {
    w->columns[i].field = leaves[i].field;
    w->columns[i].leaf = leaves[i].leaf;
    w->columns[i].page_bytes = page_leaf_page_bytes(
        &leaves[i].leaf, w->options.page_bytes != 0 ? w->options.page_bytes : USUAL_PAGE_BYTES);
  }
  w->column_count = count;
  return GLV_OK;
}

static glv_status choose_summary(file_writer *w, glv_error *err) {
  const size_t leaf = w->options.summary_leaf;
  if (leaf == SIZE_MAX) {
    return GLV_OK;
  }
  if (leaf >= w->column_count || w->columns[leaf].leaf.type->kind != TYPE_UINT64 ||
      w->columns[leaf].leaf.step_count != 0) {
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
  const format_version version = options->version != 0 ? options->version : FORMAT_2_2;
  CLEANUP(discard_writer) file_writer *w = mem_zalloc(env, sizeof *w);
  if (w == NULL) {
    return error_nomem(err, sizeof *w);
  }
  w->env = env_ref(env);
  w->dir = dir;
  w->schema = s;
  w->options = *options;
  w->version = version;
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
  TRY(old_write_headers(w, err));
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
    *ret = (file_written){.rows = w->rows,
                          .size_bytes = w->position,
                          .major = (uint32_t)w->version / 10,
                          .minor = (uint32_t)w->version % 10,
                          .file = kept};
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
