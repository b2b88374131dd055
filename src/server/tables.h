/**
 * @file tables.h
 * Open tables, shared by the requests that read them.
 */
#ifndef GLAIVE_SERVER_TABLES_H
#define GLAIVE_SERVER_TABLES_H

#include "server/request.h"

/**
 * A table to read. The handle stands at one version for as long as the request lasts: nobody moves
 * it, and the caller neither writes through it nor checks out another version.
 *
 * @param version 0 = the latest one that is committed now.
 * @param ret     borrowed: it is released with the request. Scans keep what they need of it.
 * Errors: those of glv_table_open. Thread class: T.
 */
glv_status server_table_open(request *r, glv_id id, uint64_t version, glv_table **ret,
                             glv_error *err);
/**
 * A table to write, to check out, or to open in a way of its own: a handle that no other request
 * has.
 *
 * @param options of glv_table_open; NULL = the latest version.
 * @param ret     borrowed: it is released with the request.
 */
glv_status server_table_open_own(request *r, glv_id id, const glv_open_options *options,
                                 glv_table **ret, glv_error *err);
/**
 * A text that was remembered with a table of server_table_open (version 0): what an answer says of
 * this version of the table and of nothing else, so that it need not be made again.
 *
 * @param ret borrowed: it lives until the request ends. @return false: there is none.
 */
bool server_table_recall(const request *r, const glv_table *table, str *ret);
/** Remember a text, which is copied; of several the first one stays. Without memory nothing is. */
void server_table_remember(const request *r, const glv_table *table, str text);

/**
 * Do not keep the table open for later requests: before it is dropped, renamed or cleaned up.
 */
void server_table_forget(request *r, glv_id id);

#endif
