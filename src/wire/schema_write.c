/* Schemas to JSON: the words of rest-protocol.md 12.1. */
#include <stdio.h>

#include "base/error.h"
#include "wire/members.h"
#include "wire/schema.h"

static const char *unit_word(time_unit unit) {
  switch (unit) {
  case UNIT_SECOND:
    return "s";
  case UNIT_MILLI:
    return "ms";
  case UNIT_MICRO:
    return "us";
  case UNIT_NANO:
    return "ns";
  }
  return "?";
}

/* Kinds whose word says all; NULL: the word has parameters. */
static const char *plain_word(type_kind kind) {
  switch (kind) {
  case TYPE_NULL:
    return "null";
  case TYPE_BOOL:
    return "bool";
  case TYPE_INT8:
    return "int8";
  case TYPE_INT16:
    return "int16";
  case TYPE_INT32:
    return "int32";
  case TYPE_INT64:
    return "int64";
  case TYPE_UINT8:
    return "uint8";
  case TYPE_UINT16:
    return "uint16";
  case TYPE_UINT32:
    return "uint32";
  case TYPE_UINT64:
    return "uint64";
  case TYPE_FLOAT16:
    return "halffloat";
  case TYPE_FLOAT32:
    return "float";
  case TYPE_FLOAT64:
    return "double";
  case TYPE_DATE32:
    return "date32:day";
  case TYPE_DATE64:
    return "date64:ms";
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return "interval";
  case TYPE_UTF8:
    return "string";
  case TYPE_LARGE_UTF8:
    return "large_string";
  case TYPE_UTF8_VIEW:
    return "utf8_view";
  case TYPE_BINARY:
    return "binary";
  case TYPE_LARGE_BINARY:
    return "large_binary";
  case TYPE_BINARY_VIEW:
    return "binary_view";
  case TYPE_FIXED_SIZE_BINARY:
    return "fixed_size_binary";
  case TYPE_LIST:
    return "list";
  case TYPE_LARGE_LIST:
    return "large_list";
  case TYPE_FIXED_SIZE_LIST:
    return "fixed_size_list";
  case TYPE_STRUCT:
    return "struct";
  case TYPE_MAP:
    return "map";
  default: /* with parameters in the word */
    return NULL;
  }
}

enum { WORD_SIZE = 160 };

/* @return false: not all of it fits. */
static bool print_word(const type *t, char word[WORD_SIZE]) {
  const char *plain = plain_word(t->kind);
  int size = -1;
  if (plain != NULL) {
    size = snprintf(word, WORD_SIZE, "%s", plain);
  } else if (t->kind == TYPE_TIMESTAMP) {
    size = snprintf(word, WORD_SIZE, "timestamp:%s:%s", unit_word(t->unit),
                    t->timezone != NULL ? t->timezone : "-");
  } else if (t->kind == TYPE_TIME32 || t->kind == TYPE_TIME64) {
    size = snprintf(word, WORD_SIZE, "time%s:%s", t->kind == TYPE_TIME32 ? "32" : "64",
                    unit_word(t->unit));
  } else if (t->kind == TYPE_DURATION) {
    size = snprintf(word, WORD_SIZE, "duration:%s", unit_word(t->unit));
  } else if (type_is_decimal(t->kind)) {
    size = snprintf(word, WORD_SIZE, "decimal:%s:%d:%d", t->kind == TYPE_DECIMAL128 ? "128" : "256",
                    t->precision, t->scale);
  } else if (t->kind == TYPE_DICTIONARY) {
    char value[WORD_SIZE];
    size = print_word(t->children[0].type, value)
               ? snprintf(word, WORD_SIZE, "dict:%s:%s:%s", value, plain_word(t->index),
                          t->flag ? "true" : "false")
               : -1;
  }
  return size >= 0 && size < WORD_SIZE;
}

/* Pairs that are not text are left out: JSON has no bytes. */
static glv_status write_metadata(metadata m, json *object, glv_error *err) {
  if (m.count == 0) {
    return GLV_OK;
  }
  CLEANUP(js_cleanup) json *map = js_new_object();
  for (size_t i = 0; i < m.count; i++) {
    if (str_is_utf8(m.pairs[i].key) && str_is_utf8(m.pairs[i].value)) {
      TRY(js_put_str(map, m.pairs[i].key, js_new_string(m.pairs[i].value), err));
    }
  }
  json *taken = map;
  map = NULL;
  return js_put(object, "metadata", taken, err);
}

static glv_status write_fields(const field *fields, size_t count, json *object, glv_error *err);

/* The value type of a dictionary of nested values, which has no word, stands for it, as in 12.2. */
static const type *shown(const type *t) {
  while (t->kind == TYPE_DICTIONARY && t->children[0].type->child_count > 0) {
    t = t->children[0].type;
  }
  return t;
}

glv_status wire_type_write(const type *t, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *object = js_new_object();
  const type *form = shown(t);
  char word[WORD_SIZE];
  if (!print_word(form, word)) {
    return FAIL(err, GLV_E_LIMIT, "the name of type %s is too long", TYPE_TEXT(t));
  }
  TRY(wire_put_text(object, "type", word, err));
  if (form->kind == TYPE_STRUCT || (form->kind != TYPE_DICTIONARY && form->child_count > 0)) {
    TRY(write_fields(form->children, form->child_count, object, err));
  }
  if (form->kind == TYPE_FIXED_SIZE_LIST || form->kind == TYPE_FIXED_SIZE_BINARY) {
    TRY(wire_put_int(object, "length", form->width, err));
  }
  *ret = object;
  object = NULL;
  return GLV_OK;
}

static glv_status write_field(const field *f, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *object = js_new_object();
  json *type_node = NULL;
  TRY(wire_put_text(object, "name", f->name, err));
  TRY(wire_type_write(f->type, &type_node, err));
  TRY(js_put(object, "type", type_node, err));
  TRY(wire_put_bool(object, "nullable", f->nullable, err));
  TRY(write_metadata(f->metadata, object, err));
  *ret = object;
  object = NULL;
  return GLV_OK;
}

static glv_status write_fields(const field *fields, size_t count, json *object, glv_error *err) {
  CLEANUP(js_cleanup) json *array = js_new_array();
  for (size_t i = 0; i < count; i++) {
    json *node = NULL;
    TRY(write_field(&fields[i], &node, err));
    TRY(js_push(array, node, err));
  }
  json *taken = array;
  array = NULL;
  return js_put(object, "fields", taken, err);
}

glv_status wire_schema_write(const schema *s, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *object = js_new_object();
  TRY(write_fields(s->fields, s->field_count, object, err));
  TRY(write_metadata(s->metadata, object, err));
  *ret = object;
  object = NULL;
  return GLV_OK;
}
