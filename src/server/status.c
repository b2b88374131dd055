/* The table of rest-protocol.md 4. */
#include "server/status.h"

enum { FIRST_NAMESPACE_CODE = 100, LAST_NAMESPACE_CODE = 123 };

int status_wire_code(glv_status status) {
  if (status >= FIRST_NAMESPACE_CODE && status <= LAST_NAMESPACE_CODE) {
    return status - FIRST_NAMESPACE_CODE;
  }
  switch (status) {
  case GLV_E_JOB_NOT_FOUND:
    return 4;
  case GLV_E_NOT_A_VIEW:
    return 19;
  case GLV_E_SCHEMA:
    return 20;
  case GLV_E_STALE_VIEW:
    return 14;
  case GLV_E_SQL_PARSE:
  case GLV_E_SQL_PLAN:
  case GLV_E_SQL_EXEC:
  case GLV_E_INVALID_EXPRESSION:
  case GLV_E_COLUMN_EXISTS:
  case GLV_E_LIMIT:
    return 13;
  case GLV_E_NOMEM:
  case GLV_E_CANCELLED:
  case GLV_E_TIMEOUT:
    return 17;
  default:
    return 18;
  }
}

unsigned status_http(glv_status status) {
  switch (status) {
  case GLV_E_JOB_NOT_FOUND:
  case GLV_E_NAMESPACE_NOT_FOUND:
  case GLV_E_TABLE_NOT_FOUND:
  case GLV_E_INDEX_NOT_FOUND:
  case GLV_E_TAG_NOT_FOUND:
  case GLV_E_TRANSACTION_NOT_FOUND:
  case GLV_E_VERSION_NOT_FOUND:
  case GLV_E_BRANCH_NOT_FOUND:
    return 404;
  case GLV_E_NAMESPACE_EXISTS:
  case GLV_E_NAMESPACE_NOT_EMPTY:
  case GLV_E_BRANCH_EXISTS:
  case GLV_E_CONFLICT:
    return 409;
  case GLV_E_UNKNOWN_OUTCOME:
  case GLV_E_STALE_VIEW:
    return 412;
  case GLV_E_UNSUPPORTED:
    return 501;
  case GLV_E_UNAUTHENTICATED:
    return 401;
  case GLV_E_PERMISSION_DENIED:
    return 403;
  case GLV_E_NOMEM:
  case GLV_E_CANCELLED:
  case GLV_E_TIMEOUT:
  case GLV_E_UNAVAILABLE:
  case GLV_E_THROTTLED:
    return 503;
  case GLV_E_IO:
  case GLV_E_INTERNAL:
  case GLV_E_JOB_FAILED:
  case GLV_E_NETWORK:
    return 500;
  default:
    return 400;
  }
}
