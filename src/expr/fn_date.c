/* make_date, to_char. */
#include "arrow/builder.h"
#include "expr/cast.h"
#include "expr/chrono.h"
#include "expr/interval.h"
#include "expr/temporal_part.h"

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
  TRY(bind_int32s(b, 3, err));
  b->result = type_simple(TYPE_DATE32);
  return GLV_OK;
}

/* ---- to_char ---- */

/* The zone of a timestamp is looked up once for the plan; the state is the zone itself. */
static void dispose_zone(void *state) { zone_free(state); }

static bool is_time(const type *t) { return t->kind == TYPE_TIME32 || t->kind == TYPE_TIME64; }

/* The instant of row i, of the first day for a time; false = it is out of the calendar or the day.
 */
static bool instant_of(const operand *o, size_t i, instant *ret) {
  const type *t = o->a.type;
  const bool narrow = type_width(t) == 4;
  const int64_t ticks = narrow ? OPERAND_VALUE(o, int32_t, i) : OPERAND_VALUE(o, int64_t, i);
  if (t->kind == TYPE_DATE32) {
    *ret = (instant){.seconds = ticks * DAY_SECONDS};
  } else {
    *ret = temporal_instant(ticks, t->kind == TYPE_DATE64 ? UNIT_MILLI : t->unit);
  }
  return is_time(t) ? ret->seconds >= 0 && ret->seconds < DAY_SECONDS : temporal_in_range(*ret);
}

static glv_status print_duration(const operand *o, size_t i, str format, buf *out, glv_error *err) {
  char text[INTERVAL_TEXT_SIZE];
  const int64_t ticks = OPERAND_VALUE(o, int64_t, i);
  const size_t size = str_equal_ascii_case(format, STR("iso8601"))
                          ? interval_print_iso_duration(ticks, o->a.type->unit, text)
                          : interval_print_duration(ticks, o->a.type->unit, text);
  return buf_append(out, text, size, err);
}

static glv_status print_row(const function_frame *f, const operand *arguments, size_t i, buf *out,
                            glv_error *err) {
  const type *t = arguments[0].a.type;
  const str format = operand_str(&arguments[1], i);
  if (t->kind == TYPE_DURATION) {
    return print_duration(arguments, i, format, out, err);
  }
  instant at;
  if (!instant_of(arguments, i, &at)) {
    return FAIL(err, GLV_E_SQL_EXEC, "Failed to convert a %s to datetime: it is out of range",
                TYPE_TEXT(t));
  }
  chrono_time fields = chrono_of(at, f->binding->state);
  fields.is_time = is_time(t);
  return chrono_format(&fields, format, out, err);
}

static glv_status to_char(const function_frame *f, const operand *arguments, size_t rows,
                          array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, f->env, f->binding->result);
  buf_init(&text, f->env, INT32_MAX);
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, 2, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    buf_clear(&text);
    TRY(print_row(f, arguments, i, &text, err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

static glv_status take_nanoseconds(function_binding *b, const char *timezone, const type **ret,
                                   glv_error *err) {
  *ret = type_timestamp(b->arena, UNIT_NANO, timezone);
  b->targets[0] = *ret;
  return *ret != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status bind_to_char(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  const type *t = b->arguments[0].type;
  if (!type_is_temporal(t->kind) || t->kind == TYPE_INTERVAL_MONTH_DAY_NANO) {
    if (t->kind != TYPE_NULL && !bind_is_text(t)) {
      return bind_refuse(b, 0, "Timestamp", err);
    }
    TRY(take_nanoseconds(b, "+00:00", &t, err)); /* what a text becomes has a zone */
  } else if (t->kind == TYPE_TIMESTAMP && t->timezone != NULL && t->unit != UNIT_NANO) {
    TRY(take_nanoseconds(b, t->timezone, &t, err));
  }
  TRY(bind_castable(b, 1, type_simple(TYPE_UTF8), "String", err));
  b->result = type_simple(TYPE_UTF8);
  zone *z = NULL;
  TRY(bind_zone(b, t, &z, err));
  b->state = z;
  b->dispose = dispose_zone;
  return GLV_OK;
}

static const char *const to_char_names[] = {"date_format", NULL};

const function functions_date[] = {
    {.name = "make_date", .bind = bind_make_date, .kernel = make_date},
    {.name = "to_char", .aliases = to_char_names, .bind = bind_to_char, .kernel = to_char},
    {0},
};
