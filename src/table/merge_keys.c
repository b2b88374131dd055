/* The key columns of a merge: named by the caller, or the primary key that the schema names; and
 * the filter by which inserts of the same primary key are told to conflict. */
#include <stdlib.h>

#include "table/merge_private.h"
#include "table/table_private.h"

#define PRIMARY_KEY "lance-schema:unenforced-primary-key"
#define PRIMARY_KEY_POSITION PRIMARY_KEY ":position"

/* ---- the primary key ---- */

struct key_field {
  const lance_field *field;
  uint64_t position; /* UINT64_MAX: by id, behind those that have one */
};

static int by_position(const void *a, const void *b) {
  const struct key_field *x = a;
  const struct key_field *y = b;
  return x->position != y->position ? (x->position > y->position) - (x->position < y->position)
                                    : (x->field->id > y->field->id) - (x->field->id < y->field->id);
}

static bool is_key(const lance_field *f, uint64_t *ret_position) {
  bool has_position = false;
  const str text = metadata_get(f->arrow.metadata, STR(PRIMARY_KEY_POSITION), &has_position);
  *ret_position = UINT64_MAX;
  if (has_position && str_to_u64(text, ret_position)) {
    *ret_position = *ret_position == 0 ? UINT64_MAX : *ret_position;
    return true;
  }
  return str_is_true(metadata_get(f->arrow.metadata, STR(PRIMARY_KEY), NULL));
}

/* The top-level columns of the primary key, in its order. */
static glv_status primary_key(const table_snapshot *t, arena *a, struct key_field **ret,
                              size_t *ret_count, glv_error *err) {
  struct key_field *keys = ARENA_ARRAY(a, struct key_field, t->lance->field_count);
  size_t count = 0;
  if (keys == NULL) {
    return error_nomem(err, t->lance->field_count * sizeof *keys);
  }
  for (size_t i = 0; i < t->lance->field_count; i++) {
    const lance_field *f = &t->lance->fields[i];
    uint64_t position;
    if (is_key(f, &position)) {
      keys[count++] = (struct key_field){f, position};
    }
  }
  if (count > 0) {
    qsort(keys, count, sizeof *keys, by_position);
  }
  *ret = keys;
  *ret_count = count;
  return GLV_OK;
}

/* ---- names ---- */

/* The column of that name, else one that differs from it in case only. */
static const lance_field *find_key(const table_snapshot *t, str name) {
  const lance_field *exact = lance_schema_find(t->lance, name);
  for (size_t i = 0; exact == NULL && i < t->lance->field_count; i++) {
    const lance_field *f = &t->lance->fields[i];
    if (str_equal_ascii_case(str_of(f->arrow.name), name)) {
      exact = f;
    }
  }
  return exact;
}

static glv_status add_key(merge_plan *p, const lance_field *f, glv_error *err) {
  const size_t column = schema_find(p->source->schema, str_of(f->arrow.name));
  if (column == SIZE_MAX) {
    return FAIL(err, GLV_E_COLUMN_NOT_FOUND, "the data to merge has no key column '%s'",
                f->arrow.name);
  }
  p->keys[p->key_count].name = str_of(f->arrow.name);
  p->key_fields[p->key_count] = f->id;
  p->key_columns[p->key_count++] = column;
  return GLV_OK;
}

static glv_status named_keys(merge_plan *p, glv_error *err) {
  for (size_t i = 0; i < p->options->on_count; i++) {
    const lance_field *f = find_key(p->table, p->options->on[i]);
    if (f == NULL) {
      return FAIL(err, GLV_E_COLUMN_NOT_FOUND,
                  "Merge insert key column '%.*s' does not exist in table '%s'",
                  STR_ARG(p->options->on[i]), table_name(p->table));
    }
    TRY(add_key(p, f, err));
  }
  return GLV_OK;
}

glv_status merge_choose_keys(merge_plan *p, glv_error *err) {
  struct key_field *primary = NULL;
  size_t primary_count = 0;
  TRY(primary_key(p->table, p->memory, &primary, &primary_count, err));
  const size_t most = p->options->on_count > 0 ? p->options->on_count : primary_count;
  p->keys = ARENA_ARRAY(p->memory, scan_column, most);
  p->key_fields = ARENA_ARRAY(p->memory, int32_t, most);
  p->key_columns = ARENA_ARRAY(p->memory, size_t, most);
  if (p->keys == NULL || p->key_fields == NULL || p->key_columns == NULL) {
    return error_nomem(err, most * sizeof *p->keys);
  }
  if (most == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "a merge needs key columns: table '%s' names no primary key", table_name(p->table));
  }
  TRY(named_keys(p, err));
  for (size_t i = 0; p->options->on_count == 0 && i < primary_count; i++) {
    TRY(add_key(p, primary[i].field, err));
  }
  p->is_primary = p->key_count == primary_count;
  for (size_t i = 0; i < primary_count && p->is_primary; i++) {
    p->is_primary = primary[i].field->id == p->key_fields[i];
  }
  return GLV_OK;
}

/* ---- the filter ---- */

/* Appends the bytes by which the filter knows a value; false: the type has none. */
static bool put_key_bytes(const array *a, size_t row, buf *out, glv_status *status,
                          glv_error *err) {
  uint8_t word[8];
  switch (a->type->kind) {
  case TYPE_INT32:
    store_le64(word, (uint64_t)(int64_t)ARRAY_VALUES(a, int32_t)[row]);
    break;
  case TYPE_UINT32:
    store_le64(word, ARRAY_VALUES(a, uint32_t)[row]);
    break;
  case TYPE_INT64:
  case TYPE_UINT64:
    store_le64(word, ARRAY_VALUES(a, uint64_t)[row]);
    break;
  default:
    if (type_is_string(a->type->kind) || type_is_binary(a->type->kind)) {
      *status = buf_append_str(out, array_str(a, row), err);
      return true;
    }
    return false;
  }
  *status = buf_append(out, word, sizeof word, err);
  return true;
}

/* Records the key of an inserted row, unless a part is null or of another type. */
static glv_status record_key(const merge_plan *p, const batch *b, size_t row, buf *key, bloom *into,
                             glv_error *err) {
  buf_clear(key);
  for (size_t k = 0; k < p->key_count; k++) {
    const array *a = &b->columns[p->key_columns[k]];
    glv_status status = GLV_OK;
    if (!array_is_valid(a, row) || !put_key_bytes(a, row, key, &status, err)) {
      return status;
    }
    TRY(status);
    if (p->key_count > 1) {
      TRY(buf_append_char(key, '\0', err));
    }
  }
  bloom_add(into, buf_str(key));
  return GLV_OK;
}

glv_status merge_filter(const merge_plan *p, const merge_matches *m, bloom *into, glv_error *err) {
  const merge_source *s = p->source;
  CLEANUP(buf_dispose) buf key;
  buf_init(&key, s->env, SIZE_MAX / 2);
  for (size_t i = 0; p->options->insert_unmatched && i < s->count; i++) {
    for (size_t row = 0; row < s->batches[i].length; row++) {
      if (merge_is_inserted(m, s->starts[i] + row)) {
        TRY(record_key(p, &s->batches[i], row, &key, into, err));
      }
    }
  }
  return GLV_OK;
}
