/**
 * @file multipart.h
 * Writes in several parts (rest-protocol.md 7.5): parts are kept in files without a name until the
 * write is completed, which is one commit. They do not survive the server.
 */
#ifndef GLAIVE_SERVER_MULTIPART_H
#define GLAIVE_SERVER_MULTIPART_H

#include "server/request.h"

typedef struct multipart multipart;
typedef struct multipart_write multipart_write; /* one of them */

/** The files lie in data_dir. Errors: GLV_E_NOMEM. */
glv_status multipart_new(glv_env *env, const char *data_dir, multipart **ret, glv_error *err);
void multipart_free(multipart *m); /* NULL is fine */

/** Begin a write to the table of the request. *ret: its id, in the memory of the request. Errors:
 * GLV_E_THROTTLED when too many are open. */
glv_status multipart_begin(request *r, const char **ret, glv_error *err);
/**
 * Take a part; one of the same id is replaced.
 * @param rows taken over in every case.
 * Errors: GLV_E_TRANSACTION_NOT_FOUND for an unknown id, one of another table, and one that is
 * over; those of the rows.
 */
glv_status multipart_add(request *r, const char *id, const char *part, bool overwrite,
                         struct ArrowArrayStream *rows, glv_error *err);
/** Commit all parts: one append, or one overwrite when a part said so. What was completed stays
 * so for an hour at least: a repetition gives the same result. */
glv_status multipart_complete(request *r, const char *id, glv_write_result *ret, glv_error *err);
/** The same in steps, for a job: a reference to a write on the table of the request, its commit,
 * and the end of the reference. */
glv_status multipart_enter(request *r, const char *id, multipart_write **ret, glv_error *err);
glv_status multipart_commit(multipart_write *s, glv_table *table, glv_cancel *cancel,
                            glv_write_result *ret, glv_error *err);
void multipart_leave(multipart_write *s);
glv_status multipart_abort(request *r, const char *id, glv_error *err);

#endif
