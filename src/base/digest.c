/* The library is initialised at the first digest, unless the application did it. It takes its own
 * memory: a small handle for each digest object. */
#include "base/digest.h"

#include <gcrypt.h>
#include <pthread.h>

#include "base/env.h"
#include "base/error.h"

struct digest {
  glv_env *env; /* borrowed */
  gcry_md_hd_t handle;
  enum digest_kind kind;
};

static const struct {
  int algorithm;
  size_t size;
} KINDS[DIGEST_KINDS] = {
    [DIGEST_MD5] = {GCRY_MD_MD5, 16},
    [DIGEST_SHA224] = {GCRY_MD_SHA224, 28},
    [DIGEST_SHA256] = {GCRY_MD_SHA256, 32},
    [DIGEST_SHA384] = {GCRY_MD_SHA384, 48},
    [DIGEST_SHA512] = {GCRY_MD_SHA512, 64},
    [DIGEST_BLAKE2B] = {GCRY_MD_BLAKE2B_512, 64},
    [DIGEST_BLAKE2S] = {GCRY_MD_BLAKE2S_256, 32},
};

static pthread_once_t initialised = PTHREAD_ONCE_INIT;

static void initialise(void) {
  if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) == 0) {
    (void)gcry_check_version(NULL);
    (void)gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    (void)gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
  }
}

size_t digest_size(enum digest_kind kind) { return KINDS[kind].size; }

glv_status digest_new(glv_env *env, enum digest_kind kind, digest **ret, glv_error *err) {
  (void)pthread_once(&initialised, initialise);
  CLEANUP(digest_cleanup) digest *d = mem_zalloc(env, sizeof *d);
  if (d == NULL) {
    return error_nomem(err, sizeof *d);
  }
  d->env = env;
  d->kind = kind;
  const gcry_error_t code = gcry_md_open(&d->handle, KINDS[kind].algorithm, 0);
  if (gcry_err_code(code) == GPG_ERR_ENOMEM) {
    return error_nomem(err, sizeof *d);
  }
  if (code != 0) {
    return FAIL(err, GLV_E_UNSUPPORTED, "libgcrypt does not make this digest here: %s",
                gcry_strerror(code));
  }
  *ret = d;
  d = NULL;
  return GLV_OK;
}

void digest_free(digest *d) {
  if (d != NULL) {
    gcry_md_close(d->handle);
    mem_free(d->env, d);
  }
}

void digest_cleanup(digest **d) { digest_free(*d); }

void digest_of(digest *d, str data, uint8_t *ret) {
  gcry_md_reset(d->handle);
  gcry_md_write(d->handle, data.data, data.size);
  memcpy(ret, gcry_md_read(d->handle, KINDS[d->kind].algorithm), KINDS[d->kind].size);
}
