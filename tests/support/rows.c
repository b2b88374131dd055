/* Rows as text: see rows.h. */
#include "support/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/builder.h"
#include "arrow/cdata.h"
#include "base/number.h"
#include "support/cmocka.h"

enum { MAX_COLUMNS = 32 };

static const struct {
  const char *name;
  type_kind kind;
} kinds[] = {
    {"bool", TYPE_BOOL},
    {"int8", TYPE_INT8},
    {"int16", TYPE_INT16},
    {"int32", TYPE_INT32},
    {"int64", TYPE_INT64},
    {"uint8", TYPE_UINT8},
    {"uint16", TYPE_UINT16},
    {"uint32", TYPE_UINT32},
    {"uint64", TYPE_UINT64},
    {"float32", TYPE_FLOAT32},
    {"float64", TYPE_FLOAT64},
    {"utf8", TYPE_UTF8},
    {"large_utf8", TYPE_LARGE_UTF8},
    {"binary", TYPE_BINARY},
    {"date32", TYPE_DATE32},
    {"timestamp", TYPE_TIMESTAMP},
};

static str trim(str s) {
  while (s.size > 0 && s.data[0] == ' ') {
    s = str_slice(s.data + 1, s.size - 1);
  }
  while (s.size > 0 && s.data[s.size - 1] == ' ') {
    s.size--;
  }
  return s;
}

/* The part of *rest before the separator; *rest moves behind it. */
static str next_part(str *rest, char separator) {
  const char *end = rest->size > 0 ? memchr(rest->data, separator, rest->size) : NULL;
  const size_t size = end != NULL ? (size_t)(end - rest->data) : rest->size;
  const str part = str_slice(rest->data, size);
  *rest = end != NULL ? str_slice(end + 1, rest->size - size - 1) : str_slice(NULL, 0);
  return part;
}

static const type *type_named(arena *a, str name) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (str_is(name, kinds[i].name)) {
      return kinds[i].kind == TYPE_TIMESTAMP ? type_timestamp(a, UNIT_MICRO, NULL)
                                             : type_simple(kinds[i].kind);
    }
  }
  fail_msg("rows: no type '%.*s'", STR_ARG(name));
  return NULL;
}

static schema *parse_columns(glv_env *env, const char *columns) {
  arena a;
  arena_init(&a, env);
  field fields[MAX_COLUMNS] = {0};
  size_t count = 0;
  for (str rest = str_of(columns); rest.size > 0;) {
    str part = trim(next_part(&rest, '|'));
    const str name = next_part(&part, ' ');
    str kind = trim(part);
    const bool required = str_ends_with(kind, STR("!"));
    kind.size -= required;
    fields[count++] = (field){
        .name = arena_strdup(&a, name), .type = type_named(&a, kind), .nullable = !required};
  }
  schema *s = NULL;
  assert_int_equal(schema_new(env, fields, count, (metadata){NULL, 0}, &s, NULL), GLV_OK);
  arena_dispose(&a);
  return s;
}

static void append_value(builder *b, str text) {
  glv_error err = {0};
  glv_status status;
  char copy[64] = {0};
  memcpy(copy, text.data != NULL ? text.data : "", text.size < 63 ? text.size : 63);
  if (str_is(text, "null")) {
    status = builder_append_null(b, &err);
  } else if (type_offset_width(b->type->kind) > 0) {
    status = builder_append_str(b, text, &err);
  } else if (b->type->kind == TYPE_BOOL) {
    status = builder_append_bool(b, str_is(text, "true"), &err);
  } else if (b->type->kind == TYPE_FLOAT64) {
    const double value = strtod(copy, NULL);
    status = builder_append_fixed(b, &value, &err);
  } else if (b->type->kind == TYPE_FLOAT32) {
    const float value = strtof(copy, NULL);
    status = builder_append_fixed(b, &value, &err);
  } else {
    const uint64_t value =
        copy[0] == '-' ? (uint64_t)strtoll(copy, NULL, 10) : strtoull(copy, NULL, 10);
    status = builder_append_fixed(b, &value, &err); /* little-endian: the low bytes */
  }
  if (status != GLV_OK) {
    fail_msg("rows: %s", err.message);
  }
}

void rows_stream(glv_env *env, const char *columns, const char *rows,
                 struct ArrowArrayStream *ret) {
  schema *s = parse_columns(env, columns);
  builder builders[MAX_COLUMNS];
  for (size_t i = 0; i < s->field_count; i++) {
    builder_init(&builders[i], env, s->fields[i].type);
  }
  size_t count = 0;
  for (str rest = str_of(rows); rest.size > 0; count++) {
    str line = next_part(&rest, '\n');
    for (size_t i = 0; i < s->field_count; i++) {
      append_value(&builders[i], trim(next_part(&line, '|')));
    }
  }
  batch b = {0};
  batch_reader reader;
  assert_int_equal(batch_new(env, s, count, s->field_count, &b, NULL), GLV_OK);
  for (size_t i = 0; i < s->field_count; i++) {
    assert_int_equal(builder_finish(&builders[i], &b.columns[i], NULL), GLV_OK);
    builder_dispose(&builders[i]);
  }
  assert_int_equal(batch_reader_of(env, s, &b, count > 0 ? 1 : 0, &reader, NULL), GLV_OK);
  batch_dispose(&b);
  schema_unref(s);
  assert_int_equal(cdata_export_stream(env, &reader, ret, NULL), GLV_OK);
}

void rows_people(glv_env *env, int64_t first, int64_t count, struct ArrowArrayStream *ret) {
  schema *s = parse_columns(env, "id int64 | age int32 | name utf8");
  builder columns[3];
  for (size_t i = 0; i < 3; i++) {
    builder_init(&columns[i], env, s->fields[i].type);
  }
  for (int64_t id = first; id < first + count; id++) {
    const int32_t age = (int32_t)(id % 100);
    char name[32];
    snprintf(name, sizeof name, "name_%" PRId64, id % 1000);
    assert_int_equal(builder_append_fixed(&columns[0], &id, NULL), GLV_OK);
    assert_int_equal(builder_append_fixed(&columns[1], &age, NULL), GLV_OK);
    assert_int_equal(builder_append_str(&columns[2], str_of(name), NULL), GLV_OK);
  }
  batch b = {0};
  batch_reader reader;
  assert_int_equal(batch_new(env, s, (size_t)count, 3, &b, NULL), GLV_OK);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(builder_finish(&columns[i], &b.columns[i], NULL), GLV_OK);
    builder_dispose(&columns[i]);
  }
  assert_int_equal(batch_reader_of(env, s, &b, count > 0 ? 1 : 0, &reader, NULL), GLV_OK);
  batch_dispose(&b);
  schema_unref(s);
  assert_int_equal(cdata_export_stream(env, &reader, ret, NULL), GLV_OK);
}

/* ---- out ---- */

static void print_value(buf *out, const array *a, size_t i) {
  char text[NUMBER_TEXT_SIZE];
  if (!array_is_valid(a, i)) {
    assert_int_equal(buf_append_str(out, STR("null"), NULL), GLV_OK);
    return;
  }
  glv_status status = GLV_OK;
  switch (a->type->kind) {
  case TYPE_BOOL:
    status = buf_printf(out, NULL, "%s", array_bool(a, i) ? "true" : "false");
    break;
  case TYPE_INT8:
    status = buf_printf(out, NULL, "%d", ARRAY_VALUES(a, int8_t)[i]);
    break;
  case TYPE_INT16:
    status = buf_printf(out, NULL, "%d", ARRAY_VALUES(a, int16_t)[i]);
    break;
  case TYPE_INT32:
  case TYPE_DATE32:
    status = buf_printf(out, NULL, "%d", ARRAY_VALUES(a, int32_t)[i]);
    break;
  case TYPE_INT64:
  case TYPE_TIMESTAMP:
    status = buf_printf(out, NULL, "%" PRId64, ARRAY_VALUES(a, int64_t)[i]);
    break;
  case TYPE_UINT8:
    status = buf_printf(out, NULL, "%u", ARRAY_VALUES(a, uint8_t)[i]);
    break;
  case TYPE_UINT16:
    status = buf_printf(out, NULL, "%u", ARRAY_VALUES(a, uint16_t)[i]);
    break;
  case TYPE_UINT32:
    status = buf_printf(out, NULL, "%u", ARRAY_VALUES(a, uint32_t)[i]);
    break;
  case TYPE_UINT64:
    status = buf_printf(out, NULL, "%" PRIu64, ARRAY_VALUES(a, uint64_t)[i]);
    break;
  case TYPE_FLOAT32:
    status = buf_append(out, text, number_print32(ARRAY_VALUES(a, float)[i], text), NULL);
    break;
  case TYPE_FLOAT64:
    status = buf_append(out, text, number_print64(ARRAY_VALUES(a, double)[i], text), NULL);
    break;
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
  case TYPE_BINARY:
  case TYPE_LARGE_BINARY:
    status = buf_append_str(out, array_str(a, i), NULL);
    break;
  default:
    fail_msg("rows: type %s is not printed", TYPE_TEXT(a->type));
  }
  assert_int_equal(status, GLV_OK);
}

char *rows_text(glv_env *env, struct ArrowArrayStream *stream) {
  buf out;
  buf_init(&out, env, SIZE_MAX / 2);
  assert_int_equal(buf_append_str(&out, STR(""), NULL), GLV_OK);
  batch_reader reader;
  glv_error err = {0};
  if (cdata_import_stream(env, stream, &reader, &err) != GLV_OK) {
    fail_msg("rows: %s", err.message);
  }
  for (bool end = false; !end;) {
    batch b = {0};
    if (reader.next(reader.state, &b, &end, &err) != GLV_OK) {
      fail_msg("rows: %s", err.message);
    }
    for (size_t i = 0; i < b.length && !end; i++) {
      assert_int_equal(out.size > 0 ? buf_append_char(&out, '\n', NULL) : GLV_OK, GLV_OK);
      for (size_t c = 0; c < b.column_count; c++) {
        assert_int_equal(c > 0 ? buf_append_str(&out, STR(" | "), NULL) : GLV_OK, GLV_OK);
        print_value(&out, &b.columns[c], i);
      }
    }
    batch_dispose(&b);
  }
  batch_reader_dispose(&reader);
  return buf_detach(&out);
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

void rows_sort(char *text) {
  size_t count = 1;
  for (const char *c = text; *c != '\0'; c++) {
    count += *c == '\n';
  }
  char *copy = strdup(text);
  char **lines = calloc(count, sizeof *lines);
  size_t used = 0;
  for (char *line = copy; line != NULL;) {
    char *end = strchr(line, '\n');
    if (end != NULL) {
      *end = '\0';
    }
    lines[used++] = line;
    line = end != NULL ? end + 1 : NULL;
  }
  qsort(lines, used, sizeof *lines, by_text);
  char *out = text;
  for (size_t i = 0; i < used; i++) {
    const size_t size = strlen(lines[i]);
    memcpy(out, lines[i], size);
    out += size;
    *out++ = i + 1 < used ? '\n' : '\0';
  }
  free(lines);
  free(copy);
}
