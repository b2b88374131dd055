/*
 * Fuzz target: any bytes as the stored definition of a view, read in both strengths. What the
 * strict reader takes, the other takes too and gives the same; it writes to a text that reads back
 * and writes equal.
 */
#include <stdlib.h>

#include "base/env.h"
#include "view/definition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_LIMIT ((uint64_t)64 << 20)

static void require(bool ok) {
  if (!ok) {
    abort();
  }
}

/* True when the outcome is known, that is, memory sufficed. */
static bool examine(arena *a, str text, bool parse_only, definition_read *ret) {
  const glv_status status = definition_examine(a, text, parse_only, ret, NULL);
  require(status == GLV_OK || status == GLV_E_NOMEM);
  return status == GLV_OK;
}

static bool write_text(arena *a, const view_definition *d, str *ret) {
  buf out;
  buf_init(&out, a->env, (size_t)1 << 26);
  const glv_status status = definition_write(d, &out, NULL);
  require(status == GLV_OK || status == GLV_E_NOMEM || status == GLV_E_LIMIT);
  const char *copy = status == GLV_OK ? arena_strdup(a, buf_str(&out)) : NULL;
  *ret = str_of(copy);
  buf_dispose(&out);
  return copy != NULL;
}

static void check_written(arena *a, const view_definition *d) {
  str first;
  str second;
  definition_read again;
  if (!write_text(a, d, &first) || !examine(a, first, false, &again)) {
    return;
  }
  require(again.state == DEFINITION_OK);
  require(again.definition.form == d->form);
  require(!write_text(a, &again.definition, &second) || str_equal(first, second));
}

static void check(arena *a, str text) {
  definition_read strict;
  definition_read loose;
  if (!examine(a, text, false, &strict) || !examine(a, text, true, &loose)) {
    return;
  }
  require(strict.state != DEFINITION_OK || loose.state == DEFINITION_OK);
  require(strict.state != DEFINITION_NEWER || loose.state == DEFINITION_NEWER);
  if (strict.state == DEFINITION_OK) {
    check_written(a, &strict.definition);
    if (strict.definition.form != DEFINITION_QUERY) {
      definition_make_query(a, &strict.definition, NULL);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const glv_io no_io;
  const glv_env_options options = {
      .struct_size = sizeof options, .memory_limit_bytes = MEMORY_LIMIT, .io = &no_io};
  glv_env *env;
  require(env_new(&options, &env, NULL) == GLV_OK);
  arena a;
  arena_init(&a, env);
  check(&a, str_slice((const char *)data, size));
  arena_dispose(&a);
  env_unref(env);
  return 0;
}
