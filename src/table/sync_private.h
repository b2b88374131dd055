/**
 * @file sync_private.h
 * Files and directories on their way to the disk.
 */
#ifndef GLAIVE_TABLE_SYNC_PRIVATE_H
#define GLAIVE_TABLE_SYNC_PRIVATE_H

#include "base/thread.h"
#include "table/table_private.h"

struct sync_item;

/** Syncs that run on the pool while other work goes on. Zero but for env is empty. */
typedef struct sync_group {
  glv_env *env; /* borrowed */
  struct sync_item *first;
} sync_group;

/** Start syncing a written file, which is closed afterwards; takes over the handle in every case.
 * Errors: those of the sync, when it was done at once. */
glv_status sync_file(sync_group *g, void *file, glv_error *err);
/** Start syncing a directory; the handle must stay open until sync_wait. */
glv_status sync_dir(sync_group *g, void *dir, glv_error *err);
/** Wait for all of them. @return the first failure. The group is empty afterwards. */
glv_status sync_wait(sync_group *g, glv_error *err);

#endif
