/* glaive ns: namespaces. */
#include "cli/cli.h"

static int create(cli *c) {
  glv_id ns;
  if (!cli_name(c, c->arguments[0], &ns)) {
    return cli_failed(c);
  }
  const option_value *given = cli_option(c, "property");
  glv_pair *pairs = ARENA_ARRAY(&c->memory, glv_pair, given->count);
  if (pairs == NULL) {
    error_nomem(&c->error, given->count * sizeof *pairs);
    return cli_failed(c);
  }
  for (size_t i = 0; i < given->count; i++) {
    if (!cli_assignment(c, given->items[i], &pairs[i].name, &pairs[i].value)) {
      return cli_failed(c);
    }
    if (pairs[i].name == NULL) {
      return cli_usage(c, "--property takes NAME=VALUE, not '%s'", given->items[i]);
    }
  }
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.flags = cli_flag(c, "if-needed") ? GLV_CALL_IF_NEEDED : 0;
  if (!cli_connect(c) || glv_namespace_create(c->conn, ns, (glv_pairs){pairs, given->count},
                                              &options, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  return cli_done(c, "created", "namespace", ns);
}

static int list(cli *c) {
  glv_id parent = {NULL, 0};
  glv_list *names = NULL;
  if ((c->argument_count > 0 && !cli_name(c, c->arguments[0], &parent)) || !cli_connect(c) ||
      glv_namespace_list(c->conn, parent, NULL, &names, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  const int code = cli_print_names(c, names);
  glv_list_free(names);
  return code;
}

static int describe(cli *c) {
  glv_id ns;
  glv_buf text = {0};
  if (!cli_name(c, c->arguments[0], &ns) || !cli_connect(c) ||
      glv_namespace_describe(c->conn, ns, NULL, &text, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  const int code = cli_print_object(c, &text, cli_name_text(c, ns));
  glv_buf_dispose(&text);
  return code;
}

static int drop(cli *c) {
  glv_id ns;
  glv_call_options options = GLV_OPTIONS(glv_call_options);
  options.flags = (cli_flag(c, "cascade") ? GLV_CALL_CASCADE : 0) |
                  (cli_flag(c, "if-exists") ? GLV_CALL_IF_NEEDED : 0);
  if (!cli_name(c, c->arguments[0], &ns) || !cli_connect(c) ||
      glv_namespace_drop(c->conn, ns, &options, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  return cli_done(c, "dropped", "namespace", ns);
}

static const option_spec create_options[] = {
    {"property", 0, OPTION_LIST, "NAME=VALUE", "a property kept with the namespace"},
    {"if-needed", 0, OPTION_FLAG, NULL, "an existing namespace is fine"},
};
static const option_spec drop_options[] = {
    {"cascade", 0, OPTION_FLAG, NULL, "drop its tables and namespaces too"},
    {"if-exists", 0, OPTION_FLAG, NULL, "a missing namespace is fine"},
};

const command ns_commands[] = {
    {"ns", "create", "NAME", 1, 1, "Create a namespace.", create_options, 2, create},
    {"ns", "list", "[NAME]", 0, 1, "List the namespaces of the root, or of a namespace.", NULL, 0,
     list},
    {"ns", "describe", "NAME", 1, 1, "Show the properties of a namespace.", NULL, 0, describe},
    {"ns", "drop", "NAME", 1, 1, "Drop a namespace.", drop_options, 2, drop},
    {0},
};
