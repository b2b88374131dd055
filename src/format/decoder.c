/*
 * Working memory and byte access of decoders. Nothing here is shared between threads.
 */
#include "format/decoder.h"

#include "base/checked.h"
#include "io/io.h"

/* Decoders may read a few bytes past what they need, but only up to here. */
enum { SLACK_BYTES = 64 };

void decoder_dispose(decoder *d) {
  scratch *const all[] = {&d->raw,  &d->plain,        &d->values, &d->numbers, &d->levels,
                          &d->reps, &d->value_levels, &d->picks,  &d->rows,    &d->tasks};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    mem_free(d->env, all[i]->data);
    *all[i] = (scratch){0};
  }
  general_context_dispose(&d->general);
}

glv_status decoder_reserve(decoder *d, scratch *s, size_t size, glv_error *err) {
  if (s->capacity >= size && s->data != NULL) {
    return GLV_OK;
  }
  size_t capacity;
  if (!size_add(size, size / 4 + SLACK_BYTES, &capacity)) {
    return error_nomem(err, size);
  }
  uint8_t *data = mem_alloc(d->env, capacity);
  if (data == NULL) {
    return error_nomem(err, capacity);
  }
  mem_free(d->env, s->data);
  s->data = data;
  s->capacity = capacity - SLACK_BYTES;
  return GLV_OK;
}

glv_status decoder_fetch(decoder *d, uint64_t offset, size_t size, span *ret, glv_error *err) {
  TRY(decoder_reserve(d, &d->raw, size, err));
  if (size != 0) {
    TRY(io_read_at(d->env, d->file, offset, d->raw.data, size, err));
  }
  *ret = span_of(d->raw.data, size);
  return GLV_OK;
}

glv_status decoder_decompress(decoder *d, general_scheme scheme, span in, span *ret,
                              glv_error *err) {
  size_t size;
  TRY(general_size(scheme, in, &size, err));
  TRY(decoder_reserve(d, &d->plain, size, err));
  TRY(general_decompress(&d->general, scheme, in, d->plain.data, size, err));
  *ret = span_of(d->plain.data, size);
  return GLV_OK;
}
