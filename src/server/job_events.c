/* Events of a job, and the choice among them by a predicate of the client's: it is given to SQLite
 * over a table in memory that holds these events and nothing else, with everything forbidden but
 * reading them.
 */
#include <sqlite3.h>
#include <string.h>

#include "base/buf.h"
#include "server/job_store_private.h"

enum { MOST_STEPS = 1000000, STEPS_PER_LOOK = 1000 };

static glv_status read_events(const job_store *s, const char *id, arena *memory, job_event **ret,
                              size_t *ret_count, glv_error *err) {
  CLEANUP(job_store_finalize) sqlite3_stmt *statement = NULL;
  TRY(job_store_prepare(s,
                        "SELECT at_ms, events.state, updated_by, events.message, count(*) OVER () "
                        "FROM events JOIN jobs ON job = number WHERE id = ?1 ORDER BY "
                        "events.rowid",
                        &statement, err));
  job_store_bind_text(statement, 1, id);
  job_event *events = NULL;
  size_t count = 0;
  bool has_row = false;
  TRY(job_store_next(s, statement, &has_row, err));
  for (; has_row; count++) {
    if (events == NULL) {
      events = ARENA_ARRAY(memory, job_event, (size_t)sqlite3_column_int64(statement, 4));
    }
    if (events == NULL) {
      return error_nomem(err, sizeof *events);
    }
    events[count] = (job_event){.at_ms = sqlite3_column_int64(statement, 0)};
    TRY(job_store_text(statement, 1, memory, &events[count].state, err));
    TRY(job_store_text(statement, 2, memory, &events[count].updated_by, err));
    TRY(job_store_text(statement, 3, memory, &events[count].message, err));
    TRY(job_store_next(s, statement, &has_row, err));
  }
  *ret = events;
  *ret_count = count;
  return GLV_OK;
}

/* ---- the predicate ---- */

static int allow_reading(void *context, int action, const char *first, const char *second,
                         const char *database, const char *trigger) {
  (void)context;
  (void)database;
  (void)trigger;
  static const char *const functions[] = {"like", "lower", "upper", "coalesce"};
  switch (action) {
  case SQLITE_SELECT:
    return SQLITE_OK;
  case SQLITE_READ:
    return strcmp(first, "events") == 0 ? SQLITE_OK : SQLITE_DENY;
  case SQLITE_FUNCTION:
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
      if (sqlite3_stricmp(second, functions[i]) == 0) {
        return SQLITE_OK;
      }
    }
    return SQLITE_DENY;
  default:
    return SQLITE_DENY;
  }
}

static int count_steps(void *context) {
  int *looks = context;
  return ++*looks > MOST_STEPS / STEPS_PER_LOOK;
}

static glv_status bad_predicate(sqlite3 *db, glv_error *err) {
  return FAIL(err, GLV_E_INVALID_INPUT, "'filter' is no predicate over events: %s",
              sqlite3_errmsg(db));
}

static void close_db(sqlite3 **db) { sqlite3_close(*db); }

static glv_status fill(sqlite3 *db, const job_event *events, size_t count, glv_error *err) {
  CLEANUP(job_store_finalize) sqlite3_stmt *statement = NULL;
  int code = sqlite3_exec(db,
                          "CREATE TABLE events(number INTEGER PRIMARY KEY, state, updated_by, "
                          "emitted_from, emitted_by, claim_entity, message)",
                          NULL, NULL, NULL);
  code =
      code == SQLITE_OK
          ? sqlite3_prepare_v2(db, "INSERT INTO events VALUES(?1, ?2, ?3, 'server', ?3, NULL, ?4)",
                               -1, &statement, NULL)
          : code;
  for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)i);
    job_store_bind_text(statement, 2, events[i].state);
    job_store_bind_text(statement, 3, events[i].updated_by);
    job_store_bind_text(statement, 4, events[i].message);
    code = sqlite3_step(statement) == SQLITE_DONE ? sqlite3_reset(statement) : SQLITE_NOMEM;
  }
  return code == SQLITE_OK ? GLV_OK : error_nomem(err, count);
}

/* Keep of the events those that the predicate is true of. */
static glv_status choose(glv_env *env, const char *where, job_event *events, size_t *count,
                         glv_error *err) {
  CLEANUP(close_db) sqlite3 *db = NULL;
  CLEANUP(job_store_finalize) sqlite3_stmt *statement = NULL;
  CLEANUP(buf_dispose) buf sql;
  const char *rest = NULL;
  int looks = 0;
  buf_init(&sql, env, SIZE_MAX / 2);
  TRY(buf_printf(&sql, err, "SELECT number FROM events WHERE (%s\n) ORDER BY number", where));
  if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
      SQLITE_OK) {
    return error_nomem(err, 0);
  }
  TRY(fill(db, events, *count, err));
  sqlite3_set_authorizer(db, allow_reading, NULL);
  sqlite3_progress_handler(db, STEPS_PER_LOOK, count_steps, &looks);
  if (sqlite3_prepare_v2(db, sql.data, -1, &statement, &rest) != SQLITE_OK) {
    return bad_predicate(db, err);
  }
  if (*rest != '\0') {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "'filter' is no predicate over events: it ends too early");
  }
  size_t kept = 0;
  int code = sqlite3_step(statement);
  for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
    const sqlite3_int64 at = sqlite3_column_int64(statement, 0);
    if (at < (sqlite3_int64)kept ||
        (size_t)at >= *count) { /* not of the table: a text too clever */
      return FAIL(err, GLV_E_INVALID_INPUT, "'filter' is no predicate over events");
    }
    events[kept++] = events[at];
  }
  *count = kept;
  return code == SQLITE_DONE ? GLV_OK : bad_predicate(db, err);
}

glv_status job_store_events(job_store *s, const char *id, const char *where, size_t limit,
                            arena *memory, job_event **ret, size_t *ret_count, glv_error *err) {
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  TRY(read_events(s, id, memory, ret, ret_count, err));
  if (where != NULL && *ret_count > 0) {
    TRY(choose(s->env, where, *ret, ret_count, err));
  }
  *ret_count = *ret_count < limit ? *ret_count : limit;
  return GLV_OK;
}
