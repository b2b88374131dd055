/**
 * @file shred_private.h
 * From nested arrays to the values of one leaf and the levels that tell where they belong
 * (lance-file-format section 6).
 *
 * Levels here count from the outside in, so that they do not depend on what lies further inside:
 *   repetition   0 = the entry begins a row, k = it begins an item of the k-th list from outside
 *   definition   0 = valid; then one code for each item layer (null) and two for each list layer
 *                (null, empty), outermost layer first
 * Pages number them the other way round, see page_levels.
 */
#ifndef GLAIVE_FORMAT_SHRED_PRIVATE_H
#define GLAIVE_FORMAT_SHRED_PRIVATE_H

#include "format/page_leaf_private.h"

typedef struct shredded {
  array values; /* one for each entry that has a value; owned */
  size_t entries;
  buffer *rep;      /* uint16_t each; NULL: no lists, each entry begins a row */
  buffer *def;      /* uint16_t each; NULL: nothing but values is null */
  buffer *validity; /* of the values, from bit 0; NULL: as values has it */
} shredded;

/**
 * Shred a narrowed array (see leaf_narrow), which is taken over.
 *
 * Errors: GLV_E_SCHEMA "The field `X` contained null values even though ..."; GLV_E_NOMEM;
 * GLV_E_LIMIT.
 */
glv_status shred(glv_env *env, const page_leaf *leaf, array *taken, shredded *ret, glv_error *err);
void shredded_dispose(shredded *s); /* usable with CLEANUP */

/** Code of a null value of the leaf; codes of the steps are below. */
uint16_t shred_leaf_code(const page_leaf *leaf);
/** Entries with a code from 1 up to this one have no value: those of nulls and empties of lists,
 * and of what is around lists. 0 when there are no lists. */
uint16_t shred_closed_code(const page_leaf *leaf);
/** The refusal of nulls in a field. */
glv_status shred_refuse_nulls(const char *name, glv_error *err);

#endif
