/* glaive view refresh, status, verify: how views stand to their sources. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "cli/cli.h"

/* ---- which views ---- */

/* A view of the database and what it reads. */
struct node {
  glv_id id;
  glv_id source;
  unsigned depth; /* views between it and a table; 0 = not known yet */
};

struct nodes {
  struct node *items;
  size_t count;
};

/* A copy of a path, with `last` behind it unless that is NULL. */
static bool copy_path(cli *c, const char *const *parts, size_t count, const char *last,
                      glv_id *ret) {
  const size_t total = count + (last != NULL);
  const char **copy = ARENA_ARRAY(&c->memory, const char *, total);
  for (size_t i = 0; i < total && copy != NULL; i++) {
    copy[i] = arena_strdup(&c->memory, str_of(i < count ? parts[i] : last));
    if (copy[i] == NULL) {
      copy = NULL;
    }
  }
  *ret = (glv_id){copy, total};
  return copy != NULL || error_nomem(&c->error, 0) == GLV_OK;
}

/* One page of the list of all views; those whose definition cannot be read are left out. */
static bool add_views(cli *c, const glv_list *list, struct nodes *all) {
  const size_t count = glv_list_count(list);
  struct node *items = ARENA_ARRAY(&c->memory, struct node, all->count + count);
  if (items == NULL) {
    return error_nomem(&c->error, 0) == GLV_OK;
  }
  for (size_t i = 0; i < all->count; i++) {
    items[i] = all->items[i];
  }
  all->items = items;
  for (size_t i = 0; i < count; i++) {
    const glv_id id = glv_list_id(list, i);
    struct node *n = &items[all->count];
    *n = (struct node){0};
    if (glv_list_form(list, i) == NULL) {
      continue;
    }
    if (!copy_path(c, id.parts, id.count, NULL, &n->id)) {
      return false;
    }
    all->count++;
  }
  return true;
}

static bool list_views(cli *c, struct nodes *all) {
  glv_page_options options = GLV_OPTIONS(glv_page_options);
  options.flags = GLV_PAGE_RECURSIVE;
  do {
    glv_list *list = NULL;
    if (glv_view_list(c->conn, (glv_id){NULL, 0}, &options, &list, &c->error) != GLV_OK) {
      return false;
    }
    const char *token = glv_list_token(list);
    options.page_token = token != NULL ? arena_strdup(&c->memory, str_of(token)) : NULL;
    const bool ok = add_views(c, list, all) && (token == NULL) == (options.page_token == NULL);
    glv_list_free(list);
    if (!ok) {
      return c->error.code == GLV_OK && error_nomem(&c->error, 0) == GLV_OK;
    }
  } while (options.page_token != NULL);
  return true;
}

static bool read_source(cli *c, struct node *n) {
  glv_view *view = NULL;
  if (glv_view_open(c->conn, n->id, NULL, &view, &c->error) != GLV_OK) {
    return false;
  }
  const glv_view_def *d = glv_view_definition(view);
  const bool ok = copy_path(c, d->source_namespace.items, d->source_namespace.count,
                            d->source_table, &n->source);
  glv_view_free(view);
  return ok;
}

static bool same_id(glv_id a, glv_id b) {
  bool same = a.count == b.count;
  for (size_t i = 0; i < a.count && same; i++) {
    same = strcmp(a.parts[i], b.parts[i]) == 0;
  }
  return same;
}

/* One more than that of the view it reads, as far as that is known. */
static bool deepen(const struct nodes *all, struct node *n) {
  unsigned depth = 1;
  for (size_t i = 0; i < all->count; i++) {
    if (same_id(all->items[i].id, n->source)) {
      depth = all->items[i].depth + 1;
    }
  }
  const bool changed = depth != n->depth;
  n->depth = depth;
  return changed;
}

/* Every view after the one it reads. Cycles, which other programs can make, end somewhere. */
static void sort_views(struct nodes *all) {
  bool changed = true;
  for (size_t round = 0; changed && round <= all->count; round++) {
    changed = false;
    for (size_t i = 0; i < all->count; i++) {
      changed |= deepen(all, &all->items[i]);
    }
  }
  for (size_t i = 1; i < all->count; i++) { /* insertion: equal depths stay in the order of names */
    const struct node n = all->items[i];
    size_t at = i;
    for (; at > 0 && all->items[at - 1].depth > n.depth; at--) {
      all->items[at] = all->items[at - 1];
    }
    all->items[at] = n;
  }
}

/* The views of the arguments, or all of the database. */
static bool find_views(cli *c, bool all_of_them, struct nodes *ret) {
  if (all_of_them) {
    if (!list_views(c, ret)) {
      return false;
    }
    for (size_t i = 0; i < ret->count; i++) {
      if (!read_source(c, &ret->items[i])) {
        return false;
      }
    }
    sort_views(ret);
    return true;
  }
  ret->count = c->argument_count;
  ret->items = ARENA_ARRAY(&c->memory, struct node, ret->count);
  if (ret->items == NULL) {
    return error_nomem(&c->error, 0) == GLV_OK;
  }
  for (size_t i = 0; i < ret->count; i++) {
    if (!cli_name(c, c->arguments[i], &ret->items[i].id)) {
      return false;
    }
  }
  return true;
}

/* ---- one result after the other ---- */

/* What has been printed or collected so far. */
struct output {
  json *array; /* --json with several views; NULL = print each */
  int code;
  bool go_on; /* with --all a failure of one view does not keep the others */
};

/* The object of one view; taken over, NULL = no memory. */
static bool put_result(cli *c, glv_id id, struct output *out, json *o) {
  if (out->array == NULL && o != NULL) {
    return cli_print_json(c, o) == EXIT_DONE;
  }
  const char *name = cli_name_text(c, id);
  if (js_put(o, "name", js_new_string(str_of(name)), &c->error) != GLV_OK) {
    js_free(o);
    return false;
  }
  return js_push(out->array, o, &c->error) == GLV_OK;
}

static void put_failure(cli *c, glv_id id, struct output *out) {
  const int code = cli_failed(c);
  out->code = out->code == EXIT_DONE ? code : out->code;
  if (out->go_on && out->array != NULL) {
    json *o = js_new_object();
    if (js_put(o, "error", js_new_string(str_of(c->error.message)), NULL) == GLV_OK) {
      (void)put_result(c, id, out, o);
    } else {
      js_free(o);
    }
  }
  c->error = (glv_error){0};
}

/* Runs `one` for each view. @return the exit code. */
static int for_each(cli *c, bool all, bool (*one)(cli *c, glv_id id, struct output *out)) {
  struct nodes views = {0};
  if (!cli_connect(c) || !find_views(c, all, &views)) {
    return cli_failed(c);
  }
  struct output out = {.go_on = all};
  const bool several = all || c->argument_count > 1;
  if (c->json && several && (out.array = js_new_array()) == NULL) {
    error_nomem(&c->error, 0);
    return cli_failed(c);
  }
  for (size_t i = 0; i < views.count && (out.go_on || out.code == EXIT_DONE); i++) {
    if (!one(c, views.items[i].id, &out)) {
      put_failure(c, views.items[i].id, &out);
    }
  }
  if (out.array != NULL && (out.go_on || out.code == EXIT_DONE)) {
    const int printed = cli_print_json(c, out.array);
    return out.code != EXIT_DONE ? out.code : printed;
  }
  js_free(out.array);
  return out.code;
}

/* ---- refresh ---- */

static json *result_json(const glv_refresh_result *r) {
  static const char *const modes[] = {"unknown", "rebuild", "incremental", "no_op"};
  json *o = js_new_object();
  glv_status status = js_put(o, "mode", js_new_string(str_of(modes[r->mode])), NULL);
  status |= js_put(o, "rows_written", js_new_int(r->rows_written), NULL);
  status |= js_put(o, "rows_removed", js_new_int(r->rows_removed), NULL);
  status |= js_put(o, "source_version", js_new_int(r->source_version), NULL);
  status |= js_put(o, "version", js_new_int((int64_t)r->version), NULL);
  status |= js_put(o, "reason", js_new_string(str_of(r->reason)), NULL);
  status |= js_put(o, "duration_ms", js_new_int(r->duration_ms), NULL);
  status |= js_put(o, "source_rows_scanned", js_new_int(r->source_rows_scanned), NULL);
  if (status != GLV_OK) {
    js_free(o);
    return NULL;
  }
  return o;
}

static void print_result(cli *c, glv_id id, const glv_refresh_result *r) {
  static const char *const modes[] = {"unknown", "rebuild", "incremental", "no_op"};
  printf("%s: %s", cli_name_text(c, id), modes[r->mode]);
  if (r->reason[0] != '\0') {
    printf(" (%s)", r->reason);
  }
  printf(", %s rows written", cli_count(c, (uint64_t)r->rows_written));
  if (r->rows_removed > 0) {
    printf(", %s removed", cli_count(c, (uint64_t)r->rows_removed));
  }
  printf(", source version %" PRId64 ", view version %" PRIu64, r->source_version, r->version);
  if (r->duration_ms >= 0) { /* a server need not tell */
    printf(", %" PRId64 " ms", r->duration_ms);
  }
  putchar('\n');
}

/* @return false after a usage error. */
static bool read_refresh(cli *c, glv_refresh_options *options) {
  const char *require = cli_value(c, "require");
  options->full = cli_flag(c, "full");
  if (require != NULL && strcmp(require, "incremental") != 0) {
    cli_usage(c, "--require takes incremental, not '%s'", require);
    return false;
  }
  options->require = require != NULL;
  if (cli_flag(c, "source-version")) {
    options->flags |= GLV_REFRESH_SOURCE_VERSION;
    return cli_number(c, "source-version", &options->source_version);
  }
  return true;
}

static bool refresh_one(cli *c, glv_id id, struct output *out) {
  glv_view *view = NULL;
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  glv_refresh_result result = GLV_OPTIONS(glv_refresh_result);
  if (!read_refresh(c, &options) || glv_view_open(c->conn, id, NULL, &view, &c->error) != GLV_OK) {
    return false;
  }
  progress p;
  progress_start(c, &p, "refreshing");
  const glv_status status = glv_view_refresh(view, &options, &result, &c->error);
  progress_end(&p);
  glv_view_free(view);
  if (status != GLV_OK) {
    return false;
  }
  if (!c->json) {
    print_result(c, id, &result);
    return true;
  }
  return put_result(c, id, out, result_json(&result));
}

/* ---- reports of the library ---- */

/* A number with separators, or a dash when it is unknown. */
static const char *count_of(cli *c, const json *o, const char *key) {
  const json *value = js_member(o, key);
  return value != NULL && js_kind_of(value) == JS_INT ? cli_count(c, (uint64_t)js_int(value)) : "-";
}

/* A text; "" when there is none. */
static const char *text_of(const json *o, const char *key) {
  const json *value = js_member(o, key);
  return value != NULL && js_kind_of(value) == JS_STRING ? js_string(value).data : "";
}

static void print_explanation(cli *c, glv_id id, const json *o) {
  const char *reason = text_of(o, "reason");
  printf("%s: %s%s%s%s, %s rows to compute", cli_name_text(c, id), text_of(o, "mode"),
         reason[0] != '\0' ? " (" : "", reason, reason[0] != '\0' ? ")" : "",
         count_of(c, o, "rows_to_compute"));
  const json *fragments = js_member(o, "fragments");
  const json *rows = js_member(o, "rows");
  if (fragments == NULL || rows == NULL || js_kind_of(rows) != JS_OBJECT) {
    printf("\n");
    return;
  }
  printf(", %s ids to remove, %s bytes to read\n", count_of(c, o, "ids_to_remove"),
         count_of(c, o, "bytes_to_read"));
  printf("  fragments: %s same, %s with other deletions, %s changed, %s new, %s gone\n",
         count_of(c, fragments, "same"), count_of(c, fragments, "deleted"),
         count_of(c, fragments, "changed"), count_of(c, fragments, "new"),
         count_of(c, fragments, "gone"));
  printf("  rows: %s fresh, %s touched, %s revived, %s removed\n", count_of(c, rows, "fresh"),
         count_of(c, rows, "touched"), count_of(c, rows, "revived"), count_of(c, rows, "removed"));
}

/* Parses a document of the library. @return NULL after setting c->error. */
static json *parse_report(cli *c, glv_buf *text) {
  json *o = NULL;
  const glv_status status = js_parse(str_slice(text->data, text->size), &o, &c->error);
  glv_buf_dispose(text);
  return status == GLV_OK ? o : NULL;
}

/* Prints or collects a report; `status` is that of the call that gave it. */
static bool put_report(cli *c, glv_id id, struct output *out, glv_buf *text,
                       void (*print)(cli *c, glv_id id, const json *o)) {
  json *o = parse_report(c, text);
  if (o == NULL) {
    return false;
  }
  if (c->json) {
    return put_result(c, id, out, o);
  }
  print(c, id, o);
  js_free(o);
  return true;
}

static bool explain_one(cli *c, glv_id id, struct output *out) {
  glv_view *view = NULL;
  glv_buf text = {0};
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  if (!read_refresh(c, &options) || glv_view_open(c->conn, id, NULL, &view, &c->error) != GLV_OK) {
    return false;
  }
  const glv_status status = glv_view_explain(view, &options, &text, &c->error);
  glv_view_free(view);
  return status == GLV_OK && put_report(c, id, out, &text, print_explanation);
}

static int refresh(cli *c) {
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  const bool all = cli_flag(c, "all");
  if (all == (c->argument_count > 0)) {
    return cli_usage(c, "give the names of views, or --all");
  }
  if (!read_refresh(c, &options)) {
    return EXIT_USAGE;
  }
  if (all && cli_flag(c, "source-version")) {
    return cli_usage(c, "--source-version is for one view, not for --all");
  }
  return for_each(c, all, cli_flag(c, "explain") ? explain_one : refresh_one);
}

/* ---- status ---- */

static void print_status(cli *c, glv_id id, const json *o) {
  const char *reason = text_of(o, "reason");
  printf("%s: %s, %s rows, version %s", cli_name_text(c, id), text_of(o, "state"),
         count_of(c, o, "rows"), count_of(c, o, "version"));
  printf(", source %s at version %s of %s", text_of(o, "source"), count_of(c, o, "source_version"),
         count_of(c, o, "source_head"));
  if (reason[0] == '\0') {
    printf(", at most %s source rows behind\n", count_of(c, o, "rows_behind"));
  } else {
    printf(", distance unknown (%s)\n", reason);
  }
}

static bool status_one(cli *c, glv_id id, struct output *out) {
  glv_view *view = NULL;
  glv_buf text = {0};
  if (glv_view_open(c->conn, id, NULL, &view, &c->error) != GLV_OK) {
    return false;
  }
  const glv_status status = glv_view_status(view, NULL, &text, &c->error);
  glv_view_free(view);
  return status == GLV_OK && put_report(c, id, out, &text, print_status);
}

static int status(cli *c) { return for_each(c, c->argument_count == 0, status_one); }

/* ---- verify ---- */

static void print_rows(cli *c, const char *title, const json *rows) {
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, c->env, SIZE_MAX / 2);
  for (size_t i = 0; i < js_count(rows); i++) {
    buf_clear(&text);
    if (js_print(js_item(rows, i), 0, 0, &text, NULL) == GLV_OK) {
      printf("  %s %.*s\n", title, (int)size_min(text.size, INT_MAX), text.data);
    }
  }
}

static void print_verdict(cli *c, glv_id id, const json *o) {
  const bool equal = js_bool(js_member(o, "equal"));
  printf("%s: %s, %s rows at source version %s\n", cli_name_text(c, id),
         equal ? "equal to its definition" : "differs from its definition",
         count_of(c, o, "rows_found"), count_of(c, o, "source_version"));
  print_rows(c, "expected", js_member(o, "expected"));
  print_rows(c, "found   ", js_member(o, "found"));
}

static bool verify_one(cli *c, glv_id id, struct output *out) {
  glv_view *view = NULL;
  glv_buf text = {0};
  if (glv_view_open(c->conn, id, NULL, &view, &c->error) != GLV_OK) {
    return false;
  }
  progress p;
  progress_start(c, &p, "verifying");
  const glv_status status = glv_view_verify(view, NULL, &text, &c->error);
  progress_end(&p);
  glv_view_free(view);
  if (status != GLV_OK && status != GLV_E_DIFFERS) {
    return false;
  }
  const glv_error differs = c->error;
  if (!put_report(c, id, out, &text, print_verdict)) {
    return false;
  }
  c->error = differs;
  return status == GLV_OK;
}

static int verify(cli *c) {
  const bool all = cli_flag(c, "all");
  if (all == (c->argument_count > 0)) {
    return cli_usage(c, "give the names of views, or --all");
  }
  return for_each(c, all, verify_one);
}

static const option_spec refresh_flags[] = {
    {"full", 0, OPTION_FLAG, NULL, "compute all rows anew, also when up to date"},
    {"source-version", 0, OPTION_VALUE, "N",
     "reflect this version of the source instead of the latest"},
    {"require", 0, OPTION_VALUE, "incremental", "refuse to rebuild, before anything is written"},
    {"explain", 0, OPTION_FLAG, NULL, "say what would be done, and do nothing"},
    {"all", 0, OPTION_FLAG, NULL, "every view of the database, each after the one it reads"},
};
static const option_spec verify_flags[] = {
    {"all", 0, OPTION_FLAG, NULL, "every view of the database"},
};

const command refresh_commands[] = {
    {"view", "refresh", "[NAME...]", 0, SIZE_MAX, "Bring views up to date with their sources.",
     refresh_flags, 5, refresh},
    {"view", "status", "[NAME...]", 0, SIZE_MAX,
     "Show how far views are behind their sources; without a name, all of them.", NULL, 0, status},
    {"view", "verify", "[NAME...]", 0, SIZE_MAX,
     "Prove that views hold what their definitions give.", verify_flags, 1, verify},
    {0},
};
