/**
 * @file blob.h
 * The bytes of blob columns (lance-file-format sections 7.4 and 10): a column holds descriptors,
 * the bytes lie in the data file or in side files beside it.
 */
#ifndef GLAIVE_TABLE_BLOB_H
#define GLAIVE_TABLE_BLOB_H

#include "format/file_reader.h"

/** Where the blobs of one column of one data file are. */
typedef struct blob_source {
  file_reader *reader; /* of the data file; borrowed; NULL when every descriptor is null */
  blob_kind kind;
  const char *path;   /* of the data file */
  const char *column; /* for messages */
} blob_source;

/**
 * Fetch what descriptors point to.
 *
 * @param descriptors  as file_reader_read_field gives them for a blob column.
 * @param t            the type of *ret: large_binary; must outlive it.
 * @param ret          one value per descriptor, null where that is null.
 * Errors: GLV_E_CORRUPT for a range outside of its file; GLV_E_UNSUPPORTED for bytes kept outside
 * of the table; GLV_E_LIMIT for a blob of 2 GiB and more; GLV_E_IO; GLV_E_NOMEM. Thread class: T.
 */
glv_status blob_fetch(glv_env *env, const blob_source *from, const array *descriptors,
                      const type *t, array *ret, glv_error *err);

#endif
