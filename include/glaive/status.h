/**
 * @file status.h
 * Status codes and the one error type of Glaive.
 *
 * Codes never change meaning; new ones are appended. Codes 100 + n are the error codes n of the
 * Lance namespace specification. `GLV_STATUS_MAP` is the only list: the enum, the names and the
 * documentation come from it.
 */
#ifndef GLAIVE_STATUS_H
#define GLAIVE_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** 0 = success, else one of the `GLV_E_*` codes. */
typedef int32_t glv_status;

/** X(name, value, one line of what it means) */
#define GLV_STATUS_MAP(X)                                                                          \
  X(GLV_OK, 0, "success")                                                                          \
  X(GLV_E_NOMEM, 1, "allocation failed or the memory limit was reached")                           \
  X(GLV_E_IO, 2, "a system call failed; sys_errno tells which way")                                \
  X(GLV_E_CORRUPT, 3, "bytes on disk or wire violate their format")                                \
  X(GLV_E_CANCELLED, 4, "the cancel token fired")                                                  \
  X(GLV_E_TIMEOUT, 5, "the deadline passed")                                                       \
  X(GLV_E_LIMIT, 6, "a documented limit was exceeded")                                             \
  X(GLV_E_UNKNOWN_OUTCOME, 7, "the commit may or may not be visible")                              \
  X(GLV_E_NETWORK, 8, "no HTTP response")                                                          \
  X(GLV_E_JOB_FAILED, 9, "the job ended in failure")                                               \
  X(GLV_E_JOB_NOT_FOUND, 10, "no such job")                                                        \
  X(GLV_E_NOT_A_VIEW, 11, "the table has no view definition")                                      \
  X(GLV_E_BAD_STATE, 12, "the handle is in a state that forbids the call")                         \
  X(GLV_E_SQL_PARSE, 13, "SQL text does not parse")                                                \
  X(GLV_E_SQL_PLAN, 14, "SQL names, types, literals or constructs do not fit")                     \
  X(GLV_E_SQL_EXEC, 15, "a value made an expression fail")                                         \
  X(GLV_E_INVALID_EXPRESSION, 16, "a projection of a view does not parse, plan or type")           \
  X(GLV_E_COLUMN_EXISTS, 17, "a column of that name exists")                                       \
  X(GLV_E_SCHEMA, 18, "data, plan and stored schema do not fit")                                   \
  X(GLV_E_STALE_VIEW, 19, "the view was dropped and recreated")                                    \
  X(GLV_E_DIFFERS, 20, "the rows of a view differ from its definition")                            \
  X(GLV_E_UNSUPPORTED, 100, "not supported")                                                       \
  X(GLV_E_NAMESPACE_NOT_FOUND, 101, "no such namespace")                                           \
  X(GLV_E_NAMESPACE_EXISTS, 102, "the namespace exists already")                                   \
  X(GLV_E_NAMESPACE_NOT_EMPTY, 103, "the namespace still holds something")                         \
  X(GLV_E_TABLE_NOT_FOUND, 104, "no such table")                                                   \
  X(GLV_E_TABLE_EXISTS, 105, "the table exists already")                                           \
  X(GLV_E_INDEX_NOT_FOUND, 106, "no such index")                                                   \
  X(GLV_E_INDEX_EXISTS, 107, "the index exists already")                                           \
  X(GLV_E_TAG_NOT_FOUND, 108, "no such tag")                                                       \
  X(GLV_E_TAG_EXISTS, 109, "the tag exists already")                                               \
  X(GLV_E_TRANSACTION_NOT_FOUND, 110, "no such transaction")                                       \
  X(GLV_E_VERSION_NOT_FOUND, 111, "no such table version")                                         \
  X(GLV_E_COLUMN_NOT_FOUND, 112, "no such column")                                                 \
  X(GLV_E_INVALID_INPUT, 113, "an argument is not acceptable")                                     \
  X(GLV_E_CONFLICT, 114, "another writer committed first")                                         \
  X(GLV_E_PERMISSION_DENIED, 115, "permission denied")                                             \
  X(GLV_E_UNAUTHENTICATED, 116, "no or wrong credentials")                                         \
  X(GLV_E_UNAVAILABLE, 117, "the service is unavailable")                                          \
  X(GLV_E_INTERNAL, 118, "an internal invariant does not hold")                                    \
  X(GLV_E_INVALID_TABLE_STATE, 119, "the table is in a state that forbids the call")               \
  X(GLV_E_SCHEMA_VALIDATION, 120, "the table schema is not acceptable")                            \
  X(GLV_E_THROTTLED, 121, "too many requests")                                                     \
  X(GLV_E_BRANCH_NOT_FOUND, 122, "no such branch")                                                 \
  X(GLV_E_BRANCH_EXISTS, 123, "the branch exists already")

enum glv_status_code {
#define GLV_STATUS_ENUM(name, value, text) name = value,
  GLV_STATUS_MAP(GLV_STATUS_ENUM)
#undef GLV_STATUS_ENUM
};

/** Bit of glv_error.flags: the caller may repeat the same call. */
#define GLV_ERROR_MAY_RETRY 1u

/** Size of glv_error.message in bytes, the terminating NUL included. */
#define GLV_ERROR_MESSAGE_SIZE 496

/**
 * Filled by the function that failed; allocated by the caller, usually on the stack. Only the
 * return value of a function decides success: after a success the content is untouched. No release
 * call is needed.
 */
typedef struct glv_error {
  int32_t code;                         /**< a glv_status; 0 = unset */
  int32_t sys_errno;                    /**< errno of the failing system call, or 0 */
  int32_t http_status;                  /**< set by remote handles, or 0 */
  uint32_t flags;                       /**< GLV_ERROR_* bits */
  char message[GLV_ERROR_MESSAGE_SIZE]; /**< UTF-8, NUL-terminated, one line */
} glv_error;

#if defined(__GNUC__)
#define GLV_API __attribute__((visibility("default")))
#define GLV_CHECKED __attribute__((warn_unused_result))
#else
#define GLV_API
#define GLV_CHECKED
#endif

/**
 * The name of a status code, for example "GLV_E_CORRUPT".
 *
 * @param status any number.
 * @return a static string; "GLV_E_UNKNOWN_CODE" for a number that no code has. Thread class: T.
 */
GLV_API const char *glv_status_name(glv_status status);

#ifdef __cplusplus
}
#endif
#endif
