/**
 * @file upload.h
 * A request body of rows: an Arrow IPC stream that is made while it is sent, a batch at a time.
 */
#ifndef GLAIVE_REMOTE_UPLOAD_H
#define GLAIVE_REMOTE_UPLOAD_H

#include "arrow/array.h"
#include "base/buf.h"

typedef struct upload upload;

/** Takes over rows in every case. Errors: GLV_E_NOMEM. */
glv_status remote_upload_new(glv_env *env, batch_reader *rows, upload **ret, glv_error *err);
void remote_upload_free(upload *u); /* NULL is fine */
void remote_upload_cleanup(upload **u);

/** Up to size bytes of the body; 0 = the end. Errors: those of the rows; then the body must be cut
 * off, so that the receiver takes nothing of it. */
glv_status remote_upload_read(upload *u, void *data, size_t size, size_t *ret_read, glv_error *err);

/** Start again. @return false: too much was sent, the first bytes are not kept any more. */
bool remote_upload_rewind(upload *u);

/** Rows that the body holds so far. */
uint64_t remote_upload_rows(const upload *u);

#endif
