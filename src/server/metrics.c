/* Each route has a counter per status and a histogram of durations; all of them are added to
 * without locks, so that a reading may be a request apart between two lines. */
#include "server/metrics.h"

#include <stdatomic.h>

#include "base/error.h"

/* Statuses that the server answers with; what else there may be counts as 0. */
static const unsigned short statuses[] = {200, 202, 204, 206, 400, 401, 403, 404, 405,
                                          409, 412, 413, 431, 500, 501, 503, 0};
/* Upper ends of the buckets in microseconds; above the last one is the rest. */
static const uint32_t bucket_us[] = {100,     250,     500,     1000,     2500,    5000,
                                     10000,   25000,   50000,   100000,   250000,  500000,
                                     1000000, 2500000, 5000000, 10000000, 60000000};

enum {
  STATUS_COUNT = sizeof statuses / sizeof statuses[0],
  BUCKET_COUNT = sizeof bucket_us / sizeof bucket_us[0]
};

typedef struct route_metrics {
  atomic_uint_fast64_t by_status[STATUS_COUNT];
  atomic_uint_fast64_t by_bucket[BUCKET_COUNT + 1];
  atomic_uint_fast64_t duration_ns;
} route_metrics;

struct metrics {
  glv_env *env;
  size_t count; /* of routes; one more is there for requests without one */
  atomic_uint_fast64_t bytes_in;
  atomic_uint_fast64_t bytes_out;
  route_metrics routes[];
};

glv_status metrics_new(glv_env *env, size_t route_count, metrics **ret, glv_error *err) {
  const size_t size = sizeof(metrics) + (route_count + 1) * sizeof(route_metrics);
  metrics *m = mem_zalloc(env, size);
  if (m == NULL) {
    return error_nomem(err, size);
  }
  m->env = env;
  m->count = route_count;
  *ret = m;
  return GLV_OK;
}

void metrics_free(metrics *m) {
  if (m != NULL) {
    mem_free(m->env, m);
  }
}

static void add(atomic_uint_fast64_t *counter, uint64_t value) {
  atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

static uint64_t get(const atomic_uint_fast64_t *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

void metrics_add(metrics *m, size_t number, unsigned status, uint64_t duration_ns,
                 uint64_t bytes_in, uint64_t bytes_out) {
  route_metrics *r = &m->routes[number < m->count ? number : m->count];
  size_t s = 0;
  while (statuses[s] != 0 && statuses[s] != status) {
    s++;
  }
  size_t b = 0;
  while (b < BUCKET_COUNT && duration_ns > (uint64_t)bucket_us[b] * 1000) {
    b++;
  }
  add(&r->by_status[s], 1);
  add(&r->by_bucket[b], 1);
  add(&r->duration_ns, duration_ns);
  add(&m->bytes_in, bytes_in);
  add(&m->bytes_out, bytes_out);
}

static glv_status print_head(buf *out, const char *name, const char *kind, const char *help,
                             glv_error *err) {
  return buf_printf(out, err, "# HELP glaive_%s %s\n# TYPE glaive_%s %s\n", name, help, name, kind);
}

glv_status metrics_print_one(buf *out, const char *name, const char *kind, const char *help,
                             uint64_t value, glv_error *err) {
  TRY(print_head(out, name, kind, help, err));
  return buf_printf(out, err, "glaive_%s %llu\n", name, (unsigned long long)value);
}

static const char *method_of(const route *r) {
  return r == NULL ? "" : (r->flags & ROUTE_POST) != 0 ? "POST" : "GET";
}

static glv_status print_statuses(const route_metrics *m, const route *r, buf *out, glv_error *err) {
  for (size_t s = 0; s < STATUS_COUNT; s++) {
    const uint64_t count = get(&m->by_status[s]);
    if (count != 0) {
      TRY(buf_printf(
          out, err, "glaive_requests_total{route=\"%s\",method=\"%s\",status=\"%u\"} %llu\n",
          r != NULL ? r->pattern : "none", method_of(r), statuses[s], (unsigned long long)count));
    }
  }
  return GLV_OK;
}

static glv_status print_durations(const route_metrics *m, const route *r, buf *out,
                                  glv_error *err) {
  const char *name = r != NULL ? r->pattern : "none";
  const char *method = method_of(r);
  uint64_t sum = 0;
  for (size_t b = 0; b <= BUCKET_COUNT; b++) {
    sum += get(&m->by_bucket[b]);
  }
  if (sum == 0) {
    return GLV_OK;
  }
  uint64_t below = 0;
  for (size_t b = 0; b < BUCKET_COUNT; b++) {
    below += get(&m->by_bucket[b]);
    TRY(buf_printf(out, err,
                   "glaive_request_seconds_bucket{route=\"%s\",method=\"%s\",le=\"%.6g\"} %llu\n",
                   name, method, (double)bucket_us[b] / 1e6, (unsigned long long)below));
  }
  TRY(buf_printf(out, err,
                 "glaive_request_seconds_bucket{route=\"%s\",method=\"%s\",le=\"+Inf\"} %llu\n",
                 name, method, (unsigned long long)sum));
  TRY(buf_printf(out, err, "glaive_request_seconds_sum{route=\"%s\",method=\"%s\"} %.9f\n", name,
                 method, (double)get(&m->duration_ns) / 1e9));
  return buf_printf(out, err, "glaive_request_seconds_count{route=\"%s\",method=\"%s\"} %llu\n",
                    name, method, (unsigned long long)sum);
}

glv_status metrics_print(const metrics *m, const route *(*route_of)(void *context, size_t index),
                         void *context, buf *out, glv_error *err) {
  TRY(print_head(out, "requests_total", "counter", "Requests answered.", err));
  for (size_t i = 0; i <= m->count; i++) {
    TRY(print_statuses(&m->routes[i], i < m->count ? route_of(context, i) : NULL, out, err));
  }
  TRY(print_head(out, "request_seconds", "histogram",
                 "Time from the request line to the end of the answer.", err));
  for (size_t i = 0; i <= m->count; i++) {
    TRY(print_durations(&m->routes[i], i < m->count ? route_of(context, i) : NULL, out, err));
  }
  TRY(metrics_print_one(out, "request_bytes_total", "counter", "Bytes of bodies received.",
                        get(&m->bytes_in), err));
  return metrics_print_one(out, "answer_bytes_total", "counter", "Bytes of bodies sent.",
                           get(&m->bytes_out), err);
}
