/**
 * @file lance_schema_private.h
 * What the files about stored schemas share.
 */
#ifndef GLAIVE_FORMAT_LANCE_SCHEMA_PRIVATE_H
#define GLAIVE_FORMAT_LANCE_SCHEMA_PRIVATE_H

#include "format/lance_schema.h"

/** Set blob, is_packed and is_leaf from the logical type, the metadata and the children. */
void lance_field_classify(lance_field *f);

/**
 * Put together the Arrow type of a classified field whose children are complete; it stays NULL when
 * it is not supported. The metadata of a blob column becomes that of its descriptors.
 * Errors: GLV_E_CORRUPT, GLV_E_NOMEM.
 */
glv_status lance_field_type(arena *a, lance_field *f, glv_error *err);

#endif
