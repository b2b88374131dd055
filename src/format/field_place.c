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

/* The children, which were made above. */
static field_place *children_of(const field_place *place) {
  return (field_place *)(uintptr_t)place->children;
}

glv_status field_place_choose(arena *a, field_place *place, const char *name,
                              const char *const *paths, size_t count, glv_error *err) {
  const size_t size = strlen(name);
  const char **rests = ARENA_ARRAY(a, const char *, count);
  size_t rest_count = 0;
  if (rests == NULL) {
    return error_nomem(err, count * sizeof *rests);
  }
  for (size_t i = 0; i < count; i++) {
    if (strncmp(paths[i], name, size) != 0) {
      continue;
    }
    if (paths[i][size] == '\0') {
      return GLV_OK; /* wanted with all that is below */
    }
    if (paths[i][size] == '.') {
      rests[rest_count++] = paths[i] + size + 1;
    }
  }
  place->is_wanted = place->is_wanted && rest_count != 0;
  for (size_t i = 0; place->is_wanted && i < place->child_count; i++) {
    field_place *child = &children_of(place)[i];
    TRY(field_place_choose(a, child, child->field->name, rests, rest_count, err));
  }
  return GLV_OK;
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
