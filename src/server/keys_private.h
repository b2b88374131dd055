/**
 * @file keys_private.h
 * The file of keys.
 */
#ifndef GLAIVE_SERVER_KEYS_PRIVATE_H
#define GLAIVE_SERVER_KEYS_PRIVATE_H

#include <sys/stat.h>

#include "server/keys.h"

/** The path of a file in the data directory. Errors: GLV_E_INVALID_INPUT when it is too long. */
glv_status key_file_path(const char *data_dir, const char *name, char *path, size_t size,
                         glv_error *err);
/**
 * The file as it is: {"keys": [...]}, checked; an absent one has none.
 * @param ret_stat of the file that was read; zeroed when there is none.
 */
glv_status key_file_read(glv_env *env, const char *data_dir, json **ret, struct stat *ret_stat,
                         glv_error *err);
/** The scope of a name; ACCESS_NONE for another text. */
access_scope key_scope_of(str name);

#endif
