/**
 * @file search_private.h
 * From the rows that were found to the result.
 */
#ifndef GLAIVE_SEARCH_SEARCH_PRIVATE_H
#define GLAIVE_SEARCH_SEARCH_PRIVATE_H

#include "search/nearest.h"
#include "search/search.h"

/**
 * Read what the result needs of the rows found, and make it.
 *
 * @param found  in the order of the result; those of one query lie together.
 */
glv_status search_result(const table_snapshot *t, const search_options *o, bool numbers_queries,
                         const neighbor *found, size_t count, batch_reader *ret, glv_error *err);

#endif
