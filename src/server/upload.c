/*
 * The bytes lie in one buffer from `position` on. They are moved to its start when the room behind
 * them is used up, so a byte is copied once more at most for each time the buffer fills.
 */
#include "server/upload.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/thread.h"

enum upload_state { UPLOAD_OPEN, UPLOAD_COMPLETE, UPLOAD_BROKEN, UPLOAD_IGNORED };

struct upload {
  glv_env *env;
  mutex lock;
  condition changed; /* bytes came, or the state changed */
  buf bytes;
  size_t position;
  size_t capacity;
  enum upload_state state;
  bool wants_room;
  glv_error why; /* UPLOAD_BROKEN */
  void (*room)(void *context);
  void *context;
};

glv_status upload_new(glv_env *env, buf *start, size_t capacity, void (*room)(void *context),
                      void *context, upload **ret, glv_error *err) {
  upload *u = mem_zalloc(env, sizeof *u);
  if (u == NULL) {
    return error_nomem(err, sizeof *u);
  }
  *u = (upload){.env = env, .bytes = *start, .room = room, .context = context};
  buf_init(start, env, start->max);
  u->capacity = size_max(u->bytes.size, capacity);
  mutex_init(&u->lock);
  condition_init(&u->changed);
  *ret = u;
  return GLV_OK;
}

void upload_free(upload *u) {
  if (u != NULL) {
    buf_dispose(&u->bytes);
    condition_dispose(&u->changed);
    mutex_dispose(&u->lock);
    mem_free(u->env, u);
  }
}

static void compact(upload *u) {
  const size_t left = u->bytes.size - u->position;
  if (left != 0 && u->position != 0) {
    memmove(u->bytes.data, u->bytes.data + u->position, left);
  }
  u->bytes.size = left;
  u->position = 0;
}

size_t upload_put(upload *u, const void *data, size_t size) {
  CLEANUP(mutex_cleanup) mutex *held = &u->lock;
  mutex_lock(held);
  if (u->state != UPLOAD_OPEN) {
    return size;
  }
  if (u->bytes.size + size > u->capacity) {
    compact(u);
  }
  const size_t taken = size_min(size, u->capacity - u->bytes.size);
  if (taken != 0 && buf_append(&u->bytes, data, taken, NULL) != GLV_OK) {
    error_report_nomem(&u->why, taken);
    u->state = UPLOAD_BROKEN;
    condition_signal_all(&u->changed);
    return size;
  }
  u->wants_room = taken < size;
  condition_signal_all(&u->changed);
  return taken;
}

void upload_end(upload *u) {
  CLEANUP(mutex_cleanup) mutex *held = &u->lock;
  mutex_lock(held);
  u->state = u->state == UPLOAD_OPEN ? UPLOAD_COMPLETE : u->state;
  condition_signal_all(&u->changed);
}

/* Changes the state and lets a writer go on that waits. why: UPLOAD_BROKEN. */
static void close_with(upload *u, enum upload_state state, const glv_error *why) {
  mutex_lock(&u->lock);
  if (state == UPLOAD_IGNORED) {
    u->state = state;
  } else if (u->state == UPLOAD_OPEN) {
    u->state = state;
    u->why = *why;
  }
  const bool wakes = u->wants_room;
  u->wants_room = false;
  condition_signal_all(&u->changed);
  mutex_unlock(&u->lock);
  if (wakes) {
    u->room(u->context);
  }
}

void upload_break(upload *u, const glv_error *why) { close_with(u, UPLOAD_BROKEN, why); }
void upload_ignore(upload *u) { close_with(u, UPLOAD_IGNORED, NULL); }

/* Waits for bytes; *ret_size 0 = the end. Takes them with the lock held. */
static glv_status take(upload *u, void *data, size_t size, size_t *ret_size, bool *ret_wakes,
                       glv_error *err) {
  CLEANUP(mutex_cleanup) mutex *held = &u->lock;
  mutex_lock(held);
  while (u->state == UPLOAD_OPEN && u->position == u->bytes.size) {
    condition_wait(&u->changed, held);
  }
  if (u->state == UPLOAD_BROKEN) {
    return error_pass(err, &u->why);
  }
  const size_t taken = size_min(size, u->bytes.size - u->position);
  if (taken != 0) {
    memcpy(data, u->bytes.data + u->position, taken);
    u->position += taken;
  }
  *ret_size = taken;
  /* The writer is woken when half of the room is free, not for every read. */
  *ret_wakes = u->wants_room && u->bytes.size - u->position <= u->capacity / 2;
  u->wants_room = u->wants_room && !*ret_wakes;
  return GLV_OK;
}

static glv_status upload_read(void *context, void *data, size_t size, size_t *ret_read,
                              glv_error *err) {
  upload *u = context;
  bool wakes = false;
  TRY(take(u, data, size, ret_read, &wakes, err));
  if (wakes) {
    u->room(u->context);
  }
  return GLV_OK;
}

byte_source upload_source(upload *u) { return (byte_source){.read = upload_read, .context = u}; }
