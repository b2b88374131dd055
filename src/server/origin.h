/**
 * @file origin.h
 * Requests that a browser sends for a page of somebody else.
 */
#ifndef GLAIVE_SERVER_ORIGIN_H
#define GLAIVE_SERVER_ORIGIN_H

#include "server/server_private.h"

/** The route is known; open ones are for all. Errors: GLV_E_PERMISSION_DENIED. Thread class: T. */
glv_status origin_check(const exchange *x, glv_error *err);

#endif
