/**
 * @file routes.h
 * The routes: each file routes_SUBJECT.c has a table of them, ended by one without a pattern.
 *
 * A pattern is a path whose parts are words, {id} (an object id, see wire/path.h) or {name}; a
 * trailing slash of the request does not count. A handler either answers, or returns the error
 * that becomes the answer by the table of wire/status.h.
 */
#ifndef GLAIVE_SERVER_ROUTES_H
#define GLAIVE_SERVER_ROUTES_H

#include "server/request.h"

typedef glv_status (*route_handler)(request *r, glv_error *err);

enum route_flags {
  ROUTE_GET = 1,   /* the methods it answers */
  ROUTE_POST = 2,  /* */
  ROUTE_ARROW = 4, /* the body may be Arrow data: it is not collected first */
  ROUTE_OPEN = 8,  /* no key is needed */
  /* A list of names: keys for some namespaces get in although {id} (or the whole server, without
   * one) is not theirs; the handler leaves out what request_shows, or request_covers, denies. */
  ROUTE_LIST = 16,
  ROUTE_INLINE = 32, /* answers from memory alone, at once: runs on the thread that parses */
  /* Changes the table {id}: such requests for one table are handled one after the other (long Arrow
   * bodies excepted, which write while they come and meet others at the commit only). */
  ROUTE_SERIAL = 64
};

typedef struct route {
  const char *pattern; /* "/v1/table/{id}/describe" */
  unsigned flags;
  access_scope scope; /* that the key must have, for the namespace of {id} */
  route_handler handle;
  const char *summary; /* one line, for the description of the interface */
} route;

extern const route namespace_routes[];
extern const route table_routes[];  /* life of tables: create, describe, drop, rename, ... */
extern const route data_routes[];   /* rows: insert, multipart, update, delete, merge, columns */
extern const route query_routes[];  /* query, count, plans */
extern const route upkeep_routes[]; /* indexes, versions, tags, statistics */
extern const route other_routes[];  /* what there is nothing of */
extern const route view_routes[];
extern const route job_routes[];
extern const route extra_routes[];   /* those of our servers alone, see wire/extra.h */
extern const route service_routes[]; /* health, metrics, the description */
extern const route console_routes[]; /* the page for browsers */

#endif
