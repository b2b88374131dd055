/*
 * Routes of the protocol for what this server does not have: lists of it are empty, everything else
 * says so by name (rest-protocol.md 11, 15).
 */
#include "server/routes.h"
#include "server/server_private.h"

/* ---- nothing of that kind ---- */

static glv_status answer_member(request *r, const char *key, json *value, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(js_put(body, key, value, err));
  json *taken = body;
  body = NULL;
  return answer_json(r, 200, taken, err);
}

static glv_status no_secrets_listed(request *r, glv_error *err) {
  return answer_member(r, "secrets", js_new_array(), err);
}
static glv_status no_plain_views_listed(request *r, glv_error *err) {
  return answer_member(r, "views", js_new_array(), err);
}
static glv_status no_functions_listed(request *r, glv_error *err) {
  return answer_member(r, "functions", js_new_array(), err);
}
static glv_status no_errors(request *r, glv_error *err) {
  return answer_member(r, "records", js_new_array(), err);
}
static glv_status no_lsm_spec(request *r, glv_error *err) {
  return answer_member(r, "lsm_write_spec", js_new_null(), err);
}
static glv_status no_lsm_stats(request *r, glv_error *err) {
  return answer_member(r, "lsm_stats", js_new_null(), err);
}

/* ---- not offered ---- */

#define NOT_OFFERED(name, what)                                                                    \
  static glv_status no_##name(request *r, glv_error *err) {                                        \
    (void)r;                                                                                       \
    return FAIL(err, GLV_E_UNSUPPORTED, what " is not offered by this server");                    \
  }

NOT_OFFERED(index_building, "the building of indexes")
NOT_OFFERED(branches, "a branch")
NOT_OFFERED(clones, "the cloning of tables")
NOT_OFFERED(backfill, "the filling of computed columns")
NOT_OFFERED(lsm, "a table with a write log (LSM)")
NOT_OFFERED(blobs, "reading the bytes of blobs by this route")
NOT_OFFERED(plain_views, "a view that is not materialized")
NOT_OFFERED(secrets, "a secret")
NOT_OFFERED(functions, "a function of the server")
NOT_OFFERED(schema_metadata, "the metadata of a schema as a whole, without the route 'metadata',")
NOT_OFFERED(managed_versions, "keeping the versions of tables by a server")

#define NO_ROUTE(pattern, method, handler)                                                         \
  { pattern, method, ACCESS_READ, handler, "Not offered." }

const route other_routes[] = {
    {"/v1/namespace/{id}/secret/list", ROUTE_GET, ACCESS_READ, no_secrets_listed, "An empty list."},
    {"/v1/namespace/{id}/view/list", ROUTE_GET, ACCESS_READ, no_plain_views_listed,
     "An empty list."},
    {"/v1/namespace/{id}/function/list", ROUTE_GET, ACCESS_READ, no_functions_listed,
     "An empty list."},
    {"/v1/table/{id}/errors", ROUTE_POST, ACCESS_READ, no_errors, "An empty list."},
    {"/v1/table/{id}/get_lsm_write_spec", ROUTE_POST, ACCESS_READ, no_lsm_spec,
     "Null: there is none."},
    {"/v1/table/{id}/get_lsm_stats", ROUTE_POST, ACCESS_READ, no_lsm_stats,
     "Null: there are none."},
    NO_ROUTE("/v1/table/{id}/create_index", ROUTE_POST, no_index_building),
    NO_ROUTE("/v1/table/{id}/create_scalar_index", ROUTE_POST, no_index_building),
    NO_ROUTE("/v1/table/{id}/index/{name}/drop", ROUTE_POST, no_index_building),
    NO_ROUTE("/v1/table/{id}/index/{name}/prewarm", ROUTE_POST, no_index_building),
    NO_ROUTE("/v1/table/{id}/page_cache/prewarm", ROUTE_POST, no_index_building),
    NO_ROUTE("/v1/table/{id}/branches/{name}", ROUTE_POST, no_branches),
    NO_ROUTE("/v1/table/{id}/clone", ROUTE_POST, no_clones),
    NO_ROUTE("/v1/table/{id}/backfill_column", ROUTE_POST, no_backfill),
    NO_ROUTE("/v1/table/{id}/set_lsm_write_spec", ROUTE_POST, no_lsm),
    NO_ROUTE("/v1/table/{id}/unset_lsm_write_spec", ROUTE_POST, no_lsm),
    NO_ROUTE("/v1/table/{id}/flush_lsm", ROUTE_POST, no_lsm),
    NO_ROUTE("/v1/table/{id}/compact_lsm", ROUTE_POST, no_lsm),
    NO_ROUTE("/v1/table/{id}/fetch_blobs", ROUTE_POST, no_blobs),
    NO_ROUTE("/v1/view/{id}/create", ROUTE_POST, no_plain_views),
    NO_ROUTE("/v1/view/{id}/describe", ROUTE_POST, no_plain_views),
    NO_ROUTE("/v1/view/{id}/drop", ROUTE_POST, no_plain_views),
    NO_ROUTE("/v1/secret/{id}/create", ROUTE_POST, no_secrets),
    NO_ROUTE("/v1/secret/{id}/alter", ROUTE_POST, no_secrets),
    NO_ROUTE("/v1/secret/{id}/describe", ROUTE_POST, no_secrets),
    NO_ROUTE("/v1/secret/{id}/drop", ROUTE_POST, no_secrets),
    NO_ROUTE("/v1/function/{id}/create", ROUTE_POST, no_functions),
    NO_ROUTE("/v1/function/{id}/describe", ROUTE_POST, no_functions),
    NO_ROUTE("/v1/function/{id}/drop", ROUTE_POST, no_functions),
    NO_ROUTE("/v1/table/{id}/schema_metadata/update", ROUTE_POST, no_schema_metadata),
    NO_ROUTE("/v1/table/{id}/version/create", ROUTE_POST, no_managed_versions),
    NO_ROUTE("/v1/table/{id}/version/describe", ROUTE_POST, no_managed_versions),
    NO_ROUTE("/v1/table/{id}/version/delete", ROUTE_POST, no_managed_versions),
    NO_ROUTE("/v1/table/version/batch-create", ROUTE_POST, no_managed_versions),
    NO_ROUTE("/v1/table/batch-commit", ROUTE_POST, no_managed_versions),
    NO_ROUTE("/v1/transaction/{id}/describe", ROUTE_POST, no_managed_versions),
    NO_ROUTE("/v1/transaction/{id}/alter", ROUTE_POST, no_managed_versions),
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
