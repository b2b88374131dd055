/**
 * @file file_reader.h
 * Reading Lance data files. A reader is opened once per file and shared by all threads; columns are
 * decoded by row range, touching only the pages and chunks that hold wanted rows.
 */
#ifndef GLAIVE_FORMAT_FILE_READER_H
#define GLAIVE_FORMAT_FILE_READER_H

#include "arrow/array.h"
#include "format/lance_schema.h"

/** Manifest spelling "2.2" and back; 0 = not one of them. */
const char *format_version_text(format_version v);
format_version format_version_parse(str text);
/** From the numbers of a footer or of a manifest's DataFile; 0 = not one of them. */
format_version format_version_of(uint32_t major, uint32_t minor);

typedef struct file_reader file_reader;

/**
 * Open a data file and read its metadata.
 *
 * @param dir   directory handle of the I/O table; borrowed for the call (the open file does not
 * need it), or NULL.
 * @param name  name in dir, or path; also what error messages call the file.
 * Errors: GLV_E_CORRUPT with file and offset; GLV_E_UNSUPPORTED for versions that are not read;
 * GLV_E_IO.
 */
glv_status file_reader_open(glv_env *env, void *dir, const char *name, file_reader **ret,
                            glv_error *err);
file_reader *file_reader_ref(file_reader *r);
void file_reader_unref(file_reader *r); /* NULL is fine */
/** Forget loaded pages until at most about `most` bytes of them are kept. Thread class: T. */
void file_reader_trim(file_reader *r, size_t most);

format_version file_reader_version(const file_reader *r);
uint64_t file_reader_rows(const file_reader *r);
uint32_t file_reader_column_count(const file_reader *r);
/** The schema in the file itself (a table maps columns by its manifest instead). Borrowed. Errors:
 * GLV_E_CORRUPT. */
glv_status file_reader_schema(file_reader *r, const lance_schema **ret, glv_error *err);
/** The field has no column in the file. */
#define COLUMN_NONE UINT32_MAX

/**
 * Where the parts of a field are stored, as a tree parallel to the stored field: a struct has its
 * children, a list or map its one child, a leaf (packed structs and blobs too) none.
 */
typedef struct field_place {
  const field *field; /* name and type that the array gets; borrowed, the type outlives the array */
  uint32_t column;    /* in the file: of leaves (2.1, 2.2), of every field (2.0); or COLUMN_NONE */
  bool is_wanted;     /* false: need not be read, nulls may be given; the type stays */
  bool is_packed;
  blob_kind blob;
  const struct field_place *children;
  size_t child_count;
} field_place;

/** A struct without fields: it has a column in the file, which says nothing. */
static inline bool field_place_is_empty(const field_place *p) {
  return p->column != COLUMN_NONE && p->field->type != NULL &&
         p->field->type->kind == TYPE_STRUCT && p->field->type->child_count == 0;
}

/** Sets column and is_wanted of a place. */
typedef void (*field_locate)(void *context, const lance_field *f, field_place *place);

/**
 * Make the tree of a stored field in an arena.
 *
 * @param as  what its arrays look like: the type of stored, perhaps under another name; borrowed.
 * Errors: GLV_E_NOMEM.
 */
glv_status field_place_new(arena *a, const lance_field *stored, const field *as,
                           field_locate locate, void *context, field_place *ret, glv_error *err);

/**
 * Want only the parts that paths name ("column.field.field", what is below included).
 *
 * @param place  root of a tree that field_place_new made with everything wanted.
 * @param name   what paths call the root.
 * Errors: GLV_E_NOMEM.
 */
glv_status field_place_choose(arena *a, field_place *place, const char *name,
                              const char *const *paths, size_t count, glv_error *err);

/** The places of a top-level field by the file's own schema s, everything wanted. */
glv_status file_reader_place(const file_reader *r, const lance_schema *s, const lance_field *f,
                             arena *a, field_place *ret, glv_error *err);

/**
 * Decode rows of one field of any type.
 *
 * @param place  of a top-level field.
 * @param first  first row of the window; first + count <= rows.
 * @param rows   NULL = all count rows; else `selected` ascending offsets relative to first, each <
 * count.
 * @param ret    an array of count (or selected) values. A part that has no column in the file is
 * null.
 * Errors: GLV_E_CORRUPT naming file and column; GLV_E_UNSUPPORTED naming column and type; GLV_E_IO;
 * GLV_E_NOMEM. Thread class: T.
 */
glv_status file_reader_read_field(file_reader *r, const field_place *place, uint64_t first,
                                  uint64_t count, const uint32_t *rows, size_t selected, array *ret,
                                  glv_error *err);

/** The same for a field that is a leaf, or lists of one: column is its column, f its name and type.
 */
glv_status file_reader_read(file_reader *r, uint32_t column, const field *f, uint64_t first,
                            uint64_t count, const uint32_t *rows, size_t selected, array *ret,
                            glv_error *err);

/**
 * First rows of the chunks of a column over all its pages: one for each mini-block chunk, one for a
 * page in any other layout. Reads no values.
 *
 * @param ret  in the arena.
 * Errors: GLV_E_CORRUPT, GLV_E_UNSUPPORTED, GLV_E_IO, GLV_E_NOMEM. Thread class: T.
 */
glv_status file_reader_chunks(file_reader *r, uint32_t column, arena *a, const uint64_t **ret,
                              size_t *ret_count, glv_error *err);

/**
 * Bytes of the file: what the descriptors of a blob column (position, size) point to.
 * Errors: GLV_E_CORRUPT when the file does not have them; GLV_E_LIMIT for more than max_size;
 * GLV_E_IO; GLV_E_NOMEM. Thread class: T.
 */
glv_status file_reader_bytes(file_reader *r, uint64_t position, uint64_t size, size_t max_size,
                             buffer **ret, glv_error *err);

/** Bytes of a user global buffer (index 1 ..): false when there is none. Errors: GLV_E_CORRUPT,
 * GLV_E_IO, GLV_E_NOMEM. */
uint32_t file_reader_global_count(const file_reader *r);
glv_status file_reader_global(file_reader *r, uint32_t index, size_t max_size, buffer **ret,
                              glv_error *err);

#endif
