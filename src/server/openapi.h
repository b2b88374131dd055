/**
 * @file openapi.h
 * The description of the interface, in OpenAPI 3.1. Paths, methods, summaries and what keys must
 * allow come from the tables of routes; parameters, bodies and answers from openapi.json, which is
 * part of the program:
 *
 *     "routes": {"POST /v1/table/{id}/stats": {
 *       "params":  names in components/parameters; those of the path come by themselves
 *       "body":    a schema, or the content type of a body that is not JSON
 *       "or_rows": describes rows that may stand in the place of a JSON body
 *       "answers": {"200": a schema, or the content type of an answer that is not JSON; an array of
 *                  these where there are several forms}
 *       "errors":  further statuses in components/responses; those of every route come by
 *                  themselves}}
 */
#ifndef GLAIVE_SERVER_OPENAPI_H
#define GLAIVE_SERVER_OPENAPI_H

#include "base/json.h"

/** The text of openapi.json. */
str openapi_source(void);

/**
 * The document that /openapi.json answers.
 * @param ret js_free.
 * Errors: GLV_E_INTERNAL for a route that openapi.json does not describe; GLV_E_NOMEM.
 */
glv_status openapi_document(glv_env *env, json **ret, glv_error *err);

#endif
