/* Parsing paths: recursive descent with the choices of the reference's grammar, in its order. Where
 * a choice fails, parsing goes back to where it began. */
#include "expr/json_path.h"

#include <limits.h>
#include <math.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/number.h"
#include "expr/json_path_private.h"

enum { TERMS_MAX = 1000 };

typedef struct path_parser {
  arena *arena;
  buf scratch;
  str text;
  size_t at;
  unsigned depth;
  unsigned terms;      /* of all conditions: evaluation is recursive over them */
  bool has_arithmetic; /* an operator was seen that is known and not supported */
  glv_status broken;   /* GLV_E_NOMEM or GLV_E_LIMIT: nothing more is tried */
} path_parser;

static void parser_dispose(path_parser *p) { buf_dispose(&p->scratch); }

static char peek(const path_parser *p) { return p->at < p->text.size ? p->text.data[p->at] : '\0'; }

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_space(path_parser *p) {
  while (is_space(peek(p))) {
    p->at++;
  }
}

static bool accept(path_parser *p, str word) {
  if (p->text.size - p->at < word.size || memcmp(p->text.data + p->at, word.data, word.size) != 0) {
    return false;
  }
  p->at += word.size;
  return true;
}

/* In any case. */
static bool accept_word(path_parser *p, str word) {
  if (p->text.size - p->at < word.size ||
      !str_equal_ascii_case(str_slice(p->text.data + p->at, word.size), word)) {
    return false;
  }
  p->at += word.size;
  return true;
}

/* The same between white space. */
static bool accept_spaced(path_parser *p, str word) {
  skip_space(p);
  const bool found = accept(p, word);
  skip_space(p);
  return found;
}

static void *allocate(path_parser *p, size_t count, size_t size) {
  void *block = p->broken == GLV_OK ? arena_calloc(p->arena, count, size) : NULL;
  if (block == NULL && p->broken == GLV_OK) {
    p->broken = GLV_E_NOMEM;
  }
  return block;
}

/* ---- keys ---- */

static bool ends_name(char c) { return strchr(" ,.:{}[]()?@$|<>!=+-*/%\"'", c) != NULL; }

/* Characters up to one that ends the name, or up to a quote; at least one. */
static bool parse_name(path_parser *p, bool is_quoted, str *ret) {
  buf_clear(&p->scratch);
  const size_t begin = p->at;
  while (p->at < p->text.size && !(is_quoted ? peek(p) == '"' : ends_name(peek(p)))) {
    glv_error ignored;
    const char c = p->text.data[p->at++];
    const glv_status status = c == '\\' ? jsonb_unescape(p->text, &p->at, &p->scratch, &ignored)
                                        : buf_append_char(&p->scratch, c, &ignored);
    if (status != GLV_OK) {
      p->broken = status == GLV_E_INVALID_INPUT ? p->broken : status;
      return false;
    }
  }
  const bool is_empty = p->at == begin;
  if (is_empty || (is_quoted && !accept(p, STR("\"")))) {
    return false;
  }
  char *copy = allocate(p, p->scratch.size + 1, 1);
  if (copy == NULL) {
    return false;
  }
  memcpy(copy, p->scratch.data, p->scratch.size);
  *ret = str_slice(copy, p->scratch.size);
  return true;
}

static bool parse_quoted(path_parser *p, str *ret) {
  return accept(p, STR("\"")) && parse_name(p, true, ret);
}

static bool parse_key(path_parser *p, str *ret) {
  return peek(p) == '"' ? parse_quoted(p, ret) : parse_name(p, false, ret);
}

/* ---- numbers ---- */

static size_t skip_digits(path_parser *p) {
  const size_t begin = p->at;
  while (peek(p) >= '0' && peek(p) <= '9') {
    p->at++;
  }
  return p->at - begin;
}

/* A sign, perhaps, and digits, within [-most - 1, most]. */
static bool parse_integer(path_parser *p, int64_t most, int64_t *ret) {
  const bool is_negative = peek(p) == '-';
  p->at += is_negative || peek(p) == '+';
  const char *digits = p->text.data + p->at;
  uint64_t value;
  if (!str_to_u64(str_slice(digits, skip_digits(p)), &value) ||
      value > (uint64_t)most + (is_negative ? 1 : 0)) {
    return false;
  }
  *ret = is_negative ? -(int64_t)value : (int64_t)value;
  return true;
}

static bool parse_level(path_parser *p, unsigned *ret) {
  int64_t level;
  if (peek(p) < '0' || peek(p) > '9' || !parse_integer(p, UINT8_MAX, &level)) {
    return false;
  }
  *ret = (unsigned)level;
  return true;
}

/* `{1}`, `{1 to 3}`, `{1 to last}` */
static bool parse_levels(path_parser *p, path_step *s) {
  s->last_level = UINT_MAX;
  if (!accept(p, STR("{"))) {
    return true;
  }
  skip_space(p);
  if (!parse_level(p, &s->level)) {
    return false;
  }
  skip_space(p);
  s->last_level = s->level;
  if (accept_word(p, STR("to"))) {
    skip_space(p);
    if (accept_word(p, STR("last"))) {
      s->last_level = UINT_MAX;
    } else if (!parse_level(p, &s->last_level)) {
      return false;
    }
    skip_space(p);
  }
  return accept(p, STR("}"));
}

/* `3`, `last`, `last - 1` */
static bool parse_index(path_parser *p, path_index *ret) {
  int64_t value = 0;
  *ret = (path_index){.from_last = accept_word(p, STR("last"))};
  if (!ret->from_last) {
    const bool is_good = parse_integer(p, INT32_MAX, &value);
    ret->value = (int32_t)value;
    return is_good;
  }
  const size_t begin = p->at;
  skip_space(p);
  const bool is_minus = peek(p) == '-';
  if (is_minus || peek(p) == '+') {
    p->at++;
    skip_space(p);
    if (parse_integer(p, INT32_MAX, &value)) {
      ret->value = (int32_t)(is_minus ? (value == INT32_MIN ? INT32_MAX : -value) : value);
      return true;
    }
  }
  p->at = begin;
  return true;
}

static bool parse_range(path_parser *p, path_range *ret) {
  skip_space(p);
  if (!parse_index(p, &ret->first)) {
    return false;
  }
  skip_space(p);
  ret->is_single = !accept_word(p, STR("to"));
  if (!ret->is_single) {
    skip_space(p);
    if (!parse_index(p, &ret->last)) {
      return false;
    }
    skip_space(p);
  }
  return true;
}

/* Behind the bracket. */
static bool parse_ranges(path_parser *p, path_step *s) {
  size_t most = 1;
  for (size_t i = p->at; i < p->text.size && p->text.data[i] != ']'; i++) {
    most += p->text.data[i] == ',';
  }
  s->kind = STEP_ITEMS;
  s->ranges = allocate(p, most, sizeof *s->ranges);
  if (s->ranges == NULL) {
    return false;
  }
  do {
    if (!parse_range(p, &s->ranges[s->range_count++])) {
      return false;
    }
  } while (accept(p, STR(",")));
  return accept(p, STR("]"));
}

/* ---- steps ---- */

static bool parse_condition(path_parser *p, bool is_root, const path_condition **ret);

static bool parse_bracket(path_parser *p, path_step *s) {
  const size_t begin = p->at;
  if (accept_spaced(p, STR("*")) && accept(p, STR("]"))) {
    s->kind = STEP_ALL_ITEMS;
    return true;
  }
  p->at = begin;
  if (parse_ranges(p, s)) {
    return true;
  }
  p->at = begin;
  skip_space(p);
  s->kind = STEP_MEMBER;
  return parse_quoted(p, &s->key) && (skip_space(p), accept(p, STR("]")));
}

/* A step that is no filter. */
static bool parse_plain_step(path_parser *p, path_step *s) {
  if (accept(p, STR(".**"))) {
    s->kind = STEP_RECURSIVE;
    return parse_levels(p, s);
  }
  if (accept(p, STR(".*"))) {
    s->kind = STEP_ALL_MEMBERS;
    return true;
  }
  if (accept(p, STR("["))) {
    return parse_bracket(p, s);
  }
  s->kind = STEP_MEMBER;
  return (accept(p, STR(":")) || accept(p, STR("."))) && parse_key(p, &s->key);
}

static bool parse_filter(path_parser *p, path_step *s) {
  s->kind = STEP_FILTER;
  if (!accept(p, STR("?"))) {
    return false;
  }
  skip_space(p);
  return accept_spaced(p, STR("(")) && parse_condition(p, false, &s->condition) &&
         (skip_space(p), accept(p, STR(")")));
}

/* Steps as long as there are any; what follows is left alone. */
static const path_step *parse_steps(path_parser *p, bool has_filters, path_step *first) {
  path_step head = {.next = first};
  path_step *last = first != NULL ? first : &head;
  for (;;) {
    const size_t begin = p->at;
    path_step *s = allocate(p, 1, sizeof *s);
    if (s == NULL) {
      return NULL;
    }
    skip_space(p);
    const bool is_filter = has_filters && peek(p) == '?';
    if (!(is_filter ? parse_filter(p, s) : parse_plain_step(p, s))) {
      p->at = begin;
      return head.next;
    }
    skip_space(p);
    last->next = s;
    last = s;
  }
}

/* ---- conditions ---- */

static bool parse_number(path_parser *p, path_operand *ret) {
  const size_t begin = p->at;
  p->at += peek(p) == '-' || peek(p) == '+';
  skip_digits(p);
  if (accept(p, STR("."))) {
    skip_digits(p);
  }
  const size_t mantissa = p->at;
  if ((peek(p) | 0x20) == 'e') {
    p->at++;
    p->at += peek(p) == '-' || peek(p) == '+';
    p->at = skip_digits(p) > 0 ? p->at : mantissa;
  }
  const str text = str_slice(p->text.data + begin, p->at - begin);
  ret->value.kind = JSONB_NUMBER;
  p->at = begin;
  if (str_to_u64(text, &ret->number.u)) {
    ret->number.kind = JSONB_UINT64;
  } else if (parse_integer(p, INT64_MAX, &ret->number.i) && p->at == begin + text.size) {
    ret->number.kind = JSONB_INT64;
  } else {
    ret->number.kind = JSONB_FLOAT64;
    if (!number_parse64(text, &ret->number.f)) {
      return false;
    }
  }
  p->at = begin + text.size;
  return true;
}

static bool parse_operand(path_parser *p, bool is_root, path_operand *ret) {
  static const struct {
    str word;
    enum jsonb_kind kind;
  } WORDS[] = {{{"null", 4}, JSONB_NULL}, {{"true", 4}, JSONB_TRUE}, {{"false", 5}, JSONB_FALSE}};
  skip_space(p);
  *ret = (path_operand){.from_root = accept(p, STR("$"))};
  ret->is_path = ret->from_root || (!is_root && accept(p, STR("@")));
  if (ret->is_path) {
    ret->steps = parse_steps(p, false, NULL);
    return true;
  }
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
    if (accept(p, WORDS[i].word)) {
      ret->value.kind = WORDS[i].kind;
      return true;
    }
  }
  if (peek(p) == '"') {
    ret->value.kind = JSONB_STRING;
    return parse_quoted(p, &ret->value.data);
  }
  return parse_number(p, ret);
}

static bool parse_operator(path_parser *p, enum path_operator *ret) {
  static const struct {
    str word;
    enum path_operator op;
  } OPERATORS[] = {{{"==", 2}, PATH_EQ}, {{"!=", 2}, PATH_NE},
                   {{"<>", 2}, PATH_NE}, {{"<=", 2}, PATH_LE},
                   {{"<", 1}, PATH_LT},  {{">=", 2}, PATH_GE},
                   {{">", 1}, PATH_GT},  {{"starts with", 11}, PATH_STARTS_WITH}};
  skip_space(p);
  for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
    if (accept(p, OPERATORS[i].word)) {
      *ret = OPERATORS[i].op;
      return true;
    }
  }
  p->has_arithmetic = p->has_arithmetic || (peek(p) != '\0' && strchr("+-*/%", peek(p)) != NULL);
  return false;
}

/* exists(path), or two operands and an operator, or a condition in parentheses. */
static bool parse_atom(path_parser *p, bool is_root, const path_condition **ret) {
  path_condition *c = allocate(p, 1, sizeof *c);
  const size_t begin = p->at;
  if (++p->terms > TERMS_MAX) {
    p->broken = GLV_E_LIMIT;
    return false;
  }
  if (c == NULL) {
    return false;
  }
  *ret = c;
  if (parse_operand(p, is_root, &c->left) && parse_operator(p, &c->op) &&
      parse_operand(p, is_root, &c->right)) {
    skip_space(p);
    return true;
  }
  p->at = begin;
  if (accept_spaced(p, STR("("))) {
    return parse_condition(p, is_root, ret) && (skip_space(p), accept(p, STR(")")));
  }
  p->at = begin;
  c->op = PATH_EXISTS;
  if (!accept(p, STR("exists")) || !accept_spaced(p, STR("("))) {
    return false;
  }
  c->left = (path_operand){.is_path = true, .from_root = accept(p, STR("$"))};
  if (!c->left.from_root && !accept(p, STR("@"))) {
    return false;
  }
  c->left.steps = parse_steps(p, true, NULL);
  skip_space(p);
  return accept(p, STR(")"));
}

/* A list of terms joined by one operator; && binds closer than ||. */
static bool parse_junction(path_parser *p, bool is_root, bool is_or, const path_condition **ret) {
  const str word = is_or ? STR("||") : STR("&&");
  const path_condition *all = NULL;
  for (;;) {
    const path_condition *term = NULL;
    if (!(is_or ? parse_junction(p, is_root, false, &term) : parse_atom(p, is_root, &term))) {
      return false;
    }
    if (all != NULL) {
      path_condition *joined = allocate(p, 1, sizeof *joined);
      if (joined == NULL) {
        return false;
      }
      *joined = (path_condition){.op = is_or ? PATH_OR : PATH_AND, .a = all, .b = term};
      term = joined;
    }
    all = term;
    *ret = all;
    const size_t begin = p->at;
    if (!accept_spaced(p, word)) {
      p->at = begin;
      return true;
    }
  }
}

static bool parse_condition(path_parser *p, bool is_root, const path_condition **ret) {
  if (p->depth == LIMIT_SQL_DEPTH) {
    p->broken = GLV_E_LIMIT;
    return false;
  }
  p->depth++;
  const bool is_good = parse_junction(p, is_root, true, ret);
  p->depth--;
  return is_good;
}

/* ---- paths ---- */

static bool parse_path(path_parser *p, json_path *path) {
  skip_space(p);
  const size_t begin = p->at;
  if (parse_condition(p, true, &path->condition)) {
    return true;
  }
  path->condition = NULL;
  p->at = begin;
  path_step *first = NULL;
  if (!accept(p, STR("$")) && p->at < p->text.size && !ends_name(peek(p))) {
    first = allocate(p, 1, sizeof *first);
    if (first == NULL || !parse_key(p, &first->key)) {
      return false;
    }
  }
  path->steps = parse_steps(p, true, first);
  return true;
}

glv_status json_path_new(glv_env *env, str text, json_path **ret, glv_error *err) {
  CLEANUP(json_path_cleanup) json_path *path = mem_zalloc(env, sizeof *path);
  if (path == NULL) {
    return error_nomem(err, sizeof *path);
  }
  path->env = env;
  arena_init(&path->arena, env);
  CLEANUP(parser_dispose) path_parser p = {.arena = &path->arena, .text = text};
  buf_init(&p.scratch, env, LIMIT_JSON_BYTES);
  const bool is_good = parse_path(&p, path) && (skip_space(&p), p.at == text.size);
  const str shown = str_slice(text.data, text.size < 100 ? text.size : 100);
  if (p.broken == GLV_E_NOMEM) {
    return error_nomem(err, sizeof *path);
  }
  if (!is_good || p.broken != GLV_OK) {
    return FAIL(err, GLV_E_SQL_EXEC, "Invalid JSONPath '%.*s'%s", STR_ARG(shown),
                p.broken != GLV_OK ? ": it has too many conditions"
                : p.has_arithmetic ? ": arithmetic is not supported there"
                                   : "");
  }
  *ret = path;
  path = NULL;
  return GLV_OK;
}

void json_path_free(json_path *p) {
  if (p != NULL) {
    arena_dispose(&p->arena);
    mem_free(p->env, p);
  }
}

void json_path_cleanup(json_path **p) { json_path_free(*p); }
