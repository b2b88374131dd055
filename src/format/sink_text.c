/*
 * Text of a read. Its total size is not known in advance, so the buffer grows: the size that the
 * rows so far suggest for all rows is taken as the next capacity, which makes a second growth rare.
 * Every growth leaves SINK_SLACK bytes, so copies may write whole words.
 *
 * UTF-8 is checked where text enters (files are untrusted, and string functions rely on it): whole
 * pieces that are ASCII need one pass, others are looked at value by value.
 */
#include "base/limits.h"
#include "format/sink.h"

static int64_t text_end(const sink *s, size_t row) {
  return s->s.offset_width == 4 ? ((const int32_t *)(const void *)s->values->data)[row]
                                : ((const int64_t *)(const void *)s->values->data)[row];
}

/* A capacity of at least `need` bytes: what the rows so far suggest for all rows, and a good deal
 * more than now. */
static size_t project(const sink *s, size_t need) {
  size_t all = need / 8;
  if (s->filled != 0 && !size_mul(s->data_size / s->filled + 1, s->length, &all)) {
    all = need;
  }
  const size_t most = need < SIZE_MAX / 16 ? need * 8 : need;
  const size_t now = s->data != NULL ? s->data->size : 0;
  return size_max(size_max(need, now + now / 2), size_min(all + all / 16, most));
}

glv_status sink_text_reserve(sink *s, size_t more, glv_error *err) {
  size_t need;
  if (!size_add(s->data_size, more, &need) || (s->s.offset_width == 4 && need > INT32_MAX) ||
      need > SIZE_MAX / 2) {
    return FAIL(err, GLV_E_LIMIT,
                "column '%s': the text of one read does not fit into an array of type %s",
                s->f->name, TYPE_TEXT(s->f->type));
  }
  need += SINK_SLACK;
  if (s->data != NULL && s->data->size >= need) {
    return GLV_OK;
  }
  const size_t size = project(s, need);
  if (s->data == NULL) {
    return buffer_new(s->env, size, &s->data, err);
  }
  return buffer_resize(s->data, size, err);
}

bool text_is_ascii(const uint8_t *data, size_t size) {
  uint64_t all = 0;
  size_t i = 0;
  for (; size - i >= 32; i += 32) {
    all |= load_le64(data + i) | load_le64(data + i + 8) | load_le64(data + i + 16) |
           load_le64(data + i + 24);
  }
  for (; i < size; i++) {
    all |= data[i];
  }
  return (all & UINT64_C(0x8080808080808080)) == 0;
}

glv_status sink_text_check(sink *s, size_t from, size_t count, glv_error *err) {
  if (!s->s.is_utf8 || text_is_ascii(s->data->data + from, s->data_size - from)) {
    return GLV_OK;
  }
  const char *data = (const char *)s->data->data;
  for (size_t i = 0; i < count; i++) {
    const size_t start = (size_t)text_end(s, s->filled + i);
    const size_t end = (size_t)text_end(s, s->filled + i + 1);
    if (!str_is_utf8(str_slice(data + start, end - start)) && sink_is_valid(s, i)) {
      return FAIL(err, GLV_E_CORRUPT, "row %zu of the read is not UTF-8", s->filled + i);
    }
  }
  return GLV_OK;
}

/* Offsets of a run of values: those of the view, moved. */
#define DEFINE_MOVE(FROM, TO)                                                                      \
  static void move##FROM##to##TO(const uint8_t *restrict from, size_t count, uint64_t shift,       \
                                 uint8_t *restrict to) {                                           \
    for (size_t i = 0; i < count; i++) {                                                           \
      uint##FROM##_t offset;                                                                       \
      memcpy(&offset, from + i * sizeof offset, sizeof offset);                                    \
      const uint##TO##_t moved = (uint##TO##_t)((uint##TO##_t)offset + (uint##TO##_t)shift);       \
      memcpy(to + i * sizeof moved, &moved, sizeof moved);                                         \
    }                                                                                              \
  }
DEFINE_MOVE(32, 32)
DEFINE_MOVE(32, 64)
DEFINE_MOVE(64, 32)
DEFINE_MOVE(64, 64)

static void move_offsets(sink *s, const text_view *v, size_t first, size_t count, uint64_t shift) {
  const uint8_t *from = v->offsets + (first + 1) * v->offset_width;
  uint8_t *to = s->values->data + (s->filled + 1) * s->s.offset_width;
  if (v->offset_width == 4) {
    (s->s.offset_width == 4 ? move32to32 : move32to64)(from, count, shift, to);
  } else {
    (s->s.offset_width == 4 ? move64to32 : move64to64)(from, count, shift, to);
  }
}

/* Neighbouring plain values: one copy. */
static glv_status append_run(sink *s, const text_view *v, const wanted *w, glv_error *err) {
  TRY(text_check(v, w->first, w->count, err));
  const uint64_t start = text_offset(v, w->first);
  const size_t size = (size_t)(text_offset(v, w->first + w->count) - start);
  TRY(sink_text_reserve(s, size, err));
  memcpy(s->data->data + s->data_size, v->bytes.data + start, size);
  move_offsets(s, v, w->first, w->count, (uint64_t)s->data_size - start);
  s->data_size += size;
  return GLV_OK;
}

static glv_status append_rows(sink *s, const text_view *v, const wanted *w, glv_error *err) {
  for (size_t i = 0; i < w->count; i++) {
    span value = {0};
    TRY(text_value(v, wanted_row(w, i), &value, err));
    TRY(sink_text_reserve(s, value.size, err));
    memcpy(s->data->data + s->data_size, value.data, value.size);
    s->data_size += value.size;
    sink_text_end(s, i);
  }
  return GLV_OK;
}

static glv_status append_coded(sink *s, const text_view *v, const fsst_table *symbols,
                               const wanted *w, glv_error *err) {
  for (size_t i = 0; i < w->count; i++) {
    span code = {0};
    size_t size = 0;
    TRY(text_value(v, wanted_row(w, i), &code, err));
    TRY(sink_text_reserve(s, code.size * FSST_SYMBOL_BYTES, err));
    TRY(fsst_decode(symbols, code, s->data->data + s->data_size, &size, err));
    s->data_size += size;
    sink_text_end(s, i);
  }
  return GLV_OK;
}

/* How many values from `first` on have at most FSST_RUN_BYTES of code together. */
static size_t count_short(const text_view *v, size_t first, size_t count) {
  const uint64_t start = text_offset(v, first);
  if (text_offset(v, first + count) - start <= FSST_RUN_BYTES) {
    return count;
  }
  size_t n = 0;
  while (text_offset(v, first + n + 1) - start <= FSST_RUN_BYTES) {
    n++;
  }
  return n;
}

/* Ends of decoded values, from the positions in their common output. @return true when one of them
 * lies inside an escape. */
#define DEFINE_ENDS(TO)                                                                            \
  static bool put_ends##TO(text_view v, size_t first, size_t count, const uint32_t *positions,     \
                           size_t from, int##TO##_t *restrict ends) {                              \
    const uint64_t start = text_offset(&v, first);                                                 \
    bool inside = false;                                                                           \
    for (size_t i = 0; i < count; i++) {                                                           \
      const uint32_t end = positions[text_offset(&v, first + i + 1) - start];                      \
      inside |= end == FSST_INSIDE;                                                                \
      ends[i] = (int##TO##_t)(from + end);                                                         \
    }                                                                                              \
    return inside;                                                                                 \
  }
DEFINE_ENDS(32)
DEFINE_ENDS(64)

/* A few neighbouring coded values, `done` rows behind the last finished one. */
static glv_status append_short(sink *s, const text_view *v, const fsst_table *symbols, size_t first,
                               size_t count, size_t done, glv_error *err) {
  uint32_t positions[FSST_RUN_BYTES + 1];
  const uint64_t start = text_offset(v, first);
  const span code = span_of(v->bytes.data + start, (size_t)(text_offset(v, first + count) - start));
  TRY(sink_text_reserve(s, code.size * FSST_SYMBOL_BYTES, err));
  TRY(fsst_decode_run(symbols, code, s->data->data + s->data_size, positions, err));
  const size_t from = s->data_size;
  uint8_t *ends = s->values->data + (s->filled + done + 1) * s->s.offset_width;
  const bool inside = s->s.offset_width == 4
                          ? put_ends32(*v, first, count, positions, from, (int32_t *)(void *)ends)
                          : put_ends64(*v, first, count, positions, from, (int64_t *)(void *)ends);
  s->data_size = from + positions[code.size];
  return inside ? FAIL(err, GLV_E_CORRUPT, "fsst: a value ends inside an escape") : GLV_OK;
}

static glv_status append_coded_run(sink *s, const text_view *v, const fsst_table *symbols,
                                   const wanted *w, glv_error *err) {
  TRY(text_check(v, w->first, w->count, err));
  for (size_t i = 0; i < w->count;) {
    const size_t n = count_short(v, w->first + i, w->count - i);
    if (n != 0) {
      TRY(append_short(s, v, symbols, w->first + i, n, i, err));
      i += n;
      continue;
    }
    span code = {0};
    size_t size = 0;
    TRY(text_value(v, w->first + i, &code, err));
    TRY(sink_text_reserve(s, code.size * FSST_SYMBOL_BYTES, err));
    TRY(fsst_decode(symbols, code, s->data->data + s->data_size, &size, err));
    s->data_size += size;
    sink_text_end(s, i++);
  }
  return GLV_OK;
}

glv_status sink_text(sink *s, const text_view *v, const fsst_table *symbols, const wanted *w,
                     glv_error *err) {
  if (w->count == 0) {
    return GLV_OK;
  }
  TRY(sink_text_reserve(s, 0, err));
  const size_t from = s->data_size;
  if (symbols != NULL && symbols->is_on) {
    TRY(w->rows == NULL ? append_coded_run(s, v, symbols, w, err)
                        : append_coded(s, v, symbols, w, err));
  } else if (w->rows == NULL) {
    TRY(append_run(s, v, w, err));
  } else {
    TRY(append_rows(s, v, w, err));
  }
  return sink_text_check(s, from, w->count, err);
}
