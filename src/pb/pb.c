/* Pre-scan, arena unpacking and raw walking of protobuf messages.
 *
 * Wire form: a message is a row of fields, each a varint key (number << 3 | wire type) followed by
 * a varint, 4 or 8 bytes, or a varint length and that many bytes. protobuf_c_message_unpack
 * descends into sub-messages without a depth limit and trusts its allocator, so bytes are first
 * walked here without recursion: a stack of LIMIT_PB_DEPTH frames, one per open sub-message, each
 * with its end and its descriptor. What passes the scan can be unpacked on any stack of a worker.
 * The allocator handed to protobuf-c takes memory from an arena and never frees. Groups (wire types
 * 3 and 4) do not exist in proto3 and are refused.
 */
#include "pb/pb.h"

#include "base/checked.h"
#include "base/limits.h"

/* One varint at the front of *rest, which moves behind it; false at the end or past 64 bits. */
static bool take_varint(str *rest, uint64_t *ret) {
  uint64_t value = 0;
  for (size_t i = 0; i < rest->size && i < 10; i++) {
    const uint8_t byte = (uint8_t)rest->data[i];
    if (i == 9 && byte > 1) {
      return false;
    }
    value |= (uint64_t)(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *rest = str_slice(rest->data + i + 1, rest->size - i - 1);
      *ret = value;
      return true;
    }
  }
  return false;
}

static bool take_bytes(str *rest, uint64_t size, str *ret) {
  if (size > rest->size) {
    return false;
  }
  *ret = str_slice(rest->data, (size_t)size);
  *rest = str_slice(rest->data + size, rest->size - (size_t)size);
  return true;
}

/* The content of a field whose key was read. */
static bool take_content(str *rest, pb_item *item) {
  str content;
  uint64_t size;
  switch (item->wire) {
  case PB_VARINT:
    return take_varint(rest, &item->value);
  case PB_FIXED64:
    if (!take_bytes(rest, 8, &content)) {
      return false;
    }
    item->value = load_le64(content.data);
    return true;
  case PB_BYTES:
    return take_varint(rest, &size) && take_bytes(rest, size, &item->bytes);
  case PB_FIXED32:
    if (!take_bytes(rest, 4, &content)) {
      return false;
    }
    item->value = load_le32(content.data);
    return true;
  }
  return false;
}

glv_status pb_next(pb_cursor *c, const char *what, pb_item *ret, bool *ret_end, glv_error *err) {
  *ret_end = c->rest.size == 0;
  if (*ret_end) {
    return GLV_OK;
  }
  const str start = c->rest;
  uint64_t key;
  if (!take_varint(&c->rest, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff) {
    return FAIL(err, GLV_E_CORRUPT, "%s: malformed protobuf field key", what);
  }
  pb_item item = {.number = (uint32_t)(key >> 3), .wire = (enum pb_wire)(key & 7)};
  if ((key & 7) == 3 || (key & 7) == 4 || (key & 7) > 5) {
    return FAIL(err, GLV_E_CORRUPT, "%s: protobuf field %u has wire type %u, which is not allowed",
                what, item.number, (unsigned)(key & 7));
  }
  if (!take_content(&c->rest, &item)) {
    return FAIL(err, GLV_E_CORRUPT, "%s: protobuf field %u reaches past the end of its message",
                what, item.number);
  }
  item.whole = str_slice(start.data, start.size - c->rest.size);
  *ret = item;
  return GLV_OK;
}

/* The wire type that a value of a declared type has when it is not packed. */
static enum pb_wire declared_wire(ProtobufCType t) {
  switch (t) {
  case PROTOBUF_C_TYPE_SFIXED32:
  case PROTOBUF_C_TYPE_FIXED32:
  case PROTOBUF_C_TYPE_FLOAT:
    return PB_FIXED32;
  case PROTOBUF_C_TYPE_SFIXED64:
  case PROTOBUF_C_TYPE_FIXED64:
  case PROTOBUF_C_TYPE_DOUBLE:
    return PB_FIXED64;
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_BYTES:
  case PROTOBUF_C_TYPE_MESSAGE:
    return PB_BYTES;
  case PROTOBUF_C_TYPE_INT32:
  case PROTOBUF_C_TYPE_SINT32:
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_SINT64:
  case PROTOBUF_C_TYPE_UINT32:
  case PROTOBUF_C_TYPE_UINT64:
  case PROTOBUF_C_TYPE_BOOL:
  case PROTOBUF_C_TYPE_ENUM:
    return PB_VARINT;
  }
  return PB_VARINT;
}

/* A packed array must be made of whole values. */
static bool is_packed_array(str bytes, enum pb_wire wire) {
  if (wire != PB_VARINT) {
    return bytes.size % (wire == PB_FIXED32 ? 4 : 8) == 0;
  }
  uint64_t value;
  while (bytes.size > 0) {
    if (!take_varint(&bytes, &value)) {
      return false;
    }
  }
  return true;
}

static glv_status check_known(const pb_item *item, const ProtobufCFieldDescriptor *f,
                              const char *what, glv_error *err) {
  const enum pb_wire wire = declared_wire(f->type);
  if (item->wire != wire) {
    const bool is_packed =
        item->wire == PB_BYTES && f->label == PROTOBUF_C_LABEL_REPEATED && wire != PB_BYTES;
    if (!is_packed || !is_packed_array(item->bytes, wire)) {
      return FAIL(err, GLV_E_CORRUPT, "%s: protobuf field %u (%s) is malformed", what, f->id,
                  f->name);
    }
  }
  if (f->type == PROTOBUF_C_TYPE_STRING &&
      (!str_is_utf8(item->bytes) ||
       (item->bytes.size > 0 && memchr(item->bytes.data, 0, item->bytes.size) != NULL))) {
    return FAIL(err, GLV_E_CORRUPT, "%s: protobuf field %u (%s) is not UTF-8 text", what, f->id,
                f->name);
  }
  return GLV_OK;
}

glv_status pb_scan(str bytes, const ProtobufCMessageDescriptor *descriptor, const char *what,
                   glv_error *err) {
  struct {
    pb_cursor cursor;
    const ProtobufCMessageDescriptor *descriptor;
  } stack[LIMIT_PB_DEPTH];
  size_t depth = 1;
  stack[0].cursor.rest = bytes;
  stack[0].descriptor = descriptor;
  while (depth > 0) {
    pb_item item;
    bool at_end;
    TRY(pb_next(&stack[depth - 1].cursor, what, &item, &at_end, err));
    if (at_end) {
      depth--;
      continue;
    }
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field(stack[depth - 1].descriptor, item.number);
    if (f == NULL) {
      continue;
    }
    TRY(check_known(&item, f, what, err));
    if (f->type != PROTOBUF_C_TYPE_MESSAGE) {
      continue;
    }
    if (depth == LIMIT_PB_DEPTH) {
      return FAIL(err, GLV_E_CORRUPT, "%s: protobuf messages nested more than %d deep", what,
                  LIMIT_PB_DEPTH);
    }
    stack[depth].cursor.rest = item.bytes;
    stack[depth].descriptor = f->descriptor;
    depth++;
  }
  return GLV_OK;
}

/* What protobuf-c sees as an allocator. */
struct arena_allocator {
  arena *arena;
  bool has_failed;
};

static void *allocate(void *context, size_t size) {
  struct arena_allocator *allocator = context;
  void *block = arena_alloc(allocator->arena, size);
  allocator->has_failed |= block == NULL;
  return block;
}

static void release(void *context, void *block) {
  (void)context;
  (void)block;
}

glv_status pb_unpack(arena *a, str bytes, const ProtobufCMessageDescriptor *descriptor,
                     const char *what, ProtobufCMessage **ret, glv_error *err) {
  TRY(pb_scan(bytes, descriptor, what, err));
  struct arena_allocator context = {.arena = a};
  ProtobufCAllocator allocator = {allocate, release, &context};
  const uint8_t empty = 0;
  ProtobufCMessage *message = protobuf_c_message_unpack(
      descriptor, &allocator, bytes.size, bytes.size > 0 ? (const uint8_t *)bytes.data : &empty);
  if (message == NULL) {
    return context.has_failed ? error_nomem(err, bytes.size)
                              : FAIL(err, GLV_E_CORRUPT, "%s: malformed protobuf message", what);
  }
  *ret = message;
  return GLV_OK;
}

glv_status pb_pack(const ProtobufCMessage *message, buf *out, glv_error *err) {
  const size_t size = protobuf_c_message_get_packed_size(message);
  TRY(buf_reserve(out, size, err));
  if (size > 0) {
    out->size += protobuf_c_message_pack(message, (uint8_t *)out->data + out->size);
    out->data[out->size] = '\0';
  }
  return GLV_OK;
}

glv_status pb_pack_arena(arena *a, const ProtobufCMessage *message, str *ret, glv_error *err) {
  const size_t size = protobuf_c_message_get_packed_size(message);
  uint8_t *data = arena_alloc(a, size);
  if (data == NULL) {
    return error_nomem(err, size);
  }
  *ret = str_slice((const char *)data, protobuf_c_message_pack(message, data));
  return GLV_OK;
}
