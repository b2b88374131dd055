/*
 * Tables for people. The widths of the columns come from the first rows, which are kept until then;
 * later rows are printed with the same widths as they come, and a wider value then moves its line.
 * Control characters are shown as escapes, so that data cannot drive the terminal, and values are
 * cut at CELL_WIDTH places. A place is what a character takes on the screen: none for combining
 * marks, two for East Asian wide characters and pictures.
 */
#include "text/print.h"
#include "text/text.h"

enum { SAMPLE_ROWS = 1000, CELL_WIDTH = 60 };

typedef struct table {
  glv_env *env;
  text_output out;
  buf raw;
  buf cell;
  const schema *schema;
  size_t *widths;
  batch *sample;
  size_t sample_count;
  size_t sample_capacity;
  uint64_t rows;
} table;

typedef struct range {
  uint32_t first;
  uint32_t last;
} range;

static bool is_in(uint32_t c, const range *ranges, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (c >= ranges[i].first && c <= ranges[i].last) {
      return true;
    }
  }
  return false;
}

static size_t places(uint32_t c) {
  static const range none[] = {{0x300, 0x36F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                               {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
  static const range wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x4DBF},
                               {0x4E00, 0xA4CF},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
                               {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
                               {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
  if (c < 0x300) {
    return 1;
  }
  return is_in(c, none, sizeof none / sizeof none[0])   ? 0
         : is_in(c, wide, sizeof wide / sizeof wide[0]) ? 2
                                                        : 1;
}

/* The character at s[at], which is UTF-8; *ret_size bytes long. */
static uint32_t decode(str s, size_t at, size_t *ret_size) {
  const unsigned char *p = (const unsigned char *)s.data + at;
  const size_t size = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
  uint32_t c = size == 1 ? p[0] : p[0] & (0x7Fu >> size);
  *ret_size = size <= s.size - at ? size : 1;
  for (size_t i = 1; i < *ret_size; i++) {
    c = c << 6 | (p[i] & 0x3Fu);
  }
  return c;
}

/* Append a character as it is shown; returns its places in *ret. */
static glv_status show(buf *out, uint32_t c, str bytes, size_t *ret, glv_error *err) {
  static const char letters[] = "\aa\bb\tt\nn\vv\ff\rr\033e";
  if (c >= 0x20 && c != 0x7F && (c < 0x80 || c >= 0xA0)) {
    *ret = places(c);
    return buf_append_str(out, bytes, err);
  }
  for (size_t i = 0; i + 1 < sizeof letters; i += 2) {
    if ((uint32_t)letters[i] == c) {
      *ret = 2;
      return buf_printf(out, err, "\\%c", letters[i + 1]);
    }
  }
  *ret = 4;
  return buf_printf(out, err, "\\x%02x", c);
}

/* Text into t->cell; *ret_width places. */
static glv_status make_cell(table *t, str text, size_t *ret_width, glv_error *err) {
  size_t width = 0;
  size_t size;
  buf_clear(&t->cell);
  for (size_t at = 0; at < text.size; at += size) {
    size_t more;
    const size_t before = t->cell.size;
    const uint32_t c = decode(text, at, &size);
    TRY(show(&t->cell, c, str_slice(text.data + at, size), &more, err));
    if (width + more > CELL_WIDTH - (at + size < text.size ? 1 : 0)) {
      t->cell.size = before;
      *ret_width = width + 1;
      return buf_append_str(&t->cell, STR("…"), err);
    }
    width += more;
  }
  *ret_width = width;
  return GLV_OK;
}

static glv_status value_cell(table *t, const array *a, size_t row, size_t *ret_width,
                             glv_error *err) {
  if (a->type == NULL || !array_is_valid(a, row)) {
    return make_cell(t, STR("NULL"), ret_width, err);
  }
  buf_clear(&t->raw);
  TRY(print_plain(a, row, &t->raw, err));
  return make_cell(t, buf_str(&t->raw), ret_width, err);
}

static bool at_right(const table *t, size_t i) {
  return print_is_number(t->schema->fields[i].type);
}

/* The cell in column i, with what is around it. */
static glv_status put_cell(table *t, size_t i, size_t width, bool right, glv_error *err) {
  buf *out = &t->out.bytes;
  const size_t room = t->widths[i] > width ? t->widths[i] - width : 0;
  const bool is_last = i + 1 == t->schema->field_count;
  TRY(buf_append_str(out, i == 0 ? STR(" ") : STR(" | "), err));
  TRY(buf_append_fill(out, ' ', right ? room : 0, err));
  TRY(buf_append_str(out, buf_str(&t->cell), err));
  return buf_append_fill(out, ' ', right || is_last ? 0 : room, err);
}

static glv_status put_row(table *t, const batch *b, size_t row, glv_error *err) {
  size_t width;
  for (size_t i = 0; i < b->column_count; i++) {
    TRY(value_cell(t, &b->columns[i], row, &width, err));
    TRY(put_cell(t, i, width, at_right(t, i), err));
  }
  t->rows++;
  TRY(buf_append_char(&t->out.bytes, '\n', err));
  return text_output_flush(&t->out, false, err);
}

static glv_status measure(table *t, glv_error *err) {
  const schema *s = t->schema;
  size_t width;
  t->widths = mem_calloc(t->env, s->field_count, sizeof *t->widths);
  if (t->widths == NULL) {
    return error_nomem(err, s->field_count * sizeof *t->widths);
  }
  for (size_t i = 0; i < s->field_count; i++) {
    TRY(make_cell(t, str_of(s->fields[i].name), &t->widths[i], err));
    for (size_t k = 0; k < t->sample_count; k++) {
      for (size_t row = 0; row < size_min(t->sample[k].length, SAMPLE_ROWS); row++) {
        TRY(value_cell(t, &t->sample[k].columns[i], row, &width, err));
        t->widths[i] = size_max(t->widths[i], width);
      }
    }
  }
  return GLV_OK;
}

static glv_status put_head(table *t, glv_error *err) {
  const schema *s = t->schema;
  buf *out = &t->out.bytes;
  size_t width;
  for (size_t i = 0; i < s->field_count; i++) {
    TRY(make_cell(t, str_of(s->fields[i].name), &width, err));
    TRY(put_cell(t, i, width, at_right(t, i), err));
  }
  TRY(buf_append_char(out, '\n', err));
  for (size_t i = 0; i < s->field_count; i++) {
    TRY(i != 0 ? buf_append_char(out, '+', err) : GLV_OK);
    TRY(buf_append_fill(out, '-', t->widths[i] + 2, err));
  }
  return buf_append_char(out, '\n', err);
}

static glv_status take_sample(table *t, batch_reader *r, bool *ret_end, glv_error *err) {
  *ret_end = false;
  for (size_t rows = 0; rows < SAMPLE_ROWS;) {
    TRY(vec_reserve(t->env, &t->sample, &t->sample_capacity, t->sample_count + 1, sizeof(batch),
                    err));
    TRY(r->next(r->state, &t->sample[t->sample_count], ret_end, err));
    if (*ret_end) {
      return GLV_OK;
    }
    rows += t->sample[t->sample_count++].length;
  }
  return GLV_OK;
}

static glv_status each_row(void *context, const batch *b, size_t row, glv_error *err) {
  return put_row(context, b, row, err);
}

static glv_status write_all(table *t, batch_reader *r, glv_error *err) {
  bool end;
  t->schema = r->schema;
  TRY(take_sample(t, r, &end, err));
  TRY(measure(t, err));
  TRY(put_head(t, err));
  for (size_t k = 0; k < t->sample_count; k++) {
    for (size_t row = 0; row < t->sample[k].length; row++) {
      TRY(put_row(t, &t->sample[k], row, err));
    }
    batch_dispose(&t->sample[k]);
  }
  TRY(end ? GLV_OK : text_each_row(r, each_row, t, err));
  return text_output_flush(&t->out, true, err);
}

static void table_dispose(table *t) {
  for (size_t i = 0; i < t->sample_count; i++) {
    batch_dispose(&t->sample[i]);
  }
  mem_free(t->env, t->sample);
  mem_free(t->env, t->widths);
  text_output_dispose(&t->out);
  buf_dispose(&t->raw);
  buf_dispose(&t->cell);
}

glv_status table_write(glv_env *env, batch_reader *r, byte_sink sink, uint64_t *ret_rows,
                       glv_error *err) {
  CLEANUP(table_dispose) table t = {.env = env};
  text_output_init(&t.out, env, sink);
  buf_init(&t.raw, env, SIZE_MAX / 2);
  buf_init(&t.cell, env, SIZE_MAX / 2);
  TRY(write_all(&t, r, err));
  if (ret_rows != NULL) {
    *ret_rows = t.rows;
  }
  return GLV_OK;
}
