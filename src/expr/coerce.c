/*
 * Common types (sql-expressions section 9). Pure tables: nothing here knows expressions.
 *
 * The order of the rules matters and follows 9.3: the first that knows the pair decides.
 * Comparisons, branches and unions share all rules but one: what becomes of a string beside a
 * number, a date or a timestamp.
 */
#include "expr/coerce.h"

#include "expr/plan_private.h"

enum { DECIMAL128_MAX = 38, DECIMAL256_MAX = 76 };

/* One side wins by being larger: helpers for enum-ordered kinds. */
static bool either(type_kind l, type_kind r, type_kind kind) { return l == kind || r == kind; }

static int32_t max32(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }

/* Digits and scale that stand for a numeric type beside a decimal (9.1 rule 3). */
static bool decimal_of(const type *t, int32_t *ret_precision, int32_t *ret_scale) {
  static const struct {
    type_kind kind;
    int32_t precision;
    int32_t scale;
  } table[] = {
      {TYPE_INT8, 3, 0},    {TYPE_UINT8, 3, 0},    {TYPE_INT16, 5, 0},     {TYPE_UINT16, 5, 0},
      {TYPE_INT32, 10, 0},  {TYPE_UINT32, 10, 0},  {TYPE_INT64, 20, 0},    {TYPE_UINT64, 20, 0},
      {TYPE_FLOAT16, 6, 3}, {TYPE_FLOAT32, 14, 7}, {TYPE_FLOAT64, 30, 15},
  };
  if (type_is_decimal(t->kind)) {
    *ret_precision = t->precision;
    *ret_scale = t->scale;
    return true;
  }
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (table[i].kind == t->kind) {
      *ret_precision = table[i].precision;
      *ret_scale = table[i].scale;
      return true;
    }
  }
  return false;
}

static glv_status coerce_decimal(arena *a, const type *l, const type *r, const type **ret,
                                 glv_error *err) {
  const bool wide = either(l->kind, r->kind, TYPE_DECIMAL256);
  int32_t p1 = 0;
  int32_t s1 = 0;
  int32_t p2 = 0;
  int32_t s2 = 0;
  *ret = NULL;
  if (!decimal_of(l, &p1, &s1) || !decimal_of(r, &p2, &s2)) {
    return GLV_OK;
  }
  const int32_t scale = max32(s1, s2);
  const int32_t precision = max32(p1 - s1, p2 - s2) + scale;
  if (type_is_decimal(l->kind) && type_is_decimal(r->kind) && l->kind != r->kind &&
      precision > DECIMAL256_MAX) {
    return GLV_OK;
  }
  const type_kind kind = wide ? TYPE_DECIMAL256 : TYPE_DECIMAL128;
  *ret = type_decimal(a, kind, min32(precision, wide ? DECIMAL256_MAX : DECIMAL128_MAX), scale);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

/* 9.1 rules 6 to 10: integers, the pair uint64 with signed excepted. TYPE_NONE = not integers. */
static type_kind integer_join(type_kind l, type_kind r) {
  if (!type_is_integer(l) || !type_is_integer(r)) {
    return TYPE_NONE;
  }
  if (l == r) {
    return l;
  }
  const bool any_signed = type_is_signed(l) || type_is_signed(r);
  if (either(l, r, TYPE_UINT64)) {
    return TYPE_UINT64;
  }
  if (either(l, r, TYPE_INT64) || (either(l, r, TYPE_UINT32) && any_signed)) {
    return TYPE_INT64;
  }
  if (either(l, r, TYPE_UINT32)) {
    return TYPE_UINT32;
  }
  if (either(l, r, TYPE_INT32) || (either(l, r, TYPE_UINT16) && any_signed)) {
    return TYPE_INT32;
  }
  if (either(l, r, TYPE_UINT16)) {
    return TYPE_UINT16;
  }
  return TYPE_INT16; /* int16 with 8 bits, or int8 with uint8 */
}

/* 9.1 without decimals; TYPE_NONE = no common type. */
static type_kind simple_numeric(type_kind l, type_kind r) {
  const bool known = type_is_numeric(l) && type_is_numeric(r);
  if (!known) {
    return TYPE_NONE;
  }
  if (either(l, r, TYPE_FLOAT64)) {
    return TYPE_FLOAT64;
  }
  if (either(l, r, TYPE_FLOAT32)) {
    return TYPE_FLOAT32;
  }
  if (either(l, r, TYPE_FLOAT16)) {
    return TYPE_FLOAT16;
  }
  return integer_join(l, r);
}

/* uint64 beside a signed integer (9.1 rule 5) */
static bool is_mixed_64(type_kind l, type_kind r) {
  return (l == TYPE_UINT64 && type_is_integer(r) && type_is_signed(r)) ||
         (r == TYPE_UINT64 && type_is_integer(l) && type_is_signed(l));
}

glv_status coerce_numeric(arena *a, const type *l, const type *r, const type **ret,
                          glv_error *err) {
  *ret = NULL;
  if (!type_is_numeric(l->kind) || !type_is_numeric(r->kind)) {
    return GLV_OK;
  }
  if (type_equal(l, r)) {
    *ret = l;
    return GLV_OK;
  }
  if (type_is_decimal(l->kind) || type_is_decimal(r->kind)) {
    return coerce_decimal(a, l, r, ret, err);
  }
  if (is_mixed_64(l->kind, r->kind)) {
    *ret = type_decimal(a, TYPE_DECIMAL128, 20, 0);
    return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
  }
  *ret = type_simple(simple_numeric(l->kind, r->kind));
  return GLV_OK;
}

static bool is_date(type_kind kind) { return kind == TYPE_DATE32 || kind == TYPE_DATE64; }
static bool is_span(type_kind kind) {
  return kind == TYPE_DURATION || kind == TYPE_INTERVAL_MONTH_DAY_NANO;
}
static bool is_time(type_kind kind) { return kind == TYPE_TIME32 || kind == TYPE_TIME64; }

/* 9.5, comparisons. */
static glv_status coerce_temporal(arena *a, const type *l, const type *r, const type **ret,
                                  glv_error *err) {
  const bool l_stamp = l->kind == TYPE_TIMESTAMP;
  const bool r_stamp = r->kind == TYPE_TIMESTAMP;
  *ret = NULL;
  if (l_stamp && r_stamp) {
    const char *zone = l->timezone != NULL ? l->timezone : r->timezone;
    *ret = type_timestamp(a, l->unit < r->unit ? l->unit : r->unit, zone);
    return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
  }
  if ((l_stamp && is_date(r->kind)) || (r_stamp && is_date(l->kind))) {
    *ret = type_timestamp(a, UNIT_NANO, NULL);
    return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
  }
  if (is_date(l->kind) && is_date(r->kind)) {
    *ret = type_simple(TYPE_DATE64);
  } else if (is_span(l->kind) && is_span(r->kind)) {
    *ret = type_simple(TYPE_INTERVAL_MONTH_DAY_NANO);
  }
  return GLV_OK;
}

const type *coerce_strings(const type *l, const type *r) {
  if (!type_is_string(l->kind) || !type_is_string(r->kind)) {
    return NULL;
  }
  if (either(l->kind, r->kind, TYPE_UTF8_VIEW)) {
    return type_simple(TYPE_UTF8_VIEW);
  }
  return type_simple(either(l->kind, r->kind, TYPE_LARGE_UTF8) ? TYPE_LARGE_UTF8 : TYPE_UTF8);
}

/* Binary with binary or string; of fixed size with other binaries of small offsets only. */
static const type *coerce_binary(const type *l, const type *r) {
  if (either(l->kind, r->kind, TYPE_FIXED_SIZE_BINARY)) {
    const type *other = l->kind == TYPE_FIXED_SIZE_BINARY ? r : l;
    return other->kind == TYPE_BINARY || other->kind == TYPE_BINARY_VIEW ? other : NULL;
  }
  const bool known = (type_is_binary(l->kind) || type_is_binary(r->kind)) &&
                     (type_is_binary(l->kind) || type_is_string(l->kind)) &&
                     (type_is_binary(r->kind) || type_is_string(r->kind));
  if (!known) {
    return NULL;
  }
  if (either(l->kind, r->kind, TYPE_BINARY_VIEW)) {
    return type_simple(TYPE_BINARY_VIEW);
  }
  const bool small = (l->kind == TYPE_BINARY || l->kind == TYPE_UTF8) &&
                     (r->kind == TYPE_BINARY || r->kind == TYPE_UTF8);
  return type_simple(small ? TYPE_BINARY : TYPE_LARGE_BINARY);
}

static const type *dictionary_value(const type *t) {
  return t->kind == TYPE_DICTIONARY ? t->children[0].type : t;
}

/* A string beside a date, time or timestamp becomes that type; timestamps in nanoseconds. */
static glv_status string_temporal(arena *a, const type *other, const type **ret, glv_error *err) {
  *ret = NULL;
  if (is_date(other->kind) || is_time(other->kind)) {
    *ret = other;
  } else if (other->kind == TYPE_TIMESTAMP) {
    *ret = type_timestamp(a, UNIT_NANO, other->timezone);
    return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
  }
  return GLV_OK;
}

enum join { JOIN_COMPARISON, JOIN_BRANCHES, JOIN_UNION };

/* The rules that compare different families: strings with numbers or times, days as numbers. */
static glv_status coerce_mixed(arena *a, enum join how, const type *l, const type *r,
                               const type **ret, glv_error *err) {
  const bool l_string = type_is_string(l->kind);
  const bool r_string = type_is_string(r->kind);
  *ret = NULL;
  if (l_string != r_string) {
    const type *text = l_string ? l : r;
    const type *other = l_string ? r : l;
    if (type_is_numeric(other->kind)) {
      *ret = how == JOIN_BRANCHES ? text : other;
      return GLV_OK;
    }
    if (how != JOIN_UNION) {
      TRY(string_temporal(a, other, ret, err));
    }
    if (*ret == NULL) {
      *ret = coerce_binary(l, r);
    }
    return GLV_OK;
  }
  const bool days = (is_date(l->kind) && type_is_integer(r->kind)) ||
                    (is_date(r->kind) && type_is_integer(l->kind));
  if (days && how != JOIN_UNION) {
    *ret = is_date(l->kind) ? l : r;
    return GLV_OK;
  }
  *ret = coerce_binary(l, r);
  return GLV_OK;
}

static glv_status coerce_any(arena *a, enum join how, const type *l, const type *r,
                             const type **ret, glv_error *err);

/* A union keeps a dictionary, of the joined values and keys, unless these are views. */
static glv_status dictionary_union(arena *a, const type *l, const type *r, const type **ret,
                                   glv_error *err) {
  const bool both = l->kind == r->kind;
  const type *value = NULL;
  *ret = NULL;
  TRY(coerce_any(a, JOIN_UNION, dictionary_value(l), dictionary_value(r), &value, err));
  if (value == NULL || (!both && value->kind == TYPE_UTF8_VIEW)) {
    *ret = value;
    return GLV_OK;
  }
  const type_kind index = both                         ? integer_join(l->index, r->index)
                          : l->kind == TYPE_DICTIONARY ? l->index
                                                       : r->index;
  *ret = type_dictionary(a, index, value);
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

/* Otherwise the values are joined, but a dictionary beside its own value type stays. Of two equal
 * sides or an untyped null a union has been told before. */
static glv_status coerce_dictionary(arena *a, enum join how, const type *l, const type *r,
                                    const type **ret, glv_error *err) {
  if (how == JOIN_UNION) {
    return dictionary_union(a, l, r, ret, err);
  }
  const type *lv = dictionary_value(l);
  const type *rv = dictionary_value(r);
  if (l->kind != r->kind && type_equal(lv, rv)) {
    *ret = l->kind == TYPE_DICTIONARY ? l : r;
    return GLV_OK;
  }
  return coerce_any(a, how, lv, rv, ret, err);
}

static glv_status coerce_any(arena *a, enum join how, const type *l, const type *r,
                             const type **ret, glv_error *err) {
  const bool has_null = l->kind == TYPE_NULL || r->kind == TYPE_NULL;
  if (type_equal(l, r)) {
    *ret = l;
    return GLV_OK;
  }
  if (has_null && (how == JOIN_UNION || !either(l->kind, r->kind, TYPE_DICTIONARY))) {
    *ret = l->kind == TYPE_NULL ? r : l;
    return GLV_OK;
  }
  TRY(coerce_numeric(a, l, r, ret, err));
  if (*ret != NULL) {
    return GLV_OK;
  }
  if (either(l->kind, r->kind, TYPE_DICTIONARY)) {
    return coerce_dictionary(a, how, l, r, ret, err);
  }
  TRY(coerce_temporal(a, l, r, ret, err));
  if (*ret == NULL) {
    *ret = coerce_strings(l, r);
  }
  if (*ret == NULL) {
    static const coerce_part parts[] = {coerce_choice, coerce_branches, coerce_union};
    TRY(coerce_nested(a, parts[how], l, r, ret, err));
  }
  return *ret != NULL ? GLV_OK : coerce_mixed(a, how, l, r, ret, err);
}

glv_status coerce_choice(arena *a, const type *l, const type *r, const type **ret, glv_error *err) {
  return coerce_any(a, JOIN_COMPARISON, l, r, ret, err);
}

glv_status coerce_comparison(arena *a, const type *l, const type *r, const type **ret,
                             glv_error *err) {
  TRY(coerce_choice(a, l, r, ret, err));
  *ret = *ret != NULL ? dictionary_value(*ret) : NULL;
  return GLV_OK;
}

glv_status coerce_branches(arena *a, const type *l, const type *r, const type **ret,
                           glv_error *err) {
  return coerce_any(a, JOIN_BRANCHES, l, r, ret, err);
}

glv_status coerce_union(arena *a, const type *l, const type *r, const type **ret, glv_error *err) {
  return coerce_any(a, JOIN_UNION, l, r, ret, err);
}

const type *coerce_bitwise(const type *l, const type *r) {
  if (l->kind == TYPE_NULL && type_is_integer(r->kind)) {
    return r;
  }
  if (r->kind == TYPE_NULL && type_is_integer(l->kind)) {
    return l;
  }
  const bool l_integer = type_is_integer(l->kind);
  const bool r_integer = type_is_integer(r->kind);
  if (l_integer != r_integer && type_is_numeric(l->kind) && type_is_numeric(r->kind)) {
    return l_integer ? l : r; /* the other side is cast, and its values must be integers that fit */
  }
  const type_kind kind = integer_join(l->kind, r->kind);
  return kind != TYPE_NONE ? type_simple(kind) : NULL;
}

/* The order in which nvl tries types: the first that both sides convert to without loss of kind. */
static const type_kind nvl_kinds[] = {
    TYPE_BOOL,  TYPE_UINT8, TYPE_UINT16,  TYPE_UINT32,  TYPE_UINT64,    TYPE_INT8, TYPE_INT16,
    TYPE_INT32, TYPE_INT64, TYPE_FLOAT32, TYPE_FLOAT64, TYPE_UTF8_VIEW, TYPE_UTF8, TYPE_LARGE_UTF8,
};

/* Whether a function argument of type `from` is taken for a parameter of kind `to`. */
static bool widens(type_kind to, type_kind from) {
  if (from == TYPE_NULL || from == to) {
    return true;
  }
  if (to == TYPE_FLOAT64) {
    return type_is_numeric(from);
  }
  if (to == TYPE_FLOAT32) {
    return type_is_integer(from) || from == TYPE_FLOAT16;
  }
  if (to == TYPE_UTF8_VIEW) {
    return type_is_string(from);
  }
  if (to == TYPE_UTF8 || to == TYPE_LARGE_UTF8) {
    return true;
  }
  return type_is_integer(to) && type_is_integer(from) && !is_mixed_64(to, from) &&
         integer_join(to, from) == to;
}

const type *coerce_nvl(const type *l, const type *r) {
  for (size_t i = 0; i < sizeof nvl_kinds / sizeof *nvl_kinds; i++) {
    if (l->kind == nvl_kinds[i] && r->kind == nvl_kinds[i]) {
      return type_simple(nvl_kinds[i]);
    }
  }
  l = dictionary_value(l);
  r = dictionary_value(r);
  for (size_t i = 0; i < sizeof nvl_kinds / sizeof *nvl_kinds; i++) {
    if (widens(nvl_kinds[i], l->kind) && widens(nvl_kinds[i], r->kind)) {
      return type_simple(nvl_kinds[i]);
    }
  }
  return NULL;
}

const type *coerce_like(const type *l, const type *r) {
  l = dictionary_value(l);
  r = dictionary_value(r);
  const bool l_null = l->kind == TYPE_NULL;
  const bool r_null = r->kind == TYPE_NULL;
  if (l_null && r_null) {
    return type_simple(TYPE_UTF8);
  }
  if (l_null || r_null) {
    return l_null ? r : l; /* of whatever type: what is no string fails with rows */
  }
  if (type_is_binary(l->kind) != type_is_binary(r->kind)) {
    const bool known = type_is_string(l->kind) || type_is_string(r->kind);
    const bool large =
        either(l->kind, r->kind, TYPE_LARGE_BINARY) || either(l->kind, r->kind, TYPE_LARGE_UTF8);
    return known ? type_simple(large ? TYPE_LARGE_UTF8 : TYPE_UTF8) : NULL;
  }
  return coerce_strings(l, r);
}

const type *coerce_arithmetic(const type *l, const type *r) {
  if (l->kind == TYPE_NULL && r->kind == TYPE_NULL) {
    return type_simple(TYPE_INT64);
  }
  if (l->kind == TYPE_NULL || r->kind == TYPE_NULL) {
    const type *t = l->kind == TYPE_NULL ? r : l;
    return type_is_numeric(t->kind) ? t : NULL;
  }
  if (type_is_decimal(l->kind) || type_is_decimal(r->kind)) {
    const type_kind other = type_is_decimal(l->kind) ? r->kind : l->kind;
    return other == TYPE_FLOAT32 || other == TYPE_FLOAT64 ? type_simple(other) : NULL;
  }
  const type_kind kind = simple_numeric(l->kind, r->kind);
  return kind != TYPE_NONE && !is_mixed_64(l->kind, r->kind) ? type_simple(kind) : NULL;
}
