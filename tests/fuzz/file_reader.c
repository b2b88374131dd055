/*
 * Fuzz target: any bytes as a data file.
 */
#include "one_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  one_file_read(data, size, NULL, NULL);
  return 0;
}
