/*
 * Packed structs of variable width in full-zip pages: the fields of a row follow each other, those
 * of variable width with their length before them; each is encoded in its own way.
 */
#include "format/fullzip.h"

glv_status field_readers_of(const codec *c, const sink *s, arena *a, field_reader **ret,
                            glv_error *err) {
  if (c->kind != CODEC_FIELDS || c->field_count != s->part_count) {
    return FAIL(err, GLV_E_CORRUPT, "values of type %s are stored as %s of %zu fields",
                TYPE_TEXT(s->f->type), codec_name(c), c->field_count);
  }
  field_reader *readers = ARENA_ARRAY(a, field_reader, c->field_count);
  if (readers == NULL) {
    return error_nomem(err, c->field_count * sizeof *readers);
  }
  for (size_t i = 0; i < c->field_count; i++) {
    const codec_field *f = &c->fields[i];
    const sink *part = &s->parts[i];
    if (f->is_variable != (part->s.kind == SHAPE_TEXT)) {
      return FAIL(err, GLV_E_CORRUPT, "field '%s' of type %s is stored as %s", part->f->name,
                  TYPE_TEXT(part->f->type), codec_name(f->values));
    }
    readers[i].is_variable = f->is_variable;
    readers[i].width = f->bits / 8;
    TRY(f->is_variable ? value_coding_of(f->values, &readers[i].coding, err)
                       : value_parts_of(f->values, readers[i].width, part, &readers[i].parts, err));
  }
  *ret = readers;
  return GLV_OK;
}

static glv_status put_text(decoder *d, const field_reader *f, span text, sink *part,
                           glv_error *err) {
  TRY(sink_text_reserve(part, 0, err));
  const size_t from = part->data_size;
  TRY(value_append(d, &f->coding, text, part, err));
  sink_text_end(part, 0);
  return sink_text_check(part, from, 1, err);
}

/* Cut the next `size` bytes off the row. */
static bool cut(span *row, uint64_t size, span *ret) {
  if (size > row->size) {
    return false;
  }
  *ret = span_of(row->data, (size_t)size);
  *row = span_of(row->data + size, row->size - (size_t)size);
  return true;
}

glv_status fields_put(decoder *d, const field_reader *fields, span row, sink *s, glv_error *err) {
  if (row.size == 0) { /* a null in the place of a row */
    return sink_zeros(s, 1, err);
  }
  for (size_t i = 0; i < s->part_count; i++) {
    const field_reader *f = &fields[i];
    sink *part = &s->parts[i];
    part->filled = s->filled;
    span bytes = {0};
    bool ok = cut(&row, f->width, &bytes);
    if (ok && f->is_variable) {
      ok = cut(&row, f->width == 4 ? load_le32(bytes.data) : load_le64(bytes.data), &bytes);
    }
    if (!ok) {
      return FAIL(err, GLV_E_CORRUPT, "field '%s' reaches past the end of its row", part->f->name);
    }
    TRY(f->is_variable ? put_text(d, f, bytes, part, err)
                       : value_put(&f->parts, bytes.data, part, err));
  }
  return row.size == 0 ? GLV_OK
                       : FAIL(err, GLV_E_CORRUPT, "a packed row has %zu bytes too many", row.size);
}
