/* glaive view: materialized views. */
#include <string.h>

#include "cli/cli.h"

/* ---- create ---- */

/* One --select: an assignment, or a column by its name, which may stand in double quotes. */
static bool projection_of(cli *c, const char *text, glv_pair *ret) {
  glv_id id;
  if (!cli_assignment(c, text, &ret->name, &ret->value)) {
    return false;
  }
  if (ret->name != NULL) {
    return true;
  }
  *ret = (glv_pair){text, NULL};
  if (text[0] != '"') {
    return true;
  }
  if (!cli_name(c, text, &id)) {
    return false;
  }
  ret->name = id.parts[0];
  return id.count == 1 ||
         error_set(&c->error, GLV_E_INVALID_INPUT, "--select %s is not one column", text) == GLV_OK;
}

static bool projections_of(cli *c, const option_value *given, glv_pairs *ret) {
  glv_pair *pairs = ARENA_ARRAY(&c->memory, glv_pair, given->count);
  if (pairs == NULL) {
    error_nomem(&c->error, given->count * sizeof *pairs);
    return false;
  }
  for (size_t i = 0; i < given->count; i++) {
    if (!projection_of(c, given->items[i], &pairs[i])) {
      return false;
    }
  }
  *ret = (glv_pairs){pairs, given->count};
  return true;
}

/* Fill def from the options; @return -1, or an exit code. */
static int read_definition(cli *c, glv_view_def *def) {
  const char *form = cli_value(c, "stored-form");
  def->query = cli_value(c, "as");
  const bool parts = cli_flag(c, "source") || cli_flag(c, "select") || cli_flag(c, "where") ||
                     cli_flag(c, "limit");
  if ((def->query != NULL) == parts) {
    return cli_usage(c, "give either --as \"SELECT ...\" or --source TABLE with its parts");
  }
  if (form != NULL && strcmp(form, "select") != 0 && strcmp(form, "query") != 0) {
    return cli_usage(c, "--stored-form takes select or query, not '%s'", form);
  }
  def->stored_form = form == NULL     ? GLV_STORED_DEFAULT
                     : form[0] == 's' ? GLV_STORED_SELECT
                                      : GLV_STORED_QUERY;
  if (def->query != NULL) {
    return -1;
  }
  if (!cli_flag(c, "source")) {
    return cli_usage(c, "--source TABLE is missing");
  }
  glv_id source;
  if (!cli_name(c, cli_value(c, "source"), &source) ||
      !projections_of(c, cli_option(c, "select"), &def->projections)) {
    return cli_failed(c);
  }
  if (source.count == 0) {
    return cli_usage(c, "--source takes a table name");
  }
  def->source_table = source.parts[source.count - 1];
  def->source_namespace = (glv_strs){source.parts, source.count - 1};
  def->filter = cli_value(c, "where");
  if (cli_flag(c, "limit")) {
    def->flags |= GLV_VIEW_DEF_LIMIT;
    return cli_number(c, "limit", &def->limit) ? -1 : EXIT_USAGE;
  }
  return -1;
}

static int create(cli *c) {
  glv_id id;
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  glv_view_options options = GLV_OPTIONS(glv_view_options);
  if (!cli_name(c, c->arguments[0], &id)) {
    return cli_failed(c);
  }
  const int done = read_definition(c, &def);
  if (done >= 0) {
    return done;
  }
  options.flags = cli_flag(c, "with-no-data") ? GLV_VIEW_NO_DATA : 0;
  glv_view *view = NULL;
  progress p;
  if (!cli_connect(c)) {
    return cli_failed(c);
  }
  progress_start(c, &p, "filling the view");
  const glv_status status = glv_view_create(c->conn, id, &def, &options, &view, &c->error);
  progress_end(&p);
  if (status != GLV_OK) {
    return cli_failed(c);
  }
  uint64_t rows = 0;
  const glv_status counted = glv_table_count(glv_view_table(view), NULL, NULL, &rows, &c->error);
  glv_view_free(view);
  if (counted != GLV_OK) {
    return cli_failed(c);
  }
  if (!c->json) {
    printf("created view %s with %s rows\n", cli_name_text(c, id), cli_count(c, rows));
    return EXIT_DONE;
  }
  json *o = js_new_object();
  if ((js_put(o, "created", js_new_string(str_of(cli_name_text(c, id))), &c->error) |
       js_put(o, "rows", js_new_int((int64_t)rows), &c->error)) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

/* ---- list and describe ---- */

/* One entry of `view list --json`; NULL = no memory. */
static json *entry_json(cli *c, const glv_list *list, size_t i) {
  const glv_id id = glv_list_id(list, i);
  const char *form = glv_list_form(list, i);
  json *o = js_new_object();
  const glv_id name = {id.parts + (id.count - 1), 1};
  glv_status status = js_put(o, "name", js_new_string(str_of(cli_name_text(c, name))), NULL);
  status |= js_put(o, "namespace",
                   js_new_string(str_of(cli_name_text(c, (glv_id){id.parts, id.count - 1}))), NULL);
  status |= js_put(o, "form", form != NULL ? js_new_string(str_of(form)) : js_new_null(), NULL);
  status |= js_put(o, "state", js_new_string(str_of(glv_list_state(list, i))), NULL);
  if (status != GLV_OK) {
    js_free(o);
    return NULL;
  }
  return o;
}

struct all_views {
  json *array;        /* --json */
  const char **cells; /* else */
  size_t rows;
};

static bool add_page(cli *c, const glv_list *list, struct all_views *all) {
  const size_t count = glv_list_count(list);
  if (c->json) {
    for (size_t i = 0; i < count; i++) {
      if (js_push(all->array, entry_json(c, list, i), &c->error) != GLV_OK) {
        return false;
      }
    }
    return true;
  }
  const char **cells = ARENA_ARRAY(&c->memory, const char *, (all->rows + count) * 3);
  if (cells == NULL) {
    return error_nomem(&c->error, 0) == GLV_OK;
  }
  for (size_t i = 0; i < all->rows * 3; i++) {
    cells[i] = all->cells[i];
  }
  for (size_t i = 0; i < count; i++) {
    const char *form = glv_list_form(list, i);
    const char **row = &cells[(all->rows + i) * 3];
    row[0] = cli_name_text(c, glv_list_id(list, i));
    row[1] = form != NULL ? arena_strdup(&c->memory, str_of(form)) : NULL;
    row[2] = arena_strdup(&c->memory, str_of(glv_list_state(list, i)));
    if (row[2] == NULL || (form != NULL && row[1] == NULL)) {
      return error_nomem(&c->error, 0) == GLV_OK;
    }
  }
  all->cells = cells;
  all->rows += count;
  return true;
}

/* Read page after page. */
static bool read_all(cli *c, glv_id parent, struct all_views *all) {
  glv_page_options options = GLV_OPTIONS(glv_page_options);
  options.flags = cli_flag(c, "recursive") ? GLV_PAGE_RECURSIVE : 0;
  do {
    glv_list *list = NULL;
    if (glv_view_list(c->conn, parent, &options, &list, &c->error) != GLV_OK) {
      return false;
    }
    const bool ok = add_page(c, list, all);
    const char *token = glv_list_token(list);
    options.page_token = token != NULL ? arena_strdup(&c->memory, str_of(token)) : NULL;
    const bool is_short = token != NULL && options.page_token == NULL;
    glv_list_free(list);
    if (!ok || is_short) {
      return ok && error_nomem(&c->error, 0) == GLV_OK;
    }
  } while (options.page_token != NULL);
  return true;
}

static int list(cli *c) {
  glv_id parent = {NULL, 0};
  if ((c->argument_count > 0 && !cli_name(c, c->arguments[0], &parent)) || !cli_connect(c)) {
    return cli_failed(c);
  }
  struct all_views all = {.array = c->json ? js_new_array() : NULL};
  if (!read_all(c, parent, &all)) {
    js_free(all.array);
    return cli_failed(c);
  }
  if (c->json) {
    return cli_print_json(c, all.array);
  }
  static const char *const header[] = {"view", "form", "state"};
  cli_print_table(header, 3, all.cells, all.rows);
  return EXIT_DONE;
}

static json *strings_json(glv_strs strings) {
  json *array = js_new_array();
  for (size_t i = 0; i < strings.count; i++) {
    if (js_push(array, js_new_string(str_of(strings.items[i])), NULL) != GLV_OK) {
      js_free(array);
      return NULL;
    }
  }
  return array;
}

static json *projections_json(glv_pairs pairs) {
  json *array = js_new_array();
  for (size_t i = 0; i < pairs.count; i++) {
    json *o = js_new_object();
    if ((js_put(o, "output", js_new_string(str_of(pairs.items[i].name)), NULL) |
         js_put(o, "expression", js_new_string(str_of(pairs.items[i].value)), NULL)) != GLV_OK) {
      js_free(o);
      js_free(array);
      return NULL;
    }
    if (js_push(array, o, NULL) != GLV_OK) {
      js_free(array);
      return NULL;
    }
  }
  return array;
}

static json *text_json(const char *text) {
  return text != NULL ? js_new_string(str_of(text)) : js_new_null();
}

static int describe_json(cli *c, const glv_view *view, glv_id id) {
  static const char *const forms[] = {"", "select", "namespaced_select", "query"};
  const glv_view_def *d = glv_view_definition(view);
  json *o = js_new_object();
  glv_status s = js_put(o, "name", js_new_string(str_of(cli_name_text(c, id))), &c->error);
  s |= js_put(o, "form", js_new_string(str_of(forms[d->form])), &c->error);
  s |= js_put(o, "source_table", text_json(d->source_table), &c->error);
  s |= js_put(o, "source_namespace", strings_json(d->source_namespace), &c->error);
  s |= js_put(o, "projections", projections_json(d->projections), &c->error);
  s |= js_put(o, "filter", text_json(d->filter), &c->error);
  s |= js_put(o, "limit",
              (d->flags & GLV_VIEW_DEF_LIMIT) != 0 ? js_new_int((int64_t)d->limit) : js_new_null(),
              &c->error);
  s |= js_put(o, "inputs", strings_json(d->inputs), &c->error);
  s |= js_put(o, "query", text_json(d->query), &c->error);
  s |= js_put(o, "incarnation", text_json(glv_view_incarnation(view)), &c->error);
  s |= js_put(o, "stored", text_json(glv_view_stored_definition(view)), &c->error);
  if (s != GLV_OK) {
    js_free(o);
    c->error.code = GLV_E_NOMEM;
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

static void describe_text(cli *c, const glv_view *view, glv_id id, uint64_t rows) {
  const glv_view_def *d = glv_view_definition(view);
  const char **source = ARENA_ARRAY(&c->memory, const char *, d->source_namespace.count + 1);
  for (size_t i = 0; i < d->source_namespace.count && source != NULL; i++) {
    source[i] = d->source_namespace.items[i];
  }
  printf("view    %s\nrows    %s\n", cli_name_text(c, id), cli_count(c, rows));
  if (source != NULL && d->source_table != NULL) {
    source[d->source_namespace.count] = d->source_table;
    printf("source  %s\n", cli_name_text(c, (glv_id){source, d->source_namespace.count + 1}));
  }
  if (d->query != NULL) {
    printf("query   %s\n", d->query);
  }
  printf("stored  %s\n", glv_view_stored_definition(view));
}

static int describe(cli *c) {
  glv_id id;
  glv_view *view = NULL;
  if (!cli_name(c, c->arguments[0], &id) || !cli_connect(c) ||
      glv_view_open(c->conn, id, NULL, &view, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  int code = EXIT_DONE;
  uint64_t rows = 0;
  if (c->json) {
    code = describe_json(c, view, id);
  } else if (glv_table_count(glv_view_table(view), NULL, NULL, &rows, &c->error) == GLV_OK) {
    describe_text(c, view, id, rows);
  } else {
    code = cli_failed(c);
  }
  glv_view_free(view);
  return code;
}

/* ---- drop ---- */

static int drop(cli *c) {
  glv_id id;
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.flags = cli_flag(c, "if-exists") ? GLV_CALL_IF_NEEDED : 0;
  if (!cli_name(c, c->arguments[0], &id) || !cli_connect(c) ||
      glv_view_drop(c->conn, id, &options, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  return cli_done(c, "dropped", "view", id);
}

static const option_spec create_options[] = {
    {"as", 0, OPTION_VALUE, "SQL", "the view as one SELECT statement"},
    {"source", 0, OPTION_VALUE, "TABLE", "the table to read"},
    {"select", 0, OPTION_LIST, "C|A=E", "a column, or A = an expression; none = all columns"},
    {"where", 0, OPTION_VALUE, "E", "which rows the view holds"},
    {"limit", 0, OPTION_VALUE, "N", "at most so many rows"},
    {"with-no-data", 0, OPTION_FLAG, NULL, "do not fill it; a refresh does"},
    {"stored-form", 0, OPTION_VALUE, "FORM", "select or query: how the definition is stored"},
};
static const option_spec list_options[] = {
    {"recursive", 'r', OPTION_FLAG, NULL, "the views of child namespaces too"},
};
static const option_spec drop_options[] = {
    {"if-exists", 0, OPTION_FLAG, NULL, "a missing view is fine"},
};

const command view_commands[] = {
    {"view", "create", "NAME", 1, 1, "Create a materialized view and fill it.", create_options, 7,
     create},
    {"view", "list", "[NS]", 0, 1, "List the views of the root, or of a namespace.", list_options,
     1, list},
    {"view", "describe", "NAME", 1, 1, "Show the definition of a view.", NULL, 0, describe},
    {"view", "drop", "NAME", 1, 1, "Drop a view.", drop_options, 1, drop},
    {0},
};
