/*
 * Reading rows of fields (lance-file-format section 9): a window of rows, or a list of rows in it,
 * is mapped to the pages of each leaf, and each page fills its part of the result. Leaves of nested
 * fields keep their levels, too; the field is then put together from all of them.
 */
#include "base/limits.h"
#include "format/assemble.h"
#include "format/old_read.h"
#include "format/request.h"

static glv_status check_request(const file_reader *r, const read_request *q, glv_error *err) {
  bool ok = range_within(q->first, q->count, r->rows);
  for (size_t i = 0; ok && q->rows != NULL && i < q->selected; i++) {
    ok = q->rows[i] < q->count && (i == 0 || q->rows[i - 1] < q->rows[i]);
  }
  if (!ok) {
    return FAIL(err, GLV_E_INVALID_INPUT, "rows that file '%s' does not have, or not in order",
                r->name);
  }
  return GLV_OK;
}

/* Say where it happened; errors of memory and storage say enough. */
static glv_status name_place(const file_reader *r, const field *f, glv_status status,
                             glv_error *err) {
  if (status == GLV_E_CORRUPT || status == GLV_E_UNSUPPORTED) {
    return error_prefix(err, status, "file '%s', column '%s' of type %s: ", r->name, f->name,
                        TYPE_TEXT(f->type));
  }
  return status;
}

/* ---- leaves ---- */

static bool is_null_page(const page *p) {
  return p->kind == PAGE_CONSTANT && p->constant.all_null && p->levels.path.layer_count == 1;
}

/* Do the layers of a page agree with the type of the leaf? */
static glv_status check_page(const page *p, const leaf_path *path, glv_error *err) {
  const leaf_path *own = &p->levels.path;
  if (own->layer_count != path->layer_count || own->lists != path->lists) {
    return FAIL(err, GLV_E_CORRUPT, "a page with %u layers for a type with %u, or of another kind",
                own->layer_count, path->layer_count);
  }
  return GLV_OK;
}

/* Rows of which the whole field is null, whatever is inside of it. */
static glv_status add_nulls(const leaf_path *path, size_t rows, sink *s, glv_error *err) {
  const uint16_t code = (uint16_t)path_null_code(path, path->layer_count - 1);
  const uint16_t rep = (uint16_t)path_lists_below(path, path->layer_count);
  if (path->lists != 0) {
    TRY(level_list_reserve(s->levels, rows, err));
    for (size_t i = 0; i < rows; i++) {
      s->levels->rep[s->levels->count + i] = rep;
    }
    return level_list_repeat(s->levels, code, rows, err);
  }
  TRY(level_list_repeat(s->levels, code, rows, err));
  TRY(sink_grow(s, rows, err));
  TRY(sink_zeros(s, rows, err));
  sink_advance(s, rows);
  return GLV_OK;
}

static glv_status read_page(decoder *d, const page *p, const leaf_path *path, wanted w, sink *s,
                            glv_error *err) {
  if (is_null_page(p) && path->layer_count > 1) {
    return add_nulls(path, w.count, s, err);
  }
  TRY(check_page(p, path, err));
  TRY(page_read(d, p, &w, s, err));
  if (s->levels != NULL && path->lists == 0) { /* without a stream all levels are 0 */
    return level_list_repeat(s->levels, 0, s->filled - s->levels->count, err);
  }
  return GLV_OK;
}

static glv_status read_rows(file_reader *r, uint32_t column, const read_request *q,
                            const leaf_path *path, sink *s, glv_error *err) {
  CLEANUP(decoder_dispose) decoder d = {.env = r->env, .file = r->file};
  column_state *c = NULL;
  uint64_t rows = 0;
  TRY(reader_column(r, column, &c, err));
  if (!u64_mul(r->rows, path->per_slot, &rows) || c->starts[c->page_count] != rows) {
    return FAIL(err, GLV_E_CORRUPT, "the pages of column %u hold %llu rows, the file %llu", column,
                (unsigned long long)c->starts[c->page_count], (unsigned long long)r->rows);
  }
  const size_t total = request_rows(q);
  for (size_t done = 0; done < total;) {
    size_t number = 0;
    const wanted w = request_part(c, q, done, &number);
    CLEANUP(page_cleanup) page *p = NULL;
    TRY(reader_page(r, &d, c, number, &p, err));
    TRY(read_page(&d, p, path, w, s, err));
    done += w.count;
  }
  return GLV_OK;
}

static const leaf_path plain_path = {.layer_count = 1, .per_slot = 1};

/* A leaf that stands alone. */
static glv_status read_plain(file_reader *r, const field_place *place, const read_request *q,
                             array *ret, glv_error *err) {
  CLEANUP(sink_dispose) sink s;
  TRY(sink_init(&s, r->env, place->field, request_rows(q), err));
  TRY(read_rows(r, place->column, q, &plain_path, &s, err));
  return sink_finish(&s, ret, err);
}

/* The same rows as entries, of which a row of fixed_size_lists of structs has several. */
static glv_status to_entries(const read_request *q, size_t per_slot, arena *a, read_request *ret,
                             glv_error *err) {
  *ret = *q;
  if (per_slot == 1) {
    return GLV_OK;
  }
  if (q->count > UINT32_MAX / per_slot || !u64_mul(q->first, per_slot, &ret->first)) {
    return FAIL(err, GLV_E_LIMIT, "%llu rows of %zu structs are too many for one read",
                (unsigned long long)q->count, per_slot);
  }
  ret->count = q->count * per_slot;
  ret->selected = q->selected * per_slot;
  if (q->rows == NULL) {
    return GLV_OK;
  }
  uint32_t *entries = ARENA_ARRAY(a, uint32_t, ret->selected);
  if (entries == NULL) {
    return error_nomem(err, ret->selected * sizeof *entries);
  }
  for (size_t i = 0; i < ret->selected; i++) {
    entries[i] = (uint32_t)(q->rows[i / per_slot] * per_slot + i % per_slot);
  }
  ret->rows = entries;
  return GLV_OK;
}

static glv_status read_leaf(file_reader *r, leaf_data *l, const read_request *rows,
                            glv_error *err) {
  read_request q;
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, r->env);
  CLEANUP(sink_dispose) sink s = {0};
  l->levels = (level_list){.env = r->env, .has_rep = l->path.lists != 0};
  TRY(to_entries(rows, l->path.per_slot, &a, &q, err));
  TRY(sink_init(&s, r->env, l->place->field, request_rows(&q), err));
  s.levels = &l->levels;
  TRY(read_rows(r, l->place->column, &q, &l->path, &s, err));
  return sink_finish(&s, &l->values, err);
}

/* ---- nested fields ---- */

/* The leaves of a field that are read. */
typedef struct leaf_set {
  glv_env *env;
  leaf_data *leaves;
  size_t count;
  size_t capacity;
} leaf_set;

static void leaf_set_dispose(leaf_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    level_list_dispose(&set->leaves[i].levels);
    array_unref(&set->leaves[i].values);
  }
  mem_free(set->env, set->leaves);
}

/* The layers above a place, the outermost first. */
typedef struct way {
  unsigned depth;
  uint64_t lists; /* bit i: the i-th layer is a list */
  size_t per_slot;
} way;

static glv_status step(const field_place *place, way *w, glv_error *err) {
  const type *t = place->field->type;
  const bool is_list = t->kind == TYPE_LIST || t->kind == TYPE_LARGE_LIST || t->kind == TYPE_MAP;
  w->lists |= (uint64_t)is_list << w->depth;
  if (++w->depth >= LEVEL_LAYERS) {
    return FAIL(err, GLV_E_LIMIT, "the type is nested deeper than %d levels", LEVEL_LAYERS);
  }
  if (t->kind == TYPE_FIXED_SIZE_LIST &&
      (t->width < 1 || !size_mul(w->per_slot, (size_t)t->width, &w->per_slot))) {
    return FAIL(err, GLV_E_UNSUPPORTED, "lists of %d structs are not read; choose other columns",
                (int)t->width);
  }
  if (w->lists != 0 && w->per_slot != 1) {
    return FAIL(
        err, GLV_E_UNSUPPORTED,
        "fixed_size_lists of structs inside or around lists are not read; choose other columns");
  }
  return GLV_OK;
}

static glv_status add_leaf(leaf_set *set, const field_place *place, const way *w, glv_error *err) {
  TRY(vec_reserve(set->env, &set->leaves, &set->capacity, set->count + 1, sizeof *set->leaves,
                  err));
  leaf_path path = {.layer_count = w->depth + 1, .per_slot = w->per_slot};
  for (unsigned i = 0; i < w->depth; i++) {
    path.lists |= ((w->lists >> i) & 1) << (w->depth - i);
  }
  set->leaves[set->count++] = (leaf_data){.place = place, .path = path};
  return GLV_OK;
}

/* The first leaf below a place that has a column, if any, tells of the structure of what is wanted
 * but not there. */
static glv_status add_any(leaf_set *set, const field_place *place, way w, glv_error *err) {
  if (place->child_count == 0) {
    return place->column != COLUMN_NONE && !field_place_is_empty(place)
               ? add_leaf(set, place, &w, err)
               : GLV_OK;
  }
  const size_t before = set->count;
  TRY(step(place, &w, err));
  for (size_t i = 0; i < place->child_count && set->count == before; i++) {
    TRY(add_any(set, &place->children[i], w, err));
  }
  return GLV_OK;
}

static glv_status add_wanted(leaf_set *set, const field_place *place, way w, glv_error *err) {
  if (!place->is_wanted || field_place_is_empty(place)) {
    return GLV_OK;
  }
  if (place->child_count == 0) {
    return place->column != COLUMN_NONE ? add_leaf(set, place, &w, err) : GLV_OK;
  }
  const size_t before = set->count;
  const way here = w;
  TRY(step(place, &w, err));
  for (size_t i = 0; i < place->child_count; i++) { /* at most LIMIT_TYPE_DEPTH deep */
    TRY(add_wanted(set, &place->children[i], w, err));
  }
  return set->count == before ? add_any(set, place, here, err) : GLV_OK;
}

static glv_status read_nested(file_reader *r, const field_place *place, const read_request *q,
                              array *ret, glv_error *err) {
  CLEANUP(leaf_set_dispose) leaf_set set = {.env = r->env};
  TRY(add_wanted(&set, place, (way){.per_slot = 1}, err));
  for (size_t i = 0; i < set.count; i++) {
    TRY(read_leaf(r, &set.leaves[i], q, err));
  }
  return assemble(r->env, place, set.leaves, set.count, request_rows(q), ret, err);
}

glv_status file_reader_read_field(file_reader *r, const field_place *place, uint64_t first,
                                  uint64_t count, const uint32_t *rows, size_t selected, array *ret,
                                  glv_error *err) {
  const read_request q = {first, count, rows, selected};
  TRY(check_request(r, &q, err));
  const bool is_plain = place->child_count == 0 && place->is_wanted &&
                        place->column != COLUMN_NONE && !field_place_is_empty(place);
  const glv_status status = r->footer.version == FORMAT_2_0 ? old_read_field(r, place, &q, ret, err)
                            : is_plain                      ? read_plain(r, place, &q, ret, err)
                                                            : read_nested(r, place, &q, ret, err);
  return status == GLV_OK ? status : name_place(r, place->field, status, err);
}

glv_status file_reader_read(file_reader *r, uint32_t column, const field *f, uint64_t first,
                            uint64_t count, const uint32_t *rows, size_t selected, array *ret,
                            glv_error *err) {
  field_place places[LIMIT_TYPE_DEPTH];
  size_t depth = 0;
  places[0] = (field_place){.field = f, .column = COLUMN_NONE, .is_wanted = true};
  while (f->type != NULL && (f->type->kind == TYPE_LIST || f->type->kind == TYPE_LARGE_LIST) &&
         depth + 1 < LIMIT_TYPE_DEPTH) {
    f = &f->type->children[0];
    places[depth].children = &places[depth + 1];
    places[depth].child_count = 1;
    places[++depth] = (field_place){.field = f, .column = COLUMN_NONE, .is_wanted = true};
  }
  places[depth].column = column;
  for (size_t i = 0; r->footer.version == FORMAT_2_0 && i < depth && column >= depth; i++) {
    places[i].column = column - (uint32_t)(depth - i); /* lists come right before their items */
  }
  return file_reader_read_field(r, &places[0], first, count, rows, selected, ret, err);
}
