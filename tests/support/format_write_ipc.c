/*
 * Write a data file from Arrow IPC: `format_write_ipc IN.arrow OUT.lance [THREADS
 * [VERSION]]`, for interoperability tests that compare files without a table around them. IN may
 * have the stream or the file format; "-" is the standard input. Prints rows and bytes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arrow/ipc.h"
#include "format/file_writer.h"
#include "io/io.h"

static glv_status read_input(void *context, void *data, size_t size, size_t *ret_read,
                             glv_error *err) {
  const ssize_t count = read(*(int *)context, data, size);
  if (count < 0) {
    return error_set(err, GLV_E_IO, "the input cannot be read");
  }
  *ret_read = (size_t)count;
  return GLV_OK;
}

static glv_status copy(batch_reader *r, file_writer *w, glv_error *err) {
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool end = false;
    TRY(r->next(r->state, &b, &end, err));
    if (end) {
      return GLV_OK;
    }
    TRY(file_writer_write(w, &b, err));
  }
}

static glv_status write_file(glv_env *env, batch_reader *r, void *dir, const char *name,
                             format_version version, file_written *ret, glv_error *err) {
  arena a;
  arena_init(&a, env);
  lance_schema *s;
  int32_t next_id = 0;
  file_writer *w = NULL;
  const file_writer_options options = {.version = version, .summary_leaf = SIZE_MAX};
  glv_status status = lance_schema_from_arrow(&a, r->schema->fields, r->schema->field_count,
                                              r->schema->metadata, &next_id, &s, err);
  if (status == GLV_OK) {
    status = file_writer_new(env, dir, name, s, &options, &w, err);
  }
  if (status == GLV_OK) {
    status = copy(r, w, err);
  }
  if (status == GLV_OK) {
    status = file_writer_finish(w, ret, err);
  } else {
    file_writer_discard(w);
  }
  arena_dispose(&a);
  return status;
}

static glv_status run(glv_env *env, int input, char *path, format_version version, glv_error *err) {
  char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  CLEANUP(io_scope_dispose) io_scope scope = {env, NULL, NULL};
  if (slash != NULL) {
    *slash = '\0';
  }
  TRY(io_dir_open(env, slash != NULL ? path : ".", &scope.dir, err));
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  TRY(ipc_reader_open(env, (byte_source){.read = read_input, .context = &input}, &r, err));
  file_written written;
  TRY(write_file(env, &r, scope.dir, name, version, &written, err));
  printf("%llu %llu\n", (unsigned long long)written.rows, (unsigned long long)written.size_bytes);
  return GLV_OK;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: format_write_ipc IN.arrow OUT.lance [THREADS [VERSION]]\n");
    return 2;
  }
  const int input = strcmp(argv[1], "-") == 0 ? STDIN_FILENO : open(argv[1], O_RDONLY);
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  options.io = io_local();
  options.threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
  glv_env *env;
  glv_error err = {0};
  glv_status status = env_new(&options, &env, &err);
  if (status == GLV_OK) {
    const format_version version = argc > 4 ? format_version_parse(str_of(argv[4])) : FORMAT_2_2;
    status = run(env, input, argv[2], version, &err);
    env_unref(env);
  }
  if (status != GLV_OK) {
    fprintf(stderr, "%s: %s\n", error_name(status), err.message);
  }
  return status == GLV_OK ? 0 : 1;
}
