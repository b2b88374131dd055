/* Versions, tags and upkeep of a server's tables. */
#include <stdlib.h>

#include "backend/rows.h"
#include "remote/remote_private.h"
#include "wire/extra.h"
#include "wire/members.h"
#include "wire/time.h"

static const route versions_route = {"/v1/table/{id}/version/list/", ROUTE_REPEATS,
                                     GLV_E_TABLE_NOT_FOUND, NULL};
static const route restore_route = {"/v1/table/{id}/restore/", ROUTE_REPEATS | ROUTE_CHANGES,
                                    GLV_E_VERSION_NOT_FOUND, NULL};
static const route tags_route = {"/v1/table/{id}/tags/list/", ROUTE_REPEATS, GLV_E_TABLE_NOT_FOUND,
                                 NULL};
static const route tag_create_route = {"/v1/table/{id}/tags/create/", ROUTE_REPEATS | ROUTE_CHANGES,
                                       GLV_E_VERSION_NOT_FOUND, NULL};
static const route tag_update_route = {"/v1/table/{id}/tags/update/", ROUTE_REPEATS | ROUTE_CHANGES,
                                       GLV_E_TAG_NOT_FOUND, NULL};
static const route tag_delete_route = {"/v1/table/{id}/tags/delete/", ROUTE_REPEATS | ROUTE_CHANGES,
                                       GLV_E_TAG_NOT_FOUND, NULL};
static const route compact_route = {WIRE_ROUTE_COMPACT, ROUTE_CHANGES, GLV_E_UNSUPPORTED,
                                    "compaction"};
static const route cleanup_route = {WIRE_ROUTE_CLEANUP, ROUTE_CHANGES, GLV_E_UNSUPPORTED,
                                    "the cleanup of old versions"};
static const route migrate_route = {WIRE_ROUTE_MIGRATE, ROUTE_CHANGES, GLV_E_UNSUPPORTED,
                                    "the migration of tables"};

/* ---- versions ---- */

/* A time as text, or as milliseconds. */
static glv_status read_time(const json *entry, const char *text_key, const char *millis_key,
                            bool *ret_has, int64_t *ret, glv_error *err) {
  const char *text = NULL;
  int64_t millis = INT64_MIN;
  TRY(wire_text(entry, text_key, &text, err));
  TRY(wire_int(entry, millis_key, &millis, err));
  *ret_has = text != NULL || millis != INT64_MIN;
  if (text != NULL && !wire_time_read(str_of(text), ret)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'%s' is no time: %.40s", text_key, text);
  }
  if (text == NULL && *ret_has && __builtin_mul_overflow(millis, INT64_C(1000000), ret)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'%s' is out of range", millis_key);
  }
  return GLV_OK;
}

static glv_status read_version(const json *entry, version_row *ret, glv_error *err) {
  const json *about = NULL;
  const char *rows = NULL;
  bool has_time = false;
  TRY(wire_expect(entry, JS_OBJECT, "versions", err));
  TRY(wire_uint_required(entry, "version", &ret->version, err));
  TRY(read_time(entry, "timestamp", "timestamp_millis", &has_time, &ret->timestamp_ns, err));
  if (!has_time) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a version has no 'timestamp'");
  }
  TRY(wire_object(entry, "metadata", &about, err));
  if (about != NULL) {
    TRY(wire_text(about, "total_rows", &rows, err));
    TRY(wire_text(about, "operation", &ret->operation, err));
  }
  ret->has_rows = rows != NULL && str_to_u64(str_of(rows), &ret->rows);
  return GLV_OK;
}

static glv_status read_versions(const json *root, arena *memory, version_row **ret,
                                size_t *ret_count, glv_error *err) {
  const json *list = NULL;
  TRY(wire_array(root, "versions", &list, err));
  if (list == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'versions' is missing");
  }
  *ret_count = js_count(list);
  *ret = ARENA_ARRAY(memory, version_row, *ret_count);
  if (*ret == NULL) {
    return error_nomem(err, *ret_count * sizeof **ret);
  }
  for (size_t i = 0; i < *ret_count; i++) {
    TRY(read_version(js_item(list, i), &(*ret)[i], err));
  }
  return GLV_OK;
}

glv_status remote_table_versions(glv_table *table, batch_reader *ret, glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(answer_dispose) answer a = {0};
  CLEANUP(arena_dispose) arena memory;
  arena_init_small(&memory, table->handle.env);
  version_row *rows = NULL;
  size_t count = 0;
  TRY(table_call_begin(&tc, table, &versions_route, NULL, TABLE_PARAMS, NULL, err));
  TRY(table_call_object(&tc, &a, err));
  TRY(call_read(&tc.c, &a, read_versions(a.root, &memory, &rows, &count, err), err));
  return version_rows_reader(table->handle.env, rows, count, ret, err);
}

glv_status remote_table_restore(glv_table *table, const glv_call_options *options, glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(answer_dispose) answer a = {0};
  const glv_open_options latest = {.struct_size = sizeof latest};
  TRY(remote_check_write(options->flags, err));
  TRY(table_call_begin(&tc, table, &restore_route, NULL, TABLE_READS, options->cancel, err));
  TRY(table_call_object(&tc, &a, err));
  return remote_table_checkout(table, &latest, err);
}

/* ---- tags ---- */

static glv_status read_tag(const char *name, const json *entry, tag_row *ret, glv_error *err) {
  TRY(wire_expect(entry, JS_OBJECT, name, err));
  ret->name = name;
  TRY(wire_uint_required(entry, "version", &ret->version, err));
  TRY(wire_text(entry, "branch", &ret->branch, err));
  TRY(wire_uint(entry, "manifestSize", &ret->manifest_size, err));
  ret->has_manifest_size = ret->manifest_size != 0;
  TRY(read_time(entry, "createdAt", "createdAtMillis", &ret->has_created, &ret->created_ns, err));
  return read_time(entry, "updatedAt", "updatedAtMillis", &ret->has_updated, &ret->updated_ns, err);
}

static glv_status read_tags(const json *root, arena *memory, tag_row **ret, size_t *ret_count,
                            glv_error *err) {
  *ret_count = js_count(root);
  *ret = ARENA_ARRAY(memory, tag_row, *ret_count);
  if (*ret == NULL) {
    return error_nomem(err, *ret_count * sizeof **ret);
  }
  void *position = NULL;
  for (size_t i = 0; i < *ret_count; i++) {
    str key;
    const json *entry = js_next_member(root, &position, &key);
    const char *name = arena_strdup(memory, key);
    if (name == NULL) {
      return error_nomem(err, key.size);
    }
    TRY(read_tag(name, entry, &(*ret)[i], err));
  }
  return GLV_OK;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const tag_row *)a)->name, ((const tag_row *)b)->name);
}

glv_status remote_table_tags(glv_table *table, batch_reader *ret, glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(answer_dispose) answer a = {0};
  CLEANUP(arena_dispose) arena memory;
  arena_init_small(&memory, table->handle.env);
  tag_row *rows = NULL;
  size_t count = 0;
  TRY(table_call_begin(&tc, table, &tags_route, NULL, TABLE_PARAMS | TABLE_NO_FRESHNESS, NULL,
                       err));
  TRY(table_call_object(&tc, &a, err));
  TRY(call_read(&tc.c, &a, read_tags(a.root, &memory, &rows, &count, err), err));
  qsort(rows, count, sizeof *rows, by_name);
  return tag_rows_reader(table->handle.env, rows, count, ret, err);
}

static glv_status send_tag(glv_table *table, const route *r, const char *tag, uint64_t version,
                           cancel_token *cancel, glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(answer_dispose) answer a = {0};
  const unsigned without = r == &tag_delete_route ? TABLE_NO_FRESHNESS : 0;
  TRY(table_call_begin(&tc, table, r, NULL, without, cancel, err));
  TRY(wire_put_text(tc.c.body, "tag", tag, err));
  if (version != 0) {
    TRY(wire_put_uint(tc.c.body, "version", version, err));
  }
  return table_call_object(&tc, &a, err);
}

glv_status remote_table_tag_set(glv_table *table, const char *tag, uint64_t version,
                                const glv_call_options *options, glv_error *err) {
  const uint64_t wanted = version != 0 ? version : remote_table_version(table);
  if ((options->flags & GLV_TAG_MOVE) != 0) {
    const glv_status moved = send_tag(table, &tag_update_route, tag, wanted, options->cancel, err);
    if (moved != GLV_E_TAG_NOT_FOUND) {
      return moved;
    }
  }
  return send_tag(table, &tag_create_route, tag, wanted, options->cancel, err);
}

glv_status remote_table_tag_drop(glv_table *table, const char *tag, glv_error *err) {
  return send_tag(table, &tag_delete_route, tag, 0, NULL, err);
}

/* ---- what only our servers do ---- */

/* Replaces the body that the call began with. */
static void set_body(call *c, json *body) {
  js_free(c->body);
  c->body = body;
}

glv_status remote_table_compact(glv_table *table, const glv_compact_options *options,
                                glv_compact_result *ret, glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(answer_dispose) answer a = {0};
  const wire_compact how = {options->target_rows, options->deletion_threshold};
  wire_compact_result r = {0};
  json *body = NULL;
  TRY(table_call_begin(&tc, table, &compact_route, NULL, TABLE_WRITES, options->cancel, err));
  TRY(wire_compact_write(&how, &body, err));
  set_body(&tc.c, body);
  TRY(table_call_object(&tc, &a, err));
  TRY(call_read(&tc.c, &a, wire_compact_result_read(a.root, &r, err), err));
  table_call_wrote(&tc, r.version);
  *ret = (glv_compact_result){.attempts = (uint32_t)r.attempts,
                              .version = r.version,
                              .fragments_removed = r.fragments_removed,
                              .fragments_added = r.fragments_added,
                              .files_removed = r.files_removed,
                              .files_added = r.files_added,
                              .rows = r.rows,
                              .bytes = r.bytes};
  return GLV_OK;
}

glv_status remote_table_cleanup(glv_table *table, int64_t older_than_ms,
                                const glv_call_options *options, glv_cleanup_result *ret,
                                glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(answer_dispose) answer a = {0};
  const wire_cleanup how = {older_than_ms, (options->flags & GLV_CLEANUP_DRY_RUN) != 0,
                            (options->flags & GLV_CLEANUP_REFUSE_TAGGED) != 0};
  wire_cleanup_result r = {0};
  json *body = NULL;
  TRY(table_call_begin(&tc, table, &cleanup_route, NULL, 0, options->cancel, err));
  TRY(wire_cleanup_write(&how, &body, err));
  set_body(&tc.c, body);
  TRY(table_call_object(&tc, &a, err));
  TRY(call_read(&tc.c, &a, wire_cleanup_result_read(a.root, &r, err), err));
  *ret = (glv_cleanup_result){.versions = r.versions,
                              .data_files = r.data_files,
                              .deletion_files = r.deletion_files,
                              .transaction_files = r.transaction_files,
                              .index_files = r.index_files,
                              .bytes = r.bytes};
  return GLV_OK;
}

glv_status remote_table_migrate(glv_table *table, const glv_call_options *options, glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(answer_dispose) answer a = {0};
  uint64_t version = 0;
  TRY(table_call_begin(&tc, table, &migrate_route, NULL, TABLE_WRITES, options->cancel, err));
  TRY(wire_put_bool(tc.c.body, WIRE_MIGRATE_STABLE_ROW_IDS,
                    (options->flags & GLV_MIGRATE_STABLE_ROW_IDS) != 0, err));
  TRY(table_call_object(&tc, &a, err));
  TRY(call_read(&tc.c, &a, wire_uint(a.root, "version", &version, err), err));
  table_call_wrote(&tc, version);
  return GLV_OK;
}
