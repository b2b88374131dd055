/* Scenarios: see scenario.h. */
#include "support/scenario.h"

#include <stdlib.h>

static const char columns[] = "id int64 | name utf8";

#define T_ROWS "t: 1 a,2 b,3 c"
#define S_ROWS "ns.s: 1 x,2 w,3 z"
#define V_ROWS "v: 1 X 0,2 Y 1"
#define V_AFTER "v: 1 X 0,2 W 1,3 Z 2"
#define REST "; new: absent; w: absent"

static glv_status connect_db(glv_env *env, const char *root, glv_conn **ret, glv_error *err) {
  return glv_connect(env, root, NULL, ret, err);
}

static glv_status write_rows(glv_conn *conn, glv_id id, const char *rows, int overwrite,
                             glv_error *err) {
  glv_table *table = NULL;
  glv_status status = glv_table_open(conn, id, NULL, &table, err);
  if (status == GLV_OK) {
    struct ArrowArrayStream data;
    /* The rows come from an environment of their own: a test's faults are for the operation alone.
     */
    glv_env *clean = NULL;
    assert_int_equal(glv_env_new(NULL, &clean, NULL), GLV_OK);
    rows_stream(clean, columns, rows, &data);
    status = overwrite ? glv_table_overwrite(table, &data, NULL, NULL, err)
                       : glv_table_append(table, &data, NULL, NULL, err);
    glv_env_free(clean);
    glv_table_free(table);
  }
  return status;
}

void scenario_prepare(glv_env *env, const char *root) {
  suite s = {.env = env};
  must(&s, connect_db(env, root, &s.conn, &s.err));
  must(&s, glv_namespace_create(s.conn, ID("ns"), NO_PAIRS, NULL, &s.err));
  glv_table *t = create_table(&s, ID("t"), columns, "1 | a");
  append_rows(&s, t, columns, "2 | b");
  append_rows(&s, t, columns, "3 | c");
  glv_table_free(t);
  glv_table *source = create_table(&s, ID("ns", "s"), columns, "1 | x\n2 | y");
  glv_view_free(create_view(&s, ID("v"), "SELECT id, upper(name) AS name FROM ns.s"));
  static const glv_pair set[] = {{"name", "'w'"}};
  must(&s, glv_table_update(source, (glv_pairs){set, 1}, "id = 2", NULL, NULL, &s.err));
  glv_table_free(source);
  must(&s, write_rows(s.conn, ID("ns", "s"), "3 | z", 0, &s.err));
  static const glv_pair list[] = {{"l", "make_array(id, id * 10)"}};
  glv_table *lists = create_table(&s, ID("lists"), columns, "1 | p\n2 | q");
  must(&s, glv_table_add_columns(lists, (glv_pairs){list, 1}, NULL, NULL, &s.err));
  glv_table_free(lists);
  glv_conn_free(s.conn);
}

/* ---- the operations ---- */

static glv_status on_connection(glv_env *env, const char *root,
                                glv_status (*act)(glv_conn *conn, glv_error *err), glv_error *err) {
  glv_conn *conn = NULL;
  glv_status status = connect_db(env, root, &conn, err);
  if (status == GLV_OK) {
    status = act(conn, err);
  }
  glv_conn_free(conn);
  return status;
}

static glv_status create_in(glv_conn *conn, glv_id id, glv_error *err) {
  struct ArrowArrayStream data;
  glv_env *clean = NULL;
  assert_int_equal(glv_env_new(NULL, &clean, NULL), GLV_OK);
  rows_stream(clean, columns, "7 | g", &data);
  glv_env_free(clean);
  return glv_table_create(conn, id, &data, NULL, NULL, err);
}

static glv_status create_root(glv_conn *conn, glv_error *err) {
  return create_in(conn, ID("new"), err);
}
static glv_status append(glv_conn *conn, glv_error *err) {
  return write_rows(conn, ID("t"), "4 | d", 0, err);
}
static glv_status overwrite(glv_conn *conn, glv_error *err) {
  return write_rows(conn, ID("t"), "9 | i", 1, err);
}
static glv_status append_child(glv_conn *conn, glv_error *err) {
  return write_rows(conn, ID("ns", "s"), "4 | u", 0, err);
}

/* Calls of the table t that change rows. */
static glv_status on_t(glv_conn *conn, glv_status (*change)(glv_table *table, glv_error *err),
                       glv_error *err) {
  glv_table *table = NULL;
  glv_status status = glv_table_open(conn, ID("t"), NULL, &table, err);
  if (status == GLV_OK) {
    status = change(table, err);
  }
  glv_table_free(table);
  return status;
}

static glv_status delete_of(glv_table *table, glv_error *err) {
  return glv_table_delete(table, "id = 2", NULL, NULL, err);
}
static glv_status update_of(glv_table *table, glv_error *err) {
  static const glv_pair set[] = {{"name", "'B'"}};
  return glv_table_update(table, (glv_pairs){set, 1}, "id = 2", NULL, NULL, err);
}
static glv_status merge_of(glv_table *table, glv_error *err) {
  static const char *const on[] = {"id"};
  struct ArrowArrayStream data;
  glv_env *clean = NULL;
  assert_int_equal(glv_env_new(NULL, &clean, NULL), GLV_OK);
  rows_stream(clean, columns, "2 | B\n4 | D", &data);
  glv_env_free(clean);
  glv_merge_options options = GLV_OPTIONS(glv_merge_options);
  options.flags = GLV_MERGE_UPDATE | GLV_MERGE_INSERT | GLV_MERGE_DELETE;
  options.on = (glv_strs){on, 1};
  options.update_if = "source.name < target.name";
  options.delete_if = "id = 3";
  return glv_table_merge(table, &data, &options, NULL, err);
}

static glv_status delete_rows(glv_conn *conn, glv_error *err) { return on_t(conn, delete_of, err); }
static glv_status update_rows(glv_conn *conn, glv_error *err) { return on_t(conn, update_of, err); }
static glv_status merge_rows(glv_conn *conn, glv_error *err) { return on_t(conn, merge_of, err); }

static glv_status refresh_view(glv_conn *conn, int full, glv_error *err) {
  glv_view *view = NULL;
  glv_refresh_options options = GLV_OPTIONS(glv_refresh_options);
  options.full = full;
  glv_status status = glv_view_open(conn, ID("v"), NULL, &view, err);
  if (status == GLV_OK) {
    status = glv_view_refresh(view, &options, NULL, err);
  }
  glv_view_free(view);
  return status;
}

static glv_status refresh_incremental(glv_conn *conn, glv_error *err) {
  return refresh_view(conn, 0, err);
}
static glv_status refresh_full(glv_conn *conn, glv_error *err) {
  return refresh_view(conn, 1, err);
}

static glv_status create_from(glv_conn *conn, const char *query, glv_error *err) {
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  def.query = query;
  return glv_view_create(conn, ID("w"), &def, NULL, NULL, err);
}
static glv_status create_new_view(glv_conn *conn, glv_error *err) {
  return create_from(conn, "SELECT id FROM t WHERE id > 1", err);
}
static glv_status create_grouped_view(glv_conn *conn, glv_error *err) {
  return create_from(conn, "SELECT id % 2 AS odd, max(name) AS last FROM t GROUP BY odd", err);
}
static glv_status create_unnested_view(glv_conn *conn, glv_error *err) {
  return create_from(conn, "SELECT e, name FROM lists, UNNEST(l) AS e WHERE e > 1", err);
}

/* A view in a namespace has a row in the catalog beside its table. */
static glv_status create_child_view(glv_conn *conn, glv_error *err) {
  static const glv_pair projections[] = {{"id", NULL}, {"up", "upper(name)"}};
  static const char *const ns[] = {"ns"};
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  def.source_table = "s";
  def.source_namespace = (glv_strs){ns, 1};
  def.projections = (glv_pairs){projections, 2};
  def.filter = "id > 1";
  return glv_view_create(conn, ID("ns", "w"), &def, NULL, NULL, err);
}

/* ---- upkeep: versions go, rows stay ---- */

static glv_status cleanup(glv_conn *conn, glv_error *err) {
  glv_table *table = NULL;
  glv_status status = glv_table_open(conn, ID("t"), NULL, &table, err);
  if (status == GLV_OK) {
    status = glv_table_cleanup(table, 0, NULL, NULL, err);
  }
  glv_table_free(table);
  return status;
}

static glv_status compact(glv_conn *conn, glv_id id, glv_error *err) {
  glv_table *table = NULL;
  glv_status status = glv_table_open(conn, id, NULL, &table, err);
  if (status == GLV_OK) {
    status = glv_table_compact(table, NULL, NULL, err);
  }
  glv_table_free(table);
  return status;
}

static glv_status compact_table(glv_conn *conn, glv_error *err) {
  return compact(conn, ID("t"), err);
}

/* A refresh makes the second fragment; the compaction of the two ends with a stamp. */
static glv_status compact_view(glv_conn *conn, glv_error *err) {
  const glv_status status = refresh_view(conn, 0, err);
  return status == GLV_OK ? compact(conn, ID("v"), err) : status;
}

static glv_status restore(glv_conn *conn, glv_error *err) {
  glv_table *table = NULL;
  glv_open_options at = GLV_OPTIONS(glv_open_options);
  at.version = 1;
  glv_status status = glv_table_open(conn, ID("t"), &at, &table, err);
  if (status == GLV_OK) {
    status = glv_table_restore(table, NULL, err);
  }
  glv_table_free(table);
  return status;
}

static glv_status tag(glv_conn *conn, glv_error *err) {
  glv_table *table = NULL;
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.flags = GLV_TAG_MOVE;
  glv_status status = glv_table_open(conn, ID("t"), NULL, &table, err);
  if (status == GLV_OK) {
    status = glv_table_tag_set(table, "x", 1, &options, err);
  }
  glv_table_free(table);
  return status;
}

#define ACT(function)                                                                              \
  static glv_status act_##function(glv_env *env, const char *root, glv_error *err) {               \
    return on_connection(env, root, function, err);                                                \
  }
ACT(create_root)
ACT(append)
ACT(overwrite)
ACT(append_child)
ACT(delete_rows)
ACT(update_rows)
ACT(merge_rows)
ACT(refresh_incremental)
ACT(refresh_full)
ACT(create_new_view)
ACT(create_grouped_view)
ACT(create_unnested_view)
ACT(create_child_view)
ACT(cleanup)
ACT(compact_table)
ACT(compact_view)
ACT(restore)
ACT(tag)

#define BEFORE T_ROWS "; " S_ROWS "; " V_ROWS REST

const scenario scenarios[] = {
    {"create", act_create_root, BEFORE, T_ROWS "; " S_ROWS "; " V_ROWS "; new: 7 g; w: absent",
     NULL},
    {"append", act_append, BEFORE, T_ROWS ",4 d; " S_ROWS "; " V_ROWS REST, NULL},
    {"append in a namespace", act_append_child, BEFORE, T_ROWS "; " S_ROWS ",4 u; " V_ROWS REST,
     NULL},
    {"overwrite", act_overwrite, BEFORE, "t: 9 i; " S_ROWS "; " V_ROWS REST, NULL},
    {"delete", act_delete_rows, BEFORE, "t: 1 a,3 c; " S_ROWS "; " V_ROWS REST, NULL},
    {"update", act_update_rows, BEFORE, "t: 1 a,2 B,3 c; " S_ROWS "; " V_ROWS REST, NULL},
    {"merge", act_merge_rows, BEFORE, "t: 1 a,2 B,4 D; " S_ROWS "; " V_ROWS REST, NULL},
    {"refresh", act_refresh_incremental, BEFORE, T_ROWS "; " S_ROWS "; " V_AFTER REST, NULL},
    {"rebuild", act_refresh_full, BEFORE, T_ROWS "; " S_ROWS "; " V_AFTER REST, NULL},
    {"create view", act_create_new_view, BEFORE,
     T_ROWS "; " S_ROWS "; " V_ROWS "; new: absent; w: 2 1,3 2",
     T_ROWS "; " S_ROWS "; " V_ROWS "; new: absent; w: "},
    {"create view of groups", act_create_grouped_view, BEFORE,
     T_ROWS "; " S_ROWS "; " V_ROWS "; new: absent; w: 0 b 1,1 c 0",
     T_ROWS "; " S_ROWS "; " V_ROWS "; new: absent; w: "},
    {"create view over items of lists", act_create_unnested_view, BEFORE,
     T_ROWS "; " S_ROWS "; " V_ROWS "; new: absent; w: 10 p 0,2 q 1,20 q 1",
     T_ROWS "; " S_ROWS "; " V_ROWS "; new: absent; w: "},
    {"create view in a namespace", act_create_child_view, BEFORE, BEFORE "; ns.w: 2 W 1,3 Z 2",
     BEFORE "; ns.w: "},
    {"cleanup", act_cleanup, BEFORE, BEFORE, NULL},
    {"compact", act_compact_table, BEFORE, BEFORE, NULL},
    {"compact a view", act_compact_view, BEFORE, T_ROWS "; " S_ROWS "; " V_AFTER REST,
     T_ROWS "; " S_ROWS "; " V_AFTER REST},
    {"restore", act_restore, BEFORE, "t: 1 a; " S_ROWS "; " V_ROWS REST, NULL},
    {"tag", act_tag, BEFORE, BEFORE, NULL},
};
const size_t scenario_count = sizeof scenarios / sizeof scenarios[0];

/* ---- what is visible ---- */

/* Every version that is listed is whole, and so is every tag. */
static void check_versions(glv_env *env, glv_conn *conn) {
  suite s = {.env = env, .conn = conn};
  glv_table *table = NULL;
  struct ArrowArrayStream list;
  must(&s, glv_table_open(conn, ID("t"), NULL, &table, &s.err));
  must(&s, glv_table_tags(table, &list, &s.err));
  mem_free(env, rows_text(env, &list));
  must(&s, glv_table_versions(table, &list, &s.err));
  char *text = rows_text(env, &list);
  for (char *line = text; line != NULL; line = strchr(line, '\n')) {
    glv_open_options at = GLV_OPTIONS(glv_open_options);
    line += *line == '\n';
    at.version = strtoull(line, NULL, 10);
    must(&s, glv_table_checkout(table, &at, &s.err));
    uint64_t count = 0;
    must(&s, glv_table_count(table, "id > 0", NULL, &count, &s.err));
    assert_true(count > 0);
  }
  mem_free(env, text);
  glv_table_free(table);
}

/* Rows as "1 a,2 b". */
static void join_cells(char *text) {
  char *out = text;
  for (char *c = text; *c != '\0'; c++) {
    if (strncmp(c, " | ", 3) == 0) {
      *out++ = ' ';
      c += 2;
    } else {
      *out++ = *c == '\n' ? ',' : *c;
    }
  }
  *out = '\0';
}

static size_t print_table(glv_env *env, glv_conn *conn, glv_id id, const char *name, char *text,
                          size_t size) {
  glv_error err = {0};
  glv_table *table = NULL;
  const glv_status status = glv_table_open(conn, id, NULL, &table, &err);
  if (status == GLV_E_TABLE_NOT_FOUND) {
    return (size_t)snprintf(text, size, "%s: absent", name);
  }
  if (status != GLV_OK) {
    fail_msg("%s cannot be opened: %s: %s", name, glv_status_name(status), err.message);
  }
  struct ArrowArrayStream rows;
  assert_int_equal(glv_table_scan(table, NULL, &rows, &err), GLV_OK);
  char *printed = rows_text(env, &rows);
  rows_sort(printed);
  join_cells(printed);
  const size_t used = (size_t)snprintf(text, size, "%s: %s", name, printed);
  mem_free(env, printed);
  glv_table_free(table);
  return used;
}

void scenario_state(glv_env *env, const char *root, char *text, size_t size) {
  static const char *const names[] = {"t", "ns.s", "v", "new", "w"};
  glv_conn *conn = NULL;
  glv_error err = {0};
  size_t used = 0;
  if (connect_db(env, root, &conn, &err) != GLV_OK) {
    fail_msg("the database cannot be opened: %s", err.message);
  }
  for (size_t i = 0; i < 5; i++) {
    const glv_id id = i == 1 ? ID("ns", "s") : ID(names[i]);
    used += (size_t)snprintf(text + used, size - used, "%s", i > 0 ? "; " : "");
    used += print_table(env, conn, id, names[i], text + used, size - used);
  }
  /* Only one scenario makes this view. */
  char child[128];
  print_table(env, conn, ID("ns", "w"), "ns.w", child, sizeof child);
  if (strstr(child, "absent") == NULL) {
    used += (size_t)snprintf(text + used, size - used, "; %s", child);
  }
  check_versions(env, conn);
  /* A view is never without its definition. */
  glv_view *view = NULL;
  assert_int_equal(glv_view_open(conn, ID("v"), NULL, &view, &err), GLV_OK);
  glv_view_free(view);
  if (strstr(text, "w: absent") == NULL) {
    assert_int_equal(glv_view_open(conn, ID("w"), NULL, &view, &err), GLV_OK);
    glv_view_free(view);
  }
  glv_conn_free(conn);
}
