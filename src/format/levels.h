/**
 * @file levels.h
 * Repetition and definition levels (lance-file-format section 6): what the levels of a page mean,
 * and those of a read, from which nested arrays are put together.
 *
 * The kinds of layers differ from page to page. A read therefore translates definition levels into
 * codes that depend on the type alone: counted from the leaf outwards, an item layer has one code
 * (null), a list layer two (null, empty); 0 is a valid item. An entry tells of the outermost layer
 * that is null or empty.
 */
#ifndef GLAIVE_FORMAT_LEVELS_H
#define GLAIVE_FORMAT_LEVELS_H

#include "base/arena.h"
#include "base/env.h"
#include "format/decoder.h"

/** Layers between a leaf and the top: as many as a schema can be deep. */
#define LEVEL_LAYERS 64

/** The layers of a leaf by its type. Layer 0 is the leaf. */
typedef struct leaf_path {
  unsigned layer_count;
  uint64_t lists;  /* bit i: layer i is a list */
  size_t per_slot; /* entries of a row without lists: the product of the sizes of fixed_size_lists
                      of structs; else 1 */
} leaf_path;

static inline bool path_is_list(const leaf_path *p, unsigned layer) {
  return ((p->lists >> layer) & 1) != 0;
}
/** List layers below `layer`. */
static inline unsigned path_lists_below(const leaf_path *p, unsigned layer) {
  return (unsigned)__builtin_popcountll(
      layer >= LEVEL_LAYERS ? p->lists : p->lists & ((UINT64_C(1) << layer) - 1));
}
/** The code of a null of a layer; lists have their code for "empty" behind it. */
static inline unsigned path_null_code(const leaf_path *p, unsigned layer) {
  return layer + path_lists_below(p, layer) + 1;
}

/** What the levels of a page mean. */
typedef struct page_levels {
  leaf_path path;        /* per_slot is not known */
  unsigned max_rep;      /* list layers */
  unsigned max_def;      /* highest level */
  unsigned max_visible;  /* highest level of an entry that owns a value */
  const uint16_t *codes; /* of the levels 0 .. max_def */
  bool is_plain;         /* every code is the level itself */
} page_levels;

/** From the layers of a page message, `kinds` as int. Errors: GLV_E_CORRUPT, GLV_E_NOMEM. */
glv_status page_levels_init(arena *a, const int *kinds, size_t count, page_levels *ret,
                            glv_error *err);

/** The levels of the entries that a read found, in codes. */
typedef struct level_list {
  glv_env *env;
  uint16_t *rep; /* NULL as long as has_rep is false */
  uint16_t *def;
  size_t count;
  size_t capacity;
  bool has_rep;
} level_list;

void level_list_dispose(level_list *l); /* usable with CLEANUP */
/** Room for more entries. Errors: GLV_E_NOMEM. */
glv_status level_list_reserve(level_list *l, size_t more, glv_error *err);
/** Append the definition levels that are wanted of a piece; there are no lists. Errors:
 * GLV_E_CORRUPT for levels that the page does not have. */
glv_status level_list_add(level_list *l, const page_levels *p, const uint16_t *def, const wanted *w,
                          glv_error *err);
/** Append entries [0, count) of one piece; def NULL = all 0; rep is looked at
 * with has_rep only. Errors: as level_list_add. */
glv_status level_list_add_run(level_list *l, const page_levels *p, const uint16_t *rep,
                              const uint16_t *def, size_t count, glv_error *err);
/** Append the same code so many times. */
glv_status level_list_repeat(level_list *l, uint16_t code, size_t count, glv_error *err);

/** What part of the entries of a chunk or page is wanted, and what it holds. */
typedef struct level_cut {
  size_t value_count;           /* values of all entries */
  const uint16_t *value_levels; /* the level of each of them */
  wanted values;                /* those that are wanted */
} level_cut;

/**
 * Take the wanted rows out of the entries of a chunk of lists, and append their levels.
 *
 * @param starts  rows that start in it, as the page says; it is checked.
 * @param head    whether the entries before the first start are wanted.
 * @param w       wanted rows among those that start here, from 0 on.
 * @param ret     points into working memory of d.
 * Errors: GLV_E_CORRUPT, GLV_E_NOMEM.
 */
glv_status level_list_cut(level_list *l, decoder *d, const page_levels *p, const uint16_t *rep,
                          const uint16_t *def, size_t count, uint64_t starts, bool head,
                          const wanted *w, level_cut *ret, glv_error *err);

/** The levels of the entries that own a value, into `to`, which has room for one more than count.
 * @return their number. */
size_t levels_keep_visible(const uint16_t *restrict def, size_t count, unsigned max_visible,
                           uint16_t *restrict to);

#endif
