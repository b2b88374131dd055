/*
 * range and generate_series (sql-expressions 13.2): numbers, days or timestamps from a first to a
 * last in steps; generate_series takes the last in. The items of all rows are at most
 * LIMIT_SQL_LIST_ITEMS, which is looked at before they are made.
 */
#include "arrow/builder.h"
#include "base/limits.h"
#include "expr/cast.h"
#include "expr/cast_private.h"
#include "expr/function_private.h"
#include "expr/interval.h"
#include "expr/lists.h"
#include "expr/zone.h"

/* ---- numbers ---- */

/* Numbers first, first + step, ...: count of them. */
typedef struct series {
  int64_t first;
  int64_t step;
  uint64_t count;
} series;

static series series_of(int64_t first, int64_t stop, int64_t step, bool inclusive) {
  series s = {first, step, 0};
  const bool up = step > 0;
  if (!inclusive && first == stop) {
    return s;
  }
  if (!inclusive && stop != (up ? INT64_MIN : INT64_MAX)) {
    stop += up ? -1 : 1;
  }
  if (up ? first <= stop : first >= stop) {
    const uint64_t distance =
        up ? (uint64_t)stop - (uint64_t)first : (uint64_t)first - (uint64_t)stop;
    const uint64_t width = up ? (uint64_t)step : 0 - (uint64_t)step;
    s.count = distance / width;
    s.count += s.count != UINT64_MAX ? 1 : 0;
  }
  return s;
}

/* Row i: one argument is the end, two are both ends, three have a step. */
static glv_status read_series(const function_frame *f, const operand *arguments, bool inclusive,
                              size_t i, series *ret, glv_error *err) {
  const size_t count = f->binding->count;
  const int64_t first = count > 1 ? OPERAND_VALUE(&arguments[0], int64_t, i) : 0;
  const int64_t stop = OPERAND_VALUE(&arguments[count > 1 ? 1 : 0], int64_t, i);
  const int64_t step = count > 2 ? OPERAND_VALUE(&arguments[2], int64_t, i) : 1;
  if (step == 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "step can't be 0 for function %.*s(start [, stop, step])",
                STR_ARG(f->binding->name));
  }
  *ret = series_of(first, stop, step, inclusive);
  return GLV_OK;
}

/* How many items the rows have. */
static glv_status end_rows(const function_frame *f, const operand *arguments, bool inclusive,
                           list_builder *b, glv_error *err) {
  for (size_t i = 0; i < b->rows; i++) {
    series s;
    if (!kernel_row_is_valid(arguments, f->binding->count, i)) {
      TRY(list_builder_end_null(b, err));
      continue;
    }
    TRY(read_series(f, arguments, inclusive, i, &s, err));
    if (s.count > LIMIT_SQL_LIST_ITEMS - b->pick_count) {
      return lists_too_many(f, err);
    }
    b->pick_count += (size_t)s.count;
    TRY(list_builder_end(b, err));
  }
  return GLV_OK;
}

static glv_status number_range(const function_frame *f, const operand *arguments, bool inclusive,
                               size_t rows, array *ret, glv_error *err) {
  CLEANUP(list_builder_dispose) list_builder b = {0};
  CLEANUP(array_unref) array items = {0};
  void *values = NULL;
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  TRY(end_rows(f, arguments, inclusive, &b, err));
  TRY(array_new_fixed(f->env, list_item(b.type), b.pick_count, &items, &values, err));
  int64_t *to = values;
  for (size_t i = 0; i < rows; i++) {
    series s = {0};
    if (kernel_row_is_valid(arguments, f->binding->count, i)) {
      TRY(read_series(f, arguments, inclusive, i, &s, err));
    }
    for (uint64_t k = 0; k < s.count; k++) {
      *to++ = (int64_t)((uint64_t)s.first + k * (uint64_t)s.step);
    }
  }
  return list_builder_finish_items(&b, &items, ret, err);
}

/* ---- days and timestamps ---- */

/* The moments of one row. */
typedef struct moments {
  int64_t first;
  int64_t last;
  bool has_last; /* the last may itself be one */
  bool backward;
  interval step;
  const zone *z;
  bool are_days;
} moments;

static bool shift_moment(const moments *m, int64_t from, bool subtract, int64_t *ret) {
  return m->are_days ? interval_shift_day(from, m->step, subtract, ret)
                     : interval_shift_stamp(from, UNIT_NANO, m->z, m->step, subtract, ret);
}

static bool is_over(const moments *m, int64_t at) {
  if (at == m->last) {
    return !m->has_last;
  }
  return m->backward ? at < m->last : at > m->last;
}

/* Days end where one more step would reach the end. */
static glv_status start_days(moments *m, bool inclusive, glv_error *err) {
  if (m->step.months == 0 && m->step.days == 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "Cannot generate date range less than 1 day.");
  }
  m->backward = m->step.months < 0 || m->step.days < 0;
  m->has_last = true;
  if (!inclusive && !shift_moment(m, m->last, true, &m->last)) {
    return FAIL(err, GLV_E_SQL_EXEC, "Cannot generate date range where stop - step overflows");
  }
  return GLV_OK;
}

static glv_status start_stamps(const function_frame *f, moments *m, bool inclusive,
                               glv_error *err) {
  int64_t next = 0;
  if (m->step.months == 0 && m->step.days == 0 && m->step.nanos == 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "Interval argument to %.*s must not be 0",
                STR_ARG(f->binding->name));
  }
  if (!shift_moment(m, m->first, false, &next)) {
    return FAIL(err, GLV_E_SQL_EXEC,
                "Cannot generate timestamp range where start + step overflows");
  }
  m->backward = next < m->first;
  m->has_last = inclusive;
  return GLV_OK;
}

static glv_status add_moments(const function_frame *f, const moments *m, builder *items,
                              glv_error *err) {
  int64_t at = m->first;
  while (!is_over(m, at)) {
    const int32_t day = (int32_t)at;
    int64_t next = 0;
    if (items->length >= LIMIT_SQL_LIST_ITEMS) {
      return lists_too_many(f, err);
    }
    TRY(builder_append_fixed(items, m->are_days ? (const void *)&day : &at, err));
    if (!shift_moment(m, at, false, &next)) {
      break;
    }
    if (m->backward ? next >= at : next <= at) {
      return FAIL(err, GLV_E_SQL_EXEC, "%.*s: the step does not lead to the end",
                  STR_ARG(f->binding->name));
    }
    at = next;
  }
  return GLV_OK;
}

static int64_t moment_at(const operand *o, bool is_day, size_t i) {
  return is_day ? OPERAND_VALUE(o, int32_t, i) : OPERAND_VALUE(o, int64_t, i);
}

static glv_status moment_range(const function_frame *f, const operand *arguments, bool inclusive,
                               size_t rows, array *ret, glv_error *err) {
  const type *item = list_item(f->binding->result);
  CLEANUP(zone_cleanup) zone *z = NULL;
  CLEANUP(builder_dispose) builder items;
  CLEANUP(list_builder_dispose) list_builder b = {0};
  CLEANUP(array_unref) array values = {0};
  builder_init(&items, f->env, item);
  TRY(cast_zone_of(f->env, item, &z, err));
  TRY(list_builder_init(&b, f->env, f->binding->result, rows, err));
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, 3, i)) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    moments m = {.z = z, .are_days = item->kind == TYPE_DATE32};
    m.first = moment_at(&arguments[0], m.are_days, i);
    m.last = moment_at(&arguments[1], m.are_days, i);
    m.step = interval_load((const uint8_t *)arguments[2].a.values +
                           operand_row(&arguments[2], i) * sizeof m.step);
    TRY(m.are_days ? start_days(&m, inclusive, err) : start_stamps(f, &m, inclusive, err));
    TRY(add_moments(f, &m, &items, err));
    b.pick_count = items.length;
    TRY(list_builder_end(&b, err));
  }
  TRY(builder_finish(&items, &values, err));
  return list_builder_finish_items(&b, &values, ret, err);
}

/* ---- both ---- */

static glv_status make(const function_frame *f, const operand *arguments, bool inclusive,
                       size_t rows, array *ret, glv_error *err) {
  return (list_item(f->binding->result)->kind == TYPE_INT64 ? number_range : moment_range)(
      f, arguments, inclusive, rows, ret, err);
}

static glv_status range(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err) {
  return make(f, arguments, false, rows, ret, err);
}
static glv_status generate_series(const function_frame *f, const operand *arguments, size_t rows,
                                  array *ret, glv_error *err) {
  return make(f, arguments, true, rows, ret, err);
}

static bool is_date(const type *t) {
  return t->kind == TYPE_DATE32 || t->kind == TYPE_DATE64 || type_is_string(t->kind) ||
         t->kind == TYPE_NULL;
}

/* Two dates, or two timestamps, and an interval. */
static glv_status bind_moments(function_binding *b, glv_error *err) {
  const type *first = b->arguments[0].type;
  const type *last = b->arguments[1].type;
  const bool stamps = first->kind == TYPE_TIMESTAMP && last->kind == TYPE_TIMESTAMP;
  if (!stamps && (!is_date(first) || !is_date(last))) {
    return bind_refuse(b, is_date(first) ? 1 : 0, "Int64, Date or Timestamp", err);
  }
  if (!bind_is_null(b, 2) && b->arguments[2].type->kind != TYPE_INTERVAL_MONTH_DAY_NANO) {
    return bind_refuse(b, 2, "Interval", err);
  }
  const type *item = type_simple(TYPE_DATE32);
  b->targets[0] = b->targets[1] = item;
  if (stamps) {
    item = type_timestamp(b->arena, UNIT_NANO, first->timezone);
    b->targets[0] = item;
    b->targets[1] = type_timestamp(b->arena, UNIT_NANO, last->timezone);
    if (item == NULL || b->targets[1] == NULL) {
      return error_nomem(err, sizeof *item);
    }
  }
  b->targets[2] = type_simple(TYPE_INTERVAL_MONTH_DAY_NANO);
  return list_type_new(b->arena, TYPE_LIST, item, true, &b->result, err);
}

static glv_status bind_range(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 1, 3, err));
  const type_kind first = b->arguments[0].type->kind;
  if (b->count == 3 && !type_is_integer(first) &&
      !(first == TYPE_NULL && type_is_integer(b->arguments[1].type->kind))) {
    return bind_moments(b, err);
  }
  for (size_t i = 0; i < b->count; i++) {
    TRY(bind_int64(b, i, err));
  }
  return list_type_new(b->arena, TYPE_LIST, type_simple(TYPE_INT64), true, &b->result, err);
}

const function functions_list_range[] = {
    {.name = "range", .bind = bind_range, .kernel = range},
    {.name = "generate_series", .bind = bind_range, .kernel = generate_series},
    {0},
};
