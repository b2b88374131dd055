/* Short needles are found by looking for their first byte and comparing, which costs at most their
 * length for every byte; long ones by the automaton of Knuth, Morris and Pratt, so that texts made
 * of repetitions do not make a search quadratic. */
#include "expr/find.h"

#include "base/buf.h"

enum { SHORT_NEEDLE = 16 };

void needle_init(needle *n, glv_env *env) { *n = (needle){.env = env}; }

void needle_dispose(needle *n) {
  mem_free(n->env, n->borders);
  n->borders = NULL;
}

glv_status needle_set(needle *n, str text, glv_error *err) {
  if (n->text.data == text.data && n->text.size == text.size) {
    return GLV_OK;
  }
  n->text = str_slice(NULL, 0);
  if (text.size > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "a text of %zu bytes is too long to search for", text.size);
  }
  if (text.size > SHORT_NEEDLE) {
    TRY(vec_reserve(n->env, &n->borders, &n->room, text.size, sizeof *n->borders, err));
    uint32_t k = 0;
    n->borders[0] = 0;
    for (size_t i = 1; i < text.size; i++) {
      while (k > 0 && text.data[i] != text.data[k]) {
        k = n->borders[k - 1];
      }
      k += text.data[i] == text.data[k];
      n->borders[i] = k;
    }
  }
  n->text = text;
  return GLV_OK;
}

static size_t find_short(str wanted, str hay, size_t from) {
  while (from + wanted.size <= hay.size) {
    const char *at = memchr(hay.data + from, wanted.data[0], hay.size - wanted.size + 1 - from);
    if (at == NULL) {
      return SIZE_MAX;
    }
    if (memcmp(at, wanted.data, wanted.size) == 0) {
      return (size_t)(at - hay.data);
    }
    from = (size_t)(at - hay.data) + 1;
  }
  return SIZE_MAX;
}

size_t needle_find(const needle *n, str hay, size_t from) {
  if (n->text.size == 0) {
    return from <= hay.size ? from : SIZE_MAX;
  }
  if (n->text.size <= SHORT_NEEDLE) {
    return find_short(n->text, hay, from);
  }
  size_t k = 0;
  for (size_t i = from; i < hay.size; i++) {
    while (k > 0 && hay.data[i] != n->text.data[k]) {
      k = n->borders[k - 1];
    }
    k += hay.data[i] == n->text.data[k];
    if (k == n->text.size) {
      return i + 1 - k;
    }
  }
  return SIZE_MAX;
}
