/*
 * Loading a page: unpack its layout message into the page's own arena, dispatch on the layout.
 */
#include "format/page.h"

#include "format/old_page.h"
#include "pb/pb.h"

/* About what the arena and the messages of a small page take. */
enum { PAGE_OVERHEAD = 4096 };

glv_status page_load_layout(decoder *d, format_version version, const page_place *where,
                            const Lance__Encodings21__PageLayout *m, page *p, glv_error *err) {
  switch (m->layout_case) {
  case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_MINI_BLOCK:
    p->kind = PAGE_MINI;
    return mini_load(d, version, where, m->mini_block, p, err);
  case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_CONSTANT:
    p->kind = PAGE_CONSTANT;
    return constant_load(d, version, where, m->constant, p, err);
  case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP:
    p->kind = PAGE_ZIP;
    return zip_load(where, m->full_zip, p, err);
  case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_BLOB:
    p->kind = PAGE_BLOB;
    return blob_load(d, version, where, m->blob, p, err);
  case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT__NOT_SET:
  case _LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT__CASE_IS_INT_SIZE:
    break;
  }
  return FAIL(err, GLV_E_UNSUPPORTED, "an unknown page layout is not supported");
}

static glv_status unpack_layout(decoder *d, format_version version, const page_place *where,
                                page *p, glv_error *err) {
  ProtobufCMessage *message = NULL;
  TRY(pb_unpack(&p->memory, where->layout, &lance__encodings21__page_layout__descriptor,
                "page layout", &message, err));
  return page_load_layout(d, version, where, (const Lance__Encodings21__PageLayout *)message, p,
                          err);
}

page *page_new(glv_env *env, const page_place *where) {
  page *p = mem_zalloc(env, sizeof *p);
  if (p != NULL) {
    p->env = env_ref(env);
    atomic_init(&p->refs, 1);
    arena_init_small(&p->memory, env);
    p->rows = where->rows;
    p->memory_bytes = sizeof *p + PAGE_OVERHEAD + 8 * where->layout.size;
  }
  return p;
}

glv_status page_load(decoder *d, format_version version, const page_place *where, page **ret,
                     glv_error *err) {
  CLEANUP(page_cleanup) page *p = page_new(d->env, where);
  if (p == NULL) {
    return error_nomem(err, sizeof *p);
  }
  if (version == FORMAT_2_0) {
    p->kind = PAGE_OLD;
    TRY(old_encoding_load(d, &p->memory, where, &p->memory_bytes, &p->old, err));
  } else {
    TRY(unpack_layout(d, version, where, p, err));
  }
  *ret = p;
  p = NULL;
  return GLV_OK;
}

page *page_ref(page *p) {
  atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
  return p;
}

void page_unref(page *p) {
  if (p == NULL || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) {
    return;
  }
  if (p->kind == PAGE_BLOB) {
    page_unref(p->blob); /* which is of another kind */
  }
  arena_dispose(&p->memory);
  glv_env *env = p->env;
  mem_free(env, p);
  env_unref(env);
}

void page_cleanup(page **p) { page_unref(*p); }

glv_status page_read(decoder *d, const page *p, const wanted *w, sink *s, glv_error *err) {
  s->page = &p->levels;
  s->dictionary = NULL; /* that of another page may have been in the same place */
  const bool has_values = p->kind == PAGE_CONSTANT ? p->constant.has_value : true;
  const bool has_dictionary =
      p->kind == PAGE_OLD || (p->kind == PAGE_MINI && p->mini.dictionary != NULL);
  if (s->s.is_dictionary && has_values && !has_dictionary) {
    return FAIL(err, GLV_E_CORRUPT, "a page without dictionary for type %s", TYPE_TEXT(s->f->type));
  }
  switch (p->kind) {
  case PAGE_MINI:
    return mini_read(d, &p->mini, &p->levels, w, s, err);
  case PAGE_ZIP:
    return zip_read(d, p, w, s, err);
  case PAGE_CONSTANT:
    return constant_read(d, p, w, s, err);
  case PAGE_BLOB:
    return blob_read(d, p, w, s, err);
  case PAGE_OLD:
    return old_page_read(d, p->old, p->rows, w, s, err);
  }
  return FAIL(err, GLV_E_INTERNAL, "a page of no kind");
}

glv_status page_read_layers(page *p, const Lance__Encodings21__RepDefLayer *layers, size_t count,
                            glv_error *err) {
  int kinds[LEVEL_LAYERS];
  for (size_t i = 0; i < count && i < LEVEL_LAYERS; i++) {
    kinds[i] = (int)layers[i];
  }
  return page_levels_init(&p->memory, kinds, count, &p->levels, err);
}

glv_status page_set_items(page *p, uint64_t items, glv_error *err) {
  if (p->levels.max_rep == 0 && items != p->rows) {
    return FAIL(err, GLV_E_CORRUPT, "a page of %llu rows holds %llu values",
                (unsigned long long)p->rows, (unsigned long long)items);
  }
  p->items = items;
  return GLV_OK;
}
