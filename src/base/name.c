/* The one spelling of table and namespace names in messages, on the command line and in JSON. */
#include "base/name.h"

bool name_is_bare(str part) {
  for (size_t i = 0; i < part.size; i++) {
    const char c = part.data[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && c != '_' && c != '-') {
      return false;
    }
  }
  return part.size > 0;
}

static glv_status malformed(str text, glv_error *err) {
  return FAIL(err, GLV_E_INVALID_INPUT,
              "'%.*s' is not a name: write parts separated by periods, a part with other "
              "characters than letters, "
              "digits, _ and - in double quotes",
              STR_ARG(text));
}

/* One part starting at *at; *at ends behind it. NULL = malformed or no memory (*ret_ok tells). */
static char *next_part(arena *a, str text, size_t *at, bool *ret_ok) {
  const bool quoted = *at < text.size && text.data[*at] == '"';
  size_t i = *at + (quoted ? 1 : 0);
  char *part = arena_alloc(a, text.size - *at + 1);
  size_t used = 0;
  *ret_ok = part != NULL;
  while (part != NULL && i < text.size) {
    if (quoted && text.data[i] == '"') {
      if (i + 1 < text.size && text.data[i + 1] == '"') {
        i++;
      } else {
        break;
      }
    } else if (!quoted && text.data[i] == '.') {
      break;
    }
    part[used++] = text.data[i++];
  }
  const bool closed = !quoted || (i < text.size && text.data[i] == '"');
  *at = i + (quoted ? 1 : 0);
  if (!closed || (!quoted && !name_is_bare(str_slice(part, used)))) {
    return NULL;
  }
  return part;
}

glv_status name_parse(arena *a, str text, const char ***ret_parts, size_t *ret_count,
                      glv_error *err) {
  const char **parts = ARENA_ARRAY(a, const char *, text.size / 2 + 2);
  size_t count = 0;
  size_t at = 0;
  if (parts == NULL) {
    return error_nomem(err, text.size);
  }
  while (at < text.size || (count > 0 && at == text.size)) {
    bool ok = true;
    char *part = next_part(a, text, &at, &ok);
    if (part == NULL) {
      return ok ? malformed(text, err) : error_nomem(err, text.size);
    }
    parts[count++] = part;
    if (at >= text.size) {
      break;
    }
    if (text.data[at] != '.') {
      return malformed(text, err);
    }
    at++;
  }
  *ret_parts = parts;
  *ret_count = count;
  return GLV_OK;
}

glv_status name_print(const char *const *parts, size_t count, buf *out, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    const bool bare = name_is_bare(str_of(parts[i]));
    TRY(i > 0 ? buf_append_char(out, '.', err) : GLV_OK);
    TRY(bare ? GLV_OK : buf_append_char(out, '"', err));
    for (const char *c = parts[i]; *c != '\0'; c++) {
      TRY(*c == '"' ? buf_append_char(out, '"', err) : GLV_OK);
      TRY(buf_append_char(out, *c, err));
    }
    TRY(bare ? GLV_OK : buf_append_char(out, '"', err));
  }
  return GLV_OK;
}
