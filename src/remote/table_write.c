/*
 * Changing rows of a server's tables. Rows go out as they come from their reader; a write that the
 * server refuses for the moment is sent again with a request id of its own.
 */
#include "remote/remote_private.h"
#include "wire/members.h"

#define ROUTE_WRITE (ROUTE_REPEATS | ROUTE_CHANGES)

static const route insert_route = {"/v1/table/{id}/insert/", ROUTE_WRITE | ROUTE_NEW_ID,
                                   GLV_E_TABLE_NOT_FOUND, NULL};
static const route delete_route = {"/v1/table/{id}/delete/", ROUTE_WRITE, GLV_E_TABLE_NOT_FOUND,
                                   NULL};
static const route update_route = {"/v1/table/{id}/update/", ROUTE_WRITE, GLV_E_TABLE_NOT_FOUND,
                                   NULL};
static const route merge_route = {"/v1/table/{id}/merge_insert/", ROUTE_WRITE | ROUTE_NEW_ID,
                                  GLV_E_TABLE_NOT_FOUND, NULL};

glv_status remote_check_write(uint32_t flags, glv_error *err) {
  TRY(remote_check_dialect(flags, err));
  return (flags & GLV_WRITE_VIEW) == 0
             ? GLV_OK
             : FAIL(err, GLV_E_UNSUPPORTED,
                    "the server does not offer writing to a view (GLV_WRITE_VIEW is for "
                    "directories)");
}

glv_status remote_finish_write(table_call *tc, const answer *a, glv_write_result *ret,
                               glv_error *err) {
  uint64_t attempts = 1;
  uint64_t version = a->table_version;
  TRY(call_read(&tc->c, a, wire_uint(a->root, "num_attempts", &attempts, err), err));
  TRY(call_read(&tc->c, a, wire_uint(a->root, "version", &version, err), err));
  table_call_wrote(tc, version);
  ret->attempts = attempts < UINT32_MAX ? (uint32_t)attempts : UINT32_MAX;
  ret->version = version;
  return GLV_OK;
}

/* Begin a call whose body is rows; takes over data in every case. */
static glv_status begin_upload(table_call *tc, glv_table *table, const route *r, batch_reader *data,
                               cancel_token *cancel, uint32_t flags, glv_error *err) {
  upload *u = NULL;
  *tc = (table_call){0};
  TRY(remote_upload_new(table->handle.env, data, &u, err));
  glv_status status = remote_check_write(flags, err);
  if (status == GLV_OK) {
    status = table_call_begin(tc, table, r, NULL, TABLE_WRITES | TABLE_PARAMS, cancel, err);
  }
  tc->c.upload = u;
  return status;
}

glv_status remote_table_write(glv_table *table, batch_reader *data, bool overwrite,
                              const glv_write_options *options, glv_write_result *ret,
                              glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc;
  CLEANUP(answer_dispose) answer a = {0};
  TRY(begin_upload(&tc, table, &insert_route, data, options->cancel, options->flags, err));
  if (overwrite) {
    TRY(wire_param(&tc.c.target, "mode", STR("overwrite"), err));
  }
  TRY(table_call_object(&tc, &a, err));
  ret->rows_inserted = remote_upload_rows(tc.c.upload);
  TRY(call_read(&tc.c, &a, wire_uint(a.root, "num_inserted_rows", &ret->rows_inserted, err), err));
  return remote_finish_write(&tc, &a, ret, err);
}

glv_status remote_table_delete(glv_table *table, const char *filter,
                               const glv_write_options *options, glv_write_result *ret,
                               glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(remote_check_write(options->flags, err));
  TRY(table_call_begin(&tc, table, &delete_route, NULL, TABLE_WRITES, options->cancel, err));
  TRY(wire_put_text(tc.c.body, "predicate", filter != NULL ? filter : "true", err));
  TRY(table_call_object(&tc, &a, err));
  TRY(call_read(&tc.c, &a, wire_uint(a.root, "num_deleted_rows", &ret->rows_deleted, err), err));
  return remote_finish_write(&tc, &a, ret, err);
}

static glv_status put_updates(json *body, glv_pairs assignments, glv_error *err) {
  CLEANUP(js_cleanup) json *updates = js_new_array();
  for (size_t i = 0; i < assignments.count; i++) {
    CLEANUP(js_cleanup) json *update = js_new_array();
    TRY(js_push(update, js_new_string(str_of(assignments.items[i].name)), err));
    TRY(js_push(update, js_new_string(str_of(assignments.items[i].value)), err));
    json *taken = update;
    update = NULL;
    TRY(js_push(updates, taken, err));
  }
  json *taken = updates;
  updates = NULL;
  return js_put(body, "updates", taken, err);
}

glv_status remote_table_update(glv_table *table, glv_pairs assignments, const char *filter,
                               const glv_write_options *options, glv_write_result *ret,
                               glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(remote_check_write(options->flags, err));
  TRY(table_call_begin(&tc, table, &update_route, NULL, TABLE_WRITES, options->cancel, err));
  TRY(wire_put_text(tc.c.body, "predicate", filter, err));
  TRY(put_updates(tc.c.body, assignments, err));
  TRY(table_call_object(&tc, &a, err));
  TRY(call_read(&tc.c, &a, wire_uint(a.root, "updated_rows", &ret->rows_updated, err), err));
  TRY(call_read(&tc.c, &a, wire_uint(a.root, "rows_updated", &ret->rows_updated, err), err));
  return remote_finish_write(&tc, &a, ret, err);
}

static glv_status add_merge_params(buf *target, const glv_merge_options *options, glv_error *err) {
  for (size_t i = 0; i < options->on.count; i++) {
    TRY(wire_param(target, "on", str_of(options->on.items[i]), err));
  }
  TRY(wire_param_bool(target, "when_matched_update_all", (options->flags & GLV_MERGE_UPDATE) != 0,
                      err));
  if (options->update_if != NULL) {
    TRY(wire_param(target, "when_matched_update_all_filt", str_of(options->update_if), err));
  }
  TRY(wire_param_bool(target, "when_not_matched_insert_all",
                      (options->flags & GLV_MERGE_INSERT) != 0, err));
  TRY(wire_param_bool(target, "when_not_matched_by_source_delete",
                      (options->flags & GLV_MERGE_DELETE) != 0, err));
  return options->delete_if != NULL ? wire_param(target, "when_not_matched_by_source_delete_filt",
                                                 str_of(options->delete_if), err)
                                    : GLV_OK;
}

glv_status remote_table_merge(glv_table *table, batch_reader *data,
                              const glv_merge_options *options, glv_write_result *ret,
                              glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc;
  CLEANUP(answer_dispose) answer a = {0};
  TRY(begin_upload(&tc, table, &merge_route, data, options->cancel, options->flags, err));
  TRY(add_merge_params(&tc.c.target, options, err));
  TRY(table_call_object(&tc, &a, err));
  TRY(call_read(&tc.c, &a, wire_uint(a.root, "num_inserted_rows", &ret->rows_inserted, err), err));
  TRY(call_read(&tc.c, &a, wire_uint(a.root, "num_updated_rows", &ret->rows_updated, err), err));
  TRY(call_read(&tc.c, &a, wire_uint(a.root, "num_deleted_rows", &ret->rows_deleted, err), err));
  return remote_finish_write(&tc, &a, ret, err);
}
