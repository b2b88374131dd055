/** @file name_list.h Pages of names as answers: {"tables": [...], "page_token": ...}. */
#ifndef GLAIVE_SERVER_NAME_LIST_H
#define GLAIVE_SERVER_NAME_LIST_H

#include "server/request.h"

/** glv_table_list and its like. */
typedef glv_status (*name_lister)(glv_conn *conn, glv_id parent, const glv_page_options *options,
                                  glv_list **ret, glv_error *err);

/** Answer a page by the parameters limit (absent = all) and page_token.
 * @param shows whether the key of the request may see a name. */
glv_status name_list_answer(request *r, glv_id parent, name_lister list, const char *key,
                            bool (*shows)(request *r, glv_id id), glv_error *err);

/** The page options of a request. most: 0 = no limit of its own. */
glv_status name_list_page(const request *r, uint64_t most, glv_page_options *ret, glv_error *err);
/** The names of a list as {key: [...], "page_token": ...}; js_free. */
glv_status name_list_body(request *r, const glv_list *names, const char *key,
                          bool (*shows)(request *r, glv_id id), json **ret, glv_error *err);

#endif
