/*
 * Metadata that describes columns follows the columns into the view. `embedding_functions` is a
 * JSON list of objects, each naming a source and a destination column; an entry stays once for
 * every pair of outputs that project the two. `lancedb::column_definitions` is positional: one
 * entry per field of the view, an embedding where the output directly projects an embedding column
 * whose input is projected too (under its first output), "Physical" elsewhere.
 */
#include "view/lineage.h"

#include "base/json.h"

static const char key_embeddings[] = "embedding_functions";
static const char key_definitions[] = "lancedb::column_definitions";

static bool is_declaration(str key) {
  return str_starts_with(key, STR("lance-schema:")) || str_is(key, "lance:field_id") ||
         str_is(key, "computed_column") || str_starts_with(key, STR("computed_column.")) ||
         str_starts_with(key, STR("computed_refresh."));
}

metadata lineage_field_metadata(arena *a, metadata from, bool *ok) {
  pair *kept = ARENA_ARRAY(a, pair, from.count);
  size_t count = 0;
  *ok = kept != NULL;
  for (size_t i = 0; i < from.count && *ok; i++) {
    if (!is_declaration(from.pairs[i].key)) {
      kept[count++] = from.pairs[i];
    }
  }
  return *ok ? metadata_copy(a, (metadata){kept, count}, ok) : (metadata){NULL, 0};
}

/* ---- embedding_functions ---- */

/* The first of the keys that the object has, and its string value; NULL when there is none. */
static const char *named(const json *object, const char *const *keys, size_t count,
                         str *ret_column) {
  for (size_t i = 0; i < count; i++) {
    const json *value = js_member(object, keys[i]);
    if (value != NULL) {
      *ret_column = js_kind_of(value) == JS_STRING ? js_string(value) : str_slice(NULL, 0);
      return js_kind_of(value) == JS_STRING ? keys[i] : NULL;
    }
  }
  return NULL;
}

static glv_status add_pair(const json *entry, const char *source_key, const char *source,
                           const char *dest_key, const char *dest, json *into, glv_error *err) {
  json *copy = js_copy(entry);
  if (copy == NULL) {
    return error_nomem(err, 0);
  }
  glv_status status = js_put(copy, source_key, js_new_string(str_of(source)), err);
  status = status == GLV_OK ? js_put(copy, dest_key, js_new_string(str_of(dest)), err) : status;
  if (status != GLV_OK) {
    js_free(copy);
    return status;
  }
  return js_push(into, copy, err);
}

static glv_status keep_entry(const json *entry, lineage l, json *into, glv_error *err) {
  static const char *const source_keys[] = {"source_column", "sourceColumn"};
  static const char *const dest_keys[] = {"vector_column", "dest_column", "vectorColumn",
                                          "destColumn"};
  str source;
  str dest;
  if (js_kind_of(entry) != JS_OBJECT) {
    return GLV_OK;
  }
  const char *source_key = named(entry, source_keys, 2, &source);
  const char *dest_key = named(entry, dest_keys, 4, &dest);
  if (source_key == NULL || dest_key == NULL) {
    return GLV_OK;
  }
  for (size_t i = 0; i < l.count; i++) {
    for (size_t j = 0; j < l.count && str_is(source, l.links[i].source); j++) {
      if (str_is(dest, l.links[j].source)) {
        TRY(add_pair(entry, source_key, l.links[i].output, dest_key, l.links[j].output, into, err));
      }
    }
  }
  return GLV_OK;
}

/* *ret is NULL when nothing is kept. */
static glv_status embeddings(arena *a, str raw, lineage l, char **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *list = NULL;
  *ret = NULL;
  if (js_parse(raw, &list, NULL) != GLV_OK || js_kind_of(list) != JS_ARRAY) {
    return GLV_OK;
  }
  CLEANUP(js_cleanup) json *kept = js_new_array();
  if (kept == NULL) {
    return error_nomem(err, 0);
  }
  for (size_t i = 0; i < js_count(list); i++) {
    TRY(keep_entry(js_item(list, i), l, kept, err));
  }
  if (js_count(kept) == 0) {
    return GLV_OK;
  }
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, a->env, SIZE_MAX / 2);
  TRY(js_print_sorted(kept, &text, err)); /* LanceDB keeps no order of keys either */
  *ret = arena_strdup(a, buf_str(&text));
  return *ret != NULL ? GLV_OK : error_nomem(err, text.size);
}

/* ---- lancedb::column_definitions ---- */

/* The embedding of a definition {"kind": {"Embedding": {...}}}, or NULL. */
static const json *embedding_of(const json *definition) {
  if (definition == NULL || js_kind_of(definition) != JS_OBJECT) {
    return NULL;
  }
  const json *kind = js_member(definition, "kind");
  const json *embedding =
      kind != NULL && js_kind_of(kind) == JS_OBJECT ? js_member(kind, "Embedding") : NULL;
  return embedding != NULL && js_kind_of(embedding) == JS_OBJECT ? embedding : NULL;
}

static const lineage_link *link_by_output(lineage l, const char *output) {
  for (size_t i = 0; i < l.count; i++) {
    if (strcmp(l.links[i].output, output) == 0) {
      return &l.links[i];
    }
  }
  return NULL;
}

static const lineage_link *first_link_of_source(lineage l, str source) {
  for (size_t i = 0; i < l.count; i++) {
    if (str_is(source, l.links[i].source)) {
      return &l.links[i];
    }
  }
  return NULL;
}

/* Position among the stored columns, SIZE_MAX = none. */
static size_t position_of(const lance_schema *source, const char *name) {
  for (size_t i = 0; i < source->field_count; i++) {
    if (strcmp(source->fields[i].arrow.name, name) == 0) {
      return i;
    }
  }
  return SIZE_MAX;
}

/* The new definition of one output; *ret stays NULL when the output is physical. */
static glv_status output_embedding(const lance_schema *source, const json *definitions, lineage l,
                                   const char *output, json **ret, glv_error *err) {
  const lineage_link *link = link_by_output(l, output);
  const size_t index = link == NULL ? SIZE_MAX : position_of(source, link->source);
  const json *old = index == SIZE_MAX || index >= js_count(definitions)
                        ? NULL
                        : embedding_of(js_item(definitions, index));
  const json *input = old != NULL ? js_member(old, "source_column") : NULL;
  const json *name = old != NULL ? js_member(old, "embedding_name") : NULL;
  if (input == NULL || name == NULL || js_kind_of(input) != JS_STRING) {
    return GLV_OK;
  }
  const lineage_link *input_link = first_link_of_source(l, js_string(input));
  if (input_link == NULL) {
    return GLV_OK;
  }
  json *made = js_new_object();
  json *kind = js_new_object();
  glv_status status = made != NULL && kind != NULL ? GLV_OK : error_nomem(err, 0);
  status = status == GLV_OK
               ? js_put(made, "source_column", js_new_string(str_of(input_link->output)), err)
               : status;
  status =
      status == GLV_OK ? js_put(made, "dest_column", js_new_string(str_of(output)), err) : status;
  status = status == GLV_OK ? js_put(made, "embedding_name", js_copy(name), err) : status;
  if (status != GLV_OK) {
    js_free(made);
    js_free(kind);
    return status;
  }
  status = js_put(kind, "Embedding", made, err);
  if (status != GLV_OK) {
    js_free(kind);
    return status;
  }
  *ret = kind;
  return GLV_OK;
}

static glv_status add_definition(json *into, json *kind, glv_error *err) {
  json *definition = js_new_object();
  if (definition == NULL) {
    js_free(kind);
    return error_nomem(err, 0);
  }
  const glv_status status = js_put(definition, "kind", kind, err);
  if (status != GLV_OK) {
    js_free(definition);
    return status;
  }
  return js_push(into, definition, err);
}

static glv_status column_definitions(arena *a, const lance_schema *source, str raw,
                                     const field *fields, size_t count, lineage l, char **ret,
                                     glv_error *err) {
  CLEANUP(js_cleanup) json *definitions = NULL;
  *ret = NULL;
  if (js_parse(raw, &definitions, NULL) != GLV_OK || js_kind_of(definitions) != JS_ARRAY) {
    return GLV_OK;
  }
  CLEANUP(js_cleanup) json *made = js_new_array();
  if (made == NULL) {
    return error_nomem(err, 0);
  }
  bool kept = false;
  for (size_t i = 0; i < count; i++) {
    json *kind = NULL;
    TRY(output_embedding(source, definitions, l, fields[i].name, &kind, err));
    kept = kept || kind != NULL;
    TRY(add_definition(made, kind != NULL ? kind : js_new_string(STR("Physical")), err));
  }
  if (!kept) {
    return GLV_OK;
  }
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, a->env, SIZE_MAX / 2);
  TRY(js_print(made, 0, 0, &text, err));
  *ret = arena_strdup(a, buf_str(&text));
  return *ret != NULL ? GLV_OK : error_nomem(err, text.size);
}

glv_status lineage_schema_metadata(arena *a, const lance_schema *source, const field *fields,
                                   size_t count, lineage l, metadata *ret, glv_error *err) {
  char *values[2] = {NULL, NULL};
  bool found = false;
  str raw = metadata_get(source->metadata, str_of(key_embeddings), &found);
  if (found) {
    TRY(embeddings(a, raw, l, &values[0], err));
  }
  raw = metadata_get(source->metadata, str_of(key_definitions), &found);
  if (found) {
    TRY(column_definitions(a, source, raw, fields, count, l, &values[1], err));
  }
  pair *pairs = ARENA_ARRAY(a, pair, 2);
  if (pairs == NULL) {
    return error_nomem(err, 2 * sizeof(pair));
  }
  size_t used = 0;
  if (values[0] != NULL) {
    pairs[used++] = (pair){str_of(key_embeddings), str_of(values[0])};
  }
  if (values[1] != NULL) {
    pairs[used++] = (pair){str_of(key_definitions), str_of(values[1])};
  }
  *ret = (metadata){pairs, used};
  return GLV_OK;
}
