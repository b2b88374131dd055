/*
 * A hash table of rows.
 *
 * One fixed-width column of at most 64 bits is a word per row. Everything else is encoded into
 * bytes, column by column, so that equal rows are equal bytes: a byte for null or not, then the
 * value; texts and lists are preceded by their size, so no two different rows look alike. NaN is
 * written with one pattern of bits.
 *
 * Slots hold the high half of the hash beside the number of the row, so that most rows are compared
 * only with the one that they equal.
 */
#include "expr/row_set.h"

#include "base/hash.h"

enum { SMALLEST_TABLE = 64 };

static size_t word_width(const type *t) {
  if (t->kind == TYPE_BOOL) {
    return 1;
  }
  const bool is_plain = t->kind != TYPE_DICTIONARY && t->kind != TYPE_FIXED_SIZE_BINARY;
  const size_t width = is_plain ? type_width(t) : 0;
  return width <= sizeof(uint64_t) ? width : 0;
}

void row_set_init(row_set *s, glv_env *env, const type *const *columns, size_t count) {
  *s = (row_set){
      .env = env, .has_words = count == 1 && word_width(columns[0]) != 0, .null_row = SIZE_MAX};
}

void row_set_dispose(row_set *s) {
  mem_free(s->env, s->slots);
  mem_free(s->env, s->words);
  mem_free(s->env, s->bytes);
  mem_free(s->env, s->ends);
  mem_free(s->env, s->hashes);
  s->slots = NULL;
  s->words = NULL;
  s->bytes = NULL;
  s->ends = NULL;
  s->hashes = NULL;
}

/* ---- encoding ---- */

static uint16_t one_nan16(uint16_t v) { return (v & 0x7FFFu) > 0x7C00u ? 0x7E00u : v; }
static uint32_t one_nan32(uint32_t v) { return (v & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : v; }
static uint64_t one_nan64(uint64_t v) {
  return (v & UINT64_C(0x7FFFFFFFFFFFFFFF)) > UINT64_C(0x7FF0000000000000)
             ? UINT64_C(0x7FF8000000000000)
             : v;
}

static size_t fixed_width(const type *t) { return t->kind == TYPE_BOOL ? 1 : type_width(t); }

static void put_fixed(const array *a, size_t i, size_t width, uint8_t *to) {
  const uint8_t *from = (const uint8_t *)a->values + i * width;
  switch (a->type->kind) {
  case TYPE_BOOL:
    *to = array_bool(a, i);
    break;
  case TYPE_FLOAT16:
    store_le16(to, one_nan16(load_le16(from)));
    break;
  case TYPE_FLOAT32:
    store_le32(to, one_nan32(load_le32(from)));
    break;
  case TYPE_FLOAT64:
    store_le64(to, one_nan64(load_le64(from)));
    break;
  default:
    memcpy(to, from, width);
  }
}

static size_t value_size(const array *a, size_t i);
static uint8_t *put_value(const array *a, size_t i, uint8_t *to);

static bool is_bytes(const type *t) { return type_is_string(t->kind) || type_is_binary(t->kind); }

/* The recursion below is bounded by the depth of types. */
static size_t value_size(const array *a, size_t i) {
  if (!array_is_valid(a, i)) {
    return 1;
  }
  size_t size = 1;
  size_t first = 0;
  switch (a->type->kind) {
  case TYPE_DICTIONARY:
    return value_size(&a->children[0], array_dictionary_index(a, i));
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_MAP:
  case TYPE_FIXED_SIZE_LIST: {
    const size_t count = array_list_items(a, i, &first);
    size += a->type->kind != TYPE_FIXED_SIZE_LIST ? sizeof(uint64_t) : 0;
    for (size_t k = 0; k < count; k++) {
      size += value_size(&a->children[0], first + k);
    }
    return size;
  }
  case TYPE_STRUCT:
    for (size_t k = 0; k < a->child_count; k++) {
      size += value_size(&a->children[k], i);
    }
    return size;
  default:
    return size +
           (is_bytes(a->type) ? sizeof(uint64_t) + array_str(a, i).size : fixed_width(a->type));
  }
}

static uint8_t *put_sized(str bytes, uint8_t *to) {
  store_le64(to, bytes.size);
  if (bytes.size != 0) {
    memcpy(to + sizeof(uint64_t), bytes.data, bytes.size);
  }
  return to + sizeof(uint64_t) + bytes.size;
}

static uint8_t *put_items(const array *a, size_t i, uint8_t *to) {
  size_t first = 0;
  const size_t count = array_list_items(a, i, &first);
  if (a->type->kind != TYPE_FIXED_SIZE_LIST) {
    store_le64(to, count);
    to += sizeof(uint64_t);
  }
  for (size_t k = 0; k < count; k++) {
    to = put_value(&a->children[0], first + k, to);
  }
  return to;
}

static uint8_t *put_value(const array *a, size_t i, uint8_t *to) {
  if (array_is_valid(a, i) && a->type->kind == TYPE_DICTIONARY) {
    return put_value(&a->children[0], array_dictionary_index(a, i), to);
  }
  *to++ = array_is_valid(a, i);
  if (to[-1] == 0) {
    return to;
  }
  switch (a->type->kind) {
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_MAP:
  case TYPE_FIXED_SIZE_LIST:
    return put_items(a, i, to);
  case TYPE_STRUCT:
    for (size_t k = 0; k < a->child_count; k++) {
      to = put_value(&a->children[k], i, to);
    }
    return to;
  default:
    if (is_bytes(a->type)) {
      return put_sized(array_str(a, i), to);
    }
    put_fixed(a, i, fixed_width(a->type), to);
    return to + fixed_width(a->type);
  }
}

/* The encoded rows of a batch: row i is bytes[ends[i - 1], ends[i]). */
struct encoded {
  uint8_t *bytes;
  size_t *ends;
};

static void encoded_dispose(glv_env *env, struct encoded *e) {
  mem_free(env, e->bytes);
  mem_free(env, e->ends);
}

static void add_sizes(const array *a, size_t rows, size_t *sizes) {
  const size_t width = a->type->kind == TYPE_DICTIONARY ? 0 : fixed_width(a->type);
  if (width != 0 && !array_has_nulls(a)) {
    for (size_t i = 0; i < rows; i++) {
      sizes[i] += 1 + width;
    }
    return;
  }
  if (is_bytes(a->type) && !array_has_nulls(a)) {
    for (size_t i = 0; i < rows; i++) {
      sizes[i] += 1 + sizeof(uint64_t) + array_str(a, i).size;
    }
    return;
  }
  for (size_t i = 0; i < rows; i++) {
    sizes[i] += value_size(a, i);
  }
}

/* One row after the other, of values of a C type: a byte, then the value unless it is null. */
#define PUT_LOOP(ctype, value)                                                                     \
  do {                                                                                             \
    const ctype *v = (const ctype *)a->values;                                                     \
    for (size_t i = 0; i < rows; i++) {                                                            \
      const ctype word = value;                                                                    \
      const bool valid = !has_nulls || array_is_valid(a, i);                                       \
      bytes[at[i]++] = valid;                                                                      \
      if (valid) {                                                                                 \
        memcpy(bytes + at[i], &word, sizeof word);                                                 \
        at[i] += sizeof word;                                                                      \
      }                                                                                            \
    }                                                                                              \
    return true;                                                                                   \
  } while (false)

/* Columns whose values are words; false: the column has other values. */
static bool put_word_column(const array *a, size_t rows, uint8_t *bytes, size_t *at) {
  const bool has_nulls = array_has_nulls(a);
  switch (a->type->kind) {
  case TYPE_FLOAT16:
    PUT_LOOP(uint16_t, one_nan16(v[i]));
  case TYPE_FLOAT32:
    PUT_LOOP(uint32_t, one_nan32(v[i]));
  case TYPE_FLOAT64:
    PUT_LOOP(uint64_t, one_nan64(v[i]));
  default:
    break;
  }
  switch (word_width(a->type) == 0 || a->type->kind == TYPE_BOOL ? 0 : type_width(a->type)) {
  case 1:
    PUT_LOOP(uint8_t, v[i]);
  case 2:
    PUT_LOOP(uint16_t, v[i]);
  case 4:
    PUT_LOOP(uint32_t, v[i]);
  case 8:
    PUT_LOOP(uint64_t, v[i]);
  default:
    return false;
  }
}

/* Write a column; at[i] is where the bytes of row i go on. */
static void put_column(const array *a, size_t rows, uint8_t *bytes, size_t *at) {
  if (put_word_column(a, rows, bytes, at)) {
    return;
  }
  if (is_bytes(a->type) && !array_has_nulls(a)) {
    for (size_t i = 0; i < rows; i++) {
      bytes[at[i]++] = 1;
      at[i] = (size_t)(put_sized(array_str(a, i), bytes + at[i]) - bytes);
    }
    return;
  }
  for (size_t i = 0; i < rows; i++) {
    at[i] = (size_t)(put_value(a, i, bytes + at[i]) - bytes);
  }
}

static glv_status encode(glv_env *env, const array *columns, size_t count, size_t rows,
                         struct encoded *ret, glv_error *err) {
  size_t *at = mem_calloc(env, rows, sizeof *at);
  if (at == NULL) {
    return error_nomem(err, rows * sizeof *at);
  }
  ret->ends = at;
  for (size_t c = 0; c < count; c++) {
    add_sizes(&columns[c], rows, at);
  }
  size_t total = 0;
  for (size_t i = 0; i < rows; i++) {
    const size_t size = at[i];
    at[i] = total;
    if (!size_add(total, size, &total)) {
      return error_nomem(err, SIZE_MAX);
    }
  }
  ret->bytes = mem_alloc(env, total);
  if (ret->bytes == NULL) {
    return error_nomem(err, total);
  }
  for (size_t c = 0; c < count; c++) {
    put_column(&columns[c], rows, ret->bytes, at);
  }
  return GLV_OK;
}

/* The words of a column; those of nulls are unspecified. */
#define WORD_LOOP(ctype, word)                                                                     \
  do {                                                                                             \
    const ctype *v = (const ctype *)a->values;                                                     \
    for (size_t i = 0; i < rows; i++) {                                                            \
      to[i] = (word);                                                                              \
    }                                                                                              \
  } while (false)

static void put_words(const array *a, size_t rows, uint64_t *to) {
  switch (a->type->kind) {
  case TYPE_BOOL:
    for (size_t i = 0; i < rows; i++) {
      to[i] = array_bool(a, i);
    }
    return;
  case TYPE_FLOAT16:
    WORD_LOOP(uint16_t, one_nan16(v[i]));
    return;
  case TYPE_FLOAT32:
    WORD_LOOP(uint32_t, one_nan32(v[i]));
    return;
  case TYPE_FLOAT64:
    WORD_LOOP(uint64_t, one_nan64(v[i]));
    return;
  default:
    break;
  }
  switch (type_width(a->type)) {
  case 1:
    WORD_LOOP(uint8_t, v[i]);
    return;
  case 2:
    WORD_LOOP(uint16_t, v[i]);
    return;
  case 4:
    WORD_LOOP(uint32_t, v[i]);
    return;
  default:
    WORD_LOOP(uint64_t, v[i]);
  }
}

/* ---- the table ---- */

/* A bijection whose low bits and high half depend on all bits of the word. */
static uint64_t mix(uint64_t word) {
  word ^= word >> 32;
  word *= UINT64_C(0x9E3779B97F4A7C15);
  word ^= word >> 29;
  word *= UINT64_C(0xBF58476D1CE4E5B9);
  return word ^ word >> 32;
}

static size_t row_begin(const row_set *s, size_t row) { return row == 0 ? 0 : s->ends[row - 1]; }

static uint64_t row_hash(const row_set *s, size_t row) {
  return s->has_words ? mix(s->words[row]) : s->hashes[row];
}

static uint64_t slot_of(uint64_t hash, size_t row) {
  return (hash & UINT64_C(0xFFFFFFFF00000000)) | (row + 1);
}

static void place_row(row_set *s, uint64_t hash, size_t row) {
  size_t i = (size_t)hash & (s->slot_count - 1);
  while (s->slots[i] != 0) {
    i = (i + 1) & (s->slot_count - 1);
  }
  s->slots[i] = slot_of(hash, row);
}

/* Room for `more` rows at most half full. */
static glv_status grow_slots(row_set *s, size_t more, glv_error *err) {
  size_t wanted = s->slot_count == 0 ? SMALLEST_TABLE : s->slot_count;
  while (wanted / 2 < s->count + more) {
    wanted *= 2;
  }
  if (wanted == s->slot_count) {
    return GLV_OK;
  }
  uint64_t *slots = mem_calloc(s->env, wanted, sizeof *slots);
  if (slots == NULL) {
    return error_nomem(err, wanted * sizeof *slots);
  }
  mem_free(s->env, s->slots);
  s->slots = slots;
  s->slot_count = wanted;
  for (size_t row = 0; row < s->count; row++) {
    if (row != s->null_row) {
      place_row(s, row_hash(s, row), row);
    }
  }
  return GLV_OK;
}

static glv_status check_count(const row_set *s, size_t rows, glv_error *err) {
  return s->count + rows < UINT32_MAX
             ? GLV_OK
             : FAIL(err, GLV_E_LIMIT, "GROUP BY, DISTINCT and merges tell at most %u values apart",
                    UINT32_MAX - 1);
}

/* What the loops over rows share. */
struct adding {
  uint32_t *numbers;
  uint32_t *fresh; /* or NULL */
  size_t fresh_count;
};

static void note_new(row_set *s, struct adding *a, size_t i) {
  a->numbers[i] = (uint32_t)s->count++;
  if (a->fresh != NULL) {
    a->fresh[a->fresh_count] = (uint32_t)i;
  }
  a->fresh_count++;
}

static void add_null(row_set *s, struct adding *a, size_t i) {
  if (s->null_row != SIZE_MAX) {
    a->numbers[i] = (uint32_t)s->null_row;
    return;
  }
  s->null_row = s->count;
  s->words[s->count] = 0;
  note_new(s, a, i);
}

/* The slot of a word, or the free one where it belongs. */
static size_t word_slot(const row_set *s, uint64_t word, uint64_t hash) {
  const size_t mask = s->slot_count - 1;
  size_t at = (size_t)hash & mask;
  while (s->slots[at] != 0 && s->words[(uint32_t)s->slots[at] - 1] != word) {
    at = (at + 1) & mask;
  }
  return at;
}

static void add_word(row_set *s, struct adding *a, uint64_t word, size_t i) {
  const uint64_t hash = mix(word);
  const size_t at = word_slot(s, word, hash);
  if (s->slots[at] != 0) {
    a->numbers[i] = (uint32_t)s->slots[at] - 1;
    return;
  }
  s->words[s->count] = word;
  s->slots[at] = slot_of(hash, s->count);
  note_new(s, a, i);
}

static glv_status add_words(row_set *s, const array *column, size_t rows, struct adding *a,
                            glv_error *err) {
  TRY(vec_reserve(s->env, &s->words, &s->word_capacity, s->count + rows, sizeof *s->words, err));
  uint64_t *words = mem_alloc(s->env, rows * sizeof *words);
  if (words == NULL) {
    return error_nomem(err, rows * sizeof *words);
  }
  put_words(column, rows, words);
  const bool has_nulls = array_has_nulls(column);
  glv_status status = GLV_OK;
  for (size_t i = 0; i < rows; i++) {
    if ((s->count + 1) * 2 > s->slot_count) {
      status = grow_slots(s, 1, err);
      if (status != GLV_OK) {
        break;
      }
    }
    if (has_nulls && !array_is_valid(column, i)) {
      add_null(s, a, i);
    } else {
      add_word(s, a, words[i], i);
    }
  }
  mem_free(s->env, words);
  return status;
}

/* Room for the rows of a batch, in case all of them are new. */
static glv_status reserve_bytes(row_set *s, size_t rows, size_t bytes, glv_error *err) {
  const size_t used = s->count == 0 ? 0 : s->ends[s->count - 1];
  TRY(vec_reserve(s->env, &s->bytes, &s->byte_capacity, used + bytes, 1, err));
  TRY(vec_reserve(s->env, &s->hashes, &s->hash_capacity, s->count + rows, sizeof *s->hashes, err));
  return vec_reserve(s->env, &s->ends, &s->end_capacity, s->count + rows, sizeof *s->ends, err);
}

static void keep_bytes(row_set *s, str row, uint64_t hash) {
  const size_t begin = row_begin(s, s->count);
  memcpy(s->bytes + begin, row.data, row.size);
  s->ends[s->count] = begin + row.size;
  s->hashes[s->count] = hash;
}

/* As word_slot. */
static size_t bytes_slot(const row_set *s, str row, uint64_t hash) {
  const size_t mask = s->slot_count - 1;
  size_t at = (size_t)hash & mask;
  for (; s->slots[at] != 0; at = (at + 1) & mask) {
    const size_t known = (uint32_t)s->slots[at] - 1;
    if (s->slots[at] != slot_of(hash, known)) {
      continue;
    }
    const size_t begin = row_begin(s, known);
    if (s->ends[known] - begin == row.size && memcmp(s->bytes + begin, row.data, row.size) == 0) {
      break;
    }
  }
  return at;
}

static glv_status add_bytes(row_set *s, struct adding *a, str row, size_t i, glv_error *err) {
  TRY((s->count + 1) * 2 > s->slot_count ? grow_slots(s, 1, err) : GLV_OK);
  const uint64_t hash = hash_bytes(row.data, row.size);
  const size_t at = bytes_slot(s, row, hash);
  if (s->slots[at] != 0) {
    a->numbers[i] = (uint32_t)s->slots[at] - 1;
    return GLV_OK;
  }
  keep_bytes(s, row, hash);
  s->slots[at] = slot_of(hash, s->count);
  note_new(s, a, i);
  return GLV_OK;
}

static glv_status add_encoded(row_set *s, const array *columns, size_t count, size_t rows,
                              struct adding *a, glv_error *err) {
  struct encoded e = {0};
  glv_status status = encode(s->env, columns, count, rows, &e, err);
  if (status == GLV_OK) {
    status = reserve_bytes(s, rows, e.ends[rows - 1], err);
  }
  size_t begin = 0;
  for (size_t i = 0; i < rows && status == GLV_OK; i++) {
    const str row = str_slice((const char *)e.bytes + begin, e.ends[i] - begin);
    status = add_bytes(s, a, row, i, err);
    begin = e.ends[i];
  }
  encoded_dispose(s->env, &e);
  return status;
}

glv_status row_set_add(row_set *s, const array *columns, size_t count, size_t rows,
                       uint32_t *ret_numbers, uint32_t *ret_new, size_t *ret_new_count,
                       glv_error *err) {
  struct adding a = {ret_numbers, ret_new, 0};
  TRY(check_count(s, rows, err));
  if (rows != 0) {
    TRY(s->has_words ? add_words(s, columns, rows, &a, err)
                     : add_encoded(s, columns, count, rows, &a, err));
  }
  if (ret_new_count != NULL) {
    *ret_new_count = a.fresh_count;
  }
  return GLV_OK;
}

/* ---- looking up ---- */

/* The number of the row in a slot; of a free one UINT32_MAX, which is what 0 - 1 gives. */
static uint32_t number_in(const row_set *s, size_t at) { return (uint32_t)s->slots[at] - 1; }

static glv_status find_words(const row_set *s, const array *column, size_t rows, uint32_t *numbers,
                             glv_error *err) {
  uint64_t *words = mem_alloc(s->env, rows * sizeof *words);
  if (words == NULL) {
    return error_nomem(err, rows * sizeof *words);
  }
  put_words(column, rows, words);
  for (size_t i = 0; i < rows; i++) {
    numbers[i] = number_in(s, word_slot(s, words[i], mix(words[i])));
  }
  mem_free(s->env, words);
  if (array_has_nulls(column)) {
    for (size_t i = 0; i < rows; i++) {
      if (!array_is_valid(column, i)) {
        numbers[i] = s->null_row != SIZE_MAX ? (uint32_t)s->null_row : ROW_SET_NONE;
      }
    }
  }
  return GLV_OK;
}

static glv_status find_encoded(const row_set *s, const array *columns, size_t count, size_t rows,
                               uint32_t *numbers, glv_error *err) {
  struct encoded e = {0};
  const glv_status status = encode(s->env, columns, count, rows, &e, err);
  size_t begin = 0;
  for (size_t i = 0; i < rows && status == GLV_OK; i++) {
    const str row = str_slice((const char *)e.bytes + begin, e.ends[i] - begin);
    numbers[i] = number_in(s, bytes_slot(s, row, hash_bytes(row.data, row.size)));
    begin = e.ends[i];
  }
  encoded_dispose(s->env, &e);
  return status;
}

glv_status row_set_find(const row_set *s, const array *columns, size_t count, size_t rows,
                        uint32_t *ret_numbers, glv_error *err) {
  if (s->slot_count == 0) { /* nothing was added yet */
    for (size_t i = 0; i < rows; i++) {
      ret_numbers[i] = ROW_SET_NONE;
    }
    return GLV_OK;
  }
  if (rows == 0) {
    return GLV_OK;
  }
  return s->has_words ? find_words(s, columns, rows, ret_numbers, err)
                      : find_encoded(s, columns, count, rows, ret_numbers, err);
}

/* ---- hashes ---- */

glv_status row_hashes(glv_env *env, const array *columns, size_t count, size_t rows,
                      uint64_t *ret_hashes, glv_error *err) {
  if (rows == 0) {
    return GLV_OK;
  }
  struct encoded e = {0};
  const glv_status status = encode(env, columns, count, rows, &e, err);
  size_t begin = 0;
  for (size_t i = 0; i < rows && status == GLV_OK; i++) {
    ret_hashes[i] = hash_xx64(e.bytes + begin, e.ends[i] - begin, 0);
    begin = e.ends[i];
  }
  encoded_dispose(env, &e);
  return status;
}
