/**
 * @file tables.h
 * Small tables for the tests of this module: rows by number, scans into arrays, files of a table
 * rewritten by hand.
 *
 * Columns: id int64 not null = the number of the row, text utf8 = "t<number>", null when the number
 * is a multiple of 7.
 */
#ifndef GLAIVE_TESTS_TABLES_H
#define GLAIVE_TESTS_TABLES_H

#include <stdio.h>

#include "arrow/builder.h"
#include "arrow/cdata.h"
#include "base/checked.h"
#include "pb/lance_table.pb-c.h"
#include "pb/lance_transaction.pb-c.h"
#include "pb/pb.h"
#include "support/cmocka.h"
#include "support/test_env.h"
#include "table/commit.h"
#include "table/scan.h"
#include "table/table.h"
#include "table/write.h"

#define UNUSED __attribute__((unused))

#define OK(call)                                                                                   \
  do {                                                                                             \
    glv_error ok_error = {0};                                                                      \
    glv_error *err = &ok_error;                                                                    \
    if ((call) != GLV_OK) {                                                                        \
      fail_msg("%s: %s", error_name(ok_error.code), ok_error.message);                             \
    }                                                                                              \
  } while (0)

/* call must give status, with `part` in its message. */
#define EXPECT(status, part, call)                                                                 \
  do {                                                                                             \
    glv_error expect_error = {0};                                                                  \
    glv_error *err = &expect_error;                                                                \
    assert_int_equal((call), (status));                                                            \
    assert_int_equal(expect_error.code, (status));                                                 \
    if (strstr(expect_error.message, (part)) == NULL) {                                            \
      fail_msg("no '%s' in: %s", (part), expect_error.message);                                    \
    }                                                                                              \
  } while (0)

UNUSED static schema *make_schema(glv_env *env) {
  const field fields[] = {{.name = "id", .type = type_simple(TYPE_INT64)},
                          {.name = "text", .type = type_simple(TYPE_UTF8), .nullable = true}};
  schema *s;
  OK(schema_new(env, fields, 2, (metadata){0}, &s, err));
  return s;
}

/* Rows first .. first + count - 1 as batches of at most batch_rows. */
UNUSED static batch_reader make_rows(glv_env *env, int64_t first, size_t count, size_t batch_rows) {
  schema *s = make_schema(env);
  batch batches[64] = {0};
  size_t batch_count = 0;
  for (size_t done = 0; done < count; batch_count++) {
    const size_t part = count - done < batch_rows ? count - done : batch_rows;
    builder ids;
    builder texts;
    builder_init(&ids, env, s->fields[0].type);
    builder_init(&texts, env, s->fields[1].type);
    for (size_t i = 0; i < part; i++) {
      const int64_t id = first + (int64_t)(done + i);
      char text[32];
      snprintf(text, sizeof text, "t%lld", (long long)id);
      OK(builder_append_fixed(&ids, &id, err));
      if (id % 7 == 0) {
        OK(builder_append_null(&texts, err));
      } else {
        OK(builder_append_str(&texts, str_of(text), err));
      }
    }
    assert_true(batch_count < 64);
    batch *b = &batches[batch_count];
    OK(batch_new(env, s, part, 2, b, err));
    OK(builder_finish(&ids, &b->columns[0], err));
    OK(builder_finish(&texts, &b->columns[1], err));
    builder_dispose(&ids);
    builder_dispose(&texts);
    done += part;
  }
  batch_reader r;
  OK(batch_reader_of(env, s, batches, batch_count, &r, err));
  for (size_t i = 0; i < batch_count; i++) {
    batch_dispose(&batches[i]);
  }
  schema_unref(s);
  return r;
}

UNUSED static table_snapshot *create_rows(glv_env *env, const char *path, int64_t first,
                                          size_t count, bool stable) {
  batch_reader r = make_rows(env, first, count, 1000);
  schema *s = schema_ref(r.schema);
  const create_options o = {.no_stable_row_ids = !stable};
  table_snapshot *t;
  OK(table_create(env, path, "t", s, &r, &o, &t, err));
  schema_unref(s);
  return t;
}

/* Replaces *t by the version after an append. */
UNUSED static void append_rows(table_snapshot **t, int64_t first, size_t count) {
  batch_reader r = make_rows(table_env(*t), first, count, 1000);
  table_snapshot *next;
  OK(table_append(*t, &r, NULL, &next, NULL, err));
  table_unref(*t);
  *t = next;
}

/* Up to `room` rows of a reader: column 0 as int64 or uint64 into ids; checks that the text fits
 * the number when column 1 is the text column. @return the rows found. */
UNUSED static size_t read_ids(batch_reader *r, int64_t *ids, size_t room) {
  size_t found = 0;
  for (;;) {
    batch b = {0};
    bool at_end = false;
    OK(r->next(r->state, &b, &at_end, err));
    if (at_end) {
      break;
    }
    assert_true(b.length > 0);
    for (size_t i = 0; i < b.length; i++) {
      const int64_t id = ARRAY_VALUES(&b.columns[0], int64_t)[i];
      assert_true(found < room);
      ids[found++] = id;
      if (b.column_count > 1 && b.columns[1].type->kind == TYPE_UTF8) {
        char text[32];
        snprintf(text, sizeof text, "t%lld", (long long)id);
        assert_int_equal(array_is_valid(&b.columns[1], i), id % 7 != 0);
        if (id % 7 != 0) {
          assert_true(str_is(array_str(&b.columns[1], i), text));
        }
      }
    }
    batch_dispose(&b);
  }
  return found;
}

/* read_ids of a scan. */
UNUSED static size_t scan_ids(const table_snapshot *t, const scan_options *o, int64_t *ids,
                              size_t room) {
  batch_reader r;
  OK(table_scan(t, o, &r, err));
  const size_t found = read_ids(&r, ids, room);
  batch_reader_dispose(&r);
  return found;
}

UNUSED static void expect_ids(const table_snapshot *t, const scan_options *o, const int64_t *ids,
                              size_t count) {
  int64_t found[256];
  assert_int_equal(scan_ids(t, o, found, 256), count);
  assert_memory_equal(found, ids, count * sizeof *ids);
}
#define EXPECT_IDS(t, o, ...)                                                                      \
  expect_ids((t), (o), (const int64_t[]){__VA_ARGS__},                                             \
             sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* A column of a whole scan as numbers. */
UNUSED static size_t scan_numbers(const table_snapshot *t, const char *name, uint64_t *values,
                                  size_t room) {
  const scan_column column = {.name = str_of(name)};
  const scan_options o = {.columns = &column, .column_count = 1};
  return scan_ids(t, &o, (int64_t *)values, room);
}

/* Whole files. */
UNUSED static void read_file(glv_env *env, const char *path, buf *out) {
  buf_init(out, env, SIZE_MAX);
  OK(io_read_file(env, NULL, path, SIZE_MAX, out, err));
}
UNUSED static void write_file(glv_env *env, const char *folder, const char *name, const void *data,
                              size_t size) {
  void *dir;
  OK(io_make_dirs(env, folder, err));
  OK(io_dir_open(env, folder, &dir, err));
  (void)io_remove(env, dir, name, NULL);
  OK(io_write_file(env, dir, name, data, size, true, err));
  io_dir_close(env, dir);
}
UNUSED static void remove_file(glv_env *env, const char *folder, const char *name) {
  void *dir;
  OK(io_dir_open(env, folder, &dir, err));
  OK(io_remove(env, dir, name, err));
  io_dir_close(env, dir);
}

/* Rewrites the manifest of a version in place: edit may change the message, whose sections before
 * it stay. */
UNUSED static void edit_manifest(glv_env *env, const char *table, const char *name,
                                 void (*edit)(Lance__Table__Manifest *m, void *context),
                                 void *context) {
  char folder[200];
  char path[300];
  snprintf(folder, sizeof folder, "%s/_versions", table);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  buf old;
  read_file(env, path, &old);
  const size_t at = (size_t)load_le64(old.data + old.size - 16);
  arena a;
  arena_init(&a, env);
  ProtobufCMessage *message;
  const str body = str_slice(old.data + at + 4, load_le32(old.data + at));
  OK(pb_unpack(&a, body, &lance__table__manifest__descriptor, "m", &message, err));
  edit((Lance__Table__Manifest *)message, context);
  buf bytes;
  buf_init(&bytes, env, SIZE_MAX);
  OK(buf_append(&bytes, old.data, at + 4, err));
  OK(pb_pack(message, &bytes, err));
  store_le32(bytes.data + at, (uint32_t)(bytes.size - at - 4));
  OK(buf_append(&bytes, old.data + old.size - 16, 16, err));
  write_file(env, folder, name, bytes.data, bytes.size);
  buf_dispose(&bytes);
  buf_dispose(&old);
  arena_dispose(&a);
}

/* Names in a directory; 0 when it does not exist. */
UNUSED static size_t count_files(glv_env *env, const char *folder) {
  arena a;
  arena_init(&a, env);
  const char **names;
  size_t count = 0;
  glv_error err = {0};
  if (io_list_sorted(env, NULL, folder, &a, &names, NULL, &count, &err) != GLV_OK) {
    assert_true(io_is_missing(&err));
    count = 0;
  }
  arena_dispose(&a);
  return count;
}

#endif
