/* The option rules are those of docs/abi.md; the checks keep programmer errors from reaching the
 * layers below. */
#include "api/options.h"

#include <string.h>

#include "arrow/cdata.h"
#include "base/checked.h"

enum { SMALLEST_OPTIONS = 8 };

glv_status options_read(const void *in, void *ret, size_t known, glv_error *err) {
  memset(ret, 0, known);
  uint32_t size = (uint32_t)known;
  if (in == NULL) {
    memcpy(ret, &size, sizeof size);
    return GLV_OK;
  }
  memcpy(&size, in, sizeof size);
  if (size < SMALLEST_OPTIONS) {
    return FAIL(err, GLV_E_INVALID_INPUT, "options struct_size is %u", size);
  }
  const unsigned char *bytes = in;
  for (size_t i = known; i < size; i++) {
    if (bytes[i] != 0) {
      return FAIL(err, GLV_E_UNSUPPORTED, "option set by a newer header than this library");
    }
  }
  memcpy(ret, in, size_min(size, known));
  size = (uint32_t)known;
  memcpy(ret, &size, sizeof size);
  return GLV_OK;
}

void result_write(void *out, const void *from, size_t known) {
  if (out == NULL) {
    return;
  }
  uint32_t size;
  memcpy(&size, out, sizeof size);
  if (size > sizeof size) {
    memcpy((char *)out + sizeof size, (const char *)from + sizeof size,
           size_min(size, known) - sizeof size);
  }
}

glv_status require_pointer(const void *pointer, const char *parameter, glv_error *err) {
  return pointer != NULL ? GLV_OK
                         : FAIL(err, GLV_E_INVALID_INPUT, "parameter '%s' is NULL", parameter);
}

glv_status require_id(glv_id id, const char *parameter, bool allow_root, glv_error *err) {
  if (id.count == 0) {
    return allow_root
               ? GLV_OK
               : FAIL(err, GLV_E_INVALID_INPUT, "parameter '%s' is an empty path", parameter);
  }
  TRY(require_pointer(id.parts, parameter, err));
  for (size_t i = 0; i < id.count; i++) {
    TRY(require_pointer(id.parts[i], parameter, err));
  }
  return GLV_OK;
}

glv_status require_pairs(glv_pairs pairs, const char *parameter, bool allow_null_values,
                         glv_error *err) {
  if (pairs.count > 0) {
    TRY(require_pointer(pairs.items, parameter, err));
  }
  for (size_t i = 0; i < pairs.count; i++) {
    TRY(require_pointer(pairs.items[i].name, parameter, err));
    if (!allow_null_values) {
      TRY(require_pointer(pairs.items[i].value, parameter, err));
    }
  }
  return GLV_OK;
}

glv_status require_strings(glv_strs strings, const char *parameter, glv_error *err) {
  if (strings.count > 0) {
    TRY(require_pointer(strings.items, parameter, err));
  }
  for (size_t i = 0; i < strings.count; i++) {
    TRY(require_pointer(strings.items[i], parameter, err));
  }
  return GLV_OK;
}

glv_status require_flags(uint32_t flags, uint32_t allowed, glv_error *err) {
  const uint32_t unknown = flags & ~allowed;
  return unknown == 0 ? GLV_OK
                      : FAIL(err, GLV_E_INVALID_INPUT, "options have unknown flags 0x%x", unknown);
}

glv_status check_conn(const glv_conn *conn, glv_error *err) {
  TRY(require_pointer(conn, "conn", err));
  return env_check_fork(conn->handle.env, err);
}

glv_status check_table(const glv_table *table, glv_error *err) {
  TRY(require_pointer(table, "table", err));
  return env_check_fork(table->handle.env, err);
}

void discard_stream(struct ArrowArrayStream *data) {
  if (data != NULL && data->release != NULL) {
    data->release(data);
  }
}

glv_status import_data(glv_env *env, struct ArrowArrayStream *data, batch_reader *ret,
                       glv_error *err) {
  if (data->release == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "parameter 'data' is a released stream");
  }
  return cdata_import_stream(env, data, ret, err);
}

glv_status list_call(glv_conn *conn, glv_id parent, const glv_page_options *options,
                     glv_status (*fill)(glv_conn *conn, glv_id parent, const page *p,
                                        glv_list *into, glv_error *err),
                     glv_list **ret, glv_error *err) {
  TRY(require_id(parent, "parent", true, err));
  TRY(require_pointer(ret, "ret", err));
  glv_page_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_PAGE_LIMIT | GLV_PAGE_RECURSIVE, err));
  const page p = {(known.flags & GLV_PAGE_LIMIT) != 0, known.limit,
                  known.page_token != NULL && known.page_token[0] != '\0' ? known.page_token : NULL,
                  (known.flags & GLV_PAGE_RECURSIVE) != 0};
  glv_list *list = NULL;
  TRY(list_new(conn->handle.env, &list, err));
  const glv_status status = fill(conn, parent, &p, list, err);
  if (status != GLV_OK) {
    list_free(list);
    return status;
  }
  *ret = list;
  return GLV_OK;
}

glv_status buf_hand_out(glv_env *env, buf *from, glv_buf *ret, glv_error *err) {
  TRY(buf_reserve(from, 0, err)); /* an empty text has memory too */
  from->data[from->size] = '\0';
  ret->size = from->size;
  ret->data = buf_detach(from);
  ret->owner = env_ref(env);
  return GLV_OK;
}
