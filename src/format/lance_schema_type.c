/*
 * The Arrow type of a stored field: from its logical type when it stands alone, else from its
 * children. Blob columns are read as descriptors, which tell where the bytes are.
 */
#include "format/lance_schema_private.h"
#include "format/logical_type.h"

#define BLOB_KEY "lance-encoding:blob"
#define PACKED_KEY "lance-encoding:packed"

bool str_is_true(str value) {
  static const char *const words[] = {"1", "true", "on", "yes", "y"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (str_equal_ascii_case(value, str_of(words[i]))) {
      return true;
    }
  }
  return false;
}

static blob_kind blob_of(const lance_field *f) {
  const str text = str_of(f->logical_type);
  bool is_marked = false;
  metadata_get(f->arrow.metadata, STR(BLOB_KEY), &is_marked);
  if (str_is(text, "struct")) {
    const str extension = metadata_get(f->arrow.metadata, STR(FIELD_EXTENSION), NULL);
    return is_marked || str_is(extension, "lance.blob.v2") ? BLOB_V2 : BLOB_NONE;
  }
  const bool is_bytes = str_is(text, "large_binary") || str_is(text, "binary");
  return str_is(text, "blob") || (is_bytes && is_marked) ? BLOB_V1 : BLOB_NONE;
}

void lance_field_classify(lance_field *f) {
  const metadata m = f->arrow.metadata;
  f->blob = blob_of(f);
  f->is_packed = f->blob == BLOB_NONE && strcmp(f->logical_type, "struct") == 0 &&
                 (str_is_true(metadata_get(m, STR("packed"), NULL)) ||
                  str_is_true(metadata_get(m, STR(PACKED_KEY), NULL)));
  f->is_leaf = f->child_count == 0 || f->blob != BLOB_NONE || f->is_packed;
}

/* ---- blobs ---- */

static const type *blob_v1_type(arena *a) {
  const field children[] = {
      {.name = "position", .type = type_simple(TYPE_UINT64), .nullable = true},
      {.name = "size", .type = type_simple(TYPE_UINT64), .nullable = true},
  };
  return type_struct(a, children, sizeof children / sizeof children[0]);
}

static const type *blob_v2_type(arena *a) {
  const field children[] = {
      {.name = "kind", .type = type_simple(TYPE_UINT8)},
      {.name = "position", .type = type_simple(TYPE_UINT64)},
      {.name = "size", .type = type_simple(TYPE_UINT64)},
      {.name = "blob_id", .type = type_simple(TYPE_UINT32)},
      {.name = "blob_uri", .type = type_simple(TYPE_UTF8)},
  };
  return type_struct(a, children, sizeof children / sizeof children[0]);
}

static bool is_form_key(str key) {
  return str_is(key, FIELD_EXTENSION) || str_is(key, FIELD_EXTENSION_METADATA) ||
         str_is(key, BLOB_KEY) || str_is(key, PACKED_KEY);
}

/* Descriptors are marked as what they are, in place of the extension type of the stored column. */
static glv_status mark_descriptors(arena *a, lance_field *f, glv_error *err) {
  const metadata m = f->arrow.metadata;
  pair *pairs = ARENA_ARRAY(a, pair, m.count + 2);
  if (pairs == NULL) {
    return error_nomem(err, (m.count + 2) * sizeof *pairs);
  }
  pairs[0] = (pair){STR(PACKED_KEY), STR("true")};
  pairs[1] = (pair){STR(BLOB_KEY), STR("true")};
  size_t count = 2;
  for (size_t i = 0; i < m.count; i++) {
    if (!is_form_key(m.pairs[i].key)) {
      pairs[count++] = m.pairs[i];
    }
  }
  f->arrow.metadata = (metadata){pairs, count};
  return GLV_OK;
}

/* ---- types ---- */

/* The kind of a type that is put together from stored children, or TYPE_NONE. */
static type_kind nested_kind(str text) {
  if (str_is(text, "struct")) {
    return TYPE_STRUCT;
  }
  if (str_is(text, "list") || str_is(text, "list.struct")) {
    return TYPE_LIST;
  }
  if (str_is(text, "large_list") || str_is(text, "large_list.struct")) {
    return TYPE_LARGE_LIST;
  }
  return str_is(text, "map") ? TYPE_MAP : TYPE_NONE;
}

#define STRUCT_ITEMS "fixed_size_list:struct:"

/* Items of a fixed_size_list of structs; -1: malformed. */
static int32_t struct_items(str text) {
  const size_t head = sizeof STRUCT_ITEMS - 1;
  uint64_t items = 0;
  const bool ok = str_to_u64(str_slice(text.data + head, text.size - head), &items);
  return ok && items >= 1 && items <= INT32_MAX ? (int32_t)items : -1;
}

static bool has_struct_child(const lance_field *f) {
  return f->child_count == 1 && f->children[0].arrow.type->kind == TYPE_STRUCT;
}

static glv_status malformed(const lance_field *f, glv_error *err) {
  return FAIL(err, GLV_E_CORRUPT, "the field '%s' of type %s has %zu children of other types",
              f->arrow.name, f->logical_type, f->child_count);
}

static glv_status struct_type(arena *a, lance_field *f, glv_error *err) {
  field *children = ARENA_ARRAY(a, field, f->child_count);
  if (children == NULL) {
    return error_nomem(err, f->child_count * sizeof *children);
  }
  for (size_t i = 0; i < f->child_count; i++) {
    children[i] = f->children[i].arrow;
  }
  f->arrow.type = type_struct(a, children, f->child_count);
  return f->arrow.type != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static glv_status nested_type(arena *a, lance_field *f, type_kind kind, glv_error *err) {
  if (kind != TYPE_STRUCT && f->child_count != 1) {
    return malformed(f, err);
  }
  for (size_t i = 0; i < f->child_count; i++) {
    if (f->children[i].arrow.type == NULL) {
      return GLV_OK; /* not supported, because its child is not */
    }
  }
  if (kind == TYPE_STRUCT) {
    return struct_type(a, f, err);
  }
  const field *child = &f->children[0].arrow;
  if (kind == TYPE_FIXED_SIZE_LIST) {
    const int32_t items = struct_items(str_of(f->logical_type));
    if (items < 0 || !has_struct_child(f)) {
      return malformed(f, err);
    }
    f->arrow.type = type_fixed_size_list(a, child, items);
  } else if (kind == TYPE_MAP && (!has_struct_child(f) || child->type->child_count != 2)) {
    return malformed(f, err);
  } else {
    f->arrow.type = type_list(a, kind, child);
  }
  return f->arrow.type != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

glv_status lance_field_type(arena *a, lance_field *f, glv_error *err) {
  const str text = str_of(f->logical_type);
  if (f->blob != BLOB_NONE) {
    f->arrow.type = f->blob == BLOB_V1 ? blob_v1_type(a) : blob_v2_type(a);
    if (f->arrow.type == NULL) {
      return error_nomem(err, sizeof(type));
    }
    return f->blob == BLOB_V2 ? mark_descriptors(a, f, err) : GLV_OK;
  }
  const type_kind kind = nested_kind(text);
  if (kind != TYPE_NONE) {
    return nested_type(a, f, kind, err);
  }
  if (str_starts_with(text, STR(STRUCT_ITEMS))) {
    return nested_type(a, f, TYPE_FIXED_SIZE_LIST, err);
  }
  return f->child_count == 0 ? logical_type_parse(a, text, &f->arrow.type, err) : GLV_OK;
}
