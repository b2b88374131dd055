/*
 * A thread that looks at the running requests ten times a second: at the clock, and, for those
 * whose connection nobody listens to meanwhile, whether the client is still there; and at
 * connections whose client takes too long to say what it wants, however busily it sends single
 * bytes. It also notices new keys and gives up tables that nobody asks for.
 */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "server/tables_private.h"

enum {
  TICK_MS = 100,
  TICKS_PER_POLL = 3,
  TICKS_PER_TRIM = 20,
  HEAD_S = 30,              /* for the head of a request, after the connection was idle */
  POLL_PEER_CLOSED = 0x2000 /* POLLRDHUP, which the headers show to GNU sources only */
};

int64_t server_clock_ns(void) {
  struct timespec now = {0};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void exchange_fire(exchange *x, exchange_end why) {
  int expected = END_NOT;
  if (!atomic_compare_exchange_strong(&x->end, &expected, why)) {
    return;
  }
  glv_cancel_request(x->request.cancel);
  if (x->upload != NULL) {
    glv_error error = {0};
    (void)error_set(&error, why == END_TIME ? GLV_E_TIMEOUT : GLV_E_NETWORK,
                    why == END_TIME   ? "the body did not come within the time limit"
                    : why == END_GONE ? "the client left before the end of the body"
                                      : "the server stops");
    upload_break(x->upload, &error);
  }
}

static int64_t head_deadline_ns(const server *s) {
  return server_clock_ns() + ((int64_t)s->options.idle_timeout_s + HEAD_S) * 1000000000;
}

peer *watch_peer(server *s, int fd, bool is_local) {
  peer *p = mem_zalloc(s->env, sizeof *p);
  if (p == NULL) {
    return NULL;
  }
  p->fd = fd;
  p->is_local = is_local;
  p->unread = -1;
  atomic_init(&p->deadline_ns, head_deadline_ns(s));
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  p->next = s->peers;
  if (p->next != NULL) {
    p->next->previous = p;
  }
  s->peers = p;
  return p;
}

void watch_peer_ends(server *s, peer *p) {
  if (p == NULL) {
    return;
  }
  mutex_lock(&s->lock);
  if (p->previous != NULL) {
    p->previous->next = p->next;
  } else {
    s->peers = p->next;
  }
  if (p->next != NULL) {
    p->next->previous = p->previous;
  }
  mutex_unlock(&s->lock);
  mem_free(s->env, p);
}

void watch_head(const server *s, peer *p, bool is_awaited) {
  if (p != NULL) {
    atomic_store(&p->deadline_ns, is_awaited ? head_deadline_ns(s) : 0);
  }
}

void watch_add(exchange *x) {
  server *s = x->server;
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  x->is_watched = true;
  x->next = s->running;
  x->previous = NULL;
  if (s->running != NULL) {
    s->running->previous = x;
  }
  s->running = x;
  s->running_count++;
}

void watch_remove(exchange *x) {
  server *s = x->server;
  CLEANUP(mutex_cleanup) mutex *held = &s->lock;
  mutex_lock(held);
  if (!x->is_watched) {
    return;
  }
  x->is_watched = false;
  if (x->previous != NULL) {
    x->previous->next = x->next;
  } else {
    s->running = x->next;
  }
  if (x->next != NULL) {
    x->next->previous = x->previous;
  }
  s->running_count--;
  if (s->running_count == 0 && atomic_load(&s->stopping)) {
    condition_signal_all(&s->changed);
  }
}

static bool has_left(int fd) {
  struct pollfd p = {.fd = fd, .events = POLL_PEER_CLOSED};
  return poll(&p, 1, 0) > 0 && (p.revents & (POLL_PEER_CLOSED | POLLHUP | POLLERR)) != 0;
}

/* Whether a client that is still to say something has closed its side, and nothing was read since
 * the last look. The HTTP library overlooks the end when it comes together with the last bytes. */
static bool is_stuck(peer *p) {
  int unread = 0;
  if (!has_left(p->fd) || ioctl(p->fd, FIONREAD, &unread) != 0) {
    p->unread = -1;
    return false;
  }
  const bool is_same = p->unread == unread;
  p->unread = unread;
  return is_same;
}

static bool waits_for_room(exchange *x) {
  CLEANUP(mutex_cleanup) mutex *held = &x->lock;
  mutex_lock(held);
  return x->waits_for_room;
}

/* With the lock held, so that no exchange ends (and no socket is closed) meanwhile. */
static void look_at(exchange *x, int64_t now_ns, bool polls) {
  const int64_t deadline_ns = atomic_load(&x->deadline_ns);
  const bool awaits_body = atomic_load(&x->awaits_body);
  if (deadline_ns != 0 && now_ns > deadline_ns && atomic_load(&x->end) == END_NOT) {
    exchange_fire(x, END_TIME);
    if (awaits_body && x->upload == NULL) {
      (void)shutdown(x->fd, SHUT_RDWR); /* there is no handler that could answer */
    }
  } else if (polls && atomic_load(&x->is_suspended)) {
    if (has_left(x->fd)) {
      exchange_fire(x, END_GONE);
    }
  } else if (polls && awaits_body && x->peer != NULL && !waits_for_room(x) && is_stuck(x->peer)) {
    (void)shutdown(x->fd, SHUT_RDWR);
  }
}

/* With the lock held. */
static void look_at_all(server *s, unsigned tick) {
  const int64_t now_ns = server_clock_ns();
  const bool polls = tick % TICKS_PER_POLL == 0;
  for (exchange *x = s->running; x != NULL; x = x->next) {
    look_at(x, now_ns, polls);
  }
  for (peer *p = polls ? s->peers : NULL; p != NULL; p = p->next) {
    const int64_t deadline_ns = atomic_load(&p->deadline_ns);
    if (deadline_ns != 0 && (now_ns > deadline_ns || is_stuck(p))) {
      (void)shutdown(p->fd, SHUT_RDWR); /* the thread that it belongs to notices */
    }
  }
}

static void *run(void *argument) {
  server *s = argument;
  unsigned tick = 0;
  mutex_lock(&s->lock);
  while (!s->watch_ends) {
    tick++;
    look_at_all(s, tick);
    mutex_unlock(&s->lock);
    keys_refresh(s->keys);
    if (tick % TICKS_PER_TRIM == 0) {
      table_cache_idle(s->tables);
    }
    mutex_lock(&s->lock);
    if (!s->watch_ends) {
      condition_wait_ms(&s->changed, &s->lock, TICK_MS);
    }
  }
  mutex_unlock(&s->lock);
  return NULL;
}

glv_status watch_start(server *s, glv_error *err) {
  const int result = pthread_create(&s->watch_thread, NULL, run, s);
  s->has_watch = result == 0;
  return result == 0 ? GLV_OK
                     : error_set_errno(err, GLV_E_IO, result, "no thread could be started");
}

void watch_stop(server *s) {
  if (s->has_watch) {
    mutex_lock(&s->lock);
    s->watch_ends = true;
    condition_signal_all(&s->changed);
    mutex_unlock(&s->lock);
    pthread_join(s->watch_thread, NULL);
    s->has_watch = false;
  }
}
