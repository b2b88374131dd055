/* Field ids are used again after a drop, so equal inputs at both ends prove nothing: they must have
 * been the same in every commit between that could change them. Values change under old versions of
 * rows whenever a relevant column gets another file, whatever the mode of the commit claims; then
 * the versions are not believed, and more rows are computed anew.
 */
#include "view/history.h"

#include "table/transaction.h"

enum { MAX_VERSIONS = 4096 };

/* ---- one commit ---- */

static bool has_file(const fragment *f, const char *path) {
  for (size_t i = 0; f != NULL && i < f->file_count; i++) {
    if (strcmp(f->files[i].path, path) == 0) {
      return true;
    }
  }
  return false;
}

/* Whether a file that is new to its fragment holds a relevant column. */
static bool brings_files(const table_snapshot *before, const fragment *fragments, size_t count,
                         const view_inputs *in) {
  for (size_t i = 0; i < count; i++) {
    const fragment *old = table_fragment(before, fragments[i].id);
    for (size_t k = 0; k < fragments[i].file_count; k++) {
      const data_file *f = &fragments[i].files[k];
      if (!has_file(old, f->path) && view_inputs_in_file(in, f)) {
        return true;
      }
    }
  }
  return false;
}

static bool changes_fields(const transaction *t, const view_inputs *in) {
  for (size_t i = 0; i < t->fields_modified_count; i++) {
    if (view_inputs_have(in, (int32_t)t->fields_modified[i])) {
      return true;
    }
  }
  return false;
}

static bool replaces_files(const transaction *t, const view_inputs *in) {
  for (size_t i = 0; i < t->new_file_count; i++) {
    if (view_inputs_in_file(in, &t->new_files[i])) {
      return true;
    }
  }
  return false;
}

static history_verdict trusted_if(bool trusted) {
  return trusted ? HISTORY_TRUSTED : HISTORY_UNTRUSTED;
}

/* before: the source just before the commit. */
static history_verdict judge_commit(const table_snapshot *before, const transaction *t,
                                    const view_inputs *in) {
  switch (t->kind) {
  case OPERATION_APPEND:
  case OPERATION_DELETE:
  case OPERATION_REWRITE:
  case OPERATION_RESERVE_FRAGMENTS:
  case OPERATION_CREATE_INDEX:
  case OPERATION_UPDATE_CONFIG:
  case OPERATION_UPDATE_BASES:
    return HISTORY_TRUSTED;
  case OPERATION_PROJECT:
  case OPERATION_OVERWRITE:
    return view_inputs_same(in, t->schema) ? HISTORY_TRUSTED : HISTORY_BROKEN;
  case OPERATION_MERGE:
    return !view_inputs_same(in, t->schema)
               ? HISTORY_BROKEN
               : trusted_if(!brings_files(before, t->new_fragments, t->new_fragment_count, in));
  case OPERATION_UPDATE:
    return trusted_if(!changes_fields(t, in) &&
                      !brings_files(before, t->updated_fragments, t->updated_fragment_count, in));
  case OPERATION_DATA_REPLACEMENT:
  case OPERATION_DATA_OVERLAY:
    return trusted_if(!replaces_files(t, in));
  case OPERATION_UNKNOWN:
  case OPERATION_RESTORE:
  case OPERATION_CLONE:
  case OPERATION_UPDATE_MEM_WAL_STATE:
    break;
  }
  return HISTORY_UNTRUSTED;
}

/* ---- the walk ---- */

static glv_status judge_version(const table_snapshot *before, const table_snapshot *at,
                                const view_inputs *in, history_verdict *ret, glv_error *err) {
  CLEANUP(arena_dispose) arena a;
  arena_init_small(&a, table_env(at));
  transaction *t = NULL;
  const glv_status status = transaction_read(at, table_version(at), &a, &t, err);
  if (status == GLV_E_TRANSACTION_NOT_FOUND || status == GLV_E_CORRUPT ||
      status == GLV_E_UNSUPPORTED) {
    *ret = HISTORY_BROKEN; /* damaged, or written with transaction files off */
    return GLV_OK;
  }
  TRY(status);
  *ret = judge_commit(before, t, in);
  return GLV_OK;
}

/* The state after version `number`, which is opened into *at; `before` is the one before it. */
static glv_status step(const table_snapshot *before, const table_snapshot *to, uint64_t number,
                       const view_inputs *in, table_snapshot **at, history_verdict *ret,
                       bool *ret_gone, glv_error *err) {
  glv_status status = GLV_OK;
  if (number == table_version(to)) {
    *at = table_ref(to);
  } else {
    status = table_open_version(to, number, at, err);
  }
  *ret_gone = status == GLV_E_VERSION_NOT_FOUND;
  if (*ret_gone) {
    *ret = HISTORY_UNTRUSTED;
    return GLV_OK;
  }
  if (status == GLV_E_UNSUPPORTED || status == GLV_E_CORRUPT) {
    *ret = HISTORY_BROKEN;
    return GLV_OK;
  }
  TRY(status);
  return judge_version(before, *at, in, ret, err);
}

glv_status source_history_judge(const table_snapshot *from, const table_snapshot *to,
                                const view_inputs *in, history_verdict *ret, glv_error *err) {
  const uint64_t first = table_version(from);
  const uint64_t last = table_version(to);
  if (last <= first || last - first > MAX_VERSIONS) {
    *ret = last == first ? HISTORY_TRUSTED : HISTORY_UNTRUSTED;
    return GLV_OK;
  }
  history_verdict all = HISTORY_TRUSTED;
  bool is_gone = false;
  CLEANUP(table_cleanup) table_snapshot *before = table_ref(from);
  for (uint64_t number = first + 1; number <= last && all != HISTORY_BROKEN && !is_gone; number++) {
    table_snapshot *at = NULL;
    history_verdict one = HISTORY_UNTRUSTED;
    const glv_status status = step(before, to, number, in, &at, &one, &is_gone, err);
    if (at != NULL) {
      table_unref(before);
      before = at;
    }
    TRY(status);
    all = one > all ? one : all;
  }
  *ret = all;
  return GLV_OK;
}
