/**
 * @file error.h
 * Reporting and passing on failures, and releasing local variables.
 *
 * A function that can fail returns glv_status and takes `glv_error *err` last. err may be NULL; it
 * is written only on failure, by the layer that failed first; the layers above pass it through or
 * rewrite code and message together.
 */
#ifndef GLAIVE_BASE_ERROR_H
#define GLAIVE_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#include <glaive/status.h>

/** Return the status of call from the calling function if it is not GLV_OK. */
#define TRY(call)                                                                                  \
  do {                                                                                             \
    const glv_status try_status = (call);                                                          \
    if (try_status != GLV_OK) {                                                                    \
      return try_status;                                                                           \
    }                                                                                              \
  } while (0)

/**
 * Format a failure into err (may be NULL); evaluates to code: `return FAIL(err, GLV_E_CORRUPT,
 * "...", ...);` The detour through error_result lets compilers see that the value is not GLV_OK.
 */
#define FAIL(err, code, ...) error_result((code), error_set((err), (code), __VA_ARGS__))
static inline glv_status error_result(glv_status code, glv_status reported) {
  (void)reported;
  return code;
}

/** Run fn(&variable) when the variable leaves its scope. fn must accept the variable's empty value.
 */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

/**
 * Fill err with code and a formatted one-line message; a message that is too long is cut at a
 * character boundary.
 *
 * @param err  may be NULL.
 * @return code. Thread class: T.
 */
glv_status error_set(glv_error *err, glv_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/** As error_set, with the errno of the system call that failed. */
glv_status error_set_errno(glv_error *err, glv_status code, int sys_errno, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/** As error_set, from a va_list. */
glv_status error_set_va(glv_error *err, glv_status code, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0), cold));

/** Put formatted text before the message of err, if err is not NULL; code and flags stay. @return
 * err's code, or code. */
glv_status error_prefix(glv_error *err, glv_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/** Hand on a report that was kept aside: copies it to err, if err is not NULL. @return its code. */
glv_status error_pass(glv_error *err, const glv_error *from);

/** Set flag bits (GLV_ERROR_*), if err is not NULL. */
void error_flag(glv_error *err, uint32_t flags);

/** The name of a status, for example "GLV_E_CORRUPT"; a static string for any number. */
const char *error_name(glv_status status);

/** The report of an allocation of size bytes that failed. */
void error_report_nomem(glv_error *err, size_t size) __attribute__((cold));
/** The same, for `return error_nomem(err, size);` @return GLV_E_NOMEM. */
static inline glv_status error_nomem(glv_error *err, size_t size) {
  error_report_nomem(err, size);
  return GLV_E_NOMEM;
}

#endif
