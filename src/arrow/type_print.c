/*
 * The names of types as Arrow C++ displays them. One writer serves two targets: a growing buf, or a
 * fixed text for error messages, which is cut.
 */
#include <stdarg.h>
#include <stdio.h>

#include "arrow/type.h"
#include "base/limits.h"

typedef struct writer {
  buf *out; /* or NULL: text */
  char *text;
  size_t room;
  size_t used;
  glv_error *err;
  glv_status status; /* the first failure; nothing is written after it */
} writer;

static void put_str(writer *w, str s) {
  if (w->text == NULL) {
    if (w->status == GLV_OK) {
      w->status = buf_append_str(w->out, s, w->err);
    }
    return;
  }
  const size_t left = w->room - 1 - w->used;
  const size_t size = s.size < left ? s.size : left;
  if (size != 0) {
    memcpy(w->text + w->used, s.data, size);
  }
  w->used += size;
  w->text[w->used] = '\0';
}

static void put(writer *w, const char *s) { put_str(w, str_of(s)); }

__attribute__((format(printf, 2, 3))) static void put_format(writer *w, const char *format, ...) {
  char text[64];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  put_str(w, str_slice(text, length > 0 ? (size_t)length : 0));
}

static const char *unit_text(time_unit unit) {
  switch (unit) {
  case UNIT_SECOND:
    return "s";
  case UNIT_MILLI:
    return "ms";
  case UNIT_MICRO:
    return "us";
  case UNIT_NANO:
    return "ns";
  }
  return "?";
}

static const char *simple_text(type_kind kind) {
  static const char *const names[] = {
      [TYPE_NONE] = "none",
      [TYPE_NULL] = "null",
      [TYPE_BOOL] = "bool",
      [TYPE_INT8] = "int8",
      [TYPE_INT16] = "int16",
      [TYPE_INT32] = "int32",
      [TYPE_INT64] = "int64",
      [TYPE_UINT8] = "uint8",
      [TYPE_UINT16] = "uint16",
      [TYPE_UINT32] = "uint32",
      [TYPE_UINT64] = "uint64",
      [TYPE_FLOAT16] = "halffloat",
      [TYPE_FLOAT32] = "float",
      [TYPE_FLOAT64] = "double",
      [TYPE_DECIMAL128] = "decimal128",
      [TYPE_DECIMAL256] = "decimal256",
      [TYPE_DATE32] = "date32[day]",
      [TYPE_DATE64] = "date64[ms]",
      [TYPE_TIME32] = "time32",
      [TYPE_TIME64] = "time64",
      [TYPE_TIMESTAMP] = "timestamp",
      [TYPE_DURATION] = "duration",
      [TYPE_INTERVAL_MONTH_DAY_NANO] = "month_day_nano_interval",
      [TYPE_UTF8] = "string",
      [TYPE_LARGE_UTF8] = "large_string",
      [TYPE_UTF8_VIEW] = "string_view",
      [TYPE_BINARY] = "binary",
      [TYPE_LARGE_BINARY] = "large_binary",
      [TYPE_BINARY_VIEW] = "binary_view",
      [TYPE_FIXED_SIZE_BINARY] = "fixed_size_binary",
      [TYPE_DICTIONARY] = "dictionary",
      [TYPE_LIST] = "list",
      [TYPE_LARGE_LIST] = "large_list",
      [TYPE_FIXED_SIZE_LIST] = "fixed_size_list",
      [TYPE_STRUCT] = "struct",
      [TYPE_MAP] = "map",
  };
  return names[kind];
}

static void print_type(writer *w, const type *t, unsigned depth);

static void print_fields(writer *w, const type *t, unsigned depth) {
  for (size_t i = 0; i < t->child_count; i++) {
    const field *f = &t->children[i];
    put(w, i != 0 ? ", " : "");
    put(w, f->name);
    put(w, ": ");
    print_type(w, f->type, depth + 1);
    put(w, f->nullable ? "" : " not null");
  }
}

/* Key and value of a map: their names only where they are not the usual ones. */
static void print_map(writer *w, const type *t, unsigned depth) {
  static const char *const usual[] = {"key", "value"};
  const type *entries = t->children[0].type;
  for (size_t i = 0; i < 2 && i < entries->child_count; i++) {
    const field *f = &entries->children[i];
    put(w, i != 0 ? ", " : "");
    print_type(w, f->type, depth + 1);
    if (strcmp(f->name, usual[i]) != 0) {
      put(w, " ('");
      put(w, f->name);
      put(w, "')");
    }
  }
  put(w, t->flag ? ", keys_sorted" : "");
}

static void print_type(writer *w, const type *t, unsigned depth) {
  if (depth > LIMIT_TYPE_DEPTH) {
    put(w, "...");
    return;
  }
  put(w, simple_text(t->kind));
  switch (t->kind) {
  case TYPE_DECIMAL128:
  case TYPE_DECIMAL256:
    put_format(w, "(%d, %d)", t->precision, t->scale);
    break;
  case TYPE_TIMESTAMP:
    put_format(w, "[%s", unit_text(t->unit));
    if (t->timezone != NULL) {
      put(w, ", tz=");
      put(w, t->timezone);
    }
    put(w, "]");
    break;
  case TYPE_TIME32:
  case TYPE_TIME64:
  case TYPE_DURATION:
    put_format(w, "[%s]", unit_text(t->unit));
    break;
  case TYPE_FIXED_SIZE_BINARY:
    put_format(w, "[%d]", t->width);
    break;
  case TYPE_DICTIONARY:
    put(w, "<values=");
    print_type(w, t->children[0].type, depth + 1);
    put_format(w, ", indices=%s, ordered=%d>", simple_text(t->index), t->flag ? 1 : 0);
    break;
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_FIXED_SIZE_LIST:
  case TYPE_STRUCT:
    put(w, "<");
    print_fields(w, t, depth);
    put(w, ">");
    if (t->kind == TYPE_FIXED_SIZE_LIST) {
      put_format(w, "[%d]", t->width);
    }
    break;
  case TYPE_MAP:
    put(w, "<");
    print_map(w, t, depth);
    put(w, ">");
    break;
  default: /* the name is all */
    break;
  }
}

glv_status type_print(const type *t, buf *out, glv_error *err) {
  writer w = {.out = out, .err = err};
  print_type(&w, t, 1);
  return w.status;
}

/* Take away the bytes of a character that was cut. */
static size_t whole_characters(const char *text, size_t size) {
  size_t start = size;
  while (start > 0 && size - start < 3 && ((unsigned char)text[start - 1] & 0xC0) == 0x80) {
    start--;
  }
  if (start > 0 && !str_is_utf8(str_slice(text + start - 1, size - start + 1))) {
    return start - 1;
  }
  return size;
}

const char *type_text(const type *t, char *text, size_t size) {
  writer w = {.text = text, .room = size};
  text[0] = '\0';
  print_type(&w, t, 1);
  text[whole_characters(text, w.used)] = '\0';
  return text;
}
