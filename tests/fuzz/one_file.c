#include "one_file.h"

#include <stdlib.h>
#include <string.h>

#include "arrow/array.h"
#include "io/io.h"

enum { MAX_COLUMNS = 64, MAX_WINDOWS = 4, WINDOW = 3000, SELECTED = 40 };
#define MEMORY_LIMIT ((uint64_t)64 << 20)

void require(bool ok) {
  if (!ok) {
    abort();
  }
}

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
  require(range_within(offset, size, in->size)); /* the reader checks every range */
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

/* A read with the check that its rows are given to. */
typedef struct reading {
  glv_env *env;
  file_reader *reader;
  one_file_check check;
  void *context;
  bool is_whole; /* no read failed so far */
} reading;

static void check_selection(reading *g, const field_place *place, uint64_t first,
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
  if (file_reader_read_field(g->reader, place, first, all->length, rows, count, &some, &err) !=
      GLV_OK) {
    g->is_whole = false;
  } else if (array_take(g->env, all, rows, count, &expected, &err) == GLV_OK) {
    require(array_equal(&some, &expected));
  }
  array_unref(&some);
  array_unref(&expected);
}

static void read_column(reading *g, const field_place *place) {
  glv_error err;
  const uint64_t rows = file_reader_rows(g->reader);
  for (uint64_t first = 0, n = 0; first < rows && n < MAX_WINDOWS; first += WINDOW, n++) {
    array a = {0};
    const uint64_t count = u64_min(WINDOW, rows - first);
    if (file_reader_read_field(g->reader, place, first, count, NULL, 0, &a, &err) != GLV_OK) {
      g->is_whole = false;
      continue;
    }
    require(array_validate(&a, a.owners[2] != NULL ? a.owners[2]->size : 0, "x", &err) == GLV_OK);
    check_selection(g, place, first, &a);
    if (g->check != NULL) {
      g->check(g->context, place, first, &a);
    }
    array_unref(&a);
  }
}

static void read_file(reading *g) {
  const lance_schema *s;
  glv_error err;
  if (file_reader_schema(g->reader, &s, &err) != GLV_OK) {
    g->is_whole = false;
    return;
  }
  arena a;
  arena_init(&a, g->env);
  for (size_t i = 0; i < s->field_count && i < MAX_COLUMNS; i++) {
    field_place place;
    if (s->fields[i].is_supported &&
        file_reader_place(g->reader, s, &s->fields[i], &a, &place, &err) == GLV_OK) {
      read_column(g, &place);
    } else {
      g->is_whole = false;
    }
  }
  arena_dispose(&a);
}

bool one_file_read(const uint8_t *data, size_t size, one_file_check check, void *context) {
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
  reading g = {.check = check, .context = context};
  glv_error err;
  if (env_new(&options, &g.env, &err) != GLV_OK) {
    return false;
  }
  if (file_reader_open(g.env, NULL, "input", &g.reader, &err) == GLV_OK) {
    g.is_whole = true;
    read_file(&g);
    buffer *b = NULL;
    if (file_reader_global(g.reader, 1, 4096, &b, &err) == GLV_OK) {
      buffer_unref(b);
    }
    file_reader_unref(g.reader);
  }
  env_unref(g.env);
  return g.is_whole;
}
