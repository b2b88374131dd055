/*
 * Taking rows of packed structs apart: of each run, the bytes of one child after the other are
 * brought together and then handled like a run of plain values.
 */
#include "format/old_struct.h"

void old_structs_dispose(old_structs *s) {
  for (size_t i = 0; i < s->child_count; i++) {
    sink_dispose(&s->children[i]);
  }
  mem_free(s->env, s->children);
  mem_free(s->env, s->widths);
}

glv_status old_structs_init(old_structs *s, glv_env *env, const field *f, size_t length,
                            glv_error *err) {
  const size_t count = f->type->child_count;
  *s = (old_structs){.env = env, .f = f};
  s->children = mem_calloc(env, count, sizeof *s->children);
  s->widths = mem_calloc(env, count, sizeof *s->widths);
  if (s->children == NULL || s->widths == NULL) {
    return error_nomem(err, count * sizeof *s->children);
  }
  for (size_t i = 0; i < count; i++) {
    sink *child = &s->children[i];
    TRY(sink_init(child, env, &f->type->children[i], length, err));
    s->child_count++;
    if (child->s.kind != SHAPE_FIXED) {
      return FAIL(err, GLV_E_UNSUPPORTED,
                  "packed structs with a child of type %s are not supported",
                  TYPE_TEXT(f->type->children[i].type));
    }
    s->widths[i] = child->s.width * child->s.row_leaves; /* at most 28 bits */
    s->width += s->widths[i];
  }
  return GLV_OK;
}

/* Bytes of one child, row after row, for all rows of a run. */
static void bring_together(const uint8_t *restrict rows, size_t count, size_t row_width,
                           size_t width, uint8_t *restrict to) {
  if (width == 4) {
    for (size_t i = 0; i < count; i++) {
      memcpy(to + i * 4, rows + i * row_width, 4);
    }
  } else if (width == 8) {
    for (size_t i = 0; i < count; i++) {
      memcpy(to + i * 8, rows + i * row_width, 8);
    }
  } else {
    for (size_t i = 0; i < count; i++) {
      memcpy(to + i * width, rows + i * row_width, width);
    }
  }
}

static glv_status read_run(decoder *d, const old_encoding *e, const old_run *r, old_structs *s,
                           glv_error *err) {
  span in = {0};
  TRY(old_bytes(d, e, (uint64_t)r->first * s->width, r->count * s->width, &in, err));
  for (size_t i = 0, at = 0; i < s->child_count; at += s->widths[i++]) {
    TRY(decoder_reserve(d, &d->values, r->count * s->widths[i], err));
    bring_together(in.data + at, r->count, s->width, s->widths[i], d->values.data);
    sink_fixed(&s->children[i], d->values.data, &r->rows);
    sink_advance(&s->children[i], r->rows.count);
  }
  return GLV_OK;
}

glv_status old_structs_read(decoder *d, const old_encoding *e, uint64_t page_rows, const wanted *w,
                            old_structs *s, glv_error *err) {
  uint64_t size = 0;
  if (e->kind != OLD_ROWS || e->validity != NULL) {
    return FAIL(err, GLV_E_CORRUPT, "a page encoded as %s does not hold packed structs",
                old_encoding_name(e));
  }
  if (!u64_mul(page_rows, s->width, &size) || size > e->where.size) {
    return FAIL(err, GLV_E_CORRUPT, "%llu bytes are too few for %llu rows of %zu bytes",
                (unsigned long long)e->where.size, (unsigned long long)page_rows, s->width);
  }
  for (size_t at = 0; at < w->count;) {
    const old_run r = old_run_next(w, at, 8 * (uint64_t)s->width + 1);
    TRY(read_run(d, e, &r, s, err));
    at += r.rows.count;
  }
  return GLV_OK;
}

glv_status old_structs_finish(old_structs *s, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {.type = s->f->type, .length = 0};
  TRY(array_new_children(s->env, s->child_count, &a, err));
  for (size_t i = 0; i < s->child_count; i++) {
    TRY(sink_finish(&s->children[i], &a.children[i], err));
    a.length = a.children[i].length;
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}
