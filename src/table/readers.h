/**
 * @file readers.h
 * Data files that a snapshot keeps open between calls that read little of them. Opening a file and
 * loading metadata, chunk tables and dictionaries of its pages costs more than a few rows do.
 */
#ifndef GLAIVE_TABLE_READERS_H
#define GLAIVE_TABLE_READERS_H

#include "base/thread.h"
#include "table/table.h"

/** Most files kept open, and about the bytes of pages that each keeps when nobody reads it. */
enum { KEPT_READERS = 16 };
#define KEPT_READER_BYTES ((size_t)4 << 20)

typedef struct kept_reader {
  const data_file *file; /* of the snapshot; NULL = free */
  file_reader *reader;   /* a reference */
  uint64_t used;         /* value of kept_readers.clock */
} kept_reader;

typedef struct kept_readers {
  mutex lock; /* guards the rest; a leaf */
  uint64_t clock;
  kept_reader list[KEPT_READERS];
} kept_readers;

/** NULL = no memory. */
kept_readers *kept_readers_new(glv_env *env);
void kept_readers_free(glv_env *env, kept_readers *k); /* NULL is fine */
/** A reference to the open file, or NULL when it is not kept. Thread class: T. */
file_reader *kept_readers_find(kept_readers *k, const data_file *f);
/** Keep r, an open f, from now on; the file used longest ago makes room. r stays the caller's.
 * Thread class: T. */
void kept_readers_add(kept_readers *k, const data_file *f, file_reader *r);

#endif
