/* What the bind calls of functions share: checks of counts and types with the phrases of
 * sql-expressions 9.7, and the types of string results (section 13). */
#include <stdio.h>

#include "expr/cast.h"
#include "expr/function_private.h"

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
  const bool is_dictionary =
      t->kind == TYPE_DICTIONARY && type_is_string(t->children[0].type->kind);
  if (t->kind == TYPE_NULL || is_dictionary) {
    b->targets[i] = type_simple(TYPE_UTF8_VIEW);
    return GLV_OK;
  }
  return type_is_string(t->kind) ? GLV_OK : bind_refuse(b, i, "String", err);
}

glv_status bind_strings(function_binding *b, glv_error *err) {
  for (size_t i = 0; i < b->count; i++) {
    TRY(bind_string(b, i, err));
  }
  return GLV_OK;
}

glv_status bind_string_or_binary(function_binding *b, size_t i, glv_error *err) {
  return type_is_binary(b->arguments[i].type->kind) ? GLV_OK : bind_string(b, i, err);
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

/* ---- signatures ---- */

/* Whether the reference makes a value of type t one of that kind without being told to. */
static bool coerces(type_kind into, const type *t) {
  const type_kind kind = t->kind;
  if (kind == TYPE_DICTIONARY && coerces(into, t->children[0].type)) {
    return true;
  }
  if (kind == into || kind == TYPE_NULL) {
    return true;
  }
  switch (into) {
  case TYPE_INT32:
    return kind == TYPE_INT8 || kind == TYPE_INT16 || kind == TYPE_UINT8 || kind == TYPE_UINT16;
  case TYPE_INT64:
    return type_is_integer(kind) && kind != TYPE_UINT64;
  case TYPE_FLOAT16:
    return kind == TYPE_INT8 || kind == TYPE_INT16 || kind == TYPE_UINT8 || kind == TYPE_UINT16;
  case TYPE_FLOAT32:
    return type_is_integer(kind) || kind == TYPE_FLOAT16;
  case TYPE_FLOAT64:
    return type_is_numeric(kind);
  case TYPE_UTF8_VIEW:
    return kind == TYPE_UTF8 || kind == TYPE_LARGE_UTF8;
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
    return true; /* whether there is such a cast is seen later */
  default:
    return false;
  }
}

static size_t signature_length(const signature *s) {
  size_t length = 0;
  while (length < SIGNATURE_MAX && s->kinds[length] != TYPE_NONE) {
    length++;
  }
  return length;
}

/* Whether the arguments have the types of the signature, or else can be given them. */
static bool fits(const function_binding *b, const signature *s, bool is_exact) {
  if (signature_length(s) != b->count) {
    return false;
  }
  for (size_t i = 0; i < b->count; i++) {
    const type *t = b->arguments[i].type;
    if (is_exact ? t->kind != s->kinds[i] : !coerces(s->kinds[i], t)) {
      return false;
    }
  }
  return true;
}

static const signature *find_signature(const function_binding *b, const signature *list,
                                       size_t count) {
  for (size_t pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < count; i++) {
      if (fits(b, &list[i], pass == 0)) {
        return &list[i];
      }
    }
  }
  return NULL;
}

/* The types of the arguments as `a, b`, cut where text ends. */
static const char *argument_types(const function_binding *b, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < b->count && used + 1 < size; i++) {
    const int n = snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ",
                           TYPE_TEXT(b->arguments[i].type));
    used = n < 0 ? size : used + (size_t)n;
  }
  return text;
}

static glv_status set_target(function_binding *b, size_t i, type_kind kind, glv_error *err) {
  return bind_castable(b, i, type_simple(kind), type_is_string(kind) ? "String" : "Numeric", err);
}

static glv_status no_signature(const function_binding *b, glv_error *err) {
  char types[4 * TYPE_TEXT_SIZE];
  return FAIL(err, GLV_E_SQL_PLAN,
              "Failed to coerce arguments to satisfy a call to '%.*s' function: coercion from "
              "(%s) failed",
              STR_ARG(b->name), argument_types(b, types, sizeof types));
}

glv_status bind_signature(function_binding *b, const signature *list, size_t count,
                          glv_error *err) {
  const signature *found = find_signature(b, list, count);
  if (found == NULL) {
    return no_signature(b, err);
  }
  for (size_t i = 0; i < b->count; i++) {
    TRY(set_target(b, i, found->kinds[i], err));
  }
  return GLV_OK;
}

glv_status bind_variadic(function_binding *b, const type_kind *kinds, size_t count,
                         glv_error *err) {
  type_kind found = TYPE_NONE;
  for (size_t pass = 0; pass < 2 && found == TYPE_NONE; pass++) {
    for (size_t k = 0; k < count && found == TYPE_NONE; k++) {
      bool fits_all = true;
      for (size_t i = 0; i < b->count && fits_all; i++) {
        const type *t = b->arguments[i].type;
        fits_all = pass == 0 ? t->kind == kinds[k] : coerces(kinds[k], t);
      }
      found = fits_all ? kinds[k] : TYPE_NONE;
    }
  }
  if (found == TYPE_NONE) {
    return no_signature(b, err);
  }
  for (size_t i = 0; i < b->count; i++) {
    TRY(set_target(b, i, found, err));
  }
  return GLV_OK;
}

/* ---- results ---- */

const type *bind_text_result(const function_binding *b, enum text_result rule) {
  const type_kind kind = b->targets[0]->kind;
  switch (rule) {
  case TEXT_LIKE_FIRST:
    return type_simple(kind);
  case TEXT_LARGE_OR_UTF8:
    return type_simple(kind == TYPE_LARGE_UTF8 ? TYPE_LARGE_UTF8 : TYPE_UTF8);
  }
  return NULL;
}

const type *bind_position_result(const function_binding *b) {
  return type_simple(b->targets[0]->kind == TYPE_LARGE_UTF8 ? TYPE_INT64 : TYPE_INT32);
}
