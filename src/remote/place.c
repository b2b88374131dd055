/* Where tables of a server lie. */
#include "remote/call.h"
#include "remote/remote_private.h"
#include "wire/members.h"

static const route declare_route = {"/v1/table/{id}/declare", ROUTE_CHANGES,
                                    GLV_E_NAMESPACE_NOT_FOUND, NULL};
static const route register_route = {"/v1/table/{id}/register", ROUTE_CHANGES,
                                     GLV_E_NAMESPACE_NOT_FOUND, NULL};
static const route deregister_route = {"/v1/table/{id}/deregister", ROUTE_CHANGES,
                                       GLV_E_TABLE_NOT_FOUND, NULL};
static const route describe_route = {"/v1/table/{id}/describe/", ROUTE_REPEATS,
                                     GLV_E_TABLE_NOT_FOUND, NULL};

/* Send a call whose answer has a location. */
static glv_status finish(call *c, answer *a, buf *ret_location, glv_error *err) {
  const char *location = NULL;
  TRY(call_object(c, a, err));
  TRY(wire_text(a->root, "location", &location, err));
  return location != NULL ? buf_append_str(ret_location, str_of(location), err)
                          : call_wrong(c, a->status, err, "'location' is missing");
}

glv_status remote_table_declare(glv_conn *conn, glv_id id, glv_pairs properties,
                                const glv_call_options *options, buf *ret_location,
                                glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(call_begin(&c, &conn_of(conn)->http, &declare_route, target_of(id), options->cancel, err));
  c.body = js_new_object();
  CLEANUP(js_cleanup) json *map = js_new_object();
  for (size_t i = 0; i < properties.count; i++) {
    TRY(wire_put_text(map, properties.items[i].name, properties.items[i].value, err));
  }
  json *taken = map;
  map = NULL;
  TRY(js_put(c.body, "properties", taken, err));
  return finish(&c, &a, ret_location, err);
}

glv_status remote_table_register(glv_conn *conn, glv_id id, const char *location,
                                 const glv_call_options *options, buf *ret_location,
                                 glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(call_begin(&c, &conn_of(conn)->http, &register_route, target_of(id), options->cancel, err));
  c.body = js_new_object();
  TRY(wire_put_text(c.body, "location", location, err));
  return finish(&c, &a, ret_location, err);
}

glv_status remote_table_deregister(glv_conn *conn, glv_id id, const glv_call_options *options,
                                   buf *ret_location, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(call_begin(&c, &conn_of(conn)->http, &deregister_route, target_of(id), options->cancel, err));
  c.body = js_new_object();
  return finish(&c, &a, ret_location, err);
}

glv_status remote_table_locate(glv_conn *conn, glv_id id, const glv_call_options *options,
                               buf *ret_location, bool *ret_is_declared, glv_error *err) {
  CLEANUP(call_dispose) call c = {0};
  CLEANUP(answer_dispose) answer a = {0};
  TRY(call_begin(&c, &conn_of(conn)->http, &describe_route, target_of(id), options->cancel, err));
  c.body = js_new_object();
  TRY(wire_put_bool(c.body, "check_declared", true, err));
  TRY(finish(&c, &a, ret_location, err));
  *ret_is_declared = false;
  return wire_bool(a.root, "is_only_declared", ret_is_declared, err);
}
