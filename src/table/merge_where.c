/*
 * The condition of updates: an expression over two structs, `source` and `target`, evaluated over
 * the pairs that match. It is planned twice: over all columns, to learn which of them it reads, and
 * over those alone, which are then the only ones to be fetched.
 */
#include "table/merge_private.h"
#include "table/table_private.h"

enum side { SOURCE, TARGET, SIDES };
static const char *const side_names[SIDES] = {"source", "target"};

/* Columns of a side that the condition reads. */
typedef struct chosen {
  const field *fields;
  size_t *columns; /* source: their positions there */
  size_t count;
} chosen;

typedef struct update_condition {
  const merge_plan *plan;
  arena *memory;
  chosen sides[SIDES];
  schema *scope;
  expr *e;
} update_condition;

static void where_dispose(update_condition *c) {
  expr_free(c->e);
  schema_unref(c->scope);
}

/* ---- planning ---- */

/* Plans the text over the chosen columns. */
static glv_status plan_text(update_condition *c, glv_error *err) {
  field fields[SIDES];
  for (size_t i = 0; i < SIDES; i++) {
    fields[i] = (field){.name = side_names[i],
                        .type = type_struct(c->memory, c->sides[i].fields, c->sides[i].count)};
    if (fields[i].type == NULL) {
      return error_nomem(err, c->sides[i].count * sizeof(field));
    }
  }
  TRY(schema_new(c->plan->source->env, fields, SIDES, (metadata){0}, &c->scope, err));
  const expr_scope scope = {c->scope, SIZE_MAX};
  return expr_plan_filter(c->plan->source->env, c->plan->options->update_if, &scope,
                          c->plan->options->expr_flags, &c->e, err);
}

/* Whether a path, such as "source.a.b", reads a column of a side, perhaps with others. */
static bool reads(const char *path, const char *side, const char *column) {
  const size_t size = strlen(side);
  if (strncmp(path, side, size) != 0 || (path[size] != '.' && path[size] != '\0')) {
    return false;
  }
  const char *rest = path + size;
  const size_t name = strlen(column);
  return rest[0] == '\0' || (strncmp(rest + 1, column, name) == 0 &&
                             (rest[1 + name] == '.' || rest[1 + name] == '\0'));
}

/* Keeps of a side what the planned text reads. */
static glv_status reduce(update_condition *c, enum side side, glv_error *err) {
  chosen *all = &c->sides[side];
  field *fields = ARENA_ARRAY(c->memory, field, all->count);
  size_t *columns = ARENA_ARRAY(c->memory, size_t, all->count);
  if (fields == NULL || columns == NULL) {
    return error_nomem(err, all->count * sizeof *fields);
  }
  size_t path_count;
  size_t kept = 0;
  const char *const *paths = expr_paths(c->e, &path_count);
  for (size_t i = 0; i < all->count; i++) {
    bool is_read = false;
    for (size_t k = 0; k < path_count && !is_read; k++) {
      is_read = reads(paths[k], side_names[side], all->fields[i].name);
    }
    fields[kept] = all->fields[i];
    columns[kept] = all->columns[i];
    kept += is_read;
  }
  *all = (chosen){fields, columns, kept};
  return GLV_OK;
}

static glv_status choose_all(update_condition *c, glv_error *err) {
  const schema *target = table_schema(c->plan->table);
  field *fields = ARENA_ARRAY(c->memory, field, target->field_count);
  size_t *from = ARENA_ARRAY(c->memory, size_t, target->field_count);
  size_t *to = ARENA_ARRAY(c->memory, size_t, target->field_count);
  if (fields == NULL || from == NULL || to == NULL) {
    return error_nomem(err, target->field_count * sizeof *fields);
  }
  c->sides[TARGET] = (chosen){target->fields, to, target->field_count};
  chosen *source = &c->sides[SOURCE];
  for (size_t i = 0; i < target->field_count; i++) {
    to[i] = i;
    if (c->plan->positions[i] != SIZE_MAX) {
      fields[source->count] = target->fields[i];
      from[source->count++] = c->plan->positions[i];
    }
  }
  source->fields = fields;
  source->columns = from;
  return GLV_OK;
}

static glv_status plan_condition(update_condition *c, glv_error *err) {
  TRY(choose_all(c, err));
  TRY(plan_text(c, err));
  TRY(reduce(c, SOURCE, err));
  TRY(reduce(c, TARGET, err));
  expr_free(c->e);
  schema_unref(c->scope);
  c->e = NULL;
  c->scope = NULL;
  return plan_text(c, err);
}

/* ---- evaluation ---- */

/* A struct without nulls of `count` children that are to be filled in. */
static glv_status new_struct(const update_condition *c, enum side side, size_t length, array *ret,
                             glv_error *err) {
  *ret = (array){.type = c->scope->fields[side].type, .length = length};
  return array_new_children(c->plan->source->env, c->sides[side].count, ret, err);
}

/* The pairs whose target rows stand in batch b, the next `count` ones; places: of their target rows
 * in the batch. */
static glv_status make_pairs(const update_condition *c, const batch *b, const uint32_t *rows,
                             const uint32_t *places, size_t count, batch *ret, glv_error *err) {
  glv_env *env = c->plan->source->env;
  TRY(batch_new(env, c->scope, count, SIDES, ret, err));
  array *source = &ret->columns[SOURCE];
  array *target = &ret->columns[TARGET];
  TRY(new_struct(c, SOURCE, count, source, err));
  TRY(new_struct(c, TARGET, count, target, err));
  TRY(merge_source_take(c->plan->source, c->sides[SOURCE].columns, c->sides[SOURCE].count, rows,
                        count, source->children, err));
  for (size_t i = 0; i < source->child_count; i++) {
    source->children[i].type = source->type->children[i].type;
  }
  for (size_t i = 0; i < target->child_count; i++) {
    TRY(array_take(env, &b->columns[i], places, count, &target->children[i], err));
    target->children[i].type = target->type->children[i].type;
  }
  return GLV_OK;
}

/* Evaluates the pairs of a batch from *at on, and moves those kept to *kept. */
static glv_status filter_batch(const update_condition *c, merge_matches *m, const batch *b,
                               size_t *at, size_t *kept, glv_error *err) {
  const uint64_t *addresses = ARRAY_VALUES(&b->columns[b->column_count - 1], uint64_t);
  size_t end = *at;
  for (size_t i = 0; i < b->length; i++) {
    while (end < m->count && m->addresses[end] == addresses[i]) {
      end++;
    }
  }
  const size_t count = end - *at;
  uint32_t *places = ARENA_ARRAY(c->memory, uint32_t, count);
  uint32_t *chosen_rows = ARENA_ARRAY(c->memory, uint32_t, count);
  if (places == NULL || chosen_rows == NULL) {
    return error_nomem(err, count * sizeof *places);
  }
  uint32_t place = 0;
  for (size_t k = 0; k < count; k++) {
    place += m->addresses[*at + k] != addresses[place];
    places[k] = place;
  }
  CLEANUP(batch_dispose) batch pairs = {0};
  TRY(make_pairs(c, b, m->rows + *at, places, count, &pairs, err));
  size_t chosen_count;
  const selection all = {NULL, count};
  TRY(expr_select(c->e, &pairs, all, chosen_rows, &chosen_count, err));
  for (size_t k = 0; k < chosen_count; k++, ++*kept) {
    m->addresses[*kept] = m->addresses[*at + chosen_rows[k]];
    m->rows[*kept] = m->rows[*at + chosen_rows[k]];
  }
  *at = end;
  return GLV_OK;
}

static glv_status filter_pairs(const update_condition *c, merge_matches *m, batch_reader *r,
                               glv_error *err) {
  size_t at = 0;
  size_t kept = 0;
  const arena_mark mark = arena_mark_get(c->memory);
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool at_end = false;
    TRY(r->next(r->state, &b, &at_end, err));
    if (at_end) {
      break;
    }
    TRY(filter_batch(c, m, &b, &at, &kept, err));
    arena_reset_to(c->memory, mark);
  }
  m->count = kept;
  for (size_t i = 1; i < kept; i++) {
    if (m->addresses[i] == m->addresses[i - 1]) {
      return merge_fail_ambiguous(c->plan, m->rows[i], err);
    }
  }
  return GLV_OK;
}

/* The target rows of the pairs, with the columns that the condition reads. */
static glv_status scan_targets(update_condition *c, const merge_matches *m, row_marks *marks,
                               batch_reader *ret, glv_error *err) {
  const chosen *side = &c->sides[TARGET];
  scan_column *columns = ARENA_ARRAY(c->memory, scan_column, side->count + 1);
  uint64_t *once = ARENA_ARRAY(c->memory, uint64_t, m->count);
  if (columns == NULL || once == NULL) {
    return error_nomem(err, m->count * sizeof *once);
  }
  for (size_t i = 0; i < side->count; i++) {
    columns[i].name = str_of(side->fields[i].name);
  }
  size_t count = 0;
  for (size_t i = 0; i < m->count; i++) {
    if (i == 0 || m->addresses[i] != m->addresses[i - 1]) {
      once[count++] = m->addresses[i];
    }
  }
  TRY(row_marks_init(marks, c->memory, c->plan->table, err));
  TRY(row_marks_add(marks, once, count, err));
  scan_options scan = {.columns = columns,
                       .column_count = side->count,
                       .with_row_address = true,
                       .cancel = c->plan->options->cancel};
  TRY(row_marks_fragments(marks, c->memory, &scan.fragments, &scan.fragment_count, err));
  return table_scan(c->plan->table, &scan, ret, err);
}

glv_status merge_where(const merge_plan *p, merge_matches *m, glv_error *err) {
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, p->source->env);
  CLEANUP(where_dispose) update_condition c = {.plan = p, .memory = &a};
  TRY(plan_condition(&c, err));
  CLEANUP(row_marks_dispose) row_marks marks = {0};
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  TRY(scan_targets(&c, m, &marks, &r, err));
  return filter_pairs(&c, m, &r, err);
}
