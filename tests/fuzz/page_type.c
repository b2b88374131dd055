#include "page_type.h"

#include "arrow/bits.h"
#include "arrow/builder.h"
#include "one_file.h"

/* ---- types ---- */

enum {
  DEPTH = 4,
  MOST_CHILDREN = 4,
  MOST_OUTER_ITEMS = 300, /* of a fixed-size list that is a column */
  MOST_INNER_ITEMS = 3,
  MOST_LIST_ITEMS = 1000, /* of all lists of a level together */
};

static const type_kind LEAVES[] = {
    TYPE_NULL,     TYPE_BOOL,       TYPE_INT8,       TYPE_INT16,        TYPE_INT32,
    TYPE_INT64,    TYPE_UINT8,      TYPE_UINT16,     TYPE_UINT32,       TYPE_UINT64,
    TYPE_FLOAT16,  TYPE_FLOAT32,    TYPE_FLOAT64,    TYPE_DATE32,       TYPE_DATE64,
    TYPE_UTF8,     TYPE_BINARY,     TYPE_LARGE_UTF8, TYPE_TIME32,       TYPE_TIMESTAMP,
    TYPE_DURATION, TYPE_DECIMAL128, TYPE_DECIMAL256, TYPE_LARGE_BINARY, TYPE_FIXED_SIZE_BINARY};
enum { LEAF_COUNT = sizeof LEAVES / sizeof *LEAVES };
enum nested {
  OF_LIST,
  OF_LARGE_LIST,
  OF_FIXED_SIZE_LIST,
  OF_STRUCT,
  OF_MAP,
  OF_DICTIONARY,
  NESTED_COUNT
};

/* Metadata of a field; the first entry stands for none. */
static const char *const HINTS[][2] = {
    {"", ""},
    {"packed", "true"},
    {"lance-encoding:structural-encoding", "fullzip"},
    {"lance-encoding:structural-encoding", "miniblock"},
    {"lance-encoding:compression", "zstd"},
    {"lance-encoding:compression", "lz4"},
    {"lance-encoding:compression", "fsst"},
    {"lance-encoding:compression", "none"},
    {"lance-encoding:blob", "true"},
};
enum { HINT_COUNT = sizeof HINTS / sizeof *HINTS };

static const char *const NAMES[MOST_CHILDREN] = {"a", "b", "c", "d"};

static const type *leaf_type(arena *a, type_kind kind, stream *s) {
  switch ((int)kind) {
  case TYPE_TIME32:
    return type_with_unit(a, kind, UNIT_MILLI);
  case TYPE_DURATION:
    return type_with_unit(a, kind, UNIT_NANO);
  case TYPE_TIMESTAMP:
    return type_timestamp(a, UNIT_MICRO, "UTC");
  case TYPE_DECIMAL128:
    return type_decimal(a, kind, 38, 3);
  case TYPE_DECIMAL256:
    return type_decimal(a, kind, 70, 3);
  case TYPE_FIXED_SIZE_BINARY:
    return type_fixed_size_binary(a, 1 + (int32_t)take_byte(s));
  default:
    return type_simple(kind);
  }
}

static field take_child(arena *a, stream *s, const char *name, unsigned depth);

static const type *struct_type(arena *a, stream *s, unsigned depth) {
  const size_t count = take_byte(s) % (MOST_CHILDREN + 1);
  field children[MOST_CHILDREN];
  for (size_t i = 0; i < count; i++) {
    children[i] = take_child(a, s, NAMES[i], depth);
  }
  return type_struct(a, children, count);
}

static const type *map_type(arena *a, stream *s, unsigned depth) {
  field parts[] = {take_child(a, s, "key", depth), take_child(a, s, "value", depth)};
  parts[0].nullable = false;
  const field entries = {.name = "entries", .type = type_struct(a, parts, 2)};
  require(entries.type != NULL);
  return type_list(a, TYPE_MAP, &entries);
}

static const type *nested_type(arena *a, enum nested kind, stream *s, unsigned depth) {
  static const type_kind indices[] = {TYPE_INT8,  TYPE_UINT8,  TYPE_INT16, TYPE_UINT16,
                                      TYPE_INT32, TYPE_UINT32, TYPE_INT64, TYPE_UINT64};
  if (kind == OF_STRUCT) {
    return struct_type(a, s, depth);
  }
  if (kind == OF_MAP) {
    return map_type(a, s, depth);
  }
  if (kind == OF_DICTIONARY) {
    const type_kind index = indices[take_byte(s) % 8];
    return type_dictionary(a, index, leaf_type(a, LEAVES[take_byte(s) % LEAF_COUNT], s));
  }
  const unsigned most = depth == 1 ? MOST_OUTER_ITEMS : MOST_INNER_ITEMS;
  const int32_t items = kind == OF_FIXED_SIZE_LIST ? 1 + (int32_t)(take_u16(s) % most) : 0;
  const field item = take_child(a, s, "item", depth);
  return items != 0 ? type_fixed_size_list(a, &item, items)
                    : type_list(a, kind == OF_LIST ? TYPE_LIST : TYPE_LARGE_LIST, &item);
}

static field take_child(arena *a, stream *s, const char *name, unsigned depth) {
  const unsigned flags = take_byte(s);
  const char *const *hint = HINTS[flags / 2 % HINT_COUNT];
  pair *metadata = ARENA_ARRAY(a, pair, 1);
  require(metadata != NULL);
  *metadata = (pair){str_of(hint[0]), str_of(hint[1])};
  const unsigned number = take_byte(s) % (LEAF_COUNT + NESTED_COUNT);
  const bool is_leaf = number < LEAF_COUNT || depth == DEPTH;
  const field f = {.name = name,
                   .type = is_leaf ? leaf_type(a, LEAVES[number % LEAF_COUNT], s)
                                   : nested_type(a, number - LEAF_COUNT, s, depth + 1),
                   .nullable = (flags & 1) != 0,
                   .metadata = {metadata, metadata->key.size != 0}};
  require(f.type != NULL);
  return f;
}

field take_field(arena *a, stream *s, const char *name) { return take_child(a, s, name, 0); }

/* ---- values ---- */

/* A number for each value, by a choice that a byte of the input made. */
typedef struct chooser {
  unsigned how;
  uint64_t state;
} chooser;

static chooser take_chooser(stream *s) {
  const unsigned how = take_byte(s);
  return (chooser){how, take_u16(s)};
}

static uint64_t choose(chooser *c, size_t i) {
  static const uint64_t masks[] = {0, 1, 3, 15, 255, 4095, UINT32_MAX, UINT64_MAX};
  c->state = c->state * 6364136223846793005u + 1442695040888963407u;
  const uint64_t random = (c->state >> 32 | c->state << 32) & masks[c->how / 8 % 8];
  switch (c->how % 8) {
  case 0:
    return i;
  case 1:
    return i / 50; /* runs */
  case 2:
    return i % 97;
  case 3:
    return i % 97 == 96 ? UINT64_MAX : random; /* seldom large */
  default:
    return random;
  }
}

/* Validity of rows: none null, all, every few, or by chance. */
static bool is_null_at(chooser *c, size_t i) {
  switch (c->how % 4) {
  case 0:
    return false;
  case 1:
    return c->how / 4 % 8 == 0 || i % (c->how / 4 % 8 + 1) == 0;
  case 2:
    return i / 64 % 2 == 0;
  default:
    return (choose(&(chooser){6 + 8 * 2, c->state + i * 977}, i) & 3) == 0;
  }
}

static void put_number(builder *b, uint64_t number) {
  uint64_t words[32]; /* the widest leaf has 256 bytes */
  for (size_t i = 0; i < 32; i++) {
    words[i] = number;
  }
  glv_error err;
  require(builder_append_fixed(b, words, &err) == GLV_OK);
}

static void put_text(builder *b, chooser *c, uint64_t number) {
  char text[600];
  size_t size = (size_t)(number % 20);
  if (c->how / 64 == 3) {
    size = (size_t)(number % sizeof text); /* long ones */
  }
  for (size_t i = 0; i < size; i++) {
    text[i] = (char)('a' + (number >> i % 24) % 17);
  }
  glv_error err;
  require(builder_append_str(b, str_slice(text, size), &err) == GLV_OK);
}

static array leaf_values(glv_env *env, const field *f, size_t rows, chooser *nulls, stream *s) {
  CLEANUP(builder_dispose) builder b;
  builder_init(&b, env, f->type);
  chooser c = take_chooser(s);
  glv_error err;
  for (size_t i = 0; i < rows; i++) {
    const uint64_t number = choose(&c, i);
    if (f->nullable && is_null_at(nulls, i)) {
      require(builder_append_null(&b, &err) == GLV_OK);
    } else if (f->type->kind == TYPE_BOOL) {
      require(builder_append_bool(&b, number & 1, &err) == GLV_OK);
    } else if (type_offset_width(f->type->kind) != 0) {
      put_text(&b, &c, number);
    } else {
      put_number(&b, number);
    }
  }
  array ret;
  require(builder_finish(&b, &ret, &err) == GLV_OK);
  return ret;
}

/* Offsets of lists, null ones too. @return number of items. */
static size_t put_lengths(array *a, stream *s) {
  chooser c = take_chooser(s);
  size_t at = 0;
  for (size_t i = 0; i < a->length; i++) {
    at += (size_t)(choose(&c, i) % (c.how >= 250 ? 2000 : 5));
    at = size_min(at, MOST_LIST_ITEMS);
    if (a->type->kind == TYPE_LARGE_LIST) {
      ((int64_t *)(void *)a->owners[1]->data)[i + 1] = (int64_t)at;
    } else {
      ((int32_t *)(void *)a->owners[1]->data)[i + 1] = (int32_t)at;
    }
  }
  return at;
}

static void put_indices(array *a, stream *s) {
  chooser c = take_chooser(s);
  const size_t width = array_value_width(a->type);
  for (size_t i = 0; i < a->length; i++) {
    const uint64_t index = choose(&c, i) % a->children[0].length;
    memcpy(a->owners[1]->data + i * width, &index, width);
  }
}

static size_t child_rows(array *a, stream *s) {
  switch ((int)a->type->kind) {
  case TYPE_FIXED_SIZE_LIST:
    return a->length * (size_t)a->type->width;
  case TYPE_STRUCT:
    return a->length;
  case TYPE_DICTIONARY:
    return 1 + take_byte(s) % 120;
  default:
    return put_lengths(a, s);
  }
}

array take_values(glv_env *env, const field *f, size_t rows, stream *s) {
  chooser nulls = take_chooser(s);
  if (f->type->child_count == 0 && f->type->kind != TYPE_STRUCT && f->type->kind != TYPE_NULL) {
    return leaf_values(env, f, rows, &nulls, s);
  }
  array a;
  glv_error err;
  require(array_new_null(env, f->type, rows, &a, &err) == GLV_OK);
  if (f->type->kind == TYPE_NULL) {
    return a;
  }
  a.null_count = NULLS_UNKNOWN;
  for (size_t i = 0; i < rows; i++) {
    bit_put(a.owners[0]->data, i, !f->nullable || !is_null_at(&nulls, i));
  }
  const size_t items = child_rows(&a, s);
  for (size_t i = 0; i < f->type->child_count; i++) {
    array_unref(&a.children[i]);
    field child = f->type->children[i];
    child.nullable =
        child.nullable && f->type->kind != TYPE_DICTIONARY; /* it would make rows null */
    a.children[i] = take_values(env, &child, items, s);
  }
  if (f->type->kind == TYPE_DICTIONARY) {
    put_indices(&a, s);
  }
  return a;
}
