/*
 * Reading and making stamps. The order of the keys in a stamp is that of LanceDB 0.40: incarnation,
 * definition if it changes, source version and its timestamp, time of the refresh, version of the
 * view.
 */
#include "view/watermark.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/encoding.h"

static bool read_number(const table_snapshot *view, const char *key, uint64_t *ret) {
  bool found = false;
  const str text = table_metadata_get(view, str_of(key), &found);
  return found && str_to_u64(text, ret);
}

watermark watermark_read(const table_snapshot *view) {
  watermark w = {0};
  w.has_source_version = read_number(view, VIEW_KEY_SOURCE_VERSION, &w.source_version);
  w.has_timestamp = read_number(view, VIEW_KEY_SOURCE_TIMESTAMP, &w.source_timestamp_ns);
  w.has_view_version = read_number(view, VIEW_KEY_VIEW_VERSION, &w.view_version);
  w.has_refreshed_at = read_number(view, VIEW_KEY_REFRESHED_AT, &w.refreshed_at_ms);
  w.incarnation = table_metadata_get(view, STR(VIEW_KEY_INCARNATION), NULL);
  return w;
}

glv_status incarnation_new(glv_env *env, char text[INCARNATION_SIZE + 1], glv_error *err) {
  TRY(uuid_random(env, text, err));
  text[INCARNATION_SIZE] = '\0';
  return GLV_OK;
}

static void add(stamp *s, const char *key, str value) {
  s->changes[s->count++] = (metadata_change){str_of(key), value};
}

static str number(stamp *s, size_t index, uint64_t value) {
  snprintf(s->numbers[index], sizeof s->numbers[index], "%" PRIu64, value);
  return str_of(s->numbers[index]);
}

void stamp_make(stamp *s, str incarnation, uint64_t source_version, int64_t source_timestamp_ns,
                int64_t now_ns, uint64_t view_version, str new_definition) {
  s->count = 0;
  add(s, VIEW_KEY_INCARNATION, incarnation);
  if (new_definition.data != NULL) {
    add(s, VIEW_KEY_DEFINITION, new_definition);
  }
  add(s, VIEW_KEY_SOURCE_VERSION, number(s, 0, source_version));
  add(s, VIEW_KEY_SOURCE_TIMESTAMP, number(s, 1, (uint64_t)source_timestamp_ns));
  add(s, VIEW_KEY_REFRESHED_AT, number(s, 2, (uint64_t)(now_ns / 1000000)));
  add(s, VIEW_KEY_VIEW_VERSION, number(s, 3, view_version));
}
