/*
 * Rows as one JSON document of texts, for programs that show them. It is made in memory, so the
 * number of rows and the bytes are bounded; what is left of the reader is not read, but for one row
 * that tells whether there is more.
 */
#include "base/json_canonical.h"
#include "text/print.h"
#include "text/text.h"

typedef struct cells {
  buf *out;
  buf cell;
  size_t start; /* of the document in out */
  size_t max_bytes;
  uint64_t max_rows;
  uint64_t rows;
  bool more;
} cells;

static glv_status put_columns(cells *c, const schema *s, glv_error *err) {
  TRY(buf_append_str(c->out, STR("{\"columns\":["), err));
  for (size_t i = 0; i < s->field_count; i++) {
    TRY(buf_append_str(c->out, i == 0 ? STR("{\"name\":") : STR(",{\"name\":"), err));
    TRY(json_canonical_string(c->out, str_of(s->fields[i].name), err));
    TRY(buf_append_str(c->out, STR(",\"type\":"), err));
    buf_clear(&c->cell);
    TRY(type_print(s->fields[i].type, &c->cell, err));
    TRY(json_canonical_string(c->out, buf_str(&c->cell), err));
    TRY(buf_append_char(c->out, '}', err));
  }
  return buf_append_str(c->out, STR("],\"rows\":["), err);
}

static glv_status put_cell(cells *c, const array *a, size_t row, glv_error *err) {
  if (a->type == NULL || !array_is_valid(a, row)) {
    return buf_append_str(c->out, STR("null"), err);
  }
  buf_clear(&c->cell);
  TRY(print_plain(a, row, &c->cell, err));
  return json_canonical_string(c->out, buf_str(&c->cell), err);
}

static bool is_full(const cells *c) {
  return c->rows >= c->max_rows || c->out->size - c->start >= c->max_bytes;
}

static glv_status put_rows(cells *c, const batch *b, glv_error *err) {
  for (size_t row = 0; row < b->length; row++) {
    if (is_full(c)) {
      c->more = true;
      return GLV_OK;
    }
    TRY(buf_append_str(c->out, c->rows == 0 ? STR("[") : STR(",["), err));
    for (size_t i = 0; i < b->column_count; i++) {
      TRY(i != 0 ? buf_append_char(c->out, ',', err) : GLV_OK);
      TRY(put_cell(c, &b->columns[i], row, err));
    }
    TRY(buf_append_char(c->out, ']', err));
    c->rows++;
  }
  return GLV_OK;
}

static glv_status put_document(cells *c, batch_reader *r, glv_error *err) {
  TRY(put_columns(c, r->schema, err));
  for (bool end = false; !end && !c->more;) {
    CLEANUP(batch_dispose) batch b = {0};
    TRY(r->next(r->state, &b, &end, err));
    TRY(end ? GLV_OK : put_rows(c, &b, err));
  }
  return buf_append_str(c->out, c->more ? STR("],\"more\":true}") : STR("],\"more\":false}"), err);
}

glv_status cells_write(batch_reader *r, uint64_t max_rows, size_t max_bytes, buf *out,
                       uint64_t *ret_rows, glv_error *err) {
  cells c = {.out = out, .start = out->size, .max_bytes = max_bytes, .max_rows = max_rows};
  buf_init(&c.cell, out->env, SIZE_MAX / 2);
  const glv_status status = put_document(&c, r, err);
  buf_dispose(&c.cell);
  if (status == GLV_OK && ret_rows != NULL) {
    *ret_rows = c.rows;
  }
  return status;
}
