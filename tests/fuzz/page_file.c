#include "page_file.h"

#include <stdio.h>

#include "format/file_writer.h"
#include "io/io.h"
#include "one_file.h"
#include "pb/lance_file.pb-c.h"
#include "pb/lance_file_v2.pb-c.h"
#include "pb/pb.h"

enum {
  ALIGN = 64,
  MOST_PAGES = 3,
  MOST_BUFFERS = 8,
  MOST_COLUMNS = 64,
  LAYOUTS = 4, /* of PageLayout */
  FOOTER_BYTES = 40,
  MOST_EDITS = 8,
  MOST_FILE = 1 << 24
};

static void put(buf *out, const void *data, size_t size) {
  glv_error err;
  require(buf_append(out, data, size, &err) == GLV_OK);
}

static void put_number(buf *out, uint64_t number, size_t width) { put(out, &number, width); }

static void align(buf *out) {
  glv_error err;
  require(buf_append_fill(out, 0, (ALIGN - out->size % ALIGN) % ALIGN, &err) == GLV_OK);
}

/* ---- messages ---- */

static ProtobufCBinaryData binary(str bytes) {
  return (ProtobufCBinaryData){bytes.size, (uint8_t *)(uintptr_t)bytes.data};
}

static str packed(arena *a, const ProtobufCMessage *m) {
  str ret;
  glv_error err;
  require(pb_pack_arena(a, m, &ret, &err) == GLV_OK);
  return ret;
}

static Lance__File__V2__Encoding *encoding(arena *a, const char *url, str value) {
  Lance__File__Any any;
  lance__file__any__init(&any);
  any.type_url = (char *)(uintptr_t)url;
  any.value = binary(value);
  Lance__File__V2__Encoding *e = ARENA_NEW(a, Lance__File__V2__Encoding);
  Lance__File__V2__DirectEncoding *direct = ARENA_NEW(a, Lance__File__V2__DirectEncoding);
  require(e != NULL && direct != NULL);
  lance__file__v2__encoding__init(e);
  lance__file__v2__direct_encoding__init(direct);
  direct->encoding = binary(packed(a, &any.base));
  e->location_case = LANCE__FILE__V2__ENCODING__LOCATION_DIRECT;
  e->direct = direct;
  return e;
}

/* ---- pages from the input ---- */

/* The message of a page: as it is, or as that member of a PageLayout. */
static str take_message(arena *a, stream *s, unsigned layout, size_t size) {
  const str inner = take_bytes(s, size);
  uint8_t *bytes = arena_alloc(a, inner.size + 4);
  require(bytes != NULL);
  size_t at = 0;
  if (layout != 0) {
    bytes[at++] = (uint8_t)(layout << 3 | PB_BYTES);
    bytes[at++] = (uint8_t)(inner.size & 127) | 128;
    bytes[at++] = (uint8_t)(inner.size >> 7 & 127) | 128;
    bytes[at++] = (uint8_t)(inner.size >> 14);
  }
  memcpy(bytes + at, inner.data, inner.size);
  return str_slice((const char *)bytes, at + inner.size);
}

static Lance__File__V2__Page *take_page(arena *a, format_version version, stream *s, buf *out) {
  Lance__File__V2__Page *p = ARENA_NEW(a, Lance__File__V2__Page);
  uint64_t *numbers = ARENA_ARRAY(a, uint64_t, 2 * MOST_BUFFERS);
  require(p != NULL && numbers != NULL);
  lance__file__v2__page__init(p);
  p->length = take_u16(s);
  const unsigned layout = version == FORMAT_2_0 ? 0 : take_byte(s) % (LAYOUTS + 1);
  const size_t message_size = take_u16(s);
  p->buffer_offsets = numbers;
  p->buffer_sizes = numbers + MOST_BUFFERS;
  p->n_buffer_offsets = p->n_buffer_sizes = take_byte(s) % (MOST_BUFFERS + 1);
  for (size_t i = 0; i < p->n_buffer_sizes; i++) {
    p->buffer_sizes[i] = take_u16(s);
  }
  const str message = take_message(a, s, layout, message_size);
  const bool is_old = version == FORMAT_2_0;
  p->encoding = encoding(
      a, is_old ? "/lance.encodings.ArrayEncoding" : "/lance.encodings21.PageLayout", message);
  for (size_t i = 0; i < p->n_buffer_sizes; i++) {
    const str bytes = take_bytes(s, p->buffer_sizes[i]);
    align(out);
    p->buffer_offsets[i] = out->size;
    p->buffer_sizes[i] = bytes.size;
    put(out, bytes.data, bytes.size);
  }
  return p;
}

static str take_column(arena *a, format_version version, uint64_t rows, stream *s, buf *out) {
  Lance__File__V2__ColumnMetadata m;
  lance__file__v2__column_metadata__init(&m);
  m.encoding = encoding(a, "/lance.encodings.ColumnEncoding", str_slice("\x0a\0", 2));
  m.n_pages = 1 + take_byte(s) % MOST_PAGES;
  Lance__File__V2__Page *pages[MOST_PAGES];
  m.pages = pages;
  for (size_t i = 0; i < m.n_pages; i++) {
    pages[i] = take_page(a, version, s, out);
    if (version != FORMAT_2_0) {
      const bool is_last = i + 1 == m.n_pages;
      pages[i]->length = is_last ? rows : u64_min(pages[i]->length, rows);
      rows -= pages[i]->length;
    }
  }
  if (version == FORMAT_2_0) { /* a page may refer to buffers of its column */
    m.n_buffer_offsets = m.n_buffer_sizes = pages[0]->n_buffer_sizes;
    m.buffer_offsets = pages[0]->buffer_offsets;
    m.buffer_sizes = pages[0]->buffer_sizes;
  }
  return packed(a, &m.base);
}

static str descriptor(arena *a, const lance_schema *schema, uint64_t rows) {
  Lance__File__Schema stored;
  Lance__File__FileDescriptor d;
  lance__file__schema__init(&stored);
  lance__file__file_descriptor__init(&d);
  glv_error err;
  require(lance_schema_to_messages(a, schema, &stored.fields, &stored.n_fields, &err) == GLV_OK);
  d.schema = &stored;
  d.length = rows;
  return packed(a, &d.base);
}

void page_file_of_parts(glv_env *env, const lance_schema *schema, format_version version,
                        uint64_t rows, stream *s, buf *ret) {
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  const size_t count = size_min(lance_schema_columns(schema, version, NULL, 0), MOST_COLUMNS);
  str columns[MOST_COLUMNS];
  for (size_t i = 0; i < count; i++) {
    columns[i] = take_column(&a, version, rows, s, ret);
  }
  align(ret);
  const uint64_t global = ret->size;
  const str first = descriptor(&a, schema, rows);
  put(ret, first.data, first.size);
  const uint64_t columns_at = ret->size;
  uint64_t at = columns_at;
  for (size_t i = 0; i < count; i++) {
    put(ret, columns[i].data, columns[i].size);
  }
  const uint64_t table_at = ret->size;
  for (size_t i = 0; i < count; at += columns[i++].size) {
    put_number(ret, at, 8);
    put_number(ret, columns[i].size, 8);
  }
  const uint64_t globals_at = ret->size;
  put_number(ret, global, 8);
  put_number(ret, first.size, 8);
  put_number(ret, columns_at, 8);
  put_number(ret, table_at, 8);
  put_number(ret, globals_at, 8);
  put_number(ret, 1, 4);
  put_number(ret, count, 4);
  put_number(ret, (uint64_t)version / 10, 2);
  put_number(ret, (uint64_t)version % 10, 2);
  put(ret, "LANC", 4);
}

/* ---- pages of our own ---- */

static glv_status write_values(glv_env *env, void *dir, const lance_schema *schema,
                               const file_writer_options *options, const array *values,
                               glv_error *err) {
  file_writer *w;
  TRY(file_writer_new(env, dir, "x", schema, options, &w, err));
  const size_t cuts[] = {0, values->length / 3, values->length};
  glv_status status = GLV_OK;
  for (size_t i = 0; i < 2 && status == GLV_OK; i++) {
    array part = array_slice(values, cuts[i], cuts[i + 1] - cuts[i]);
    const batch b = {.length = part.length, .columns = &part, .column_count = 1};
    status = file_writer_write(w, &b, err);
    array_unref(&part);
  }
  if (status != GLV_OK) {
    file_writer_discard(w);
    return status;
  }
  file_written written;
  return file_writer_finish(w, &written, err);
}

bool page_file_of_values(const lance_schema *schema, format_version version, const array *values,
                         uint64_t page_bytes, buf *ret) {
  io_mem *store;
  glv_error err;
  require(io_mem_new(ret->env, &store, &err) == GLV_OK);
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.io = io_mem_table(store);
  options.threads = 1;
  glv_env *env;
  void *dir = NULL;
  require(env_new(&options, &env, &err) == GLV_OK);
  require(io_make_dirs(env, "/d", &err) == GLV_OK && io_dir_open(env, "/d", &dir, &err) == GLV_OK);
  const file_writer_options how = {
      .version = version, .page_bytes = page_bytes, .summary_leaf = SIZE_MAX};
  const glv_status status = write_values(env, dir, schema, &how, values, &err);
  require(status == GLV_OK || status == GLV_E_UNSUPPORTED || status == GLV_E_SCHEMA);
  if (status == GLV_OK) {
    require(io_read_file(env, dir, "x", MOST_FILE, ret, &err) == GLV_OK);
  }
  io_dir_close(env, dir);
  env_unref(env);
  io_mem_free(store);
  return status == GLV_OK;
}

void page_file_damage(buf *file, stream *s) {
  const uint8_t *footer = (const uint8_t *)file->data + file->size - FOOTER_BYTES;
  const uint64_t columns_at = load_le64(footer);
  const uint64_t pages_end = load_le64((uint8_t *)file->data + load_le64(footer + 16));
  for (unsigned left = 1 + take_byte(s) % MOST_EDITS; left != 0; left--) {
    const unsigned how = take_byte(s);
    const uint64_t place = take_u16(s) | (uint64_t)take_byte(s) << 16;
    const uint64_t first = how & 1 ? columns_at : 0;
    const uint64_t end = how & 1 ? load_le64(footer + 8) : pages_end;
    if (end > first) {
      uint8_t *byte = (uint8_t *)file->data + first + place % (end - first);
      *byte = (uint8_t)(how & 2 ? *byte + take_byte(s) : take_byte(s));
    }
  }
}
