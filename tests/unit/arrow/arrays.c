/* Random arrays of every type: nested ones are put together from random children. */
#include "unit/arrow/arrays.h"

#include "arrow/builder.h"
#include "support/cmocka.h"

static const type_kind simple[] = {
    TYPE_NULL,    TYPE_BOOL,       TYPE_INT8,    TYPE_INT16,
    TYPE_INT32,   TYPE_INT64,      TYPE_UINT8,   TYPE_UINT16,
    TYPE_UINT32,  TYPE_UINT64,     TYPE_FLOAT16, TYPE_FLOAT32,
    TYPE_FLOAT64, TYPE_DATE32,     TYPE_DATE64,  TYPE_INTERVAL_MONTH_DAY_NANO,
    TYPE_UTF8,    TYPE_LARGE_UTF8, TYPE_BINARY,  TYPE_LARGE_BINARY,
};

const field *sample_fields(arena *a) {
  const type *types[SAMPLE_TYPES];
  size_t n = 0;
  for (; n < sizeof simple / sizeof simple[0]; n++) {
    types[n] = type_simple(simple[n]);
  }
  const type *utf8 = type_simple(TYPE_UTF8);
  const field i32 = {.name = "item", .type = type_simple(TYPE_INT32), .nullable = true};
  const field f32 = {.name = "item", .type = type_simple(TYPE_FLOAT32), .nullable = true};
  const field flags = {.name = "item", .type = type_simple(TYPE_BOOL), .nullable = true};
  const field text = {.name = "item", .type = utf8, .nullable = false};
  types[n++] = type_decimal(a, TYPE_DECIMAL128, 38, 10);
  types[n++] = type_decimal(a, TYPE_DECIMAL256, 76, -2);
  types[n++] = type_with_unit(a, TYPE_TIME32, UNIT_SECOND);
  types[n++] = type_with_unit(a, TYPE_TIME32, UNIT_MILLI);
  types[n++] = type_with_unit(a, TYPE_TIME64, UNIT_MICRO);
  types[n++] = type_with_unit(a, TYPE_TIME64, UNIT_NANO);
  types[n++] = type_with_unit(a, TYPE_DURATION, UNIT_SECOND);
  types[n++] = type_timestamp(a, UNIT_MICRO, NULL);
  types[n++] = type_timestamp(a, UNIT_NANO, "Europe/Paris");
  types[n++] = type_fixed_size_binary(a, 3);
  types[n++] = type_fixed_size_binary(a, 0);
  types[n++] = type_dictionary(a, TYPE_INT8, utf8);
  types[n++] = type_dictionary(a, TYPE_UINT64, type_simple(TYPE_FLOAT64));
  types[n++] = type_list(a, TYPE_LIST, &i32);
  types[n++] = type_list(a, TYPE_LARGE_LIST, &text);
  types[n++] = type_fixed_size_list(a, &f32, 4);
  types[n++] = type_fixed_size_list(a, &flags, 3);
  types[n++] = type_fixed_size_list(a, &f32, 0);
  const field pair_fields[] = {{.name = "key", .type = utf8, .nullable = false},
                               {.name = "value", .type = types[n - 5], .nullable = true}};
  const field row = {.name = "entries", .type = type_struct(a, pair_fields, 2), .nullable = false};
  types[n++] = row.type;
  types[n++] = type_struct(a, NULL, 0);
  const field vectors = {.name = "item", .type = types[n - 4], .nullable = true};
  types[n++] = type_list(a, TYPE_LIST, &vectors);
  types[n++] = type_fixed_size_list(a, &row, 2);
  type *map_type = ARENA_NEW(a, type);
  field *entries = ARENA_NEW(a, field);
  *entries = row;
  *map_type = (type){.kind = TYPE_MAP, .children = entries, .child_count = 1};
  types[n++] = map_type;
  const field maps = {.name = "item", .type = map_type, .nullable = true};
  types[n++] = type_list(a, TYPE_LARGE_LIST, &maps);
  assert_int_equal(n, SAMPLE_TYPES);
  field *fields = ARENA_ARRAY(a, field, SAMPLE_TYPES);
  for (size_t i = 0; i < SAMPLE_TYPES; i++) {
    fields[i] = (field){.name = arena_printf(a, "f%zu", i), .type = types[i], .nullable = true};
  }
  return fields;
}

static bool draw_null(rng *r, unsigned null_every) {
  return null_every != 0 && rng_below(r, null_every) == 0;
}

static void append_text(builder *b, rng *r, bool is_text) {
  static const char *const words[] = {"", "a", "naïve", "日本語", "0123456789abcdef!", "x\ny\"z,"};
  char bytes[40];
  if (is_text) {
    assert_int_equal(builder_append_str(b, str_of(words[rng_below(r, 6)]), NULL), GLV_OK);
    return;
  }
  const size_t size = (size_t)rng_below(r, sizeof bytes);
  for (size_t i = 0; i < size; i++) {
    bytes[i] = (char)rng_next(r);
  }
  assert_int_equal(builder_append_str(b, str_slice(bytes, size), NULL), GLV_OK);
}

static void append_random(builder *b, rng *r) {
  uint64_t words[4] = {rng_next(r), rng_next(r), rng_next(r), rng_next(r)};
  if (b->type->kind == TYPE_BOOL) {
    assert_int_equal(builder_append_bool(b, words[0] & 1, NULL), GLV_OK);
  } else if (type_offset_width(b->type->kind) != 0) {
    append_text(b, r, type_is_string(b->type->kind));
  } else {
    assert_int_equal(builder_append_fixed(b, words, NULL), GLV_OK);
  }
}

static array random_flat(glv_env *env, const type *t, size_t length, unsigned null_every, rng *r) {
  builder b;
  array a;
  builder_init(&b, env, t);
  for (size_t i = 0; i < length; i++) {
    if (t->kind == TYPE_NULL || draw_null(r, null_every)) {
      assert_int_equal(builder_append_null(&b, NULL), GLV_OK);
    } else {
      append_random(&b, r);
    }
  }
  assert_int_equal(builder_finish(&b, &a, NULL), GLV_OK);
  builder_dispose(&b);
  return a;
}

static void random_validity(glv_env *env, size_t length, unsigned null_every, rng *r, array *a) {
  if (null_every == 0 || length == 0) {
    return;
  }
  assert_int_equal(buffer_new_zeroed(env, (length + 7) / 8, &a->owners[0], NULL), GLV_OK);
  for (size_t i = 0; i < length; i++) {
    bit_put(a->owners[0]->data, i, !draw_null(r, null_every));
  }
  a->validity = a->owners[0]->data;
  a->null_count = NULLS_UNKNOWN;
}

/* Offsets for length lists; returns the number of items. */
static size_t random_offsets(glv_env *env, const type *t, size_t length, rng *r, array *a) {
  const size_t width = type_offset_width(t->kind);
  size_t total = 0;
  assert_int_equal(buffer_new(env, (length + 1) * width, &a->owners[1], NULL), GLV_OK);
  for (size_t i = 0; i <= length; i++) {
    if (width == 4) {
      ((int32_t *)(void *)a->owners[1]->data)[i] = (int32_t)total;
    } else {
      ((int64_t *)(void *)a->owners[1]->data)[i] = (int64_t)total;
    }
    total += i < length ? (size_t)rng_below(r, 5) : 0;
  }
  a->values = a->owners[1]->data;
  return total;
}

static void random_indices(glv_env *env, const type *t, size_t length, size_t values, rng *r,
                           array *a) {
  const size_t width = array_value_width(t);
  assert_int_equal(buffer_new_zeroed(env, length * width, &a->owners[1], NULL), GLV_OK);
  for (size_t i = 0; i < length; i++) {
    a->owners[1]->data[i * width] = (uint8_t)rng_below(r, values);
  }
  a->values = a->owners[1]->data;
}

array random_array(glv_env *env, const type *t, size_t length, unsigned null_every, rng *r) {
  if (t->child_count == 0 && t->kind != TYPE_STRUCT) {
    return random_flat(env, t, length, null_every, r);
  }
  array a = {.type = t, .length = length};
  size_t items = length;
  random_validity(env, length, null_every, r, &a);
  if (t->kind == TYPE_DICTIONARY) {
    items = 7;
    random_indices(env, t, length, items, r, &a);
  } else if (t->kind == TYPE_FIXED_SIZE_LIST) {
    items = length * (size_t)t->width;
  } else if (t->kind != TYPE_STRUCT) {
    items = random_offsets(env, t, length, r, &a);
  }
  assert_int_equal(array_new_children(env, t->child_count, &a, NULL), GLV_OK);
  for (size_t i = 0; i < t->child_count; i++) {
    const unsigned nulls = t->children[i].nullable ? null_every : 0;
    a.children[i] = random_array(env, t->children[i].type, items, nulls, r);
  }
  return a;
}

batch random_batch(glv_env *env, const schema *s, size_t length, unsigned null_every, rng *r) {
  batch b;
  assert_int_equal(batch_new(env, s, length, s->field_count, &b, NULL), GLV_OK);
  for (size_t i = 0; i < s->field_count; i++) {
    b.columns[i] = random_array(env, s->fields[i].type, length, null_every, r);
  }
  return b;
}

bool batch_equal(const batch *a, const batch *b) {
  bool equal = a->length == b->length && a->column_count == b->column_count;
  for (size_t i = 0; equal && i < a->column_count; i++) {
    equal = array_equal(&a->columns[i], &b->columns[i]);
  }
  return equal;
}
