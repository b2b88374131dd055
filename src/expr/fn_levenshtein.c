/* levenshtein: the least number of characters to insert, remove or replace (sql-expressions 13.2).
 *
 * The common beginning and end are left out; for the rest one row of the table of distances is
 * kept. Its cells are counted first, for two long texts would run for hours. */
#include "expr/function_private.h"
#include "expr/unicode.h"

/* Most cells for one pair of texts: two of 20,000 characters. */
#define CELLS_MAX UINT64_C(400000000)

/* The characters of both texts of a row and the row of distances; kept from row to row. */
typedef struct workspace {
  glv_env *env;
  uint32_t *a;
  size_t a_room;
  uint32_t *b;
  size_t b_room;
  uint32_t *distances;
  size_t distance_room;
} workspace;

static void workspace_dispose(workspace *w) {
  mem_free(w->env, w->a);
  mem_free(w->env, w->b);
  mem_free(w->env, w->distances);
}

/* Characters of text into *items, which has room for them. @return their number. */
static size_t decode(str text, uint32_t *items) {
  size_t count = 0;
  for (size_t at = 0; at < text.size;) {
    items[count++] = unicode_next(text, &at);
  }
  return count;
}

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t least = a < b ? a : b;
  return least < c ? least : c;
}

static uint32_t distance(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                         uint32_t *row) {
  for (size_t j = 0; j <= b_count; j++) {
    row[j] = (uint32_t)j;
  }
  for (size_t i = 0; i < a_count; i++) {
    uint32_t diagonal = row[0];
    row[0] = (uint32_t)i + 1;
    for (size_t j = 0; j < b_count; j++) {
      const uint32_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = min3(replaced, row[j] + 1, row[j + 1] + 1);
    }
  }
  return row[b_count];
}

static glv_status measure(workspace *w, str left, str right, uint32_t *ret, glv_error *err) {
  TRY(vec_reserve(w->env, &w->a, &w->a_room, left.size, sizeof *w->a, err));
  TRY(vec_reserve(w->env, &w->b, &w->b_room, right.size, sizeof *w->b, err));
  TRY(vec_reserve(w->env, &w->distances, &w->distance_room, right.size + 1, sizeof *w->distances,
                  err));
  size_t a_count = decode(left, w->a);
  size_t b_count = decode(right, w->b);
  size_t same = 0;
  while (a_count > 0 && b_count > 0 && w->a[a_count - 1] == w->b[b_count - 1]) {
    a_count--;
    b_count--;
  }
  while (same < a_count && same < b_count && w->a[same] == w->b[same]) {
    same++;
  }
  a_count -= same;
  b_count -= same;
  if (b_count != 0 && a_count > CELLS_MAX / b_count) {
    return FAIL(err, GLV_E_SQL_EXEC,
                "levenshtein: texts that differ in %zu and %zu characters take too long", a_count,
                b_count);
  }
  *ret = distance(w->a + same, a_count, w->b + same, b_count, w->distances);
  return GLV_OK;
}

static glv_status levenshtein(const function_frame *f, const operand *arguments, size_t rows,
                              array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {0};
  CLEANUP(workspace_dispose) workspace w = {.env = f->env};
  void *values;
  TRY(kernel_begin(f->env, f->binding->result, arguments, 2, rows, &a, &values, err));
  const bool wide = f->binding->result->kind == TYPE_INT64;
  for (size_t i = 0; i < rows; i++) {
    uint32_t value = 0;
    if (kernel_row_is_valid(arguments, 2, i)) {
      TRY(measure(&w, operand_str(&arguments[0], i), operand_str(&arguments[1], i), &value, err));
    }
    if (wide) {
      ((int64_t *)values)[i] = value;
    } else {
      ((int32_t *)values)[i] = (int32_t)value;
    }
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status bind_levenshtein(function_binding *b, glv_error *err) {
  TRY(bind_count(b, 2, 2, err));
  TRY(bind_strings(b, err));
  bool any_large = false;
  bool any_view = false;
  for (size_t i = 0; i < 2; i++) {
    any_large = any_large || b->targets[i]->kind == TYPE_LARGE_UTF8;
    any_view = any_view || b->targets[i]->kind == TYPE_UTF8_VIEW;
  }
  b->result = type_simple(any_large && !any_view ? TYPE_INT64 : TYPE_INT32);
  return GLV_OK;
}

const function functions_levenshtein[] = {
    {.name = "levenshtein", .bind = bind_levenshtein, .kernel = levenshtein},
    {0},
};
