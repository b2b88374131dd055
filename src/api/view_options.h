/** @file view_options.h Checks of what calls on views are given, blocking or as jobs. */
#ifndef GLAIVE_API_VIEW_OPTIONS_H
#define GLAIVE_API_VIEW_OPTIONS_H

#include "api/options.h"

/** Not NULL, not in a forked child. */
glv_status check_view(const glv_view *view, glv_error *err);
/** Errors: GLV_E_INVALID_INPUT for a definition that says too little or too much. */
glv_status read_definition(const glv_view_def *def, glv_view_def *known, glv_error *err);
glv_status read_refresh_options(const glv_refresh_options *options, glv_refresh_options *ret,
                                glv_error *err);

#endif
