/* Library, environment, buffers and cancellation: the exported functions that need no connection.
 */
#include <stdlib.h>

#include <glaive/glaive.h>

#include "api/options.h"
#include "arrow/cdata.h"
#include "base/cancel.h"
#include "local/local.h"

const char *glv_version(void) { return GLAIVE_VERSION; }

uint32_t glv_version_number(void) {
  uint32_t parts[3] = {0, 0, 0};
  size_t i = 0;
  for (const char *c = GLAIVE_VERSION; *c != '\0' && i < 3; c++) {
    if (*c == '.') {
      i++;
    } else {
      parts[i] = parts[i] * 10 + (uint32_t)(*c - '0');
    }
  }
  return parts[0] * 1000000 + parts[1] * 1000 + parts[2];
}

const char *default_host(void) { return getenv("GLAIVE_URL"); }

const char *glv_status_name(glv_status status) { return error_name(status); }

glv_status glv_env_new(const glv_env_options *options, glv_env **ret, glv_error *err) {
  TRY(require_pointer(ret, "ret", err));
  glv_env_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, 0, err));
  if (known.log_level < 0 || known.log_level > GLV_LOG_DEBUG) {
    return FAIL(err, GLV_E_INVALID_INPUT, "log_level %d is not a level", (int)known.log_level);
  }
  if (known.io == NULL) {
    known.io = local_io();
  }
  return env_new(&known, ret, err);
}

void glv_env_memory(const glv_env *env, uint64_t *ret_used, uint64_t *ret_peak) {
  if (env != NULL) {
    env_memory(env, ret_used, ret_peak);
  }
}

void glv_env_free(glv_env *env) { env_unref(env); }

void glv_buf_dispose(glv_buf *text) {
  if (text != NULL && text->owner != NULL) {
    glv_env *env = text->owner;
    mem_free(env, text->data);
    env_unref(env);
    *text = (glv_buf){NULL, 0, NULL};
  }
}

glv_status glv_cancel_new(glv_env *env, glv_cancel **ret, glv_error *err) {
  TRY(require_pointer(env, "env", err));
  TRY(require_pointer(ret, "ret", err));
  return cancel_new(env, NULL, ret, err);
}

void glv_cancel_request(glv_cancel *cancel) {
  if (cancel != NULL) {
    cancel_request(cancel);
  }
}

void glv_cancel_free(glv_cancel *cancel) { cancel_unref(cancel); }

void glv_stream_error(const struct ArrowArrayStream *stream, glv_error *ret) {
  if (stream != NULL && ret != NULL) {
    cdata_stream_error(stream, ret);
  }
}
