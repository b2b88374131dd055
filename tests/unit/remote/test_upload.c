/* Bodies of rows: the bytes are an IPC stream, come again after a rewind while there are few, and
 * are dropped when there are many. */
#include "arrow/cdata.h"
#include "arrow/ipc.h"
#include "remote/upload.h"
#include "support/cmocka.h"
#include "support/test_env.h"

static test_env t;

static int open_env(void **state) {
  (void)state;
  test_env_open_mem(&t);
  return 0;
}

static int close_env(void **state) {
  (void)state;
  test_env_close(&t);
  return 0;
}

/* batches of `rows` numbers each. */
static glv_status numbers(size_t batches, size_t rows, batch_reader *ret, glv_error *err) {
  CLEANUP(schema_cleanup) schema *s = NULL;
  CLEANUP(batch_dispose) batch b = {0};
  const field one = {.name = "x", .type = type_simple(TYPE_INT64)};
  void *values;
  batch all[16];
  TRY(schema_new(t.env, &one, 1, (metadata){NULL, 0}, &s, err));
  TRY(batch_new(t.env, s, rows, 1, &b, err));
  TRY(array_new_fixed(t.env, s->fields[0].type, rows, &b.columns[0], &values, err));
  for (size_t i = 0; i < rows; i++) {
    ((int64_t *)values)[i] = (int64_t)i;
  }
  for (size_t i = 0; i < batches; i++) {
    all[i] = b;
  }
  return batch_reader_of(t.env, s, all, batches, ret, err);
}

static glv_status read_all(upload *u, buf *out, glv_error *err) {
  static char part[100000];
  size_t count = 0;
  do {
    TRY(remote_upload_read(u, part, sizeof part, &count, err));
    TRY(buf_append(out, part, count, err));
  } while (count > 0);
  return GLV_OK;
}

static void bytes_come_again(void **state) {
  (void)state;
  batch_reader rows = {0};
  upload *u = NULL;
  buf first;
  buf second;
  buf_init(&first, t.env, SIZE_MAX / 2);
  buf_init(&second, t.env, SIZE_MAX / 2);
  assert_int_equal(numbers(3, 1000, &rows, NULL), GLV_OK);
  assert_int_equal(remote_upload_new(t.env, &rows, &u, NULL), GLV_OK);
  assert_null(rows.next);
  char some[10];
  size_t count;
  assert_int_equal(remote_upload_read(u, some, sizeof some, &count, NULL), GLV_OK);
  assert_true(remote_upload_rewind(u));
  assert_int_equal(read_all(u, &first, NULL), GLV_OK);
  assert_int_equal(remote_upload_rows(u), 3000);
  assert_true(remote_upload_rewind(u));
  assert_int_equal(read_all(u, &second, NULL), GLV_OK);
  assert_true(str_equal(buf_str(&first), buf_str(&second)));
  remote_upload_free(u);
  struct ipc_memory memory = {(const uint8_t *)first.data, first.size, 0};
  CLEANUP(batch_dispose) batch all = {0};
  assert_int_equal(ipc_reader_open(t.env, ipc_memory_source(&memory), &rows, NULL), GLV_OK);
  assert_int_equal(batch_collect(t.env, &rows, &all, NULL), GLV_OK);
  assert_int_equal(all.length, 3000);
  batch_reader_dispose(&rows);
  buf_dispose(&first);
  buf_dispose(&second);
}

/* 12 batches of 8 MB: more than is kept. */
static void many_bytes_are_sent_once(void **state) {
  (void)state;
  batch_reader rows = {0};
  upload *u = NULL;
  uint64_t peak = 0;
  assert_int_equal(numbers(12, 1000000, &rows, NULL), GLV_OK);
  assert_int_equal(remote_upload_new(t.env, &rows, &u, NULL), GLV_OK);
  static char part[1 << 20];
  size_t total = 0;
  size_t count = 0;
  do {
    assert_int_equal(remote_upload_read(u, part, sizeof part, &count, NULL), GLV_OK);
    total += count;
  } while (count > 0);
  assert_true(total > 12 * 8000000);
  assert_false(remote_upload_rewind(u));
  env_memory(t.env, NULL, &peak);
  assert_true(peak < 130000000);
  remote_upload_free(u);
}

static void no_memory(void **state) {
  (void)state;
  for (uint64_t nth = 1;; nth++) {
    batch_reader rows = {0};
    upload *u = NULL;
    buf out;
    buf_init(&out, t.env, SIZE_MAX / 2);
    assert_int_equal(numbers(2, 100, &rows, NULL), GLV_OK);
    alloc_fault_arm(&t.alloc, nth, false);
    glv_status status = remote_upload_new(t.env, &rows, &u, NULL);
    status = status == GLV_OK ? read_all(u, &out, NULL) : status;
    const bool fired = t.alloc.fired;
    alloc_fault_arm(&t.alloc, 0, false);
    remote_upload_free(u);
    buf_dispose(&out);
    if (!fired) {
      assert_int_equal(status, GLV_OK);
      break;
    }
    assert_int_equal(status, GLV_E_NOMEM);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_come_again),
      cmocka_unit_test(many_bytes_are_sent_once),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, open_env, close_env);
}
