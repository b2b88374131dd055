/* Altering columns (lance-table-format 5.2, 15.1).
 *
 * Names and nullability are changes of the schema alone: a Project. A cast puts a new field, with
 * an id of its own, in the place of the old one and writes its values to a file beside those of
 * each fragment: a Merge; what the old field has in older files is dead. All paths are those of the
 * schema before the call.
 */
#include "expr/cast.h"
#include "expr/expr.h"
#include "table/columns_private.h"
#include "table/scan.h"

/* Everything that is to change of one field. */
struct alteration {
  size_t at; /* its position in the schema before */
  const lance_field *old;
  column_change change;
  int32_t new_id; /* of a cast */
};

struct altering {
  const column_change *changes;
  size_t count;
  const column_options *options;
  /* of one run */
  const table_snapshot *table;
  arena memory;
  schema_edit edit;
  struct alteration *fields;
  size_t field_count;
  bool tightens;
  bool casts;
};

/* ---- collecting ---- */

static glv_status fail_path(const struct altering *a, const struct alteration *f, const char *text,
                            glv_error *err) {
  return FAIL(err, GLV_E_INVALID_INPUT, "table '%s': Column \"%.*s\" %s", table_name(a->table),
              STR_ARG(f->change.path), text);
}

static struct alteration *alteration_of(struct altering *a, size_t at) {
  size_t i = 0;
  while (i < a->field_count && a->fields[i].at != at) {
    i++;
  }
  if (i == a->field_count) {
    a->fields[a->field_count++].at = at;
  }
  return &a->fields[i];
}

static glv_status collect_change(struct altering *a, const column_change *c, glv_error *err) {
  size_t at;
  TRY(edit_find(&a->edit, c->path, &at, err));
  struct alteration *f = alteration_of(a, at);
  f->old = lance_schema_find_id(a->table->lance, a->edit.fields[at].message->id);
  if (c->rename.data == NULL && !c->sets_nullable && c->type == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "column '%.*s': nothing is to be altered",
                STR_ARG(c->path));
  }
  if ((c->rename.data != NULL && f->change.rename.data != NULL) ||
      (c->sets_nullable && f->change.sets_nullable) ||
      (c->type != NULL && f->change.type != NULL)) {
    f->change.path = c->path;
    return fail_path(a, f, "is altered twice", err);
  }
  f->change.path = c->path;
  f->change.rename = c->rename.data != NULL ? c->rename : f->change.rename;
  f->change.type = c->type != NULL ? c->type : f->change.type;
  if (c->sets_nullable) {
    f->change.sets_nullable = true;
    f->change.nullable = c->nullable;
  }
  a->casts |= c->type != NULL;
  return GLV_OK;
}

/* ---- what is allowed ---- */

/* The SQL text of a path. */
static glv_status print_path(const schema_edit *e, size_t at, buf *out, glv_error *err) {
  if (e->fields[at].parent != SIZE_MAX) {
    TRY(print_path(e, e->fields[at].parent, out, err)); /* bounded by LIMIT_TYPE_DEPTH */
    TRY(buf_append(out, ".", 1, err));
  }
  return expr_print_identifier(str_of(e->fields[at].message->name), out, err);
}

/* A column that is to be not null has no nulls; one that is null because of what it stands in
 * counts. */
static glv_status check_no_nulls(struct altering *a, const struct alteration *f, glv_error *err) {
  const schema_edit *e = &a->edit;
  for (size_t i = e->fields[f->at].parent; i != SIZE_MAX; i = e->fields[i].parent) {
    if (strcmp(e->fields[i].message->logical_type, "struct") != 0) {
      return FAIL(err, GLV_E_UNSUPPORTED,
                  "table '%s': '%.*s' stands in a list and cannot be made non-nullable",
                  table_name(a->table), STR_ARG(f->change.path));
    }
  }
  CLEANUP(buf_dispose) buf filter;
  buf_init(&filter, table_env(a->table), LIMIT_SQL_BYTES);
  TRY(print_path(e, f->at, &filter, err));
  TRY(buf_append_str(&filter, STR(" IS NULL"), err));
  uint64_t nulls = 0;
  TRY(table_count(a->table, buf_str(&filter), 0, a->options->cancel, &nulls, err));
  return nulls == 0 ? GLV_OK
                    : fail_path(a, f, "contains NULL values and cannot be made non-nullable", err);
}

static bool is_bool(type_kind k) { return k == TYPE_BOOL; }

/* Types of one family can be cast to each other, with lists by their items and dictionaries by
 * their values; strings and numbers cannot, whatever SQL says. */
static bool is_same_family(const type *from, const type *to) {
  static bool (*const families[])(type_kind) = {type_is_integer, type_is_float,  type_is_temporal,
                                                is_bool,         type_is_string, type_is_binary,
                                                type_is_decimal};
  for (;;) { /* each turn takes a level off one of them */
    if (from->kind == TYPE_DICTIONARY) {
      from = from->children[0].type;
    } else if (to->kind == TYPE_DICTIONARY) {
      to = to->children[0].type;
    } else if (type_is_list(from->kind) && type_is_list(to->kind)) {
      from = from->children[0].type;
      to = to->children[0].type;
    } else {
      break;
    }
  }
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
    if (families[i](from->kind)) {
      return families[i](to->kind);
    }
  }
  return false;
}

static glv_status fail_indexed(const struct altering *a, const struct alteration *f,
                               const char *index, glv_error *err) {
  return FAIL(err, GLV_E_INVALID_INPUT,
              "table '%s': Cannot cast column '%.*s' to a new type: index '%s' is attached to it; "
              "drop the index before, and make it again after the cast",
              table_name(a->table), STR_ARG(f->change.path), index);
}

static glv_status check_cast(const struct altering *a, const struct alteration *f, glv_error *err) {
  const table_snapshot *t = a->table;
  const char *why = edit_is_fixed(&a->edit, f->at);
  if (why == NULL && a->edit.fields[f->at].parent != SIZE_MAX &&
      table_data_version(t) == FORMAT_2_0) {
    why = "nobody reads a struct of version 2.0 whose parts lie in two files";
  }
  if (f->old == NULL || !f->old->is_supported || f->old->blob != BLOB_NONE || why != NULL) {
    return FAIL(err, GLV_E_UNSUPPORTED, "table '%s': column '%.*s' cannot be cast: %s",
                table_name(t), STR_ARG(f->change.path),
                why != NULL ? why : "its type does not allow it");
  }
  const type *from = f->old->arrow.type;
  if (!is_same_family(from, f->change.type) || !cast_is_supported(from, f->change.type)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "table '%s': Cannot cast column \"%.*s\" from %s to %s",
                table_name(t), STR_ARG(f->change.path), TYPE_TEXT(from), TYPE_TEXT(f->change.type));
  }
  for (size_t i = 0; i < t->index_count; i++) {
    const Lance__Table__IndexMetadata *m = t->index_messages[i];
    for (size_t k = 0; k < m->n_fields; k++) {
      if (m->fields[k] == f->old->id) {
        return fail_indexed(a, f, m->name, err);
      }
    }
  }
  return GLV_OK;
}

/* Whether a column that may be null is to be not null. */
static bool is_tightened(const struct altering *a, const struct alteration *f) {
  return f->change.sets_nullable && !f->change.nullable && a->edit.fields[f->at].message->nullable;
}

static glv_status check_combination(struct altering *a, glv_error *err) {
  for (size_t i = 0; i < a->field_count; i++) {
    a->tightens |= is_tightened(a, &a->fields[i]);
  }
  if (a->casts) {
    TRY(columns_check_settled(a->table, "change the type of a column", err));
  } else if (a->tightens) {
    TRY(columns_check_settled(a->table, "make a column non-nullable", err));
  }
  return !a->casts || !a->tightens
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT,
                    "table '%s': cannot make a column non-nullable and cast columns in the same "
                    "call: apply the cast first, then the nullability change",
                    table_name(a->table));
}

static glv_status check_field(struct altering *a, const struct alteration *f, glv_error *err) {
  if (f->change.rename.data != NULL || f->change.type != NULL) {
    TRY(columns_check_computed(&a->edit, f->at, NULL, 0, err));
  }
  if (f->change.type != NULL) {
    TRY(columns_check_not_computed(&a->edit, f->at, err));
    TRY(check_cast(a, f, err));
  }
  return is_tightened(a, f) ? check_no_nulls(a, f, err) : GLV_OK;
}

static glv_status check_changes(struct altering *a, glv_error *err) {
  TRY(check_combination(a, err));
  for (size_t i = 0; i < a->field_count; i++) {
    TRY(check_field(a, &a->fields[i], err));
  }
  return GLV_OK;
}

/* ---- the schema ---- */

static glv_status rename_field(struct altering *a, const struct alteration *f, glv_error *err) {
  edited_field *to = &a->edit.fields[f->at];
  if (f->change.rename.data != NULL && !str_is(f->change.rename, to->message->name)) {
    to->message->name = arena_strdup(&a->memory, f->change.rename);
    to->is_named = true;
    if (to->message->name == NULL) {
      return error_nomem(err, f->change.rename.size);
    }
  }
  if (f->change.sets_nullable) {
    to->message->nullable = f->change.nullable;
  }
  return GLV_OK;
}

/* Where the field with that id stands now. */
static size_t position_of(const schema_edit *e, int32_t id) {
  size_t i = 0;
  while (e->fields[i].message->id != id) {
    i++;
  }
  return i;
}

/* Put a new field before the old one, which goes. */
static glv_status replace_field(struct altering *a, struct alteration *f, glv_error *err) {
  schema_edit *e = &a->edit;
  const size_t at = position_of(e, f->old->id);
  const Lance__File__Field *old = e->fields[at].message;
  const field made = {.name = old->name, .type = f->change.type, .nullable = old->nullable};
  for (size_t i = at; i < edit_end(e, at); i++) {
    if (e->fields[i].is_removed || (i > at && e->fields[i].is_named)) {
      return fail_path(a, f, "is altered together with a part of it", err);
    }
    e->fields[i].is_removed = true;
  }
  f->new_id = e->next_id;
  return edit_insert(e, at, e->fields[at].parent, &made, err);
}

/* Rows that somebody adds meanwhile lack the new fields: that is no matter where they may be null
 * and stand in a column that may be. */
static bool touches_required(const struct altering *a) {
  const schema_edit *e = &a->edit;
  bool touches = false;
  for (size_t i = 0; i < a->field_count; i++) {
    if (a->fields[i].change.type != NULL) {
      const size_t at = position_of(e, a->fields[i].new_id);
      touches |= !e->fields[at].message->nullable || !e->fields[edit_root(e, at)].message->nullable;
    }
  }
  return touches;
}

/* ---- the operation ---- */

static glv_status collect_changes(struct altering *a, glv_error *err) {
  TRY(edit_begin(a->table, &a->memory, &a->edit, err));
  a->fields = ARENA_ARRAY(&a->memory, struct alteration, a->count);
  if (a->fields == NULL) {
    return error_nomem(err, a->count * sizeof *a->fields);
  }
  for (size_t i = 0; i < a->count; i++) {
    TRY(collect_change(a, &a->changes[i], err));
  }
  return check_changes(a, err);
}

static glv_status change_schema(struct altering *a, const lance_schema **ret, glv_error *err) {
  for (size_t i = 0; i < a->field_count; i++) {
    TRY(rename_field(a, &a->fields[i], err));
  }
  for (size_t i = 0; i < a->field_count; i++) {
    if (a->fields[i].change.type != NULL) {
      TRY(replace_field(a, &a->fields[i], err));
    }
  }
  return edit_finish(&a->edit, ret, err);
}

static glv_status cast_columns(struct altering *a, staged **ret, glv_error *err) {
  const lance_schema *files;
  size_t count = 0;
  cast_field *casts = ARENA_ARRAY(&a->memory, cast_field, a->field_count);
  if (casts == NULL) {
    return error_nomem(err, a->field_count * sizeof *casts);
  }
  for (size_t i = 0; i < a->field_count; i++) {
    if (a->fields[i].change.type != NULL) {
      casts[count++] = (cast_field){a->fields[i].old->id, a->fields[i].new_id};
    }
  }
  TRY(edit_new_fields(&a->edit, &files, err));
  batch_reader r;
  TRY(columns_cast(a->table, files, casts, count, a->options->cancel, &r, err));
  return columns_stage(a->table, files, &r, a->options->cancel, ret, err);
}

static void altering_cleanup(struct altering *a) { arena_dispose(&a->memory); }

static glv_status alter(void *context, const table_snapshot *base, table_snapshot **ret,
                        uint32_t *ret_attempts, glv_error *err) {
  const struct altering *given = context;
  CLEANUP(altering_cleanup)
  struct altering a = {
      .changes = given->changes, .count = given->count, .options = given->options, .table = base};
  arena_init(&a.memory, table_env(base));
  TRY(collect_changes(&a, err));
  const lance_schema *s;
  TRY(change_schema(&a, &s, err));
  if (!a.casts) {
    return columns_commit_project(base, s, !a.tightens, a.options, ret, ret_attempts, err);
  }
  staged *files = NULL;
  TRY(cast_columns(&a, &files, err));
  return columns_commit_merge(base, s, files, !touches_required(&a), a.options, ret, ret_attempts,
                              err);
}

glv_status table_alter_columns(const table_snapshot *t, const column_change *changes, size_t count,
                               const column_options *options, table_snapshot **ret,
                               write_result *ret_result, glv_error *err) {
  static const column_options defaults = {0};
  struct altering a = {
      .changes = changes, .count = count, .options = options != NULL ? options : &defaults};
  return columns_run(t, count, alter, &a, a.options, ret, ret_result, err);
}
