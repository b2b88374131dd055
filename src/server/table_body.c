/* What requests on tables have in common. */
#include "server/table_body.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/tables.h"
#include "wire/members.h"

static glv_status check_branch(const char *branch, glv_error *err) {
  return branch == NULL || branch[0] == '\0' || strcmp(branch, "main") == 0
             ? GLV_OK
             : FAIL(err, GLV_E_UNSUPPORTED, "branches are not offered: branch '%s'", branch);
}

glv_status table_body(request *r, const json **ret, glv_error *err) {
  const char *branch = request_param_get(r, "branch");
  *ret = NULL;
  TRY(check_branch(branch, err));
  if (request_has_arrow(r)) {
    return GLV_OK;
  }
  TRY(request_json(r, ret, err));
  TRY(wire_text(*ret, "branch", &branch, err));
  return check_branch(branch, err);
}

glv_status table_body_version(request *r, uint64_t version, glv_error *err) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, version);
  return answer_header(r, "x-lancedb-version", text, err);
}

glv_status table_body_open(request *r, const json *body, glv_table **ret, glv_error *err) {
  uint64_t version = 0;
  TRY(wire_uint(body, "version", &version, err));
  TRY(server_table_open(r, r->id, version, ret, err));
  return table_body_version(r, glv_table_version(*ret), err);
}

glv_status table_body_open_own(request *r, glv_table **ret, glv_error *err) {
  return server_table_open_own(r, r->id, NULL, ret, err);
}

glv_status table_body_describe(glv_table *table, json **ret, glv_error *err) {
  glv_buf text = {0};
  TRY(glv_table_describe(table, &text, err));
  const glv_status status = js_parse(str_slice(text.data, text.size), ret, err);
  glv_buf_dispose(&text);
  return status;
}

glv_status table_body_refused(request *r, glv_status status, glv_error *err) {
  glv_view *view = NULL;
  if (status == GLV_E_UNSUPPORTED &&
      glv_view_open(request_conn(r), r->id, NULL, &view, NULL) == GLV_OK) {
    glv_view_free(view);
    err->http_status = 400;
  }
  return status;
}

glv_status table_body_wrote(request *r, const glv_write_result *result, const write_counts *counts,
                            glv_error *err) {
  named_number numbers[6] = {{"version", result->version}, {"num_attempts", result->attempts}};
  size_t count = 2;
  for (size_t i = 0; i < 4 && counts != NULL && counts->names[i] != NULL; i++) {
    numbers[count++] = (named_number){counts->names[i], counts->values[i]};
  }
  (void)table_body_version(r, result->version, NULL); /* without memory it is left out */
  return answer_numbers(r, numbers, count, err);
}
