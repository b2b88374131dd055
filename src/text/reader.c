/* The life of a reader: opening, batches, the end. A failure is final, for the record that it
 * struck may be half in the columns. */
#include "text/reader.h"

enum { DEFAULT_BATCH_ROWS = 65536 };

static glv_status fill_batch(text_reader *r, batch *ret, bool *ret_end, glv_error *err) {
  bool found = true;
  while (found && !text_columns_full(&r->columns)) {
    TRY(r->format->append(r, &found, err));
  }
  *ret_end = r->columns.rows == 0;
  return *ret_end ? GLV_OK : text_columns_finish(&r->columns, ret, err);
}

static glv_status reader_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  text_reader *r = state;
  if (r->failed) {
    return FAIL(err, GLV_E_INVALID_INPUT, "reading file '%s' failed before", r->source.name);
  }
  const glv_status status = fill_batch(r, ret, ret_end, err);
  r->failed = status != GLV_OK;
  return status;
}

static void reader_dispose(void *state) {
  text_reader *r = state;
  glv_env *env = r->env;
  r->format->dispose(r);
  text_columns_dispose(&r->columns);
  map_dispose(&r->index);
  buf_dispose(&r->scratch);
  mem_free(env, r);
  env_unref(env);
}

static glv_status index_names(text_reader *r, glv_error *err) {
  for (size_t i = 0; i < r->schema->field_count; i++) {
    uint64_t *slot;
    bool is_new;
    TRY(map_put(&r->index, str_of(r->schema->fields[i].name), &slot, &is_new, err));
    *slot = i;
  }
  return GLV_OK;
}

static glv_status open_columns(text_reader *r, const text_read_options *o, schema **ret,
                               glv_error *err) {
  TRY(r->format->init(r, o, err));
  if (o->columns != NULL) {
    *ret = schema_ref(o->columns);
  } else {
    TRY(r->format->find_schema(r, o, ret, err));
    TRY(text_check_overrides(o, *ret, r->source.name, err));
  }
  r->schema = *ret;
  TRY(index_names(r, err));
  TRY(r->format->start(r, err));
  return text_columns_init(&r->columns, r->env, *ret,
                           o->batch_rows != 0 ? o->batch_rows : DEFAULT_BATCH_ROWS, err);
}

glv_status text_reader_open(glv_env *env, const text_format *format, text_source source,
                            const text_read_options *options, batch_reader *ret, glv_error *err) {
  static const text_read_options defaults = {0};
  text_reader *r = mem_zalloc(env, format->size);
  schema *s = NULL;
  if (r == NULL) {
    return error_nomem(err, format->size);
  }
  r->format = format;
  r->env = env_ref(env);
  r->source = source;
  map_init(&r->index, env);
  buf_init(&r->scratch, env, LIMIT_RECORD_BYTES);
  const glv_status status = open_columns(r, options != NULL ? options : &defaults, &s, err);
  if (status != GLV_OK) {
    reader_dispose(r);
    schema_unref(s);
    return status;
  }
  *ret = (batch_reader){.schema = s, .next = reader_next, .dispose = reader_dispose, .state = r};
  return GLV_OK;
}
