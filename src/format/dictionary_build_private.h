/**
 * @file dictionary_build_private.h
 * The distinct values of a page of text.
 */
#ifndef GLAIVE_FORMAT_DICTIONARY_BUILD_PRIVATE_H
#define GLAIVE_FORMAT_DICTIONARY_BUILD_PRIVATE_H

#include "format/page_write_private.h"

/** What decides whether two values are equal; see dictionary_build.c. */
typedef struct text_key {
  uint64_t head;
  uint64_t tail;
} text_key;

/** Values in order of appearance, numbered from 0 on. */
typedef struct dictionary {
  glv_env *env;      /* borrowed */
  uint32_t *slots;   /* see dictionary_build.c */
  size_t slot_count; /* a power of two, at least twice the values */
  text_key *keys;    /* of value i at i + 1; the first equals no value's */
  size_t key_capacity;
  uint32_t *begins; /* where value i begins in text */
  size_t begin_capacity;
  size_t count;
  buf text;
  uint32_t *numbers; /* the value of each row; 0 for nulls */
  size_t most;       /* more values than this are too many */
  uint64_t steps;    /* of probing that are left */
} dictionary;

/**
 * Find the distinct values of all valid rows of a page.
 *
 * @param ret      to be disposed of in every case.
 * @param ret_fits false: there are more than half as many as rows, or more than a million, or their
 * text is longer than 8 MiB; *ret is then incomplete.
 * Errors: GLV_E_NOMEM.
 */
glv_status dictionary_build(const page_input *in, dictionary *ret, bool *ret_fits, glv_error *err);
void dictionary_dispose(dictionary *d); /* usable with CLEANUP */
/**
 * Build a dictionary for a page where one may pay.
 *
 * @param ret_size  bytes of the page with it, at most; UINT64_MAX when there is none.
 */
glv_status dictionary_look(const page_input *in, dictionary *ret, uint64_t *ret_size,
                           glv_error *err);
/** Write the page with the dictionary that was found. */
glv_status dictionary_write(const page_input *in, dictionary *d, page_output *out, glv_error *err);
/** Release what only building needs. */
void dictionary_trim(dictionary *d);

#endif
