/**
 * @file shape.h
 * Types of JSON values found by looking at all of them.
 */
#ifndef GLAIVE_TEXT_SHAPE_H
#define GLAIVE_TEXT_SHAPE_H

#include "base/hash.h"
#include "text/text_private.h"

typedef struct shape {
  unsigned kinds; /* bits of enum json_kind: what values other than null were */
  unsigned fits;  /* of strings */
  bool all_i64;   /* of numbers */
  bool all_u64;
  bool any_real;
  bool any_special;   /* a string for a number that JSON lacks: "NaN", "Infinity" */
  bool any_null;      /* of the items of an array */
  size_t least_items; /* of arrays */
  size_t most_items;
  struct shape *item;
  struct shape **members; /* of objects, in order of appearance */
  str *names;
  size_t count;
  size_t member_capacity;
  size_t name_capacity;
  map index;
} shape;

typedef struct shapes {
  glv_env *env;
  arena memory; /* of all shapes and names */
  size_t count; /* of shapes */
  buf scratch;
} shapes;

void shapes_init(shapes *s, glv_env *env);
void shapes_dispose(shapes *s, shape *root);
/** NULL: no memory. */
shape *shape_new(shapes *s);
/** The member of that name, made when it is new. */
glv_status shape_member(shapes *s, shape *of, str name, shape **ret, glv_error *err);
/** Look at the value at the scanner. Errors: GLV_E_INVALID_INPUT for bad JSON and for values of a
 * kind that the earlier ones do not have; GLV_E_LIMIT. */
glv_status shape_see(shapes *s, shape *of, json_scan *in, const text_place *at, unsigned depth,
                     glv_error *err);
/** The type of the values; NULL: no memory. A list of numbers that are not all integers and always
 * as many is a fixed_size_list of floats. */
const type *shape_type(shapes *s, const shape *of);

#endif
