/** @file view_body.h Definitions of views between bodies and the public structs. */
#ifndef GLAIVE_SERVER_VIEW_BODY_H
#define GLAIVE_SERVER_VIEW_BODY_H

#include "server/request.h"
#include "wire/view.h"

/** The definition that a creation asks for, in the memory of the request. Checks output_schema.
 * Errors: GLV_E_INVALID_INPUT; those of glv_view_prepare when the schema has to be known. */
glv_status view_body_definition(request *r, const wire_view_create *wanted, glv_view_def *ret,
                                glv_error *err);
/** What describe answers; js_free. */
glv_status view_body_describe(request *r, const glv_view *view, json **ret, glv_error *err);
#endif
