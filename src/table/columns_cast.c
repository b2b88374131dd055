/* The values of columns that are cast: a scan of the old ones, converted batch by batch.
 *
 * A part of a struct or a list that is cast goes into the new files with what it stands in and
 * nothing else: {b} of {a, b, c}, with the nulls and lengths of the original.
 */
#include "expr/cast.h"
#include "table/columns_private.h"
#include "table/scan.h"

struct caster {
  glv_env *env; /* a reference */
  const table_snapshot *table;
  const lance_schema *files; /* schema of what is written */
  const cast_field *casts;
  size_t count;
  batch_reader in;
};

static void caster_dispose(void *state) {
  struct caster *c = state;
  glv_env *env = c->env;
  batch_reader_dispose(&c->in);
  mem_free(env, c);
  env_unref(env);
}

/* The id of the field that a field of the new files is made from: another one for a cast, and its
 * own for what casts stand in. */
static int32_t source_id(const struct caster *c, int32_t id) {
  for (size_t i = 0; i < c->count; i++) {
    if (c->casts[i].new_id == id) {
      return c->casts[i].old_id;
    }
  }
  return id;
}

/* Position among the children of `old` of what the field `made` is made from. */
static size_t source_child(const struct caster *c, const lance_field *old,
                           const lance_field *made) {
  const int32_t id = source_id(c, made->id);
  size_t i = 0;
  while (old->children[i].id != id) {
    i++;
  }
  return i;
}

/* Values of a new field, or of one that new fields stand in: then only these. Nesting is bounded
 * (LIMIT_TYPE_DEPTH). */
static glv_status convert(const struct caster *c, const array *from, const lance_field *old,
                          const lance_field *to, array *ret, glv_error *err) {
  if (source_id(c, to->id) != to->id) {
    return cast_array(c->env, from, to->arrow.type, false, ret, err);
  }
  CLEANUP(array_unref) array out = array_ref(from);
  buffer_unref(out.child_owner);
  out.child_owner = NULL;
  out.children = NULL;
  out.child_count = 0;
  out.type = to->arrow.type;
  TRY(array_new_children(c->env, to->child_count, &out, err));
  for (size_t i = 0; i < to->child_count; i++) {
    const size_t at = source_child(c, old, &to->children[i]);
    TRY(convert(c, &from->children[at], &old->children[at], &to->children[i], &out.children[i],
                err));
  }
  *ret = out;
  out = (array){0};
  return GLV_OK;
}

/* The stored field from which a top-level field of the new files is made. */
static const lance_field *source_root(const struct caster *c, const lance_field *made) {
  return lance_schema_find_id(table_lance_schema(c->table), source_id(c, made->id));
}

static glv_status cast_batch(const struct caster *c, const batch *in, batch *out, glv_error *err) {
  for (size_t i = 0; i < c->files->field_count; i++) {
    const lance_field *to = &c->files->fields[i];
    const lance_field *from = source_root(c, to);
    const glv_status status = convert(c, &in->columns[i], from, to, &out->columns[i], err);
    if (status != GLV_OK) {
      return error_prefix(err, status, "column '%s': ", from->arrow.name);
    }
  }
  out->columns[c->files->field_count] = array_ref(&in->columns[c->files->field_count]);
  return GLV_OK;
}

static glv_status caster_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  struct caster *c = state;
  CLEANUP(batch_dispose) batch in = {0};
  CLEANUP(batch_dispose) batch out = {0};
  TRY(c->in.next(c->in.state, &in, ret_end, err));
  if (*ret_end) {
    return GLV_OK;
  }
  TRY(batch_new(c->env, in.schema, in.length, in.column_count, &out, err));
  TRY(cast_batch(c, &in, &out, err));
  *ret = out;
  out = (batch){0};
  return GLV_OK;
}

/* A scan of the columns behind the fields of the new files, then the address. */
static glv_status open_source(struct caster *c, arena *a, cancel_token *cancel, glv_error *err) {
  const size_t count = c->files->field_count;
  scan_column *columns = ARENA_ARRAY(a, scan_column, count);
  if (columns == NULL) {
    return error_nomem(err, count * sizeof *columns);
  }
  for (size_t i = 0; i < count; i++) {
    columns[i].name = str_of(source_root(c, &c->files->fields[i])->arrow.name);
  }
  const scan_options o = {
      .columns = columns, .column_count = count, .with_row_address = true, .cancel = cancel};
  return table_scan(c->table, &o, &c->in, err);
}

static glv_status make_schema(const struct caster *c, arena *a, schema **ret, glv_error *err) {
  const size_t count = c->files->field_count;
  field *fields = ARENA_ARRAY(a, field, count + 1);
  if (fields == NULL) {
    return error_nomem(err, count * sizeof *fields);
  }
  for (size_t i = 0; i < count; i++) {
    fields[i] = c->files->fields[i].arrow;
  }
  fields[count] = c->in.schema->fields[count];
  return schema_new(c->env, fields, count + 1, (metadata){0}, ret, err);
}

glv_status columns_cast(const table_snapshot *t, const lance_schema *files, const cast_field *casts,
                        size_t count, cancel_token *cancel, batch_reader *ret, glv_error *err) {
  glv_env *env = table_env(t);
  struct caster *c = mem_zalloc(env, sizeof *c);
  if (c == NULL) {
    return error_nomem(err, sizeof *c);
  }
  *c = (struct caster){env_ref(env), t, files, casts, count, {0}};
  CLEANUP(batch_reader_dispose)
  batch_reader r = {.next = caster_next, .dispose = caster_dispose, .state = c};
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, env);
  TRY(open_source(c, &a, cancel, err));
  TRY(make_schema(c, &a, &r.schema, err));
  *ret = r;
  r = (batch_reader){0};
  return GLV_OK;
}
