/*
 * Writing IPC streams and files. nanoarrow encodes the schema; the headers of record and dictionary
 * batches have a fixed shape and are laid out here, so that the buffers of a batch go to the sink
 * as they are, without being copied into one body:
 *
 *   0 root | 4 vtable | 16 Message | 40 vtable | 56 DictionaryBatch (only in one) | vtable |
 *   RecordBatch | nodes | buffers
 *
 * A dictionary goes out before the first batch that uses it. When a later batch comes with another
 * one, a stream gets a replacement; a file cannot replace, so there the new values are appended (a
 * delta) and the indices of the batch are moved behind the old ones.
 *
 * The footer of a file refers to a schema table: it holds the whole schema message again and points
 * into it, which works because all references of a FlatBuffer are relative.
 */
#include <nanoarrow/nanoarrow_ipc.h>

#include "arrow/array_private.h"
#include "arrow/bits.h"
#include "arrow/cdata.h"
#include "arrow/flat.h"
#include "arrow/ipc.h"
#include "base/limits.h"

enum { BODY_ALIGN = 64, MESSAGE_AT = 16, MESSAGE_END = 40, NESTED_END = 40 };

/* Bytes of a body, and what keeps them. */
typedef struct part {
  const void *data;
  size_t size;
  buffer *owner; /* of bytes made for this message, else NULL */
} part;

typedef struct body {
  glv_env *env;
  part *parts;
  size_t count;
  size_t capacity;
  buf nodes; /* pairs of int64 */
  size_t size;
  const struct dictionary_state *dictionaries;
  size_t dictionary; /* next of them */
  glv_error *err;
} body;

/* What was written of the dictionary of one column. */
typedef struct dictionary_state {
  array last;
  size_t base;  /* position of the first value of `last` among the values written */
  size_t total; /* values written */
} dictionary_state;

typedef struct ipc_writer writer;

struct ipc_writer {
  glv_env *env;
  byte_sink sink;
  uint64_t position;
  bool is_file;
  dictionary_state *dictionaries;
  size_t dictionary_count;
  buf schema_message; /* without prefix */
  buf batch_blocks;
  buf dictionary_blocks;
  glv_error *err; /* of the call that runs */
};

static glv_status put(writer *w, const void *data, size_t size) {
  if (size != 0) {
    TRY(w->sink.write(w->sink.context, data, size, w->err));
    w->position += size;
  }
  return GLV_OK;
}

static glv_status put_zeros(writer *w, size_t size) {
  return put(w, array_no_bytes, size); /* size < BODY_ALIGN */
}

/* Bytes that are missing to the next multiple of `align`. */
static size_t gap(uint64_t at, size_t align) { return (size_t)(align_up(at, align) - at); }

static void body_init(body *b, writer *w) {
  *b = (body){.env = w->env, .dictionaries = w->dictionaries, .err = w->err};
  buf_init(&b->nodes, w->env, SIZE_MAX / 2);
}

static void body_dispose(body *b) {
  for (size_t i = 0; i < b->count; i++) {
    buffer_unref(b->parts[i].owner);
  }
  mem_free(b->env, b->parts);
  buf_dispose(&b->nodes);
}

/* Takes over owner. */
static glv_status add_part(body *b, const void *data, size_t size, buffer *owner) {
  const glv_status status =
      vec_reserve(b->env, &b->parts, &b->capacity, b->count + 1, sizeof *b->parts, b->err);
  if (status != GLV_OK) {
    buffer_unref(owner);
    return status;
  }
  b->parts[b->count++] = (part){data, size, owner};
  b->size += size + gap(size, BODY_ALIGN);
  return GLV_OK;
}

/* Bits that start on a byte. */
static glv_status add_bits(body *b, const uint8_t *bits, size_t first, size_t count) {
  if (first % 8 == 0) {
    return add_part(b, bits + first / 8, bits_size(count), NULL);
  }
  buffer *copy;
  TRY(buffer_new_zeroed(b->env, bits_size(count), &copy, b->err));
  bits_copy(copy->data, 0, bits, first, count);
  return add_part(b, copy->data, bits_size(count), copy);
}

static glv_status add_validity(body *b, const array *a) {
  return array_has_nulls(a) ? add_bits(b, a->validity, a->bit_offset, a->length)
                            : add_part(b, NULL, 0, NULL);
}

/* Offsets that start at 0. */
static glv_status add_offsets(body *b, const array *a) {
  const size_t width = type_offset_width(a->type->kind);
  const size_t size = (a->length + 1) * width;
  const int64_t first = array_offset(a, 0);
  buffer *moved;
  if (first == 0) {
    return add_part(b, a->values, size, NULL);
  }
  TRY(buffer_new(b->env, size, &moved, b->err));
  for (size_t i = 0; i <= a->length; i++) {
    if (width == 4) {
      ((int32_t *)(void *)moved->data)[i] = (int32_t)(array_offset(a, i) - first);
    } else {
      ((int64_t *)(void *)moved->data)[i] = array_offset(a, i) - first;
    }
  }
  return add_part(b, moved->data, size, moved);
}

static glv_status add_bytes(body *b, const array *a) {
  const int64_t first = array_offset(a, 0);
  TRY(add_offsets(b, a));
  const size_t size = (size_t)(array_offset(a, a->length) - first);
  return add_part(b, size != 0 ? a->data + first : NULL, size, NULL);
}

#define MOVE_LOOP(ctype)                                                                           \
  for (size_t i = 0; i < a->length; i++) {                                                         \
    ((ctype *)(void *)moved->data)[i] = (ctype)(ARRAY_VALUES(a, ctype)[i] + (ctype)base);          \
  }                                                                                                \
  break;

/* Indices, moved by where the dictionary of this batch was put. */
static glv_status add_indices(body *b, const array *a) {
  const size_t width = array_value_width(a->type);
  const size_t base = b->dictionaries[b->dictionary++].base;
  if (base == 0) {
    return add_part(b, a->values, a->length * width, NULL);
  }
  buffer *moved;
  TRY(buffer_new(b->env, a->length * width, &moved, b->err));
  switch (width) {
  case 1:
    MOVE_LOOP(uint8_t)
  case 2:
    MOVE_LOOP(uint16_t)
  case 4:
    MOVE_LOOP(uint32_t)
  default:
    MOVE_LOOP(uint64_t)
  }
  return add_part(b, moved->data, a->length * width, moved);
}

static glv_status add_array(body *b, const array *a);

/* The part of a list's child that its offsets span. */
static glv_status add_items(body *b, const array *a) {
  const size_t first = (size_t)array_offset(a, 0);
  const size_t count = (size_t)array_offset(a, a->length) - first;
  CLEANUP(array_unref) array items = array_slice(&a->children[0], first, count);
  return items.type != NULL ? add_array(b, &items) : error_nomem(b->err, sizeof items);
}

static glv_status add_payload(body *b, const array *a) {
  switch (array_layout_of(a->type)) {
  case LAYOUT_NULL:
    return GLV_OK;
  case LAYOUT_BOOL:
    return add_bits(b, a->values, a->bit_offset, a->length);
  case LAYOUT_FIXED:
    return a->type->kind == TYPE_DICTIONARY
               ? add_indices(b, a)
               : add_part(b, a->values, a->length * type_width(a->type), NULL);
  case LAYOUT_BYTES:
    return add_bytes(b, a);
  case LAYOUT_LIST:
    TRY(add_offsets(b, a));
    return add_items(b, a);
  case LAYOUT_FIXED_LIST:
  case LAYOUT_STRUCT:
    for (size_t i = 0; i < a->child_count; i++) {
      TRY(add_array(b, &a->children[i]));
    }
    return GLV_OK;
  }
  return FAIL(b->err, GLV_E_INTERNAL, "an array has an unknown layout");
}

/* Recursion is bounded by the depth of the type. */
static glv_status add_array(body *b, const array *a) {
  if (a->type == NULL) {
    return FAIL(b->err, GLV_E_INTERNAL, "a batch with an absent column cannot be written");
  }
  const int64_t node[2] = {(int64_t)a->length, (int64_t)array_null_count(a)};
  TRY(buf_append(&b->nodes, node, sizeof node, b->err));
  if (array_layout_of(a->type) != LAYOUT_NULL) {
    TRY(add_validity(b, a));
  }
  return add_payload(b, a);
}

/* Little-endian fields of a header under construction. */
static void set16(buf *h, size_t at, size_t v) { store_le16(h->data + at, (uint16_t)v); }
static void set32(buf *h, size_t at, size_t v) { store_le32(h->data + at, (uint32_t)v); }
static void set64(buf *h, size_t at, uint64_t v) { store_le64(h->data + at, v); }

/* A table of 24 bytes at `vtable + room` whose vtable lists the places of its fields. */
static size_t set_table(buf *h, size_t vtable, size_t room, const uint8_t *places, size_t count) {
  set16(h, vtable, 4 + 2 * count);
  set16(h, vtable + 2, 24);
  for (size_t i = 0; i < count; i++) {
    set16(h, vtable + 4 + 2 * i, places[i]);
  }
  set32(h, vtable + room, room);
  return vtable + room;
}

/* Message: header reference at 4, body length at 8, version at 16, kind of header at 18. */
static void set_message(buf *h, uint8_t kind, uint64_t body_size) {
  static const uint8_t places[] = {16, 18, 4, 8};
  set32(h, 0, MESSAGE_AT);
  (void)set_table(h, 4, 12, places, 4);
  set16(h, MESSAGE_AT + 16, METADATA_V5);
  h->data[MESSAGE_AT + 18] = (char)kind;
  set64(h, MESSAGE_AT + 8, body_size);
  set32(h, MESSAGE_AT + 4, MESSAGE_END + 16 - (MESSAGE_AT + 4));
}

/* DictionaryBatch: data reference at 4, id at 8, delta at 16. */
static void set_dictionary(buf *h, size_t vtable, int64_t id, bool is_delta) {
  static const uint8_t places[] = {8, 4, 16};
  const size_t at = set_table(h, vtable, 16, places, 3);
  set32(h, at + 4, vtable + NESTED_END + 16 - (at + 4));
  set64(h, at + 8, (uint64_t)id);
  h->data[at + 16] = is_delta;
}

/* RecordBatch: nodes at 4, length at 8, buffers at 16; then both vectors. */
static glv_status set_batch(buf *h, size_t vtable, const body *b, uint64_t length) {
  static const uint8_t places[] = {8, 4, 16};
  const size_t at = set_table(h, vtable, 16, places, 3);
  const size_t nodes = at + 28; /* its items are at a multiple of 8 */
  const size_t buffers = nodes + 4 + b->nodes.size + 4;
  set64(h, at + 8, length);
  set32(h, at + 4, nodes - (at + 4));
  set32(h, at + 16, buffers - (at + 16));
  set32(h, nodes, b->nodes.size / NODE_BYTES);
  if (b->nodes.size != 0) {
    memcpy(h->data + nodes + 4, b->nodes.data, b->nodes.size);
  }
  set32(h, buffers, b->count);
  uint64_t offset = 0;
  for (size_t i = 0; i < b->count; i++) {
    set64(h, buffers + 4 + i * BUFFER_BYTES, offset);
    set64(h, buffers + 12 + i * BUFFER_BYTES, b->parts[i].size);
    offset += b->parts[i].size + gap(b->parts[i].size, BODY_ALIGN);
  }
  return GLV_OK;
}

/* Prefix, header and padding, such that the body starts at a multiple of BODY_ALIGN. */
static glv_status put_header(writer *w, const void *header, size_t size, size_t *ret_size) {
  const size_t padding = gap(w->position + 8 + size, BODY_ALIGN);
  uint8_t prefix[8];
  if (size + padding > INT32_MAX - 8) {
    return FAIL(w->err, GLV_E_LIMIT, "a batch has too many columns for Arrow IPC");
  }
  store_le32(prefix, UINT32_MAX);
  store_le32(prefix + 4, (uint32_t)(size + padding));
  TRY(put(w, prefix, sizeof prefix));
  TRY(put(w, header, size));
  *ret_size = 8 + size + padding;
  return put_zeros(w, padding);
}

static glv_status put_body(writer *w, const body *b) {
  for (size_t i = 0; i < b->count; i++) {
    TRY(put(w, b->parts[i].data, b->parts[i].size));
    TRY(put_zeros(w, gap(b->parts[i].size, BODY_ALIGN)));
  }
  return GLV_OK;
}

static glv_status add_block(writer *w, buf *blocks, uint64_t offset, size_t header, size_t size) {
  const uint64_t block[3] = {offset, header, size};
  return w->is_file ? buf_append(blocks, block, sizeof block, w->err) : GLV_OK;
}

/* A whole message; dictionary_id < 0: a record batch. */
static glv_status put_message(writer *w, const body *b, uint64_t length, int64_t dictionary_id,
                              bool is_delta) {
  CLEANUP(buf_dispose) buf h;
  const bool is_dictionary = dictionary_id >= 0;
  const size_t batch_at = MESSAGE_END + (is_dictionary ? NESTED_END : 0);
  const size_t size = batch_at + 56 + b->nodes.size + b->count * BUFFER_BYTES;
  const uint64_t start = w->position;
  size_t header;
  buf_init(&h, w->env, SIZE_MAX / 2);
  TRY(buf_append_fill(&h, 0, size, w->err));
  set_message(&h, is_dictionary ? HEADER_DICTIONARY_BATCH : HEADER_RECORD_BATCH, b->size);
  if (is_dictionary) {
    set_dictionary(&h, MESSAGE_END, dictionary_id, is_delta);
  }
  TRY(set_batch(&h, batch_at, b, length));
  TRY(put_header(w, h.data, h.size, &header));
  TRY(put_body(w, b));
  return add_block(w, is_dictionary ? &w->dictionary_blocks : &w->batch_blocks, start, header,
                   b->size);
}

static glv_status put_dictionary(writer *w, const array *values, size_t index, bool is_delta) {
  CLEANUP(body_dispose) body b;
  body_init(&b, w);
  TRY(add_array(&b, values));
  return put_message(w, &b, values->length, (int64_t)index, is_delta);
}

static glv_status check_index_range(writer *w, const type *t, size_t total) {
  const size_t width = array_value_width(t);
  const size_t bits = 8 * width - (type_is_signed(t->index) ? 1 : 0);
  if (bits < 64 && total > (UINT64_C(1) << bits)) {
    return FAIL(w->err, GLV_E_LIMIT, "%zu dictionary values do not fit into indices of type %s",
                total, TYPE_TEXT(type_simple(t->index)));
  }
  return GLV_OK;
}

static bool is_prefix(const array *shorter, const array *longer) {
  if (shorter->length > longer->length) {
    return false;
  }
  CLEANUP(array_unref) array start = array_slice(longer, 0, shorter->length);
  return start.type != NULL && array_equal(shorter, &start);
}

/* Values of which the first ones are written already, from value number `written` on. */
static glv_status extend_dictionary(writer *w, const array *values, size_t written, size_t index) {
  CLEANUP(array_unref) array added = array_slice(values, written, values->length - written);
  return added.type != NULL ? put_dictionary(w, &added, index, true)
                            : error_nomem(w->err, sizeof added);
}

/* The values that the next batch needs, unless they are there already. */
static glv_status update_dictionary(writer *w, const array *a, size_t index) {
  dictionary_state *d = &w->dictionaries[index];
  const array *values = &a->children[0];
  const bool is_first = d->last.type == NULL;
  size_t base = 0;
  if (!is_first && is_prefix(values, &d->last)) {
    return GLV_OK;
  }
  if (!is_first && d->base == 0 && is_prefix(&d->last, values)) {
    TRY(check_index_range(w, a->type, values->length));
    TRY(extend_dictionary(w, values, d->last.length, index));
  } else {
    const bool is_delta = w->is_file && !is_first;
    base = is_delta ? d->total : 0;
    TRY(check_index_range(w, a->type, base + values->length));
    TRY(put_dictionary(w, values, index, is_delta));
  }
  d->base = base;
  d->total = base + values->length;
  array_unref(&d->last);
  d->last = array_ref(values);
  return GLV_OK;
}

static glv_status update_dictionaries(writer *w, const array *a, size_t *index) {
  if (a->type == NULL) {
    return GLV_OK; /* add_array reports it */
  }
  if (a->type->kind == TYPE_DICTIONARY) {
    return update_dictionary(w, a, (*index)++);
  }
  for (size_t i = 0; i < a->child_count; i++) {
    TRY(update_dictionaries(w, &a->children[i], index));
  }
  return GLV_OK;
}

static glv_status put_batch(writer *w, const batch *data) {
  CLEANUP(body_dispose) body b;
  size_t index = 0;
  body_init(&b, w);
  for (size_t i = 0; w->dictionary_count != 0 && i < data->column_count; i++) {
    TRY(update_dictionaries(w, &data->columns[i], &index));
  }
  for (size_t i = 0; i < data->column_count; i++) {
    TRY(add_array(&b, &data->columns[i]));
  }
  return put_message(w, &b, data->length, -1, false);
}

/* Schema. */

static glv_status count_dictionaries(writer *w, const field *f, const char *column) {
  if (f->type->kind == TYPE_DICTIONARY) {
    w->dictionary_count++;
    if (f->type->children[0].type->child_count != 0) {
      return FAIL(w->err, GLV_E_UNSUPPORTED,
                  "column '%s' of type %s: dictionaries of nested values cannot be written; cast "
                  "it to the type of the values",
                  column, TYPE_TEXT(f->type));
    }
    return GLV_OK;
  }
  for (size_t i = 0; i < f->type->child_count; i++) {
    TRY(count_dictionaries(w, &f->type->children[i], column));
  }
  return GLV_OK;
}

static glv_status encode_with(writer *w, struct ArrowSchema *foreign) {
  struct ArrowIpcEncoder encoder;
  struct ArrowBuffer out;
  struct ArrowError report = {0};
  ArrowBufferInit(&out);
  int code = ArrowIpcEncoderInit(&encoder);
  if (code == NANOARROW_OK) {
    code = ArrowIpcEncoderEncodeSchema(&encoder, foreign, &report);
    if (code == NANOARROW_OK) {
      code = ArrowIpcEncoderFinalizeBuffer(&encoder, 0, &out);
    }
    ArrowIpcEncoderReset(&encoder);
  }
  glv_status status = GLV_OK;
  if (code != NANOARROW_OK) {
    status = FAIL(w->err, code == ENOMEM ? GLV_E_NOMEM : GLV_E_UNSUPPORTED,
                  "the schema cannot be written as Arrow IPC: %s", report.message);
  } else {
    status = buf_append(&w->schema_message, out.data, (size_t)out.size_bytes, w->err);
  }
  ArrowBufferReset(&out);
  return status;
}

static glv_status encode_schema(writer *w, const schema *s) {
  struct ArrowSchema foreign;
  for (size_t i = 0; i < s->field_count; i++) {
    TRY(count_dictionaries(w, &s->fields[i], s->fields[i].name));
  }
  w->dictionaries = mem_calloc(w->env, w->dictionary_count, sizeof *w->dictionaries);
  if (w->dictionaries == NULL) {
    return error_nomem(w->err, w->dictionary_count * sizeof *w->dictionaries);
  }
  TRY(cdata_export_schema(w->env, s, &foreign, w->err));
  const glv_status status = encode_with(w, &foreign);
  foreign.release(&foreign);
  return status;
}

/* Footer. */

static glv_status add_blocks(writer *w, buf *h, size_t reference, const buf *blocks) {
  TRY(buf_append_fill(h, 0, gap(h->size + 4, 8) + 4, w->err));
  const size_t at = h->size - 4;
  set32(h, reference, at - reference);
  set32(h, at, blocks->size / BLOCK_BYTES);
  return buf_append(h, blocks->data, blocks->size, w->err);
}

/* Footer: schema reference at 4, dictionaries at 8, record batches at 12, version at 16. */
static glv_status put_footer(writer *w) {
  static const uint8_t places[] = {16, 4, 8, 12};
  static const char magic[] = {'A', 'R', 'R', 'O', 'W', '1'};
  CLEANUP(buf_dispose) buf h;
  uint8_t size[4];
  buf_init(&h, w->env, INT32_MAX);
  TRY(buf_append_fill(&h, 0, MESSAGE_END, w->err));
  set32(&h, 0, MESSAGE_AT);
  const size_t table = set_table(&h, 4, 12, places, 4);
  set16(&h, table + 16, METADATA_V5);
  flat f = {.data = (const uint8_t *)w->schema_message.data, .size = w->schema_message.size};
  const size_t schema_at = flat_table(&f, flat_root(&f), MESSAGE_HEADER);
  set32(&h, table + 4, MESSAGE_END + schema_at - (table + 4));
  TRY(buf_append(&h, w->schema_message.data, w->schema_message.size, w->err));
  TRY(add_blocks(w, &h, table + 8, &w->dictionary_blocks));
  TRY(add_blocks(w, &h, table + 12, &w->batch_blocks));
  store_le32(size, (uint32_t)h.size);
  TRY(put(w, h.data, h.size));
  TRY(put(w, size, sizeof size));
  return put(w, magic, sizeof magic);
}

static glv_status put_start(writer *w, const schema *s) {
  static const uint8_t file_start[8] = {'A', 'R', 'R', 'O', 'W', '1', 0, 0};
  size_t size;
  TRY(encode_schema(w, s));
  if (w->is_file) {
    TRY(put(w, file_start, sizeof file_start));
  }
  return put_header(w, w->schema_message.data, w->schema_message.size, &size);
}

glv_status ipc_writer_new(glv_env *env, const schema *s, bool as_file, byte_sink sink,
                          ipc_writer **ret, glv_error *err) {
  CLEANUP(ipc_writer_cleanup) writer *w = mem_zalloc(env, sizeof *w);
  if (w == NULL) {
    return error_nomem(err, sizeof *w);
  }
  w->env = env;
  w->sink = sink;
  w->is_file = as_file;
  w->err = err;
  buf_init(&w->schema_message, env, INT32_MAX);
  buf_init(&w->batch_blocks, env, INT32_MAX);
  buf_init(&w->dictionary_blocks, env, INT32_MAX);
  TRY(put_start(w, s));
  *ret = w;
  w = NULL;
  return GLV_OK;
}

glv_status ipc_writer_batch(ipc_writer *w, const batch *b, glv_error *err) {
  w->err = err;
  return put_batch(w, b);
}

glv_status ipc_writer_end(ipc_writer *w, glv_error *err) {
  static const uint8_t end_mark[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0};
  w->err = err;
  TRY(put(w, end_mark, sizeof end_mark));
  return w->is_file ? put_footer(w) : GLV_OK;
}

void ipc_writer_free(ipc_writer *w) {
  if (w == NULL) {
    return;
  }
  for (size_t i = 0; w->dictionaries != NULL && i < w->dictionary_count; i++) {
    array_unref(&w->dictionaries[i].last);
  }
  mem_free(w->env, w->dictionaries);
  buf_dispose(&w->schema_message);
  buf_dispose(&w->batch_blocks);
  buf_dispose(&w->dictionary_blocks);
  mem_free(w->env, w);
}

void ipc_writer_cleanup(ipc_writer **w) { ipc_writer_free(*w); }

static glv_status write_batches(writer *w, batch_reader *r, glv_error *err) {
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool end = false;
    TRY(r->next(r->state, &b, &end, err));
    if (end) {
      return GLV_OK;
    }
    TRY(ipc_writer_batch(w, &b, err));
  }
}

glv_status ipc_write(glv_env *env, batch_reader *r, bool as_file, byte_sink sink, glv_error *err) {
  CLEANUP(ipc_writer_cleanup) writer *w = NULL;
  TRY(ipc_writer_new(env, r->schema, as_file, sink, &w, err));
  TRY(write_batches(w, r, err));
  return ipc_writer_end(w, err);
}

static glv_status buf_write(void *context, const void *data, size_t size, glv_error *err) {
  return buf_append(context, data, size, err);
}

byte_sink ipc_buf_sink(buf *out) { return (byte_sink){.write = buf_write, .context = out}; }
