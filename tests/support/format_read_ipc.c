/*
 * Read a data file into an Arrow IPC stream: `format_read_ipc IN.lance OUT.arrow [WINDOW]`, or
 * `format_read_ipc IN.lance OUT.arrow FIRST COUNT [ROW...]` for a part of the rows; for
 * interoperability tests that compare files without a table around them. Columns of types that
 * cannot be read are left out and named on the error output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/cdata.h"
#include "arrow/ipc.h"
#include "format/file_reader.h"
#include "io/io.h"

enum { WINDOW = 65536 };

typedef struct source {
  glv_env *env;
  file_reader *reader;
  schema *schema;
  arena memory;
  field_place *places; /* one a column of schema */
  uint64_t next;
  uint64_t end;
  uint64_t window;
  const uint32_t *rows; /* NULL: all rows of the window */
  size_t selected;
} source;

static glv_status choose_columns(source *in, glv_error *err) {
  const lance_schema *s;
  TRY(file_reader_schema(in->reader, &s, err));
  in->places = ARENA_ARRAY(&in->memory, field_place, s->field_count);
  field *fields = ARENA_ARRAY(&in->memory, field, s->field_count);
  if (in->places == NULL || fields == NULL) {
    return error_nomem(err, 0);
  }
  size_t used = 0;
  for (size_t i = 0; i < s->field_count; i++) {
    const lance_field *f = &s->fields[i];
    if (!f->is_supported) {
      fprintf(stderr, "column '%s' of type %s is left out\n", f->arrow.name, f->logical_type);
      continue;
    }
    TRY(file_reader_place(in->reader, s, f, &in->memory, &in->places[used], err));
    fields[used++] = f->arrow;
  }
  return schema_new(in->env, fields, used, s->metadata, &in->schema, err);
}

static glv_status next_batch(void *state, batch *ret, bool *ret_end, glv_error *err) {
  source *in = state;
  *ret_end = in->next >= in->end;
  if (*ret_end) {
    return GLV_OK;
  }
  const uint64_t count = u64_min(in->window, in->end - in->next);
  CLEANUP(batch_dispose) batch b = {0};
  TRY(batch_new(in->env, in->schema, in->rows != NULL ? in->selected : (size_t)count,
                in->schema->field_count, &b, err));
  for (size_t i = 0; i < in->schema->field_count; i++) {
    TRY(file_reader_read_field(in->reader, &in->places[i], in->next, count, in->rows, in->selected,
                               &b.columns[i], err));
  }
  in->next += count;
  *ret = b;
  b = (batch){0};
  return GLV_OK;
}

static void no_dispose(void *state) { (void)state; }

static glv_status write_bytes(void *context, const void *data, size_t size, glv_error *err) {
  return fwrite(data, 1, size, context) == size
             ? GLV_OK
             : error_set(err, GLV_E_IO, "the output cannot be written");
}

/* What the arguments behind the two names ask for. */
static glv_status choose_rows(source *in, int argc, char **argv, uint32_t *rows, glv_error *err) {
  const uint64_t total = file_reader_rows(in->reader);
  in->window = argc == 4 ? strtoull(argv[3], NULL, 10) : WINDOW;
  in->end = total;
  if (argc > 4) {
    in->next = strtoull(argv[3], NULL, 10);
    in->window = strtoull(argv[4], NULL, 10);
    in->end = in->next + in->window;
    for (int i = 5; i < argc; i++) {
      rows[in->selected++] = (uint32_t)strtoul(argv[i], NULL, 10);
    }
    in->rows = in->selected != 0 ? rows : NULL;
  }
  return in->end <= total && in->window != 0 ? GLV_OK
                                             : error_set(err, GLV_E_INVALID_INPUT, "no such rows");
}

static glv_status run(glv_env *env, int argc, char **argv, uint32_t *rows, glv_error *err) {
  source in = {.env = env};
  arena_init(&in.memory, env);
  FILE *out = fopen(argv[2], "wb");
  glv_status status = out != NULL ? file_reader_open(env, NULL, argv[1], &in.reader, err)
                                  : error_set(err, GLV_E_IO, "the output cannot be opened");
  if (status == GLV_OK) {
    status = choose_rows(&in, argc, argv, rows, err);
  }
  if (status == GLV_OK) {
    status = choose_columns(&in, err);
  }
  if (status == GLV_OK) {
    batch_reader r = {in.schema, next_batch, no_dispose, &in};
    status = ipc_write(env, &r, false, (byte_sink){write_bytes, out}, err);
  }
  schema_unref(in.schema);
  arena_dispose(&in.memory);
  file_reader_unref(in.reader);
  if (out != NULL) {
    fclose(out);
  }
  return status;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: format_read_ipc IN.lance OUT.arrow [WINDOW | FIRST COUNT [ROW...]]\n");
    return 2;
  }
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.io = io_local();
  glv_env *env;
  glv_error err = {0};
  uint32_t *rows = calloc((size_t)argc, sizeof *rows);
  glv_status status = env_new(&options, &env, &err);
  if (status == GLV_OK) {
    status = run(env, argc, argv, rows, &err);
    env_unref(env);
  }
  free(rows);
  if (status != GLV_OK) {
    fprintf(stderr, "%s: %s\n", error_name(status), err.message);
  }
  return status == GLV_OK ? 0 : 1;
}
