/**
 * @file limits.h
 * Every fixed limit of the library in one place. Passing one is GLV_E_LIMIT, or GLV_E_CORRUPT where
 * a well-formed file cannot pass it.
 */
#ifndef GLAIVE_BASE_LIMITS_H
#define GLAIVE_BASE_LIMITS_H

/** Nesting of protobuf messages. */
#define LIMIT_PB_DEPTH 64
/** Nesting of parentheses and calls in SQL; in view definitions LIMIT_SQL_VIEW_DEPTH, which LanceDB
 * can read back. */
#define LIMIT_SQL_DEPTH 200
#define LIMIT_SQL_VIEW_DEPTH 45
/** Nodes of the syntax tree of one SQL text. */
#define LIMIT_SQL_NODES (2u << 20)
/** Length of one SQL text in bytes. */
#define LIMIT_SQL_BYTES (16u << 20)
/** Items of all lists that range, array_repeat or array_resize make in one batch. */
#define LIMIT_SQL_LIST_ITEMS (1u << 27)
/** Nesting of Arrow types. */
#define LIMIT_TYPE_DEPTH 64
/** Columns of a schema, nested ones included. */
#define LIMIT_FIELDS 65536
/** Bytes of a manifest file, of a transaction file, of the metadata part of a data file. */
#define LIMIT_MANIFEST_BYTES (1u << 30)
/** Decoded size of one compressed block, or of one chunk, of a data file. */
#define LIMIT_BLOCK_BYTES (2u << 30)
/** Bytes of one JSON text. */
#define LIMIT_JSON_BYTES (64u << 20)
/** Nesting of JSON in binary form. */
#define LIMIT_JSONB_DEPTH 256
/** Length of a path. */
#define LIMIT_PATH_BYTES 4096
/** Rows of one batch that a scan produces. */
#define LIMIT_BATCH_ROWS 1048576
/** Attempts of one commit. */
#define LIMIT_COMMIT_ATTEMPTS 20
/** Times that an operation is computed again after a conflict. */
#define LIMIT_RECOMPUTATIONS 10

#endif
