/* What the versions of a table, and those of its branches, refer to.
 *
 * Branches lie below the table, `tree/<name>/`, and share files with it: those of a branch that
 * have a base path are files of the table, or of another branch. Names of files are unique, so the
 * base itself is not looked at; a file kept for too long does no harm.
 */
#include <stdio.h>

#include "base/json.h"
#include "table/cleanup_private.h"

enum { BRANCH_DEPTH = 32, BRANCH_BYTES = 1 << 20 };

void refs_init(file_refs *r, glv_env *env) {
  arena_init(&r->names, env);
  map_init(&r->flags, env);
}

void refs_dispose(file_refs *r) {
  map_dispose(&r->flags);
  arena_dispose(&r->names);
}

static glv_status add_name(file_refs *r, const char *folder, const char *name, uint64_t flag,
                           glv_error *err) {
  char text[LIMIT_PATH_BYTES];
  const int length = snprintf(text, sizeof text, "%s/%s", folder, name);
  if (length < 0 || (size_t)length >= sizeof text) {
    return FAIL(err, GLV_E_CORRUPT, "the name of a file in '%s' is too long", folder);
  }
  const str key = str_slice(text, (size_t)length);
  uint64_t *flags = map_get(&r->flags, key);
  if (flags == NULL) {
    const char *copy = arena_strdup(&r->names, key);
    bool is_new;
    if (copy == NULL) {
      return error_nomem(err, key.size);
    }
    TRY(map_put(&r->flags, str_slice(copy, key.size), &flags, &is_new, err));
  }
  *flags |= flag;
  return GLV_OK;
}

static glv_status add_fragment(file_refs *r, const fragment *f, uint64_t flag, glv_error *err) {
  for (size_t i = 0; i < f->file_count; i++) {
    TRY(add_name(r, "data", f->files[i].path, flag, err));
  }
  if (!f->has_deletions) {
    return GLV_OK;
  }
  char name[NAME_SIZE];
  name_deletion(f->id, &f->deletions, name);
  return add_name(r, "_deletions", name, flag, err);
}

glv_status refs_add(file_refs *r, const table_snapshot *t, uint64_t flag, glv_error *err) {
  for (size_t i = 0; i < t->fragment_count; i++) {
    TRY(add_fragment(r, &t->fragments[i], flag, err));
  }
  for (size_t i = 0; i < t->index_count; i++) {
    const Lance__Table__Uuid *uuid = t->index_messages[i]->uuid;
    char name[37];
    if (uuid == NULL || uuid->uuid.len != 16) {
      return FAIL(err, GLV_E_CORRUPT, "table '%s': an index of version %llu has no UUID",
                  t->home->name, (unsigned long long)t->manifest->version);
    }
    name_of_uuid(uuid->uuid.data, name);
    TRY(add_name(r, "_indices", name, flag, err));
  }
  return t->manifest->transaction_file[0] != '\0'
             ? add_name(r, "_transactions", t->manifest->transaction_file, flag, err)
             : GLV_OK;
}

/* ---- branches ---- */

static glv_status add_versions(file_refs *r, table_home *h, glv_error *err) {
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, h->env);
  version_listing found;
  TRY(list_versions(h, &a, &found, err));
  for (size_t i = 0; i < found.count; i++) {
    CLEANUP(table_cleanup) table_snapshot *t = NULL;
    glv_error report = {0};
    const glv_status status = snapshot_load(h, found.versions[i], found.is_v1, &t, &report);
    if (status == GLV_OK) {
      TRY(refs_add(r, t, REFERRED_BY_KEPT, err));
    } else if (status != GLV_E_VERSION_NOT_FOUND) {
      return pass_report(err, &report);
    }
  }
  return GLV_OK;
}

static glv_status add_below(file_refs *r, const table_home *h, const char *path, unsigned depth,
                            glv_error *err) { /* NOLINT(misc-no-recursion) */
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, h->env);
  const char **names = NULL;
  bool *dirs = NULL;
  size_t count = 0;
  glv_error report = {0};
  if (depth == BRANCH_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "table '%s': branches nest deeper than %d", h->name,
                BRANCH_DEPTH);
  }
  if (io_list_sorted(h->env, NULL, path, &a, &names, &dirs, &count, &report) != GLV_OK) {
    return io_is_missing(&report) ? GLV_OK : pass_report(err, &report);
  }
  for (size_t i = 0; i < count; i++) {
    if (dirs[i] && strcmp(names[i], "_versions") == 0) {
      CLEANUP(home_cleanup) table_home *branch = NULL;
      TRY(home_open(h->env, path, path, &branch, err));
      TRY(add_versions(r, branch, err));
    } else if (dirs[i] && names[i][0] != '_' && strcmp(names[i], "data") != 0) {
      const char *below = arena_printf(&a, "%s/%s", path, names[i]);
      if (below == NULL) {
        return error_nomem(err, 0);
      }
      TRY(add_below(r, h, below, depth + 1, err));
    }
  }
  return GLV_OK;
}

glv_status refs_add_branches(file_refs *r, const table_home *h, glv_error *err) {
  char path[LIMIT_PATH_BYTES];
  snprintf(path, sizeof path, "%s/tree", h->path);
  return add_below(r, h, path, 0, err);
}

/* The first version of the main branch among the ancestors of a branch; 0 = not told. */
static uint64_t read_start(const json *document) {
  if (js_kind_of(document) != JS_OBJECT) {
    return 0;
  }
  const json *identifier = js_member(document, "identifier");
  const json *node = NULL;
  if (identifier != NULL && js_kind_of(identifier) == JS_OBJECT) {
    const json *mapping = js_member(identifier, "version_mapping");
    const json *first = mapping != NULL && js_kind_of(mapping) == JS_ARRAY && js_count(mapping) > 0
                            ? js_item(mapping, 0)
                            : NULL;
    if (first != NULL && js_kind_of(first) == JS_ARRAY && js_count(first) > 0) {
      node = js_item(first, 0);
    }
  }
  node = node != NULL ? node : js_member(document, "parentVersion");
  return node != NULL && js_kind_of(node) == JS_INT && js_int(node) > 0 ? (uint64_t)js_int(node)
                                                                        : 0;
}

static glv_status read_branch(const table_home *h, const char *path, uint64_t *ret,
                              glv_error *err) {
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, h->env, BRANCH_BYTES);
  CLEANUP(js_cleanup) json *document = NULL;
  TRY(io_read_file(h->env, NULL, path, BRANCH_BYTES, &text, err));
  TRY(js_parse(buf_str(&text), &document, err));
  *ret = read_start(document);
  return *ret != 0 ? GLV_OK
                   : FAIL(err, GLV_E_CORRUPT,
                          "table '%s': '%s' does not tell where a branch begins", h->name, path);
}

glv_status branch_starts(const table_home *h, arena *a, uint64_t **ret, size_t *ret_count,
                         glv_error *err) {
  char folder[LIMIT_PATH_BYTES];
  snprintf(folder, sizeof folder, "%s/_refs/branches", h->path);
  const char **names = NULL;
  size_t count = 0;
  glv_error report = {0};
  *ret_count = 0;
  if (io_list_sorted(h->env, NULL, folder, a, &names, NULL, &count, &report) != GLV_OK) {
    return io_is_missing(&report) ? GLV_OK : pass_report(err, &report);
  }
  *ret = ARENA_ARRAY(a, uint64_t, count);
  if (*ret == NULL) {
    return error_nomem(err, count * sizeof **ret);
  }
  for (size_t i = 0; i < count; i++) {
    if (str_ends_with(str_of(names[i]), STR(".json"))) {
      const char *path = arena_printf(a, "%s/%s", folder, names[i]);
      if (path == NULL) {
        return error_nomem(err, 0);
      }
      TRY(read_branch(h, path, &(*ret)[*ret_count], err));
      (*ret_count)++;
    }
  }
  return GLV_OK;
}
