/* Reading a text of a chrono format. Fields are collected from left to right; then a date is made
 * of the first of these that is complete: year, month and day; year and day of the year; ISO year,
 * week and weekday; year, week of the year and weekday; seconds since the epoch. Fields that were
 * not needed must agree with it. White space in the format stands for any amount of white space. */
#include "expr/alphabetic.h"
#include "expr/chrono.h"
#include "expr/unicode.h"

enum { MISSING = INT32_MIN };

typedef struct fields {
  int64_t year, century, year_of_century; /* MISSING when not given; as the others */
  int64_t iso_year, iso_year_of_century;
  int month, day, day_of_year, quarter;
  int week_from_sunday, week_from_monday, iso_week;
  int weekday; /* Sunday = 0 */
  int hour, hour12, is_pm, minute, second;
  int32_t nanos;
  int64_t unix_seconds;
  bool has_unix;
  int offset;
} fields;

static const char *const INVALID = "input contains invalid characters";
static const char *const TOO_SHORT = "premature end of input";
static const char *const BAD_FORMAT = "bad or unsupported format string";
static const char *const IMPOSSIBLE = "no possible date and time matching input";
static const char *const NOT_ENOUGH = "input is not enough for unique date and time";
static const char *const OUT_OF_RANGE = "input is out of range";

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip(str *s, size_t n) { *s = str_slice(s->data + n, s->size - n); }

static void skip_space(str *s) {
  for (size_t at = 0; s->size > 0; at = 0) {
    if (!unicode_is_space(unicode_next(*s, &at))) {
      return;
    }
    skip(s, at);
  }
}

/* One to `most` digits. */
static const char *take_digits(str *s, size_t most, int64_t *ret) {
  size_t i = 0;
  int64_t value = 0;
  for (; i < s->size && i < most && is_digit(s->data[i]); i++) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, s->data[i] - '0', &value)) {
      return OUT_OF_RANGE;
    }
  }
  if (i == 0) {
    return s->size == 0 ? TOO_SHORT : INVALID;
  }
  skip(s, i);
  *ret = value;
  return NULL;
}

/* A sign allows any number of digits. */
static const char *take_signed(str *s, size_t most, int64_t *ret) {
  const bool has_sign = s->size > 0 && (s->data[0] == '-' || s->data[0] == '+');
  if (!has_sign) {
    return take_digits(s, most, ret);
  }
  const bool negative = s->data[0] == '-';
  skip(s, 1);
  const char *why = take_digits(s, SIZE_MAX, ret);
  *ret = why == NULL && negative ? -*ret : *ret;
  return why;
}

/* A value must not contradict one that was read before. */
static const char *set(int *known, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high) {
    return OUT_OF_RANGE;
  }
  if (*known != MISSING && *known != value) {
    return IMPOSSIBLE;
  }
  *known = (int)value;
  return NULL;
}

static const char *set_year(int64_t *known, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high) {
    return OUT_OF_RANGE;
  }
  if (*known != MISSING && *known != value) {
    return IMPOSSIBLE;
  }
  *known = value;
  return NULL;
}

/* The index of the name that s begins with, in its long form (if allowed) or its first three
 * letters. */
static const char *take_name(str *s, const char *const *names, int count, bool allows_long,
                             int *ret) {
  for (int i = 0; i < count; i++) {
    const size_t size = strlen(names[i]);
    const bool is_long = allows_long && s->size >= size &&
                         str_equal_ascii_case(str_slice(s->data, size), str_of(names[i]));
    const bool is_short =
        s->size >= 3 && str_equal_ascii_case(str_slice(s->data, 3), str_slice(names[i], 3));
    if (is_long || is_short) {
      skip(s, is_long ? size : 3);
      *ret = i;
      return NULL;
    }
  }
  return s->size < 3 ? TOO_SHORT : INVALID;
}

/* A point and digits, of which nine count. */
static const char *take_fraction(str *s, int32_t *ret) {
  int32_t nanos = 0;
  int used = 0;
  size_t i = 1;
  for (; i < s->size && is_digit(s->data[i]); i++) {
    if (used < 9) {
      nanos = nanos * 10 + (s->data[i] - '0');
      used++;
    }
  }
  if (used == 0) {
    return s->size <= 1 ? TOO_SHORT : INVALID;
  }
  for (; used < 9; used++) {
    nanos *= 10;
  }
  skip(s, i);
  *ret = nanos;
  return NULL;
}

/* [+-]HH[:]MM, minutes optional if allowed, Z if allowed. */
static const char *take_offset(str *s, bool is_lenient, int *ret) {
  skip_space(s);
  if (is_lenient && s->size > 0 && (s->data[0] | 0x20) == 'z') {
    skip(s, 1);
    *ret = 0;
    return NULL;
  }
  if (s->size < 3) {
    return s->size > 0 && s->data[0] != '+' && s->data[0] != '-' ? INVALID : TOO_SHORT;
  }
  if ((s->data[0] != '+' && s->data[0] != '-') || !is_digit(s->data[1]) || !is_digit(s->data[2])) {
    return INVALID;
  }
  const bool negative = s->data[0] == '-';
  int seconds = ((s->data[1] - '0') * 10 + s->data[2] - '0') * 3600;
  skip(s, 3);
  while (s->size > 0 && s->data[0] == ':') {
    skip(s, 1);
  }
  if (s->size >= 2 && is_digit(s->data[0]) && is_digit(s->data[1])) {
    const int minutes = (s->data[0] - '0') * 10 + s->data[1] - '0';
    if (minutes > 59) {
      return OUT_OF_RANGE;
    }
    seconds += minutes * 60;
    skip(s, 2);
  } else if (!is_lenient) {
    return s->size == 0 ? TOO_SHORT : INVALID;
  }
  *ret = negative ? -seconds : seconds;
  return seconds < DAY_SECONDS ? NULL : OUT_OF_RANGE;
}

/* ---- one specifier ---- */

static const char *parse_items(str format, str *s, fields *f);

struct number_item {
  char letter;
  char width;
  int low, high;
  size_t field; /* offset of an int in fields */
};

#define ITEM(letter, width, low, high, name)                                                       \
  { letter, width, low, high, offsetof(fields, name) }

static const struct number_item NUMBER_ITEMS[] = {ITEM('m', 2, 1, 12, month),
                                                  ITEM('d', 2, 1, 31, day),
                                                  ITEM('e', 2, 1, 31, day),
                                                  ITEM('j', 3, 1, 366, day_of_year),
                                                  ITEM('q', 1, 1, 4, quarter),
                                                  ITEM('U', 2, 0, 53, week_from_sunday),
                                                  ITEM('W', 2, 0, 53, week_from_monday),
                                                  ITEM('V', 2, 1, 53, iso_week),
                                                  ITEM('w', 1, 0, 6, weekday),
                                                  ITEM('H', 2, 0, 23, hour),
                                                  ITEM('k', 2, 0, 23, hour),
                                                  ITEM('M', 2, 0, 59, minute),
                                                  ITEM('S', 2, 0, 60, second),
                                                  ITEM('f', 9, 0, 999999999, nanos)};

static const char *parse_number_item(char letter, str *s, fields *f, bool *ret_is_item) {
  for (size_t i = 0; i < sizeof NUMBER_ITEMS / sizeof NUMBER_ITEMS[0]; i++) {
    const struct number_item *item = &NUMBER_ITEMS[i];
    if (item->letter == letter) {
      *ret_is_item = true;
      skip_space(s);
      int64_t value;
      const char *why = take_digits(s, (size_t)item->width, &value);
      return why != NULL
                 ? why
                 : set((int *)(void *)((char *)f + item->field), value, item->low, item->high);
    }
  }
  *ret_is_item = false;
  return NULL;
}

static const char *parse_year_item(char letter, str *s, fields *f) {
  int64_t value;
  const bool is_full = letter == 'Y' || letter == 'G';
  skip_space(s);
  const char *why = is_full ? take_signed(s, 4, &value) : take_digits(s, 2, &value);
  if (why != NULL) {
    return why;
  }
  switch (letter) {
  case 'Y':
    return set_year(&f->year, value, -262143, 262142);
  case 'G':
    return set_year(&f->iso_year, value, -262143, 262142);
  case 'C':
    return set_year(&f->century, value, 0, 99);
  case 'y':
    return set_year(&f->year_of_century, value, 0, 99);
  default: /* g */
    return set_year(&f->iso_year_of_century, value, 0, 99);
  }
}

static const char *parse_half_day(str *s, fields *f) {
  if (s->size < 2) {
    return TOO_SHORT;
  }
  const char half = (char)(s->data[0] | 0x20);
  if ((half != 'a' && half != 'p') || (s->data[1] | 0x20) != 'm') {
    return INVALID;
  }
  skip(s, 2);
  return set(&f->is_pm, half == 'p', 0, 1);
}

static const char *parse_word_item(char letter, str *s, fields *f) {
  int index = 0;
  const bool is_month = letter == 'b' || letter == 'h' || letter == 'B';
  const char *why = is_month ? take_name(s, chrono_months, 12, letter == 'B', &index)
                             : take_name(s, chrono_weekdays, 7, letter == 'A', &index);
  if (why != NULL) {
    return why;
  }
  return is_month ? set(&f->month, index + 1, 1, 12) : set(&f->weekday, index, 0, 6);
}

static const char *parse_letter(char letter, str *s, fields *f) {
  bool is_item;
  const char *why = parse_number_item(letter, s, f, &is_item);
  if (is_item) {
    return why;
  }
  int64_t value;
  switch (letter) {
  case 'Y':
  case 'G':
  case 'C':
  case 'y':
  case 'g':
    return parse_year_item(letter, s, f);
  case 'b':
  case 'h':
  case 'B':
  case 'a':
  case 'A':
    return parse_word_item(letter, s, f);
  case 'u':
    skip_space(s);
    why = take_digits(s, 1, &value);
    return why != NULL              ? why
           : value < 1 || value > 7 ? OUT_OF_RANGE
                                    : set(&f->weekday, value % 7, 0, 6);
  case 'I':
  case 'l':
    skip_space(s);
    why = take_digits(s, 2, &value);
    return why != NULL               ? why
           : value < 1 || value > 12 ? OUT_OF_RANGE
                                     : set(&f->hour12, value % 12, 0, 11);
  case 'p':
  case 'P':
    return parse_half_day(s, f);
  case 's':
    skip_space(s);
    f->has_unix = true;
    return take_signed(s, SIZE_MAX, &f->unix_seconds);
  case 'z':
    return take_offset(s, false, &f->offset);
  case 'Z':
    while (s->size > 0 && !unicode_is_space((uint8_t)s->data[0])) {
      skip(s, 1);
    }
    return NULL;
  case 't':
  case 'n':
    skip_space(s);
    return NULL;
  case '%':
    if (s->size == 0 || s->data[0] != '%') {
      return s->size == 0 ? TOO_SHORT : INVALID;
    }
    skip(s, 1);
    return NULL;
  default:
    if (letter == '+') { /* where any offset will do */
      return parse_items(STR("%Y-%m-%dT%H:%M:%S%.f%#z"), s, f);
    }
    return chrono_expand(letter) == NULL ? BAD_FORMAT
                                         : parse_items(str_of(chrono_expand(letter)), s, f);
  }
}

/* Specifiers of several characters: *used = 0 when rest begins with none. */
static const char *parse_special(str rest, str *s, fields *f, size_t *used) {
  static const char *const zones[] = {":z", "::z", ":::z", "#z"};
  static const char *const fractions[] = {".f", ".3f", ".6f", ".9f"};
  for (size_t i = 0; i < 4; i++) {
    if (str_starts_with(rest, str_of(zones[i]))) {
      *used = strlen(zones[i]);
      return take_offset(s, zones[i][0] == '#', &f->offset);
    }
    if (str_starts_with(rest, str_of(fractions[i]))) {
      *used = strlen(fractions[i]);
      return s->size > 0 && s->data[0] == '.' ? take_fraction(s, &f->nanos) : NULL;
    }
  }
  *used = 0;
  if (rest.size >= 2 && rest.data[1] == 'f' &&
      (rest.data[0] == '3' || rest.data[0] == '6' || rest.data[0] == '9')) {
    *used = 2;
    int64_t value;
    const size_t digits = (size_t)(rest.data[0] - '0');
    const size_t before = s->size;
    const char *why = take_digits(s, digits, &value);
    if (why != NULL || before - s->size != digits) {
      return why != NULL ? why : s->size == 0 ? TOO_SHORT : INVALID;
    }
    for (size_t i = digits; i < 9; i++) {
      value *= 10;
    }
    return set(&f->nanos, value, 0, 999999999);
  }
  return NULL;
}

static const char *parse_items(str format, str *s, fields *f) {
  while (format.size > 0) {
    size_t at = 0;
    const uint32_t c = unicode_next(format, &at);
    if (unicode_is_space(c)) {
      skip(&format, at);
      skip_space(s);
      continue;
    }
    if (c != '%') {
      if (s->size < at || memcmp(s->data, format.data, at) != 0) {
        return s->size < at ? TOO_SHORT : INVALID;
      }
      skip(&format, at);
      skip(s, at);
      continue;
    }
    skip(&format, 1);
    size_t used;
    const char *why = parse_special(format, s, f, &used);
    if (why == NULL && used == 0) {
      const bool has_padding = format.size > 1 && (format.data[0] == '-' || format.data[0] == '_' ||
                                                   format.data[0] == '0');
      used = has_padding ? 2 : 1;
      why = format.size == 0 ? BAD_FORMAT : parse_letter(format.data[used - 1], s, f);
    }
    if (why != NULL) {
      return why;
    }
    skip(&format, used);
  }
  return NULL;
}

/* ---- making a date and a time ---- */

/* A year from its parts; MISSING when there are not enough. Two digits alone mean 1970 to 2069. */
static int64_t resolve_year(int64_t year, int64_t century, int64_t of_century) {
  if (year != MISSING || of_century == MISSING) {
    return year;
  }
  if (century != MISSING) {
    return century * 100 + of_century;
  }
  return of_century + (of_century < 70 ? 2000 : 1900);
}

/* The day of a week of a year; weeks begin with `first`, and week 0 is what precedes the first such
 * day. */
static bool day_of_week(int64_t year, int week, int weekday, int first, int64_t *ret) {
  const int64_t new_year = calendar_days((civil){year, 1, 1});
  const int64_t first_week = floor_mod(first - chrono_weekday(new_year), 7);
  const int64_t day = first_week + (int64_t)(week - 1) * 7 + floor_mod(weekday - first, 7);
  *ret = new_year + day;
  return day >= 0 && calendar_civil(*ret).year == year;
}

static const char *resolve_date(const fields *f, int64_t *ret_days) {
  const int64_t year = resolve_year(f->year, f->century, f->year_of_century);
  const int64_t iso_year = resolve_year(f->iso_year, MISSING, f->iso_year_of_century);
  if (year != MISSING && f->month != MISSING && f->day != MISSING) {
    const civil c = {year, f->month, f->day};
    if (!calendar_is_valid(c)) {
      return OUT_OF_RANGE;
    }
    *ret_days = calendar_days(c);
    return NULL;
  }
  if (year != MISSING && f->day_of_year != MISSING) {
    *ret_days = calendar_days((civil){year, 1, 1}) + f->day_of_year - 1;
    return calendar_civil(*ret_days).year == year ? NULL : OUT_OF_RANGE;
  }
  if (year != MISSING && f->weekday != MISSING && f->week_from_sunday != MISSING) {
    return day_of_week(year, f->week_from_sunday, f->weekday, 0, ret_days) ? NULL : OUT_OF_RANGE;
  }
  if (year != MISSING && f->weekday != MISSING && f->week_from_monday != MISSING) {
    return day_of_week(year, f->week_from_monday, f->weekday, 1, ret_days) ? NULL : OUT_OF_RANGE;
  }
  if (iso_year != MISSING && f->iso_week != MISSING && f->weekday != MISSING) {
    const int64_t fourth = calendar_days((civil){iso_year, 1, 4}); /* always in week 1 */
    *ret_days =
        fourth - floor_mod(fourth + 3, 7) + (int64_t)(f->iso_week - 1) * 7 + (f->weekday + 6) % 7;
    return chrono_iso_year(*ret_days) == iso_year ? NULL : OUT_OF_RANGE;
  }
  return NOT_ENOUGH;
}

static bool agrees(int given, int value) { return given == MISSING || given == value; }

/* Fields that the date was not made of. */
static bool date_agrees(const fields *f, int64_t days) {
  const civil c = calendar_civil(days);
  const int weekday = chrono_weekday(days);
  const int of_year = chrono_day_of_year(c);
  const int64_t year = resolve_year(f->year, f->century, f->year_of_century);
  return (year == MISSING || year == c.year) && agrees(f->month, c.month) &&
         agrees(f->day, c.day) && agrees(f->day_of_year, of_year) &&
         agrees(f->quarter, (c.month + 2) / 3) && agrees(f->weekday, weekday) &&
         agrees(f->week_from_sunday, (of_year + 6 - weekday) / 7) &&
         agrees(f->week_from_monday, (of_year + 6 - (weekday + 6) % 7) / 7) &&
         agrees(f->iso_week, chrono_iso_week(days)) &&
         (f->iso_year == MISSING || f->iso_year == chrono_iso_year(days));
}

/* Seconds of the day; a time without hour or minute counts as midnight. */
static int resolve_time(const fields *f, int32_t *ret_nanos) {
  int hour = f->hour;
  if (hour == MISSING && f->hour12 != MISSING && f->is_pm != MISSING) {
    hour = f->hour12 + 12 * f->is_pm;
  }
  *ret_nanos = 0;
  if (hour == MISSING || f->minute == MISSING) {
    return 0;
  }
  if (f->second != MISSING && f->nanos != MISSING) {
    *ret_nanos = f->nanos;
  }
  int second = f->second == MISSING ? 0 : f->second;
  if (second == 60) { /* a leap second, as in temporal.c */
    second = 59;
    *ret_nanos += 1000000000;
  }
  return (hour * 60 + f->minute) * 60 + second;
}

static const char *resolve(const fields *f, const zone *z, instant *ret) {
  int64_t days;
  const char *why = resolve_date(f, &days);
  if (why == NOT_ENOUGH && f->has_unix) {
    *ret = (instant){.seconds = f->unix_seconds};
    return temporal_in_range(*ret) ? NULL : OUT_OF_RANGE;
  }
  if (why != NULL) {
    return why;
  }
  if (days < TEMPORAL_FIRST_DAY || days > TEMPORAL_LAST_DAY) {
    return OUT_OF_RANGE;
  }
  if (!date_agrees(f, days)) {
    return IMPOSSIBLE;
  }
  ret->seconds = days * DAY_SECONDS + resolve_time(f, &ret->nanos);
  if (z != NULL) {
    return zone_to_utc(z, ret->seconds, &ret->seconds) ? NULL : IMPOSSIBLE;
  }
  ret->seconds -= f->offset == MISSING ? 0 : f->offset;
  return NULL;
}

/* A format that ends in ` %Z` and a text that ends in the name of a zone: cut both off. */
static const char *split_zone(glv_env *env, str *format, str *text, zone **ret) {
  const str f = unicode_trim_space(*format);
  if (!str_ends_with(f, STR(" %Z"))) {
    return NULL;
  }
  const str t = unicode_trim_space(*text);
  size_t begin = t.size;
  while (begin > 0 && t.data[begin - 1] != ' ') {
    begin--;
  }
  if (begin == 0) {
    return INVALID;
  }
  const glv_status status = zone_new(env, str_slice(t.data + begin, t.size - begin), ret, NULL);
  if (status != GLV_OK) {
    return status == GLV_E_NOMEM ? temporal_no_memory : "unknown time zone";
  }
  *format = str_slice(f.data, f.size - 3);
  *text = str_slice(t.data, begin - 1);
  return NULL;
}

static fields no_fields(void) {
  return (fields){.year = MISSING,
                  .century = MISSING,
                  .year_of_century = MISSING,
                  .iso_year = MISSING,
                  .iso_year_of_century = MISSING,
                  .month = MISSING,
                  .day = MISSING,
                  .day_of_year = MISSING,
                  .quarter = MISSING,
                  .week_from_sunday = MISSING,
                  .week_from_monday = MISSING,
                  .iso_week = MISSING,
                  .weekday = MISSING,
                  .hour = MISSING,
                  .hour12 = MISSING,
                  .is_pm = MISSING,
                  .minute = MISSING,
                  .second = MISSING,
                  .nanos = MISSING,
                  .offset = MISSING};
}

static const char *parse_all(str format, str text, fields *ret) {
  const char *why = parse_items(format, &text, ret);
  return why == NULL && text.size > 0 ? "trailing input" : why;
}

const char *chrono_parse(glv_env *env, str format, str text, instant *ret) {
  fields f = no_fields();
  CLEANUP(zone_cleanup) zone *z = NULL;
  const char *why = split_zone(env, &format, &text, &z);
  if (why == NULL) {
    why = parse_all(format, text, &f);
  }
  return why != NULL ? why : resolve(&f, z, ret);
}

const char *chrono_parse_time(str format, str text, int64_t *ret_nanos) {
  fields f = no_fields();
  const char *why = parse_all(format, text, &f);
  if (why != NULL) {
    return why;
  }
  const bool has_hour = f.hour != MISSING || (f.hour12 != MISSING && f.is_pm != MISSING);
  if (!has_hour || f.minute == MISSING || (f.nanos != MISSING && f.second == MISSING)) {
    return NOT_ENOUGH;
  }
  int32_t nanos;
  const int second = resolve_time(&f, &nanos);
  *ret_nanos = second * INT64_C(1000000000) + nanos;
  return NULL;
}
