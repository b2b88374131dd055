/**
 * @file job.h
 * Jobs: the long operations in the background. Every function here that begins one returns as soon
 * as it is accepted.
 *
 * A job of an embedded connection runs in this process, has no id, and ends with its connection:
 * glv_conn_free cancels it and waits for it. A job of a server has an id, and goes on whatever the
 * client does.
 */
#ifndef GLAIVE_JOB_H
#define GLAIVE_JOB_H

#include <glaive/view.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glv_job glv_job;

/** Where a job stands. */
enum glv_job_state {
  GLV_JOB_UNKNOWN = 0, /**< the server has a word for it that is not known here: not over */
  GLV_JOB_QUEUED = 1,
  GLV_JOB_RUNNING = 2,
  GLV_JOB_DONE = 3,
  GLV_JOB_FAILED = 4,
  GLV_JOB_CANCELLED = 5
};

/** What can be seen of a job. Set struct_size before the call. */
typedef struct glv_job_info {
  uint32_t struct_size;
  int32_t state; /**< enum glv_job_state */
  uint64_t done; /**< source rows that were read, of `total`; both 0 when nothing is known */
  uint64_t total;
  int64_t created_ms;  /**< since the epoch; 0 = not known */
  int64_t finished_ms; /**< 0 = not over */
  glv_error error;     /**< of a job that failed or was cancelled, else zero */
} glv_job_info;

/* ---- beginning ---- */

/**
 * Create a view, and fill it unless GLV_VIEW_NO_DATA is set, in the background. Definition and
 * source are checked before the call returns.
 *
 * @param conn    the connection.
 * @param id      its namespace path and name.
 * @param def     the definition.
 * @param options NULL = defaults; its token stops the job.
 * @param ret_job the job; the caller releases it with glv_job_free.
 * @param err     NULL, or filled on failure. Errors: those of glv_view_create that concern the
 * definition; the others are those of the job. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_create_job(glv_conn *conn, glv_id id,
                                                   const glv_view_def *def,
                                                   const glv_view_options *options,
                                                   glv_job **ret_job, glv_error *err);

/**
 * Refresh a view in the background.
 *
 * @param view    the view; may be released while the job runs.
 * @param options NULL = defaults; its token stops the job.
 * @param ret_job the job; glv_job_result tells what the refresh did.
 * @param err     NULL, or filled on failure. Errors: GLV_E_INVALID_INPUT; GLV_E_BAD_STATE when the
 * connection was released. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_refresh_job(glv_view *view,
                                                    const glv_refresh_options *options,
                                                    glv_job **ret_job, glv_error *err);

/**
 * Drop a view in the background, its running refresh being cancelled and awaited first.
 *
 * @param conn    the connection.
 * @param id      its namespace path and name.
 * @param options NULL, or flags GLV_CALL_IF_NEEDED.
 * @param ret_job the job.
 * @param err     NULL, or filled on failure. Errors: as glv_view_drop. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_view_drop_job(glv_conn *conn, glv_id id,
                                                 const glv_call_options *options, glv_job **ret_job,
                                                 glv_error *err);

/* ---- jobs of a server ---- */

/**
 * Open a job by its id.
 *
 * @param conn   the connection to the server.
 * @param job_id the id.
 * @param ret    the job; the caller releases it with glv_job_free.
 * @param err    NULL, or filled on failure. Errors: GLV_E_JOB_NOT_FOUND; GLV_E_UNSUPPORTED on an
 * embedded connection. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_job_open(glv_conn *conn, const char *job_id, glv_job **ret,
                                            glv_error *err);

/**
 * The jobs that the server knows, the latest first. Names of the list are ids, states the server's
 * words.
 *
 * @param conn    the connection to the server.
 * @param options NULL = defaults: 1,000 jobs a page.
 * @param ret     the list; the caller releases it with glv_list_free.
 * @param err     NULL, or filled on failure. Errors: GLV_E_UNSUPPORTED on an embedded connection.
 * Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_job_list(glv_conn *conn, const glv_page_options *options,
                                            glv_list **ret, glv_error *err);

/* ---- a job ---- */

/**
 * The id that the server gave it.
 *
 * @param job the job.
 * @return borrowed from the job; NULL for a job of an embedded connection. Thread class: P.
 */
GLV_API const char *glv_job_id(const glv_job *job);

/**
 * Where the job stands.
 *
 * @param job the job.
 * @param ret filled; set struct_size first.
 * @param err NULL, or filled on failure. Errors: GLV_E_JOB_NOT_FOUND when the server has forgotten
 * it. A job that failed is no failure of this call. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_job_status(glv_job *job, glv_job_info *ret, glv_error *err);

/**
 * Wait until the job is over.
 *
 * @param job        the job.
 * @param timeout_ms 0 = as long as it takes.
 * @param err        NULL, or filled on failure. Errors: GLV_E_TIMEOUT; what made the job fail, as
 * the blocking form would report it, GLV_E_JOB_FAILED when that is not known; GLV_E_CANCELLED.
 * Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_job_wait(glv_job *job, uint32_t timeout_ms, glv_error *err);

/**
 * What the refresh did that the job was.
 *
 * @param job the job.
 * @param ret filled; set struct_size first.
 * @param err NULL, or filled on failure. Errors: GLV_E_BAD_STATE when the job is not over or was
 * no refresh; the failure of the job. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_job_result(glv_job *job, glv_refresh_result *ret,
                                              glv_error *err);

/**
 * What happened to the job, in order: columns `state`, `message` and when, and what else the server
 * tells.
 *
 * @param job the job.
 * @param ret the stream; the caller releases it.
 * @param err NULL, or filled on failure. Errors: GLV_E_JOB_NOT_FOUND. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_job_events(glv_job *job, struct ArrowArrayStream *ret,
                                              glv_error *err);

/**
 * Ask the job to stop; what it has not published is given up. A job that is over stays as it is.
 *
 * @param job the job.
 * @param err NULL, or filled on failure. Errors: GLV_E_JOB_NOT_FOUND. Thread class: T.
 */
GLV_API GLV_CHECKED glv_status glv_job_cancel(glv_job *job, glv_error *err);

/**
 * Give up the caller's reference; the job goes on.
 *
 * @param job NULL is fine. Thread class: T.
 */
GLV_API void glv_job_free(glv_job *job);

#ifdef __cplusplus
}
#endif
#endif
