/**
 * @file remote.h
 * The HTTP implementation of the backend interface: a server of the remote protocol of LanceDB,
 * Glaive's own or another.
 */
#ifndef GLAIVE_REMOTE_REMOTE_H
#define GLAIVE_REMOTE_REMOTE_H

#include "backend/backend.h"

/** Whether a URI names a server: db://, http:// or https://. */
bool remote_is_uri(const char *uri);

/**
 * Connect to a server; nothing is sent before the first call.
 *
 * @param uri          `db://NAME[/prefix]`, or `http(s)://host[:port][/prefix]`, which is
 * db://default there; copied.
 * @param options      complete; copied.
 * @param default_host the host of db:// when options->host_override is NULL; may be NULL.
 * Errors: GLV_E_INVALID_INPUT for a URI or options that cannot be, and for db:// without a host;
 * GLV_E_UNSUPPORTED without libcurl.
 */
glv_status remote_connect(glv_env *env, const char *uri, const glv_connect_options *options,
                          const char *default_host, glv_conn **ret, glv_error *err);

#endif
