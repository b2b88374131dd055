/* glaive table tag, restore, compact, cleanup, migrate: upkeep of tables. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

/* ---- tags ---- */

static int tag_list(cli *c, glv_table *table) {
  struct ArrowArrayStream stream;
  return glv_table_tags(table, &stream, &c->error) == GLV_OK
             ? cli_print_stream(c, &stream, c->json ? "json" : "table", NULL)
             : cli_failed(c);
}

static int report_tag(cli *c, const char *verb, const char *tag, glv_id id) {
  if (!c->json) {
    printf("%s tag %s of table %s\n", verb, tag, cli_name_text(c, id));
    return EXIT_DONE;
  }
  json *o = js_new_object();
  if ((js_put(o, "table", js_new_string(str_of(cli_name_text(c, id))), &c->error) |
       js_put(o, verb, js_new_string(str_of(tag)), &c->error)) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

static int tag_set(cli *c, glv_table *table, glv_id id) {
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.flags = cli_flag(c, "move") ? GLV_TAG_MOVE : 0;
  uint64_t version = 0;
  if (c->argument_count > 3 && (!str_to_u64(str_of(c->arguments[3]), &version) || version == 0)) {
    return cli_usage(c, "a version is a whole number, not '%s'", c->arguments[3]);
  }
  return glv_table_tag_set(table, c->arguments[2], version, &options, &c->error) == GLV_OK
             ? report_tag(c, "set", c->arguments[2], id)
             : cli_failed(c);
}

static int tag_drop(cli *c, glv_table *table, glv_id id) {
  return glv_table_tag_drop(table, c->arguments[2], &c->error) == GLV_OK
             ? report_tag(c, "dropped", c->arguments[2], id)
             : cli_failed(c);
}

static int tag(cli *c) {
  const str action = str_of(c->arguments[0]);
  const bool is_list = str_is(action, "list");
  const bool is_set = str_is(action, "set");
  if (!is_list && !is_set && !str_is(action, "drop")) {
    return cli_usage(c, "'table tag' lists, sets or drops tags; '%s' is none of these",
                     c->arguments[0]);
  }
  const size_t wanted = is_list ? 2 : 3;
  if (c->argument_count < wanted || c->argument_count > wanted + is_set) {
    return cli_usage(c, "'table tag %s' takes other arguments", c->arguments[0]);
  }
  if (cli_flag(c, "move") && !is_set) {
    return cli_usage(c, "--move goes with 'table tag set'");
  }
  glv_id id;
  glv_table *table = cli_open_table(c, c->arguments[1], &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  const int code = is_list  ? tag_list(c, table)
                   : is_set ? tag_set(c, table, id)
                            : tag_drop(c, table, id);
  glv_table_free(table);
  return code;
}

/* ---- compaction, restore ---- */

static int report_compaction(cli *c, glv_id id, const glv_compact_result *r) {
  if (!c->json && r->attempts == 0) {
    printf("%s: nothing to compact\n", cli_name_text(c, id));
    return EXIT_DONE;
  }
  if (!c->json) {
    printf("compacted %s fragments of %s into %s, %s rows, version %" PRIu64 "\n",
           cli_count(c, r->fragments_removed), cli_name_text(c, id),
           cli_count(c, r->fragments_added), cli_count(c, r->rows), r->version);
    return EXIT_DONE;
  }
  json *o = js_new_object();
  if ((js_put(o, "table", js_new_string(str_of(cli_name_text(c, id))), &c->error) |
       js_put(o, "version", js_new_int((int64_t)r->version), &c->error) |
       js_put(o, "fragments_removed", js_new_int((int64_t)r->fragments_removed), &c->error) |
       js_put(o, "fragments_added", js_new_int((int64_t)r->fragments_added), &c->error) |
       js_put(o, "files_removed", js_new_int((int64_t)r->files_removed), &c->error) |
       js_put(o, "files_added", js_new_int((int64_t)r->files_added), &c->error) |
       js_put(o, "rows", js_new_int((int64_t)r->rows), &c->error) |
       js_put(o, "bytes", js_new_int((int64_t)r->bytes), &c->error) |
       js_put(o, "attempts", js_new_int((int64_t)r->attempts), &c->error)) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

static int compact(cli *c) {
  glv_id id;
  glv_compact_options options = GLV_OPTIONS(glv_compact_options);
  glv_compact_result result = GLV_OPTIONS(glv_compact_result);
  if (cli_flag(c, "target-rows") && !cli_number(c, "target-rows", &options.target_rows)) {
    return EXIT_USAGE;
  }
  glv_table *table = cli_open_table(c, c->arguments[0], &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  const glv_status status = glv_table_compact(table, &options, &result, &c->error);
  glv_table_free(table);
  return status == GLV_OK ? report_compaction(c, id, &result) : cli_failed(c);
}

static int report_restore(cli *c, glv_id id, uint64_t restored, uint64_t version) {
  if (!c->json) {
    printf("restored version %" PRIu64 " of %s as version %" PRIu64 "\n", restored,
           cli_name_text(c, id), version);
    return EXIT_DONE;
  }
  json *o = js_new_object();
  if ((js_put(o, "table", js_new_string(str_of(cli_name_text(c, id))), &c->error) |
       js_put(o, "restored", js_new_int((int64_t)restored), &c->error) |
       js_put(o, "version", js_new_int((int64_t)version), &c->error)) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

static int restore(cli *c) {
  glv_id id;
  glv_open_options at = GLV_OPTIONS(glv_open_options);
  if (!str_to_u64(str_of(c->arguments[1]), &at.version) || at.version == 0) {
    return cli_usage(c, "a version is a whole number, not '%s'", c->arguments[1]);
  }
  glv_table *table = cli_open_table(c, c->arguments[0], &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  int code = EXIT_FAILED;
  if (glv_table_checkout(table, &at, &c->error) == GLV_OK &&
      glv_table_restore(table, NULL, &c->error) == GLV_OK) {
    code = report_restore(c, id, at.version, glv_table_version(table));
  } else {
    code = cli_failed(c);
  }
  glv_table_free(table);
  return code;
}

/* ---- migration ---- */

static int report_migration(cli *c, glv_id id, uint64_t before, uint64_t version) {
  if (!c->json) {
    version == before
        ? printf("%s has stable row ids already\n", cli_name_text(c, id))
        : printf("%s has stable row ids, version %" PRIu64 "\n", cli_name_text(c, id), version);
    return EXIT_DONE;
  }
  json *o = js_new_object();
  if ((js_put(o, "table", js_new_string(str_of(cli_name_text(c, id))), &c->error) |
       js_put(o, "migrated", js_new_bool(version != before), &c->error) |
       js_put(o, "version", js_new_int((int64_t)version), &c->error)) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

static int migrate(cli *c) {
  glv_id id;
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.flags = GLV_MIGRATE_STABLE_ROW_IDS;
  if (!cli_flag(c, "stable-row-ids")) {
    return cli_usage(c, "say what to migrate to: --stable-row-ids");
  }
  glv_table *table = cli_open_table(c, c->arguments[0], &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  const uint64_t before = glv_table_version(table);
  const int code = glv_table_migrate(table, &options, &c->error) == GLV_OK
                       ? report_migration(c, id, before, glv_table_version(table))
                       : cli_failed(c);
  glv_table_free(table);
  return code;
}

/* ---- cleanup ---- */

/* `7d`, `12h`, `30m`, `45s`, or `0`, in milliseconds. @return false after a usage error. */
static bool read_age(cli *c, const char *text, int64_t *ret_ms) {
  static const struct {
    char letter;
    uint64_t ms;
  } units[] = {{'d', 86400000}, {'h', 3600000}, {'m', 60000}, {'s', 1000}};
  const size_t size = strlen(text);
  uint64_t number = 0;
  uint64_t ms = 0;
  if (strcmp(text, "0") == 0) {
    *ret_ms = 0;
    return true;
  }
  for (size_t i = 0; size > 0 && i < sizeof units / sizeof units[0]; i++) {
    if (text[size - 1] == units[i].letter && str_to_u64(str_slice(text, size - 1), &number) &&
        u64_mul(number, units[i].ms, &ms) && ms <= INT64_MAX) {
      *ret_ms = (int64_t)ms;
      return true;
    }
  }
  cli_usage(c, "--older-than takes a time such as 7d, 12h, 30m, 45s or 0, not '%s'", text);
  return false;
}

static int report_cleanup(cli *c, glv_id id, const glv_cleanup_result *r, bool dry_run) {
  const uint64_t files = r->data_files + r->deletion_files + r->transaction_files + r->index_files;
  if (!c->json) {
    printf("%s %s versions and %s files of %s, %s bytes\n", dry_run ? "would remove" : "removed",
           cli_count(c, r->versions), cli_count(c, files), cli_name_text(c, id),
           cli_count(c, r->bytes));
    return EXIT_DONE;
  }
  json *o = js_new_object();
  if ((js_put(o, "table", js_new_string(str_of(cli_name_text(c, id))), &c->error) |
       js_put(o, "dry_run", js_new_bool(dry_run), &c->error) |
       js_put(o, "versions", js_new_int((int64_t)r->versions), &c->error) |
       js_put(o, "data_files", js_new_int((int64_t)r->data_files), &c->error) |
       js_put(o, "deletion_files", js_new_int((int64_t)r->deletion_files), &c->error) |
       js_put(o, "transaction_files", js_new_int((int64_t)r->transaction_files), &c->error) |
       js_put(o, "index_files", js_new_int((int64_t)r->index_files), &c->error) |
       js_put(o, "bytes", js_new_int((int64_t)r->bytes), &c->error)) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

static int cleanup(cli *c) {
  glv_id id;
  int64_t older_than_ms = -1;
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  glv_cleanup_result result = GLV_OPTIONS(glv_cleanup_result);
  const bool dry_run = cli_flag(c, "dry-run");
  options.flags = (dry_run ? GLV_CLEANUP_DRY_RUN : 0) |
                  (cli_flag(c, "refuse-tagged") ? GLV_CLEANUP_REFUSE_TAGGED : 0);
  if (cli_flag(c, "older-than") && !read_age(c, cli_value(c, "older-than"), &older_than_ms)) {
    return EXIT_USAGE;
  }
  glv_table *table = cli_open_table(c, c->arguments[0], &id);
  if (table == NULL) {
    return cli_failed(c);
  }
  const glv_status status = glv_table_cleanup(table, older_than_ms, &options, &result, &c->error);
  glv_table_free(table);
  return status == GLV_OK ? report_cleanup(c, id, &result, dry_run) : cli_failed(c);
}

static const option_spec compact_options[] = {
    {"target-rows", 0, OPTION_VALUE, "N", "join fragments with fewer rows (1048576)"},
};
static const option_spec migrate_options[] = {
    {"stable-row-ids", 0, OPTION_FLAG, NULL, "every row gets an id that it keeps; views need them"},
};
static const option_spec cleanup_options[] = {
    {"older-than", 0, OPTION_VALUE, "AGE", "versions younger than this stay: 12h, 30d, 0 (7d)"},
    {"dry-run", 0, OPTION_FLAG, NULL, "only tell what would be removed"},
    {"refuse-tagged", 0, OPTION_FLAG, NULL, "fail when a version of that age is tagged"},
};
static const option_spec tag_options[] = {
    {"move", 0, OPTION_FLAG, NULL, "set: a tag of that name is moved"},
};

const command upkeep_commands[] = {
    {"table", "tag", "list NAME | set NAME TAG [VERSION] | drop NAME TAG", 2, 4,
     "List, set or drop names of versions; cleanup keeps the versions they name.", tag_options, 1,
     tag},
    {"table", "restore", "NAME VERSION", 2, 2, "Make an old version the latest one.", NULL, 0,
     restore},
    {"table", "compact", "NAME", 1, 1,
     "Join small fragments, and let deleted rows leave the files.", compact_options, 1, compact},
    {"table", "migrate", "NAME", 1, 1, "Give a table a feature that it was made without.",
     migrate_options, 1, migrate},
    {"table", "cleanup", "NAME", 1, 1,
     "Remove old versions that no tag, view, branch or reader needs.", cleanup_options, 3, cleanup},
    {0},
};
