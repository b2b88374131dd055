/*
 * Opening a data file (lance-file-format section 2).
 *
 * Opening reads the end of the file once: footer, tables, schema and, in files of usual size, the
 * metadata of all columns; those bytes are kept. Column metadata is parsed when the column is read
 * first.
 */
#include "base/limits.h"
#include "format/file_reader_private.h"
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
    if (f->version != FORMAT_2_0 && e.offset % GLOBAL_ALIGN != 0) {
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

glv_status file_reader_bytes(file_reader *r, uint64_t position, uint64_t size, size_t max_size,
                             buffer **ret, glv_error *err) {
  if (!range_within(position, size, r->size)) {
    return FAIL(err, GLV_E_CORRUPT, "file '%s' has no %llu bytes at %llu", r->name,
                (unsigned long long)size, (unsigned long long)position);
  }
  if (size > max_size) {
    return FAIL(err, GLV_E_LIMIT, "file '%s': %llu bytes at %llu are wanted at once", r->name,
                (unsigned long long)size, (unsigned long long)position);
  }
  CLEANUP(buffer_cleanup) buffer *b = NULL;
  TRY(buffer_new(r->env, (size_t)size, &b, err));
  TRY(reader_bytes(r, (extent){position, size}, b->data, err));
  *ret = b;
  b = NULL;
  return GLV_OK;
}

glv_status file_reader_global(file_reader *r, uint32_t index, size_t max_size, buffer **ret,
                              glv_error *err) {
  if (index >= r->footer.global_count) {
    return FAIL(err, GLV_E_INVALID_INPUT, "file '%s' has %u global buffers, number %u is wanted",
                r->name, r->footer.global_count, index);
  }
  const extent where = r->globals[index]; /* it lies in the file */
  return file_reader_bytes(r, where.offset, where.size, max_size, ret, err);
}
