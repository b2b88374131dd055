/* Create, append, overwrite: staging followed by a commit.
 *
 * What happens to the staged files is decided by the outcome alone: a commit that certainly failed
 * removes them, one that succeeded or may have succeeded leaves them.
 */
#include "table/write.h"

#include <stdio.h>

#include "table/commit_private.h"

glv_status table_append(const table_snapshot *t, batch_reader *in, const stage_options *options,
                        table_snapshot **ret, write_result *ret_result, glv_error *err) {
  CLEANUP(staged_cleanup) staged *rows = NULL;
  TRY(table_stage(t, in, options, &rows, err));
  write_result result = {.rows = rows->rows};
  if (rows->rows == 0) {
    if (ret != NULL) {
      *ret = table_ref(t);
    }
  } else {
    const operation op = {.kind = OPERATION_APPEND, .rows = rows};
    const commit_options how = {.cancel = options != NULL ? options->cancel : NULL};
    TRY(staged_settle(&rows, table_commit(t, &op, &how, ret, &result.attempts, err)));
  }
  if (ret_result != NULL) {
    *ret_result = result;
  }
  return GLV_OK;
}

glv_status table_overwrite(const table_snapshot *t, batch_reader *in, const stage_options *options,
                           table_snapshot **ret, write_result *ret_result, glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader r = *in;
  *in = (batch_reader){0};
  TRY(table_check_writable(t, err));
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, table_env(t));
  lance_schema *s;
  int32_t next_id = 0;
  TRY(lance_schema_from_arrow(&a, r.schema->fields, r.schema->field_count, r.schema->metadata,
                              &next_id, &s, err));
  CLEANUP(staged_cleanup) staged *rows = NULL;
  TRY(stage_rows(t->home, s, table_data_version(t), &r, options, &rows, err));
  write_result result = {.rows = rows->rows};
  const operation op = {.kind = OPERATION_OVERWRITE, .rows = rows, .schema = s};
  const commit_options how = {.cancel = options != NULL ? options->cancel : NULL};
  TRY(staged_settle(&rows, table_commit(t, &op, &how, ret, &result.attempts, err)));
  if (ret_result != NULL) {
    *ret_result = result;
  }
  return GLV_OK;
}

/* ---- create ---- */

/* Removes the directories of a table that was not created, as far as they are empty: `_versions`
 * first, for when it is not, somebody else's table stands there and needs the others. */
static void remove_dirs(glv_env *env, const char *path) {
  static const char *const folders[] = {"_versions", "_transactions", "data"};
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    char folder[LIMIT_PATH_BYTES];
    snprintf(folder, sizeof folder, "%s/%s", path, folders[i]);
    if (io_remove_dir(env, folder, NULL) != GLV_OK && i == 0) {
      return;
    }
  }
  (void)io_remove_dir(env, path, NULL);
}

static glv_status create_at(table_home *h, const schema *columns, batch_reader *in,
                            const create_options *o, table_snapshot **ret, glv_error *err) {
  version_listing found;
  TRY(list_versions(h, NULL, &found, err));
  if (found.latest != 0) {
    return FAIL(err, GLV_E_TABLE_EXISTS, "Table '%s' already exists", h->name);
  }
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, h->env);
  lance_schema *s;
  int32_t next_id = 0;
  TRY(lance_schema_from_arrow(&a, columns->fields, columns->field_count, columns->metadata,
                              &next_id, &s, err));
  const format_version version =
      format_version_parse(str_of(o->version != NULL ? o->version : "2.2"));
  if (version == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "storage version '%s' is not one that can be written: 2.0, 2.1 or 2.2", o->version);
  }
  CLEANUP(staged_cleanup) staged *rows = NULL;
  if (in->next != NULL) {
    TRY(stage_rows(h, s, version, in, &o->stage, &rows, err));
  }
  const operation op = {.kind = OPERATION_OVERWRITE, .rows = rows, .schema = s};
  return staged_settle(
      &rows, commit_create(h, &op, !o->no_stable_row_ids, format_version_text(version), ret, err));
}

static glv_status make_home(glv_env *env, const char *path, const char *name, table_home **ret,
                            glv_error *err) {
  char folder[LIMIT_PATH_BYTES];
  const int length = snprintf(folder, sizeof folder, "%s/_versions", path);
  if (length < 0 || (size_t)length >= sizeof folder) {
    return FAIL(err, GLV_E_INVALID_INPUT, "the path of table '%s' is too long",
                name != NULL ? name : path);
  }
  TRY(io_make_dirs(env, folder, err));
  return home_open(env, path, name, ret, err);
}

glv_status table_create(glv_env *env, const char *path, const char *name, const schema *s,
                        batch_reader *in, const create_options *options, table_snapshot **ret,
                        glv_error *err) {
  static const create_options defaults = {0};
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  if (in != NULL) {
    r = *in;
    *in = (batch_reader){0};
  }
  CLEANUP(home_cleanup) table_home *h = NULL;
  glv_status status = make_home(env, path, name, &h, err);
  if (status == GLV_OK) {
    status = create_at(h, s, &r, options != NULL ? options : &defaults, ret, err);
  }
  if (status != GLV_OK && status != GLV_E_UNKNOWN_OUTCOME) {
    remove_dirs(env, path);
  }
  return status;
}
