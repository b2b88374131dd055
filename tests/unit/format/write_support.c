#include "write_support.h"

#include <stdio.h>
#include <string.h>

#include "arrow/bits.h"
#include "arrow/builder.h"
#include "format/file_reader.h"
#include "pb/lance_file.pb-c.h"
#include "pb/lance_file_v2.pb-c.h"
#include "pb/pb.h"

/* ---- columns ---- */

static size_t make_text(rng *r, size_t i, enum column_values how, char *ret) {
  switch (how) {
  case VALUES_RANDOM:
    return (size_t)snprintf(ret, 1000, "%.*s%llx", (int)rng_below(r, 20), "some words in a line",
                            (unsigned long long)rng_next(r));
  case VALUES_SMALL:
    return (size_t)snprintf(ret, 1000, "word %u", (unsigned)rng_below(r, 5));
  case VALUES_SEQUENCE:
    return (size_t)snprintf(ret, 1000, "r%zu", i);
  case VALUES_EQUAL:
    return (size_t)snprintf(ret, 1000, "equal");
  case VALUES_LONG:
    break;
  }
  const size_t size = i % 3 == 0 ? 0 : (size_t)rng_below(r, 700);
  memset(ret, 'a' + (int)(i % 26), size);
  return size;
}

static uint64_t make_number(rng *r, size_t i, enum column_values how) {
  switch (how) {
  case VALUES_RANDOM:
  case VALUES_LONG:
    return rng_next(r);
  case VALUES_SMALL:
    return rng_below(r, 5);
  case VALUES_SEQUENCE:
    return i;
  case VALUES_EQUAL:
    break;
  }
  return 7;
}

static void append_value(builder *b, rng *r, size_t i, enum column_values how) {
  if (b->type->kind == TYPE_BOOL) {
    ASSERT_OK(builder_append_bool(b, how == VALUES_EQUAL || (make_number(r, i, how) & 1), &err));
  } else if (type_offset_width(b->type->kind) != 0) {
    char text[1000];
    const size_t size = make_text(r, i, how, text);
    ASSERT_OK(builder_append_str(b, str_slice(text, size), &err));
  } else {
    uint64_t words[64];
    for (size_t k = 0; k < 64; k++) {
      words[k] = make_number(r, i, how);
    }
    assert_true(type_width(b->type) <= sizeof words);
    ASSERT_OK(builder_append_fixed(b, words, &err));
  }
}

static array plain_column(glv_env *env, const type *t, size_t n, enum column_values how,
                          size_t null_every) {
  CLEANUP(builder_dispose) builder b;
  builder_init(&b, env, t);
  rng r = rng_of(n + (size_t)how);
  for (size_t i = 0; i < n; i++) {
    if (null_every != 0 && i % null_every == 0) {
      ASSERT_OK(builder_append_null(&b, &err));
    } else {
      append_value(&b, &r, i, how);
    }
  }
  array a;
  ASSERT_OK(builder_finish(&b, &a, &err));
  return a;
}

static array vector_column(glv_env *env, const type *t, size_t n, enum column_values how,
                           size_t null_every) {
  const size_t item_nulls = null_every > 1 ? null_every + 2 : 0;
  array a;
  ASSERT_OK(array_new_null(env, t, n, &a, &err));
  array_unref(&a.children[0]);
  a.children[0] = plain_column(env, t->children[0].type, n * (size_t)t->width, how, item_nulls);
  a.null_count = 0;
  for (size_t i = 0; i < n; i++) {
    const bool is_null = null_every != 0 && i % null_every == 0;
    bit_put(a.owners[0]->data, i, !is_null);
    a.null_count += is_null;
  }
  return a;
}

array column_new(glv_env *env, const type *t, size_t n, enum column_values how, size_t null_every) {
  return t->kind == TYPE_FIXED_SIZE_LIST ? vector_column(env, t, n, how, null_every)
                                         : plain_column(env, t, n, how, null_every);
}

array column_of_numbers(glv_env *env, const type *t, const char *prefix, const uint64_t *numbers,
                        size_t n) {
  CLEANUP(builder_dispose) builder b;
  builder_init(&b, env, t);
  for (size_t i = 0; i < n; i++) {
    char text[64];
    const int size = snprintf(text, sizeof text, "%s%llu", prefix, (unsigned long long)numbers[i]);
    ASSERT_OK(builder_append_str(&b, str_slice(text, (size_t)size), &err));
  }
  array a;
  ASSERT_OK(builder_finish(&b, &a, &err));
  return a;
}

pieces pieces_of(const array *a, const size_t *cuts, size_t count) {
  pieces p = {.count = count + 1};
  size_t first = 0;
  for (size_t i = 0; i <= count; i++) {
    const size_t end = i < count ? size_max(first, size_min(cuts[i], a->length)) : a->length;
    p.items[i] = array_slice(a, first, end - first);
    first = end;
  }
  return p;
}

void pieces_dispose(pieces *p) {
  for (size_t i = 0; i < p->count; i++) {
    array_unref(&p->items[i]);
  }
}

/* ---- files ---- */

glv_status write_column(glv_env *env, const char *path, const field *f, const array *a,
                        size_t count, const file_writer_options *options, file_written *ret,
                        glv_error *err) {
  char folder[128];
  const char *slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
  arena memory;
  arena_init(&memory, env);
  lance_schema *s = NULL;
  int32_t next_id = 0;
  void *dir = NULL;
  file_writer *w = NULL;
  const file_writer_options plain = {.summary_leaf = SIZE_MAX};
  glv_status status = lance_schema_from_arrow(&memory, f, 1, (metadata){0}, &next_id, &s, err);
  if (status == GLV_OK) {
    status = io_dir_open(env, folder, &dir, err);
  }
  if (status == GLV_OK) {
    status = file_writer_new(env, dir, slash + 1, s, options != NULL ? options : &plain, &w, err);
  }
  for (size_t i = 0; status == GLV_OK && i < count; i++) {
    array column = a[i];
    const batch b = {.length = a[i].length, .columns = &column, .column_count = 1};
    status = file_writer_write(w, &b, err);
  }
  if (status == GLV_OK) {
    status = file_writer_finish(w, ret, err);
  } else {
    file_writer_discard(w);
  }
  io_dir_close(env, dir);
  arena_dispose(&memory);
  return status;
}

/* What was written under null rows and items is not compared: arrays are equal all the same. */
static void compare(const array *got, const array *expected) {
  if (!array_equal(got, expected)) {
    fail_msg("%zu values of type %s are not what was written", expected->length,
             TYPE_TEXT(expected->type));
  }
}

/* A file that is compared with what was written to it. */
typedef struct comparison {
  test_env *t;
  file_reader *reader;
  field_place place;
  const array *all;
} comparison;

static void check_window(const comparison *c, size_t first, size_t count) {
  if (first + count > c->all->length) {
    return;
  }
  CLEANUP(array_unref) array got = {0};
  ASSERT_OK(file_reader_read_field(c->reader, &c->place, first, count, NULL, 0, &got, &err));
  CLEANUP(array_unref) array expected = array_slice(c->all, first, count);
  compare(&got, &expected);
}

static void check_rows(const comparison *c) {
  uint32_t rows[16];
  size_t count = 0;
  for (size_t row = 0; row < c->all->length && count < 16; row = row * 2 + 1) {
    rows[count++] = (uint32_t)row;
  }
  CLEANUP(array_unref) array got = {0};
  ASSERT_OK(
      file_reader_read_field(c->reader, &c->place, 0, c->all->length, rows, count, &got, &err));
  CLEANUP(array_unref) array expected = {0};
  ASSERT_OK(array_take(c->t->env, c->all, rows, count, &expected, &err));
  compare(&got, &expected);
}

static void check_file(comparison *c, const char *path) {
  const lance_schema *s;
  arena memory;
  arena_init(&memory, c->t->env);
  ASSERT_OK(file_reader_open(c->t->env, NULL, path, &c->reader, &err));
  ASSERT_OK(file_reader_schema(c->reader, &s, &err));
  ASSERT_OK(file_reader_place(c->reader, s, &s->fields[0], &memory, &c->place, &err));
  assert_int_equal(file_reader_rows(c->reader), c->all->length);
  check_window(c, 0, c->all->length);
  static const size_t windows[][2] = {{0, 1}, {1022, 4}, {4095, 2}, {500, 1100}, {17, 64}};
  for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
    check_window(c, windows[i][0], windows[i][1]);
  }
  check_rows(c);
  file_reader_unref(c->reader);
  arena_dispose(&memory);
}

void check_round_trip_as(test_env *t, format_version version, const field *f, const array *pieces,
                         size_t count) {
  const char *path = test_env_path(t, "x.lance");
  const file_writer_options options = {.version = version, .summary_leaf = SIZE_MAX};
  file_written written;
  ASSERT_OK(write_column(t->env, path, f, pieces, count, &options, &written, &err));
  CLEANUP(array_unref) array all = {0};
  ASSERT_OK(array_concat(t->env, pieces, count, &all, &err));
  assert_int_equal(written.rows, all.length);
  comparison c = {.t = t, .all = &all};
  check_file(&c, path);
  void *dir;
  ASSERT_OK(io_dir_open(t->env, t->root, &dir, &err));
  ASSERT_OK(io_remove(t->env, dir, "x.lance", &err));
  io_dir_close(t->env, dir);
}

void check_round_trip(test_env *t, const field *f, const array *pieces, size_t count) {
  check_round_trip_as(t, FORMAT_2_2, f, pieces, count);
}

/* ---- layouts ---- */

static layout_message *unpack_layout(arena *a, str bytes) {
  ProtobufCMessage *m;
  ASSERT_OK(pb_unpack(a, bytes, &lance__encodings21__page_layout__descriptor, "layout", &m, &err));
  return (layout_message *)m;
}

file_layouts layouts_of(test_env *t, const char *name, size_t column) {
  file_layouts l = {.count = 0};
  arena_init(&l.memory, t->env);
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, t->env, SIZE_MAX / 2);
  ASSERT_OK(io_read_file(t->env, NULL, test_env_path(t, name), UINT64_MAX, &bytes, &err));
  const char *footer = bytes.data + bytes.size - 40;
  const char *entry = bytes.data + load_le64(footer + 8) + column * 16;
  ProtobufCMessage *m;
  ASSERT_OK(pb_unpack(&l.memory, str_slice(bytes.data + load_le64(entry), load_le64(entry + 8)),
                      &lance__file__v2__column_metadata__descriptor, "column", &m, &err));
  const Lance__File__V2__ColumnMetadata *c = (void *)m;
  for (size_t i = 0; i < c->n_pages; i++) {
    const ProtobufCBinaryData packed = c->pages[i]->encoding->direct->encoding;
    ASSERT_OK(pb_unpack(&l.memory, str_slice((char *)packed.data, packed.len),
                        &lance__file__any__descriptor, "any", &m, &err));
    const Lance__File__Any *any = (void *)m;
    assert_string_equal(any->type_url, "/lance.encodings21.PageLayout");
    assert_true(l.count < 64);
    l.rows[l.count] = c->pages[i]->length;
    l.pages[l.count++] =
        unpack_layout(&l.memory, str_slice((char *)any->value.data, any->value.len));
  }
  return l;
}

void layouts_dispose(file_layouts *l) { arena_dispose(&l->memory); }

layout_message *encode_page(glv_env *env, const field *f, const array *pieces, size_t count,
                            page_output *ret) {
  page_output_init(ret, env);
  lance_schema *s;
  int32_t next_id = 0;
  leaf_column *columns;
  size_t column_count;
  ASSERT_OK(lance_schema_from_arrow(&ret->messages, f, 1, (metadata){0}, &next_id, &s, &err));
  ASSERT_OK(leaf_columns_of(&ret->messages, s, FORMAT_2_2, &columns, &column_count, &err));
  const page_leaf *leaf = &columns[0].leaf;
  page_input in = {.env = env, .leaf = leaf};
  in.runs = mem_calloc(env, count, sizeof *in.runs);
  assert_non_null(in.runs);
  for (size_t i = 0; i < count; i++) {
    array piece;
    ASSERT_OK(leaf_narrow(env, leaf, &pieces[i], &piece, &err));
    in.rows += piece.length * leaf->repeat;
    ASSERT_OK(page_run_init(env, leaf, &piece, &in.runs[in.run_count++], &err));
  }
  ASSERT_OK(page_input_finish(&in, &err));
  ASSERT_OK(page_encode(&in, ret, &err));
  page_input_dispose(&in);
  return unpack_layout(&ret->messages, buf_str(&ret->layout));
}
