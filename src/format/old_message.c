/*
 * The messages that describe pages of version 2.0, in an arena.
 */
#include "format/old_write_private.h"

/* An encoding of one kind; the caller fills in the member of that kind. */
static old_message *new_message(arena *a, Lance__Encodings__ArrayEncoding__KindCase kind) {
  old_message *m = ARENA_NEW(a, old_message);
  if (m != NULL) {
    lance__encodings__array_encoding__init(m);
    m->kind_case = kind;
  }
  return m;
}

static Lance__Encodings__Buffer *new_buffer(arena *a, uint32_t number) {
  Lance__Encodings__Buffer *b = ARENA_NEW(a, Lance__Encodings__Buffer);
  if (b != NULL) {
    lance__encodings__buffer__init(b);
    b->buffer_index = number;
  }
  return b;
}

old_message *old_flat(arena *a, uint64_t bits, uint32_t number) {
  old_message *m = new_message(a, LANCE__ENCODINGS__ARRAY_ENCODING__KIND_FLAT);
  Lance__Encodings__Flat *flat = ARENA_NEW(a, Lance__Encodings__Flat);
  if (m == NULL || flat == NULL) {
    return NULL;
  }
  lance__encodings__flat__init(flat);
  flat->bits_per_value = bits;
  flat->buffer = new_buffer(a, number);
  m->flat = flat;
  return flat->buffer != NULL ? m : NULL;
}

static Lance__Encodings__Nullable *new_nullable(arena *a, old_message *m,
                                                Lance__Encodings__Nullable__NullabilityCase kind) {
  Lance__Encodings__Nullable *n = ARENA_NEW(a, Lance__Encodings__Nullable);
  if (m == NULL || n == NULL) {
    return NULL;
  }
  lance__encodings__nullable__init(n);
  n->nullability_case = kind;
  m->nullable = n;
  return n;
}

static old_message *no_nulls(arena *a, old_message *values) {
  old_message *m = new_message(a, LANCE__ENCODINGS__ARRAY_ENCODING__KIND_NULLABLE);
  Lance__Encodings__Nullable *n =
      new_nullable(a, m, LANCE__ENCODINGS__NULLABLE__NULLABILITY_NO_NULLS);
  Lance__Encodings__NoNull *inner = ARENA_NEW(a, Lance__Encodings__NoNull);
  if (n == NULL || inner == NULL || values == NULL) {
    return NULL;
  }
  lance__encodings__no_null__init(inner);
  inner->values = values;
  n->no_nulls = inner;
  return m;
}

old_message *old_nullable(arena *a, old_message *validity, old_message *values) {
  if (validity == NULL) {
    return no_nulls(a, values);
  }
  old_message *m = new_message(a, LANCE__ENCODINGS__ARRAY_ENCODING__KIND_NULLABLE);
  Lance__Encodings__Nullable *n =
      new_nullable(a, m, LANCE__ENCODINGS__NULLABLE__NULLABILITY_SOME_NULLS);
  Lance__Encodings__SomeNull *inner = ARENA_NEW(a, Lance__Encodings__SomeNull);
  if (n == NULL || inner == NULL || values == NULL) {
    return NULL;
  }
  lance__encodings__some_null__init(inner);
  inner->validity = validity;
  inner->values = values;
  n->some_nulls = inner;
  return m;
}

old_message *old_all_nulls(arena *a) {
  old_message *m = new_message(a, LANCE__ENCODINGS__ARRAY_ENCODING__KIND_NULLABLE);
  Lance__Encodings__Nullable *n =
      new_nullable(a, m, LANCE__ENCODINGS__NULLABLE__NULLABILITY_ALL_NULLS);
  Lance__Encodings__AllNull *inner = ARENA_NEW(a, Lance__Encodings__AllNull);
  if (n == NULL || inner == NULL) {
    return NULL;
  }
  lance__encodings__all_null__init(inner);
  n->all_nulls = inner;
  return m;
}

old_message *old_vector(arena *a, uint32_t items, old_message *values) {
  old_message *m = new_message(a, LANCE__ENCODINGS__ARRAY_ENCODING__KIND_FIXED_SIZE_LIST);
  Lance__Encodings__FixedSizeList *list = ARENA_NEW(a, Lance__Encodings__FixedSizeList);
  if (m == NULL || list == NULL || values == NULL) {
    return NULL;
  }
  lance__encodings__fixed_size_list__init(list);
  list->dimension = items;
  list->items = values;
  m->fixed_size_list = list;
  return m;
}

old_message *old_binary(arena *a, uint32_t ends_buffer, uint32_t bytes_buffer,
                        uint64_t adjustment) {
  old_message *m = new_message(a, LANCE__ENCODINGS__ARRAY_ENCODING__KIND_BINARY);
  Lance__Encodings__Binary *binary = ARENA_NEW(a, Lance__Encodings__Binary);
  if (m == NULL || binary == NULL) {
    return NULL;
  }
  lance__encodings__binary__init(binary);
  binary->indices = no_nulls(a, old_flat(a, 64, ends_buffer));
  binary->bytes = old_flat(a, 8, bytes_buffer);
  binary->null_adjustment = adjustment;
  m->binary = binary;
  return binary->indices != NULL && binary->bytes != NULL ? m : NULL;
}

old_message *old_list(arena *a, uint32_t ends_buffer, uint64_t items) {
  old_message *m = new_message(a, LANCE__ENCODINGS__ARRAY_ENCODING__KIND_LIST);
  Lance__Encodings__List *list = ARENA_NEW(a, Lance__Encodings__List);
  if (m == NULL || list == NULL) {
    return NULL;
  }
  lance__encodings__list__init(list);
  list->offsets = no_nulls(a, old_flat(a, 64, ends_buffer));
  list->null_offset_adjustment = items + 1;
  list->num_items = items;
  m->list = list;
  return list->offsets != NULL ? m : NULL;
}

old_message *old_dictionary(arena *a, old_message *indices, old_message *values, uint32_t count) {
  old_message *m = new_message(a, LANCE__ENCODINGS__ARRAY_ENCODING__KIND_DICTIONARY);
  Lance__Encodings__Dictionary *dictionary = ARENA_NEW(a, Lance__Encodings__Dictionary);
  if (m == NULL || dictionary == NULL || indices == NULL || values == NULL) {
    return NULL;
  }
  lance__encodings__dictionary__init(dictionary);
  dictionary->indices = indices;
  dictionary->items = values;
  dictionary->num_dictionary_items = count;
  m->dictionary = dictionary;
  return m;
}

old_message *old_packed(arena *a, uint32_t number, old_message *const *children, size_t count) {
  old_message *m = new_message(a, LANCE__ENCODINGS__ARRAY_ENCODING__KIND_PACKED_STRUCT);
  Lance__Encodings__PackedStruct *packed = ARENA_NEW(a, Lance__Encodings__PackedStruct);
  old_message **inner = ARENA_ARRAY(a, old_message *, count);
  if (m == NULL || packed == NULL || inner == NULL) {
    return NULL;
  }
  lance__encodings__packed_struct__init(packed);
  for (size_t i = 0; i < count; i++) {
    inner[i] = children[i];
    if (inner[i] == NULL) {
      return NULL;
    }
  }
  packed->inner = inner;
  packed->n_inner = count;
  packed->buffer = new_buffer(a, number);
  m->packed_struct = packed;
  return packed->buffer != NULL ? m : NULL;
}

old_message *old_header(arena *a) {
  old_message *m = new_message(a, LANCE__ENCODINGS__ARRAY_ENCODING__KIND_SIMPLE_STRUCT);
  Lance__Encodings__SimpleStruct *header = ARENA_NEW(a, Lance__Encodings__SimpleStruct);
  if (m == NULL || header == NULL) {
    return NULL;
  }
  lance__encodings__simple_struct__init(header);
  m->simple_struct = header;
  return m;
}
