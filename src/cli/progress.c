/*
 * A progress line on stderr: what is done, how many rows have passed, how fast. Drawn at most ten
 * times a second, only when stderr is a terminal and the output is for people.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void draw_bar(const progress *p) {
  enum { BAR_WIDTH = 30 };
  const uint64_t part = p->position < p->total ? p->position : p->total;
  const int filled = (int)((double)part / (double)p->total * BAR_WIDTH);
  fputs(" [", stderr);
  for (int i = 0; i < BAR_WIDTH; i++) {
    fputc(i < filled ? '#' : '.', stderr);
  }
  fprintf(stderr, "] %3d %%", (int)((double)part / (double)p->total * 100));
}

static void draw(progress *p, int64_t now) {
  fprintf(stderr, "\r\033[K%s", p->what);
  if (p->total > 0) {
    draw_bar(p);
  }
  if (p->rows > 0) {
    fprintf(stderr, " %" PRIu64 " rows", p->rows);
  }
  fprintf(stderr, " %.1f s", (double)(now - p->started_ns) / 1e9);
  fflush(stderr);
  p->drawn_ns = now;
}

void progress_start(cli *c, progress *p, const char *what) {
  *p = (progress){
      .visible = !c->json && isatty(STDERR_FILENO) == 1, .what = what, .started_ns = now_ns()};
  if (p->visible) {
    draw(p, p->started_ns);
  }
}

void progress_add(progress *p, uint64_t rows, uint64_t position) {
  enum { INTERVAL_NS = 100000000 };
  p->rows += rows;
  p->position = position;
  if (p->visible) {
    const int64_t now = now_ns();
    if (now - p->drawn_ns >= INTERVAL_NS) {
      draw(p, now);
    }
  }
}

void progress_end(progress *p) {
  if (p->visible) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
  }
}
