/**
 * @file answer_private.h
 * Making answers, shared by the files that do.
 */
#ifndef GLAIVE_SERVER_ANSWER_PRIVATE_H
#define GLAIVE_SERVER_ANSWER_PRIVATE_H

#include "server/server_private.h"

/** Bytes at the start of a body that are not sent: they hold the environment that releases it. */
enum { ANSWER_BLOCK_START = 16 };

/** A body to append to; takes the place of buf_init. */
glv_status answer_block_init(buf *b, glv_env *env, glv_error *err);
/** The answer is what is in b, which is taken over. content_type: not copied. */
glv_status answer_block(exchange *x, unsigned status, const char *content_type, buf *b,
                        glv_error *err);
/** The answer is this response, which is taken over. */
void answer_set(exchange *x, unsigned status, const char *content_type,
                struct MHD_Response *response, uint64_t size);
/** Whether the answer is to be compressed: the client takes it, and the server was not told
 * otherwise. Rows for a client on the same machine are not: that would cost both more than it
 * saves. */
bool answer_takes_gzip(const exchange *x, bool is_rows);

#endif
