/* Which column of a table holds the vectors, by name or by its type. */
#include "search/column.h"

#include "arrow/type.h"
#include "base/buf.h"
#include "expr/expr.h"

/* ---- types ---- */

static bool element_kind(const field *item, enum vector_kind *ret) {
  switch (item->type->kind) {
  case TYPE_FLOAT16:
    *ret = VECTOR_FLOAT16;
    return true;
  case TYPE_FLOAT32:
    *ret = VECTOR_FLOAT32;
    return true;
  case TYPE_FLOAT64:
    *ret = VECTOR_FLOAT64;
    return true;
  case TYPE_INT8:
    *ret = VECTOR_INT8;
    return true;
  case TYPE_UINT8:
    *ret = VECTOR_UINT8;
    return true;
  case TYPE_FIXED_SIZE_BINARY: { /* floats of 16 bits with the exponent of float32 */
    bool is_extension;
    const str name = metadata_get(item->metadata, STR("ARROW:extension:name"), &is_extension);
    *ret = VECTOR_BFLOAT16;
    return item->type->width == 2 && is_extension && str_is(name, "lance.bfloat16");
  }
  default:
    return false;
  }
}

/* Whether values of the type are vectors, or lists of them. */
static bool read_type(const type *t, vector_column *ret) {
  ret->is_multi = t->kind == TYPE_LIST || t->kind == TYPE_LARGE_LIST;
  const type *vector = ret->is_multi ? t->children[0].type : t;
  if (vector->kind != TYPE_FIXED_SIZE_LIST || vector->width == 0) {
    return false;
  }
  ret->dimension = (size_t)vector->width;
  return element_kind(&vector->children[0], &ret->kind);
}

/* ---- names ---- */

static const field *find_field(const field *fields, size_t count, str name) {
  for (size_t i = 0; i < count; i++) {
    if (str_equal(str_of(fields[i].name), name)) {
      return &fields[i];
    }
  }
  return NULL;
}

/* The part of a path up to the next period, which is taken off. */
static str next_part(str *path) {
  const char *dot = memchr(path->data, '.', path->size);
  const str part = str_slice(path->data, dot != NULL ? (size_t)(dot - path->data) : path->size);
  const size_t taken = part.size + (dot != NULL);
  *path = str_slice(path->data + taken, path->size - taken);
  return part;
}

/* The field that a path such as "meta.vector" names, or NULL, and the path as an expression. */
static glv_status follow(const schema *columns, str path, buf *expression, const field **ret,
                         glv_error *err) {
  const field *fields = columns->fields;
  size_t count = columns->field_count;
  do {
    const str part = next_part(&path);
    *ret = find_field(fields, count, part);
    if (*ret == NULL) {
      return GLV_OK;
    }
    TRY(expression->size > 0 ? buf_append_char(expression, '.', err) : GLV_OK);
    TRY(expr_print_identifier(part, expression, err));
    fields = (*ret)->type->children;
    count = (*ret)->type->kind == TYPE_STRUCT ? (*ret)->type->child_count : 0;
  } while (path.size > 0);
  return GLV_OK;
}

static glv_status find_named(arena *a, const schema *columns, str name, vector_column *ret,
                             glv_error *err) {
  CLEANUP(buf_dispose) buf expression;
  buf_init(&expression, a->env, SIZE_MAX / 2);
  ret->name = name;
  const field *f = find_field(columns->fields, columns->field_count, name);
  if (f == NULL) {
    TRY(follow(columns, name, &expression, &f, err));
    if (f == NULL) {
      return FAIL(err, GLV_E_COLUMN_NOT_FOUND, "there is no column '%.*s' to search in",
                  STR_ARG(name));
    }
    const char *text = arena_strdup(a, buf_str(&expression));
    if (text == NULL) {
      return error_nomem(err, expression.size);
    }
    ret->expression = str_of(text);
  }
  if (!read_type(f->type, ret)) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "column '%.*s' does not hold vectors: it is %s, not a fixed_size_list of float16, "
                "float32, float64, int8 or uint8, nor a list of these",
                STR_ARG(name), TYPE_TEXT(f->type));
  }
  return GLV_OK;
}

static glv_status find_only(const schema *columns, size_t dimension, vector_column *ret,
                            glv_error *err) {
  const char *found = NULL;
  for (size_t i = 0; i < columns->field_count; i++) {
    vector_column c = {.name = str_of(columns->fields[i].name)};
    if (!read_type(columns->fields[i].type, &c) || c.dimension != dimension) {
      continue;
    }
    if (found != NULL) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "more than one vector column has %zu dimensions: '%s', '%s'; name the one to "
                  "search in",
                  dimension, found, columns->fields[i].name);
    }
    found = columns->fields[i].name;
    *ret = c;
  }
  return found != NULL ? GLV_OK
                       : FAIL(err, GLV_E_INVALID_INPUT,
                              "There is no vector column in the data that has %zu dimensions, as "
                              "the query vector does",
                              dimension);
}

glv_status vector_column_find(arena *a, const schema *columns, str name, size_t dimension,
                              vector_column *ret, glv_error *err) {
  *ret = (vector_column){0};
  if (name.size == 0) {
    return find_only(columns, dimension, ret, err);
  }
  TRY(find_named(a, columns, name, ret, err));
  return ret->dimension == dimension
             ? GLV_OK
             : FAIL(err, GLV_E_INVALID_INPUT,
                    "the query vector has %zu dimensions, column '%.*s' has %zu", dimension,
                    STR_ARG(name), ret->dimension);
}

/* ---- metrics ---- */

enum metric vector_column_metric(const vector_column *c) {
  return c->kind == VECTOR_UINT8 ? METRIC_HAMMING : METRIC_L2;
}

glv_status vector_column_check_metric(const vector_column *c, enum metric metric, glv_error *err) {
  const bool is_bits = c->kind == VECTOR_UINT8;
  if (is_bits == (metric == METRIC_HAMMING)) {
    return GLV_OK;
  }
  return FAIL(err, GLV_E_INVALID_INPUT,
              "the distance '%s' is not for the vectors of column '%.*s', which are %s",
              metric_name(metric), STR_ARG(c->name),
              is_bits ? "uint8: use 'hamming'" : "numbers: use 'l2', 'cosine' or 'dot'");
}
