/**
 * @file sources.h
 * Sources of views and what happens to them: small tables (unit/table/tables.h) changed by commits,
 * and commits whose transaction is replaced by one that only other engines write.
 */
#ifndef GLAIVE_TESTS_SOURCES_H
#define GLAIVE_TESTS_SOURCES_H

#include "table/row_ids.h"
#include "unit/table/tables.h"
#include "view/plan.h"

/* Commits and moves *t to the new version. */
UNUSED static void commit_op(table_snapshot **t, const operation *op) {
  table_snapshot *next;
  OK(table_commit(*t, op, NULL, &next, NULL, err));
  table_unref(*t);
  *t = next;
}

/* Rows [first, first + 4) in each of `count` fragments. */
UNUSED static table_snapshot *make_source(test_env *t, size_t count) {
  table_snapshot *s = create_rows(t->env, test_env_path(t, "t"), 0, 4, true);
  for (size_t i = 1; i < count; i++) {
    append_rows(&s, 4 * (int64_t)i, 4);
  }
  return s;
}

UNUSED static void delete_range(table_snapshot **t, uint64_t fragment_id, uint32_t first,
                                uint32_t end) {
  bitmap *b = bitmap_new();
  bitmap_add_range(b, first, end);
  const deletion_update d = {fragment_id, b};
  const operation op = {.kind = OPERATION_DELETE, .updated = &d, .updated_count = 1};
  commit_op(t, &op);
  bitmap_free(b);
}

UNUSED static staged *stage_numbers(const table_snapshot *t, int64_t first, size_t count) {
  batch_reader r = make_rows(table_env(t), first, count, 100);
  staged *rows;
  OK(table_stage(t, &r, NULL, &rows, err));
  return rows;
}

/* Row `offset` of a fragment, whose id is row_id, gets other values, as an update does it. */
UNUSED static void update_row(table_snapshot **t, uint64_t fragment_id, uint32_t offset,
                              uint64_t row_id, uint64_t created) {
  staged *rows = stage_numbers(*t, 1000 + (int64_t)row_id, 1);
  bitmap *b = bitmap_new();
  bitmap_add(b, offset);
  const deletion_update d = {fragment_id, b};
  const version_run run = {1, created};
  const row_origin origin = {&row_id, 1, &run, 1, NULL, 0};
  const operation op = {
      .kind = OPERATION_UPDATE, .rows = rows, .origin = &origin, .updated = &d, .updated_count = 1};
  commit_op(t, &op);
  staged_free(rows);
  bitmap_free(b);
}

/* All live rows of all fragments in one new fragment, as a compaction does it. */
UNUSED static void compact_all(table_snapshot **t) {
  size_t old_count = 0;
  const fragment *fragments = table_fragments(*t, &old_count);
  uint64_t old_ids[16];
  uint64_t ids[64];
  uint64_t created[64];
  uint64_t updated[64];
  version_run created_runs[64];
  version_run updated_runs[64];
  for (size_t i = 0; i < old_count; i++) {
    old_ids[i] = fragments[i].id;
  }
  const size_t count = scan_numbers(*t, "_rowid", ids, 64);
  (void)scan_numbers(*t, "_row_created_at_version", created, 64);
  (void)scan_numbers(*t, "_row_last_updated_at_version", updated, 64);
  batch_reader all;
  staged *rows;
  OK(table_scan(*t, NULL, &all, err));
  OK(table_stage(*t, &all, NULL, &rows, err));
  for (size_t i = 0; i < count; i++) {
    created_runs[i] = (version_run){1, created[i]};
    updated_runs[i] = (version_run){1, updated[i]};
  }
  const operation reserve = {.kind = OPERATION_RESERVE_FRAGMENTS, .reserved = 1};
  commit_op(t, &reserve);
  const row_origin origin = {ids, count, created_runs, count, updated_runs, count};
  const rewrite_group group = {old_ids, old_count, 1};
  const operation op = {.kind = OPERATION_REWRITE,
                        .rows = rows,
                        .origin = &origin,
                        .groups = &group,
                        .group_count = 1,
                        .first_id = table_fragment_mark(*t)};
  commit_op(t, &op);
  staged_free(rows);
}

/* One more int64 column "extra" under the given id, null everywhere, made first: a new schema. */
UNUSED static lance_schema *schema_with(const table_snapshot *t, arena *a, const char *name,
                                        int32_t id) {
  const lance_schema *old = table_lance_schema(t);
  const field extra = {.name = name, .type = type_simple(TYPE_INT64), .nullable = true};
  lance_schema *added;
  OK(lance_schema_from_arrow(a, &extra, 1, (metadata){0}, &id, &added, err));
  lance_field *fields = ARENA_ARRAY(a, lance_field, old->field_count + 1);
  memcpy(fields, old->fields, old->field_count * sizeof *fields);
  fields[old->field_count] = added->fields[0];
  lance_schema *all = ARENA_NEW(a, lance_schema);
  *all = (lance_schema){.fields = fields, .field_count = old->field_count + 1};
  return all;
}

/* The schema of t without its top-level field number `at`. */
UNUSED static lance_schema *schema_without(const table_snapshot *t, arena *a, size_t at) {
  const lance_schema *old = table_lance_schema(t);
  lance_field *fields = ARENA_ARRAY(a, lance_field, old->field_count);
  lance_schema *fewer = ARENA_NEW(a, lance_schema);
  *fewer = (lance_schema){.fields = fields};
  for (size_t i = 0; i < old->field_count; i++) {
    if (i != at) {
      fields[fewer->field_count++] = old->fields[i];
    }
  }
  return fewer;
}

UNUSED static void project(table_snapshot **t, const lance_schema *s) {
  const operation op = {.kind = OPERATION_PROJECT, .schema = s};
  commit_op(t, &op);
}

/* ---- commits of other engines ---- */

/* What a manifest is to say of its transaction. */
struct foreign {
  const char *transaction_file; /* NULL = it has none */
  void (*edit)(Lance__Table__Manifest *m, arena *a);
  arena *memory;
};

UNUSED static void make_foreign(Lance__Table__Manifest *m, void *context) {
  const struct foreign *f = context;
  m->opt_transaction_section_case = LANCE__TABLE__MANIFEST__OPT_TRANSACTION_SECTION__NOT_SET;
  m->transaction_file = (char *)(uintptr_t)(f->transaction_file != NULL ? f->transaction_file : "");
  if (f->edit != NULL) {
    f->edit(m, f->memory);
  }
}

UNUSED static const char *manifest_name(uint64_t version, char *to, size_t size) {
  snprintf(to, size, "%020llu.manifest", (unsigned long long)(UINT64_MAX - version));
  return to;
}

/*
 * Replace the transaction of the version that *t is at (x NULL: by none), edit its manifest (NULL:
 * not at all), and open it again.
 */
UNUSED static void replace_transaction(test_env *env, table_snapshot **t,
                                       Lance__Table__Transaction *x,
                                       void (*edit)(Lance__Table__Manifest *m, arena *a)) {
  const uint64_t version = table_version(*t);
  char name[64];
  char file[64];
  snprintf(file, sizeof file, "%llu-foreign.txn", (unsigned long long)version);
  if (x != NULL) {
    buf bytes;
    buf_init(&bytes, env->env, SIZE_MAX);
    x->uuid = (char *)(uintptr_t) "foreign";
    OK(pb_pack(&x->base, &bytes, err));
    write_file(env->env, test_env_path(env, "t/_transactions"), file, bytes.data, bytes.size);
    buf_dispose(&bytes);
  }
  arena a;
  arena_init(&a, env->env);
  struct foreign f = {x != NULL ? file : NULL, edit, &a};
  edit_manifest(env->env, test_env_path(env, "t"), manifest_name(version, name, sizeof name),
                make_foreign, &f);
  arena_dispose(&a);
  table_unref(*t);
  OK(table_open(env->env, test_env_path(env, "t"), "t", version, t, err));
}

/* A commit that changes nothing that matters, to be made another one. */
UNUSED static void commit_config(table_snapshot **t) {
  const metadata_change change = {STR("k"), STR("v")};
  const operation op = {.kind = OPERATION_UPDATE_CONFIG, .changes = &change, .change_count = 1};
  commit_op(t, &op);
}

/* ---- plans ---- */

UNUSED static view_plan *plan_view(const table_snapshot *source, const char *sql) {
  arena a;
  arena_init(&a, table_env(source));
  view_definition d;
  view_plan *plan;
  OK(definition_from_sql(&a, str_of(sql), DEFINITION_SELECT, &d, err));
  OK(view_plan_make(source, &d, PLAN_REFRESH, &plan, err));
  arena_dispose(&a);
  return plan;
}

#endif
