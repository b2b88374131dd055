/* Columns of texts that are made row by row. */
#include "expr/function_private.h"

static void writer_dispose(text_writer *w) {
  builder_dispose(&w->b);
  buf_dispose(&w->scratch);
}

glv_status function_text_rows(const function_frame *f, const operand *arguments, size_t rows,
                              text_row row, array *ret, glv_error *err) {
  CLEANUP(writer_dispose) text_writer w;
  builder_init(&w.b, f->env, f->binding->result);
  buf_init(&w.scratch, f->env, INT32_MAX);
  for (size_t i = 0; i < rows; i++) {
    if (!kernel_row_is_valid(arguments, f->binding->count, i)) {
      TRY(builder_append_null(&w.b, err));
    } else {
      buf_clear(&w.scratch);
      TRY(row(f, arguments, i, &w, err));
    }
  }
  return builder_finish(&w.b, ret, err);
}
