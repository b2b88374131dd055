/* Routes of versions, tags and statistics, and of what this release does not have (rest-protocol.md
 * 7.9 to 7.13 and 11). */
#include <inttypes.h>

#include "arrow/cdata.h"
#include "base/checked.h"
#include "server/name_list.h"
#include "server/routes.h"
#include "server/server_private.h"
#include "server/table_body.h"
#include "server/tables.h"
#include "wire/extra.h"
#include "wire/members.h"
#include "wire/time.h"

/* ---- rows of the library as bodies ---- */

/* Call for every row of a stream, whose columns are those of one batch; takes it over. */
static glv_status each_row(request *r, struct ArrowArrayStream *rows, json *into,
                           glv_status (*put)(request *r, const batch *b, size_t i, json *into,
                                             glv_error *err),
                           glv_error *err) {
  batch_reader reader;
  TRY(cdata_import_stream(r->env, rows, &reader, err));
  glv_status status = GLV_OK;
  for (bool end = false; !end && status == GLV_OK;) {
    CLEANUP(batch_dispose) batch b = {0};
    status = reader.next(reader.state, &b, &end, err);
    for (size_t i = 0; !end && status == GLV_OK && i < b.length; i++) {
      status = put(r, &b, i, into, err);
    }
  }
  batch_reader_dispose(&reader);
  return status;
}

static uint64_t number_at(const batch *b, size_t column, size_t i) {
  return ARRAY_VALUES(&b->columns[column], uint64_t)[i];
}

static const char *text_at(request *r, const batch *b, size_t column, size_t i) {
  return !array_is_valid(&b->columns[column], i)
             ? NULL
             : arena_strdup(r->memory, array_str(&b->columns[column], i));
}

/* ---- versions ---- */

static glv_status put_version(request *r, const batch *b, size_t i, json *into, glv_error *err) {
  const uint64_t version = number_at(b, 0, i);
  const int64_t at_ns = ARRAY_VALUES(&b->columns[1], int64_t)[i];
  char time[WIRE_TIME_SIZE];
  CLEANUP(js_cleanup) json *entry = js_new_object();
  CLEANUP(js_cleanup) json *details = js_new_object();
  wire_time_print(at_ns, time);
  TRY(wire_put_uint(entry, "version", version, err));
  TRY(wire_put_text(entry, "timestamp", time, err));
  TRY(wire_put_int(entry, "timestamp_millis", at_ns / 1000000, err));
  TRY(wire_put_text(entry, "manifest_path",
                    arena_printf(r->memory, "_versions/%" PRIu64 ".manifest", UINT64_MAX - version),
                    err));
  TRY(wire_put_text(details, "total_rows", arena_printf(r->memory, "%" PRIu64, number_at(b, 2, i)),
                    err));
  if (array_is_valid(&b->columns[3], i)) {
    TRY(js_put(details, "operation", js_new_string(array_str(&b->columns[3], i)), err));
  }
  json *taken = details;
  details = NULL;
  TRY(js_put(entry, "metadata", taken, err));
  taken = entry;
  entry = NULL;
  return js_push(into, taken, err);
}

/* The version that a page begins after; 0 = at the start. */
static glv_status read_after(const glv_page_options *page, uint64_t *ret, glv_error *err) {
  *ret = 0;
  if (page->page_token != NULL && (!str_to_u64(str_of(page->page_token), ret) || *ret == 0)) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'page_token' is none that this server gave");
  }
  return GLV_OK;
}

/* What the parameters ask for of all versions, which ascend. */
static glv_status put_version_page(request *r, const json *all, json *body, glv_error *err) {
  CLEANUP(js_cleanup) json *entries = js_new_array();
  glv_page_options page;
  bool descending = false;
  bool more = false;
  uint64_t after = 0;
  uint64_t last = 0;
  TRY(name_list_page(r, 0, &page, err));
  TRY(read_after(&page, &after, err));
  TRY(request_param_bool(r, "descending", &descending, err));
  for (size_t i = 0; i < js_count(all) && !more; i++) {
    const json *entry = js_item(all, descending ? js_count(all) - 1 - i : i);
    const uint64_t version = (uint64_t)js_int(js_member(entry, "version"));
    if (after != 0 && (descending ? version >= after : version <= after)) {
      continue;
    }
    more = (page.flags & GLV_PAGE_LIMIT) != 0 && js_count(entries) == page.limit;
    TRY(more ? GLV_OK : js_push(entries, js_copy(entry), err));
    last = more ? last : version;
  }
  const char *token = more && last != 0 ? arena_printf(r->memory, "%" PRIu64, last) : NULL;
  json *taken = entries;
  entries = NULL;
  TRY(js_put(body, "versions", taken, err));
  return wire_put_text(body, WIRE_PAGE_TOKEN, token, err);
}

static glv_status list_versions(request *r, glv_error *err) {
  const json *ignored = NULL;
  glv_table *table = NULL;
  struct ArrowArrayStream rows;
  CLEANUP(js_cleanup) json *body = js_new_object();
  CLEANUP(js_cleanup) json *entries = js_new_array();
  TRY(table_body(r, &ignored, err));
  TRY(server_table_open(r, r->id, 0, &table, err));
  TRY(glv_table_versions(table, &rows, err));
  TRY(each_row(r, &rows, entries, put_version, err));
  TRY(put_version_page(r, entries, body, err));
  json *taken = body;
  body = NULL;
  return answer_json(r, 200, taken, err);
}

static glv_status restore(request *r, glv_error *err) {
  const json *body = NULL;
  glv_table *table = NULL;
  glv_open_options at = GLV_OPTIONS(glv_open_options);
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  TRY(table_body(r, &body, err));
  TRY(wire_uint(body, "version", &at.version, err));
  TRY(server_table_open_own(r, r->id, NULL, &table, err));
  TRY(glv_table_checkout(table, &at, err));
  options.cancel = r->cancel;
  TRY(glv_table_restore(table, &options, err));
  const named_number version = {"version", glv_table_version(table)};
  return answer_numbers(r, &version, 1, err);
}

/* ---- tags ---- */

/* A time of the library; left out when it is not known. */
static glv_status put_time(json *into, const char *key, const batch *b, size_t column, size_t i,
                           glv_error *err) {
  char text[WIRE_TIME_SIZE];
  if (!array_is_valid(&b->columns[column], i)) {
    return GLV_OK;
  }
  wire_time_print(ARRAY_VALUES(&b->columns[column], int64_t)[i], text);
  return wire_put_text(into, key, text, err);
}

static glv_status put_tag(request *r, const batch *b, size_t i, json *into, glv_error *err) {
  const char *name = text_at(r, b, 0, i);
  const char *branch = text_at(r, b, 2, i);
  const bool has_size = array_is_valid(&b->columns[5], i);
  CLEANUP(js_cleanup) json *entry = js_new_object();
  if (name == NULL) {
    return error_nomem(err, 0);
  }
  TRY(wire_put_text(entry, "branch", branch, err));
  TRY(wire_put_uint(entry, "version", number_at(b, 1, i), err));
  TRY(wire_put_uint(entry, "manifestSize", has_size ? number_at(b, 5, i) : 0, err));
  TRY(put_time(entry, "createdAt", b, 3, i, err));
  TRY(put_time(entry, "updatedAt", b, 4, i, err));
  json *taken = entry;
  entry = NULL;
  return js_put(into, name, taken, err);
}

static glv_status read_tags(request *r, json *into, glv_error *err) {
  const json *ignored = NULL;
  glv_table *table = NULL;
  struct ArrowArrayStream rows;
  TRY(table_body(r, &ignored, err));
  TRY(server_table_open(r, r->id, 0, &table, err));
  TRY(glv_table_tags(table, &rows, err));
  return each_row(r, &rows, into, put_tag, err);
}

/* LanceDB's client is known by the slash at the end: a bare map for it, an envelope for others. */
static glv_status list_tags(request *r, glv_error *err) {
  CLEANUP(js_cleanup) json *tags = js_new_object();
  TRY(read_tags(r, tags, err));
  json *taken = tags;
  tags = NULL;
  if (r->has_slash && strcmp(r->method, "POST") == 0) {
    return answer_json(r, 200, taken, err);
  }
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(js_put(body, "tags", taken, err));
  TRY(wire_put_text(body, WIRE_PAGE_TOKEN, NULL, err));
  taken = body;
  body = NULL;
  return answer_json(r, 200, taken, err);
}

static glv_status tag_version(request *r, glv_error *err) {
  const json *body = NULL;
  const char *tag = NULL;
  CLEANUP(js_cleanup) json *tags = js_new_object();
  TRY(request_json(r, &body, err));
  TRY(wire_text_required(body, "tag", &tag, err));
  TRY(read_tags(r, tags, err));
  const json *found = js_member(tags, tag);
  return found != NULL ? answer_json(r, 200, js_copy(found), err)
                       : FAIL(err, GLV_E_TAG_NOT_FOUND, "tag '%s' was not found", tag);
}

static glv_status set_tag(request *r, bool move, glv_error *err) {
  const json *body = NULL;
  const char *tag = NULL;
  uint64_t version = 0;
  glv_table *table = NULL;
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  CLEANUP(js_cleanup) json *tags = js_new_object();
  TRY(table_body(r, &body, err));
  TRY(wire_text_required(body, "tag", &tag, err));
  TRY(wire_uint_required(body, "version", &version, err));
  TRY(read_tags(r, tags, err));
  if (move && js_member(tags, tag) == NULL) {
    return FAIL(err, GLV_E_TAG_NOT_FOUND, "tag '%s' was not found", tag);
  }
  TRY(server_table_open_own(r, r->id, NULL, &table, err));
  options.flags = move ? GLV_TAG_MOVE : 0;
  TRY(glv_table_tag_set(table, tag, version, &options, err));
  return answer_json(r, 200, NULL, err);
}

static glv_status create_tag(request *r, glv_error *err) { return set_tag(r, false, err); }
static glv_status update_tag(request *r, glv_error *err) { return set_tag(r, true, err); }

static glv_status delete_tag(request *r, glv_error *err) {
  const json *body = NULL;
  const char *tag = NULL;
  glv_table *table = NULL;
  TRY(table_body(r, &body, err));
  TRY(wire_text_required(body, "tag", &tag, err));
  TRY(server_table_open_own(r, r->id, NULL, &table, err));
  TRY(glv_table_tag_drop(table, tag, err));
  return answer_json(r, 200, NULL, err);
}

/* ---- statistics ---- */

static glv_status put_fragments(json *body, const json *described, glv_error *err) {
  static const char *const lengths[] = {"min", "max", "mean", "p25", "p50", "p75", "p99"};
  const json *rows = NULL;
  uint64_t value = 0;
  CLEANUP(js_cleanup) json *stats = js_new_object();
  CLEANUP(js_cleanup) json *inner = js_new_object();
  TRY(wire_object(described, "fragment_rows", &rows, err));
  TRY(wire_uint(described, "fragments", &value, err));
  TRY(wire_put_uint(stats, "num_fragments", value, err));
  TRY(wire_uint(rows, "small", &value, err));
  TRY(wire_put_uint(stats, "num_small_fragments", value, err));
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    TRY(wire_uint(rows, lengths[i], &value, err));
    TRY(wire_put_uint(inner, lengths[i], value, err));
  }
  json *taken = inner;
  inner = NULL;
  TRY(js_put(stats, "lengths", taken, err));
  taken = stats;
  stats = NULL;
  return js_put(body, "fragment_stats", taken, err);
}

static glv_status stats(request *r, glv_error *err) {
  const json *ignored = NULL;
  glv_table *table = NULL;
  uint64_t bytes = 0;
  uint64_t rows = 0;
  const json *indexes = NULL;
  CLEANUP(js_cleanup) json *described = NULL;
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(table_body(r, &ignored, err));
  TRY(server_table_open(r, r->id, 0, &table, err));
  TRY(table_body_describe(table, &described, err));
  TRY(wire_uint(described, "size_bytes", &bytes, err));
  TRY(wire_uint(described, "rows", &rows, err));
  TRY(wire_put_uint(body, "total_bytes", bytes, err));
  TRY(wire_put_uint(body, "num_rows", rows, err));
  TRY(wire_array(described, "indexes", &indexes, err));
  TRY(wire_put_uint(body, "num_indices", indexes != NULL ? js_count(indexes) : 0, err));
  TRY(put_fragments(body, described, err));
  json *taken = body;
  body = NULL;
  return answer_json(r, 200, taken, err);
}

/* ---- indexes ---- */

/* The kinds that the details of an index tell; of vector indexes only their files tell which. */
static const char *kind_of(const char *type_url) {
  static const struct {
    const char *details;
    const char *word;
  } kinds[] = {{"BTreeIndexDetails", "BTree"},
               {"BitmapIndexDetails", "Bitmap"},
               {"LabelListIndexDetails", "LabelList"},
               {"InvertedIndexDetails", "FTS"},
               {"NGramIndexDetails", "NGram"},
               {"ZoneMapIndexDetails", "ZoneMap"},
               {"BloomFilterIndexDetails", "BloomFilter"}};
  const char *dot = strrchr(type_url, '.');
  for (size_t i = 0; dot != NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(dot + 1, kinds[i].details) == 0) {
      return kinds[i].word;
    }
  }
  return "Unknown";
}

typedef struct index_told {
  const char *name;
  const char *uuid;
  const char *type_url;
  uint64_t indexed;
  uint64_t unindexed;
  uint64_t segments;
  int64_t version;
  int64_t created_ms;
} index_told;

static glv_status read_index(const json *from, index_told *ret, glv_error *err) {
  *ret = (index_told){.type_url = ""};
  TRY(wire_text(from, "name", &ret->name, err));
  TRY(wire_text(from, "uuid", &ret->uuid, err));
  TRY(wire_text(from, "type_url", &ret->type_url, err));
  TRY(wire_uint(from, "rows_indexed", &ret->indexed, err));
  TRY(wire_uint(from, "rows_unindexed", &ret->unindexed, err));
  TRY(wire_uint(from, "segments", &ret->segments, err));
  TRY(wire_int(from, "version", &ret->version, err));
  return wire_int(from, "created_ms", &ret->created_ms, err);
}

static glv_status push_index(const json *from, json *into, glv_error *err) {
  index_told x;
  CLEANUP(js_cleanup) json *entry = js_new_object();
  TRY(read_index(from, &x, err));
  TRY(wire_put_text(entry, "index_name", x.name, err));
  TRY(js_put(entry, "columns", js_copy(js_member(from, "columns")), err));
  TRY(wire_put_text(entry, "index_type", kind_of(x.type_url), err));
  TRY(wire_put_text(entry, "index_uuid", x.uuid, err));
  TRY(wire_put_text(entry, "status", "done", err));
  TRY(wire_put_uint(entry, "num_indexed_rows", x.indexed, err));
  TRY(wire_put_uint(entry, "num_unindexed_rows", x.unindexed, err));
  TRY(wire_put_uint(entry, "num_segments", x.segments, err));
  TRY(wire_put_int(entry, "index_version", x.version, err));
  TRY(wire_put_text(entry, "type_url", x.type_url, err));
  if (x.created_ms != 0) {
    TRY(wire_put_int(entry, "created_at", x.created_ms, err));
  }
  json *taken = entry;
  entry = NULL;
  return js_push(into, taken, err);
}

static glv_status open_indexes(request *r, json **ret_described, const json **ret, glv_error *err) {
  const json *body = NULL;
  glv_table *table = NULL;
  TRY(table_body(r, &body, err));
  TRY(table_body_open(r, body, &table, err));
  TRY(table_body_describe(table, ret_described, err));
  return wire_array(*ret_described, "indexes", ret, err);
}

static glv_status list_indexes(request *r, glv_error *err) {
  const json *indexes = NULL;
  CLEANUP(js_cleanup) json *described = NULL;
  CLEANUP(js_cleanup) json *body = js_new_object();
  CLEANUP(js_cleanup) json *list = js_new_array();
  TRY(open_indexes(r, &described, &indexes, err));
  for (size_t i = 0; indexes != NULL && i < js_count(indexes); i++) {
    TRY(push_index(js_item(indexes, i), list, err));
  }
  json *taken = list;
  list = NULL;
  TRY(js_put(body, "indexes", taken, err));
  taken = body;
  body = NULL;
  return answer_json(r, 200, taken, err);
}

static glv_status answer_stats(request *r, const index_told *x, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(wire_put_uint(body, "num_indexed_rows", x->indexed, err));
  TRY(wire_put_uint(body, "num_unindexed_rows", x->unindexed, err));
  TRY(wire_put_text(body, "index_type", kind_of(x->type_url), err));
  TRY(wire_put_text(body, "distance_type", NULL, err));
  TRY(wire_put_uint(body, "num_indices", x->segments, err));
  json *taken = body;
  body = NULL;
  return answer_json(r, 200, taken, err);
}

static glv_status index_stats(request *r, glv_error *err) {
  const json *indexes = NULL;
  index_told x;
  CLEANUP(js_cleanup) json *described = NULL;
  TRY(open_indexes(r, &described, &indexes, err));
  for (size_t i = 0; indexes != NULL && i < js_count(indexes); i++) {
    TRY(read_index(js_item(indexes, i), &x, err));
    if (x.name != NULL && strcmp(x.name, r->name) == 0) {
      return answer_stats(r, &x, err);
    }
  }
  return FAIL(err, GLV_E_INDEX_NOT_FOUND, "Index '%s' was not found", r->name);
}

/* ---- rename ---- */

static glv_status rename_table(request *r, glv_error *err) {
  const json *body = NULL;
  const char *name = NULL;
  const char *const *ns = NULL;
  size_t count = 0;
  TRY(request_json(r, &body, err));
  TRY(wire_text_required(body, "new_table_name", &name, err));
  TRY(wire_texts(r->memory, body, "new_namespace_id", &ns, &count, err));
  TRY(wire_texts(r->memory, body, "new_namespace", &ns, &count, err));
  const bool stays = ns == NULL;
  count = stays ? r->id.count - 1 : count;
  const char **parts = ARENA_ARRAY(r->memory, const char *, count + 1);
  if (parts == NULL) {
    return error_nomem(err, count * sizeof *parts);
  }
  for (size_t i = 0; i < count; i++) {
    parts[i] = stays ? r->id.parts[i] : ns[i];
  }
  parts[count] = name;
  TRY(request_check_namespace(r, (glv_id){parts, count}, err));
  server_table_forget(r, r->id);
  const glv_status status =
      glv_table_rename(r->server->conn, r->id, (glv_id){parts, count + 1}, NULL, err);
  if (status == GLV_E_TABLE_EXISTS) {
    err->http_status = 409; /* nobody repeats it */
  }
  TRY(status);
  return answer_json(r, 200, NULL, err);
}

/* ---- field metadata ---- */

static glv_status read_items(request *r, const json *map, glv_pairs *ret, glv_error *err) {
  const size_t count = map != NULL ? js_count(map) : 0;
  glv_pair *pairs = ARENA_ARRAY(r->memory, glv_pair, count);
  if (pairs == NULL) {
    return error_nomem(err, count * sizeof *pairs);
  }
  for (size_t i = 0; i < count; i++) {
    str key;
    const json *value = js_member_at(map, i, &key);
    const bool removes = js_kind_of(value) == JS_NULL;
    TRY(removes ? GLV_OK : wire_expect(value, JS_STRING, "a value of 'metadata'", err));
    pairs[i] = (glv_pair){arena_strdup(r->memory, key),
                          removes ? NULL : arena_strdup(r->memory, js_string(value))};
    if (pairs[i].name == NULL || (!removes && pairs[i].value == NULL)) {
      return error_nomem(err, key.size);
    }
  }
  *ret = (glv_pairs){pairs, count};
  return GLV_OK;
}

static glv_status update_field(request *r, glv_table *table, const json *item,
                               glv_write_result *ret, glv_error *err) {
  const json *map = NULL;
  bool replace = false;
  glv_pairs items;
  glv_metadata_options options = GLV_OPTIONS(glv_metadata_options);
  TRY(wire_expect(item, JS_OBJECT, "an item of 'updates'", err));
  TRY(wire_text_required(item, "path", &options.column, err));
  TRY(wire_object(item, "metadata", &map, err));
  TRY(wire_bool(item, "replace", &replace, err));
  TRY(read_items(r, map, &items, err));
  options.target = GLV_METADATA_FIELD;
  options.flags = replace ? GLV_METADATA_REPLACE : 0;
  options.cancel = r->cancel;
  return glv_table_set_metadata(table, items, &options, ret, err);
}

static glv_status update_field_metadata(request *r, glv_error *err) {
  const json *body = NULL;
  const json *updates = NULL;
  glv_table *table = NULL;
  glv_write_result result = GLV_OPTIONS(glv_write_result);
  TRY(table_body(r, &body, err));
  TRY(wire_array(body, "updates", &updates, err));
  if (updates == NULL || js_count(updates) == 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "'updates' names no column");
  }
  TRY(table_body_open_own(r, &table, err));
  for (size_t i = 0; i < js_count(updates); i++) {
    TRY(update_field(r, table, js_item(updates, i), &result, err));
  }
  return table_body_wrote(r, &result, NULL, err);
}

const route upkeep_routes[] = {
    {"/v1/table/{id}/version/list", ROUTE_POST, ACCESS_READ, list_versions,
     "The versions of a table."},
    {"/v1/table/{id}/restore", ROUTE_POST | ROUTE_SERIAL, ACCESS_WRITE, restore,
     "Make an old version the latest."},
    {"/v1/table/{id}/tags/list", ROUTE_POST | ROUTE_GET, ACCESS_READ, list_tags,
     "The tags of a table."},
    {"/v1/table/{id}/tags/version", ROUTE_POST, ACCESS_READ, tag_version, "What a tag names."},
    {"/v1/table/{id}/tags/create", ROUTE_POST, ACCESS_WRITE, create_tag, "Name a version."},
    {"/v1/table/{id}/tags/update", ROUTE_POST, ACCESS_WRITE, update_tag, "Move a tag."},
    {"/v1/table/{id}/tags/delete", ROUTE_POST, ACCESS_WRITE, delete_tag, "Drop a tag."},
    {"/v1/table/{id}/stats", ROUTE_POST, ACCESS_READ, stats, "Sizes of a table."},
    {"/v1/table/{id}/rename", ROUTE_POST, ACCESS_WRITE, rename_table, "Rename a table."},
    {"/v1/table/{id}/update_field_metadata", ROUTE_POST | ROUTE_SERIAL, ACCESS_WRITE,
     update_field_metadata, "Metadata of columns."},
    {"/v1/table/{id}/index/list", ROUTE_POST, ACCESS_READ, list_indexes,
     "The indexes of a table, which other engines built."},
    {"/v1/table/{id}/index/{name}/stats", ROUTE_POST, ACCESS_READ, index_stats,
     "How much of a table an index covers."},
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
