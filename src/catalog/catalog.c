/* Opening a database and holding on to it. */
#include "catalog/catalog_private.h"

static void catalog_free(catalog *c) {
  glv_env *env = c->env;
  manifest_unref(c->cached);
  mutex_dispose(&c->lock);
  mem_free(env, c->root);
  mem_free(env, c);
  env_unref(env);
}

catalog *catalog_ref(catalog *c) {
  atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
  return c;
}

void catalog_unref(catalog *c) {
  if (c != NULL && atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1) {
    catalog_free(c);
  }
}

void catalog_cleanup(catalog **c) { catalog_unref(*c); }
const char *catalog_root(const catalog *c) { return c->root; }
catalog_kind catalog_kind_of(const catalog *c) { return c->kind; }
glv_env *catalog_env(const catalog *c) { return c->env; }

/* The directory exists from here on; its identity is the key of the lock around changes. */
static glv_status open_root(catalog *c, glv_error *err) {
  TRY(io_make_dirs(c->env, c->root, err));
  glv_io_stat st;
  TRY(io_stat(c->env, NULL, c->root, &st, err));
  c->device = st.device;
  c->inode = st.inode;
  return manifest_check_readable(c, err); /* what demands a newer reader refuses every connection */
}

glv_status catalog_open(glv_env *env, const char *root, catalog_kind kind, catalog **ret,
                        glv_error *err) {
  CLEANUP(catalog_cleanup) catalog *c = mem_zalloc(env, sizeof *c);
  if (c == NULL) {
    return error_nomem(err, sizeof *c);
  }
  atomic_init(&c->refs, 1);
  c->env = env_ref(env);
  c->kind = kind;
  mutex_init(&c->lock);
  c->root = mem_strndup(env, root, strlen(root));
  if (c->root == NULL) {
    return error_nomem(err, strlen(root) + 1);
  }
  TRY(open_root(c, err));
  *ret = c;
  c = NULL;
  return GLV_OK;
}
