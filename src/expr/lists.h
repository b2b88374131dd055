/**
 * @file lists.h
 * Columns of lists as functions see them: where the list of each row begins among the items,
 * whatever the type of list; and the building of lists out of items that exist already.
 *
 * Functions of lists work on whole columns: they decide which items go where as a vector of row
 * numbers, and the items are gathered once, whatever their type.
 */
#ifndef GLAIVE_EXPR_LISTS_H
#define GLAIVE_EXPR_LISTS_H

#include "expr/function.h"

/** Items [first, first + count) of a column of items. */
typedef struct span {
  size_t first;
  size_t count;
} span;

/** A view of an operand of a list, large_list, fixed_size_list or map type. Borrows the operand. */
typedef struct lists {
  const array *a;
  const array *items;    /* what the spans index */
  const int32_t *narrow; /* offsets of 32 or 64 bits; both NULL: lists of `width` items */
  const int64_t *wide;
  size_t width;
  size_t step; /* 0: one list stands for every row */
} lists;

lists lists_of(const operand *o);
static inline bool lists_is_valid(const lists *l, size_t i) {
  return array_is_valid(l->a, i * l->step);
}
/** The items of row i. A null row may have some, too, which mean nothing. */
static inline span lists_at(const lists *l, size_t i) {
  i *= l->step;
  if (l->narrow != NULL) {
    return (span){(size_t)l->narrow[i], (size_t)(l->narrow[i + 1] - l->narrow[i])};
  }
  if (l->wide != NULL) {
    return (span){(size_t)l->wide[i], (size_t)(l->wide[i + 1] - l->wide[i])};
  }
  return (span){i * l->width, l->width};
}
/** Fails with GLV_E_SQL_EXEC when an operand is no list: an untyped NULL gets that far. */
glv_status lists_require(const function_frame *f, const operand *o, glv_error *err);
/** The items of all rows together: [first, first + count). */
span lists_extent(const lists *l);

/** In place of an item: a null. */
#define ITEM_NULL UINT32_MAX

/**
 * A column of lists under construction: rows are ended one after the other, their items are picked
 * by row number from one source array. Not thread-safe.
 */
typedef struct list_builder {
  glv_env *env;
  const type *type; /* list or large_list, or map */
  array source;     /* what picks index */
  uint32_t *picks;
  size_t pick_count;
  size_t pick_capacity;
  bool has_holes; /* some pick is ITEM_NULL */
  size_t rows;
  size_t row_count; /* ended so far */
  buffer *offsets;
  buffer *validity; /* NULL while no row is null */
} list_builder;

/** t: list, large_list or map; borrowed, it must outlive the result. Errors: GLV_E_NOMEM. */
glv_status list_builder_init(list_builder *b, glv_env *env, const type *t, size_t rows,
                             glv_error *err);
void list_builder_dispose(list_builder *b); /* usable with CLEANUP */
/** Pick from these arrays laid end to end; ret_starts[k] is the row number where part k begins.
 * All have the layout of the item type. Errors: GLV_E_NOMEM, GLV_E_LIMIT for 2^32 - 1 rows. */
glv_status list_builder_sources(list_builder *b, const array *parts, size_t count,
                                uint32_t *ret_starts, glv_error *err);
/** Pick from one array. */
glv_status list_builder_source(list_builder *b, const array *items, glv_error *err);
/** Room for more picks. Errors: GLV_E_NOMEM. */
glv_status list_builder_reserve(list_builder *b, size_t more, glv_error *err);
/** The next item of the row under construction; there is room for it. */
static inline void list_builder_pick(list_builder *b, uint32_t item) {
  b->picks[b->pick_count++] = item;
}
/** `count` nulls; there is room for them. */
void list_builder_pick_nulls(list_builder *b, size_t count);
/** Items first, first + 1, ... of the source; there is room for them. */
static inline void list_builder_pick_span(list_builder *b, size_t first, size_t count) {
  for (size_t k = 0; k < count; k++) {
    b->picks[b->pick_count + k] = (uint32_t)(first + k);
  }
  b->pick_count += count;
}
/** The picks since the last end are one list. Errors: GLV_E_LIMIT when the items of all rows do not
 * fit into the offsets. */
glv_status list_builder_end(list_builder *b, glv_error *err);
/** A null list; what was picked since the last end lies behind it unseen. Errors: GLV_E_NOMEM. */
glv_status list_builder_end_null(list_builder *b, glv_error *err);
/** After `rows` ends: the column. Errors: GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status list_builder_finish(list_builder *b, array *ret, glv_error *err);

/** The same with items that are in place already: pick_count of them, of the item type. */
glv_status list_builder_finish_items(list_builder *b, const array *items, array *ret,
                                     glv_error *err);

/** The items listed, ITEM_NULL (only when has_holes) being a null, as an array of type t, which has
 * the layout of the items' own. picks is written to. Errors: GLV_E_NOMEM, GLV_E_LIMIT. */
glv_status lists_take(glv_env *env, const array *items, uint32_t *picks, size_t count,
                      bool has_holes, const type *t, array *ret, glv_error *err);

/** Every value as a list of one, as often as it takes to get type t (whose lists are list or
 * large_list). Errors: GLV_E_NOMEM. */
glv_status lists_wrap(glv_env *env, const array *a, const type *t, array *ret, glv_error *err);

/** Levels of nesting of a type: 1 for one without children. */
size_t type_depth(const type *t);
/** Fails when items cannot be numbered by picks. Errors: GLV_E_LIMIT. */
glv_status lists_check_items(const array *items, glv_error *err);
/** The error of a function that would make more than LIMIT_SQL_LIST_ITEMS items. @return
 * GLV_E_LIMIT. */
glv_status lists_too_many(const function_frame *f, glv_error *err);
/** How much memory values [first, first + count) take: about the number of 8-byte words, those of
 * the items of lists included. */
uint64_t lists_weight(const array *a, size_t first, size_t count);
/** A list of items: type `kind` (list or large_list) of nullable `item`s. Errors: GLV_E_NOMEM;
 * GLV_E_LIMIT when types would be nested deeper than LIMIT_TYPE_DEPTH. */
glv_status list_type_new(arena *a, type_kind kind, const type *item, bool nullable,
                         const type **ret, glv_error *err);

/** Whether items of types a and b cannot share a list because one of them is bytes. */
bool lists_refuse_bytes(const type *a, const type *b);

/**
 * Decide the types of the arguments of a function of lists, by one letter each:
 * 'a' a list (untyped NULL is taken), 'e' an item, 'i' an index (becomes int64), 's' a text
 * (becomes utf8). Lists and items get one common item type; lists become large_list when one is,
 * else list, or stay fixed_size_list when keeps_fixed and all are. Sets targets.
 * Errors: GLV_E_SQL_PLAN, GLV_E_NOMEM, GLV_E_LIMIT.
 */
glv_status bind_lists(function_binding *b, const char *roles, bool keeps_fixed, glv_error *err);
/** Bind functions of one list whose result is a list of its type, or an item of it (then an untyped
 * NULL is refused). Errors: those of bind_lists. */
glv_status bind_list_to_list(function_binding *b, glv_error *err);
glv_status bind_list_to_item(function_binding *b, glv_error *err);

/** How many lists are inside of one another, 0 for a type that is none; and what they hold. */
size_t list_dimensions(const type *t);
const type *list_innermost(const type *t);
/** The item type of a list type. */
static inline const type *list_item(const type *t) { return t->children[0].type; }

#endif
