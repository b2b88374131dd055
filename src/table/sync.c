/* Syncs in parallel.
 *
 * A commit has to bring several files and directories to the disk before its manifest may appear,
 * and the directory of manifests afterwards. Each sync waits for the device, not for a processor,
 * so those that need no order among themselves run side by side: a commit then takes the time of
 * two syncs, whatever their number.
 */
#include "table/sync_private.h"

struct sync_item {
  task task;
  glv_env *env;
  void *file; /* owned, or NULL */
  void *dir;  /* borrowed, or NULL */
  struct sync_item *next;
};

static glv_status run_item(void *context, glv_error *err) {
  struct sync_item *item = context;
  if (item->file == NULL) {
    return io_dir_sync(item->env, item->dir, err);
  }
  const glv_status status = io_sync(item->env, item->file, err);
  const glv_status closed = io_close(item->env, item->file, status == GLV_OK ? err : NULL);
  return status == GLV_OK ? closed : status;
}

static glv_status start(sync_group *g, void *file, void *dir, glv_error *err) {
  struct sync_item *item = mem_zalloc(g->env, sizeof *item);
  if (item == NULL) { /* without memory for the task it is done right here */
    struct sync_item now = {.env = g->env, .file = file, .dir = dir};
    return run_item(&now, err);
  }
  *item = (struct sync_item){.env = g->env, .file = file, .dir = dir, .next = g->first};
  item->task = (task){.run = run_item, .context = item};
  g->first = item;
  task_submit(g->env, &item->task);
  return GLV_OK;
}

glv_status sync_file(sync_group *g, void *file, glv_error *err) {
  return start(g, file, NULL, err);
}

glv_status sync_dir(sync_group *g, void *dir, glv_error *err) { return start(g, NULL, dir, err); }

glv_status sync_wait(sync_group *g, glv_error *err) {
  glv_status status = GLV_OK;
  while (g->first != NULL) {
    struct sync_item *item = g->first;
    const glv_status one = task_wait(g->env, &item->task, status == GLV_OK ? err : NULL);
    status = status == GLV_OK ? one : status;
    g->first = item->next;
    mem_free(g->env, item);
  }
  return status;
}
