/*
 * Every row of both sides becomes a pair of numbers: its source row and a hash of its values. The
 * two sorted lists are then merged. Only when they differ, both sides are read a second time for
 * the rows behind the first differing pairs.
 */
#include "view/verify.h"

#include <stdlib.h>

#include "expr/row_set.h"
#include "table/scan.h"
#include "view/refresh_private.h"

struct pair_of {
  uint64_t id;
  uint64_t hash;
};

struct pairs {
  struct pair_of *items;
  size_t count;
  size_t capacity;
};

struct verification {
  struct attempt *a;
  const verify_options *options;
  struct pairs sides[2];
  struct pairs shown[2]; /* the first ones that the other side lacks */
  verify_result *result;
};

static void verification_dispose(struct verification *v) {
  for (size_t i = 0; i < 2; i++) {
    mem_free(v->a->env, v->sides[i].items);
    mem_free(v->a->env, v->shown[i].items);
  }
}

/* ---- reading ---- */

static glv_status open_side(struct verification *v, verify_side side, batch_reader *ret,
                            glv_error *err) {
  struct attempt *a = v->a;
  if (side == VERIFY_WANTED) {
    const view_scan what = {.with_provenance = a->has_provenance, .cancel = a->cancel};
    return view_plan_scan(a->plan, a->source, &what, ret, err);
  }
  const size_t count = a->plan->output_count + a->has_provenance;
  scan_column *columns = ARENA_ARRAY(&a->memory, scan_column, count);
  if (columns == NULL) {
    return error_nomem(err, count * sizeof *columns);
  }
  for (size_t i = 0; i < count; i++) {
    columns[i].name = str_of(a->plan->columns->fields[i].name);
  }
  const scan_options o = {.columns = columns, .column_count = count, .cancel = a->cancel};
  return table_scan(a->view, &o, ret, err);
}

/* The pairs of the rows of a batch. */
static glv_status pair_rows(const struct verification *v, const batch *b, struct pairs *into,
                            glv_error *err) {
  glv_env *env = v->a->env;
  const size_t declared = v->a->plan->output_count;
  TRY(vec_reserve(env, &into->items, &into->capacity, into->count + b->length, sizeof *into->items,
                  err));
  uint64_t *hashes = mem_alloc(env, b->length * sizeof *hashes);
  if (hashes == NULL) {
    return error_nomem(err, b->length * sizeof *hashes);
  }
  const glv_status status = row_hashes(env, b->columns, declared, b->length, hashes, err);
  for (size_t i = 0; i < b->length && status == GLV_OK; i++) {
    const uint64_t id = v->a->has_provenance ? ARRAY_VALUES(&b->columns[declared], uint64_t)[i] : 0;
    into->items[into->count++] = (struct pair_of){id, hashes[i]};
  }
  mem_free(env, hashes);
  return status;
}

static int compare_pairs(const void *x, const void *y) {
  const struct pair_of *a = x;
  const struct pair_of *b = y;
  if (a->id != b->id) {
    return a->id < b->id ? -1 : 1;
  }
  return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static glv_status read_side(struct verification *v, verify_side side, glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  struct pairs *into = &v->sides[side];
  TRY(open_side(v, side, &r, err));
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool at_end = false;
    TRY(r.next(r.state, &b, &at_end, err));
    if (at_end) {
      break;
    }
    TRY(pair_rows(v, &b, into, err));
  }
  if (into->count > 1) {
    qsort(into->items, into->count, sizeof *into->items, compare_pairs);
  }
  return GLV_OK;
}

/* ---- comparing ---- */

static glv_status note(struct verification *v, verify_side side, struct pair_of p, glv_error *err) {
  struct pairs *shown = &v->shown[side];
  if (shown->count >= v->options->most_shown) {
    return GLV_OK;
  }
  TRY(vec_reserve(v->a->env, &shown->items, &shown->capacity, shown->count + 1,
                  sizeof *shown->items, err));
  shown->items[shown->count++] = p;
  return GLV_OK;
}

/* The rows of one source row: those that only one side has. */
static glv_status compare_group(struct verification *v, const struct pair_of *wanted,
                                size_t wanted_count, const struct pair_of *found,
                                size_t found_count, glv_error *err) {
  uint64_t only[2] = {0, 0};
  size_t i = 0;
  size_t k = 0;
  while (i < wanted_count || k < found_count) {
    const int order = i == wanted_count  ? 1
                      : k == found_count ? -1
                                         : compare_pairs(&wanted[i], &found[k]);
    if (order < 0) {
      only[VERIFY_WANTED]++;
      const bool may_lack = v->a->definition.has_limit && found_count == 0;
      TRY(may_lack ? GLV_OK : note(v, VERIFY_WANTED, wanted[i], err));
    } else if (order > 0) {
      only[VERIFY_FOUND]++;
      TRY(note(v, VERIFY_FOUND, found[k], err));
    }
    i += order <= 0;
    k += order >= 0;
  }
  const uint64_t both = v->a->has_provenance ? u64_min(only[VERIFY_WANTED], only[VERIFY_FOUND]) : 0;
  v->result->different += both;
  v->result->missing += only[VERIFY_WANTED] - both;
  v->result->extra += only[VERIFY_FOUND] - both;
  return GLV_OK;
}

static size_t group_end(const struct pairs *p, size_t from, uint64_t id) {
  while (from < p->count && p->items[from].id == id) {
    from++;
  }
  return from;
}

static glv_status compare_sides(struct verification *v, glv_error *err) {
  const struct pairs *wanted = &v->sides[VERIFY_WANTED];
  const struct pairs *found = &v->sides[VERIFY_FOUND];
  size_t i = 0;
  size_t k = 0;
  while (i < wanted->count || k < found->count) {
    const uint64_t id = u64_min(i < wanted->count ? wanted->items[i].id : UINT64_MAX,
                                k < found->count ? found->items[k].id : UINT64_MAX);
    const size_t wanted_end = group_end(wanted, i, id);
    const size_t found_end = group_end(found, k, id);
    TRY(compare_group(v, wanted->items + i, wanted_end - i, found->items + k, found_end - k, err));
    i = wanted_end;
    k = found_end;
  }
  return GLV_OK;
}

/* A view with a limit lacks rows on purpose. */
static void conclude(struct verification *v) {
  verify_result *r = v->result;
  r->rows_wanted = v->sides[VERIFY_WANTED].count;
  r->rows_found = v->sides[VERIFY_FOUND].count;
  if (v->a->definition.has_limit) {
    const uint64_t most = u64_min(r->rows_wanted, v->a->definition.limit);
    r->missing = most > r->rows_found ? most - r->rows_found : 0;
    r->extra = u64_max(r->extra, r->rows_found > most ? r->rows_found - most : 0);
    r->rows_wanted = most;
  }
  r->is_equal = r->missing == 0 && r->extra == 0 && r->different == 0;
}

/* ---- showing ---- */

static bool is_shown(const struct pairs *shown, const struct pair_of *p) {
  for (size_t i = 0; i < shown->count; i++) {
    if (compare_pairs(&shown->items[i], p) == 0) {
      return true;
    }
  }
  return false;
}

static glv_status show_side(struct verification *v, verify_side side, glv_error *err) {
  if (v->shown[side].count == 0) {
    return GLV_OK;
  }
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  TRY(open_side(v, side, &r, err));
  size_t left = v->shown[side].count;
  while (left > 0) {
    CLEANUP(batch_dispose) batch b = {0};
    bool at_end = false;
    TRY(r.next(r.state, &b, &at_end, err));
    if (at_end) {
      break;
    }
    v->sides[side].count = 0;
    TRY(pair_rows(v, &b, &v->sides[side], err));
    for (size_t i = 0; i < b.length && left > 0; i++) {
      if (is_shown(&v->shown[side], &v->sides[side].items[i])) {
        TRY(v->options->show(v->options->context, side, &b, i, err));
        left--;
      }
    }
  }
  return GLV_OK;
}

static glv_status verify(struct verification *v, glv_error *err) {
  TRY(read_side(v, VERIFY_WANTED, err));
  TRY(read_side(v, VERIFY_FOUND, err));
  TRY(compare_sides(v, err));
  conclude(v);
  if (v->result->is_equal) {
    return GLV_OK;
  }
  TRY(show_side(v, VERIFY_WANTED, err));
  return show_side(v, VERIFY_FOUND, err);
}

/* The source version that the view claims to reflect. */
static glv_status find_watermark(glv_env *env, const char *path, const char *name,
                                 refresh_options *options, glv_error *err) {
  CLEANUP(table_cleanup) table_snapshot *view = NULL;
  TRY(table_open(env, path, name, 0, &view, err));
  bool is_view = false;
  (void)table_metadata_get(view, STR(VIEW_KEY_DEFINITION), &is_view);
  if (!is_view) {
    return FAIL(err, GLV_E_NOT_A_VIEW, "Table '%s' is not a materialized view", name);
  }
  const watermark mark = watermark_read(view);
  if (!mark.has_source_version) {
    return FAIL(err, GLV_E_BAD_STATE, "view '%s' was never filled; a refresh fills it", name);
  }
  options->has_source_version = true;
  options->source_version = mark.source_version;
  return GLV_OK;
}

static glv_status check_source(const struct attempt *a, const char *name, glv_error *err) {
  if (a->mark.has_source_version && a->mark.source_version == a->options->source_version &&
      a->mark.has_timestamp &&
      a->mark.source_timestamp_ns == (uint64_t)table_timestamp_ns(a->source)) {
    return GLV_OK;
  }
  return FAIL(err, GLV_E_BAD_STATE,
              "view '%s' cannot be verified: its source was dropped and made again since, or the "
              "view was refreshed in this moment; a refresh brings it up to date",
              name);
}

glv_status view_verify(glv_env *env, const view_database *db, const char *path, const char *name,
                       const verify_options *options, verify_result *ret, glv_error *err) {
  refresh_options refresh = {0};
  TRY(find_watermark(env, path, name, &refresh, err));
  CLEANUP(attempt_dispose)
  struct attempt a = {.env = env, .db = db, .options = &refresh, .cancel = options->cancel};
  arena_init(&a.memory, env);
  TRY(attempt_open(&a, path, name, NULL, err));
  TRY(check_source(&a, name, err));
  *ret =
      (verify_result){.source_version = refresh.source_version, .version = table_version(a.view)};
  CLEANUP(verification_dispose)
  struct verification v = {.a = &a, .options = options, .result = ret};
  return verify(&v, err);
}
