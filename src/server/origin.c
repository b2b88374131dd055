/*
 * Where a request comes from. A server that asks for no key trusts its machine; the browsers on it
 * run pages of strangers, which can send requests to any address. Two things give them away:
 *
 * - Sec-Fetch-Site, by which browsers tell that a page is not of this server;
 * - Host, when a stranger's name was made to point to this machine, so that the browser takes the
 *   server for the stranger's own. A name of the public internet has a dot; where one is meant to
 *   be used, the server has keys, TLS, or was told to serve anybody.
 */
#include "server/origin.h"

static str host_name(const char *host) {
  return str_slice(host, host[0] == '[' ? strcspn(host, "]") : strcspn(host, ":"));
}

static bool is_address(str name) {
  size_t digits = 0;
  while (digits < name.size &&
         (name.data[digits] == '.' || (name.data[digits] >= '0' && name.data[digits] <= '9'))) {
    digits++;
  }
  return digits == name.size || name.data[0] == '[';
}

static bool is_strange(str name) {
  return name.size > 0 && memchr(name.data, '.', name.size) != NULL && !is_address(name) &&
         !str_ends_with(name, STR(".localhost"));
}

static bool trusts_machine(const server *s) {
  return !keys_are_needed(s->keys) && !s->options.allow_anonymous &&
         s->options.tls_certificate == NULL;
}

glv_status origin_check(const exchange *x, glv_error *err) {
  const char *site = request_header(&x->request, "sec-fetch-site");
  const char *host = request_header(&x->request, "host");
  if ((x->route->flags & ROUTE_OPEN) != 0) {
    return GLV_OK;
  }
  if (site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0) {
    return FAIL(err, GLV_E_PERMISSION_DENIED, "pages of other sites may not use this server");
  }
  if (host != NULL && is_strange(host_name(host)) && trusts_machine(x->server)) {
    return FAIL(err, GLV_E_PERMISSION_DENIED,
                "this server asks for no key, and is not there for the name '%.64s': call it by "
                "its address, make a key with glaive key create, or say --allow-anonymous",
                host);
  }
  return GLV_OK;
}
