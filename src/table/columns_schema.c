/* A stored schema under change (lance-table-format 5.2).
 *
 * The fields stand in a flat list in pre-order, as in a manifest, each with the position of its
 * parent. Fields that stay keep their messages, so that what this release does not know of them
 * stays too. New ids start behind every id that the schema or any data file has; so a field is new
 * iff its id is not below the first.
 */
#include "base/hash.h"
#include "table/columns_private.h"

#define TOP_LEVEL SIZE_MAX

/* ---- starting ---- */

/* The largest field id in use; files may have more than the schema. */
static int32_t largest_id(const table_snapshot *t, Lance__File__Field *const *fields,
                          size_t count) {
  int32_t largest = -1;
  for (size_t i = 0; i < count; i++) {
    largest = fields[i]->id > largest ? fields[i]->id : largest;
  }
  for (size_t i = 0; i < t->fragment_count; i++) {
    const fragment *f = &t->fragments[i];
    for (size_t k = 0; k < f->file_count; k++) {
      for (size_t n = 0; n < f->files[k].count; n++) {
        largest = f->files[k].fields[n] > largest ? f->files[k].fields[n] : largest;
      }
    }
  }
  if (t->manifest->opt_max_allocated_field_id_case != 0 &&
      t->manifest->max_allocated_field_id > largest) {
    largest = t->manifest->max_allocated_field_id;
  }
  return largest;
}

/* Ids need not be unique, so a parent is the nearest earlier field with the id. */
static size_t find_parent(const schema_edit *e, size_t at) {
  const int32_t id = e->fields[at].message->parent_id;
  for (size_t i = at; id >= 0 && i-- > 0;) {
    if (e->fields[i].message->id == id) {
      return i;
    }
  }
  return TOP_LEVEL;
}

glv_status edit_begin(const table_snapshot *t, arena *a, schema_edit *ret, glv_error *err) {
  Lance__File__Field **messages;
  schema_edit e = {.table = t, .memory = a};
  TRY(lance_schema_to_messages(a, t->lance, &messages, &e.count, err));
  e.fields = ARENA_ARRAY(a, edited_field, e.count);
  if (e.fields == NULL) {
    return error_nomem(err, e.count * sizeof *e.fields);
  }
  for (size_t i = 0; i < e.count; i++) {
    e.fields[i].message = messages[i];
    e.fields[i].parent = find_parent(&e, i);
  }
  const int32_t largest = largest_id(t, messages, e.count);
  if (largest >= INT32_MAX - LIMIT_FIELDS) {
    return FAIL(err, GLV_E_LIMIT, "table '%s' has no field ids left", table_name(t));
  }
  e.first_id = largest + 1;
  e.next_id = e.first_id;
  *ret = e;
  return GLV_OK;
}

/* ---- looking around ---- */

size_t edit_end(const schema_edit *e, size_t at) {
  size_t end = at + 1;
  while (end < e->count && e->fields[end].parent != TOP_LEVEL && e->fields[end].parent >= at) {
    end++;
  }
  return end;
}

size_t edit_child(const schema_edit *e, size_t at, const char *name) {
  for (size_t i = at == TOP_LEVEL ? 0 : at + 1; i < e->count; i++) {
    if (e->fields[i].parent == at && strcmp(e->fields[i].message->name, name) == 0) {
      return i;
    }
  }
  return SIZE_MAX;
}

size_t edit_root(const schema_edit *e, size_t at) {
  while (e->fields[at].parent != TOP_LEVEL) {
    at = e->fields[at].parent;
  }
  return at;
}

const char *edit_is_fixed(const schema_edit *e, size_t at) {
  for (size_t i = e->fields[at].parent; i != TOP_LEVEL; i = e->fields[i].parent) {
    const lance_field *stored = lance_schema_find_id(e->table->lance, e->fields[i].message->id);
    if (strcmp(e->fields[i].message->logical_type, "map") == 0) {
      return "a map has a key and a value";
    }
    if (stored != NULL && stored->is_leaf) {
      return "its values lie together in one column of the files";
    }
  }
  return NULL;
}

const char *edit_path(const schema_edit *e, size_t at) {
  const char *path = e->fields[at].message->name;
  for (size_t i = e->fields[at].parent; path != NULL && i != TOP_LEVEL; i = e->fields[i].parent) {
    path = arena_printf(e->memory, "%s.%s", e->fields[i].message->name, path);
  }
  return path != NULL ? path : e->fields[at].message->name;
}

/* Takes the first part of a path, without its backticks; false for text that is no path. */
static bool take_part(arena *a, str *rest, char **ret) {
  size_t from = 0;
  size_t size = 0;
  char *part = arena_alloc(a, rest->size + 1);
  const bool is_quoted = rest->size > 0 && rest->data[0] == '`';
  bool is_open = is_quoted;
  *ret = part;
  if (part == NULL) {
    return true;
  }
  for (from = is_quoted; from < rest->size; from++) {
    const char c = rest->data[from];
    const bool is_doubled = from + 1 < rest->size && rest->data[from + 1] == '`';
    if (is_open && c == '`' && !is_doubled) {
      is_open = false;
    } else if (!is_open && (is_quoted || c == '.' || c == '`')) {
      break;
    } else {
      part[size++] = c;
      from += is_open && c == '`';
    }
  }
  part[size] = '\0';
  const bool at_end = from == rest->size;
  if (is_open || size == 0 || (!at_end && (rest->data[from] != '.' || from + 1 == rest->size))) {
    return false;
  }
  *rest = at_end ? (str){0} : str_slice(rest->data + from + 1, rest->size - from - 1);
  return true;
}

glv_status edit_find(const schema_edit *e, str path, size_t *ret, glv_error *err) {
  size_t at = TOP_LEVEL;
  str rest = path;
  do {
    char *part;
    if (!take_part(e->memory, &rest, &part)) {
      return FAIL(err, GLV_E_INVALID_INPUT, "'%.*s' does not name a column", STR_ARG(path));
    }
    if (part == NULL) {
      return error_nomem(err, path.size);
    }
    at = edit_child(e, at, part);
    if (at == SIZE_MAX) {
      return FAIL(err, GLV_E_COLUMN_NOT_FOUND, "table '%s' has no column '%.*s'",
                  table_name(e->table), STR_ARG(path));
    }
  } while (rest.data != NULL);
  *ret = at;
  return GLV_OK;
}

glv_status table_column_metadata(const table_snapshot *t, str path, metadata *ret, glv_error *err) {
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, table_env(t));
  schema_edit e;
  size_t at;
  TRY(edit_begin(t, &a, &e, err));
  TRY(edit_find(&e, path, &at, err));
  const lance_field *root =
      lance_schema_find(t->lance, str_of(e.fields[edit_root(&e, at)].message->name));
  *ret = root->arrow.metadata;
  return GLV_OK;
}

/* ---- changing ---- */

/* Makes room for count fields at a position. */
static glv_status open_gap(schema_edit *e, size_t at, size_t count, glv_error *err) {
  edited_field *fields = ARENA_ARRAY(e->memory, edited_field, e->count + count);
  if (fields == NULL) {
    return error_nomem(err, (e->count + count) * sizeof *fields);
  }
  for (size_t i = 0; i < e->count; i++) {
    edited_field *to = &fields[i < at ? i : i + count];
    *to = e->fields[i];
    if (to->parent != TOP_LEVEL && to->parent >= at) {
      to->parent += count;
    }
  }
  e->fields = fields;
  e->count += count;
  return GLV_OK;
}

glv_status edit_insert(schema_edit *e, size_t at, size_t parent, const field *f, glv_error *err) {
  lance_schema *made;
  Lance__File__Field **messages;
  size_t count;
  field column = *f;
  column.name =
      parent == TOP_LEVEL ? f->name : "part"; /* dots and reserved names are fine inside */
  TRY(lance_schema_from_arrow(e->memory, &column, 1, (metadata){0}, &e->next_id, &made, err));
  TRY(lance_schema_to_messages(e->memory, made, &messages, &count, err));
  messages[0]->name = arena_strdup(e->memory, str_of(f->name));
  if (messages[0]->name == NULL) {
    return error_nomem(err, 0);
  }
  if (e->count + count > LIMIT_FIELDS) {
    return FAIL(err, GLV_E_LIMIT, "table '%s' would have %zu fields", table_name(e->table),
                e->count + count);
  }
  messages[0]->parent_id = parent == TOP_LEVEL ? -1 : e->fields[parent].message->id;
  TRY(open_gap(e, at, count, err));
  for (size_t i = 0; i < count; i++) {
    e->fields[at + i] = (edited_field){messages[i], parent, false, true};
    if (i > 0) {
      e->fields[at + i].parent = find_parent(e, at + i);
    }
  }
  return GLV_OK;
}

/* ---- finishing ---- */

/* A name is not empty, and there is no earlier field of that name beside it. */
static glv_status check_name(const schema_edit *e, map *names, size_t at, glv_error *err) {
  const edited_field *f = &e->fields[at];
  if (f->message->name[0] == '\0') {
    return FAIL(err, GLV_E_INVALID_INPUT, "table '%s': a column has no name", table_name(e->table));
  }
  const char *key = arena_printf(e->memory, "%zu.%s", f->parent, f->message->name);
  if (key == NULL) {
    return error_nomem(err, 0);
  }
  uint64_t *value = NULL;
  bool is_new = false;
  TRY(map_put(names, str_of(key), &value, &is_new, err));
  return is_new ? GLV_OK
                : FAIL(err, GLV_E_COLUMN_EXISTS, "table '%s' would have two columns '%s'",
                       table_name(e->table), edit_path(e, at));
}

/* A key column and all that it stands in cannot be null. */
static glv_status check_key(const schema_edit *e, size_t at, glv_error *err) {
  for (size_t i = at; e->fields[at].message->unenforced_primary_key && i != TOP_LEVEL;
       i = e->fields[i].parent) {
    if (e->fields[i].message->nullable) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "table '%s': Primary key column and all its ancestors must not be nullable: %s",
                  table_name(e->table), edit_path(e, i));
    }
  }
  return GLV_OK;
}

/* Names of top-level columns are what they may be in a new table; those there are already may stay
 * what they are. */
static glv_status check_top_level(const schema_edit *e, size_t at, glv_error *err) {
  if (e->fields[at].parent != TOP_LEVEL || !e->fields[at].is_named) {
    return GLV_OK;
  }
  const field probe = {
      .name = e->fields[at].message->name, .type = type_simple(TYPE_NULL), .nullable = true};
  lance_schema *ignored;
  int32_t id = 0;
  return lance_schema_from_arrow(e->memory, &probe, 1, (metadata){0}, &id, &ignored, err);
}

static glv_status check(const schema_edit *e, glv_error *err) {
  CLEANUP(map_dispose) map names;
  map_init(&names, e->memory->env);
  size_t left = 0;
  for (size_t i = 0; i < e->count; i++) {
    if (!e->fields[i].is_removed) {
      left++;
      TRY(check_name(e, &names, i, err));
      TRY(check_key(e, i, err));
      TRY(check_top_level(e, i, err));
    }
  }
  return left > 0
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT, "table '%s': Cannot drop all columns from a dataset",
                    table_name(e->table));
}

/* The schema of the fields that are marked; NULL = of all that are not removed. */
static glv_status collect(const schema_edit *e, const bool *marked, const lance_schema **ret,
                          glv_error *err) {
  Lance__File__Field **messages = ARENA_ARRAY(e->memory, Lance__File__Field *, e->count);
  if (messages == NULL) {
    return error_nomem(err, e->count * sizeof *messages);
  }
  size_t count = 0;
  for (size_t i = 0; i < e->count; i++) {
    if (marked != NULL ? marked[i] : !e->fields[i].is_removed) {
      messages[count++] = e->fields[i].message;
    }
  }
  lance_schema *s;
  TRY(lance_schema_from_messages(e->memory, messages, count, table_metadata(e->table), &s, err));
  *ret = s;
  return GLV_OK;
}

glv_status edit_finish(const schema_edit *e, const lance_schema **ret, glv_error *err) {
  TRY(check(e, err));
  return collect(e, NULL, ret, err);
}

glv_status edit_new_fields(const schema_edit *e, const lance_schema **ret, glv_error *err) {
  bool *marked = ARENA_ARRAY(e->memory, bool, e->count);
  if (marked == NULL) {
    return error_nomem(err, e->count);
  }
  for (size_t i = 0; i < e->count; i++) {
    if (e->fields[i].message->id >= e->first_id) {
      for (size_t k = i; k != TOP_LEVEL && !marked[k]; k = e->fields[k].parent) {
        marked[k] = true;
      }
    }
  }
  return collect(e, marked, ret, err);
}
