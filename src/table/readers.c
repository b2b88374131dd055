/* A short list, searched from its start. When two threads open the same file at once, the one that
 * comes second is used once and not kept. */
#include "table/readers.h"

kept_readers *kept_readers_new(glv_env *env) {
  kept_readers *k = mem_zalloc(env, sizeof *k);
  if (k != NULL) {
    mutex_init(&k->lock);
  }
  return k;
}

void kept_readers_free(glv_env *env, kept_readers *k) {
  if (k == NULL) {
    return;
  }
  for (size_t i = 0; i < KEPT_READERS; i++) {
    file_reader_unref(k->list[i].reader);
  }
  mutex_dispose(&k->lock);
  mem_free(env, k);
}

/* With the lock held: the entry of f, or else the one to use for it. */
static kept_reader *entry_of(kept_readers *k, const data_file *f) {
  kept_reader *oldest = &k->list[0];
  for (size_t i = 0; i < KEPT_READERS; i++) {
    if (k->list[i].file == f) {
      return &k->list[i];
    }
    oldest = k->list[i].used < oldest->used ? &k->list[i] : oldest;
  }
  return oldest;
}

file_reader *kept_readers_find(kept_readers *k, const data_file *f) {
  mutex_lock(&k->lock);
  kept_reader *e = entry_of(k, f);
  file_reader *r = e->file == f ? file_reader_ref(e->reader) : NULL;
  if (r != NULL) {
    e->used = ++k->clock;
  }
  mutex_unlock(&k->lock);
  return r;
}

void kept_readers_add(kept_readers *k, const data_file *f, file_reader *r) {
  file_reader *gone = NULL;
  mutex_lock(&k->lock);
  kept_reader *e = entry_of(k, f);
  if (e->file != f) {
    gone = e->reader;
    *e = (kept_reader){f, file_reader_ref(r), ++k->clock};
  }
  mutex_unlock(&k->lock);
  file_reader_unref(gone);
}
