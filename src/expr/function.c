/* Finding functions by name: a walk over the tables of the families, and the known name that is
 * nearest to an unknown one. */
#include "expr/function.h"

#include "expr/cast.h"
#include "expr/function_private.h"

static const function *const FAMILIES[] = {
    functions_case,      functions_length, functions_trim,      functions_slice,
    functions_concat,    functions_search, functions_token,     functions_regexp,
    functions_math,      functions_round,  functions_date_part, functions_date,
    functions_timestamp, functions_vector, functions_condition, functions_arrow,
    functions_later};

enum { FAMILY_COUNT = sizeof FAMILIES / sizeof FAMILIES[0], NAME_MAX_SIZE = 64 };

static bool has_name(const function *f, str name) {
  if (str_is(name, f->name)) {
    return true;
  }
  for (const char *const *alias = f->aliases; alias != NULL && *alias != NULL; alias++) {
    if (str_is(name, *alias)) {
      return true;
    }
  }
  return false;
}

const function *function_find(str name) {
  for (size_t i = 0; i < FAMILY_COUNT; i++) {
    for (const function *f = FAMILIES[i]; f->name != NULL; f++) {
      if (has_name(f, name)) {
        return f;
      }
    }
  }
  return NULL;
}

/* Levenshtein distance of two short texts. */
static size_t distance(str a, str b) {
  size_t row[NAME_MAX_SIZE + 1];
  for (size_t j = 0; j <= b.size; j++) {
    row[j] = j;
  }
  for (size_t i = 0; i < a.size; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size; j++) {
      const size_t replaced = diagonal + (a.data[i] != b.data[j]);
      diagonal = row[j + 1];
      row[j + 1] = size_min(replaced, size_min(row[j], row[j + 1]) + 1);
    }
  }
  return row[b.size];
}

const char *function_suggest(str name) {
  const char *best = NULL;
  size_t best_distance = name.size / 3 + 1; /* further away is no likeness */
  if (name.size > NAME_MAX_SIZE) {
    return NULL;
  }
  for (size_t i = 0; i < FAMILY_COUNT - 1; i++) { /* without those that do not work yet */
    for (const function *f = FAMILIES[i]; f->name != NULL; f++) {
      const size_t d = distance(name, str_of(f->name));
      if (d < best_distance) {
        best = f->name;
        best_distance = d;
      }
    }
  }
  return best;
}

glv_status bind_count(const function_binding *b, size_t least, size_t most, glv_error *err) {
  if (b->count >= least && b->count <= most) {
    return GLV_OK;
  }
  const char *s = least == 1 && most == 1 ? "" : "s";
  if (least == most) {
    return FAIL(err, GLV_E_SQL_PLAN, "Function '%.*s' expects %zu argument%s but received %zu",
                STR_ARG(b->name), least, s, b->count);
  }
  return FAIL(err, GLV_E_SQL_PLAN, "Function '%.*s' expects %s %zu arguments but received %zu",
              STR_ARG(b->name), b->count < least ? "at least" : "at most",
              b->count < least ? least : most, b->count);
}

glv_status bind_refuse(const function_binding *b, size_t i, const char *wanted, glv_error *err) {
  return FAIL(err, GLV_E_SQL_PLAN,
              "Failed to coerce arguments to satisfy a call to '%.*s' function: Function '%.*s' "
              "requires %s, but received %s",
              STR_ARG(b->name), STR_ARG(b->name), wanted, TYPE_TEXT(b->arguments[i].type));
}

bool bind_is_null(const function_binding *b, size_t i) {
  return b->arguments[i].type->kind == TYPE_NULL;
}

glv_status bind_string(function_binding *b, size_t i, glv_error *err) {
  const type *t = b->arguments[i].type;
  if (t->kind == TYPE_NULL) {
    b->targets[i] = type_simple(TYPE_UTF8);
    return GLV_OK;
  }
  return type_is_string(t->kind) ? GLV_OK : bind_refuse(b, i, "String", err);
}

glv_status bind_text(function_binding *b, size_t i, glv_error *err) {
  if (type_is_string(b->arguments[i].type->kind)) {
    return GLV_OK;
  }
  return bind_castable(b, i, type_simple(TYPE_UTF8), "String", err);
}

glv_status bind_int64(function_binding *b, size_t i, glv_error *err) {
  const type_kind kind = b->arguments[i].type->kind;
  if (kind != TYPE_NULL && !type_is_integer(kind)) {
    return bind_refuse(b, i, "Int64", err);
  }
  b->targets[i] = type_simple(TYPE_INT64);
  return GLV_OK;
}

glv_status bind_castable(function_binding *b, size_t i, const type *t, const char *wanted,
                         glv_error *err) {
  if (!cast_is_supported(b->arguments[i].type, t)) {
    return bind_refuse(b, i, wanted, err);
  }
  b->targets[i] = t;
  return GLV_OK;
}

const type *bind_text_result(const function_binding *b, enum text_result rule) {
  const type_kind kind = b->arguments[0].type->kind;
  switch (rule) {
  case TEXT_LIKE_FIRST:
    if (kind == TYPE_LARGE_UTF8) {
      return type_simple(TYPE_LARGE_UTF8);
    }
    return type_simple(kind == TYPE_NULL || kind == TYPE_UTF8_VIEW ? TYPE_UTF8_VIEW : TYPE_UTF8);
  case TEXT_LARGE_OR_UTF8:
    return type_simple(kind == TYPE_LARGE_UTF8 ? TYPE_LARGE_UTF8 : TYPE_UTF8);
  }
  return NULL;
}

const type *bind_position_result(const function_binding *b) {
  return type_simple(b->arguments[0].type->kind == TYPE_LARGE_UTF8 ? TYPE_INT64 : TYPE_INT32);
}
