/* Functions that LanceDB has and Glaive has not: lists, structs, JSON, digests and more
 * (sql-expressions 13.1 to 13.3). Their names are reserved: a text that is right elsewhere is told
 * what to do instead, and is not answered with a similar name as if it were misspelt. */
#include "expr/function_private.h"

static glv_status bind_later(function_binding *b, glv_error *err) {
  return FAIL(
      err, GLV_E_SQL_PLAN,
      "function '%.*s' is not supported; compute it before the data is written, or leave it out",
      STR_ARG(b->name));
}

#define LATER(name_)                                                                               \
  { .name = (name_), .bind = bind_later }

const function functions_later[] = {
    LATER("union_tag"),
    LATER("union_extract"),
    LATER("arrow_field"),
    LATER("arrow_metadata"),
    LATER("with_metadata"),
    LATER("array_filter"),
    LATER("array_transform"),
    LATER("array_any_match"),
    LATER("json_extract_with_type"),
    {0},
};
