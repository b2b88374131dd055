/**
 * @file lineage.h
 * Which outputs of a view are source columns under another name, and the schema metadata that
 * follows them (materialized-views 3.7).
 */
#ifndef GLAIVE_VIEW_LINEAGE_H
#define GLAIVE_VIEW_LINEAGE_H

#include "arrow/type.h"
#include "base/arena.h"
#include "format/lance_schema.h"

/** One output that projects a top-level source column directly, in projection order. */
typedef struct lineage_link {
  const char *source;
  const char *output;
} lineage_link;

typedef struct lineage {
  const lineage_link *links;
  size_t count;
} lineage;

/** Field metadata that a view column inherits: declarations of the source are left out. */
metadata lineage_field_metadata(arena *a, metadata from, bool *ok);

/**
 * The schema metadata of the view: `embedding_functions` and `lancedb::column_definitions`
 * rewritten for its columns, nothing else.
 *
 * @param source  schema of the source as stored, with its metadata: positions count every column,
 * also those that are not read.
 * @param fields  the view's fields, provenance included.
 * Errors: GLV_E_NOMEM. A value that does not have the expected form is left out.
 */
glv_status lineage_schema_metadata(arena *a, const lance_schema *source, const field *fields,
                                   size_t count, lineage l, metadata *ret, glv_error *err);

#endif
