/* Dropping columns: a Project without them. A field goes with everything below it, and what it
 * stood in goes when nothing is left inside. */
#include "table/columns_private.h"

struct dropping {
  const str *paths;
  size_t count;
  const column_options *options;
};

static bool has_child_left(const schema_edit *e, size_t at) {
  for (size_t i = at + 1; i < edit_end(e, at); i++) {
    if (e->fields[i].parent == at && !e->fields[i].is_removed) {
      return true;
    }
  }
  return false;
}

static void remove_field(schema_edit *e, size_t at) {
  for (size_t i = at; i < edit_end(e, at); i++) {
    e->fields[i].is_removed = true;
  }
  const size_t parent = e->fields[at].parent;
  if (parent != SIZE_MAX && !has_child_left(e, parent)) {
    remove_field(e, parent); /* nesting is bounded (LIMIT_TYPE_DEPTH) */
  }
}

/* True when some file that the field has values in is older than version 2.2. */
static bool is_in_old_file(const schema_edit *e, size_t root) {
  const size_t end = edit_end(e, root);
  for (size_t i = 0; i < e->table->fragment_count; i++) {
    for (size_t k = root; k < end; k++) {
      uint32_t column;
      const data_file *f =
          fragment_find_field(&e->table->fragments[i], e->fields[k].message->id, &column);
      if (f != NULL && f->version < FORMAT_2_2) {
        return true;
      }
    }
  }
  return false;
}

/* What is left of a column has to be something that can be stored. The reference takes a list as a
 * whole where its files are older than 2.2; nobody who names one part means that. */
static glv_status check_rest(const schema_edit *e, size_t at, glv_error *err) {
  const size_t root = edit_root(e, at);
  const char *why = edit_is_fixed(e, at);
  if (e->fields[root].is_removed || root == at) {
    return GLV_OK;
  }
  if (why == NULL && strcmp(e->fields[root].message->logical_type, "struct") != 0 &&
      is_in_old_file(e, root)) {
    why = "files before version 2.2 keep the parts of a list together";
  }
  return why == NULL
             ? GLV_OK
             : FAIL(err, GLV_E_UNSUPPORTED,
                    "table '%s': '%s' cannot be dropped without column '%s': %s",
                    table_name(e->table), edit_path(e, at), e->fields[root].message->name, why);
}

static glv_status drop(void *context, const table_snapshot *base, table_snapshot **ret,
                       uint32_t *ret_attempts, glv_error *err) {
  const struct dropping *d = context;
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, table_env(base));
  schema_edit e;
  TRY(edit_begin(base, &a, &e, err));
  size_t *dropped = ARENA_ARRAY(&a, size_t, d->count);
  if (dropped == NULL) {
    return error_nomem(err, d->count * sizeof *dropped);
  }
  for (size_t i = 0; i < d->count; i++) {
    TRY(edit_find(&e, d->paths[i], &dropped[i], err));
  }
  for (size_t i = 0; i < d->count; i++) {
    TRY(columns_check_computed(&e, dropped[i], dropped, d->count, err));
    remove_field(&e, dropped[i]);
  }
  for (size_t i = 0; i < d->count; i++) {
    TRY(check_rest(&e, dropped[i], err));
  }
  const lance_schema *s;
  TRY(edit_finish(&e, &s, err));
  return columns_commit_project(base, s, true, d->options, ret, ret_attempts, err);
}

glv_status table_drop_columns(const table_snapshot *t, const str *paths, size_t count,
                              const column_options *options, table_snapshot **ret,
                              write_result *ret_result, glv_error *err) {
  static const column_options defaults = {0};
  struct dropping d = {paths, count, options != NULL ? options : &defaults};
  return columns_run(t, count, drop, &d, d.options, ret, ret_result, err);
}
