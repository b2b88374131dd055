/*
 * IPC: files of pyarrow (tests/golden/ipc, 5 + 3 rows), everything out and in again, cut and
 * damaged data.
 */
#include <stdio.h>

#include "arrow/cdata.h"
#include "arrow/ipc.h"
#include "support/cmocka.h"
#include "support/test_env.h"
#include "unit/arrow/arrays.h"

typedef struct fixture {
  test_env t;
  arena memory;
  schema *all;
} fixture;

static int setup(void **state) {
  static fixture f;
  test_env_open_mem(&f.t);
  arena_init(&f.memory, f.t.env);
  const pair pairs[] = {{STR("key"), STR("value")}};
  field *fields = ARENA_ARRAY(&f.memory, field, SAMPLE_TYPES);
  memcpy(fields, sample_fields(&f.memory), SAMPLE_TYPES * sizeof *fields);
  fields[4].metadata = (metadata){pairs, 1};
  fields[5].nullable = false;
  fields[30].type = type_fixed_size_binary(&f.memory, 17); /* nanoarrow cannot write size 0 */
  fields[37].type = type_fixed_size_list(&f.memory, &fields[7], 1);
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

enum { MAX_BATCHES = 8 };

/* What a reader gave. */
typedef struct content {
  schema *schema;
  batch batches[MAX_BATCHES];
  size_t count;
} content;

static void content_dispose(content *c) {
  for (size_t i = 0; i < c->count; i++) {
    batch_dispose(&c->batches[i]);
  }
  schema_unref(c->schema);
  *c = (content){0};
}

/* Read all; what came before a failure is released. */
static glv_status read_bytes(fixture *f, const void *data, size_t size, content *ret,
                             glv_error *err) {
  struct ipc_memory m = {.data = data, .size = size};
  batch_reader r;
  content c = {0};
  glv_status status = ipc_reader_open(f->t.env, ipc_memory_source(&m), &r, err);
  if (status != GLV_OK) {
    return status;
  }
  c.schema = schema_ref(r.schema);
  for (bool end = false; status == GLV_OK && !end;) {
    assert_true(c.count < MAX_BATCHES);
    status = r.next(r.state, &c.batches[c.count], &end, err);
    c.count += status == GLV_OK && !end;
  }
  batch_reader_dispose(&r);
  if (status != GLV_OK) {
    content_dispose(&c);
    return status;
  }
  *ret = c;
  return GLV_OK;
}

static void load(fixture *f, const char *name, buf *ret) {
  char path[512];
  char bytes[4096];
  snprintf(path, sizeof path, "%s/ipc/%s", GLAIVE_GOLDEN, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  buf_init(ret, f->t.env, 1 << 20);
  for (size_t size; (size = fread(bytes, 1, sizeof bytes, file)) != 0;) {
    assert_int_equal(buf_append(ret, bytes, size, NULL), GLV_OK);
  }
  fclose(file);
}

static void read_golden(fixture *f, const char *name, content *ret) {
  buf bytes;
  glv_error err = {0};
  load(f, name, &bytes);
  const glv_status status = read_bytes(f, bytes.data, bytes.size, ret, &err);
  assert_string_equal(err.message, "");
  assert_int_equal(status, GLV_OK);
  buf_dispose(&bytes);
}

static const array *column(const content *c, size_t index, const char *name) {
  const size_t i = schema_find(c->schema, str_of(name));
  assert_true(i != SIZE_MAX);
  return &c->batches[index].columns[i];
}

static void golden_values(void **state) {
  content c;
  read_golden(*state, "plain.arrows", &c);
  assert_int_equal(c.count, 2);
  assert_int_equal(c.batches[0].length, 5);
  assert_int_equal(c.batches[1].length, 3);
  assert_int_equal(c.schema->field_count, 22);
  assert_true(str_is(metadata_get(c.schema->metadata, STR("made by"), NULL), "make.py"));
  for (size_t i = 0; i < c.schema->field_count; i++) {
    assert_true(array_has_nulls(&c.batches[0].columns[i]));
  }
  assert_true(ARRAY_VALUES(column(&c, 0, "u64"), uint64_t)[0] == UINT64_MAX);
  assert_true(array_bool(column(&c, 1, "flag"), 2));
  assert_int_equal(ARRAY_VALUES(column(&c, 0, "at"), int64_t)[0], -1);
  assert_true(str_is(array_str(column(&c, 0, "text"), 1), "naïve"));
  assert_true(str_is(array_str(column(&c, 1, "view"), 2), "the last of all the texts"));
  assert_string_equal(TYPE_TEXT(column(&c, 0, "view")->type), "string_view");
  assert_string_equal(TYPE_TEXT(column(&c, 0, "map")->type), "map<string, int32>");
  assert_int_equal(array_str(column(&c, 0, "bytes"), 1).size, 2);
  const array *list = column(&c, 0, "list");
  assert_int_equal(ARRAY_VALUES(list, int32_t)[5] - ARRAY_VALUES(list, int32_t)[4], 3);
  assert_int_equal(ARRAY_VALUES(&list->children[0], int32_t)[5], 6);
  const array *words = column(&c, 1, "dict");
  assert_true(str_is(array_str(&words->children[0], 3), "black"));
  assert_int_equal(ARRAY_VALUES(words, int32_t)[2], 3);
  content_dispose(&c);
}

static void golden_same(void **state) {
  static const char *const names[] = {"plain.arrow", "lz4.arrows", "lz4.arrow", "zstd.arrows",
                                      "zstd.arrow"};
  content plain;
  content c;
  read_golden(*state, "plain.arrows", &plain);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    read_golden(*state, names[i], &c);
    assert_true(schema_equal(plain.schema, c.schema));
    assert_int_equal(c.count, 2);
    assert_true(batch_equal(&plain.batches[0], &c.batches[0]));
    assert_true(batch_equal(&plain.batches[1], &c.batches[1]));
    content_dispose(&c);
  }
  read_golden(*state, "replaced.arrows", &c);
  assert_true(batch_equal(&plain.batches[1], &c.batches[0]));
  assert_true(batch_equal(&plain.batches[0], &c.batches[1]));
  content_dispose(&c);
  content_dispose(&plain);
}

static glv_status write_content(fixture *f, const content *c, bool as_file, buf *out) {
  batch_reader r;
  buf_init(out, f->t.env, 64 << 20);
  assert_int_equal(batch_reader_of(f->t.env, c->schema, c->batches, c->count, &r, NULL), GLV_OK);
  glv_error err = {0};
  const glv_status status = ipc_write(f->t.env, &r, as_file, ipc_buf_sink(out), &err);
  assert_string_equal(err.message, "");
  batch_reader_dispose(&r);
  return status;
}

static void both_ways(void **state) {
  fixture *f = *state;
  rng r = rng_of(21);
  for (int round = 0; round < 40; round++) {
    content c = {.schema = schema_ref(f->all), .count = (size_t)rng_below(&r, 4)};
    content back;
    buf bytes;
    glv_error err = {0};
    for (size_t i = 0; i < c.count; i++) {
      glv_status status;
      batch b =
          random_batch(f->t.env, f->all, (size_t)rng_below(&r, 60), (unsigned)rng_below(&r, 4), &r);
      const size_t first = (size_t)rng_below(&r, b.length + 1);
      c.batches[i] = batch_slice(f->t.env, &b, first, (size_t)rng_below(&r, b.length - first + 1),
                                 NULL, &status);
      batch_dispose(&b);
    }
    assert_int_equal(write_content(f, &c, round % 2 == 0, &bytes), GLV_OK);
    const glv_status status = read_bytes(f, bytes.data, bytes.size, &back, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, GLV_OK);
    assert_true(schema_equal(back.schema, c.schema));
    assert_int_equal(back.schema->fields[4].metadata.count, 1);
    assert_int_equal(back.count, c.count);
    for (size_t i = 0; i < c.count; i++) {
      assert_true(batch_equal(&back.batches[i], &c.batches[i]));
    }
    content_dispose(&c);
    content_dispose(&back);
    buf_dispose(&bytes);
  }
}

static void golden_rewritten(void **state) {
  fixture *f = *state;
  content plain;
  content back;
  buf bytes;
  read_golden(f, "zstd.arrow", &plain);
  for (int as_file = 0; as_file < 2; as_file++) {
    assert_int_equal(write_content(f, &plain, as_file, &bytes), GLV_OK);
    assert_int_equal(read_bytes(f, bytes.data, bytes.size, &back, NULL), GLV_OK);
    assert_int_equal(back.count, 2);
    const size_t view = schema_find(plain.schema, STR("view"));
    for (size_t i = 0; i < plain.schema->field_count; i++) {
      if (i != view) { /* views go out as utf8 */
        assert_true(array_equal(&plain.batches[1].columns[i], &back.batches[1].columns[i]));
      }
    }
    assert_string_equal(TYPE_TEXT(back.schema->fields[view].type), "string");
    content_dispose(&back);
    buf_dispose(&bytes);
  }
  content_dispose(&plain);
}

/* Every shorter piece is refused, also at the borders of messages. */
static void cut(void **state) {
  fixture *f = *state;
  static const char *const names[] = {"plain.arrow", "plain.arrows", "lz4.arrow", "zstd.arrows",
                                      "replaced.arrows"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    buf bytes;
    load(f, names[i], &bytes);
    for (size_t size = 0; size < bytes.size; size++) {
      content c;
      glv_error err = {0};
      char *exact = mem_strndup(f->t.env, bytes.data, size); /* so that a sanitizer sees the end */
      assert_int_equal(read_bytes(f, exact, size, &c, &err), GLV_E_CORRUPT);
      assert_int_not_equal(err.message[0], 0);
      mem_free(f->t.env, exact);
    }
    buf_dispose(&bytes);
  }
}

static bool acceptable(glv_status status) {
  return status == GLV_OK || status == GLV_E_CORRUPT || status == GLV_E_UNSUPPORTED ||
         status == GLV_E_LIMIT || status == GLV_E_NOMEM;
}

/* Random bytes changed: any answer but a crash, a hang or a wrong kind of error. */
static void damaged(void **state) {
  fixture *f = *state;
  static const char *const names[] = {"plain.arrow", "lz4.arrows", "zstd.arrow", "plain.arrows"};
  static const uint8_t values[] = {0, 1, 0x7F, 0x80, 0xFF};
  rng r = rng_of(22);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    buf bytes;
    load(f, names[i], &bytes);
    for (int round = 0; round < 4000; round++) {
      content c;
      glv_error err = {0};
      char *copy = mem_strndup(f->t.env, bytes.data, bytes.size);
      for (uint64_t k = 1 + rng_below(&r, 3); k != 0; k--) {
        copy[rng_below(&r, bytes.size)] =
            (char)(rng_below(&r, 2) ? values[rng_below(&r, 5)] : rng_next(&r));
      }
      const glv_status status = read_bytes(f, copy, bytes.size, &c, &err);
      assert_true(acceptable(status));
      if (status == GLV_OK) {
        content_dispose(&c);
      }
      mem_free(f->t.env, copy);
    }
    buf_dispose(&bytes);
  }
}

static void lies(void **state) {
  fixture *f = *state;
  content c;
  glv_error err = {0};
  uint8_t huge_header[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1, 2, 3};
  assert_int_equal(read_bytes(f, huge_header, sizeof huge_header, &c, &err), GLV_E_CORRUPT);
  assert_int_equal(read_bytes(f, "", 0, &c, &err), GLV_E_CORRUPT);
  assert_int_equal(read_bytes(f, "ARROW1\0\0", 8, &c, &err), GLV_E_CORRUPT);
  assert_int_equal(read_bytes(f, "id,name\n1,x\n", 12, &c, &err), GLV_E_CORRUPT);
  /* a body of 2^62 bytes: refused after reading what there is, without the memory */
  test_env fresh;
  test_env_open_mem(&fresh);
  fixture own = {.t = fresh};
  buf bytes;
  load(f, "plain.arrows", &bytes);
  uint64_t peak;
  size_t lied = 0;
  for (size_t at = 8; at + 8 <= bytes.size && at < 12000; at += 8) {
    const uint64_t old = load_le64(bytes.data + at);
    store_le64(bytes.data + at, UINT64_C(1) << 62);
    const glv_status status = read_bytes(&own, bytes.data, bytes.size, &c, &err);
    assert_true(acceptable(status));
    lied += status == GLV_E_CORRUPT;
    if (status == GLV_OK) {
      content_dispose(&c);
    }
    store_le64(bytes.data + at, old);
  }
  env_memory(fresh.env, NULL, &peak);
  test_env_close(&fresh);
  assert_true(peak < (UINT64_C(200) << 20));
  assert_true(lied > 100);
  buf_dispose(&bytes);
}

static void out_of_memory(void **state) {
  fixture *f = *state;
  buf bytes;
  load(f, "zstd.arrow", &bytes);
  for (uint64_t n = 1;; n++) {
    content c = {0};
    buf out = {0};
    batch_reader r = {0};
    alloc_fault_arm(&f->t.alloc, n, false);
    glv_status status = read_bytes(f, bytes.data, bytes.size, &c, NULL);
    if (status == GLV_OK) {
      status = batch_reader_of(f->t.env, c.schema, c.batches, c.count, &r, NULL);
    }
    if (status == GLV_OK) {
      buf_init(&out, f->t.env, 1 << 20);
      status = ipc_write(f->t.env, &r, true, ipc_buf_sink(&out), NULL);
      buf_dispose(&out);
    }
    const bool fired = f->t.alloc.fired;
    alloc_fault_arm(&f->t.alloc, 0, false);
    assert_int_equal(status, fired ? GLV_E_NOMEM : GLV_OK);
    batch_reader_dispose(&r);
    content_dispose(&c);
    if (!fired) {
      break;
    }
  }
  buf_dispose(&bytes);
}

static glv_status fail_write(void *context, const void *data, size_t size, glv_error *err) {
  (void)data;
  size_t *room = context;
  if (size > *room) {
    return error_set(err, GLV_E_IO, "no space left");
  }
  *room -= size;
  return GLV_OK;
}

static void failing_sink(void **state) {
  fixture *f = *state;
  content c;
  read_golden(f, "plain.arrow", &c);
  for (size_t room = 0; room < 9000; room += 37) {
    size_t left = room;
    batch_reader r;
    assert_int_equal(batch_reader_of(f->t.env, c.schema, c.batches, c.count, &r, NULL), GLV_OK);
    assert_int_equal(ipc_write(f->t.env, &r, true, (byte_sink){fail_write, &left}, NULL), GLV_E_IO);
    batch_reader_dispose(&r);
  }
  content_dispose(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden_values), cmocka_unit_test(golden_same),
      cmocka_unit_test(both_ways),     cmocka_unit_test(golden_rewritten),
      cmocka_unit_test(cut),           cmocka_unit_test(damaged),
      cmocka_unit_test(lies),          cmocka_unit_test(out_of_memory),
      cmocka_unit_test(failing_sink),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
