/* First the transactions are read: appends, deletes, updates and compactions can be followed unless
 * they mix in ways that fragment ids do not tell apart. Where that ends at any other commit, all
 * fragments of the watermark must still be there, with the same files of the columns read and the
 * same deletions.
 */
#include "view/upstream.h"

#include "table/deletion.h"
#include "table/transaction.h"
#include "view/inputs.h"

enum { MAX_WALK = 512 };

/* ---- by transactions ---- */

/* Fragment ids that commits mention, in no order; there are few. */
typedef struct id_list {
  uint64_t *ids;
  size_t count;
  size_t capacity;
} id_list;

typedef struct delta {
  glv_env *env;
  bool is_readable;
  bool changes_rows; /* deleted or updated some */
  id_list rewritten;
  id_list produced;
  id_list updated;
} delta;

static glv_status add_id(delta *d, id_list *l, uint64_t id, glv_error *err) {
  TRY(vec_reserve(d->env, &l->ids, &l->capacity, l->count + 1, sizeof *l->ids, err));
  l->ids[l->count++] = id;
  return GLV_OK;
}

static glv_status add_fragments(delta *d, id_list *l, const fragment *f, size_t count,
                                glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    TRY(add_id(d, l, f[i].id, err));
  }
  return GLV_OK;
}

static bool has_id(const id_list *l, uint64_t id) {
  for (size_t i = 0; i < l->count; i++) {
    if (l->ids[i] == id) {
      return true;
    }
  }
  return false;
}

static glv_status add_update(delta *d, const transaction *t, glv_error *err) {
  for (size_t i = 0; i < t->removed_count; i++) {
    TRY(add_id(d, &d->rewritten, t->removed_ids[i], err));
  }
  TRY(add_fragments(d, &d->produced, t->updated_fragments, t->updated_fragment_count, err));
  return add_fragments(d, &d->updated, t->updated_fragments, t->updated_fragment_count, err);
}

static glv_status add_commit(delta *d, const transaction *t, glv_error *err) {
  switch ((int)t->kind) {
  case OPERATION_APPEND:
  case OPERATION_RESERVE_FRAGMENTS:
    return GLV_OK;
  case OPERATION_DELETE:
    d->changes_rows = true;
    return GLV_OK;
  case OPERATION_UPDATE:
    d->changes_rows = true;
    return add_update(d, t, err);
  case OPERATION_REWRITE:
    TRY(add_fragments(d, &d->rewritten, t->updated_fragments, t->updated_fragment_count, err));
    return add_fragments(d, &d->produced, t->new_fragments, t->new_fragment_count, err);
  default:
    d->is_readable = false;
    return GLV_OK;
  }
}

static glv_status read_delta(const table_snapshot *from, const table_snapshot *to, delta *d,
                             glv_error *err) {
  const uint64_t first = table_version(from);
  const uint64_t last = table_version(to);
  d->is_readable = last > first && last - first <= MAX_WALK;
  for (uint64_t version = first + 1; version <= last && d->is_readable; version++) {
    CLEANUP(arena_dispose) arena a;
    arena_init_small(&a, d->env);
    transaction *t = NULL;
    const glv_status status = transaction_read(to, version, &a, &t, err);
    if (status == GLV_E_IO || status == GLV_E_NOMEM) {
      return status;
    }
    if (status != GLV_OK) {
      d->is_readable = false;
      return GLV_OK;
    }
    TRY(add_commit(d, t, err));
  }
  return GLV_OK;
}

/* Whether the commits are the ones that fragment ids can follow. */
static bool is_plain(const table_snapshot *from, const delta *d, bool has_limit) {
  for (size_t i = 0; i < d->rewritten.count; i++) {
    const uint64_t id = d->rewritten.ids[i];
    if (table_fragment(from, id) == NULL && !has_id(&d->produced, id)) {
      return false;
    }
  }
  for (size_t i = 0; i < d->updated.count; i++) {
    if (table_fragment(from, d->updated.ids[i]) == NULL) {
      return false;
    }
  }
  return !has_limit || !d->changes_rows;
}

/* ---- by fragments ---- */

static bool is_relevant(const view_inputs *in, const data_file *f) {
  return in->field_count == 0 || view_inputs_in_file(in, f);
}

/* Whether every relevant file of a is one of b. */
static bool has_files(const view_inputs *in, const fragment *a, const fragment *b) {
  for (size_t i = 0; i < a->file_count; i++) {
    bool found = !is_relevant(in, &a->files[i]);
    for (size_t k = 0; k < b->file_count && !found; k++) {
      found = is_relevant(in, &b->files[k]) && strcmp(a->files[i].path, b->files[k].path) == 0;
    }
    if (!found) {
      return false;
    }
  }
  return true;
}

static bool is_appended_to(const table_snapshot *from, const table_snapshot *to,
                           const view_inputs *in) {
  size_t count = 0;
  const fragment *fragments = table_fragments(from, &count);
  for (size_t i = 0; i < count; i++) {
    const fragment *now = table_fragment(to, fragments[i].id);
    if (now == NULL || !deletion_same(&fragments[i], now) || !has_files(in, &fragments[i], now) ||
        !has_files(in, now, &fragments[i])) {
      return false;
    }
  }
  return true;
}

glv_status upstream_follows(const table_snapshot *from, const table_snapshot *to,
                            const view_plan *plan, bool *ret, glv_error *err) {
  *ret = false;
  if (table_version(from) > table_version(to)) {
    return GLV_OK;
  }
  glv_env *env = table_env(to);
  delta d = {.env = env};
  glv_status status = read_delta(from, to, &d, err);
  if (status == GLV_OK && d.is_readable) {
    *ret = is_plain(from, &d, plan->definition.has_limit);
  } else if (status == GLV_OK) {
    CLEANUP(arena_dispose) arena a;
    arena_init_small(&a, env);
    view_inputs in;
    status = view_inputs_find(table_lance_schema(to), plan, &a, &in, err);
    *ret = status == GLV_OK && is_appended_to(from, to, &in);
  }
  mem_free(env, d.rewritten.ids);
  mem_free(env, d.produced.ids);
  mem_free(env, d.updated.ids);
  return status;
}
