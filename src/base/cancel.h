/**
 * @file cancel.h
 * Tokens by which one thread asks another to stop, and learns how far it is. They are polled at
 * batch boundaries and before each retry.
 */
#ifndef GLAIVE_BASE_CANCEL_H
#define GLAIVE_BASE_CANCEL_H

#include "base/env.h"

typedef struct glv_cancel cancel_token;

/** One reference. A request to the parent (may be NULL; referenced) counts for the child too.
 * Errors: GLV_E_NOMEM. */
glv_status cancel_new(glv_env *env, cancel_token *parent, cancel_token **ret, glv_error *err);
cancel_token *cancel_ref(cancel_token *c); /* NULL gives NULL */
void cancel_unref(cancel_token *c);        /* NULL is fine */
void cancel_cleanup(cancel_token **c);
void cancel_request(cancel_token *c);
bool cancel_is_requested(const cancel_token *c); /* NULL: false */
/** GLV_E_CANCELLED once the token was asked for; NULL never is. */
glv_status cancel_check(const cancel_token *c, glv_error *err);

/** More work is ahead: so many source rows. Counts for the parents too; NULL is fine. */
void cancel_expect(cancel_token *c, uint64_t rows);
/** So many rows of it are done. */
void cancel_advance(cancel_token *c, uint64_t rows);
/** How far the work that carries the token is. */
void cancel_progress(const cancel_token *c, uint64_t *ret_done, uint64_t *ret_total);

#endif
