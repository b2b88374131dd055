/*
 * Files of version 2.0 are not read yet: opening them fails, and so does this.
 */
#include "format/old_read.h"

glv_status old_read_field(file_reader *r, const field_place *place, uint64_t first, uint64_t count,
                          const uint32_t *rows, size_t selected, array *ret, glv_error *err) {
  (void)r;
  (void)first;
  (void)count;
  (void)rows;
  (void)selected;
  (void)ret;
  return FAIL(err, GLV_E_UNSUPPORTED,
              "column '%s' is stored in the format version 2.0, which cannot be read yet",
              place->field->name);
}
