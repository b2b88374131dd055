/*
 * The choice of how a page is stored (lance-file-format 11.2), from the data of that page alone.
 * docs/encodings.md has the table of all choices with their reasons.
 */
#include "format/page_write_private.h"

enum { FULL_ZIP_BYTES = 256 };

bool page_is_zipped(const page_input *in, uint64_t width) {
  if (in->levels.is_sparse || in->leaf->structure == STRUCTURE_FULLZIP) {
    return true;
  }
  return width >= FULL_ZIP_BYTES && in->leaf->structure != STRUCTURE_MINIBLOCK;
}

static glv_status encode_fixed(const page_input *in, page_output *out, glv_error *err) {
  bool done;
  TRY(constant_try(in, out, &done, err));
  if (done) {
    return GLV_OK;
  }
  if (in->leaf->form == LEAF_BITS) {
    return !in->levels.is_sparse
               ? fixed_write(in, out, err)
               : FAIL(err, GLV_E_LIMIT, "column '%s': a row has more than %d lists without a value",
                      in->leaf->name, CHUNK_MOST_ENTRIES);
  }
  return page_is_zipped(in, in->leaf->width) ? fullzip_write_fixed(in, out, err)
                                             : fixed_write(in, out, err);
}

static glv_status encode(const page_input *in, page_output *out, glv_error *err) {
  if (in->null_count == in->count) {
    return constant_write_null(in, out, err);
  }
  if (in->leaf->form == LEAF_VARIABLE && in->leaf->is_packed) {
    return fullzip_write_variable(in, encoding_variable_packed(&out->messages, in->leaf), out, err);
  }
  if (in->leaf->form == LEAF_VARIABLE) {
    return text_write(in, out, err);
  }
  return in->leaf->is_dictionary ? dictionary_write_given(in, out, err)
                                 : encode_fixed(in, out, err);
}

glv_status page_encode(const page_input *in, page_output *out, glv_error *err) {
  TRY(encode(in, out, err));
  return in->leaf->is_summarised ? page_summarise(in, out, err) : GLV_OK;
}
