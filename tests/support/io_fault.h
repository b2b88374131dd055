/**
 * @file io_fault.h
 * A glv_io that passes everything on to another one, and makes the Nth matching operation fail.
 */
#ifndef GLAIVE_TESTS_IO_FAULT_H
#define GLAIVE_TESTS_IO_FAULT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <glaive/env.h>

enum io_op {
  IO_OP_DIR_OPEN,
  IO_OP_OPEN_READ,
  IO_OP_SIZE,
  IO_OP_READ_AT,
  IO_OP_CREATE,
  IO_OP_WRITE,
  IO_OP_SYNC,
  IO_OP_CLOSE,
  IO_OP_PUBLISH,
  IO_OP_DIR_SYNC,
  IO_OP_REMOVE,
  IO_OP_LIST,
  IO_OP_STAT,
  IO_OP_MAKE_DIRS,
  IO_OP_REMOVE_DIR,
  IO_OP_RANDOM,
  IO_OP_COUNT
};

#define IO_MASK(op) (1u << (op))
#define IO_MASK_ALL ((1u << IO_OP_COUNT) - 1u)
/** What changes the store. */
#define IO_MASK_WRITES                                                                             \
  (IO_MASK(IO_OP_CREATE) | IO_MASK(IO_OP_WRITE) | IO_MASK(IO_OP_SYNC) | IO_MASK(IO_OP_CLOSE) |     \
   IO_MASK(IO_OP_PUBLISH) | IO_MASK(IO_OP_DIR_SYNC) | IO_MASK(IO_OP_REMOVE) |                      \
   IO_MASK(IO_OP_MAKE_DIRS) | IO_MASK(IO_OP_REMOVE_DIR))

/** Which operation fails, and how. All zero: none. */
typedef struct io_fault_plan {
  uint32_t mask;    /* operations that count and may fail */
  uint64_t nth;     /* 1 = the first that matches; 0 = none fails */
  int number;       /* the errno reported */
  bool persistent;  /* every later match fails, too */
  bool short_write; /* a failing write takes half of its bytes first */
  bool after;       /* the operation is carried out and then reported as failed */
} io_fault_plan;

typedef struct io_fault {
  glv_io table; /* give this to the environment */
  glv_io inner;
  io_fault_plan plan;
  pthread_mutex_t lock;
  uint64_t matches; /* of plan.mask since the last arm */
  bool fired;
  uint64_t counts[IO_OP_COUNT]; /* all operations ever, failed ones included */
  int64_t open_handles;         /* directories and files not closed */
} io_fault;

void io_fault_init(io_fault *f, const glv_io *inner);
/** Start counting anew. */
void io_fault_arm(io_fault *f, io_fault_plan plan);
void io_fault_dispose(io_fault *f);

#endif
