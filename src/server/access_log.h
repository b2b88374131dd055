/**
 * @file access_log.h
 * One line of JSON per request. Lines are written by a thread of its own: a terminal or a disk that
 * blocks holds no request; when it falls too far behind, lines are left out and counted.
 */
#ifndef GLAIVE_SERVER_ACCESS_LOG_H
#define GLAIVE_SERVER_ACCESS_LOG_H

#include "base/env.h"
#include "base/str.h"

typedef struct access_log access_log;

/** What is told of a request; NULL texts become null. */
typedef struct access_entry {
  int64_t time_ns; /* wall clock, of its beginning */
  const char *id;
  const char *key;
  const char *method;
  const char *path;
  unsigned status; /* 0 = the client left without an answer */
  uint64_t bytes_in;
  uint64_t bytes_out;
  uint64_t duration_ns;
} access_entry;

/** path NULL = stderr; a file is appended to. Errors: GLV_E_IO, GLV_E_NOMEM. */
glv_status access_log_new(glv_env *env, const char *path, access_log **ret, glv_error *err);
/** Writes what is left. NULL is fine. */
void access_log_free(access_log *log);
void access_log_add(access_log *log, const access_entry *entry);
/** Lines that were left out. */
uint64_t access_log_dropped(access_log *log);

#endif
