/**
 * @file footer.h
 * The tail of a data file: footer and tables (lance-file-format section 2).
 */
#ifndef GLAIVE_FORMAT_FOOTER_H
#define GLAIVE_FORMAT_FOOTER_H

#include "base/error.h"
#include "format/file_reader.h"
#include "format/span.h"

#define FOOTER_BYTES 40

typedef struct footer {
  uint64_t columns_start; /* metadata of column 0 */
  uint64_t column_table;
  uint64_t global_table;
  uint32_t global_count;
  uint32_t column_count;
  format_version version;
} footer;

/**
 * Read the last FOOTER_BYTES of a file of that size, and check that the tables lie inside it.
 * name: of the file, for messages. Errors: GLV_E_CORRUPT; GLV_E_UNSUPPORTED for versions that are
 * not read.
 */
glv_status footer_parse(span tail, uint64_t file_size, const char *name, footer *ret,
                        glv_error *err);

#endif
