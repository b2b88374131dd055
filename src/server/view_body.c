/* Definitions of views between bodies and the public structs. */
#include "server/view_body.h"

#include "arrow/cdata.h"
#include "arrow/ipc.h"
#include "base/encoding.h"
#include "server/jobs.h"
#include "server/server_private.h"
#include "wire/members.h"

/* ---- in ---- */

static glv_status read_form(const char *word, int32_t *ret, glv_error *err) {
  *ret = GLV_STORED_DEFAULT;
  if (word == NULL) {
    return GLV_OK;
  }
  if (strcmp(word, "select") != 0 && strcmp(word, "query") != 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'stored_form' is \"select\" or \"query\", not \"%s\"",
                word);
  }
  *ret = word[0] == 's' ? GLV_STORED_SELECT : GLV_STORED_QUERY;
  return GLV_OK;
}

static glv_status read_parts(request *r, const wire_view *v, glv_view_def *ret, glv_error *err) {
  glv_pair *projections = ARENA_ARRAY(r->memory, glv_pair, v->projection_count);
  if (projections == NULL) {
    return error_nomem(err, v->projection_count * sizeof *projections);
  }
  for (size_t i = 0; i < v->projection_count; i++) {
    projections[i] = (glv_pair){v->projections[i].output, v->projections[i].expression};
  }
  ret->source_table = v->source_table;
  ret->source_namespace = (glv_strs){v->source_namespace, v->namespace_count};
  ret->projections = (glv_pairs){projections, v->projection_count};
  ret->filter = v->filter;
  ret->flags = v->has_limit ? GLV_VIEW_DEF_LIMIT : 0;
  ret->limit = v->limit;
  return GLV_OK;
}

/* The fields that a text of base64 says: an IPC stream without batches, or its schema message. */
static glv_status read_schema(request *r, const char *text, schema **ret, glv_error *err) {
  const size_t room = strlen(text);
  uint8_t *bytes = arena_alloc(r->memory, room + 1);
  size_t size = 0;
  if (bytes == NULL) {
    return error_nomem(err, room);
  }
  if (!base64_decode(str_of(text), bytes, &size)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'output_schema' is not base64");
  }
  struct ipc_memory memory = {bytes, size, 0};
  batch_reader reader = {0};
  TRY(ipc_reader_open(r->env, ipc_memory_source(&memory), &reader, err));
  *ret = schema_ref(reader.schema);
  batch_reader_dispose(&reader);
  return GLV_OK;
}

static glv_status planned_schema(request *r, const glv_view_def *def, schema **ret,
                                 glv_error *err) {
  struct ArrowSchema planned = {0};
  glv_view_plan *plan = NULL;
  TRY(glv_view_prepare(r->server->conn, def, NULL, &plan, err));
  glv_status status = glv_view_plan_schema(plan, &planned, err);
  glv_view_plan_free(plan);
  TRY(status);
  status = cdata_import_schema(r->env, &planned, ret, err);
  planned.release(&planned);
  return status;
}

/* The outputs of the query, the row ids of its source excepted, by name and type. */
static glv_status check_schema(request *r, const glv_view_def *def, const char *text,
                               glv_error *err) {
  CLEANUP(schema_cleanup) schema *wanted = NULL;
  CLEANUP(schema_cleanup) schema *planned = NULL;
  TRY(read_schema(r, text, &wanted, err));
  TRY(planned_schema(r, def, &planned, err));
  bool same = wanted->field_count + 1 == planned->field_count;
  for (size_t i = 0; i < wanted->field_count && same; i++) {
    const field *a = &wanted->fields[i];
    const field *b = &planned->fields[i];
    same = strcmp(a->name, b->name) == 0 && type_equal(a->type, b->type);
  }
  return same ? GLV_OK
              : FAIL(err, GLV_E_INVALID_INPUT,
                     "'output_schema' is not what the query gives; leave it out or correct it");
}

glv_status view_body_definition(request *r, const wire_view_create *wanted, glv_view_def *ret,
                                glv_error *err) {
  *ret = (glv_view_def){.struct_size = sizeof *ret};
  TRY(read_form(wanted->stored_form, &ret->stored_form, err));
  if (wanted->query == NULL) {
    return read_parts(r, &wanted->parts, ret, err);
  }
  ret->query = wanted->query;
  return wanted->output_schema != NULL ? check_schema(r, ret, wanted->output_schema, err) : GLV_OK;
}

/* ---- out ---- */

glv_status view_body_describe(request *r, const glv_view *view, json **ret, glv_error *err) {
  static const char *const forms[] = {NULL, "select", "namespaced_select", "query"};
  const glv_view_def *def = glv_view_definition(view);
  wire_projection *projections = ARENA_ARRAY(r->memory, wire_projection, def->projections.count);
  if (projections == NULL) {
    return error_nomem(err, def->projections.count * sizeof *projections);
  }
  for (size_t i = 0; i < def->projections.count; i++) {
    projections[i] =
        (wire_projection){def->projections.items[i].name, def->projections.items[i].value};
  }
  const wire_view v = {.source_table = def->source_table,
                       .source_namespace = def->source_namespace.items,
                       .namespace_count = def->source_namespace.count,
                       .projections = projections,
                       .projection_count = def->projections.count,
                       .filter = def->filter,
                       .has_limit = (def->flags & GLV_VIEW_DEF_LIMIT) != 0,
                       .limit = def->limit,
                       .query = def->query,
                       .incarnation = glv_view_incarnation(view),
                       .form = forms[def->form]};
  return wire_view_write(&v, ret, err);
}
