/*
 * The Glaive side of bench/run.py: a process that obeys one command a line and answers with the
 * seconds it took. Handles stay open between commands; rows to write are in memory before the clock
 * starts.
 *
 *   connect DIR | load FILE | create TABLE | append TABLE | view NAME SQL | open NAME |
 *   refresh NAME | rebuild NAME | scan TABLE | project TABLE COLUMNS FILTER |
 *   evaluate EXPRESSION | take TABLE ROW,ROW,... | count TABLE FILTER | memory | quit
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <glaive/glaive.h>

#include "arrow/cdata.h"
#include "arrow/ipc.h"
#include "expr/expr.h"
#include "io/io.h"

enum { MAX_BATCHES = 16384, MAX_HANDLES = 16 };

static glv_env *env;
static glv_conn *conn;
static glv_error err;
static batch batches[MAX_BATCHES];
static size_t batch_count;
static schema *columns;
static struct {
  char name[64];
  glv_view *view;
  glv_table *table;
} handles[MAX_HANDLES];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(glv_status status) {
  if (status != GLV_OK) {
    printf("error %s: %s\n", glv_status_name(status), err.message);
    exit(1);
  }
}

/* ---- rows in memory ---- */

static void load(const char *path) {
  static buf bytes;
  for (size_t i = 0; i < batch_count; i++) {
    batch_dispose(&batches[i]);
  }
  batch_count = 0;
  schema_unref(columns);
  buf_init(&bytes, env, (size_t)4 << 30);
  must(io_read_file(env, NULL, path, (uint64_t)4 << 30, &bytes, &err));
  struct ipc_memory memory = {(const uint8_t *)bytes.data, bytes.size, 0};
  batch_reader reader;
  must(ipc_reader_open(env, ipc_memory_source(&memory), &reader, &err));
  columns = schema_ref(reader.schema);
  for (bool end = false; !end && batch_count < MAX_BATCHES;) {
    must(reader.next(reader.state, &batches[batch_count], &end, &err));
    batch_count += !end;
  }
  batch_reader_dispose(&reader);
  buf_dispose(&bytes);
}

static struct ArrowArrayStream rows(void) {
  batch_reader reader;
  struct ArrowArrayStream stream;
  must(batch_reader_of(env, columns, batches, batch_count, &reader, &err));
  must(cdata_export_stream(env, &reader, &stream, &err));
  return stream;
}

/* ---- handles ---- */

static glv_id id_of(const char *name) {
  static const char *part[1];
  part[0] = name;
  return (glv_id){part, 1};
}

static glv_view *view_of(const char *name) {
  size_t i = 0;
  while (handles[i].view == NULL ? handles[i].name[0] != '\0'
                                 : strcmp(handles[i].name, name) != 0) {
    i++;
  }
  if (handles[i].view == NULL) {
    snprintf(handles[i].name, sizeof handles[i].name, "%s", name);
    must(glv_view_open(conn, id_of(name), NULL, &handles[i].view, &err));
  }
  return handles[i].view;
}

static glv_table *table_of(const char *name) {
  size_t i = 0;
  while (handles[i].table == NULL ? handles[i].name[0] != '\0'
                                  : strcmp(handles[i].name, name) != 0) {
    i++;
  }
  if (handles[i].table == NULL) {
    snprintf(handles[i].name, sizeof handles[i].name, "%s", name);
    must(glv_table_open(conn, id_of(name), NULL, &handles[i].table, &err));
  }
  return handles[i].table;
}

static uint64_t drain(struct ArrowArrayStream *stream) {
  uint64_t count = 0;
  struct ArrowArray a;
  for (;;) {
    if (stream->get_next(stream, &a) != 0) {
      glv_stream_error(stream, &err);
      must(err.code);
    }
    if (a.release == NULL) {
      break;
    }
    count += (uint64_t)a.length;
    a.release(&a);
  }
  stream->release(stream);
  return count;
}

/* ---- commands ---- */

static uint64_t create(const char *name) {
  glv_table *table = NULL;
  struct ArrowArrayStream data = rows();
  must(glv_table_create(conn, id_of(name), &data, NULL, &table, &err));
  glv_table_free(table);
  return 0;
}

static uint64_t append(const char *name) {
  glv_table *table = NULL;
  struct ArrowArrayStream data = rows();
  must(glv_table_open(conn, id_of(name), NULL, &table, &err));
  must(glv_table_append(table, &data, NULL, NULL, &err));
  glv_table_free(table);
  return 0;
}

static uint64_t create_view(const char *name, const char *sql) {
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  def.query = sql;
  must(glv_view_create(conn, id_of(name), &def, NULL, NULL, &err));
  return 0;
}

static uint64_t refresh(glv_view *view, int full, int *mode) {
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  glv_refresh_result result = GLV_OPTIONS(glv_refresh_result);
  options.full = full;
  must(glv_view_refresh(view, &options, &result, &err));
  *mode = result.mode;
  return (uint64_t)result.rows_written;
}

static uint64_t scan(const char *name, char *names, const char *filter) {
  glv_table *table = NULL;
  struct ArrowArrayStream stream;
  glv_pair pairs[16];
  glv_scan_options options = GLV_OPTIONS(glv_scan_options);
  for (char *one = strtok(names, ","); one != NULL; one = strtok(NULL, ",")) {
    pairs[options.columns.count++] = (glv_pair){one, NULL};
  }
  options.columns.items = pairs;
  options.filter = filter;
  must(glv_table_open(conn, id_of(name), NULL, &table, &err));
  must(glv_table_scan(table, &options, &stream, &err));
  glv_table_free(table);
  return drain(&stream);
}

/* Over the rows in memory, in this thread alone. */
static uint64_t evaluate(const char *text) {
  const expr_scope scope = {columns, SIZE_MAX};
  expr *e = NULL;
  uint64_t rows_done = 0;
  must(expr_plan_value(env, str_of(text), &scope, 0, &e, &err));
  for (size_t i = 0; i < batch_count; i++) {
    array result = {0};
    must(expr_eval(e, &batches[i], (selection){NULL, batches[i].length}, &result, &err));
    rows_done += result.length;
    array_unref(&result);
  }
  expr_free(e);
  return rows_done;
}

static uint64_t take(const char *name, char *numbers) {
  static uint64_t rows_wanted[65536];
  size_t n = 0;
  struct ArrowArrayStream stream;
  for (char *at = numbers; n < sizeof rows_wanted / sizeof *rows_wanted; at++) {
    rows_wanted[n++] = strtoull(at, &at, 10);
    if (*at != ',') {
      break;
    }
  }
  must(glv_table_take(table_of(name), rows_wanted, n, NULL, &stream, &err));
  return drain(&stream);
}

static uint64_t count(const char *name, const char *filter) {
  glv_table *table = NULL;
  uint64_t rows_found = 0;
  must(glv_table_open(conn, id_of(name), NULL, &table, &err));
  must(glv_table_count(table, filter, NULL, &rows_found, &err));
  glv_table_free(table);
  return rows_found;
}

/* Of this program alone; the figure of getrusage counts what the parent held when it forked. */
static uint64_t peak_kib(void) {
  char text[256];
  unsigned long long kib = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(text, sizeof text, status) != NULL &&
         sscanf(text, "VmHWM: %llu", &kib) != 1) {
  }
  if (status != NULL) {
    fclose(status);
  }
  return kib;
}

static uint64_t obey(const char *command, char *a, char *b, char *c, int *mode) {
  if (strcmp(command, "connect") == 0) {
    must(glv_connect(env, a, NULL, &conn, &err));
  } else if (strcmp(command, "load") == 0) {
    load(a);
  } else if (strcmp(command, "create") == 0) {
    return create(a);
  } else if (strcmp(command, "append") == 0) {
    return append(a);
  } else if (strcmp(command, "view") == 0) {
    return create_view(a, b);
  } else if (strcmp(command, "open") == 0) {
    view_of(a);
  } else if (strcmp(command, "refresh") == 0 || strcmp(command, "rebuild") == 0) {
    return refresh(view_of(a), command[2] == 'b', mode);
  } else if (strcmp(command, "scan") == 0) {
    char none[1] = "";
    return scan(a, none, NULL);
  } else if (strcmp(command, "project") == 0) {
    return scan(a, b, c);
  } else if (strcmp(command, "evaluate") == 0) {
    return evaluate(a);
  } else if (strcmp(command, "take") == 0) {
    return take(a, b);
  } else if (strcmp(command, "count") == 0) {
    return count(a, b);
  } else if (strcmp(command, "memory") == 0) {
    return peak_kib();
  } else {
    exit(0);
  }
  return 0;
}

int main(void) {
  static char line[65536];
  must(glv_env_new(NULL, &env, &err));
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char *parts[4] = {line, NULL, NULL, NULL}; /* separated by tabs */
    for (size_t i = 1; i < 4; i++) {
      char *tab = parts[i - 1] != NULL ? strchr(parts[i - 1], '\t') : NULL;
      if (tab != NULL) {
        *tab = '\0';
        parts[i] = tab + 1;
      }
    }
    int mode = 0;
    const double start = now();
    const uint64_t number = obey(parts[0], parts[1], parts[2], parts[3], &mode);
    printf("ok %.9f %llu %d\n", now() - start, (unsigned long long)number, mode);
  }
  return 0;
}
