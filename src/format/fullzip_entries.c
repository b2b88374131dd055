/*
 * Full-zip pages of lists. The row index gives the bytes of a row; its
 * entries follow each other there: control word, then the value if the entry owns one (a length
 * before it when the width is variable, and nothing at all for a null of variable width).
 *
 * The entries of some rows are parsed first, which tells how many values there are and where; then
 * the values go to the sink.
 */
#include "format/fullzip.h"

/* A value, as bytes of the rows that were read together. */
typedef struct zip_value {
  size_t at;
  size_t size;
} zip_value;

/* How values become those of the sink. */
typedef struct zip_reader {
  const page *page;
  value_parts parts;
  value_coding coding;
  const field_reader *fields; /* packed structs of variable width */
} zip_reader;

/* What parsing found; arrays in working memory. */
typedef struct zip_entries {
  uint16_t *rep;
  uint16_t *def;
  size_t count;
  zip_value *values;
  uint16_t *value_levels;
  size_t value_count;
} zip_entries;

/* Room for the entries of so many bytes. */
static glv_status reserve_entries(decoder *d, const zip_layout *z, size_t bytes, zip_entries *e,
                                  glv_error *err) {
  const size_t most =
      bytes / size_max(z->control, 1) + 1; /* without control words an entry has a length */
  TRY(decoder_reserve(d, &d->reps, most * sizeof *e->rep, err));
  TRY(decoder_reserve(d, &d->levels, most * sizeof *e->def, err));
  TRY(decoder_reserve(d, &d->value_levels, most * sizeof *e->value_levels, err));
  TRY(decoder_reserve(d, &d->picks, most * sizeof *e->values, err));
  *e = (zip_entries){.rep = (uint16_t *)(void *)d->reps.data,
                     .def = (uint16_t *)(void *)d->levels.data,
                     .values = (zip_value *)(void *)d->picks.data,
                     .value_levels = (uint16_t *)(void *)d->value_levels.data};
  return GLV_OK;
}

static glv_status cut_off(glv_error *err) {
  return FAIL(err, GLV_E_CORRUPT, "an entry of a full-zip row reaches past its end");
}

/* The size of the value of an entry, whose bytes begin at *at; *at moves to the value. */
static glv_status value_size(const zip_layout *z, const uint8_t *bytes, size_t end, unsigned level,
                             size_t *at, size_t *ret, glv_error *err) {
  uint64_t size = z->width;
  if (z->is_variable) {
    size = 0;
    if (level == 0) {
      if (end - *at < z->width) {
        return cut_off(err);
      }
      size = z->width == 4 ? load_le32(bytes + *at) : load_le64(bytes + *at);
      *at += z->width;
    }
  }
  *ret = (size_t)size;
  return size <= end - *at ? GLV_OK : cut_off(err);
}

/* The entries in bytes [at, end): one row. */
static glv_status parse_row(const zip_reader *r, const uint8_t *bytes, size_t at, size_t end,
                            zip_entries *e, glv_error *err) {
  const zip_layout *z = &r->page->zip;
  const page_levels *p = &r->page->levels;
  const size_t first = e->count;
  while (at < end) {
    if (end - at < z->control) {
      return cut_off(err);
    }
    const uint32_t word = zip_word(z, bytes + at);
    const unsigned def = word & ((1u << z->def_bits) - 1);
    const unsigned rep = word >> z->def_bits;
    at += z->control;
    const bool is_first = e->count == first;
    if (rep > p->max_rep || def > p->max_def || (rep == p->max_rep) != is_first) {
      return FAIL(err, GLV_E_CORRUPT, "a full-zip entry has the levels %u and %u", rep, def);
    }
    e->rep[e->count] = (uint16_t)rep;
    e->def[e->count++] = (uint16_t)def;
    if (def <= p->max_visible) {
      size_t size = 0;
      TRY(value_size(z, bytes, end, def, &at, &size, err));
      e->values[e->value_count] = (zip_value){at, size};
      e->value_levels[e->value_count++] = (uint16_t)def;
      at += size;
    }
  }
  return e->count != first ? GLV_OK : FAIL(err, GLV_E_CORRUPT, "a full-zip row has no entries");
}

static glv_status put_structs(decoder *d, const zip_reader *r, const uint8_t *bytes,
                              const zip_entries *e, sink *s, glv_error *err) {
  for (size_t i = 0; i < e->value_count; i++) {
    const span row = span_of(bytes + e->values[i].at, e->values[i].size);
    TRY(e->value_levels[i] == 0 ? fields_put(d, r->fields, row, s, err) : sink_zeros(s, 1, err));
    sink_advance(s, 1);
  }
  return GLV_OK;
}

static glv_status put_values(decoder *d, const zip_reader *r, const uint8_t *bytes,
                             const zip_entries *e, sink *s, glv_error *err) {
  TRY(sink_grow(s, e->value_count, err));
  TRY(sink_nulls(s, e->value_levels, &(wanted){.count = e->value_count}, err));
  if (!r->page->zip.is_variable) {
    for (size_t i = 0; i < e->value_count; i++) {
      TRY(value_put(&r->parts, bytes + e->values[i].at, s, err));
      sink_advance(s, 1);
    }
    return GLV_OK;
  }
  if (r->fields != NULL) {
    return put_structs(d, r, bytes, e, s, err);
  }
  TRY(sink_text_reserve(s, 0, err));
  const size_t from = s->data_size;
  for (size_t i = 0; i < e->value_count; i++) {
    if (e->value_levels[i] == 0) {
      TRY(value_append(d, &r->coding, span_of(bytes + e->values[i].at, e->values[i].size), s, err));
    }
    sink_text_end(s, i);
  }
  TRY(sink_text_check(s, from, e->value_count, err));
  sink_advance(s, e->value_count);
  return GLV_OK;
}

static glv_status read_group(decoder *d, const zip_reader *r, const wanted *w, size_t i, size_t n,
                             const uint64_t *positions, size_t first, sink *s, glv_error *err) {
  const zip_layout *z = &r->page->zip;
  const uint64_t start = positions[wanted_row(w, i) - first];
  const size_t size = (size_t)(positions[wanted_row(w, i + n - 1) - first + 1] - start);
  span bytes = {0};
  zip_entries e = {0};
  TRY(decoder_fetch(d, z->data.offset + start, size, &bytes, err));
  TRY(reserve_entries(d, z, size, &e, err));
  for (size_t j = 0; j < n; j++) {
    const size_t row = wanted_row(w, i + j) - first;
    TRY(parse_row(r, bytes.data, (size_t)(positions[row] - start),
                  (size_t)(positions[row + 1] - start), &e, err));
  }
  if (s->levels != NULL) {
    TRY(level_list_add_run(s->levels, &r->page->levels, e.rep, e.def, e.count, err));
  }
  return put_values(d, r, bytes.data, &e, s, err);
}

static glv_status read_all(decoder *d, const zip_reader *r, const wanted *w, sink *s,
                           glv_error *err) {
  for (size_t i = 0; i < w->count;) {
    const size_t end = i + zip_run(w, i, ZIP_GAP_ROWS, ZIP_BATCH_ROWS);
    const size_t first = wanted_row(w, i);
    const size_t rows = wanted_row(w, end - 1) - first + 1;
    const uint64_t *positions = NULL;
    TRY(zip_read_index(d, &r->page->zip, first, rows, &positions, err));
    while (i < end) {
      const size_t n = zip_group(w, i, end, positions, first);
      TRY(read_group(d, r, w, i, n, positions, first, s, err));
      i += n;
    }
  }
  return GLV_OK;
}

glv_status zip_read_entries(decoder *d, const page *p, const wanted *w, sink *s, glv_error *err) {
  const zip_layout *z = &p->zip;
  zip_reader r = {.page = p};
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, d->env);
  if (!z->is_variable) {
    TRY(value_parts_of(z->values, z->width, s, &r.parts, err));
  } else if (s->s.kind == SHAPE_PACKED) {
    field_reader *fields = NULL;
    TRY(field_readers_of(z->values, s, &a, &fields, err));
    r.fields = fields;
  } else {
    TRY(value_coding_of(z->values, &r.coding, err));
  }
  return read_all(d, &r, w, s, err);
}
