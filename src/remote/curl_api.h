/**
 * @file curl_api.h
 * libcurl, loaded when the first connection to a server is made: nobody who embeds Glaive pays for
 * it, or for the TLS libraries behind it, before. Only this file knows how it is found; the headers
 * give types and numbers.
 */
#ifndef GLAIVE_REMOTE_CURL_API_H
#define GLAIVE_REMOTE_CURL_API_H

#include <curl/curl.h>

#include "base/error.h"

/** The functions that are used, by their names without "curl_". */
typedef struct curl_api {
  CURLcode (*global_init)(long flags);
  CURL *(*easy_init)(void);
  void (*easy_cleanup)(CURL *easy);
  void (*easy_reset)(CURL *easy);
  CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
  CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
  CURLcode (*easy_pause)(CURL *easy, int bits);
  const char *(*easy_strerror)(CURLcode code);
  CURLM *(*multi_init)(void);
  CURLMcode (*multi_cleanup)(CURLM *multi);
  CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
  CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
  CURLMcode (*multi_perform)(CURLM *multi, int *running);
  CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *extra, unsigned count, int timeout_ms,
                          int *ready);
  CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
  const char *(*multi_strerror)(CURLMcode code);
  struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
  void (*slist_free_all)(struct curl_slist *list);
} curl_api;

/**
 * @param ret a table that lives as long as the process.
 * Errors: GLV_E_UNSUPPORTED naming the file and the package that has it. Thread class: T.
 */
glv_status curl_api_get(const curl_api **ret, glv_error *err);

#endif
