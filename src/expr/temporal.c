/* Reading and writing of dates and timestamps.
 *
 * A timestamp text is `YYYY-MM-DD`, or that and one of `T t space` and `HH:MM:SS[.digits]` or
 * `HHMMSS`, then nothing, `Z`, an offset or the name of a zone; digits past the ninth are ignored.
 * Second 60 becomes second 59 with more than 1e9 nanoseconds, which units finer than a second carry
 * over to the next minute. A date text is one of `YYYY-M-D` with one or
 * two digits each, `YYYYMMDD`, a year of four or more digits with a sign, or a timestamp, of which
 * the day in UTC is taken. */
#include "expr/temporal.h"

#include "base/checked.h"

enum { NANO_DIGITS = 9, SECOND_NANOS = 1000000000 };

int64_t temporal_rate(time_unit unit) {
  static const int64_t rates[] = {1, 1000, 1000000, SECOND_NANOS};
  return rates[unit];
}

instant temporal_instant(int64_t ticks, time_unit unit) {
  const int64_t rate = temporal_rate(unit);
  return (instant){.seconds = floor_div(ticks, rate),
                   .nanos = (int32_t)(floor_mod(ticks, rate) * (SECOND_NANOS / rate))};
}

bool temporal_ticks(instant t, time_unit unit, int64_t *ret) {
  const int64_t rate = temporal_rate(unit);
  const int64_t part = unit == UNIT_SECOND ? 0 : t.nanos / (SECOND_NANOS / rate);
  /* Toward zero first, so that the smallest instants do not overflow on the way. */
  const bool negative = t.seconds < 0;
  const int64_t seconds = negative ? t.seconds + 1 : t.seconds;
  const int64_t rest = negative ? part - rate : part;
  return !__builtin_mul_overflow(seconds, rate, ret) && !__builtin_add_overflow(*ret, rest, ret);
}

bool temporal_in_range(instant t) {
  return t.seconds >= TEMPORAL_FIRST_DAY * DAY_SECONDS &&
         t.seconds < (TEMPORAL_LAST_DAY + 1) * DAY_SECONDS;
}

void temporal_parser_init(temporal_parser *p, glv_env *env, const zone *local) {
  *p = (temporal_parser){.env = env, .local = local};
}

void temporal_parser_dispose(temporal_parser *p) {
  zone_free(p->last);
  p->last = NULL;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* count digits at text[at]; false when they are not all digits or not all there. */
static bool digits_at(str text, size_t at, size_t count, int *ret) {
  if (text.size < at + count) {
    return false;
  }
  int value = 0;
  for (size_t i = at; i < at + count; i++) {
    if (!is_digit(text.data[i])) {
      return false;
    }
    value = value * 10 + (text.data[i] - '0');
  }
  *ret = value;
  return true;
}

static bool char_at(str text, size_t at, char c) { return at < text.size && text.data[at] == c; }

typedef struct day_time {
  int hour, minute, second;
  int32_t nanos;
} day_time;

/* The fraction behind a point at text[at]; *at moves behind it. */
static bool parse_fraction(str text, size_t *at, int32_t *ret_nanos) {
  size_t i = *at + 1;
  int32_t nanos = 0;
  int used = 0;
  for (; i < text.size && is_digit(text.data[i]); i++) {
    if (used < NANO_DIGITS) {
      nanos = nanos * 10 + (text.data[i] - '0');
      used++;
    }
  }
  const bool has_digits = used > 0;
  for (; used < NANO_DIGITS; used++) {
    nanos *= 10;
  }
  *at = i;
  *ret_nanos = nanos;
  return has_digits;
}

/* The time of day that begins at text[11]; *ret_end is the byte behind it. */
static bool parse_clock(str text, day_time *c, size_t *ret_end) {
  *c = (day_time){0};
  int joined;
  if (digits_at(text, 11, 6, &joined) && (text.size < 18 || !is_digit(text.data[17])) &&
      (text.size < 19 || !is_digit(text.data[18]))) {
    *c = (day_time){.hour = joined / 10000, .minute = joined / 100 % 100, .second = joined % 100};
    *ret_end = 17;
  } else {
    if (!digits_at(text, 11, 2, &c->hour) || !char_at(text, 13, ':') ||
        !digits_at(text, 14, 2, &c->minute) || !char_at(text, 16, ':') ||
        !digits_at(text, 17, 2, &c->second)) {
      return false;
    }
    *ret_end = 19;
    if (char_at(text, 19, '.') && !parse_fraction(text, ret_end, &c->nanos)) {
      return false;
    }
  }
  if (c->second == 60) {
    c->second = 59;
    c->nanos += SECOND_NANOS;
  }
  return c->hour < 24 && c->minute < 60 && c->second < 60;
}

static bool parse_plain_date(str text, int64_t *ret_days) {
  int year, month, day;
  if (!digits_at(text, 0, 4, &year) || !char_at(text, 4, '-') || !digits_at(text, 5, 2, &month) ||
      !char_at(text, 7, '-') || !digits_at(text, 8, 2, &day)) {
    return false;
  }
  const civil c = {year, month, day};
  *ret_days = calendar_is_valid(c) ? calendar_days(c) : 0;
  return calendar_is_valid(c);
}

const char temporal_no_memory[] = "no memory";

/* The zone of that name, or why there is none. */
static const char *find_zone(temporal_parser *p, str name, const zone **ret) {
  *ret = p->last;
  if (p->last != NULL && str_equal(name, str_slice(p->last_name, p->last_size))) {
    return NULL;
  }
  if (name.size > sizeof p->last_name) {
    return "invalid timezone";
  }
  zone *z = NULL;
  const glv_status status = zone_new(p->env, name, &z, NULL);
  if (status != GLV_OK) {
    return status == GLV_E_NOMEM ? temporal_no_memory : "invalid timezone";
  }
  zone_free(p->last);
  p->last = z;
  memcpy(p->last_name, name.data, name.size);
  p->last_size = name.size;
  *ret = z;
  return NULL;
}

static const char *to_utc(const zone *z, instant *t) {
  if (z != NULL && !zone_to_utc(z, t->seconds, &t->seconds)) {
    return "error computing timezone offset";
  }
  return NULL;
}

const char *temporal_parse_timestamp(temporal_parser *p, str text, instant *ret) {
  int64_t days;
  if (text.size < 10) {
    return "timestamp must contain at least 10 characters";
  }
  if (!parse_plain_date(text, &days)) {
    return "error parsing date";
  }
  *ret = (instant){.seconds = days * DAY_SECONDS};
  if (text.size == 10) {
    return to_utc(p->local, ret);
  }
  if (text.data[10] != 'T' && text.data[10] != 't' && text.data[10] != ' ') {
    return "invalid timestamp separator";
  }
  day_time c;
  size_t at;
  if (!parse_clock(text, &c, &at)) {
    return "error parsing time";
  }
  ret->seconds += (c.hour * 60 + c.minute) * 60 + c.second;
  ret->nanos = c.nanos;
  if (at == text.size) {
    return to_utc(p->local, ret);
  }
  if (at + 1 == text.size && (text.data[at] | 0x20) == 'z') {
    return NULL;
  }
  while (at < text.size && text.data[at] == ' ') {
    at++;
  }
  const zone *z = NULL;
  const char *why = find_zone(p, str_slice(text.data + at, text.size - at), &z);
  return why != NULL ? why : to_utc(z, ret);
}

/* ` AM` or ` PM` at the end, any case: 'a', 'p', else 0; *text loses it. */
static char take_half_of_day(str *text) {
  if (text->size < 3 || text->data[text->size - 3] != ' ' ||
      (text->data[text->size - 1] | 0x20) != 'm') {
    return 0;
  }
  const char half = (char)(text->data[text->size - 2] | 0x20);
  if (half != 'a' && half != 'p') {
    return 0;
  }
  text->size -= 3;
  return half;
}

/* An hour by the clock face in one of a day. */
static bool hour_of_day(int *hour, char half) {
  if (half != 0 && (*hour < 1 || *hour > 12)) {
    return false;
  }
  if (half != 0) {
    *hour = *hour % 12 + (half == 'p' ? 12 : 0);
  }
  return *hour < 24;
}

bool temporal_parse_time(str text, int64_t *ret_nanos) {
  int hour, minute;
  int second = 0;
  int32_t nanos = 0;
  const char half = take_half_of_day(&text);
  size_t at = char_at(text, 1, ':') ? 1 : 2;
  if (!digits_at(text, 0, at, &hour) || !char_at(text, at, ':') ||
      !digits_at(text, at + 1, 2, &minute)) {
    return false;
  }
  at += 3;
  if (at < text.size) {
    if (!char_at(text, at, ':') || !digits_at(text, at + 1, 2, &second)) {
      return false;
    }
    at += 3;
    if (at < text.size && (!char_at(text, at, '.') || !parse_fraction(text, &at, &nanos))) {
      return false;
    }
  }
  if (second == 60) {
    second = 59;
    nanos += SECOND_NANOS;
  }
  if (!hour_of_day(&hour, half)) {
    return false;
  }
  *ret_nanos = ((int64_t)(hour * 60 + minute) * 60 + second) * SECOND_NANOS + nanos;
  return at == text.size && minute < 60 && second < 60;
}

/* Digits up to the end or a '-', which is skipped; at most `most` of them. */
static bool take_part(str *text, size_t most, int64_t *ret) {
  size_t i = 0;
  int64_t value = 0;
  for (; i < text->size && text->data[i] != '-'; i++) {
    if (!is_digit(text->data[i]) || i == most) {
      return false;
    }
    value = value * 10 + (text->data[i] - '0');
  }
  *ret = value;
  const size_t used = i < text->size ? i + 1 : i;
  *text = str_slice(text->data + used, text->size - used);
  return i > 0;
}

/* [sign]Y-M-D with nothing behind. */
static bool parse_parts(str text, size_t year_digits, size_t part_digits, int64_t sign,
                        int64_t *ret_days) {
  int64_t year, month, day;
  const bool ends_in_dash = text.size > 0 && text.data[text.size - 1] == '-';
  if (!take_part(&text, year_digits, &year) || !take_part(&text, part_digits, &month) ||
      !take_part(&text, part_digits, &day) || text.size != 0 || ends_in_dash || month > 12 ||
      day > 31) {
    return false;
  }
  const civil c = {sign * year, (int)month, (int)day};
  if (!calendar_is_valid(c)) {
    return false;
  }
  *ret_days = calendar_days(c);
  return *ret_days >= TEMPORAL_FIRST_DAY && *ret_days <= TEMPORAL_LAST_DAY;
}

/* The forms of a date alone. */
static bool parse_date_alone(str text, int64_t *ret_days) {
  if (text.size > 0 && (text.data[0] == '+' || text.data[0] == '-')) {
    const str rest = str_slice(text.data + 1, text.size - 1);
    int ignored;
    return digits_at(rest, 0, 4, &ignored) &&
           parse_parts(rest, 10, 10, text.data[0] == '-' ? -1 : 1, ret_days);
  }
  int joined;
  if (text.size == 8 && digits_at(text, 0, 8, &joined)) {
    const civil c = {joined / 10000, joined / 100 % 100, joined % 100};
    *ret_days = calendar_is_valid(c) ? calendar_days(c) : 0;
    return calendar_is_valid(c);
  }
  return char_at(text, 4, '-') && parse_parts(text, 4, 2, 1, ret_days);
}

const char *temporal_parse_date(temporal_parser *p, str text, int64_t *ret_days) {
  if (text.size <= 10 || text.data[0] == '+' || text.data[0] == '-') {
    return parse_date_alone(text, ret_days) ? NULL : "it is not a date";
  }
  instant t;
  const char *why = temporal_parse_timestamp(p, text, &t);
  if (why == NULL) {
    *ret_days = floor_div(t.seconds, DAY_SECONDS);
  }
  return why;
}

size_t temporal_print(instant t, const zone *z, char text[CALENDAR_TEXT_SIZE]) {
  if (z == NULL) {
    return calendar_print_timestamp(t.seconds, t.nanos, text);
  }
  const int32_t offset = zone_offset(z, t.seconds);
  size_t size = calendar_print_timestamp(t.seconds + offset, t.nanos, text);
  if (offset == 0) {
    text[size++] = 'Z';
    return size;
  }
  const int minutes = ((offset < 0 ? -offset : offset) + 30) / 60;
  text[size++] = offset < 0 ? '-' : '+';
  text[size++] = (char)('0' + minutes / 600);
  text[size++] = (char)('0' + minutes / 60 % 10);
  text[size++] = ':';
  text[size++] = (char)('0' + minutes % 60 / 10);
  text[size++] = (char)('0' + minutes % 10);
  return size;
}
