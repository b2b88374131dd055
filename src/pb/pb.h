/**
 * @file pb.h
 * Protobuf messages from untrusted bytes and back.
 *
 * Messages are structs generated from the .proto texts of this folder ("pb/lance_table.pb-c.h",
 * ...). Bytes from outside are scanned before they are unpacked, because the unpacking of
 * protobuf-c recurses without a limit; everything unpacked lives in an arena and is never freed on
 * its own.
 */
#ifndef GLAIVE_PB_PB_H
#define GLAIVE_PB_PB_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/buf.h"

/**
 * Check that bytes are a well-formed message: keys and lengths inside the buffer, no groups, field
 * numbers at least 1, wire types that fit the declared types, sub-messages nested at most
 * LIMIT_PB_DEPTH deep, strings UTF-8 without NUL. Unknown fields are checked for their length only.
 *
 * @param what  names the message in the report, e.g. "manifest 3".
 * Errors: GLV_E_CORRUPT. Thread class: T.
 */
glv_status pb_scan(str bytes, const ProtobufCMessageDescriptor *descriptor, const char *what,
                   glv_error *err);

/**
 * Scan and unpack. Strings, bytes and unknown fields are copied into the arena.
 *
 * @param ret  the message; cast to the struct of the descriptor. Never freed on its own.
 * Errors: GLV_E_CORRUPT, GLV_E_NOMEM.
 */
glv_status pb_unpack(arena *a, str bytes, const ProtobufCMessageDescriptor *descriptor,
                     const char *what, ProtobufCMessage **ret, glv_error *err);

/** Append the serialized message to out, fields in ascending order, then its unknown fields. */
glv_status pb_pack(const ProtobufCMessage *message, buf *out, glv_error *err);

/** The serialized message in an arena. Errors: GLV_E_NOMEM. */
glv_status pb_pack_arena(arena *a, const ProtobufCMessage *message, str *ret, glv_error *err);

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

/** One field as it stands in the bytes. */
typedef struct pb_item {
  uint32_t number;
  enum pb_wire wire;
  uint64_t value; /* PB_VARINT, PB_FIXED32, PB_FIXED64 */
  str bytes;      /* PB_BYTES: the content */
  str whole;      /* key and content, for copying as it is */
} pb_item;

/** Walks the fields of one message: set rest to its bytes. */
typedef struct pb_cursor {
  str rest;
} pb_cursor;

/**
 * The next field. *ret_end is set, and *ret left alone, at the end of the message.
 * Errors: GLV_E_CORRUPT naming what.
 */
glv_status pb_next(pb_cursor *c, const char *what, pb_item *ret, bool *ret_end, glv_error *err);

#endif
