/*
 * Reading IPC streams and files, message by message, from a source that cannot seek.
 *
 * A message is FF FF FF FF (absent in data older than 2019), the length of its header as 32 bits,
 * the header, the body; length 0 ends the stream. A file is the bytes ARROW1 00 00, a stream, and a
 * footer with its length and ARROW1 again. The footer is not needed for reading in order; it is
 * checked, so that a file that was cut is never taken for a whole one. A stream without its end
 * mark is refused for the same reason.
 *
 * Headers and bodies are read in steps that double, so that a length that lies costs no memory.
 */
#include "arrow/cdata_private.h"
#include "arrow/ipc.h"
#include "arrow/ipc_private.h"
#include "base/limits.h"

static const char file_magic[8] = "ARROW1\0";

enum {
  FIRST_STEP = 16 << 20,
  MAX_HEADER = 256 << 20,
  MAX_FOOTER = 256 << 20,
  FOOTER_TAIL = 10, /* length and magic */
  MAX_PADDING = 14, /* words */
};

typedef struct reader {
  glv_env *env; /* a reference */
  byte_source source;
  const schema *schema; /* owned by the batch_reader */
  ipc_dictionaries dictionaries;
  uint64_t position; /* bytes read */
  size_t batches;
  bool is_file;
  bool ended;
  bool failed;
} reader;

typedef struct message {
  buffer *header; /* with prefix */
  size_t prefix;
  buffer *body;
  flat f; /* header without prefix */
  size_t root;
  uint8_t kind; /* HEADER_*; HEADER_NONE: the end */
} message;

static void message_dispose(message *m) {
  buffer_unref(m->header);
  buffer_unref(m->body);
  *m = (message){0};
}

static glv_status corrupt(const reader *r, const char *what, glv_error *err) {
  return FAIL(err, GLV_E_CORRUPT, "malformed Arrow IPC data before byte %llu: %s",
              (unsigned long long)r->position, what);
}

/* Up to size bytes; fewer only at the end. */
static glv_status read_some(reader *r, void *data, size_t size, size_t *ret_size, glv_error *err) {
  size_t done = 0;
  while (done < size) {
    size_t part = 0;
    TRY(r->source.read(r->source.context, (uint8_t *)data + done, size - done, &part, err));
    if (part == 0) {
      break;
    }
    done += part;
    r->position += part;
  }
  *ret_size = done;
  return GLV_OK;
}

static glv_status read_all(reader *r, void *data, size_t size, glv_error *err) {
  size_t done;
  TRY(read_some(r, data, size, &done, err));
  return done == size ? GLV_OK : corrupt(r, "the data is cut off", err);
}

/* A buffer whose first `have` bytes are at `start`, the rest comes from the source. */
static glv_status read_buffer(reader *r, const void *start, size_t have, uint64_t size,
                              buffer **ret, glv_error *err) {
  CLEANUP(buffer_cleanup) buffer *b = NULL;
  TRY(buffer_new(r->env, (size_t)u64_min(size, FIRST_STEP), &b, err));
  if (have != 0) {
    memcpy(b->data, start, have);
  }
  for (size_t done = have; done < size;) {
    TRY(read_all(r, b->data + done, b->size - done, err));
    done = b->size;
    TRY(buffer_resize(b, (size_t)u64_min(size, (uint64_t)done * 2), err));
  }
  *ret = b;
  b = NULL;
  return GLV_OK;
}

/* The footer of a file, of which `have` bytes are at `start`. */
static glv_status check_footer(reader *r, const uint8_t *start, size_t have, glv_error *err) {
  CLEANUP(buf_dispose) buf rest;
  buf_init(&rest, r->env, MAX_FOOTER);
  TRY(buf_append(&rest, start, have, err));
  for (;;) {
    size_t part;
    TRY(buf_reserve(&rest, 4096, err));
    TRY(read_some(r, rest.data + rest.size, 4096, &part, err));
    if (part == 0) {
      break;
    }
    rest.size += part;
  }
  if (rest.size < FOOTER_TAIL || memcmp(rest.data + rest.size - 6, file_magic, 6) != 0) {
    return corrupt(r, "the file is cut off: it does not end with its magic bytes", err);
  }
  const size_t size = load_le32(rest.data + rest.size - FOOTER_TAIL);
  if (size > rest.size - FOOTER_TAIL) {
    return corrupt(r, "the length of the footer is out of range", err);
  }
  flat f = {.data = (const uint8_t *)rest.data + rest.size - FOOTER_TAIL - size, .size = size};
  size_t batches;
  const size_t root = flat_root(&f);
  (void)flat_vector(&f, root, FOOTER_RECORD_BATCHES, BLOCK_BYTES, &batches);
  if (f.bad || batches != r->batches) {
    return corrupt(r, "the footer does not list the record batches of the file", err);
  }
  return GLV_OK;
}

/* What stands where a message should start: *ret_length is 0 at the end of the stream. */
static glv_status read_prefix(reader *r, uint8_t prefix[8], size_t *ret_prefix, size_t *ret_length,
                              glv_error *err) {
  size_t have;
  TRY(read_some(r, prefix, 4, &have, err));
  /* Some writers pad the magic of a file to 64 bytes instead of 8. */
  for (int i = 0; i < MAX_PADDING && r->is_file && r->schema == NULL && have == 4; i++) {
    if (load_le32(prefix) != 0) {
      break;
    }
    TRY(read_some(r, prefix, 4, &have, err));
  }
  if (have != 4) {
    return corrupt(r, "the data is cut off: the end mark is missing", err);
  }
  *ret_prefix = 4;
  if (load_le32(prefix) == UINT32_MAX) {
    TRY(read_all(r, prefix + 4, 4, err));
    *ret_prefix = 8;
  } else if (r->is_file) {
    *ret_length = 0; /* no end mark: the footer starts here */
    return check_footer(r, prefix, 4, err);
  }
  *ret_length = load_le32(prefix + *ret_prefix - 4);
  if (*ret_length > MAX_HEADER) {
    return corrupt(r, "the length of a message is out of range", err);
  }
  return *ret_length == 0 && r->is_file ? check_footer(r, NULL, 0, err) : GLV_OK;
}

static glv_status check_header(reader *r, message *m, uint64_t *ret_body, glv_error *err) {
  m->f = (flat){.data = m->header->data + m->prefix, .size = m->header->size - m->prefix};
  m->root = flat_root(&m->f);
  m->kind = flat_u8(&m->f, m->root, MESSAGE_HEADER_TYPE);
  const int16_t version = flat_i16(&m->f, m->root, MESSAGE_VERSION);
  const int64_t body = flat_i64(&m->f, m->root, MESSAGE_BODY_LENGTH);
  if (m->f.bad || m->kind == HEADER_NONE || body < 0 ||
      flat_table(&m->f, m->root, MESSAGE_HEADER) == 0) {
    return corrupt(r, "the header of a message is damaged", err);
  }
  if (m->kind > HEADER_RECORD_BATCH || version < METADATA_V4 || version > METADATA_V5) {
    return FAIL(err, GLV_E_UNSUPPORTED, "Arrow IPC message of kind %u in metadata version %d",
                m->kind, version + 1);
  }
  *ret_body = (uint64_t)body;
  return GLV_OK;
}

/* *m is empty before; message_dispose also after a failure. */
static glv_status read_message(reader *r, message *m, glv_error *err) {
  uint8_t prefix[8];
  size_t length = 0;
  uint64_t body = 0;
  TRY(read_prefix(r, prefix, &m->prefix, &length, err));
  if (length == 0) {
    return GLV_OK;
  }
  TRY(read_buffer(r, prefix, m->prefix, m->prefix + length, &m->header, err));
  TRY(check_header(r, m, &body, err));
  return read_buffer(r, NULL, 0, body, &m->body, err);
}

static glv_status take_dictionary(reader *r, message *m, glv_error *err) {
  const size_t table = flat_table(&m->f, m->root, MESSAGE_HEADER);
  const int64_t id = flat_i64(&m->f, table, DICTIONARY_ID);
  ipc_message data = {m->f, flat_table(&m->f, table, DICTIONARY_DATA), m->body};
  const bool is_delta = flat_u8(&m->f, table, DICTIONARY_IS_DELTA) != 0;
  const ipc_dictionaries *d = &r->dictionaries;
  ipc_dictionary *entry = ipc_dictionary_find(d, id);
  if (m->f.bad || entry == NULL || data.table == 0) {
    return corrupt(r, "a dictionary belongs to no column", err);
  }
  CLEANUP(array_unref) array values = {0};
  TRY(ipc_read_dictionary(r->env, &data, d, (size_t)(entry - d->items), &values, err));
  array *current = &entry->current;
  if (is_delta && current->type != NULL) {
    const array parts[] = {*current, values};
    array joined;
    TRY(array_concat(r->env, parts, 2, &joined, err));
    array_unref(&values);
    values = joined;
  }
  array_unref(current);
  *current = values;
  values = (array){0};
  return GLV_OK;
}

/* Dictionaries up to the next record batch. */
static glv_status advance(reader *r, batch *ret, bool *ret_end, glv_error *err) {
  for (;;) {
    CLEANUP(message_dispose) message m = {0};
    TRY(read_message(r, &m, err));
    if (m.kind == HEADER_NONE) {
      r->ended = true;
      *ret_end = true;
      return GLV_OK;
    }
    if (m.kind == HEADER_SCHEMA) {
      return corrupt(r, "a second schema", err);
    }
    if (m.kind == HEADER_RECORD_BATCH) {
      ipc_message data = {m.f, flat_table(&m.f, m.root, MESSAGE_HEADER), m.body};
      TRY(ipc_read_batch(r->env, r->schema, &data, &r->dictionaries, ret, err));
      r->batches++;
      *ret_end = false;
      return GLV_OK;
    }
    TRY(take_dictionary(r, &m, err));
  }
}

static glv_status reader_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  reader *r = state;
  if (r->failed) {
    return corrupt(r, "reading it failed before", err);
  }
  if (r->ended) {
    *ret_end = true;
    return GLV_OK;
  }
  const glv_status status = advance(r, ret, ret_end, err);
  r->failed = status != GLV_OK;
  return status;
}

static void reader_dispose(void *state) {
  reader *r = state;
  glv_env *env = r->env;
  if (r->source.dispose != NULL) {
    r->source.dispose(r->source.context);
  }
  ipc_dictionaries_free(env, &r->dictionaries);
  mem_free(env, r);
  env_unref(env);
}

/* The start of the data, then the schema. */
static glv_status read_start(reader *r, schema **ret, glv_error *err) {
  CLEANUP(message_dispose) message m = {0};
  uint8_t start[8];
  uint64_t body;
  TRY(read_all(r, start, 8, err));
  if (memcmp(start, file_magic, 6) == 0) {
    r->is_file = true;
    TRY(read_message(r, &m, err));
  } else {
    const bool modern = load_le32(start) == UINT32_MAX;
    const size_t length = load_le32(start + (modern ? 4 : 0));
    m.prefix = modern ? 8 : 4;
    if (length < 4 || length > MAX_HEADER) {
      return corrupt(r, "it does not begin with a schema", err);
    }
    TRY(read_buffer(r, start, 8, m.prefix + length, &m.header, err));
    TRY(check_header(r, &m, &body, err));
    TRY(read_buffer(r, NULL, 0, body, &m.body, err));
  }
  if (m.kind != HEADER_SCHEMA) {
    return corrupt(r, "it does not begin with a schema", err);
  }
  return ipc_read_schema(r->env, &m.f, flat_table(&m.f, m.root, MESSAGE_HEADER), ret,
                         &r->dictionaries, err);
}

glv_status ipc_reader_open(glv_env *env, byte_source source, batch_reader *ret, glv_error *err) {
  reader *r = mem_zalloc(env, sizeof *r);
  if (r == NULL) {
    if (source.dispose != NULL) {
      source.dispose(source.context);
    }
    return error_nomem(err, sizeof *r);
  }
  r->env = env_ref(env);
  r->source = source;
  schema *s = NULL;
  const glv_status status = read_start(r, &s, err);
  if (status != GLV_OK) {
    reader_dispose(r);
    return status;
  }
  r->schema = s;
  *ret = (batch_reader){.schema = s, .next = reader_next, .dispose = reader_dispose, .state = r};
  return GLV_OK;
}

static glv_status memory_read(void *context, void *data, size_t size, size_t *ret_read,
                              glv_error *err) {
  struct ipc_memory *m = context;
  const size_t part = size_min(size, m->size - m->position);
  (void)err;
  if (part != 0) {
    memcpy(data, m->data + m->position, part);
  }
  m->position += part;
  *ret_read = part;
  return GLV_OK;
}

byte_source ipc_memory_source(struct ipc_memory *memory) {
  return (byte_source){.read = memory_read, .context = memory};
}
