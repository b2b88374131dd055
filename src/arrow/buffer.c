/*
 * Counted memory for column data. Own memory comes in multiples of 64 bytes at multiples of 64; the
 * bytes between size and the next multiple of 64 are zero, so kernels may read whole words there.
 * Each buffer keeps its environment alive, because exported arrays outlive every handle.
 */
#include "arrow/array.h"

enum { BUFFER_STEP = 64 };

/* Memory for size bytes; false when the sum overflows. Empty buffers get one step, too. */
static bool capacity_for(size_t size, size_t *ret) {
  if (size > SIZE_MAX - BUFFER_STEP) {
    return false;
  }
  *ret = size == 0 ? BUFFER_STEP : (size_t)align_up(size, BUFFER_STEP);
  return true;
}

static void pad(buffer *b) {
  const size_t end = size_min((size_t)align_up(b->size, BUFFER_STEP), b->capacity);
  memset(b->data + b->size, 0, end - b->size);
}

static buffer *new_object(glv_env *env) {
  buffer *b = mem_zalloc(env, sizeof *b);
  if (b != NULL) {
    atomic_init(&b->refs, 1);
    b->env = env_ref(env);
  }
  return b;
}

glv_status buffer_new(glv_env *env, size_t size, buffer **ret, glv_error *err) {
  size_t capacity;
  if (!capacity_for(size, &capacity)) {
    return error_nomem(err, size);
  }
  uint8_t *data = mem_alloc_aligned(env, capacity);
  if (data == NULL) {
    return error_nomem(err, capacity);
  }
  buffer *b = new_object(env);
  if (b == NULL) {
    mem_free_aligned(env, data, capacity);
    return error_nomem(err, sizeof *b);
  }
  b->data = data;
  b->size = size;
  b->capacity = capacity;
  pad(b);
  *ret = b;
  return GLV_OK;
}

glv_status buffer_new_zeroed(glv_env *env, size_t size, buffer **ret, glv_error *err) {
  TRY(buffer_new(env, size, ret, err));
  memset((*ret)->data, 0, size);
  return GLV_OK;
}

glv_status buffer_wrap(glv_env *env, const void *data, size_t size, void (*release)(void *owner),
                       void *owner, buffer **ret, glv_error *err) {
  buffer *b = new_object(env);
  if (b == NULL) {
    release(owner);
    return error_nomem(err, sizeof *b);
  }
  b->data = (uint8_t *)(uintptr_t)data; /* nobody writes to a shared buffer */
  b->size = b->capacity = size;
  b->release = release;
  b->owner = owner;
  *ret = b;
  return GLV_OK;
}

glv_status buffer_resize(buffer *b, size_t size, glv_error *err) {
  size_t capacity;
  if (b->release != NULL || atomic_load_explicit(&b->refs, memory_order_relaxed) != 1) {
    return FAIL(err, GLV_E_INTERNAL, "a shared buffer cannot change its size");
  }
  if (!capacity_for(size, &capacity)) {
    return error_nomem(err, size);
  }
  if (capacity > b->capacity) {
    uint8_t *data = mem_resize_aligned(b->env, b->data, b->capacity, capacity);
    if (data == NULL) {
      return error_nomem(err, capacity);
    }
    b->data = data;
    b->capacity = capacity;
  }
  b->size = size;
  pad(b);
  return GLV_OK;
}

buffer *buffer_ref(buffer *b) {
  if (b != NULL) {
    atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
  }
  return b;
}

void buffer_unref(buffer *b) {
  if (b == NULL || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) {
    return;
  }
  if (b->release != NULL) {
    b->release(b->owner);
  } else {
    mem_free_aligned(b->env, b->data, b->capacity);
  }
  glv_env *env = b->env;
  mem_free(env, b);
  env_unref(env);
}

void buffer_cleanup(buffer **b) { buffer_unref(*b); }
