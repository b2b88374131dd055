/*
 * The walk from a top-level array to one of its leaves. At each step the array reached has one
 * value for every live entry: lists and structs that are null or hidden drop out together with what
 * lies below them, at the step where that happens. Where nothing drops out, the values of the leaf
 * are the memory of the caller.
 */
#include "arrow/bits.h"
#include "base/limits.h"
#include "format/shred_private.h"

struct walk {
  glv_env *env;
  array at; /* reached so far */
  size_t entries;
  buffer *rep;
  buffer *def;
  buffer *validity;
  uint16_t code;   /* the next one */
  uint16_t closed; /* entries with codes up to this one are not live */
  uint16_t lists;  /* passed */
};

void shredded_dispose(shredded *s) {
  array_unref(&s->values);
  buffer_unref(s->rep);
  buffer_unref(s->def);
  buffer_unref(s->validity);
  *s = (shredded){0};
}

static void walk_dispose(struct walk *w) {
  array_unref(&w->at);
  buffer_unref(w->rep);
  buffer_unref(w->def);
  buffer_unref(w->validity);
}

static uint16_t *levels_of(buffer *b) { return (uint16_t *)(void *)b->data; }
static uint16_t *levels_in(buffer *b) { return b != NULL ? levels_of(b) : NULL; }

uint16_t shred_leaf_code(const page_leaf *leaf) {
  return (uint16_t)(leaf->step_count + leaf->list_count + 1);
}

uint16_t shred_closed_code(const page_leaf *leaf) {
  uint16_t code = 0;
  uint16_t closed = 0;
  for (size_t i = 0; i < leaf->step_count; i++) {
    const bool is_list = leaf->steps[i].kind == STEP_LIST;
    code = (uint16_t)(code + (is_list ? 2 : 1));
    closed = is_list ? code : closed;
  }
  return closed;
}

glv_status shred_refuse_nulls(const char *name, glv_error *err) {
  return FAIL(err, GLV_E_SCHEMA,
              "The field `%s` contained null values even though the field is marked non-null in "
              "the schema",
              name);
}

static glv_status new_levels(glv_env *env, size_t count, buffer **ret, glv_error *err) {
  size_t size;
  if (!size_mul(count, sizeof(uint16_t), &size)) {
    return error_nomem(err, SIZE_MAX);
  }
  return buffer_new(env, size, ret, err);
}

static glv_status need_def(struct walk *w, glv_error *err) {
  return w->def != NULL ? GLV_OK
                        : buffer_new_zeroed(w->env, w->entries * sizeof(uint16_t), &w->def, err);
}

/* ---- items ---- */

/* Gives the entries of null values the next code. */
static glv_status mark_nulls(struct walk *w, const uint8_t *bits, size_t first, bool is_nullable,
                             const char *name, glv_error *err) {
  const uint16_t code = w->code++;
  if (bits == NULL || bits_count(bits, first, w->at.length) == w->at.length) {
    return GLV_OK;
  }
  TRY(need_def(w, err));
  uint16_t *def = levels_in(w->def);
  bool is_found = false;
  size_t slot = first;
  for (size_t i = 0; i < w->entries; i++) {
    const bool is_live = def[i] == 0 || def[i] > w->closed;
    if (is_live && !bit_get(bits, slot) && def[i] == 0) {
      def[i] = code;
      is_found = true;
    }
    slot += is_live;
  }
  return is_found && !is_nullable ? shred_refuse_nulls(name, err) : GLV_OK;
}

static void descend(struct walk *w, array child) {
  array_unref(&w->at);
  w->at = child;
}

/* To the first count values of the child; it may have more. */
static glv_status descend_to(struct walk *w, size_t count, glv_error *err) {
  array child = array_slice(&w->at.children[0], 0, count);
  if (child.type == NULL) {
    return error_nomem(err, sizeof child);
  }
  descend(w, child);
  return GLV_OK;
}

static glv_status step_struct(struct walk *w, const leaf_step *s, glv_error *err) {
  TRY(mark_nulls(w, w->at.validity, w->at.bit_offset, s->is_nullable, s->name, err));
  return descend_to(w, w->at.length, err);
}

/* Each entry becomes as many as there are items. No lists are around. */
static glv_status step_repeat(struct walk *w, const leaf_step *s, glv_error *err) {
  const size_t items = (size_t)s->type->width;
  size_t entries;
  TRY(mark_nulls(w, w->at.validity, w->at.bit_offset, s->is_nullable, s->name, err));
  if (!size_mul(w->entries, items, &entries)) {
    return error_nomem(err, SIZE_MAX);
  }
  if (w->def != NULL) {
    buffer *def = NULL;
    TRY(new_levels(w->env, entries, &def, err));
    uint16_t *to = levels_of(def);
    const uint16_t *from = levels_of(w->def);
    for (size_t i = 0; i < w->entries; i++) {
      for (size_t k = 0; k < items; k++) {
        *to++ = from[i];
      }
    }
    buffer_unref(w->def);
    w->def = def;
  }
  w->entries = entries;
  return descend_to(w, w->at.length * items, err);
}

/* ---- lists ---- */

/* A list array, its offsets widened as they are read. */
struct list_view {
  const array *a;
  bool is_wide;
};

static inline uint64_t offset_at(const struct list_view *v, size_t i) {
  return v->is_wide ? (uint64_t)ARRAY_VALUES(v->a, int64_t)[i]
                    : (uint64_t)ARRAY_VALUES(v->a, int32_t)[i];
}

/* What becomes of the lists. */
struct list_plan {
  uint64_t items;   /* kept */
  uint64_t entries; /* afterwards */
  bool has_special; /* some list is null, hidden or empty */
  bool has_null;    /* where nothing around is null */
};

enum list_state { LIST_DEAD, LIST_HIDDEN, LIST_NULL, LIST_EMPTY, LIST_ITEMS };

/* The list of the entry whose definition level is def; *slot moves on when the entry has one. */
static inline enum list_state next_list(const struct walk *w, const struct list_view *v,
                                        uint16_t def, size_t *slot, uint64_t *ret_first,
                                        uint64_t *ret_count) {
  if (def != 0 && def <= w->closed) {
    return LIST_DEAD;
  }
  const size_t i = (*slot)++;
  if (def != 0) {
    return LIST_HIDDEN;
  }
  if (v->a->validity != NULL && !bit_get(v->a->validity, v->a->bit_offset + i)) {
    return LIST_NULL;
  }
  *ret_first = offset_at(v, i);
  *ret_count = offset_at(v, i + 1) - *ret_first;
  return *ret_count == 0 ? LIST_EMPTY : LIST_ITEMS;
}

static struct list_plan plan_lists(const struct walk *w, const struct list_view *v) {
  struct list_plan p = {0};
  const uint16_t *def = levels_in(w->def);
  size_t slot = 0;
  for (size_t i = 0; i < w->entries; i++) {
    uint64_t first;
    uint64_t count = 0;
    const enum list_state state = next_list(w, v, def != NULL ? def[i] : 0, &slot, &first, &count);
    if (state == LIST_ITEMS) {
      p.items += count;
      p.entries += count;
    } else {
      p.entries++;
      p.has_special = true;
      p.has_null = p.has_null || state == LIST_NULL;
    }
  }
  return p;
}

static uint16_t *fill(uint16_t *to, uint16_t level, uint64_t count) {
  for (uint64_t k = 0; k < count; k++) {
    to[k] = level;
  }
  return to + count;
}

static uint32_t *fill_numbers(uint32_t *to, uint64_t first, uint64_t count) {
  for (uint64_t k = 0; k < count; k++) {
    to[k] = (uint32_t)(first + k);
  }
  return to + count;
}

/* New levels; items == NULL or receives the numbers of the items that are kept. */
static void expand(const struct walk *w, const struct list_view *v, uint16_t *rep_to,
                   uint16_t *def_to, uint32_t *items) {
  const uint16_t *rep = levels_in(w->rep);
  const uint16_t *def = levels_in(w->def);
  const uint16_t within = (uint16_t)(w->lists + 1);
  const uint64_t base = offset_at(v, 0);
  size_t slot = 0;
  for (size_t i = 0; i < w->entries; i++) {
    const uint16_t level = def != NULL ? def[i] : 0;
    uint64_t first = 0;
    uint64_t count = 1;
    const enum list_state state = next_list(w, v, level, &slot, &first, &count);
    *rep_to++ = rep != NULL ? rep[i] : 0;
    if (state == LIST_ITEMS) {
      rep_to = fill(rep_to, within, count - 1);
      def_to = def_to != NULL ? fill(def_to, 0, count) : NULL;
      items = items != NULL ? fill_numbers(items, first - base, count) : NULL;
    } else if (def_to != NULL) {
      *def_to++ = state == LIST_NULL    ? w->code
                  : state == LIST_EMPTY ? (uint16_t)(w->code + 1)
                                        : level;
    }
  }
}

/* The items of the lists that are kept. items: their numbers, or NULL when none is dropped. */
static glv_status keep_items(struct walk *w, const struct list_view *v, const uint32_t *items,
                             size_t count, glv_error *err) {
  const uint64_t base = offset_at(v, 0);
  const uint64_t end = offset_at(v, v->a->length);
  array all = array_slice(&w->at.children[0], (size_t)base, (size_t)(end - base));
  if (all.type == NULL) {
    return error_nomem(err, sizeof all);
  }
  if (items == NULL) {
    descend(w, all);
    return GLV_OK;
  }
  array kept = {0};
  const glv_status status = array_take(w->env, &all, items, count, &kept, err);
  array_unref(&all);
  if (status == GLV_OK) {
    descend(w, kept);
  }
  return status;
}

static glv_status expand_into(struct walk *w, const struct list_view *v, const struct list_plan *p,
                              buffer *rep, buffer *def, glv_error *err) {
  const uint64_t all = offset_at(v, v->a->length) - offset_at(v, 0);
  buffer *items = NULL;
  if (p->items != all) {
    if (all > UINT32_MAX) {
      return FAIL(err, GLV_E_LIMIT, "a list array has %llu items; write smaller batches",
                  (unsigned long long)all);
    }
    TRY(buffer_new(w->env, (size_t)p->items * sizeof(uint32_t), &items, err));
  }
  uint32_t *numbers = items != NULL ? (uint32_t *)(void *)items->data : NULL;
  expand(w, v, levels_of(rep), levels_in(def), numbers);
  const glv_status status = keep_items(w, v, numbers, (size_t)p->items, err);
  buffer_unref(items);
  return status;
}

static glv_status step_list(struct walk *w, const leaf_step *s, glv_error *err) {
  const struct list_view v = {&w->at, type_offset_width(s->type->kind) == 8};
  const struct list_plan p = plan_lists(w, &v);
  if (p.has_null && !s->is_nullable) {
    return shred_refuse_nulls(s->name, err);
  }
  CLEANUP(buffer_cleanup) buffer *rep = NULL;
  CLEANUP(buffer_cleanup) buffer *def = NULL;
  TRY(new_levels(w->env, (size_t)p.entries, &rep, err));
  if (w->def != NULL || p.has_special) {
    TRY(new_levels(w->env, (size_t)p.entries, &def, err));
  }
  TRY(expand_into(w, &v, &p, rep, def, err));
  buffer_unref(w->rep);
  buffer_unref(w->def);
  w->rep = rep;
  w->def = def;
  rep = def = NULL;
  w->entries = (size_t)p.entries;
  w->closed = (uint16_t)(w->code + 1);
  w->code = (uint16_t)(w->code + 2);
  w->lists++;
  return GLV_OK;
}

/* ---- the leaf ---- */

/* Validity of values whose nullness comes from several layers. */
static glv_status join_validity(struct walk *w, glv_error *err) {
  const uint16_t *def = levels_in(w->def);
  TRY(buffer_new_zeroed(w->env, bits_size(w->at.length), &w->validity, err));
  size_t slot = 0;
  for (size_t i = 0; i < w->entries; i++) {
    if (def[i] == 0) {
      w->validity->data[slot / 8] |= (uint8_t)(1u << slot % 8);
    }
    slot += def[i] == 0 || def[i] > w->closed;
  }
  return GLV_OK;
}

/* Values of a dictionary may be null as well; the values of the leaf are then. */
static glv_status dictionary_validity(struct walk *w, glv_error *err) {
  const array *a = &w->at;
  const array *values = &a->children[0];
  if (!array_has_nulls(values)) {
    return GLV_OK;
  }
  CLEANUP(buffer_cleanup) buffer *bits = NULL;
  TRY(buffer_new_zeroed(w->env, bits_size(a->length), &bits, err));
  for (size_t i = 0; i < a->length; i++) {
    if (array_is_valid(a, i) && array_is_valid(values, array_dictionary_index(a, i))) {
      bits->data[i / 8] |= (uint8_t)(1u << i % 8);
    }
  }
  w->validity = bits;
  bits = NULL;
  return GLV_OK;
}

static glv_status step_leaf(struct walk *w, const page_leaf *leaf, glv_error *err) {
  if (leaf->is_dictionary) {
    TRY(dictionary_validity(w, err));
  } else if (leaf->form == LEAF_NULL) {
    TRY(buffer_new_zeroed(w->env, bits_size(w->at.length), &w->validity, err));
  }
  const bool is_own = w->validity == NULL;
  const uint8_t *bits = is_own ? w->at.validity : w->validity->data;
  const size_t first = is_own ? w->at.bit_offset : 0;
  if (w->def == NULL && w->rep == NULL) {
    const bool has_nulls = bits != NULL && bits_count(bits, first, w->at.length) != w->at.length;
    return has_nulls && !leaf->is_nullable ? shred_refuse_nulls(leaf->field, err) : GLV_OK;
  }
  TRY(mark_nulls(w, bits, first, leaf->is_nullable, leaf->field, err));
  if (w->def == NULL) {
    return GLV_OK;
  }
  buffer_unref(w->validity);
  w->validity = NULL;
  return join_validity(w, err);
}

static glv_status walk(struct walk *w, const page_leaf *leaf, glv_error *err) {
  for (size_t i = 0; i < leaf->step_count; i++) {
    const leaf_step *s = &leaf->steps[i];
    switch (s->kind) {
    case STEP_STRUCT:
      TRY(step_struct(w, s, err));
      break;
    case STEP_LIST:
      TRY(step_list(w, s, err));
      break;
    case STEP_REPEAT:
      TRY(step_repeat(w, s, err));
      break;
    }
  }
  return step_leaf(w, leaf, err);
}

glv_status shred(glv_env *env, const page_leaf *leaf, array *taken, shredded *ret, glv_error *err) {
  CLEANUP(walk_dispose)
  struct walk w = {.env = env, .at = *taken, .entries = taken->length, .code = 1};
  *taken = (array){0};
  TRY(walk(&w, leaf, err));
  *ret = (shredded){w.at, w.entries, w.rep, w.def, w.validity};
  w = (struct walk){0};
  return GLV_OK;
}
