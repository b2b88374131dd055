/* make_date, to_char, now, current_date. */
#include "arrow/builder.h"
#include "expr/cast.h"
#include "expr/chrono.h"
#include "expr/function_private.h"

/* ---- make_date ---- */

static glv_status make_date(const function_frame *f, const operand *arguments, size_t rows,
                            array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 3, rows, &a, &values, err));
  memset(values, 0, rows * sizeof(int32_t));
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, 3, i)) {
      continue;
    }
    const civil c = {OPERAND_VALUE(&arguments[0], int32_t, i),
                     OPERAND_VALUE(&arguments[1], int32_t, i),
                     OPERAND_VALUE(&arguments[2], int32_t, i)};
    const int64_t days = calendar_is_valid(c) ? calendar_days(c) : INT64_MAX;
    if (days < TEMPORAL_FIRST_DAY || days > TEMPORAL_LAST_DAY) {
      return FAIL(err, GLV_E_SQL_EXEC, "Unable to parse date from %lld, %d, %d", (long long)c.year,
                  c.month, c.day);
    }
    ((int32_t *)values)[i] = (int32_t)days;
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_make_date(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 3, 3, err));
  for (size_t i = 0; i < 3; i++) {
    const type_kind kind = b->arguments[i].type->kind;
    if (kind != TYPE_NULL && !type_is_integer(kind) && !type_is_string(kind)) {
      return bind_refuse(b, i, "Int32", err);
    }
    b->targets[i] = type_simple(TYPE_INT32);
  }
  b->result = type_simple(TYPE_DATE32);
  return GLV_OK;
}

/* ---- to_char ---- */

/* The zone of a timestamp is looked up once for the plan; the state is the zone itself. */
static void dispose_zone(void *state) { zone_free(state); }

static glv_status to_char(const function_frame *f, const operand *arguments, size_t rows,
                          array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, f->env, f->binding->result);
  buf_init(&text, f->env, INT32_MAX);
  const type *t = arguments[0].a.type;
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, 2, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    const instant at =
        t->kind == TYPE_DATE32
            ? (instant){.seconds = (int64_t)OPERAND_VALUE(arguments, int32_t, i) * DAY_SECONDS}
            : temporal_instant(OPERAND_VALUE(arguments, int64_t, i), t->unit);
    if (!temporal_in_range(at)) {
      return FAIL(err, GLV_E_SQL_EXEC, "Failed to convert a %s to datetime: it is out of range",
                  TYPE_TEXT(t));
    }
    buf_clear(&text);
    const chrono_time fields = chrono_of(at, f->binding->state);
    TRY(chrono_format(&fields, operand_str(&arguments[1], i), &text, err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status bind_to_char(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  const type *t = b->arguments[0].type;
  switch (t->kind) {
  case TYPE_DATE32:
  case TYPE_TIMESTAMP:
    break;
  case TYPE_DATE64:
  case TYPE_TIME32:
  case TYPE_TIME64:
  case TYPE_DURATION:
    return FAIL(err, GLV_E_SQL_PLAN, "function '%.*s' of %s is not supported yet", STR_ARG(b->name),
                TYPE_TEXT(t));
  default:
    if (t->kind != TYPE_NULL && !type_is_string(t->kind)) {
      return bind_refuse(b, 0, "Timestamp", err);
    }
    t = type_timestamp(b->arena, UNIT_NANO, "+00:00"); /* what a text becomes has a zone */
    b->targets[0] = t;
    if (t == NULL) {
      return error_nomem(err, sizeof(type));
    }
  }
  TRY(bind_castable(b, 1, type_simple(TYPE_UTF8), "String", err));
  b->result = type_simple(TYPE_UTF8);
  if (t->timezone != NULL) {
    zone *z = NULL;
    glv_error why = {0};
    const glv_status status = zone_new(b->env, str_of(t->timezone), &z, &why);
    if (status != GLV_OK) {
      return FAIL(err, status == GLV_E_NOMEM ? status : GLV_E_SQL_PLAN, "%s", why.message);
    }
    b->state = z;
    b->dispose = dispose_zone;
  }
  return GLV_OK;
}

/* ---- the clock ---- */

static glv_status now(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                      glv_error *err) {
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 0, rows, ret, &values, err));
  for (size_t i = 0; i < rows; i++) {
    ((int64_t *)values)[i] = f->now_ns;
  }
  return GLV_OK;
}

static glv_status current_date(const function_frame *f, const operand *arguments, size_t rows,
                               array *ret, glv_error *err) {
  const instant at = temporal_instant(f->now_ns, UNIT_NANO);
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 0, rows, ret, &values, err));
  for (size_t i = 0; i < rows; i++) {
    ((int32_t *)values)[i] = (int32_t)floor_div(at.seconds, DAY_SECONDS);
  }
  return GLV_OK;
}

static glv_status bind_now(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 0, 0, err));
  b->result = type_timestamp(b->arena, UNIT_NANO, NULL);
  return b->result != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status bind_current_date(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 0, 0, err));
  b->result = type_simple(TYPE_DATE32);
  return GLV_OK;
}

static const char *const to_char_names[] = {"date_format", NULL};
static const char *const now_names[] = {"current_timestamp", NULL};
static const char *const today_names[] = {"today", NULL};

const function functions_date[] = {
    {.name = "make_date", .bind = bind_make_date, .kernel = make_date},
    {.name = "to_char", .aliases = to_char_names, .bind = bind_to_char, .kernel = to_char},
    {.name = "now",
     .aliases = now_names,
     .volatility = FUNCTION_STABLE,
     .bind = bind_now,
     .kernel = now},
    {.name = "current_date",
     .aliases = today_names,
     .volatility = FUNCTION_STABLE,
     .bind = bind_current_date,
     .kernel = current_date},
    {0},
};
