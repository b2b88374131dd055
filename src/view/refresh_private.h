/**
 * @file refresh_private.h
 * The state of one attempt of a refresh, shared by refresh.c (opening), decide.c (the mode) and
 * publish.c (writing); status.c and verify.c open views in the same way.
 */
#ifndef GLAIVE_VIEW_REFRESH_PRIVATE_H
#define GLAIVE_VIEW_REFRESH_PRIVATE_H

#include "view/changes.h"
#include "view/intact.h"
#include "view/plan.h"
#include "view/refresh.h"
#include "view/watermark.h"

struct attempt {
  glv_env *env;            /* borrowed */
  const view_database *db; /* borrowed */
  const refresh_options *options;
  cancel_token *cancel; /* borrowed: the refresh's own, child of the caller's */
  arena memory;
  table_snapshot *view; /* at the version P that the refresh is planned on */
  watermark mark;
  char incarnation[64];       /* of the view; a new one when it had none */
  view_definition definition; /* as stored */
  str new_definition;         /* data NULL = the stored text stays */
  table_snapshot *source;     /* at the target version */
  view_plan *plan;
  bool has_provenance;
  intact_result intact;
  bool has_changes;
  source_changes changes; /* with has_changes; what to do when the mode is incremental */
  refresh_result result;
};

/**
 * Open the view and its source, and plan the one against the other; nothing is decided. The members
 * above memory are set, memory is initialised. attempt_dispose also after a failure: what was
 * opened before it is there. Errors: those of view_refresh.
 */
glv_status attempt_open(struct attempt *a, const char *path, const char *name,
                        const char *incarnation, glv_error *err);
void attempt_dispose(struct attempt *a);
/** Fill mode and reason of result; the view, the plan and intact are there. */
glv_status attempt_decide(struct attempt *a, glv_error *err);
/** Write the rows and the stamp, or the stamp alone, as result.mode says; fills the counts and
 * version of result. */
glv_status attempt_publish(struct attempt *a, glv_error *err);
/** Only the stamp: version P + 1. */
glv_status attempt_stamp(struct attempt *a, glv_error *err);

#endif
