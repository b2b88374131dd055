/* Keys: making, finding and revoking them; namespaces; what the file holds. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/keys.h"
#include "support/cmocka.h"
#include "support/test_env.h"

typedef struct fixture {
  test_env t;
  char dir[128];
  glv_error err;
} fixture;

static void open_fixture(fixture *f) {
  test_env_open_local(&f->t);
  snprintf(f->dir, sizeof f->dir, "%s/.glaive", f->t.root);
}

static void make_key(fixture *f, const char *scope, const char *ns, char text[KEY_TEXT_SIZE + 1],
                     char id[64]) {
  json *made = NULL;
  const glv_strs names = {&ns, ns != NULL};
  assert_int_equal(keys_create(f->t.env, f->dir, scope, names, &made, &f->err), GLV_OK);
  const str key = js_string(js_member(made, "key"));
  assert_int_equal(key.size, KEY_TEXT_SIZE);
  memcpy(text, key.data, key.size);
  text[key.size] = '\0';
  snprintf(id, 64, "%s", js_string(js_member(made, "id")).data);
  js_free(made);
}

static void read_file(const fixture *f, char *text, size_t size) {
  char path[256];
  struct stat st;
  snprintf(path, sizeof path, "%s/keys.json", f->dir);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, size - 1, file)] = '\0';
  fclose(file);
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
}

static void write_file(const fixture *f, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/keys.json", f->dir);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void without_keys_nobody_is_asked(void **state) {
  (void)state;
  fixture f;
  keys *k = NULL;
  access_key *found;
  open_fixture(&f);
  assert_int_equal(keys_open(f.t.env, f.dir, &k, &f.err), GLV_OK);
  assert_false(keys_are_needed(k));
  assert_int_equal(keys_find(k, "anything", &found, &f.err), GLV_OK);
  assert_null(found);
  assert_true(key_covers(NULL, (glv_id){NULL, 0}));
  keys_free(k);
  test_env_close(&f.t);
}

static void keys_are_found_by_their_text(void **state) {
  (void)state;
  fixture f;
  keys *k = NULL;
  access_key *found;
  char first[KEY_TEXT_SIZE + 1];
  char second[KEY_TEXT_SIZE + 1];
  char ids[2][64];
  char file[4096];
  open_fixture(&f);
  make_key(&f, "read", NULL, first, ids[0]);
  make_key(&f, "admin", "ops.\"a.b\"", second, ids[1]);
  read_file(&f, file, sizeof file);
  assert_null(strstr(file, first + 4));
  assert_null(strstr(file, second + 4));
  assert_int_equal(keys_open(f.t.env, f.dir, &k, &f.err), GLV_OK);
  assert_true(keys_are_needed(k));
  assert_int_equal(keys_find(k, first, &found, &f.err), GLV_OK);
  assert_string_equal(found->id, ids[0]);
  assert_int_equal(found->scope, ACCESS_READ);
  key_unref(found);
  assert_int_equal(keys_find(k, second, &found, &f.err), GLV_OK);
  assert_string_equal(found->id, ids[1]);
  assert_int_equal(found->scope, ACCESS_ADMIN);
  assert_int_equal(found->namespace_count, 1);
  key_unref(found);
  char wrong[2000];
  memset(wrong, 'x', sizeof wrong - 1);
  wrong[sizeof wrong - 1] = '\0';
  assert_int_equal(keys_find(k, wrong, &found, &f.err), GLV_E_UNAUTHENTICATED);
  assert_int_equal(keys_find(k, NULL, &found, &f.err), GLV_E_UNAUTHENTICATED);
  assert_int_equal(keys_find(k, "", &found, &f.err), GLV_E_UNAUTHENTICATED);
  first[10] = first[10] == '0' ? '1' : '0';
  assert_int_equal(keys_find(k, first, &found, &f.err), GLV_E_UNAUTHENTICATED);
  keys_free(k);
  test_env_close(&f.t);
}

static void changes_are_noticed(void **state) {
  (void)state;
  fixture f;
  keys *k = NULL;
  access_key *held;
  access_key *found;
  char text[KEY_TEXT_SIZE + 1];
  char id[64];
  open_fixture(&f);
  assert_int_equal(keys_open(f.t.env, f.dir, &k, &f.err), GLV_OK);
  make_key(&f, "write", NULL, text, id);
  assert_false(keys_are_needed(k));
  keys_refresh(k);
  assert_true(keys_are_needed(k));
  assert_int_equal(keys_find(k, text, &held, &f.err), GLV_OK);
  assert_int_equal(keys_revoke(f.t.env, f.dir, "nobody", &f.err), GLV_E_INVALID_INPUT);
  assert_int_equal(keys_revoke(f.t.env, f.dir, id, &f.err), GLV_OK);
  keys_refresh(k);
  /* The last key is gone, and still nobody gets in without one. */
  assert_true(keys_are_needed(k));
  assert_int_equal(keys_find(k, text, &found, &f.err), GLV_E_UNAUTHENTICATED);
  assert_string_equal(held->id, id);
  key_unref(held);
  /* What cannot be read leaves things as they are. */
  make_key(&f, "write", NULL, text, id);
  keys_refresh(k);
  write_file(&f, "{\"keys\": [{\"id\": 1}]}");
  keys_refresh(k);
  assert_int_equal(keys_find(k, text, &found, &f.err), GLV_OK);
  key_unref(found);
  keys_free(k);
  test_env_close(&f.t);
}

static void files_are_checked(void **state) {
  (void)state;
  fixture f;
  char text[KEY_TEXT_SIZE + 1];
  char id[64];
  open_fixture(&f);
  make_key(&f, "read", NULL, text, id);
  static const char *const bad[] = {
      "x",
      "[]",
      "{}",
      "{\"keys\": {}}",
      "{\"keys\": [1]}",
      "{\"keys\": [{\"id\":\"a\",\"sha256\":\"00\",\"scope\":\"read\",\"namespaces\":[],"
      "\"created\":\"\"}]}",
      "{\"keys\": [{\"id\":\"a\",\"sha256\":"
      "\"0000000000000000000000000000000000000000000000000000000000000000\",\"scope\":\"root\","
      "\"namespaces\":[],\"created\":\"\"}]}",
      "{\"keys\": [{\"id\":\"a\",\"sha256\":"
      "\"0000000000000000000000000000000000000000000000000000000000000000\",\"scope\":\"read\","
      "\"namespaces\":[1],\"created\":\"\"}]}"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    keys *k = NULL;
    write_file(&f, bad[i]);
    assert_int_equal(keys_open(f.t.env, f.dir, &k, &f.err), GLV_E_CORRUPT);
  }
  json *made = NULL;
  assert_int_equal(keys_create(f.t.env, f.dir, "root", (glv_strs){NULL, 0}, &made, &f.err),
                   GLV_E_INVALID_INPUT);
  const char *ns = "a..b";
  assert_int_equal(keys_create(f.t.env, f.dir, "read", (glv_strs){&ns, 1}, &made, &f.err),
                   GLV_E_INVALID_INPUT);
  test_env_close(&f.t);
}

#define ID(...)                                                                                    \
  ((glv_id){(const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)})

static void namespaces_cover_what_is_below(void **state) {
  (void)state;
  const glv_id own[] = {ID("ops", "nyc"), ID("a")};
  const access_key key = {.namespaces = own, .namespace_count = 2};
  const glv_id root = {NULL, 0};
  assert_true(key_covers(&key, ID("ops", "nyc")));
  assert_true(key_covers(&key, ID("ops", "nyc", "x")));
  assert_true(key_covers(&key, ID("a", "ops")));
  assert_false(key_covers(&key, ID("ops")));
  assert_false(key_covers(&key, ID("ops", "nycx")));
  assert_false(key_covers(&key, root));
  assert_true(key_leads_to(&key, root));
  assert_true(key_leads_to(&key, ID("ops")));
  assert_false(key_leads_to(&key, ID("b")));
  assert_false(key_leads_to(&key, ID("ops", "nyc", "x")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_keys_nobody_is_asked),
      cmocka_unit_test(keys_are_found_by_their_text),
      cmocka_unit_test(changes_are_noticed),
      cmocka_unit_test(files_are_checked),
      cmocka_unit_test(namespaces_cover_what_is_below),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
