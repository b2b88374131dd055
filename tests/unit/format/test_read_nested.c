/*
 * Lists and structs: the worked bytes of every layout with levels, what must be refused, and how
 * arrays are put together from the levels of several leaves.
 */
#include <stdio.h>
#include <string.h>

#include "format/assemble.h"
#include "read_support.h"

#define FLAT16 "0a{0810}"
#define FLAT32 "0a{0820}"
#define LIST_LAYOUT(items, layers)                                                                 \
  "0a{0a{" FLAT16 "} 12{" FLAT16 "} 1a{" FLAT32 "} 32{" layers "} 3801 4001 48" items " 5001}"

static const type any_list = {.kind = TYPE_LIST};
static const field item = {.name = "item", .type = NULL, .nullable = true};

/* A file with one column that is read as lists of int32, nested so many times. */
static glv_status read_lists(test_env *t, const made_page *p, int depth, uint64_t first,
                             uint64_t count, array *ret, glv_error *err) {
  const made_file f = {"int32", 2, 2, p->rows, p, 1, NULL, 0};
  CLEANUP(arena_dispose) arena memory;
  arena_init(&memory, t->env);
  field column = {.name = "l", .type = type_simple(TYPE_INT32), .nullable = true};
  for (int i = 0; i < depth; i++) {
    field inner = item;
    inner.type = column.type;
    column.type = type_list(&memory, TYPE_LIST, &inner);
  }
  file_reader *r = NULL;
  assert_int_equal(file_reader_open(t->env, NULL, made_file_write(t, &f), &r, err), GLV_OK);
  const glv_status status = file_reader_read(r, 0, &column, first, count, NULL, 0, ret, err);
  for (array *a = ret; status == GLV_OK && a->type != NULL; a = &a->children[0]) {
    a->type = a->child_count != 0 ? &any_list : type_simple(TYPE_INT32); /* outlives the arena */
    if (a->child_count == 0) {
      break;
    }
  }
  file_reader_unref(r);
  return status;
}

/* Compares one level: offsets, and validity as '0' and '1'. */
static void assert_lists(const array *a, const int32_t *offsets, const char *valid) {
  assert_int_equal(a->length, strlen(valid));
  for (size_t i = 0; i < a->length; i++) {
    assert_int_equal(array_is_valid(a, i), valid[i] == '1');
    assert_int_equal(ARRAY_VALUES(a, int32_t)[i], offsets[i]);
  }
  assert_int_equal(ARRAY_VALUES(a, int32_t)[a->length], offsets[a->length]);
}

static void lists_are_read(test_env *t, const made_page *p, int depth, array *ret) {
  glv_error err = {0};
  if (read_lists(t, p, depth, 0, p->rows, ret, &err) != GLV_OK) {
    fail_msg("%s", err.message);
  }
}

static void lists_fail(test_env *t, const made_page *p, glv_status code, const char *text) {
  array a = {0};
  glv_error err = {0};
  const glv_status status = read_lists(t, p, 1, 0, p->rows, &a, &err);
  if (status != code || strstr(err.message, text) == NULL) {
    fail_msg("status %d '%s' instead of %d '%s'", (int)status, err.message, (int)code, text);
  }
}

/* ---- mini-block ---- */

/* [[1, 2], [], null, [3, null], [4]] */
#define FIVE_LISTS                                                                                 \
  "0700 0e00 0e00 14000000 000000000000"                                                           \
  "0100 0000 0100 0100 0100 0000 0100 0000"                                                        \
  "0000 0000 0300 0200 0000 0100 0000 0000"                                                        \
  "01000000 02000000 03000000 00000000 04000000 00000000"
static const made_page five = {
    5, LIST_LAYOUT("05", "0306"), {"80000000", FIVE_LISTS, "0500000000000000 0000000000000000"}};

static void mini_lists(void **state) {
  array a = {0};
  lists_are_read(*state, &five, 1, &a);
  assert_lists(&a, (const int32_t[]){0, 2, 2, 2, 4, 5}, "11011");
  assert_int32(&a.children[0], (const int32_t[]){1, 2, 3, 0, 4}, "11101");
  array_unref(&a);
  glv_error err;
  assert_int_equal(read_lists(*state, &five, 1, 2, 2, &a, &err), GLV_OK);
  assert_lists(&a, (const int32_t[]){0, 0, 2}, "01");
  assert_int32(&a.children[0], (const int32_t[]){3, 0}, "10");
  array_unref(&a);
}

static void mini_lists_refused(void **state) {
  made_page p = five;
  p.buffers[2] = "0400000000000000 0000000000000000";
  lists_fail(*state, &p, GLV_E_CORRUPT, "fewer rows");
  p.buffers[2] = "0600000000000000 0000000000000000";
  lists_fail(*state, &p, GLV_E_CORRUPT, "more rows");
  p.buffers[2] = "0400000000000000 0100000000000000";
  lists_fail(*state, &p, GLV_E_CORRUPT, "fewer rows");
  p.buffers[2] = "0500000000000000";
  lists_fail(*state, &p, GLV_E_CORRUPT, "a repetition index of 8 bytes for 1 chunks");
  p = five;
  p.layout = LIST_LAYOUT("05", "0304"); /* no level for empty lists */
  lists_fail(*state, &p, GLV_E_CORRUPT, "the definition level 3, but its layers end at 2");
  p.layout = LIST_LAYOUT("05", "030606"); /* two levels of lists */
  lists_fail(*state, &p, GLV_E_CORRUPT, "a page with 3 layers for a type with 2");
  p.layout = LIST_LAYOUT("05", "0309");
  lists_fail(*state, &p, GLV_E_CORRUPT, "a layer of unknown kind 9");
  p.layout = LIST_LAYOUT("05", "03");
  lists_fail(*state, &p, GLV_E_CORRUPT, "repetition levels but no list layer");
}

/* A stream of levels as runs: n of one value, and the last of another one. */
static size_t put_runs(char *to, size_t room, size_t n, const char *value, const char *last) {
  const size_t runs = (n + 254) / 255;
  size_t at = (size_t)snprintf(to, room, "%02x%02x000000000000", (unsigned)(2 * (runs + 1)) & 255,
                               (unsigned)(2 * (runs + 1)) >> 8);
  for (size_t i = 0; i < runs; i++) {
    at += (size_t)snprintf(to + at, room - at, "%s", value);
  }
  at += (size_t)snprintf(to + at, room - at, "%s", last);
  for (size_t left = n; left != 0; left -= left < 255 ? left : 255) {
    at += (size_t)snprintf(to + at, room - at, "%02x", (unsigned)(left < 255 ? left : 255));
  }
  at += (size_t)snprintf(to + at, room - at, "01");
  while (at % 16 != 0) {
    at += (size_t)snprintf(to + at, room - at, "fe");
  }
  return at;
}

#define RUNS16 "42{0a{" FLAT16 "} 12{0a{0808}}}"

/* 65,542 lists that are null, and one with an item, in one chunk whose number of levels wraps. */
static void wrapped_level_counts(void **state) {
  enum { NULLS = 65542, STREAM = 785 }; /* 8 + 259 runs of 3 bytes */
  static char chunk[4000];
  size_t at = (size_t)snprintf(chunk, sizeof chunk, "0700 1103 1103 04000000 fefefefefefe");
  at += put_runs(chunk + at, sizeof chunk - at, NULLS, "0100", "0100");
  at += put_runs(chunk + at, sizeof chunk - at, NULLS, "0100", "0000");
  snprintf(chunk + at, sizeof chunk - at, "09000000 fefefefe");
  assert_int_equal(hex_bytes(chunk, (uint8_t[2000]){0}, 2000), 24 + 2 * align_up(STREAM, 8));
  made_page p = {NULLS + 1,
                 "0a{0a{" RUNS16 "} 12{" RUNS16 "} 1a{" FLAT32 "} 32{0104} 3801 4001 4801 5001}",
                 {"800c0000", chunk, "0700010000000000 0000000000000000"}};
  array a = {0};
  lists_are_read(*state, &p, 1, &a);
  assert_int_equal(array_null_count(&a), NULLS);
  assert_true(array_is_valid(&a, NULLS));
  assert_int32(&a.children[0], (const int32_t[]){9}, "1");
  array_unref(&a);
  chunk[1] = '6'; /* 6 levels are not what 65,543 wrap to */
  lists_fail(*state, &p, GLV_E_CORRUPT, "a chunk has 65543 levels and claims to have 6");
  chunk[1] = '7';
  const size_t last = strlen(chunk) - 2 * 8 - 1;
  char *end = chunk + last;
  while (strncmp(end, "01", 2) != 0) { /* the last run of the definition levels */
    end--;
  }
  end[1] = '2';
  lists_fail(*state, &p, GLV_E_CORRUPT, "65543 repetition and 65544 definition levels");
}

/* ---- full-zip ---- */

/* [[1, 2], [], null, [3, null]] */
static const made_page zipped = {
    4,
    "1a{0801 1002 1820 2806 3004 3a{" FLAT32 "} 42{0306}}",
    {"04 01000000 00 02000000 07 06 04 03000000 01 00000000", "00 0a 0b 0c 16"}};

static void zip_lists(void **state) {
  array a = {0};
  lists_are_read(*state, &zipped, 1, &a);
  assert_lists(&a, (const int32_t[]){0, 2, 2, 2, 4}, "1101");
  assert_int32(&a.children[0], (const int32_t[]){1, 2, 3, 0}, "1110");
  array_unref(&a);
}

static void zip_lists_refused(void **state) {
  made_page p = zipped;
  p.buffers[1] = "00 0a 0b 0c 17";
  lists_fail(*state, &p, GLV_E_CORRUPT, "points outside");
  p.buffers[1] = "00 0b 0b 0c 16";
  lists_fail(*state, &p, GLV_E_CORRUPT, "a full-zip");
  p.buffers[1] = "00 09 0b 0c 16";
  lists_fail(*state, &p, GLV_E_CORRUPT, "reaches past its end");
  p.buffers[1] = "00 0a 0b";
  lists_fail(*state, &p, GLV_E_CORRUPT, "a row index of 3 bytes for 4 rows");
  p = zipped;
  p.buffers[0] = "04 01000000 04 02000000 07 06 04 03000000 01 00000000";
  lists_fail(*state, &p, GLV_E_CORRUPT, "the levels 1 and 0");
}

/* ---- constant ---- */

static void constant_lists(void **state) {
  array a = {0};
  const made_page nulls = {3,
                           "12{2a{0106} 3a{" FLAT16 "} 42{" FLAT16 "} 4803 5003}",
                           {"0100 0100 0100", "0100 0200 0100"}};
  lists_are_read(*state, &nulls, 1, &a);
  assert_lists(&a, (const int32_t[]){0, 0, 0, 0}, "010");
  array_unref(&a);
  const made_page sevens = {
      3, "12{2a{0306} 32{07000000}}", {"0100 0000 0100 0100", "0000 0100 0300 0000"}};
  lists_are_read(*state, &sevens, 1, &a);
  assert_lists(&a, (const int32_t[]){0, 2, 2, 3}, "111");
  assert_int32(&a.children[0], (const int32_t[]){7, 0, 7}, "101");
  array_unref(&a);
  const made_page few = {3, sevens.layout, {"0100 0000 0100 0000", "0000 0100 0300 0000"}};
  lists_fail(*state, &few, GLV_E_CORRUPT, "do not tell of its 3 rows");
  const made_page uneven = {3, sevens.layout, {"0100 0000 0100 0100", "0000 0100 0300"}};
  lists_fail(*state, &uneven, GLV_E_CORRUPT, "4 repetition and 3 definition levels");
  const made_page headless = {3, sevens.layout, {"", "0000 0100 0300 0000"}};
  lists_fail(*state, &headless, GLV_E_CORRUPT, "no repetition levels");
}

/* [[[1,2],[3]], [], null, [[],null,[4]]] */
static void lists_of_lists(void **state) {
  array a = {0};
  const made_page p = {
      4,
      LIST_LAYOUT("04", "010606"),
      {"70000000",
       "0800 1000 1000 10000000 000000000000 0200 0000 0100 0200 0200 0200 0100 0100"
       "0000 0000 0000 0400 0300 0200 0100 0000 01000000 02000000 03000000 04000000",
       "0400000000000000 0000000000000000"}};
  lists_are_read(*state, &p, 2, &a);
  assert_lists(&a, (const int32_t[]){0, 2, 2, 2, 5}, "1101");
  assert_lists(&a.children[0], (const int32_t[]){0, 2, 3, 3, 3, 4}, "11101");
  assert_int32(&a.children[0].children[0], (const int32_t[]){1, 2, 3, 4}, "1111");
  array_unref(&a);
}

/* ---- assembly ---- */

typedef struct two_leaves {
  arena memory;
  field_place places[5];
  field column;
  leaf_data leaves[2];
  uint16_t levels[4][4];
} two_leaves;

static void make_leaf(two_leaves *w, test_env *t, size_t i, const uint16_t *rep,
                      const uint16_t *def, size_t count, size_t values) {
  leaf_data *l = &w->leaves[i];
  void *data;
  glv_error err;
  *l = (leaf_data){.place = &w->places[2 + i], .path = {3, 1 << 2, 1}};
  l->levels = (level_list){.env = t->env, .has_rep = true};
  assert_int_equal(level_list_reserve(&l->levels, count, &err), GLV_OK);
  memcpy(l->levels.rep, rep, count * sizeof *rep);
  memcpy(l->levels.def, def, count * sizeof *def);
  l->levels.count = count;
  assert_int_equal(
      array_new_fixed(t->env, type_simple(TYPE_INT32), values, &l->values, &data, &err), GLV_OK);
  memset(data, 0, values * sizeof(int32_t));
}

/* list<struct<a, b>> of two rows, whose second leaf has these levels. */
static glv_status assemble_two(test_env *t, const uint16_t *rep, const uint16_t *def, size_t count,
                               size_t values, array *ret, glv_error *err) {
  two_leaves w = {0};
  arena_init(&w.memory, t->env);
  const field parts[] = {{.name = "a", .type = type_simple(TYPE_INT32), .nullable = true},
                         {.name = "b", .type = type_simple(TYPE_INT32), .nullable = true}};
  field inner = item;
  inner.type = type_struct(&w.memory, parts, 2);
  w.column = (field){.name = "l", .type = type_list(&w.memory, TYPE_LIST, &inner)};
  w.places[0] = (field_place){.field = &w.column, .children = &w.places[1], .child_count = 1};
  w.places[1] = (field_place){
      .field = &w.column.type->children[0], .children = &w.places[2], .child_count = 2};
  w.places[2] = (field_place){.field = &w.places[1].field->type->children[0]};
  w.places[3] = (field_place){.field = &w.places[1].field->type->children[1]};
  make_leaf(&w, t, 0, (const uint16_t[]){1, 0, 1}, (const uint16_t[]){0, 2, 1}, 3, 3);
  make_leaf(&w, t, 1, rep, def, count, values);
  const glv_status status = assemble(t->env, &w.places[0], w.leaves, 2, 2, ret, err);
  if (status == GLV_OK) {
    assert_lists(ret, (const int32_t[]){0, 2, 3}, "11");
    assert_false(array_is_valid(&ret->children[0], 1));
    array_unref(ret);
  }
  for (size_t i = 0; i < 2; i++) {
    level_list_dispose(&w.leaves[i].levels);
    array_unref(&w.leaves[i].values);
  }
  arena_dispose(&w.memory);
  return status;
}

static void siblings_must_agree(void **state) {
  test_env *t = *state;
  array a = {0};
  glv_error err;
  const uint16_t same[] = {1, 0, 1};
  const uint16_t def[] = {1, 2, 0};
  assert_int_equal(assemble_two(t, same, def, 3, 3, &a, &err), GLV_OK);
  const uint16_t other[] = {1, 1, 0};
  assert_int_equal(assemble_two(t, other, def, 3, 3, &a, &err), GLV_E_CORRUPT);
  assert_non_null(strstr(err.message, "incompatible list metadata"));
  const uint16_t more[] = {1, 1, 1};
  assert_int_equal(assemble_two(t, more, def, 3, 3, &a, &err), GLV_E_CORRUPT);
  assert_int_equal(assemble_two(t, same, def, 2, 2, &a, &err), GLV_E_CORRUPT);
  assert_int_equal(assemble_two(t, same, def, 3, 2, &a, &err), GLV_E_CORRUPT);
  const uint16_t null_list[] = {1, 2, 3};
  assert_int_equal(assemble_two(t, same, null_list, 3, 2, &a, &err), GLV_E_CORRUPT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_env_setup, test_env_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(mini_lists),     TEST(mini_lists_refused),  TEST(wrapped_level_counts),
      TEST(zip_lists),      TEST(zip_lists_refused),   TEST(constant_lists),
      TEST(lists_of_lists), TEST(siblings_must_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
