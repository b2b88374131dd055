/*
 * Fuzz target: the target of a request. What is found is a path of parts that are names; an id that
 * is printed is found again.
 */
#include <stdlib.h>
#include <string.h>

#include "server/router.h"
#include "wire/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_LIMIT ((uint64_t)64 << 20)

static void require(bool ok) {
  if (!ok) {
    abort();
  }
}

static void check_again(const router *r, arena *memory, const target *found) {
  CLEANUP(buf_dispose) buf path;
  buf_init(&path, memory->env, 1 << 20);
  const wire_target parts = {found->id.parts, found->id.count, found->name};
  require(wire_path(found->route->pattern, &parts, &path, NULL) == GLV_OK);
  target again;
  const unsigned method = found->route->flags & (ROUTE_GET | ROUTE_POST);
  require(router_find(r, method, path.data, memory, &again, NULL) == GLV_OK);
  require(again.route == found->route && again.id.count == found->id.count);
  for (size_t i = 0; i < again.id.count; i++) {
    require(strcmp(again.id.parts[i], found->id.parts[i]) == 0);
  }
}

static void check(const router *r, arena *memory, const char *text) {
  for (unsigned method = 0; method <= ROUTE_POST; method++) {
    target found;
    const glv_status status = router_find(r, method, text, memory, &found, NULL);
    require(status == GLV_OK || status == GLV_E_INVALID_INPUT || status == GLV_E_NOMEM);
    if (status != GLV_OK || found.route == NULL) {
      continue;
    }
    for (size_t i = 0; i < found.id.count; i++) {
      require(wire_check_name(str_of(found.id.parts[i]), NULL) == GLV_OK);
      require(str_is_utf8(str_of(found.id.parts[i])));
    }
    for (size_t i = 0; i < found.param_count; i++) {
      require(str_is_utf8(str_of(found.params[i].value)));
    }
    check_again(r, memory, &found);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const glv_io no_io;
  const glv_env_options options = {
      .struct_size = sizeof options, .memory_limit_bytes = MEMORY_LIMIT, .io = &no_io};
  glv_env *env;
  arena memory;
  router *r = NULL;
  require(env_new(&options, &env, NULL) == GLV_OK);
  arena_init_small(&memory, env);
  const char *text = arena_strdup(&memory, str_slice((const char *)data, size));
  require(text != NULL && router_new(env, &r, NULL) == GLV_OK);
  check(r, &memory, text);
  router_free(r);
  arena_dispose(&memory);
  env_unref(env);
  return 0;
}
