/*
 * Whole files: three worked files byte for byte, each layout from its worked bytes, footers, and
 * what must be refused.
 */
#include <string.h>

#include "read_support.h"

/* Columns a int32 [1, null, 3] and s utf8 ["x", null, "yz"]. */
static const char FILE_2_2[] =
    "300000004848484848484848484848484848484848484848484848484848484848484848484848484848484848"
    "48484848484848484848484848484848484848030006000c000000000001000000fefe01000000000000000300"
    "0000fefefefe484848484848484848484848484848484848484848484848484848484848484840000000484848"
    "484848484848484848484848484848484848484848484848484848484848484848484848484848484848484848"
    "4848484848484848484848480300060014000000000001000000fefe1000000011000000110000001300000078"
    "797a48fefefefe4848484848484848484848484848484848484848484848480a390a1912016120ffffffffffff"
    "ffffff012a05696e743332300138010a1c120173180120ffffffffffffffffff012a06737472696e6730013802"
    "10030a2912270a250a1f2f6c616e63652e656e636f64696e67732e436f6c756d6e456e636f64696e6712020a00"
    "12480a020040120204201803223c123a0a380a1d2f6c616e63652e656e636f64696e677332312e506167654c61"
    "796f757412170a1512040a0208101a040a0208203201033801480350010a2912270a250a1f2f6c616e63652e65"
    "6e636f64696e67732e436f6c756d6e456e636f64696e6712020a00124e0a048001c0011202042818032240123e"
    "0a3c0a1d2f6c616e63652e656e636f64696e677332312e506167654c61796f7574121b0a1912040a0208101a08"
    "12060a040a0208203201033801480350013d010000000000007500000000000000b2010000000000007b000000"
    "0000000000010000000000003d000000000000003d010000000000002d020000000000004d0200000000000001"
    "00000002000000020002004c414e43";
static const char FILE_2_1[] =
    "300048484848484848484848484848484848484848484848484848484848484848484848484848484848484848"
    "48484848484848484848484848484848484848030006000c00fefe000001000000fefe01000000000000000300"
    "0000fefefefe484848484848484848484848484848484848484848484848484848484848484840004848484848"
    "484848484848484848484848484848484848484848484848484848484848484848484848484848484848484848"
    "484848484848484848484848030006001400fefe000001000000fefe1000000011000000110000001300000078"
    "797a48fefefefe4848484848484848484848484848484848484848484848480a390a1912016120ffffffffffff"
    "ffffff012a05696e743332300138010a1c120173180120ffffffffffffffffff012a06737472696e6730013802"
    "10030a2912270a250a1f2f6c616e63652e656e636f64696e67732e436f6c756d6e456e636f64696e6712020a00"
    "12460a020040120202201803223a12380a360a1d2f6c616e63652e656e636f64696e677332312e506167654c61"
    "796f757412150a1312040a0208101a040a020820320103380148030a2912270a250a1f2f6c616e63652e656e63"
    "6f64696e67732e436f6c756d6e456e636f64696e6712020a00124c0a048001c001120202281803223e123c0a3a"
    "0a1d2f6c616e63652e656e636f64696e677332312e506167654c61796f757412190a1712040a0208101a081206"
    "0a040a020820320103380148033d010000000000007300000000000000b0010000000000007900000000000000"
    "00010000000000003d000000000000003d01000000000000290200000000000049020000000000000100000002"
    "000000020001004c414e43";
static const char FILE_2_0[] =
    "054848484848484848484848484848484848484848484848484848484848484848484848484848484848484848"
    "484848484848484848484848484848484848480100000000000000030000004848484848484848484848484848"
    "484848484848484848484848484848484848484848484848484848484848484848484848484801000000000000"
    "000500000000000000030000000000000048484848484848484848484848484848484848484848484848484848"
    "48484848484848484848484878797a484848484848484848484848484848484848484848484848484848484848"
    "484848484848484848484848484848484848484848484848484848484848480a350a1712016120ffffffffffff"
    "ffffff012a05696e74333230010a1a120173180120ffffffffffffffffff012a06737472696e67300110030a29"
    "12270a250a1f2f6c616e63652e656e636f64696e67732e436f6c756d6e456e636f64696e6712020a0012480a02"
    "00401202010c1803223c123a0a380a1e2f6c616e63652e656e636f64696e67732e4172726179456e636f64696e"
    "671216121412120a060a040801120012080a060820120208010a2912270a250a1f2f6c616e63652e656e636f64"
    "696e67732e436f6c756d6e456e636f64696e6712020a0012500a048001c001120218031803224212400a3e0a1e"
    "2f6c616e63652e656e636f64696e67732e4172726179456e636f64696e67121c321a0a0c120a0a080a060a0408"
    "40120012080a06080812020801180439010000000000007500000000000000ae010000000000007d0000000000"
    "00000001000000000000390000000000000039010000000000002b020000000000004b02000000000000010000"
    "0002000000000003004c414e43";

enum { ROOM = 1024 };

static void read_worked(test_env *t, const char *hex, format_version version) {
  uint8_t bytes[ROOM];
  const size_t size = hex_bytes(hex, bytes, sizeof bytes);
  const char *path = bytes_write(t, bytes, size);
  file_reader *r;
  const lance_schema *s;
  glv_error err = {0};
  assert_int_equal(file_reader_open(t->env, NULL, path, &r, &err), GLV_OK);
  assert_int_equal(file_reader_version(r), version);
  assert_int_equal(file_reader_rows(r), 3);
  assert_int_equal(file_reader_column_count(r), 2);
  assert_int_equal(file_reader_global_count(r), 1);
  assert_int_equal(file_reader_schema(r, &s, &err), GLV_OK);
  assert_int_equal(s->field_count, 2);
  assert_int_equal(lance_schema_columns(s, FORMAT_2_2, NULL, 0), 2);
  assert_string_equal(s->fields[1].arrow.name, "s");
  assert_string_equal(s->fields[1].logical_type, "string");
  assert_int_equal(s->fields[1].id, 1);
  array a;
  array b;
  assert_int_equal(file_reader_read(r, 0, &s->fields[0].arrow, 0, 3, NULL, 0, &a, &err), GLV_OK);
  assert_int_equal(file_reader_read(r, 1, &s->fields[1].arrow, 0, 3, NULL, 0, &b, &err), GLV_OK);
  assert_int32(&a, (const int32_t[]){1, 0, 3}, "101");
  assert_int_equal(a.null_count, 1);
  assert_text(&b, (const char *const[]){"x", NULL, "yz"});
  array_unref(&a);
  array_unref(&b);
  const uint32_t rows[] = {0, 1};
  assert_int_equal(file_reader_read(r, 1, &s->fields[1].arrow, 1, 2, rows, 2, &b, &err), GLV_OK);
  assert_text(&b, (const char *const[]){NULL, "yz"});
  array_unref(&b);
  assert_int_equal(file_reader_read(r, 0, &s->fields[0].arrow, 1, 2, rows + 1, 1, &a, &err),
                   GLV_OK);
  assert_int32(&a, (const int32_t[]){3}, "1");
  array_unref(&a);
  file_reader_unref(r);
}

static void worked_files(void **state) {
  test_env *t = *state;
  read_worked(t, FILE_2_2, FORMAT_2_2);
  read_worked(t, FILE_2_1, FORMAT_2_1);
  read_worked(t, FILE_2_0, FORMAT_2_0);
}

static void requests_are_checked(void **state) {
  test_env *t = *state;
  uint8_t bytes[ROOM];
  const char *path = bytes_write(t, bytes, hex_bytes(FILE_2_2, bytes, sizeof bytes));
  file_reader *r;
  const lance_schema *s;
  glv_error err = {0};
  array a;
  assert_int_equal(file_reader_open(t->env, NULL, path, &r, &err), GLV_OK);
  assert_int_equal(file_reader_schema(r, &s, &err), GLV_OK);
  const field *f = &s->fields[0].arrow;
  const uint32_t backwards[] = {1, 0};
  const uint32_t twice[] = {1, 1};
  const uint32_t outside[] = {0, 3};
  assert_int_equal(file_reader_read(r, 0, f, 1, 3, NULL, 0, &a, &err), GLV_E_INVALID_INPUT);
  assert_int_equal(file_reader_read(r, 0, f, UINT64_MAX, 2, NULL, 0, &a, &err),
                   GLV_E_INVALID_INPUT);
  assert_int_equal(file_reader_read(r, 0, f, 0, 3, backwards, 2, &a, &err), GLV_E_INVALID_INPUT);
  assert_int_equal(file_reader_read(r, 0, f, 0, 3, twice, 2, &a, &err), GLV_E_INVALID_INPUT);
  assert_int_equal(file_reader_read(r, 0, f, 0, 3, outside, 2, &a, &err), GLV_E_INVALID_INPUT);
  assert_int_equal(file_reader_read(r, 2, f, 0, 3, NULL, 0, &a, &err), GLV_E_CORRUPT);
  assert_int_equal(file_reader_read(r, 0, f, 3, 0, NULL, 0, &a, &err), GLV_OK);
  assert_int_equal(a.length, 0);
  array_unref(&a);
  assert_int_equal(file_reader_read(r, 0, f, 0, 3, backwards, 0, &a, &err), GLV_OK);
  assert_int_equal(a.length, 0);
  array_unref(&a);
  const field as_text = {.name = "a", .type = type_simple(TYPE_UTF8), .nullable = true};
  const field as_wide = {.name = "a", .type = type_simple(TYPE_INT64), .nullable = true};
  const field as_null = {.name = "a", .type = type_simple(TYPE_NULL), .nullable = true};
  assert_int_not_equal(file_reader_read(r, 0, &as_text, 0, 3, NULL, 0, &a, &err), GLV_OK);
  assert_int_not_equal(file_reader_read(r, 0, &as_wide, 0, 3, NULL, 0, &a, &err), GLV_OK);
  assert_int_not_equal(file_reader_read(r, 0, &as_null, 0, 3, NULL, 0, &a, &err), GLV_OK);
  assert_non_null(strstr(err.message, "column 'a'"));
  file_reader_unref(r);
}

static void footers(void **state) {
  test_env *t = *state;
  uint8_t bytes[ROOM];
  const size_t size = hex_bytes(FILE_2_2, bytes, sizeof bytes);
  glv_error err;
  static const struct {
    uint8_t major;
    uint8_t minor;
    glv_status status;
    const char *text;
  } versions[] = {
      {0, 2, GLV_E_UNSUPPORTED, "legacy"},
      {2, 3, GLV_E_UNSUPPORTED, "Unknown Lance storage version: 2.3"},
      {2, 9, GLV_E_UNSUPPORTED, "Unknown Lance storage version: 2.9"},
      {0, 3, GLV_E_UNSUPPORTED, "the unknown encoding /lance.encodings21.PageLayout"},
      {2, 0, GLV_E_UNSUPPORTED, "the unknown encoding /lance.encodings21.PageLayout"},
      {2, 1, GLV_E_CORRUPT, "Large miniblock chunks are not part of the Lance v2.1 grammar"},
  };
  for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
    bytes[size - 8] = versions[i].major;
    bytes[size - 6] = versions[i].minor;
    assert_int_equal(bytes_read(t, bytes, size, &err), versions[i].status);
    assert_non_null(strstr(err.message, versions[i].text));
  }
  const size_t small = hex_bytes(FILE_2_1, bytes, sizeof bytes);
  bytes[small - 6] = 2;
  assert_int_equal(bytes_read(t, bytes, small, &err), GLV_E_CORRUPT);
  assert_non_null(strstr(err.message, "Lance v2.2 miniblock pages require the u32 chunk grammar"));
  bytes[small - 6] = 1;
  assert_int_equal(bytes_read(t, bytes, small, &err), GLV_OK);
  assert_int_equal(bytes_read(t, bytes, small + 1, &err), GLV_E_CORRUPT);
  assert_non_null(strstr(err.message, "does not appear to be a Lance file"));
  assert_int_equal(bytes_read(t, bytes + small - 39, 39, &err), GLV_E_CORRUPT);
  assert_non_null(strstr(err.message, "does not have sufficient data"));
  assert_int_equal(bytes_read(t, bytes, 0, &err), GLV_E_CORRUPT);
}

/* Move what follows the pages by 8 bytes: the schema then begins at no multiple of 64. */
static size_t move_schema(uint8_t *bytes, size_t size) {
  enum { BY = 8, FOOTER = 40 };
  uint8_t *footer = bytes + size - FOOTER;
  const uint64_t columns = load_le64(footer + 8);
  const uint64_t globals = load_le64(footer + 16);
  const size_t schema = (size_t)load_le64(bytes + globals);
  for (uint64_t at = columns; at < size - FOOTER; at += 16) { /* both tables: position, size */
    store_le64(bytes + at, load_le64(bytes + at) + BY);
  }
  for (size_t i = 0; i < 3; i++) {
    store_le64(footer + 8 * i, load_le64(footer + 8 * i) + BY);
  }
  memmove(bytes + schema + BY, bytes + schema, size - schema);
  memset(bytes + schema, 0, BY);
  return size + BY;
}

/* Files of version 2.0 need no alignment; in newer ones it is part of the format. */
static void moved_schemas(void **state) {
  uint8_t bytes[ROOM];
  glv_error err;
  size_t size = move_schema(bytes, hex_bytes(FILE_2_0, bytes, sizeof bytes - 8));
  assert_int_equal(bytes_read(*state, bytes, size, &err), GLV_OK);
  size = move_schema(bytes, hex_bytes(FILE_2_1, bytes, sizeof bytes - 8));
  assert_int_equal(bytes_read(*state, bytes, size, &err), GLV_E_CORRUPT);
  assert_non_null(strstr(err.message, "Global buffer 0"));
  assert_non_null(strstr(err.message, "is not aligned to 64 bytes"));
}

/* Cut at every length and with every byte changed: an error or a result, never worse. */
static void damage(test_env *t, const char *hex) {
  uint8_t bytes[ROOM];
  glv_error err;
  const size_t size = hex_bytes(hex, bytes, sizeof bytes);
  for (size_t i = 0; i < size; i++) {
    assert_int_not_equal(bytes_read(t, bytes, i, &err), GLV_OK);
  }
  static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x7f};
  for (size_t i = 0; i < size; i++) {
    for (size_t k = 0; k < sizeof changes; k++) {
      bytes[i] ^= changes[k];
      (void)bytes_read(t, bytes, size, &err);
      bytes[i] ^= changes[k];
    }
  }
}

static void damaged_files(void **state) {
  damage(*state, FILE_2_2);
  damage(*state, FILE_2_0);
}

/* ---- the layouts ---- */

/* Messages: encodings of the parts of a page, and the layout around them. */
#define FLAT8 "0a{0808}"
#define FLAT16 "0a{0810}"
#define FLAT32 "0a{0820}"
#define VARIABLE "12{0a{" FLAT32 "}}"
#define INLINE32 "2a{0820}"
#define RLE32 "42{0a{" FLAT32 "} 12{" FLAT8 "}}"
#define ITEMS(count) "48" count
#define MINI(values, layer, buffers, items)                                                        \
  "0a{1a{" values "} 32{" layer "} 38" buffers " " items " 5001}"
#define MINI_NULLS(values, buffers, items)                                                         \
  "0a{12{" FLAT16 "} 1a{" values "} 32{03} 38" buffers " " items " 5001}"

static void read_made(test_env *t, const char *type_name, const made_page *p, file_reader **r,
                      array *a) {
  const made_file f = {type_name, 2, 2, p->rows, p, 1, NULL, 0};
  made_file_read(t, &f, r, a);
}

static void fullzip_text(void **state) {
  const made_page p = {4,
                       "1a{1001 2020 2804 3004 3a{" VARIABLE "} 42{03}}",
                       {"00 02000000 6162 01 00 00000000 00 03000000 78797a", "00 07 08 0d 15"}};
  file_reader *r;
  array a;
  read_made(*state, "string", &p, &r, &a);
  assert_text(&a, (const char *const[]){"ab", NULL, "", "xyz"});
  array_unref(&a);
  file_reader_unref(r);
  made_page bad = p;
  const made_file f = {"string", 2, 2, 4, &bad, 1, NULL, 0};
  bad.buffers[1] = "00 07 06 0d 15";
  made_file_fails(*state, &f, GLV_E_CORRUPT, "row index");
  bad.buffers[1] = "00 07 08 0d 16";
  made_file_fails(*state, &f, GLV_E_CORRUPT, "row index");
  bad.buffers[1] = "00 06 08 0d 15";
  made_file_fails(*state, &f, GLV_E_CORRUPT, "full-zip value");
  bad.buffers[1] = "00 07 08 0d 15 15";
  made_file_fails(*state, &f, GLV_E_CORRUPT, "row index");
}

static void fullzip_vectors(void **state) {
  const made_page p = {
      3,
      "1a{1001 1848 2803 3003 3a{5a{0802 12{" FLAT32 "} 1801}} 42{03}}",
      {"00 31 0000803f 00000000  01 00 00000000 00000000  00 03 00004040 00008040"}};
  file_reader *r;
  array a;
  read_made(*state, "fixed_size_list:float:2", &p, &r, &a);
  assert_true(array_is_valid(&a, 0) && !array_is_valid(&a, 1) && array_is_valid(&a, 2));
  const array *items = &a.children[0];
  assert_int_equal(items->length, 6);
  assert_true(array_is_valid(items, 0) && !array_is_valid(items, 1));
  assert_true(array_is_valid(items, 4) && array_is_valid(items, 5));
  assert_true(ARRAY_VALUES(items, float)[0] == 1 && ARRAY_VALUES(items, float)[5] == 4);
  array_unref(&a);
  file_reader_unref(r);
  const made_file other = {"fixed_size_list:float:3", 2, 2, 3, &p, 1, NULL, 0};
  made_file_fails(*state, &other, GLV_E_CORRUPT, "stored as FixedSizeList");
  const made_file cut = {
      "fixed_size_list:float:2", 2, 2, 4, &(made_page){4, p.layout, {p.buffers[0]}}, 1, NULL, 0};
  made_file_fails(*state, &cut, GLV_E_CORRUPT, "a page of 4 rows holds 3 values");
}

static void constants(void **state) {
  const made_page seven = {3, "12{2a{03} 32{07000000}}", {"", "0000 0100 0000"}};
  const made_page text = {3, "12{2a{01}}", {"02000000 08000000 02000000 00000000 02000000 6869"}};
  const made_page nulls = {2, "12{2a{03}}", {NULL}};
  file_reader *r;
  array a;
  read_made(*state, "int32", &seven, &r, &a);
  assert_int32(&a, (const int32_t[]){7, 7, 7}, "101");
  array_unref(&a);
  file_reader_unref(r);
  read_made(*state, "string", &text, &r, &a);
  assert_text(&a, (const char *const[]){"hi", "hi", "hi"});
  array_unref(&a);
  file_reader_unref(r);
  read_made(*state, "string", &nulls, &r, &a);
  assert_text(&a, (const char *const[]){NULL, NULL});
  assert_int_equal(a.null_count, 2);
  array_unref(&a);
  file_reader_unref(r);
  read_made(*state, "null", &nulls, &r, &a);
  assert_int_equal(a.length, 2);
  assert_int_equal(array_null_count(&a), 2);
  array_unref(&a);
  file_reader_unref(r);
}

static void constants_refused(void **state) {
  const made_page seven = {3, "12{2a{03} 32{07000000}}", {"", "0000 0100 0000"}};
  const made_file old = {"int32", 2, 1, 3, &seven, 1, NULL, 0};
  made_file_fails(*state, &old, GLV_E_CORRUPT,
                  "Lance v2.1 only accepts the all-null form of constant page layout");
  const made_file wide = {"int64", 2, 2, 3, &seven, 1, NULL, 0};
  made_file_fails(*state, &wide, GLV_E_CORRUPT, "a constant of 4 bytes");
  const made_page short_levels = {3, seven.layout, {"", "0000 0100"}};
  const made_file cut = {"int32", 2, 2, 3, &short_levels, 1, NULL, 0};
  made_file_fails(*state, &cut, GLV_E_CORRUPT, "a page of 3 rows holds 2 values");
  const made_page text = {3, "12{2a{01}}", {"02000000 08000000 02000000 00000000 03000000 6869"}};
  const made_file outside = {"string", 2, 2, 3, &text, 1, NULL, 0};
  made_file_fails(*state, &outside, GLV_E_CORRUPT, "offsets");
}

#define DICTIONARY_PAGE                                                                            \
  "0a{12{" FLAT16 "} 1a{" FLAT8 "} 22{52{0a{0801} 1a{" VARIABLE "}}} 2802 32{03} 3801 4804 5001}"
#define DICTIONARY "16000000 f007 20000000 14000000 00000000 01000000 02000000 6162"

/* A dictionary of "a", "b" compressed with LZ4, indices of 8 bits, and a null with a wild index. */
static void dictionaries(void **state) {
  made_page p = {
      4,
      DICTIONARY_PAGE,
      {"20000000", "0400 0800 04000000 0000 0000 0100 0000 00 01 09 01 fefefefe", DICTIONARY}};
  file_reader *r;
  array a;
  read_made(*state, "string", &p, &r, &a);
  assert_text(&a, (const char *const[]){"a", "b", NULL, "b"});
  array_unref(&a);
  file_reader_unref(r);
  const made_file f = {"string", 2, 2, 4, &p, 1, NULL, 0};
  p.buffers[1] = "0400 0800 04000000 0000 0000 0000 0000 00 01 02 01 fefefefe";
  made_file_fails(*state, &f, GLV_E_CORRUPT, "a dictionary index is not below 2");
  p.buffers[2] = "ffffff7f f007 20000000 14000000 00000000 01000000 02000000 6162";
  made_file_fails(*state, &f, GLV_E_CORRUPT, "claim to hold 2147483647 bytes");
  p.buffers[2] = "15000000 f007 20000000 14000000 00000000 01000000 02000000 6162";
  made_file_fails(*state, &f, GLV_E_CORRUPT, "lz4");
}

/* ---- lists ---- */

/* A file whose only column is read as list<utf8>, whatever its schema says. */
static glv_status read_list(test_env *t, const made_page *p, array *ret, file_reader **ret_reader,
                            arena *memory, glv_error *err) {
  const made_file f = {"list", 2, 2, p->rows, p, 1, NULL, 0};
  const field item = {.name = "item", .type = type_simple(TYPE_UTF8), .nullable = true};
  const field column = {.name = "l", .type = type_list(memory, TYPE_LIST, &item), .nullable = true};
  assert_int_equal(file_reader_open(t->env, NULL, made_file_write(t, &f), ret_reader, err), GLV_OK);
  return file_reader_read(*ret_reader, 0, &column, 0, p->rows, NULL, 0, ret, err);
}

static void lists_without_items(void **state) {
  test_env *t = *state;
  glv_error err = {0};
  file_reader *r;
  array a = {0};
  CLEANUP(arena_dispose) arena memory;
  arena_init(&memory, t->env);
  const made_page p = {3,
                       "12{2a{0106} 3a{" FLAT16 "} 42{" FLAT16 "} 4803 5003}",
                       {"0100 0100 0100", "0100 0200 0100"}};
  assert_int_equal(read_list(t, &p, &a, &r, &memory, &err), GLV_OK);
  assert_true(!array_is_valid(&a, 0) && array_is_valid(&a, 1) && !array_is_valid(&a, 2));
  assert_int_equal(((const int32_t *)a.values)[3], 0);
  assert_int_equal(a.child_count, 1);
  assert_int_equal(a.children[0].length, 0);
  array_unref(&a);
  file_reader_unref(r);
  const made_page nulls = {2, "12{2a{03}}", {NULL}};
  assert_int_equal(read_list(t, &nulls, &a, &r, &memory, &err), GLV_OK);
  assert_int_equal(a.null_count, 2);
  array_unref(&a);
  file_reader_unref(r);
  const made_page wild = {3, p.layout, {p.buffers[0], "0100 0300 0100"}};
  assert_int_equal(read_list(t, &wild, &a, &r, &memory, &err), GLV_E_CORRUPT);
  file_reader_unref(r);
}

static void lists_with_items(void **state) {
  test_env *t = *state;
  glv_error err = {0};
  file_reader *r;
  array a = {0};
  CLEANUP(arena_dispose) arena memory;
  arena_init(&memory, t->env);
  const made_page items = {1,
                           "0a{0a{" FLAT16 "} 12{" FLAT16 "} 1a{" FLAT32
                           "} 32{0306} 3801 4001 4805 5001}",
                           {"00000000", "0000000000000000", "0500000000000000"}};
  assert_int_equal(read_list(t, &items, &a, &r, &memory, &err), GLV_E_CORRUPT);
  assert_non_null(strstr(err.message, "column 'l' of type list<item: string>"));
  file_reader_unref(r);
}

/* The layer says nullable but there is no stream of levels: nothing is null. */
static void nullable_without_levels(void **state) {
  const made_page p = {2,
                       MINI(FLAT32, "03", "01", ITEMS("02")),
                       {"10000000", "0000 08000000 fefe 05000000 06000000"}};
  file_reader *r;
  array a;
  read_made(*state, "int32", &p, &r, &a);
  assert_int32(&a, (const int32_t[]){5, 6}, "11");
  array_unref(&a);
  file_reader_unref(r);
}

static void no_rows(void **state) {
  const made_file f = {"int32", 2, 2, 0, NULL, 0, NULL, 0};
  file_reader *r;
  array a;
  made_file_read(*state, &f, &r, &a);
  assert_int_equal(a.length, 0);
  array_unref(&a);
  file_reader_unref(r);
}

/* Runs that exceed the values of the chunk are cut off. */
static void runs(void **state) {
  const made_page p = {
      3,
      MINI(RLE32, "01", "02", ITEMS("03")),
      {"30000000", "0000 08000000 02000000 fefefefefefe 05000000 06000000 02 04 fefefefefefe"}};
  file_reader *r;
  array a;
  read_made(*state, "int32", &p, &r, &a);
  assert_int32(&a, (const int32_t[]){5, 5, 6}, "111");
  array_unref(&a);
  file_reader_unref(r);
}

/* ---- refusals ---- */

#define FLAT_CHUNK "0000 08000000 fefe 05000000 06000000"
#define FLAT_LAYOUT MINI(FLAT32, "01", "01", ITEMS("02"))

static void containers_refused(void **state) {
  const made_page p = {2, FLAT_LAYOUT, {"10000000", FLAT_CHUNK}};
  made_file f = {"int32", 2, 2, 2, &p, 1, NULL, 8};
  made_file_fails(*state, &f, GLV_E_CORRUPT,
                  "Column 0 page 0 buffer offset 8 is not aligned to 64 bytes");
  f.shift = 0;
  f.column_encoding = "";
  made_file_fails(*state, &f, GLV_E_CORRUPT, "Column 0 is missing its encoding");
  f.column_encoding = "0a{0a{0801}}"; /* indirect */
  made_file_fails(*state, &f, GLV_E_UNSUPPORTED, "Indirect file encodings are not supported");
  f.column_encoding = NULL;
  f.rows = 3;
  made_file_fails(*state, &f, GLV_E_CORRUPT, "hold 2 rows");
  f.rows = 2;
  f.logical_type = "int16";
  made_file_fails(*state, &f, GLV_E_CORRUPT, "32 bits where values of 16 bits are expected");
  f.logical_type = "timestamp:xs:-";
  made_file_fails(*state, &f, GLV_E_CORRUPT, "malformed");
}

/* A page with one bad thing; text is what the error must say. */
static void refused(void **state, const char *type_name, uint64_t rows, const char *layout,
                    const char *chunks, const char *data, const char *text) {
  const made_page p = {rows, layout, {chunks, data}};
  const made_file f = {type_name, 2, 2, rows, &p, 1, NULL, 0};
  made_file_fails(*state, &f, GLV_E_CORRUPT, text);
}

static void chunks_refused(void **state) {
  refused(state, "int32", 4, MINI(FLAT32, "01", "01", ITEMS("04")), "10000000 10000000",
          FLAT_CHUNK FLAT_CHUNK, "non-final chunk 0 of 2 has invalid log_num_values=0");
  refused(state, "int32", 2, FLAT_LAYOUT, "20000000", FLAT_CHUNK, "do not add up");
  refused(state, "int32", 2, FLAT_LAYOUT, "12000000", FLAT_CHUNK, "impossible number of values");
  refused(state, "int32", 2, FLAT_LAYOUT, "100000", FLAT_CHUNK, "chunk table");
  refused(state, "int32", 2, FLAT_LAYOUT, "10000000", "0000 09000000 fefe 05000000 06000000",
          "do not lie inside");
  refused(state, "int32", 2, FLAT_LAYOUT, "10000000", "0000 07000000 fefe 05000000 06000000",
          "too few");
  refused(state, "int32", 3, FLAT_LAYOUT, "10000000", FLAT_CHUNK, "holds 2 values");
}

static void levels_refused(void **state) {
  const char *layout = MINI_NULLS(FLAT32, "01", ITEMS("02"));
  refused(state, "int32", 2, layout, "20000000",
          "0300 0400 08000000 0000 0100 fefefefe 05000000 06000000", "has 3 levels");
  refused(state, "int32", 2, layout, "20000000",
          "0200 0300 08000000 0000 0100 fefefefe 05000000 06000000", "too few");
}

static void packing_refused(void **state) {
  const char *two = MINI(INLINE32, "01", "01", ITEMS("02"));
  refused(state, "int32", 2048, MINI(INLINE32, "01", "01", ITEMS("8010")), "10000000",
          "0000 04000000 fefe 00000000 fefefefe", "Inline bitpacking of 2048 values");
  refused(state, "int32", 2, two, "10000000", "0000 04000000 fefe 21000000 fefefefe",
          "Inline bitpacking of width 33");
  refused(state, "int32", 2, two, "10000000", "0000 08000000 fefe 01000000 fefefefe",
          "Inline bitpacking of width 1");
}

static void runs_refused(void **state) {
  const char *three = MINI(RLE32, "01", "02", ITEMS("03"));
  refused(state, "int32", 3, three, "30000000",
          "0000 08000000 02000000 fefefefefefe 05000000 06000000 01 01 fefefefefefe",
          "RLE decoding produced 2 values, expected 3");
  refused(state, "int32", 3, three, "30000000",
          "0000 08000000 02000000 fefefefefefe 05000000 06000000 00 04 fefefefefefe",
          "RLE run 0 has length 0");
  refused(state, "int32", 3, three, "30000000",
          "0000 08000000 01000000 fefefefefefe 05000000 06000000 04 04 fefefefefefe", "RLE has");
}

static void text_refused(void **state) {
  const char *layout = MINI(VARIABLE, "01", "01", ITEMS("02"));
  refused(state, "string", 2, layout, "20000000",
          "0000 0e000000 fefe 0c000000 0b000000 0e000000 6162 fefe", "offsets decrease");
  refused(state, "string", 2, layout, "20000000",
          "0000 0e000000 fefe 0c000000 0d000000 0f000000 6162 fefe", "offsets decrease");
  refused(state, "string", 2, layout, "20000000",
          "0000 0e000000 fefe 0b000000 0d000000 0e000000 6162 fefe", "offsets decrease");
  refused(state, "string", 2, layout, "20000000",
          "0000 0e000000 fefe 0c000000 0d000000 0e000000 61ff fefe", "UTF-8");
}

static void unknown_encodings(void **state) {
  const made_page dictionary = {2, MINI("3a{}", "01", "01", ITEMS("02")), {"10000000", FLAT_CHUNK}};
  const made_file f = {"int32", 2, 2, 2, &dictionary, 1, NULL, 0};
  made_file_fails(*state, &f, GLV_E_UNSUPPORTED, "Dictionary encoding");
  const made_page blob = {2, "22{}", {NULL}}; /* a blob layout that says nothing */
  const made_file g = {"int32", 2, 2, 2, &blob, 1, NULL, 0};
  made_file_fails(*state, &g, GLV_E_CORRUPT, "the page has 0 layers");
  const made_page packed = {
      2, MINI("22{0820 1a{0a{0801}}}", "01", "01", ITEMS("02")), {"10000000", FLAT_CHUNK}};
  const made_file h = {"int32", 2, 2, 2, &packed, 1, NULL, 0};
  made_file_fails(*state, &h, GLV_E_UNSUPPORTED,
                  "OutOfLineBitpacking is not supported for mini-block decompression");
  const made_page deep = {2,
                          MINI("5a{0801 12{5a{0801 12{5a{0801 12{5a{0801 12{5a{0801 12{5a{0801 12{"
                               "5a{0801 12{5a{0801 12{5a{0801 12{5a{0801 12{5a{0801 12{5a{0801 12{"
                               "5a{0801 12{5a{0801 12{5a{0801 12{5a{0801 12{5a{0801 12{" FLAT32
                               "}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}",
                               "01", "01", ITEMS("02")),
                          {"10000000", FLAT_CHUNK}};
  const made_file k = {"int32", 2, 2, 2, &deep, 1, NULL, 0};
  made_file_fails(*state, &k, GLV_E_LIMIT, "nested deeper");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_env_setup, test_env_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(worked_files),
      TEST(requests_are_checked),
      TEST(footers),
      TEST(moved_schemas),
      TEST(damaged_files),
      TEST(fullzip_text),
      TEST(fullzip_vectors),
      TEST(constants),
      TEST(constants_refused),
      TEST(dictionaries),
      TEST(lists_without_items),
      TEST(lists_with_items),
      TEST(nullable_without_levels),
      TEST(no_rows),
      TEST(runs),
      TEST(containers_refused),
      TEST(chunks_refused),
      TEST(levels_refused),
      TEST(packing_refused),
      TEST(runs_refused),
      TEST(text_refused),
      TEST(unknown_encodings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
