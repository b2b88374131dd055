/**
 * @file http.h
 * The HTTP side of the server.
 */
#ifndef GLAIVE_SERVER_HTTP_H
#define GLAIVE_SERVER_HTTP_H

#include "server/server_private.h"

/** Listen, as the options say; fills daemon and port. Errors: GLV_E_INVALID_INPUT, GLV_E_IO. */
glv_status http_start(server *s, glv_error *err);
/** No new connections. */
void http_quiesce(server *s);
/** Close all connections; nothing of them may be in the hands of workers. */
void http_stop(server *s);

#endif
