/**
 * @file serial.h
 * Requests that change one table are handled one after the other, so that they do not compete for
 * the next version. Who waits holds no thread.
 */
#ifndef GLAIVE_SERVER_SERIAL_H
#define GLAIVE_SERVER_SERIAL_H

#include "server/server_private.h"

glv_status serial_new(glv_env *env, serial **ret, glv_error *err);
void serial_free(serial *s); /* NULL is fine; nobody waits any more */
/** @return whether the request may be handled now; else serial_leave of an earlier one gives it
 * out. Its key must be set. */
bool serial_enter(serial *s, exchange *x);
/** The request was handled. @return the one that is to be handled now, or NULL. */
exchange *serial_leave(serial *s, exchange *x);

#endif
