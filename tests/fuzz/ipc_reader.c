/*
 * Fuzz target: any bytes as Arrow IPC, stream or file. Every batch is read, then validated, sliced,
 * gathered and compared, so that memory outside of the body would be touched; what can be read must
 * also survive being written and read again.
 */
#include <stdlib.h>

#include "arrow/cdata.h"
#include "arrow/ipc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BATCHES = 16 };
#define MEMORY_LIMIT ((uint64_t)64 << 20)

static void require(bool ok) {
  if (!ok) {
    abort();
  }
}

/* Touch the values of a column in different ways. */
static void use_column(glv_env *env, const array *a) {
  require(array_validate(a, SIZE_MAX, "x", NULL) == GLV_OK);
  require(array_null_count(a) <= a->length);
  if (a->length == 0 || a->length > 4096) {
    return;
  }
  const uint32_t rows[] = {(uint32_t)a->length - 1, 0, (uint32_t)(a->length / 2)};
  array taken;
  if (array_take(env, a, rows, 3, &taken, NULL) == GLV_OK) {
    const array both[] = {taken, taken};
    array joined;
    if (array_concat(env, both, 2, &joined, NULL) == GLV_OK) {
      array half = array_slice(&joined, 3, 3);
      require(half.type == NULL || array_equal(&half, &taken));
      array_unref(&half);
      array_unref(&joined);
    }
    array_unref(&taken);
  }
}

static size_t read_all(glv_env *env, const void *data, size_t size, schema **ret_schema,
                       batch *batches, bool *ret_whole) {
  struct ipc_memory m = {.data = data, .size = size};
  batch_reader r;
  size_t count = 0;
  *ret_whole = false;
  if (ipc_reader_open(env, ipc_memory_source(&m), &r, NULL) != GLV_OK) {
    return 0;
  }
  *ret_schema = schema_ref(r.schema);
  while (count < MAX_BATCHES) {
    bool end = false;
    glv_error err = {0};
    const glv_status status = r.next(r.state, &batches[count], &end, &err);
    if (status != GLV_OK || end) {
      require(status == GLV_OK || (err.code == status && err.message[0] != '\0'));
      *ret_whole = status == GLV_OK;
      break;
    }
    count++;
  }
  batch_reader_dispose(&r);
  return count;
}

static void release(schema *s, batch *batches, size_t count) {
  for (size_t i = 0; i < count; i++) {
    batch_dispose(&batches[i]);
  }
  schema_unref(s);
}

/* Write what was read and read it again: the same, but for views, which become plain. */
static void write_again(glv_env *env, schema *s, const batch *batches, size_t count, bool as_file) {
  batch_reader r;
  buf out;
  buf_init(&out, env, 32u << 20);
  if (batch_reader_of(env, s, batches, count, &r, NULL) == GLV_OK) {
    if (ipc_write(env, &r, as_file, ipc_buf_sink(&out), NULL) == GLV_OK) {
      batch again[MAX_BATCHES];
      schema *t = NULL;
      bool whole;
      const size_t n = read_all(env, out.data, out.size, &t, again, &whole);
      for (size_t i = 0; whole && i < n; i++) {
        for (size_t k = 0; k < again[i].column_count; k++) {
          require(again[i].length == batches[i].length);
          require(!type_equal(again[i].columns[k].type, batches[i].columns[k].type) ||
                  array_equal(&again[i].columns[k], &batches[i].columns[k]));
        }
      }
      release(t, again, n);
    }
    batch_reader_dispose(&r);
  }
  buf_dispose(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const glv_io no_io = {0};
  const glv_env_options options = {
      .struct_size = sizeof options, .memory_limit_bytes = MEMORY_LIMIT, .io = &no_io};
  glv_env *env;
  batch batches[MAX_BATCHES];
  schema *s = NULL;
  bool whole;
  uint64_t used;
  require(env_new(&options, &env, NULL) == GLV_OK);
  env_memory(env, &used, NULL);
  const size_t count = read_all(env, data, size, &s, batches, &whole);
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < batches[i].column_count; k++) {
      use_column(env, &batches[i].columns[k]);
    }
  }
  if (whole) {
    write_again(env, s, batches, count, size % 2 == 0);
  }
  release(s, batches, count);
  uint64_t left;
  env_memory(env, &left, NULL);
  require(left == used);
  env_unref(env);
  return 0;
}
