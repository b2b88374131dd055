/*
 * Schemas over the C data interface. Import copies everything; it trusts the pointers that the
 * interface says are valid, and nothing else: format strings, counts, lengths in metadata, nesting
 * and names are checked. Export makes one block a node: the node's strings, its children structs
 * and a reference to the environment, so that children may be moved out and released on their own.
 */
#include <stdio.h>

#include "arrow/cdata.h"
#include "base/limits.h"

typedef struct importer {
  glv_env *env;
  arena *memory;
  const char *column; /* top-level column that is being read */
  size_t fields;      /* seen so far */
  glv_error *err;
} importer;

static glv_status malformed(const importer *in, const char *what) {
  return FAIL(in->err, GLV_E_INVALID_INPUT, "malformed Arrow schema: column '%s': %s", in->column,
              what);
}

static glv_status no_memory(const importer *in) { return error_nomem(in->err, sizeof(type)); }

static glv_status unsupported(const importer *in, const char *name) {
  return FAIL(
      in->err, GLV_E_UNSUPPORTED,
      "column '%s' has type %s, which is not supported; cast it to another type or leave it out",
      in->column, name);
}

typedef struct format_kind {
  const char *format;
  type_kind kind;
} format_kind;

/* Formats without parameters. */
static const format_kind simple_formats[] = {
    {"n", TYPE_NULL},         {"b", TYPE_BOOL},
    {"c", TYPE_INT8},         {"C", TYPE_UINT8},
    {"s", TYPE_INT16},        {"S", TYPE_UINT16},
    {"i", TYPE_INT32},        {"I", TYPE_UINT32},
    {"l", TYPE_INT64},        {"L", TYPE_UINT64},
    {"e", TYPE_FLOAT16},      {"f", TYPE_FLOAT32},
    {"g", TYPE_FLOAT64},      {"z", TYPE_BINARY},
    {"Z", TYPE_LARGE_BINARY}, {"vz", TYPE_BINARY_VIEW},
    {"u", TYPE_UTF8},         {"U", TYPE_LARGE_UTF8},
    {"vu", TYPE_UTF8_VIEW},   {"tdD", TYPE_DATE32},
    {"tdm", TYPE_DATE64},     {"tin", TYPE_INTERVAL_MONTH_DAY_NANO},
};

/* Types of Arrow that have no type_kind. */
static const struct {
  const char *prefix;
  const char *name;
} other_formats[] = {
    {"+ud:", "dense_union"},      {"+us:", "sparse_union"},   {"+r", "run_end_encoded"},
    {"+vl", "list_view"},         {"+vL", "large_list_view"}, {"tiM", "month_interval"},
    {"tiD", "day_time_interval"},
};

static const char *simple_format(type_kind kind) {
  for (size_t i = 0; i < sizeof simple_formats / sizeof simple_formats[0]; i++) {
    if (simple_formats[i].kind == kind) {
      return simple_formats[i].format;
    }
  }
  return NULL;
}

static bool starts(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool parse_unit(char c, time_unit *ret) {
  static const char units[] = "smun";
  for (unsigned i = 0; i < 4; i++) {
    if (units[i] == c) {
      *ret = (time_unit)i;
      return true;
    }
  }
  return false;
}

/* A decimal number at *text, which is moved behind it. */
static bool parse_int(const char **text, int32_t *ret) {
  const char *p = *text;
  const bool negative = *p == '-';
  int64_t value = 0;
  p += negative ? 1 : 0;
  const char *digits = p;
  while (*p >= '0' && *p <= '9' && value <= INT32_MAX) {
    value = value * 10 + (*p++ - '0');
  }
  *text = p;
  *ret = (int32_t)(negative ? -value : value);
  return p != digits && value <= INT32_MAX;
}

static glv_status parse_decimal(const importer *in, const char *p, const type **ret) {
  int32_t precision;
  int32_t scale;
  int32_t bits = 128;
  bool ok = parse_int(&p, &precision) && *p++ == ',' && parse_int(&p, &scale);
  if (ok && *p == ',') {
    p++;
    ok = parse_int(&p, &bits);
  }
  if (!ok || *p != '\0' || scale < INT8_MIN || scale > INT8_MAX) {
    return malformed(in, "bad decimal format");
  }
  if (bits == 32 || bits == 64) {
    return unsupported(in, bits == 32 ? "decimal32" : "decimal64");
  }
  if ((bits != 128 && bits != 256) || precision < 1 || precision > (bits == 128 ? 38 : 76)) {
    return malformed(in, "bad decimal format");
  }
  *ret =
      type_decimal(in->memory, bits == 128 ? TYPE_DECIMAL128 : TYPE_DECIMAL256, precision, scale);
  return *ret != NULL ? GLV_OK : no_memory(in);
}

/* Formats that begin with t and have a unit. */
static glv_status parse_time(const importer *in, const char *format, const type **ret) {
  time_unit unit;
  if (format[1] == '\0' || !parse_unit(format[2], &unit)) {
    return malformed(in, "unknown format string");
  }
  const char *rest = format + 3;
  if (format[1] == 's' && *rest == ':') {
    if (!str_is_utf8(str_of(rest + 1))) {
      return malformed(in, "the time zone is not UTF-8");
    }
    *ret = type_timestamp(in->memory, unit, rest[1] != '\0' ? rest + 1 : NULL);
  } else if (format[1] == 'D' && *rest == '\0') {
    *ret = type_with_unit(in->memory, TYPE_DURATION, unit);
  } else if (format[1] == 't' && *rest == '\0') {
    const type_kind kind = unit <= UNIT_MILLI ? TYPE_TIME32 : TYPE_TIME64;
    *ret = type_with_unit(in->memory, kind, unit);
  } else {
    return malformed(in, "unknown format string");
  }
  return *ret != NULL ? GLV_OK : no_memory(in);
}

static glv_status parse_width(const importer *in, const char *p, int32_t *ret) {
  if (!parse_int(&p, ret) || *p != '\0' || *ret < 0) {
    return malformed(in, "bad size in the format string");
  }
  return GLV_OK;
}

static glv_status parse_flat(const importer *in, const char *format, const type **ret) {
  for (size_t i = 0; i < sizeof simple_formats / sizeof simple_formats[0]; i++) {
    if (strcmp(simple_formats[i].format, format) == 0) {
      *ret = type_simple(simple_formats[i].kind);
      return GLV_OK;
    }
  }
  for (size_t i = 0; i < sizeof other_formats / sizeof other_formats[0]; i++) {
    if (starts(format, other_formats[i].prefix)) {
      return unsupported(in, other_formats[i].name);
    }
  }
  if (starts(format, "d:")) {
    return parse_decimal(in, format + 2, ret);
  }
  if (starts(format, "w:")) {
    int32_t width;
    TRY(parse_width(in, format + 2, &width));
    *ret = type_fixed_size_binary(in->memory, width);
    return *ret != NULL ? GLV_OK : no_memory(in);
  }
  if (format[0] == 't') {
    return parse_time(in, format, ret);
  }
  return malformed(in, "unknown format string");
}

static glv_status import_field(importer *in, const struct ArrowSchema *s, unsigned depth,
                               field *ret);

static glv_status import_children(importer *in, const struct ArrowSchema *s, unsigned depth,
                                  field **ret) {
  if (s->n_children < 0 || (s->n_children > 0 && s->children == NULL)) {
    return malformed(in, "bad list of children");
  }
  if ((uint64_t)s->n_children > LIMIT_FIELDS) {
    return FAIL(in->err, GLV_E_LIMIT, "a schema has more than %d fields", LIMIT_FIELDS);
  }
  field *fields = ARENA_ARRAY(in->memory, field, (size_t)s->n_children);
  if (fields == NULL) {
    return no_memory(in);
  }
  for (int64_t i = 0; i < s->n_children; i++) {
    if (depth == 0) {
      in->column =
          s->children[i] != NULL && s->children[i]->name != NULL ? s->children[i]->name : "";
    }
    TRY(import_field(in, s->children[i], depth + 1, &fields[i]));
  }
  *ret = fields;
  return GLV_OK;
}

static bool is_map_entries(const field *f) {
  return f->type->kind == TYPE_STRUCT && f->type->child_count == 2;
}

static glv_status import_nested(importer *in, const struct ArrowSchema *s, unsigned depth,
                                const type **ret) {
  type t = {.kind = TYPE_NONE};
  field *children = NULL;
  const char *format = s->format;
  if (starts(format, "+w:")) {
    t.kind = TYPE_FIXED_SIZE_LIST;
    TRY(parse_width(in, format + 3, &t.width));
  } else {
    t.kind = strcmp(format, "+l") == 0   ? TYPE_LIST
             : strcmp(format, "+L") == 0 ? TYPE_LARGE_LIST
             : strcmp(format, "+m") == 0 ? TYPE_MAP
             : strcmp(format, "+s") == 0 ? TYPE_STRUCT
                                         : TYPE_NONE;
  }
  if (t.kind == TYPE_NONE) {
    return parse_flat(in, format, ret); /* tells the unsupported from the unknown */
  }
  TRY(import_children(in, s, depth, &children));
  if (t.kind != TYPE_STRUCT && s->n_children != 1) {
    return malformed(in, "a list or map needs exactly one child");
  }
  if (t.kind == TYPE_MAP && !is_map_entries(&children[0])) {
    return malformed(in, "the child of a map is not a struct of key and value");
  }
  t.flag = t.kind == TYPE_MAP && (s->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0;
  t.children = children;
  t.child_count = (size_t)s->n_children;
  type *kept = ARENA_NEW(in->memory, type);
  if (kept == NULL) {
    return no_memory(in);
  }
  *kept = t;
  *ret = kept;
  return GLV_OK;
}

static glv_status import_type(importer *in, const struct ArrowSchema *s, unsigned depth,
                              const type **ret) {
  if (s->format[0] == '+') {
    return import_nested(in, s, depth, ret);
  }
  if (s->n_children != 0) {
    return malformed(in, "a type that is not nested has children");
  }
  return parse_flat(in, s->format, ret);
}

static glv_status import_dictionary(importer *in, const struct ArrowSchema *s, unsigned depth,
                                    const type **type_of) {
  field value;
  if (!type_is_integer((*type_of)->kind)) {
    return malformed(in, "dictionary indices are not integers");
  }
  TRY(import_field(in, s->dictionary, depth + 1, &value));
  type *t = ARENA_NEW(in->memory, type);
  field *values = ARENA_NEW(in->memory, field);
  if (t == NULL || values == NULL) {
    return no_memory(in);
  }
  *values = (field){.name = "", .type = value.type, .nullable = true};
  *t = (type){.kind = TYPE_DICTIONARY,
              .index = (*type_of)->kind,
              .flag = (s->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0,
              .children = values,
              .child_count = 1};
  *type_of = t;
  return GLV_OK;
}

/* A number of the metadata block; the block has no alignment. */
static bool read_length(const char **at, size_t *ret) {
  const int32_t value = (int32_t)load_le32(*at);
  *at += 4;
  *ret = (size_t)value;
  return value >= 0 && (uint32_t)value <= LIMIT_JSON_BYTES;
}

static glv_status read_text(const importer *in, const char **at, str *ret) {
  size_t size;
  if (!read_length(at, &size)) {
    return malformed(in, "bad metadata");
  }
  const char *copy = arena_strdup(in->memory, str_slice(*at, size));
  *at += size;
  *ret = str_slice(copy, size);
  return copy != NULL ? GLV_OK : no_memory(in);
}

static glv_status import_metadata(importer *in, const char *block, metadata *ret) {
  size_t count;
  if (block == NULL) {
    *ret = (metadata){0};
    return GLV_OK;
  }
  if (!read_length(&block, &count) || count > LIMIT_FIELDS) {
    return malformed(in, "bad metadata");
  }
  pair *pairs = ARENA_ARRAY(in->memory, pair, count);
  if (pairs == NULL) {
    return no_memory(in);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(read_text(in, &block, &pairs[i].key));
    TRY(read_text(in, &block, &pairs[i].value));
  }
  *ret = (metadata){pairs, count};
  return GLV_OK;
}

static glv_status check_node(importer *in, const struct ArrowSchema *s, unsigned depth) {
  if (s == NULL || s->release == NULL || s->format == NULL) {
    return malformed(in, "a field is missing or was released");
  }
  if (depth > LIMIT_TYPE_DEPTH) {
    return FAIL(in->err, GLV_E_LIMIT, "column '%s': types nest deeper than %d levels", in->column,
                LIMIT_TYPE_DEPTH);
  }
  if (++in->fields > LIMIT_FIELDS) {
    return FAIL(in->err, GLV_E_LIMIT, "a schema has more than %d fields", LIMIT_FIELDS);
  }
  if (s->name != NULL && !str_is_utf8(str_of(s->name))) {
    return FAIL(in->err, GLV_E_INVALID_INPUT, "malformed Arrow schema: a name is not UTF-8");
  }
  return GLV_OK;
}

static glv_status import_field(importer *in, const struct ArrowSchema *s, unsigned depth,
                               field *ret) {
  TRY(check_node(in, s, depth));
  field f = {.nullable = (s->flags & ARROW_FLAG_NULLABLE) != 0};
  TRY(import_type(in, s, depth, &f.type));
  if (s->dictionary != NULL) {
    TRY(import_dictionary(in, s, depth, &f.type));
  }
  TRY(import_metadata(in, s->metadata, &f.metadata));
  f.name = arena_strdup(in->memory, str_of(s->name != NULL ? s->name : ""));
  *ret = f;
  return f.name != NULL ? GLV_OK : no_memory(in);
}

glv_status cdata_import_schema(glv_env *env, const struct ArrowSchema *in, schema **ret,
                               glv_error *err) {
  CLEANUP(arena_dispose) arena memory;
  arena_init(&memory, env);
  importer i = {.env = env, .memory = &memory, .column = "", .err = err};
  field *fields;
  metadata m;
  if (in == NULL || in->release == NULL || in->format == NULL || strcmp(in->format, "+s") != 0 ||
      in->dictionary != NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "malformed Arrow schema: not a struct of columns");
  }
  TRY(import_children(&i, in, 0, &fields));
  i.column = "";
  TRY(import_metadata(&i, in->metadata, &m));
  return schema_new(env, fields, (size_t)in->n_children, m, ret, err);
}

/* Export. */

struct exported {
  glv_env *env; /* a reference */
  char *format;
  char *name;
  char *metadata;
  struct ArrowSchema dictionary;
  struct ArrowSchema **pointers;
  struct ArrowSchema *children;
};

static void release_schema(struct ArrowSchema *s) {
  struct exported *e = s->private_data;
  for (int64_t i = 0; i < s->n_children; i++) {
    if (e->children[i].release != NULL) {
      e->children[i].release(&e->children[i]);
    }
  }
  if (e->dictionary.release != NULL) {
    e->dictionary.release(&e->dictionary);
  }
  glv_env *env = e->env;
  mem_free(env, e->format);
  mem_free(env, e->name);
  mem_free(env, e->metadata);
  mem_free(env, e->pointers);
  mem_free(env, e->children);
  mem_free(env, e);
  s->release = NULL;
  env_unref(env);
}

static const char *format_of(const type *t, char *text, size_t size) {
  static const char units[] = "smun";
  const char unit = units[t->unit];
  switch (t->kind) {
  case TYPE_UTF8_VIEW:
    return "u";
  case TYPE_BINARY_VIEW:
    return "z";
  case TYPE_DECIMAL128:
    snprintf(text, size, "d:%d,%d", t->precision, t->scale);
    return text;
  case TYPE_DECIMAL256:
    snprintf(text, size, "d:%d,%d,256", t->precision, t->scale);
    return text;
  case TYPE_TIME32:
  case TYPE_TIME64:
    snprintf(text, size, "tt%c", unit);
    return text;
  case TYPE_DURATION:
    snprintf(text, size, "tD%c", unit);
    return text;
  case TYPE_TIMESTAMP:
    snprintf(text, size, "ts%c:%s", unit, t->timezone != NULL ? t->timezone : "");
    return text;
  case TYPE_FIXED_SIZE_BINARY:
    snprintf(text, size, "w:%d", t->width);
    return text;
  case TYPE_FIXED_SIZE_LIST:
    snprintf(text, size, "+w:%d", t->width);
    return text;
  case TYPE_DICTIONARY:
    return simple_format(t->index);
  case TYPE_LIST:
    return "+l";
  case TYPE_LARGE_LIST:
    return "+L";
  case TYPE_STRUCT:
    return "+s";
  case TYPE_MAP:
    return "+m";
  default: /* the types without parameters */
    return simple_format(t->kind);
  }
}

static char *copy_text(glv_env *env, const char *text) {
  return mem_strndup(env, text, strlen(text));
}

static glv_status copy_format(struct exported *e, const type *t, glv_error *err) {
  const size_t size = 64 + (t->timezone != NULL ? strlen(t->timezone) : 0);
  char *text = mem_alloc(e->env, size);
  if (text == NULL) {
    return error_nomem(err, size);
  }
  const char *format = format_of(t, text, size);
  if (format != text) {
    mem_free(e->env, text);
    text = format != NULL ? copy_text(e->env, format) : NULL;
  }
  e->format = text;
  if (format == NULL) {
    return FAIL(err, GLV_E_INTERNAL, "a column without a type cannot be handed out");
  }
  return text != NULL ? GLV_OK : error_nomem(err, size);
}

static glv_status append_text(buf *b, str text, glv_error *err) {
  const int32_t size = (int32_t)text.size;
  TRY(buf_append(b, &size, 4, err));
  return buf_append_str(b, text, err);
}

static glv_status copy_metadata(struct exported *e, metadata m, glv_error *err) {
  CLEANUP(buf_dispose) buf b;
  buf_init(&b, e->env, INT32_MAX);
  const int32_t count = (int32_t)m.count;
  if (m.count == 0) {
    return GLV_OK;
  }
  TRY(buf_append(&b, &count, 4, err));
  for (size_t i = 0; i < m.count; i++) {
    TRY(append_text(&b, m.pairs[i].key, err));
    TRY(append_text(&b, m.pairs[i].value, err));
  }
  e->metadata = buf_detach(&b);
  return GLV_OK;
}

static glv_status export_field(glv_env *env, const field *f, struct ArrowSchema *ret,
                               glv_error *err);

static glv_status export_children(struct exported *e, const type *t, struct ArrowSchema *s,
                                  glv_error *err) {
  e->children = mem_calloc(e->env, t->child_count, sizeof *e->children);
  e->pointers = mem_calloc(e->env, t->child_count, sizeof *e->pointers);
  if (e->children == NULL || e->pointers == NULL) {
    return error_nomem(err, t->child_count * sizeof *e->children);
  }
  s->children = e->pointers;
  s->n_children = (int64_t)t->child_count;
  for (size_t i = 0; i < t->child_count; i++) {
    e->pointers[i] = &e->children[i];
    TRY(export_field(e->env, &t->children[i], &e->children[i], err));
  }
  return GLV_OK;
}

static glv_status fill_schema(struct exported *e, const field *f, struct ArrowSchema *s,
                              glv_error *err) {
  const type *t = f->type;
  TRY(copy_format(e, t, err));
  TRY(copy_metadata(e, f->metadata, err));
  e->name = copy_text(e->env, f->name);
  if (e->name == NULL) {
    return error_nomem(err, strlen(f->name));
  }
  s->format = e->format;
  s->name = e->name;
  s->metadata = e->metadata;
  s->flags = f->nullable ? ARROW_FLAG_NULLABLE : 0;
  if (t->kind == TYPE_DICTIONARY) {
    s->flags |= t->flag ? ARROW_FLAG_DICTIONARY_ORDERED : 0;
    TRY(export_field(e->env, &t->children[0], &e->dictionary, err));
    s->dictionary = &e->dictionary;
    return GLV_OK;
  }
  s->flags |= t->kind == TYPE_MAP && t->flag ? ARROW_FLAG_MAP_KEYS_SORTED : 0;
  return export_children(e, t, s, err);
}

static glv_status export_field(glv_env *env, const field *f, struct ArrowSchema *ret,
                               glv_error *err) {
  struct exported *e = mem_zalloc(env, sizeof *e);
  if (e == NULL) {
    return error_nomem(err, sizeof *e);
  }
  e->env = env_ref(env);
  *ret = (struct ArrowSchema){.release = release_schema, .private_data = e};
  const glv_status status = fill_schema(e, f, ret, err);
  if (status != GLV_OK) {
    ret->release(ret);
  }
  return status;
}

glv_status cdata_export_schema(glv_env *env, const schema *s, struct ArrowSchema *ret,
                               glv_error *err) {
  const type columns = {.kind = TYPE_STRUCT, .children = s->fields, .child_count = s->field_count};
  const field top = {.name = "", .type = &columns, .metadata = s->metadata};
  struct ArrowSchema made;
  TRY(export_field(env, &top, &made, err));
  *ret = made;
  return GLV_OK;
}
