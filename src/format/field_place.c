/*
 * Places of stored fields: the tree of a field with its columns.
 */
#include "format/file_reader.h"

static glv_status place_children(arena *a, const lance_field *stored, const type *as,
                                 field_locate locate, void *context, field_place *parent,
                                 glv_error *err) {
  field_place *children = ARENA_ARRAY(a, field_place, stored->child_count);
  if (children == NULL) {
    return error_nomem(err, stored->child_count * sizeof *children);
  }
  for (size_t i = 0; i < stored->child_count; i++) { /* at most LIMIT_TYPE_DEPTH deep */
    TRY(field_place_new(a, &stored->children[i], &as->children[i], locate, context, &children[i],
                        err));
  }
  parent->children = children;
  parent->child_count = stored->child_count;
  return GLV_OK;
}

glv_status field_place_new(arena *a, const lance_field *stored, const field *as,
                           field_locate locate, void *context, field_place *ret, glv_error *err) {
  *ret = (field_place){
      .field = as, .column = COLUMN_NONE, .is_packed = stored->is_packed, .blob = stored->blob};
  locate(context, stored, ret);
  return stored->is_leaf ? GLV_OK : place_children(a, stored, as->type, locate, context, ret, err);
}

/* The columns of a file in the order of its schema. */
typedef struct own_columns {
  const lance_field **fields;
  size_t count;
} own_columns;

static void locate_own(void *context, const lance_field *f, field_place *place) {
  const own_columns *own = context;
  place->is_wanted = true;
  for (size_t i = 0; i < own->count; i++) {
    if (own->fields[i] == f) {
      place->column = (uint32_t)i;
    }
  }
}

glv_status file_reader_place(const file_reader *r, const lance_schema *s, const lance_field *f,
                             arena *a, field_place *ret, glv_error *err) {
  const format_version v = file_reader_version(r);
  own_columns own = {.count = lance_schema_columns(s, v, NULL, 0)};
  own.fields = ARENA_ARRAY(a, const lance_field *, own.count);
  if (own.fields == NULL) {
    return error_nomem(err, own.count * sizeof *own.fields);
  }
  lance_schema_columns(s, v, own.fields, own.count);
  return field_place_new(a, f, &f->arrow, locate_own, &own, ret, err);
}
