/* A job is recorded as queued, submitted to the runner, and recorded again when it begins and when
 * it is over: before those who wait for it hear of it. Between, it stands in the list of live jobs.
 */
#include "server/jobs_private.h"
#include "server/server_private.h"
#include "wire/path.h"

enum { JOB_THREADS = 2, JOBS_PER_PRUNE = 100, MOST_FINISHED = 10000 };
static const int64_t kept_ms = INT64_C(7) * 24 * 3600 * 1000;

/* ---- the life of all ---- */

static void prune(jobs *j) {
  glv_error error = {0};
  const int64_t now_ms = env_now_ns(j->env) / 1000000;
  if (job_store_prune(j->store, now_ms - kept_ms, MOST_FINISHED, &error) != GLV_OK) {
    env_log(j->env, GLV_LOG_WARNING, "old jobs stay: %s", error.message);
  }
}

glv_status jobs_open(glv_env *env, glv_conn *conn, const char *data_dir, jobs **ret,
                     glv_error *err) {
  jobs *j = mem_zalloc(env, sizeof *j);
  if (j == NULL) {
    return error_nomem(err, sizeof *j);
  }
  j->env = env;
  j->conn = conn;
  mutex_init(&j->lock);
  condition_init(&j->changed);
  glv_status status = job_store_open(env, data_dir, &j->store, err);
  status = status == GLV_OK ? job_runner_new(env, JOB_THREADS, &j->runner, err) : status;
  if (status != GLV_OK) {
    jobs_free(j);
    return status;
  }
  prune(j);
  *ret = j;
  return GLV_OK;
}

void jobs_stop(jobs *j) {
  mutex_lock(&j->lock);
  j->is_stopped = true;
  condition_signal_all(&j->changed);
  mutex_unlock(&j->lock);
  job_runner_free(j->runner);
  j->runner = NULL;
}

void jobs_free(jobs *j) {
  if (j != NULL) {
    job_runner_free(j->runner);
    job_store_close(j->store);
    mutex_dispose(&j->lock);
    condition_dispose(&j->changed);
    mem_free(j->env, j);
  }
}

job_store *jobs_store(jobs *j) { return j->store; }

void jobs_counts(jobs *j, size_t *ret_queued, size_t *ret_running) {
  job_runner_counts(j->runner, ret_queued, ret_running);
}

/* ---- one job ---- */

glv_status jobs_target(arena *memory, glv_id id, const char **ret, glv_error *err) {
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, memory->env, SIZE_MAX / 2);
  for (size_t i = 0; i < id.count; i++) {
    TRY(buf_printf(&text, err, "%s%s", i > 0 ? WIRE_DELIMITER : "", id.parts[i]));
  }
  *ret = arena_strdup(memory, buf_str(&text));
  return *ret != NULL ? GLV_OK : error_nomem(err, text.size);
}

/* A copy of the id, and a name for the job. */
static glv_status name_live(live_job *l, glv_id id, glv_error *err) {
  char *name = arena_alloc(&l->memory, UUID_TEXT_SIZE);
  const char **parts = ARENA_ARRAY(&l->memory, const char *, id.count);
  bool ok = name != NULL && parts != NULL;
  for (size_t i = 0; i < id.count && ok; i++) {
    parts[i] = arena_strdup(&l->memory, str_of(id.parts[i]));
    ok = parts[i] != NULL;
  }
  if (!ok) {
    return error_nomem(err, UUID_TEXT_SIZE);
  }
  l->id = name;
  l->view = (glv_id){parts, id.count};
  TRY(jobs_target(&l->memory, id, &l->target, err));
  return uuid_random(l->owner->env, name, err);
}

glv_status live_job_new(request *r, const char *job_type, live_job **ret, glv_error *err) {
  live_job *l = mem_zalloc(r->env, sizeof *l);
  if (l == NULL) {
    return error_nomem(err, sizeof *l);
  }
  arena_init_small(&l->memory, r->env);
  l->owner = r->server->jobs;
  l->type = job_type;
  l->created_ms = env_now_ns(r->env) / 1000000;
  const glv_status status = name_live(l, r->id, err);
  if (status != GLV_OK) {
    live_job_free(l);
    return status;
  }
  *ret = l;
  return GLV_OK;
}

void live_job_free(live_job *l) {
  glv_env *env = l->owner->env;
  if (l->import != NULL) {
    multipart_leave(l->import);
  }
  mem_free(env, l->result);
  arena_dispose(&l->memory);
  mem_free(env, l);
}

static bool is_drop(const live_job *l) { return strcmp(l->type, WIRE_JOB_DROP) == 0; }

/* Out of the list, with the lock held. */
static void unlink_live(jobs *j, const live_job *l) {
  for (live_job **at = &j->live; *at != NULL; at = &(*at)->next) {
    if (*at == l) {
      *at = l->next;
      j->dropping -= is_drop(l);
      condition_signal_all(&j->changed);
      return;
    }
  }
}

static wire_job_state state_on_wire(job_state state) {
  static const wire_job_state states[] = {WIRE_JOB_QUEUED, WIRE_JOB_RUNNING, WIRE_JOB_DONE,
                                          WIRE_JOB_FAILED, WIRE_JOB_CANCELLED};
  return states[state];
}

static job_row row_of(const live_job *l, job_state state, const glv_error *error) {
  job_row row = {.id = l->id, .state = state_on_wire(state), .result = l->result};
  if (state >= JOB_DONE) {
    row.finished_ms = env_now_ns(l->owner->env) / 1000000;
  }
  if (error != NULL) {
    row.has_failure = true;
    row.failure = (wire_job_failure){.phase = "execute",
                                     .message = error->message,
                                     .retryable = (error->flags & GLV_ERROR_MAY_RETRY) != 0,
                                     .status = error->code};
  }
  return row;
}

/* The runner tells every change. One that cannot be recorded is no reason to lose the work; after a
 * restart the job counts as interrupted. */
static void record(void *context, job_state state, const glv_error *error) {
  live_job *l = context;
  jobs *j = l->owner;
  glv_error failure = {0};
  job_row row = row_of(l, state, error);
  mutex_lock(&j->lock);
  if (l->item != NULL) {
    job_info info;
    job_look(l->item, &info);
    row.done = info.done;
    row.total = info.total;
  }
  mutex_unlock(&j->lock);
  if (job_store_update(j->store, &row, "server", &failure) != GLV_OK) {
    env_log(j->env, GLV_LOG_WARNING, "job %s: %s", l->id, failure.message);
  }
  if (state >= JOB_DONE) {
    mutex_lock(&j->lock);
    unlink_live(j, l);
    job_item *item = l->item;
    l->item = NULL;
    mutex_unlock(&j->lock);
    job_unref(item);
  }
}

static glv_status run_live(void *context, cancel_token *cancel, glv_error *err) {
  live_job *l = context;
  return l->run(l, cancel, err);
}

static void dispose_live(void *context) { live_job_free(context); }

static glv_status record_new(request *r, const live_job *l, const json *spec, glv_error *err) {
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, r->env, SIZE_MAX / 2);
  TRY(spec != NULL ? js_print(spec, 0, 0, &text, err) : buf_append_str(&text, STR("{}"), err));
  const access_key *key = exchange_of(r)->key;
  const job_row row = {.id = l->id,
                       .type = l->type,
                       .target = l->target,
                       .key = key != NULL ? key->id : NULL,
                       .state = WIRE_JOB_QUEUED,
                       .created_ms = l->created_ms,
                       .spec = text.data};
  return job_store_add(l->owner->store, &row, err);
}

/* A job that was recorded and cannot begin. */
static void record_lost(jobs *j, const char *id, const glv_error *error) {
  const job_row row = {.id = id,
                       .state = WIRE_JOB_FAILED,
                       .finished_ms = env_now_ns(j->env) / 1000000,
                       .has_failure = true,
                       .failure = {"submit", error->message, true, error->code}};
  (void)job_store_update(j->store, &row, "server", NULL);
}

static glv_status check_running(const jobs *j, glv_error *err) {
  return j->is_stopped ? FAIL(err, GLV_E_UNAVAILABLE, "the server stops; no job begins any more")
                       : GLV_OK;
}

glv_status jobs_submit(request *r, live_job *l, const json *spec, const char *identity,
                       jobs_begun *ret, glv_error *err) {
  jobs *j = l->owner;
  live_job *const others = j->live;
  const size_t dropping = j->dropping;
  glv_error error = {0};
  glv_status status = check_running(j, err);
  ret->id = arena_strdup(r->memory, str_of(l->id));
  status = status == GLV_OK && ret->id == NULL ? error_nomem(err, 0) : status;
  status = status == GLV_OK ? record_new(r, l, spec, err) : status;
  if (status != GLV_OK) {
    live_job_free(l);
    return status;
  }
  const job_work todo = {.run = run_live,
                         .changed = record,
                         .dispose = dispose_live,
                         .context = l,
                         .key = l->target,
                         .identity = identity};
  l->next = others;
  j->live = l;
  j->dropping += is_drop(l);
  status = job_submit(j->runner, &todo, &l->item, &error);
  if (status != GLV_OK) { /* the job is gone */
    j->live = others;
    j->dropping = dropping;
    record_lost(j, ret->id, &error);
    return error_pass(err, &error);
  }
  j->begun++;
  if (j->begun % JOBS_PER_PRUNE == 0) {
    prune(j);
  }
  return GLV_OK;
}

/* ---- names out of service ---- */

static bool same_id(glv_id a, glv_id b) {
  bool same = a.count == b.count;
  for (size_t i = 0; i < a.count && same; i++) {
    same = strcmp(a.parts[i], b.parts[i]) == 0;
  }
  return same;
}

/* With the lock held. */
static bool is_dropped(const jobs *j, glv_id id) {
  const live_job *l = j->dropping > 0 ? j->live : NULL;
  while (l != NULL && !(is_drop(l) && same_id(l->view, id))) {
    l = l->next;
  }
  return l != NULL;
}

glv_status jobs_check_name(jobs *j, glv_id id, glv_error *err) {
  CLEANUP(mutex_cleanup) mutex *held = &j->lock;
  mutex_lock(held);
  return is_dropped(j, id)
             ? FAIL(err, GLV_E_TABLE_NOT_FOUND, "Table '%s' was not found", id.parts[id.count - 1])
             : GLV_OK;
}

glv_status jobs_await_name(request *r, glv_error *err) {
  enum { LOOK_MS = 20 };
  jobs *j = r->server->jobs;
  CLEANUP(mutex_cleanup) mutex *held = &j->lock;
  mutex_lock(held);
  while (is_dropped(j, r->id)) {
    TRY(cancel_check(r->cancel, err));
    condition_wait_ms(&j->changed, held, LOOK_MS);
  }
  return GLV_OK;
}

/* ---- looking ---- */

/* With the lock held. */
static live_job *find_live(const jobs *j, const char *id) {
  live_job *l = j->live;
  while (l != NULL && strcmp(l->id, id) != 0) {
    l = l->next;
  }
  return l;
}

glv_status jobs_look(request *r, const char *id, job_row *ret, glv_error *err) {
  jobs *j = r->server->jobs;
  TRY(job_store_find(j->store, id, r->memory, ret, err));
  CLEANUP(mutex_cleanup) mutex *held = &j->lock;
  mutex_lock(held);
  const live_job *l = find_live(j, id);
  if (l != NULL && l->item != NULL && ret->state < WIRE_JOB_DONE) {
    job_info info;
    job_look(l->item, &info);
    ret->done = info.done;
    ret->total = info.total;
  }
  return GLV_OK;
}

glv_status jobs_cancel(request *r, const char *id, glv_error *err) {
  jobs *j = r->server->jobs;
  job_row row;
  TRY(job_store_find(j->store, id, r->memory, &row, err));
  mutex_lock(&j->lock);
  const live_job *l = find_live(j, id);
  job_item *item = l != NULL && l->item != NULL ? job_ref(l->item) : NULL;
  mutex_unlock(&j->lock);
  if (item != NULL) {
    (void)job_stop(item);
    job_unref(item);
  }
  return GLV_OK;
}

glv_status jobs_answer(request *r, const jobs_begun *begun, glv_error *err) {
  json *answer = NULL;
  TRY(wire_job_id_write(begun->id, &answer, err));
  return answer_json(r, 202, answer, err);
}
