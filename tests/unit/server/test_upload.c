/* The buffer between a connection and the reader of a long body. */
#include <pthread.h>

#include "base/thread.h"
#include "server/upload.h"
#include "support/cmocka.h"
#include "support/test_env.h"

enum { CAPACITY = 1000, TOTAL = 200000 };

typedef struct fixture {
  test_env t;
  upload *u;
  mutex lock;
  condition changed;
  bool room;
} fixture;

static void on_room(void *context) {
  fixture *f = context;
  mutex_lock(&f->lock);
  f->room = true;
  condition_signal_all(&f->changed);
  mutex_unlock(&f->lock);
}

static void open_fixture(fixture *f, str start) {
  buf first;
  test_env_open_mem(&f->t);
  mutex_init(&f->lock);
  condition_init(&f->changed);
  f->room = false;
  buf_init(&first, f->t.env, 1 << 20);
  assert_int_equal(buf_append_str(&first, start, NULL), GLV_OK);
  assert_int_equal(upload_new(f->t.env, &first, CAPACITY, on_room, f, &f->u, NULL), GLV_OK);
  buf_dispose(&first);
}

static void close_fixture(fixture *f) {
  upload_free(f->u);
  condition_dispose(&f->changed);
  mutex_dispose(&f->lock);
  test_env_close(&f->t);
}

static unsigned char byte_at(size_t i) { return (unsigned char)(i * 7 + (i >> 9)); }

/* Writes TOTAL bytes in odd steps, waiting for room as a connection does. */
static void *write_all(void *argument) {
  fixture *f = argument;
  unsigned char step[777];
  for (size_t at = 0; at < TOTAL;) {
    const size_t size = TOTAL - at < sizeof step ? TOTAL - at : (at % sizeof step) + 1;
    for (size_t i = 0; i < size; i++) {
      step[i] = byte_at(at + i);
    }
    const size_t taken = upload_put(f->u, step, size);
    at += taken;
    if (taken < size) {
      mutex_lock(&f->lock);
      while (!f->room) {
        condition_wait(&f->changed, &f->lock);
      }
      f->room = false;
      mutex_unlock(&f->lock);
    }
  }
  upload_end(f->u);
  return NULL;
}

static void bytes_arrive_in_order(void **state) {
  (void)state;
  fixture f;
  pthread_t writer;
  open_fixture(&f, STR("start"));
  const byte_source source = upload_source(f.u);
  unsigned char data[313];
  size_t got = 0;
  assert_int_equal(source.read(source.context, data, 3, &got, NULL), GLV_OK);
  assert_int_equal(got, 3);
  assert_int_equal(source.read(source.context, data, 3, &got, NULL), GLV_OK);
  assert_int_equal(got, 2);
  assert_int_equal(pthread_create(&writer, NULL, write_all, &f), 0);
  size_t total = 0;
  do {
    assert_int_equal(source.read(source.context, data, sizeof data, &got, NULL), GLV_OK);
    for (size_t i = 0; i < got; i++) {
      assert_int_equal(data[i], byte_at(total + i));
    }
    total += got;
  } while (got != 0);
  assert_int_equal(total, TOTAL);
  pthread_join(writer, NULL);
  close_fixture(&f);
}

static void a_broken_body_is_told(void **state) {
  (void)state;
  fixture f;
  unsigned char data[100];
  size_t got = 0;
  glv_error err = {0};
  const glv_error why = {.code = GLV_E_NETWORK, .message = "gone"};
  open_fixture(&f, STR("start"));
  const byte_source source = upload_source(f.u);
  upload_break(f.u, &why);
  assert_int_equal(source.read(source.context, data, sizeof data, &got, &err), GLV_E_NETWORK);
  assert_string_equal(err.message, "gone");
  assert_int_equal(upload_put(f.u, data, sizeof data), sizeof data); /* thrown away */
  close_fixture(&f);
}

static void a_writer_that_waits_is_woken(void **state) {
  (void)state;
  fixture f;
  unsigned char data[2 * CAPACITY] = {0};
  open_fixture(&f, (str){NULL, 0});
  assert_int_equal(upload_put(f.u, data, sizeof data), CAPACITY);
  assert_false(f.room);
  upload_ignore(f.u);
  assert_true(f.room);
  assert_int_equal(upload_put(f.u, data, sizeof data), sizeof data);
  close_fixture(&f);
}

static void a_complete_body_stays_complete(void **state) {
  (void)state;
  fixture f;
  unsigned char data[100];
  size_t got = 0;
  const glv_error why = {.code = GLV_E_NETWORK, .message = "gone"};
  open_fixture(&f, STR("all"));
  const byte_source source = upload_source(f.u);
  upload_end(f.u);
  upload_break(f.u, &why); /* the client closed after it sent everything */
  assert_int_equal(source.read(source.context, data, sizeof data, &got, NULL), GLV_OK);
  assert_int_equal(got, 3);
  assert_int_equal(source.read(source.context, data, sizeof data, &got, NULL), GLV_OK);
  assert_int_equal(got, 0);
  close_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_arrive_in_order),
      cmocka_unit_test(a_broken_body_is_told),
      cmocka_unit_test(a_writer_that_waits_is_woken),
      cmocka_unit_test(a_complete_body_stays_complete),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
