/* Routes of the server itself: whether it lives. */
#include "server/routes.h"

static glv_status health(request *r, glv_error *err) {
  return answer_bytes(r, 200, "application/json", STR("{\"status\":\"ok\"}"), err);
}

const route service_routes[] = {
    {"/health", ROUTE_GET | ROUTE_OPEN, ACCESS_NONE, health, "Whether the server lives."},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
