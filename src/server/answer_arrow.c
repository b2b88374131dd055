/*
 * Rows as an answer. They are encoded by the workers, a chunk at a time, into one of two buffers
 * while the other one is being sent: what is ready and not yet sent is bounded by two chunks, and
 * a client that reads slowly holds buffers but no thread.
 *
 * The first chunk is made before anything is sent, so that what fails early is answered with a
 * status of its own; rows that all fit into it go out with their length known. After that a failure
 * can only cut the answer off.
 *
 * An exchange may end (the client left) while a chunk is being made, so the rows have a life of
 * their own: one reference is the response's, one that of the worker.
 */
#include <microhttpd.h>

#include "arrow/cdata.h"
#include "arrow/ipc.h"
#include "base/checked.h"
#include "base/error.h"
#include "server/answer_private.h"
#include "server/gzip.h"

enum {
  CHUNK_BYTES = 1 << 20, /* a chunk ends with the batch that passes this */
  SEND_BYTES = 64 << 10, /* what the HTTP library asks for at a time */
};

typedef struct rows_answer {
  server *server;
  glv_env *env;
  atomic_uint refs;
  struct MHD_Connection *connection;
  exchange *exchange; /* of the thread that sends, and while the connection is suspended */
  batch_reader reader;
  uint64_t rows;
  uint64_t max_rows; /* 0 = any number */
  ipc_writer *writer;
  gzip *gzip; /* NULL = not compressed */
  buf raw;    /* what the writer wrote and gzip has not read */
  work work;
  mutex lock; /* guards what follows */
  buf sending;
  size_t position;
  buf ready; /* the next chunk, whole */
  bool has_ready;
  bool is_making; /* a worker fills `ready` */
  bool is_last;   /* nothing comes after `ready` */
  bool failed;
  bool waits; /* the connection is suspended until the worker is done */
} rows_answer;

static void rows_unref(rows_answer *a) {
  if (atomic_fetch_sub(&a->refs, 1) != 1) {
    return;
  }
  batch_reader_dispose(&a->reader);
  ipc_writer_free(a->writer);
  gzip_free(a->gzip);
  buf_dispose(&a->raw);
  buf_dispose(&a->sending);
  buf_dispose(&a->ready);
  mutex_dispose(&a->lock);
  mem_free(a->env, a);
}

static void rows_cleanup(rows_answer **a) {
  if (*a != NULL) {
    rows_unref(*a);
  }
}

/* ---- making chunks: on a worker ---- */

static glv_status write_raw(void *context, const void *data, size_t size, glv_error *err) {
  return buf_append(&((rows_answer *)context)->raw, data, size, err);
}

/* Batches until the chunk is large enough, or the end. */
static glv_status encode(rows_answer *a, bool *ret_end, glv_error *err) {
  *ret_end = false;
  while (a->raw.size < CHUNK_BYTES && !*ret_end) {
    CLEANUP(batch_dispose) batch b = {0};
    TRY(a->reader.next(a->reader.state, &b, ret_end, err));
    a->rows += *ret_end ? 0 : b.length;
    if (a->max_rows != 0 && a->rows > a->max_rows) {
      return FAIL(err, GLV_E_LIMIT,
                  "the answer has more than %llu rows, which is the limit of this server; ask for "
                  "fewer",
                  (unsigned long long)a->max_rows);
    }
    TRY(*ret_end ? ipc_writer_end(a->writer, err) : ipc_writer_batch(a->writer, &b, err));
  }
  return GLV_OK;
}

/* A chunk into out; it begins with what is in out already. */
static glv_status make_chunk(rows_answer *a, buf *out, bool *ret_end, glv_error *err) {
  TRY(encode(a, ret_end, err));
  const glv_status status = a->gzip != NULL
                                ? gzip_add(a->gzip, buf_str(&a->raw), *ret_end, out, err)
                                : buf_append_str(out, buf_str(&a->raw), err);
  buf_clear(&a->raw);
  return status;
}

static void make_ready(void *context) {
  rows_answer *a = context;
  CLEANUP(buf_dispose) buf chunk;
  buf_init(&chunk, a->env, SIZE_MAX / 2);
  bool end = false;
  const glv_status status = make_chunk(a, &chunk, &end, NULL);
  mutex_lock(&a->lock);
  if (status == GLV_OK) {
    buf_dispose(&a->ready);
    a->ready = chunk;
    buf_init(&chunk, a->env, SIZE_MAX / 2);
    a->has_ready = true;
  }
  a->is_last = end || status != GLV_OK;
  a->failed = status != GLV_OK;
  a->is_making = false;
  const bool resumes = a->waits;
  a->waits = false;
  mutex_unlock(&a->lock);
  if (resumes) {
    atomic_store(&a->exchange->is_suspended, false);
    MHD_resume_connection(a->connection);
  }
  server *s = a->server;
  rows_unref(a);
  server_work_done(s);
}

/* With the lock held. */
static void start_making(rows_answer *a) {
  if (a->is_making || a->has_ready || a->is_last) {
    return;
  }
  atomic_fetch_add(&a->refs, 1);
  a->work = (work){.run = make_ready, .context = a};
  a->is_making = server_submit(a->server, &a->work);
  if (!a->is_making) { /* the server stops */
    a->failed = true;
    a->is_last = true;
    atomic_fetch_sub(&a->refs, 1);
  }
}

/* ---- sending: on a thread of the HTTP library ---- */

static ssize_t send_rows(void *context, uint64_t offset, char *data, size_t size) {
  (void)offset;
  rows_answer *a = context;
  CLEANUP(mutex_cleanup) mutex *held = &a->lock;
  mutex_lock(held);
  if (a->position == a->sending.size && a->has_ready) {
    const buf sent = a->sending;
    a->sending = a->ready;
    a->ready = sent;
    buf_clear(&a->ready);
    a->position = 0;
    a->has_ready = false;
  }
  start_making(a);
  const size_t part = size_min(size, a->sending.size - a->position);
  if (part != 0) {
    memcpy(data, a->sending.data + a->position, part);
    a->position += part;
    a->exchange->bytes_out += part;
    return (ssize_t)part;
  }
  if (a->is_making) {
    a->waits = true;
    atomic_store(&a->exchange->is_suspended, true);
    MHD_suspend_connection(a->connection);
    return 0;
  }
  return a->failed ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
}

static void response_ends(void *context) { rows_unref(context); }

/* ---- the answer ---- */

static glv_status rows_new(exchange *x, bool as_file, struct ArrowArrayStream *rows,
                           rows_answer **ret, glv_error *err) {
  glv_env *env = x->server->env;
  batch_reader reader;
  TRY(cdata_import_stream(env, rows, &reader, err));
  CLEANUP(rows_cleanup) rows_answer *a = mem_zalloc(env, sizeof *a);
  if (a == NULL) {
    batch_reader_dispose(&reader);
    return error_nomem(err, sizeof *a);
  }
  a->server = x->server;
  a->env = env;
  a->reader = reader;
  a->exchange = x;
  a->connection = x->connection;
  a->max_rows = x->server->options.max_rows;
  atomic_init(&a->refs, 1);
  mutex_init(&a->lock);
  buf_init(&a->raw, env, SIZE_MAX / 2);
  buf_init(&a->sending, env, SIZE_MAX / 2);
  buf_init(&a->ready, env, SIZE_MAX / 2);
  if (answer_takes_gzip(x, true)) {
    TRY(gzip_new(env, &a->gzip, err));
  }
  const byte_sink sink = {.write = write_raw, .context = a};
  TRY(ipc_writer_new(env, a->reader.schema, as_file, sink, &a->writer, err));
  *ret = a;
  a = NULL;
  return GLV_OK;
}

static glv_status answer_stream(exchange *x, const char *content_type, rows_answer *a, buf *first,
                                glv_error *err) {
  /* The block's start was for the case that it is all. */
  a->position = ANSWER_BLOCK_START;
  a->sending = *first;
  buf_init(first, a->env, first->max);
  atomic_fetch_add(&a->refs, 1);
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, SEND_BYTES, send_rows, a, response_ends);
  if (response == NULL) {
    rows_unref(a);
    return error_nomem(err, SEND_BYTES);
  }
  answer_set(x, 200, content_type, response, 0);
  return GLV_OK;
}

glv_status answer_arrow(request *r, struct ArrowArrayStream *rows, bool as_file, glv_error *err) {
  exchange *x = exchange_of(r);
  CLEANUP(rows_cleanup) rows_answer *a = NULL;
  CLEANUP(buf_dispose) buf first;
  const char *content_type =
      as_file ? "application/vnd.apache.arrow.file" : "application/vnd.apache.arrow.stream";
  bool end = false;
  TRY(rows_new(x, as_file, rows, &a, err));
  TRY(answer_block_init(&first, r->env, err));
  TRY(make_chunk(a, &first, &end, err));
  if (a->gzip != NULL) {
    TRY(answer_header(r, "content-encoding", "gzip", err));
  }
  return end ? answer_block(x, 200, content_type, &first, err)
             : answer_stream(x, content_type, a, &first, err);
}
