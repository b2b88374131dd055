/* A counted flag and two counters; a token may have a parent, whose flag counts too, and which
 * counts along. */
#include "base/cancel.h"

#include <stdatomic.h>

struct glv_cancel {
  atomic_size_t refs;
  atomic_bool requested;
  atomic_uint_fast64_t done;
  atomic_uint_fast64_t total;
  glv_env *env;              /* a reference */
  struct glv_cancel *parent; /* a reference, or NULL */
};

glv_status cancel_new(glv_env *env, cancel_token *parent, cancel_token **ret, glv_error *err) {
  cancel_token *c = mem_alloc(env, sizeof *c);
  if (c == NULL) {
    return error_nomem(err, sizeof *c);
  }
  atomic_init(&c->refs, 1);
  atomic_init(&c->requested, false);
  atomic_init(&c->done, 0);
  atomic_init(&c->total, 0);
  c->env = env_ref(env);
  c->parent = cancel_ref(parent);
  *ret = c;
  return GLV_OK;
}

cancel_token *cancel_ref(cancel_token *c) {
  if (c != NULL) {
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
  }
  return c;
}

void cancel_unref(cancel_token *c) {
  if (c != NULL && atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1) {
    glv_env *env = c->env;
    cancel_unref(
        c->parent); /* NOLINT(misc-no-recursion): chains are as short as the code that makes them */
    mem_free(env, c);
    env_unref(env);
  }
}

void cancel_request(cancel_token *c) {
  atomic_store_explicit(&c->requested, true, memory_order_relaxed);
}

bool cancel_is_requested(const cancel_token *c) {
  for (; c != NULL; c = c->parent) {
    if (atomic_load_explicit(&c->requested, memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

glv_status cancel_check(const cancel_token *c, glv_error *err) {
  return cancel_is_requested(c) ? FAIL(err, GLV_E_CANCELLED, "cancelled") : GLV_OK;
}

void cancel_expect(cancel_token *c, uint64_t rows) {
  for (; c != NULL; c = c->parent) {
    atomic_fetch_add_explicit(&c->total, rows, memory_order_relaxed);
  }
}

void cancel_advance(cancel_token *c, uint64_t rows) {
  for (; c != NULL; c = c->parent) {
    atomic_fetch_add_explicit(&c->done, rows, memory_order_relaxed);
  }
}

void cancel_progress(const cancel_token *c, uint64_t *ret_done, uint64_t *ret_total) {
  *ret_done = atomic_load_explicit(&c->done, memory_order_relaxed);
  *ret_total = atomic_load_explicit(&c->total, memory_order_relaxed);
}

void cancel_cleanup(cancel_token **c) { cancel_unref(*c); }
