/*
 * Packed structs: every field has a sink of its own, which the rows are taken apart into. Nulls are
 * those of the struct; fields have none.
 */
#include "format/sink_private.h"

glv_status sink_init_parts(sink *s, glv_error *err) {
  const type *t = s->f->type;
  s->parts = mem_calloc(s->env, t->child_count, sizeof *s->parts);
  if (s->parts == NULL) {
    return error_nomem(err, t->child_count * sizeof *s->parts);
  }
  for (size_t i = 0; i < t->child_count; i++) {
    const field *f = &t->children[i];
    if (f->type->kind == TYPE_STRUCT || f->type->kind == TYPE_NULL ||
        f->type->kind == TYPE_DICTIONARY) {
      return FAIL(
          err, GLV_E_UNSUPPORTED,
          "column '%s': fields of type %s in packed structs are not read; choose other columns",
          s->f->name, TYPE_TEXT(f->type));
    }
    TRY(sink_init(&s->parts[i], s->env, f, s->length, err));
    s->part_count++;
  }
  return GLV_OK;
}

void sink_dispose_parts(sink *s) {
  for (size_t i = 0; i < s->part_count; i++) {
    sink_dispose(&s->parts[i]); /* one level: a part has no parts */
  }
  mem_free(s->env, s->parts);
  s->parts = NULL;
  s->part_count = 0;
}

glv_status sink_grow_parts(sink *s, size_t length, glv_error *err) {
  for (size_t i = 0; i < s->part_count; i++) {
    s->parts[i].filled = s->filled;
    TRY(sink_grow(&s->parts[i], length - s->filled, err));
  }
  return GLV_OK;
}

glv_status sink_zero_parts(sink *s, size_t count, glv_error *err) {
  for (size_t i = 0; i < s->part_count; i++) {
    s->parts[i].filled = s->filled;
    TRY(sink_zeros(&s->parts[i], count, err));
  }
  return GLV_OK;
}

static void take_column(sink *part, const uint8_t *values, size_t stride, const wanted *w) {
  const size_t width = part->s.width * part->s.row_leaves;
  uint8_t *to = sink_next(part);
  for (size_t i = 0; i < w->count; i++) {
    memcpy(to + i * width, values + wanted_row(w, i) * stride, width);
  }
}

glv_status sink_packed(sink *s, const uint8_t *rows, size_t width, const wanted *w,
                       glv_error *err) {
  size_t at = 0;
  for (size_t i = 0; i < s->part_count; i++) {
    sink *part = &s->parts[i];
    const size_t size = part->s.width * part->s.row_leaves;
    if (part->s.kind != SHAPE_FIXED || size > width - at) {
      return FAIL(err, GLV_E_CORRUPT, "values of type %s are stored in %zu bytes",
                  TYPE_TEXT(s->f->type), width);
    }
    part->filled = s->filled;
    take_column(part, rows + at, width, w);
    at += size;
  }
  return at == width ? GLV_OK
                     : FAIL(err, GLV_E_CORRUPT, "values of type %s are stored in %zu bytes",
                            TYPE_TEXT(s->f->type), width);
}

glv_status sink_finish_parts(sink *s, array *parent, glv_error *err) {
  TRY(array_new_children(s->env, s->part_count, parent, err));
  for (size_t i = 0; i < s->part_count; i++) {
    s->parts[i].filled = s->filled;
    TRY(sink_finish(&s->parts[i], &parent->children[i], err));
  }
  return GLV_OK;
}
