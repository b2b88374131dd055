/* Names of parts, and the state that functions of parts keep. */
#include "expr/temporal_part.h"

/* The first name of every part is its full one. */
static const struct {
  const char *name;
  enum temporal_part part;
} names[] = {{"year", PART_YEAR},
             {"years", PART_YEAR},
             {"y", PART_YEAR},
             {"yr", PART_YEAR},
             {"yrs", PART_YEAR},
             {"quarter", PART_QUARTER},
             {"qtr", PART_QUARTER},
             {"month", PART_MONTH},
             {"months", PART_MONTH},
             {"mon", PART_MONTH},
             {"mons", PART_MONTH},
             {"week", PART_WEEK},
             {"weeks", PART_WEEK},
             {"w", PART_WEEK},
             {"day", PART_DAY},
             {"days", PART_DAY},
             {"d", PART_DAY},
             {"hour", PART_HOUR},
             {"hours", PART_HOUR},
             {"h", PART_HOUR},
             {"hr", PART_HOUR},
             {"hrs", PART_HOUR},
             {"minute", PART_MINUTE},
             {"minutes", PART_MINUTE},
             {"m", PART_MINUTE},
             {"min", PART_MINUTE},
             {"mins", PART_MINUTE},
             {"second", PART_SECOND},
             {"seconds", PART_SECOND},
             {"s", PART_SECOND},
             {"sec", PART_SECOND},
             {"secs", PART_SECOND},
             {"millisecond", PART_MILLISECOND},
             {"milliseconds", PART_MILLISECOND},
             {"ms", PART_MILLISECOND},
             {"msec", PART_MILLISECOND},
             {"msecs", PART_MILLISECOND},
             {"msecond", PART_MILLISECOND},
             {"mseconds", PART_MILLISECOND},
             {"microsecond", PART_MICROSECOND},
             {"microseconds", PART_MICROSECOND},
             {"us", PART_MICROSECOND},
             {"usec", PART_MICROSECOND},
             {"usecs", PART_MICROSECOND},
             {"usecond", PART_MICROSECOND},
             {"useconds", PART_MICROSECOND},
             {"nanosecond", PART_NANOSECOND},
             {"nanoseconds", PART_NANOSECOND},
             {"dow", PART_DOW},
             {"isodow", PART_ISODOW},
             {"doy", PART_DOY},
             {"isoyear", PART_ISOYEAR},
             {"epoch", PART_EPOCH}};

enum { NAME_COUNT = sizeof names / sizeof *names };

enum temporal_part temporal_part_find(str name) {
  if (name.size >= 2 && (name.data[0] == '\'' || name.data[0] == '"') &&
      (name.data[name.size - 1] == '\'' || name.data[name.size - 1] == '"')) {
    name = str_slice(name.data + 1, name.size - 2);
  }
  for (size_t i = 0; i < NAME_COUNT; i++) {
    if (str_equal_ascii_case(name, str_of(names[i].name))) {
      return names[i].part;
    }
  }
  return PART_UNKNOWN;
}

const char *temporal_part_name(enum temporal_part part) {
  for (size_t i = 0; i < NAME_COUNT; i++) {
    if (names[i].part == part) {
      return names[i].name;
    }
  }
  return "";
}

enum temporal_part temporal_part_find_full(str name) {
  const enum temporal_part part = temporal_part_find(name);
  return str_equal_ascii_case(name, str_of(temporal_part_name(part))) ? part : PART_UNKNOWN;
}

static const type *value_type(const type *t) {
  return t->kind == TYPE_DICTIONARY ? t->children[0].type : t;
}

bool bind_is_text(const type *t) { return type_is_string(value_type(t)->kind); }

glv_status bind_int32s(function_binding *b, size_t count, glv_error *err) {
  TRY(bind_count(b, count, count, err));
  for (size_t i = 0; i < count; i++) {
    const type_kind kind = value_type(b->arguments[i].type)->kind;
    if (kind != TYPE_NULL && !type_is_integer(kind) && !type_is_string(kind)) {
      return bind_refuse(b, i, "Int32", err);
    }
    b->targets[i] = type_simple(TYPE_INT32);
  }
  return GLV_OK;
}

glv_status bind_zone(const function_binding *b, const type *t, zone **ret, glv_error *err) {
  glv_error why = {0};
  if (t->kind != TYPE_TIMESTAMP || t->timezone == NULL) {
    return GLV_OK;
  }
  const glv_status status = zone_new(b->env, str_of(t->timezone), ret, &why);
  if (status != GLV_OK) {
    return FAIL(err, status == GLV_E_NOMEM ? status : GLV_E_SQL_PLAN, "%s", why.message);
  }
  return GLV_OK;
}

static void part_state_dispose(void *state) { zone_free(((part_state *)state)->zone); }

glv_status part_state_bind(function_binding *b, enum temporal_part part, const type *t,
                           glv_error *err) {
  part_state *s = ARENA_NEW(b->arena, part_state);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  s->part = part;
  TRY(bind_zone(b, t, &s->zone, err));
  b->state = s;
  b->dispose = part_state_dispose;
  return GLV_OK;
}
