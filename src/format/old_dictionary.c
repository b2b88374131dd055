/*
 * Dictionaries of 2.0 pages. They are of two sorts: strings that the writer chose to store as
 * numbers, where 0 stands for null and the others begin at 1; and columns of a dictionary type,
 * whose indices are stored as they are, and whose values may be null.
 */
#include "arrow/bits.h"
#include "format/old_page.h"

/* What is loaded stays in memory with the page. */
enum { MAX_ENTRIES = 1 << 27 };

/* ---- loading ---- */

/* What the values look like while they are read: strings as binary, all others as bytes. */
static glv_status value_field(arena *a, const old_encoding *e, field *ret, glv_error *err) {
  *ret = (field){.name = "dictionary", .type = type_simple(TYPE_BINARY)};
  if (e->kind == OLD_FLAT || e->kind == OLD_PACKED || e->kind == OLD_STREAM) {
    if (e->bits % 8 != 0) {
      return FAIL(err, GLV_E_UNSUPPORTED, "dictionaries of values of %u bits are not supported",
                  e->bits);
    }
    ret->type = type_fixed_size_binary(a, (int32_t)(e->bits / 8));
  }
  return ret->type != NULL ? GLV_OK : error_nomem(err, sizeof(type));
}

static void *keep(arena *a, const void *data, size_t size, size_t slack, size_t *ret_bytes) {
  uint8_t *copy = size_add(size, slack, &slack) ? arena_alloc(a, slack) : NULL;
  if (copy != NULL && data != NULL) {
    memcpy(copy, data, size);
  }
  *ret_bytes += slack;
  return copy;
}

/* Move what the sink holds into the arena, one empty entry behind it. */
static glv_status keep_values(arena *a, const sink *s, dictionary *t, size_t *ret_bytes,
                              glv_error *err) {
  t->count = s->filled;
  if (s->s.kind != SHAPE_TEXT) {
    t->width = (unsigned)s->s.width;
    t->values = keep(a, s->values->data, t->count * t->width, t->width, ret_bytes);
    return t->values != NULL ? GLV_OK : error_nomem(err, t->count * t->width);
  }
  const size_t offsets_size = (s->filled + 1) * sizeof(uint32_t);
  uint32_t *offsets = keep(a, s->values->data, offsets_size, sizeof(uint32_t), ret_bytes);
  const uint8_t *data = s->data != NULL ? s->data->data : NULL;
  const uint8_t *bytes = keep(a, data, s->data_size, SINK_SLACK, ret_bytes);
  if (offsets == NULL || bytes == NULL) {
    return error_nomem(err, offsets_size + s->data_size);
  }
  offsets[s->filled + 1] = offsets[s->filled];
  t->text = (text_view){.offsets = (const uint8_t *)offsets,
                        .offset_width = sizeof(uint32_t),
                        .count = s->filled + 1,
                        .bytes = span_of(bytes, s->data_size)};
  return dictionary_check_utf8(t, err);
}

glv_status old_dictionary_load(decoder *d, arena *a, const old_encoding *values, old_encoding *e,
                               size_t *ret_bytes, glv_error *err) {
  if (values->kind == OLD_NULLS) {
    return GLV_OK;
  }
  if (e->items > MAX_ENTRIES) {
    return FAIL(err, GLV_E_LIMIT, "a dictionary of %llu values", (unsigned long long)e->items);
  }
  field f;
  TRY(value_field(a, values, &f, err));
  CLEANUP(sink_dispose) sink s;
  TRY(sink_init(&s, d->env, &f, (size_t)e->items, err)); /* 32 bits */
  TRY(old_page_read(d, values, e->items, &(wanted){.count = s.length}, &s, err));
  dictionary *t = ARENA_NEW(a, dictionary);
  if (t == NULL) {
    return error_nomem(err, sizeof *t);
  }
  TRY(keep_values(a, &s, t, ret_bytes, err));
  e->dictionary = t;
  if (s.validity != NULL) {
    e->item_validity = keep(a, s.validity->data, bits_size(s.length), 0, ret_bytes);
    return e->item_validity != NULL ? GLV_OK : error_nomem(err, bits_size(s.length));
  }
  return GLV_OK;
}

/* ---- reading ---- */

/* The wanted rows of a run as numbers of entries. */
typedef struct picks {
  uint32_t *numbers; /* of null rows: that of the empty entry */
  uint16_t *levels;  /* 1 = null */
  size_t count;
} picks;

static glv_status reserve(decoder *d, size_t count, picks *ret, glv_error *err) {
  TRY(decoder_reserve(d, &d->numbers, count * sizeof(uint32_t), err));
  TRY(decoder_reserve(d, &d->levels, count * sizeof(uint16_t), err));
  *ret = (picks){(uint32_t *)(void *)d->numbers.data, (uint16_t *)(void *)d->levels.data, count};
  return GLV_OK;
}

/* indices are those of all rows of the run; those below base stand for null, the others count from
 * there. */
static glv_status pick(const old_encoding *e, const uint64_t *indices, const uint8_t *validity,
                       const wanted *w, uint64_t base, picks *ret, glv_error *err) {
  for (size_t i = 0; i < w->count; i++) {
    const size_t row = wanted_row(w, i);
    const uint64_t number = indices[row] - base;
    bool is_null = indices[row] < base || (validity != NULL && !bit_get(validity, row));
    if (!is_null && number >= e->items) {
      return FAIL(err, GLV_E_CORRUPT, "index %llu of a dictionary of %llu values",
                  (unsigned long long)number, (unsigned long long)e->items);
    }
    is_null = is_null || (e->item_validity != NULL && !bit_get(e->item_validity, number));
    ret->numbers[i] = (uint32_t)(is_null ? e->items : number);
    ret->levels[i] = is_null;
  }
  return GLV_OK;
}

static glv_status read_picks(decoder *d, const old_encoding *e, const old_run *r, uint64_t base,
                             picks *ret, glv_error *err) {
  const old_encoding *validity = e->validity != NULL ? e->validity : e->ends->validity;
  if (validity != NULL) {
    TRY(old_bits(d, validity, r->first, r->count, &d->plain, err));
  }
  TRY(decoder_reserve(d, &d->tasks, r->count * sizeof(uint64_t), err));
  uint64_t *indices = (uint64_t *)(void *)d->tasks.data;
  TRY(old_numbers(d, e->ends, r->first, r->count, indices, err));
  TRY(reserve(d, r->rows.count, ret, err));
  return pick(e, indices, validity != NULL ? d->plain.data : NULL, &r->rows, base, ret, err);
}

glv_status old_dictionary_read(decoder *d, const old_encoding *e, const old_run *r, sink *s,
                               glv_error *err) {
  if (e->values->kind == OLD_NULLS) { /* of whatever type */
    TRY(sink_null_rows(s, r->rows.count, err));
    return sink_zeros(s, r->rows.count, err);
  }
  const bool is_typed = s->s.is_dictionary;
  if (is_typed && e->ends->bits != 8 * array_value_width(s->f->type)) {
    return FAIL(err, GLV_E_CORRUPT, "indices of %u bits for type %s", e->ends->bits,
                TYPE_TEXT(s->f->type));
  }
  picks p;
  TRY(read_picks(d, e, r, is_typed ? 0 : 1, &p, err));
  TRY(sink_nulls(s, p.levels, &(wanted){.count = p.count}, err));
  return is_typed ? sink_numbers(s, e->dictionary, p.numbers, p.count, err)
                  : dictionary_append(e->dictionary, p.numbers, p.count, s, err);
}
