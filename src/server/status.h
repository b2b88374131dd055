/**
 * @file status.h
 * What a failed handler becomes on the wire (rest-protocol.md 4).
 */
#ifndef GLAIVE_SERVER_STATUS_H
#define GLAIVE_SERVER_STATUS_H

#include <glaive/status.h>

/** The number in the key `code` of an error body. */
int status_wire_code(glv_status status);
/** The HTTP status. */
unsigned status_http(glv_status status);

#endif
