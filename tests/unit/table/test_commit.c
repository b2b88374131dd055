/* What commits leave behind: ids, versions, flags, schema metadata, transactions, indexes; strict
 * commits; a table dropped or recreated meanwhile. */
#include "base/bitmap.h"
#include "table/bloom.h"
#include "table/deletion.h"
#include "table/row_ids.h"
#include "table/transaction.h"
#include "tables.h"

#define V1 "18446744073709551614.manifest"
#define V2 "18446744073709551613.manifest"

static void expect_numbers(const table_snapshot *t, const char *name, const uint64_t *values,
                           size_t count) {
  uint64_t found[256];
  assert_int_equal(scan_numbers(t, name, found, 256), count);
  assert_memory_equal(found, values, count * sizeof *values);
}
#define NUMBERS(t, name, ...)                                                                      \
  expect_numbers((t), (name), (const uint64_t[]){__VA_ARGS__},                                     \
                 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void test_append(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    test_env t;
    test_env_open(&t, store);
    table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 3, true);
    append_rows(&s, 3, 2);
    assert_int_equal(table_version(s), 2);
    assert_int_equal(table_live_rows(s), 5);
    assert_int_equal(table_next_row_id(s), 5);
    assert_int_equal(table_reader_flags(s), 2);
    assert_int_equal(table_writer_flags(s), 2);
    EXPECT_IDS(s, NULL, 0, 1, 2, 3, 4);
    NUMBERS(s, "_rowid", 0, 1, 2, 3, 4);
    NUMBERS(s, "_row_created_at_version", 1, 1, 1, 2, 2);
    NUMBERS(s, "_row_last_updated_at_version", 1, 1, 1, 2, 2);
    table_snapshot *old;
    OK(table_open_version(s, 1, &old, err));
    EXPECT_IDS(old, NULL, 0, 1, 2);
    table_unref(old);
    /* Rows appended to an old snapshot go on top of what came later. */
    OK(table_open_version(s, 1, &old, err));
    batch_reader r = make_rows(t.env, 5, 1, 1);
    table_snapshot *next;
    write_result result;
    OK(table_append(old, &r, NULL, &next, &result, err));
    assert_int_equal(result.rows, 1);
    assert_int_equal(result.attempts, 1);
    assert_int_equal(table_version(next), 3);
    EXPECT_IDS(next, NULL, 0, 1, 2, 3, 4, 5);
    table_unref(next);
    table_unref(old);
    table_unref(s);
    assert_int_equal(count_files(t.env, test_env_path(&t, "t/_versions")), 4); /* and the hint */
    assert_int_equal(count_files(t.env, test_env_path(&t, "t/_transactions")), 3);
    assert_int_equal(count_files(t.env, test_env_path(&t, "t/data")), 3);
    test_env_close(&t);
  }
}

static void test_append_nothing(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 0, true);
  assert_int_equal(table_live_rows(s), 0);
  size_t count;
  (void)table_fragments(s, &count);
  assert_int_equal(count, 0);
  batch_reader r = make_rows(t.env, 0, 0, 1);
  table_snapshot *same;
  write_result result;
  OK(table_append(s, &r, NULL, &same, &result, err));
  assert_ptr_equal(same, s);
  assert_int_equal(result.attempts, 0);
  table_unref(same);
  append_rows(&s, 10, 2);
  NUMBERS(s, "_rowid", 0, 1);
  NUMBERS(s, "_row_created_at_version", 2, 2);
  assert_int_equal(table_fragments(s, &count)->id, 0);
  table_unref(s);
  test_env_close(&t);
}

static void set_config(Lance__Table__Manifest *m, void *context) {
  static Lance__Table__StringEntry entry;
  static Lance__Table__StringEntry *list = &entry;
  (void)context;
  lance__table__string_entry__init(&entry);
  entry.key = (char *)(uintptr_t) "a.b";
  entry.value = (char *)(uintptr_t) "c";
  m->n_config = 1;
  m->config = &list;
}

/* Ids go on counting, the schema metadata is the new one, the configuration stays. */
static void test_overwrite(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  const char *root = test_env_path(&t, "t");
  table_unref(create_rows(t.env, root, 0, 3, true));
  edit_manifest(t.env, root, V1, set_config, NULL);
  table_snapshot *s;
  OK(table_open(t.env, root, "t", 0, &s, err));
  const field f = {.name = "other", .type = type_simple(TYPE_INT32), .nullable = true};
  const pair p = {STR("new"), STR("yes")};
  schema *columns;
  OK(schema_new(t.env, &f, 1, (metadata){&p, 1}, &columns, err));
  batch b;
  OK(batch_new(t.env, columns, 2, 1, &b, err));
  OK(array_new_null(t.env, columns->fields[0].type, 2, &b.columns[0], err));
  batch_reader r;
  OK(batch_reader_of(t.env, columns, &b, 1, &r, err));
  table_snapshot *next;
  OK(table_overwrite(s, &r, NULL, &next, NULL, err));
  assert_int_equal(table_version(next), 2);
  size_t count;
  const fragment *fragments = table_fragments(next, &count);
  assert_int_equal(count, 1);
  assert_int_equal(fragments[0].id, 1);
  NUMBERS(next, "_rowid", 3, 4);
  NUMBERS(next, "_row_created_at_version", 2, 2);
  assert_int_equal(table_next_row_id(next), 5);
  assert_int_equal(table_schema(next)->field_count, 1);
  assert_string_equal(table_schema(next)->fields[0].name, "other");
  assert_true(str_is(table_metadata_get(next, STR("new"), NULL), "yes"));
  assert_int_equal(table_config(next).count, 1);
  assert_int_equal(table_writer_flags(next), 2 | TABLE_FLAG_CONFIG);
  assert_int_equal(table_reader_flags(next), 2);
  batch_dispose(&b);
  schema_unref(columns);
  table_unref(next);
  table_unref(s);
  test_env_close(&t);
}

/* Adds to fragment 0 a data file whose fields are all replaced or unknown, and gives the first file
 * a hidden field. */
static void add_dead_file(Lance__Table__Manifest *m, void *context) {
  arena *a = context;
  ProtobufCMessage *message;
  OK(pb_unpack(a, str_slice((const char *)m->fragments[0].data, m->fragments[0].len),
               &lance__table__data_fragment__descriptor, "f", &message, err));
  Lance__Table__DataFragment *f = (Lance__Table__DataFragment *)message;
  static int32_t fields[] = {-2, 77};
  static int32_t columns[] = {0, 1};
  static Lance__Table__DataFile dead;
  static Lance__Table__DataFile *files[2];
  lance__table__data_file__init(&dead);
  dead.path = (char *)(uintptr_t) "gone.lance";
  dead.n_fields = dead.n_column_indices = 2;
  dead.fields = fields;
  dead.column_indices = columns;
  dead.file_major_version = 2;
  dead.file_minor_version = 2;
  files[0] = f->files[0];
  files[1] = &dead;
  f->files = files;
  f->n_files = 2;
  str packed;
  OK(pb_pack_arena(a, message, &packed, err));
  m->fragments[0] = (ProtobufCBinaryData){packed.size, (uint8_t *)(uintptr_t)packed.data};
}

/* Files without a live field are not read, and leave the fragment with the next commit. */
static void test_dead_file(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  arena a;
  arena_init(&a, t.env);
  const char *root = test_env_path(&t, "t");
  table_unref(create_rows(t.env, root, 0, 3, true));
  edit_manifest(t.env, root, V1, add_dead_file, &a);
  table_snapshot *s;
  OK(table_open(t.env, root, "t", 0, &s, err));
  assert_int_equal(table_fragment(s, 0)->file_count, 2);
  EXPECT_IDS(s, NULL, 0, 1, 2);
  append_rows(&s, 3, 1);
  assert_int_equal(table_fragment(s, 0)->file_count, 1);
  NUMBERS(s, "_rowid", 0, 1, 2, 3);
  table_unref(s);
  arena_dispose(&a);
  test_env_close(&t);
}

/* ---- the commit of a view: rows, deletions, removed fragments, filter and stamp in one version --
 */

static const bloom *token_filter(void) {
  static bloom b;
  memset(&b, 0, sizeof b);
  bloom_add_u64(&b, UINT64_MAX);
  return &b;
}

/* A table with the fragments 0: rows 0-3, 1: rows 4-6, 2: rows 7-9. */
static table_snapshot *three_fragments(test_env *t) {
  table_snapshot *s = create_rows(t->env, test_env_path(t, "t"), 0, 4, true);
  append_rows(&s, 4, 3);
  append_rows(&s, 7, 3);
  return s;
}

static void test_update(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    test_env t;
    test_env_open(&t, store);
    table_snapshot *s = three_fragments(&t);
    batch_reader r = make_rows(t.env, 100, 2, 10);
    staged *rows;
    OK(table_stage(s, &r, NULL, &rows, err));
    assert_int_equal(staged_rows(rows), 2);
    assert_int_equal(staged_file_count(rows), 1);
    assert_true(staged_bytes(rows) > 0);
    bitmap *some = bitmap_new();
    bitmap_add(some, 1);
    bitmap *all = bitmap_new();
    bitmap_add_range(all, 0, 3);
    const uint64_t removed = 1;
    const deletion_update updated[] = {{0, some}, {2, all}};
    const int32_t key = 0;
    const metadata_change changes[] = {{STR("mv.view_version"), STR("4")}, {STR("absent"), {0}}};
    const operation op = {.kind = OPERATION_UPDATE,
                          .rows = rows,
                          .removed = &removed,
                          .removed_count = 1,
                          .updated = updated,
                          .updated_count = 2,
                          .filter_fields = &key,
                          .filter_field_count = 1,
                          .filter_bloom = bloom_bytes(token_filter()),
                          .changes = changes,
                          .change_count = 2};
    EXPECT(GLV_E_INVALID_INPUT, "strictly", table_commit(s, &op, NULL, NULL, NULL, err));
    const commit_options strict = {.strict = true};
    table_snapshot *next;
    OK(table_commit(s, &op, &strict, &next, NULL, err));
    staged_free(rows);
    assert_int_equal(table_version(next), 4);
    EXPECT_IDS(next, NULL, 0, 2, 3, 100, 101);
    NUMBERS(next, "_rowid", 0, 2, 3, 10, 11);
    NUMBERS(next, "_row_created_at_version", 1, 1, 1, 4, 4);
    assert_int_equal(table_reader_flags(next), 3);
    assert_true(str_is(table_metadata_get(next, STR("mv.view_version"), NULL), "4"));
    assert_null(table_fragment(next, 1));
    assert_null(table_fragment(next, 2)); /* no live row left */
    assert_int_equal(table_fragment(next, 3)->physical_rows, 2);
    const fragment *kept = table_fragment(next, 0);
    assert_int_equal(kept->deletions.form, DELETION_BITMAP);
    assert_int_equal(kept->deletions.read_version, 3);
    assert_int_equal(kept->deletions.count, 1);
    assert_false(deletion_same(kept, table_fragment(s, 0)));
    assert_true(deletion_same(kept, kept));

    arena a;
    arena_init(&a, t.env);
    transaction *x;
    OK(transaction_read(next, 4, &a, &x, err));
    assert_int_equal(x->kind, OPERATION_UPDATE);
    assert_int_equal(x->read_version, 3);
    assert_int_equal(x->removed_count, 2);
    assert_int_equal(x->removed_ids[1], 2);
    assert_int_equal(x->updated_fragment_count, 1);
    assert_int_equal(x->updated_fragments[0].deletions.count, 1);
    assert_int_equal(x->new_fragment_count, 1);
    assert_int_equal(x->new_fragments[0].id, 0);
    assert_false(x->new_fragments[0].has_row_ids);
    assert_true(x->moves_rows);
    assert_int_equal(x->fields_modified_count, 0);
    arena_dispose(&a);
    bitmap_free(some);
    bitmap_free(all);
    table_unref(next);
    table_unref(s);
    test_env_close(&t);
  }
}

/* The stored filter: the bytes that the engines compare. */
static void test_filter_bytes(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 1, true);
  const int32_t key = 5;
  const operation op = {.kind = OPERATION_UPDATE,
                        .filter_fields = &key,
                        .filter_field_count = 1,
                        .filter_bloom = bloom_bytes(token_filter())};
  const commit_options strict = {.strict = true};
  OK(table_commit(s, &op, &strict, NULL, NULL, err));
  buf bytes;
  read_file(t.env, test_env_path(&t, "t/_versions/" V2), &bytes);
  const size_t size = load_le32(bytes.data);
  arena a;
  arena_init(&a, t.env);
  ProtobufCMessage *message;
  OK(pb_unpack(&a, str_slice(bytes.data + 4, size), &lance__table__transaction__descriptor, "t",
               &message, err));
  const Lance__Table__Update *m = ((Lance__Table__Transaction *)message)->update;
  assert_int_equal(m->inserted_rows->field_ids[0], 5);
  const Lance__Table__BloomFilter *filter = m->inserted_rows->bloom;
  assert_int_equal(filter->bitmap.len, 32768);
  assert_int_equal(filter->bitmap.data[17123], 2);
  assert_int_equal(filter->num_bits, 262144);
  assert_int_equal(filter->number_of_items, 8192);
  assert_true(filter->probability == 0.00057);
  assert_int_equal(m->update_mode, 0);
  arena_dispose(&a);
  buf_dispose(&bytes);
  table_unref(s);
  test_env_close(&t);
}

static void test_bad_updates(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 4, true);
  const commit_options strict = {.strict = true};
  bitmap *b = bitmap_new();
  bitmap_add(b, 4);
  const deletion_update past = {0, b};
  const operation a = {.kind = OPERATION_UPDATE, .updated = &past, .updated_count = 1};
  EXPECT(GLV_E_INVALID_INPUT, "has no row 4", table_commit(s, &a, &strict, NULL, NULL, err));
  const deletion_update unknown = {9, b};
  const operation c = {.kind = OPERATION_UPDATE, .updated = &unknown, .updated_count = 1};
  EXPECT(GLV_E_INVALID_INPUT, "no fragment 9", table_commit(s, &c, &strict, NULL, NULL, err));
  const uint64_t twice[] = {0, 0};
  const operation d = {.kind = OPERATION_UPDATE, .removed = twice, .removed_count = 2};
  EXPECT(GLV_E_INVALID_INPUT, "twice", table_commit(s, &d, &strict, NULL, NULL, err));
  const operation e = {.kind = OPERATION_CREATE_INDEX};
  EXPECT(GLV_E_UNSUPPORTED, "CreateIndex", table_commit(s, &e, NULL, NULL, NULL, err));
  const operation g = {.kind = OPERATION_REWRITE};
  EXPECT(GLV_E_INVALID_INPUT, "groups", table_commit(s, &g, NULL, NULL, NULL, err));
  const operation h = {.kind = OPERATION_RESERVE_FRAGMENTS};
  EXPECT(GLV_E_INVALID_INPUT, "ids", table_commit(s, &h, NULL, NULL, NULL, err));
  const operation f = {.kind = OPERATION_UPDATE_CONFIG};
  EXPECT(GLV_E_INVALID_INPUT, "keys", table_commit(s, &f, NULL, NULL, NULL, err));
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_deletions")), 0);
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_transactions")), 1);
  bitmap_free(b);
  table_unref(s);
  test_env_close(&t);
}

static void test_strict(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 4, true);
  table_snapshot *later = table_ref(s);
  append_rows(&later, 4, 1);
  bitmap *b = bitmap_new();
  bitmap_add(b, 1);
  const deletion_update updated = {0, b};
  const operation op = {.kind = OPERATION_UPDATE, .updated = &updated, .updated_count = 1};
  const commit_options strict = {.strict = true};
  glv_error err = {0};
  assert_int_equal(table_commit(s, &op, &strict, NULL, NULL, &err), GLV_E_CONFLICT);
  assert_int_equal(err.flags, GLV_ERROR_MAY_RETRY);
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_deletions")), 0);
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_transactions")), 2);
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/_versions")), 3);
  /* Also when the versions in between were cleaned up. */
  append_rows(&later, 5, 1);
  remove_file(t.env, test_env_path(&t, "t/_versions"), V2);
  assert_int_equal(table_commit(s, &op, &strict, NULL, NULL, &err), GLV_E_CONFLICT);
  table_snapshot *next;
  OK(table_commit(later, &op, &strict, &next, NULL, err));
  assert_int_equal(table_version(next), 4);
  bitmap_free(b);
  table_unref(next);
  table_unref(later);
  table_unref(s);
  test_env_close(&t);
}

static void test_stamp(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 1, true);
  const metadata_change changes[] = {{STR("mv.a"), STR("1")}, {STR("mv.b"), STR("2")}};
  const operation op = {.kind = OPERATION_UPDATE_CONFIG, .changes = changes, .change_count = 2};
  const commit_options strict = {.strict = true};
  table_snapshot *next;
  OK(table_commit(s, &op, &strict, &next, NULL, err));
  assert_true(str_is(table_metadata_get(next, STR("mv.a"), NULL), "1"));
  const metadata_change more[] = {{STR("mv.a"), {0}}, {STR("mv.b"), STR("3")}};
  const operation other = {.kind = OPERATION_UPDATE_CONFIG, .changes = more, .change_count = 2};
  table_snapshot *last;
  OK(table_commit(next, &other, NULL, &last, NULL, err));
  bool found = true;
  (void)table_metadata_get(last, STR("mv.a"), &found);
  assert_false(found);
  assert_true(str_is(table_metadata_get(last, STR("mv.b"), NULL), "3"));
  EXPECT_IDS(last, NULL, 0);
  arena a;
  arena_init(&a, t.env);
  transaction *x;
  OK(transaction_read(last, 3, &a, &x, err));
  assert_int_equal(x->kind, OPERATION_UPDATE_CONFIG);
  assert_true(x->schema_metadata.is_present);
  assert_false(x->schema_metadata.replace);
  assert_int_equal(x->schema_metadata.count, 2);
  assert_true(str_is(x->schema_metadata.changes[0].key, "mv.a"));
  assert_null(x->schema_metadata.changes[0].value.data);
  assert_false(x->config.is_present);
  OK(transaction_read(last, 1, &a, &x, err));
  assert_int_equal(x->kind, OPERATION_OVERWRITE);
  EXPECT(GLV_E_VERSION_NOT_FOUND, "no version 9", transaction_read(last, 9, &a, &x, err));
  /* Two stamps computed from the same version exclude each other. */
  glv_error err = {0};
  assert_int_equal(table_commit(next, &op, NULL, NULL, NULL, &err), GLV_E_CONFLICT);
  assert_int_equal(err.flags, 0);
  arena_dispose(&a);
  table_unref(last);
  table_unref(next);
  table_unref(s);
  test_env_close(&t);
}

/* ---- dropped and recreated --------------------------------------------------------------------
 */

static void test_dropped(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    test_env t;
    test_env_open(&t, store);
    const char *root = test_env_path(&t, "t");
    table_snapshot *s = create_rows(t.env, root, 0, 2, true);
    batch_reader r = make_rows(t.env, 2, 1, 1);
    staged *rows;
    OK(table_stage(s, &r, NULL, &rows, err)); /* staged before the drop */
    OK(io_remove_tree(t.env, root, err));
    for (int recreated = 0; recreated < 2; recreated++) {
      table_snapshot *fresh = NULL;
      if (recreated) {
        fresh = create_rows(t.env, root, 10, 1, true);
      }
      table_snapshot *other;
      EXPECT(GLV_E_TABLE_NOT_FOUND, "dropped", table_open_version(s, 0, &other, err));
      const operation op = {.kind = OPERATION_APPEND, .rows = rows};
      EXPECT(GLV_E_TABLE_NOT_FOUND, "dropped", table_commit(s, &op, NULL, NULL, NULL, err));
      const commit_options strict = {.strict = true};
      EXPECT(GLV_E_TABLE_NOT_FOUND, "dropped", table_commit(s, &op, &strict, NULL, NULL, err));
      batch_reader again = make_rows(t.env, 2, 1, 1);
      const glv_status staging = table_append(s, &again, NULL, NULL, NULL, NULL);
      assert_int_equal(staging, GLV_E_TABLE_NOT_FOUND);
      if (recreated) {
        assert_int_equal(count_files(t.env, test_env_path(&t, "t/_versions")), 2);
        assert_int_equal(count_files(t.env, test_env_path(&t, "t/_transactions")), 1);
        assert_int_equal(count_files(t.env, test_env_path(&t, "t/data")), 1);
        EXPECT_IDS(fresh, NULL, 10);
      } else {
        assert_int_equal(count_files(t.env, root), 0);
      }
      table_unref(fresh);
    }
    staged_discard(rows);
    table_unref(s);
    test_env_close(&t);
  }
}

static void test_identity(void **state) {
  (void)state;
  test_env t;
  test_env_open_local(&t);
  const char *root = test_env_path(&t, "t");
  table_snapshot *s = create_rows(t.env, root, 0, 2, true);
  uint64_t a[2];
  uint64_t b[2];
  OK(table_identity(t.env, root, "t", &a[0], &a[1], err));
  OK(table_identity(t.env, root, NULL, &b[0], &b[1], err));
  assert_memory_equal(a, b, sizeof a);
  OK(io_remove_tree(t.env, root, err));
  EXPECT(GLV_E_TABLE_NOT_FOUND, "'t' was not found",
         table_identity(t.env, root, "t", &a[0], &a[1], err));
  table_snapshot *other = create_rows(t.env, root, 0, 2, true);
  OK(table_identity(t.env, root, "t", &b[0], &b[1], err));
  assert_memory_not_equal(a, b, sizeof a); /* s keeps the old number in use */
  table_unref(other);
  table_unref(s);
  test_env_close(&t);
}

/* Opens the table at root again, given `known`, and says whether that was it. */
static bool is_known(test_env *t, const char *root, const table_snapshot *known, uint64_t version) {
  table_snapshot *found;
  OK(table_open_again(t->env, root, "t", known, &found, err));
  assert_int_equal(table_version(found), version);
  table_unref(found);
  return found == known;
}

/* Replaces a file by one with the same bytes. */
static void write_again(test_env *t, const char *dir, const char *name) {
  CLEANUP(io_scope_dispose) io_scope s = {t->env, NULL, NULL};
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, t->env, 1 << 20);
  OK(io_dir_open(t->env, test_env_path(t, dir), &s.dir, err));
  OK(io_read_file(t->env, s.dir, name, 1 << 20, &bytes, err));
  OK(io_write_file(t->env, s.dir, "copy", bytes.data, bytes.size, false, err));
  OK(io_publish(t->env, s.dir, "copy", name, false, err));
}

static void test_open_again(void **state) {
  (void)state;
  for (int store = 0; store < 2; store++) {
    test_env t;
    test_env_open(&t, store);
    const char *root = test_env_path(&t, "t");
    table_unref(create_rows(t.env, root, 0, 2, true));
    table_snapshot *s;
    table_snapshot *found;
    OK(table_open_again(t.env, root, "t", NULL, &s, err));
    assert_true(is_known(&t, root, s, 1));
    OK(table_open_again(t.env, root, "other name", s, &found, err));
    assert_string_equal(table_name(found), "other name");
    table_unref(found);
    batch_reader r = make_rows(t.env, 2, 1, 1);
    OK(table_append(s, &r, NULL, NULL, NULL, err));
    assert_false(is_known(&t, root, s, 2)); /* what somebody else committed is seen */
    OK(io_remove_tree(t.env, root, err));
    EXPECT(GLV_E_TABLE_NOT_FOUND, "'t' was not found",
           table_open_again(t.env, root, "t", s, &found, err));
    table_unref(create_rows(t.env, root, 10, 1, true));
    assert_false(is_known(&t, root, s, 1)); /* the same version of another table */
    table_unref(s);
    OK(table_open(t.env, root, "t", 0, &s, err));
    assert_true(is_known(&t, root, s, 1));
    write_again(&t, "t/_versions", "18446744073709551614.manifest");
    assert_false(is_known(&t, root, s, 1)); /* somebody put a manifest in its place */
    table_unref(s);
    test_env_close(&t);
  }
}

/* ---- unknown and missing transactions ----------------------------------------------------------
 */

/* Replaces the inline transaction of version 2 by other bytes. */
static void replace_transaction(test_env *t, const char *bytes, size_t size) {
  const char *path = test_env_path(t, "t/_versions/" V2);
  buf old;
  read_file(t->env, path, &old);
  const size_t at = (size_t)load_le64(old.data + old.size - 16);
  arena a;
  arena_init(&a, t->env);
  buf file;
  buf_init(&file, t->env, SIZE_MAX);
  uint8_t length[4];
  store_le32(length, (uint32_t)size);
  OK(buf_append(&file, length, 4, err));
  OK(buf_append(&file, bytes, size, err));
  OK(buf_append(&file, old.data + at, old.size - at, err));
  store_le64(file.data + file.size - 16, size + 4);
  write_file(t->env, test_env_path(t, "t/_versions"), V2, file.data, file.size);
  buf_dispose(&file);
  buf_dispose(&old);
  arena_dispose(&a);
}

static void test_unknown_operation(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 2, true);
  table_snapshot *later = table_ref(s);
  append_rows(&later, 2, 1);
  table_unref(later);
  replace_transaction(&t, "\x08\x01\x12\x01x\xb2\x09\x00", 8); /* operation 150 */
  OK(table_open(t.env, test_env_path(&t, "t"), "t", 0, &later, err));
  assert_int_equal(table_version(later), 2);
  arena a;
  arena_init(&a, t.env);
  transaction *x;
  OK(transaction_read(later, 2, &a, &x, err));
  assert_int_equal(x->kind, OPERATION_UNKNOWN);
  assert_string_equal(operation_name(x->kind), "Unknown");
  arena_dispose(&a);
  batch_reader r = make_rows(t.env, 3, 1, 1);
  glv_error err = {0};
  assert_int_equal(table_append(s, &r, NULL, NULL, NULL, &err), GLV_E_CONFLICT);
  assert_int_equal(err.flags, 0);
  assert_non_null(strstr(err.message, "This Append transaction is incompatible with concurrent "
                                      "transaction Unknown at version 2."));
  assert_int_equal(count_files(t.env, test_env_path(&t, "t/data")), 2);
  append_rows(&later, 3, 1); /* from its own version it goes on */
  table_unref(later);
  table_unref(s);
  test_env_close(&t);
}

static void drop_transaction(Lance__Table__Manifest *m, void *context) {
  (void)context;
  m->opt_transaction_section_case = LANCE__TABLE__MANIFEST__OPT_TRANSACTION_SECTION__NOT_SET;
  m->transaction_file = (char *)(uintptr_t) "";
}

static void test_missing_transaction(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 2, true);
  table_snapshot *later = table_ref(s);
  append_rows(&later, 2, 1);
  edit_manifest(t.env, test_env_path(&t, "t"), V2, drop_transaction, NULL);
  batch_reader r = make_rows(t.env, 3, 1, 1);
  EXPECT(GLV_E_TRANSACTION_NOT_FOUND, "Dataset version 2 does not have a transaction file",
         table_append(s, &r, NULL, NULL, NULL, err));
  table_unref(later);
  table_unref(s);
  test_env_close(&t);
}

/* ---- indexes -----------------------------------------------------------------------------------
 */

struct index {
  const char *name;
  int32_t field;
  const char *bitmap; /* of fragment ids as digits; NULL = unknown */
  uint64_t created_at;
  bool is_covering;
};

/* Gives version 2 these index segments, each with an unknown sub-field. */
static void add_indexes(test_env *t, const struct index *list, size_t count) {
  buf old;
  read_file(t->env, test_env_path(t, "t/_versions/" V2), &old);
  buf section;
  buf_init(&section, t->env, SIZE_MAX);
  arena a;
  arena_init(&a, t->env);
  Lance__Table__IndexSection s = LANCE__TABLE__INDEX_SECTION__INIT;
  s.n_indices = count;
  s.indices = ARENA_ARRAY(&a, ProtobufCBinaryData, count);
  for (size_t i = 0; i < count; i++) {
    Lance__Table__IndexMetadata m = LANCE__TABLE__INDEX_METADATA__INIT;
    m.name = (char *)(uintptr_t)list[i].name;
    m.n_fields = list[i].field >= 0 ? 1 : 0;
    m.fields = (int32_t[]){list[i].field};
    m.opt_created_at_case = LANCE__TABLE__INDEX_METADATA__OPT_CREATED_AT_CREATED_AT;
    m.created_at = list[i].created_at;
    m.n_covering_fields = list[i].is_covering;
    m.covering_fields = (int32_t[]){1};
    buf bits;
    buf_init(&bits, t->env, 1000);
    if (list[i].bitmap != NULL) {
      bitmap *b = bitmap_new();
      for (const char *digit = list[i].bitmap; *digit != '\0'; digit++) {
        bitmap_add(b, (uint32_t)(*digit - '0'));
      }
      OK(bitmap_write(b, true, &bits, err));
      m.fragment_bitmap = (ProtobufCBinaryData){bits.size, (uint8_t *)bits.data};
      bitmap_free(b);
    }
    buf raw;
    buf_init(&raw, t->env, 1000);
    OK(pb_pack(&m.base, &raw, err));
    OK(buf_append(&raw, "\xba\x3e\x02??", 5, err)); /* field 999 */
    char *kept = arena_strdup(&a, buf_str(&raw));
    memcpy(kept, raw.data, raw.size);
    s.indices[i] = (ProtobufCBinaryData){raw.size, (uint8_t *)kept};
    buf_dispose(&raw);
    buf_dispose(&bits);
  }
  OK(pb_pack(&s.base, &section, err));
  const size_t at = (size_t)load_le64(old.data + old.size - 16);
  ProtobufCMessage *message;
  OK(pb_unpack(&a, str_slice(old.data + at + 4, load_le32(old.data + at)),
               &lance__table__manifest__descriptor, "m", &message, err));
  Lance__Table__Manifest *m = (Lance__Table__Manifest *)message;
  m->opt_index_section_case = LANCE__TABLE__MANIFEST__OPT_INDEX_SECTION_INDEX_SECTION;
  m->index_section = 0;
  m->transaction_section += section.size + 4;
  uint8_t word[4];
  buf file;
  buf_init(&file, t->env, SIZE_MAX);
  store_le32(word, (uint32_t)section.size);
  OK(buf_append(&file, word, 4, err));
  OK(buf_append_str(&file, buf_str(&section), err));
  OK(buf_append(&file, old.data, at, err));
  const size_t start = file.size;
  OK(buf_append(&file, word, 4, err));
  OK(pb_pack(message, &file, err));
  store_le32(file.data + start, (uint32_t)(file.size - start - 4));
  OK(buf_append(&file, old.data + old.size - 16, 16, err));
  store_le64(file.data + file.size - 16, start);
  write_file(t->env, test_env_path(t, "t/_versions"), V2, file.data, file.size);
  buf_dispose(&file);
  buf_dispose(&section);
  buf_dispose(&old);
  arena_dispose(&a);
}

/* Serialized index segments of a version. */
static size_t read_indexes(test_env *t, uint64_t version, str *ret, size_t room, arena *a) {
  char name[128];
  snprintf(name, sizeof name, "t/_versions/%020llu.manifest",
           (unsigned long long)(UINT64_MAX - version));
  buf file;
  read_file(t->env, test_env_path(t, name), &file);
  const size_t at = (size_t)load_le64(file.data + file.size - 16);
  ProtobufCMessage *message;
  OK(pb_unpack(a, str_slice(file.data + at + 4, load_le32(file.data + at)),
               &lance__table__manifest__descriptor, "m", &message, err));
  const Lance__Table__Manifest *m = (Lance__Table__Manifest *)message;
  size_t count = 0;
  if (m->opt_index_section_case != 0) {
    const char *start = file.data + m->index_section;
    OK(pb_unpack(a, str_slice(start + 4, load_le32(start)),
                 &lance__table__index_section__descriptor, "i", &message, err));
    const Lance__Table__IndexSection *s = (Lance__Table__IndexSection *)message;
    count = s->n_indices;
    assert_true(count <= room);
    for (size_t i = 0; i < count; i++) {
      ret[i] = str_slice((const char *)s->indices[i].data, s->indices[i].len);
    }
  }
  buf_dispose(&file);
  return count;
}

/* An append keeps every segment byte for byte, an overwrite drops them all. */
static void test_indexes_carried(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  const char *root = test_env_path(&t, "t");
  table_snapshot *s = create_rows(t.env, root, 0, 2, true);
  append_rows(&s, 2, 2);
  table_unref(s);
  const struct index list[] = {{"id_idx", 0, "01", 5, false},
                               {"text_idx", 1, NULL, 6, true},
                               {"__lance_frag_reuse", -1, "0", 7, false}};
  add_indexes(&t, list, 3);
  OK(table_open(t.env, root, "t", 0, &s, err));
  assert_true(table_has_index(s, "text_idx"));
  assert_false(table_has_index(s, "other"));
  append_rows(&s, 4, 1);
  assert_true(table_has_index(s, "id_idx"));
  assert_int_equal(table_reader_flags(s), 2 | TABLE_FLAG_COVERING_INDEX);
  arena a;
  arena_init(&a, t.env);
  str before[3];
  str after[3];
  assert_int_equal(read_indexes(&t, 2, before, 3, &a), 3);
  assert_int_equal(read_indexes(&t, 3, after, 3, &a), 3);
  for (size_t i = 0; i < 3; i++) {
    assert_true(str_equal(before[i], after[i]));
  }
  batch_reader r = make_rows(t.env, 0, 1, 1);
  OK(table_overwrite(s, &r, NULL, NULL, NULL, err));
  assert_int_equal(read_indexes(&t, 4, after, 3, &a), 0);
  arena_dispose(&a);
  table_unref(s);
  test_env_close(&t);
}

/* The retain rule after an update that removes fragment 0. */
static void expect_retained(const struct index *list, size_t count, const char *kept) {
  test_env t;
  test_env_open_mem(&t);
  table_snapshot *s = create_rows(t.env, test_env_path(&t, "t"), 0, 2, true);
  append_rows(&s, 2, 2);
  table_unref(s);
  add_indexes(&t, list, count);
  OK(table_open(t.env, test_env_path(&t, "t"), "t", 0, &s, err));
  const uint64_t removed = 0;
  const operation op = {.kind = OPERATION_UPDATE, .removed = &removed, .removed_count = 1};
  const commit_options strict = {.strict = true};
  OK(table_commit(s, &op, &strict, NULL, NULL, err));
  arena a;
  arena_init(&a, t.env);
  str before[8];
  str after[8];
  const size_t had = read_indexes(&t, 2, before, 8, &a);
  const size_t have = read_indexes(&t, 3, after, 8, &a);
  assert_int_equal(had, count);
  assert_int_equal(have, strlen(kept));
  for (size_t i = 0; i < have; i++) {
    assert_true(str_equal(after[i], before[kept[i] - '0']));
  }
  arena_dispose(&a);
  table_unref(s);
  test_env_close(&t);
}

static void test_indexes_retained(void **state) {
  (void)state;
  const struct index single[] = {{"a", 0, "0", 1, false}};
  expect_retained(single, 1, "0"); /* one segment stays, even empty */
  const struct index gone[] = {{"a", 7, "1", 1, false}, {"__lance_x", 7, "1", 1, false}};
  expect_retained(gone, 2, "1"); /* its field is not in the schema; system indexes stay */
  const struct index two[] = {
      {"a", 0, "0", 1, false}, {"b", 1, "0", 1, false}, {"a", 0, "1", 2, false}};
  expect_retained(two, 3, "12");
  const struct index empty[] = {
      {"a", 0, "0", 9, false}, {"a", 0, "0", 3, false}, {"a", 0, "5", 4, false}};
  expect_retained(empty, 3, "1"); /* all empty: the one created first */
  const struct index unknown[] = {{"a", 0, NULL, 9, false}, {"a", 0, "0", 3, false}};
  expect_retained(unknown, 2, "0");
  const struct index reuse[] = {
      {"a", 0, "0", 1, false}, {"a", 0, "1", 2, false}, {"__lance_frag_reuse", -1, "1", 3, false}};
  expect_retained(reuse, 3, "012");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_append),
      cmocka_unit_test(test_append_nothing),
      cmocka_unit_test(test_overwrite),
      cmocka_unit_test(test_dead_file),
      cmocka_unit_test(test_update),
      cmocka_unit_test(test_filter_bytes),
      cmocka_unit_test(test_bad_updates),
      cmocka_unit_test(test_strict),
      cmocka_unit_test(test_stamp),
      cmocka_unit_test(test_dropped),
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_open_again),
      cmocka_unit_test(test_unknown_operation),
      cmocka_unit_test(test_missing_transaction),
      cmocka_unit_test(test_indexes_carried),
      cmocka_unit_test(test_indexes_retained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
