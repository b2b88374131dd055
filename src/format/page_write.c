/*
 * The choice of how a page is stored (lance-file-format 11.2), from the data of that page alone:
 *
 *   no values, all null            constant layout without a value
 *   all valid values equal         constant layout with the value, unless levels would outweigh it
 *   text, few distinct values      dictionary page
 *   values of 256 bytes or more    full-zip
 *   everything else                mini-blocks: packed or flat numbers, text
 */
#include "format/page_write_private.h"

enum { FULL_ZIP_BYTES = 256 };

static glv_status encode_fixed(const page_input *in, page_output *out, glv_error *err) {
  bool done;
  TRY(constant_try(in, out, &done, err));
  if (done) {
    return GLV_OK;
  }
  return in->leaf->width >= FULL_ZIP_BYTES ? fullzip_write_fixed(in, out, err)
                                           : fixed_write(in, out, err);
}

static glv_status encode_variable(const page_input *in, page_output *out, glv_error *err) {
  const variable_measure m = variable_measure_page(in);
  bool done;
  TRY(dictionary_try(in, m.bytes, out, &done, err));
  if (done) {
    return GLV_OK;
  }
  return m.longest >= FULL_ZIP_BYTES ? fullzip_write_variable(in, out, err)
                                     : variable_write(in, out, err);
}

static glv_status encode(const page_input *in, page_output *out, glv_error *err) {
  switch (in->leaf->form) {
  case LEAF_NULL:
    return constant_write_null(in, out, err);
  case LEAF_LIST:
    return constant_write_lists(in, out, err);
  case LEAF_BITS:
  case LEAF_FIXED:
    return in->null_count == in->rows ? constant_write_null(in, out, err)
                                      : encode_fixed(in, out, err);
  case LEAF_VARIABLE:
    return in->null_count == in->rows ? constant_write_null(in, out, err)
                                      : encode_variable(in, out, err);
  }
  return FAIL(err, GLV_E_INTERNAL, "column '%s' has an unknown form", in->leaf->name);
}

glv_status page_encode(const page_input *in, page_output *out, glv_error *err) {
  TRY(encode(in, out, err));
  return in->leaf->is_summarised ? page_summarise(in, out, err) : GLV_OK;
}
