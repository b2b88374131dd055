/*
 * LIKE: the frequent shapes (a word, word%, %word, %word%) are comparisons of bytes. Of all others,
 * the segment before the first `%` must stand at the start, the one behind the last `%` at the end,
 * and those between are found from left to right, each as early as possible. `_` is one code point;
 * everything else is compared byte by byte, which finds code points at their boundaries only. A
 * backslash takes the next character literally; at the end it stands for itself.
 *
 * ILIKE compares code points after simple case folding, with a matcher that goes back to the last
 * `%` only.
 */
#include "expr/like.h"

#include <utf8proc.h>

#include "expr/unicode.h"

/* Tokens that are neither bytes nor code points. */
enum { ANY_ONE = 0x110000, ANY_NUMBER = 0x110001 };

/* Simple case folding by way of the simple mappings; the dotted and the dotless i fold to nothing
 * else. */
static uint32_t fold(uint32_t c) {
  if (c < 0x80) {
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
  }
  if (c == 0x130 || c == 0x131) {
    return c;
  }
  const utf8proc_int32_t upper = utf8proc_toupper((utf8proc_int32_t)c);
  return (uint32_t)utf8proc_tolower(upper);
}

/* ---- parsing ---- */

/* The character at *at as tokens behind the `count` that are there. @return their new number. */
static size_t put_literal(str text, size_t *at, bool folds, uint32_t *tokens, size_t count) {
  const size_t first = *at;
  const uint32_t c = unicode_next(text, at);
  if (folds) {
    tokens[count++] = fold(c);
    return count;
  }
  for (size_t i = first; i < *at; i++) {
    tokens[count++] = (uint8_t)text.data[i];
  }
  return count;
}

/* At most one token for each byte of text. */
static size_t parse_tokens(str text, bool folds, uint32_t *tokens) {
  size_t count = 0;
  for (size_t at = 0; at < text.size;) {
    const char c = text.data[at];
    if (c == '%') {
      at++;
      if (count == 0 || tokens[count - 1] != ANY_NUMBER) {
        tokens[count++] = ANY_NUMBER;
      }
    } else if (c == '_') {
      at++;
      tokens[count++] = ANY_ONE;
    } else {
      at += c == '\\' && at + 1 < text.size;
      count = put_literal(text, &at, folds, tokens, count);
    }
  }
  return count;
}

/* The simple shape of the tokens, if they have one; word gets the bytes between the %. */
static enum like_shape shape_of(const like_pattern *p, char *word, size_t *ret_size) {
  const size_t first = p->count > 0 && p->tokens[0] == ANY_NUMBER ? 1 : 0;
  const size_t last = p->count > first && p->tokens[p->count - 1] == ANY_NUMBER ? 1 : 0;
  for (size_t i = first; i < p->count - last; i++) {
    if (p->tokens[i] >= ANY_ONE) {
      return LIKE_OTHER;
    }
    word[i - first] = (char)p->tokens[i];
  }
  *ret_size = p->count - last - first;
  if (first != 0) {
    return last != 0 || p->count == 1 ? LIKE_PART : LIKE_SUFFIX;
  }
  return last != 0 ? LIKE_PREFIX : LIKE_EXACT;
}

static void cut_segments(like_pattern *p) {
  size_t first = 0;
  for (size_t i = 0; i <= p->count; i++) {
    if (i < p->count && p->tokens[i] != ANY_NUMBER) {
      continue;
    }
    if (i > first) {
      p->segments[p->segment_count++] = (like_segment){p->tokens + first, i - first};
    }
    first = i + 1;
  }
  p->at_start = p->count > 0 && p->tokens[0] != ANY_NUMBER;
  p->at_end = p->count > 0 && p->tokens[p->count - 1] != ANY_NUMBER;
}

glv_status like_parse(arena *a, str text, bool folds, like_pattern *ret, glv_error *err) {
  like_pattern p = {.shape = LIKE_OTHER, .folds = folds};
  p.tokens = ARENA_ARRAY(a, uint32_t, text.size);
  p.segments = ARENA_ARRAY(a, like_segment, text.size / 2 + 1);
  char *word = arena_alloc(a, text.size);
  if (p.tokens == NULL || p.segments == NULL || word == NULL) {
    return error_nomem(err, text.size);
  }
  p.count = parse_tokens(text, folds, p.tokens);
  if (!folds) {
    size_t size = 0;
    p.shape = shape_of(&p, word, &size);
    p.word = str_slice(word, size);
    cut_segments(&p);
  }
  *ret = p;
  return GLV_OK;
}

/* ---- matching bytes ---- */

static inline bool is_continuation(char c) { return ((uint8_t)c & 0xc0) == 0x80; }

/* The place behind the code point at `at`. */
static inline const char *next_place(const char *at, const char *end) {
  do {
    at++;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): at was in a text, now it is behind that
  } while (at < end && is_continuation(*at));
  return at;
}

/* The place behind a segment that begins at `at`, or NULL. */
static inline const char *match_here(const like_segment *s, const char *at, const char *end) {
  for (size_t i = 0; i < s->count; i++) {
    if (at == end) {
      return NULL;
    }
    if (s->tokens[i] == ANY_ONE) {
      at = next_place(at, end);
    } else if (s->tokens[i] != (uint8_t)*at++) {
      return NULL;
    }
  }
  return at;
}

/* The place where a segment begins that ends at `end`, or NULL. */
static inline const char *match_back(const like_segment *s, const char *begin, const char *end) {
  for (size_t i = s->count; i-- > 0;) {
    if (end == begin) {
      return NULL;
    }
    end--;
    if (s->tokens[i] != ANY_ONE) {
      if (s->tokens[i] != (uint8_t)*end) {
        return NULL;
      }
      continue;
    }
    while (end > begin && is_continuation(*end)) {
      end--;
    }
  }
  return end;
}

/* The place behind the first segment in [at, end), or NULL. */
static inline const char *search(const like_segment *s, const char *at, const char *end) {
  for (; at < end; at = next_place(at, end)) {
    const char *behind = match_here(s, at, end);
    if (behind != NULL) {
      return behind;
    }
  }
  return NULL;
}

static bool match_segments(const like_pattern *p, str text) {
  const char *at = text.data;
  const char *end = text.data + text.size;
  const like_segment *s = p->segments;
  const like_segment *last = s + p->segment_count;
  if (p->at_start) {
    at = match_here(s++, at, end);
    if (at == NULL || (s == last && p->at_end)) {
      return at != NULL && at == end;
    }
  }
  if (p->at_end) {
    end = match_back(--last, at, end);
    if (end == NULL) {
      return false;
    }
  }
  for (; s < last; s++) {
    at = search(s, at, end);
    if (at == NULL) {
      return false;
    }
  }
  return true;
}

/* ---- matching code points ---- */

/* unicode_next, with the frequent case in line. */
static inline uint32_t next_code(str text, size_t *at) {
  const unsigned char c = (unsigned char)text.data[*at];
  if (c < 0x80) {
    (*at)++;
    return c;
  }
  return unicode_next(text, at);
}

static bool match_folded(const like_pattern *p, str text) {
  size_t at = 0;
  size_t token = 0;
  size_t star = SIZE_MAX; /* the token behind the last % */
  size_t star_at = 0;     /* where its text began */
  while (at < text.size) {
    if (token < p->count && p->tokens[token] == ANY_NUMBER) {
      star = ++token;
      star_at = at;
      continue;
    }
    size_t next = at;
    const uint32_t c = next_code(text, &next);
    if (token < p->count && (p->tokens[token] == ANY_ONE || p->tokens[token] == fold(c))) {
      at = next;
      token++;
      continue;
    }
    if (star == SIZE_MAX) {
      return false;
    }
    (void)next_code(text, &star_at);
    at = star_at;
    token = star;
  }
  while (token < p->count && p->tokens[token] == ANY_NUMBER) {
    token++;
  }
  return token == p->count;
}

/* ---- one text ---- */

static bool contains(str text, str part) {
  if (part.size == 0) {
    return true;
  }
  for (size_t at = 0; at + part.size <= text.size; at++) {
    if (text.data[at] == part.data[0] && memcmp(text.data + at, part.data, part.size) == 0) {
      return true;
    }
  }
  return false;
}

bool like_matches(const like_pattern *p, str text) {
  switch (p->shape) {
  case LIKE_EXACT:
    return str_equal(text, p->word);
  case LIKE_PREFIX:
    return str_starts_with(text, p->word);
  case LIKE_SUFFIX:
    return str_ends_with(text, p->word);
  case LIKE_PART:
    return contains(text, p->word);
  case LIKE_OTHER:
    return p->folds ? match_folded(p, text) : match_segments(p, text);
  }
  return false;
}
