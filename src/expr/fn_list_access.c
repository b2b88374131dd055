/* Parts of lists by place (sql-expressions section 12): array_element, array_slice,
 * array_pop_back, array_pop_front, array_any_value, array_reverse. Places count from 1, or from the
 * end when negative. */
#include "expr/function_private.h"
#include "expr/lists.h"

/* A list of 32-bit offsets takes no index beyond them. */
static glv_status check_index(const function_frame *f, const lists *l, int64_t index,
                              glv_error *err) {
  if (l->narrow == NULL || (index >= INT32_MIN && index <= INT32_MAX)) {
    return GLV_OK;
  }
  return FAIL(err, GLV_E_SQL_EXEC, "%.*s got invalid index: %lld", STR_ARG(f->binding->name),
              (long long)index);
}

/* ---- one item of each list ---- */

/* The place of the item in a list of `count`, or SIZE_MAX. */
static size_t element_at(int64_t index, size_t count) {
  const int64_t size = (int64_t)count;
  if (index > 0 && index <= size) {
    return (size_t)index - 1;
  }
  return index < 0 && index >= -size ? (size_t)(index + size) : SIZE_MAX;
}

/* Item picks[i] of each row; ITEM_NULL = none. */
static glv_status take_picks(const function_frame *f, const array *items, buffer *picks,
                             size_t rows, array *ret, glv_error *err) {
  return lists_take(f->env, items, (uint32_t *)(void *)picks->data, rows, true, f->binding->result,
                    ret, err);
}

static glv_status new_picks(const function_frame *f, const lists *l, size_t rows, buffer **ret,
                            glv_error *err) {
  TRY(lists_check_items(l->items, err));
  return buffer_new(f->env, rows * sizeof(uint32_t), ret, err);
}

static glv_status array_element(const function_frame *f, const operand *arguments, size_t rows,
                                array *ret, glv_error *err) {
  if (arguments[0].a.type->kind == TYPE_NULL) {
    return array_new_null(f->env, f->binding->result, rows, ret, err);
  }
  const lists l = lists_of(&arguments[0]);
  const operand *index = &arguments[1];
  CLEANUP(buffer_cleanup) buffer *chosen = NULL;
  TRY(new_picks(f, &l, rows, &chosen, err));
  uint32_t *picks = (uint32_t *)(void *)chosen->data;
  for (size_t i = 0; i < rows; i++) {
    size_t at = SIZE_MAX;
    const span s = lists_at(&l, i);
    if (lists_is_valid(&l, i) && operand_is_valid(index, i)) {
      const int64_t wanted = OPERAND_VALUE(index, int64_t, i);
      TRY(check_index(f, &l, wanted, err));
      at = element_at(wanted, s.count);
    }
    picks[i] = at != SIZE_MAX ? (uint32_t)(s.first + at) : ITEM_NULL;
  }
  return take_picks(f, l.items, chosen, rows, ret, err);
}

static glv_status bind_element(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_lists(b, "ai", false, err));
  b->result = bind_is_null(b, 0) ? type_simple(TYPE_NULL) : list_item(b->targets[0]);
  return GLV_OK;
}

/* The first item that is not null. */
static glv_status array_any_value(const function_frame *f, const operand *arguments, size_t rows,
                                  array *ret, glv_error *err) {
  const lists l = lists_of(&arguments[0]);
  CLEANUP(buffer_cleanup) buffer *chosen = NULL;
  TRY(new_picks(f, &l, rows, &chosen, err));
  uint32_t *picks = (uint32_t *)(void *)chosen->data;
  for (size_t i = 0; i < rows; i++) {
    const span s = lists_at(&l, i);
    picks[i] = ITEM_NULL;
    for (size_t k = 0; lists_is_valid(&l, i) && k < s.count; k++) {
      if (array_is_valid(l.items, s.first + k)) {
        picks[i] = (uint32_t)(s.first + k);
        break;
      }
    }
  }
  return take_picks(f, l.items, chosen, rows, ret, err);
}

/* ---- slices ---- */

/* Items from, from + stride, ..., to of a list; `is_empty` when there are none. */
typedef struct range {
  int64_t from;
  int64_t to;
  int64_t stride;
  bool is_empty;
} range;

/* Places outside of the list: the first is drawn in, the last only at the end. */
static range slice_range(int64_t from, int64_t to, int64_t stride, size_t count) {
  const int64_t size = (int64_t)count;
  if (from < 0) {
    from = from < -size ? 0 : from + size;
  } else {
    from = from == 0 ? 0 : from - 1;
  }
  if (to < 0) {
    to = to < -size ? -1 : to + size;
  } else {
    to = to > size ? size - 1 : to - 1;
  }
  const bool inside = from < size && to >= 0;
  const bool runs = stride > 0 ? from <= to : from >= to;
  return (range){from, to, stride, !inside || !runs};
}

static size_t range_size(const range *r) {
  if (r->is_empty) {
    return 0;
  }
  const uint64_t distance =
      r->stride > 0 ? (uint64_t)(r->to - r->from) : (uint64_t)(r->from - r->to);
  const uint64_t step = r->stride > 0 ? (uint64_t)r->stride : 0 - (uint64_t)r->stride;
  return (size_t)(distance / step) + 1;
}

static glv_status pick_range(list_builder *b, const range *r, size_t first, glv_error *err) {
  const size_t size = range_size(r);
  TRY(list_builder_reserve(b, size, err));
  if (r->stride == 1) {
    list_builder_pick_span(b, first + (size_t)r->from, size);
    return GLV_OK;
  }
  for (size_t k = 0; k < size; k++) {
    list_builder_pick(b, (uint32_t)(first + (size_t)(r->from + (int64_t)k * r->stride)));
  }
  return GLV_OK;
}

/* Start a result of the type of the argument. */
static glv_status begin(const function_frame *f, const lists *l, size_t rows, list_builder *b,
                        glv_error *err) {
  TRY(list_builder_init(b, f->env, f->binding->result, rows, err));
  return list_builder_source(b, l->items, err);
}

static glv_status read_range(const function_frame *f, const lists *l, const operand *arguments,
                             size_t i, size_t count, range *ret, glv_error *err) {
  const int64_t from = OPERAND_VALUE(&arguments[1], int64_t, i);
  const int64_t to = OPERAND_VALUE(&arguments[2], int64_t, i);
  const int64_t stride = f->binding->count == 4 ? OPERAND_VALUE(&arguments[3], int64_t, i) : 1;
  TRY(check_index(f, l, from, err));
  TRY(check_index(f, l, to, err));
  *ret = slice_range(from, to, stride, count);
  if (stride == 0 && ret->from < (int64_t)count && ret->to >= 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "array_slice got invalid stride: 0, it cannot be 0");
  }
  return GLV_OK;
}

/* A null row holds one null item, which array_append keeps. */
static glv_status end_null_slice(list_builder *b, glv_error *err) {
  TRY(list_builder_reserve(b, 1, err));
  list_builder_pick_nulls(b, 1);
  return list_builder_end_null(b, err);
}

static glv_status array_slice_kernel(const function_frame *f, const operand *arguments, size_t rows,
                                     array *ret, glv_error *err) {
  CLEANUP(list_builder_dispose) list_builder b = {0};
  const size_t count = f->binding->count;
  TRY(lists_require(f, &arguments[0], err));
  const lists l = lists_of(&arguments[0]);
  TRY(begin(f, &l, rows, &b, err));
  for (size_t i = 0; i < rows; i++) {
    const span s = lists_at(&l, i);
    if (!kernel_row_is_valid(arguments, count, i)) {
      TRY(end_null_slice(&b, err));
      continue;
    }
    range r = {.is_empty = true};
    if (s.count != 0) {
      TRY(read_range(f, &l, arguments, i, s.count, &r, err));
    }
    TRY(pick_range(&b, &r, s.first, err));
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

static glv_status bind_slice(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 3, 4, err));
  TRY(bind_lists(b, "aiii", false, err));
  b->result = b->targets[0];
  return GLV_OK;
}

/* All items but `front` at the front and `back` at the end. */
static glv_status trim(const function_frame *f, const operand *arguments, size_t front, size_t back,
                       size_t rows, array *ret, glv_error *err) {
  CLEANUP(list_builder_dispose) list_builder b = {0};
  TRY(lists_require(f, &arguments[0], err));
  const lists l = lists_of(&arguments[0]);
  TRY(begin(f, &l, rows, &b, err));
  for (size_t i = 0; i < rows; i++) {
    const span s = lists_at(&l, i);
    if (!lists_is_valid(&l, i)) {
      TRY(end_null_slice(&b, err));
      continue;
    }
    const size_t kept = s.count > front + back ? s.count - front - back : 0;
    TRY(list_builder_reserve(&b, kept, err));
    list_builder_pick_span(&b, s.first + front, kept);
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

static glv_status array_pop_back(const function_frame *f, const operand *arguments, size_t rows,
                                 array *ret, glv_error *err) {
  return trim(f, arguments, 0, 1, rows, ret, err);
}
static glv_status array_pop_front(const function_frame *f, const operand *arguments, size_t rows,
                                  array *ret, glv_error *err) {
  return trim(f, arguments, 1, 0, rows, ret, err);
}

static glv_status array_reverse(const function_frame *f, const operand *arguments, size_t rows,
                                array *ret, glv_error *err) {
  if (arguments[0].a.type->kind == TYPE_NULL) {
    return array_new_null(f->env, f->binding->result, rows, ret, err);
  }
  CLEANUP(list_builder_dispose) list_builder b = {0};
  const lists l = lists_of(&arguments[0]);
  TRY(begin(f, &l, rows, &b, err));
  for (size_t i = 0; i < rows; i++) {
    const span s = lists_at(&l, i);
    if (!lists_is_valid(&l, i)) {
      TRY(list_builder_end_null(&b, err));
      continue;
    }
    TRY(list_builder_reserve(&b, s.count, err));
    for (size_t k = s.count; k > 0; k--) {
      list_builder_pick(&b, (uint32_t)(s.first + k - 1));
    }
    TRY(list_builder_end(&b, err));
  }
  return list_builder_finish(&b, ret, err);
}

static const char *const element_names[] = {"array_extract", "list_element", "list_extract", NULL};
static const char *const any_value_names[] = {"list_any_value", NULL};
static const char *const slice_names[] = {"list_slice", NULL};
static const char *const pop_back_names[] = {"list_pop_back", NULL};
static const char *const pop_front_names[] = {"list_pop_front", NULL};
static const char *const reverse_names[] = {"list_reverse", NULL};

const function functions_list_access[] = {
    {.name = "array_element",
     .aliases = element_names,
     .bind = bind_element,
     .kernel = array_element},
    {.name = "array_any_value",
     .aliases = any_value_names,
     .bind = bind_list_to_item,
     .kernel = array_any_value},
    {.name = "array_slice",
     .aliases = slice_names,
     .bind = bind_slice,
     .kernel = array_slice_kernel},
    {.name = "array_pop_back",
     .aliases = pop_back_names,
     .bind = bind_list_to_list,
     .kernel = array_pop_back},
    {.name = "array_pop_front",
     .aliases = pop_front_names,
     .bind = bind_list_to_list,
     .kernel = array_pop_front},
    {.name = "array_reverse",
     .aliases = reverse_names,
     .bind = bind_list_to_list,
     .kernel = array_reverse},
    {0},
};
