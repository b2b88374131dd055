/*
 * Rows by number: they are asked for as a filter on `_rowid` or `_rowoffset` and put into the order
 * asked here, for the protocol has no route for them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "arrow/cdata.h"
#include "remote/query.h"
#include "remote/rows.h"
#include "wire/members.h"

#define ROW_OFFSET "_rowoffset"

enum { TAKE_PART = 20000 }; /* numbers of one request */

/* One call of remote_table_take. */
typedef struct taking {
  glv_table *table;
  const glv_take_options *options;
  glv_env *env;
  arena memory;
  const char *key;   /* the column that has the numbers */
  glv_pairs columns; /* asked for, with the key where the protocol wants it named */
  glv_pairs wanted;  /* those of the result; none = all but the key */
  uint64_t version;  /* the one that the first answer came from; 0 = not told */
  schema *schema;    /* of the result; NULL before the first answer */
  batch *batches;
  size_t count;
} taking;

static void taking_dispose(taking *t) {
  for (size_t i = 0; i < t->count; i++) {
    batch_dispose(&t->batches[i]);
  }
  schema_unref(t->schema);
  arena_dispose(&t->memory);
}

/* Row offsets come only when they are named, and then all columns must be. */
static glv_status name_columns(taking *t, glv_error *err) {
  const bool by_id = (t->options->flags & GLV_TAKE_ROW_IDS) != 0;
  CLEANUP(schema_cleanup) schema *s = NULL;
  t->key = by_id ? ROW_ID : ROW_OFFSET;
  t->wanted = t->options->columns;
  t->columns = t->wanted;
  if (by_id) {
    return GLV_OK; /* with_row_id asks for them */
  }
  if (t->wanted.count == 0) {
    TRY(remote_table_schema(t->table, &s, err));
  }
  const size_t count = s != NULL ? s->field_count : t->wanted.count;
  glv_pair *pairs = ARENA_ARRAY(&t->memory, glv_pair, count + 1);
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  for (size_t i = 0; i < count; i++) {
    pairs[i] = s != NULL ? (glv_pair){arena_strdup(&t->memory, str_of(s->fields[i].name)), NULL}
                         : t->wanted.items[i];
    if (pairs[i].name == NULL) {
      return error_nomem(err, 0);
    }
  }
  pairs[count] = (glv_pair){ROW_OFFSET, NULL};
  t->wanted = (glv_pairs){pairs, count};
  t->columns = (glv_pairs){pairs, count + 1};
  return GLV_OK;
}

static glv_status put_numbers(const taking *t, const uint64_t *numbers, size_t count, json *body,
                              glv_error *err) {
  CLEANUP(buf_dispose) buf filter;
  buf_init(&filter, t->env, SIZE_MAX / 2);
  if (count == 0) {
    TRY(buf_append_str(&filter, STR("false"), err)); /* an empty IN () is no SQL */
  }
  for (size_t i = 0; i < count; i++) {
    TRY(i == 0 ? buf_printf(&filter, err, "%s IN (", t->key)
               : buf_append_str(&filter, STR(", "), err));
    TRY(buf_printf(&filter, err, "%" PRIu64, numbers[i]));
  }
  TRY(count > 0 ? buf_append_char(&filter, ')', err) : GLV_OK);
  const bool with_id = (t->options->flags & (GLV_SCAN_ROW_ID | GLV_TAKE_ROW_IDS)) != 0;
  TRY(query_put_no_vector(body, err));
  return query_put(body, t->columns, filter.data, UINT64_MAX, with_id, err);
}

/* The rows of some numbers, in the order of the server, in one batch. */
static glv_status fetch(taking *t, const uint64_t *numbers, size_t count, batch *ret,
                        glv_error *err) {
  CLEANUP(table_call_dispose) table_call tc = {0};
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  exchange *e = NULL;
  TRY(query_begin(&tc, t->table, t->options->cancel, err));
  if (t->version != 0) {
    TRY(wire_put_uint(tc.c.body, "version", t->version, err));
  }
  TRY(put_numbers(t, numbers, count, tc.c.body, err));
  TRY(call_send(&tc.c, &e, err));
  table_call_seen(&tc, remote_exchange_head(e)->table_version);
  t->version = remote_exchange_head(e)->table_version;
  TRY(remote_rows(conn_of(t->table->conn), e, &r, err));
  return batch_collect(t->env, &r, ret, err);
}

typedef struct numbered {
  uint64_t number;
  uint32_t row;
} numbered;

static int by_number(const void *a, const void *b) {
  const uint64_t x = ((const numbered *)a)->number;
  const uint64_t y = ((const numbered *)b)->number;
  return (x > y) - (x < y);
}

/* Where the numbers asked for are among the rows that came. */
static glv_status find_rows(taking *t, const array *keys, const uint64_t *numbers, size_t count,
                            uint32_t *ret, size_t *ret_count, glv_error *err) {
  numbered *index = ARENA_ARRAY(&t->memory, numbered, keys->length);
  if (index == NULL) {
    return error_nomem(err, keys->length * sizeof *index);
  }
  for (size_t i = 0; i < keys->length; i++) {
    index[i] = (numbered){ARRAY_VALUES(keys, uint64_t)[i], (uint32_t)i};
  }
  qsort(index, keys->length, sizeof *index, by_number);
  *ret_count = 0;
  for (size_t i = 0; i < count; i++) {
    const numbered wanted = {numbers[i], 0};
    const numbered *found =
        keys->length > 0 ? bsearch(&wanted, index, keys->length, sizeof *index, by_number) : NULL;
    if (found != NULL) {
      ret[(*ret_count)++] = found->row;
    } else if (strcmp(t->key, ROW_OFFSET) == 0) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "there is no row %" PRIu64 " in table '%s'; the number of rows is smaller",
                  numbers[i], IDENT_TEXT(ident_id(&t->table->id)));
    }
  }
  return GLV_OK;
}

/* The columns of the result. */
static glv_status make_schema(taking *t, const schema *from, glv_error *err) {
  const bool with_id = (t->options->flags & GLV_SCAN_ROW_ID) != 0;
  const size_t most = t->wanted.count > 0 ? t->wanted.count + 1 : from->field_count;
  field *fields = ARENA_ARRAY(&t->memory, field, most);
  size_t count = 0;
  if (fields == NULL) {
    return error_nomem(err, most * sizeof *fields);
  }
  for (size_t i = 0; i < (t->wanted.count > 0 ? t->wanted.count : from->field_count); i++) {
    const char *name = t->wanted.count > 0 ? t->wanted.items[i].name : from->fields[i].name;
    const size_t at = schema_find(from, str_of(name));
    if (at == SIZE_MAX) {
      return FAIL(err, GLV_E_CORRUPT, "the server answered rows without the column '%s'", name);
    }
    if (t->wanted.count > 0 || strcmp(name, ROW_ID) != 0) {
      fields[count++] = from->fields[at];
    }
  }
  if (with_id) {
    const size_t at = schema_find(from, STR(ROW_ID));
    if (at == SIZE_MAX) {
      return FAIL(err, GLV_E_CORRUPT, "the server answered rows without " ROW_ID);
    }
    fields[count++] = from->fields[at];
  }
  return schema_new(t->env, fields, count, from->metadata, &t->schema, err);
}

static glv_status choose(taking *t, const batch *from, const uint32_t *rows, size_t count,
                         batch *ret, glv_error *err) {
  CLEANUP(batch_dispose) batch out = {0};
  TRY(batch_new(t->env, t->schema, count, t->schema->field_count, &out, err));
  for (size_t i = 0; i < t->schema->field_count; i++) {
    const size_t at = schema_find(from->schema, str_of(t->schema->fields[i].name));
    CLEANUP(array_unref) array taken = {0};
    if (at == SIZE_MAX || !type_equal(from->schema->fields[at].type, t->schema->fields[i].type)) {
      return FAIL(err, GLV_E_CORRUPT, "the server answered other columns than before");
    }
    TRY(array_take(t->env, &from->columns[at], rows, count, &taken, err));
    TRY(array_retype(t->env, &taken, t->schema->fields[i].type, &out.columns[i], err));
  }
  *ret = out;
  out = (batch){0};
  return GLV_OK;
}

static glv_status take_part(taking *t, const uint64_t *numbers, size_t count, glv_error *err) {
  CLEANUP(batch_dispose) batch got = {0};
  TRY(fetch(t, numbers, count, &got, err));
  const size_t key = schema_find(got.schema, str_of(t->key));
  if (key == SIZE_MAX || got.schema->fields[key].type->kind != TYPE_UINT64) {
    return FAIL(err, GLV_E_CORRUPT, "the server answered rows without %s", t->key);
  }
  uint32_t *rows = ARENA_ARRAY(&t->memory, uint32_t, count);
  size_t found = 0;
  if (rows == NULL) {
    return error_nomem(err, count * sizeof *rows);
  }
  TRY(find_rows(t, &got.columns[key], numbers, count, rows, &found, err));
  if (t->schema == NULL) {
    TRY(make_schema(t, got.schema, err));
  }
  TRY(choose(t, &got, rows, found, &t->batches[t->count], err));
  t->count++;
  return GLV_OK;
}

glv_status remote_table_take(glv_table *table, const uint64_t *rows, size_t count,
                             const glv_take_options *options, batch_reader *ret, glv_error *err) {
  CLEANUP(taking_dispose) taking t = {.table = table, .options = options, .env = table->handle.env};
  arena_init_small(&t.memory, t.env);
  TRY(remote_check_dialect(options->flags, err));
  TRY(query_refuse_blobs(options->flags, err));
  TRY(name_columns(&t, err));
  t.batches = ARENA_ARRAY(&t.memory, batch, count / TAKE_PART + 1);
  if (t.batches == NULL) {
    return error_nomem(err, count);
  }
  for (size_t first = 0; first == 0 || first < count; first += TAKE_PART) {
    const size_t part = count - first < TAKE_PART ? count - first : TAKE_PART;
    TRY(take_part(&t, rows + first, part, err));
  }
  return batch_reader_of(t.env, t.schema, t.batches, t.count, ret, err);
}
