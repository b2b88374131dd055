/*
 * Opening a data file and reading columns of it (lance-file-format sections 2 and 9).
 *
 * Opening reads the end of the file once: footer, tables, schema and, in files of usual size, the
 * metadata of all columns; those bytes are kept. Column metadata is parsed when the column is read
 * first. Reading maps a window of rows, or a list of rows in it, to pages, and lets each page fill
 * its part of the result.
 */
#include "base/limits.h"
#include "format/file_reader_private.h"
#include "format/old_read.h"
#include "io/io.h"
#include "pb/lance_file.pb-c.h"
#include "pb/pb.h"

enum {
  TAIL_BYTES = 64 << 10,
  TABLE_ENTRY_BYTES = 16,
  GLOBAL_ALIGN = 64,
};

/* ---- opening ---- */

static void reader_free(file_reader *r) {
  glv_env *env = r->env;
  for (uint32_t i = 0; r->columns != NULL && i < r->footer.column_count; i++) {
    column_free(r, r->columns[i]);
  }
  if (r->file != NULL) {
    env_io(env)->close(env_io(env)->user, r->file, NULL);
  }
  arena_dispose(&r->schema_memory);
  mem_free(env, r->columns);
  mem_free(env, r->column_places);
  mem_free(env, r->globals);
  mem_free(env, r->tail);
  mem_free(env, r->name);
  mutex_dispose(&r->lock);
  mem_free(env, r);
  env_unref(env);
}

file_reader *file_reader_ref(file_reader *r) {
  atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
  return r;
}

void file_reader_unref(file_reader *r) {
  if (r != NULL && atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) == 1) {
    reader_free(r);
  }
}

static void reader_cleanup(file_reader **r) { file_reader_unref(*r); }

static file_reader *reader_new(glv_env *env, const char *name) {
  file_reader *r = mem_zalloc(env, sizeof *r);
  if (r == NULL) {
    return NULL;
  }
  r->env = env_ref(env);
  atomic_init(&r->refs, 1);
  mutex_init(&r->lock);
  arena_init_small(&r->schema_memory, env);
  r->name = mem_strndup(env, name, strlen(name));
  if (r->name == NULL) {
    reader_free(r);
    return NULL;
  }
  return r;
}

glv_status reader_bytes(file_reader *r, extent where, uint8_t *out, glv_error *err) {
  if (where.size == 0) {
    return GLV_OK;
  }
  if (where.offset >= r->tail_offset) {
    memcpy(out, r->tail + (where.offset - r->tail_offset), (size_t)where.size);
    return GLV_OK;
  }
  return io_read_at(r->env, r->file, where.offset, out, (size_t)where.size, err);
}

static glv_status read_tail(file_reader *r, glv_error *err) {
  TRY(io_size(r->env, r->file, &r->size, err));
  const size_t size = (size_t)u64_min(r->size, TAIL_BYTES);
  r->tail = mem_alloc(r->env, size);
  if (r->tail == NULL) {
    return error_nomem(err, size);
  }
  r->tail_offset = r->size - size;
  if (size != 0) {
    TRY(io_read_at(r->env, r->file, r->tail_offset, r->tail, size, err));
  }
  return footer_parse(span_of(r->tail, size), r->size, r->name, &r->footer, err);
}

/* A table of {position, size} pairs. */
static glv_status read_table(file_reader *r, uint64_t offset, uint32_t count, extent **ret,
                             glv_error *err) {
  const size_t size = (size_t)count * TABLE_ENTRY_BYTES; /* lies in the file */
  uint8_t *bytes = mem_alloc(r->env, size);
  extent *table = mem_calloc(r->env, count, sizeof *table);
  glv_status status = bytes != NULL && table != NULL
                          ? reader_bytes(r, (extent){offset, size}, bytes, err)
                          : error_nomem(err, size);
  for (uint32_t i = 0; status == GLV_OK && i < count; i++) {
    table[i].offset = load_le64(bytes + (size_t)i * TABLE_ENTRY_BYTES);
    table[i].size = load_le64(bytes + (size_t)i * TABLE_ENTRY_BYTES + 8);
  }
  mem_free(r->env, bytes);
  *ret = table; /* released with the reader in every case */
  return status;
}

static glv_status read_tables(file_reader *r, glv_error *err) {
  const footer *f = &r->footer;
  TRY(read_table(r, f->column_table, f->column_count, &r->column_places, err));
  for (uint32_t i = 0; i < f->column_count; i++) {
    const extent e = r->column_places[i];
    if (e.offset < f->columns_start || !range_within(e.offset, e.size, f->column_table)) {
      return FAIL(err, GLV_E_CORRUPT,
                  "file '%s': the metadata of column %u does not lie in its place", r->name, i);
    }
  }
  TRY(read_table(r, f->global_table, f->global_count, &r->globals, err));
  for (uint32_t i = 0; i < f->global_count; i++) {
    const extent e = r->globals[i];
    if (e.offset % GLOBAL_ALIGN != 0) {
      return FAIL(err, GLV_E_CORRUPT,
                  "file '%s': Global buffer %u position %llu is not aligned to 64 bytes", r->name,
                  i, (unsigned long long)e.offset);
    }
    if (!range_within(e.offset, e.size, r->size)) {
      return FAIL(err, GLV_E_CORRUPT, "file '%s': global buffer %u does not lie in the file",
                  r->name, i);
    }
  }
  r->columns = mem_calloc(r->env, f->column_count, sizeof(column_state *));
  return r->columns != NULL ? GLV_OK : error_nomem(err, f->column_count * sizeof(column_state *));
}

/* Unpack the FileDescriptor, global buffer 0. */
static glv_status read_descriptor(file_reader *r, arena *a, const Lance__File__FileDescriptor **ret,
                                  glv_error *err) {
  const extent where = r->globals[0];
  if (where.size > LIMIT_MANIFEST_BYTES) {
    return FAIL(err, GLV_E_LIMIT, "the schema of file '%s' has %llu bytes", r->name,
                (unsigned long long)where.size);
  }
  uint8_t *bytes = mem_alloc(r->env, (size_t)where.size);
  if (bytes == NULL) {
    return error_nomem(err, (size_t)where.size);
  }
  ProtobufCMessage *m = NULL;
  glv_status status = reader_bytes(r, where, bytes, err);
  if (status == GLV_OK) {
    status = pb_unpack(a, str_slice((const char *)bytes, (size_t)where.size),
                       &lance__file__file_descriptor__descriptor, r->name, &m, err);
  }
  mem_free(r->env, bytes);
  *ret = (const Lance__File__FileDescriptor *)m;
  return status;
}

/* Keep only what lies behind the data: schema and metadata are read again later. */
static void trim_tail(file_reader *r) {
  const uint64_t keep =
      u64_max(u64_min(r->globals[0].offset, r->footer.columns_start), r->tail_offset);
  const size_t cut = (size_t)(u64_min(keep, r->size) - r->tail_offset);
  const size_t left = (size_t)(r->size - r->tail_offset) - cut;
  uint8_t *tail = mem_alloc(r->env, left);
  if (tail != NULL) { /* without the memory the longer tail stays */
    memcpy(tail, r->tail + cut, left);
    mem_free(r->env, r->tail);
    r->tail = tail;
    r->tail_offset += cut;
  }
}

glv_status file_reader_open(glv_env *env, void *dir, const char *name, file_reader **ret,
                            glv_error *err) {
  CLEANUP(reader_cleanup) file_reader *r = reader_new(env, name);
  if (r == NULL) {
    return error_nomem(err, sizeof *r);
  }
  TRY(io_open_read(env, dir, name, &r->file, err));
  TRY(read_tail(r, err));
  TRY(read_tables(r, err));
  arena a;
  arena_init(&a, env);
  const Lance__File__FileDescriptor *m = NULL;
  const glv_status status = read_descriptor(r, &a, &m, err);
  if (status == GLV_OK) {
    r->rows = m->length;
  }
  arena_dispose(&a);
  TRY(status);
  trim_tail(r);
  *ret = r;
  r = NULL;
  return GLV_OK;
}

/* ---- what the metadata says ---- */

format_version file_reader_version(const file_reader *r) { return r->footer.version; }
uint64_t file_reader_rows(const file_reader *r) { return r->rows; }
uint32_t file_reader_column_count(const file_reader *r) { return r->footer.column_count; }
uint32_t file_reader_global_count(const file_reader *r) { return r->footer.global_count; }

static glv_status load_schema(file_reader *r, lance_schema **ret, glv_error *err) {
  arena *a = &r->schema_memory;
  const Lance__File__FileDescriptor *m = NULL;
  TRY(read_descriptor(r, a, &m, err));
  if (m->schema == NULL) {
    return FAIL(err, GLV_E_CORRUPT, "file '%s' has no schema", r->name);
  }
  const size_t count = m->schema->n_metadata;
  pair *pairs = ARENA_ARRAY(a, pair, count);
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  for (size_t i = 0; i < count; i++) {
    const Lance__File__BytesEntry *e = m->schema->metadata[i];
    pairs[i] = (pair){str_of(e->key), str_slice((const char *)e->value.data, e->value.len)};
  }
  return lance_schema_from_messages(a, m->schema->fields, m->schema->n_fields,
                                    (metadata){pairs, count}, ret, err);
}

glv_status file_reader_schema(file_reader *r, const lance_schema **ret, glv_error *err) {
  CLEANUP(mutex_cleanup) mutex *held = &r->lock;
  mutex_lock(held);
  if (r->schema == NULL) {
    lance_schema *s = NULL;
    const arena_mark mark = arena_mark_get(&r->schema_memory);
    const glv_status status = load_schema(r, &s, err);
    if (status != GLV_OK) {
      arena_reset_to(&r->schema_memory, mark);
      return status;
    }
    r->schema = s;
  }
  *ret = r->schema;
  return GLV_OK;
}

glv_status file_reader_page_starts(file_reader *r, uint32_t column, const uint64_t **ret,
                                   size_t *ret_count, glv_error *err) {
  column_state *c = NULL;
  TRY(reader_column(r, column, &c, err));
  *ret = c->starts;
  *ret_count = c->page_count + 1;
  return GLV_OK;
}

glv_status file_reader_global(file_reader *r, uint32_t index, size_t max_size, buffer **ret,
                              glv_error *err) {
  if (index >= r->footer.global_count) {
    return FAIL(err, GLV_E_INVALID_INPUT, "file '%s' has %u global buffers, number %u is wanted",
                r->name, r->footer.global_count, index);
  }
  const extent where = r->globals[index];
  if (where.size > max_size) {
    return FAIL(err, GLV_E_LIMIT, "file '%s': global buffer %u has %llu bytes", r->name, index,
                (unsigned long long)where.size);
  }
  CLEANUP(buffer_cleanup) buffer *b = NULL;
  TRY(buffer_new(r->env, (size_t)where.size, &b, err));
  TRY(reader_bytes(r, where, b->data, err));
  *ret = b;
  b = NULL;
  return GLV_OK;
}

/* ---- reading ---- */

/* The page that holds a row. */
static size_t page_of(const column_state *c, uint64_t row) {
  size_t low = 0;
  size_t high = c->page_count - 1;
  while (low < high) {
    const size_t middle = high - (high - low) / 2;
    if (c->starts[middle] <= row) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/* How many of the ascending offsets are below `end`. */
static size_t count_below(const uint32_t *rows, size_t count, uint64_t end) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (rows[middle] < end) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* What is read: count rows from first on, or those at the offsets. */
typedef struct request {
  uint64_t first;
  uint64_t count;
  const uint32_t *rows;
  size_t selected;
} request;

/* The part of a request, from its `done`-th row on, that lies in the page of its next row. */
static wanted part_in_page(const column_state *c, const request *q, size_t done, size_t *ret_page) {
  const uint64_t row = q->first + (q->rows != NULL ? q->rows[done] : done);
  const size_t number = page_of(c, row);
  const uint64_t start = c->starts[number];
  const uint64_t end = c->starts[number + 1];
  *ret_page = number;
  if (q->rows == NULL) {
    return (wanted){.first = (size_t)(row - start),
                    .count = (size_t)u64_min(end - row, q->count - done)};
  }
  return wanted_simplify(
      (wanted){.rows = q->rows + done,
               .count = count_below(q->rows + done, q->selected - done, end - q->first),
               .base = (uint32_t)(start - q->first)});
}

static glv_status read_rows(file_reader *r, column_state *c, decoder *d, const request *q, sink *s,
                            glv_error *err) {
  while (s->filled < s->length) {
    size_t number = 0;
    const wanted w = part_in_page(c, q, s->filled, &number);
    CLEANUP(page_cleanup) page *p = NULL;
    TRY(reader_page(r, d, c, number, &p, err));
    TRY(page_read(d, p, &w, s, err));
  }
  return GLV_OK;
}

static glv_status check_request(const file_reader *r, const request *q, glv_error *err) {
  bool ok = range_within(q->first, q->count, r->rows);
  for (size_t i = 0; ok && q->rows != NULL && i < q->selected; i++) {
    ok = q->rows[i] < q->count && (i == 0 || q->rows[i - 1] < q->rows[i]);
  }
  if (!ok) {
    return FAIL(err, GLV_E_INVALID_INPUT, "rows that file '%s' does not have, or not in order",
                r->name);
  }
  return GLV_OK;
}

/* Say where it happened; errors of memory and storage say enough. */
static glv_status name_place(const file_reader *r, const field *f, glv_status status,
                             glv_error *err) {
  if (status == GLV_E_CORRUPT || status == GLV_E_UNSUPPORTED) {
    return error_prefix(err, status, "file '%s', column '%s' of type %s: ", r->name, f->name,
                        TYPE_TEXT(f->type));
  }
  return status;
}

static glv_status read_leaf(file_reader *r, uint32_t column, const field *f, const request *q,
                            array *ret, glv_error *err) {
  size_t length = 0;
  column_state *c = NULL;
  TRY(reader_column(r, column, &c, err));
  if (!to_size(q->count, &length)) {
    return error_nomem(err, SIZE_MAX);
  }
  CLEANUP(sink_dispose) sink s;
  TRY(sink_init(&s, r->env, f, q->rows != NULL ? q->selected : length, err));
  CLEANUP(decoder_dispose) decoder d = {.env = r->env, .file = r->file};
  glv_status status = read_rows(r, c, &d, q, &s, err);
  if (status == GLV_OK) {
    status = sink_finish(&s, ret, err);
  }
  return status == GLV_OK ? status : name_place(r, f, status, err);
}

glv_status file_reader_read_field(file_reader *r, const field_place *place, uint64_t first,
                                  uint64_t count, const uint32_t *rows, size_t selected, array *ret,
                                  glv_error *err) {
  const request q = {first, count, rows, selected};
  TRY(check_request(r, &q, err));
  if (r->footer.version == FORMAT_2_0) {
    return old_read_field(r, place, first, count, rows, selected, ret, err);
  }
  if (!place->is_wanted || (place->child_count == 0 && place->column == COLUMN_NONE)) {
    size_t length = 0;
    if (!to_size(rows != NULL ? selected : count, &length)) {
      return error_nomem(err, SIZE_MAX);
    }
    return array_new_null(r->env, place->field->type, length, ret, err);
  }
  const bool is_list = place->field->type->kind == TYPE_LIST ||
                       place->field->type->kind == TYPE_LARGE_LIST; /* those without items */
  const field_place *leaf = place;
  while (is_list && leaf->child_count == 1) {
    leaf = &leaf->children[0];
  }
  if (leaf->column == COLUMN_NONE) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "file '%s', column '%s' has type %s, which cannot be read yet", r->name,
                place->field->name, TYPE_TEXT(place->field->type));
  }
  return read_leaf(r, leaf->column, place->field, &q, ret, err);
}

glv_status file_reader_read(file_reader *r, uint32_t column, const field *f, uint64_t first,
                            uint64_t count, const uint32_t *rows, size_t selected, array *ret,
                            glv_error *err) {
  const field_place place = {.field = f, .column = column, .is_wanted = true};
  return file_reader_read_field(r, &place, first, count, rows, selected, ret, err);
}
