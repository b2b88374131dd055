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

static const option_spec tag_options[] = {
    {"move", 0, OPTION_FLAG, NULL, "set: a tag of that name is moved"},
};

const command upkeep_commands[] = {
    {"table", "tag", "list NAME | set NAME TAG [VERSION] | drop NAME TAG", 2, 4,
     "List, set or drop names of versions; cleanup keeps the versions they name.", tag_options, 1,
     tag},
    {0},
};
