/*
 * Dictionaries of mini-block pages. A dictionary is decoded once when its page is loaded, into one
 * of two forms: fixed-width values, or text with offsets of 32 bits. Both have one entry more than
 * the file: the number `count` is an empty value, which null rows refer to, so the loops that
 * gather need no test. Text is followed by slack, so that short strings are copied as one 16-byte
 * word whatever their length.
 */
#include "arrow/bits.h"
#include "base/limits.h"
#include "format/fixed.h"
#include "format/page.h"

enum { COPY_WORD = 16 };

static glv_status load_fixed(decoder *d, arena *a, const codec *c, span in, dictionary *t,
                             glv_error *err) {
  const unsigned bits = fixed_bits(c);
  if (bits != 1 && (bits == 0 || bits % 8 != 0 || bits > 8 * 64)) {
    return codec_refuse(c, "dictionary", err);
  }
  t->is_bits = bits == 1;
  t->width = bits / 8;
  const size_t room = fixed_room((size_t)t->count + 1, bits);
  if (room > LIMIT_BLOCK_BYTES) {
    return FAIL(err, GLV_E_CORRUPT, "a dictionary of %llu values of %u bits",
                (unsigned long long)t->count, bits);
  }
  uint8_t *values = arena_alloc(a, room);
  if (values == NULL) {
    return error_nomem(err, room);
  }
  TRY(fixed_block(d, c, in, (size_t)t->count, bits, values, err));
  if (t->is_bits) {
    bit_put(values, (size_t)t->count, false);
  } else {
    memset(values + (size_t)t->count * t->width, 0, t->width);
  }
  t->values = values;
  return GLV_OK;
}

glv_status dictionary_check_utf8(dictionary *t, glv_error *err) {
  const text_view *v = &t->text;
  t->is_utf8 = true;
  if (text_is_ascii(v->bytes.data, v->bytes.size)) {
    return GLV_OK;
  }
  for (size_t i = 0; t->is_utf8 && i < v->count; i++) {
    span value = {0};
    TRY(text_value(v, i, &value, err));
    t->is_utf8 = str_is_utf8(str_slice((const char *)value.data, value.size));
  }
  return GLV_OK;
}

static glv_status load_text(arena *a, span in, dictionary *t, glv_error *err) {
  text_view v = {0};
  TRY(text_of_block(in, (size_t)t->count, &v, err));
  TRY(text_check(&v, 0, v.count, err));
  if (v.bytes.size > INT32_MAX) {
    return FAIL(err, GLV_E_CORRUPT, "a dictionary of %zu bytes of text", v.bytes.size);
  }
  uint32_t *offsets = ARENA_ARRAY(a, uint32_t, v.count + 2);
  uint8_t *bytes = arena_alloc(a, v.bytes.size + SINK_SLACK);
  if (offsets == NULL || bytes == NULL) {
    return error_nomem(err, v.bytes.size);
  }
  memcpy(bytes, v.bytes.data, v.bytes.size);
  for (size_t i = 0; i <= v.count; i++) {
    offsets[i] = (uint32_t)text_offset(&v, i);
  }
  offsets[v.count + 1] = offsets[v.count];
  t->text = (text_view){.offsets = (const uint8_t *)offsets,
                        .offset_width = 4,
                        .count = v.count + 1,
                        .bytes = span_of(bytes, v.bytes.size)};
  return dictionary_check_utf8(t, err);
}

glv_status dictionary_load(decoder *d, arena *a, const codec *c, extent where, uint64_t count,
                           const dictionary **ret, glv_error *err) {
  size_t size = 0;
  if (!to_size(where.size, &size) || count >= UINT32_MAX) {
    return FAIL(err, GLV_E_CORRUPT, "a dictionary of %llu entries in %llu bytes",
                (unsigned long long)count, (unsigned long long)where.size);
  }
  dictionary *t = ARENA_NEW(a, dictionary);
  if (t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  t->count = count;
  span in = {0};
  TRY(decoder_fetch(d, where.offset, size, &in, err));
  const bool is_text =
      c->kind == CODEC_VARIABLE || (c->kind == CODEC_GENERAL && c->inner->kind == CODEC_VARIABLE);
  if (is_text) {
    if (c->kind == CODEC_GENERAL) {
      TRY(decoder_decompress(d, c->scheme, in, &in, err));
    }
    TRY(load_text(a, in, t, err));
  } else {
    TRY(load_fixed(d, a, c, in, t, err));
  }
  *ret = t;
  return GLV_OK;
}

static size_t text_total(const uint32_t *offsets, const uint32_t *numbers, size_t count) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++) {
    total += offsets[numbers[i] + 1] - offsets[numbers[i]];
  }
  return total;
}

#define DEFINE_COPY(T)                                                                             \
  static size_t copy_text##T(const uint32_t *restrict offsets, const uint8_t *restrict bytes,      \
                             const uint32_t *restrict numbers, size_t count, size_t at,            \
                             uint8_t *restrict to, int##T##_t *restrict ends) {                    \
    for (size_t i = 0; i < count; i++) {                                                           \
      const uint8_t *from = bytes + offsets[numbers[i]];                                           \
      const size_t size = offsets[numbers[i] + 1] - offsets[numbers[i]];                           \
      memcpy(to + at, from, COPY_WORD);                                                            \
      if (size > COPY_WORD) {                                                                      \
        memcpy(to + at + COPY_WORD, from + COPY_WORD, size - COPY_WORD);                           \
      }                                                                                            \
      at += size;                                                                                  \
      ends[i] = (int##T##_t)at;                                                                    \
    }                                                                                              \
    return at;                                                                                     \
  }
DEFINE_COPY(32)
DEFINE_COPY(64)

static glv_status append_text(const dictionary *t, const uint32_t *numbers, size_t count, sink *s,
                              glv_error *err) {
  const uint32_t *offsets = (const uint32_t *)(const void *)t->text.offsets;
  const size_t from = s->data_size;
  TRY(sink_text_reserve(s, text_total(offsets, numbers, count), err));
  uint8_t *ends = s->values->data + (s->filled + 1) * s->s.offset_width;
  if (s->s.offset_width == 4) {
    s->data_size = copy_text32(offsets, t->text.bytes.data, numbers, count, from, s->data->data,
                               (int32_t *)(void *)ends);
  } else {
    s->data_size = copy_text64(offsets, t->text.bytes.data, numbers, count, from, s->data->data,
                               (int64_t *)(void *)ends);
  }
  return t->is_utf8 ? GLV_OK : sink_text_check(s, from, count, err);
}

glv_status dictionary_append(const dictionary *t, const uint32_t *numbers, size_t count, sink *s,
                             glv_error *err) {
  if (t->is_bits != (s->s.kind == SHAPE_BITS)) {
    return FAIL(err, GLV_E_CORRUPT, "a dictionary of other values than type %s",
                TYPE_TEXT(s->f->type));
  }
  if (t->width == 0 && !t->is_bits) {
    if (s->s.kind != SHAPE_TEXT) {
      return FAIL(err, GLV_E_CORRUPT, "a dictionary of text for type %s", TYPE_TEXT(s->f->type));
    }
    return append_text(t, numbers, count, s, err);
  }
  if (!t->is_bits && (s->s.kind != SHAPE_FIXED || s->s.width * s->s.row_leaves != t->width)) {
    return FAIL(err, GLV_E_CORRUPT, "a dictionary of values of %u bytes for type %s", t->width,
                TYPE_TEXT(s->f->type));
  }
  sink_fixed(s, t->values, &(wanted){.count = count, .rows = numbers});
  return GLV_OK;
}

glv_status dictionary_values(glv_env *env, const dictionary *t, const field *f, array *ret,
                             glv_error *err) {
  const size_t count = (size_t)t->count;
  CLEANUP(sink_dispose) sink s;
  TRY(sink_init(&s, env, f, count, err));
  uint32_t *numbers = mem_alloc(env, (count + 1) * sizeof *numbers);
  if (numbers == NULL) {
    return error_nomem(err, count * sizeof *numbers);
  }
  for (uint32_t i = 0; i < count; i++) {
    numbers[i] = i;
  }
  const glv_status status = dictionary_append(t, numbers, count, &s, err);
  mem_free(env, numbers);
  TRY(status);
  sink_advance(&s, count);
  return sink_finish(&s, ret, err);
}
