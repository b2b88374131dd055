/*
 * Names, object ids and locations as text (namespaces.md 1, 7).
 *
 * An object id is the parts joined with `$`; there is no escaping, so no part may contain `$`. What
 * Glaive writes obeys one rule for tables and namespaces alike; what others stored is shown as it
 * is.
 */
#include "base/limits.h"
#include "catalog/catalog_private.h"

static bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

glv_status catalog_check_name(const char *what, str name, glv_error *err) {
  if (name.size == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "Invalid %s name (\"\"): it must not be empty", what);
  }
  for (size_t i = 0; i < name.size; i++) {
    if (!is_name_byte(name.data[i])) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "Invalid %s name (\"%.*s\"): it may contain only alphanumeric characters, "
                  "underscores, hyphens and periods",
                  what, STR_ARG(name));
    }
  }
  if (str_is(name, ".") || str_is(name, "..")) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "Invalid %s name (\"%.*s\"): '.' and '..' are read as relative path segments and "
                "cannot address an object",
                what, STR_ARG(name));
  }
  return GLV_OK;
}

glv_status id_check(catalog_id id, bool ends_in_table, glv_error *err) {
  for (size_t i = 0; i < id.count; i++) {
    const char *what = ends_in_table && i + 1 == id.count ? "table" : "namespace";
    TRY(catalog_check_name(what, str_of(id.parts[i]), err));
  }
  return GLV_OK;
}

/* A part needs no quotes iff it matches [A-Za-z0-9_-]+. */
static bool is_bare(const char *part) {
  for (const char *c = part; *c != '\0'; c++) {
    if (!is_name_byte(*c) || *c == '.') {
      return false;
    }
  }
  return *part != '\0';
}

char *catalog_id_text(arena *a, catalog_id id) {
  size_t size = 1;
  for (size_t i = 0; i < id.count; i++) {
    size += 2 * strlen(id.parts[i]) + 3;
  }
  char *text = arena_alloc(a, size);
  if (text == NULL) {
    return NULL;
  }
  char *out = text;
  for (size_t i = 0; i < id.count; i++) {
    const bool bare = is_bare(id.parts[i]);
    if (i > 0) {
      *out++ = '.';
    }
    if (!bare) {
      *out++ = '"';
    }
    for (const char *c = id.parts[i]; *c != '\0'; c++) {
      if (*c == '"') {
        *out++ = '"';
      }
      *out++ = *c;
    }
    if (!bare) {
      *out++ = '"';
    }
  }
  *out = '\0';
  return text;
}

char *id_object(arena *a, catalog_id id) {
  size_t size = 1;
  for (size_t i = 0; i < id.count; i++) {
    size += strlen(id.parts[i]) + 1;
  }
  char *text = arena_alloc(a, size);
  if (text == NULL) {
    return NULL;
  }
  char *out = text;
  for (size_t i = 0; i < id.count; i++) {
    const size_t part = strlen(id.parts[i]);
    if (i > 0) {
      *out++ = ID_SEPARATOR;
    }
    memcpy(out, id.parts[i], part);
    out += part;
  }
  *out = '\0';
  return text;
}

glv_status catalog_path_of(const catalog *c, str location, arena *a, char **ret, glv_error *err) {
  char *path = path_join(a, str_of(c->root), location);
  if (path == NULL) {
    return error_nomem(err, location.size);
  }
  if (strlen(path) >= LIMIT_PATH_BYTES) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the path '%s' is longer than %d bytes", path,
                LIMIT_PATH_BYTES);
  }
  *ret = path;
  return GLV_OK;
}

glv_status root_location(arena *a, const char *name, char **ret, glv_error *err) {
  char *location = arena_printf(a, "%s" TABLE_SUFFIX, name);
  if (location == NULL) {
    return error_nomem(err, strlen(name));
  }
  if (strlen(location) > LIMIT_NAME_BYTES) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "Invalid table name (\"%s\"): with its suffix it must not be longer than %d bytes",
                name, LIMIT_NAME_BYTES);
  }
  *ret = location;
  return GLV_OK;
}

bool location_is_safe(str location) {
  if (!path_is_inside(location)) {
    return false;
  }
  size_t first = 0;
  while (first < location.size && location.data[first] != '/') {
    first++;
  }
  const str top = str_slice(location.data, first);
  return !str_is(top, MANIFEST_NAME) && !str_is(top, ".glaive");
}

bool location_is_escaped(str location) {
  for (size_t i = 0; i < location.size; i++) {
    const unsigned char c = (unsigned char)location.data[i];
    if (c <= ' ' || c == '%' || c >= 0x7F) {
      return true;
    }
  }
  return false;
}

/* The name as compatible phrases show it: parts with dots, never quoted. */
static const char *bare_text(catalog_id id, arena *a) {
  const char *text = id.count == 1 ? id.parts[0] : catalog_id_text(a, id);
  return text != NULL ? text : "";
}

glv_status fail_table_not_found(catalog_id id, arena *a, glv_error *err) {
  return FAIL(err, GLV_E_TABLE_NOT_FOUND, "Table '%s' was not found", bare_text(id, a));
}

glv_status fail_table_exists(catalog_id id, arena *a, glv_error *err) {
  return FAIL(err, GLV_E_TABLE_EXISTS, "Table '%s' already exists", bare_text(id, a));
}

glv_status fail_namespace(glv_status code, const char *what, catalog_id id, arena *a,
                          glv_error *err) {
  return FAIL(err, code, "%s: %s", what, bare_text(id, a));
}
