/**
 * @file file_writer_private.h
 * The state of a file being written, shared by the file that collects batches into pages and the
 * one that writes the container around them.
 */
#ifndef GLAIVE_FORMAT_FILE_WRITER_PRIVATE_H
#define GLAIVE_FORMAT_FILE_WRITER_PRIVATE_H

#include "base/thread.h"
#include "format/file_writer.h"
#include "format/page_write_private.h"

/** A page in the file. */
typedef struct page_record {
  uint64_t first_row;
  uint64_t length; /* as the file says: rows, or items of fixed-size lists of structs */
  size_t buffer_count;
  uint64_t offsets[PAGE_MAX_BUFFERS];
  uint64_t sizes[PAGE_MAX_BUFFERS];
  str layout; /* serialized PageLayout, in the arena of the writer */
} page_record;

/** A column: the rows that wait for a page, and the pages that are written. */
typedef struct column_writer {
  size_t field; /* index of its top-level field */
  page_leaf leaf;
  array *pieces; /* narrowed to the leaf, owned */
  size_t piece_count;
  size_t piece_capacity;
  uint64_t raw_bytes;
  uint64_t page_bytes; /* raw bytes at which a page is closed */
  size_t rows;
  uint64_t first_row; /* of the rows that wait */
  page_record *pages;
  size_t page_count;
  size_t page_capacity;
} column_writer;

/** A range of the file. */
typedef struct file_range {
  uint64_t offset;
  uint64_t size;
} file_range;

/** The summary while it grows; the public form points into it. */
typedef struct summary_writer {
  uint64_t *columns[3]; /* first rows, minima, maxima */
  size_t capacity[3];
  bool has_values;
  uint64_t last_value;
  file_summary view;
} summary_writer;

struct page_job;

struct file_writer {
  glv_env *env; /* a reference */
  void *dir;    /* borrowed */
  char *name;
  void *file; /* NULL once closed */
  const lance_schema *schema;
  file_writer_options options;
  format_version version;
  arena records; /* what is kept until the end */
  uint64_t position;
  uint64_t rows;
  column_writer *columns;
  size_t column_count;
  uint64_t raw_bytes;     /* waiting in all columns */
  struct page_job *first; /* pages being encoded, in order of submission */
  struct page_job *last;
  size_t job_count;
  size_t job_limit;
  file_range *globals; /* user global buffers */
  size_t global_count;
  size_t global_capacity;
  summary_writer summary;
};

/** Give rows to a column: an array of its top-level field, or (2.0) of its own field. Full pages
 * are closed. */
glv_status column_take(file_writer *w, size_t column, const array *a, glv_error *err);

/** Append bytes to the file. */
glv_status container_write(file_writer *w, const void *data, size_t size, glv_error *err);
/** Fill up to a multiple of PAGE_ALIGN. */
glv_status container_align(file_writer *w, glv_error *err);
/** Write schema, column metadata, tables and footer behind the pages. */
glv_status container_finish(file_writer *w, glv_error *err);

/** Take over what a page of the summarised column found. */
glv_status summary_add(file_writer *w, uint64_t first_row, const page_output *page, glv_error *err);

#endif
