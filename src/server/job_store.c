/* The tables:
 *
 *   jobs    one row for each job; number is the order in which they were accepted
 *   events  one row for each change of state of a job
 *
 * One connection, guarded by a lock; the file is locked for as long as the server lives, so that a
 * second server cannot take the jobs of the first for lost ones. Every change is a transaction that
 * is on the disk when the call returns.
 */
#include <string.h>

#include "base/str.h"
#include "server/job_store_private.h"
#include "wire/status.h"

static const char schema_text[] =
    "CREATE TABLE IF NOT EXISTS jobs(number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL "
    "UNIQUE, type TEXT NOT NULL, target TEXT NOT NULL, key TEXT, state INTEGER NOT NULL, "
    "created_ms INTEGER NOT NULL, finished_ms INTEGER NOT NULL DEFAULT 0, spec TEXT NOT NULL, "
    "result TEXT, phase TEXT, message TEXT, retryable INTEGER NOT NULL DEFAULT 0, status TEXT, "
    "done INTEGER NOT NULL DEFAULT 0, total INTEGER NOT NULL DEFAULT 0);"
    "CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs(state, finished_ms);"
    "CREATE TABLE IF NOT EXISTS events(job INTEGER NOT NULL, at_ms INTEGER NOT NULL, state TEXT "
    "NOT "
    "NULL, updated_by TEXT NOT NULL, message TEXT);"
    "CREATE INDEX IF NOT EXISTS events_by_job ON events(job);";

/* ---- statements ---- */

static glv_status failed(const job_store *s, int code, glv_error *err) {
  const char *text = s->db != NULL ? sqlite3_errmsg(s->db) : sqlite3_errstr(code);
  switch (code & 0xff) {
  case SQLITE_NOMEM:
    return error_nomem(err, 0);
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return FAIL(err, GLV_E_BAD_STATE,
                "the jobs in '%s' belong to another server that runs; give this one a directory of "
                "its own with --data",
                s->path);
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return FAIL(err, GLV_E_CORRUPT,
                "'%s' is damaged (%s); move it away, and a new one without jobs is made", s->path,
                text);
  default:
    return FAIL(err, GLV_E_IO, "the jobs in '%s' cannot be kept: %s", s->path, text);
  }
}

static glv_status execute(const job_store *s, const char *sql, glv_error *err) {
  const int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
  return code == SQLITE_OK ? GLV_OK : failed(s, code, err);
}

void job_store_finalize(sqlite3_stmt **statement) { sqlite3_finalize(*statement); }

glv_status job_store_prepare(const job_store *s, const char *sql, sqlite3_stmt **ret,
                             glv_error *err) {
  const int code = sqlite3_prepare_v2(s->db, sql, -1, ret, NULL);
  return code == SQLITE_OK ? GLV_OK : failed(s, code, err);
}

void job_store_bind_text(sqlite3_stmt *statement, int at, const char *text) {
  if (text != NULL) {
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
  } else {
    sqlite3_bind_null(statement, at);
  }
}

static void bind_number(sqlite3_stmt *statement, int at, uint64_t value) {
  sqlite3_bind_int64(statement, at, (sqlite3_int64)(value <= INT64_MAX ? value : INT64_MAX));
}

/* Run a statement that gives no rows. */
static glv_status finish(const job_store *s, sqlite3_stmt *statement, glv_error *err) {
  const int code = sqlite3_step(statement);
  return code == SQLITE_DONE ? GLV_OK : failed(s, code, err);
}

glv_status job_store_next(const job_store *s, sqlite3_stmt *statement, bool *ret, glv_error *err) {
  const int code = sqlite3_step(statement);
  *ret = code == SQLITE_ROW;
  return *ret || code == SQLITE_DONE ? GLV_OK : failed(s, code, err);
}

glv_status job_store_text(sqlite3_stmt *statement, int at, arena *memory, const char **ret,
                          glv_error *err) {
  *ret = NULL;
  if (sqlite3_column_type(statement, at) == SQLITE_NULL) {
    return GLV_OK;
  }
  const char *text = (const char *)sqlite3_column_text(statement, at);
  *ret = text != NULL ? arena_strdup(memory, str_of(text)) : NULL;
  return *ret != NULL ? GLV_OK : error_nomem(err, 0);
}

/* ---- opening ---- */

/* What an earlier server left behind. */
static glv_status end_interrupted(const job_store *s, glv_error *err) {
  static const char events[] =
      "INSERT INTO events(job, at_ms, state, updated_by, message) SELECT number, ?1, 'FAILED', "
      "'server', 'server restarted' FROM jobs WHERE state IN (?2, ?3)";
  static const char jobs[] =
      "UPDATE jobs SET state = ?4, finished_ms = ?1, phase = 'restart', message = 'server "
      "restarted', retryable = 1, status = NULL WHERE state IN (?2, ?3)";
  const char *const both[] = {events, jobs};
  for (size_t i = 0; i < 2; i++) {
    CLEANUP(job_store_finalize) sqlite3_stmt *statement = NULL;
    TRY(job_store_prepare(s, both[i], &statement, err));
    sqlite3_bind_int64(statement, 1, env_now_ns(s->env) / 1000000);
    sqlite3_bind_int(statement, 2, WIRE_JOB_QUEUED);
    sqlite3_bind_int(statement, 3, WIRE_JOB_RUNNING);
    if (i == 1) {
      sqlite3_bind_int(statement, 4, WIRE_JOB_FAILED);
    }
    TRY(finish(s, statement, err));
  }
  return GLV_OK;
}

static glv_status open_database(job_store *s, glv_error *err) {
  const int code = sqlite3_open_v2(
      s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
  if (code != SQLITE_OK) {
    return failed(s, code, err);
  }
  TRY(execute(s, "PRAGMA locking_mode = EXCLUSIVE", err));
  TRY(execute(s, "PRAGMA journal_mode = WAL", err));
  TRY(execute(s, "PRAGMA synchronous = FULL", err));
  TRY(execute(s, "BEGIN EXCLUSIVE", err));
  TRY(execute(s, schema_text, err));
  TRY(end_interrupted(s, err));
  return execute(s, "COMMIT", err);
}

glv_status job_store_open(glv_env *env, const char *data_dir, job_store **ret, glv_error *err) {
  const size_t size = strlen(data_dir) + sizeof "/jobs.db";
  job_store *s = mem_zalloc(env, sizeof *s);
  char *path = mem_alloc(env, size);
  if (s == NULL || path == NULL) {
    mem_free(env, s);
    mem_free(env, path);
    return error_nomem(err, size);
  }
  memcpy(path, data_dir, strlen(data_dir));
  memcpy(path + strlen(data_dir), "/jobs.db", sizeof "/jobs.db");
  s->env = env;
  s->path = path;
  mutex_init(&s->lock);
  const glv_status status = open_database(s, err);
  if (status != GLV_OK) {
    job_store_close(s);
    return status;
  }
  *ret = s;
  return GLV_OK;
}

void job_store_close(job_store *s) {
  if (s != NULL) {
    sqlite3_close(s->db);
    mutex_dispose(&s->lock);
    mem_free(s->env, s->path);
    mem_free(s->env, s);
  }
}

/* ---- changes ---- */

static glv_status add_event(const job_store *s, const char *id, int64_t at_ms, wire_job_state state,
                            const char *updated_by, const char *message, glv_error *err) {
  CLEANUP(job_store_finalize) sqlite3_stmt *statement = NULL;
  TRY(job_store_prepare(
      s,
      "INSERT INTO events(job, at_ms, state, updated_by, message) SELECT number, ?2, ?3, "
      "?4, ?5 FROM jobs WHERE id = ?1",
      &statement, err));
  job_store_bind_text(statement, 1, id);
  sqlite3_bind_int64(statement, 2, at_ms);
  job_store_bind_text(statement, 3, wire_job_state_word(state));
  job_store_bind_text(statement, 4, updated_by);
  job_store_bind_text(statement, 5, message);
  return finish(s, statement, err);
}

static glv_status insert(const job_store *s, const job_row *row, glv_error *err) {
  CLEANUP(job_store_finalize) sqlite3_stmt *statement = NULL;
  TRY(job_store_prepare(
      s,
      "INSERT INTO jobs(id, type, target, key, state, created_ms, finished_ms, spec) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
      &statement, err));
  job_store_bind_text(statement, 1, row->id);
  job_store_bind_text(statement, 2, row->type);
  job_store_bind_text(statement, 3, row->target);
  job_store_bind_text(statement, 4, row->key);
  sqlite3_bind_int(statement, 5, (int)row->state);
  sqlite3_bind_int64(statement, 6, row->created_ms);
  sqlite3_bind_int64(statement, 7, row->finished_ms);
  job_store_bind_text(statement, 8, row->spec);
  TRY(finish(s, statement, err));
  return add_event(s, row->id, row->created_ms, row->state, row->key != NULL ? row->key : "client",
                   NULL, err);
}

static glv_status update(const job_store *s, const job_row *row, const char *updated_by,
                         glv_error *err) {
  const wire_job_failure *f = row->has_failure ? &row->failure : NULL;
  CLEANUP(job_store_finalize) sqlite3_stmt *statement = NULL;
  TRY(job_store_prepare(
      s,
      "UPDATE jobs SET state = ?2, finished_ms = ?3, result = ?4, phase = ?5, message = "
      "?6, retryable = ?7, status = ?8, done = ?9, total = ?10 WHERE id = ?1",
      &statement, err));
  job_store_bind_text(statement, 1, row->id);
  sqlite3_bind_int(statement, 2, (int)row->state);
  sqlite3_bind_int64(statement, 3, row->finished_ms);
  job_store_bind_text(statement, 4, row->result);
  job_store_bind_text(statement, 5, f != NULL ? f->phase : NULL);
  job_store_bind_text(statement, 6, f != NULL ? f->message : NULL);
  sqlite3_bind_int(statement, 7, f != NULL && f->retryable);
  job_store_bind_text(statement, 8, f != NULL ? error_name(f->status) : NULL);
  bind_number(statement, 9, row->done);
  bind_number(statement, 10, row->total);
  TRY(finish(s, statement, err));
  const int64_t now_ms = env_now_ns(s->env) / 1000000;
  return add_event(s, row->id, now_ms, row->state, updated_by, f != NULL ? f->message : NULL, err);
}

/* End a transaction: all of it or nothing. */
static glv_status settle(const job_store *s, glv_status status, glv_error *err) {
  status = status == GLV_OK ? execute(s, "COMMIT", err) : status;
  if (status != GLV_OK) {
    (void)execute(s, "ROLLBACK", NULL);
  }
  return status;
}

glv_status job_store_add(job_store *s, const job_row *row, glv_error *err) {
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  TRY(execute(s, "BEGIN", err));
  return settle(s, insert(s, row, err), err);
}

glv_status job_store_update(job_store *s, const job_row *row, const char *updated_by,
                            glv_error *err) {
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  TRY(execute(s, "BEGIN", err));
  return settle(s, update(s, row, updated_by, err), err);
}

static glv_status prune(const job_store *s, int64_t before_ms, size_t most, glv_error *err) {
  CLEANUP(job_store_finalize) sqlite3_stmt *jobs = NULL;
  TRY(job_store_prepare(
      s,
      "DELETE FROM jobs WHERE state >= ?1 AND (finished_ms < ?2 OR number <= (SELECT number "
      "FROM jobs WHERE state >= ?1 ORDER BY number DESC LIMIT 1 OFFSET ?3))",
      &jobs, err));
  sqlite3_bind_int(jobs, 1, WIRE_JOB_DONE);
  sqlite3_bind_int64(jobs, 2, before_ms);
  bind_number(jobs, 3, most);
  TRY(finish(s, jobs, err));
  return execute(s, "DELETE FROM events WHERE job NOT IN (SELECT number FROM jobs)", err);
}

glv_status job_store_prune(job_store *s, int64_t before_ms, size_t most, glv_error *err) {
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  TRY(execute(s, "BEGIN", err));
  return settle(s, prune(s, before_ms, most, err), err);
}

/* ---- reading ---- */

#define JOB_COLUMNS                                                                                \
  "number, id, type, target, key, state, created_ms, finished_ms, spec, result, phase, message, "  \
  "retryable, status, done, total"

static glv_status read_failure(sqlite3_stmt *statement, arena *memory, wire_job_failure *ret,
                               glv_error *err) {
  const char *status = NULL;
  TRY(job_store_text(statement, 10, memory, &ret->phase, err));
  TRY(job_store_text(statement, 11, memory, &ret->message, err));
  TRY(job_store_text(statement, 13, memory, &status, err));
  ret->retryable = sqlite3_column_int(statement, 12) != 0;
  ret->status = GLV_E_JOB_FAILED;
  if (status != NULL) {
    (void)wire_status_by_name(str_of(status), &ret->status);
  }
  return GLV_OK;
}

static glv_status read_row(sqlite3_stmt *statement, arena *memory, job_row *ret, glv_error *err) {
  *ret = (job_row){.number = sqlite3_column_int64(statement, 0),
                   .state = (wire_job_state)sqlite3_column_int(statement, 5),
                   .created_ms = sqlite3_column_int64(statement, 6),
                   .finished_ms = sqlite3_column_int64(statement, 7),
                   .done = (uint64_t)sqlite3_column_int64(statement, 14),
                   .total = (uint64_t)sqlite3_column_int64(statement, 15)};
  TRY(job_store_text(statement, 1, memory, &ret->id, err));
  TRY(job_store_text(statement, 2, memory, &ret->type, err));
  TRY(job_store_text(statement, 3, memory, &ret->target, err));
  TRY(job_store_text(statement, 4, memory, &ret->key, err));
  TRY(job_store_text(statement, 8, memory, &ret->spec, err));
  TRY(job_store_text(statement, 9, memory, &ret->result, err));
  ret->has_failure = ret->state == WIRE_JOB_FAILED || ret->state == WIRE_JOB_CANCELLED;
  return ret->has_failure ? read_failure(statement, memory, &ret->failure, err) : GLV_OK;
}

glv_status job_store_find(job_store *s, const char *id, arena *memory, job_row *ret,
                          glv_error *err) {
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  CLEANUP(job_store_finalize) sqlite3_stmt *statement = NULL;
  bool found = false;
  TRY(job_store_prepare(s, "SELECT " JOB_COLUMNS " FROM jobs WHERE id = ?1", &statement, err));
  job_store_bind_text(statement, 1, id);
  TRY(job_store_next(s, statement, &found, err));
  return found ? read_row(statement, memory, ret, err)
               : FAIL(err, GLV_E_JOB_NOT_FOUND, "job '%s' was not found", id);
}

glv_status job_store_list(job_store *s, const job_filter *filter, arena *memory, job_row **ret,
                          size_t *ret_count, bool *ret_more, glv_error *err) {
  job_row *rows = ARENA_ARRAY(memory, job_row, filter->limit);
  if (rows == NULL) {
    return error_nomem(err, filter->limit * sizeof *rows);
  }
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  CLEANUP(job_store_finalize) sqlite3_stmt *statement = NULL;
  TRY(job_store_prepare(
      s,
      "SELECT " JOB_COLUMNS " FROM jobs WHERE (?1 IS NULL OR type = ?1) AND (?2 IS NULL OR "
      "target = ?2) AND (?3 < 0 OR state = ?3) AND (?4 = 0 OR number < ?4) ORDER BY number "
      "DESC LIMIT ?5",
      &statement, err));
  job_store_bind_text(statement, 1, filter->type);
  job_store_bind_text(statement, 2, filter->target);
  sqlite3_bind_int(statement, 3, filter->has_state ? (int)filter->state : -1);
  sqlite3_bind_int64(statement, 4, filter->before);
  bind_number(statement, 5, (uint64_t)filter->limit + 1);
  bool has_row = false;
  size_t count = 0;
  TRY(job_store_next(s, statement, &has_row, err));
  for (; has_row && count < filter->limit; count++) {
    TRY(read_row(statement, memory, &rows[count], err));
    TRY(job_store_next(s, statement, &has_row, err));
  }
  *ret = rows;
  *ret_count = count;
  *ret_more = has_row;
  return GLV_OK;
}
