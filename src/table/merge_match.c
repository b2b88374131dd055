/*
 * Which target rows match which source rows: one scan of the target's key columns probes the index
 * of the source. Keys with nulls match nothing, as `=` has it.
 */
#include "expr/cast.h"
#include "table/merge_private.h"
#include "table/table_private.h"

void merge_matches_dispose(merge_matches *m) {
  if (m->env != NULL) {
    mem_free(m->env, m->addresses);
    mem_free(m->env, m->rows);
    mem_free(m->env, m->is_matched);
  }
  row_marks_dispose(&m->matched);
  row_marks_dispose(&m->unmatched);
  *m = (merge_matches){0};
}

/* ---- reports ---- */

/* `name = value` of a key column; values of types that have no text are shown as their type. */
static glv_status put_key(const merge_plan *p, size_t k, const batch *b, size_t row, buf *out,
                          glv_error *err) {
  const array *keys = &b->columns[p->key_columns[k]];
  const type *t = keys->type;
  TRY(buf_printf(out, err, "%s%.*s = ", k > 0 ? ", " : "", STR_ARG(p->keys[k].name)));
  const uint32_t at = (uint32_t)row;
  array one = {0};
  array text = {0};
  TRY(array_take(p->source->env, keys, &at, 1, &one, err));
  const bool is_text = type_is_string(t->kind);
  glv_status status = GLV_E_SQL_PLAN;
  if (cast_is_supported(t, type_simple(TYPE_UTF8))) {
    status = cast_array(p->source->env, &one, type_simple(TYPE_UTF8), true, &text, NULL);
  }
  if (status == GLV_OK && array_is_valid(&text, 0)) {
    const char *quote = is_text ? "\"" : "";
    status = buf_printf(out, err, "%s%.*s%s", quote, STR_ARG(array_str(&text, 0)), quote);
  } else {
    status = buf_printf(out, err, "<%s>", TYPE_TEXT(t));
  }
  array_unref(&text);
  array_unref(&one);
  return status;
}

glv_status merge_fail_ambiguous(const merge_plan *p, uint32_t row, glv_error *err) {
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, p->source->env, SIZE_MAX / 2);
  size_t at;
  const batch *b = merge_source_batch(p->source, row, &at);
  for (size_t k = 0; k < p->key_count; k++) {
    TRY(put_key(p, k, b, at, &text, err));
  }
  return FAIL(err, GLV_E_INVALID_INPUT,
              "Ambiguous merge inserts are prohibited: multiple source rows match the same target "
              "row on (%.*s). Please ensure each target row is matched by at most one "
              "source row.",
              STR_ARG(buf_str(&text)));
}

/* ---- probing ---- */

static glv_status add_pair(merge_matches *m, uint64_t address, uint32_t row, glv_error *err) {
  TRY(vec_reserve(m->env, &m->addresses, &m->address_capacity, m->count + 1, sizeof *m->addresses,
                  err));
  TRY(vec_reserve(m->env, &m->rows, &m->row_capacity, m->count + 1, sizeof *m->rows, err));
  m->addresses[m->count] = address;
  m->rows[m->count++] = row;
  return GLV_OK;
}

/* A target row that has the key of `row` and the rows chained to it. With a condition more of them
 * may match than it lets through. */
static glv_status add_match(const merge_plan *p, merge_matches *m, uint64_t address, uint32_t row,
                            glv_error *err) {
  const merge_source *s = p->source;
  const bool updates = p->options->update_matched;
  if (updates && s->next[row] != NO_ROW && p->options->update_if.size == 0) {
    return merge_fail_ambiguous(p, row, err);
  }
  for (; row != NO_ROW; row = s->next[row]) {
    bit_set(m->is_matched, row);
    TRY(updates ? add_pair(m, address, row, err) : GLV_OK);
  }
  return GLV_OK;
}

static glv_status match_batch(const merge_plan *p, merge_matches *m, const batch *b, arena *a,
                              glv_error *err) {
  const merge_source *s = p->source;
  const uint64_t *addresses = ARRAY_VALUES(&b->columns[p->key_count], uint64_t);
  uint32_t *numbers = ARENA_ARRAY(a, uint32_t, b->length);
  uint64_t *rest = ARENA_ARRAY(a, uint64_t, b->length);
  size_t rest_count = 0;
  if (numbers == NULL || rest == NULL) {
    return error_nomem(err, b->length * sizeof *rest);
  }
  TRY(row_set_find(&s->keys, b->columns, p->key_count, b->length, numbers, err));
  for (size_t i = 0; i < b->length; i++) {
    if (numbers[i] == ROW_SET_NONE) {
      rest[rest_count++] = addresses[i];
    } else {
      TRY(add_match(p, m, addresses[i], s->first[numbers[i]], err));
    }
  }
  return p->options->delete_unmatched ? row_marks_add(&m->unmatched, rest, rest_count, err)
                                      : GLV_OK;
}

static glv_status probe(const merge_plan *p, merge_matches *m, batch_reader *r, glv_error *err) {
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, m->env);
  const arena_mark mark = arena_mark_get(&a);
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool at_end = false;
    TRY(r->next(r->state, &b, &at_end, err));
    if (at_end) {
      return GLV_OK;
    }
    TRY(match_batch(p, m, &b, &a, err));
    arena_reset_to(&a, mark);
  }
}

glv_status merge_match(const merge_plan *p, merge_matches *m, glv_error *err) {
  *m = (merge_matches){.env = p->source->env};
  m->is_matched = mem_calloc(m->env, p->source->rows / 8 + 1, 1);
  if (m->is_matched == NULL) {
    return error_nomem(err, p->source->rows / 8);
  }
  TRY(row_marks_init(&m->matched, p->memory, p->table, err));
  TRY(row_marks_init(&m->unmatched, p->memory, p->table, err));
  const scan_options scan = {.columns = p->keys,
                             .column_count = p->key_count,
                             .with_row_address = true,
                             .cancel = p->options->cancel};
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  TRY(table_scan(p->table, &scan, &r, err));
  TRY(probe(p, m, &r, err));
  TRY(p->options->update_if.size > 0 ? merge_where(p, m, err) : GLV_OK);
  return row_marks_add(&m->matched, m->addresses, m->count, err);
}
