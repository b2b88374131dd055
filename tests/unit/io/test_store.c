/* One suite over both stores: the contract of glv_io, and the helpers on top of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "support/cmocka.h"
#include "support/test_env.h"

static test_env t;
static glv_error err;

static int open_mem(void **state) {
  (void)state;
  test_env_open_mem(&t);
  return 0;
}

static int open_local(void **state) {
  (void)state;
  test_env_open_local(&t);
  return 0;
}

static int close_env(void **state) {
  (void)state;
  test_env_close(&t);
  return 0;
}

#define OK(call) assert_ok((call), __LINE__)
static void assert_ok(glv_status status, int line) {
  if (status != GLV_OK) {
    fail_msg("line %d: %s: %s", line, error_name(status), err.message);
  }
}

#define FAILS(number, call) assert_fails((number), (call), __LINE__)
static void assert_fails(int number, glv_status status, int line) {
  if (status != GLV_E_IO || err.code != GLV_E_IO || err.sys_errno != number ||
      err.message[0] == '\0') {
    fail_msg("line %d: status %d, errno %d, '%s'", line, status, err.sys_errno, err.message);
  }
}

static void *open_dir(const char *name) {
  void *dir;
  OK(io_dir_open(t.env, name[0] != '\0' ? test_env_path(&t, name) : t.root, &dir, &err));
  return dir;
}

static void put(void *dir, const char *name, const char *content) {
  OK(io_write_file(t.env, dir, name, content, strlen(content), true, &err));
}

static void check_content(void *dir, const char *name, const char *expected) {
  CLEANUP(buf_dispose) buf b;
  buf_init(&b, t.env, 1 << 20);
  OK(io_read_file(t.env, dir, name, 1 << 20, &b, &err));
  assert_int_equal(b.size, strlen(expected));
  assert_memory_equal(b.data != NULL ? b.data : "", expected, b.size);
}

static void create_write_read(void **state) {
  (void)state;
  void *dir = open_dir("");
  void *file;
  OK(io_create(t.env, dir, "a", &file, &err));
  OK(io_write(t.env, file, "hello ", 6, &err));
  OK(io_write(t.env, file, "", 0, &err));
  OK(io_write(t.env, file, "world", 5, &err));
  OK(io_sync(t.env, file, &err));
  OK(io_close(t.env, file, &err));
  OK(io_dir_sync(t.env, dir, &err));
  void *second;
  FAILS(EEXIST, io_create(t.env, dir, "a", &second, &err));
  assert_true(io_is_taken(&err) && !io_is_missing(&err));

  OK(io_open_read(t.env, dir, "a", &file, &err));
  uint64_t size;
  OK(io_size(t.env, file, &size, &err));
  assert_int_equal(size, 11);
  char data[12] = {0};
  OK(io_read_at(t.env, file, 6, data, 5, &err));
  assert_string_equal(data, "world");
  OK(io_read_at(t.env, file, 11, data, 0, &err));
  OK(io_close(t.env, file, &err));
  OK(io_open_read(t.env, NULL, test_env_path(&t, "a"), &file, &err));
  OK(io_close(t.env, file, &err));
  FAILS(ENOENT, io_open_read(t.env, dir, "b", &file, &err));
  assert_true(io_is_missing(&err));
  FAILS(ENOTDIR, io_open_read(t.env, dir, "a/b", &file, &err));
  assert_true(io_is_missing(&err));
  io_dir_close(t.env, dir);
}

static void past_the_end_is_corrupt(void **state) {
  (void)state;
  void *dir = open_dir("");
  put(dir, "a", "0123456789");
  void *file;
  OK(io_open_read(t.env, dir, "a", &file, &err));
  char data[20];
  const struct {
    uint64_t offset;
    size_t size;
  } ranges[] = {{0, 11}, {10, 1}, {11, 1}, {UINT64_MAX, 1}, {INT64_MAX, 10}, {5, 6}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    assert_int_equal(io_read_at(t.env, file, ranges[i].offset, data, ranges[i].size, &err),
                     GLV_E_CORRUPT);
    assert_int_equal(err.sys_errno, 0);
  }
  OK(io_close(t.env, file, &err));
  io_dir_close(t.env, dir);
}

static void publishing(void **state) {
  (void)state;
  void *dir = open_dir("");
  put(dir, "t1", "one");
  put(dir, "t2", "two");
  put(dir, "t3", "three");
  OK(io_publish(t.env, dir, "t1", "final", true, &err));
  FAILS(EEXIST, io_publish(t.env, dir, "t2", "final", true, &err));
  check_content(dir, "final", "one");
  check_content(dir, "t2", "two");
  bool exists;
  OK(io_exists(t.env, dir, "t1", &exists, &err));
  assert_false(exists);
  OK(io_publish(t.env, dir, "t3", "final", false, &err));
  check_content(dir, "final", "three");
  FAILS(ENOENT, io_publish(t.env, dir, "t3", "other", false, &err));
  FAILS(ENOENT, io_publish(t.env, dir, "t3", "other", true, &err));
  io_dir_close(t.env, dir);
}

static void an_open_file_survives_its_removal(void **state) {
  (void)state;
  void *dir = open_dir("");
  put(dir, "a", "content");
  void *file;
  OK(io_open_read(t.env, dir, "a", &file, &err));
  OK(io_remove(t.env, dir, "a", &err));
  FAILS(ENOENT, io_remove(t.env, dir, "a", &err));
  char data[8] = {0};
  OK(io_read_at(t.env, file, 0, data, 7, &err));
  assert_string_equal(data, "content");
  OK(io_close(t.env, file, &err));
  io_dir_close(t.env, dir);
}

static void a_handle_stays_with_its_directory(void **state) {
  (void)state;
  const char *path = test_env_path(&t, "sub/d");
  OK(io_make_dirs(t.env, path, &err));
  void *old = open_dir("sub/d");
  put(old, "temp", "x");
  OK(io_remove(t.env, old, "temp", &err));
  OK(io_remove_dir(t.env, path, &err));
  void *file;
  FAILS(ENOENT, io_create(t.env, old, "new", &file, &err));
  OK(io_make_dirs(t.env, path, &err));
  void *fresh = open_dir("sub/d");
  put(fresh, "temp", "y");
  FAILS(ENOENT, io_create(t.env, old, "new", &file, &err));
  FAILS(ENOENT, io_publish(t.env, old, "temp", "final", true, &err));
  FAILS(ENOENT, io_publish(t.env, old, "temp", "final", false, &err));
  FAILS(ENOENT, io_open_read(t.env, old, "temp", &file, &err));
  glv_io_stat a;
  glv_io_stat b;
  OK(io_stat(t.env, old, "", &a, &err));
  OK(io_stat(t.env, fresh, "", &b, &err));
  assert_true(a.device == b.device && a.inode != b.inode);
  CLEANUP(arena_dispose) arena names;
  arena_init(&names, t.env);
  const char **list;
  size_t count;
  OK(io_list_sorted(t.env, fresh, "", &names, &list, NULL, &count, &err));
  assert_int_equal(count, 1);
  io_dir_close(t.env, old);
  io_dir_close(t.env, fresh);
}

static void listing(void **state) {
  (void)state;
  void *dir = open_dir("");
  CLEANUP(arena_dispose) arena names;
  arena_init(&names, t.env);
  const char **list;
  bool *dirs;
  size_t count;
  OK(io_list_sorted(t.env, dir, "", &names, &list, &dirs, &count, &err));
  assert_int_equal(count, 0);
  put(dir, "b", "");
  put(dir, "C", "");
  put(dir, ".hidden", "");
  OK(io_make_dirs(t.env, test_env_path(&t, "a.lance"), &err));
  OK(io_list_sorted(t.env, dir, "", &names, &list, &dirs, &count, &err));
  const char *expected[] = {".hidden", "C", "a.lance", "b"};
  assert_int_equal(count, 4);
  for (size_t i = 0; i < 4; i++) {
    assert_string_equal(list[i], expected[i]);
    assert_int_equal(dirs[i], i == 2);
  }
  OK(io_list_sorted(t.env, NULL, t.root, &names, &list, &dirs, &count, &err));
  assert_int_equal(count, 4);
  OK(io_list_sorted(t.env, dir, "a.lance", &names, &list, &dirs, &count, &err));
  assert_int_equal(count, 0);
  FAILS(ENOENT, io_list_sorted(t.env, dir, "none", &names, &list, &dirs, &count, &err));
  FAILS(ENOTDIR, io_list_sorted(t.env, dir, "b", &names, &list, &dirs, &count, &err));
  io_dir_close(t.env, dir);
}

static glv_status stop_at_second(void *context, const char *name, int32_t is_directory,
                                 glv_error *report) {
  (void)name;
  (void)is_directory;
  int *count = context;
  return ++*count == 2 ? FAIL(report, GLV_E_CANCELLED, "stopped") : GLV_OK;
}

static void a_visitor_can_stop(void **state) {
  (void)state;
  void *dir = open_dir("");
  put(dir, "a", "");
  put(dir, "b", "");
  put(dir, "c", "");
  int count = 0;
  assert_int_equal(io_list(t.env, dir, "", stop_at_second, &count, &err), GLV_E_CANCELLED);
  assert_int_equal(count, 2);
  io_dir_close(t.env, dir);
}

static void stat_and_exists(void **state) {
  (void)state;
  void *dir = open_dir("");
  put(dir, "f", "12345");
  glv_io_stat st;
  OK(io_stat(t.env, dir, "f", &st, &err));
  assert_int_equal(st.size_bytes, 5);
  assert_int_equal(st.is_directory, 0);
  const int64_t now = env_now_ns(t.env);
  assert_true(st.modified_ns <= now + 1000000000 && st.modified_ns > now - 60000000000);
  glv_io_stat again;
  OK(io_stat(t.env, NULL, test_env_path(&t, "f"), &again, &err));
  assert_true(st.inode == again.inode && st.device == again.device);
  OK(io_stat(t.env, dir, "", &st, &err));
  assert_int_equal(st.is_directory, 1);
  FAILS(ENOENT, io_stat(t.env, dir, "none", &st, &err));
  bool exists;
  OK(io_exists(t.env, dir, "f/under", &exists, &err));
  assert_false(exists);
  OK(io_exists(t.env, dir, "f", &exists, &err));
  assert_true(exists);
  OK(io_exists(t.env, NULL, t.root, &exists, &err));
  assert_true(exists);
  io_dir_close(t.env, dir);
}

static void directories(void **state) {
  (void)state;
  OK(io_make_dirs(t.env, t.root, &err));
  OK(io_make_dirs(t.env, test_env_path(&t, "a//b/./c/"), &err));
  OK(io_make_dirs(t.env, test_env_path(&t, "a/b/c"), &err));
  void *dir = open_dir("a/b");
  put(dir, "file", "x");
  FAILS(ENOTDIR, io_make_dirs(t.env, test_env_path(&t, "a/b/file"), &err));
  FAILS(ENOTDIR, io_make_dirs(t.env, test_env_path(&t, "a/b/file/d"), &err));
  FAILS(ENOTEMPTY, io_remove_dir(t.env, test_env_path(&t, "a/b"), &err));
  FAILS(ENOENT, io_remove_dir(t.env, test_env_path(&t, "none"), &err));
  FAILS(ENOTDIR, io_remove_dir(t.env, test_env_path(&t, "a/b/file"), &err));
  FAILS(EISDIR, io_remove(t.env, dir, "c", &err));
  OK(io_remove_dir(t.env, test_env_path(&t, "a/b/c"), &err));
  void *none;
  FAILS(ENOENT, io_dir_open(t.env, test_env_path(&t, "none"), &none, &err));
  assert_non_null(strstr(err.message, "none"));
  FAILS(ENOTDIR, io_dir_open(t.env, test_env_path(&t, "a/b/file"), &none, &err));
  FAILS(EISDIR, io_open_read(t.env, NULL, test_env_path(&t, "a"), &none, &err));
  io_dir_close(t.env, dir);
}

static void whole_files(void **state) {
  (void)state;
  void *dir = open_dir("");
  CLEANUP(buf_dispose) buf b;
  buf_init(&b, t.env, 100);
  put(dir, "empty", "");
  OK(io_read_file(t.env, dir, "empty", 0, &b, &err));
  assert_int_equal(b.size, 0);
  put(dir, "ten", "0123456789");
  assert_int_equal(io_read_file(t.env, dir, "ten", 9, &b, &err), GLV_E_LIMIT);
  OK(io_read_file(t.env, dir, "ten", 10, &b, &err));
  OK(io_read_file(t.env, dir, "ten", 10, &b, &err));
  assert_string_equal(b.data, "01234567890123456789");
  FAILS(EEXIST, io_write_file(t.env, dir, "ten", "x", 1, false, &err));
  check_content(dir, "ten", "0123456789");
  io_fault_arm(&t.io, (io_fault_plan){IO_MASK(IO_OP_SYNC), 1, ENOSPC, false, false, false});
  FAILS(ENOSPC, io_write_file(t.env, dir, "new", "x", 1, true, &err));
  bool exists;
  OK(io_exists(t.env, dir, "new", &exists, &err));
  assert_false(exists);
  io_dir_close(t.env, dir);
}

static void large_file(void **state) {
  (void)state;
  enum { SIZE = 5 << 20 };
  char *data = mem_alloc(t.env, SIZE);
  for (size_t i = 0; i < SIZE; i++) {
    data[i] = (char)(i * 31 + i / 251);
  }
  void *dir = open_dir("");
  OK(io_write_file(t.env, dir, "large", data, SIZE, false, &err));
  CLEANUP(buf_dispose) buf b;
  buf_init(&b, t.env, SIZE);
  OK(io_read_file(t.env, dir, "large", SIZE, &b, &err));
  assert_memory_equal(b.data, data, SIZE);
  mem_free(t.env, data);
  io_dir_close(t.env, dir);
}

static void removing_a_tree(void **state) {
  (void)state;
  OK(io_make_dirs(t.env, test_env_path(&t, "x/a/b/c"), &err));
  OK(io_make_dirs(t.env, test_env_path(&t, "x/d"), &err));
  OK(io_make_dirs(t.env, test_env_path(&t, "keep"), &err));
  void *dir = open_dir("x/a/b/c");
  put(dir, "f", "x");
  put(dir, "g", "y");
  OK(io_remove_tree(t.env, test_env_path(&t, "x"), &err));
  FAILS(ENOENT, io_remove_tree(t.env, test_env_path(&t, "x"), &err));
  bool exists;
  OK(io_exists(t.env, NULL, test_env_path(&t, "x"), &exists, &err));
  assert_false(exists);
  OK(io_exists(t.env, NULL, test_env_path(&t, "keep"), &exists, &err));
  assert_true(exists);
  io_dir_close(t.env, dir);
}

static void clock_and_entropy(void **state) {
  (void)state;
  const int64_t before = env_now_ns(t.env);
  io_sleep_ns(t.env, 2000000);
  io_sleep_ns(t.env, -5);
  assert_true(env_now_ns(t.env) > before);
  unsigned char a[300];
  unsigned char b[300];
  OK(env_random(t.env, a, sizeof a, &err));
  OK(env_random(t.env, b, sizeof b, &err));
  assert_memory_not_equal(a, b, sizeof a);
  OK(env_random(t.env, a, 0, &err));
}

/* ---- the local store alone ---- */

static void links_are_removed_not_followed(void **state) {
  (void)state;
  OK(io_make_dirs(t.env, test_env_path(&t, "target"), &err));
  OK(io_make_dirs(t.env, test_env_path(&t, "x"), &err));
  void *dir = open_dir("target");
  put(dir, "precious", "x");
  assert_int_equal(symlink(test_env_path(&t, "target"), test_env_path(&t, "x/link")), 0);
  CLEANUP(arena_dispose) arena names;
  arena_init(&names, t.env);
  const char **list;
  bool *dirs;
  size_t count;
  OK(io_list_sorted(t.env, NULL, test_env_path(&t, "x"), &names, &list, &dirs, &count, &err));
  assert_true(count == 1 && dirs[0]);
  OK(io_remove_tree(t.env, test_env_path(&t, "x"), &err));
  check_content(dir, "precious", "x");
  io_dir_close(t.env, dir);
}

static void reports_name_the_path_and_the_reason(void **state) {
  (void)state;
  void *dir = open_dir("");
  put(dir, "a", "x");
  void *file;
  FAILS(EEXIST, io_create(t.env, dir, "a", &file, &err));
  char expected[200];
  snprintf(expected, sizeof expected, "cannot create '%s/a': file exists", t.root);
  assert_string_equal(err.message, expected);
  OK(io_open_read(t.env, dir, "a", &file, &err));
  char byte;
  assert_int_equal(io_read_at(t.env, file, 1, &byte, 1, &err), GLV_E_CORRUPT);
  snprintf(expected, sizeof expected, "file '%s/a' ends before byte 1 + 1", t.root);
  assert_string_equal(err.message, expected);
  OK(io_close(t.env, file, &err));
  io_dir_close(t.env, dir);
}

static void permission_denied(void **state) {
  (void)state;
  if (geteuid() == 0) {
    skip(); /* root may do everything */
  }
  OK(io_make_dirs(t.env, test_env_path(&t, "closed"), &err));
  void *dir = open_dir("closed");
  assert_int_equal(chmod(test_env_path(&t, "closed"), 0500), 0);
  void *file;
  FAILS(EACCES, io_create(t.env, dir, "a", &file, &err));
  assert_non_null(strstr(err.message, "permission denied"));
  FAILS(EACCES, io_make_dirs(t.env, test_env_path(&t, "closed/d"), &err));
  assert_int_equal(chmod(test_env_path(&t, "closed"), 0700), 0);
  io_dir_close(t.env, dir);
}

static void no_space_left(void **state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) {
    skip();
  }
  /* A device is not created by Glaive, so its descriptor is made here in the handle's form. */
  FILE *full = fopen("/dev/full", "w");
  void *file = (void *)((intptr_t)fileno(full) + 1);
  assert_int_equal(io_local()->write(NULL, file, "x", 1, &err), GLV_E_IO);
  assert_int_equal(err.sys_errno, ENOSPC);
  assert_string_equal(err.message, "cannot write '/dev/full': no space left on device");
  fclose(full);
}

static void a_fifo_does_not_hang(void **state) {
  (void)state;
  assert_int_equal(mkfifo(test_env_path(&t, "fifo"), 0600), 0);
  void *file;
  FAILS(EINVAL, io_open_read(t.env, NULL, test_env_path(&t, "fifo"), &file, &err));
}

static void descriptors_are_closed_on_exec(void **state) {
  (void)state;
  void *dir = open_dir("");
  char command[200];
  const int fd = (int)((intptr_t)dir - 1); /* the fault table passes the inner handle through */
  snprintf(command, sizeof command, "test ! -e /proc/self/fd/%d", fd);
  assert_int_equal(system(command), 0);
  io_dir_close(t.env, dir);
}

#define BOTH(test)                                                                                 \
  {#test " (memory)", test, open_mem, close_env, NULL}, {                                          \
#test " (local)", test, open_local, close_env, NULL                                            \
  }
#define LOCAL(test)                                                                                \
  { #test, test, open_local, close_env, NULL }

int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(create_write_read),
      BOTH(past_the_end_is_corrupt),
      BOTH(publishing),
      BOTH(an_open_file_survives_its_removal),
      BOTH(a_handle_stays_with_its_directory),
      BOTH(listing),
      BOTH(a_visitor_can_stop),
      BOTH(stat_and_exists),
      BOTH(directories),
      BOTH(whole_files),
      BOTH(large_file),
      BOTH(removing_a_tree),
      BOTH(clock_and_entropy),
      LOCAL(links_are_removed_not_followed),
      LOCAL(reports_name_the_path_and_the_reason),
      LOCAL(permission_denied),
      LOCAL(no_space_left),
      LOCAL(a_fifo_does_not_hang),
      LOCAL(descriptors_are_closed_on_exec),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
