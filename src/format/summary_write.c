/*
 * Minima and maxima of a uint64 column, one entry for each mini-block chunk (materialized-views
 * 7.12). The chunks are those of the page just written; a page that is no mini-block page is one
 * entry. Nulls do not count; a chunk of nulls alone has minimum and maximum 0.
 */
#include "format/page_write_private.h"

static void see_value(page_output *out, page_extreme *e, uint64_t value) {
  e->minimum = u64_min(e->minimum, value);
  e->maximum = u64_max(e->maximum, value);
  if (!out->has_values) {
    out->first_value = value;
    out->has_values = true;
  } else if (value < out->last_value) {
    out->is_sorted = false;
  }
  out->last_value = value;
}

/* The next count rows become one entry. */
static page_extreme summarise_chunk(page_cursor *c, size_t count, page_output *out) {
  page_extreme e = {.minimum = UINT64_MAX, .maximum = 0};
  while (count != 0) {
    const page_run *r;
    size_t row;
    const size_t span = page_cursor_span(c, count, &r, &row);
    for (size_t i = row; i < row + span; i++) {
      if (page_run_is_valid(r, i)) {
        see_value(out, &e, load_le64(r->values + i * sizeof(uint64_t)));
      }
    }
    count -= span;
  }
  e.minimum = u64_min(e.minimum, e.maximum);
  return e;
}

glv_status page_summarise(const page_input *in, page_output *out, glv_error *err) {
  const size_t step = out->chunk_rows != 0 ? out->chunk_rows : in->count;
  const size_t count = (in->count + step - 1) / step;
  out->extremes = mem_calloc(in->env, count, sizeof *out->extremes);
  if (out->extremes == NULL) {
    return error_nomem(err, count * sizeof *out->extremes);
  }
  page_cursor c = page_cursor_at_start(in);
  out->is_sorted = true;
  for (size_t i = 0; i < count; i++) {
    out->extremes[i] = summarise_chunk(&c, size_min(step, in->count - i * step), out);
    out->extremes[i].first_row = i * step;
  }
  out->extreme_count = count;
  return GLV_OK;
}
