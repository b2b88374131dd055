/*
 * The levels of a page: those of its runs, joined, and numbered as pages number them.
 *
 * Which layers can be null or empty is told for each page by its data (lance-file-format 6); a
 * layer of which nothing is null takes no level, and without any level there is no stream. A page
 * none of whose structs is null and that has no lists needs no levels in memory: the validity of
 * the values says it all.
 */
#include "base/limits.h"
#include "format/page_write_private.h"
#include "format/shred_private.h"

enum { MAX_CODES = 2 * LIMIT_TYPE_DEPTH + 2 };

#define LAYER(kind) LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_##kind

/* What the codes of the runs are in this page. */
struct numbering {
  size_t uses[MAX_CODES];
  uint16_t levels[MAX_CODES];
};

static void count_codes(const page_input *in, struct numbering *n) {
  for (size_t i = 0; i < in->run_count; i++) {
    const page_run *r = &in->runs[i];
    if (r->def == NULL) {
      n->uses[shred_leaf_code(in->leaf)] += r->null_count;
      continue;
    }
    for (size_t k = 0; k < r->entries; k++) {
      n->uses[r->def[k]]++;
    }
  }
}

/* The kind of a layer with the codes code (and for a list code + 1); gives them the next levels.
 * is_hidden: it lies in something null and counts as null. The reference looks for entries without
 * items only where the layer of a list says that there are some, and refuses structs in something
 * null that are not null themselves. */
static layer_message choose_layer(struct numbering *n, uint16_t code, bool is_list, bool is_hidden,
                                  unsigned *level) {
  const bool has_nulls = n->uses[code] != 0 || is_hidden;
  const bool has_empty = is_list && n->uses[code + 1] != 0;
  if (has_nulls) {
    n->levels[code] = (uint16_t)++ * level;
  }
  if (has_empty) {
    n->levels[code + 1] = (uint16_t)++ * level;
  }
  if (!is_list) {
    return has_nulls ? LAYER(NULLABLE_ITEM) : LAYER(ALL_VALID_ITEM);
  }
  return has_nulls && has_empty ? LAYER(NULL_AND_EMPTY_LIST)
         : has_nulls            ? LAYER(NULLABLE_LIST)
         : has_empty            ? LAYER(EMPTYABLE_LIST)
                                : LAYER(ALL_VALID_LIST);
}

/* Whether a struct around the step `step` with that code is null somewhere; as far as the next list
 * around it. */
static bool is_hidden_in(const page_leaf *leaf, const struct numbering *n, size_t step,
                         uint16_t code) {
  while (step != 0 && leaf->steps[step - 1].kind != STEP_LIST) {
    step--;
    if (n->uses[--code] != 0) {
      return true;
    }
  }
  return false;
}

/* From the leaf outwards. */
static void choose_layers(const page_leaf *leaf, struct numbering *n, page_levels *l) {
  uint16_t code = shred_leaf_code(leaf);
  l->layers[0] = choose_layer(n, code, false, false, &l->max_def);
  l->layer_count = 1;
  l->visible = l->max_def;
  for (size_t i = leaf->step_count; i-- != 0;) {
    const bool is_list = leaf->steps[i].kind == STEP_LIST;
    code = (uint16_t)(code - (is_list ? 2 : 1));
    const bool is_hidden = is_hidden_in(leaf, n, i, code);
    l->layers[l->layer_count++] = choose_layer(n, code, is_list, is_hidden, &l->max_def);
    l->max_rep += is_list;
    if (l->max_rep == 0) {
      l->visible = l->max_def;
    }
  }
}

static glv_status new_levels(page_levels *l, uint16_t **ret, glv_error *err) {
  *ret = mem_calloc(l->env, l->entries, sizeof **ret);
  return *ret != NULL ? GLV_OK : error_nomem(err, l->entries * sizeof **ret);
}

static glv_status join_rep(const page_input *in, page_levels *l, glv_error *err) {
  TRY(new_levels(l, &l->rep, err));
  uint16_t *to = l->rep;
  for (size_t i = 0; i < in->run_count; i++) {
    const page_run *r = &in->runs[i];
    for (size_t k = 0; k < r->entries; k++) {
      *to++ = (uint16_t)(l->max_rep - r->rep[k]);
    }
  }
  return GLV_OK;
}

static glv_status join_def(const page_input *in, page_levels *l, const struct numbering *n,
                           glv_error *err) {
  TRY(new_levels(l, &l->def, err));
  const uint16_t null_level = n->levels[shred_leaf_code(in->leaf)];
  uint16_t *to = l->def;
  for (size_t i = 0; i < in->run_count; i++) {
    const page_run *r = &in->runs[i];
    for (size_t k = 0; r->def != NULL && k < r->entries; k++) {
      to[k] = n->levels[r->def[k]];
    }
    for (size_t k = 0; r->def == NULL && r->null_count != 0 && k < r->entries; k++) {
      to[k] = r->null_count != r->count && page_run_is_valid(r, k) ? 0 : null_level;
    }
    to += r->entries;
  }
  return GLV_OK;
}

/* Entries around the values that a chunk of two of them may have to hold. */
static bool is_sparse(const page_input *in, const page_levels *l) {
  for (size_t i = 0; i < in->count; i++) {
    const size_t begin = i == 0 ? 0 : l->value_entries[i - 1] + 1u;
    const size_t end = i + 2 < in->count ? l->value_entries[i + 1] + 1u : l->entries;
    if (end - begin > CHUNK_MOST_ENTRIES) {
      return true;
    }
  }
  return false;
}

/* Entries without values: where those with values are. */
static glv_status find_values(const page_input *in, page_levels *l, glv_error *err) {
  if (l->entries > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "column '%s': a page has more than %u levels", in->leaf->name,
                UINT32_MAX);
  }
  l->value_entries = mem_calloc(l->env, size_max(in->count, 1), sizeof *l->value_entries);
  if (l->value_entries == NULL) {
    return error_nomem(err, in->count * sizeof *l->value_entries);
  }
  size_t found = 0;
  for (size_t i = 0; i < l->entries && found < in->count; i++) {
    l->value_entries[found] = (uint32_t)i;
    found += l->def[i] <= l->visible;
  }
  l->is_sparse = is_sparse(in, l);
  return GLV_OK;
}

static void count_values(page_input *in) {
  for (size_t i = 0; i < in->run_count; i++) {
    const page_run *r = &in->runs[i];
    in->count += r->count;
    in->null_count += r->null_count;
    in->levels.entries += r->entries;
    for (size_t k = 0; k < in->leaf->depth; k++) {
      in->has_item_nulls[k] = in->has_item_nulls[k] || r->items[k].bits != NULL;
    }
  }
}

static bool needs_def(const page_input *in) {
  for (size_t i = 0; i < in->run_count; i++) {
    if (in->runs[i].def != NULL) {
      return true;
    }
  }
  return in->levels.max_rep != 0;
}

glv_status page_input_finish(page_input *in, glv_error *err) {
  page_levels *l = &in->levels;
  struct numbering n = {0};
  l->env = in->env;
  count_values(in);
  l->layers = mem_calloc(in->env, in->leaf->step_count + 1, sizeof *l->layers);
  if (l->layers == NULL) {
    return error_nomem(err, sizeof *l->layers);
  }
  count_codes(in, &n);
  choose_layers(in->leaf, &n, l);
  if (l->max_rep != 0) {
    TRY(join_rep(in, l, err));
  }
  if (l->max_def != 0 && needs_def(in)) {
    TRY(join_def(in, l, &n, err));
  }
  return l->entries != in->count ? find_values(in, l, err) : GLV_OK;
}

void page_input_dispose(page_input *in) {
  for (size_t i = 0; i < in->run_count; i++) {
    page_run_dispose(&in->runs[i]);
  }
  mem_free(in->env, in->runs);
  mem_free(in->env, in->levels.layers);
  mem_free(in->env, in->levels.rep);
  mem_free(in->env, in->levels.def);
  mem_free(in->env, in->levels.value_entries);
  in->runs = NULL;
  in->run_count = 0;
  in->levels = (page_levels){0};
}
