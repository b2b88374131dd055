/*
 * Full-zip pages: their layout message (lance-file-format section 7.2).
 */
#include "base/checked.h"
#include "format/page.h"

/* Bits of levels, and bytes of the control word of an entry. */
static glv_status read_control(const page *p, uint32_t rep_bits, uint32_t def_bits, zip_layout *z,
                               glv_error *err) {
  if (rep_bits != 0 && p->levels.max_rep == 0) {
    return FAIL(err, GLV_E_CORRUPT, "the page has repetition levels but no list layer");
  }
  if (rep_bits == 0 && p->levels.max_rep != 0) {
    return FAIL(err, GLV_E_CORRUPT, "the page has a list layer but no repetition levels");
  }
  if (rep_bits > 16 || def_bits > 16) {
    return FAIL(err, GLV_E_CORRUPT, "levels of %u and %u bits", rep_bits, def_bits);
  }
  const unsigned bits = rep_bits + def_bits;
  z->rep_bits = rep_bits;
  z->def_bits = def_bits;
  z->control = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
  return GLV_OK;
}

static glv_status read_index(const page_place *where, zip_layout *z, glv_error *err) {
  if (where->buffer_count < 2) {
    return FAIL(err, GLV_E_CORRUPT, "a full-zip page of variable width has no row index");
  }
  z->index = where->buffers[1];
  const uint64_t entries = where->rows + 1; /* rows fit into 32 bits */
  const uint64_t width = z->index.size / entries;
  if (z->index.size % entries != 0 || (width != 1 && width != 2 && width != 4 && width != 8)) {
    return FAIL(err, GLV_E_CORRUPT, "a row index of %llu bytes for %llu rows",
                (unsigned long long)z->index.size, (unsigned long long)where->rows);
  }
  z->index_width = (unsigned)width;
  return GLV_OK;
}

static glv_status load_fixed(uint32_t bits, const page_place *where, page *p, glv_error *err) {
  zip_layout *z = &p->zip;
  uint64_t size;
  if (bits % 8 != 0 || bits == 0) {
    return FAIL(err, GLV_E_CORRUPT, "full-zip values of %u bits", bits);
  }
  z->width = bits / 8;
  if (p->levels.max_rep != 0) {
    return read_index(where, z, err);
  }
  if (!u64_mul(p->items, (uint64_t)z->width + z->control, &size) || size != z->data.size) {
    return FAIL(err, GLV_E_CORRUPT, "%llu full-zip values of %u bytes in %llu bytes",
                (unsigned long long)p->items, z->width, (unsigned long long)z->data.size);
  }
  return GLV_OK;
}

static glv_status load_variable(uint32_t bits, const page_place *where, page *p, glv_error *err) {
  if (bits != 32 && bits != 64) {
    return FAIL(err, GLV_E_CORRUPT, "full-zip lengths of %u bits", bits);
  }
  p->zip.is_variable = true;
  p->zip.width = bits / 8;
  return read_index(where, &p->zip, err);
}

glv_status zip_load(const page_place *where, const Lance__Encodings21__FullZipLayout *m, page *p,
                    glv_error *err) {
  zip_layout *z = &p->zip;
  TRY(page_read_layers(p, m->layers, m->n_layers, err));
  TRY(page_set_items(p, m->num_items, err));
  TRY(read_control(p, m->bits_rep, m->bits_def, z, err));
  TRY(codec_read(&p->memory, m->value_compression, &z->values, err));
  if (where->buffer_count < 1 || z->values == NULL) {
    return FAIL(err, GLV_E_CORRUPT, "a full-zip page has %zu buffers", where->buffer_count);
  }
  z->data = where->buffers[0];
  switch (m->details_case) {
  case LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_VALUE:
    return load_fixed(m->bits_per_value, where, p, err);
  case LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_OFFSET:
    return load_variable(m->bits_per_offset, where, p, err);
  case LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS__NOT_SET:
  case _LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS__CASE_IS_INT_SIZE:
    break;
  }
  return FAIL(err, GLV_E_CORRUPT, "a full-zip page does not tell the width of its values");
}
