/* Time zones (sql-expressions 9.5, 11.3).
 *
 * A zone is a table of transitions (instants at which the offset changes), and a rule for the years
 * after the last one. Both come from a TZif file (RFC 8536), version 2 or later: a version 1 block
 * with 32-bit instants, which is skipped, then
 *   header "TZif" version reserved[15] and six counts of 4 bytes, big-endian:
 *     isutcnt isstdcnt leapcnt timecnt typecnt charcnt
 *   timecnt 8-byte instants, timecnt 1-byte types, typecnt entries {offset 4, is_dst 1, name 1},
 *   charcnt name bytes, leapcnt entries of 12 bytes, isstdcnt bytes, isutcnt bytes
 *   "\n" rule "\n", the rule being a TZ text of POSIX such as EST5EDT,M3.2.0,M11.1.0.
 * Before the first transition the first type that is not daylight saving time holds. The reference
 * knows the transitions of the years up to 2099 only, and so does this file: later the offset of
 * that year's end holds.
 *
 * This file reads the operating system's database of zones with plain POSIX calls, not through the
 * I/O table of the environment: the table stands for the user's data, the database is part of the
 * system as the C library's tables are. Names cannot leave the database's folder. The bytes are
 * checked like any other file. */
#include "expr/zone.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/calendar.h"
#include "base/checked.h"

#define ZONE_FOLDER "/usr/share/zoneinfo/"

enum {
  MAX_NAME = 100,
  MAX_FILE = 64 << 10,
  HEADER_SIZE = 44,
  DAY = 86400,
  MAX_OFFSET = DAY,
  LAST_RULE_YEAR = 2099
};

/* When a year's change takes place: the local second of the year's day. */
typedef struct rule_date {
  char form; /* 'M' month/week/weekday, 'J' day 1..365 without leap day, '0' day 0..365 */
  int month, week, weekday;
  int day;
  int32_t seconds;
} rule_date;

typedef struct rule {
  bool is_set;
  bool has_dst;
  int32_t standard;
  int32_t daylight;
  rule_date start; /* of daylight saving time, in standard time */
  rule_date end;   /* in daylight saving time */
} rule;

struct zone {
  glv_env *env; /* borrowed */
  int32_t first_offset;
  size_t count;
  int64_t *instants; /* ascending */
  int32_t *offsets;  /* offsets[i] holds from instants[i] on */
  rule rule;
};

void zone_free(zone *z) {
  if (z != NULL) {
    mem_free(z->env, z->instants);
    mem_free(z->env, z->offsets);
    mem_free(z->env, z);
  }
}

void zone_cleanup(zone **z) { zone_free(*z); }

/* ---- fixed offsets ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool parse_fixed(str name, int32_t *ret) {
  char d[4] = {'0', '0', '0', '0'};
  if (name.size == 6 && name.data[3] == ':') {
    memcpy(d, name.data + 1, 2);
    memcpy(d + 2, name.data + 4, 2);
  } else if (name.size == 5 || name.size == 3) {
    memcpy(d, name.data + 1, name.size - 1);
  } else {
    return false;
  }
  for (int i = 0; i < 4; i++) {
    if (!is_digit(d[i])) {
      return false;
    }
  }
  if (name.data[0] != '+' && name.data[0] != '-') {
    return false;
  }
  const int32_t seconds =
      ((d[0] - '0') * 10 + d[1] - '0') * 3600 + ((d[2] - '0') * 10 + d[3] - '0') * 60;
  *ret = name.data[0] == '-' ? -seconds : seconds;
  return seconds < DAY;
}

/* ---- the file ---- */

/* Letters, digits and _ + - in parts separated by single slashes. */
static bool is_zone_name(str name) {
  bool at_start = true;
  for (size_t i = 0; i < name.size; i++) {
    const char c = name.data[i];
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
                      c == '+' || c == '-';
    if (!word && (c != '/' || at_start)) {
      return false;
    }
    at_start = c == '/';
  }
  return !at_start && name.size <= MAX_NAME;
}

static glv_status read_file(const char *path, uint8_t *data, size_t *ret_size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return GLV_E_IO;
  }
  size_t size = 0;
  ssize_t n = 1;
  while (n > 0 && size < MAX_FILE) {
    n = read(fd, data + size, MAX_FILE - size);
    if (n < 0 && errno == EINTR) {
      n = 1;
      continue;
    }
    size += n > 0 ? (size_t)n : 0;
  }
  close(fd);
  *ret_size = size;
  return n < 0 ? GLV_E_IO : GLV_OK;
}

typedef struct cursor {
  const uint8_t *data;
  size_t size;
} cursor;

static bool take(cursor *c, size_t size, const uint8_t **ret) {
  if (size > c->size) {
    return false;
  }
  *ret = c->data;
  c->data += size;
  c->size -= size;
  return true;
}

static uint32_t load_be32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static int64_t load_be64(const uint8_t *p) {
  return (int64_t)((uint64_t)load_be32(p) << 32 | load_be32(p + 4));
}

enum { COUNT_UT, COUNT_STD, COUNT_LEAP, COUNT_TIME, COUNT_TYPE, COUNT_CHAR, COUNTS };

static bool take_header(cursor *c, size_t counts[COUNTS], int *ret_version) {
  const uint8_t *p;
  if (!take(c, HEADER_SIZE, &p) || memcmp(p, "TZif", 4) != 0) {
    return false;
  }
  *ret_version = p[4] == 0 ? 1 : p[4] - '0';
  for (size_t i = 0; i < COUNTS; i++) {
    counts[i] = load_be32(p + 20 + 4 * i);
    if (counts[i] > MAX_FILE) {
      return false;
    }
  }
  return true;
}

static size_t body_size(const size_t counts[COUNTS], size_t width) {
  return counts[COUNT_TIME] * (width + 1) + counts[COUNT_TYPE] * 6 + counts[COUNT_CHAR] +
         counts[COUNT_LEAP] * (width + 4) + counts[COUNT_STD] + counts[COUNT_UT];
}

/* The 64-bit block behind c; *ok = false when the bytes are malformed. */
static glv_status read_transitions(zone *z, cursor *c, const size_t counts[COUNTS], bool *ok,
                                   glv_error *err) {
  const uint8_t *body;
  *ok = take(c, body_size(counts, 8), &body) && counts[COUNT_TYPE] > 0;
  if (!*ok) {
    return GLV_OK;
  }
  const size_t n = counts[COUNT_TIME];
  const uint8_t *indexes = body + 8 * n;
  const uint8_t *types = indexes + n;
  z->instants = mem_calloc(z->env, n, sizeof *z->instants);
  z->offsets = mem_calloc(z->env, n, sizeof *z->offsets);
  if (z->instants == NULL || z->offsets == NULL) {
    return error_nomem(err, n * sizeof *z->instants);
  }
  z->count = n;
  size_t first = 0;
  while (first + 1 < counts[COUNT_TYPE] && types[6 * first + 4] != 0) {
    first++;
  }
  z->first_offset = (int32_t)load_be32(types + 6 * first);
  for (size_t i = 0; i < n; i++) {
    z->instants[i] = load_be64(body + 8 * i);
    *ok = *ok && indexes[i] < counts[COUNT_TYPE] && (i == 0 || z->instants[i - 1] < z->instants[i]);
    z->offsets[i] = *ok ? (int32_t)load_be32(types + 6 * (size_t)indexes[i]) : 0;
    *ok = *ok && z->offsets[i] > -MAX_OFFSET && z->offsets[i] < MAX_OFFSET;
  }
  return GLV_OK;
}

/* ---- the rule ---- */

/* A zone's abbreviation: letters, or anything in <>. */
static bool skip_abbreviation(str *s) {
  size_t i = 0;
  if (s->size > 0 && s->data[0] == '<') {
    while (i < s->size && s->data[i] != '>') {
      i++;
    }
    i++;
  } else {
    while (i < s->size && ((s->data[i] | 0x20) >= 'a' && (s->data[i] | 0x20) <= 'z')) {
      i++;
    }
  }
  if (i == 0 || i > s->size) {
    return false;
  }
  *s = str_slice(s->data + i, s->size - i);
  return true;
}

static bool take_char(str *s, char c) {
  if (s->size == 0 || s->data[0] != c) {
    return false;
  }
  *s = str_slice(s->data + 1, s->size - 1);
  return true;
}

static bool take_number(str *s, int *ret) {
  int value = 0;
  size_t i = 0;
  for (; i < s->size && is_digit(s->data[i]) && i < 4; i++) {
    value = value * 10 + (s->data[i] - '0');
  }
  *s = str_slice(s->data + i, s->size - i);
  *ret = value;
  return i > 0;
}

/* [+-]h[h[h]][:mm[:ss]] */
static bool take_clock(str *s, int32_t *ret) {
  const bool negative = take_char(s, '-');
  if (!negative) {
    (void)take_char(s, '+');
  }
  int hours, minutes = 0, seconds = 0;
  if (!take_number(s, &hours) || hours > 167) {
    return false;
  }
  if (take_char(s, ':') && (!take_number(s, &minutes) || minutes > 59)) {
    return false;
  }
  if (take_char(s, ':') && (!take_number(s, &seconds) || seconds > 59)) {
    return false;
  }
  const int32_t total = (hours * 60 + minutes) * 60 + seconds;
  *ret = negative ? -total : total;
  return true;
}

static bool take_rule_date(str *s, rule_date *d) {
  d->form = '0';
  if (take_char(s, 'M')) {
    d->form = 'M';
    if (!take_number(s, &d->month) || !take_char(s, '.') || !take_number(s, &d->week) ||
        !take_char(s, '.') || !take_number(s, &d->weekday) || d->month < 1 || d->month > 12 ||
        d->week < 1 || d->week > 5 || d->weekday > 6) {
      return false;
    }
  } else {
    d->form = take_char(s, 'J') ? 'J' : '0';
    if (!take_number(s, &d->day) || d->day > 365) {
      return false;
    }
  }
  d->seconds = 7200;
  return !take_char(s, '/') || take_clock(s, &d->seconds);
}

/* The clocks of a TZ text count west of UTC. false = malformed. */
static bool parse_rule(str s, rule *r) {
  *r = (rule){0};
  if (!skip_abbreviation(&s) || !take_clock(&s, &r->standard)) {
    return false;
  }
  r->standard = -r->standard;
  r->is_set = true;
  if (s.size == 0) {
    return true;
  }
  r->has_dst = true;
  r->daylight = r->standard + 3600;
  if (!skip_abbreviation(&s)) {
    return false;
  }
  if (s.size > 0 && s.data[0] != ',') {
    if (!take_clock(&s, &r->daylight)) {
      return false;
    }
    r->daylight = -r->daylight;
  }
  return take_char(&s, ',') && take_rule_date(&s, &r->start) && take_char(&s, ',') &&
         take_rule_date(&s, &r->end) && s.size == 0 && r->standard > -MAX_OFFSET &&
         r->standard < MAX_OFFSET && r->daylight > -MAX_OFFSET && r->daylight < MAX_OFFSET;
}

/* Local seconds since the epoch at which the date's change takes place in a year. */
static int64_t rule_seconds(const rule_date *d, int64_t year) {
  int64_t day = calendar_days((civil){year, 1, 1});
  if (d->form == 'M') {
    const int64_t first = calendar_days((civil){year, d->month, 1});
    const int64_t weekday = floor_mod(first + 4, 7); /* 1970-01-01 was a Thursday */
    int64_t of_month = floor_mod(d->weekday - weekday, 7) + INT64_C(7) * (d->week - 1);
    if (of_month >= calendar_month_days(year, d->month)) {
      of_month -= 7;
    }
    day = first + of_month;
  } else if (d->form == 'J') {
    day += d->day - 1 + (d->day > 59 && calendar_month_days(year, 2) == 29);
  } else {
    day += d->day;
  }
  return day * DAY + d->seconds;
}

static int32_t rule_offset(const rule *r, int64_t utc) {
  if (!r->has_dst) {
    return r->standard;
  }
  int64_t year = calendar_civil(floor_div(utc + r->standard, DAY)).year;
  if (year > LAST_RULE_YEAR) {
    year = LAST_RULE_YEAR;
    utc = calendar_days((civil){year + 1, 1, 1}) * DAY - 1 - r->standard;
  }
  const int64_t start = rule_seconds(&r->start, year) - r->standard;
  const int64_t end = rule_seconds(&r->end, year) - r->daylight;
  const bool daylight = start < end ? utc >= start && utc < end : utc >= start || utc < end;
  return daylight ? r->daylight : r->standard;
}

/* ---- using a zone ---- */

static glv_status parse_file(zone *z, cursor c, bool *ok, glv_error *err) {
  size_t counts[COUNTS];
  int version = 0;
  const uint8_t *skipped;
  *ok = take_header(&c, counts, &version) && version >= 2 &&
        take(&c, body_size(counts, 4), &skipped) && take_header(&c, counts, &version);
  if (!*ok) {
    return GLV_OK;
  }
  TRY(read_transitions(z, &c, counts, ok, err));
  if (*ok && c.size > 2 && c.data[0] == '\n' && c.data[c.size - 1] == '\n') {
    const str text = str_slice((const char *)c.data + 1, c.size - 2);
    *ok = text.size == 0 || parse_rule(text, &z->rule);
  }
  return GLV_OK;
}

static glv_status load(zone *z, str name, glv_error *err) {
  char path[sizeof ZONE_FOLDER + MAX_NAME];
  size_t size = 0;
  bool ok = is_zone_name(name);
  uint8_t *data = mem_alloc(z->env, MAX_FILE);
  if (data == NULL) {
    return error_nomem(err, MAX_FILE);
  }
  glv_status status = GLV_OK;
  if (ok) {
    memcpy(path, ZONE_FOLDER, sizeof ZONE_FOLDER - 1);
    memcpy(path + sizeof ZONE_FOLDER - 1, name.data, name.size);
    path[sizeof ZONE_FOLDER - 1 + name.size] = 0;
    ok = read_file(path, data, &size) == GLV_OK;
  }
  if (ok) {
    status = parse_file(z, (cursor){data, size}, &ok, err);
  }
  mem_free(z->env, data);
  TRY(status);
  return ok ? GLV_OK : FAIL(err, GLV_E_SQL_EXEC, "Invalid timezone \"%.*s\"", STR_ARG(name));
}

glv_status zone_new(glv_env *env, str name, zone **ret, glv_error *err) {
  CLEANUP(zone_cleanup) zone *z = mem_zalloc(env, sizeof *z);
  if (z == NULL) {
    return error_nomem(err, sizeof *z);
  }
  z->env = env;
  if (!parse_fixed(name, &z->first_offset) && !str_is(name, "UTC")) {
    TRY(load(z, name, err));
  }
  *ret = z;
  z = NULL;
  return GLV_OK;
}

/* Number of transitions at or before an instant. */
static size_t transitions_until(const zone *z, int64_t utc) {
  size_t low = 0;
  size_t high = z->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (z->instants[middle] <= utc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

int32_t zone_offset(const zone *z, int64_t utc_seconds) {
  const size_t n = transitions_until(z, utc_seconds);
  if (n == z->count && z->rule.is_set) {
    return rule_offset(&z->rule, utc_seconds);
  }
  return n == 0 ? z->first_offset : z->offsets[n - 1];
}

/* Offsets stay within a day, so only the offsets in force one day before and after can be meant. */
bool zone_to_utc(const zone *z, int64_t local_seconds, int64_t *ret_utc_seconds) {
  const int64_t early = local_seconds - zone_offset(z, local_seconds - DAY);
  const int64_t late = local_seconds - zone_offset(z, local_seconds + DAY);
  const bool early_fits = early + zone_offset(z, early) == local_seconds;
  const bool late_fits = late + zone_offset(z, late) == local_seconds;
  *ret_utc_seconds = early_fits ? early : late;
  return early_fits ? !late_fits || early == late : late_fits;
}
