/**
 * @file digest.h
 * Cryptographic digests, by libgcrypt.
 */
#ifndef GLAIVE_BASE_DIGEST_H
#define GLAIVE_BASE_DIGEST_H

#include "base/env.h"
#include "base/str.h"

enum digest_kind {
  DIGEST_MD5,
  DIGEST_SHA224,
  DIGEST_SHA256,
  DIGEST_SHA384,
  DIGEST_SHA512,
  DIGEST_BLAKE2B, /* 64 bytes */
  DIGEST_BLAKE2S, /* 32 bytes */
  DIGEST_KINDS
};

/** Bytes of the longest digest. */
#define DIGEST_SIZE_MAX 64

/** Bytes of a digest. */
size_t digest_size(enum digest_kind kind);

/** The means to make many digests of one kind, for one thread at a time. */
typedef struct digest digest;

/** Errors: GLV_E_UNSUPPORTED where the library refuses the kind, as MD5 in a machine's FIPS mode;
 * GLV_E_NOMEM. Release with digest_free. Thread class: T. */
glv_status digest_new(glv_env *env, enum digest_kind kind, digest **ret, glv_error *err);
void digest_free(digest *d); /* NULL is fine */
void digest_cleanup(digest **d);
/** The digest of data, digest_size() bytes. */
void digest_of(digest *d, str data, uint8_t *ret);

#endif
