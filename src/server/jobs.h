/**
 * @file jobs.h
 * The jobs of the server: what views go through in the background, and upkeep of tables that is
 * asked for as a job. One job of a view or table runs at a time, the others wait in order; every
 * job is recorded before its id is told.
 */
#ifndef GLAIVE_SERVER_JOBS_H
#define GLAIVE_SERVER_JOBS_H

#include "server/job_store.h"
#include "server/request.h"
#include "wire/extra.h"
#include "wire/view.h"

typedef struct jobs jobs;

/** Errors: those of job_store_open. */
glv_status jobs_open(glv_env *env, glv_conn *conn, const char *data_dir, jobs **ret,
                     glv_error *err);
/** No job begins any more; those under way are cancelled, which leaves the versions before them,
 * and awaited. */
void jobs_stop(jobs *j);
void jobs_free(jobs *j); /* NULL is fine; stopped before */

/** What a submission gives: the job's id, in the memory of the request. */
typedef struct jobs_begun {
  const char *id;
} jobs_begun;

/** Record the creation of a view that is made already, and begin to fill it unless `no_data`. */
glv_status jobs_begin_fill(request *r, const json *spec, bool no_data, jobs_begun *ret,
                           glv_error *err);
/**
 * Begin a refresh, or join the same one when it is still queued.
 * Errors: GLV_E_TABLE_NOT_FOUND, GLV_E_NOT_A_VIEW, GLV_E_STALE_VIEW.
 */
glv_status jobs_begin_refresh(request *r, const wire_refresh *what, const json *spec,
                              jobs_begun *ret, glv_error *err);
/**
 * Begin to drop a view. From now on its name is out of service (jobs_check_name); its other jobs
 * are cancelled and awaited by this one.
 */
glv_status jobs_begin_drop(request *r, jobs_begun *ret, glv_error *err);

/** Begin upkeep of the request's table; spec: what was asked for. Errors: GLV_E_TABLE_NOT_FOUND. */
glv_status jobs_begin_compact(request *r, const wire_compact *how, const json *spec,
                              jobs_begun *ret, glv_error *err);
glv_status jobs_begin_cleanup(request *r, const wire_cleanup *how, const json *spec,
                              jobs_begun *ret, glv_error *err);
/** Begin to commit what was uploaded in parts. Errors: those of multipart_enter. */
glv_status jobs_begin_import(request *r, const char *upload_id, jobs_begun *ret, glv_error *err);

/** Answer 202 with the id of a job that was begun. */
glv_status jobs_answer(request *r, const jobs_begun *begun, glv_error *err);

/** GLV_E_TABLE_NOT_FOUND while the name is being dropped. */
glv_status jobs_check_name(jobs *j, glv_id id, glv_error *err);
/** Wait until the name is not being dropped any more. Errors: GLV_E_CANCELLED. */
glv_status jobs_await_name(request *r, glv_error *err);
/** Cancel and await the jobs of the request's view, which is about to be dropped as a table. */
glv_status jobs_stop_view(request *r, glv_error *err);

/** What a job is now; texts and trees live in the memory of the request. Errors:
 * GLV_E_JOB_NOT_FOUND. */
glv_status jobs_look(request *r, const char *id, job_row *ret, glv_error *err);
/** Ask a job to stop; one that is over is fine. Errors: GLV_E_JOB_NOT_FOUND. */
glv_status jobs_cancel(request *r, const char *id, glv_error *err);
job_store *jobs_store(jobs *j);
/** How many wait and run. */
void jobs_counts(jobs *j, size_t *ret_queued, size_t *ret_running);

#endif
