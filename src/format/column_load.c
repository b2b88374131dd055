/*
 * The metadata of one column: its pages, where their buffers are, and which rows they hold. All
 * offsets and sizes are checked against the file here, so that later code may trust extents. In
 * version 2.0 the children of lists have rows of their own, so the number of rows is checked when
 * it is known.
 */
#include <stdio.h>

#include "base/limits.h"
#include "format/file_reader_private.h"
#include "format/old_encoding.h"
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

/* The lists of offsets and sizes of a message. */
typedef struct buffer_lists {
  const uint64_t *offsets;
  size_t offset_count;
  const uint64_t *sizes;
  size_t size_count;
} buffer_lists;

/* what: "Column 1", "Column 1 page 2". */
static glv_status read_buffers(const file_reader *r, arena *a, const buffer_lists *l,
                               const char *what, const extent **ret, size_t *ret_count,
                               glv_error *err) {
  if (l->offset_count != l->size_count) {
    return FAIL(err, GLV_E_CORRUPT, "%s has %zu buffer offsets but %zu buffer sizes", what,
                l->offset_count, l->size_count);
  }
  extent *buffers = ARENA_ARRAY(a, extent, l->offset_count + 1);
  if (buffers == NULL) {
    return error_nomem(err, l->offset_count * sizeof *buffers);
  }
  for (size_t i = 0; i < l->offset_count; i++) {
    const extent e = {l->offsets[i], l->sizes[i]};
    if (e.offset % BUFFER_ALIGN != 0 && r->footer.version != FORMAT_2_0) {
      return FAIL(err, GLV_E_CORRUPT, "%s buffer offset %llu is not aligned to 64 bytes", what,
                  (unsigned long long)e.offset);
    }
    if (!range_within(e.offset, e.size, r->size)) {
      return FAIL(err, GLV_E_CORRUPT, "%s buffer %zu does not lie in the file", what, i);
    }
    buffers[i] = e;
  }
  *ret = buffers;
  *ret_count = l->offset_count;
  return GLV_OK;
}

static const char *page_encoding(format_version v) {
  return v == FORMAT_2_0 ? "lance.encodings.ArrayEncoding" : "lance.encodings21.PageLayout";
}

static glv_status read_page(const file_reader *r, arena *a, const Lance__File__V2__Page *m,
                            uint32_t column, size_t number, page_place *ret, glv_error *err) {
  char what[64];
  snprintf(what, sizeof what, "Column %u page %zu", column, number);
  const buffer_lists l = {m->buffer_offsets, m->n_buffer_offsets, m->buffer_sizes,
                          m->n_buffer_sizes};
  TRY(read_buffers(r, a, &l, what, &ret->buffers, &ret->buffer_count, err));
  const Lance__File__Any *any = NULL;
  TRY(direct_message(a, m->encoding, what, &any, err));
  if (!is_url(any->type_url, page_encoding(r->footer.version))) {
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

/* First items of the pages of a list; NULL for other columns. */
static glv_status count_items(arena *a, const page_place *places, size_t count,
                              const uint64_t **ret, glv_error *err) {
  CLEANUP(arena_dispose) arena temporary;
  arena_init_small(&temporary, a->env);
  uint64_t *items = NULL;
  for (size_t i = 0; i < count; i++) {
    uint64_t own = 0;
    bool is_list = false;
    TRY(old_encoding_items(&temporary, places[i].layout, &is_list, &own, err));
    arena_reset_to(&temporary, (arena_mark){0});
    if (!is_list) {
      return GLV_OK; /* and a page of lists after others will be refused for its type */
    }
    if (items == NULL) {
      items = ARENA_ARRAY(a, uint64_t, count + 1);
    }
    if (items == NULL) {
      return error_nomem(err, count * sizeof *items);
    }
    if (!u64_add(items[i], own, &items[i + 1])) {
      return FAIL(err, GLV_E_CORRUPT, "the lists claim to have more than 2^64 items");
    }
  }
  *ret = items;
  return GLV_OK;
}

/* What only files of version 2.0 have: buffers of the column and the file, items of lists in other
 * columns. */
static glv_status read_old(const file_reader *r, column_state *c,
                           const Lance__File__V2__ColumnMetadata *m, uint32_t column,
                           page_place *places, glv_error *err) {
  char what[64];
  snprintf(what, sizeof what, "Column %u", column);
  const buffer_lists l = {m->buffer_offsets, m->n_buffer_offsets, m->buffer_sizes,
                          m->n_buffer_sizes};
  const extent *buffers = NULL;
  size_t count = 0;
  TRY(read_buffers(r, &c->memory, &l, what, &buffers, &count, err));
  for (size_t i = 0; i < c->page_count; i++) {
    places[i].column_buffers = buffers;
    places[i].column_buffer_count = count;
    places[i].file_buffers = r->globals;
    places[i].file_buffer_count = r->footer.global_count;
  }
  return count_items(&c->memory, places, c->page_count, &c->items, err);
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
  c->places = places;
  c->starts = starts;
  c->page_count = m->n_pages;
  return r->footer.version == FORMAT_2_0 ? read_old(r, c, m, column, places, err) : GLV_OK;
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
