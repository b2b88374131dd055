/**
 * @file cdata.h
 * The Arrow C data interface: schemas, arrays and streams in and out without copying where layouts
 * agree.
 */
#ifndef GLAIVE_ARROW_CDATA_H
#define GLAIVE_ARROW_CDATA_H

#include <glaive/arrow_abi.h>

#include "arrow/array.h"

/**
 * Read a foreign schema (a struct at top level); in is not released. Everything is copied.
 * Errors: GLV_E_INVALID_INPUT for malformed input; GLV_E_UNSUPPORTED naming column and type for
 * types that have no type_kind; GLV_E_LIMIT for nesting past LIMIT_TYPE_DEPTH.
 */
glv_status cdata_import_schema(glv_env *env, const struct ArrowSchema *in, schema **ret,
                               glv_error *err);
/** *ret must not hold a schema; its release frees what it points to. */
glv_status cdata_export_schema(glv_env *env, const schema *s, struct ArrowSchema *ret,
                               glv_error *err);

/**
 * Take over a foreign struct array as a batch: in->release is NULL afterwards in every case. The
 * memory is kept, not copied (string and binary views are copied to offset layout; misaligned
 * buffers too), and every array is validated (lengths, offsets, UTF-8). Errors: GLV_E_INVALID_INPUT
 * naming the column.
 */
glv_status cdata_import_batch(glv_env *env, const schema *s, struct ArrowArray *in, batch *ret,
                              glv_error *err);
/** Hand a batch out as a struct array; takes references, b stays the caller's. utf8_view types go
 * out as utf8. */
glv_status cdata_export_batch(glv_env *env, const batch *b, struct ArrowArray *ret, glv_error *err);

/** Takes over in (in->release is NULL afterwards in every case). */
glv_status cdata_import_stream(glv_env *env, struct ArrowArrayStream *in, batch_reader *ret,
                               glv_error *err);
/**
 * Takes over *in. The stream keeps an environment reference; a failure of next reaches the consumer
 * as errno (the table of the status codes is in docs/error-handling.md) and as last_error text.
 */
glv_status cdata_export_stream(glv_env *env, batch_reader *in, struct ArrowArrayStream *ret,
                               glv_error *err);
/** The full error of a stream made by cdata_export_stream, else code GLV_E_IO and the text it
 * gives. */
void cdata_stream_error(const struct ArrowArrayStream *stream, glv_error *ret);

/** A reader over batches held in memory; takes references. */
glv_status batch_reader_of(glv_env *env, const schema *s, const batch *batches, size_t count,
                           batch_reader *ret, glv_error *err);

#endif
