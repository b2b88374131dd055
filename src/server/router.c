/*
 * Matching the target of a request (rest-protocol.md 2). The path is cut at its slashes first; a
 * part that stands where a pattern has a word must be that word byte for byte; where it has {id} or
 * {name} it is percent-decoded, an id then split at the delimiter.
 *
 * Patterns are kept by their number of parts, and compared from the last part on, in which they
 * differ most.
 */
#include "server/router.h"

#include "base/error.h"
#include "wire/path.h"

enum { MAX_PARTS = 8, MAX_PARAMS = 64 };

typedef enum part_kind { PART_WORD, PART_ID, PART_NAME } part_kind;

typedef struct pattern_part {
  part_kind kind;
  str word;
} pattern_part;

typedef struct pattern {
  const route *route;
  size_t number;
  pattern_part parts[MAX_PARTS];
  struct pattern *next;
} pattern;

struct router {
  arena memory;
  pattern *by_count[MAX_PARTS + 1];
  const route **routes; /* by number */
  size_t route_count;
};

static const route *const tables[] = {namespace_routes, table_routes,   data_routes,   query_routes,
                                      upkeep_routes,    other_routes,   view_routes,   job_routes,
                                      extra_routes,     service_routes, console_routes};

const route *router_table(size_t index) {
  return index < sizeof tables / sizeof tables[0] ? tables[index] : NULL;
}

/* Cut path, which begins with a slash, at its slashes. @return the number of parts; SIZE_MAX when
 * there are too many. */
static size_t split_path(str path, str parts[MAX_PARTS]) {
  size_t count = 0;
  size_t start = 1;
  for (size_t i = 1; i <= path.size; i++) {
    if (i < path.size && path.data[i] != '/') {
      continue;
    }
    if (i == path.size && start == i) {
      break; /* a slash at the end */
    }
    if (count == MAX_PARTS) {
      return SIZE_MAX;
    }
    parts[count++] = str_slice(path.data + start, i - start);
    start = i + 1;
  }
  return count;
}

static part_kind kind_of(str part) {
  return str_is(part, "{id}") ? PART_ID : str_is(part, "{name}") ? PART_NAME : PART_WORD;
}

static glv_status add_pattern(router *r, const route *added, glv_error *err) {
  str parts[MAX_PARTS];
  const size_t count = split_path(str_of(added->pattern), parts);
  if (count > MAX_PARTS || added->pattern[0] != '/' || kind_of(parts[0]) != PART_WORD) {
    return FAIL(err, GLV_E_INTERNAL, "the route '%s' is not one", added->pattern);
  }
  pattern *p = ARENA_NEW(&r->memory, pattern);
  if (p == NULL) {
    return error_nomem(err, sizeof *p);
  }
  p->route = added;
  p->number = r->route_count;
  r->routes[r->route_count++] = added;
  for (size_t i = 0; i < count; i++) {
    p->parts[i] = (pattern_part){kind_of(parts[i]), parts[i]};
  }
  /* At the end: of two that fit, the first one of the tables is taken. */
  pattern **end = &r->by_count[count];
  while (*end != NULL) {
    end = &(*end)->next;
  }
  *end = p;
  return GLV_OK;
}

static size_t count_routes(void) {
  size_t count = 0;
  for (size_t t = 0; router_table(t) != NULL; t++) {
    for (const route *one = router_table(t); one->pattern != NULL; one++) {
      count++;
    }
  }
  return count;
}

size_t router_count(const router *r) { return r->route_count; }
const route *router_route(const router *r, size_t number) { return r->routes[number]; }

glv_status router_new(glv_env *env, router **ret, glv_error *err) {
  router *r = mem_zalloc(env, sizeof *r);
  if (r == NULL) {
    return error_nomem(err, sizeof *r);
  }
  arena_init(&r->memory, env);
  r->routes = ARENA_ARRAY(&r->memory, const route *, count_routes());
  glv_status status = r->routes != NULL ? GLV_OK : error_nomem(err, 0);
  for (size_t t = 0; router_table(t) != NULL; t++) {
    for (const route *one = router_table(t); one->pattern != NULL && status == GLV_OK; one++) {
      status = add_pattern(r, one, err);
    }
  }
  if (status != GLV_OK) {
    router_free(r);
    return status;
  }
  *ret = r;
  return GLV_OK;
}

void router_free(router *r) {
  if (r != NULL) {
    glv_env *env = r->memory.env;
    arena_dispose(&r->memory);
    mem_free(env, r);
  }
}

static bool fits(const pattern *p, const str *parts, size_t count) {
  for (size_t i = count; i-- > 0;) {
    if (p->parts[i].kind == PART_WORD && !str_equal(p->parts[i].word, parts[i])) {
      return false;
    }
  }
  return true;
}

/* ---- the query string ---- */

static glv_status read_param(arena *memory, str text, request_param *ret, glv_error *err) {
  const char *equals = text.size > 0 ? memchr(text.data, '=', text.size) : NULL;
  const size_t name = equals != NULL ? (size_t)(equals - text.data) : text.size;
  char *copy;
  TRY(wire_percent_decode(memory, str_slice(text.data, name), true, &copy, err));
  ret->name = copy;
  const size_t value = equals != NULL ? name + 1 : name;
  TRY(wire_percent_decode(memory, str_slice(text.data + value, text.size - value), true, &copy,
                          err));
  ret->value = copy;
  return GLV_OK;
}

static glv_status read_params(arena *memory, str text, target *ret, glv_error *err) {
  if (text.size == 0) {
    return GLV_OK;
  }
  request_param *params = ARENA_ARRAY(memory, request_param, MAX_PARAMS);
  if (params == NULL) {
    return error_nomem(err, MAX_PARAMS * sizeof *params);
  }
  ret->params = params;
  for (size_t start = 0; start < text.size;) {
    const char *end = memchr(text.data + start, '&', text.size - start);
    const size_t size = end != NULL ? (size_t)(end - text.data) - start : text.size - start;
    if (size > 0) {
      if (ret->param_count == MAX_PARAMS) {
        return FAIL(err, GLV_E_INVALID_INPUT, "the address has more than %d parameters",
                    MAX_PARAMS);
      }
      TRY(read_param(memory, str_slice(text.data + start, size), &params[ret->param_count], err));
      ret->param_count++;
    }
    start += size + 1;
  }
  return GLV_OK;
}

static const char *delimiter_of(const target *t) {
  const char *found = WIRE_DELIMITER;
  for (size_t i = 0; i < t->param_count; i++) {
    if (strcmp(t->params[i].name, "delimiter") == 0) {
      found = t->params[i].value;
    }
  }
  return found;
}

static glv_status read_parts(const pattern *p, const str *parts, size_t count, arena *memory,
                             target *ret, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    char *text;
    if (p->parts[i].kind == PART_WORD) {
      continue;
    }
    TRY(wire_percent_decode(memory, parts[i], false, &text, err));
    if (p->parts[i].kind == PART_NAME) {
      TRY(wire_check_name(str_of(text), err));
      ret->name = text;
      continue;
    }
    TRY(wire_id_split(memory, text, delimiter_of(ret), &ret->id.parts, &ret->id.count, err));
    if (ret->id.count == 0 && !str_is(p->parts[i - 1].word, "namespace")) {
      return FAIL(err, GLV_E_INVALID_INPUT, "'%s' is the root namespace, where a table is named",
                  text);
    }
  }
  return GLV_OK;
}

glv_status router_find(const router *r, unsigned method, const char *text, arena *memory,
                       target *ret, glv_error *err) {
  *ret = (target){.path = text, .number = SIZE_MAX};
  const char *question = strchr(text, '?');
  const str path = str_slice(text, question != NULL ? (size_t)(question - text) : strlen(text));
  if (question != NULL) {
    ret->path = arena_strdup(memory, path);
    if (ret->path == NULL) {
      return error_nomem(err, path.size);
    }
  }
  str parts[MAX_PARTS];
  if (path.size == 0 || path.data[0] != '/') {
    return GLV_OK;
  }
  ret->has_slash = path.size > 1 && path.data[path.size - 1] == '/';
  const size_t count = split_path(path, parts);
  const pattern *found = NULL;
  for (const pattern *p = count <= MAX_PARTS ? r->by_count[count] : NULL; p != NULL; p = p->next) {
    if (fits(p, parts, count)) {
      ret->methods |= p->route->flags & (ROUTE_GET | ROUTE_POST);
      found = found == NULL && (p->route->flags & method) != 0 ? p : found;
    }
  }
  if (found == NULL) {
    return GLV_OK;
  }
  ret->route = found->route;
  ret->number = found->number;
  TRY(read_params(memory, question != NULL ? str_of(question + 1) : (str){NULL, 0}, ret, err));
  return read_parts(found, parts, count, memory, ret, err);
}
