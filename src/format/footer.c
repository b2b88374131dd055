/*
 * The footer of a data file, and the numbers and names of file versions. A file of version 2.0
 * says (0, 3) in its footer but (2, 0) in a manifest; both are accepted everywhere.
 */
#include "format/footer.h"

#include "base/checked.h"

enum { TABLE_ENTRY_BYTES = 16 };

const char *format_version_text(format_version v) {
  switch (v) {
  case FORMAT_2_0:
    return "2.0";
  case FORMAT_2_1:
    return "2.1";
  case FORMAT_2_2:
    return "2.2";
  }
  return "?";
}

format_version format_version_parse(str text) {
  static const format_version all[] = {FORMAT_2_0, FORMAT_2_1, FORMAT_2_2};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (str_is(text, format_version_text(all[i]))) {
      return all[i];
    }
  }
  return (format_version)0;
}

format_version format_version_of(uint32_t major, uint32_t minor) {
  if ((major == 0 && minor == 3) || (major == 2 && minor == 0)) {
    return FORMAT_2_0;
  }
  if (major == 2 && minor == 1) {
    return FORMAT_2_1;
  }
  if (major == 2 && minor == 2) {
    return FORMAT_2_2;
  }
  return (format_version)0;
}

static glv_status check_version(uint32_t major, uint32_t minor, const char *name,
                                format_version *ret, glv_error *err) {
  if (major == 0 && minor <= 2) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "file '%s' has the legacy format %u.%u, which is not supported; rewrite the "
                "dataset with a newer version of pylance",
                name, major, minor);
  }
  *ret = format_version_of(major, minor);
  if ((int)*ret == 0) {
    return FAIL(err, GLV_E_UNSUPPORTED, "file '%s': Unknown Lance storage version: %u.%u", name,
                major, minor);
  }
  return GLV_OK;
}

glv_status footer_parse(span tail, uint64_t file_size, const char *name, footer *ret,
                        glv_error *err) {
  if (tail.size < FOOTER_BYTES) {
    return FAIL(err, GLV_E_CORRUPT, "file '%s' does not have sufficient data", name);
  }
  const uint8_t *p = tail.data + tail.size - FOOTER_BYTES;
  if (memcmp(p + 36, "LANC", 4) != 0) {
    return FAIL(err, GLV_E_CORRUPT, "file '%s' does not appear to be a Lance file", name);
  }
  footer f = {.columns_start = load_le64(p),
              .column_table = load_le64(p + 8),
              .global_table = load_le64(p + 16),
              .global_count = load_le32(p + 24),
              .column_count = load_le32(p + 28)};
  TRY(check_version(load_le16(p + 32), load_le16(p + 34), name, &f.version, err));
  const uint64_t end = file_size - FOOTER_BYTES;
  const uint64_t columns_size = (uint64_t)f.column_count * TABLE_ENTRY_BYTES;
  const uint64_t globals_size = (uint64_t)f.global_count * TABLE_ENTRY_BYTES;
  if (f.columns_start > f.column_table || !range_within(f.column_table, columns_size, end) ||
      !range_within(f.global_table, globals_size, end) || f.global_count == 0) {
    return FAIL(err, GLV_E_CORRUPT, "file '%s': the tables of the footer do not lie in the file",
                name);
  }
  *ret = f;
  return GLV_OK;
}
