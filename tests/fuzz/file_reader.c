/*
 * Fuzz target: any bytes as a data file. Opens it, looks at everything the metadata offers, and
 * reads every field of a supported type: whole windows, single rows, and scattered rows. What a
 * selection gives must equal the same rows of the window.
 */
#include "format/file_reader.h"

#include <stdlib.h>
#include <string.h>

#include "arrow/array.h"
#include "io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_COLUMNS = 64, MAX_WINDOWS = 4, WINDOW = 3000, SELECTED = 40 };
#define MEMORY_LIMIT ((uint64_t)64 << 20)

/* ---- the input as the only file of a store ---- */

typedef struct input {
  const uint8_t *data;
  size_t size;
} input;

static glv_status open_read(void *user, void *dir, const char *name, void **ret, glv_error *err) {
  (void)dir;
  (void)name;
  (void)err;
  *ret = user;
  return GLV_OK;
}

static glv_status file_size(void *user, void *file, uint64_t *ret, glv_error *err) {
  (void)file;
  (void)err;
  *ret = ((const input *)user)->size;
  return GLV_OK;
}

static glv_status read_at(void *user, void *file, uint64_t offset, void *to, size_t size,
                          glv_error *err) {
  (void)file;
  const input *in = user;
  if (!range_within(offset, size, in->size)) {
    abort(); /* the reader checks every range before it reads */
  }
  (void)err;
  memcpy(to, in->data + offset, size);
  return GLV_OK;
}

static glv_status close_file(void *user, void *file, glv_error *err) {
  (void)user;
  (void)file;
  (void)err;
  return GLV_OK;
}

/* ---- reading ---- */

static void check_selection(glv_env *env, file_reader *r, const field_place *place, uint64_t first,
                            const array *all) {
  uint32_t rows[SELECTED];
  size_t count = 0;
  for (size_t row = all->length / 3; row < all->length && count < SELECTED;
       row += 1 + (row * 7 + count) % 97) {
    rows[count++] = (uint32_t)row;
  }
  array some = {0};
  array expected = {0};
  glv_error err;
  if (file_reader_read_field(r, place, first, all->length, rows, count, &some, &err) == GLV_OK &&
      array_take(env, all, rows, count, &expected, &err) == GLV_OK &&
      !array_equal(&some, &expected)) {
    abort();
  }
  array_unref(&some);
  array_unref(&expected);
}

static void read_column(glv_env *env, file_reader *r, const field_place *place) {
  glv_error err;
  const uint64_t rows = file_reader_rows(r);
  for (uint64_t first = 0, n = 0; first < rows && n < MAX_WINDOWS; first += WINDOW, n++) {
    array a = {0};
    const uint64_t count = u64_min(WINDOW, rows - first);
    if (file_reader_read_field(r, place, first, count, NULL, 0, &a, &err) != GLV_OK) {
      continue;
    }
    if (array_validate(&a, a.owners[2] != NULL ? a.owners[2]->size : 0, "x", &err) != GLV_OK) {
      abort();
    }
    check_selection(env, r, place, first, &a);
    array_unref(&a);
  }
}

static void read_file(glv_env *env, file_reader *r) {
  const lance_schema *s;
  glv_error err;
  if (file_reader_schema(r, &s, &err) != GLV_OK) {
    return;
  }
  arena a;
  arena_init(&a, env);
  for (size_t i = 0; i < s->field_count && i < MAX_COLUMNS; i++) {
    field_place place;
    if (s->fields[i].is_supported &&
        file_reader_place(r, s, &s->fields[i], &a, &place, &err) == GLV_OK) {
      read_column(env, r, &place);
    }
  }
  arena_dispose(&a);
}

static void use(const uint8_t *data, size_t size) {
  input in = {data, size};
  glv_io io = *io_local();
  io.user = &in;
  io.open_read = open_read;
  io.size = file_size;
  io.read_at = read_at;
  io.close = close_file;
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.io = &io;
  options.memory_limit_bytes = MEMORY_LIMIT;
  glv_env *env;
  file_reader *r;
  glv_error err;
  if (env_new(&options, &env, &err) != GLV_OK) {
    return;
  }
  if (file_reader_open(env, NULL, "input", &r, &err) == GLV_OK) {
    read_file(env, r);
    buffer *b = NULL;
    if (file_reader_global(r, 1, 4096, &b, &err) == GLV_OK) {
      buffer_unref(b);
    }
    file_reader_unref(r);
  }
  env_unref(env);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  use(data, size);
  return 0;
}
