/* What is not computed from arguments: uuid, version (sql-expressions 13.2, 13.3). */
#include <sys/utsname.h>

#include "base/encoding.h"
#include "expr/function_private.h"

static glv_status uuid_row(const function_frame *f, const operand *arguments, size_t i,
                           text_writer *w, glv_error *err) {
  char text[UUID_TEXT_SIZE];
  (void)arguments;
  (void)i;
  TRY(uuid_random(f->env, text, err));
  return builder_append_str(&w->b, str_slice(text, sizeof text), err);
}

static glv_status uuid(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                       glv_error *err) {
  return function_text_rows(f, arguments, rows, uuid_row, ret, err);
}

static glv_status version_row(const function_frame *f, const operand *arguments, size_t i,
                              text_writer *w, glv_error *err) {
  struct utsname machine;
  (void)f;
  (void)arguments;
  (void)i;
  if (uname(&machine) != 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "version(): the system does not tell its name");
  }
  TRY(buf_printf(&w->scratch, err, "Glaive " GLAIVE_VERSION ", %s on %s", machine.machine,
                 machine.sysname));
  return builder_append_str(&w->b, buf_str(&w->scratch), err);
}

static glv_status version(const function_frame *f, const operand *arguments, size_t rows,
                          array *ret, glv_error *err) {
  return function_text_rows(f, arguments, rows, version_row, ret, err);
}

static glv_status bind_nothing(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 0, 0, err));
  b->result = type_simple(TYPE_UTF8);
  return GLV_OK;
}

const function functions_system[] = {
    {.name = "uuid", .volatility = FUNCTION_VOLATILE, .bind = bind_nothing, .kernel = uuid},
    {.name = "version", .flags = FUNCTION_NOT_IN_VIEWS, .bind = bind_nothing, .kernel = version},
    {0},
};
