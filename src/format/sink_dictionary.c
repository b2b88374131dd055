/*
 * Columns of a dictionary type. Every page has a dictionary of its own; a read collects their
 * values, and numbers rows by the place of their value among all of them. In the end the numbers
 * become indices of the type; when there are more values than the type can count, equal ones are
 * merged.
 */
#include "base/hash.h"
#include "format/page.h"
#include "format/sink_private.h"

void sink_dispose_dictionary(sink *s) {
  for (size_t i = 0; i < s->values_count; i++) {
    array_unref(&s->values_of_pages[i]);
  }
  mem_free(s->env, s->values_of_pages);
  s->values_of_pages = NULL;
  s->values_count = 0;
}

static glv_status add_values(sink *s, const dictionary *t, glv_error *err) {
  if (s->dictionary == t) {
    return GLV_OK;
  }
  if (t->count > UINT32_MAX - s->values_total) {
    return FAIL(err, GLV_E_LIMIT, "column '%s': too many dictionary values for one read",
                s->f->name);
  }
  TRY(vec_reserve(s->env, &s->values_of_pages, &s->values_capacity, s->values_count + 1,
                  sizeof *s->values_of_pages, err));
  array *to = &s->values_of_pages[s->values_count];
  *to = (array){0};
  TRY(dictionary_values(s->env, t, &s->f->type->children[0], to, err));
  s->values_count++;
  s->values_base = s->values_total;
  s->values_total += t->count;
  s->dictionary = t;
  return GLV_OK;
}

glv_status sink_numbers(sink *s, const dictionary *t, const uint32_t *numbers, size_t count,
                        glv_error *err) {
  TRY(add_values(s, t, err));
  uint32_t *to = (uint32_t *)(void *)sink_next(s);
  const uint32_t base = (uint32_t)s->values_base;
  const uint32_t empty = (uint32_t)t->count;
  for (size_t i = 0; i < count; i++) {
    to[i] = numbers[i] == empty ? 0 : numbers[i] + base;
  }
  return GLV_OK;
}

/* ---- too many values ---- */

static str value_bytes(const array *a, size_t i, char *bit) {
  const size_t width = type_width(a->type);
  if (width != 0) {
    return str_slice((const char *)a->values + i * width, width);
  }
  if (a->type->kind == TYPE_BOOL) {
    *bit = (char)array_bool(a, i);
    return str_slice(bit, 1);
  }
  return array_str(a, i);
}

/* Keep one of equal values; numbers[i] becomes the new number of value i. */
static glv_status merge_values(glv_env *env, array *values, uint32_t *numbers, glv_error *err) {
  CLEANUP(map_dispose) map seen;
  CLEANUP(array_unref) array merged = {0};
  map_init(&seen, env);
  uint32_t *kept = mem_alloc(env, (values->length + 1) * sizeof *kept);
  glv_status status = kept != NULL ? GLV_OK : error_nomem(err, values->length * sizeof *kept);
  size_t count = 0;
  for (uint32_t i = 0; status == GLV_OK && i < values->length; i++) {
    char bit = 0;
    uint64_t *at = NULL;
    bool is_new = false;
    status = map_put(&seen, value_bytes(values, i, &bit), &at, &is_new, err);
    if (status == GLV_OK && is_new) {
      *at = count;
      kept[count++] = i;
    }
    numbers[i] = status == GLV_OK ? (uint32_t)*at : 0;
  }
  if (status == GLV_OK) {
    status = array_take(env, values, kept, count, &merged, err);
  }
  mem_free(env, kept);
  TRY(status);
  array_unref(values);
  *values = merged;
  merged = (array){0};
  return GLV_OK;
}

static glv_status fit_values(sink *s, array *values, glv_error *err) {
  const uint64_t limit = type_integer_max(s->f->type->index);
  if (values->length == 0 || values->length - 1 <= limit) {
    return GLV_OK;
  }
  uint32_t *numbers = mem_alloc(s->env, values->length * sizeof *numbers);
  if (numbers == NULL) {
    return error_nomem(err, values->length * sizeof *numbers);
  }
  glv_status status = merge_values(s->env, values, numbers, err);
  uint32_t *rows = (uint32_t *)(void *)s->values->data;
  for (size_t i = 0; status == GLV_OK && i < s->filled; i++) {
    rows[i] = numbers[rows[i]];
  }
  mem_free(s->env, numbers);
  TRY(status);
  return values->length - 1 <= limit
             ? GLV_OK
             : FAIL(err, GLV_E_LIMIT, "column '%s': %zu dictionary values for an index of type %s",
                    s->f->name, values->length, TYPE_TEXT(type_simple(s->f->type->index)));
}

/* ---- the array ---- */

#define DEFINE_NARROW(T)                                                                           \
  static void narrow##T(const uint32_t *restrict from, size_t count, void *restrict to) {          \
    uint##T##_t *out = to;                                                                         \
    for (size_t i = 0; i < count; i++) {                                                           \
      out[i] = (uint##T##_t)from[i];                                                               \
    }                                                                                              \
  }
DEFINE_NARROW(8)
DEFINE_NARROW(16)
DEFINE_NARROW(32)
DEFINE_NARROW(64)

static void narrow(size_t width, const uint32_t *from, size_t count, void *to) {
  switch (width) {
  case 1:
    narrow8(from, count, to);
    break;
  case 2:
    narrow16(from, count, to);
    break;
  case 4:
    narrow32(from, count, to);
    break;
  default: /* 8 */
    narrow64(from, count, to);
    break;
  }
}

static glv_status collect_values(sink *s, array *ret, glv_error *err) {
  if (s->values_count == 0) {
    return array_new_null(s->env, s->f->type->children[0].type, 0, ret, err);
  }
  return array_concat(s->env, s->values_of_pages, s->values_count, ret, err);
}

glv_status sink_finish_dictionary(sink *s, array *a, glv_error *err) {
  const type *t = s->f->type;
  const size_t width = array_value_width(t);
  TRY(array_new_children(s->env, 1, a, err));
  TRY(collect_values(s, &a->children[0], err));
  if (a->children[0].length != 0) { /* without values every row is null */
    TRY(fit_values(s, &a->children[0], err));
  }
  TRY(buffer_new(s->env, s->filled * width, &a->owners[1], err));
  narrow(width, (const uint32_t *)(const void *)s->values->data, s->filled, a->owners[1]->data);
  a->values = a->owners[1]->data;
  return GLV_OK;
}
