/**
 * @file outcome.h
 * Reports that every implementation of the backend interface words alike.
 */
#ifndef GLAIVE_BACKEND_OUTCOME_H
#define GLAIVE_BACKEND_OUTCOME_H

#include "base/error.h"

/** The outcome of the first fill of a view that was just made: the message of a failure says that
 * the view stays. @return status. */
glv_status outcome_first_fill(glv_status status, const char *view_name, glv_error *err);

#endif
