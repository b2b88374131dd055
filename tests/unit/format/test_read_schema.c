/* Stored schemas: from messages and back, from and to Arrow, logical types. */
#include <stdlib.h>
#include <string.h>

#include "format/lance_schema.h"
#include "format/logical_type.h"
#include "pb/lance_file.pb-c.h"
#include "pb/pb.h"
#include "read_support.h"

typedef struct fixture {
  test_env t;
  arena memory;
} fixture;

static int open_fixture(void **state) {
  fixture *f = calloc(1, sizeof *f);
  test_env_open_mem(&f->t);
  arena_init(&f->memory, f->t.env);
  *state = f;
  return 0;
}

static int close_fixture(void **state) {
  fixture *f = *state;
  arena_dispose(&f->memory);
  test_env_close(&f->t);
  free(f);
  return 0;
}

/* ---- logical types ---- */

static void types_print_as_they_were(void **state) {
  fixture *f = *state;
  static const char *const texts[] = {
      "null",
      "bool",
      "int8",
      "uint64",
      "halffloat",
      "float",
      "double",
      "string",
      "large_string",
      "binary",
      "large_binary",
      "date32:day",
      "date64:ms",
      "time32:s",
      "time32:ms",
      "time64:us",
      "time64:ns",
      "duration:ms",
      "timestamp:s:-",
      "timestamp:us:UTC",
      "timestamp:s:+08:00",
      "timestamp:ns:Europe/Paris",
      "decimal:128:20:3",
      "decimal:256:60:-2",
      "dict:string:int16:false",
      "dict:bool:uint64:false",
      "dict:large_string:int8:false",
      "fixed_size_binary:7",
      "fixed_size_list:float:4",
      "fixed_size_list:fixed_size_list:float:3:2",
      "fixed_size_list:timestamp:us:-:4",
      "fixed_size_list:timestamp:s:+08:00:4",
      "fixed_size_list:lance.bfloat16:4",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    const type *t = NULL;
    const char *text = NULL;
    glv_error err;
    assert_int_equal(logical_type_parse(&f->memory, str_of(texts[i]), &t, &err), GLV_OK);
    assert_non_null(t);
    const field plain = {.name = "x", .type = t};
    assert_int_equal(logical_type_print(&f->memory, &plain, &text, &err), GLV_OK);
    assert_string_equal(text, texts[i]);
  }
  const type *t = NULL;
  glv_error err;
  assert_int_equal(
      logical_type_parse(&f->memory, STR("fixed_size_list:fixed_size_list:float:3:2"), &t, &err),
      GLV_OK);
  assert_int_equal(t->width, 2);
  assert_int_equal(t->children[0].type->width, 3);
  assert_string_equal(t->children[0].name, "item");
  assert_true(t->children[0].nullable);
}

static void types_refused(void **state) {
  fixture *f = *state;
  static const char *const malformed[] = {
      "timestamp:us",
      "timestamp:xs:-",
      "timestamp:us:",
      "time32:us",
      "time64:s",
      "duration:min",
      "decimal:128:20",
      "decimal:64:5:2",
      "decimal:128:39:0",
      "decimal:128:5:6",
      "dict:string",
      "fixed_size_binary:x",
      "fixed_size_binary:-1",
      "fixed_size_list:float:",
      "fixed_size_list:float",
      "fixed_size_list:float:99999999999",
  };
  static const char *const unknown[] = {
      "",
      "struct",
      "map",
      "dict:timestamp:us:-:int16:false",
      "dict:string:float:false",
      "int128",
      "fixed_size_list:struct:2",
      "interval:months",
  };
  glv_error err;
  const type *t = NULL;
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
    assert_int_equal(logical_type_parse(&f->memory, str_of(malformed[i]), &t, &err), GLV_E_CORRUPT);
  }
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    assert_int_equal(logical_type_parse(&f->memory, str_of(unknown[i]), &t, &err), GLV_OK);
    assert_null(t);
  }
  char deep[4096] = "";
  for (int i = 0; i < 100; i++) {
    strcat(deep, "fixed_size_list:");
  }
  strcat(deep, "float");
  for (int i = 0; i < 100; i++) {
    strcat(deep, ":1");
  }
  assert_int_equal(logical_type_parse(&f->memory, str_of(deep), &t, &err), GLV_E_LIMIT);
}

/* ---- messages ---- */

typedef struct made_field {
  const char *name;
  int32_t id;
  int32_t parent;
  const char *type;
} made_field;

static glv_status make_schema(fixture *f, const made_field *fields, size_t count,
                              lance_schema **ret, glv_error *err) {
  Lance__File__Field **messages = ARENA_ARRAY(&f->memory, Lance__File__Field *, count);
  for (size_t i = 0; i < count; i++) {
    messages[i] = ARENA_NEW(&f->memory, Lance__File__Field);
    lance__file__field__init(messages[i]);
    messages[i]->name = arena_strdup(&f->memory, str_of(fields[i].name));
    messages[i]->id = fields[i].id;
    messages[i]->parent_id = fields[i].parent;
    messages[i]->logical_type = arena_strdup(&f->memory, str_of(fields[i].type));
    messages[i]->nullable = true;
  }
  return lance_schema_from_messages(&f->memory, messages, count, (metadata){0}, ret, err);
}

static void trees_are_put_together(void **state) {
  fixture *f = *state;
  static const made_field fields[] = {
      {"id", 0, -1, "int64"},   {"l", 1, -1, "list"},  {"item", 2, 1, "int32"},
      {"st", 3, -1, "struct"},  {"a", 4, 3, "string"}, {"in", 5, 3, "struct"},
      {"b", 6, 5, "double"},    {"c", 7, 3, "bool"},   {"ll", 8, -1, "large_list.struct"},
      {"item", 9, 8, "struct"}, {"x", 10, 9, "int8"},  {"v", 11, -1, "fixed_size_list:float:3"},
  };
  lance_schema *s = NULL;
  glv_error err;
  assert_int_equal(make_schema(f, fields, 12, &s, &err), GLV_OK);
  assert_int_equal(s->field_count, 5);
  const lance_field *leaves[16];
  assert_int_equal(lance_schema_columns(s, FORMAT_2_2, leaves, 16), 7);
  static const int32_t ids[] = {0, 2, 4, 6, 7, 10, 11};
  for (size_t i = 0; i < 7; i++) {
    assert_int_equal(leaves[i]->id, ids[i]);
    assert_true(leaves[i]->is_leaf);
  }
  assert_int_equal(lance_schema_columns(s, FORMAT_2_0, leaves, 16), 12);
  for (size_t i = 0; i < 12; i++) {
    assert_int_equal(leaves[i]->id, i);
  }
  const lance_field *l = lance_schema_find(s, STR("l"));
  assert_true(l->is_supported && l->arrow.type->kind == TYPE_LIST);
  assert_int_equal(l->arrow.type->children[0].type->kind, TYPE_INT32);
  const lance_field *st = lance_schema_find(s, STR("st"));
  assert_true(st->is_supported && !st->is_leaf);
  assert_string_equal(TYPE_TEXT(st->arrow.type),
                      "struct<a: string, in: struct<b: double>, c: bool>");
  assert_int_equal(st->child_count, 3);
  assert_string_equal(st->children[2].arrow.name, "c");
  assert_ptr_equal(lance_schema_find_id(s, 6), &st->children[1].children[0]);
  assert_null(lance_schema_find_id(s, 12));
  assert_null(lance_schema_find(s, STR("item")));
  schema *arrow = NULL;
  assert_int_equal(lance_schema_to_arrow(f->t.env, s, &arrow, &err), GLV_OK);
  assert_true(type_equal(arrow->fields[2].type, st->arrow.type));
  schema_unref(arrow);

  Lance__File__Field **messages = NULL;
  size_t count = 0;
  assert_int_equal(lance_schema_to_messages(&f->memory, s, &messages, &count, &err), GLV_OK);
  assert_int_equal(count, 12);
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(messages[i]->name, fields[i].name);
    assert_int_equal(messages[i]->parent_id, fields[i].parent);
  }
}

static void ids_may_repeat(void **state) {
  fixture *f = *state;
  static const made_field fields[] = {
      {"blob", 1, -1, "struct"}, {"kind", -1, 1, "uint8"}, {"position", -1, 1, "uint64"},
      {"again", 1, -1, "list"},  {"item", 5, 1, "int8"},
  };
  lance_schema *s = NULL;
  glv_error err;
  assert_int_equal(make_schema(f, fields, 5, &s, &err), GLV_OK);
  assert_int_equal(s->field_count, 2);
  assert_int_equal(s->fields[0].child_count, 2);
  assert_int_equal(s->fields[1].child_count, 1); /* the nearest earlier field is the parent */
}

static void broken_trees_refused(void **state) {
  fixture *f = *state;
  lance_schema *s = NULL;
  glv_error err;
  static const made_field orphan[] = {{"x", 2, 1, "int8"}, {"y", 1, -1, "list"}};
  assert_int_equal(make_schema(f, orphan, 2, &s, &err), GLV_E_CORRUPT);
  assert_non_null(strstr(err.message, "parent 1 of field 'x'"));
  static const made_field childless[] = {{"l", 1, -1, "list"}};
  assert_int_equal(make_schema(f, childless, 1, &s, &err), GLV_E_CORRUPT);
  static const made_field crowded[] = {
      {"l", 1, -1, "list"}, {"a", 2, 1, "int8"}, {"b", 3, 1, "int8"}};
  assert_int_equal(make_schema(f, crowded, 3, &s, &err), GLV_E_CORRUPT);
  made_field deep[100];
  for (int32_t i = 0; i < 100; i++) {
    deep[i] = (made_field){"d", i, i - 1, "list"};
  }
  assert_int_equal(make_schema(f, deep, 100, &s, &err), GLV_E_LIMIT);
}

/* Fields that this version does not know go through unchanged. */
static void unknown_fields_survive(void **state) {
  fixture *f = *state;
  uint8_t bytes[64];
  const size_t size =
      hex_bytes("12{61} 20ffffffffffffffffff01 2a{696e74 38} ba3e{7a} 6001", bytes, sizeof bytes);
  ProtobufCMessage *m = NULL;
  glv_error err;
  const str stored = str_slice((const char *)bytes, size);
  assert_int_equal(
      pb_unpack(&f->memory, stored, &lance__file__field__descriptor, "field", &m, &err), GLV_OK);
  Lance__File__Field *field_message = (Lance__File__Field *)m;
  lance_schema *s = NULL;
  assert_int_equal(
      lance_schema_from_messages(&f->memory, &field_message, 1, (metadata){0}, &s, &err), GLV_OK);
  Lance__File__Field **messages = NULL;
  size_t count = 0;
  assert_int_equal(lance_schema_to_messages(&f->memory, s, &messages, &count, &err), GLV_OK);
  assert_int_equal(count, 1);
  assert_true(messages[0]->unenforced_primary_key);
  str packed;
  str original;
  assert_int_equal(pb_pack_arena(&f->memory, &messages[0]->base, &packed, &err), GLV_OK);
  assert_int_equal(pb_pack_arena(&f->memory, m, &original, &err), GLV_OK);
  assert_true(str_equal(packed, original));
}

/* ---- Arrow ---- */

static void arrow_schemas_are_numbered(void **state) {
  fixture *f = *state;
  const pair pairs[] = {{STR("k"), {"v\0w", 3}}};
  const field item = {.name = "item", .type = type_simple(TYPE_UTF8), .nullable = true};
  const field fields[] = {
      {.name = "id", .type = type_simple(TYPE_INT64)},
      {.name = "l", .type = type_list(&f->memory, TYPE_LIST, &item), .nullable = true},
      {.name = "view",
       .type = type_simple(TYPE_UTF8_VIEW),
       .nullable = true,
       .metadata = {pairs, 1}},
      {.name = "n", .type = type_simple(TYPE_NULL), .nullable = true},
  };
  int32_t next = 5;
  lance_schema *s = NULL;
  glv_error err;
  assert_int_equal(
      lance_schema_from_arrow(&f->memory, fields, 4, (metadata){pairs, 1}, &next, &s, &err),
      GLV_OK);
  assert_int_equal(next, 10);
  static const int32_t ids[] = {5, 6, 8, 9};
  static const int32_t hints[] = {1, 1, 2, 0};
  static const char *const types[] = {"int64", "list", "string", "null"};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(s->fields[i].id, ids[i]);
    assert_int_equal(s->fields[i].encoding, hints[i]);
    assert_string_equal(s->fields[i].logical_type, types[i]);
  }
  assert_int_equal(s->fields[1].children[0].id, 7);
  assert_int_equal(s->fields[1].children[0].parent_id, 6);
  assert_int_equal(s->fields[2].arrow.type->kind, TYPE_UTF8);

  /* through messages, and to Arrow */
  Lance__File__Field **messages = NULL;
  size_t count = 0;
  lance_schema *again = NULL;
  schema *arrow = NULL;
  assert_int_equal(lance_schema_to_messages(&f->memory, s, &messages, &count, &err), GLV_OK);
  assert_int_equal(count, 5);
  assert_int_equal(
      lance_schema_from_messages(&f->memory, messages, count, s->metadata, &again, &err), GLV_OK);
  assert_int_equal(lance_schema_to_arrow(f->t.env, again, &arrow, &err), GLV_OK);
  assert_int_equal(arrow->field_count, 4);
  assert_false(arrow->fields[0].nullable);
  assert_true(type_equal(arrow->fields[1].type, fields[1].type));
  assert_true(str_equal(metadata_get(arrow->fields[2].metadata, STR("k"), NULL), pairs[0].value));
  assert_true(str_equal(metadata_get(arrow->metadata, STR("k"), NULL), pairs[0].value));
  schema_unref(arrow);
}

static void from_arrow_fails(fixture *f, const field *fields, size_t count, glv_status status,
                             const char *text) {
  int32_t next = 0;
  lance_schema *s = NULL;
  glv_error err;
  assert_int_equal(
      lance_schema_from_arrow(&f->memory, fields, count, (metadata){0}, &next, &s, &err), status);
  assert_non_null(strstr(err.message, text));
}

static void arrow_schemas_refused(void **state) {
  fixture *f = *state;
  field two[] = {{.name = "a", .type = type_simple(TYPE_INT8)},
                 {.name = "a", .type = type_simple(TYPE_INT8)}};
  from_arrow_fails(f, two, 2, GLV_E_INVALID_INPUT, "two columns have the name 'a'");
  two[1].name = "";
  from_arrow_fails(f, two, 2, GLV_E_INVALID_INPUT, "no name");
  two[1].name = "a.b";
  from_arrow_fails(f, two, 2, GLV_E_INVALID_INPUT, "dot");
  two[1].name = "_rowid";
  from_arrow_fails(f, two, 2, GLV_E_INVALID_INPUT, "reserved");
  two[1].name = "s";
  two[1].type = type_simple(TYPE_INTERVAL_MONTH_DAY_NANO);
  from_arrow_fails(f, two, 2, GLV_E_UNSUPPORTED, "column 's' has type");
  const field item = {.name = "item", .type = two[0].type};
  const field list = {.name = "l", .type = type_list(&f->memory, TYPE_LIST, &item)};
  two[1].type = type_fixed_size_list(&f->memory, &list, 2);
  from_arrow_fails(f, two, 2, GLV_E_UNSUPPORTED, "column 's' has type");
  const field stamp = {.name = "", .type = type_timestamp(&f->memory, UNIT_NANO, NULL)};
  two[1].type = type_dictionary(&f->memory, TYPE_INT8, stamp.type);
  from_arrow_fails(f, two, 2, GLV_E_UNSUPPORTED, "which Lance cannot store");
  const field pair_of[] = {{.name = "key", .type = two[0].type},
                           {.name = "value", .type = two[0].type}};
  const field entries = {.name = "entries", .type = type_struct(&f->memory, pair_of, 2)};
  type sorted = *type_list(&f->memory, TYPE_MAP, &entries);
  sorted.flag = true;
  two[1].type = &sorted;
  from_arrow_fails(f, two, 2, GLV_E_UNSUPPORTED, "column 's' has type");
}

/* Every kind of nested type, from Arrow, through messages, and back. */
static void nested_schemas(void **state) {
  fixture *f = *state;
  arena *a = &f->memory;
  const type *i32 = type_simple(TYPE_INT32);
  const field pair_of[] = {{.name = "key", .type = type_simple(TYPE_UTF8)},
                           {.name = "value", .type = i32, .nullable = true}};
  const field entries = {.name = "entries", .type = type_struct(a, pair_of, 2)};
  const field item = {.name = "item", .type = type_struct(a, pair_of, 2), .nullable = true};
  const pair packed[] = {{STR("packed"), STR("Yes")}};
  const pair json[] = {{STR("ARROW:extension:name"), STR("lance.json")}};
  const pair blob[] = {{STR("lance-encoding:blob"), STR("true")}};
  const field fields[] = {
      {.name = "m", .type = type_list(a, TYPE_MAP, &entries), .nullable = true},
      {.name = "l", .type = type_list(a, TYPE_LARGE_LIST, &item), .nullable = true},
      {.name = "v", .type = type_fixed_size_list(a, &item, 3), .nullable = true},
      {.name = "p", .type = item.type, .metadata = {packed, 1}},
      {.name = "j", .type = type_simple(TYPE_LARGE_BINARY), .metadata = {json, 1}},
      {.name = "d", .type = type_dictionary(a, TYPE_INT16, type_simple(TYPE_UTF8))},
      {.name = "b", .type = type_simple(TYPE_LARGE_BINARY), .metadata = {blob, 1}},
  };
  enum { COUNT = sizeof fields / sizeof fields[0] };
  static const char *const types[COUNT] = {"map",
                                           "large_list.struct",
                                           "fixed_size_list:struct:3",
                                           "struct",
                                           "json",
                                           "dict:string:int16:false",
                                           "large_binary"};
  int32_t next = 0;
  lance_schema *s = NULL;
  lance_schema *again = NULL;
  glv_error err;
  assert_int_equal(lance_schema_from_arrow(a, fields, COUNT, (metadata){0}, &next, &s, &err),
                   GLV_OK);
  Lance__File__Field **messages = NULL;
  size_t count = 0;
  assert_int_equal(lance_schema_to_messages(a, s, &messages, &count, &err), GLV_OK);
  assert_int_equal(count, 4 + 4 + 4 + 3 + 3);
  assert_int_equal(next, count);
  assert_int_equal(lance_schema_from_messages(a, messages, count, (metadata){0}, &again, &err),
                   GLV_OK);
  for (size_t i = 0; i < COUNT; i++) {
    const lance_field *got = &again->fields[i];
    assert_string_equal(s->fields[i].logical_type, types[i]);
    assert_string_equal(got->logical_type, types[i]);
    assert_true(i == COUNT - 1 || type_equal(got->arrow.type, fields[i].type));
    assert_int_equal(got->is_leaf, i >= 3);
    assert_int_equal(got->is_packed, i == 3);
  }
  assert_int_equal(again->fields[COUNT - 1].blob, BLOB_V1);
  assert_string_equal(TYPE_TEXT(again->fields[COUNT - 1].arrow.type),
                      "struct<position: uint64, size: uint64>");
  assert_int_equal(lance_schema_columns(again, FORMAT_2_2, NULL, 0), 2 + 2 + 2 + 4);
  assert_int_equal(lance_schema_columns(again, FORMAT_2_0, NULL, 0), 4 + 4 + 4 + 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(types_print_as_they_were),
      TEST(types_refused),
      TEST(trees_are_put_together),
      TEST(ids_may_repeat),
      TEST(broken_trees_refused),
      TEST(unknown_fields_survive),
      TEST(arrow_schemas_are_numbered),
      TEST(arrow_schemas_refused),
      TEST(nested_schemas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
