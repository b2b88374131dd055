/*
 * How a page of text is stored: as numbers of a dictionary, as codes of frequent pieces (FSST), or
 * as it is (docs/encodings.md).
 *
 * The dictionary is built over the whole page; FSST is judged by a sample. Where a dictionary is a
 * clear win nothing else is looked at; else the smaller of the two is taken. FSST leaves lengths
 * and places of values to the layouts, which see a page whose text happens to be shorter.
 */
#include "format/dictionary_build_private.h"
#include "format/fsst_private.h"
#include "format/page_write_private.h"

enum {
  SAMPLE_VALUES = 512,
  FSST_LEAST_BYTES = 32 << 10,
  FSST_LEAST_LENGTH = 5,
  CLEAR_WIN_PERCENT = 30, /* of plain text */
  DICTIONARY_PERCENT = 80,
  FSST_PERCENT = 90
};

/* A page of text and what is known about it. */
struct text_choice {
  const page_input *in;
  variable_measure measure;
  uint64_t plain;    /* bytes as it is, offsets included */
  fsst_coder *coder; /* NULL: no codes */
  uint64_t coded;    /* estimate with codes */
};

static void choice_dispose(struct text_choice *c) { mem_free(c->in->env, c->coder); }

/* ---- codes ---- */

/* Values spread evenly over a page, not more text than a sample may have. */
static size_t take_sample(const page_input *in, str *ret) {
  const size_t step = size_max(in->count / SAMPLE_VALUES, 1);
  size_t room = FSST_SAMPLE_BYTES;
  size_t count = 0;
  page_cursor c = page_cursor_at_start(in);
  size_t next = 0; /* value that is wanted */
  for (size_t seen = 0; seen < in->count && count < SAMPLE_VALUES && room != 0;) {
    const page_run *r;
    size_t row;
    const size_t here = page_cursor_span(&c, in->count - seen, &r, &row);
    for (; next < seen + here && count < SAMPLE_VALUES && room != 0; next += step) {
      const size_t i = row + next - seen;
      if (page_run_is_valid(r, i)) {
        const str text = page_run_text(r, in->leaf->offset_width, i);
        ret[count] = str_slice(text.data, size_min(text.size, room));
        room -= ret[count++].size;
      }
    }
    seen += here;
  }
  return count;
}

static glv_status look_at_codes(struct text_choice *c, glv_error *err) {
  const page_leaf *leaf = c->in->leaf;
  const bool may = type_is_string(leaf->type->kind) || leaf->text == TEXT_FSST;
  if (!may || leaf->text == TEXT_PLAIN || leaf->compression != COMPRESS_NONE ||
      c->measure.bytes < FSST_LEAST_BYTES || c->measure.longest < FSST_LEAST_LENGTH ||
      c->measure.bytes > INT32_MAX / 2) {
    return GLV_OK;
  }
  str sample[SAMPLE_VALUES];
  const size_t count = take_sample(c->in, sample);
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; i++) {
    bytes += sample[i].size;
  }
  uint64_t coded;
  TRY(fsst_train(c->in->env, sample, count, &c->coder, &coded, err));
  const uint64_t offsets = c->plain - c->measure.bytes;
  c->coded = c->measure.bytes / size_max(bytes, 1) * coded + offsets + FSST_TABLE_BYTES;
  if (bytes == 0 || c->coded > c->plain / 100 * FSST_PERCENT) {
    mem_free(c->in->env, c->coder);
    c->coder = NULL;
  }
  return GLV_OK;
}

/* Codes of the values of a run: *ret is that run with other text. */
static glv_status code_run(const page_input *in, const fsst_coder *coder, const page_run *from,
                           page_run *ret, glv_error *err) {
  const unsigned width = in->leaf->offset_width;
  buffer *offsets = NULL;
  buffer *text = NULL;
  *ret = *from;
  ret->kept = (array){0};
  memset(ret->owners, 0, sizeof ret->owners);
  uint64_t bytes = 0;
  if (from->count != 0) {
    bytes = page_run_offset(from, width, from->count) - page_run_offset(from, width, 0);
  }
  TRY(buffer_new(in->env, (from->count + 1) * width, &offsets, err));
  ret->owners[0] = offsets;
  TRY(buffer_new(in->env, (size_t)bytes * 2, &text, err));
  ret->owners[1] = text;
  const char *readable = (const char *)from->data + page_run_offset(from, width, from->count);
  uint64_t at = 0;
  memcpy(offsets->data, &at, width);
  for (size_t i = 0; i < from->count; i++) {
    if (page_run_is_valid(from, i)) {
      at += fsst_encode(coder, page_run_text(from, width, i), readable, text->data + at);
    }
    memcpy(offsets->data + (i + 1) * width, &at, width);
  }
  ret->values = offsets->data;
  ret->data = text->data;
  ret->is_null_empty = true;
  return GLV_OK;
}

/* A page like in whose text is coded. Its levels are borrowed; runs_dispose releases it. */
static glv_status code_page(const page_input *in, const fsst_coder *coder, page_input *ret,
                            glv_error *err) {
  *ret = *in;
  ret->run_count = 0;
  ret->runs = mem_calloc(in->env, in->run_count, sizeof *ret->runs);
  if (ret->runs == NULL) {
    return error_nomem(err, in->run_count * sizeof *ret->runs);
  }
  for (size_t i = 0; i < in->run_count; i++) {
    ret->run_count++;
    TRY(code_run(in, coder, &in->runs[i], &ret->runs[i], err));
  }
  return GLV_OK;
}

static void runs_dispose(page_input *in) {
  in->levels = (page_levels){0}; /* borrowed */
  page_input_dispose(in);
}

/* ---- layouts ---- */

static glv_status write_text(const page_input *in, encoding_message *values, page_output *out,
                             glv_error *err) {
  return page_is_zipped(in, variable_measure_page(in).longest)
             ? fullzip_write_variable(in, values, out, err)
             : variable_write(in, values, out, err);
}

static glv_status write_coded(const struct text_choice *c, page_output *out, glv_error *err) {
  CLEANUP(runs_dispose) page_input coded;
  TRY(code_page(c->in, c->coder, &coded, err));
  uint8_t *table = arena_alloc(&out->messages, FSST_TABLE_BYTES);
  if (table == NULL) {
    return error_nomem(err, FSST_TABLE_BYTES);
  }
  fsst_store(c->coder, table);
  const uint64_t offset_bits = (uint64_t)c->in->leaf->offset_width * 8;
  encoding_message *values = encoding_fsst(&out->messages, table, FSST_TABLE_BYTES,
                                           encoding_variable(&out->messages, offset_bits));
  return write_text(&coded, values, out, err);
}

static glv_status choose(struct text_choice *c, page_output *out, glv_error *err) {
  CLEANUP(dictionary_dispose) dictionary d = {.env = c->in->env};
  uint64_t size = UINT64_MAX;
  if (!c->in->levels.is_sparse) {
    TRY(dictionary_look(c->in, &d, &size, err));
  }
  const bool is_clear = size < c->plain / 100 * CLEAR_WIN_PERCENT;
  if (!is_clear) {
    TRY(look_at_codes(c, err));
  }
  if (is_clear ||
      (size < c->plain / 100 * DICTIONARY_PERCENT && (c->coder == NULL || size <= c->coded))) {
    return dictionary_write(c->in, &d, out, err);
  }
  dictionary_dispose(&d); /* the codes need the memory */
  d = (dictionary){.env = c->in->env};
  const uint64_t offset_bits = (uint64_t)c->in->leaf->offset_width * 8;
  return c->coder != NULL
             ? write_coded(c, out, err)
             : write_text(c->in, encoding_variable(&out->messages, offset_bits), out, err);
}

glv_status text_write(const page_input *in, page_output *out, glv_error *err) {
  CLEANUP(choice_dispose)
  struct text_choice c = {.in = in, .measure = variable_measure_page(in)};
  c.plain = c.measure.bytes + (uint64_t)in->leaf->offset_width * (in->count + 1);
  return choose(&c, out, err);
}
