/* Tags (lance-table-format 16.2): one JSON file each, `_refs/tags/<name>.json`.
 *
 *   {
 *     "branch": null,
 *     "version": 5,
 *     "createdAt": "2026-11-30T20:20:11.736199804Z",
 *     "updatedAt": "2026-11-30T20:20:11.736199804Z",
 *     "manifestSize": 588,
 *     "metadata": {}
 *   }
 *
 * A file is written beside its final name and published: without replacing for a new tag, so that
 * of two writers one is told that the name is taken; with replacing for a moved one. Names outside
 * ASCII are not made: pylance stores them under an escaped name and then fails to list any tag.
 */
#include "table/tags.h"

#include <stdio.h>

#include "expr/temporal.h"
#include "table/table_private.h"

enum { TAG_BYTES = 1 << 20, INDENT = 2, MOST_NAME = 200, FILE_SIZE = 256 };
static const char suffix[] = ".json";

/* ---- names ---- */

static bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Why the name cannot be that of a tag, or NULL. */
static const char *find_fault(str name) {
  if (name.size == 0) {
    return "it is empty";
  }
  if (name.size > MOST_NAME) {
    return "it is too long";
  }
  for (size_t i = 0; i < name.size; i++) {
    const char c = name.data[i];
    if (!is_alphanumeric(c) && c != '.' && c != '-' && c != '_') {
      return "only letters and digits of ASCII, '.', '-' and '_' may stand in it";
    }
    if (c == '.' && (i == 0 || i + 1 == name.size || name.data[i - 1] == '.')) {
      return "a dot may not be first, last, or follow another";
    }
  }
  return str_ends_with(name, STR(".lock")) ? "it ends in '.lock'" : NULL;
}

static glv_status check_name(const char *name, glv_error *err) {
  const char *fault = find_fault(str_of(name));
  return fault == NULL ? GLV_OK
                       : FAIL(err, GLV_E_INVALID_INPUT, "'%s' cannot name a tag: %s", name, fault);
}

static glv_status check_root(const table_snapshot *t, glv_error *err) {
  return table_branch(t) == NULL
             ? GLV_OK
             : FAIL(err, GLV_E_UNSUPPORTED,
                    "table '%s': tags are kept by the table, not by its branch '%s'", t->home->name,
                    table_branch(t));
}

/* ---- reading ---- */

static glv_status fail_tag(const table_snapshot *t, const char *name, const char *why,
                           glv_error *err) {
  return FAIL(err, GLV_E_CORRUPT, "table '%s': tag file '_refs/tags/%s%s' %s", t->home->name, name,
              suffix, why);
}

static glv_status read_time(const table_snapshot *t, const json *document, const char *key,
                            bool *ret_found, int64_t *ret_ns, glv_error *err) {
  const json *node = js_member(document, key);
  *ret_found = false;
  if (node == NULL || js_kind_of(node) != JS_STRING) {
    return GLV_OK;
  }
  CLEANUP(temporal_parser_dispose) temporal_parser p;
  temporal_parser_init(&p, t->home->env, NULL);
  instant at;
  const char *why = temporal_parse_timestamp(&p, js_string(node), &at);
  if (why == temporal_no_memory) {
    return error_nomem(err, 0);
  }
  *ret_found = why == NULL && temporal_ticks(at, UNIT_NANO, ret_ns);
  return GLV_OK;
}

static glv_status decode_tag(const table_snapshot *t, const json *document, arena *a,
                             const char *name, table_tag *ret, glv_error *err) {
  const json *version = NULL;
  const json *branch = NULL;
  if (js_kind_of(document) == JS_OBJECT) {
    version = js_member(document, "version");
    branch = js_member(document, "branch");
  }
  if (version == NULL || js_kind_of(version) != JS_INT || js_int(version) <= 0) {
    return fail_tag(t, name, "names no version", err);
  }
  *ret = (table_tag){.name = name, .version = (uint64_t)js_int(version)};
  if (branch != NULL && js_kind_of(branch) == JS_STRING) {
    ret->branch = arena_strdup(a, js_string(branch));
    if (ret->branch == NULL) {
      return error_nomem(err, js_string(branch).size);
    }
  }
  const json *bytes = js_member(document, "manifestSize");
  if (bytes != NULL && js_kind_of(bytes) == JS_INT && js_int(bytes) > 0) {
    ret->manifest_bytes = (uint64_t)js_int(bytes);
  }
  TRY(read_time(t, document, "createdAt", &ret->has_created, &ret->created_ns, err));
  return read_time(t, document, "updatedAt", &ret->has_updated, &ret->updated_ns, err);
}

/* The document of a tag. Errors: GLV_E_IO with ENOENT when there is none. */
static glv_status read_document(const table_snapshot *t, const char *name, json **ret,
                                glv_error *err) {
  glv_env *env = t->home->env;
  char path[LIMIT_PATH_BYTES];
  snprintf(path, sizeof path, "%s/_refs/tags/%s%s", t->home->path, name, suffix);
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, env, TAG_BYTES);
  TRY(io_read_file(env, NULL, path, TAG_BYTES, &text, err));
  glv_error report = {0};
  const glv_status status = js_parse(buf_str(&text), ret, &report);
  return status == GLV_E_NOMEM ? pass_report(err, &report)
         : status != GLV_OK    ? fail_tag(t, name, "is no JSON text", err)
                               : GLV_OK;
}

static glv_status read_tag(const table_snapshot *t, arena *a, const char *name, table_tag *ret,
                           glv_error *err) {
  CLEANUP(js_cleanup) json *document = NULL;
  TRY(read_document(t, name, &document, err));
  return decode_tag(t, document, a, name, ret, err);
}

glv_status table_tags(const table_snapshot *t, arena *a, table_tag **ret, size_t *ret_count,
                      glv_error *err) {
  TRY(check_root(t, err));
  char path[LIMIT_PATH_BYTES];
  snprintf(path, sizeof path, "%s/_refs/tags", t->home->path);
  const char **names = NULL;
  size_t count = 0;
  glv_error report = {0};
  if (io_list_sorted(t->home->env, NULL, path, a, &names, NULL, &count, &report) != GLV_OK) {
    if (!io_is_missing(&report)) {
      return pass_report(err, &report);
    }
    count = 0;
  }
  table_tag *tags = ARENA_ARRAY(a, table_tag, count);
  if (tags == NULL) {
    return error_nomem(err, count * sizeof *tags);
  }
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    const str name = str_of(names[i]);
    if (!str_ends_with(name, str_of(suffix))) {
      continue; /* one that is being written */
    }
    const char *tag = arena_strdup(a, str_slice(name.data, name.size - strlen(suffix)));
    if (tag == NULL) {
      return error_nomem(err, name.size);
    }
    const glv_status status = read_tag(t, a, tag, &tags[found], &report);
    if (status != GLV_OK && !io_is_missing(&report)) {
      return pass_report(err, &report);
    }
    found += status == GLV_OK; /* else dropped meanwhile */
  }
  *ret = tags;
  *ret_count = found;
  return GLV_OK;
}

static glv_status fail_no_tag(const table_snapshot *t, const char *name, glv_error *err) {
  return FAIL(err, GLV_E_TAG_NOT_FOUND, "table '%s' has no tag '%s'", t->home->name, name);
}

glv_status table_tag_find(const table_snapshot *t, const char *name, arena *a, table_tag *ret,
                          glv_error *err) {
  TRY(check_root(t, err));
  if (find_fault(str_of(name)) != NULL) {
    return fail_no_tag(t, name, err);
  }
  const char *copy = arena_strdup(a, str_of(name));
  if (copy == NULL) {
    return error_nomem(err, strlen(name));
  }
  glv_error report = {0};
  if (read_tag(t, a, copy, ret, &report) == GLV_OK) {
    return GLV_OK;
  }
  return io_is_missing(&report) ? fail_no_tag(t, name, err) : pass_report(err, &report);
}

/* ---- writing ---- */

/* The members of a tag; kept (its metadata) is taken over. */
static glv_status fill_document(json *o, uint64_t version, str created, str updated,
                                uint64_t manifest_size, json *kept, glv_error *err) {
  glv_status status = js_put(o, "branch", js_new_null(), err);
  status = status == GLV_OK ? js_put(o, "version", js_new_int((int64_t)version), err) : status;
  if (status == GLV_OK && created.size > 0) {
    status = js_put(o, "createdAt", js_new_string(created), err);
  }
  status = status == GLV_OK ? js_put(o, "updatedAt", js_new_string(updated), err) : status;
  status = status == GLV_OK ? js_put(o, "manifestSize", js_new_int((int64_t)manifest_size), err)
                            : status;
  if (status != GLV_OK) {
    js_free(kept);
    return status;
  }
  return js_put(o, "metadata", kept, err);
}

/* old: the document of the tag that is moved; NULL = a new one. */
static glv_status print_document(const table_snapshot *at, const json *old, buf *out,
                                 glv_error *err) {
  char text[CALENDAR_TEXT_SIZE + 1];
  const int64_t now = env_now_ns(at->home->env);
  size_t size = calendar_print_timestamp(floor_div(now, 1000000000),
                                         (int32_t)floor_mod(now, 1000000000), text);
  text[size++] = 'Z';
  const str updated = str_slice(text, size);
  const json *made = old != NULL ? js_member(old, "createdAt") : NULL;
  const json *extra = old != NULL ? js_member(old, "metadata") : NULL;
  str created = updated;
  if (old != NULL) {
    created = made != NULL && js_kind_of(made) == JS_STRING ? js_string(made) : (str){0};
  }
  CLEANUP(js_cleanup) json *document = js_new_object();
  json *kept = extra != NULL ? js_copy(extra) : js_new_object();
  if (document == NULL) {
    js_free(kept);
    return error_nomem(err, 0);
  }
  TRY(fill_document(document, at->manifest->version, created, updated, at->file_size, kept, err));
  return js_print(document, INDENT, 0, out, err);
}

static glv_status publish_tag(const table_snapshot *t, void *dir, const char *name, str text,
                              bool replace, glv_error *err) {
  glv_env *env = t->home->env;
  char final[FILE_SIZE];
  char temp[FILE_SIZE + 20];
  uint64_t token;
  TRY(env_random(env, &token, sizeof token, err));
  snprintf(final, sizeof final, "%s%s", name, suffix);
  snprintf(temp, sizeof temp, "%s#%016llx", final, (unsigned long long)token);
  TRY(io_write_file(env, dir, temp, text.data, text.size, true, err));
  glv_error report = {0};
  if (io_publish(env, dir, temp, final, !replace, &report) == GLV_OK) {
    return io_dir_sync(env, dir, err);
  }
  (void)io_remove(env, dir, temp, NULL);
  return io_is_taken(&report)
             ? FAIL(err, GLV_E_TAG_EXISTS, "table '%s' already has a tag '%s'", t->home->name, name)
             : pass_report(err, &report);
}

/* What stands under that name; NULL = nothing. */
static glv_status read_old(const table_snapshot *t, const char *name, json **ret, glv_error *err) {
  glv_error report = {0};
  *ret = NULL;
  const glv_status status = read_document(t, name, ret, &report);
  if (status == GLV_OK && js_kind_of(*ret) != JS_OBJECT) {
    js_free(*ret);
    *ret = NULL;
    return fail_tag(t, name, "is no JSON object", err);
  }
  return status == GLV_OK || io_is_missing(&report) ? GLV_OK : pass_report(err, &report);
}

glv_status table_tag_set(const table_snapshot *t, const char *name, uint64_t version, bool move,
                         glv_error *err) {
  TRY(check_root(t, err));
  TRY(check_name(name, err));
  TRY(home_check_identity(t->home, err));
  CLEANUP(table_cleanup) table_snapshot *at = NULL;
  TRY(table_open_version(t, version, &at, err));
  CLEANUP(js_cleanup) json *old = NULL;
  if (move) {
    TRY(read_old(t, name, &old, err));
  }
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, t->home->env, TAG_BYTES);
  TRY(print_document(at, old, &text, err));
  CLEANUP(io_scope_dispose) io_scope scope = {t->home->env, NULL, NULL};
  TRY(home_dir(t->home, "_refs/tags", &scope.dir, NULL, err));
  return publish_tag(t, scope.dir, name, buf_str(&text), move, err);
}

glv_status table_tag_drop(const table_snapshot *t, const char *name, glv_error *err) {
  glv_env *env = t->home->env;
  TRY(check_root(t, err));
  if (find_fault(str_of(name)) != NULL) {
    return fail_no_tag(t, name, err);
  }
  TRY(home_check_identity(t->home, err));
  char path[LIMIT_PATH_BYTES];
  char file[FILE_SIZE];
  snprintf(path, sizeof path, "%s/_refs/tags", t->home->path);
  snprintf(file, sizeof file, "%s%s", name, suffix);
  CLEANUP(io_scope_dispose) io_scope scope = {env, NULL, NULL};
  glv_error report = {0};
  glv_status status = io_dir_open(env, path, &scope.dir, &report);
  status = status == GLV_OK ? io_remove(env, scope.dir, file, &report) : status;
  if (status != GLV_OK) {
    return io_is_missing(&report) ? fail_no_tag(t, name, err) : pass_report(err, &report);
  }
  return io_dir_sync(env, scope.dir, err);
}

/* ---- branches ---- */

glv_status table_branch_path(arena *a, const char *root, const char *branch, char **ret,
                             glv_error *err) {
  const str name = str_of(branch);
  bool is_fine = path_is_inside(name);
  for (size_t i = 0; i < name.size; i++) {
    const char c = name.data[i];
    is_fine &= is_alphanumeric(c) || c == '.' || c == '-' || c == '_' || c == '/' ||
               (unsigned char)c >= 0x80;
  }
  if (!is_fine) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'%s' cannot name a branch", branch);
  }
  *ret = arena_printf(a, "%s/tree/%s", root, branch);
  return *ret != NULL ? GLV_OK : error_nomem(err, name.size);
}

const char *table_branch(const table_snapshot *t) {
  return t->manifest->opt_branch_case == LANCE__TABLE__MANIFEST__OPT_BRANCH_BRANCH
             ? t->manifest->branch
             : NULL;
}
