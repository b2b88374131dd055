/*
 * Literals (sql-expressions section 7) and their conversion to the type of a column (8.2).
 */
#include <math.h>
#include <stdio.h>

#include "arrow/builder.h"
#include "base/limits.h"
#include "base/number.h"
#include "expr/cast.h"
#include "expr/jsonb.h"
#include "expr/lists.h"
#include "expr/plan_private.h"

/* A literal of a fixed-width type. */
static glv_status fixed(planner *p, const type *t, const void *value, const node **ret,
                        glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values = NULL;
  TRY(array_new_fixed(p->env, t, 1, &a, &values, err));
  if (t->kind == TYPE_BOOL) {
    bit_put(values, 0, *(const bool *)value);
  } else {
    memcpy(values, value, type_width(t));
  }
  a.null_count = 0;
  return plan_constant(p, &a, true, ret, err);
}

static glv_status text(planner *p, const type *t, str value, const node **ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(builder_dispose) builder b;
  builder_init(&b, p->env, t);
  TRY(builder_append_str(&b, value, err));
  TRY(builder_finish(&b, &a, err));
  return plan_constant(p, &a, true, ret, err);
}

glv_status plan_null(planner *p, const type *t, const node **ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  TRY(array_new_null(p->env, t, 1, &a, err));
  return plan_constant(p, &a, true, ret, err);
}

glv_status plan_bool(planner *p, bool value, const node **ret, glv_error *err) {
  return fixed(p, type_simple(TYPE_BOOL), &value, ret, err);
}

glv_status plan_int64(planner *p, int64_t value, const node **ret, glv_error *err) {
  return fixed(p, type_simple(TYPE_INT64), &value, ret, err);
}

glv_status plan_string(planner *p, str value, const node **ret, glv_error *err) {
  return text(p, type_simple(TYPE_UTF8), value, ret, err);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = (char)(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* An odd number of digits: the first stands alone. Wrong digits: a null. */
glv_status plan_hex(planner *p, const ast *a, const node **ret, glv_error *err) {
  const type *t = type_simple(TYPE_BINARY);
  const size_t odd = a->text.size % 2;
  const size_t size = a->text.size / 2 + odd;
  char *bytes = arena_alloc(p->arena, size);
  if (bytes == NULL) {
    return error_nomem(err, size);
  }
  for (size_t i = 0; i < a->text.size; i++) {
    const int digit = hex_digit(a->text.data[i]);
    if (digit < 0) {
      return plan_null(p, t, ret, err);
    }
    char *byte = &bytes[(i + odd) / 2];
    *byte = (char)((unsigned)(unsigned char)*byte << 4 | (unsigned)digit);
  }
  return text(p, t, str_slice(bytes, size), ret, err);
}

glv_status plan_jsonb(planner *p, str json, const node **ret, glv_error *err) {
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, p->env, LIMIT_JSON_BYTES);
  glv_error why = {0};
  const glv_status status = jsonb_parse(p->env, json, &bytes, &why);
  if (status != GLV_OK) {
    return FAIL(err, status == GLV_E_INVALID_INPUT ? GLV_E_SQL_PLAN : status, "%s", why.message);
  }
  return text(p, type_simple(TYPE_LARGE_BINARY), buf_str(&bytes), ret, err);
}

static bool is_integer_text(str digits) {
  for (size_t i = 0; i < digits.size; i++) {
    if (digits.data[i] < '0' || digits.data[i] > '9') {
      return false;
    }
  }
  return digits.size > 0;
}

static glv_status real(planner *p, str digits, bool negative, const node **ret, glv_error *err) {
  double value = 0;
  if (!number_parse64(digits, &value)) {
    return FAIL(err, GLV_E_SQL_PLAN, "Cannot parse %.*s as a number", STR_ARG(digits));
  }
  value = negative ? -value : value;
  return fixed(p, type_simple(TYPE_FLOAT64), &value, ret, err);
}

/*
 * negative: a minus stands directly before the number. In L the digits alone decide the type, so
 * the smallest int64 is a float there; in D it is an integer.
 */
glv_status plan_number(planner *p, const ast *a, bool negative, place at, const node **ret,
                       glv_error *err) {
  uint64_t value = 0;
  if (!is_integer_text(a->text) || !str_to_u64(a->text, &value)) {
    return real(p, a->text, negative, ret, err);
  }
  const uint64_t limit = (uint64_t)INT64_MAX + (negative && at.inner ? 1 : 0);
  if (value <= limit) {
    const int64_t n = negative ? (int64_t)(0 - value) : (int64_t)value;
    return plan_int64(p, n, ret, err);
  }
  if (negative) {
    return real(p, a->text, true, ret, err);
  }
  return fixed(p, type_simple(TYPE_UINT64), &value, ret, err);
}

bool plan_is_literal(const ast *a) {
  a = ast_strip(a);
  switch (a->kind) {
  case AST_NUMBER:
  case AST_STRING:
  case AST_HEX:
  case AST_BOOL:
  case AST_NULL:
  case AST_ARRAY: /* only asked in L, where it is one */
    return true;
  case AST_UNARY:
    return a->op == AST_MINUS && a->child[0]->kind == AST_NUMBER;
  default:
    return false;
  }
}

/* The items of an array literal: literals themselves, all of the type of the first. */
static glv_status array_items(planner *p, const ast *a, array *items, glv_error *err) {
  const type *t = NULL;
  for (uint32_t i = 0; i < a->child_count; i++) {
    const ast *child = a->child[i];
    if (child->kind == AST_ARRAY || child->kind == AST_PAREN || !plan_is_literal(child)) {
      return FAIL(err, GLV_E_SQL_PLAN,
                  "Expected a literal value in array, instead got another expression at position "
                  "%u",
                  (unsigned)i);
    }
    const node *item = NULL;
    TRY(plan_node(p, child, (place){0}, &item, err));
    const type *found = item->type;
    t = t != NULL ? t : found;
    if ((t->kind == TYPE_NULL) != (found->kind == TYPE_NULL) ||
        plan_convert_literal(p, item, t, &item, err) != GLV_OK) {
      return FAIL(err, GLV_E_SQL_PLAN,
                  "Array expressions must have a consistent datatype. Expected: %s, got: %s",
                  TYPE_TEXT(t), TYPE_TEXT(found));
    }
    items[i] = *item->constant;
  }
  return GLV_OK;
}

glv_status plan_array_literal(planner *p, const ast *a, const node **ret, glv_error *err) {
  array *items = ARENA_ARRAY(p->arena, array, a->child_count);
  CLEANUP(array_unref) array list = {.length = 1};
  if (items == NULL) {
    return error_nomem(err, a->child_count * sizeof *items);
  }
  if (a->child_count == 0) {
    return FAIL(err, GLV_E_SQL_PLAN, "An array literal needs at least one value");
  }
  TRY(array_items(p, a, items, err));
  TRY(list_type_new(p->arena, TYPE_LIST, items[0].type, true, &list.type, err));
  TRY(array_new_children(p->env, 1, &list, err));
  TRY(array_concat(p->env, items, a->child_count, &list.children[0], err));
  list.children[0].type = items[0].type;
  TRY(buffer_new_zeroed(p->env, 2 * sizeof(int32_t), &list.owners[1], err));
  ((int32_t *)(void *)list.owners[1]->data)[1] = (int32_t)a->child_count;
  list.values = list.owners[1]->data;
  return plan_constant(p, &list, true, ret, err);
}

static bool is_arithmetic(unsigned op) {
  return op <= AST_MOD || op == AST_CONCAT || op == AST_SHL || op == AST_SHR;
}

bool plan_is_literal_tree(const ast *a) {
  for (a = ast_strip(a); a->kind == AST_BINARY && is_arithmetic(a->op);
       a = ast_strip(a->child[0])) {
    if (!plan_is_literal_tree(a->child[1])) {
      return false;
    }
  }
  return plan_is_literal(a);
}

/* Whether table 8.2 knows the pair; values are checked by the conversion. */
static bool converts(const type *from, const type *to) {
  if (type_is_integer(from->kind)) {
    return type_is_integer(to->kind) || type_is_float(to->kind) ||
           (from->kind == TYPE_INT64 && (type_is_decimal(to->kind) || to->kind == TYPE_TIME32));
  }
  if (type_is_float(from->kind)) {
    return type_is_float(to->kind);
  }
  if (type_is_string(from->kind)) {
    return type_is_string(to->kind);
  }
  if (type_is_binary(from->kind)) {
    return type_is_binary(to->kind) || to->kind == TYPE_FIXED_SIZE_BINARY;
  }
  if (type_is_list(from->kind) && type_is_list(to->kind)) {
    return cast_is_supported(from, to);
  }
  return type_equal(from, to);
}

/* A number for a float16 column may neither become infinite nor vanish. */
static bool fits_float16(const node *n, const array *converted) {
  const uint16_t bits = ARRAY_VALUES(converted, uint16_t)[0];
  double from = 0;
  switch (n->type->kind) {
  case TYPE_INT64:
    from = (double)ARRAY_VALUES(n->constant, int64_t)[0];
    break;
  case TYPE_UINT64:
    from = (double)ARRAY_VALUES(n->constant, uint64_t)[0];
    break;
  default:
    from = ARRAY_VALUES(n->constant, double)[0];
    break;
  }
  const bool vanished = (bits & 0x7fff) == 0 && from != 0;
  const bool overflowed = (bits & 0x7c00) == 0x7c00 && isfinite(from);
  return !vanished && !overflowed;
}

/* Whole numbers are ticks of a time of day, which int32 becomes. Items of a list that cannot be
 * converted become null, a list of the wrong length, too. */
static glv_status convert(planner *p, const array *a, const type *to, array *ret, glv_error *err) {
  if (to->kind != TYPE_TIME32) {
    return cast_array(p->env, a, to, type_is_list(to->kind), ret, err);
  }
  CLEANUP(array_unref) array ticks = {0};
  TRY(cast_array(p->env, a, type_simple(TYPE_INT32), false, &ticks, err));
  return cast_array(p->env, &ticks, to, false, ret, err);
}

static const char *print_literal(const node *n, char *out, size_t size) {
  const array *a = n->constant;
  char number[NUMBER_TEXT_SIZE] = {0};
  switch (n->type->kind) {
  case TYPE_INT64:
    (void)snprintf(out, size, "Int64(%lld)", (long long)ARRAY_VALUES(a, int64_t)[0]);
    break;
  case TYPE_UINT64:
    (void)snprintf(out, size, "UInt64(%llu)", (unsigned long long)ARRAY_VALUES(a, uint64_t)[0]);
    break;
  case TYPE_FLOAT64:
    (void)snprintf(out, size, "Float64(%.*s)",
                   (int)number_print64(ARRAY_VALUES(a, double)[0], number), number);
    break;
  case TYPE_BOOL:
    (void)snprintf(out, size, "Boolean(%s)", array_bool(a, 0) ? "true" : "false");
    break;
  case TYPE_UTF8:
    (void)snprintf(out, size, "Utf8(\"%.*s\")", STR_ARG(array_str(a, 0)));
    break;
  default:
    (void)snprintf(out, size, "%s(..)", TYPE_TEXT(n->type));
    break;
  }
  return out;
}

static glv_status refuse(const node *n, const type *t, glv_error *err) {
  char literal[96];
  return FAIL(err, GLV_E_SQL_PLAN,
              "Received literal %s and could not convert to literal of type '%s'",
              print_literal(n, literal, sizeof literal), TYPE_TEXT(t));
}

glv_status plan_convert_literal(planner *p, const node *n, const type *t, const node **ret,
                                glv_error *err) {
  const type *to = t->kind == TYPE_DICTIONARY ? t->children[0].type : t;
  if (n->type->kind == TYPE_NULL || type_equal(n->type, to)) {
    *ret = n;
    return GLV_OK;
  }
  if (!array_is_valid(n->constant, 0) && converts(n->type, to)) {
    return plan_null(p, to, ret, err);
  }
  if (!converts(n->type, to)) {
    return refuse(n, to, err);
  }
  CLEANUP(array_unref) array converted = {0};
  const glv_status status = convert(p, n->constant, to, &converted, err);
  if (status == GLV_E_SQL_EXEC) {
    return refuse(n, to, err);
  }
  if (status != GLV_OK) {
    return status;
  }
  if (to->kind == TYPE_FLOAT16 && !fits_float16(n, &converted)) {
    return refuse(n, to, err);
  }
  return plan_constant(p, &converted, true, ret, err);
}
