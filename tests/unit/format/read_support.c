#include "read_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum { ROOM = 1 << 20 };

/* ---- bytes ---- */

static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses up to the end or a closing brace; *text is left there. */
static size_t hex_part(const char **text, uint8_t *ret, size_t room) {
  size_t digits = 0;
  for (; **text != '\0' && **text != '}'; ++*text) {
    const int d = digit(**text);
    if (**text == '{') {
      ++*text;
      uint8_t inner[512];
      const size_t size = hex_part(text, inner, sizeof inner);
      assert_true(**text == '}' && digits % 2 == 0);
      if (size > 127) {
        ret[digits / 2] = (uint8_t)(size | 128);
        digits += 2;
      }
      assert_true(digits / 2 + size < room);
      ret[digits / 2] = (uint8_t)(size > 127 ? size >> 7 : size);
      memcpy(ret + digits / 2 + 1, inner, size);
      digits += 2 * (size + 1);
    } else if (d >= 0) {
      assert_true(digits / 2 < room);
      ret[digits / 2] = (uint8_t)(digits % 2 == 0 ? d << 4 : ret[digits / 2] | d);
      digits++;
    }
  }
  assert_int_equal(digits % 2, 0);
  return digits / 2;
}

size_t hex_bytes(const char *text, uint8_t *ret, size_t room) {
  const size_t size = hex_part(&text, ret, room);
  assert_int_equal(*text, '\0');
  return size;
}

uint32_t crc32_of(const void *data, size_t size) {
  const uint8_t *p = data;
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size; i++) {
    crc ^= p[i];
    for (int bit = 0; bit < 8; bit++) {
      crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
    }
  }
  return ~crc;
}

typedef struct bytes {
  uint8_t *data;
  size_t size;
} bytes;

static void put(bytes *b, const void *data, size_t size) {
  assert_true(b->size + size <= ROOM);
  memcpy(b->data + b->size, data, size);
  b->size += size;
}

static void put_u64(bytes *b, uint64_t v) { put(b, &v, sizeof v); }

static void align(bytes *b, size_t step, size_t shift) {
  while (b->size % step != shift) {
    put(b, "H", 1);
  }
}

static void put_varint(bytes *b, uint64_t v) {
  do {
    const uint8_t byte = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
    put(b, &byte, 1);
    v >>= 7;
  } while (v != 0);
}

static void put_number(bytes *b, unsigned tag, uint64_t v) {
  put_varint(b, tag << 3);
  put_varint(b, v);
}

static void put_bytes(bytes *b, unsigned tag, const void *data, size_t size) {
  put_varint(b, tag << 3 | 2);
  put_varint(b, size);
  put(b, data, size);
}

static bytes new_bytes(void) { return (bytes){malloc(ROOM), 0}; }

/* Wrap what is in b as field `tag`. */
static void wrap(bytes *b, unsigned tag) {
  uint8_t *copy = malloc(b->size + 1);
  const size_t size = b->size;
  memcpy(copy, b->data, size);
  b->size = 0;
  put_bytes(b, tag, copy, size);
  free(copy);
}

/* An Encoding message that holds an Any directly. */
static bytes direct(const char *url, const void *value, size_t size) {
  bytes b = new_bytes();
  put_bytes(&b, 1, url, strlen(url));
  put_bytes(&b, 2, value, size);
  wrap(&b, 1);
  wrap(&b, 2);
  return b;
}

/* ---- files ---- */

static void put_page(bytes *file, bytes *column, const made_page *p, const made_file *f) {
  uint8_t *scratch = malloc(ROOM);
  bytes page = new_bytes();
  for (size_t i = 0; i < 4 && p->buffers[i] != NULL; i++) {
    align(file, 64, f->shift);
    const size_t size = hex_bytes(p->buffers[i], scratch, ROOM);
    put_number(&page, 1, file->size);
    put_number(&page, 2, size);
    put(file, scratch, size);
  }
  put_number(&page, 3, p->rows);
  const bool is_old = f->major == 0 || f->minor == 0;
  const char *url = is_old ? "/lance.encodings.ArrayEncoding" : "/lance.encodings21.PageLayout";
  bytes encoding = direct(url, scratch, hex_bytes(p->layout, scratch, ROOM));
  put_bytes(&page, 4, encoding.data, encoding.size);
  put_bytes(column, 2, page.data, page.size);
  free(encoding.data);
  free(page.data);
  free(scratch);
}

static bytes schema_of(const made_file *f) {
  bytes b = new_bytes();
  put_bytes(&b, 2, "c", 1);
  put_number(&b, 4, UINT64_MAX);
  put_bytes(&b, 5, f->logical_type, strlen(f->logical_type));
  put_number(&b, 6, 1);
  wrap(&b, 1);
  wrap(&b, 1);
  put_number(&b, 2, f->rows);
  return b;
}

static void put_column_encoding(bytes *column, const made_file *f) {
  if (f->column_encoding != NULL) {
    uint8_t scratch[256];
    put(column, scratch, hex_bytes(f->column_encoding, scratch, sizeof scratch));
    return;
  }
  bytes e = direct("/lance.encodings.ColumnEncoding", "\x0a", 2);
  put_bytes(column, 1, e.data, e.size);
  free(e.data);
}

static void put_tail(bytes *file, const bytes *column, const bytes *schema, const made_file *f) {
  align(file, 64, 0);
  const uint64_t schema_at = file->size;
  put(file, schema->data, schema->size);
  const uint64_t column_at = file->size;
  put(file, column->data, column->size);
  const uint64_t columns = file->size;
  put_u64(file, column_at);
  put_u64(file, column->size);
  const uint64_t globals = file->size;
  put_u64(file, schema_at);
  put_u64(file, schema->size);
  put_u64(file, column_at);
  put_u64(file, columns);
  put_u64(file, globals);
  put_u64(file, 1 | (uint64_t)1 << 32);
  const uint16_t version[2] = {(uint16_t)f->major, (uint16_t)f->minor};
  put(file, version, sizeof version);
  put(file, "LANC", 4);
}

const char *bytes_write(test_env *t, const void *data, size_t size) {
  static unsigned number;
  char name[32];
  snprintf(name, sizeof name, "f%u.lance", number++);
  const char *path = test_env_path(t, name);
  glv_error err = {0};
  if (io_write_file(t->env, NULL, path, data, size, false, &err) != GLV_OK) {
    fail_msg("%s", err.message);
  }
  return path;
}

const char *made_file_write(test_env *t, const made_file *f) {
  bytes file = new_bytes();
  bytes column = new_bytes();
  bytes schema = schema_of(f);
  put_column_encoding(&column, f);
  for (size_t i = 0; i < f->page_count; i++) {
    put_page(&file, &column, &f->pages[i], f);
  }
  put_tail(&file, &column, &schema, f);
  const char *path = bytes_write(t, file.data, file.size);
  free(file.data);
  free(column.data);
  free(schema.data);
  return path;
}

static glv_status read_path(test_env *t, const char *path, file_reader **ret_reader, array *ret,
                            glv_error *err) {
  const lance_schema *s;
  *ret_reader = NULL;
  TRY(file_reader_open(t->env, NULL, path, ret_reader, err));
  TRY(file_reader_schema(*ret_reader, &s, err));
  if (s->field_count == 0 || !s->fields[0].is_supported) {
    return FAIL(err, GLV_E_UNSUPPORTED, "no supported column");
  }
  return file_reader_read(*ret_reader, 0, &s->fields[0].arrow, 0, file_reader_rows(*ret_reader),
                          NULL, 0, ret, err);
}

void made_file_read(test_env *t, const made_file *f, file_reader **ret_reader, array *ret) {
  glv_error err = {0};
  if (read_path(t, made_file_write(t, f), ret_reader, ret, &err) != GLV_OK) {
    fail_msg("%s", err.message);
  }
}

static glv_status try_path(test_env *t, const char *path, glv_error *err) {
  file_reader *r;
  array a = {0};
  const glv_status status = read_path(t, path, &r, &a, err);
  array_unref(&a);
  file_reader_unref(r);
  return status;
}

void made_file_fails(test_env *t, const made_file *f, glv_status code, const char *text) {
  glv_error err = {0};
  const glv_status status = try_path(t, made_file_write(t, f), &err);
  if (status != code || strstr(err.message, text) == NULL) {
    fail_msg("status %d '%s' instead of %d '%s'", (int)status, err.message, (int)code, text);
  }
}

glv_status bytes_read(test_env *t, const void *data, size_t size, glv_error *err) {
  const char *path = bytes_write(t, data, size);
  const glv_status status = try_path(t, path, err);
  assert_int_equal(io_remove(t->env, NULL, path, NULL), GLV_OK);
  return status;
}

/* ---- values ---- */

void assert_int32(const array *a, const int32_t *values, const char *valid) {
  assert_int_equal(a->length, strlen(valid));
  for (size_t i = 0; i < a->length; i++) {
    assert_int_equal(array_is_valid(a, i), valid[i] == '1');
    if (valid[i] == '1') {
      assert_int_equal(ARRAY_VALUES(a, int32_t)[i], values[i]);
    }
  }
}

void assert_text(const array *a, const char *const *values) {
  for (size_t i = 0; i < a->length; i++) {
    assert_int_equal(array_is_valid(a, i), values[i] != NULL);
    if (values[i] != NULL) {
      const str s = array_str(a, i);
      assert_int_equal(s.size, strlen(values[i]));
      assert_memory_equal(s.data, values[i], s.size);
    }
  }
}
