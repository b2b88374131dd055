/*
 * Reading fields of version 2.0 files. Every field owns a column, so a field is read from the top
 * down: structs add nothing to their children, lists tell which rows of their child columns hold
 * their items, leaves fill arrays page by page.
 */
#include "format/old_read.h"

#include "format/field_parts.h"
#include "format/old_list.h"
#include "format/old_page.h"

/* A column whose rows are read. */
typedef struct column_rows {
  file_reader *reader;
  column_state *column;
  const read_request *request;
} column_rows;

/* Gives one page, whose rows w are wanted, to the state. number: of the page in its column. */
typedef glv_status page_visit(void *state, decoder *d, const page *p, size_t number,
                              const wanted *w, glv_error *err);

static glv_status visit_pages(const column_rows *c, page_visit *visit, void *state,
                              glv_error *err) {
  CLEANUP(decoder_dispose) decoder d = {.env = c->reader->env, .file = c->reader->file};
  const size_t total = request_rows(c->request);
  for (size_t done = 0; done < total;) {
    size_t number = 0;
    const wanted w = request_part(c->column, c->request, done, &number);
    CLEANUP(page_cleanup) page *p = NULL;
    TRY(reader_page(c->reader, &d, c->column, number, &p, err));
    TRY(visit(state, &d, p, number, &w, err));
    done += w.count;
  }
  return GLV_OK;
}

/* The column of a place; rows: what its pages must hold. */
static glv_status open_column(file_reader *r, const field_place *place, uint64_t rows,
                              const read_request *q, column_rows *ret, glv_error *err) {
  column_state *c = NULL;
  TRY(reader_column(r, place->column, &c, err));
  if (c->starts[c->page_count] != rows) {
    return FAIL(err, GLV_E_CORRUPT, "the pages of column %u hold %llu rows instead of %llu",
                place->column, (unsigned long long)c->starts[c->page_count],
                (unsigned long long)rows);
  }
  *ret = (column_rows){r, c, q};
  return GLV_OK;
}

/* ---- leaves ---- */

static glv_status visit_plain(void *state, decoder *d, const page *p, size_t number,
                              const wanted *w, glv_error *err) {
  (void)number;
  return page_read(d, p, w, state, err);
}

static glv_status read_plain(const column_rows *c, const field *f, array *ret, glv_error *err) {
  CLEANUP(sink_dispose) sink s;
  TRY(sink_init(&s, c->reader->env, f, request_rows(c->request), err));
  TRY(visit_pages(c, visit_plain, &s, err));
  return sink_finish(&s, ret, err);
}

/* ---- nested fields ---- */

/* rows: of the columns, the whole file or the items of all lists above. */
static glv_status read_field(file_reader *r, const field_place *place, uint64_t rows,
                             const read_request *q, array *ret, glv_error *err);

static glv_status read_struct(file_reader *r, const field_place *place, uint64_t rows,
                              const read_request *q, array *ret, glv_error *err) {
  CLEANUP(array_unref) array a = {.type = place->field->type, .length = request_rows(q)};
  TRY(array_new_children(r->env, place->child_count, &a, err));
  for (size_t i = 0; i < place->child_count; i++) {
    TRY(read_field(r, &place->children[i], rows, q, &a.children[i], err));
  }
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

typedef struct list_visit {
  old_lists lists;
  const uint64_t *bases; /* first items of the pages */
} list_visit;

static void list_visit_dispose(list_visit *v) { old_lists_dispose(&v->lists); }

static glv_status visit_lists(void *state, decoder *d, const page *p, size_t number,
                              const wanted *w, glv_error *err) {
  list_visit *v = state;
  if (v->bases == NULL) {
    return FAIL(err, GLV_E_CORRUPT, "a page encoded as %s does not hold lists",
                old_encoding_name(p->old));
  }
  return old_lists_read(d, p->old, v->bases[number], w, &v->lists, err);
}

static glv_status read_list(file_reader *r, const field_place *place, uint64_t rows,
                            const read_request *q, array *ret, glv_error *err) {
  column_rows c;
  TRY(open_column(r, place, rows, q, &c, err));
  CLEANUP(list_visit_dispose) list_visit v = {.bases = c.column->items};
  CLEANUP(array_unref) array a = {0};
  read_request items;
  TRY(old_lists_init(&v.lists, r->env, place->field, request_rows(q), err));
  TRY(visit_pages(&c, visit_lists, &v, err));
  TRY(old_lists_items(&v.lists, &items, err));
  old_lists_finish(&v.lists, &a);
  TRY(array_new_children(r->env, 1, &a, err));
  const uint64_t all = v.bases != NULL ? v.bases[c.column->page_count] : 0;
  TRY(read_field(r, &place->children[0], all, &items, &a.children[0], err));
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status read_leaf(file_reader *r, const field_place *place, uint64_t rows,
                            const read_request *q, array *ret, glv_error *err) {
  column_rows c;
  TRY(open_column(r, place, rows, q, &c, err));
  return read_plain(&c, place->field, ret, err);
}

static glv_status read_field(file_reader *r, const field_place *place, uint64_t rows,
                             const read_request *q, array *ret, glv_error *err) {
  const type *t = place->field->type;
  const bool is_here = place->column != COLUMN_NONE;
  if (!place->is_wanted || (!is_here && !field_place_is_held(place))) {
    return array_new_null(r->env, t, request_rows(q), ret, err);
  }
  if (place->child_count == 0) {
    return read_leaf(r, place, rows, q, ret, err);
  }
  if (t->kind == TYPE_STRUCT) {
    return read_struct(r, place, rows, q, ret, err);
  }
  if (!is_here) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "the offsets of lists lie in another file than their items, which version 2.0 "
                "cannot store; rewrite the table with pylance");
  }
  if (t->kind == TYPE_LIST || t->kind == TYPE_LARGE_LIST) {
    return read_list(r, place, rows, q, ret, err);
  }
  return FAIL(err, GLV_E_CORRUPT, "columns of type %s do not exist in version 2.0", TYPE_TEXT(t));
}

glv_status old_read_field(file_reader *r, const field_place *place, const read_request *q,
                          array *ret, glv_error *err) {
  return read_field(r, place, r->rows, q, ret, err);
}
