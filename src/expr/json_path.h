/**
 * @file json_path.h
 * Paths into JSON values, as the JSON functions take them: `$.a[0].b`, `$.a[*]?(@.b > 1)`,
 * `$.a == 1`.
 */
#ifndef GLAIVE_EXPR_JSON_PATH_H
#define GLAIVE_EXPR_JSON_PATH_H

#include "expr/jsonb.h"

typedef struct json_path json_path; /* immutable */

/**
 * Parse a path.
 *
 * Without `$` it begins with a key. Steps: `.key`, `."key"`, `:key`, `["key"]`, `.*`, `[*]` (a
 * value that is no array stays), `[0, 2 to last, last - 1]`, `.**` with `{1}` or `{1 to last}`
 * (every value below), `?(condition)`. Conditions compare values and paths from `$` or `@` by == !=
 * <> < <= > >= and `starts with`, ask `exists(path)`, and join by && and ||. A path may be such a
 * condition as a whole, over `$`, and then gives true, false or null.
 *
 * Errors: GLV_E_SQL_EXEC for what is not one, and for arithmetic, which is not supported;
 * GLV_E_NOMEM. Release with json_path_free. Thread class: T.
 */
glv_status json_path_new(glv_env *env, str text, json_path **ret, glv_error *err);
void json_path_free(json_path *p); /* NULL is fine */
void json_path_cleanup(json_path **p);

/** The values that a path finds; they point into the document. */
typedef struct json_matches {
  glv_env *env;
  jsonb *items;
  size_t count;
  size_t capacity;
} json_matches;
void json_matches_init(json_matches *m, glv_env *env);
void json_matches_dispose(json_matches *m); /* usable with CLEANUP */

/**
 * Find what the path means in a document; *ret is emptied first.
 * Errors: GLV_E_SQL_EXEC when the document is not well-formed or the search takes too many steps;
 * GLV_E_NOMEM. Thread class: T, but ret belongs to one thread.
 */
glv_status json_path_select(const json_path *p, str document, json_matches *ret, glv_error *err);

#endif
