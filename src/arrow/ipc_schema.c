/*
 * Schema messages. nanoarrow decodes them too, but without views, and it trusts more than data from
 * outside deserves, so the tables are read here: with bounds checks and with limits on depth,
 * number of fields and size of names and metadata (a FlatBuffer can refer to one table many times
 * and so stand for an endless tree). A field lists its type as kind and table, then its children; a
 * dictionary-encoded field has the type and children of its values, and an encoding.
 */
#include "arrow/ipc_private.h"
#include "base/limits.h"

/* The kinds of type of Arrow's Schema.fbs. */
enum {
  KIND_NULL = 1,
  KIND_INT,
  KIND_FLOAT,
  KIND_BINARY,
  KIND_UTF8,
  KIND_BOOL,
  KIND_DECIMAL,
  KIND_DATE,
  KIND_TIME,
  KIND_TIMESTAMP,
  KIND_INTERVAL,
  KIND_LIST,
  KIND_STRUCT,
  KIND_UNION,
  KIND_FIXED_SIZE_BINARY,
  KIND_FIXED_SIZE_LIST,
  KIND_MAP,
  KIND_DURATION,
  KIND_LARGE_BINARY,
  KIND_LARGE_UTF8,
  KIND_LARGE_LIST,
  KIND_RUN_END_ENCODED,
  KIND_BINARY_VIEW,
  KIND_UTF8_VIEW,
  KIND_LIST_VIEW,
  KIND_LARGE_LIST_VIEW,
  KIND_END
};

typedef struct walk {
  glv_env *env;
  arena *memory;
  flat *f;
  const char *column;
  size_t fields;
  size_t bytes; /* of names and metadata */
  ipc_dictionaries *dictionaries;
  size_t dictionary_capacity;
  glv_error *err;
} walk;

static glv_status corrupt(const walk *w, const char *what) {
  return FAIL(w->err, GLV_E_CORRUPT, "malformed Arrow IPC schema: column '%s': %s", w->column,
              what);
}

static glv_status unsupported(const walk *w, const char *name) {
  return FAIL(
      w->err, GLV_E_UNSUPPORTED,
      "column '%s' has type %s, which is not supported; cast it to another type or leave it out",
      w->column, name);
}

static glv_status no_memory(const walk *w) { return error_nomem(w->err, sizeof(type)); }

/* A copy in the arena; its size counts. */
static glv_status copy_text(walk *w, str s, str *ret) {
  w->bytes += s.size;
  if (w->bytes > LIMIT_JSON_BYTES) {
    return FAIL(w->err, GLV_E_LIMIT, "the metadata of an Arrow IPC schema is larger than %u bytes",
                LIMIT_JSON_BYTES);
  }
  *ret = str_slice(arena_strdup(w->memory, s), s.size);
  return ret->data != NULL ? GLV_OK : no_memory(w);
}

static glv_status read_metadata(walk *w, size_t table, unsigned index, metadata *ret) {
  size_t count;
  const size_t items = flat_vector(w->f, table, index, 4, &count);
  w->bytes += count * sizeof(pair); /* the same list may be referred to often */
  if (w->bytes > LIMIT_JSON_BYTES) {
    count = 0;
    w->f->bad = true;
  }
  pair *pairs = ARENA_ARRAY(w->memory, pair, count);
  if (pairs == NULL) {
    return no_memory(w);
  }
  for (size_t i = 0; i < count && !w->f->bad; i++) {
    const size_t item = flat_item(w->f, items, i);
    TRY(copy_text(w, flat_string(w->f, item, KEY_VALUE_KEY), &pairs[i].key));
    TRY(copy_text(w, flat_string(w->f, item, KEY_VALUE_VALUE), &pairs[i].value));
  }
  *ret = (metadata){pairs, count};
  return GLV_OK;
}

static glv_status read_int(const walk *w, size_t table, type_kind *ret) {
  static const type_kind kinds[2][4] = {{TYPE_UINT8, TYPE_UINT16, TYPE_UINT32, TYPE_UINT64},
                                        {TYPE_INT8, TYPE_INT16, TYPE_INT32, TYPE_INT64}};
  const bool is_signed = flat_u8(w->f, table, 1) != 0;
  switch (flat_i32(w->f, table, 0, 0)) {
  case 8:
    *ret = kinds[is_signed][0];
    return GLV_OK;
  case 16:
    *ret = kinds[is_signed][1];
    return GLV_OK;
  case 32:
    *ret = kinds[is_signed][2];
    return GLV_OK;
  case 64:
    *ret = kinds[is_signed][3];
    return GLV_OK;
  default:
    return corrupt(w, "bad width of integers");
  }
}

static glv_status read_decimal(const walk *w, size_t table, type *t) {
  const int32_t bits = flat_i32(w->f, table, 2, 128);
  t->precision = flat_i32(w->f, table, 0, 0);
  t->scale = flat_i32(w->f, table, 1, 0);
  t->kind = bits == 256 ? TYPE_DECIMAL256 : TYPE_DECIMAL128;
  if (bits == 32 || bits == 64) {
    return unsupported(w, bits == 32 ? "decimal32" : "decimal64");
  }
  if ((bits != 128 && bits != 256) || t->precision < 1 || t->precision > (bits == 128 ? 38 : 76) ||
      t->scale < INT8_MIN || t->scale > INT8_MAX) {
    return corrupt(w, "bad decimal");
  }
  return GLV_OK;
}

/* The unit in field 0; where it is absent it is milliseconds, for timestamps seconds. */
static glv_status read_unit(const walk *w, size_t table, time_unit absent, time_unit *ret) {
  const int16_t unit = flat_has(w->f, table, 0) ? flat_i16(w->f, table, 0) : (int16_t)absent;
  if (unit < UNIT_SECOND || unit > UNIT_NANO) {
    return corrupt(w, "unknown unit of time");
  }
  *ret = (time_unit)unit;
  return GLV_OK;
}

static glv_status read_time(const walk *w, size_t table, type *t) {
  TRY(read_unit(w, table, UNIT_MILLI, &t->unit));
  const int32_t bits = flat_i32(w->f, table, 1, 32);
  t->kind = t->unit <= UNIT_MILLI ? TYPE_TIME32 : TYPE_TIME64;
  return bits == (t->kind == TYPE_TIME32 ? 32 : 64) ? GLV_OK : corrupt(w, "bad width of times");
}

static glv_status read_timestamp(walk *w, size_t table, type *t) {
  t->kind = TYPE_TIMESTAMP;
  TRY(read_unit(w, table, UNIT_SECOND, &t->unit));
  str zone = flat_string(w->f, table, 1);
  if (zone.size == 0) {
    return GLV_OK;
  }
  if (!str_is_utf8(zone) || memchr(zone.data, 0, zone.size) != NULL) {
    return corrupt(w, "the time zone is not text");
  }
  TRY(copy_text(w, zone, &zone));
  t->timezone = zone.data;
  return GLV_OK;
}

static glv_status read_date(const walk *w, size_t table, type *t) {
  const int16_t unit = flat_has(w->f, table, 0) ? flat_i16(w->f, table, 0) : 1;
  t->kind = unit == 0 ? TYPE_DATE32 : TYPE_DATE64;
  return unit == 0 || unit == 1 ? GLV_OK : corrupt(w, "unknown unit of dates");
}

static glv_status read_interval(const walk *w, size_t table, type *t) {
  t->kind = TYPE_INTERVAL_MONTH_DAY_NANO;
  switch (flat_i16(w->f, table, 0)) {
  case 0:
    return unsupported(w, "month_interval");
  case 1:
    return unsupported(w, "day_time_interval");
  case 2:
    return GLV_OK;
  default:
    return corrupt(w, "unknown unit of intervals");
  }
}

static glv_status read_float(const walk *w, size_t table, type *t) {
  const int16_t precision = flat_i16(w->f, table, 0);
  if (precision < 0 || precision > 2) {
    return corrupt(w, "unknown precision of floating-point numbers");
  }
  t->kind = (type_kind)(TYPE_FLOAT16 + precision);
  return GLV_OK;
}

static glv_status read_width(const walk *w, size_t table, type_kind kind, type *t) {
  t->kind = kind;
  t->width = flat_i32(w->f, table, 0, 0);
  return t->width >= 0 ? GLV_OK : corrupt(w, "a fixed size is negative");
}

/* Kinds without parameters, and those that have no type_kind. */
static glv_status read_simple(const walk *w, uint8_t kind, type *t) {
  static const type_kind kinds[KIND_END] = {
      [KIND_NULL] = TYPE_NULL,
      [KIND_BINARY] = TYPE_BINARY,
      [KIND_UTF8] = TYPE_UTF8,
      [KIND_BOOL] = TYPE_BOOL,
      [KIND_LIST] = TYPE_LIST,
      [KIND_STRUCT] = TYPE_STRUCT,
      [KIND_MAP] = TYPE_MAP,
      [KIND_LARGE_BINARY] = TYPE_LARGE_BINARY,
      [KIND_LARGE_UTF8] = TYPE_LARGE_UTF8,
      [KIND_LARGE_LIST] = TYPE_LARGE_LIST,
      [KIND_BINARY_VIEW] = TYPE_BINARY_VIEW,
      [KIND_UTF8_VIEW] = TYPE_UTF8_VIEW,
  };
  t->kind = kind < KIND_END ? kinds[kind] : TYPE_NONE;
  switch (kind) {
  case KIND_UNION:
    return unsupported(w, "union");
  case KIND_RUN_END_ENCODED:
    return unsupported(w, "run_end_encoded");
  case KIND_LIST_VIEW:
    return unsupported(w, "list_view");
  case KIND_LARGE_LIST_VIEW:
    return unsupported(w, "large_list_view");
  default:
    return t->kind != TYPE_NONE ? GLV_OK : corrupt(w, "unknown type");
  }
}

static glv_status read_kind(walk *w, uint8_t kind, size_t table, type *t) {
  switch (kind) {
  case KIND_INT:
    return read_int(w, table, &t->kind);
  case KIND_FLOAT:
    return read_float(w, table, t);
  case KIND_DECIMAL:
    return read_decimal(w, table, t);
  case KIND_DATE:
    return read_date(w, table, t);
  case KIND_TIME:
    return read_time(w, table, t);
  case KIND_TIMESTAMP:
    return read_timestamp(w, table, t);
  case KIND_INTERVAL:
    return read_interval(w, table, t);
  case KIND_DURATION:
    t->kind = TYPE_DURATION;
    return read_unit(w, table, UNIT_MILLI, &t->unit);
  case KIND_FIXED_SIZE_BINARY:
    return read_width(w, table, TYPE_FIXED_SIZE_BINARY, t);
  case KIND_FIXED_SIZE_LIST:
    return read_width(w, table, TYPE_FIXED_SIZE_LIST, t);
  case KIND_MAP:
    t->flag = flat_u8(w->f, table, 0) != 0;
    break;
  default:
    break;
  }
  return read_simple(w, kind, t);
}

static glv_status check_children(const walk *w, const type *t) {
  const bool is_list = t->kind == TYPE_LIST || t->kind == TYPE_LARGE_LIST ||
                       t->kind == TYPE_FIXED_SIZE_LIST || t->kind == TYPE_MAP;
  if (t->kind != TYPE_STRUCT && t->child_count != (is_list ? 1 : 0)) {
    return corrupt(w, "a type has a wrong number of children");
  }
  if (t->kind == TYPE_MAP &&
      (t->children[0].type->kind != TYPE_STRUCT || t->children[0].type->child_count != 2)) {
    return corrupt(w, "the child of a map is not a struct of key and value");
  }
  return GLV_OK;
}

/* Enter a dictionary into the list; its values follow. */
static glv_status add_dictionary(walk *w, size_t encoding) {
  ipc_dictionaries *d = w->dictionaries;
  TRY(vec_reserve(w->env, &d->items, &w->dictionary_capacity, d->count + 1, sizeof *d->items,
                  w->err));
  d->items[d->count++] = (ipc_dictionary){.id = flat_i64(w->f, encoding, ENCODING_ID)};
  return GLV_OK;
}

/* Indices are int32 where no type is given. */
static glv_status wrap_dictionary(walk *w, size_t encoding, type *values, const type **ret) {
  const size_t table = flat_table(w->f, encoding, ENCODING_INDEX_TYPE);
  type *t = ARENA_NEW(w->memory, type);
  field *child = ARENA_NEW(w->memory, field);
  if (t == NULL || child == NULL) {
    return no_memory(w);
  }
  *child = (field){.name = "", .type = values, .nullable = true};
  *t = (type){.kind = TYPE_DICTIONARY,
              .index = TYPE_INT32,
              .flag = flat_u8(w->f, encoding, ENCODING_IS_ORDERED) != 0,
              .children = child,
              .child_count = 1};
  *ret = t;
  return table != 0 ? read_int(w, table, &t->index) : GLV_OK;
}

static glv_status read_field(walk *w, size_t at, unsigned depth, field *ret);

static glv_status read_fields(walk *w, size_t table, unsigned index, unsigned depth, field **ret,
                              size_t *ret_count) {
  size_t count;
  const size_t items = flat_vector(w->f, table, index, 4, &count);
  if (count > LIMIT_FIELDS) {
    return FAIL(w->err, GLV_E_LIMIT, "a schema has more than %d fields", LIMIT_FIELDS);
  }
  field *fields = ARENA_ARRAY(w->memory, field, count);
  if (fields == NULL) {
    return no_memory(w);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(read_field(w, flat_item(w->f, items, i), depth + 1, &fields[i]));
  }
  *ret = fields;
  *ret_count = count;
  return GLV_OK;
}

static glv_status read_type(walk *w, size_t at, unsigned depth, const type **ret) {
  const uint8_t kind = flat_u8(w->f, at, FIELD_TYPE_TYPE);
  const size_t encoding = flat_table(w->f, at, FIELD_DICTIONARY);
  type *t = ARENA_NEW(w->memory, type);
  field *children;
  if (t == NULL) {
    return no_memory(w);
  }
  TRY(read_kind(w, kind, flat_table(w->f, at, FIELD_TYPE), t));
  if (encoding != 0) {
    TRY(add_dictionary(w, encoding));
  }
  TRY(read_fields(w, at, FIELD_CHILDREN, depth, &children, &t->child_count));
  t->children = children;
  TRY(check_children(w, t));
  *ret = t;
  return encoding != 0 ? wrap_dictionary(w, encoding, t, ret) : GLV_OK;
}

/* Recursion ends at the depth limit, and at the first reference that leads nowhere. */
static glv_status read_field(walk *w, size_t at, unsigned depth, field *ret) {
  str name = flat_string(w->f, at, FIELD_NAME);
  if (w->f->bad) {
    return corrupt(w, "a reference points outside of the message");
  }
  if (depth > LIMIT_TYPE_DEPTH) {
    return FAIL(w->err, GLV_E_LIMIT, "column '%s': types nest deeper than %d levels", w->column,
                LIMIT_TYPE_DEPTH);
  }
  if (++w->fields > LIMIT_FIELDS) {
    return FAIL(w->err, GLV_E_LIMIT, "a schema has more than %d fields", LIMIT_FIELDS);
  }
  if (!str_is_utf8(name) || (name.size != 0 && memchr(name.data, 0, name.size) != NULL)) {
    return corrupt(w, "a name is not text");
  }
  TRY(copy_text(w, name, &name));
  w->column = depth == 1 ? name.data : w->column;
  field f = {.name = name.data, .nullable = flat_u8(w->f, at, FIELD_NULLABLE) != 0};
  TRY(read_type(w, at, depth, &f.type));
  TRY(read_metadata(w, at, FIELD_METADATA, &f.metadata));
  *ret = f;
  return GLV_OK;
}

/* Give the dictionaries the types of the finished schema, in the order in which they were found. */
static void bind_type(ipc_dictionaries *d, const type *t, size_t *at) {
  ipc_dictionary *mine = t->kind == TYPE_DICTIONARY ? &d->items[(*at)++] : NULL;
  const size_t first = *at;
  for (size_t i = 0; i < t->child_count; i++) {
    bind_type(d, t->children[i].type, at);
  }
  if (mine != NULL) {
    mine->values_type = t->children[0].type;
    mine->inside = *at - first;
  }
}

static str id_key(const int64_t *id) { return str_slice((const char *)id, sizeof *id); }

ipc_dictionary *ipc_dictionary_find(const ipc_dictionaries *d, int64_t id) {
  const uint64_t *slot = map_get(&d->by_id, id_key(&id));
  return slot != NULL ? &d->items[*slot] : NULL;
}

/* One id may stand in several places, for values of one type. */
static glv_status bind_dictionaries(walk *w, const schema *s) {
  ipc_dictionaries *d = w->dictionaries;
  size_t at = 0;
  for (size_t i = 0; i < s->field_count; i++) {
    bind_type(d, s->fields[i].type, &at);
  }
  map_init(&d->by_id, w->env);
  for (size_t i = 0; i < d->count; i++) {
    uint64_t *slot;
    bool is_new;
    TRY(map_put(&d->by_id, id_key(&d->items[i].id), &slot, &is_new, w->err));
    *slot = is_new ? i : *slot;
    d->items[i].first = (size_t)*slot;
    if (!type_equal(d->items[*slot].values_type, d->items[i].values_type)) {
      return corrupt(w, "one dictionary stands for values of two types");
    }
  }
  return GLV_OK;
}

glv_status ipc_as_corrupt(glv_status status, glv_error *err) {
  if (status != GLV_E_INVALID_INPUT) {
    return status;
  }
  if (err != NULL) {
    err->code = GLV_E_CORRUPT;
  }
  return GLV_E_CORRUPT;
}

glv_status ipc_read_schema(glv_env *env, flat *f, size_t table, schema **ret,
                           ipc_dictionaries *ret_dictionaries, glv_error *err) {
  CLEANUP(arena_dispose) arena memory;
  CLEANUP(schema_cleanup) schema *s = NULL;
  walk w = {.env = env,
            .memory = &memory,
            .f = f,
            .column = "",
            .dictionaries = ret_dictionaries,
            .err = err};
  field *fields;
  size_t count;
  metadata m;
  arena_init(&memory, env);
  if (flat_i16(f, table, SCHEMA_ENDIANNESS) != 0) {
    return FAIL(err, GLV_E_UNSUPPORTED, "Arrow IPC data in big-endian byte order");
  }
  TRY(read_fields(&w, table, SCHEMA_FIELDS, 0, &fields, &count));
  w.column = "";
  TRY(read_metadata(&w, table, SCHEMA_METADATA, &m));
  if (f->bad) {
    return corrupt(&w, "a reference points outside of the message");
  }
  TRY(schema_new(env, fields, count, m, &s, err));
  TRY(bind_dictionaries(&w, s));
  *ret = s;
  s = NULL;
  return GLV_OK;
}

void ipc_dictionaries_free(glv_env *env, ipc_dictionaries *d) {
  for (size_t i = 0; i < d->count; i++) {
    array_unref(&d->items[i].current);
  }
  mem_free(env, d->items);
  if (d->by_id.env != NULL) {
    map_dispose(&d->by_id);
  }
  *d = (ipc_dictionaries){0};
}
