/**
 * @file one_file.h
 * An input as the only file of a store, and reading all of it as a data file.
 */
#ifndef GLAIVE_TESTS_FUZZ_ONE_FILE_H
#define GLAIVE_TESTS_FUZZ_ONE_FILE_H

#include "format/file_reader.h"

/** Ends the process unless ok: a finding. */
void require(bool ok);

/** Looks at what the reader gives for the rows from first on; may be NULL. */
typedef void (*one_file_check)(void *context, const field_place *place, uint64_t first,
                               const array *rows);

/**
 * Open bytes as a data file, look at everything the metadata offers, and read every field of a
 * supported type: whole windows, single rows, and scattered rows. What a selection gives must equal
 * the same rows of the window, and every array must be valid.
 *
 * @return false when some read failed, or the file could not be opened.
 */
bool one_file_read(const uint8_t *data, size_t size, one_file_check check, void *context);

#endif
