/**
 * @file io_crash.h
 * Process death and power loss. A glv_io that passes everything on to another one and records, for
 * the tree below one directory, what a disk would be sure to hold: contents that were synced, and
 * directory entries whose directory was synced.
 *
 * At the Nth changing operation everything stops: that operation and all later ones fail without
 * reaching the inner store. The inner store then shows the state after a death of the process;
 * io_crash_materialise makes one of the states that a loss of power may leave.
 *
 * The model: a file's content is its synced bytes plus any subset of the later writes, each whole,
 * absent, or torn at a multiple of 512 bytes; a directory's entries are the synced ones plus any
 * subset of the later changes; the link and the unlink of a publish are two changes, a replacing
 * publish, and one of a directory, is one; make_dirs and remove_dir keep their promises (parents
 * are synced by make_dirs).
 */
#ifndef GLAIVE_TESTS_IO_CRASH_H
#define GLAIVE_TESTS_IO_CRASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

typedef struct io_crash io_crash;

/** Watch the tree below root, an existing directory of inner; what is in it counts as durable. */
io_crash *io_crash_new(const glv_io *inner, const char *root);
void io_crash_free(io_crash *c);
const glv_io *io_crash_table(const io_crash *c);

/** Stop at the nth changing operation from now on (1 = the next one); 0 = never. */
void io_crash_at(io_crash *c, uint64_t nth);
/** The nth sync of a file or directory from now on reports success without having any effect; 0 =
 * none. */
void io_crash_ignore_sync(io_crash *c, uint64_t nth);
bool io_crash_happened(const io_crash *c);
/** Changing operations, and syncs among them, since io_crash_at or io_crash_new. */
uint64_t io_crash_operations(const io_crash *c);
uint64_t io_crash_syncs(const io_crash *c);

/** Write the state after a loss of power, chosen by seed, into the new directory path of target. */
void io_crash_materialise(const io_crash *c, uint64_t seed, glv_env *target, const char *path);

#endif
