/**
 * @file list.h
 * Lists that come in pages. Tokens are opaque; one that comes twice would never end and is an
 * error.
 */
#ifndef GLAIVE_REMOTE_LIST_H
#define GLAIVE_REMOTE_LIST_H

#include "remote/remote_private.h"

/** Tokens of one list so far. */
typedef struct seen_token {
  const char *token;
  const struct seen_token *before;
} seen_token;

typedef struct seen_tokens {
  const seen_token *last;
} seen_tokens;

/** Take note of a token, which must live in memory or longer. Errors: GLV_E_CORRUPT when it was
 * there before. */
glv_status seen_tokens_add(seen_tokens *seen, arena *memory, const char *token, const char *what,
                           glv_error *err);

typedef struct list_route {
  route r;
  const char *key; /* of the names in the answer */
  bool is_required;
} list_route;

/** Add the names of a namespace, from p->token on: one page, or all that follow. */
glv_status remote_list(remote_conn *conn, const list_route *list, glv_id parent, const page *p,
                       bool all_pages, glv_list *into, glv_error *err);

#endif
