/**
 * @file array.h
 * Columns of values in memory, in the Arrow layout.
 *
 * An `array` is a small value (copy it freely between variables, but each copy that is kept needs
 * its own references: array_ref / array_unref). The memory it points to belongs to counted buffers
 * and is immutable once the array is handed on. Arrays never need an offset: pointers are adjusted
 * instead; only bit-packed data (validity, booleans) carries a bit offset.
 */
#ifndef GLAIVE_ARROW_ARRAY_H
#define GLAIVE_ARROW_ARRAY_H

#include <stdatomic.h>

#include "arrow/type.h"
#include "base/checked.h"

/** Counted memory, 64-byte aligned, padded with zeros to a multiple of 64. */
typedef struct buffer {
  glv_env *env; /* a reference */
  atomic_size_t refs;
  uint8_t *data;
  size_t size;
  size_t capacity;
  /** Set for memory that belongs to somebody else: called with `owner` when the last reference
   * goes. */
  void (*release)(void *owner);
  void *owner;
} buffer;

/** A buffer of size bytes, uninitialised but for the padding. Errors: GLV_E_NOMEM. One reference.
 */
glv_status buffer_new(glv_env *env, size_t size, buffer **ret, glv_error *err);
/** A buffer of size zero bytes. */
glv_status buffer_new_zeroed(glv_env *env, size_t size, buffer **ret, glv_error *err);
/** Wrap foreign memory; release(owner) is called exactly once, also when this function fails. */
glv_status buffer_wrap(glv_env *env, const void *data, size_t size, void (*release)(void *owner),
                       void *owner, buffer **ret, glv_error *err);
/** Change the size of a buffer that only the caller refers to. */
glv_status buffer_resize(buffer *b, size_t size, glv_error *err);
buffer *buffer_ref(buffer *b); /* NULL gives NULL */
void buffer_unref(buffer *b);  /* NULL is fine */
void buffer_cleanup(buffer **b);

#define NULLS_UNKNOWN SIZE_MAX

typedef struct array {
  const type *type; /* borrowed: lives as long as the schema, plan or arena it came from */
  size_t length;
  size_t null_count;       /* exact, or NULLS_UNKNOWN */
  const uint8_t *validity; /* value i is valid iff bit (bit_offset + i) is 1; NULL = all valid
                              (TYPE_NULL: all null) */
  size_t bit_offset;       /* of validity, and of values when the type is bool */
  const void *values;  /* fixed width: value 0; bool: bits; variable width, list: offset 0 of length
                          + 1; else NULL */
  const uint8_t *data; /* variable width: the bytes that the offsets point into */
  buffer *owners[3];   /* of validity, values, data; counted; NULL when there is no memory */
  struct array *children; /* list, fixed_size_list, map: 1; struct: n; dictionary: 1 = the values.
                             Owned by child_owner */
  size_t child_count;
  buffer *child_owner;
} array;

/** Take further references for a kept copy of a. @return *a. */
array array_ref(const array *a);
/** Drop the references; *a becomes empty (type NULL). NULL-safe on empty arrays; usable with
 * CLEANUP. */
void array_unref(array *a);

static inline bool array_is_valid(const array *a, size_t i) {
  return a->validity != NULL ? bit_get(a->validity, a->bit_offset + i) : a->type->kind != TYPE_NULL;
}
static inline bool array_bool(const array *a, size_t i) {
  return bit_get((const uint8_t *)a->values, a->bit_offset + i);
}

/** Typed access to fixed-width values: `ARRAY_VALUES(a, int32_t)[i]`. */
#define ARRAY_VALUES(a, ctype) ((const ctype *)(a)->values)

/** Value i of a string or binary array (any offset width). */
static inline str array_str(const array *a, size_t i) {
  if (type_offset_width(a->type->kind) == 8) {
    const int64_t *offsets = (const int64_t *)a->values;
    return str_slice((const char *)a->data + offsets[i], (size_t)(offsets[i + 1] - offsets[i]));
  }
  const int32_t *offsets = (const int32_t *)a->values;
  return str_slice((const char *)a->data + offsets[i], (size_t)(offsets[i + 1] - offsets[i]));
}

/** The items of value i of a list, fixed_size_list or map: their number, and the row of children[0]
 * at which they begin. */
size_t array_list_items(const array *a, size_t i, size_t *ret_first);
/** The value that index i of a dictionary array stands for, as a row of children[0]; i is valid. */
size_t array_dictionary_index(const array *a, size_t i);

/** Number of nulls, counted when unknown. */
size_t array_null_count(const array *a);
/** True iff some value is null. */
bool array_has_nulls(const array *a);

/**
 * The same values under an equal type that lives elsewhere, the types of all children included:
 * whoever keeps an array longer than the plan that made it needs that. The result has its own
 * references. Errors: GLV_E_NOMEM.
 */
glv_status array_retype(glv_env *env, const array *a, const type *t, array *ret, glv_error *err);
/**
 * Rows [first, first + count) without copying; the result has its own references. Only struct and
 * fixed_size_list need memory (for the slices of their children): when there is none, the result is
 * empty (type NULL).
 */
array array_slice(const array *a, size_t first, size_t count);
/**
 * Give parent count empty children to fill in: sets children, child_count and child_owner. What is
 * put there is released with the last reference to parent.
 */
glv_status array_new_children(glv_env *env, size_t count, array *parent, glv_error *err);
/** Bytes of one entry of `values` of a fixed-width array: as type_width, and the width of the
 * indices of a dictionary. */
size_t array_value_width(const type *t);
/** length nulls of a type. */
glv_status array_new_null(glv_env *env, const type *t, size_t length, array *ret, glv_error *err);
/** A new fixed-width (or bool, or dictionary: the indices) array without validity; write through
 * *ret_values. The values are uninitialised, those of bool all false. */
glv_status array_new_fixed(glv_env *env, const type *t, size_t length, array *ret,
                           void **ret_values, glv_error *err);
/** The rows listed, in that order. Rows are < a->length. */
glv_status array_take(glv_env *env, const array *a, const uint32_t *rows, size_t count, array *ret,
                      glv_error *err);
/** One after another; all have the same type. count >= 1. */
glv_status array_concat(glv_env *env, const array *arrays, size_t count, array *ret,
                        glv_error *err);
/** Structural equality of values, nulls equal; floats by bits except that all NaN are equal. */
bool array_equal(const array *a, const array *b);
/**
 * Check an array from outside: buffer sizes were checked at import; here offsets are monotone and
 * inside data, UTF-8 is well-formed, dictionary indices are in range, recursively. data_size bounds
 * the offsets of a itself (SIZE_MAX: not known); the children of nested types are bounded by their
 * own buffers. Errors: GLV_E_INVALID_INPUT naming `name`.
 */
glv_status array_validate(const array *a, size_t data_size, const char *name, glv_error *err);

/** Rows of a batch, ascending; rows == NULL means all. */
typedef struct selection {
  const uint32_t *rows;
  size_t count; /* when rows is NULL: the length of the batch */
} selection;

/** Columns of equal length. columns[i].type == NULL means that column i of the schema is absent
 * from this batch. */
typedef struct batch {
  schema *schema; /* a reference, or NULL */
  size_t length;
  array *columns;
  size_t column_count;
  buffer *column_owner; /* the memory of columns */
} batch;

/** A batch with count absent columns; takes a reference to s (may be NULL). */
glv_status batch_new(glv_env *env, const schema *s, size_t length, size_t count, batch *ret,
                     glv_error *err);
void batch_dispose(batch *b); /* usable with CLEANUP; the empty batch is fine */
batch batch_ref(const batch *b);
batch batch_slice(glv_env *env, const batch *b, size_t first, size_t count, glv_error *err,
                  glv_status *ret_status);

/**
 * A pull source of batches, the one internal form of a data stream. next sets *ret_end at the end.
 * Not thread-safe.
 */
typedef struct batch_reader {
  schema *schema; /* a reference owned by the reader */
  glv_status (*next)(void *state, batch *ret, bool *ret_end, glv_error *err);
  void (*dispose)(void *state);
  void *state;
} batch_reader;
/** The rows that r still has, in one batch; r is left at its end. Errors: those of r; GLV_E_LIMIT
 * past 2^32 - 1 rows, or where an array cannot hold them (array_concat); GLV_E_NOMEM. */
glv_status batch_collect(glv_env *env, batch_reader *r, batch *ret, glv_error *err);
void batch_reader_dispose(batch_reader *r); /* usable with CLEANUP; an empty reader is fine */

#endif
