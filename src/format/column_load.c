/*
 * The metadata of one column: its pages, where their buffers are, and which rows they hold. All
 * offsets and sizes are checked against the file here, so that later code may trust extents.
 */
#include <stdio.h>

#include "base/limits.h"
#include "format/file_reader_private.h"
#include "pb/lance_file.pb-c.h"
#include "pb/lance_file_v2.pb-c.h"
#include "pb/pb.h"

enum { BUFFER_ALIGN = 64 };

/* The name of a message type: what follows the last slash. */
static bool is_url(const char *url, const char *name) {
  const char *slash = url != NULL ? strrchr(url, '/') : NULL;
  return url != NULL && strcmp(slash != NULL ? slash + 1 : url, name) == 0;
}

/* The Any inside a direct encoding. */
static glv_status direct_message(arena *a, const Lance__File__V2__Encoding *e, const char *what,
                                 const Lance__File__Any **ret, glv_error *err) {
  if (e == NULL || e->location_case == LANCE__FILE__V2__ENCODING__LOCATION__NOT_SET) {
    return FAIL(err, GLV_E_CORRUPT, "%s is missing its encoding", what);
  }
  if (e->location_case != LANCE__FILE__V2__ENCODING__LOCATION_DIRECT) {
    return FAIL(err, GLV_E_UNSUPPORTED, "%s: Indirect file encodings are not supported", what);
  }
  ProtobufCMessage *m = NULL;
  const ProtobufCBinaryData bytes = e->direct->encoding;
  TRY(pb_unpack(a, str_slice((const char *)bytes.data, bytes.len), &lance__file__any__descriptor,
                what, &m, err));
  *ret = (const Lance__File__Any *)m;
  return GLV_OK;
}

static glv_status check_column_encoding(arena *a, const Lance__File__V2__ColumnMetadata *m,
                                        uint32_t column, glv_error *err) {
  char what[64];
  snprintf(what, sizeof what, "Column %u", column);
  const Lance__File__Any *any = NULL;
  TRY(direct_message(a, m->encoding, what, &any, err));
  if (!is_url(any->type_url, "lance.encodings.ColumnEncoding")) {
    return FAIL(err, GLV_E_UNSUPPORTED, "Column %u has an unknown encoding", column);
  }
  return GLV_OK;
}

static glv_status read_buffers(const file_reader *r, arena *a, const Lance__File__V2__Page *m,
                               uint32_t column, size_t number, page_place *ret, glv_error *err) {
  if (m->n_buffer_offsets != m->n_buffer_sizes) {
    return FAIL(err, GLV_E_CORRUPT,
                "Column %u page %zu has %zu buffer offsets but %zu buffer sizes", column, number,
                m->n_buffer_offsets, m->n_buffer_sizes);
  }
  extent *buffers = ARENA_ARRAY(a, extent, m->n_buffer_offsets + 1);
  if (buffers == NULL) {
    return error_nomem(err, m->n_buffer_offsets * sizeof *buffers);
  }
  for (size_t i = 0; i < m->n_buffer_offsets; i++) {
    const extent e = {m->buffer_offsets[i], m->buffer_sizes[i]};
    if (e.offset % BUFFER_ALIGN != 0) {
      return FAIL(err, GLV_E_CORRUPT,
                  "Column %u page %zu buffer offset %llu is not aligned to 64 bytes", column,
                  number, (unsigned long long)e.offset);
    }
    if (!range_within(e.offset, e.size, r->size)) {
      return FAIL(err, GLV_E_CORRUPT, "Column %u page %zu buffer %zu does not lie in the file",
                  column, number, i);
    }
    buffers[i] = e;
  }
  ret->buffers = buffers;
  ret->buffer_count = m->n_buffer_offsets;
  return GLV_OK;
}

static glv_status read_page(const file_reader *r, arena *a, const Lance__File__V2__Page *m,
                            uint32_t column, size_t number, page_place *ret, glv_error *err) {
  char what[64];
  snprintf(what, sizeof what, "Column %u page %zu", column, number);
  TRY(read_buffers(r, a, m, column, number, ret, err));
  const Lance__File__Any *any = NULL;
  TRY(direct_message(a, m->encoding, what, &any, err));
  if (!is_url(any->type_url, "lance.encodings21.PageLayout")) {
    return FAIL(err, GLV_E_UNSUPPORTED, "%s has the unknown encoding %s", what,
                any->type_url != NULL ? any->type_url : "");
  }
  if (m->length > UINT32_MAX) {
    return FAIL(err, GLV_E_CORRUPT, "%s claims to hold %llu rows", what,
                (unsigned long long)m->length);
  }
  ret->rows = m->length;
  ret->layout = str_slice((const char *)any->value.data, any->value.len);
  return GLV_OK;
}

static glv_status read_pages(const file_reader *r, column_state *c,
                             const Lance__File__V2__ColumnMetadata *m, uint32_t column,
                             glv_error *err) {
  page_place *places = ARENA_ARRAY(&c->memory, page_place, m->n_pages + 1);
  uint64_t *starts = ARENA_ARRAY(&c->memory, uint64_t, m->n_pages + 1);
  c->cached = ARENA_ARRAY(&c->memory, cached_page, m->n_pages + 1);
  if (places == NULL || starts == NULL || c->cached == NULL) {
    return error_nomem(err, m->n_pages * sizeof *places);
  }
  for (size_t i = 0; i < m->n_pages; i++) {
    TRY(read_page(r, &c->memory, m->pages[i], column, i, &places[i], err));
    starts[i + 1] = starts[i] + places[i].rows; /* each fits into 32 bits */
  }
  if (starts[m->n_pages] != r->rows) {
    return FAIL(err, GLV_E_CORRUPT, "the pages of column %u hold %llu rows, the file %llu", column,
                (unsigned long long)starts[m->n_pages], (unsigned long long)r->rows);
  }
  c->places = places;
  c->starts = starts;
  c->page_count = m->n_pages;
  return GLV_OK;
}

glv_status column_load(file_reader *r, uint32_t column, column_state *c, glv_error *err) {
  const extent where = r->column_places[column];
  if (where.size > LIMIT_MANIFEST_BYTES) {
    return FAIL(err, GLV_E_LIMIT, "the metadata of column %u has %llu bytes", column,
                (unsigned long long)where.size);
  }
  const size_t size = (size_t)where.size;
  uint8_t *bytes = mem_alloc(r->env, size);
  if (bytes == NULL) {
    return error_nomem(err, size);
  }
  ProtobufCMessage *m = NULL;
  glv_status status = reader_bytes(r, where, bytes, err);
  if (status == GLV_OK) {
    status = pb_unpack(&c->memory, str_slice((const char *)bytes, size),
                       &lance__file__v2__column_metadata__descriptor, "column metadata", &m, err);
  }
  mem_free(r->env, bytes);
  TRY(status);
  const Lance__File__V2__ColumnMetadata *cm = (const Lance__File__V2__ColumnMetadata *)m;
  TRY(check_column_encoding(&c->memory, cm, column, err));
  return read_pages(r, c, cm, column, err);
}
