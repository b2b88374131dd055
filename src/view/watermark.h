/**
 * @file watermark.h
 * The stamp of a view: which source version its rows reflect, kept in the schema metadata
 * (materialized-views 5).
 */
#ifndef GLAIVE_VIEW_WATERMARK_H
#define GLAIVE_VIEW_WATERMARK_H

#include "table/commit.h"
#include "table/table.h"
#include "view/definition.h"

/** What a view's metadata says. Numbers that do not parse count as absent. */
typedef struct watermark {
  bool has_source_version;
  uint64_t source_version;
  bool has_timestamp;
  uint64_t source_timestamp_ns;
  bool has_view_version;
  uint64_t view_version;
  bool has_refreshed_at;
  uint64_t refreshed_at_ms; /* since 1970 */
  str incarnation;          /* size 0 = none; borrowed from the snapshot */
} watermark;

watermark watermark_read(const table_snapshot *view);

/** Length of an incarnation: a UUID version 4, lower case, hyphenated. */
#define INCARNATION_SIZE 36
/** Make a new one; text gets a NUL. Errors: GLV_E_IO (entropy). */
glv_status incarnation_new(glv_env *env, char text[INCARNATION_SIZE + 1], glv_error *err);

/** The five keys of a stamp as metadata changes, and one more when the definition is rewritten. */
typedef struct stamp {
  metadata_change changes[6];
  size_t count;
  char numbers[4][24];
} stamp;

/**
 * Fill a stamp in place (changes point into it).
 *
 * @param incarnation      of the view; borrowed.
 * @param view_version     the version that will carry the stamp.
 * @param new_definition   data NULL = the definition stays; else its new text, borrowed.
 */
void stamp_make(stamp *s, str incarnation, uint64_t source_version, int64_t source_timestamp_ns,
                int64_t now_ns, uint64_t view_version, str new_definition);

#endif
