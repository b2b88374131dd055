/*
 * Fuzz target: the pages of one column. The first bytes choose how they are made, the version of
 * the format, the number of rows and the type of the column (page_type.h); see page_file.h for the
 * rest. Three ways:
 *
 * - the input has messages and buffers of all pages; the container around them is sound;
 * - the input says how values are chosen, our own writer stores them, and all of them must come
 *   back equal;
 * - the same, but bytes of the pages are changed then.
 */
#include "io/io.h"
#include "one_file.h"
#include "page_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum way { OF_PARTS, OF_VALUES, DAMAGED, WAYS };
enum { MOST_ROWS = 5000, MOST_VALUES = 6000, MOST_FILE = 1 << 24 };

/* Leaf values of one row, but for lists. */
static size_t row_values(const type *t) {
  size_t below = t->child_count == 0 ? 1 : 0;
  for (size_t i = 0; i < t->child_count; i++) {
    below += row_values(t->children[i].type);
  }
  return t->kind == TYPE_FIXED_SIZE_LIST ? below * (size_t)t->width : size_max(below, 1);
}

/* What was written: reads must give it back. */
static void compare(void *context, const field_place *place, uint64_t first, const array *rows) {
  (void)place;
  const array *written = context;
  array expected = array_slice(written, (size_t)first, rows->length);
  require(array_equal(rows, &expected));
  array_unref(&expected);
}

static void use_values(glv_env *env, const lance_schema *schema, format_version version,
                       size_t rows, bool is_damaged, stream *s, buf *file) {
  const field *f = &schema->fields[0].arrow;
  const uint64_t page_bytes = (uint64_t)4096 << take_byte(s) % 8;
  array values = take_values(env, f, size_min(rows, 1 + MOST_VALUES / row_values(f->type)), s);
  if (page_file_of_values(schema, version, &values, page_bytes, file)) {
    if (is_damaged) {
      page_file_damage(file, s);
      one_file_read((const uint8_t *)file->data, file->size, NULL, NULL);
    } else {
      require(one_file_read((const uint8_t *)file->data, file->size, compare, &values));
    }
  }
  array_unref(&values);
}

static void use(glv_env *env, stream *s) {
  static const format_version versions[] = {FORMAT_2_2, FORMAT_2_1, FORMAT_2_0};
  CLEANUP(arena_dispose) arena a;
  arena_init(&a, env);
  const enum way way = take_byte(s) % WAYS;
  const format_version version = versions[take_byte(s) % 3];
  const size_t rows = take_u16(s) % MOST_ROWS;
  const field f = take_field(&a, s, "c");
  lance_schema *schema;
  int32_t next_id = 0;
  glv_error err;
  if (lance_schema_from_arrow(&a, &f, 1, (metadata){0}, &next_id, &schema, &err) != GLV_OK) {
    return;
  }
  CLEANUP(buf_dispose) buf file;
  buf_init(&file, env, MOST_FILE);
  if (way == OF_PARTS) {
    page_file_of_parts(env, schema, version, rows, s, &file);
    one_file_read((const uint8_t *)file.data, file.size, NULL, NULL);
  } else {
    use_values(env, schema, version, rows, way == DAMAGED, s, &file);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.io = io_local();
  glv_env *env;
  glv_error err;
  require(env_new(&options, &env, &err) == GLV_OK);
  stream s = {data, size};
  use(env, &s);
  env_unref(env);
  return 0;
}
