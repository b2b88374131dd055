/* Sequences of row ids: decoding, positional reading, encoding (lance-table-format 8.2).
 *
 * A sequence is a list of segments; each is a range, a range minus holes, a range under a bitmap
 * (bit i = value start + i, least significant bit first), or a list of numbers with a common base.
 * Position p of a range with holes is found by searching the holes (hole[j] - start - j ids stand
 * before hole j); that of a bitmap through the number of set bits before every block of 64 bytes.
 * So reading a window costs its rows plus one search per segment it touches, and nothing is
 * expanded ahead.
 */
#include "table/row_ids.h"

#include "table/table_private.h"

enum { BLOCK_BYTES = 64 };

/* Numbers: base + offset[i], offsets of width bytes each. */
struct numbers {
  const uint8_t *offsets;
  size_t width;
  uint64_t base;
  size_t count;
};

struct segment {
  Lance__Table__U64Segment__SegmentCase kind;
  uint64_t first_row; /* position of its first id in the sequence */
  uint64_t count;
  uint64_t start;
  uint64_t end;
  struct numbers numbers; /* holes, or the ids themselves */
  const uint8_t *bits;
  uint64_t *ranks; /* set bits before each block */
};

struct row_id_sequence {
  struct segment *segments;
  size_t segment_count;
  uint64_t rows;
};

static uint64_t number_at(const struct numbers *n, size_t i) {
  switch (n->width) {
  case 2:
    return n->base + load_le16(n->offsets + 2 * i);
  case 4:
    return n->base + load_le32(n->offsets + 4 * i);
  default:
    return n->base + load_le64(n->offsets + 8 * i);
  }
}

/* ---- decoding ---- */

static glv_status fail_segment(const char *what, const char *reason, glv_error *err) {
  return FAIL(err, GLV_E_CORRUPT, "%s: a row id segment %s", what, reason);
}

static glv_status decode_numbers(const Lance__Table__EncodedArray *m, const char *what,
                                 struct numbers *ret, glv_error *err) {
  struct numbers n = {0};
  str bytes = {0};
  if (m == NULL) {
    return fail_segment(what, "has no numbers", err);
  }
  switch (m->array_case) {
  case LANCE__TABLE__ENCODED_ARRAY__ARRAY_U16_ARRAY:
    n.width = 2;
    n.base = m->u16_array->first;
    bytes = str_of_binary(m->u16_array->offsets);
    break;
  case LANCE__TABLE__ENCODED_ARRAY__ARRAY_U32_ARRAY:
    n.width = 4;
    n.base = m->u32_array->first;
    bytes = str_of_binary(m->u32_array->offsets);
    break;
  case LANCE__TABLE__ENCODED_ARRAY__ARRAY_U64_ARRAY:
    n.width = 8;
    bytes = str_of_binary(m->u64_array->values);
    break;
  default:
    return fail_segment(what, "has numbers of an unknown encoding", err);
  }
  if (bytes.size % n.width != 0) {
    return fail_segment(what, "has numbers of a wrong length", err);
  }
  n.offsets = (const uint8_t *)bytes.data;
  n.count = bytes.size / n.width;
  for (size_t i = 0; n.base > UINT64_MAX - UINT32_MAX && i < n.count; i++) {
    if (number_at(&n, i) < n.base) {
      return fail_segment(what, "has numbers past 2^64", err);
    }
  }
  *ret = n;
  return GLV_OK;
}

static bool is_increasing(const struct numbers *n) {
  for (size_t i = 1; i < n->count; i++) {
    if (number_at(n, i - 1) >= number_at(n, i)) {
      return false;
    }
  }
  return true;
}

static glv_status set_range(struct segment *s, uint64_t start, uint64_t end, const char *what,
                            glv_error *err) {
  if (start > end) {
    return fail_segment(what, "has a range that ends before it starts", err);
  }
  s->start = start;
  s->end = end;
  s->count = end - start;
  return GLV_OK;
}

static glv_status decode_holes(const Lance__Table__RangeWithHoles *m, const char *what,
                               struct segment *s, glv_error *err) {
  TRY(set_range(s, m->start, m->end, what, err));
  TRY(decode_numbers(m->holes, what, &s->numbers, err));
  const struct numbers *holes = &s->numbers;
  if (holes->count > 0 && (!is_increasing(holes) || number_at(holes, 0) < s->start ||
                           number_at(holes, holes->count - 1) >= s->end)) {
    return fail_segment(what, "has holes out of order or outside its range", err);
  }
  s->count -= holes->count;
  return GLV_OK;
}

static uint64_t count_bits(const uint8_t *bytes, size_t size) {
  uint64_t count = 0;
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    count += (uint64_t)__builtin_popcountll(load_le64(bytes + i));
  }
  for (; i < size; i++) {
    count += (uint64_t)__builtin_popcountll(bytes[i]);
  }
  return count;
}

static glv_status decode_bitmap(arena *a, const Lance__Table__RangeWithBitmap *m, const char *what,
                                struct segment *s, glv_error *err) {
  TRY(set_range(s, m->start, m->end, what, err));
  const size_t size = m->bitmap.len;
  if (size != s->count / 8 + (s->count % 8 != 0)) {
    return fail_segment(what, "has a bitmap of a wrong length", err);
  }
  if (s->count % 8 != 0 && m->bitmap.data[size - 1] >> (s->count % 8) != 0) {
    return fail_segment(what, "has bits set past the end of its bitmap", err);
  }
  const size_t blocks = size / BLOCK_BYTES + 1;
  s->bits = m->bitmap.data;
  s->ranks = ARENA_ARRAY(a, uint64_t, blocks);
  if (s->ranks == NULL) {
    return error_nomem(err, blocks * sizeof *s->ranks);
  }
  uint64_t total = 0;
  for (size_t i = 0; i < blocks; i++) {
    s->ranks[i] = total;
    const size_t at = i * BLOCK_BYTES;
    total += count_bits(s->bits + at, size_min(BLOCK_BYTES, size - at));
  }
  s->count = total;
  return GLV_OK;
}

static glv_status decode_list(const Lance__Table__EncodedArray *m, bool sorted, const char *what,
                              struct segment *s, glv_error *err) {
  TRY(decode_numbers(m, what, &s->numbers, err));
  if (sorted && !is_increasing(&s->numbers)) {
    return fail_segment(what, "says it is sorted and is not", err);
  }
  s->count = s->numbers.count;
  return GLV_OK;
}

static glv_status decode_segment(arena *a, const Lance__Table__U64Segment *m, const char *what,
                                 struct segment *s, glv_error *err) {
  s->kind = m->segment_case;
  switch (m->segment_case) {
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE:
    return set_range(s, m->range->start, m->range->end, what, err);
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_HOLES:
    return decode_holes(m->range_with_holes, what, s, err);
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_BITMAP:
    return decode_bitmap(a, m->range_with_bitmap, what, s, err);
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_SORTED_ARRAY:
    return decode_list(m->sorted_array, true, what, s, err);
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_ARRAY:
    return decode_list(m->array, false, what, s, err);
  case LANCE__TABLE__U64_SEGMENT__SEGMENT__NOT_SET:
  case _LANCE__TABLE__U64_SEGMENT__SEGMENT__CASE_IS_INT_SIZE:
    break;
  }
  return fail_segment(what, "is of an unknown kind", err);
}

glv_status row_ids_decode(arena *a, str bytes, const char *what, row_id_sequence **ret,
                          glv_error *err) {
  ProtobufCMessage *message;
  TRY(pb_unpack(a, bytes, &lance__table__row_id_sequence__descriptor, what, &message, err));
  const Lance__Table__RowIdSequence *m = (Lance__Table__RowIdSequence *)message;
  row_id_sequence *s = ARENA_NEW(a, row_id_sequence);
  struct segment *segments = ARENA_ARRAY(a, struct segment, m->n_segments);
  if (s == NULL || segments == NULL) {
    return error_nomem(err, m->n_segments * sizeof *segments);
  }
  for (size_t i = 0; i < m->n_segments; i++) {
    segments[i].first_row = s->rows;
    TRY(decode_segment(a, m->segments[i], what, &segments[i], err));
    if (!u64_add(s->rows, segments[i].count, &s->rows)) {
      return fail_segment(what, "has too many rows", err);
    }
  }
  s->segments = segments;
  s->segment_count = m->n_segments;
  *ret = s;
  return GLV_OK;
}

/* ---- reading ---- */

uint64_t row_ids_count(const row_id_sequence *s) { return s->rows; }

/* Holes of a range that stand before the id at position p. */
static size_t holes_before(const struct segment *s, uint64_t p) {
  const struct numbers *holes = &s->numbers;
  size_t low = 0;
  size_t high = holes->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (number_at(holes, middle) - s->start - middle <= p) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Ids at the positions [p, p + count) of a range with holes. */
static void read_holes(const struct segment *s, uint64_t p, size_t count, uint64_t *ret) {
  const struct numbers *holes = &s->numbers;
  size_t low = holes_before(s, p);
  uint64_t value = s->start + p + low;
  for (size_t i = 0; i < count; i++) {
    while (low < holes->count && number_at(holes, low) == value) {
      low++;
      value++;
    }
    ret[i] = value++;
  }
}

/* The set bit that stands for the id at position p, as its distance from the start of the range. */
static uint64_t bit_of_position(const struct segment *s, uint64_t p) {
  const uint64_t width = s->end - s->start;
  const size_t bytes = (size_t)(width / 8 + (width % 8 != 0));
  size_t low = 0;
  size_t high = bytes / BLOCK_BYTES;
  while (low < high) { /* the last block with at most p bits before it */
    const size_t middle = low + (high - low + 1) / 2;
    if (s->ranks[middle] <= p) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  uint64_t skip = p - s->ranks[low];
  size_t byte = low * BLOCK_BYTES;
  while (byte < bytes && (uint64_t)__builtin_popcountll(s->bits[byte]) <= skip) {
    skip -= (uint64_t)__builtin_popcountll(s->bits[byte++]);
  }
  uint64_t bit = (uint64_t)byte * 8;
  for (; bit < width && (skip > 0 || !bit_get(s->bits, (size_t)bit)); bit++) {
    skip -= bit_get(s->bits, (size_t)bit);
  }
  return bit;
}

static void read_bitmap(const struct segment *s, uint64_t p, size_t count, uint64_t *ret) {
  const uint64_t width = s->end - s->start;
  size_t done = 0;
  for (uint64_t i = bit_of_position(s, p); done < count && i < width; i++) {
    if (bit_get(s->bits, (size_t)i)) {
      ret[done++] = s->start + i;
    }
  }
}

static void read_segment(const struct segment *s, uint64_t p, size_t count, uint64_t *ret) {
  switch (s->kind) {
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_HOLES:
    read_holes(s, p, count, ret);
    return;
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_BITMAP:
    read_bitmap(s, p, count, ret);
    return;
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_SORTED_ARRAY:
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_ARRAY:
    for (size_t i = 0; i < count; i++) {
      ret[i] = number_at(&s->numbers, (size_t)p + i);
    }
    return;
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE:
  case LANCE__TABLE__U64_SEGMENT__SEGMENT__NOT_SET:
  case _LANCE__TABLE__U64_SEGMENT__SEGMENT__CASE_IS_INT_SIZE:
    for (size_t i = 0; i < count; i++) {
      ret[i] = s->start + p + i;
    }
    return;
  }
}

/* The last segment that starts at or before a row. */
static size_t find_segment(const row_id_sequence *s, uint64_t row) {
  size_t low = 0;
  size_t high = s->segment_count;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (s->segments[middle].first_row <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

void row_ids_read(const row_id_sequence *s, uint64_t first, size_t count, uint64_t *ret) {
  for (size_t i = find_segment(s, first); count > 0 && i < s->segment_count; i++) {
    const struct segment *part = &s->segments[i];
    const uint64_t p = first - part->first_row;
    const size_t here = (size_t)u64_min(count, part->count - u64_min(p, part->count));
    if (here > 0) {
      read_segment(part, p, here, ret);
    }
    ret += here;
    first += here;
    count -= here;
  }
}

/* Ids that follow each other in a range under a bitmap, from a set bit on. */
static uint64_t bit_run(const struct segment *s, uint64_t bit) {
  const uint64_t width = s->end - s->start;
  uint64_t end = bit;
  while (end < width && bit_get(s->bits, (size_t)end)) {
    end++;
  }
  return end - bit;
}

/* Ids that follow each other in a list, from position p on. */
static uint64_t list_run(const struct numbers *n, size_t p) {
  const uint64_t id = number_at(n, p);
  size_t end = p + 1;
  while (end < n->count && number_at(n, end) == id + (end - p)) {
    end++;
  }
  return end - p;
}

uint64_t row_ids_run(const row_id_sequence *s, uint64_t row, uint64_t *ret_id) {
  const struct segment *part = &s->segments[find_segment(s, row)];
  const uint64_t p = row - part->first_row;
  read_segment(part, p, 1, ret_id);
  switch (part->kind) {
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_HOLES: {
    const size_t hole = holes_before(part, p);
    const bool is_last = hole == part->numbers.count;
    return (is_last ? part->end : number_at(&part->numbers, hole)) - *ret_id;
  }
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_BITMAP:
    return bit_run(part, *ret_id - part->start);
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_SORTED_ARRAY:
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_ARRAY:
    return list_run(&part->numbers, (size_t)p);
  case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE:
  case LANCE__TABLE__U64_SEGMENT__SEGMENT__NOT_SET:
  case _LANCE__TABLE__U64_SEGMENT__SEGMENT__CASE_IS_INT_SIZE:
    break;
  }
  return part->end - *ret_id;
}

/* Smallest and largest id of a segment that has some. */
static void segment_bounds(const struct segment *s, uint64_t *ret_min, uint64_t *ret_max) {
  if (s->kind != LANCE__TABLE__U64_SEGMENT__SEGMENT_ARRAY) {
    read_segment(s, 0, 1, ret_min);
    read_segment(s, s->count - 1, 1, ret_max);
    return;
  }
  *ret_min = UINT64_MAX;
  *ret_max = 0;
  for (size_t i = 0; i < s->numbers.count; i++) {
    *ret_min = u64_min(*ret_min, number_at(&s->numbers, i));
    *ret_max = u64_max(*ret_max, number_at(&s->numbers, i));
  }
}

bool row_ids_bounds(const row_id_sequence *s, uint64_t *ret_min, uint64_t *ret_max) {
  *ret_min = UINT64_MAX;
  *ret_max = 0;
  for (size_t i = 0; i < s->segment_count; i++) {
    if (s->segments[i].count > 0) {
      uint64_t least = UINT64_MAX;
      uint64_t most = 0;
      segment_bounds(&s->segments[i], &least, &most);
      *ret_min = u64_min(*ret_min, least);
      *ret_max = u64_max(*ret_max, most);
    }
  }
  return s->rows > 0;
}

/* ---- finding ---- */

/* Ids below `value`. */
static size_t ids_below(const uint64_t *ids, size_t count, uint64_t value) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (ids[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Numbers below `value` of an ascending list. */
static size_t numbers_below(const struct numbers *n, uint64_t value) {
  size_t low = 0;
  size_t high = n->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (number_at(n, middle) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Position of an id, between the least and the largest, in a segment whose ids ascend; UINT64_MAX
 * when it is not there. */
static uint64_t locate_ascending(const struct segment *s, uint64_t id) {
  const bool is_list = s->kind == LANCE__TABLE__U64_SEGMENT__SEGMENT_SORTED_ARRAY;
  const uint64_t i = id - s->start; /* in a range */
  if (s->kind == LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_BITMAP) {
    const size_t block = (size_t)(i / 8 / BLOCK_BYTES);
    uint64_t rank = s->ranks[block];
    for (uint64_t k = (uint64_t)block * BLOCK_BYTES * 8; k < i; k++) {
      rank += bit_get(s->bits, (size_t)k);
    }
    return bit_get(s->bits, (size_t)i) ? rank : UINT64_MAX;
  }
  if (s->kind == LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE) {
    return i;
  }
  const size_t below = numbers_below(&s->numbers, id);
  const bool is_listed = below < s->numbers.count && number_at(&s->numbers, below) == id;
  if (is_list) {
    return is_listed ? below : UINT64_MAX;
  }
  return is_listed ? UINT64_MAX : i - below; /* a hole, or behind so many of them */
}

/* A list in any order is read once, each number looked up among the ids. */
static void locate_in_list(const struct segment *s, const uint64_t *ids, size_t count,
                           uint64_t *rows) {
  for (size_t i = 0; i < s->numbers.count; i++) {
    const uint64_t id = number_at(&s->numbers, i);
    const size_t k = ids_below(ids, count, id);
    if (k < count && ids[k] == id && rows[k] == UINT64_MAX) {
      rows[k] = s->first_row + i;
    }
  }
}

static void locate_in_segment(const struct segment *s, const uint64_t *ids, size_t count,
                              uint64_t *rows) {
  uint64_t least = 0;
  uint64_t most = 0;
  segment_bounds(s, &least, &most);
  for (size_t k = ids_below(ids, count, least); k < count && ids[k] <= most; k++) {
    const uint64_t p = rows[k] == UINT64_MAX ? locate_ascending(s, ids[k]) : UINT64_MAX;
    rows[k] = p != UINT64_MAX ? s->first_row + p : rows[k];
  }
}

void row_ids_locate(const row_id_sequence *s, const uint64_t *ids, size_t count, uint64_t *rows) {
  for (size_t k = 0; k < count; k++) {
    rows[k] = UINT64_MAX;
  }
  for (size_t i = 0; i < s->segment_count; i++) {
    const struct segment *part = &s->segments[i];
    if (part->kind == LANCE__TABLE__U64_SEGMENT__SEGMENT_ARRAY) {
      locate_in_list(part, ids, count, rows);
    } else if (part->count > 0) {
      locate_in_segment(part, ids, count, rows);
    }
  }
}

/* ---- versions ---- */

glv_status row_versions_decode(arena *a, str bytes, const char *what, row_versions *ret,
                               glv_error *err) {
  ProtobufCMessage *message;
  TRY(pb_unpack(a, bytes, &lance__table__row_version_sequence__descriptor, what, &message, err));
  const Lance__Table__RowVersionSequence *m = (Lance__Table__RowVersionSequence *)message;
  version_run *runs = ARENA_ARRAY(a, version_run, m->n_runs);
  if (runs == NULL) {
    return error_nomem(err, m->n_runs * sizeof *runs);
  }
  row_versions v = {.runs = runs, .run_count = m->n_runs};
  for (size_t i = 0; i < m->n_runs; i++) {
    struct segment span = {0};
    if (m->runs[i]->span == NULL) {
      return fail_segment(what, "is missing in a run of row versions", err);
    }
    TRY(decode_segment(a, m->runs[i]->span, what, &span, err));
    runs[i] = (version_run){span.count, m->runs[i]->version}; /* only the length counts */
    if (!u64_add(v.rows, span.count, &v.rows)) {
      return fail_segment(what, "has too many rows", err);
    }
  }
  *ret = v;
  return GLV_OK;
}

void row_versions_read(const row_versions *v, uint64_t first, size_t count, uint64_t *ret) {
  for (size_t i = 0; i < v->run_count && count > 0; i++) {
    const version_run *run = &v->runs[i];
    if (first >= run->rows) {
      first -= run->rows;
      continue;
    }
    const size_t here = (size_t)u64_min(count, run->rows - first);
    for (size_t k = 0; k < here; k++) {
      ret[k] = run->version;
    }
    ret += here;
    count -= here;
    first = 0;
  }
}

/* ---- those of a fragment ---- */

static glv_status check_count(const table_snapshot *t, const fragment *f, uint64_t rows,
                              const char *kind, glv_error *err) {
  return rows == f->physical_rows
             ? GLV_OK
             : FAIL(err, GLV_E_CORRUPT, "table '%s': fragment %llu has %llu rows, but %s for %llu",
                    table_name(t), (unsigned long long)f->id, (unsigned long long)f->physical_rows,
                    kind, (unsigned long long)rows);
}

static glv_status address_sequence(const fragment *f, arena *a, row_id_sequence **ret,
                                   glv_error *err) {
  row_id_sequence *s = ARENA_NEW(a, row_id_sequence);
  struct segment *range = ARENA_NEW(a, struct segment);
  if (s == NULL || range == NULL) {
    return error_nomem(err, sizeof *range);
  }
  range->kind = LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE;
  range->count = f->physical_rows;
  range->start = f->id << 32;
  range->end = range->start + range->count;
  *s = (row_id_sequence){range, 1, f->physical_rows};
  *ret = s;
  return GLV_OK;
}

glv_status fragment_row_ids(const table_snapshot *t, const fragment *f, arena *a,
                            row_id_sequence **ret, glv_error *err) {
  if (!table_has_stable_row_ids(t)) {
    return address_sequence(f, a, ret, err);
  }
  row_id_sequence *s;
  TRY(row_ids_decode(a, f->row_ids, table_name(t), &s, err));
  TRY(check_count(t, f, s->rows, "row ids", err));
  *ret = s;
  return GLV_OK;
}

static glv_status versions_of(const table_snapshot *t, const fragment *f, bool present, str bytes,
                              const char *kind, arena *a, row_versions *ret, glv_error *err) {
  if (present) {
    row_versions v;
    TRY(row_versions_decode(a, bytes, table_name(t), &v, err));
    TRY(check_count(t, f, v.rows, kind, err));
    *ret = v;
    return GLV_OK;
  }
  version_run *run = ARENA_NEW(a, version_run);
  if (run == NULL) {
    return error_nomem(err, sizeof *run);
  }
  *run = (version_run){f->physical_rows, 1};
  *ret = (row_versions){run, 1, f->physical_rows};
  return GLV_OK;
}

glv_status fragment_created_at(const table_snapshot *t, const fragment *f, arena *a,
                               row_versions *ret, glv_error *err) {
  return versions_of(t, f, f->has_created_at, f->created_at, "creation versions", a, ret, err);
}

glv_status fragment_last_updated_at(const table_snapshot *t, const fragment *f, arena *a,
                                    row_versions *ret, glv_error *err) {
  return versions_of(t, f, f->has_last_updated_at, f->last_updated_at, "update versions", a, ret,
                     err);
}
