/* Versions, tags and events as rows: the columns are the same whoever lists them. */
#include "backend/rows.h"

#include "arrow/builder.h"
#include "arrow/cdata.h"
#include "base/arena.h"

enum { VERSION_COLUMNS = 4, TAG_COLUMNS = 6, EVENT_COLUMNS = 3, MAX_COLUMNS = 6 };

/* Append row i of rows to the columns. */
typedef glv_status (*append_row)(builder *columns, const void *rows, size_t i, glv_error *err);

static glv_status fill(builder *columns, size_t column_count, append_row append, const void *rows,
                       size_t count, batch *ret, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    TRY(append(columns, rows, i, err));
  }
  for (size_t i = 0; i < column_count; i++) {
    TRY(builder_finish(&columns[i], &ret->columns[i], err));
  }
  return GLV_OK;
}

static glv_status make_reader(glv_env *env, const field *fields, size_t column_count,
                              append_row append, const void *rows, size_t count, batch_reader *ret,
                              glv_error *err) {
  CLEANUP(schema_cleanup) schema *s = NULL;
  CLEANUP(batch_dispose) batch b = {0};
  builder columns[MAX_COLUMNS];
  TRY(schema_new(env, fields, column_count, (metadata){NULL, 0}, &s, err));
  TRY(batch_new(env, s, count, column_count, &b, err));
  for (size_t i = 0; i < column_count; i++) {
    builder_init(&columns[i], env, s->fields[i].type);
  }
  const glv_status status = fill(columns, column_count, append, rows, count, &b, err);
  for (size_t i = 0; i < column_count; i++) {
    builder_dispose(&columns[i]);
  }
  TRY(status);
  return batch_reader_of(env, s, &b, 1, ret, err);
}

static glv_status append_number(builder *b, bool is_known, const void *value, glv_error *err) {
  return is_known ? builder_append_fixed(b, value, err) : builder_append_null(b, err);
}

static glv_status append_text(builder *b, const char *text, glv_error *err) {
  return text != NULL ? builder_append_str(b, str_of(text), err) : builder_append_null(b, err);
}

static glv_status append_version(builder *columns, const void *rows, size_t i, glv_error *err) {
  const version_row *v = (const version_row *)rows + i;
  TRY(builder_append_fixed(&columns[0], &v->version, err));
  TRY(builder_append_fixed(&columns[1], &v->timestamp_ns, err));
  TRY(append_number(&columns[2], v->has_rows, &v->rows, err));
  return append_text(&columns[3], v->operation, err);
}

glv_status version_rows_reader(glv_env *env, const version_row *rows, size_t count,
                               batch_reader *ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, env);
  const type *timestamp = type_timestamp(&a, UNIT_NANO, "UTC");
  if (timestamp == NULL) {
    return error_nomem(err, sizeof(type));
  }
  const field fields[VERSION_COLUMNS] = {
      {.name = "version", .type = type_simple(TYPE_UINT64)},
      {.name = "timestamp", .type = timestamp},
      {.name = "rows", .type = type_simple(TYPE_UINT64), .nullable = true},
      {.name = "operation", .type = type_simple(TYPE_UTF8), .nullable = true},
  };
  return make_reader(env, fields, VERSION_COLUMNS, append_version, rows, count, ret, err);
}

static glv_status append_tag(builder *columns, const void *rows, size_t i, glv_error *err) {
  const tag_row *t = (const tag_row *)rows + i;
  TRY(append_text(&columns[0], t->name, err));
  TRY(builder_append_fixed(&columns[1], &t->version, err));
  TRY(append_text(&columns[2], t->branch, err));
  TRY(append_number(&columns[3], t->has_created, &t->created_ns, err));
  TRY(append_number(&columns[4], t->has_updated, &t->updated_ns, err));
  return append_number(&columns[5], t->has_manifest_size, &t->manifest_size, err);
}

glv_status tag_rows_reader(glv_env *env, const tag_row *rows, size_t count, batch_reader *ret,
                           glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, env);
  const type *timestamp = type_timestamp(&a, UNIT_NANO, "UTC");
  if (timestamp == NULL) {
    return error_nomem(err, sizeof(type));
  }
  const field fields[TAG_COLUMNS] = {
      {.name = "tag", .type = type_simple(TYPE_UTF8)},
      {.name = "version", .type = type_simple(TYPE_UINT64)},
      {.name = "branch", .type = type_simple(TYPE_UTF8), .nullable = true},
      {.name = "created_at", .type = timestamp, .nullable = true},
      {.name = "updated_at", .type = timestamp, .nullable = true},
      {.name = "manifest_bytes", .type = type_simple(TYPE_UINT64), .nullable = true},
  };
  return make_reader(env, fields, TAG_COLUMNS, append_tag, rows, count, ret, err);
}

static glv_status append_event(builder *columns, const void *rows, size_t i, glv_error *err) {
  const job_event_row *e = (const job_event_row *)rows + i;
  TRY(builder_append_fixed(&columns[0], &e->at_ms, err));
  TRY(append_text(&columns[1], e->state, err));
  return append_text(&columns[2], e->message, err);
}

glv_status job_event_rows_reader(glv_env *env, const job_event_row *rows, size_t count,
                                 batch_reader *ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, env);
  const type *timestamp = type_timestamp(&a, UNIT_MILLI, "UTC");
  if (timestamp == NULL) {
    return error_nomem(err, sizeof(type));
  }
  const field fields[EVENT_COLUMNS] = {
      {.name = "emitted_at", .type = timestamp},
      {.name = "state", .type = type_simple(TYPE_UTF8)},
      {.name = "message", .type = type_simple(TYPE_UTF8), .nullable = true},
  };
  return make_reader(env, fields, EVENT_COLUMNS, append_event, rows, count, ret, err);
}
