/*
 * Streams over the C stream interface, both ways, and a reader over batches in memory.
 *
 * What a stream of ours reports as errno and text is kept in full beside it; cdata_stream_error
 * recognises such a stream by its release function. A stream that is imported again keeps the full
 * error this way.
 */
#include <errno.h>

#include "arrow/cdata.h"

static int status_errno(glv_status status) {
  switch (status) {
  case GLV_E_NOMEM:
    return ENOMEM;
  case GLV_E_INVALID_INPUT:
  case GLV_E_CORRUPT:
  case GLV_E_SQL_EXEC:
    return EINVAL;
  case GLV_E_UNSUPPORTED:
    return ENOSYS;
  case GLV_E_CANCELLED:
    return ECANCELED;
  default: /* no other status has an errno of its own */
    return EIO;
  }
}

static glv_status errno_status(int code) {
  switch (code) {
  case ENOMEM:
    return GLV_E_NOMEM;
  case EINVAL:
    return GLV_E_INVALID_INPUT;
  case ENOSYS:
  case ENOTSUP:
    return GLV_E_UNSUPPORTED;
  case ECANCELED:
    return GLV_E_CANCELLED;
  default:
    return GLV_E_IO;
  }
}

/* Export. */

typedef struct outgoing {
  glv_env *env; /* a reference */
  batch_reader reader;
  glv_error error;
  bool failed;
} outgoing;

static int out_fail(outgoing *o, glv_status status) {
  o->failed = true;
  o->error.code = status;
  return status_errno(status);
}

static int out_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret) {
  outgoing *o = stream->private_data;
  const glv_status status = cdata_export_schema(o->env, o->reader.schema, ret, &o->error);
  return status == GLV_OK ? 0 : out_fail(o, status);
}

static glv_status out_next(outgoing *o, struct ArrowArray *ret) {
  CLEANUP(batch_dispose) batch b = {0};
  bool end = false;
  TRY(o->reader.next(o->reader.state, &b, &end, &o->error));
  if (end) {
    *ret = (struct ArrowArray){0};
    return GLV_OK;
  }
  return cdata_export_batch(o->env, &b, ret, &o->error);
}

static int out_get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret) {
  outgoing *o = stream->private_data;
  const glv_status status = out_next(o, ret);
  return status == GLV_OK ? 0 : out_fail(o, status);
}

static const char *out_get_last_error(struct ArrowArrayStream *stream) {
  const outgoing *o = stream->private_data;
  return o->failed ? o->error.message : NULL;
}

static void out_release(struct ArrowArrayStream *stream) {
  outgoing *o = stream->private_data;
  glv_env *env = o->env;
  batch_reader_dispose(&o->reader);
  mem_free(env, o);
  stream->release = NULL;
  stream->private_data = NULL;
  env_unref(env);
}

glv_status cdata_export_stream(glv_env *env, batch_reader *in, struct ArrowArrayStream *ret,
                               glv_error *err) {
  outgoing *o = mem_zalloc(env, sizeof *o);
  if (o == NULL) {
    batch_reader_dispose(in);
    return error_nomem(err, sizeof *o);
  }
  o->env = env_ref(env);
  o->reader = *in;
  *in = (batch_reader){0};
  *ret = (struct ArrowArrayStream){
      .get_schema = out_get_schema,
      .get_next = out_get_next,
      .get_last_error = out_get_last_error,
      .release = out_release,
      .private_data = o,
  };
  return GLV_OK;
}

void cdata_stream_error(const struct ArrowArrayStream *stream, glv_error *ret) {
  if (stream->release == out_release) {
    *ret = ((const outgoing *)stream->private_data)->error;
    return;
  }
  struct ArrowArrayStream copy = *stream;
  const char *text = copy.release != NULL ? copy.get_last_error(&copy) : NULL;
  error_set(ret, GLV_E_IO, "%s", text != NULL ? text : "the data stream failed");
}

/* Import. */

typedef struct incoming {
  glv_env *env;         /* a reference */
  const schema *schema; /* of the reader, which outlives this */
  struct ArrowArrayStream stream;
  bool ended;
} incoming;

/* The foreign text is made one line. */
static glv_status in_fail(struct ArrowArrayStream *stream, int code, glv_error *err) {
  glv_error report = {0};
  cdata_stream_error(stream, &report);
  if (stream->release == out_release && report.code != GLV_OK) {
    if (err != NULL) {
      *err = report;
    }
    return report.code;
  }
  for (char *p = report.message; *p != '\0'; p++) {
    if ((unsigned char)*p < ' ') {
      *p = ' ';
    }
  }
  return FAIL(err, errno_status(code), "reading the Arrow stream failed: %s", report.message);
}

static glv_status in_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  incoming *i = state;
  struct ArrowArray a = {0};
  if (i->ended) {
    *ret_end = true;
    return GLV_OK;
  }
  const int code = i->stream.get_next(&i->stream, &a);
  if (code != 0) {
    return in_fail(&i->stream, code, err);
  }
  if (a.release == NULL) {
    i->ended = true;
    *ret_end = true;
    return GLV_OK;
  }
  *ret_end = false;
  return cdata_import_batch(i->env, i->schema, &a, ret, err);
}

static void in_dispose(void *state) {
  incoming *i = state;
  glv_env *env = i->env;
  i->stream.release(&i->stream);
  mem_free(env, i);
  env_unref(env);
}

static void schema_release(struct ArrowSchema *s) {
  if (s->release != NULL) {
    s->release(s);
  }
}

static glv_status in_schema(glv_env *env, struct ArrowArrayStream *stream, schema **ret,
                            glv_error *err) {
  CLEANUP(schema_release) struct ArrowSchema s = {0};
  const int code = stream->get_schema(stream, &s);
  if (code != 0) {
    s.release = NULL; /* not filled */
    return in_fail(stream, code, err);
  }
  return cdata_import_schema(env, &s, ret, err);
}

static void stream_release(struct ArrowArrayStream *s) {
  if (s->release != NULL) {
    s->release(s);
  }
}

glv_status cdata_import_stream(glv_env *env, struct ArrowArrayStream *in, batch_reader *ret,
                               glv_error *err) {
  if (in == NULL || in->release == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the Arrow stream was released");
  }
  CLEANUP(stream_release) struct ArrowArrayStream stream = *in;
  CLEANUP(schema_cleanup) schema *s = NULL;
  in->release = NULL;
  TRY(in_schema(env, &stream, &s, err));
  incoming *i = mem_zalloc(env, sizeof *i);
  if (i == NULL) {
    return error_nomem(err, sizeof *i);
  }
  i->env = env_ref(env);
  i->schema = s;
  i->stream = stream;
  stream.release = NULL;
  *ret = (batch_reader){.schema = s, .next = in_next, .dispose = in_dispose, .state = i};
  s = NULL;
  return GLV_OK;
}

/* Batches in memory. */

typedef struct listing {
  glv_env *env; /* a reference */
  size_t count;
  size_t position;
  batch batches[];
} listing;

static glv_status list_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  listing *l = state;
  (void)err;
  *ret_end = l->position == l->count;
  if (!*ret_end) {
    *ret = batch_ref(&l->batches[l->position++]);
  }
  return GLV_OK;
}

static void list_dispose(void *state) {
  listing *l = state;
  glv_env *env = l->env;
  for (size_t i = 0; i < l->count; i++) {
    batch_dispose(&l->batches[i]);
  }
  mem_free(env, l);
  env_unref(env);
}

glv_status batch_reader_of(glv_env *env, const schema *s, const batch *batches, size_t count,
                           batch_reader *ret, glv_error *err) {
  size_t size;
  listing *l = NULL;
  if (size_mul(count, sizeof(batch), &size) && size_add(size, sizeof *l, &size)) {
    l = mem_zalloc(env, size);
  }
  if (l == NULL) {
    return error_nomem(err, count * sizeof(batch));
  }
  l->env = env_ref(env);
  l->count = count;
  for (size_t i = 0; i < count; i++) {
    l->batches[i] = batch_ref(&batches[i]);
  }
  *ret = (batch_reader){
      .schema = schema_ref(s), .next = list_next, .dispose = list_dispose, .state = l};
  return GLV_OK;
}
