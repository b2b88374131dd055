/*
 * Types by name: those of SQL (sql-expressions 11.1), the short list of context L and the longer
 * one of D; and casts to types by their Arrow names.
 */
#include "expr/plan_private.h"
#include "expr/type_name.h"

enum { DECIMAL128_DIGITS = 38, DECIMAL256_DIGITS = 76, DEFAULT_SCALE = 10 };

static glv_status unsupported(const ast_type *t, glv_error *err) {
  return FAIL(err, GLV_E_SQL_PLAN,
              "Unsupported data type: %.*s. Supported types: [TINYINT, SMALLINT, INT, BIGINT (each "
              "also UNSIGNED), FLOAT, DOUBLE, STRING, BINARY, BOOLEAN, DATE, TIMESTAMP(p), "
              "DATETIME(p), DECIMAL(p,s)]",
              STR_ARG(t->canonical));
}

struct named_type {
  const char *name;
  type_kind kind;
  type_kind unsigned_kind; /* TYPE_NONE: there is no such type */
  enum { IN_BOTH, IN_L, IN_D } where;
  bool takes_length; /* one number is allowed and ignored */
};

static const struct named_type named_types[] = {
    {"TINYINT", TYPE_INT8, TYPE_UINT8, IN_BOTH, true},
    {"SMALLINT", TYPE_INT16, TYPE_UINT16, IN_BOTH, true},
    {"INT", TYPE_INT32, TYPE_UINT32, IN_BOTH, true},
    {"INTEGER", TYPE_INT32, TYPE_UINT32, IN_BOTH, true},
    {"BIGINT", TYPE_INT64, TYPE_UINT64, IN_BOTH, true},
    {"FLOAT", TYPE_FLOAT32, TYPE_NONE, IN_BOTH, true},
    {"DOUBLE", TYPE_FLOAT64, TYPE_NONE, IN_BOTH, false},
    {"STRING", TYPE_UTF8, TYPE_NONE, IN_BOTH, true},
    {"BINARY", TYPE_BINARY, TYPE_NONE, IN_L, true},
    {"BOOLEAN", TYPE_BOOL, TYPE_NONE, IN_BOTH, false},
    {"DATE", TYPE_DATE32, TYPE_NONE, IN_BOTH, false},
    {"VARCHAR", TYPE_UTF8, TYPE_NONE, IN_D, false},
    {"TEXT", TYPE_UTF8, TYPE_NONE, IN_D, false},
    {"CHAR", TYPE_UTF8, TYPE_NONE, IN_D, false},
    {"BOOL", TYPE_BOOL, TYPE_NONE, IN_D, false},
    {"REAL", TYPE_FLOAT32, TYPE_NONE, IN_D, false},
    {"FLOAT4", TYPE_FLOAT32, TYPE_NONE, IN_D, false},
    {"FLOAT8", TYPE_FLOAT64, TYPE_NONE, IN_D, false},
    {"DOUBLE PRECISION", TYPE_FLOAT64, TYPE_NONE, IN_D, false},
    {"INT2", TYPE_INT16, TYPE_UINT16, IN_D, false},
    {"INT4", TYPE_INT32, TYPE_UINT32, IN_D, false},
    {"INT8", TYPE_INT64, TYPE_UINT64, IN_D, false},
    {"BYTEA", TYPE_BINARY, TYPE_NONE, IN_D, false},
    {"INTERVAL", TYPE_INTERVAL_MONTH_DAY_NANO, TYPE_NONE, IN_D, false},
};

static glv_status plan_timestamp(planner *p, const ast_type *t, place at, const type **ret,
                                 glv_error *err) {
  time_unit unit = at.inner ? UNIT_NANO : UNIT_MICRO;
  if (!at.inner && (t->zone == AST_ZONE_WITH || t->zone == AST_ZONE_TZ)) {
    return FAIL(err, GLV_E_SQL_PLAN, "Timezone not supported in timestamp");
  }
  if (t->number_count > 0) {
    if (t->number_count > 1 || t->number[0] % 3 != 0 || t->number[0] < 0 || t->number[0] > 9) {
      return FAIL(err, GLV_E_SQL_PLAN, "Unsupported datetime resolution: %.*s",
                  STR_ARG(t->canonical));
    }
    unit = (time_unit)(t->number[0] / 3);
  }
  *ret = type_timestamp(p->arena, unit, NULL);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status plan_decimal(planner *p, const ast_type *t, place at, const type **ret,
                               glv_error *err) {
  int64_t precision = DECIMAL128_DIGITS;
  int64_t scale = t->number_count == 0 ? DEFAULT_SCALE : 0;
  if (!at.inner && t->number_count != 2) {
    return FAIL(err, GLV_E_SQL_PLAN, "Must provide precision and scale for decimal");
  }
  if (t->number_count > 0) {
    precision = t->number[0];
  }
  if (t->number_count > 1) {
    scale = t->number[1];
  }
  const int64_t most = at.inner ? DECIMAL256_DIGITS : DECIMAL128_DIGITS;
  if (precision < 1 || precision > most || scale < -128 || scale > 127) {
    return FAIL(err, GLV_E_SQL_PLAN, "Decimal precision and scale are out of range: %.*s",
                STR_ARG(t->canonical));
  }
  const type_kind kind = precision > DECIMAL128_DIGITS ? TYPE_DECIMAL256 : TYPE_DECIMAL128;
  *ret = type_decimal(p->arena, kind, (int32_t)precision, (int32_t)scale);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status plan_named(const ast_type *t, place at, const type **ret, glv_error *err) {
  for (size_t i = 0; i < sizeof named_types / sizeof *named_types; i++) {
    const struct named_type *known = &named_types[i];
    if (!str_is(t->name, known->name)) {
      continue;
    }
    const bool length_fits = t->number_count == 0 || (known->takes_length && t->number_count == 1);
    const bool sign_fits = !t->is_unsigned || known->unsigned_kind != TYPE_NONE;
    const bool stands_here = known->where == IN_BOTH || (known->where == IN_D) == at.inner;
    if (!stands_here || !length_fits || !sign_fits) {
      break;
    }
    *ret = type_simple(t->is_unsigned ? known->unsigned_kind : known->kind);
    return GLV_OK;
  }
  return unsupported(t, err);
}

glv_status plan_type(planner *p, const ast_type *t, place at, const type **ret, glv_error *err) {
  if (!t->known || t->element != NULL) {
    return unsupported(t, err);
  }
  if (str_is(t->name, "TIMESTAMP") || str_is(t->name, "TIMESTAMPTZ") ||
      (str_is(t->name, "DATETIME") && !at.inner)) {
    return plan_timestamp(p, t, at, ret, err);
  }
  if (str_is(t->name, "DECIMAL") || (at.inner && str_is(t->name, "NUMERIC"))) {
    return plan_decimal(p, t, at, ret, err);
  }
  if (at.inner && str_is(t->name, "TIME")) {
    *ret = type_with_unit(p->arena, TYPE_TIME64, UNIT_NANO);
    return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
  }
  TRY(plan_named(t, at, ret, err));
  const bool is_sql_text =
      str_is(t->name, "VARCHAR") || str_is(t->name, "TEXT") || str_is(t->name, "CHAR");
  if (p->group != NULL && is_sql_text) {
    *ret = type_simple(TYPE_UTF8_VIEW);
  }
  return GLV_OK;
}

/* A whole number becomes a time by way of 32 bits when it is constant; no column of int64 does. */
static glv_status plan_time_ticks(planner *p, const type *t, const node **n, glv_error *err) {
  if (t->kind == TYPE_TIME32 && node_is_constant(*n) && (*n)->type->kind == TYPE_INT64) {
    return plan_cast(p, *n, type_simple(TYPE_INT32), false, n, err);
  }
  return GLV_OK;
}

glv_status plan_arrow_cast(planner *p, const char *name, const node **arguments, size_t count,
                           const node **ret, glv_error *err) {
  const type *t = NULL;
  if (count != 2) {
    return FAIL(err, GLV_E_SQL_PLAN, "Function '%s' expects 2 arguments but received %zu", name,
                count);
  }
  const node *wanted = arguments[1];
  if (!type_is_string(wanted->type->kind) || !node_is_constant(wanted) || node_is_null(wanted)) {
    return FAIL(err, GLV_E_SQL_PLAN, "%s requires its second argument to be a constant string",
                name);
  }
  TRY(type_name_parse(p->arena, array_str(wanted->constant, 0), &t, err));
  TRY(plan_time_ticks(p, t, &arguments[0], err));
  return plan_cast(p, arguments[0], t, str_is(str_of(name), "arrow_try_cast"), ret, err);
}
