/** @file view_private.h View handles of the remote implementation. */
#ifndef GLAIVE_REMOTE_VIEW_PRIVATE_H
#define GLAIVE_REMOTE_VIEW_PRIVATE_H

#include "remote/remote_private.h"
#include "wire/view.h"

typedef struct remote_view {
  glv_view base;
  glv_table *table; /* a reference */
  arena memory;
  json *described; /* what the definition borrows from */
  glv_view_def def;
  const char *incarnation; /* NULL = not told */
  const char *stored;      /* NULL = not told */
} remote_view;

static inline remote_view *view_of(glv_view *view) { return (remote_view *)view; }

/** Begin a creation or a drop. *ret_id: the job's id, mem_free; NULL = done already. */
glv_status remote_view_begin_create(glv_conn *conn, glv_id id, const glv_view_def *def,
                                    const glv_view_options *options, char **ret_id, glv_error *err);
glv_status remote_view_begin_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                                  char **ret_id, glv_error *err);
/** Begin a refresh. *ret_id: the job's id, mem_free. */
glv_status remote_view_begin_refresh(glv_view *view, const glv_refresh_options *options,
                                     char **ret_id, glv_error *err);
/** The public form of what a refresh did. Errors: GLV_E_CORRUPT for a result that lacks what is
 * required. */
glv_status remote_refresh_result(const json *result, glv_refresh_result *ret, glv_error *err);
/** A copy of an id; NULL gives NULL. */
glv_status remote_keep_id(glv_env *env, const char *id, char **ret, glv_error *err);

#endif
