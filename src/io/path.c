/*
 * Paths as text. A location is what a catalog row holds: the way from the root of a database to a
 * dataset directory. Locations come from files that others wrote, so path_is_inside is what keeps
 * Glaive from leaving the root (namespaces.md 11, R10).
 */
#include "io/path.h"

#include "base/limits.h"

char *path_join(arena *a, str parent, str child) {
  if (parent.size == 0) {
    return arena_strdup(a, child);
  }
  const char *slash = parent.data[parent.size - 1] == '/' ? "" : "/";
  return arena_printf(a, "%.*s%s%.*s", STR_ARG(parent), slash, STR_ARG(child));
}

/* Cuts the next segment, which may be empty, off *rest; false at the end. */
static bool next_segment(str *rest, str *ret) {
  if (rest->data == NULL) {
    return false;
  }
  size_t n = 0;
  while (n < rest->size && rest->data[n] != '/') {
    n++;
  }
  *ret = str_slice(rest->data, n);
  *rest = n < rest->size ? str_slice(rest->data + n + 1, rest->size - n - 1) : str_slice(NULL, 0);
  return true;
}

char *path_normalise(arena *a, str path) {
  char *out = arena_alloc(a, path.size + 2);
  if (out == NULL) {
    return NULL;
  }
  size_t size = 0;
  const bool is_absolute = path.size != 0 && path.data[0] == '/';
  if (is_absolute) {
    out[size++] = '/';
  }
  str segment;
  for (str rest = path; next_segment(&rest, &segment);) {
    if (segment.size == 0 || str_is(segment, ".")) {
      continue;
    }
    if (size > (is_absolute ? 1u : 0u)) {
      out[size++] = '/';
    }
    memcpy(out + size, segment.data, segment.size);
    size += segment.size;
  }
  if (size == 0) {
    out[size++] = '.';
  }
  out[size] = '\0';
  return out;
}

str path_name(str path) {
  size_t start = path.size;
  while (start > 0 && path.data[start - 1] != '/') {
    start--;
  }
  return str_slice(path.data + start, path.size - start);
}

static bool contains(str text, str part) {
  for (size_t i = 0; part.size <= text.size && i <= text.size - part.size; i++) {
    if (memcmp(text.data + i, part.data, part.size) == 0) {
      return true;
    }
  }
  return false;
}

bool path_is_inside(str location) {
  if (location.size == 0 || memchr(location.data, '\0', location.size) != NULL ||
      contains(location, STR("://"))) {
    return false;
  }
  str segment;
  for (str rest = location; next_segment(&rest, &segment);) {
    if (segment.size == 0 || str_is(segment, ".") || str_is(segment, "..")) {
      return false;
    }
  }
  return true;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Percent-decodes text. */
static glv_status decode(arena *a, str text, str *ret, glv_error *err) {
  char *out = arena_alloc(a, text.size + 1);
  if (out == NULL) {
    return error_nomem(err, text.size + 1);
  }
  size_t size = 0;
  for (size_t i = 0; i < text.size; i++) {
    if (text.data[i] != '%') {
      out[size++] = text.data[i];
      continue;
    }
    const int high = i + 2 < text.size ? hex_digit(text.data[i + 1]) : -1;
    const int low = i + 2 < text.size ? hex_digit(text.data[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return FAIL(err, GLV_E_INVALID_INPUT, "malformed percent escape in '%.*s'", STR_ARG(text));
    }
    out[size++] = (char)(high * 16 + low);
    i += 2;
  }
  *ret = str_slice(out, size);
  return GLV_OK;
}

/* The length of "scheme" in "scheme://...", 0 when there is none. */
static size_t scheme_size(str uri) {
  size_t n = 0;
  while (n < uri.size && ((uri.data[n] >= 'a' && uri.data[n] <= 'z') ||
                          (uri.data[n] >= 'A' && uri.data[n] <= 'Z') ||
                          (n > 0 && ((uri.data[n] >= '0' && uri.data[n] <= '9') ||
                                     uri.data[n] == '+' || uri.data[n] == '-')))) {
    n++;
  }
  return n > 0 && str_starts_with(str_slice(uri.data + n, uri.size - n), STR("://")) ? n : 0;
}

static glv_status path_of_file_uri(arena *a, str uri, str *ret, glv_error *err) {
  str rest = str_slice(uri.data + 7, uri.size - 7);
  if (str_starts_with(rest, STR("localhost/"))) {
    rest = str_slice(rest.data + 9, rest.size - 9);
  }
  if (rest.size == 0 || rest.data[0] != '/') {
    return FAIL(err, GLV_E_INVALID_INPUT, "'%.*s' does not name an absolute local path",
                STR_ARG(uri));
  }
  return decode(a, rest, ret, err);
}

glv_status path_from_uri(arena *a, str uri, char **ret, glv_error *err) {
  str path = uri;
  const size_t scheme = scheme_size(uri);
  if (scheme != 0) {
    if (!str_equal_ascii_case(str_slice(uri.data, scheme), STR("file"))) {
      return FAIL(err, GLV_E_UNSUPPORTED, "'%.*s': scheme '%.*s' is not supported", STR_ARG(uri),
                  (int)scheme, uri.data);
    }
    TRY(path_of_file_uri(a, uri, &path, err));
  }
  if (path.size == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the database path is empty");
  }
  if (path.size > LIMIT_PATH_BYTES || memchr(path.data, '\0', path.size) != NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the database path is longer than %d bytes or holds NUL",
                LIMIT_PATH_BYTES);
  }
  char *normal = path_normalise(a, path);
  if (normal == NULL) {
    return error_nomem(err, path.size);
  }
  *ret = normal;
  return GLV_OK;
}
