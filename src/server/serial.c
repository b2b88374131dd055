/* Queues of requests, by the table that they change. The one that is being handled stands first. */
#include "server/serial.h"

#include "base/hash.h"

enum { BUCKETS = 256 };

struct serial {
  glv_env *env;
  mutex lock;
  exchange *buckets[BUCKETS]; /* the first of each queue; queues of a bucket by serial_bucket */
};

glv_status serial_new(glv_env *env, serial **ret, glv_error *err) {
  serial *s = mem_zalloc(env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  s->env = env;
  mutex_init(&s->lock);
  *ret = s;
  return GLV_OK;
}

void serial_free(serial *s) {
  if (s != NULL) {
    mutex_dispose(&s->lock);
    mem_free(s->env, s);
  }
}

/* Where the first request of the queue of that key is linked, or would be. */
static exchange **queue_of(serial *s, str key) {
  exchange **at = &s->buckets[hash_bytes(key.data, key.size) % BUCKETS];
  while (*at != NULL && !str_equal((*at)->serial_key, key)) {
    at = &(*at)->serial_bucket;
  }
  return at;
}

bool serial_enter(serial *s, exchange *x) {
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  exchange **first = queue_of(s, x->serial_key);
  x->serial_next = NULL;
  x->serial_bucket = NULL;
  if (*first == NULL) {
    x->serial_last = x;
    *first = x;
    return true;
  }
  (*first)->serial_last->serial_next = x;
  (*first)->serial_last = x;
  return false;
}

exchange *serial_leave(serial *s, exchange *x) {
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  exchange **first = queue_of(s, x->serial_key);
  exchange *next = x->serial_next;
  if (next != NULL) {
    next->serial_last = x->serial_last;
    next->serial_bucket = x->serial_bucket;
    *first = next;
  } else {
    *first = x->serial_bucket;
  }
  return next;
}
