/*
 * libcurl.so.4 is opened once for the process and never closed. Every function is looked up then,
 * so that a library that lacks one is refused before anything is sent.
 */
#include "remote/curl_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define CURL_FILE "libcurl.so.4"

static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static curl_api api;
static const char *missing; /* what was not found; NULL = all is there */

/* Data and function pointers are alike on every system that has dlsym; the copy says so without a
 * conversion that C does not know. */
static bool look_up(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  missing = found == NULL && missing == NULL ? name : missing;
  return found != NULL;
}

static void load(void) {
  void *library = dlopen(CURL_FILE, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    missing = CURL_FILE;
    return;
  }
#define LOOK_UP(name) (void)look_up(library, "curl_" #name, &api.name)
  LOOK_UP(global_init);
  LOOK_UP(easy_init);
  LOOK_UP(easy_cleanup);
  LOOK_UP(easy_reset);
  LOOK_UP(easy_setopt);
  LOOK_UP(easy_getinfo);
  LOOK_UP(easy_pause);
  LOOK_UP(easy_strerror);
  LOOK_UP(multi_init);
  LOOK_UP(multi_cleanup);
  LOOK_UP(multi_add_handle);
  LOOK_UP(multi_remove_handle);
  LOOK_UP(multi_perform);
  LOOK_UP(multi_poll);
  LOOK_UP(multi_info_read);
  LOOK_UP(multi_strerror);
  LOOK_UP(slist_append);
  LOOK_UP(slist_free_all);
#undef LOOK_UP
  if (missing == NULL && api.global_init(CURL_GLOBAL_ALL) != CURLE_OK) {
    missing = "a working TLS library";
  }
}

glv_status curl_api_get(const curl_api **ret, glv_error *err) {
  pthread_once(&loaded, load);
  if (missing != NULL && strcmp(missing, CURL_FILE) == 0) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "connections to servers need %s, which cannot be loaded; install the Debian "
                "package libcurl4",
                CURL_FILE);
  }
  if (missing != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "connections to servers need a newer %s (7.66 or later): it has no %s; install the "
                "Debian package libcurl4",
                CURL_FILE, missing);
  }
  *ret = &api;
  return GLV_OK;
}
