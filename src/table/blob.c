/*
 * Fetching blobs one after another: they are large, so that a read each costs little. The side file
 * that was read last stays open, for packed blobs follow each other in one.
 */
#include "table/blob.h"

#include <inttypes.h>
#include <stdio.h>

#include "arrow/builder.h"
#include "base/limits.h"
#include "io/io.h"

/* Children of the descriptors of both kinds. */
enum { V1_POSITION, V1_SIZE };
enum { V2_KIND, V2_POSITION, V2_SIZE, V2_ID, V2_URI, V2_COUNT };
/* Values of V2_KIND. */
enum { IN_DATA_FILE, IN_PACKED_FILE, IN_OWN_FILE, ELSEWHERE };

typedef struct blob_place {
  unsigned where;
  uint64_t position;
  uint64_t size;
  uint32_t id; /* of the side file */
} blob_place;

/* A side file, open. */
typedef struct side_file {
  glv_env *env;
  void *file; /* NULL = none is open */
  uint32_t id;
  uint64_t size;
} side_file;

static void side_file_close(side_file *s) {
  if (s->file != NULL) {
    (void)io_close(s->env, s->file, NULL);
    s->file = NULL;
  }
}

static bool is_descriptor(const array *a, blob_kind kind) {
  return a->type->kind == TYPE_STRUCT &&
         a->child_count == (kind == BLOB_V1 ? (size_t)V1_SIZE + 1 : (size_t)V2_COUNT);
}

static blob_place place_of(const array *a, blob_kind kind, size_t i) {
  const array *c = a->children;
  if (kind == BLOB_V1) {
    return (blob_place){.where = IN_DATA_FILE,
                        .position = ARRAY_VALUES(&c[V1_POSITION], uint64_t)[i],
                        .size = ARRAY_VALUES(&c[V1_SIZE], uint64_t)[i]};
  }
  const unsigned where = ARRAY_VALUES(&c[V2_KIND], uint8_t)[i];
  return (blob_place){.where = where,
                      .position =
                          where == IN_OWN_FILE ? 0 : ARRAY_VALUES(&c[V2_POSITION], uint64_t)[i],
                      .size = ARRAY_VALUES(&c[V2_SIZE], uint64_t)[i],
                      .id = ARRAY_VALUES(&c[V2_ID], uint32_t)[i]};
}

/* Nulls of version 2.0 are descriptors of nothing at a place that is not the beginning. */
static bool is_null(const array *a, blob_kind kind, size_t i) {
  if (!array_is_valid(a, i)) {
    return true;
  }
  const blob_place at = place_of(a, kind, i);
  return kind == BLOB_V1 && at.size == 0 && at.position != 0;
}

/* The side file number `id`: in a folder named like the data file, 32 binary digits, the lowest bit
 * first. */
static glv_status side_path(const blob_source *from, uint32_t id, char *text, size_t size,
                            glv_error *err) {
  static const char ending[] = ".lance";
  char digits[33] = {0};
  for (unsigned bit = 0; bit < 32; bit++) {
    digits[bit] = (id >> bit & 1) != 0 ? '1' : '0';
  }
  size_t stem = strlen(from->path);
  if (stem >= sizeof ending - 1 && strcmp(from->path + stem - (sizeof ending - 1), ending) == 0) {
    stem -= sizeof ending - 1;
  }
  const int length = snprintf(text, size, "%.*s/%s.blob", (int)stem, from->path, digits);
  return length > 0 && (size_t)length < size
             ? GLV_OK
             : FAIL(err, GLV_E_LIMIT, "the path of data file '%s' is too long", from->path);
}

static glv_status open_side(const blob_source *from, uint32_t id, side_file *s, glv_error *err) {
  if (s->file != NULL && s->id == id) {
    return GLV_OK;
  }
  side_file_close(s);
  char path[LIMIT_PATH_BYTES];
  TRY(side_path(from, id, path, sizeof path, err));
  TRY(io_open_read(s->env, NULL, path, &s->file, err));
  s->id = id;
  return io_size(s->env, s->file, &s->size, err);
}

static glv_status read_side(const blob_source *from, const blob_place *at, side_file *s,
                            buffer **ret, glv_error *err) {
  TRY(open_side(from, at->id, s, err));
  if (!range_within(at->position, at->size, s->size)) {
    return FAIL(err, GLV_E_CORRUPT,
                "column '%s': a blob of %" PRIu64 " bytes lies outside of its side file %" PRIu32,
                from->column, at->size, at->id);
  }
  if (at->size >= LIMIT_BLOCK_BYTES) {
    return FAIL(err, GLV_E_LIMIT, "column '%s': a blob has %" PRIu64 " bytes", from->column,
                at->size);
  }
  TRY(buffer_new(s->env, (size_t)at->size, ret, err));
  const glv_status status =
      io_read_at(s->env, s->file, at->position, (*ret)->data, (size_t)at->size, err);
  if (status != GLV_OK) {
    buffer_unref(*ret);
    *ret = NULL;
  }
  return status;
}

static glv_status append_blob(const blob_source *from, const blob_place *at, side_file *s,
                              builder *out, glv_error *err) {
  CLEANUP(buffer_cleanup) buffer *bytes = NULL;
  if (at->size == 0) {
    return builder_append_str(out, STR(""), err);
  }
  switch (at->where) {
  case IN_DATA_FILE:
    TRY(file_reader_bytes(from->reader, at->position, at->size, LIMIT_BLOCK_BYTES - 1, &bytes,
                          err));
    break;
  case IN_PACKED_FILE:
  case IN_OWN_FILE:
    TRY(read_side(from, at, s, &bytes, err));
    break;
  case ELSEWHERE:
    return FAIL(err, GLV_E_UNSUPPORTED,
                "column '%s' has a blob that is kept outside of the table; read its descriptor and "
                "fetch blob_uri",
                from->column);
  default:
    return FAIL(err, GLV_E_CORRUPT, "column '%s' has a blob of the unknown kind %u", from->column,
                at->where);
  }
  return builder_append_str(out, str_slice((const char *)bytes->data, (size_t)at->size), err);
}

glv_status blob_fetch(glv_env *env, const blob_source *from, const array *descriptors,
                      const type *t, array *ret, glv_error *err) {
  CLEANUP(builder_dispose) builder out;
  CLEANUP(side_file_close) side_file side = {.env = env};
  builder_init(&out, env, t);
  if (!is_descriptor(descriptors, from->kind)) {
    return FAIL(err, GLV_E_INTERNAL, "column '%s' has no blob descriptors", from->column);
  }
  TRY(builder_reserve(&out, descriptors->length, 0, err));
  for (size_t i = 0; i < descriptors->length; i++) {
    if (is_null(descriptors, from->kind, i)) {
      TRY(builder_append_null(&out, err));
      continue;
    }
    const blob_place at = place_of(descriptors, from->kind, i);
    TRY(append_blob(from, &at, &side, &out, err));
  }
  return builder_finish(&out, ret, err);
}
