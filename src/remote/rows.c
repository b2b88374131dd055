/*
 * Rows from a server: an Arrow IPC stream or file, decoded as it arrives. The connection to the
 * server is used again once the last byte was read.
 */
#include "remote/rows.h"

#include "arrow/ipc.h"

#define ARROW_TYPE "application/vnd.apache.arrow."

enum { MAX_TAIL = 64 << 10 };

typedef struct rows {
  glv_env *env;      /* a reference */
  remote_conn *conn; /* a reference */
  exchange *e;
  batch_reader inner;
} rows;

static void rows_dispose(void *state) {
  rows *r = state;
  glv_env *env = r->env;
  batch_reader_dispose(&r->inner);
  remote_exchange_close(r->e);
  handle_unref(&r->conn->base.handle);
  mem_free(env, r);
  env_unref(env);
}

static glv_status source_read(void *context, void *data, size_t size, size_t *ret_read,
                              glv_error *err) {
  return remote_exchange_read(context, data, size, ret_read, err);
}

/* What a server may send after the end mark of a stream; errors do not matter any more. */
static void read_tail(exchange *e) {
  char part[4096];
  size_t total = 0;
  size_t count = 1;
  while (count > 0 && total < MAX_TAIL &&
         remote_exchange_read(e, part, sizeof part, &count, NULL) == GLV_OK) {
    total += count;
  }
}

static glv_status rows_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  rows *r = state;
  TRY(r->inner.next(r->inner.state, ret, ret_end, err));
  if (*ret_end) {
    read_tail(r->e);
  }
  return GLV_OK;
}

static glv_status check_type(const exchange *e, glv_error *err) {
  const char *found = remote_exchange_head(e)->content_type;
  return found[0] == '\0' || str_starts_with(str_of(found), STR(ARROW_TYPE))
             ? GLV_OK
             : FAIL(err, GLV_E_CORRUPT,
                    "the server answered content type '%s' where rows in Arrow IPC are expected",
                    found);
}

glv_status remote_rows(remote_conn *conn, exchange *e, batch_reader *ret, glv_error *err) {
  glv_env *env = conn->base.handle.env;
  rows *r = mem_zalloc(env, sizeof *r);
  if (r == NULL) {
    remote_exchange_close(e);
    return error_nomem(err, sizeof *r);
  }
  handle_ref(&conn->base.handle);
  *r = (rows){.env = env_ref(env), .conn = conn, .e = e};
  const byte_source source = {.read = source_read, .context = e};
  glv_status status = check_type(e, err);
  status = status == GLV_OK ? ipc_reader_open(env, source, &r->inner, err) : status;
  if (status != GLV_OK) {
    rows_dispose(r);
    return status;
  }
  *ret = (batch_reader){schema_ref(r->inner.schema), rows_next, rows_dispose, r};
  return GLV_OK;
}

/* ---- the order of columns ---- */

typedef struct arranged {
  glv_env *env; /* a reference */
  batch_reader inner;
  schema *columns; /* a reference */
  size_t *places;  /* of columns in inner */
} arranged;

static void arranged_dispose(void *state) {
  arranged *r = state;
  glv_env *env = r->env;
  batch_reader_dispose(&r->inner);
  schema_unref(r->columns);
  mem_free(env, r->places);
  mem_free(env, r);
  env_unref(env);
}

static glv_status arranged_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  arranged *r = state;
  CLEANUP(batch_dispose) batch in = {0};
  CLEANUP(batch_dispose) batch out = {0};
  TRY(r->inner.next(r->inner.state, &in, ret_end, err));
  if (*ret_end) {
    return GLV_OK;
  }
  const size_t count = r->columns->field_count;
  TRY(batch_new(r->env, r->columns, in.length, count, &out, err));
  for (size_t i = 0; i < count; i++) {
    TRY(array_retype(r->env, &in.columns[r->places[i]], r->columns->fields[i].type, &out.columns[i],
                     err));
  }
  *ret = out;
  out = (batch){0};
  return GLV_OK;
}

static glv_status find_places(arranged *r, const char *const *names, glv_error *err) {
  const schema *from = r->inner.schema;
  CLEANUP(arena_dispose) arena memory;
  arena_init_small(&memory, r->env);
  size_t count = 0;
  while (names[count] != NULL) {
    count++;
  }
  field *fields = ARENA_ARRAY(&memory, field, count);
  r->places = mem_calloc(r->env, count, sizeof *r->places);
  if (fields == NULL || r->places == NULL) {
    return error_nomem(err, count * sizeof *fields);
  }
  for (size_t i = 0; i < count; i++) {
    r->places[i] = schema_find(from, str_of(names[i]));
    if (r->places[i] == SIZE_MAX) {
      return FAIL(err, GLV_E_CORRUPT, "the server answered rows without the column '%s'", names[i]);
    }
    fields[i] = from->fields[r->places[i]];
  }
  return schema_new(r->env, fields, count, from->metadata, &r->columns, err);
}

/* @return true: the columns are these, in this order. */
static bool are_columns(const schema *s, const char *const *names) {
  size_t i = 0;
  while (i < s->field_count && names[i] != NULL && strcmp(s->fields[i].name, names[i]) == 0) {
    i++;
  }
  return i == s->field_count && names[i] == NULL;
}

glv_status rows_arrange(glv_env *env, batch_reader *r, const char *const *names, glv_error *err) {
  if (are_columns(r->schema, names)) {
    return GLV_OK;
  }
  arranged *state = mem_zalloc(env, sizeof *state);
  if (state == NULL) {
    batch_reader_dispose(r);
    return error_nomem(err, sizeof *state);
  }
  state->env = env_ref(env);
  state->inner = *r;
  *r = (batch_reader){0};
  const glv_status status = find_places(state, names, err);
  if (status != GLV_OK) {
    arranged_dispose(state);
    return status;
  }
  *r = (batch_reader){schema_ref(state->columns), arranged_next, arranged_dispose, state};
  return GLV_OK;
}
