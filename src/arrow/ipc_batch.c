/*
 * Record batches. A message lists, for a walk over the columns with parents first, one node a
 * field (length, number of nulls) and its buffers (offset and length in the body). Here the walk
 * follows the types of the schema; each buffer is cut out of the body without copying, or
 * decompressed into memory of its own: then it starts with its size, -1 = stored as it is.
 *
 * Everything is checked against the real sizes of the buffers before it is used, so the arrays
 * never reach outside of the body; offsets, text and indices are validated afterwards.
 */
#include <nanoarrow/nanoarrow_ipc.h>

#include <glaive/arrow_abi.h>

#include "arrow/array_private.h"
#include "arrow/bits.h"
#include "arrow/cdata_private.h"
#include "arrow/ipc_private.h"
#include "base/limits.h"

enum { CODEC_LZ4_FRAME = 0, CODEC_ZSTD = 1 };

typedef struct decoder {
  glv_env *env;
  ipc_message *message;
  const ipc_dictionaries *dictionaries;
  size_t nodes; /* position of the next node, and how many are left; likewise the others */
  size_t nodes_left;
  size_t buffers;
  size_t buffers_left;
  size_t variadic;
  size_t variadic_left;
  size_t dictionary;                     /* next entry of dictionaries */
  ArrowIpcDecompressFunction decompress; /* NULL: nothing is compressed */
  const char *column;
  glv_error *err;
} decoder;

/* A buffer of the message. */
typedef struct part {
  const uint8_t *data;
  size_t size;
  buffer *owner; /* a reference; NULL when there is nothing */
} part;

static void part_cleanup(part *p) { buffer_unref(p->owner); }

static glv_status corrupt(const decoder *d, const char *what) {
  return FAIL(d->err, GLV_E_CORRUPT, "malformed Arrow IPC data: column '%s': %s", d->column, what);
}

static glv_status decompress(const decoder *d, part *p) {
  if (p->size < 8) {
    return corrupt(d, "a compressed buffer is too short");
  }
  const int64_t size = (int64_t)load_le64(p->data);
  p->data += 8;
  p->size -= 8;
  if (size == -1) {
    return GLV_OK;
  }
  if (size < 0 || (uint64_t)size > LIMIT_BLOCK_BYTES) {
    return corrupt(d, "the size of a compressed buffer is out of range");
  }
  buffer *plain;
  TRY(buffer_new(d->env, (size_t)size, &plain, d->err));
  const struct ArrowBufferView packed = {.data.data = p->data, .size_bytes = (int64_t)p->size};
  struct ArrowError report;
  const int code = d->decompress(packed, plain->data, size, &report);
  buffer_unref(p->owner);
  *p = (part){plain->data, (size_t)size, plain};
  return code == NANOARROW_OK ? GLV_OK : corrupt(d, "a compressed buffer is damaged");
}

/* The next buffer; *ret is filled also when decompressing it fails. */
static glv_status next_part(decoder *d, part *ret) {
  const flat *f = &d->message->header;
  buffer *body = d->message->body;
  if (d->buffers_left == 0) {
    return corrupt(d, "the message has too few buffers");
  }
  const int64_t offset = flat_load_i64(f, d->buffers);
  const int64_t size = flat_load_i64(f, d->buffers + 8);
  d->buffers += BUFFER_BYTES;
  d->buffers_left--;
  if (offset < 0 || size < 0 || !range_within((uint64_t)offset, (uint64_t)size, body->size)) {
    return corrupt(d, "a buffer lies outside of the message body");
  }
  if (size == 0) {
    *ret = (part){array_no_bytes, 0, NULL};
    return GLV_OK;
  }
  *ret = (part){body->data + offset, (size_t)size, buffer_ref(body)};
  return d->decompress != NULL ? decompress(d, ret) : GLV_OK;
}

static glv_status next_node(decoder *d, size_t *ret_length, size_t *ret_nulls) {
  const flat *f = &d->message->header;
  if (d->nodes_left == 0) {
    return corrupt(d, "the message has too few columns");
  }
  const int64_t length = flat_load_i64(f, d->nodes);
  const int64_t nulls = flat_load_i64(f, d->nodes + 8);
  d->nodes += NODE_BYTES;
  d->nodes_left--;
  if (length < 0 || (uint64_t)length > SIZE_MAX / 64 || nulls < 0 || nulls > length) {
    return corrupt(d, "a length or a number of nulls is out of range");
  }
  *ret_length = (size_t)length;
  *ret_nulls = (size_t)nulls;
  return GLV_OK;
}

static glv_status read_validity(decoder *d, size_t nulls, array *a) {
  CLEANUP(part_cleanup) part p = {0};
  TRY(next_part(d, &p));
  if (nulls == 0) {
    return GLV_OK;
  }
  if (p.size < bits_size(a->length)) {
    return corrupt(d, "the validity buffer is too short");
  }
  a->null_count = a->length - bits_count(p.data, 0, a->length);
  if (a->null_count != 0) {
    a->validity = p.data;
    a->owners[0] = p.owner;
    p.owner = NULL;
  }
  return GLV_OK;
}

/* Values, bits or offsets: `need` bytes of entries of `width` bytes. */
static glv_status read_values(decoder *d, size_t width, size_t need, array *a) {
  CLEANUP(part_cleanup) part p = {0};
  TRY(next_part(d, &p));
  if (p.size < need) {
    return corrupt(d, "a buffer is too short");
  }
  a->values = p.data;
  a->owners[1] = p.owner;
  p.owner = NULL;
  return array_align(d->env, width, need, &a->values, &a->owners[1], d->err);
}

static glv_status read_fixed(decoder *d, array *a) {
  const size_t width = array_value_width(a->type);
  size_t need;
  if (!size_mul(a->length, width, &need)) {
    return corrupt(d, "a length is out of range");
  }
  return read_values(d, a->type->kind == TYPE_FIXED_SIZE_BINARY ? 1 : width, need, a);
}

/* Offsets of an empty array may be missing; *ret_end is the last one. */
static glv_status read_offsets(decoder *d, array *a, size_t *ret_end) {
  const size_t width = type_offset_width(a->type->kind);
  TRY(read_values(d, width, a->length == 0 ? 0 : (a->length + 1) * width, a));
  *ret_end = 0;
  if (a->length == 0) {
    a->values = array_no_bytes;
    return GLV_OK;
  }
  const int64_t end = array_offset(a, a->length);
  *ret_end = (size_t)end;
  return end < 0 ? corrupt(d, "an offset is negative") : GLV_OK;
}

static glv_status read_bytes(decoder *d, array *a) {
  CLEANUP(part_cleanup) part p = {0};
  size_t end;
  TRY(read_offsets(d, a, &end));
  TRY(next_part(d, &p));
  if (p.size < end) {
    return corrupt(d, "an offset points outside of the data");
  }
  a->data = p.data;
  a->owners[2] = p.owner;
  p.owner = NULL;
  return GLV_OK;
}

static void parts_cleanup(decoder *d, part *parts, size_t count) {
  for (size_t i = 0; i < count; i++) {
    part_cleanup(&parts[i]);
  }
  mem_free(d->env, parts);
}

/* The buffers that views point into, then the copy. */
static glv_status views_from(decoder *d, const part *views, part *parts, size_t count, array *a) {
  CLEANUP(arena_dispose) arena memory;
  arena_init(&memory, d->env);
  const uint8_t **data = ARENA_ARRAY(&memory, const uint8_t *, count);
  int64_t *sizes = ARENA_ARRAY(&memory, int64_t, count);
  if (data == NULL || sizes == NULL) {
    return error_nomem(d->err, count * sizeof *sizes);
  }
  for (size_t i = 0; i < count; i++) {
    TRY(next_part(d, &parts[i]));
    data[i] = parts[i].data;
    sizes[i] = (int64_t)parts[i].size;
  }
  const view_column v = {views->data, data, sizes, count};
  return array_from_views(d->env, &v, d->column, a, d->err);
}

static glv_status read_views(decoder *d, array *a) {
  CLEANUP(part_cleanup) part views = {0};
  TRY(next_part(d, &views));
  if (views.size < a->length * 16 || d->variadic_left == 0) {
    return corrupt(d, "the views are too short");
  }
  const int64_t count = flat_load_i64(&d->message->header, d->variadic);
  d->variadic += 8;
  d->variadic_left--;
  if (count < 0 || (uint64_t)count > d->buffers_left) {
    return corrupt(d, "the number of view buffers is out of range");
  }
  part *parts = mem_calloc(d->env, (size_t)count, sizeof *parts);
  if (parts == NULL) {
    return error_nomem(d->err, (size_t)count * sizeof *parts);
  }
  const glv_status status = views_from(d, &views, parts, (size_t)count, a);
  parts_cleanup(d, parts, (size_t)count);
  return ipc_as_corrupt(status, d->err);
}

static glv_status read_array(decoder *d, const type *t, array *ret);

/* Child i, cut to `need` values (SIZE_MAX: as it is). */
static glv_status read_child(decoder *d, array *a, size_t i, size_t need) {
  CLEANUP(array_unref) array child = {0};
  TRY(read_array(d, a->type->children[i].type, &child));
  if (need == SIZE_MAX) {
    a->children[i] = child;
    child = (array){0};
    return GLV_OK;
  }
  if (child.length < need) {
    return corrupt(d, "a child is shorter than its parent");
  }
  a->children[i] = array_slice(&child, 0, need);
  return a->children[i].type != NULL ? GLV_OK : error_nomem(d->err, sizeof(array));
}

static glv_status read_children(decoder *d, array *a, size_t need) {
  TRY(array_new_children(d->env, a->type->child_count, a, d->err));
  for (size_t i = 0; i < a->type->child_count; i++) {
    TRY(read_child(d, a, i, need));
  }
  return GLV_OK;
}

static glv_status read_list(decoder *d, array *a) {
  size_t end;
  TRY(read_offsets(d, a, &end));
  return read_children(d, a, SIZE_MAX);
}

static glv_status read_fixed_list(decoder *d, array *a) {
  size_t need;
  if (!size_mul(a->length, (size_t)a->type->width, &need) || need == SIZE_MAX) {
    return corrupt(d, "a length is out of range");
  }
  return read_children(d, a, need);
}

/* The values come from the dictionary batches seen so far; none at all is an empty dictionary. */
static glv_status read_dictionary(decoder *d, array *a) {
  const ipc_dictionary *entry = &d->dictionaries->items[d->dictionary];
  const array *values = &d->dictionaries->items[entry->first].current;
  d->dictionary += 1 + entry->inside;
  TRY(array_new_children(d->env, 1, a, d->err));
  if (values->type == NULL) {
    TRY(array_new_null(d->env, a->type->children[0].type, 0, &a->children[0], d->err));
  } else {
    a->children[0] = array_ref(values);
  }
  return read_fixed(d, a);
}

static glv_status read_payload(decoder *d, array *a) {
  switch (array_layout_of(a->type)) {
  case LAYOUT_NULL:
    return GLV_OK;
  case LAYOUT_BOOL:
    return read_values(d, 1, bits_size(a->length), a);
  case LAYOUT_FIXED:
    return a->type->kind == TYPE_DICTIONARY ? read_dictionary(d, a) : read_fixed(d, a);
  case LAYOUT_BYTES:
    return a->type->kind == TYPE_UTF8_VIEW || a->type->kind == TYPE_BINARY_VIEW ? read_views(d, a)
                                                                                : read_bytes(d, a);
  case LAYOUT_LIST:
    return read_list(d, a);
  case LAYOUT_FIXED_LIST:
    return read_fixed_list(d, a);
  case LAYOUT_STRUCT:
    return read_children(d, a, a->length);
  }
  return corrupt(d, "unknown layout");
}

/* Recursion is bounded by the depth of the type. */
static glv_status read_array(decoder *d, const type *t, array *ret) {
  size_t length = 0;
  size_t nulls = 0;
  TRY(next_node(d, &length, &nulls));
  CLEANUP(array_unref) array a = array_empty(t, length);
  if (array_layout_of(t) != LAYOUT_NULL) {
    TRY(read_validity(d, nulls, &a));
  }
  TRY(read_payload(d, &a));
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status read_codec(decoder *d) {
  flat *f = &d->message->header;
  const size_t compression = flat_table(f, d->message->table, BATCH_COMPRESSION);
  if (compression == 0) {
    return GLV_OK;
  }
  const uint8_t codec = flat_u8(f, compression, COMPRESSION_CODEC);
  if (flat_u8(f, compression, COMPRESSION_METHOD) == 0 && codec == CODEC_LZ4_FRAME) {
    d->decompress = ArrowIpcGetLZ4DecompressionFunction();
  } else if (flat_u8(f, compression, COMPRESSION_METHOD) == 0 && codec == CODEC_ZSTD) {
    d->decompress = ArrowIpcGetZstdDecompressionFunction();
  }
  if (d->decompress == NULL) {
    return FAIL(d->err, GLV_E_UNSUPPORTED, "Arrow IPC data with compression %u", codec);
  }
  return GLV_OK;
}

static glv_status decoder_init(decoder *d) {
  flat *f = &d->message->header;
  const size_t table = d->message->table;
  TRY(read_codec(d));
  d->nodes = flat_vector(f, table, BATCH_NODES, NODE_BYTES, &d->nodes_left);
  d->buffers = flat_vector(f, table, BATCH_BUFFERS, BUFFER_BYTES, &d->buffers_left);
  d->variadic = flat_vector(f, table, BATCH_VARIADIC_COUNTS, 8, &d->variadic_left);
  return f->bad ? corrupt(d, "a reference points outside of the message") : GLV_OK;
}

static glv_status decoder_end(const decoder *d) {
  if (d->nodes_left != 0 || d->buffers_left != 0) {
    return corrupt(d, "the message has more columns or buffers than the schema");
  }
  return GLV_OK;
}

glv_status ipc_read_batch(glv_env *env, const schema *s, ipc_message *m, const ipc_dictionaries *d,
                          batch *ret, glv_error *err) {
  decoder in = {.env = env, .message = m, .dictionaries = d, .column = "", .err = err};
  CLEANUP(batch_dispose) batch b = {0};
  TRY(decoder_init(&in));
  const int64_t length = flat_i64(&m->header, m->table, BATCH_LENGTH);
  if (length < 0 || (uint64_t)length > SIZE_MAX / 64 || m->header.bad) {
    return corrupt(&in, "the number of rows is out of range");
  }
  TRY(batch_new(env, s, (size_t)length, s->field_count, &b, err));
  for (size_t i = 0; i < s->field_count; i++) {
    in.column = s->fields[i].name;
    TRY(read_array(&in, s->fields[i].type, &b.columns[i]));
    if (b.columns[i].length != b.length) {
      return corrupt(&in, "its length is not that of the batch");
    }
    TRY(ipc_as_corrupt(array_validate(&b.columns[i], SIZE_MAX, in.column, err), err));
  }
  in.column = "";
  TRY(decoder_end(&in));
  *ret = b;
  b = (batch){0};
  return GLV_OK;
}

glv_status ipc_read_dictionary(glv_env *env, ipc_message *m, const ipc_dictionaries *d,
                               size_t index, array *ret, glv_error *err) {
  decoder in = {.env = env,
                .message = m,
                .dictionaries = d,
                .dictionary = index + 1,
                .column = "(dictionary)",
                .err = err};
  CLEANUP(array_unref) array values = {0};
  TRY(decoder_init(&in));
  TRY(read_array(&in, d->items[index].values_type, &values));
  TRY(decoder_end(&in));
  TRY(ipc_as_corrupt(array_validate(&values, SIZE_MAX, in.column, err), err));
  *ret = values;
  values = (array){0};
  return GLV_OK;
}
