/** @file client_private.h Between client.c and exchange.c. */
#ifndef GLAIVE_REMOTE_CLIENT_PRIVATE_H
#define GLAIVE_REMOTE_CLIENT_PRIVATE_H

#include "base/thread.h"
#include "remote/client.h"

typedef struct line {
  CURL *easy;
  CURLM *multi; /* has the open connections */
  struct line *next;
} line;

/** A line that nobody else uses. Errors: GLV_E_NOMEM. */
glv_status client_take_line(client *c, line **ret, glv_error *err);
/** Back to the others; nothing may be running on it. */
void client_give_line(client *c, line *l);

#endif
