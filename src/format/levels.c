/*
 * Levels of pages and of reads. Levels come from files: every one is compared with the highest that
 * the layers of its page allow before it is used as an index.
 */
#include "format/levels.h"

#include "base/checked.h"
#include "pb/lance_encodings21.pb-c.h"

/* Levels a layer uses, and which of its codes they are. */
typedef struct layer_form {
  bool is_list;
  bool has_null;
  bool has_empty;
} layer_form;

static bool layer_form_of(int kind, layer_form *ret) {
  switch (kind) {
  case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM:
    *ret = (layer_form){0};
    return true;
  case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM:
    *ret = (layer_form){.has_null = true};
    return true;
  case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_LIST:
    *ret = (layer_form){.is_list = true};
    return true;
  case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_LIST:
    *ret = (layer_form){.is_list = true, .has_null = true};
    return true;
  case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_EMPTYABLE_LIST:
    *ret = (layer_form){.is_list = true, .has_empty = true};
    return true;
  case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULL_AND_EMPTY_LIST:
    *ret = (layer_form){.is_list = true, .has_null = true, .has_empty = true};
    return true;
  default: /* a number from the file */
    return false;
  }
}

glv_status page_levels_init(arena *a, const int *kinds, size_t count, page_levels *ret,
                            glv_error *err) {
  page_levels p = {.is_plain = true};
  if (count == 0 || count > LEVEL_LAYERS) {
    return FAIL(err, GLV_E_CORRUPT, "the page has %zu layers", count);
  }
  uint16_t *codes = ARENA_ARRAY(a, uint16_t, 1 + 2 * count);
  if (codes == NULL) {
    return error_nomem(err, count * sizeof *codes);
  }
  unsigned code = 0;
  for (size_t i = 0; i < count; i++) {
    layer_form f;
    if (!layer_form_of(kinds[i], &f)) {
      return FAIL(err, GLV_E_CORRUPT, "the page has a layer of unknown kind %d", kinds[i]);
    }
    if (f.is_list && p.max_rep++ == 0) {
      p.max_visible = p.max_def;
    }
    if (f.has_null) {
      codes[++p.max_def] = (uint16_t)(code + 1);
    }
    if (f.has_empty) {
      codes[++p.max_def] = (uint16_t)(code + 2);
    }
    p.path.lists |= (uint64_t)f.is_list << i;
    code += f.is_list ? 2 : 1;
  }
  if (p.max_rep == 0) {
    p.max_visible = p.max_def;
  }
  for (unsigned i = 0; i <= p.max_def; i++) {
    p.is_plain = p.is_plain && codes[i] == i;
  }
  p.path.layer_count = (unsigned)count;
  p.codes = codes;
  *ret = p;
  return GLV_OK;
}

/* ---- the levels of a read ---- */

void level_list_dispose(level_list *l) {
  mem_free(l->env, l->rep);
  mem_free(l->env, l->def);
  l->rep = l->def = NULL;
}

static bool grow(glv_env *env, uint16_t **at, size_t count, size_t capacity) {
  uint16_t *bigger = mem_alloc(env, capacity * sizeof *bigger);
  if (bigger == NULL) {
    return false;
  }
  if (count != 0) {
    memcpy(bigger, *at, count * sizeof *bigger);
  }
  mem_free(env, *at);
  *at = bigger;
  return true;
}

glv_status level_list_reserve(level_list *l, size_t more, glv_error *err) {
  size_t need;
  if (!size_add(l->count, more, &need) || need > SIZE_MAX / 8) {
    return error_nomem(err, SIZE_MAX);
  }
  if (need <= l->capacity) {
    return GLV_OK;
  }
  const size_t capacity = size_max(need, l->capacity + l->capacity / 2);
  if (!grow(l->env, &l->def, l->count, capacity) ||
      (l->has_rep && !grow(l->env, &l->rep, l->count, capacity))) {
    return error_nomem(err, capacity * sizeof *l->def);
  }
  l->capacity = capacity;
  return GLV_OK;
}

static glv_status check_levels(const uint16_t *levels, size_t count, unsigned max, const char *what,
                               glv_error *err) {
  uint16_t highest = 0;
  for (size_t i = 0; i < count; i++) {
    highest = levels[i] > highest ? levels[i] : highest;
  }
  if (highest > max) {
    return FAIL(err, GLV_E_CORRUPT, "the page has the %s level %u, but its layers end at %u", what,
                highest, max);
  }
  return GLV_OK;
}

static void translate(const page_levels *p, const uint16_t *restrict from, size_t count,
                      uint16_t *restrict to) {
  if (p->is_plain) {
    memcpy(to, from, count * sizeof *to);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    to[i] = p->codes[from[i]];
  }
}

glv_status level_list_add_run(level_list *l, const page_levels *p, const uint16_t *rep,
                              const uint16_t *def, size_t count, glv_error *err) {
  if (count == 0) {
    return GLV_OK;
  }
  TRY(level_list_reserve(l, count, err));
  if (def == NULL) {
    memset(l->def + l->count, 0, count * sizeof *def);
  } else {
    TRY(check_levels(def, count, p->max_def, "definition", err));
    translate(p, def, count, l->def + l->count);
  }
  if (l->has_rep) {
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): pages of lists have rep
    memcpy(l->rep + l->count, rep, count * sizeof *rep);
  }
  l->count += count;
  return GLV_OK;
}

glv_status level_list_add(level_list *l, const page_levels *p, const uint16_t *def, const wanted *w,
                          glv_error *err) {
  if (w->rows == NULL) {
    return level_list_add_run(l, p, NULL, def + w->first, w->count, err);
  }
  TRY(level_list_reserve(l, w->count, err));
  uint16_t *to = l->def + l->count;
  for (size_t i = 0; i < w->count; i++) {
    const uint16_t level = def[wanted_row(w, i)];
    TRY(check_levels(&level, 1, p->max_def, "definition", err));
    to[i] = p->codes[level];
  }
  l->count += w->count;
  return GLV_OK;
}

glv_status level_list_repeat(level_list *l, uint16_t code, size_t count, glv_error *err) {
  TRY(level_list_reserve(l, count, err));
  for (size_t i = 0; i < count; i++) {
    l->def[l->count + i] = code;
  }
  l->count += count;
  return GLV_OK;
}

/* ---- rows of lists ---- */

static size_t count_equal(const uint16_t *levels, size_t count, unsigned level) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    n += levels[i] == level;
  }
  return n;
}

size_t levels_keep_visible(const uint16_t *restrict def, size_t count, unsigned max_visible,
                           uint16_t *restrict to) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    to[n] = def[i];
    n += def[i] <= max_visible;
  }
  return n;
}

/* Appends the entries of the wanted rows and lists the values they own. */
static void pick_rows(level_list *l, const page_levels *p, const uint16_t *rep, const uint16_t *def,
                      size_t count, bool head, const wanted *w, uint32_t *picks, size_t *ret) {
  bool is_kept = head;
  size_t row = 0;
  size_t next = 0;
  uint32_t value = 0;
  size_t picked = 0;
  for (size_t i = 0; i < count; i++) {
    if (rep[i] == p->max_rep) {
      is_kept = next < w->count && wanted_row(w, next) == row;
      next += is_kept;
      row++;
    }
    const bool owns = def[i] <= p->max_visible;
    if (is_kept) {
      l->rep[l->count] = rep[i];
      l->def[l->count++] = p->codes[def[i]];
      picks[picked] = value;
      picked += owns;
    }
    value += owns;
  }
  *ret = picked;
}

glv_status level_list_cut(level_list *l, decoder *d, const page_levels *p, const uint16_t *rep,
                          const uint16_t *def, size_t count, uint64_t starts, bool head,
                          const wanted *w, level_cut *ret, glv_error *err) {
  TRY(check_levels(rep, count, p->max_rep, "repetition", err));
  TRY(check_levels(def, count, p->max_def, "definition", err));
  if (count_equal(rep, count, p->max_rep) != starts) {
    return FAIL(err, GLV_E_CORRUPT, "the repetition index does not agree with the levels");
  }
  TRY(decoder_reserve(d, &d->value_levels, (count + 1) * sizeof *def, err));
  uint16_t *levels = (uint16_t *)(void *)d->value_levels.data;
  const size_t values = levels_keep_visible(def, count, p->max_visible, levels);
  *ret = (level_cut){.value_count = values, .value_levels = levels};
  if (w->rows == NULL && w->count == starts && (head || count == 0 || rep[0] == p->max_rep)) {
    ret->values = (wanted){.count = values};
    return level_list_add_run(l, p, rep, def, count, err);
  }
  TRY(level_list_reserve(l, count, err));
  TRY(decoder_reserve(d, &d->picks, (count + 1) * sizeof(uint32_t), err));
  uint32_t *picks = (uint32_t *)(void *)d->picks.data;
  size_t picked = 0;
  pick_rows(l, p, rep, def, count, head, w, picks, &picked);
  ret->values = wanted_simplify((wanted){.rows = picks, .count = picked});
  return GLV_OK;
}
