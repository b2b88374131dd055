/**
 * @file lance_schema.h
 * Schemas as Lance stores them: a flat pre-order list of fields with ids, parents and logical
 * types, and the way between it and Arrow schemas (lance-file-format section 4, lance-table-format
 * section 5).
 */
#ifndef GLAIVE_FORMAT_LANCE_SCHEMA_H
#define GLAIVE_FORMAT_LANCE_SCHEMA_H

#include "arrow/type.h"

/** Versions of the file format; also in manifests. */
typedef enum format_version { FORMAT_2_0 = 20, FORMAT_2_1 = 21, FORMAT_2_2 = 22 } format_version;

/** How large values that lie outside of their column are described. */
typedef enum blob_kind {
  BLOB_NONE,
  BLOB_V1, /* stored as binary; read as struct<position, size>: a range of the data file */
  BLOB_V2, /* struct<kind, position, size, blob_id, blob_uri>: also in side files */
} blob_kind;

/** One stored field. Immutable; lives in the arena of its lance_schema. */
typedef struct lance_field {
  field arrow; /* name, type, nullability, metadata of the Arrow field; of a blob column that was
                  read: those of its descriptors */
  int32_t id;
  int32_t parent_id; /* -1 = top level */
  const char *logical_type;
  int32_t encoding; /* the stored hint: 0 none, 1 plain, 2 var-binary, 3 dictionary */
  str raw;          /* the stored message as read, for pass-through; empty for new fields */
  const struct lance_field *children;
  size_t child_count; /* stored children: lists and maps 1, fixed_size_list 0 unless of structs */
  blob_kind blob;
  bool is_packed;    /* a struct whose values lie together in one column */
  bool is_leaf;      /* owns a column in 2.1 and 2.2: no children, or blob, or packed */
  bool is_supported; /* false: a logical type this release cannot read or write; arrow.type is then
                        NULL */
} lance_field;

typedef struct lance_schema {
  const lance_field *fields; /* top level, in order */
  size_t field_count;
  metadata metadata;
} lance_schema;

/** 1, true, on, yes or y, in any case: how metadata says yes. */
bool str_is_true(str value);

struct Lance__File__Field;

/**
 * Build from stored messages in an arena. Errors: GLV_E_CORRUPT (a parent that does not come
 * earlier, a malformed logical type); unknown logical types are kept as unsupported fields, so that
 * other columns stay readable.
 */
glv_status lance_schema_from_messages(arena *a, struct Lance__File__Field *const *messages,
                                      size_t count, metadata m, lance_schema **ret, glv_error *err);
/** The flat pre-order list of messages; a field read earlier gives its own message back, unknown
 * sub-fields included. */
glv_status lance_schema_to_messages(arena *a, const lance_schema *s,
                                    struct Lance__File__Field ***ret, size_t *ret_count,
                                    glv_error *err);
/**
 * Give ids in pre-order from *next_id on. Errors: GLV_E_UNSUPPORTED "column 'c' has type ..., which
 * Lance cannot store"; GLV_E_INVALID_INPUT for empty, duplicate or dotted top-level names and
 * reserved names.
 */
glv_status lance_schema_from_arrow(arena *a, const field *fields, size_t count, metadata m,
                                   int32_t *next_id, lance_schema **ret, glv_error *err);
/** Key columns are marked twice: by metadata, and by numbers of their own in the message, which
 * this sets from the metadata. */
void lance_field_mark_keys(metadata m, struct Lance__File__Field *to);
/** An Arrow schema of the top-level fields. Errors: GLV_E_UNSUPPORTED naming the first column with
 * an unsupported type. */
glv_status lance_schema_to_arrow(glv_env *env, const lance_schema *s, schema **ret, glv_error *err);
/**
 * The fields that own a column in files of version v, in column order: the leaves in 2.1 and 2.2;
 * in 2.0 every field but the children of leaves. Returns their number, of which at most `room` are
 * stored; ret may be NULL to count only.
 */
size_t lance_schema_columns(const lance_schema *s, format_version v, const lance_field **ret,
                            size_t room);
/** The top-level field of that name, or NULL. */
const lance_field *lance_schema_find(const lance_schema *s, str name);
/** Any field with that id, or NULL. */
const lance_field *lance_schema_find_id(const lance_schema *s, int32_t id);

#endif
