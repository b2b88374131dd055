/*
 * Loading a page: unpack its layout message into the page's own arena, dispatch on the layout.
 */
#include "format/page.h"

#include "pb/pb.h"

/* About what the arena and the messages of a small page take. */
enum { PAGE_OVERHEAD = 4096 };

static glv_status load_layout(decoder *d, format_version version, const page_place *where, page *p,
                              glv_error *err) {
  ProtobufCMessage *message = NULL;
  TRY(pb_unpack(&p->memory, where->layout, &lance__encodings21__page_layout__descriptor,
                "page layout", &message, err));
  const Lance__Encodings21__PageLayout *m = (const Lance__Encodings21__PageLayout *)message;
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
    return FAIL(err, GLV_E_UNSUPPORTED, "blob pages are not supported");
  case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT__NOT_SET:
  case _LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT__CASE_IS_INT_SIZE:
    break;
  }
  return FAIL(err, GLV_E_UNSUPPORTED, "an unknown page layout is not supported");
}

glv_status page_load(decoder *d, format_version version, const page_place *where, page **ret,
                     glv_error *err) {
  CLEANUP(page_cleanup) page *p = mem_zalloc(d->env, sizeof *p);
  if (p == NULL) {
    return error_nomem(err, sizeof *p);
  }
  p->env = env_ref(d->env);
  atomic_init(&p->refs, 1);
  arena_init_small(&p->memory, d->env);
  p->rows = where->rows;
  p->memory_bytes = sizeof *p + PAGE_OVERHEAD + 8 * where->layout.size;
  TRY(load_layout(d, version, where, p, err));
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
  arena_dispose(&p->memory);
  glv_env *env = p->env;
  mem_free(env, p);
  env_unref(env);
}

void page_cleanup(page **p) { page_unref(*p); }

glv_status page_read(decoder *d, const page *p, const wanted *w, sink *s, glv_error *err) {
  switch (p->kind) {
  case PAGE_MINI:
    return mini_read(d, &p->mini, w, s, err);
  case PAGE_ZIP:
    return zip_read(d, &p->zip, w, s, err);
  case PAGE_CONSTANT:
    return constant_read(&p->constant, w, s, err);
  }
  return FAIL(err, GLV_E_INTERNAL, "a page of no kind");
}

glv_status layers_of_items(const Lance__Encodings21__RepDefLayer *layers, size_t count,
                           glv_error *err) {
  if (count == 0) {
    return FAIL(err, GLV_E_CORRUPT, "the page has no layers");
  }
  for (size_t i = 0; i < count; i++) {
    switch ((int)layers[i]) {
    case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM:
    case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM:
      break;
    case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_LIST:
    case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_LIST:
    case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_EMPTYABLE_LIST:
    case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULL_AND_EMPTY_LIST:
      return FAIL(err, GLV_E_UNSUPPORTED, "lists that hold items are not supported");
    default: /* a number from the file */
      return FAIL(err, GLV_E_CORRUPT, "the page has a layer of unknown kind %d", (int)layers[i]);
    }
  }
  return GLV_OK;
}
