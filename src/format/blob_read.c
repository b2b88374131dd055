/*
 * Pages of blobs (lance-file-format section 7.4): another page holds a position and a size for
 * every row. A size of 0 at a position other than 0 is a null; the position tells its levels. The
 * rows are given as these descriptors; file_reader_bytes fetches what they point to.
 */
#include "format/page.h"

enum { LEVEL_BITS = 16 };

glv_status blob_load(decoder *d, format_version version, const page_place *where,
                     const Lance__Encodings21__BlobLayout *m, page *p, glv_error *err) {
  TRY(page_read_layers(p, m->layers, m->n_layers, err));
  TRY(page_set_items(p, p->rows, err));
  if (p->levels.max_rep != 0) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "lists of blobs in files of version 2.1 are not read; choose other columns");
  }
  if (m->inner_layout == NULL ||
      m->inner_layout->layout_case == LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_BLOB) {
    return FAIL(err, GLV_E_CORRUPT, "a page of blobs has no descriptors");
  }
  p->blob = page_new(d->env, where);
  if (p->blob == NULL) {
    return error_nomem(err, sizeof *p);
  }
  TRY(page_load_layout(d, version, where, m->inner_layout, p->blob, err));
  p->memory_bytes += p->blob->memory_bytes;
  return p->blob->levels.max_def == 0 && p->blob->levels.max_rep == 0
             ? GLV_OK
             : FAIL(err, GLV_E_CORRUPT, "the descriptors of blobs have levels of their own");
}

/* The levels of descriptors; those of nulls become zeros. */
static void take_levels(uint64_t *restrict positions, const uint64_t *restrict sizes, size_t count,
                        uint16_t *restrict levels) {
  for (size_t i = 0; i < count; i++) {
    const bool is_null = sizes[i] == 0 && positions[i] != 0;
    levels[i] = is_null ? (uint16_t)u64_min(positions[i] >> LEVEL_BITS, UINT16_MAX) : 0;
    positions[i] = is_null ? 0 : positions[i];
  }
}

glv_status blob_read(decoder *d, const page *p, const wanted *w, sink *s, glv_error *err) {
  if (s->s.kind != SHAPE_PACKED || s->part_count != 2 || s->parts[0].s.width != sizeof(uint64_t) ||
      s->parts[1].s.width != sizeof(uint64_t)) {
    return FAIL(err, GLV_E_CORRUPT, "a page of blobs for type %s", TYPE_TEXT(s->f->type));
  }
  const size_t first = s->filled;
  level_list *levels = s->levels;
  s->levels = NULL;
  const glv_status status = page_read(d, p->blob, w, s, err);
  s->levels = levels;
  s->page = &p->levels;
  TRY(status);
  TRY(decoder_reserve(d, &d->levels, w->count * sizeof(uint16_t), err));
  uint16_t *found = (uint16_t *)(void *)d->levels.data;
  take_levels((uint64_t *)(void *)s->parts[0].values->data + first,
              (const uint64_t *)(const void *)s->parts[1].values->data + first, w->count, found);
  s->filled = first; /* levels belong to the rows that follow */
  TRY(sink_levels(s, found, &(wanted){.count = w->count}, err));
  sink_advance(s, w->count);
  return GLV_OK;
}
