/**
 * @file ipc.h
 * Arrow IPC: the stream and the file format, both ways, through nanoarrow. Bodies compressed with
 * LZ4 or ZSTD are read.
 */
#ifndef GLAIVE_ARROW_IPC_H
#define GLAIVE_ARROW_IPC_H

#include "arrow/array.h"
#include "base/buf.h"

/** Where bytes come from: fills up to size bytes; *ret_read 0 = end. */
typedef struct byte_source {
  glv_status (*read)(void *context, void *data, size_t size, size_t *ret_read, glv_error *err);
  void (*dispose)(void *context); /* may be NULL */
  void *context;
} byte_source;

/** Where bytes go. */
typedef struct byte_sink {
  glv_status (*write)(void *context, const void *data, size_t size, glv_error *err);
  void *context;
} byte_sink;

/** Bytes in memory; data must outlive the source. *position starts at 0. */
struct ipc_memory {
  const uint8_t *data;
  size_t size;
  size_t position;
};
byte_source ipc_memory_source(struct ipc_memory *memory);
byte_sink ipc_buf_sink(buf *out);

/**
 * Read a stream or a file (told apart by the magic ARROW1). Takes over source.
 * Errors: GLV_E_CORRUPT for malformed bytes, also from next.
 */
glv_status ipc_reader_open(glv_env *env, byte_source source, batch_reader *ret, glv_error *err);

/** Write all batches of r; as_file: the file format with footer, else the stream format. */
glv_status ipc_write(glv_env *env, batch_reader *r, bool as_file, byte_sink sink, glv_error *err);

/** The same, a batch at a time. */
typedef struct ipc_writer ipc_writer;
/** Writes what stands before the first batch. sink: used by the calls that follow, too. s is
 * borrowed for the call. Errors: those of sink; GLV_E_UNSUPPORTED for types without a form. */
glv_status ipc_writer_new(glv_env *env, const schema *s, bool as_file, byte_sink sink,
                          ipc_writer **ret, glv_error *err);
glv_status ipc_writer_batch(ipc_writer *w, const batch *b, glv_error *err);
/** The end mark, and the footer of a file. */
glv_status ipc_writer_end(ipc_writer *w, glv_error *err);
void ipc_writer_free(ipc_writer *w); /* NULL is fine */
void ipc_writer_cleanup(ipc_writer **w);

#endif
