/*
 * Fuzz target: any bytes as CSV (first byte even) or JSON Lines (odd), read in pieces of a size
 * that the second byte chooses. What is read with found types must come back the same after being
 * written and read again with these types, whatever the size of the pieces.
 */
#include <stdlib.h>

#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_LIMIT ((uint64_t)64 << 20)
enum { MAX_BATCHES = 64 };

typedef struct input {
  const uint8_t *data;
  size_t size;
  size_t piece;
  size_t position;
} input;

static void require(bool ok) {
  if (!ok) {
    abort();
  }
}

static glv_status read_piece(void *context, void *to, size_t size, size_t *ret, glv_error *err) {
  input *in = context;
  const size_t part = size_min(size_min(size, in->piece), in->size - in->position);
  (void)err;
  if (part != 0) {
    memcpy(to, in->data + in->position, part);
  }
  in->position += part;
  *ret = part;
  return GLV_OK;
}

static glv_status open_input(void *context, byte_source *ret, glv_error *err) {
  (void)err;
  ((input *)context)->position = 0;
  *ret = (byte_source){.read = read_piece, .context = context};
  return GLV_OK;
}

typedef struct content {
  schema *schema;
  batch batches[MAX_BATCHES];
  size_t count;
} content;

static void content_dispose(content *c) {
  for (size_t i = 0; i < c->count; i++) {
    batch_dispose(&c->batches[i]);
  }
  schema_unref(c->schema);
}

/* True when all was read. */
static bool read_all(glv_env *env, bool is_csv, input *in, const schema *columns, content *ret) {
  const text_source source = {"f", open_input, in};
  const text_read_options o = {.columns = columns};
  batch_reader r;
  glv_error err = {0};
  glv_status status = (is_csv ? csv_reader_open : jsonl_reader_open)(env, source, &o, &r, &err);
  *ret = (content){0};
  if (status != GLV_OK) {
    require(err.code == status && err.message[0] != '\0');
    return false;
  }
  ret->schema = schema_ref(r.schema);
  bool end = false;
  while (!end && status == GLV_OK && ret->count < MAX_BATCHES) {
    status = r.next(r.state, &ret->batches[ret->count], &end, &err);
    ret->count += status == GLV_OK && !end;
  }
  for (size_t i = 0; i < ret->count; i++) {
    for (size_t k = 0; k < ret->batches[i].column_count; k++) {
      require(array_validate(&ret->batches[i].columns[k], SIZE_MAX, "x", NULL) == GLV_OK);
    }
  }
  batch_reader_dispose(&r);
  return end;
}

typedef struct replay {
  const content *from;
  size_t next;
} replay;

static glv_status replay_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  replay *p = state;
  (void)err;
  *ret_end = p->next == p->from->count;
  if (!*ret_end) {
    *ret = batch_ref(&p->from->batches[p->next++]);
  }
  return GLV_OK;
}

static void check_again(glv_env *env, bool is_csv, const content *c) {
  replay p = {.from = c};
  batch_reader r = {.schema = schema_ref(c->schema), .next = replay_next, .state = &p};
  buf out;
  buf_init(&out, env, 16u << 20);
  if ((is_csv ? csv_write : jsonl_write)(env, &r, ipc_buf_sink(&out), NULL) == GLV_OK) {
    input in = {.data = (const uint8_t *)out.data, .size = out.size, .piece = 4096};
    content again;
    const bool whole = read_all(env, is_csv, &in, c->schema, &again);
    uint64_t peak;
    env_memory(env, NULL, &peak);
    require(whole || peak > MEMORY_LIMIT / 2);
    if (whole && c->count == 1 && again.count == 1) {
      require(again.batches[0].length == c->batches[0].length);
      for (size_t k = 0; k < c->batches[0].column_count; k++) {
        require(array_equal(&again.batches[0].columns[k], &c->batches[0].columns[k]));
      }
    }
    content_dispose(&again);
  }
  batch_reader_dispose(&r);
  buf_dispose(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const glv_io no_io = {0};
  const glv_env_options options = {
      .struct_size = sizeof options, .memory_limit_bytes = MEMORY_LIMIT, .io = &no_io};
  glv_env *env;
  content c;
  if (size < 2) {
    return 0;
  }
  require(env_new(&options, &env, NULL) == GLV_OK);
  const bool is_csv = data[0] % 2 == 0;
  input in = {.data = data + 2, .size = size - 2, .piece = (size_t)data[1] + 1};
  uint64_t used;
  uint64_t left;
  env_memory(env, &used, NULL);
  if (read_all(env, is_csv, &in, NULL, &c)) {
    check_again(env, is_csv, &c);
  }
  content_dispose(&c);
  env_memory(env, &left, NULL);
  require(left == used);
  env_unref(env);
  return 0;
}
