/* Columns and metadata of a server's tables. */
#include "arrow/cdata.h"
#include "remote/remote_private.h"
#include "wire/extra.h"
#include "wire/members.h"
#include "wire/schema.h"

#define ROUTE_WRITE (ROUTE_REPEATS | ROUTE_CHANGES)

static const route add_route = {"/v1/table/{id}/add_columns/", ROUTE_WRITE, GLV_E_TABLE_NOT_FOUND,
                                NULL};
static const route alter_route = {"/v1/table/{id}/alter_columns/", ROUTE_WRITE,
                                  GLV_E_TABLE_NOT_FOUND, NULL};
static const route drop_route = {"/v1/table/{id}/drop_columns/", ROUTE_WRITE, GLV_E_TABLE_NOT_FOUND,
                                 NULL};
static const route field_route = {"/v1/table/{id}/update_field_metadata/", ROUTE_WRITE,
                                  GLV_E_TABLE_NOT_FOUND, NULL};
static const route metadata_route = {WIRE_ROUTE_METADATA, ROUTE_CHANGES, GLV_E_UNSUPPORTED,
                                     "changes of the metadata of tables"};

/* Send a change and read what it made. */
static glv_status send_change(table_call *tc, glv_write_result *ret, glv_error *err) {
  CLEANUP(answer_dispose) answer a = {0};
  TRY(table_call_object(tc, &a, err));
  return remote_finish_write(tc, &a, ret, err);
}

/* ---- adding ---- */

static glv_status put_new_columns(json *body, glv_pairs columns, glv_error *err) {
  CLEANUP(js_cleanup) json *items = js_new_array();
  for (size_t i = 0; i < columns.count; i++) {
    CLEANUP(js_cleanup) json *column = js_new_object();
    TRY(wire_put_text(column, "name", columns.items[i].name, err));
    TRY(wire_put_text(column, "expression", columns.items[i].value, err));
    json *taken = column;
    column = NULL;
    TRY(js_push(items, taken, err));
  }
  json *taken = items;
  items = NULL;
  return js_put(body, "new_columns", taken, err);
}

/* A change of nothing makes no version. */
static glv_status nothing_to_do(const glv_table *table, glv_write_result *ret) {
  ret->attempts = 0;
  ret->version = remote_table_version(table);
  return GLV_OK;
}

glv_status remote_table_add_columns(glv_table *table, glv_pairs columns,
                                    const glv_write_options *options, glv_write_result *ret,
                                    glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  TRY(remote_check_write(options->flags, err));
  TRY(table_call_begin(&tc, table, &add_route, NULL, TABLE_WRITES, options->cancel, err));
  if (columns.count == 0) {
    return nothing_to_do(table, ret);
  }
  TRY(put_new_columns(tc.c.body, columns, err));
  return send_change(&tc, ret, err);
}

glv_status remote_table_add_null_columns(glv_table *table, const schema *columns,
                                         const glv_write_options *options, glv_write_result *ret,
                                         glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  batch_reader none = {0};
  TRY(remote_check_write(options->flags, err));
  TRY(table_call_begin(&tc, table, &add_route, NULL, TABLE_WRITES | TABLE_PARAMS, options->cancel,
                       err));
  if (columns->field_count == 0) {
    return nothing_to_do(table, ret);
  }
  TRY(batch_reader_of(table->handle.env, columns, NULL, 0, &none, err));
  TRY(remote_upload_new(table->handle.env, &none, &tc.c.upload, err));
  return send_change(&tc, ret, err);
}

/* ---- altering ---- */

/* The type as the protocol spells it, from the name that callers give. */
static glv_status put_type(json *alteration, const json *name, arena *memory, glv_error *err) {
  const type *t = NULL;
  json *node = NULL;
  TRY(type_parse(memory, js_string(name), &t, err));
  TRY(wire_type_write(t, &node, err));
  return js_put(alteration, "data_type", node, err);
}

/* Whatever else is wrong with a change is for the server to say. */
static glv_status put_alteration(const json *change, arena *memory, json *items, glv_error *err) {
  if (js_kind_of(change) != JS_OBJECT) {
    return FAIL(err, GLV_E_INVALID_INPUT, "one of the changes is not an object");
  }
  CLEANUP(js_cleanup) json *alteration = js_copy(change);
  const json *name = js_member(change, "data_type");
  if (name != NULL && js_kind_of(name) == JS_STRING) {
    TRY(put_type(alteration, name, memory, err));
  }
  json *taken = alteration;
  alteration = NULL;
  return js_push(items, taken, err);
}

static glv_status read_changes(const char *text, json **ret, glv_error *err) {
  glv_error wrong;
  if (js_parse(str_of(text), ret, &wrong) != GLV_OK) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the changes are not JSON: %s", wrong.message);
  }
  return js_kind_of(*ret) == JS_ARRAY
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT, "the changes are not an array");
}

glv_status remote_table_alter_columns(glv_table *table, const char *changes_json,
                                      const glv_write_options *options, glv_write_result *ret,
                                      glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(js_cleanup) json *changes = NULL;
  CLEANUP(js_cleanup) json *items = js_new_array();
  CLEANUP(arena_dispose) arena memory;
  arena_init_small(&memory, table->handle.env);
  TRY(remote_check_write(options->flags, err));
  TRY(read_changes(changes_json, &changes, err));
  for (size_t i = 0; i < js_count(changes); i++) {
    TRY(put_alteration(js_item(changes, i), &memory, items, err));
  }
  TRY(table_call_begin(&tc, table, &alter_route, NULL, TABLE_WRITES, options->cancel, err));
  json *taken = items;
  items = NULL;
  TRY(js_put(tc.c.body, "alterations", taken, err));
  return send_change(&tc, ret, err);
}

glv_status remote_table_drop_columns(glv_table *table, glv_strs columns,
                                     const glv_write_options *options, glv_write_result *ret,
                                     glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  TRY(remote_check_write(options->flags, err));
  TRY(table_call_begin(&tc, table, &drop_route, NULL, TABLE_WRITES, options->cancel, err));
  if (columns.count == 0) {
    return nothing_to_do(table, ret);
  }
  TRY(wire_put_texts(tc.c.body, "columns", columns.items, columns.count, err));
  return send_change(&tc, ret, err);
}

/* ---- metadata ---- */

static glv_status put_items(json *object, glv_pairs pairs, bool replace, glv_error *err) {
  CLEANUP(js_cleanup) json *map = js_new_object();
  for (size_t i = 0; i < pairs.count; i++) {
    if (js_member(map, pairs.items[i].name) != NULL) {
      return FAIL(err, GLV_E_INVALID_INPUT, "the key '%s' is given twice", pairs.items[i].name);
    }
    TRY(wire_put_text(map, pairs.items[i].name, pairs.items[i].value, err));
  }
  json *taken = map;
  map = NULL;
  TRY(js_put(object, WIRE_METADATA_ITEMS, taken, err));
  return wire_put_bool(object, WIRE_METADATA_REPLACE, replace, err);
}

static glv_status put_field_update(json *body, const char *column, glv_pairs pairs, bool replace,
                                   glv_error *err) {
  CLEANUP(js_cleanup) json *update = js_new_object();
  CLEANUP(js_cleanup) json *items = js_new_array();
  TRY(wire_put_text(update, "path", column, err));
  TRY(put_items(update, pairs, replace, err));
  json *taken = update;
  update = NULL;
  TRY(js_push(items, taken, err));
  taken = items;
  items = NULL;
  return js_put(body, "updates", taken, err);
}

glv_status remote_table_set_metadata(glv_table *table, glv_pairs items,
                                     const glv_metadata_options *options, glv_write_result *ret,
                                     glv_error *err) {
  static const char *const targets[] = {"schema", "table", "config"};
  CLEANUP(table_call_dispose) table_call tc = {0};
  const bool replace = (options->flags & GLV_METADATA_REPLACE) != 0;
  const bool of_field = options->target == GLV_METADATA_FIELD;
  TRY(table_call_begin(&tc, table, of_field ? &field_route : &metadata_route, NULL, TABLE_WRITES,
                       options->cancel, err));
  if (of_field) {
    TRY(put_field_update(tc.c.body, options->column, items, replace, err));
  } else {
    TRY(wire_put_text(tc.c.body, WIRE_METADATA_TARGET, targets[options->target], err));
    TRY(put_items(tc.c.body, items, replace, err));
  }
  return send_change(&tc, ret, err);
}
