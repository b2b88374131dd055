/** @file job_store_private.h The store's connection, for the files that read it. */
#ifndef GLAIVE_SERVER_JOB_STORE_PRIVATE_H
#define GLAIVE_SERVER_JOB_STORE_PRIVATE_H

#include <sqlite3.h>

#include "base/thread.h"
#include "server/job_store.h"

struct job_store {
  glv_env *env;
  mutex lock; /* guards the connection */
  sqlite3 *db;
  char *path;
};

/** Usable with CLEANUP. */
void job_store_finalize(sqlite3_stmt **statement);
glv_status job_store_prepare(const job_store *s, const char *sql, sqlite3_stmt **ret,
                             glv_error *err);
/** NULL binds null; text must live until the statement ran. */
void job_store_bind_text(sqlite3_stmt *statement, int at, const char *text);
/** *ret: whether there is a row. */
glv_status job_store_next(const job_store *s, sqlite3_stmt *statement, bool *ret, glv_error *err);
/** A copy in memory; null gives NULL. */
glv_status job_store_text(sqlite3_stmt *statement, int at, arena *memory, const char **ret,
                          glv_error *err);

#endif
