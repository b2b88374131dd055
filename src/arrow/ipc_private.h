/**
 * @file ipc_private.h
 * What the readers of IPC schemas, batches and streams share.
 */
#ifndef GLAIVE_ARROW_IPC_PRIVATE_H
#define GLAIVE_ARROW_IPC_PRIVATE_H

#include "arrow/array.h"
#include "arrow/flat.h"
#include "base/hash.h"

/** A dictionary-encoded field, in the order of a walk from the top with parents first. */
typedef struct ipc_dictionary {
  int64_t id;
  const type *values_type;
  size_t inside; /* further dictionaries inside values_type, which follow in the list */
  size_t first;  /* the first entry with the same id holds the values */
  array current; /* values so far; type NULL before the first dictionary batch */
} ipc_dictionary;

typedef struct ipc_dictionaries {
  ipc_dictionary *items; /* mem_alloc */
  size_t count;
  map by_id; /* the 8 bytes of an id -> the first entry that has it */
} ipc_dictionaries;

/** The first entry with that id, or NULL. */
ipc_dictionary *ipc_dictionary_find(const ipc_dictionaries *d, int64_t id);

/**
 * Decode the Schema table at a position of a message.
 * Errors: GLV_E_CORRUPT, GLV_E_UNSUPPORTED for types and byte orders, GLV_E_LIMIT.
 * @param ret_dictionaries  ipc_dictionaries_free; also after a failure.
 */
glv_status ipc_read_schema(glv_env *env, flat *f, size_t table, schema **ret,
                           ipc_dictionaries *ret_dictionaries, glv_error *err);
void ipc_dictionaries_free(glv_env *env, ipc_dictionaries *d);

/** A record batch (or the data of a dictionary batch) in a message. */
typedef struct ipc_message {
  flat header;
  size_t table; /* of the RecordBatch */
  buffer *body; /* exactly the body */
} ipc_message;

/** Errors: GLV_E_CORRUPT naming the column. */
glv_status ipc_read_batch(glv_env *env, const schema *s, ipc_message *m, const ipc_dictionaries *d,
                          batch *ret, glv_error *err);
/** The values of a dictionary batch for entry `index`. */
glv_status ipc_read_dictionary(glv_env *env, ipc_message *m, const ipc_dictionaries *d,
                               size_t index, array *ret, glv_error *err);

/** A failure of decoding as GLV_E_CORRUPT: what foreign data gets wrong is GLV_E_INVALID_INPUT in
 * the modules that check it. */
glv_status ipc_as_corrupt(glv_status status, glv_error *err);

#endif
