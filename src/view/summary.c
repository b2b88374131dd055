/*
 * Layout, all integers little-endian: magic "GLVP", u16 version 1, u16 flags (bit 0: the ids never
 * decrease), u32 column, u32 number of chunks C, u64 rows, C first rows, C minima, C maxima, XXH64
 * of everything before. LanceDB and pylance ignore buffers they do not know; correctness never
 * depends on them.
 */
#include "view/summary.h"

#include "base/checked.h"
#include "base/hash.h"
#include "view/definition.h"

enum { HEAD_BYTES = 24, CHUNK_BYTES = 24, HASH_BYTES = 8, SUMMARY_VERSION = 1, FLAG_SORTED = 1 };

static void put_column(unsigned char *to, const uint64_t *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    store_le64(to + i * 8, values[i]);
  }
}

glv_status view_summary_write(const file_summary *s, uint32_t column, buf *out, glv_error *err) {
  const size_t size = HEAD_BYTES + s->count * CHUNK_BYTES + HASH_BYTES;
  TRY(buf_reserve(out, size, err));
  unsigned char *p = (unsigned char *)out->data + out->size;
  memcpy(p, "GLVP", 4);
  store_le16(p + 4, SUMMARY_VERSION);
  store_le16(p + 6, s->sorted ? FLAG_SORTED : 0);
  store_le32(p + 8, column);
  store_le32(p + 12, (uint32_t)s->count);
  store_le64(p + 16, s->rows);
  put_column(p + HEAD_BYTES, s->first_rows, s->count);
  put_column(p + HEAD_BYTES + s->count * 8, s->minima, s->count);
  put_column(p + HEAD_BYTES + s->count * 16, s->maxima, s->count);
  store_le64(p + size - HASH_BYTES, hash_xx64(p, size - HASH_BYTES, 0));
  out->size += size;
  out->data[out->size] = '\0';
  return GLV_OK;
}

glv_status view_summary_add(void *context, file_writer *w, glv_error *err) {
  const struct summary_context *c = context;
  const file_summary *s = file_writer_summary(w);
  if (s == NULL || s->count == 0) {
    return GLV_OK;
  }
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, c->env, SIZE_MAX / 2);
  TRY(view_summary_write(s, c->column, &bytes, err));
  return file_writer_add_global(w, bytes.data, bytes.size, err);
}

glv_status view_summary_stage(const table_snapshot *view, struct summary_context *context,
                              stage_options *options, glv_error *err) {
  const lance_schema *s = table_lance_schema(view);
  const lance_field *provenance = lance_schema_find(s, STR(VIEW_SOURCE_ROW_ID));
  if (provenance == NULL) {
    return GLV_OK;
  }
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, table_env(view));
  const format_version version = table_data_version(view);
  const size_t count = lance_schema_columns(s, version, NULL, 0);
  const lance_field **columns = ARENA_ARRAY(&a, const lance_field *, count);
  if (columns == NULL) {
    return error_nomem(err, count * sizeof(lance_field *));
  }
  (void)lance_schema_columns(s, version, columns, count);
  uint32_t at = 0;
  while (at + 1 < count && columns[at]->id != provenance->id) {
    at++;
  }
  *context = (struct summary_context){table_env(view), at};
  options->summary_column = VIEW_SOURCE_ROW_ID;
  options->globals = view_summary_add;
  options->globals_context = context;
  return GLV_OK;
}

/* ---- reading ---- */

static bool is_summary(str bytes) { return str_starts_with(bytes, STR("GLVP")); }

/* What the head says, when the bytes as a whole are sound. */
static bool read_head(const unsigned char *p, size_t size, uint32_t column, file_summary *ret) {
  if (size < HEAD_BYTES + HASH_BYTES ||
      load_le64(p + size - HASH_BYTES) != hash_xx64(p, size - HASH_BYTES, 0) ||
      load_le16(p + 4) != SUMMARY_VERSION || (load_le16(p + 6) & ~FLAG_SORTED) != 0) {
    return false;
  }
  *ret = (file_summary){.count = load_le32(p + 12),
                        .rows = load_le64(p + 16),
                        .sorted = (load_le16(p + 6) & FLAG_SORTED) != 0};
  return load_le32(p + 8) == column && ret->count >= 1 &&
         (size - HEAD_BYTES - HASH_BYTES) / CHUNK_BYTES == ret->count &&
         (size - HEAD_BYTES - HASH_BYTES) % CHUNK_BYTES == 0;
}

static bool fits_chunks(const file_summary *s, const uint64_t *starts, size_t count) {
  bool fits = s->count == count;
  for (size_t i = 0; i < count && fits; i++) {
    fits = s->first_rows[i] == starts[i] && s->minima[i] <= s->maxima[i];
  }
  return fits;
}

/* The summary in a buffer that begins like one. */
static glv_status read_summary(file_reader *r, str bytes, uint32_t column, arena *a,
                               file_summary *ret, bool *ret_trusted, glv_error *err) {
  const unsigned char *p = (const unsigned char *)bytes.data;
  file_summary s = {0};
  *ret_trusted = false;
  if (!read_head(p, bytes.size, column, &s) || s.rows != file_reader_rows(r)) {
    return GLV_OK;
  }
  uint64_t *numbers = ARENA_ARRAY(a, uint64_t, s.count * 3);
  if (numbers == NULL) {
    return error_nomem(err, s.count * CHUNK_BYTES);
  }
  memcpy(numbers, p + HEAD_BYTES, s.count * CHUNK_BYTES); /* only little-endian machines */
  s.first_rows = numbers;
  s.minima = numbers + s.count;
  s.maxima = numbers + 2 * s.count;
  const uint64_t *starts = NULL;
  size_t count = 0;
  TRY(file_reader_chunks(r, column, a, &starts, &count, err));
  *ret_trusted = fits_chunks(&s, starts, count);
  *ret = s;
  return GLV_OK;
}

/* Bytes of the largest summary that a file of so many rows can have. */
static size_t largest(uint64_t rows) {
  return HEAD_BYTES + HASH_BYTES + (size_t)u64_min(rows, UINT32_MAX) * CHUNK_BYTES;
}

glv_status view_summary_find(file_reader *r, const char *name, uint32_t column, arena *a,
                             file_summary *ret, bool *ret_found, glv_error *err) {
  *ret_found = false;
  const uint32_t count = file_reader_global_count(r);
  for (uint32_t i = 1; i < count && !*ret_found; i++) {
    CLEANUP(buffer_cleanup) buffer *b = NULL;
    const glv_status status = file_reader_global(r, i, largest(file_reader_rows(r)), &b, err);
    if (status == GLV_E_LIMIT) {
      continue; /* somebody else's */
    }
    TRY(status);
    const str bytes = str_slice((const char *)b->data, b->size);
    if (!is_summary(bytes)) {
      continue;
    }
    TRY(read_summary(r, bytes, column, a, ret, ret_found, err));
    if (!*ret_found) {
      env_log(a->env, GLV_LOG_WARNING,
              "data file '%s': its provenance summary does not fit; ignored", name);
    }
  }
  return GLV_OK;
}
