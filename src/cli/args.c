/*
 * The command line: GLOBAL-OPTIONS GROUP COMMAND ARGUMENTS OPTIONS, options anywhere. Long options
 * take their value after "=" or as the next word; "--" ends them. Help texts and usage lines come
 * from the same tables that parsing uses.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

const option_spec cli_global_options[] = {
    {"db", 0, OPTION_VALUE, "DIR", "the database directory (or GLAIVE_DB)"},
    {"url", 0, OPTION_VALUE, "URL", "a server (or GLAIVE_URL)"},
    {"api-key", 0, OPTION_VALUE, "KEY", "key for the server (or GLAIVE_API_KEY)"},
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document instead of text"},
    {"help", 'h', OPTION_FLAG, NULL, "show this help"},
};
const size_t cli_global_option_count = sizeof cli_global_options / sizeof cli_global_options[0];

static const struct {
  const char *name;
  const char *summary;
  const command *commands;
} groups[] = {
    {"ns", "namespaces", ns_commands},
    {"table", "tables", table_commands},
    {"table", "rows of tables", rows_commands},
    {"table", "columns of tables", columns_commands},
    {"table", "upkeep of tables", upkeep_commands},
    {"view", "materialized views", view_commands},
    {"view", "materialized views and their sources", refresh_commands},
    {NULL, "", query_commands},
    {"job", "jobs of a server", job_commands},
    {NULL, "", serve_commands},
    {"key", "keys of a server", key_commands},
};
enum { GROUP_COUNT = sizeof groups / sizeof groups[0] };

/* ---- help ---- */

static void print_command_line(FILE *out, const command *k) {
  fprintf(out, "glaive %s%s%s%s%s", k->group != NULL ? k->group : "", k->group != NULL ? " " : "",
          k->name, k->arguments[0] != '\0' ? " " : "", k->arguments);
}

static void print_help(FILE *out) {
  fputs(
      "usage: glaive [--db DIR] [--json] COMMAND ...\n\nMaterialized views over Lance tables.\n\n",
      out);
  for (size_t g = 0; g < GROUP_COUNT; g++) {
    for (const command *k = groups[g].commands; k->name != NULL; k++) {
      fputs("  ", out);
      print_command_line(out, k);
      fprintf(out, "\n      %s\n", k->summary);
    }
  }
  fputs("\n`glaive COMMAND --help` tells the options of a command. Names are dotted paths: "
        "ops.nyc.flights\n",
        out);
}

static void print_option(FILE *out, const option_spec *o) {
  char left[64];
  const char *open = o->kind == OPTION_OPTIONAL_VALUE ? "[=" : " ";
  const char *close = o->kind == OPTION_OPTIONAL_VALUE ? "]" : "";
  if (o->letter != 0) {
    snprintf(left, sizeof left, "-%c, --%s%s%s%s", o->letter, o->name,
             o->value_name != NULL ? open : "", o->value_name != NULL ? o->value_name : "",
             o->value_name != NULL ? close : "");
  } else {
    snprintf(left, sizeof left, "--%s%s%s%s", o->name, o->value_name != NULL ? open : "",
             o->value_name != NULL ? o->value_name : "", o->value_name != NULL ? close : "");
  }
  fprintf(out, "  %-26s %s%s\n", left, o->help, o->kind == OPTION_LIST ? " (may be repeated)" : "");
}

static void print_command_help(FILE *out, const command *k) {
  fputs("usage: ", out);
  print_command_line(out, k);
  fprintf(out, "%s\n\n%s\n\n", k->option_count > 0 ? " [options]" : "", k->summary);
  for (size_t i = 0; i < k->option_count; i++) {
    print_option(out, &k->options[i]);
  }
  for (size_t i = 0; i < cli_global_option_count; i++) {
    print_option(out, &cli_global_options[i]);
  }
}

/* ---- looking up ---- */

static const option_spec *spec_at(const command *k, size_t i) {
  const size_t own = k != NULL ? k->option_count : 0;
  return i < own ? &k->options[i] : &cli_global_options[i - own];
}

static size_t spec_count(const command *k) {
  return (k != NULL ? k->option_count : 0) + cli_global_option_count;
}

const option_value *cli_option(const cli *c, const char *name) {
  for (size_t i = 0; i < spec_count(c->command); i++) {
    if (strcmp(spec_at(c->command, i)->name, name) == 0) {
      return &c->options[i];
    }
  }
  abort(); /* a command asks for an option that its own table does not have */
}

int cli_usage(const cli *c, const char *format, ...) {
  va_list arguments;
  fputs("glaive: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputs("\nusage: ", stderr);
  if (c->command != NULL) {
    print_command_line(stderr, c->command);
    fputs(c->command->option_count > 0 ? " [options]\n" : "\n", stderr);
  } else {
    fputs("glaive [--db DIR] [--json] COMMAND ...; see glaive --help\n", stderr);
  }
  return EXIT_USAGE;
}

bool cli_number(cli *c, const char *name, uint64_t *ret) {
  const char *text = cli_value(c, name);
  if (str_to_u64(str_of(text), ret)) {
    return true;
  }
  cli_usage(c, "--%s takes a whole number, not '%s'", name, text);
  return false;
}

/* ---- parsing ---- */

/* Words in argv order; the command's own words and the options are taken out of it. */
struct words {
  char **items;
  size_t count;
};

static const command *find_command(const char *group, const char *name) {
  for (size_t g = 0; g < GROUP_COUNT; g++) {
    const bool fits = group == NULL ? groups[g].name == NULL
                                    : groups[g].name != NULL && strcmp(groups[g].name, group) == 0;
    for (const command *k = groups[g].commands; fits && k->name != NULL; k++) {
      if (strcmp(k->name, name) == 0) {
        return k;
      }
    }
  }
  return NULL;
}

static bool is_group(const char *word) {
  for (size_t g = 0; g < GROUP_COUNT; g++) {
    if (groups[g].name != NULL && strcmp(groups[g].name, word) == 0) {
      return true;
    }
  }
  return false;
}

static bool takes_next_word(const char *option) {
  for (size_t i = 0; i < cli_global_option_count; i++) {
    if (strcmp(option, cli_global_options[i].name) == 0) {
      return cli_global_options[i].kind == OPTION_VALUE;
    }
  }
  return false;
}

/* Index in argv of the next word that is no global option (nor the value of one), from `at` on;
 * argc = none. */
static int next_word(int argc, char **argv, int at) {
  while (at < argc) {
    const char *word = argv[at];
    if (word[0] != '-' || word[1] == '\0') {
      return at;
    }
    const bool skip_value =
        strncmp(word, "--", 2) == 0 && strchr(word, '=') == NULL && takes_next_word(word + 2);
    at += skip_value ? 2 : 1;
  }
  return argc;
}

/* Find the command; *ret_first and *ret_second get the indices of its words (second -1 for one
 * word). */
static int choose_command(cli *c, int argc, char **argv, int *ret_first, int *ret_second) {
  const int first = next_word(argc, argv, 1);
  *ret_first = first;
  *ret_second = -1;
  if (first == argc) {
    return -1;
  }
  if (!is_group(argv[first])) {
    c->command = find_command(NULL, argv[first]);
    return c->command != NULL ? -1 : cli_usage(c, "'%s' is not a command", argv[first]);
  }
  const int second = next_word(argc, argv, first + 1);
  if (second == argc) {
    return -1;
  }
  c->command = find_command(argv[first], argv[second]);
  *ret_second = second;
  return c->command != NULL ? -1
                            : cli_usage(c, "'%s %s' is not a command", argv[first], argv[second]);
}

static bool add_value(cli *c, size_t index, const char *value) {
  option_value *v = &c->options[index];
  if (spec_at(c->command, index)->kind == OPTION_LIST) {
    const char **items = ARENA_ARRAY(&c->memory, const char *, v->count + 1);
    if (items == NULL) {
      return false;
    }
    for (size_t i = 0; i < v->count; i++) {
      items[i] = v->items[i];
    }
    items[v->count++] = value;
    v->items = items;
  }
  v->is_set = true;
  v->value = value;
  return true;
}

static size_t find_option(const command *k, const char *name, size_t size, char letter) {
  for (size_t i = 0; i < spec_count(k); i++) {
    const option_spec *o = spec_at(k, i);
    if (letter != 0 ? o->letter == letter
                    : strlen(o->name) == size && memcmp(o->name, name, size) == 0) {
      return i;
    }
  }
  return SIZE_MAX;
}

/* One option word; *at moves past its value. @return -1, or an exit code. */
static int parse_option(cli *c, int argc, char **argv, int *at) {
  const char *word = argv[*at];
  const bool is_long = word[1] == '-';
  const char *equals = is_long ? strchr(word, '=') : NULL;
  const size_t size = is_long ? (equals != NULL ? (size_t)(equals - word) : strlen(word)) - 2 : 0;
  const size_t index = is_long           ? find_option(c->command, word + 2, size, 0)
                       : word[2] == '\0' ? find_option(c->command, NULL, 0, word[1])
                                         : SIZE_MAX;
  if (index == SIZE_MAX) {
    return cli_usage(c, "unknown option '%s'", word);
  }
  const option_spec *o = spec_at(c->command, index);
  const bool wants = o->kind == OPTION_VALUE || o->kind == OPTION_LIST;
  const char *value = equals != NULL ? equals + 1 : NULL;
  if (o->kind == OPTION_FLAG && value != NULL) {
    return cli_usage(c, "option '--%s' takes no value", o->name);
  }
  if (wants && value == NULL) {
    if (*at + 1 >= argc) {
      return cli_usage(c, "option '--%s' needs a value", o->name);
    }
    value = argv[++*at];
  }
  return add_value(c, index, value) ? -1 : (error_nomem(&c->error, 0), cli_failed(c));
}

static int parse_words(cli *c, int argc, char **argv, int first, int second) {
  bool options_end = false;
  for (int at = 1; at < argc; at++) {
    if (at == first || at == second) {
      continue;
    }
    const char *word = argv[at];
    if (!options_end && strcmp(word, "--") == 0) {
      options_end = true;
    } else if (!options_end && word[0] == '-' && word[1] != '\0') {
      const int done = parse_option(c, argc, argv, &at);
      if (done >= 0) {
        return done;
      }
    } else {
      c->arguments[c->argument_count++] = word;
    }
  }
  return -1;
}

/* NULL when the variable is missing or empty. */
static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool is_server(const char *url) {
  return str_starts_with(str_of(url), STR("http://")) ||
         str_starts_with(str_of(url), STR("https://")) ||
         str_starts_with(str_of(url), STR("db://"));
}

/* A flag beats the environment; --db and --url together, or none of the two, is wrong usage. */
static int choose_database(cli *c) {
  c->json = cli_flag(c, "json");
  c->db = cli_value(c, "db");
  c->url = cli_value(c, "url");
  c->api_key = cli_value(c, "api-key");
  if (c->db != NULL && c->url != NULL) {
    return cli_usage(c, "--db and --url exclude each other");
  }
  if (c->db == NULL && c->url == NULL) {
    c->db = variable("GLAIVE_DB");
    c->url = variable("GLAIVE_URL");
    if (c->db != NULL && c->url != NULL) {
      return cli_usage(c, "GLAIVE_DB and GLAIVE_URL exclude each other; say --db or --url");
    }
  }
  if (c->api_key == NULL) {
    c->api_key = variable("GLAIVE_API_KEY");
  }
  c->ca_file = variable("GLAIVE_CA_FILE");
  if (c->db == NULL && c->url == NULL) {
    return cli_usage(c, "no database; give --db DIR or --url URL (or set GLAIVE_DB or GLAIVE_URL)");
  }
  if (c->url != NULL && !is_server(c->url)) {
    return cli_usage(c, "a server is http://..., https://... or db://NAME, not '%s'", c->url);
  }
  return -1;
}

static bool wants_help(int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      return true;
    }
  }
  return false;
}

int cli_parse(cli *c, int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    printf("glaive %s\n", glv_version());
    return EXIT_DONE;
  }
  int first;
  int second;
  const int unknown = choose_command(c, argc, argv, &first, &second);
  if (wants_help(argc, argv)) {
    c->command != NULL ? print_command_help(stdout, c->command) : print_help(stdout);
    return EXIT_DONE;
  }
  if (unknown >= 0) {
    return unknown;
  }
  if (c->command == NULL) {
    return cli_usage(c, first < argc ? "'%s' needs a command after it" : "no command",
                     first < argc ? argv[first] : "");
  }
  c->options = ARENA_ARRAY(&c->memory, option_value, spec_count(c->command));
  c->arguments = ARENA_ARRAY(&c->memory, const char *, (size_t)argc);
  if (c->options == NULL || c->arguments == NULL) {
    error_nomem(&c->error, 0);
    return cli_failed(c);
  }
  const int done = parse_words(c, argc, argv, first, second);
  if (done >= 0) {
    return done;
  }
  if (c->argument_count < c->command->min_arguments) {
    return cli_usage(c, "an argument is missing: %s", c->command->arguments);
  }
  if (c->argument_count > c->command->max_arguments) {
    return cli_usage(c, "unexpected argument '%s'", c->arguments[c->command->max_arguments]);
  }
  return choose_database(c);
}
