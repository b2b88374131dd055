/* Reading deletion files (lance-table-format section 7).
 *
 * `.bin` is a portable Roaring bitmap of the deleted offsets, `.arrow` an IPC file with exactly one
 * batch and one non-nullable uint32 column `row_id`, in any order. A file that is missing or does
 * not say what the manifest says is corruption: taking it for "nothing deleted" would bring deleted
 * rows back.
 */
#include "table/deletion.h"

#include "arrow/ipc.h"
#include "table/table_private.h"

/* The one batch of an `.arrow` file. */
static glv_status read_arrow(glv_env *env, str bytes, bitmap *into, glv_error *err) {
  struct ipc_memory memory = {(const uint8_t *)bytes.data, bytes.size, 0};
  CLEANUP(batch_reader_dispose) batch_reader r = {0};
  TRY(ipc_reader_open(env, ipc_memory_source(&memory), &r, err));
  const schema *s = r.schema;
  if (s->field_count != 1 || strcmp(s->fields[0].name, "row_id") != 0 || s->fields[0].nullable ||
      s->fields[0].type->kind != TYPE_UINT32) {
    return FAIL(err, GLV_E_CORRUPT, "it does not hold one non-nullable uint32 column named row_id");
  }
  size_t batches = 0;
  for (;;) {
    CLEANUP(batch_dispose) batch b = {0};
    bool at_end = false;
    TRY(r.next(r.state, &b, &at_end, err));
    if (at_end) {
      break;
    }
    if (++batches > 1 || array_has_nulls(&b.columns[0])) {
      return FAIL(err, GLV_E_CORRUPT, "it holds nulls or more than one batch");
    }
    bitmap_add_many(into, ARRAY_VALUES(&b.columns[0], uint32_t), b.length);
  }
  return batches == 1 ? GLV_OK : FAIL(err, GLV_E_CORRUPT, "it holds no batch");
}

static glv_status parse(glv_env *env, const deletion_file *d, str bytes, const char *path,
                        bitmap **ret, glv_error *err) {
  CLEANUP(bitmap_cleanup) bitmap *b = NULL;
  glv_error report = {0};
  glv_status status = GLV_OK;
  if (d->form == DELETION_BITMAP) {
    status = bitmap_read(bytes.data, bytes.size, &b, &report);
  } else {
    b = bitmap_new();
    status = b != NULL ? read_arrow(env, bytes, b, &report) : error_nomem(&report, bytes.size);
  }
  if (status == GLV_E_NOMEM) {
    return pass_report(err, &report);
  }
  if (status != GLV_OK) {
    return FAIL(err, GLV_E_CORRUPT, "deletion file '%s' is malformed: %s", path, report.message);
  }
  *ret = b;
  b = NULL;
  return GLV_OK;
}

static glv_status check(const fragment *f, const bitmap *b, const char *path, glv_error *err) {
  const uint64_t count = bitmap_count(b);
  if (count > 0 && bitmap_max(b) >= f->physical_rows) {
    return FAIL(err, GLV_E_CORRUPT, "deletion file '%s' deletes row %lu of a fragment of %llu rows",
                path, (unsigned long)bitmap_max(b), (unsigned long long)f->physical_rows);
  }
  if (f->deletions.count != 0 && f->deletions.count != count) {
    return FAIL(err, GLV_E_CORRUPT, "deletion file '%s' deletes %llu rows, the manifest says %llu",
                path, (unsigned long long)count, (unsigned long long)f->deletions.count);
  }
  return GLV_OK;
}

glv_status deletion_load(const table_snapshot *t, const fragment *f, bitmap **ret, glv_error *err) {
  if (!f->has_deletions) {
    *ret = NULL;
    return GLV_OK;
  }
  glv_env *env = table_env(t);
  char name[NAME_SIZE];
  name_deletion(f->id, &f->deletions, name);
  CLEANUP(arena_cleanup) arena a;
  arena_init(&a, env);
  char *path;
  TRY(table_base_path(t, f->deletions.has_base, f->deletions.base_id, "_deletions", str_of(name),
                      &a, &path, err));
  CLEANUP(buf_dispose) buf bytes;
  buf_init(&bytes, env, LIMIT_MANIFEST_BYTES);
  glv_error report = {0};
  if (io_read_file(env, NULL, path, LIMIT_MANIFEST_BYTES, &bytes, &report) != GLV_OK) {
    return io_is_missing(&report) ? FAIL(err, GLV_E_CORRUPT, "deletion file '%s' is missing", path)
                                  : pass_report(err, &report);
  }
  CLEANUP(bitmap_cleanup) bitmap *b = NULL;
  TRY(parse(env, &f->deletions, buf_str(&bytes), path, &b, err));
  TRY(check(f, b, path, err));
  *ret = b;
  b = NULL;
  return GLV_OK;
}

bool deletion_same(const fragment *a, const fragment *b) {
  const deletion_file *x = &a->deletions;
  const deletion_file *y = &b->deletions;
  if (!a->has_deletions || !b->has_deletions) {
    return a->has_deletions == b->has_deletions;
  }
  return x->form == y->form && x->read_version == y->read_version && x->id == y->id &&
         x->has_base == y->has_base && x->base_id == y->base_id;
}
