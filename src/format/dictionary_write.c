/*
 * Dictionary pages of text (lance-file-format 11.4): the distinct values of the page in order of
 * appearance, and for every row the number of its value, packed.
 *
 * The dictionary is built over all rows in one pass, without an estimate from a sample: of values
 * that occur a few times each, a sample shows hardly one twice. The pass ends early once the values
 * turn out too many or too long.
 *
 * The table is open addressing with linear probing over 8-byte slots {hash, number}, so that a
 * cache line holds eight. Entries keep the first and the last eight bytes of a value, which decide
 * equality for values of up to 16 bytes without touching the text. Somebody who chooses values that
 * collide can only make us give up: the steps of probing are counted.
 */
#include "base/hash.h"
#include "format/bitpack_pack_private.h"
#include "format/page_write_private.h"

enum {
  FEWEST_ROWS = 100,
  MOST_ENTRIES = 1000000,
  MOST_TEXT = 8 << 20,
  FIRST_SLOTS = 1024,
  STEPS_PER_ROW = 16
};

struct slot {
  uint32_t hash;
  uint32_t number; /* of the entry, from 1 on; 0: free */
};

struct entry {
  uint64_t head; /* see load_ends */
  uint64_t tail;
  uint32_t begin; /* in the text */
  uint32_t size;
};

struct dictionary {
  glv_env *env;
  struct slot *slots;
  size_t slot_count; /* a power of two, more than twice the entries */
  struct entry *entries;
  size_t capacity;
  size_t count;
  size_t most; /* more entries than this are too many */
  buf text;
  uint32_t *numbers; /* of each row, from 0 on; 0 for nulls */
  uint64_t steps;    /* left for probing */
};

static void dictionary_dispose(struct dictionary *d) {
  mem_free(d->env, d->slots);
  mem_free(d->env, d->entries);
  mem_free(d->env, d->numbers);
  buf_dispose(&d->text);
}

static glv_status dictionary_init(const page_input *in, struct dictionary *d, glv_error *err) {
  *d = (struct dictionary){.env = in->env, .slot_count = FIRST_SLOTS};
  buf_init(&d->text, in->env, MOST_TEXT + 1);
  d->most = size_min(in->rows / 2, MOST_ENTRIES);
  d->steps = (uint64_t)in->rows * STEPS_PER_ROW;
  d->slots = mem_calloc(in->env, d->slot_count, sizeof *d->slots);
  d->numbers = mem_calloc(in->env, in->rows, sizeof *d->numbers);
  if (d->slots == NULL || d->numbers == NULL) {
    return error_nomem(err, in->rows * sizeof *d->numbers);
  }
  return GLV_OK;
}

/* The first and the last eight bytes; for shorter values something that no other value of the same
 * size has. */
static inline void load_ends(const char *text, size_t size, uint64_t *head, uint64_t *tail) {
  if (size >= 8) {
    *head = load_le64(text);
    *tail = load_le64(text + size - 8);
  } else if (size >= 4) {
    *head = load_le32(text) | (uint64_t)load_le32(text + size - 4) << 32;
    *tail = 0;
  } else {
    const uint8_t *bytes = (const uint8_t *)text;
    *head =
        size == 0 ? 0 : bytes[0] | (uint64_t)bytes[size / 2] << 8 | (uint64_t)bytes[size - 1] << 16;
    *tail = 0;
  }
}

/* Short values differ in few bits, so every step spreads what the one before gathered: the upper
 * half of a product depends on all bits of its factor, the lower half does not. */
static inline uint32_t hash_of(str value, uint64_t head, uint64_t tail) {
  if (value.size > 16) {
    return (uint32_t)(hash_bytes(value.data, value.size) >> 32);
  }
  uint64_t h = (head + value.size) * UINT64_C(0x9E3779B97F4A7C15);
  h = (h >> 32 | h << 32) + tail * UINT64_C(0xC2B2AE3D27D4EB4F);
  h = (h ^ h >> 29) * UINT64_C(0xD6E8FEB86659FD93);
  return (uint32_t)(h >> 32);
}

static inline bool is_entry(const struct dictionary *d, const struct entry *e, str value,
                            uint64_t head, uint64_t tail) {
  return e->head == head && e->tail == tail && e->size == value.size &&
         (value.size <= 16 || memcmp(d->text.data + e->begin, value.data, value.size) == 0);
}

static glv_status grow(struct dictionary *d, glv_error *err) {
  const size_t count = d->slot_count * 2;
  struct slot *slots = mem_calloc(d->env, count, sizeof *slots);
  if (slots == NULL) {
    return error_nomem(err, count * sizeof *slots);
  }
  for (size_t i = 0; i < d->slot_count; i++) {
    if (d->slots[i].number != 0) {
      size_t at = d->slots[i].hash & (count - 1);
      while (slots[at].number != 0) {
        at = (at + 1) & (count - 1);
      }
      slots[at] = d->slots[i];
    }
  }
  mem_free(d->env, d->slots);
  d->slots = slots;
  d->slot_count = count;
  return GLV_OK;
}

/* A new entry for a value that belongs into the free slot `at`. */
static glv_status add(struct dictionary *d, size_t at, const struct entry *e, str value,
                      uint32_t hash, glv_error *err) {
  TRY(vec_reserve(d->env, &d->entries, &d->capacity, d->count + 1, sizeof *d->entries, err));
  TRY(buf_append_str(&d->text, value, err));
  d->entries[d->count++] = *e;
  d->slots[at] = (struct slot){hash, (uint32_t)d->count};
  return d->count * 2 >= d->slot_count ? grow(d, err) : GLV_OK;
}

/* True while another value of that size would still be within the limits. */
static bool has_room(const struct dictionary *d, size_t size) {
  return d->count < d->most && size <= MOST_TEXT - d->text.size;
}

/* *ret_fits becomes false when the value is one too many. */
static glv_status look_up(struct dictionary *d, str value, uint32_t *ret, bool *ret_fits,
                          glv_error *err) {
  uint64_t head;
  uint64_t tail;
  load_ends(value.data, value.size, &head, &tail);
  const uint32_t hash = hash_of(value, head, tail);
  size_t at = hash & (d->slot_count - 1);
  while (d->slots[at].number != 0) {
    if (d->slots[at].hash == hash &&
        is_entry(d, &d->entries[d->slots[at].number - 1], value, head, tail)) {
      *ret = d->slots[at].number - 1;
      return GLV_OK;
    }
    at = (at + 1) & (d->slot_count - 1);
    if (d->steps-- == 0) {
      *ret_fits = false;
      return GLV_OK;
    }
  }
  *ret_fits = has_room(d, value.size);
  if (!*ret_fits) {
    return GLV_OK;
  }
  *ret = (uint32_t)d->count;
  const struct entry e = {head, tail, (uint32_t)d->text.size, (uint32_t)value.size};
  return add(d, at, &e, value, hash, err);
}

static glv_status build(const page_input *in, struct dictionary *d, bool *ret_fits,
                        glv_error *err) {
  uint32_t *number = d->numbers;
  *ret_fits = true;
  for (size_t i = 0; i < in->run_count; i++) {
    const page_run *r = &in->runs[i];
    for (size_t row = 0; row < r->rows; row++, number++) {
      if (!page_run_is_valid(r, row)) {
        continue;
      }
      const str value = page_run_text(r, in->leaf->offset_width, row);
      TRY(look_up(d, value, number, ret_fits, err));
      if (!*ret_fits) {
        return GLV_OK;
      }
    }
  }
  return GLV_OK;
}

/* ---- the block ----------------------------------------------------------------------------- */

static size_t block_size(const struct dictionary *d, unsigned offset_width) {
  return (size_t)offset_width * (2 + d->count + 1) + d->text.size;
}

static void put_number(char *at, unsigned offset_width, uint64_t value) {
  memcpy(at, &value, offset_width);
}

/* Bits of an offset, where the text begins, offsets from 0 on, text. */
static glv_status make_block(const struct dictionary *d, unsigned offset_width, buf *out,
                             glv_error *err) {
  TRY(buf_reserve(out, block_size(d, offset_width), err));
  out->size = block_size(d, offset_width);
  put_number(out->data, offset_width, (uint64_t)offset_width * 8);
  put_number(out->data + offset_width, offset_width, (uint64_t)offset_width * (2 + d->count + 1));
  char *offsets = out->data + (size_t)2 * offset_width;
  for (size_t i = 0; i < d->count; i++) {
    put_number(offsets + i * offset_width, offset_width, d->entries[i].begin);
  }
  put_number(offsets + d->count * offset_width, offset_width, d->text.size);
  memcpy(offsets + (d->count + 1) * offset_width, d->text.data, d->text.size);
  return GLV_OK;
}

/* Replaces the block by its compressed form when that saves a tenth. */
static glv_status squeeze(buf *block, bool *ret_done, glv_error *err) {
  const size_t room = compress_bound(COMPRESS_LZ4, block->size);
  CLEANUP(buf_dispose) buf squeezed;
  buf_init(&squeezed, block->env, room);
  TRY(buf_reserve(&squeezed, room, err));
  TRY(compress_write(COMPRESS_LZ4, 0, block->data, block->size, squeezed.data, room, &squeezed.size,
                     err));
  *ret_done = squeezed.size <= block->size - block->size / 10;
  if (*ret_done) {
    const buf plain = *block;
    *block = squeezed;
    squeezed = plain;
  }
  return GLV_OK;
}

/* ---- the page ------------------------------------------------------------------------------ */

static unsigned number_bits(size_t count) { return count <= 256 ? 8 : count <= 65536 ? 16 : 32; }

/* Upper bound of the bytes of the numbers of all rows. */
static uint64_t numbers_size(const struct dictionary *d, size_t rows) {
  const unsigned bits = number_bits(d->count);
  const uint64_t groups = (rows + BITPACK_GROUP - 1) / BITPACK_GROUP;
  const uint64_t packed = groups * (bits / 8 + bitpack_size(bitpack_width(d->count - 1)));
  return u64_min(packed, (uint64_t)rows * (bits / 8));
}

static bool pays(const struct dictionary *d, const page_input *in, uint64_t text_bytes) {
  const unsigned offset_width = in->leaf->offset_width;
  const uint64_t plain = text_bytes + (uint64_t)offset_width * (in->rows + 1);
  return (block_size(d, offset_width) + numbers_size(d, in->rows)) * 5 < plain * 4;
}

static glv_status write_page(const page_input *in, struct dictionary *d, page_output *out,
                             glv_error *err) {
  const unsigned offset_width = in->leaf->offset_width;
  CLEANUP(buf_dispose) buf block;
  buf_init(&block, in->env, SIZE_MAX / 2);
  TRY(make_block(d, offset_width, &block, err));
  mini_page m = {.in = in, .dictionary_items = d->count};
  m.dictionary = encoding_variable(&out->messages, (uint64_t)offset_width * 8);
  bool is_squeezed;
  TRY(squeeze(&block, &is_squeezed, err));
  if (is_squeezed) {
    m.dictionary = encoding_general(&out->messages, COMPRESS_LZ4, m.dictionary);
  }
  if (m.dictionary == NULL) {
    return error_nomem(err, sizeof *m.dictionary);
  }
  m.dictionary_block = buf_str(&block);
  const unsigned bits = number_bits(d->count);
  value_source numbers = {.numbers = d->numbers, .bits = bits, .width = bits / 8};
  return fixed_write_values(&m, &numbers, true, out, err);
}

glv_status dictionary_try(const page_input *in, uint64_t text_bytes, page_output *out,
                          bool *ret_done, glv_error *err) {
  *ret_done = false;
  if (in->rows < FEWEST_ROWS) {
    return GLV_OK;
  }
  CLEANUP(dictionary_dispose) struct dictionary d;
  TRY(dictionary_init(in, &d, err));
  bool fits;
  TRY(build(in, &d, &fits, err));
  if (!fits || !pays(&d, in, text_bytes)) {
    return GLV_OK;
  }
  *ret_done = true;
  mem_free(d.env, d.slots);
  d.slots = NULL;
  return write_page(in, &d, out, err);
}
