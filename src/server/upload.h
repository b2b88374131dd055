/**
 * @file upload.h
 * A long body on its way from the connection to the handler that reads it: a bounded buffer with
 * one writer that never blocks and one reader that does.
 */
#ifndef GLAIVE_SERVER_UPLOAD_H
#define GLAIVE_SERVER_UPLOAD_H

#include "arrow/ipc.h"
#include "base/buf.h"

typedef struct upload upload;

/**
 * @param start     the first bytes; taken over (left empty).
 * @param capacity  bytes held at most, those of start apart.
 * @param room      called, from the reader's thread and without a lock, when upload_put took less
 *                  than it was given and there is room again.
 * One reference. Errors: GLV_E_NOMEM.
 */
glv_status upload_new(glv_env *env, buf *start, size_t capacity, void (*room)(void *context),
                      void *context, upload **ret, glv_error *err);
void upload_free(upload *u); /* NULL is fine */

/** @return how many of the bytes were taken; all of them once the reader is done. Only the writer's
 * thread. */
size_t upload_put(upload *u, const void *data, size_t size);
/** The body is complete. */
void upload_end(upload *u);
/** The rest will not come: the reader gets this error, also for bytes that are there. Any thread.
 */
void upload_break(upload *u, const glv_error *why);
/** The reader wants no more: what comes is thrown away. */
void upload_ignore(upload *u);

/** For ipc_reader_open: blocks until there are bytes, 0 = the end. */
byte_source upload_source(upload *u);

#endif
