/* The map `table_metadata` of a manifest; catalogs keep their feature flags in it. */
#include "table/properties.h"

#include "table/table_private.h"

glv_status table_properties(const table_snapshot *t, arena *a, metadata *ret, glv_error *err) {
  return metadata_from_strings(a, t->manifest->table_metadata, t->manifest->n_table_metadata, ret,
                               err);
}
