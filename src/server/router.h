/**
 * @file router.h
 * From the target of a request to its route, id and parameters. Works on the raw bytes: the path is
 * split before anything is percent-decoded, so that an encoded slash makes no part.
 */
#ifndef GLAIVE_SERVER_ROUTER_H
#define GLAIVE_SERVER_ROUTER_H

#include "base/arena.h"
#include "server/routes.h"

typedef struct router router;

/** Over all tables of routes. Errors: GLV_E_NOMEM; GLV_E_INTERNAL for a pattern that is none. */
glv_status router_new(glv_env *env, router **ret, glv_error *err);
void router_free(router *r); /* NULL is fine */

/** All routes have a number below this one. */
size_t router_count(const router *r);
const route *router_route(const router *r, size_t number);

/** What the target of a request says. */
typedef struct target {
  const route *route; /* NULL = none fits */
  size_t number;      /* of the route; SIZE_MAX = none */
  unsigned methods;   /* ROUTE_GET, ROUTE_POST: of all routes that the path fits */
  const char *path;   /* without the query string */
  bool has_slash;
  glv_id id;
  const char *name;
  const request_param *params;
  size_t param_count;
} target;

/**
 * Find the route of a request.
 *
 * @param method ROUTE_GET, ROUTE_POST, or 0 for another.
 * @param text   the request target, "/v1/table/a%24b/describe/?x=1"; must live as long as memory.
 * @param ret    filled as far as it got also on failure; lives in memory.
 * Errors: GLV_E_INVALID_INPUT for bad escapes, bad UTF-8, NUL, and names that cannot be;
 * GLV_E_NOMEM.
 */
glv_status router_find(const router *r, unsigned method, const char *text, arena *memory,
                       target *ret, glv_error *err);
/** The tables of routes, one after the other; NULL at the end. For descriptions of the interface.
 */
const route *router_table(size_t index);

#endif
