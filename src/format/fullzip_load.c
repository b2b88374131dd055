/*
 * Full-zip pages: their layout message (lance-file-format section 7.2).
 */
#include "base/checked.h"
#include "format/page.h"

/* Bytes of the control word of an entry. */
static glv_status control_bytes(uint32_t rep_bits, uint32_t def_bits, unsigned *ret,
                                glv_error *err) {
  if (rep_bits != 0) {
    return FAIL(err, GLV_E_CORRUPT, "the page has repetition levels but no list layer");
  }
  if (def_bits > 16) {
    return FAIL(err, GLV_E_CORRUPT, "definition levels of %u bits", def_bits);
  }
  *ret = def_bits == 0 ? 0 : def_bits <= 8 ? 1 : 2;
  return GLV_OK;
}

static glv_status load_fixed(uint32_t bits, const page_place *where, zip_layout *z,
                             glv_error *err) {
  uint64_t size;
  if (bits % 8 != 0 || bits == 0) {
    return FAIL(err, GLV_E_CORRUPT, "full-zip values of %u bits", bits);
  }
  z->width = bits / 8;
  if (!u64_mul(where->rows, (uint64_t)z->width + z->control, &size) || size != z->data.size) {
    return FAIL(err, GLV_E_CORRUPT, "%llu full-zip values of %u bytes in %llu bytes",
                (unsigned long long)where->rows, z->width, (unsigned long long)z->data.size);
  }
  return GLV_OK;
}

static glv_status load_variable(uint32_t bits, const page_place *where, zip_layout *z,
                                glv_error *err) {
  if (bits != 32 && bits != 64) {
    return FAIL(err, GLV_E_CORRUPT, "full-zip lengths of %u bits", bits);
  }
  if (where->buffer_count < 2) {
    return FAIL(err, GLV_E_CORRUPT, "a full-zip page of variable width has no row index");
  }
  z->is_variable = true;
  z->width = bits / 8;
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

glv_status zip_load(const page_place *where, const Lance__Encodings21__FullZipLayout *m, page *p,
                    glv_error *err) {
  zip_layout *z = &p->zip;
  TRY(layers_of_items(m->layers, m->n_layers, err));
  TRY(control_bytes(m->bits_rep, m->bits_def, &z->control, err));
  TRY(codec_read(&p->memory, m->value_compression, &z->values, err));
  if (where->buffer_count < 1 || z->values == NULL || m->num_items != where->rows) {
    return FAIL(err, GLV_E_CORRUPT, "a full-zip page of %llu rows holds %u items in %zu buffers",
                (unsigned long long)where->rows, m->num_items, where->buffer_count);
  }
  z->def_bits = m->bits_def;
  z->data = where->buffers[0];
  switch (m->details_case) {
  case LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_VALUE:
    return load_fixed(m->bits_per_value, where, z, err);
  case LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_OFFSET:
    return load_variable(m->bits_per_offset, where, z, err);
  case LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS__NOT_SET:
  case _LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS__CASE_IS_INT_SIZE:
    break;
  }
  return FAIL(err, GLV_E_CORRUPT, "a full-zip page does not tell the width of its values");
}
