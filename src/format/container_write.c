/*
 * The container around the pages (lance-file-format 2):
 *
 *   pages, user global buffers | FileDescriptor | ColumnMetadata of each column | column table |
 *   global buffer table | footer of 40 bytes
 *
 * Pages, global buffers and the FileDescriptor begin at multiples of 64. What stands behind the
 * pages is put together in memory and written at once; it grows with the number of pages, not of
 * rows.
 */
#include "format/file_writer_private.h"
#include "io/io.h"
#include "pb/lance_file.pb-c.h"
#include "pb/lance_file_v2.pb-c.h"
#include "pb/pb.h"

enum { FOOTER_BYTES = 40, TABLE_ENTRY = 16, MAGIC = 0x434E414C /* LANC */ };

glv_status container_write(file_writer *w, const void *data, size_t size, glv_error *err) {
  if (size == 0) {
    return GLV_OK;
  }
  TRY(io_write(w->env, w->file, data, size, err));
  w->position += size;
  return GLV_OK;
}

glv_status container_align(file_writer *w, glv_error *err) {
  uint8_t gap[PAGE_ALIGN];
  memset(gap, PAGE_FILLER, sizeof gap);
  return container_write(w, gap, (size_t)(align_up(w->position, PAGE_ALIGN) - w->position), err);
}

/* What stands behind the pages. */
struct tail {
  file_writer *w;
  arena scratch;
  buf bytes; /* begins at w->position */
  file_range descriptor;
  uint64_t columns_at;
  uint64_t column_table_at;
  uint64_t global_table_at;
};

static void tail_dispose(struct tail *t) {
  arena_dispose(&t->scratch);
  buf_dispose(&t->bytes);
}

static uint64_t tail_position(const struct tail *t) { return t->w->position + t->bytes.size; }

/* ---- schema ---- */

static glv_status add_descriptor(struct tail *t, glv_error *err) {
  Lance__File__Schema stored;
  Lance__File__FileDescriptor descriptor;
  lance__file__schema__init(&stored);
  lance__file__file_descriptor__init(&descriptor);
  TRY(lance_schema_to_messages(&t->scratch, t->w->schema, &stored.fields, &stored.n_fields, err));
  descriptor.schema = &stored;
  descriptor.length = t->w->rows;
  t->descriptor.offset = tail_position(t);
  TRY(pb_pack(&descriptor.base, &t->bytes, err));
  t->descriptor.size = tail_position(t) - t->descriptor.offset;
  return GLV_OK;
}

/* ---- columns ---- */

/* A copy that a message may point to. */
static glv_status copy_bytes(arena *a, str from, ProtobufCBinaryData *ret, glv_error *err) {
  ret->len = from.size;
  ret->data = arena_alloc(a, from.size);
  if (ret->data == NULL) {
    return error_nomem(err, from.size);
  }
  memcpy(ret->data, from.data, from.size);
  return GLV_OK;
}

/* An encoding whose Any is given by name and bytes. */
static glv_status make_encoding(arena *a, char *url, str value, Lance__File__V2__Encoding **ret,
                                glv_error *err) {
  Lance__File__Any any;
  lance__file__any__init(&any);
  any.type_url = url;
  TRY(copy_bytes(a, value, &any.value, err));
  str packed;
  TRY(pb_pack_arena(a, &any.base, &packed, err));
  Lance__File__V2__Encoding *encoding = ARENA_NEW(a, Lance__File__V2__Encoding);
  Lance__File__V2__DirectEncoding *direct = ARENA_NEW(a, Lance__File__V2__DirectEncoding);
  if (encoding == NULL || direct == NULL) {
    return error_nomem(err, sizeof *encoding);
  }
  lance__file__v2__encoding__init(encoding);
  lance__file__v2__direct_encoding__init(direct);
  TRY(copy_bytes(a, packed, &direct->encoding, err));
  encoding->location_case = LANCE__FILE__V2__ENCODING__LOCATION_DIRECT;
  encoding->direct = direct;
  *ret = encoding;
  return GLV_OK;
}

static glv_status make_page(arena *a, format_version version, page_record *p,
                            Lance__File__V2__Page **ret, glv_error *err) {
  char url[] = "/lance.encodings21.PageLayout";
  char old_url[] = "/lance.encodings.ArrayEncoding";
  Lance__File__V2__Page *page = ARENA_NEW(a, Lance__File__V2__Page);
  if (page == NULL) {
    return error_nomem(err, sizeof *page);
  }
  lance__file__v2__page__init(page);
  page->buffer_offsets = p->offsets;
  page->buffer_sizes = p->sizes;
  page->n_buffer_offsets = page->n_buffer_sizes = p->buffer_count;
  page->length = p->length;
  page->priority = p->first_row;
  *ret = page;
  return make_encoding(a, version == FORMAT_2_0 ? old_url : url, p->layout, &page->encoding, err);
}

static glv_status add_column(struct tail *t, column_writer *c, glv_error *err) {
  char url[] = "/lance.encodings.ColumnEncoding";
  const arena_mark mark = arena_mark_get(&t->scratch);
  Lance__File__V2__ColumnMetadata column;
  lance__file__v2__column_metadata__init(&column);
  TRY(make_encoding(&t->scratch, url, str_slice("\x0a\x00", 2), &column.encoding, err));
  column.pages = ARENA_ARRAY(&t->scratch, Lance__File__V2__Page *, c->page_count);
  if (column.pages == NULL) {
    return error_nomem(err, c->page_count * sizeof(void *));
  }
  for (size_t i = 0; i < c->page_count; i++) {
    TRY(make_page(&t->scratch, t->w->version, &c->pages[i], &column.pages[i], err));
  }
  column.n_pages = c->page_count;
  TRY(pb_pack(&column.base, &t->bytes, err));
  arena_reset_to(&t->scratch, mark);
  return GLV_OK;
}

/* ---- tables and footer ---- */

static glv_status add_range(struct tail *t, file_range range, glv_error *err) {
  uint8_t entry[TABLE_ENTRY];
  store_le64(entry, range.offset);
  store_le64(entry + 8, range.size);
  return buf_append(&t->bytes, entry, sizeof entry, err);
}

static glv_status add_columns(struct tail *t, glv_error *err) {
  file_writer *w = t->w;
  file_range *ranges = ARENA_ARRAY(&t->scratch, file_range, w->column_count);
  if (ranges == NULL) {
    return error_nomem(err, w->column_count * sizeof *ranges);
  }
  t->columns_at = tail_position(t);
  for (size_t i = 0; i < w->column_count; i++) {
    ranges[i].offset = tail_position(t);
    TRY(add_column(t, &w->columns[i], err));
    ranges[i].size = tail_position(t) - ranges[i].offset;
  }
  t->column_table_at = tail_position(t);
  for (size_t i = 0; i < w->column_count; i++) {
    TRY(add_range(t, ranges[i], err));
  }
  return GLV_OK;
}

static glv_status add_globals(struct tail *t, glv_error *err) {
  t->global_table_at = tail_position(t);
  TRY(add_range(t, t->descriptor, err));
  for (size_t i = 0; i < t->w->global_count; i++) {
    TRY(add_range(t, t->w->globals[i], err));
  }
  return GLV_OK;
}

static glv_status add_footer(struct tail *t, glv_error *err) {
  uint8_t footer[FOOTER_BYTES];
  store_le64(footer, t->columns_at);
  store_le64(footer + 8, t->column_table_at);
  store_le64(footer + 16, t->global_table_at);
  store_le32(footer + 24, (uint32_t)t->w->global_count + 1);
  store_le32(footer + 28, (uint32_t)t->w->column_count);
  const bool is_old = t->w->version == FORMAT_2_0; /* has other numbers here than in manifests */
  store_le16(footer + 32, is_old ? 0 : (uint16_t)(t->w->version / 10));
  store_le16(footer + 34, is_old ? 3 : (uint16_t)(t->w->version % 10));
  store_le32(footer + 36, MAGIC);
  return buf_append(&t->bytes, footer, sizeof footer, err);
}

glv_status container_finish(file_writer *w, glv_error *err) {
  TRY(container_align(w, err));
  CLEANUP(tail_dispose) struct tail t = {.w = w};
  arena_init(&t.scratch, w->env);
  buf_init(&t.bytes, w->env, SIZE_MAX / 2);
  TRY(add_descriptor(&t, err));
  TRY(add_columns(&t, err));
  TRY(add_globals(&t, err));
  TRY(add_footer(&t, err));
  return container_write(w, t.bytes.data, t.bytes.size, err);
}
