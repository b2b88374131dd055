/* Dictionaries: values taken by their indices, and back. What is made of a dictionary is decoded
 * first, so a value that no row refers to is never looked at. */
#include "base/hash.h"
#include "expr/cast_private.h"

static glv_status take_values(glv_env *env, const array *a, array *ret, glv_error *err) {
  const array *values = &a->children[0];
  if (values->length == 0 || a->length == 0) {
    return array_new_null(env, values->type, a->length, ret, err);
  }
  if (values->length > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "a dictionary of more than %u values", UINT32_MAX);
  }
  uint32_t *rows = mem_calloc(env, a->length, sizeof *rows);
  if (rows == NULL) {
    return error_nomem(err, a->length * sizeof *rows);
  }
  for (size_t i = 0; i < a->length; i++) {
    rows[i] = array_is_valid(a, i) ? (uint32_t)array_dictionary_index(a, i) : 0;
  }
  const glv_status status = array_take(env, values, rows, a->length, ret, err);
  mem_free(env, rows);
  return status;
}

glv_status cast_from_dictionary(const cast_job *job, array *ret, glv_error *err) {
  CLEANUP(array_unref) array values = {0};
  TRY(take_values(job->env, job->from, &values, err));
  values.type = job->from->type->children[0].type;
  TRY(kernel_mask(job->env, &values, job->from, err));
  return cast_array(job->env, &values, job->to, job->is_try, ret, err);
}

/* Number of values that indices of a kind can tell apart. */
static uint64_t index_limit(type_kind kind) {
  const size_t bits = 8 * type_width(type_simple(kind)) - (type_is_signed(kind) ? 1 : 0);
  return bits >= 32 ? UINT32_MAX : UINT64_C(1) << bits;
}

static void store_index(void *values, type_kind kind, size_t i, uint64_t index) {
  memcpy((uint8_t *)values + i * type_width(type_simple(kind)), &index,
         type_width(type_simple(kind))); /* little-endian: the low bytes */
}

static str bytes_at(const array *a, size_t i) {
  if (type_offset_width(a->type->kind) != 0) {
    return array_str(a, i);
  }
  if (a->type->kind == TYPE_BOOL) {
    return array_bool(a, i) ? STR("1") : STR("0");
  }
  const size_t width = type_width(a->type);
  return str_slice((const char *)a->values + i * width, width);
}

/* Number the different values; rows gets where each occurs first. */
static glv_status number_values(const cast_job *job, const array *values, array *a, void *indices,
                                uint32_t *rows, size_t *ret_count, glv_error *err) {
  const uint64_t limit = index_limit(job->to->index);
  CLEANUP(map_dispose) map seen;
  map_init(&seen, job->env);
  for (size_t i = 0; i < values->length; i++) {
    uint64_t *number = NULL;
    bool is_new = false;
    uint64_t index = 0;
    if (array_is_valid(values, i)) {
      TRY(map_put(&seen, bytes_at(values, i), &number, &is_new, err));
      if (is_new) {
        *number = seen.count - 1;
        rows[*number] = (uint32_t)i;
      }
      index = *number;
    }
    if (index >= limit) {
      index = 0;
      if (!job->is_try) {
        return FAIL(err, GLV_E_SQL_EXEC, "more than %llu different values do not fit into a %s",
                    (unsigned long long)limit, TYPE_TEXT(job->to));
      }
      TRY(kernel_set_null(job->env, a, i, err));
    }
    store_index(indices, job->to->index, i, index);
  }
  *ret_count = seen.count;
  return GLV_OK;
}

static glv_status encode(const cast_job *job, const array *values, uint32_t *rows, array *ret,
                         glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  void *indices;
  size_t count;
  const operand o = {.a = *values};
  TRY(kernel_begin(job->env, job->to, &o, 1, values->length, &a, &indices, err));
  TRY(array_new_children(job->env, 1, &a, err));
  TRY(number_values(job, values, &a, indices, rows, &count, err));
  TRY(array_take(job->env, values, rows, count, &a.children[0], err));
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

glv_status cast_to_dictionary(const cast_job *job, array *ret, glv_error *err) {
  CLEANUP(array_unref) array values = {0};
  const type *t = job->to->children[0].type;
  TRY(cast_array(job->env, job->from, t, job->is_try, &values, err));
  if (type_offset_width(t->kind) == 0 && type_width(t) == 0 && t->kind != TYPE_BOOL) {
    return FAIL(err, GLV_E_SQL_PLAN, "Unsupported CAST from %s to %s", TYPE_TEXT(job->from->type),
                TYPE_TEXT(job->to));
  }
  uint32_t *rows = mem_calloc(job->env, values.length, sizeof *rows);
  if (rows == NULL) {
    return error_nomem(err, values.length * sizeof *rows);
  }
  const glv_status status = encode(job, &values, rows, ret, err);
  mem_free(job->env, rows);
  return status;
}
