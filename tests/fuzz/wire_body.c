/*
 * Fuzz target: any bytes as a body of the REST interface. The first byte chooses what it is read
 * as; what a schema, an error, a job or a view reads as is written, reads back, and writes equal.
 */
#include <stdlib.h>

#include "base/env.h"
#include "wire/extra.h"
#include "wire/job.h"
#include "wire/path.h"
#include "wire/schema.h"
#include "wire/status.h"
#include "wire/time.h"
#include "wire/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_LIMIT ((uint64_t)64 << 20)

static void require(bool ok) {
  if (!ok) {
    abort();
  }
}

static bool known(glv_status status) {
  require(status == GLV_OK || status == GLV_E_INVALID_INPUT || status == GLV_E_LIMIT ||
          status == GLV_E_NOMEM || status == GLV_E_UNSUPPORTED);
  return status == GLV_OK;
}

/* Both trees print the same. */
static void require_equal(glv_env *env, const json *a, const json *b) {
  buf first;
  buf second;
  buf_init(&first, env, (size_t)1 << 26);
  buf_init(&second, env, (size_t)1 << 26);
  if (js_print_sorted(a, &first, NULL) == GLV_OK && js_print_sorted(b, &second, NULL) == GLV_OK) {
    require(str_equal(buf_str(&first), buf_str(&second)));
  }
  buf_dispose(&first);
  buf_dispose(&second);
}

static void check_schema(glv_env *env, const json *node) {
  schema *s = NULL;
  schema *again = NULL;
  json *first = NULL;
  json *second = NULL;
  if (known(wire_schema_read(env, node, &s, NULL)) && known(wire_schema_write(s, &first, NULL)) &&
      known(wire_schema_read(env, first, &again, NULL))) {
    require(schema_equal(s, again));
    if (known(wire_schema_write(again, &second, NULL))) {
      require_equal(env, first, second);
    }
  }
  js_free(first);
  js_free(second);
  schema_unref(s);
  schema_unref(again);
}

static void check_job(glv_env *env, const json *node) {
  wire_job job;
  wire_job again;
  const char *id;
  json *first = NULL;
  json *second = NULL;
  if (known(wire_job_read(node, &job, NULL)) && known(wire_job_write(&job, &first, NULL))) {
    require(known(wire_job_read(first, &again, NULL)) && again.state == job.state);
    if (known(wire_job_write(&again, &second, NULL))) {
      require_equal(env, first, second);
    }
  }
  (void)known(wire_job_entry_read(node, &job, NULL));
  (void)known(wire_job_id_read(node, &id, NULL));
  js_free(first);
  js_free(second);
}

static void check_view(arena *a, const json *node) {
  wire_view view;
  wire_view again;
  wire_view_create create;
  wire_refresh refresh;
  wire_refresh_result result;
  json *first = NULL;
  json *second = NULL;
  if (known(wire_view_read(a, node, &view, NULL)) && known(wire_view_write(&view, &first, NULL)) &&
      known(wire_view_read(a, first, &again, NULL)) &&
      known(wire_view_write(&again, &second, NULL))) {
    require_equal(a->env, first, second);
  }
  (void)known(wire_view_create_read(a, node, &create, NULL));
  (void)known(wire_refresh_read(node, &refresh, NULL));
  (void)known(wire_refresh_result_read(node, &result, NULL));
  js_free(first);
  js_free(second);
}

static void check_upkeep(const json *node) {
  wire_compact compact;
  wire_cleanup cleanup;
  wire_compact_result compacted;
  wire_cleanup_result cleaned;
  (void)known(wire_compact_read(node, &compact, NULL));
  (void)known(wire_cleanup_read(node, &cleanup, NULL));
  (void)known(wire_compact_result_read(node, &compacted, NULL));
  (void)known(wire_cleanup_result_read(node, &cleaned, NULL));
}

static void check_error(str text) {
  glv_error err;
  for (unsigned status = 200; status < 600; status += 3) {
    const glv_status code = wire_error_read(status, text, GLV_E_TABLE_NOT_FOUND, &err);
    require(code != GLV_OK && code == err.code && str_is_utf8(str_of(err.message)));
  }
}

static void check_texts(arena *a, str text) {
  char *decoded = NULL;
  const char *const *parts;
  size_t count;
  int64_t ns;
  (void)wire_time_read(text, &ns);
  if (known(wire_percent_decode(a, text, false, &decoded, NULL)) &&
      known(wire_id_split(a, decoded, WIRE_DELIMITER, &parts, &count, NULL))) {
    buf out;
    buf_init(&out, a->env, (size_t)1 << 26);
    require(wire_id_print(parts, count, &out, NULL) != GLV_E_INVALID_INPUT);
    buf_dispose(&out);
  }
}

static void check(arena *a, unsigned kind, str text) {
  json *node = NULL;
  if (kind == 'e') {
    check_error(text);
  } else if (kind == 't') {
    check_texts(a, text);
  } else if (js_parse(text, &node, NULL) == GLV_OK && js_kind_of(node) == JS_OBJECT) {
    switch (kind % 4) {
    case 0:
      check_schema(a->env, node);
      break;
    case 1:
      check_job(a->env, node);
      break;
    case 2:
      check_view(a, node);
      break;
    default:
      check_upkeep(node);
    }
  }
  js_free(node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const glv_io no_io;
  const glv_env_options options = {
      .struct_size = sizeof options, .memory_limit_bytes = MEMORY_LIMIT, .io = &no_io};
  glv_env *env;
  if (size == 0) {
    return 0;
  }
  require(env_new(&options, &env, NULL) == GLV_OK);
  arena a;
  arena_init(&a, env);
  check(&a, data[0], str_slice((const char *)data + 1, size - 1));
  arena_dispose(&a);
  env_unref(env);
  return 0;
}
