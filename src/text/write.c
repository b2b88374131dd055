/* The CSV and JSON Lines writers. */
#include "base/json_canonical.h"
#include "text/print.h"
#include "text/text.h"

typedef struct writer {
  text_output out;
  buf cell;  /* CSV */
  buf names; /* JSON Lines: `{"a":`, `,"b":`, ... one after the other */
  size_t *name_ends;
  glv_env *env;
} writer;

static void writer_init(writer *w, glv_env *env, byte_sink sink) {
  *w = (writer){.env = env};
  text_output_init(&w->out, env, sink);
  buf_init(&w->cell, env, SIZE_MAX / 2);
  buf_init(&w->names, env, SIZE_MAX / 2);
}

static void writer_dispose(writer *w) {
  text_output_dispose(&w->out);
  buf_dispose(&w->cell);
  buf_dispose(&w->names);
  mem_free(w->env, w->name_ends);
}

static bool needs_quotes(str s) {
  for (size_t i = 0; i < s.size; i++) {
    const char c = s.data[i];
    if (c == ',' || c == '"' || c == '\n' || c == '\r') {
      return true;
    }
  }
  /* a text of the byte order mark would be skipped at the start of the file */
  return s.size == 0 || str_is(s, "NA") || str_starts_with(s, STR("\xEF\xBB\xBF"));
}

static glv_status put_field(buf *out, str s, glv_error *err) {
  if (!needs_quotes(s)) {
    return buf_append_str(out, s, err);
  }
  TRY(buf_append_char(out, '"', err));
  for (size_t i = 0; i < s.size; i++) {
    TRY(s.data[i] == '"' ? buf_append_char(out, '"', err) : GLV_OK);
    TRY(buf_append_char(out, s.data[i], err));
  }
  return buf_append_char(out, '"', err);
}

static bool is_null(const array *a, size_t row) {
  return a->type == NULL || !array_is_valid(a, row);
}

static glv_status csv_row(void *context, const batch *b, size_t row, glv_error *err) {
  writer *w = context;
  buf *out = &w->out.bytes;
  for (size_t i = 0; i < b->column_count; i++) {
    const array *a = &b->columns[i];
    TRY(i != 0 ? buf_append_char(out, ',', err) : GLV_OK);
    if (is_null(a, row)) {
      continue;
    }
    if (print_is_number(a->type) || a->type->kind == TYPE_BOOL) {
      TRY(print_plain(a, row, out, err));
    } else {
      buf_clear(&w->cell);
      TRY(print_plain(a, row, &w->cell, err));
      TRY(put_field(out, buf_str(&w->cell), err));
    }
  }
  TRY(buf_append_char(out, '\n', err));
  return text_output_flush(&w->out, false, err);
}

static glv_status csv_all(writer *w, batch_reader *r, glv_error *err) {
  for (size_t i = 0; i < r->schema->field_count; i++) {
    TRY(i != 0 ? buf_append_char(&w->out.bytes, ',', err) : GLV_OK);
    TRY(put_field(&w->out.bytes, str_of(r->schema->fields[i].name), err));
  }
  TRY(buf_append_char(&w->out.bytes, '\n', err));
  TRY(text_each_row(r, csv_row, w, err));
  return text_output_flush(&w->out, true, err);
}

glv_status csv_write(glv_env *env, batch_reader *r, byte_sink sink, glv_error *err) {
  CLEANUP(writer_dispose) writer w;
  writer_init(&w, env, sink);
  return csv_all(&w, r, err);
}

static glv_status make_names(writer *w, const schema *s, glv_error *err) {
  w->name_ends = mem_calloc(w->env, s->field_count, sizeof *w->name_ends);
  if (w->name_ends == NULL) {
    return error_nomem(err, s->field_count * sizeof *w->name_ends);
  }
  for (size_t i = 0; i < s->field_count; i++) {
    TRY(buf_append_char(&w->names, i == 0 ? '{' : ',', err));
    TRY(json_canonical_string(&w->names, str_of(s->fields[i].name), err));
    TRY(buf_append_char(&w->names, ':', err));
    w->name_ends[i] = w->names.size;
  }
  return GLV_OK;
}

static glv_status jsonl_row(void *context, const batch *b, size_t row, glv_error *err) {
  writer *w = context;
  buf *out = &w->out.bytes;
  size_t at = 0;
  for (size_t i = 0; i < b->column_count; i++) {
    TRY(buf_append(out, w->names.data + at, w->name_ends[i] - at, err));
    at = w->name_ends[i];
    TRY(is_null(&b->columns[i], row) ? buf_append_str(out, STR("null"), err)
                                     : text_print_json(&b->columns[i], row, out, err));
  }
  TRY(buf_append_str(out, b->column_count == 0 ? STR("{}\n") : STR("}\n"), err));
  return text_output_flush(&w->out, false, err);
}

glv_status jsonl_write(glv_env *env, batch_reader *r, byte_sink sink, glv_error *err) {
  CLEANUP(writer_dispose) writer w;
  writer_init(&w, env, sink);
  TRY(make_names(&w, r->schema, err));
  TRY(text_each_row(r, jsonl_row, &w, err));
  return text_output_flush(&w.out, true, err);
}
