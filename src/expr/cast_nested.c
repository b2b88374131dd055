/*
 * Casts of lists, structs and maps (sql-expressions 11.2): the parts are cast, whole columns at a
 * time, and put together again; lists as text; single values as lists of one.
 *
 * Only what the rows refer to is cast, so that values outside of a slice cannot fail. Types are
 * nested at most LIMIT_TYPE_DEPTH deep, which bounds the recursion.
 */
#include "arrow/bits.h"
#include "arrow/builder.h"
#include "base/buf.h"
#include "base/encoding.h"
#include "expr/cast_private.h"
#include "expr/lists.h"

bool cast_is_nested(const type *t) {
  return type_is_list(t->kind) || t->kind == TYPE_STRUCT || t->kind == TYPE_MAP;
}

/* Fields go by name: those without a source are null, those without a target vanish; some name
 * must meet. */
static bool struct_is_supported(const type *from, const type *to) {
  bool meets = false;
  for (size_t i = 0; i < to->child_count; i++) {
    const field *target = &to->children[i];
    const size_t at = type_find_child(from, target->name);
    if (at == SIZE_MAX) {
      if (!target->nullable) {
        return false;
      }
      continue;
    }
    const field *source = &from->children[at];
    meets = true;
    if ((source->nullable && !target->nullable) || !cast_is_supported(source->type, target->type)) {
      return false;
    }
  }
  return meets;
}

/* Maps go by position: the names of keys and values do not matter. */
static bool map_is_supported(const type *from, const type *to) {
  const type *l = from->children[0].type;
  const type *r = to->children[0].type;
  return from->flag == to->flag && cast_is_supported(l->children[0].type, r->children[0].type) &&
         cast_is_supported(l->children[1].type, r->children[1].type);
}

bool cast_nested_is_supported(const type *from, const type *to) {
  if (from->kind == TYPE_NULL) {
    return true;
  }
  if (type_is_list(to->kind)) {
    const bool fixed = to->kind == TYPE_FIXED_SIZE_LIST;
    if (!type_is_list(from->kind)) {
      return (!fixed || to->width == 1) && cast_is_supported(from, list_item(to));
    }
    const bool fits = !fixed || from->kind != TYPE_FIXED_SIZE_LIST || from->width == to->width;
    return fits && cast_is_supported(list_item(from), list_item(to));
  }
  if (from->kind == TYPE_STRUCT && to->kind == TYPE_STRUCT) {
    return struct_is_supported(from, to);
  }
  if (from->kind == TYPE_MAP && to->kind == TYPE_MAP) {
    return map_is_supported(from, to);
  }
  if (type_is_list(from->kind)) {
    const bool single = from->kind == TYPE_FIXED_SIZE_LIST && from->width == 1;
    const bool has_text = from->kind != TYPE_FIXED_SIZE_LIST && type_is_string(to->kind);
    return (single || has_text) && cast_is_supported(list_item(from), to);
  }
  return false;
}

/* The validity of a, shared. */
static void share_validity(const array *a, array *to) {
  to->validity = a->validity;
  to->bit_offset = a->bit_offset;
  to->null_count = a->null_count;
  to->owners[0] = buffer_ref(a->owners[0]);
}

/* The items that the rows refer to, cast. */
static glv_status cast_items(const cast_job *job, const lists *l, const type *to, array *ret,
                             glv_error *err) {
  const span all = lists_extent(l);
  CLEANUP(array_unref) array items = array_slice(l->items, all.first, all.count);
  if (items.type == NULL) {
    return error_nomem(err, sizeof items);
  }
  return cast_array(job->env, &items, to, job->is_try, ret, err);
}

/* ---- to list and large_list ---- */

/* Offsets that begin at 0, of the width of `to`. */
static glv_status convert_offsets(const cast_job *job, const lists *l, array *to, glv_error *err) {
  const size_t count = job->from->length + 1;
  const span all = lists_extent(l);
  const bool wide = job->to->kind == TYPE_LARGE_LIST;
  if (!wide && all.count > INT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "%zu items do not fit into one array of type %s", all.count,
                TYPE_TEXT(job->to));
  }
  TRY(buffer_new(job->env, count * (wide ? 8 : 4), &to->owners[1], err));
  void *out = to->owners[1]->data;
  to->values = out;
  for (size_t i = 0; i < count; i++) {
    const size_t at = i + 1 < count ? lists_at(l, i).first - all.first : all.count;
    if (wide) {
      ((int64_t *)out)[i] = (int64_t)at;
    } else {
      ((int32_t *)out)[i] = (int32_t)at;
    }
  }
  return GLV_OK;
}

static glv_status list_to_list(const cast_job *job, array *ret, glv_error *err) {
  const operand o = {.a = *job->from};
  const lists l = lists_of(&o);
  CLEANUP(array_unref) array a = {.type = job->to, .length = job->from->length};
  TRY(array_new_children(job->env, 1, &a, err));
  TRY(cast_items(job, &l, list_item(job->to), &a.children[0], err));
  share_validity(job->from, &a);
  if (type_offset_width(job->to->kind) == type_offset_width(job->from->type->kind) &&
      lists_extent(&l).first == 0) {
    a.values = job->from->values;
    a.owners[1] = buffer_ref(job->from->owners[1]);
  } else {
    TRY(convert_offsets(job, &l, &a, err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* Every value a list of one item; a null, too, is such an item. */
static glv_status value_to_list(const cast_job *job, array *ret, glv_error *err) {
  CLEANUP(array_unref) array items = {0};
  TRY(cast_array(job->env, job->from, list_item(job->to), job->is_try, &items, err));
  if (job->to->kind != TYPE_FIXED_SIZE_LIST) {
    return lists_wrap(job->env, &items, job->to, ret, err);
  }
  CLEANUP(array_unref) array a = {.type = job->to, .length = items.length};
  TRY(array_new_children(job->env, 1, &a, err));
  a.children[0] = items;
  items = (array){0};
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* ---- to fixed_size_list ---- */

/* The items of all rows side by side, `width` for each: those of null rows are nulls. A list of
 * another length fails, or becomes null. */
static glv_status gather_fixed(const cast_job *job, const lists *l, array *to, uint8_t *valid,
                               array *ret, glv_error *err) {
  const size_t rows = job->from->length;
  const size_t width = (size_t)job->to->width;
  size_t total;
  if (!size_mul(rows, width, &total) || total >= ITEM_NULL || l->items->length >= ITEM_NULL) {
    return FAIL(err, GLV_E_LIMIT, "%zu lists of %zu items are too large for one array", rows,
                width);
  }
  CLEANUP(buffer_cleanup) buffer *picks = NULL;
  TRY(buffer_new(job->env, total * sizeof(uint32_t), &picks, err));
  uint32_t *out = (uint32_t *)(void *)picks->data;
  bool has_holes = false;
  for (size_t i = 0; i < rows; i++) {
    const span s = lists_at(l, i);
    const bool is_valid = lists_is_valid(l, i);
    if (is_valid && s.count != width) {
      TRY(cast_reject(job, to, i, err,
                      "Cannot cast to FixedSizeList(%zu): value at index %zu has length %zu", width,
                      i, s.count));
    }
    const bool keeps = is_valid && s.count == width;
    has_holes = has_holes || !keeps;
    bit_put(valid, i, keeps);
    for (size_t k = 0; k < width; k++) {
      *out++ = keeps ? (uint32_t)(s.first + k) : ITEM_NULL;
    }
  }
  return lists_take(job->env, l->items, (uint32_t *)(void *)picks->data, total, has_holes,
                    l->items->type, ret, err);
}

static glv_status list_to_fixed(const cast_job *job, array *ret, glv_error *err) {
  const operand o = {.a = *job->from};
  const lists l = lists_of(&o);
  const size_t rows = job->from->length;
  CLEANUP(array_unref) array a = {.type = job->to, .length = rows};
  CLEANUP(array_unref) array items = {0};
  TRY(buffer_new_zeroed(job->env, bits_size(rows), &a.owners[0], err));
  a.validity = a.owners[0]->data;
  a.null_count = NULLS_UNKNOWN;
  TRY(gather_fixed(job, &l, &a, a.owners[0]->data, &items, err));
  TRY(array_new_children(job->env, 1, &a, err));
  TRY(cast_array(job->env, &items, list_item(job->to), job->is_try, &a.children[0], err));
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status fixed_to_fixed(const cast_job *job, array *ret, glv_error *err) {
  const operand o = {.a = *job->from};
  const lists l = lists_of(&o);
  CLEANUP(array_unref) array a = {.type = job->to, .length = job->from->length};
  TRY(array_new_children(job->env, 1, &a, err));
  TRY(cast_items(job, &l, list_item(job->to), &a.children[0], err));
  share_validity(job->from, &a);
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* ---- to text ---- */

/* Bytes inside of lists are written as digits. */
static glv_status print_hex(const cast_job *job, const array *a, array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, job->env, type_simple(TYPE_UTF8));
  buf_init(&text, job->env, INT32_MAX);
  for (size_t i = 0; i < a->length; i++) {
    if (!array_is_valid(a, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    const str bytes = array_str(a, i);
    buf_clear(&text);
    TRY(buf_append_fill(&text, '0', 2 * bytes.size, err));
    hex_encode(bytes.data, bytes.size, text.data);
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

/* The items that the rows refer to as texts. */
static glv_status print_items(const cast_job *job, const lists *l, array *ret, glv_error *err) {
  if (!type_is_binary(l->items->type->kind)) {
    return cast_items(job, l, type_simple(TYPE_UTF8), ret, err);
  }
  const span all = lists_extent(l);
  CLEANUP(array_unref) array items = array_slice(l->items, all.first, all.count);
  return print_hex(job, &items, ret, err);
}

/* `[a, , c]`: a null inside is empty. */
static glv_status join_texts(const array *texts, span s, buf *out, glv_error *err) {
  buf_clear(out);
  TRY(buf_append_char(out, '[', err));
  for (size_t k = 0; k < s.count; k++) {
    TRY(buf_append(out, ", ", k == 0 ? 0 : 2, err));
    if (array_is_valid(texts, s.first + k)) {
      TRY(buf_append_str(out, array_str(texts, s.first + k), err));
    }
  }
  return buf_append_char(out, ']', err);
}

static glv_status list_to_text(const cast_job *job, array *ret, glv_error *err) {
  const operand o = {.a = *job->from};
  const lists l = lists_of(&o);
  const size_t base = lists_extent(&l).first;
  CLEANUP(array_unref) array texts = {0};
  CLEANUP(builder_dispose) builder b;
  CLEANUP(buf_dispose) buf text;
  builder_init(&b, job->env, job->to);
  buf_init(&text, job->env, INT32_MAX);
  TRY(print_items(job, &l, &texts, err));
  for (size_t i = 0; i < job->from->length; i++) {
    if (!lists_is_valid(&l, i)) {
      TRY(builder_append_null(&b, err));
      continue;
    }
    const span s = lists_at(&l, i);
    TRY(join_texts(&texts, (span){s.first - base, s.count}, &text, err));
    TRY(builder_append_str(&b, buf_str(&text), err));
  }
  return builder_finish(&b, ret, err);
}

/* ---- structs, maps ---- */

static glv_status struct_to_struct(const cast_job *job, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {.type = job->to, .length = job->from->length};
  TRY(array_new_children(job->env, job->to->child_count, &a, err));
  for (size_t i = 0; i < job->to->child_count; i++) {
    const field *target = &job->to->children[i];
    const size_t at = type_find_child(job->from->type, target->name);
    if (at == SIZE_MAX) {
      TRY(array_new_null(job->env, target->type, a.length, &a.children[i], err));
    } else {
      TRY(cast_array(job->env, &job->from->children[at], target->type, job->is_try, &a.children[i],
                     err));
    }
  }
  share_validity(job->from, &a);
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status cast_entries(const cast_job *job, const array *from, const type *to, array *ret,
                               glv_error *err) {
  CLEANUP(array_unref) array a = {.type = to, .length = from->length};
  TRY(array_new_children(job->env, 2, &a, err));
  for (size_t i = 0; i < 2; i++) {
    TRY(cast_array(job->env, &from->children[i], to->children[i].type, job->is_try, &a.children[i],
                   err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status map_to_map(const cast_job *job, array *ret, glv_error *err) {
  const array *from = job->from;
  CLEANUP(array_unref) array a = {.type = job->to, .length = from->length};
  TRY(array_new_children(job->env, 1, &a, err));
  TRY(cast_entries(job, &from->children[0], job->to->children[0].type, &a.children[0], err));
  share_validity(from, &a);
  a.values = from->values;
  a.owners[1] = buffer_ref(from->owners[1]);
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

/* fixed_size_list of one item: the item. */
static glv_status single_to_value(const cast_job *job, array *ret, glv_error *err) {
  const operand o = {.a = *job->from};
  const lists l = lists_of(&o);
  return cast_items(job, &l, job->to, ret, err);
}

glv_status cast_nested(const cast_job *job, array *ret, glv_error *err) {
  const type_kind from = job->from->type->kind;
  const type_kind to = job->to->kind;
  if (type_is_list(to) && !type_is_list(from)) {
    return value_to_list(job, ret, err);
  }
  if (to == TYPE_FIXED_SIZE_LIST) {
    return from == TYPE_FIXED_SIZE_LIST ? fixed_to_fixed(job, ret, err)
                                        : list_to_fixed(job, ret, err);
  }
  if (type_is_list(to)) {
    return list_to_list(job, ret, err);
  }
  if (type_is_list(from)) {
    const bool single = from == TYPE_FIXED_SIZE_LIST && job->from->type->width == 1;
    return single ? single_to_value(job, ret, err) : list_to_text(job, ret, err);
  }
  return to == TYPE_MAP ? map_to_map(job, ret, err) : struct_to_struct(job, ret, err);
}
