/*
 * Columns and pages of an open file. The metadata of a column is parsed on first use and kept. So
 * are loaded pages, as long as all of them together stay below CACHE_BYTES; the KEPT_PAGES used
 * last of each column always stay, so that threads that scan neighbouring pages in many windows
 * load each of them once.
 *
 * A thread that needs a page which is not there loads it while holding the column's `loading`
 * mutex; others that need it wait there instead of loading it again. The lock of the reader is held
 * for look-ups only.
 */
#include "format/file_reader_private.h"

#define CACHE_BYTES ((size_t)16 << 20)
enum { KEPT_PAGES = 4 };

void column_free(file_reader *r, column_state *c) {
  if (c == NULL) {
    return;
  }
  for (size_t i = 0; i < c->page_count; i++) {
    page_unref(c->cached[i].page);
  }
  arena_dispose(&c->memory);
  mutex_dispose(&c->loading);
  mem_free(r->env, c);
}

static column_state *column_new(glv_env *env) {
  column_state *c = mem_zalloc(env, sizeof *c);
  if (c != NULL) {
    arena_init_small(&c->memory, env);
    mutex_init(&c->loading);
  }
  return c;
}

/* Put c in its place, or free it when another thread was faster. @return the one in place. */
static column_state *publish(file_reader *r, uint32_t column, column_state *c) {
  mutex_lock(&r->lock);
  column_state *there = r->columns[column];
  if (there == NULL) {
    r->columns[column] = c;
  }
  mutex_unlock(&r->lock);
  if (there != NULL) {
    column_free(r, c);
    return there;
  }
  return c;
}

glv_status reader_column(file_reader *r, uint32_t column, column_state **ret, glv_error *err) {
  if (column >= r->footer.column_count) {
    return FAIL(err, GLV_E_CORRUPT, "file '%s' has %u columns, column %u is wanted", r->name,
                r->footer.column_count, column);
  }
  mutex_lock(&r->lock);
  column_state *c = r->columns[column];
  mutex_unlock(&r->lock);
  if (c == NULL) {
    c = column_new(r->env);
    if (c == NULL) {
      return error_nomem(err, sizeof *c);
    }
    const glv_status status = column_load(r, column, c, err);
    if (status != GLV_OK) {
      column_free(r, c);
      return status == GLV_E_NOMEM ? status : error_prefix(err, status, "file '%s': ", r->name);
    }
    c = publish(r, column, c);
  }
  *ret = c;
  return GLV_OK;
}

/* A reference to a page that is there, or NULL. */
static page *find(file_reader *r, column_state *c, size_t number) {
  mutex_lock(&r->lock);
  cached_page *at = &c->cached[number];
  page *p = at->page != NULL ? page_ref(at->page) : NULL;
  at->used = ++r->clock;
  mutex_unlock(&r->lock);
  return p;
}

/* With the lock held: take out the page of c that was used longest ago; NULL if it has none. */
static page *take_oldest(file_reader *r, column_state *c) {
  cached_page *oldest = NULL;
  for (size_t i = 0; i < c->page_count; i++) {
    cached_page *at = &c->cached[i];
    if (at->page != NULL && (oldest == NULL || at->used < oldest->used)) {
      oldest = at;
    }
  }
  if (oldest == NULL) {
    return NULL;
  }
  page *p = oldest->page;
  oldest->page = NULL;
  c->cached_count--;
  r->cached_bytes -= p->memory_bytes;
  return p;
}

/* The page that has to go before p comes, or NULL. */
static page *make_room(file_reader *r, column_state *c, const page *p) {
  mutex_lock(&r->lock);
  const bool is_full =
      c->cached_count >= KEPT_PAGES && r->cached_bytes + p->memory_bytes > CACHE_BYTES;
  page *gone = is_full ? take_oldest(r, c) : NULL;
  mutex_unlock(&r->lock);
  return gone;
}

static void insert(file_reader *r, column_state *c, size_t number, page *p) {
  for (page *gone = make_room(r, c, p); gone != NULL; gone = make_room(r, c, p)) {
    page_unref(gone);
  }
  mutex_lock(&r->lock);
  c->cached[number] = (cached_page){page_ref(p), ++r->clock};
  c->cached_count++;
  r->cached_bytes += p->memory_bytes;
  mutex_unlock(&r->lock);
}

/* A page to forget, or NULL: no more than `most` bytes are kept. */
static page *take_surplus(file_reader *r, size_t most) {
  page *p = NULL;
  mutex_lock(&r->lock);
  for (uint32_t i = 0; p == NULL && r->cached_bytes > most && i < r->footer.column_count; i++) {
    p = r->columns[i] != NULL ? take_oldest(r, r->columns[i]) : NULL;
  }
  mutex_unlock(&r->lock);
  return p;
}

void file_reader_trim(file_reader *r, size_t most) {
  for (page *p = take_surplus(r, most); p != NULL; p = take_surplus(r, most)) {
    page_unref(p);
  }
}

glv_status reader_page(file_reader *r, decoder *d, column_state *c, size_t number, page **ret,
                       glv_error *err) {
  page *p = find(r, c, number);
  if (p == NULL) {
    CLEANUP(mutex_cleanup) mutex *held = &c->loading;
    mutex_lock(held);
    p = find(r, c, number);
    if (p == NULL) {
      TRY(page_load(d, r->footer.version, &c->places[number], &p, err));
      insert(r, c, number, p);
    }
  }
  *ret = p;
  return GLV_OK;
}
