/* Encoding of row ids and row versions.
 *
 * A list of ids becomes one segment in the form that Lance would choose: a range when nothing is
 * missing, else the smallest of holes (24 + 4 bytes each), bitmap (24 + one bit per value of the
 * range) and sorted array (24 + 2 bytes each); ids that do not increase become an array. Numbers
 * are stored as offsets of 2 or 4 bytes from the smallest when they fit, else whole
 * (lance-table-format 8.2).
 */
#include "table/row_ids.h"
#include "table/table_private.h"

/* The messages of one list of numbers, ready to be packed. */
struct encoded {
  Lance__Table__EncodedArray array;
  Lance__Table__EncodedU16Array u16;
  Lance__Table__EncodedU32Array u32;
  Lance__Table__EncodedU64Array u64;
};

static glv_status encode_numbers(const uint64_t *values, size_t count, buf *scratch,
                                 struct encoded *ret, glv_error *err) {
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  for (size_t i = 0; i < count; i++) {
    least = u64_min(least, values[i]);
    most = u64_max(most, values[i]);
  }
  const uint64_t span = most - least;
  const size_t width = span <= UINT16_MAX ? 2 : span <= UINT32_MAX ? 4 : 8;
  size_t size;
  if (!size_mul(count, width, &size)) {
    return error_nomem(err, SIZE_MAX);
  }
  TRY(buf_reserve(scratch, size, err));
  for (size_t i = 0; i < count; i++) {
    const uint64_t offset = width == 8 ? values[i] : values[i] - least;
    memcpy(scratch->data + i * width, &offset, width); /* little-endian */
  }
  const ProtobufCBinaryData bytes = {size, (uint8_t *)scratch->data};
  lance__table__encoded_array__init(&ret->array);
  if (width == 2) {
    lance__table__encoded_u16_array__init(&ret->u16);
    ret->u16.first = least;
    ret->u16.offsets = bytes;
    ret->array.array_case = LANCE__TABLE__ENCODED_ARRAY__ARRAY_U16_ARRAY;
    ret->array.u16_array = &ret->u16;
  } else if (width == 4) {
    lance__table__encoded_u32_array__init(&ret->u32);
    ret->u32.first = least;
    ret->u32.offsets = bytes;
    ret->array.array_case = LANCE__TABLE__ENCODED_ARRAY__ARRAY_U32_ARRAY;
    ret->array.u32_array = &ret->u32;
  } else {
    lance__table__encoded_u64_array__init(&ret->u64);
    ret->u64.values = bytes;
    ret->array.array_case = LANCE__TABLE__ENCODED_ARRAY__ARRAY_U64_ARRAY;
    ret->array.u64_array = &ret->u64;
  }
  return GLV_OK;
}

static glv_status append_segment(Lance__Table__U64Segment *segment, buf *out, glv_error *err) {
  Lance__Table__RowIdSequence s = LANCE__TABLE__ROW_ID_SEQUENCE__INIT;
  s.n_segments = 1;
  s.segments = &segment;
  return pb_pack(&s.base, out, err);
}

glv_status row_ids_encode_range(uint64_t first, uint64_t count, buf *out, glv_error *err) {
  Lance__Table__Range range = LANCE__TABLE__RANGE__INIT;
  range.start = count > 0 ? first : 0;
  range.end = count > 0 ? first + count : 0;
  Lance__Table__U64Segment segment = LANCE__TABLE__U64_SEGMENT__INIT;
  segment.segment_case = LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE;
  segment.range = &range;
  return append_segment(&segment, out, err);
}

static glv_status encode_array(const uint64_t *ids, size_t count, bool sorted, buf *scratch,
                               buf *out, glv_error *err) {
  struct encoded numbers;
  TRY(encode_numbers(ids, count, scratch, &numbers, err));
  Lance__Table__U64Segment segment = LANCE__TABLE__U64_SEGMENT__INIT;
  segment.segment_case = sorted ? LANCE__TABLE__U64_SEGMENT__SEGMENT_SORTED_ARRAY
                                : LANCE__TABLE__U64_SEGMENT__SEGMENT_ARRAY;
  if (sorted) {
    segment.sorted_array = &numbers.array;
  } else {
    segment.array = &numbers.array;
  }
  return append_segment(&segment, out, err);
}

static glv_status encode_bitmap(const uint64_t *ids, size_t count, buf *scratch, buf *out,
                                glv_error *err) {
  const uint64_t width = ids[count - 1] - ids[0] + 1;
  TRY(buf_append_fill(scratch, 0, (size_t)(width / 8 + (width % 8 != 0)), err));
  for (size_t i = 0; i < count; i++) {
    bit_set((uint8_t *)scratch->data, (size_t)(ids[i] - ids[0]));
  }
  Lance__Table__RangeWithBitmap range = LANCE__TABLE__RANGE_WITH_BITMAP__INIT;
  range.start = ids[0];
  range.end = ids[0] + width;
  range.bitmap = binary_of_str(buf_str(scratch));
  Lance__Table__U64Segment segment = LANCE__TABLE__U64_SEGMENT__INIT;
  segment.segment_case = LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_BITMAP;
  segment.range_with_bitmap = &range;
  return append_segment(&segment, out, err);
}

static glv_status encode_holes(const uint64_t *ids, size_t count, size_t hole_count, buf *scratch,
                               buf *out, glv_error *err) {
  CLEANUP(buf_dispose) buf list;
  buf_init(&list, out->env, SIZE_MAX);
  TRY(buf_reserve(&list, hole_count * sizeof(uint64_t), err));
  size_t found = 0;
  for (size_t i = 1; i < count; i++) {
    for (uint64_t hole = ids[i - 1] + 1; hole < ids[i]; hole++) {
      store_le64(list.data + 8 * found++, hole);
    }
  }
  struct encoded numbers;
  TRY(encode_numbers((const uint64_t *)(const void *)list.data, hole_count, scratch, &numbers,
                     err));
  Lance__Table__RangeWithHoles range = LANCE__TABLE__RANGE_WITH_HOLES__INIT;
  range.start = ids[0];
  range.end = ids[count - 1] + 1;
  range.holes = &numbers.array;
  Lance__Table__U64Segment segment = LANCE__TABLE__U64_SEGMENT__INIT;
  segment.segment_case = LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_HOLES;
  segment.range_with_holes = &range;
  return append_segment(&segment, out, err);
}

static bool is_strictly_sorted(const uint64_t *ids, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (ids[i - 1] >= ids[i]) {
      return false;
    }
  }
  return true;
}

glv_status row_ids_encode(const uint64_t *ids, size_t count, buf *out, glv_error *err) {
  if (count == 0) {
    return row_ids_encode_range(0, 0, out, err);
  }
  CLEANUP(buf_dispose) buf scratch;
  buf_init(&scratch, out->env, SIZE_MAX);
  const bool is_sorted = is_strictly_sorted(ids, count);
  if (!is_sorted || ids[count - 1] == UINT64_MAX) { /* ranges cannot end behind that */
    return encode_array(ids, count, is_sorted, &scratch, out, err);
  }
  const uint64_t width = ids[count - 1] - ids[0]; /* less one, so that it cannot overflow */
  const uint64_t holes = width - (count - 1);
  if (holes == 0) {
    return row_ids_encode_range(ids[0], count, out, err);
  }
  const uint64_t holes_size = holes < UINT64_MAX / 8 ? 24 + 4 * holes : UINT64_MAX;
  const uint64_t bitmap_size = 24 + width / 8 + 1;
  const uint64_t array_size = 24 + 2 * (uint64_t)count;
  if (holes_size <= bitmap_size && holes_size <= array_size) {
    return encode_holes(ids, count, (size_t)holes, &scratch, out, err);
  }
  if (bitmap_size <= array_size) {
    return encode_bitmap(ids, count, &scratch, out, err);
  }
  return encode_array(ids, count, true, &scratch, out, err);
}

/* One run, appended as field 1 of the sequence: messages that are packed one after another are the
 * message of all of them. */
static glv_status append_run(uint64_t first, const version_run *run, buf *out, glv_error *err) {
  Lance__Table__Range range = LANCE__TABLE__RANGE__INIT;
  range.start = first;
  range.end = first + run->rows;
  Lance__Table__U64Segment span = LANCE__TABLE__U64_SEGMENT__INIT;
  span.segment_case = LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE;
  span.range = &range;
  Lance__Table__RowVersionRun message = LANCE__TABLE__ROW_VERSION_RUN__INIT;
  message.span = &span;
  message.version = run->version;
  Lance__Table__RowVersionRun *list = &message;
  Lance__Table__RowVersionSequence sequence = LANCE__TABLE__ROW_VERSION_SEQUENCE__INIT;
  sequence.n_runs = 1;
  sequence.runs = &list;
  return pb_pack(&sequence.base, out, err);
}

glv_status row_versions_encode(const version_run *runs, size_t count, buf *out, glv_error *err) {
  uint64_t first = 0;
  for (size_t i = 0; i < count; i++) {
    TRY(append_run(first, &runs[i], out, err));
    first += runs[i].rows;
  }
  return GLV_OK;
}
