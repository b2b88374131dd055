/**
 * @file tables_private.h
 * The tables that a server keeps open.
 */
#ifndef GLAIVE_SERVER_TABLES_PRIVATE_H
#define GLAIVE_SERVER_TABLES_PRIVATE_H

#include "server/server_private.h"

glv_status table_cache_new(glv_env *env, table_cache **ret, glv_error *err);
void table_cache_free(table_cache *c); /* NULL is fine */
/** Give up the handles that were not asked for since then (on the clock of server_clock_ns). */
void table_cache_trim(table_cache *c, int64_t before_ns);
/** The same for those that were not asked for in a while. */
void table_cache_idle(table_cache *c);
/** Give back the tables of a request. */
void tables_release(exchange *x);

#endif
