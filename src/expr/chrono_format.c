/* Fields of dates and times, and their texts. A specifier is `%`, perhaps a padding (`-` none, `_`
 * spaces, `0` zeros), and a letter; some letters stand for a whole format. */
#include "expr/chrono.h"

const char *const chrono_months[12] = {"January",   "February", "March",    "April",
                                       "May",       "June",     "July",     "August",
                                       "September", "October",  "November", "December"};
const char *const chrono_weekdays[7] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};

chrono_time chrono_of(instant t, const zone *z) {
  const int32_t offset = z != NULL ? zone_offset(z, t.seconds) : 0;
  const int64_t local = t.seconds + offset;
  const int64_t days = floor_div(local, DAY_SECONDS);
  return (chrono_time){.date = calendar_civil(days),
                       .days = days,
                       .second = (int)floor_mod(local, DAY_SECONDS),
                       .nanos = t.nanos,
                       .unix_seconds = t.seconds,
                       .offset = offset,
                       .has_zone = z != NULL};
}

/* 1970-01-01 was a Thursday. */
int chrono_weekday(int64_t days) { return (int)floor_mod(days + 4, 7); }

int chrono_day_of_year(civil date) {
  return (int)(calendar_days(date) - calendar_days((civil){date.year, 1, 1})) + 1;
}

/* An ISO week belongs to the year of its Thursday. */
static int64_t thursday_of(int64_t days) { return days - floor_mod(days + 3, 7) + 3; }

int64_t chrono_iso_year(int64_t days) { return calendar_civil(thursday_of(days)).year; }

int chrono_iso_week(int64_t days) {
  return (chrono_day_of_year(calendar_civil(thursday_of(days))) - 1) / 7 + 1;
}

/* ---- numbers ---- */

/* Decimal digits of value, padded to a width on the left; pad 0 = not padded. */
static glv_status put_number(buf *out, int64_t value, int width, char pad, glv_error *err) {
  char digits[24];
  int n = 0;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    digits[sizeof digits - 1 - (size_t)n++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  const int signs = value < 0;
  if (signs == 0 && n == width) {
    return buf_append(out, digits + sizeof digits - n, (size_t)n, err);
  }
  if (signs != 0 && pad != ' ') {
    TRY(buf_append_char(out, '-', err));
  }
  if (pad != 0 && n + signs < width) {
    TRY(buf_append_fill(out, pad, (size_t)(width - n - signs), err));
  }
  if (signs != 0 && pad == ' ') {
    TRY(buf_append_char(out, '-', err));
  }
  return buf_append(out, digits + sizeof digits - n, (size_t)n, err);
}

/* Four digits; outside of 0..9999 with a sign in front. */
static glv_status put_year(buf *out, int64_t year, char pad, glv_error *err) {
  if (year >= 0 && year <= 9999) {
    return put_number(out, year, 4, pad, err);
  }
  if (year > 0) {
    TRY(buf_append_char(out, '+', err));
  }
  return put_number(out, year, year < 0 ? 5 : 4, pad, err);
}

/* Nanoseconds by their first `digits` digits. */
static glv_status put_fraction(buf *out, int32_t nanos, int digits, glv_error *err) {
  for (int i = digits; i < 9; i++) {
    nanos /= 10;
  }
  return put_number(out, nanos, digits, '0', err);
}

/* A point and 3, 6 or 9 digits, or nothing. */
static glv_status put_short_fraction(buf *out, int32_t nanos, glv_error *err) {
  if (nanos == 0) {
    return GLV_OK;
  }
  TRY(buf_append_char(out, '.', err));
  return put_fraction(out, nanos, nanos % 1000000 == 0 ? 3 : nanos % 1000 == 0 ? 6 : 9, err);
}

/* ---- zones ---- */

enum offset_precision { OFFSET_HOURS, OFFSET_MINUTES, OFFSET_SECONDS };

static glv_status put_offset(buf *out, int32_t offset, enum offset_precision precision, bool colons,
                             glv_error *err) {
  int32_t rest = offset < 0 ? -offset : offset;
  if (precision == OFFSET_MINUTES) {
    rest = (rest + 30) / 60 * 60;
  }
  TRY(buf_append_char(out, offset < 0 ? '-' : '+', err));
  TRY(put_number(out, rest / 3600, 2, '0', err));
  if (precision >= OFFSET_MINUTES) {
    TRY(buf_append(out, ":", colons ? 1 : 0, err));
    TRY(put_number(out, rest / 60 % 60, 2, '0', err));
  }
  if (precision == OFFSET_SECONDS) {
    TRY(buf_append(out, ":", colons ? 1 : 0, err));
    TRY(put_number(out, rest % 60, 2, '0', err));
  }
  return GLV_OK;
}

/* The name of a zone is its offset, with seconds only when there are some. */
static glv_status put_zone_name(buf *out, int32_t offset, glv_error *err) {
  return put_offset(out, offset, offset % 60 != 0 ? OFFSET_SECONDS : OFFSET_MINUTES, true, err);
}

/* ---- specifiers ---- */

const char *chrono_expand(char letter) {
  switch (letter) {
  case 'D':
  case 'x':
    return "%m/%d/%y";
  case 'F':
    return "%Y-%m-%d";
  case 'v':
    return "%e-%b-%Y";
  case 'R':
    return "%H:%M";
  case 'T':
  case 'X':
    return "%H:%M:%S";
  case 'r':
    return "%I:%M:%S %p";
  case 'c':
    return "%a %b %e %H:%M:%S %Y";
  case '+':
    return "%Y-%m-%dT%H:%M:%S%.f%:z";
  default:
    return NULL;
  }
}

/* A letter that stands for a number: its value, width and usual padding. */
static bool number_of(const chrono_time *t, char letter, int64_t *value, int *width, char *pad) {
  const int hour = t->second / 3600;
  const int weekday = chrono_weekday(t->days);
  *width = 2;
  *pad = '0';
  switch (letter) {
  case 'C':
    *value = floor_div(t->date.year, 100);
    return true;
  case 'y':
    *value = floor_mod(t->date.year, 100);
    return true;
  case 'g':
    *value = floor_mod(chrono_iso_year(t->days), 100);
    return true;
  case 'q':
    *value = (t->date.month + 2) / 3;
    *width = 1;
    return true;
  case 'm':
    *value = t->date.month;
    return true;
  case 'd':
    *value = t->date.day;
    return true;
  case 'e':
    *value = t->date.day;
    *pad = ' ';
    return true;
  case 'w':
    *value = weekday;
    *width = 1;
    return true;
  case 'u':
    *value = weekday == 0 ? 7 : weekday;
    *width = 1;
    return true;
  case 'U':
    *value = (chrono_day_of_year(t->date) + 6 - weekday) / 7;
    return true;
  case 'W':
    *value = (chrono_day_of_year(t->date) + 6 - (weekday + 6) % 7) / 7;
    return true;
  case 'V':
    *value = chrono_iso_week(t->days);
    return true;
  case 'j':
    *value = chrono_day_of_year(t->date);
    *width = 3;
    return true;
  case 'H':
    *value = hour;
    return true;
  case 'k':
    *value = hour;
    *pad = ' ';
    return true;
  case 'I':
    *value = (hour + 11) % 12 + 1;
    return true;
  case 'l':
    *value = (hour + 11) % 12 + 1;
    *pad = ' ';
    return true;
  case 'M':
    *value = t->second / 60 % 60;
    return true;
  case 'S':
    *value = t->second % 60;
    return true;
  case 'f':
    *value = t->nanos;
    *width = 9;
    return true;
  case 's':
    *value = t->unix_seconds;
    *width = 1;
    return true;
  default:
    return false;
  }
}

/* Letters that stand for words; NULL for others. size is how much of the word is meant. */
static const char *word_of(const chrono_time *t, char letter, size_t *size) {
  const char *word = NULL;
  *size = 3;
  switch (letter) {
  case 'b':
  case 'h':
    return chrono_months[t->date.month - 1];
  case 'B':
    word = chrono_months[t->date.month - 1];
    break;
  case 'a':
    return chrono_weekdays[chrono_weekday(t->days)];
  case 'A':
    word = chrono_weekdays[chrono_weekday(t->days)];
    break;
  case 'p':
    word = t->second < DAY_SECONDS / 2 ? "AM" : "PM";
    break;
  case 'P':
    word = t->second < DAY_SECONDS / 2 ? "am" : "pm";
    break;
  case 't':
    word = "\t";
    break;
  case 'n':
    word = "\n";
    break;
  case '%':
    word = "%";
    break;
  default:
    return NULL;
  }
  *size = strlen(word);
  return word;
}

static glv_status bad_format(str format, glv_error *err) {
  return FAIL(err, GLV_E_SQL_EXEC, "invalid date format '%.*s'", STR_ARG(format));
}

/* `.f`, `.3f`, `.6f`, `.9f`, `3f`, `6f`, `9f`, `:z`, `::z`, `:::z` and `z`, `Z`: *used = 0 when
 * rest begins with none of them. */
static glv_status put_special(const chrono_time *t, str rest, size_t *used, buf *out,
                              glv_error *err) {
  static const struct {
    const char *text;
    int digits; /* of a fraction; 0 = as many as it needs; -1 = it is a zone */
    enum offset_precision precision;
    bool colons;
  } table[] = {{".f", 0, 0, false},
               {".3f", 3, 0, false},
               {".6f", 6, 0, false},
               {".9f", 9, 0, false},
               {"3f", 3, 0, false},
               {"6f", 6, 0, false},
               {"9f", 9, 0, false},
               {"z", -1, OFFSET_MINUTES, false},
               {":z", -1, OFFSET_MINUTES, true},
               {"::z", -1, OFFSET_SECONDS, true},
               {":::z", -1, OFFSET_HOURS, true}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (!str_starts_with(rest, str_of(table[i].text))) {
      continue;
    }
    *used = strlen(table[i].text);
    if (table[i].digits < 0) {
      return t->has_zone ? put_offset(out, t->offset, table[i].precision, table[i].colons, err)
                         : bad_format(rest, err);
    }
    if (table[i].digits == 0) {
      return put_short_fraction(out, t->nanos, err);
    }
    TRY(buf_append(out, ".", table[i].text[0] == '.', err));
    return put_fraction(out, t->nanos, table[i].digits, err);
  }
  *used = rest.size > 0 && rest.data[0] == 'Z' && t->has_zone;
  return *used != 0 ? put_zone_name(out, t->offset, err) : GLV_OK;
}

/* One specifier without its `%`; *used is how much of rest it is. */
static glv_status put_specifier(const chrono_time *t, str rest, size_t *used, buf *out,
                                glv_error *err) {
  *used = 0;
  if (rest.size > 0 && strchr(".369:zZ", rest.data[0]) != NULL) {
    TRY(put_special(t, rest, used, out, err));
    if (*used != 0) {
      return GLV_OK;
    }
  }
  size_t at = 0;
  char padding = 'd'; /* the default one */
  if (rest.size > 1 && (rest.data[0] == '-' || rest.data[0] == '_' || rest.data[0] == '0')) {
    padding = rest.data[0] == '-' ? 0 : rest.data[0] == '_' ? ' ' : '0';
    at = 1;
  }
  if (at == rest.size) {
    return bad_format(rest, err);
  }
  const char letter = rest.data[at];
  *used = at + 1;
  if (t->is_time && strchr("HkIlMSfpPtn%TXRr", letter) == NULL) {
    return bad_format(rest, err);
  }
  int64_t value;
  int width;
  char pad;
  size_t size;
  if (letter == 'Y' || letter == 'G') {
    const int64_t year = letter == 'Y' ? t->date.year : chrono_iso_year(t->days);
    return put_year(out, year, padding == 'd' ? '0' : padding, err);
  }
  if (number_of(t, letter, &value, &width, &pad)) {
    return put_number(out, value, width, padding == 'd' ? pad : padding, err);
  }
  const char *word = word_of(t, letter, &size);
  if (at != 0 || (word == NULL && chrono_expand(letter) == NULL)) {
    return bad_format(rest, err);
  }
  return word != NULL ? buf_append(out, word, size, err)
                      : chrono_format(t, str_of(chrono_expand(letter)), out, err);
}

glv_status chrono_format(const chrono_time *t, str format, buf *out, glv_error *err) {
  for (size_t i = 0; i < format.size;) {
    const char *percent = memchr(format.data + i, '%', format.size - i);
    const size_t plain = percent != NULL ? (size_t)(percent - format.data) - i : format.size - i;
    TRY(buf_append(out, format.data + i, plain, err));
    i += plain;
    if (percent == NULL) {
      break;
    }
    size_t used;
    const str rest = str_slice(format.data + i + 1, format.size - i - 1);
    TRY(put_specifier(t, rest, &used, out, err));
    i += 1 + used;
  }
  return GLV_OK;
}
