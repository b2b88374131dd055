/* All rows of a reader in one batch. */
#include "arrow/array.h"
#include "base/arena.h"
#include "base/buf.h"

typedef struct pieces {
  glv_env *env;
  batch *batches;
  size_t count;
  size_t capacity;
  uint64_t rows;
} pieces;

static void pieces_dispose(pieces *p) {
  for (size_t i = 0; i < p->count; i++) {
    batch_dispose(&p->batches[i]);
  }
  mem_free(p->env, p->batches);
}

static glv_status read_all(pieces *p, batch_reader *r, glv_error *err) {
  for (bool end = false; !end;) {
    TRY(vec_reserve(p->env, &p->batches, &p->capacity, p->count + 1, sizeof *p->batches, err));
    batch *b = &p->batches[p->count];
    *b = (batch){0};
    TRY(r->next(r->state, b, &end, err));
    if (!end) {
      p->count++;
      p->rows += b->length;
    }
  }
  if (p->rows > UINT32_MAX) {
    return FAIL(err, GLV_E_LIMIT, "a result of %llu rows is to be held at once, which ends at %u",
                (unsigned long long)p->rows, UINT32_MAX);
  }
  return GLV_OK;
}

glv_status batch_collect(glv_env *env, batch_reader *r, batch *ret, glv_error *err) {
  CLEANUP(pieces_dispose) pieces p = {.env = env};
  TRY(read_all(&p, r, err));
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, env);
  array *parts = ARENA_ARRAY(&a, array, p.count);
  if (parts == NULL) {
    return error_nomem(err, p.count * sizeof *parts);
  }
  CLEANUP(batch_dispose) batch all = {0};
  TRY(batch_new(env, r->schema, (size_t)p.rows, r->schema->field_count, &all, err));
  for (size_t c = 0; c < all.column_count; c++) {
    for (size_t i = 0; i < p.count; i++) {
      parts[i] = p.batches[i].columns[c];
    }
    TRY(p.count > 0 ? array_concat(env, parts, p.count, &all.columns[c], err)
                    : array_new_null(env, r->schema->fields[c].type, 0, &all.columns[c], err));
  }
  *ret = all;
  all = (batch){0};
  return GLV_OK;
}
