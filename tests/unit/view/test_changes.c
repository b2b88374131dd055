/* The state diff, rule by rule (materialized-views 7.4). Fragments hold four rows each; the row ids
 * of fragment i begin at 4 i. */
#include "sources.h"
#include "view/changes.h"

static const char *const both = "SELECT id, text FROM t";

/* A source with a watermark. */
struct diff {
  test_env t;
  table_snapshot *from;
  table_snapshot *to;
  source_changes found;
};

static void begin(struct diff *d, size_t fragments) {
  test_env_open_mem(&d->t);
  d->to = make_source(&d->t, fragments);
  d->from = table_ref(d->to);
}

static void compare(struct diff *d, const table_snapshot *from, const table_snapshot *to,
                    const char *sql) {
  view_plan *plan = plan_view(to, sql);
  OK(source_changes_find(from, to, plan, &d->found, err));
  view_plan_free(plan);
}

static void end(struct diff *d) {
  source_changes_dispose(&d->found);
  table_unref(d->from);
  table_unref(d->to);
  test_env_close(&d->t);
}

/* fresh, touched, revived, removed */
static void expect_rows(const struct diff *d, uint64_t fresh, uint64_t touched, uint64_t revived,
                        uint64_t removed) {
  const change_counts *c = &d->found.counts;
  assert_false(d->found.is_broken);
  assert_int_equal(c->rows_fresh, fresh);
  assert_int_equal(c->rows_touched, touched);
  assert_int_equal(c->rows_revived, revived);
  assert_int_equal(c->rows_removed, removed);
  assert_int_equal(d->found.additions, fresh + touched + revived);
}

/* same, deleted, changed, new, gone */
static void expect_fragments(const struct diff *d, uint64_t same, uint64_t deleted,
                             uint64_t changed, uint64_t fresh, uint64_t gone) {
  const change_counts *c = &d->found.counts;
  assert_int_equal(c->fragments_same, same);
  assert_int_equal(c->fragments_deleted, deleted);
  assert_int_equal(c->fragments_changed, changed);
  assert_int_equal(c->fragments_new, fresh);
  assert_int_equal(c->fragments_gone, gone);
}

/* The evicted ids, in order. */
#define EXPECT_EVICTED(d, ...)                                                                     \
  do {                                                                                             \
    const uint64_t wanted_[] = {__VA_ARGS__};                                                      \
    size_t at_ = 0;                                                                                \
    assert_int_equal((d)->found.evicted_count, sizeof wanted_ / sizeof wanted_[0]);                \
    for (size_t i_ = 0; i_ < (d)->found.evicted.count; i_++) {                                     \
      for (uint64_t id_ = (d)->found.evicted.runs[i_].first;                                       \
           id_ < (d)->found.evicted.runs[i_].end; id_++) {                                         \
        assert_int_equal(id_, wanted_[at_++]);                                                     \
      }                                                                                            \
    }                                                                                              \
  } while (0)

/* ---- what engines usually do ---- */

static void nothing_changed(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 2);
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 0, 0, 0, 0);
  expect_fragments(&d, 2, 0, 0, 0, 0);
  assert_int_equal(d.found.counts.bytes, 0);
  end(&d);
}

static void an_append(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 2);
  append_rows(&d.to, 8, 3);
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 3, 0, 0, 0);
  expect_fragments(&d, 2, 0, 0, 1, 0);
  assert_int_equal(d.found.evicted_count, 0);
  assert_int_equal(d.found.added_count, 1);
  assert_int_equal(d.found.added[0].id, 2);
  assert_null(d.found.added[0].offsets);
  assert_int_equal(d.found.counts.bytes, table_fragment(d.to, 2)->files[0].size_bytes);
  end(&d);
}

static void a_delete(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 3);
  delete_range(&d.to, 0, 1, 3);
  delete_range(&d.to, 2, 0, 4); /* the whole fragment */
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 0, 0, 0, 6);
  expect_fragments(&d, 1, 1, 0, 0, 1);
  EXPECT_EVICTED(&d, 1, 2, 8, 9, 10, 11);
  end(&d);
}

static void an_update(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 2);
  update_row(&d.to, 1, 2, 6, 2);
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 0, 1, 0, 0);
  expect_fragments(&d, 1, 1, 0, 1, 0);
  EXPECT_EVICTED(&d, 6);
  end(&d);
}

/* A row that was appended after the watermark and updated then is fresh, not touched. */
static void an_update_of_fresh_rows(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 1);
  append_rows(&d.to, 4, 4);
  update_row(&d.to, 1, 0, 4, 2);
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 4, 0, 0, 0);
  assert_int_equal(d.found.evicted_count, 0);
  end(&d);
}

static void a_compaction(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 3);
  compact_all(&d.to);
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 0, 0, 0, 0);
  expect_fragments(&d, 0, 0, 0, 1, 3);
  assert_int_equal(d.found.evicted_count, 0);
  end(&d);
}

/* Delete, update, append and a compaction over all of it: exactly the rows that changed. */
static void all_of_it_compacted(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 2);
  delete_range(&d.to, 0, 0, 1);
  update_row(&d.to, 1, 3, 7, 2);
  append_rows(&d.to, 20, 2);
  compact_all(&d.to);
  append_rows(&d.to, 30, 1);
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 3, 1, 0, 1);
  EXPECT_EVICTED(&d, 0, 7);
  assert_int_equal(d.found.added_count, 2);
  assert_int_equal(bitmap_count(d.found.added[0].offsets), 3);
  assert_null(d.found.added[1].offsets);
  end(&d);
}

/* An overwrite: everything goes, everything comes. */
static void an_overwrite(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 2);
  batch_reader r = make_rows(d.t.env, 50, 2, 10);
  table_snapshot *next;
  OK(table_overwrite(d.to, &r, NULL, &next, NULL, err));
  table_unref(d.to);
  d.to = next;
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 2, 0, 0, 8);
  EXPECT_EVICTED(&d, 0, 1, 2, 3, 4, 5, 6, 7);
  end(&d);
}

/* ---- back in time ---- */

static void a_restore(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 2);
  delete_range(&d.to, 0, 1, 3);
  append_rows(&d.to, 20, 1);
  table_unref(d.from);
  d.from = table_ref(d.to);
  const operation op = {.kind = OPERATION_RESTORE, .restored_version = 2};
  commit_op(&d.to, &op);
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 0, 0, 2, 1);
  expect_fragments(&d, 1, 1, 0, 0, 1);
  EXPECT_EVICTED(&d, 1, 2, 8);
  assert_int_equal(bitmap_count(d.found.added[0].offsets), 2);
  end(&d);
}

/* Versions of rows say nothing when time runs backwards: what moved is computed anew. */
static void a_rewind(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 2);
  update_row(&d.to, 0, 0, 0, 1);
  append_rows(&d.to, 20, 1);
  compare(&d, d.to, d.from, both);
  expect_rows(&d, 0, 0, 1, 1);
  EXPECT_EVICTED(&d, 0, 8);
  source_changes_dispose(&d.found);
  compact_all(&d.to);
  compare(&d, d.to, d.from, both);
  expect_rows(&d, 0, 8, 0, 1);
  EXPECT_EVICTED(&d, 0, 1, 2, 3, 4, 5, 6, 7, 8);
  end(&d);
}

/* After a restore ids go on above the mark, and the rows appended then are fresh. */
static void a_restore_and_an_append(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 1);
  append_rows(&d.to, 20, 2);
  table_unref(d.from);
  d.from = table_ref(d.to);
  const operation op = {.kind = OPERATION_RESTORE, .restored_version = 1};
  commit_op(&d.to, &op);
  append_rows(&d.to, 30, 1);
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 1, 0, 0, 2);
  EXPECT_EVICTED(&d, 4, 5);
  end(&d);
}

/* ---- columns ---- */

static void columns_that_are_not_read(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 2);
  arena a;
  arena_init(&a, d.t.env);
  project(&d.to, schema_with(d.to, &a, "extra", 2));
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 0, 0, 0, 0);
  source_changes_dispose(&d.found);
  project(&d.to, schema_without(d.to, &a, 1));
  compare(&d, d.from, d.to, "SELECT id FROM t");
  expect_rows(&d, 0, 0, 0, 0);
  expect_fragments(&d, 2, 0, 0, 0, 0);
  arena_dispose(&a);
  end(&d);
}

/* Dropped and added again under its old id: equal at both ends, and yet another column. */
static void a_column_that_was_away(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 1);
  arena a;
  arena_init(&a, d.t.env);
  const lance_schema *whole = table_lance_schema(d.from);
  project(&d.to, schema_without(d.to, &a, 1));
  project(&d.to, whole);
  compare(&d, d.from, d.to, both);
  assert_true(d.found.is_broken);
  source_changes_dispose(&d.found);
  compare(&d, d.from, d.to, "SELECT id FROM t");
  expect_rows(&d, 0, 0, 0, 0);
  arena_dispose(&a);
  end(&d);
}

static void swapped_names(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 1);
  arena a;
  arena_init(&a, d.t.env);
  project(&d.to, schema_with(d.to, &a, "other", 2));
  table_unref(d.from);
  d.from = table_ref(d.to);
  const lance_schema *old = table_lance_schema(d.to);
  lance_field fields[3] = {old->fields[0], old->fields[1], old->fields[2]};
  fields[0].arrow.name = "other";
  fields[2].arrow.name = "id";
  fields[0].raw = (str){0}; /* not as it was read */
  fields[2].raw = (str){0};
  const lance_schema renamed = {.fields = fields, .field_count = 3};
  project(&d.to, &renamed);
  compare(&d, d.from, d.to, "SELECT id FROM t");
  assert_true(d.found.is_broken);
  arena_dispose(&a);
  end(&d);
}

/* ---- lineage that cannot be believed ---- */

/* A compaction whose interval has one more version, which was made something else: what has to be
 * computed anew then. */
static void expect_after(void (*tamper)(struct diff *d), bool broken, uint64_t touched) {
  struct diff d;
  begin(&d, 2);
  commit_config(&d.to);
  tamper(&d);
  compact_all(&d.to);
  compare(&d, d.from, d.to, both);
  assert_int_equal(d.found.is_broken, broken);
  assert_int_equal(d.found.counts.rows_touched, touched);
  assert_int_equal(d.found.evicted_count, touched);
  end(&d);
}

static void keep(struct diff *d) { (void)d; }

static void lose_version(struct diff *d) {
  char name[64];
  (void)manifest_name(table_version(d->to), name, sizeof name);
  commit_config(&d->to);
  remove_file(d->t.env, test_env_path(&d->t, "t/_versions"), name);
}

static void lose_transaction(struct diff *d) { replace_transaction(&d->t, &d->to, NULL, NULL); }

static void make_unknown(struct diff *d) {
  Lance__Table__Transaction x = LANCE__TABLE__TRANSACTION__INIT;
  replace_transaction(&d->t, &d->to, &x, NULL);
}

static void make_restore(struct diff *d) {
  Lance__Table__Restore m = LANCE__TABLE__RESTORE__INIT;
  Lance__Table__Transaction x = LANCE__TABLE__TRANSACTION__INIT;
  m.version = 2;
  x.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_RESTORE;
  x.restore = &m;
  replace_transaction(&d->t, &d->to, &x, NULL);
}

static void make_update(struct diff *d, uint32_t field, uint32_t mode) {
  Lance__Table__Update m = LANCE__TABLE__UPDATE__INIT;
  Lance__Table__Transaction x = LANCE__TABLE__TRANSACTION__INIT;
  m.n_fields_modified = 1;
  m.fields_modified = &field;
  m.update_mode = mode;
  x.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_UPDATE;
  x.update = &m;
  replace_transaction(&d->t, &d->to, &x, NULL);
}

/* D15: the mode of an update says nothing. */
static void update_read_column(struct diff *d) { make_update(d, 1, 0); }
static void update_read_column_in_place(struct diff *d) { make_update(d, 1, 1); }
static void update_other_column(struct diff *d) { make_update(d, 7, 0); }

/* An update whose fragment has a file that was not there before. */
static void bring_file(struct diff *d, int32_t field) {
  int32_t fields[] = {field};
  int32_t columns[] = {0};
  Lance__Table__DataFile file = LANCE__TABLE__DATA_FILE__INIT;
  Lance__Table__DataFile *files[] = {&file};
  Lance__Table__DataFragment f = LANCE__TABLE__DATA_FRAGMENT__INIT;
  file.path = (char *)(uintptr_t) "new.lance";
  file.fields = fields;
  file.n_fields = 1;
  file.column_indices = columns;
  file.n_column_indices = 1;
  file.file_major_version = 2;
  file.file_minor_version = 1;
  f.files = files;
  f.n_files = 1;
  f.physical_rows = 4;
  buf bytes;
  buf_init(&bytes, d->t.env, SIZE_MAX);
  OK(pb_pack(&f.base, &bytes, err));
  ProtobufCBinaryData raw = {bytes.size, (uint8_t *)bytes.data};
  Lance__Table__Update m = LANCE__TABLE__UPDATE__INIT;
  Lance__Table__Transaction x = LANCE__TABLE__TRANSACTION__INIT;
  m.n_updated_fragments = 1;
  m.updated_fragments = &raw;
  x.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_UPDATE;
  x.update = &m;
  replace_transaction(&d->t, &d->to, &x, NULL);
  buf_dispose(&bytes);
}

static void bring_read_file(struct diff *d) { bring_file(d, 0); }
static void bring_other_file(struct diff *d) { bring_file(d, 9); }

static void replace_file(struct diff *d, int32_t field) {
  int32_t fields[] = {field};
  int32_t columns[] = {0};
  Lance__Table__DataFile file = LANCE__TABLE__DATA_FILE__INIT;
  file.path = (char *)(uintptr_t) "new.lance";
  file.fields = fields;
  file.n_fields = 1;
  file.column_indices = columns;
  file.n_column_indices = 1;
  file.file_major_version = 2;
  file.file_minor_version = 1;
  buf bytes;
  buf_init(&bytes, d->t.env, SIZE_MAX);
  OK(pb_pack(&file.base, &bytes, err));
  Lance__Table__Replacement group = LANCE__TABLE__REPLACEMENT__INIT;
  Lance__Table__Replacement *groups[] = {&group};
  group.new_file = (ProtobufCBinaryData){bytes.size, (uint8_t *)bytes.data};
  Lance__Table__DataReplacement m = LANCE__TABLE__DATA_REPLACEMENT__INIT;
  Lance__Table__Transaction x = LANCE__TABLE__TRANSACTION__INIT;
  m.n_replacements = 1;
  m.replacements = groups;
  x.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_DATA_REPLACEMENT;
  x.data_replacement = &m;
  replace_transaction(&d->t, &d->to, &x, NULL);
  buf_dispose(&bytes);
}

static void replace_read_file(struct diff *d) { replace_file(d, 1); }
static void replace_other_file(struct diff *d) { replace_file(d, 9); }

static void believed_or_not(void **state) {
  (void)state;
  expect_after(keep, false, 0);
  expect_after(update_other_column, false, 0);
  expect_after(bring_other_file, false, 0);
  expect_after(replace_other_file, false, 0);
  expect_after(lose_version, false, 8);
  expect_after(make_unknown, false, 8);
  expect_after(make_restore, false, 8);
  expect_after(update_read_column, false, 8);
  expect_after(update_read_column_in_place, false, 8);
  expect_after(bring_read_file, false, 8);
  expect_after(replace_read_file, false, 8);
  expect_after(lose_transaction, true, 0);
}

/* D14: rows of writers that keep no versions read as old; they are computed anew. */
static void forget_versions(Lance__Table__Manifest *m, arena *a) {
  for (size_t i = 0; i < m->n_fragments; i++) {
    ProtobufCMessage *message;
    const str raw = str_slice((const char *)m->fragments[i].data, m->fragments[i].len);
    OK(pb_unpack(a, raw, &lance__table__data_fragment__descriptor, "f", &message, err));
    Lance__Table__DataFragment *f = (Lance__Table__DataFragment *)message;
    f->created_at_case = LANCE__TABLE__DATA_FRAGMENT__CREATED_AT__NOT_SET;
    str packed;
    OK(pb_pack_arena(a, &f->base, &packed, err));
    m->fragments[i] = (ProtobufCBinaryData){packed.size, (uint8_t *)(uintptr_t)packed.data};
  }
}

static void rows_without_versions(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 2);
  append_rows(&d.to, 20, 2);
  compact_all(&d.to);
  Lance__Table__ReserveFragments m = LANCE__TABLE__RESERVE_FRAGMENTS__INIT;
  Lance__Table__Transaction x = LANCE__TABLE__TRANSACTION__INIT;
  x.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_RESERVE_FRAGMENTS;
  x.reserve_fragments = &m;
  replace_transaction(&d.t, &d.to, &x, forget_versions);
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 2, 8, 0, 0);
  EXPECT_EVICTED(&d, 0, 1, 2, 3, 4, 5, 6, 7);
  end(&d);
}

/* ---- places of columns ---- */

/* The file of column "text" moves on: the path stays for the other columns. */
static void make_obsolete(Lance__Table__Manifest *m, arena *a) {
  ProtobufCMessage *message;
  const str raw = str_slice((const char *)m->fragments[0].data, m->fragments[0].len);
  OK(pb_unpack(a, raw, &lance__table__data_fragment__descriptor, "f", &message, err));
  Lance__Table__DataFragment *f = (Lance__Table__DataFragment *)message;
  f->files[0]->fields[1] = -2;
  str packed;
  OK(pb_pack_arena(a, &f->base, &packed, err));
  m->fragments[0] = (ProtobufCBinaryData){packed.size, (uint8_t *)(uintptr_t)packed.data};
}

static void a_column_in_another_place(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 2);
  commit_config(&d.to);
  Lance__Table__Restore m = LANCE__TABLE__RESTORE__INIT;
  Lance__Table__Transaction x = LANCE__TABLE__TRANSACTION__INIT;
  x.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_RESTORE;
  x.restore = &m;
  replace_transaction(&d.t, &d.to, &x, make_obsolete);
  compare(&d, d.from, d.to, both);
  expect_rows(&d, 0, 4, 0, 0);
  expect_fragments(&d, 1, 0, 1, 0, 0);
  EXPECT_EVICTED(&d, 0, 1, 2, 3);
  source_changes_dispose(&d.found);
  compare(&d, d.from, d.to, "SELECT id FROM t");
  expect_fragments(&d, 2, 0, 0, 0, 0);
  end(&d);
}

/* A view of constants reads nothing: only which rows there are matters. */
static void no_inputs(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 2);
  delete_range(&d.to, 0, 0, 1);
  append_rows(&d.to, 20, 1);
  compare(&d, d.from, d.to, "SELECT 1 AS one FROM t");
  expect_rows(&d, 1, 0, 0, 1);
  EXPECT_EVICTED(&d, 0);
  end(&d);
}

/* ---- memory ---- */

static void every_allocation_fails(void **state) {
  (void)state;
  struct diff d;
  begin(&d, 3);
  delete_range(&d.to, 0, 0, 1);
  update_row(&d.to, 1, 3, 7, 2);
  append_rows(&d.to, 20, 2);
  view_plan *plan = plan_view(d.to, both);
  bool fired = true;
  for (uint64_t nth = 1; fired; nth++) {
    glv_error err = {0};
    alloc_fault_arm(&d.t.alloc, nth, false);
    const glv_status status = source_changes_find(d.from, d.to, plan, &d.found, &err);
    fired = d.t.alloc.fired;
    alloc_fault_arm(&d.t.alloc, 0, false);
    assert_int_equal(status, fired ? GLV_E_NOMEM : GLV_OK);
    source_changes_dispose(&d.found);
    assert_true(nth < 2000);
  }
  view_plan_free(plan);
  end(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_changed),
      cmocka_unit_test(an_append),
      cmocka_unit_test(a_delete),
      cmocka_unit_test(an_update),
      cmocka_unit_test(an_update_of_fresh_rows),
      cmocka_unit_test(a_compaction),
      cmocka_unit_test(all_of_it_compacted),
      cmocka_unit_test(an_overwrite),
      cmocka_unit_test(a_restore),
      cmocka_unit_test(a_rewind),
      cmocka_unit_test(a_restore_and_an_append),
      cmocka_unit_test(columns_that_are_not_read),
      cmocka_unit_test(a_column_that_was_away),
      cmocka_unit_test(swapped_names),
      cmocka_unit_test(believed_or_not),
      cmocka_unit_test(rows_without_versions),
      cmocka_unit_test(a_column_in_another_place),
      cmocka_unit_test(no_inputs),
      cmocka_unit_test(every_allocation_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
