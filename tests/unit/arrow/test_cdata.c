/* The C data interface: everything out and in again, foreign layouts, hostile producers. */
#include <errno.h>

#include "arrow/cdata.h"
#include "base/limits.h"
#include "support/cmocka.h"
#include "support/test_env.h"
#include "unit/arrow/arrays.h"

typedef struct fixture {
  test_env t;
  arena memory;
  schema *all; /* a column of every type */
} fixture;

static int setup(void **state) {
  static fixture f;
  test_env_open_mem(&f.t);
  arena_init(&f.memory, f.t.env);
  const pair pairs[] = {{STR("key"), STR("value")}, {STR(""), STR("")}};
  field *fields = ARENA_ARRAY(&f.memory, field, SAMPLE_TYPES);
  memcpy(fields, sample_fields(&f.memory), SAMPLE_TYPES * sizeof *fields);
  fields[4].metadata = (metadata){pairs, 2};
  fields[5].nullable = false;
  assert_int_equal(schema_new(f.t.env, fields, SAMPLE_TYPES, (metadata){pairs, 1}, &f.all, NULL),
                   GLV_OK);
  *state = &f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  schema_unref(f->all);
  arena_dispose(&f->memory);
  test_env_close(&f->t);
  return 0;
}

static void schema_both_ways(void **state) {
  fixture *f = *state;
  struct ArrowSchema out;
  schema *back;
  assert_int_equal(cdata_export_schema(f->t.env, f->all, &out, NULL), GLV_OK);
  assert_int_equal(cdata_import_schema(f->t.env, &out, &back, NULL), GLV_OK);
  out.release(&out);
  assert_null(out.release);
  assert_true(schema_equal(f->all, back));
  assert_true(str_is(metadata_get(back->metadata, STR("key"), NULL), "value"));
  assert_int_equal(back->fields[4].metadata.count, 2);
  assert_false(back->fields[5].nullable);
  schema_unref(back);
}

static void moved_child(void **state) {
  fixture *f = *state;
  struct ArrowSchema out;
  assert_int_equal(cdata_export_schema(f->t.env, f->all, &out, NULL), GLV_OK);
  struct ArrowSchema child = *out.children[28];
  out.children[28]->release = NULL;
  out.release(&out);
  assert_string_equal(child.format, "tsn:Europe/Paris");
  assert_string_equal(child.name, "f28");
  child.release(&child);
  rng r = rng_of(9);
  batch b = random_batch(f->t.env, f->all, 5, 2, &r);
  struct ArrowArray a;
  assert_int_equal(cdata_export_batch(f->t.env, &b, &a, NULL), GLV_OK);
  struct ArrowArray column = *a.children[4];
  const int32_t third = ARRAY_VALUES(&b.columns[4], int32_t)[3];
  a.children[4]->release = NULL;
  a.release(&a);
  batch_dispose(&b);
  assert_int_equal(((const int32_t *)column.buffers[1])[3], third);
  column.release(&column);
}

static void batch_both_ways(void **state) {
  fixture *f = *state;
  rng r = rng_of(10);
  for (int round = 0; round < 60; round++) {
    glv_status status;
    const size_t length = (size_t)rng_below(&r, 70);
    batch b = random_batch(f->t.env, f->all, length, (unsigned)rng_below(&r, 4), &r);
    const size_t first = (size_t)rng_below(&r, length + 1);
    batch part =
        batch_slice(f->t.env, &b, first, (size_t)rng_below(&r, length - first + 1), NULL, &status);
    assert_int_equal(status, GLV_OK);
    struct ArrowArray a;
    batch back;
    assert_int_equal(cdata_export_batch(f->t.env, &part, &a, NULL), GLV_OK);
    glv_error err = {0};
    status = cdata_import_batch(f->t.env, f->all, &a, &back, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, GLV_OK);
    assert_null(a.release);
    assert_true(batch_equal(&part, &back));
    batch_dispose(&b);
    batch_dispose(&part);
    batch_dispose(&back);
  }
}

/* Foreign arrays by hand. */

static void release_nothing(struct ArrowArray *a) { a->release = NULL; }
static void release_no_schema(struct ArrowSchema *s) { s->release = NULL; }

static int released;
static void release_counted(struct ArrowArray *a) {
  released++;
  a->release = NULL;
}

/* A batch with one column. */
typedef struct foreign {
  struct ArrowArray top;
  struct ArrowArray column;
  struct ArrowArray *columns[1];
  const void *buffers[6];
  const void *top_buffers[1];
} foreign;

static void foreign_init(foreign *x, int64_t length, int64_t buffers) {
  memset(x, 0, sizeof *x);
  x->column = (struct ArrowArray){
      .length = length, .n_buffers = buffers, .buffers = x->buffers, .release = release_nothing};
  x->columns[0] = &x->column;
  x->top = (struct ArrowArray){.length = length,
                               .n_buffers = 1,
                               .buffers = x->top_buffers,
                               .n_children = 1,
                               .children = x->columns,
                               .release = release_counted};
}

static glv_status import_as(fixture *f, const type *t, foreign *x, batch *ret, const char *part) {
  const field column = {.name = "col", .type = t, .nullable = true};
  glv_error err = {0};
  schema *s;
  assert_int_equal(schema_new(f->t.env, &column, 1, (metadata){0}, &s, NULL), GLV_OK);
  released = 0;
  const glv_status status = cdata_import_batch(f->t.env, s, &x->top, ret, &err);
  assert_null(x->top.release);
  schema_unref(s);
  if (status != GLV_OK) {
    assert_int_equal(released, 1);
    assert_non_null(strstr(err.message, part));
  }
  return status;
}

static void refuse(fixture *f, const type *t, foreign *x, const char *part) {
  batch b;
  assert_int_equal(import_as(f, t, x, &b, part), GLV_E_INVALID_INPUT);
}

static void offsets_of_parents(void **state) {
  fixture *f = *state;
  const int32_t values[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const uint8_t validity = 0xDF; /* 5 is null */
  foreign x;
  batch b;
  foreign_init(&x, 3, 2);
  x.column.length = 6;
  x.column.offset = 2;
  x.top.offset = 2; /* rows 4, 5, 6 of the buffer */
  x.column.null_count = -1;
  x.buffers[0] = &validity;
  x.buffers[1] = values;
  assert_int_equal(import_as(f, type_simple(TYPE_INT32), &x, &b, ""), GLV_OK);
  assert_int_equal(ARRAY_VALUES(&b.columns[0], int32_t)[0], 4);
  assert_int_equal(ARRAY_VALUES(&b.columns[0], int32_t)[2], 6);
  assert_int_equal(b.columns[0].null_count, 1);
  assert_false(array_is_valid(&b.columns[0], 1));
  assert_int_equal(released, 0);
  batch_dispose(&b);
  assert_int_equal(released, 1);
}

static void misaligned(void **state) {
  fixture *f = *state;
  uint8_t raw[64] __attribute__((aligned(64))) = {0};
  foreign x;
  batch b;
  const int64_t values[] = {11, -12, 13};
  memcpy(raw + 3, values, sizeof values);
  foreign_init(&x, 3, 2);
  x.buffers[1] = raw + 3;
  assert_int_equal(import_as(f, type_simple(TYPE_INT64), &x, &b, ""), GLV_OK);
  assert_int_equal(ARRAY_VALUES(&b.columns[0], int64_t)[1], -12);
  batch_dispose(&b);
  const int32_t offsets[] = {0, 1, 1, 3};
  memcpy(raw + 5, offsets, sizeof offsets);
  foreign_init(&x, 3, 3);
  x.buffers[1] = raw + 5;
  x.buffers[2] = "abc";
  assert_int_equal(import_as(f, type_simple(TYPE_UTF8), &x, &b, ""), GLV_OK);
  assert_true(str_is(array_str(&b.columns[0], 2), "bc"));
  batch_dispose(&b);
}

static void put_view(uint8_t *view, const char *text, uint32_t buffer, uint32_t offset) {
  const uint32_t size = (uint32_t)strlen(text);
  memset(view, 0, 16);
  store_le32(view, size);
  if (size <= 12) {
    memcpy(view + 4, text, size);
    return;
  }
  memcpy(view + 4, text, 4);
  store_le32(view + 8, buffer);
  store_le32(view + 12, offset);
}

static void views(void **state) {
  fixture *f = *state;
  static const char data[] = "..a text of more than twelve bytes";
  const int64_t sizes[] = {0, sizeof data - 1};
  const uint8_t validity = 0xB; /* 2 is null */
  uint8_t list[4 * 16];
  foreign x;
  batch b;
  put_view(list, "short", 0, 0);
  put_view(list + 16, data + 2, 1, 2);
  put_view(list + 32, "this one is null and points nowhere", 9, 9);
  put_view(list + 48, "exactly 12 b", 0, 0);
  foreign_init(&x, 4, 5);
  x.column.null_count = 1;
  x.buffers[0] = &validity;
  x.buffers[1] = list;
  x.buffers[2] = data;
  x.buffers[3] = data;
  x.buffers[4] = sizes;
  assert_int_equal(import_as(f, type_simple(TYPE_UTF8_VIEW), &x, &b, ""), GLV_OK);
  const array *a = &b.columns[0];
  assert_true(str_is(array_str(a, 0), "short"));
  assert_true(str_is(array_str(a, 1), data + 2));
  assert_false(array_is_valid(a, 2));
  assert_true(str_is(array_str(a, 3), "exactly 12 b"));
  batch_dispose(&b);
  for (int round = 0; round < 4; round++) {
    foreign_init(&x, 4, round == 3 ? 2 : 5);
    memcpy(list + 16, list, 16);
    put_view(list + 16, data + 2, round == 0 ? 2 : 1, round == 1 ? 3 : 2);
    if (round == 2) {
      store_le32(list + 16, 0x80000000u);
    }
    x.column.null_count = 1;
    x.buffers[0] = &validity;
    x.buffers[1] = list;
    x.buffers[2] = x.buffers[3] = data;
    x.buffers[4] = sizes;
    refuse(f, type_simple(TYPE_UTF8_VIEW), &x, "'col'");
  }
}

static void hostile_arrays(void **state) {
  fixture *f = *state;
  const type *i32 = type_simple(TYPE_INT32);
  const type *utf8 = type_simple(TYPE_UTF8);
  const int32_t values[8] = {0};
  const int32_t falling[] = {0, 5, 2, 3};
  const int32_t negative[] = {0, 1, 2, -3};
  foreign x;
  foreign_init(&x, 3, 2);
  x.column.length = -1;
  x.buffers[1] = values;
  refuse(f, i32, &x, "'col'");
  foreign_init(&x, -3, 2);
  refuse(f, i32, &x, "negative");
  foreign_init(&x, 3, 2);
  x.column.offset = -1;
  x.buffers[1] = values;
  refuse(f, i32, &x, "'col'");
  foreign_init(&x, 3, 2);
  x.column.offset = INT64_MAX;
  x.buffers[1] = values;
  refuse(f, i32, &x, "offset");
  foreign_init(&x, INT64_MAX, 2);
  x.buffers[1] = values;
  refuse(f, i32, &x, "out of range");
  foreign_init(&x, 3, 2);
  refuse(f, i32, &x, "a buffer is missing");
  foreign_init(&x, 3, 3);
  refuse(f, i32, &x, "number of buffers");
  foreign_init(&x, 3, 2);
  x.column.buffers = NULL;
  refuse(f, i32, &x, "number of buffers");
  foreign_init(&x, 3, 2);
  x.column.length = 2;
  x.buffers[1] = values;
  refuse(f, i32, &x, "shorter");
  foreign_init(&x, 3, 2);
  x.column.null_count = 2;
  x.buffers[1] = values;
  refuse(f, i32, &x, "without a validity");
  foreign_init(&x, 3, 2);
  x.column.null_count = 4;
  x.buffers[1] = values;
  refuse(f, i32, &x, "null count");
  foreign_init(&x, 3, 2);
  x.column.null_count = -2;
  x.buffers[1] = values;
  refuse(f, i32, &x, "null count");
  foreign_init(&x, 3, 2);
  x.column.release = NULL;
  refuse(f, i32, &x, "released");
  foreign_init(&x, 3, 2);
  x.columns[0] = NULL;
  refuse(f, i32, &x, "missing");
  foreign_init(&x, 3, 2);
  x.top.n_children = 0;
  refuse(f, i32, &x, "children");
  foreign_init(&x, 3, 3);
  x.buffers[1] = falling;
  x.buffers[2] = "abcdef";
  refuse(f, utf8, &x, "offset 2 at position 2");
  foreign_init(&x, 3, 3);
  x.buffers[1] = negative;
  x.buffers[2] = "abcdef";
  refuse(f, utf8, &x, "negative");
  foreign_init(&x, 1, 3);
  x.buffers[1] = falling;
  refuse(f, utf8, &x, "missing");
  foreign_init(&x, 1, 3);
  x.buffers[1] = falling;
  x.buffers[2] = "\xC3(abc";
  refuse(f, utf8, &x, "not UTF-8");
  const uint8_t none = 0;
  foreign_init(&x, 3, 2);
  x.buffers[1] = values;
  x.top.null_count = -1;
  x.top_buffers[0] = &none;
  refuse(f, i32, &x, "null");
}

static void empty_arrays(void **state) {
  fixture *f = *state;
  foreign x;
  batch b;
  foreign_init(&x, 0, 3); /* no buffers at all */
  assert_int_equal(import_as(f, type_simple(TYPE_UTF8), &x, &b, ""), GLV_OK);
  assert_int_equal(b.length, 0);
  batch_dispose(&b);
}

static void hostile_lists(void **state) {
  fixture *f = *state;
  const field item = {.name = "item", .type = type_simple(TYPE_INT32), .nullable = true};
  const type *lists = type_list(&f->memory, TYPE_LIST, &item);
  const type *fixed = type_fixed_size_list(&f->memory, &item, 4);
  const int32_t offsets[] = {0, 2, 4};
  const int32_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const void *child_buffers[2] = {NULL, values};
  struct ArrowArray child = {
      .length = 4, .n_buffers = 2, .buffers = child_buffers, .release = release_nothing};
  struct ArrowArray *children[1] = {&child};
  foreign x;
  batch b;
  foreign_init(&x, 2, 2);
  x.buffers[1] = offsets;
  x.column.n_children = 1;
  x.column.children = children;
  assert_int_equal(import_as(f, lists, &x, &b, ""), GLV_OK);
  batch_dispose(&b);
  child.length = 3;
  foreign_init(&x, 2, 2);
  x.buffers[1] = offsets;
  x.column.n_children = 1;
  x.column.children = children;
  refuse(f, lists, &x, "offset 4 at position 2");
  child.length = 7;
  foreign_init(&x, 2, 1);
  x.column.n_children = 1;
  x.column.children = children;
  refuse(f, fixed, &x, "shorter");
  child.length = 8;
  foreign_init(&x, 1, 1);
  x.column.offset = 1;
  x.column.n_children = 1;
  x.column.children = children;
  assert_int_equal(import_as(f, fixed, &x, &b, ""), GLV_OK);
  assert_int_equal(ARRAY_VALUES(&b.columns[0].children[0], int32_t)[0], 5);
  batch_dispose(&b);
}

static glv_status import_format(fixture *f, const char *format, const char *part) {
  struct ArrowSchema column = {.format = format, .name = "col", .release = release_no_schema};
  struct ArrowSchema *columns[] = {&column};
  struct ArrowSchema top = {
      .format = "+s", .n_children = 1, .children = columns, .release = release_no_schema};
  schema *s;
  glv_error err = {0};
  const glv_status status = cdata_import_schema(f->t.env, &top, &s, &err);
  if (status == GLV_OK) {
    schema_unref(s);
  } else {
    assert_non_null(strstr(err.message, "'col'"));
    assert_non_null(strstr(err.message, part));
  }
  return status;
}

static void formats(void **state) {
  fixture *f = *state;
  static const char *const bad[] = {"",       "q",   "ts",   "tsx:",  "ts",      "tsu",
                                    "td",     "tdq", "w:",   "w:-1",  "w:3x",    "w:99999999999",
                                    "d:",     "d:5", "d:5,", "d:0,0", "d:39,0",  "d:5,2,17",
                                    "d:5,2x", "+s+", "+w:x", "+l",    "+m",      "t",
                                    "tt",     "tD",  "ii",   "+",     "d:5,999", "tsu:\xFF"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(import_format(f, bad[i], ""), GLV_E_INVALID_INPUT);
  }
  static const char *const other[][2] = {
      {"+ud:0,1", "dense_union"}, {"+us:0", "sparse_union"},  {"+r", "run_end_encoded"},
      {"+vl", "list_view"},       {"+vL", "large_list_view"}, {"tiM", "month_interval"},
      {"tiD", "day_time"},        {"d:9,2,32", "decimal32"},  {"d:9,2,64", "decimal64"}};
  for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
    assert_int_equal(import_format(f, other[i][0], other[i][1]), GLV_E_UNSUPPORTED);
  }
  assert_int_equal(import_format(f, "d:76,-5,256", ""), GLV_OK);
  assert_int_equal(import_format(f, "vz", ""), GLV_OK);
  assert_int_equal(import_format(f, "tsu:", ""), GLV_OK);
}

static void deep_schema(void **state) {
  fixture *f = *state;
  enum { DEPTH = 200 };
  static struct ArrowSchema nodes[DEPTH];
  static struct ArrowSchema *pointers[DEPTH];
  for (size_t i = 0; i < DEPTH; i++) {
    pointers[i] = &nodes[i];
    nodes[i] = (struct ArrowSchema){.format = i + 1 < DEPTH ? (i == 0 ? "+s" : "+l") : "i",
                                    .name = "n",
                                    .n_children = i + 1 < DEPTH,
                                    .children = &pointers[i + 1 < DEPTH ? i + 1 : i],
                                    .release = release_no_schema};
  }
  schema *s;
  glv_error err = {0};
  assert_int_equal(cdata_import_schema(f->t.env, &nodes[0], &s, &err), GLV_E_LIMIT);
  nodes[1].children[0] = &nodes[1]; /* a cycle */
  assert_int_equal(cdata_import_schema(f->t.env, &nodes[0], &s, &err), GLV_E_LIMIT);
  /* wide: each level refers twice to the next */
  for (size_t i = 0; i < 40; i++) {
    static struct ArrowSchema *twice[40][2];
    twice[i][0] = twice[i][1] = &nodes[i + 1];
    nodes[i] = (struct ArrowSchema){.format = "+s",
                                    .name = "n",
                                    .n_children = 2,
                                    .children = twice[i],
                                    .release = release_no_schema};
  }
  nodes[40] = (struct ArrowSchema){.format = "i", .name = "n", .release = release_no_schema};
  assert_int_equal(cdata_import_schema(f->t.env, &nodes[0], &s, &err), GLV_E_LIMIT);
  nodes[0].n_children = INT64_MAX;
  assert_int_equal(cdata_import_schema(f->t.env, &nodes[0], &s, &err), GLV_E_LIMIT);
  nodes[0].n_children = -1;
  assert_int_equal(cdata_import_schema(f->t.env, &nodes[0], &s, &err), GLV_E_INVALID_INPUT);
}

static void streams(void **state) {
  fixture *f = *state;
  rng r = rng_of(11);
  batch list[3];
  batch_reader reader;
  batch_reader back;
  struct ArrowArrayStream stream;
  for (size_t i = 0; i < 3; i++) {
    list[i] = random_batch(f->t.env, f->all, 10 * i, 3, &r);
  }
  assert_int_equal(batch_reader_of(f->t.env, f->all, list, 3, &reader, NULL), GLV_OK);
  assert_int_equal(cdata_export_stream(f->t.env, &reader, &stream, NULL), GLV_OK);
  assert_int_equal(cdata_import_stream(f->t.env, &stream, &back, NULL), GLV_OK);
  assert_null(stream.release);
  assert_true(schema_equal(back.schema, f->all));
  for (size_t i = 0; i < 4; i++) {
    batch b;
    bool end = true;
    assert_int_equal(back.next(back.state, &b, &end, NULL), GLV_OK);
    assert_int_equal(end, i == 3);
    if (!end) {
      assert_true(batch_equal(&b, &list[i]));
      batch_dispose(&b);
    }
  }
  batch_reader_dispose(&back);
  for (size_t i = 0; i < 3; i++) {
    batch_dispose(&list[i]);
  }
}

static glv_status fail_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  (void)ret;
  (void)ret_end;
  const glv_status *status = state;
  return error_set(err, *status, "it went wrong in file 'x'");
}

static void stream_errors(void **state) {
  fixture *f = *state;
  static const struct {
    glv_status status;
    int code;
  } map[] = {{GLV_E_NOMEM, ENOMEM},    {GLV_E_INVALID_INPUT, EINVAL}, {GLV_E_CORRUPT, EINVAL},
             {GLV_E_SQL_EXEC, EINVAL}, {GLV_E_UNSUPPORTED, ENOSYS},   {GLV_E_CANCELLED, ECANCELED},
             {GLV_E_IO, EIO},          {GLV_E_CONFLICT, EIO}};
  for (size_t i = 0; i < sizeof map / sizeof map[0]; i++) {
    glv_status status = map[i].status;
    batch_reader reader = {.schema = schema_ref(f->all), .next = fail_next, .state = &status};
    struct ArrowArrayStream stream;
    struct ArrowArray a;
    glv_error err = {0};
    assert_int_equal(cdata_export_stream(f->t.env, &reader, &stream, NULL), GLV_OK);
    assert_null(stream.get_last_error(&stream));
    assert_int_equal(stream.get_next(&stream, &a), map[i].code);
    assert_string_equal(stream.get_last_error(&stream), "it went wrong in file 'x'");
    cdata_stream_error(&stream, &err);
    assert_int_equal(err.code, map[i].status);
    batch_reader back;
    batch b;
    bool end;
    assert_int_equal(cdata_import_stream(f->t.env, &stream, &back, &err), GLV_OK);
    assert_int_equal(back.next(back.state, &b, &end, &err), map[i].status);
    batch_reader_dispose(&back);
  }
}

static int foreign_get_schema(struct ArrowArrayStream *s, struct ArrowSchema *ret) {
  (void)s;
  (void)ret;
  return EINVAL;
}
static const char *foreign_error(struct ArrowArrayStream *s) {
  (void)s;
  return "two\nlines";
}
static void foreign_release(struct ArrowArrayStream *s) {
  released++;
  s->release = NULL;
}

static void foreign_stream(void **state) {
  fixture *f = *state;
  struct ArrowArrayStream s = {.get_schema = foreign_get_schema,
                               .get_last_error = foreign_error,
                               .release = foreign_release};
  batch_reader reader;
  glv_error err = {0};
  released = 0;
  assert_int_equal(cdata_import_stream(f->t.env, &s, &reader, &err), GLV_E_INVALID_INPUT);
  assert_non_null(strstr(err.message, "two lines"));
  assert_int_equal(released, 1);
  assert_int_equal(cdata_import_stream(f->t.env, &s, &reader, &err), GLV_E_INVALID_INPUT);
}

/* The environment goes first, the memory last. */
static void any_order(void **state) {
  (void)state;
  test_env t;
  test_env_open_mem(&t);
  rng r = rng_of(12);
  const field column = {.name = "x", .type = type_simple(TYPE_UTF8), .nullable = true};
  schema *s;
  batch_reader reader;
  struct ArrowArrayStream stream;
  struct ArrowSchema foreign_schema;
  struct ArrowArray a;
  glv_env *env = env_ref(t.env);
  assert_int_equal(schema_new(env, &column, 1, (metadata){0}, &s, NULL), GLV_OK);
  batch b = random_batch(env, s, 20, 2, &r);
  assert_int_equal(batch_reader_of(env, s, &b, 1, &reader, NULL), GLV_OK);
  assert_int_equal(cdata_export_stream(env, &reader, &stream, NULL), GLV_OK);
  env_unref(env);
  schema_unref(s);
  batch_dispose(&b);
  assert_int_equal(stream.get_schema(&stream, &foreign_schema), 0);
  assert_int_equal(stream.get_next(&stream, &a), 0);
  stream.release(&stream);
  assert_string_equal(foreign_schema.children[0]->name, "x");
  foreign_schema.release(&foreign_schema);
  assert_int_equal(a.children[0]->length, 20);
  a.release(&a);
  test_env_close(&t);
}

static void out_of_memory(void **state) {
  fixture *f = *state;
  rng r = rng_of(13);
  batch b = random_batch(f->t.env, f->all, 6, 2, &r);
  for (uint64_t n = 1;; n++) {
    struct ArrowArray a = {0};
    struct ArrowSchema s = {0};
    batch back = {0};
    schema *again = NULL;
    alloc_fault_arm(&f->t.alloc, n, false);
    glv_status status = cdata_export_schema(f->t.env, f->all, &s, NULL);
    if (status == GLV_OK) {
      status = cdata_import_schema(f->t.env, &s, &again, NULL);
      s.release(&s);
    }
    if (status == GLV_OK) {
      status = cdata_export_batch(f->t.env, &b, &a, NULL);
    }
    if (status == GLV_OK) {
      status = cdata_import_batch(f->t.env, again, &a, &back, NULL);
      assert_null(a.release);
    }
    const bool fired = f->t.alloc.fired;
    alloc_fault_arm(&f->t.alloc, 0, false);
    assert_int_equal(status, fired ? GLV_E_NOMEM : GLV_OK);
    batch_dispose(&back);
    schema_unref(again);
    if (!fired) {
      break;
    }
  }
  batch_dispose(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(schema_both_ways), cmocka_unit_test(moved_child),
      cmocka_unit_test(batch_both_ways),  cmocka_unit_test(offsets_of_parents),
      cmocka_unit_test(misaligned),       cmocka_unit_test(views),
      cmocka_unit_test(hostile_arrays),   cmocka_unit_test(empty_arrays),
      cmocka_unit_test(hostile_lists),    cmocka_unit_test(formats),
      cmocka_unit_test(deep_schema),      cmocka_unit_test(streams),
      cmocka_unit_test(stream_errors),    cmocka_unit_test(foreign_stream),
      cmocka_unit_test(any_order),        cmocka_unit_test(out_of_memory),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
