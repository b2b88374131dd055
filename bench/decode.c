/*
 * How fast are the columns of a data file decoded? `glaive_bench_decode FILE [WINDOW [TIMES]]`
 * reads every column in windows and prints the best processor time of the runs as JSON, one object
 * a column.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/checked.h"
#include "format/file_reader.h"
#include "io/io.h"

enum { WINDOW = 65536, TIMES = 5 };

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static glv_status read_column(file_reader *r, const field_place *place, uint64_t window,
                              glv_error *err) {
  const uint64_t rows = file_reader_rows(r);
  for (uint64_t first = 0; first < rows; first += window) {
    array a = {0};
    const uint64_t count = u64_min(window, rows - first);
    TRY(file_reader_read_field(r, place, first, count, NULL, 0, &a, err));
    array_unref(&a);
  }
  return GLV_OK;
}

static glv_status measure_field(file_reader *r, const field_place *place, uint64_t window,
                                int times, glv_error *err) {
  double best = 0;
  for (int n = 0; n < times; n++) {
    const double start = now_ms();
    TRY(read_column(r, place, window, err));
    const double spent = now_ms() - start;
    best = n == 0 || spent < best ? spent : best;
  }
  printf("{\"column\": \"%s\", \"ms\": %.3f, \"ns_per_row\": %.3f}\n", place->field->name, best,
         best * 1e6 / (double)u64_max(file_reader_rows(r), 1));
  return GLV_OK;
}

static glv_status measure(file_reader *r, arena *a, uint64_t window, int times, glv_error *err) {
  const lance_schema *s;
  TRY(file_reader_schema(r, &s, err));
  for (size_t i = 0; i < s->field_count; i++) {
    field_place place;
    if (s->fields[i].is_supported) {
      TRY(file_reader_place(r, s, &s->fields[i], a, &place, err));
      TRY(measure_field(r, &place, window, times, err));
    }
  }
  return GLV_OK;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: glaive_bench_decode FILE [WINDOW [TIMES]]\n");
    return 2;
  }
  const uint64_t window = argc > 2 ? strtoull(argv[2], NULL, 10) : WINDOW;
  const int times = argc > 3 ? atoi(argv[3]) : TIMES;
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.io = io_local();
  glv_env *env;
  file_reader *r = NULL;
  glv_error err = {0};
  glv_status status = env_new(&options, &env, &err);
  if (status == GLV_OK) {
    status = file_reader_open(env, NULL, argv[1], &r, &err);
    if (status == GLV_OK) {
      arena a;
      arena_init(&a, env);
      status = measure(r, &a, u64_max(window, 1), times, &err);
      arena_dispose(&a);
    }
    file_reader_unref(r);
    env_unref(env);
  }
  if (status != GLV_OK) {
    fprintf(stderr, "%s\n", err.message);
  }
  return status != GLV_OK;
}
