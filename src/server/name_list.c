/* Pages of names. */
#include "server/name_list.h"

#include "base/checked.h"
#include "server/server_private.h"
#include "wire/members.h"
#include "wire/view.h"

glv_status name_list_page(const request *r, uint64_t most, glv_page_options *ret, glv_error *err) {
  const char *limit = request_param_get(r, "limit");
  const char *token = request_param_get(r, "page_token");
  *ret = (glv_page_options){.struct_size = sizeof *ret};
  ret->flags = limit != NULL || most != 0 ? GLV_PAGE_LIMIT : 0;
  ret->limit = most;
  ret->page_token = token != NULL && token[0] != '\0' ? token : NULL;
  if (limit != NULL && !str_to_u64(str_of(limit), &ret->limit)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the parameter 'limit' is a whole number, not '%s'",
                limit);
  }
  ret->limit = most != 0 ? u64_min(ret->limit, most) : ret->limit;
  return GLV_OK;
}

/* Texts beside the names, for our own client: one each, "" = none. */
static glv_status put_beside(request *r, const glv_list *names, const char *key,
                             const char *(*text_of)(const glv_list *list, size_t index),
                             bool (*shows)(request *r, glv_id id), json *body, glv_error *err) {
  CLEANUP(js_cleanup) json *texts = js_new_array();
  bool is_told = false;
  for (size_t i = 0; i < glv_list_count(names); i++) {
    const char *text = text_of(names, i);
    is_told = is_told || text != NULL;
    if (shows(r, glv_list_id(names, i))) {
      TRY(js_push(texts, js_new_string(str_of(text != NULL ? text : "")), err));
    }
  }
  if (!is_told) {
    return GLV_OK;
  }
  json *taken = texts;
  texts = NULL;
  return js_put(body, key, taken, err);
}

glv_status name_list_body(request *r, const glv_list *names, const char *key,
                          bool (*shows)(request *r, glv_id id), json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  CLEANUP(js_cleanup) json *entries = js_new_array();
  for (size_t i = 0; i < glv_list_count(names); i++) {
    if (shows(r, glv_list_id(names, i))) {
      TRY(js_push(entries, js_new_string(str_of(glv_list_name(names, i))), err));
    }
  }
  json *taken = entries;
  entries = NULL;
  TRY(js_put(body, key, taken, err));
  TRY(put_beside(r, names, WIRE_LIST_FORMS, glv_list_form, shows, body, err));
  TRY(put_beside(r, names, WIRE_LIST_STATES, glv_list_state, shows, body, err));
  TRY(wire_put_text(body, WIRE_PAGE_TOKEN, glv_list_token(names), err));
  *ret = body;
  body = NULL;
  return GLV_OK;
}

glv_status name_list_answer(request *r, glv_id parent, name_lister list, const char *key,
                            bool (*shows)(request *r, glv_id id), glv_error *err) {
  glv_page_options options;
  glv_list *names = NULL;
  json *body = NULL;
  TRY(name_list_page(r, 0, &options, err));
  TRY(list(r->server->conn, parent, &options, &names, err));
  const glv_status status = name_list_body(r, names, key, shows, &body, err);
  glv_list_free(names);
  return status == GLV_OK ? answer_json(r, 200, body, err) : status;
}
