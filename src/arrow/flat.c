/*
 * A table starts with the signed distance back to its vtable: 16-bit numbers, its own size, the
 * size of the table, then for each field the distance from the start of the table, 0 = absent.
 * References are unsigned distances forward, vectors and strings start with a 32-bit count.
 */
#include "arrow/flat.h"

static bool inside(flat *f, size_t at, size_t size) {
  if (!range_within(at, size, f->size)) {
    f->bad = true;
    return false;
  }
  return true;
}

static uint32_t load32(flat *f, size_t at) {
  return inside(f, at, 4) ? load_le32(f->data + at) : 0;
}

static uint16_t load16(flat *f, size_t at) {
  return inside(f, at, 2) ? load_le16(f->data + at) : 0;
}

/* Follow the reference at a position. */
static size_t follow(flat *f, size_t at) {
  const uint32_t distance = load32(f, at);
  if (distance == 0 || distance >= f->size - size_min(at, f->size)) {
    f->bad = true;
    return 0;
  }
  return at + distance;
}

size_t flat_root(flat *f) { return follow(f, 0); }

/* Position of a field, 0 when it is absent. */
static size_t field_at(flat *f, size_t table, unsigned index) {
  if (table == 0 || f->bad) {
    return 0;
  }
  const int64_t vtable = (int64_t)table - (int32_t)load32(f, table);
  if (vtable < 0) {
    f->bad = true;
    return 0;
  }
  const size_t entry = 4 + 2 * (size_t)index;
  if (entry + 2 > load16(f, (size_t)vtable)) {
    return 0;
  }
  const uint16_t distance = load16(f, (size_t)vtable + entry);
  return distance != 0 ? table + distance : 0;
}

uint8_t flat_u8(flat *f, size_t table, unsigned index) {
  const size_t at = field_at(f, table, index);
  return at != 0 && inside(f, at, 1) ? f->data[at] : 0;
}

int16_t flat_i16(flat *f, size_t table, unsigned index) {
  const size_t at = field_at(f, table, index);
  return at != 0 ? (int16_t)load16(f, at) : 0;
}

int32_t flat_i32(flat *f, size_t table, unsigned index, int32_t absent) {
  const size_t at = field_at(f, table, index);
  return at != 0 ? (int32_t)load32(f, at) : absent;
}

int64_t flat_i64(flat *f, size_t table, unsigned index) {
  const size_t at = field_at(f, table, index);
  return at != 0 && inside(f, at, 8) ? flat_load_i64(f, at) : 0;
}

bool flat_has(flat *f, size_t table, unsigned index) { return field_at(f, table, index) != 0; }

size_t flat_table(flat *f, size_t table, unsigned index) {
  const size_t at = field_at(f, table, index);
  return at != 0 ? follow(f, at) : 0;
}

size_t flat_vector(flat *f, size_t table, unsigned index, size_t width, size_t *ret_count) {
  const size_t at = flat_table(f, table, index);
  *ret_count = 0;
  if (at == 0) {
    return 0;
  }
  const size_t count = load32(f, at);
  size_t size;
  if (!size_mul(count, width, &size) || !inside(f, at + 4, size)) {
    f->bad = true;
    return 0;
  }
  *ret_count = count;
  return at + 4;
}

size_t flat_item(flat *f, size_t vector, size_t i) { return follow(f, vector + 4 * i); }

str flat_string(flat *f, size_t table, unsigned index) {
  size_t size;
  const size_t at = flat_vector(f, table, index, 1, &size);
  if (at == 0) {
    return (str){NULL, 0};
  }
  if (!inside(f, at, size + 1) || f->data[at + size] != 0) {
    f->bad = true;
    return (str){NULL, 0};
  }
  return str_slice((const char *)f->data + at, size);
}

int64_t flat_load_i64(const flat *f, size_t at) { return (int64_t)load_le64(f->data + at); }
