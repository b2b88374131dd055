/*
 * Columns and pages of an open file. The metadata of a column is parsed on first use and kept. Of
 * each column the pages used last are kept, at most CACHED_PAGES of them and only as long as all
 * cached pages of the file together stay below CACHE_BYTES (one page is always kept, so a scan of a
 * page in many windows loads it once).
 *
 * A thread that needs a page which is not there loads it while holding the column's `loading`
 * mutex; others that need it wait there instead of loading it again. The lock of the reader is held
 * for look-ups only.
 */
#include "format/file_reader_private.h"

#define CACHE_BYTES ((size_t)128 << 20)

void column_free(file_reader *r, column_state *c) {
  if (c == NULL) {
    return;
  }
  for (size_t i = 0; i < CACHED_PAGES; i++) {
    page_unref(c->pages[i]);
  }
  arena_dispose(&c->memory);
  mutex_dispose(&c->loading);
  mem_free(r->env, c);
}

static column_state *column_new(glv_env *env) {
  column_state *c = mem_zalloc(env, sizeof *c);
  if (c != NULL) {
    arena_init(&c->memory, env);
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

/* With r->lock held: a reference to a cached page, or NULL. */
static page *find(file_reader *r, column_state *c, size_t number) {
  for (size_t i = 0; i < CACHED_PAGES; i++) {
    if (c->pages[i] != NULL && c->page_numbers[i] == number) {
      c->page_used[i] = ++r->clock;
      return page_ref(c->pages[i]);
    }
  }
  return NULL;
}

static page *find_locked(file_reader *r, column_state *c, size_t number) {
  mutex_lock(&r->lock);
  page *p = find(r, c, number);
  mutex_unlock(&r->lock);
  return p;
}

/* The slot to fill next: a free one, else the one used longest ago. */
static size_t victim(const column_state *c) {
  size_t slot = 0;
  for (size_t i = 0; i < CACHED_PAGES; i++) {
    if (c->pages[i] == NULL) {
      return i;
    }
    if (c->page_used[i] < c->page_used[slot]) {
      slot = i;
    }
  }
  return slot;
}

static page *take_out(file_reader *r, column_state *c, size_t slot) {
  page *old = c->pages[slot];
  if (old != NULL) {
    r->cached_bytes -= old->memory_bytes;
    c->pages[slot] = NULL;
  }
  return old;
}

/* Keep p; what has to go is released after the lock. */
static void insert(file_reader *r, column_state *c, size_t number, page *p) {
  page *gone[CACHED_PAGES] = {NULL};
  mutex_lock(&r->lock);
  size_t slot = victim(c);
  gone[0] = take_out(r, c, slot);
  for (size_t i = 0, n = 1; i < CACHED_PAGES; i++) {
    if (i != slot && c->pages[i] != NULL && r->cached_bytes + p->memory_bytes > CACHE_BYTES) {
      gone[n++] = take_out(r, c, i);
    }
  }
  c->pages[slot] = page_ref(p);
  c->page_numbers[slot] = number;
  c->page_used[slot] = ++r->clock;
  r->cached_bytes += p->memory_bytes;
  mutex_unlock(&r->lock);
  for (size_t i = 0; i < CACHED_PAGES; i++) {
    page_unref(gone[i]);
  }
}

glv_status reader_page(file_reader *r, decoder *d, column_state *c, size_t number, page **ret,
                       glv_error *err) {
  page *p = find_locked(r, c, number);
  if (p == NULL) {
    CLEANUP(mutex_cleanup) mutex *held = &c->loading;
    mutex_lock(held);
    p = find_locked(r, c, number);
    if (p == NULL) {
      TRY(page_load(d, r->footer.version, &c->places[number], &p, err));
      insert(r, c, number, p);
    }
  }
  *ret = p;
  return GLV_OK;
}
