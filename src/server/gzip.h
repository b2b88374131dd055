/**
 * @file gzip.h
 * Compression of answers, by zlib.
 */
#ifndef GLAIVE_SERVER_GZIP_H
#define GLAIVE_SERVER_GZIP_H

#include "base/buf.h"

typedef struct gzip gzip;

/** Errors: GLV_E_NOMEM. */
glv_status gzip_new(glv_env *env, gzip **ret, glv_error *err);
void gzip_free(gzip *z); /* NULL is fine */
void gzip_cleanup(gzip **z);
/** Append the compressed form of text to out; part of it may come out later. is_last: all of it
 * comes out, with the end of the stream. Errors: GLV_E_NOMEM. */
glv_status gzip_add(gzip *z, str text, bool is_last, buf *out, glv_error *err);

/** Whether the header Accept-Encoding (NULL = absent) takes gzip: named, or "*", and not with
 * q=0. */
bool gzip_is_accepted(const char *accept_encoding);

#endif
