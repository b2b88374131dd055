/* Decoding of fragments and their data files.
 *
 * A table may have 10^5 fragments and more, so a DataFragment is walked field by field instead of
 * being unpacked: what a snapshot keeps is a small struct that points into the manifest bytes. The
 * raw message stays beside it and is what the next manifest copies (lance-table-format 3.3).
 */
#include "table/table_private.h"

static glv_status fail_fragment(const char *what, const char *reason, glv_error *err) {
  return FAIL(err, GLV_E_CORRUPT, "%s: a fragment %s", what, reason);
}

/* Numbers of a packed or an unpacked repeated int32, appended to values[*count ..). */
static glv_status take_int32s(const pb_item *item, const char *what, int32_t *values, size_t room,
                              size_t *count, glv_error *err) {
  if (item->wire == PB_VARINT) {
    if (*count < room) {
      values[*count] = (int32_t)(uint32_t)item->value;
    }
    ++*count;
    return GLV_OK;
  }
  if (item->wire != PB_BYTES) {
    return fail_fragment(what, "has field numbers of a wrong type", err);
  }
  /* A packed array is walked as a message would be: each number is one varint. */
  const uint8_t *p = (const uint8_t *)item->bytes.data;
  for (size_t i = 0; i < item->bytes.size;) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
      if (i == item->bytes.size || shift > 63) {
        return fail_fragment(what, "has malformed field numbers", err);
      }
      byte = p[i++];
      value |= (uint64_t)(byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80);
    if (*count < room) {
      values[*count] = (int32_t)(uint32_t)value;
    }
    ++*count;
  }
  return GLV_OK;
}

/* Both passes over the two number lists of a file: with NULL arrays they are only counted. */
static glv_status walk_file(str raw, const char *what, data_file *f, str *path, int32_t *fields,
                            int32_t *columns, size_t *field_count, size_t *column_count,
                            uint64_t numbers[8], glv_error *err) {
  const size_t field_room = *field_count;
  const size_t column_room = *column_count;
  *field_count = 0;
  *column_count = 0;
  pb_cursor c = {raw};
  for (;;) {
    pb_item item;
    bool at_end;
    TRY(pb_next(&c, what, &item, &at_end, err));
    if (at_end) {
      return GLV_OK;
    }
    if (item.number == 1 && item.wire == PB_BYTES) {
      *path = item.bytes;
    } else if (item.number == 2) {
      TRY(take_int32s(&item, what, fields, field_room, field_count, err));
    } else if (item.number == 3) {
      TRY(take_int32s(&item, what, columns, column_room, column_count, err));
    } else if (item.number >= 4 && item.number <= 7 && item.wire == PB_VARINT) {
      numbers[item.number] = item.value;
      f->has_base |= item.number == 7;
    }
  }
}

glv_status data_file_decode(arena *a, str raw, const char *what, data_file *ret, glv_error *err) {
  data_file f = {0};
  str path = {0};
  uint64_t numbers[8] = {0};
  size_t field_count = 0;
  size_t column_count = 0;
  TRY(walk_file(raw, what, &f, &path, NULL, NULL, &field_count, &column_count, numbers, err));
  if (path.size == 0 || !str_is_utf8(path) || memchr(path.data, 0, path.size) != NULL) {
    return fail_fragment(what, "has a data file without a proper path", err);
  }
  int32_t *fields = ARENA_ARRAY(a, int32_t, field_count);
  int32_t *columns =
      ARENA_ARRAY(a, int32_t, field_count > column_count ? field_count : column_count);
  f.path = arena_strdup(a, path);
  if (fields == NULL || columns == NULL || f.path == NULL) {
    return error_nomem(err, raw.size);
  }
  TRY(walk_file(raw, what, &f, &path, fields, columns, &field_count, &column_count, numbers, err));
  f.major = (uint32_t)numbers[4];
  f.minor = (uint32_t)numbers[5];
  f.version = format_version_of(f.major, f.minor);
  if (f.version != 0 && field_count != column_count) {
    return fail_fragment(what, "has a data file with unequal numbers of fields and columns", err);
  }
  f.fields = fields;
  f.columns = columns;
  f.count = field_count;
  f.size_bytes = numbers[6];
  f.base_id = (uint32_t)numbers[7];
  *ret = f;
  return GLV_OK;
}

static glv_status decode_deletions(str raw, const char *what, deletion_file *ret, glv_error *err) {
  uint64_t numbers[8] = {0};
  deletion_file d = {0};
  pb_cursor c = {raw};
  for (;;) {
    pb_item item;
    bool at_end;
    TRY(pb_next(&c, what, &item, &at_end, err));
    if (at_end) {
      break;
    }
    if (item.number <= 7 && item.wire == PB_VARINT) {
      numbers[item.number] = item.value;
      d.has_base |= item.number == 7;
    }
  }
  if (numbers[1] > DELETION_BITMAP) {
    return FAIL(err, GLV_E_UNSUPPORTED, "%s: deletion files of type %llu are not supported", what,
                (unsigned long long)numbers[1]);
  }
  d.form = (enum deletion_form)numbers[1];
  d.read_version = numbers[2];
  d.id = numbers[3];
  d.count = numbers[4];
  d.base_id = (uint32_t)numbers[7];
  *ret = d;
  return GLV_OK;
}

/* One field of a fragment but its data files, which *file_count counts. */
static glv_status take_field(const pb_item *item, const char *what, fragment *f, size_t *file_count,
                             glv_error *err) {
  const bool is_bytes = item->wire == PB_BYTES;
  switch (item->number) {
  case 1:
    f->id = item->value;
    return item->wire == PB_VARINT ? GLV_OK : fail_fragment(what, "has a malformed id", err);
  case 2:
    ++*file_count;
    return is_bytes ? GLV_OK : fail_fragment(what, "has malformed data files", err);
  case 3:
    if (!is_bytes) {
      return fail_fragment(what, "has a malformed deletion file", err);
    }
    f->has_deletions = true;
    return decode_deletions(item->bytes, what, &f->deletions, err);
  case 4:
    f->physical_rows = item->value;
    return item->wire == PB_VARINT ? GLV_OK : fail_fragment(what, "has a malformed row count", err);
  case 5:
    f->has_row_ids = is_bytes;
    f->row_ids = item->bytes;
    return is_bytes ? GLV_OK : fail_fragment(what, "has malformed row ids", err);
  case 7:
    f->has_last_updated_at = is_bytes;
    f->last_updated_at = item->bytes;
    return is_bytes ? GLV_OK : fail_fragment(what, "has malformed row versions", err);
  case 9:
    f->has_created_at = is_bytes;
    f->created_at = item->bytes;
    return is_bytes ? GLV_OK : fail_fragment(what, "has malformed row versions", err);
  case 11:
    return FAIL(err, GLV_E_UNSUPPORTED, "%s: data overlays are not supported", what);
  case 12:
  case 13:
  case 14:
    return FAIL(err, GLV_E_UNSUPPORTED, "%s: row ids kept in hidden columns are not supported",
                what);
  default:
    return GLV_OK;
  }
}

static glv_status decode_files(arena *a, str raw, const char *what, data_file *files,
                               glv_error *err) {
  pb_cursor c = {raw};
  for (size_t i = 0;;) {
    pb_item item;
    bool at_end;
    TRY(pb_next(&c, what, &item, &at_end, err));
    if (at_end) {
      return GLV_OK;
    }
    if (item.number == 2) {
      TRY(data_file_decode(a, item.bytes, what, &files[i++], err));
    }
  }
}

glv_status fragment_decode(arena *a, str raw, const char *what, fragment *ret, glv_error *err) {
  fragment f = {.raw = raw};
  pb_cursor c = {raw};
  for (;;) {
    pb_item item;
    bool at_end;
    TRY(pb_next(&c, what, &item, &at_end, err));
    if (at_end) {
      break;
    }
    TRY(take_field(&item, what, &f, &f.file_count, err));
  }
  if (f.id > UINT32_MAX) {
    return fail_fragment(what, "has an id of more than 32 bits", err);
  }
  if (f.physical_rows > UINT32_MAX) {
    return fail_fragment(what, "has more than 2^32 rows", err);
  }
  if (f.has_deletions && f.deletions.count > f.physical_rows && f.physical_rows > 0) {
    return fail_fragment(what, "has more deleted rows than rows", err);
  }
  data_file *files = ARENA_ARRAY(a, data_file, f.file_count);
  if (files == NULL) {
    return error_nomem(err, f.file_count * sizeof *files);
  }
  TRY(decode_files(a, raw, what, files, err));
  f.files = files;
  *ret = f;
  return GLV_OK;
}

const data_file *fragment_find_field(const fragment *f, int32_t id, uint32_t *ret_column) {
  for (size_t i = f->file_count; i-- > 0;) { /* the later file wins */
    const data_file *file = &f->files[i];
    for (size_t k = 0; k < file->count; k++) {
      if (file->fields[k] == id && file->columns[k] >= 0) {
        *ret_column = (uint32_t)file->columns[k];
        return file;
      }
    }
  }
  return NULL;
}
