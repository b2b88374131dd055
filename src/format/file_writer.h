/**
 * @file file_writer.h
 * Writing Lance data files: batches in, pages out. Pages are encoded on the thread pool while
 * further batches are accepted; memory is bounded by the pages in flight.
 */
#ifndef GLAIVE_FORMAT_FILE_WRITER_H
#define GLAIVE_FORMAT_FILE_WRITER_H

#include "arrow/array.h"
#include "format/file_reader.h"
#include "format/lance_schema.h"

typedef struct file_writer file_writer;

/**
 * True when arrays of type `given` can be stored in a field of type `stored` as they are: types of
 * the same structure. Names of children count for structs only; views count as what they view.
 */
bool type_is_storable(const type *given, const type *stored);

typedef struct file_writer_options {
  format_version version; /* 0 = FORMAT_2_2 */
  uint64_t page_bytes;    /* raw bytes of a column at which a page is closed; 0 = 8 MiB */
  /** Column (index among the leaves, a top-level field) whose per-chunk first row, minimum and
   * maximum are collected: a uint64 column, or SIZE_MAX. */
  size_t summary_leaf;
  /** Called before the footer to make user global buffers; may be NULL. summary: see
   * file_writer_summary. */
  glv_status (*globals)(void *context, file_writer *w, glv_error *err);
  void *globals_context;
  /** The finished file is neither synced nor closed: file_written.file is its handle, and the
   * caller does both. */
  bool keep_open;
} file_writer_options;

/** What file_writer_options.summary_leaf collects: one entry per mini-block chunk (other pages: one
 * entry per page). */
typedef struct file_summary {
  const uint64_t *first_rows;
  const uint64_t *minima;
  const uint64_t *maxima;
  size_t count;
  uint64_t rows;
  bool sorted; /* the values never decrease over the whole file */
} file_summary;

/**
 * Create the file `name` in dir (exclusive) for the given schema; nothing is written yet but the
 * file exists.
 *
 * @param dir  directory handle; must stay open until the writer is finished or discarded.
 * @param s    borrowed until then.
 * Errors: GLV_E_UNSUPPORTED naming column and type; GLV_E_IO.
 */
glv_status file_writer_new(glv_env *env, void *dir, const char *name, const lance_schema *s,
                           const file_writer_options *options, file_writer **ret, glv_error *err);

/**
 * Append a batch whose columns are the top-level fields of the schema in order. References are
 * taken. Errors: GLV_E_SCHEMA when types do not fit, "The field `X` contained null values even
 * though the field is marked non-null in the schema"; GLV_E_IO (disk full, ...); GLV_E_NOMEM. After
 * an error only file_writer_discard is allowed.
 */
glv_status file_writer_write(file_writer *w, const batch *b, glv_error *err);
uint64_t file_writer_rows(const file_writer *w);

/** In the globals callback: the collected summary, and adding a buffer. */
const file_summary *file_writer_summary(const file_writer *w);
glv_status file_writer_add_global(file_writer *w, const void *data, size_t size, glv_error *err);

/** What a manifest says about the file. column of leaf i is i. */
typedef struct file_written {
  uint64_t rows;
  uint64_t size_bytes;
  uint32_t major; /* as a manifest's DataFile has it */
  uint32_t minor;
  void *file; /* with keep_open, else NULL */
} file_written;

/** Write the rest, sync and close (unless keep_open). The writer is freed in every case; after a
 * failure the file has been removed. */
glv_status file_writer_finish(file_writer *w, file_written *ret, glv_error *err);
/** Close and remove the file, free the writer. NULL is fine. */
void file_writer_discard(file_writer *w);

#endif
