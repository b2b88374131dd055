/*
 * Rows between files and Arrow streams. Files are read through plain descriptors; standard input,
 * which can be read only once, goes into a temporary file first, because finding the types of a CSV
 * takes a pass of its own. A file that is written appears under its name when it is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrow/cdata.h"
#include "arrow/ipc.h"
#include "cli/cli.h"
#include "text/text.h"

enum { COPY_BYTES = 1 << 16 };

/* ---- files in ---- */

static glv_status io_failed(const char *what, const char *path, glv_error *err) {
  const int number = errno;
  return error_set_errno(err, GLV_E_IO, number, "%s '%s': %s", what, path, strerror(number));
}

static glv_status read_some(int fd, const char *path, void *data, size_t size, size_t *ret,
                            glv_error *err) {
  ssize_t got;
  do {
    got = read(fd, data, size);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return io_failed("cannot read", path, err);
  }
  *ret = (size_t)got;
  return GLV_OK;
}

static glv_status write_all(int fd, const char *path, const void *data, size_t size,
                            glv_error *err) {
  const char *bytes = data;
  for (size_t done = 0; done < size;) {
    const ssize_t put = write(fd, bytes + done, size - done);
    if (put < 0 && errno != EINTR) {
      return io_failed("cannot write", path, err);
    }
    done += put > 0 ? (size_t)put : 0;
  }
  return GLV_OK;
}

/* What text_source.open needs; lives in the memory of the run. */
struct input_file {
  glv_env *env;
  const char *path;    /* as the user wrote it, for messages */
  int spooled;         /* descriptor of the copy of stdin, or -1 */
  uint64_t size_bytes; /* 0 = unknown */
  uint64_t read_bytes; /* in the present pass */
};

/* One reading of a file. */
struct file_source {
  struct input_file *input;
  int fd;
};

static glv_status source_read(void *context, void *data, size_t size, size_t *ret_read,
                              glv_error *err) {
  struct file_source *f = context;
  TRY(read_some(f->fd, f->input->path, data, size, ret_read, err));
  f->input->read_bytes += *ret_read;
  return GLV_OK;
}

static void source_dispose(void *context) {
  struct file_source *f = context;
  close(f->fd);
  mem_free(f->input->env, f);
}

static glv_status input_open(void *context, byte_source *ret, glv_error *err) {
  struct input_file *input = context;
  struct file_source *f = mem_alloc(input->env, sizeof *f);
  if (f == NULL) {
    return error_nomem(err, sizeof *f);
  }
  *f = (struct file_source){input, -1};
  input->read_bytes = 0;
  if (input->spooled >= 0) {
    f->fd = dup(input->spooled);
    if (f->fd >= 0 && lseek(f->fd, 0, SEEK_SET) < 0) {
      close(f->fd);
      f->fd = -1;
    }
  } else {
    f->fd = open(input->path, O_RDONLY | O_CLOEXEC);
  }
  if (f->fd < 0) {
    const glv_status status = io_failed("cannot open", input->path, err);
    mem_free(input->env, f);
    return status;
  }
  struct stat about;
  if (fstat(f->fd, &about) == 0 && S_ISREG(about.st_mode)) {
    input->size_bytes = (uint64_t)about.st_size;
  }
  *ret = (byte_source){source_read, source_dispose, f};
  return GLV_OK;
}

/* Copy standard input into an unnamed temporary file. */
static glv_status spool_stdin(struct input_file *input, glv_error *err) {
  const char *directory = getenv("TMPDIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/glaive-XXXXXX", directory != NULL ? directory : "/tmp");
  input->spooled = mkstemp(path);
  if (input->spooled < 0) {
    return io_failed("cannot make a temporary file", path, err);
  }
  unlink(path);
  char *block = mem_alloc(input->env, COPY_BYTES);
  glv_status status = block != NULL ? GLV_OK : error_nomem(err, COPY_BYTES);
  for (size_t got = 1; status == GLV_OK && got > 0;) {
    status = read_some(STDIN_FILENO, "standard input", block, COPY_BYTES, &got, err);
    status = status == GLV_OK ? write_all(input->spooled, path, block, got, err) : status;
  }
  mem_free(input->env, block);
  return status;
}

/* ---- readers ---- */

const char *cli_file_format(cli *c, const char *path) {
  const char *format = cli_value(c, "format");
  if (format == NULL) {
    format = cli_format_of(path);
  }
  if (format == NULL) {
    cli_usage(c, "say --format csv, jsonl or arrow for '%s'", path);
  } else if (strcmp(format, "csv") != 0 && strcmp(format, "jsonl") != 0 &&
             strcmp(format, "arrow") != 0) {
    cli_usage(c, "--format takes csv, jsonl or arrow, not '%s'", format);
    format = NULL;
  }
  return format;
}

/* --types C=T ... */
static bool read_types(cli *c, text_read_options *options) {
  const option_value *given = cli_option(c, "types");
  text_type *types = ARENA_ARRAY(&c->memory, text_type, given->count);
  if (types == NULL) {
    return error_nomem(&c->error, given->count * sizeof *types) == GLV_OK;
  }
  for (size_t i = 0; i < given->count; i++) {
    const char *equals = strchr(given->items[i], '=');
    if (equals == NULL || equals == given->items[i]) {
      error_set(&c->error, GLV_E_INVALID_INPUT, "--types takes COLUMN=TYPE, not '%s'",
                given->items[i]);
      return false;
    }
    types[i].column = str_slice(given->items[i], (size_t)(equals - given->items[i]));
    if (type_parse(&c->memory, str_of(equals + 1), &types[i].type, &c->error) != GLV_OK) {
      return false;
    }
  }
  options->types = types;
  options->type_count = given->count;
  return true;
}

/* What the rows must be like. */
struct wanted {
  schema *columns; /* NULL = as the file has them */
  bool partial;    /* only those of the columns that the file has */
};

static glv_status open_format(cli *c, const char *format, text_source source,
                              const text_read_options *options, batch_reader *ret) {
  return strcmp(format, "csv") == 0 ? csv_reader_open(c->env, source, options, ret, &c->error)
                                    : jsonl_reader_open(c->env, source, options, ret, &c->error);
}

/* Takes out of the wanted columns those that the text has not. Columns that are not wanted are
 * found by the reading. */
static glv_status keep_present(cli *c, const char *format, text_source source,
                               const text_read_options *options, struct wanted *w) {
  CLEANUP(batch_reader_dispose) batch_reader found = {0};
  TRY(open_format(c, format, source, options, &found));
  field *fields = ARENA_ARRAY(&c->memory, field, w->columns->field_count);
  size_t count = 0;
  if (fields == NULL) {
    return error_nomem(&c->error, w->columns->field_count * sizeof *fields);
  }
  for (size_t i = 0; i < w->columns->field_count; i++) {
    fields[count] = w->columns->fields[i];
    count += schema_find(found.schema, str_of(fields[count].name)) != SIZE_MAX;
  }
  schema *part = NULL;
  TRY(schema_new(c->env, fields, count, (metadata){0}, &part, &c->error));
  schema_unref(w->columns);
  w->columns = part;
  return GLV_OK;
}

static glv_status open_text(cli *c, const char *format, text_source source, struct wanted *w,
                            batch_reader *ret) {
  text_read_options options = {0};
  str null_text = {0};
  if (!w->partial && !read_types(c, &options)) {
    return c->error.code;
  }
  if (cli_flag(c, "null")) {
    null_text = str_of(cli_value(c, "null"));
    options.nulls = &null_text;
    options.null_count = 1;
  }
  TRY(w->partial && w->columns != NULL ? keep_present(c, format, source, &options, w) : GLV_OK);
  options.columns = w->columns;
  return open_format(c, format, source, &options, ret);
}

static glv_status open_ipc(cli *c, struct input_file *input, batch_reader *ret) {
  byte_source source = {0};
  TRY(input_open(input, &source, &c->error));
  return ipc_reader_open(c->env, source, ret, &c->error);
}

/* A reader that moves the progress line. */
struct watched_reader {
  glv_env *env;
  batch_reader inner;
  progress line;
  struct input_file *input;
};

static glv_status watched_next(void *state, batch *ret, bool *ret_end, glv_error *err) {
  struct watched_reader *w = state;
  TRY(w->inner.next(w->inner.state, ret, ret_end, err));
  if (!*ret_end) {
    w->line.total = w->input->size_bytes;
    progress_add(&w->line, ret->length, w->input->read_bytes);
  }
  return GLV_OK;
}

static void watched_dispose(void *state) {
  struct watched_reader *w = state;
  glv_env *env = w->env;
  progress_end(&w->line);
  batch_reader_dispose(&w->inner);
  if (w->input->spooled >= 0) {
    close(w->input->spooled);
  }
  mem_free(env, w);
}

/* Takes over inner and the spooled descriptor. */
static glv_status watch(cli *c, batch_reader *inner, struct input_file *input, batch_reader *ret) {
  struct watched_reader *w = mem_alloc(c->env, sizeof *w);
  if (w == NULL) {
    batch_reader_dispose(inner);
    return error_nomem(&c->error, sizeof *w);
  }
  *w = (struct watched_reader){.env = c->env, .inner = *inner, .input = input};
  progress_start(c, &w->line, "reading");
  *ret = (batch_reader){schema_ref(inner->schema), watched_next, watched_dispose, w};
  return GLV_OK;
}

static void wanted_dispose(struct wanted *w) { schema_unref(w->columns); }

static glv_status open_rows(cli *c, const char *path, const char *format,
                            const struct ArrowSchema *columns, bool partial,
                            struct ArrowArrayStream *ret) {
  struct input_file *input = ARENA_NEW(&c->memory, struct input_file);
  CLEANUP(wanted_dispose) struct wanted wanted = {.partial = partial};
  batch_reader reader = {0};
  if (input == NULL) {
    return error_nomem(&c->error, sizeof *input);
  }
  const bool is_stdin = strcmp(path, "-") == 0;
  *input =
      (struct input_file){.env = c->env, .path = is_stdin ? "standard input" : path, .spooled = -1};
  if (is_stdin) {
    TRY(spool_stdin(input, &c->error));
  }
  if (columns != NULL) {
    TRY(cdata_import_schema(c->env, columns, &wanted.columns, &c->error));
  }
  const text_source source = {input->path, input_open, input};
  TRY(strcmp(format, "arrow") == 0 ? open_ipc(c, input, &reader)
                                   : open_text(c, format, source, &wanted, &reader));
  TRY(watch(c, &reader, input, &reader));
  return cdata_export_stream(c->env, &reader, ret, &c->error);
}

bool cli_open_rows(cli *c, const char *path, const char *format, const struct ArrowSchema *columns,
                   struct ArrowArrayStream *ret) {
  return open_rows(c, path, format, columns, false, ret) == GLV_OK;
}

bool cli_open_part(cli *c, const char *path, const char *format, const struct ArrowSchema *columns,
                   struct ArrowArrayStream *ret) {
  return open_rows(c, path, format, columns, true, ret) == GLV_OK;
}

/* ---- files out ---- */

struct output_file {
  int fd;
  const char *path;
  bool is_json;  /* lines of JSON become an array */
  bool has_line; /* a line end waits for what follows */
  bool has_rows;
};

static glv_status put_lines(struct output_file *out, const char *data, size_t size,
                            glv_error *err) {
  for (size_t at = 0; at < size;) {
    const char *end = memchr(data + at, '\n', size - at);
    const size_t part = end != NULL ? (size_t)(end - data) - at : size - at;
    if (part > 0) {
      TRY(out->has_rows ? GLV_OK : write_all(out->fd, out->path, "[\n", 2, err));
      TRY(out->has_line ? write_all(out->fd, out->path, ",\n", 2, err) : GLV_OK);
      TRY(write_all(out->fd, out->path, data + at, part, err));
      out->has_rows = true;
      out->has_line = false;
    }
    out->has_line = out->has_line || end != NULL;
    at += part + 1;
  }
  return GLV_OK;
}

static glv_status put(void *context, const void *data, size_t size, glv_error *err) {
  struct output_file *out = context;
  return out->is_json ? put_lines(out, data, size, err)
                      : write_all(out->fd, out->path, data, size, err);
}

static glv_status write_rows(cli *c, batch_reader *rows, const char *format,
                             struct output_file *out) {
  const byte_sink sink = {put, out};
  if (strcmp(format, "csv") == 0) {
    return csv_write(c->env, rows, sink, &c->error);
  }
  if (strcmp(format, "arrow") == 0) {
    return ipc_write(c->env, rows, true, sink, &c->error);
  }
  if (strcmp(format, "table") == 0) {
    return table_write(c->env, rows, sink, NULL, &c->error);
  }
  out->is_json = strcmp(format, "json") == 0;
  TRY(jsonl_write(c->env, rows, sink, &c->error));
  const char *end = out->has_rows ? "\n]\n" : "[]\n";
  return out->is_json ? write_all(out->fd, out->path, end, strlen(end), &c->error) : GLV_OK;
}

/* Into a device or pipe, which must stay what it is. */
static glv_status write_in_place(cli *c, batch_reader *rows, const char *format, const char *path) {
  struct output_file out = {.fd = open(path, O_WRONLY | O_CLOEXEC), .path = path};
  if (out.fd < 0) {
    return io_failed("cannot open", path, &c->error);
  }
  const glv_status status = write_rows(c, rows, format, &out);
  if (close(out.fd) != 0 && status == GLV_OK) {
    return io_failed("cannot write", path, &c->error);
  }
  return status;
}

/* Write to a file beside the final one and rename it when it is complete. */
static glv_status write_file(cli *c, batch_reader *rows, const char *format, const char *path) {
  struct stat found;
  if (stat(path, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) {
    return write_in_place(c, rows, format, path);
  }
  const char *part = arena_printf(&c->memory, "%s.part", path);
  if (part == NULL) {
    return error_nomem(&c->error, 0);
  }
  struct output_file out = {.fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666),
                            .path = part};
  if (out.fd < 0) {
    return io_failed("cannot create", part, &c->error);
  }
  glv_status status = write_rows(c, rows, format, &out);
  if (close(out.fd) != 0 && status == GLV_OK) {
    status = io_failed("cannot write", part, &c->error);
  }
  if (status == GLV_OK && rename(part, path) != 0) {
    status = io_failed("cannot rename to", path, &c->error);
  }
  if (status != GLV_OK) {
    unlink(part);
  }
  return status;
}

/* The one document of --json when the rows went elsewhere. */
static int report_written(cli *c, const char *path) {
  json *o = js_new_object();
  if (js_put(o, "written", js_new_string(str_of(path)), &c->error) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

int cli_print_stream(cli *c, struct ArrowArrayStream *stream, const char *format,
                     const char *path) {
  CLEANUP(batch_reader_dispose) batch_reader rows = {0};
  if (cdata_import_stream(c->env, stream, &rows, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  glv_status status;
  const bool out_is_file = path != NULL && strcmp(path, "-") != 0;
  if (out_is_file) {
    status = write_file(c, &rows, format, path);
  } else {
    struct output_file out = {.fd = STDOUT_FILENO, .path = "standard output"};
    fflush(stdout);
    status = write_rows(c, &rows, format, &out);
  }
  if (status != GLV_OK) {
    return cli_failed(c);
  }
  return c->json && out_is_file ? report_written(c, path) : EXIT_DONE;
}
