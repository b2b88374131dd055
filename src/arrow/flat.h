/**
 * @file flat.h
 * Reading FlatBuffers tables with bounds checks: the message headers and footers of Arrow IPC.
 * Positions are byte offsets in the text; 0 is never a table or vector and means "absent". Reading
 * outside sets `bad` and yields 0; callers look at `bad` before they trust what they read.
 */
#ifndef GLAIVE_ARROW_FLAT_H
#define GLAIVE_ARROW_FLAT_H

#include "base/checked.h"
#include "base/str.h"

typedef struct flat {
  const uint8_t *data;
  size_t size;
  bool bad;
} flat;

/** Position of the root table. */
size_t flat_root(flat *f);
/** Number in field `index` of a table, or 0 (the 32-bit one: `absent`) when the field is absent. */
uint8_t flat_u8(flat *f, size_t table, unsigned index);
int16_t flat_i16(flat *f, size_t table, unsigned index);
int32_t flat_i32(flat *f, size_t table, unsigned index, int32_t absent);
int64_t flat_i64(flat *f, size_t table, unsigned index);
/** True iff the table has the field. */
bool flat_has(flat *f, size_t table, unsigned index);
/** Position of the table that the field refers to. */
size_t flat_table(flat *f, size_t table, unsigned index);
/** Position of the first item of a vector of items of `width` bytes; *ret_count items are inside
 * the text. */
size_t flat_vector(flat *f, size_t table, unsigned index, size_t width, size_t *ret_count);
/** Item i of a vector of tables. */
size_t flat_item(flat *f, size_t vector, size_t i);
/** A string, {NULL, 0} when absent. It is followed by a NUL inside the text. */
str flat_string(flat *f, size_t table, unsigned index);
/** 8 bytes at a position inside a vector of structs. */
int64_t flat_load_i64(const flat *f, size_t at);

/* Fields of the tables of Arrow's Message.fbs, Schema.fbs and File.fbs. */
enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_LENGTH };
enum { HEADER_NONE, HEADER_SCHEMA, HEADER_DICTIONARY_BATCH, HEADER_RECORD_BATCH };
enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS, SCHEMA_METADATA, SCHEMA_FEATURES };
enum {
  FIELD_NAME,
  FIELD_NULLABLE,
  FIELD_TYPE_TYPE,
  FIELD_TYPE,
  FIELD_DICTIONARY,
  FIELD_CHILDREN,
  FIELD_METADATA
};
enum { ENCODING_ID, ENCODING_INDEX_TYPE, ENCODING_IS_ORDERED };
enum { KEY_VALUE_KEY, KEY_VALUE_VALUE };
enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION, BATCH_VARIADIC_COUNTS };
enum { DICTIONARY_ID, DICTIONARY_DATA, DICTIONARY_IS_DELTA };
enum { COMPRESSION_CODEC, COMPRESSION_METHOD };
enum { FOOTER_VERSION, FOOTER_SCHEMA, FOOTER_DICTIONARIES, FOOTER_RECORD_BATCHES };
enum { METADATA_V4 = 3, METADATA_V5 = 4 };
enum { NODE_BYTES = 16, BUFFER_BYTES = 16, BLOCK_BYTES = 24 };

#endif
