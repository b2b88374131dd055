/* Where the chunks of a column start: what the pages themselves say, for those who keep notes about
 * chunks elsewhere and have to find out whether the notes still fit.
 */
#include "format/file_reader_private.h"

/* A growing list of first rows. */
struct starts {
  glv_env *env;
  uint64_t *rows;
  size_t count;
  size_t capacity;
};

static glv_status add_page(struct starts *s, const page *p, uint64_t first, glv_error *err) {
  const size_t count = p->kind == PAGE_MINI ? p->mini.chunk_count : 1;
  TRY(vec_reserve(s->env, &s->rows, &s->capacity, s->count + count, sizeof *s->rows, err));
  uint64_t *to = s->rows + s->count;
  for (size_t i = 1; i < count; i++) {
    to[i] = first + p->mini.rows[i];
  }
  to[0] = first;
  s->count += count;
  return GLV_OK;
}

static glv_status find_starts(file_reader *r, uint32_t column, struct starts *s, glv_error *err) {
  CLEANUP(decoder_dispose) decoder d = {.env = r->env, .file = r->file};
  column_state *c = NULL;
  TRY(reader_column(r, column, &c, err));
  for (size_t i = 0; i < c->page_count; i++) {
    CLEANUP(page_cleanup) page *p = NULL;
    TRY(reader_page(r, &d, c, i, &p, err));
    TRY(add_page(s, p, c->starts[i], err));
  }
  return GLV_OK;
}

glv_status file_reader_chunks(file_reader *r, uint32_t column, arena *a, const uint64_t **ret,
                              size_t *ret_count, glv_error *err) {
  struct starts s = {.env = r->env};
  glv_status status = find_starts(r, column, &s, err);
  uint64_t *rows = ARENA_ARRAY(a, uint64_t, s.count);
  if (status == GLV_OK && rows == NULL) {
    status = error_nomem(err, s.count * sizeof *rows);
  }
  if (status == GLV_OK && s.count > 0) {
    memcpy(rows, s.rows, s.count * sizeof *rows);
  }
  mem_free(r->env, s.rows);
  *ret = rows;
  *ret_count = s.count;
  return status;
}
