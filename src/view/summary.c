/*
 * Layout, all integers little-endian: magic "GLVP", u16 version 1, u16 flags (bit 0: the ids never
 * decrease), u32 column, u32 number of chunks C, u64 rows, C first rows, C minima, C maxima, XXH64
 * of everything before. LanceDB and pylance ignore buffers they do not know; correctness never
 * depends on them.
 */
#include "view/summary.h"

#include "base/checked.h"
#include "base/hash.h"

enum { HEAD_BYTES = 24, HASH_BYTES = 8, SUMMARY_VERSION = 1, FLAG_SORTED = 1 };

static void put_column(unsigned char *to, const uint64_t *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    store_le64(to + i * 8, values[i]);
  }
}

glv_status view_summary_write(const file_summary *s, uint32_t column, buf *out, glv_error *err) {
  const size_t size = HEAD_BYTES + s->count * 24 + HASH_BYTES;
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
