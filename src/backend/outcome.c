/* Reports in the words that every implementation uses. */
#include "backend/outcome.h"

glv_status outcome_first_fill(glv_status status, const char *view_name, glv_error *err) {
  if (status == GLV_E_UNKNOWN_OUTCOME) {
    error_prefix(err, status,
                 "view '%s' was created; whether it is filled is not known: ", view_name);
  } else if (status != GLV_OK) {
    error_prefix(err, status,
                 "view '%s' was created but is still empty (refresh fills it, drop removes it): ",
                 view_name);
  }
  return status;
}
