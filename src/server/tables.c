/* Tables that requests have opened; they are released with the request. */
#include "server/tables.h"

#include "server/server_private.h"

static glv_status keep(exchange *x, glv_table *table, glv_table **ret, glv_error *err) {
  open_table *kept = ARENA_NEW(&x->memory, open_table);
  if (kept == NULL) {
    glv_table_free(table);
    return error_nomem(err, sizeof *kept);
  }
  *kept = (open_table){table, x->tables};
  x->tables = kept;
  *ret = table;
  return GLV_OK;
}

glv_status server_table_open(request *r, glv_id id, uint64_t version, glv_table **ret,
                             glv_error *err) {
  glv_open_options options = GLV_OPTIONS(glv_open_options);
  options.version = version;
  return server_table_open_own(r, id, &options, ret, err);
}

glv_status server_table_open_own(request *r, glv_id id, const glv_open_options *options,
                                 glv_table **ret, glv_error *err) {
  glv_table *table = NULL;
  TRY(glv_table_open(r->server->conn, id, options, &table, err));
  return keep(exchange_of(r), table, ret, err);
}
