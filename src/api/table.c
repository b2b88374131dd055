/* Tables: the exported functions. They check arguments, read options and dispatch. */
#include <glaive/table.h>

#include "api/options.h"
#include "arrow/cdata.h"

enum { LEAST_PAGE_BYTES = 4096 };

static glv_status check_create(glv_conn *conn, glv_id id, const glv_table_options *options,
                               glv_table_options *known, glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(id, "id", false, err));
  TRY(OPTIONS_READ(options, known, err));
  TRY(require_flags(known->flags, GLV_TABLE_NO_STABLE_ROW_IDS, err));
  TRY(require_pairs(known->properties, "properties", false, err));
  if (known->page_bytes != 0 && known->page_bytes < LEAST_PAGE_BYTES) {
    return FAIL(err, GLV_E_INVALID_INPUT, "page_bytes %llu is below %d",
                (unsigned long long)known->page_bytes, LEAST_PAGE_BYTES);
  }
  if (known->mode < GLV_TABLE_CREATE || known->mode > GLV_TABLE_OVERWRITE) {
    return FAIL(err, GLV_E_INVALID_INPUT, "mode %d is not one of enum glv_table_mode",
                (int)known->mode);
  }
  return GLV_OK;
}

glv_status glv_table_create(glv_conn *conn, glv_id id, struct ArrowArrayStream *data,
                            const glv_table_options *options, glv_table **ret, glv_error *err) {
  TRY(require_pointer(data, "data", err));
  glv_table_options known;
  const glv_status status = check_create(conn, id, options, &known, err);
  if (status != GLV_OK) {
    discard_stream(data);
    return status;
  }
  batch_reader reader;
  TRY(import_data(conn->handle.env, data, &reader, err));
  return conn->ops->table_create(conn, id, &reader, &known, ret, err);
}

glv_status glv_table_create_empty(glv_conn *conn, glv_id id, const struct ArrowSchema *columns,
                                  const glv_table_options *options, glv_table **ret,
                                  glv_error *err) {
  TRY(require_pointer(columns, "columns", err));
  glv_table_options known;
  TRY(check_create(conn, id, options, &known, err));
  glv_env *env = conn->handle.env;
  CLEANUP(schema_cleanup) schema *s = NULL;
  TRY(cdata_import_schema(env, columns, &s, err));
  batch_reader reader;
  TRY(batch_reader_of(env, s, NULL, 0, &reader, err));
  return conn->ops->table_create(conn, id, &reader, &known, ret, err);
}

static glv_status check_open(const glv_open_options *o, glv_error *err) {
  if (o->tag != NULL && (o->version != 0 || o->branch != NULL)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a tag names a version; give no version or branch too");
  }
  return GLV_OK;
}

glv_status glv_table_open(glv_conn *conn, glv_id id, const glv_open_options *options,
                          glv_table **ret, glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(id, "id", false, err));
  TRY(require_pointer(ret, "ret", err));
  glv_open_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, 0, err));
  TRY(check_open(&known, err));
  return conn->ops->table_open(conn, id, &known, ret, err);
}

glv_status glv_table_list(glv_conn *conn, glv_id parent, const glv_page_options *options,
                          glv_list **ret, glv_error *err) {
  TRY(check_conn(conn, err));
  return list_call(conn, parent, options, conn->ops->table_list, ret, err);
}

glv_status glv_table_rename(glv_conn *conn, glv_id from, glv_id to, const glv_call_options *options,
                            glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(from, "from", false, err));
  TRY(require_id(to, "to", false, err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, 0, err));
  return conn->ops->table_rename(conn, from, to, &known, err);
}

glv_status glv_table_drop(glv_conn *conn, glv_id id, const glv_call_options *options,
                          glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_id(id, "id", false, err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_CALL_IF_NEEDED, err));
  return conn->ops->table_drop(conn, id, &known, err);
}

void glv_table_free(glv_table *table) {
  if (table != NULL) {
    handle_unref(&table->handle);
  }
}

glv_id glv_table_id(const glv_table *table) {
  return table != NULL ? ident_id(&table->id) : (glv_id){NULL, 0};
}

uint64_t glv_table_version(const glv_table *table) {
  return table != NULL ? table->ops->table_version(table) : 0;
}

glv_status glv_table_schema(glv_table *table, struct ArrowSchema *ret, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(ret, "ret", err));
  CLEANUP(schema_cleanup) schema *s = NULL;
  TRY(table->ops->table_schema(table, &s, err));
  return cdata_export_schema(table->handle.env, s, ret, err);
}

glv_status glv_table_versions(glv_table *table, struct ArrowArrayStream *ret, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(ret, "ret", err));
  batch_reader reader;
  TRY(table->ops->table_versions(table, &reader, err));
  return cdata_export_stream(table->handle.env, &reader, ret, err);
}

glv_status glv_table_checkout(glv_table *table, const glv_open_options *options, glv_error *err) {
  TRY(check_table(table, err));
  glv_open_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, 0, err));
  TRY(check_open(&known, err));
  if (known.branch != NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a handle stays on its branch; open branch '%s' instead",
                known.branch);
  }
  return table->ops->table_checkout(table, &known, err);
}

glv_status glv_table_describe(glv_table *table, glv_buf *ret_json, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(ret_json, "ret_json", err));
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, table->handle.env, SIZE_MAX / 2);
  TRY(table->ops->table_describe(table, &text, err));
  return buf_hand_out(table->handle.env, &text, ret_json, err);
}

glv_status glv_table_is_latest(glv_table *table, int *ret, glv_error *err) {
  TRY(check_table(table, err));
  TRY(require_pointer(ret, "ret", err));
  bool is_latest = false;
  if (table->ops->table_is_latest == NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED, "the server cannot tell whether a version is the latest");
  }
  TRY(table->ops->table_is_latest(table, &is_latest, err));
  *ret = is_latest;
  return GLV_OK;
}

static glv_status write_rows(glv_table *table, struct ArrowArrayStream *data, bool overwrite,
                             const glv_write_options *options, glv_write_result *ret,
                             glv_error *err) {
  TRY(require_pointer(data, "data", err));
  glv_write_options known;
  glv_status status = check_table(table, err);
  status = status == GLV_OK ? OPTIONS_READ(options, &known, err) : status;
  status = status == GLV_OK ? require_flags(known.flags, GLV_WRITE_VIEW, err) : status;
  if (status != GLV_OK) {
    discard_stream(data);
    return status;
  }
  batch_reader reader;
  TRY(import_data(table->handle.env, data, &reader, err));
  glv_write_result result = {0};
  TRY(table->ops->table_write(table, &reader, overwrite, &known, &result, err));
  result_write(ret, &result, sizeof result);
  return GLV_OK;
}

glv_status glv_table_append(glv_table *table, struct ArrowArrayStream *data,
                            const glv_write_options *options, glv_write_result *ret,
                            glv_error *err) {
  return write_rows(table, data, false, options, ret, err);
}

glv_status glv_table_overwrite(glv_table *table, struct ArrowArrayStream *data,
                               const glv_write_options *options, glv_write_result *ret,
                               glv_error *err) {
  return write_rows(table, data, true, options, ret, err);
}

glv_status glv_query(glv_conn *conn, const char *sql, const glv_call_options *options,
                     struct ArrowArrayStream *ret, glv_error *err) {
  TRY(check_conn(conn, err));
  TRY(require_pointer(sql, "sql", err));
  TRY(require_pointer(ret, "ret", err));
  glv_call_options known;
  TRY(OPTIONS_READ(options, &known, err));
  TRY(require_flags(known.flags, GLV_SQL_STRICT, err));
  batch_reader reader;
  TRY(conn->ops->query(conn, sql, &known, &reader, err));
  return cdata_export_stream(conn->handle.env, &reader, ret, err);
}
