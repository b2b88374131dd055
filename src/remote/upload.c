/*
 * The bytes made so far are kept while there are few, so that a request that the server refused for
 * the moment can be sent again; a larger body can be sent once.
 */
#include "remote/upload.h"

#include "arrow/ipc.h"
#include "base/checked.h"

enum { MAX_KEPT_BYTES = 32 << 20 };

struct upload {
  glv_env *env; /* a reference */
  batch_reader rows;
  ipc_writer *writer; /* NULL before the first byte */
  buf bytes;          /* made and not dropped */
  size_t position;    /* of the next byte to send, in bytes */
  uint64_t row_count;
  bool dropped; /* bytes does not begin at the start of the body */
  bool ended;
};

glv_status remote_upload_new(glv_env *env, batch_reader *rows, upload **ret, glv_error *err) {
  upload *u = mem_zalloc(env, sizeof *u);
  if (u == NULL) {
    batch_reader_dispose(rows);
    return error_nomem(err, sizeof *u);
  }
  u->env = env_ref(env);
  u->rows = *rows;
  *rows = (batch_reader){0};
  buf_init(&u->bytes, env, SIZE_MAX / 2);
  *ret = u;
  return GLV_OK;
}

void remote_upload_free(upload *u) {
  if (u == NULL) {
    return;
  }
  glv_env *env = u->env;
  ipc_writer_free(u->writer);
  batch_reader_dispose(&u->rows);
  buf_dispose(&u->bytes);
  mem_free(env, u);
  env_unref(env);
}

void remote_upload_cleanup(upload **u) { remote_upload_free(*u); }

/* Make more bytes: the start, a batch, or the end. */
static glv_status make_bytes(upload *u, glv_error *err) {
  CLEANUP(batch_dispose) batch b = {0};
  if (!u->dropped && u->bytes.size > MAX_KEPT_BYTES) {
    u->dropped = true;
    buf_dispose(&u->bytes); /* gives the room back, too */
    buf_init(&u->bytes, u->env, SIZE_MAX / 2);
    u->position = 0;
  }
  if (u->dropped) {
    buf_clear(&u->bytes);
    u->position = 0;
  }
  if (u->writer == NULL) {
    return ipc_writer_new(u->env, u->rows.schema, false, ipc_buf_sink(&u->bytes), &u->writer, err);
  }
  TRY(u->rows.next(u->rows.state, &b, &u->ended, err));
  if (u->ended) {
    return ipc_writer_end(u->writer, err);
  }
  u->row_count += b.length;
  return ipc_writer_batch(u->writer, &b, err);
}

glv_status remote_upload_read(upload *u, void *data, size_t size, size_t *ret_read,
                              glv_error *err) {
  while (u->position == u->bytes.size && !u->ended) {
    TRY(make_bytes(u, err));
  }
  const size_t count = size_min(size, u->bytes.size - u->position);
  if (count > 0) {
    memcpy(data, u->bytes.data + u->position, count);
  }
  u->position += count;
  *ret_read = count;
  return GLV_OK;
}

bool remote_upload_rewind(upload *u) {
  u->position = u->dropped ? u->position : 0;
  return !u->dropped;
}

uint64_t remote_upload_rows(const upload *u) { return u->row_count; }
