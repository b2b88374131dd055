/* Compiling and matching by PCRE2.
 *
 * Patterns are translated first (regexp_translate.c). The reference matches in linear time; PCRE2
 * backtracks, so that every match runs under limits of steps, depth and memory, and passing one is
 * an error of the execution that names the pattern. Machine code is used where it can be had; when
 * its stack is too small the interpreter takes over.
 *
 * All memory comes from the environment. */
#include "expr/regexp.h"

#include <pcre2.h>

#include "base/checked.h"
#include "expr/regexp_translate.h"
#include "expr/unicode.h"

enum {
  STEPS = 2000000,       /* of one match */
  DEPTH = 100000,        /* nested backtracking points */
  HEAP_KIB = 64 << 10,   /* of one match */
  PATTERN_MAX = 1 << 20, /* bytes of a translated pattern */
  MESSAGE_PATTERN = 100  /* bytes of a pattern in messages */
};

struct regexp {
  glv_env *env; /* borrowed */
  pcre2_general_context *context;
  pcre2_code *code;
  bool has_machine_code; /* else matching is interpreted */
  bool has_first;        /* every match begins with the byte `first` */
  bool has_later;        /* and holds `later` behind its first byte */
  bool has_last;         /* and ends with `last`, where the text ends */
  uint8_t first;
  uint8_t later;
  char last;
  regexp_names names;
  char *pattern; /* a copy, which names point into */
  size_t pattern_size;
};

struct regexp_match {
  glv_env *env; /* borrowed */
  pcre2_general_context *context;
  pcre2_match_context *limits;
  pcre2_match_data *data;
  const regexp *owner;
};

static void *context_alloc(PCRE2_SIZE size, void *env) { return mem_alloc(env, size); }
static void context_free(void *block, void *env) { mem_free(env, block); }

void regexp_free(regexp *r) {
  if (r != NULL) {
    pcre2_code_free(r->code);
    pcre2_general_context_free(r->context);
    mem_free(r->env, r->names.names);
    mem_free(r->env, r->pattern);
    mem_free(r->env, r);
  }
}

void regexp_cleanup(regexp **r) { regexp_free(*r); }

static glv_status refuse(str pattern, const char *why, glv_error *err) {
  const str shown = str_slice(pattern.data, size_min(pattern.size, MESSAGE_PATTERN));
  return FAIL(err, GLV_E_SQL_EXEC, "Regular expression did not compile: %s in '%.*s'", why,
              STR_ARG(shown));
}

/* Bytes that every match has, to tell most texts apart without the matcher. Where letters may stand
 * for those of the other case, which only a group `(?i` brings about, nothing is known. */
static void find_necessary(regexp *r, const buf *translated) {
  const char *text = translated->data;
  for (size_t i = 0; i + 1 < translated->size; i++) {
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): only empty buffers have no data
    if (text[i] == '(' && text[i + 1] == '?') {
      return;
    }
  }
  uint32_t kind = 0;
  uint32_t unit = 0;
  if (pcre2_pattern_info(r->code, PCRE2_INFO_FIRSTCODETYPE, &kind) == 0 && kind == 1 &&
      pcre2_pattern_info(r->code, PCRE2_INFO_FIRSTCODEUNIT, &unit) == 0) {
    r->has_first = true;
    r->first = (uint8_t)unit;
  }
  if (r->has_first && pcre2_pattern_info(r->code, PCRE2_INFO_LASTCODETYPE, &kind) == 0 &&
      kind == 1 && pcre2_pattern_info(r->code, PCRE2_INFO_LASTCODEUNIT, &unit) == 0) {
    r->has_later = true;
    r->later = (uint8_t)unit;
  }
}

regexp_needs regexp_necessary(const regexp *r) {
  return (regexp_needs){.bytes = {(char)r->first, (char)r->later},
                        .count = r->has_later   ? 2
                                 : r->has_first ? 1
                                                : 0,
                        .last = r->last,
                        .has_last = r->has_last};
}

/* Whether text can have a match from `from` on. */
static bool may_match(const regexp *r, str text, size_t from) {
  if (!r->has_first) {
    return true;
  }
  size_t at = from;
  while (at < text.size && (uint8_t)text.data[at] != r->first) {
    at++;
  }
  if (at >= text.size || !r->has_later) {
    return at < text.size;
  }
  size_t end = text.size;
  while (end > at + 1 && (uint8_t)text.data[end - 1] != r->later) {
    end--;
  }
  return end > at + 1;
}

/* A pattern without groups, alternatives and escapes in front of an ASCII letter or digit, which no
 * repetition and no class follows, and the end of the text. */
static void find_last(regexp *r, const buf *translated) {
  const str end = STR("\\z");
  const str text = buf_str(translated);
  if (text.size <= end.size || !str_ends_with(text, end)) {
    return;
  }
  const str before = str_slice(text.data, text.size - end.size);
  const char last = before.data[before.size - 1];
  for (size_t i = 0; i < before.size; i++) {
    if (memchr("\\|(", before.data[i], 3) != NULL) {
      return;
    }
  }
  r->last = last;
  r->has_last = (last >= '0' && last <= '9') || ((last | 0x20) >= 'a' && (last | 0x20) <= 'z');
}

static glv_status compile(regexp *r, const buf *translated, glv_error *err) {
  const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_DOTALL | PCRE2_ALT_CIRCUMFLEX |
                           PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_UTF_CHECK;
  pcre2_compile_context *c = pcre2_compile_context_create(r->context);
  if (c == NULL) {
    return error_nomem(err, sizeof *r);
  }
  pcre2_set_newline(c, PCRE2_NEWLINE_LF);
  int code = 0;
  PCRE2_SIZE offset = 0;
  r->code = pcre2_compile((PCRE2_SPTR)(translated->data != NULL ? translated->data : ""),
                          translated->size, options, &code, &offset, c);
  pcre2_compile_context_free(c);
  if (r->code == NULL) {
    PCRE2_UCHAR why[128];
    pcre2_get_error_message(code, why, sizeof why);
    return code == PCRE2_ERROR_HEAP_FAILED || code == PCRE2_ERROR_NOMEMORY
               ? error_nomem(err, translated->size)
               : refuse(str_slice(r->pattern, r->pattern_size), (const char *)why, err);
  }
  r->has_machine_code = pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE) == 0;
  find_necessary(r, translated);
  find_last(r, translated);
  return GLV_OK;
}

glv_status regexp_new(glv_env *env, str pattern, str flags, regexp **ret, glv_error *err) {
  CLEANUP(regexp_cleanup) regexp *r = mem_zalloc(env, sizeof *r);
  CLEANUP(buf_dispose) buf translated;
  buf_init(&translated, env, PATTERN_MAX);
  if (r == NULL) {
    return error_nomem(err, sizeof *r);
  }
  r->env = env;
  r->pattern = mem_strndup(env, pattern.data != NULL ? pattern.data : "", pattern.size);
  r->pattern_size = pattern.size;
  r->context = pcre2_general_context_create(context_alloc, context_free, env);
  if (r->pattern == NULL || r->context == NULL) {
    return error_nomem(err, pattern.size);
  }
  const char *why = NULL;
  const str copy = str_slice(r->pattern, r->pattern_size);
  const glv_status status = regexp_translate(env, copy, flags, &translated, &r->names, &why);
  if (status == GLV_E_INVALID_INPUT) {
    return refuse(pattern, why, err);
  }
  if (status != GLV_OK) {
    return error_nomem(err, translated.size);
  }
  TRY(compile(r, &translated, err));
  *ret = r;
  r = NULL;
  return GLV_OK;
}

glv_status regexp_match_new(glv_env *env, regexp_match **ret, glv_error *err) {
  CLEANUP(regexp_match_cleanup) regexp_match *m = mem_zalloc(env, sizeof *m);
  if (m == NULL) {
    return error_nomem(err, sizeof *m);
  }
  m->env = env;
  m->context = pcre2_general_context_create(context_alloc, context_free, env);
  m->limits = m->context != NULL ? pcre2_match_context_create(m->context) : NULL;
  if (m->limits == NULL) {
    return error_nomem(err, sizeof *m);
  }
  pcre2_set_match_limit(m->limits, STEPS);
  pcre2_set_depth_limit(m->limits, DEPTH);
  pcre2_set_heap_limit(m->limits, HEAP_KIB);
  *ret = m;
  m = NULL;
  return GLV_OK;
}

void regexp_match_free(regexp_match *m) {
  if (m != NULL) {
    pcre2_match_data_free(m->data);
    pcre2_match_context_free(m->limits);
    pcre2_general_context_free(m->context);
    mem_free(m->env, m);
  }
}

void regexp_match_cleanup(regexp_match **m) { regexp_match_free(*m); }

static glv_status use_expression(regexp_match *m, const regexp *r, glv_error *err) {
  if (m->owner == r) {
    return GLV_OK;
  }
  pcre2_match_data_free(m->data);
  m->data = pcre2_match_data_create_from_pattern(r->code, m->context);
  m->owner = m->data != NULL ? r : NULL;
  return m->data != NULL ? GLV_OK : error_nomem(err, sizeof *m);
}

glv_status regexp_find(const regexp *r, regexp_match *m, str text, size_t from, bool *ret_found,
                       glv_error *err) {
  TRY(use_expression(m, r, err));
  if (!may_match(r, text, from)) {
    *ret_found = false;
    return GLV_OK;
  }
  const PCRE2_SPTR subject = (PCRE2_SPTR)(text.data != NULL ? text.data : "");
  int code = PCRE2_ERROR_JIT_STACKLIMIT;
  if (r->has_machine_code) {
    code = pcre2_jit_match(r->code, subject, text.size, from, 0, m->data, m->limits);
  }
  if (code == PCRE2_ERROR_JIT_STACKLIMIT) {
    code = pcre2_match(r->code, subject, text.size, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                       m->data, m->limits);
  }
  *ret_found = code >= 0;
  if (code >= 0 || code == PCRE2_ERROR_NOMATCH) {
    return GLV_OK;
  }
  if (code == PCRE2_ERROR_NOMEMORY) {
    return error_nomem(err, text.size);
  }
  return FAIL(err, GLV_E_SQL_EXEC,
              "Regular expression '%.*s' takes too much time or memory on a text of %zu bytes",
              (int)size_min(r->pattern_size, MESSAGE_PATTERN), r->pattern, text.size);
}

bool regexp_group(const regexp_match *m, uint32_t g, size_t *ret_begin, size_t *ret_end) {
  if (g >= pcre2_get_ovector_count(m->data)) {
    return false;
  }
  const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(m->data);
  *ret_begin = bounds[2 * (size_t)g];
  *ret_end = bounds[2 * (size_t)g + 1];
  return *ret_begin != PCRE2_UNSET;
}

uint32_t regexp_group_count(const regexp_match *m) { return pcre2_get_ovector_count(m->data); }

regexp_walk regexp_walk_begin(const regexp *r, regexp_match *m, str text) {
  return (regexp_walk){.r = r, .m = m, .text = text, .last_end = SIZE_MAX};
}

glv_status regexp_walk_next(regexp_walk *w, bool *ret_found, glv_error *err) {
  *ret_found = false;
  while (w->at <= w->text.size) {
    size_t begin;
    size_t end;
    TRY(regexp_find(w->r, w->m, w->text, w->at, ret_found, err));
    if (!*ret_found || !regexp_group(w->m, 0, &begin, &end)) {
      w->at = w->text.size + 1;
      return GLV_OK;
    }
    if (begin == end && end == w->last_end) { /* touches its predecessor: try one on */
      *ret_found = false;
      if (w->at == w->text.size) {
        w->at++;
      } else {
        unicode_next(w->text, &w->at);
      }
      continue;
    }
    w->at = end;
    w->last_end = end;
    return GLV_OK;
  }
  return GLV_OK;
}

/* ---- replacement texts ---- */

static glv_status put_group(const regexp_match *m, str text, uint32_t g, buf *out, glv_error *err) {
  size_t begin;
  size_t end;
  if (!regexp_group(m, g, &begin, &end)) {
    return GLV_OK;
  }
  return buf_append(out, text.data + begin, end - begin, err);
}

/* A group by number or name; unknown ones are empty. */
static glv_status put_reference(const regexp *r, const regexp_match *m, str text, str reference,
                                buf *out, glv_error *err) {
  uint64_t number;
  if (str_to_u64(reference, &number)) {
    return put_group(m, text, number > UINT32_MAX ? UINT32_MAX : (uint32_t)number, out, err);
  }
  for (size_t i = 0; i < r->names.count; i++) {
    if (str_equal(r->names.names[i].name, reference)) {
      return put_group(m, text, r->names.names[i].group, out, err);
    }
  }
  return GLV_OK;
}

static bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* What `$` at s[0] refers to; *ret_used = 0 when it stands for itself. */
static str dollar_reference(str s, size_t *ret_used) {
  *ret_used = 0;
  if (s.size >= 2 && s.data[1] == '{') {
    const char *end = memchr(s.data, '}', s.size);
    if (end == NULL) {
      return str_slice(NULL, 0);
    }
    *ret_used = (size_t)(end - s.data) + 1;
    return str_slice(s.data + 2, *ret_used - 3);
  }
  size_t end = 1;
  while (end < s.size && is_word(s.data[end])) {
    end++;
  }
  *ret_used = end > 1 ? end : 0;
  return str_slice(s.data + 1, end - 1);
}

/* What a backslash at s[0] refers to: digits behind it, or behind a second one. */
static str backslash_reference(str s, size_t *ret_used) {
  const size_t begin = s.size >= 2 && s.data[1] == '\\' ? 2 : 1;
  size_t end = begin;
  while (end < s.size && s.data[end] >= '0' && s.data[end] <= '9') {
    end++;
  }
  *ret_used = end > begin ? end : 0;
  return str_slice(s.data + begin, end - begin);
}

glv_status regexp_expand(const regexp *r, const regexp_match *m, str text, str replacement,
                         buf *out, glv_error *err) {
  for (size_t i = 0; i < replacement.size;) {
    const str rest = str_slice(replacement.data + i, replacement.size - i);
    const char c = rest.data[0];
    size_t used = 0;
    str reference = {0};
    if (c == '$' && rest.size >= 2 && rest.data[1] == '$') {
      TRY(buf_append_char(out, '$', err));
      i += 2;
      continue;
    }
    if (c == '$') {
      reference = dollar_reference(rest, &used);
    } else if (c == '\\') {
      reference = backslash_reference(rest, &used);
    }
    if (used != 0) {
      TRY(put_reference(r, m, text, reference, out, err));
      i += used;
    } else {
      TRY(buf_append_char(out, c, err));
      i++;
    }
  }
  return GLV_OK;
}
