/**
 * @file cli.h
 * The command line program: what its commands share. It uses the exported functions of the library
 * only.
 */
#ifndef GLAIVE_CLI_CLI_H
#define GLAIVE_CLI_CLI_H

#include <stdio.h>

#include <glaive/glaive.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/checked.h"
#include "base/json.h"

/** Exit codes (a contract that scripts may rely on). */
enum cli_exit {
  EXIT_DONE = 0,
  EXIT_FAILED = 1,
  EXIT_USAGE = 2,
  EXIT_NOT_FOUND = 3,
  EXIT_EXISTS = 4,
  EXIT_CONFLICT = 5
};

/** What an option takes. */
typedef enum option_kind {
  OPTION_FLAG,
  OPTION_VALUE,
  OPTION_LIST,
  OPTION_OPTIONAL_VALUE
} option_kind;

/** One option of a command. */
typedef struct option_spec {
  const char *name; /* without the dashes */
  char letter;      /* a short form, or 0 */
  option_kind kind;
  const char *value_name; /* for the help text; NULL for flags */
  const char *help;
} option_spec;

/** The value of one option as given. */
typedef struct option_value {
  bool is_set;
  const char *value;  /* the last one given */
  const char **items; /* OPTION_LIST: all of them */
  size_t count;
} option_value;

struct cli;

/** A command such as `table import`. */
typedef struct command {
  const char *group; /* "table", or NULL for a command of one word */
  const char *name;
  const char *arguments; /* for the usage line, e.g. "NAME FILE|-" */
  size_t min_arguments;
  size_t max_arguments; /* SIZE_MAX = any number */
  const char *summary;  /* one line */
  const option_spec *options;
  size_t option_count;
  int (*run)(struct cli *c);
} command;

/** One run of the program. */
typedef struct cli {
  const command *command;
  const char **arguments;
  size_t argument_count;
  option_value *options; /* in the order of command->options, then the global ones */
  bool json;
  const char *db;
  const char *url;
  const char *api_key;
  const char *ca_file; /* GLAIVE_CA_FILE */
  glv_env *env;
  glv_conn *conn;
  arena memory;
  glv_error error;
} cli;

/** The commands of each file, ended by one without a name. */
extern const command ns_commands[];
extern const command table_commands[];
extern const command rows_commands[];
extern const command columns_commands[];
extern const command upkeep_commands[];
extern const command view_commands[];
extern const command refresh_commands[];
extern const command query_commands[];
extern const command job_commands[];
extern const command serve_commands[];
extern const command key_commands[];

/** The value of an option of the running command; the name must exist. */
const option_value *cli_option(const cli *c, const char *name);
static inline bool cli_flag(const cli *c, const char *name) { return cli_option(c, name)->is_set; }
/** NULL when the option is absent. */
static inline const char *cli_value(const cli *c, const char *name) {
  return cli_option(c, name)->value;
}
/** A whole number >= 0. @return false after printing a usage error. */
bool cli_number(cli *c, const char *name, uint64_t *ret);

/** Print "glaive: message" to stderr and give the exit code of the status in c->error. */
int cli_failed(cli *c);
/** Print a usage error. @return EXIT_USAGE. */
int cli_usage(const cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_exit_code(glv_status status);

/** Open the database that --db or GLAIVE_DB names; once. @return false after setting c->error. */
bool cli_connect(cli *c);
/** A dotted name as a path. @return false after setting c->error. */
bool cli_name(cli *c, const char *text, glv_id *ret);
/** Connect and open a table at its latest version. @return NULL after setting c->error. */
glv_table *cli_open_table(cli *c, const char *name, glv_id *ret_id);
/** The dotted form of a path, in c->memory. */
const char *cli_name_text(cli *c, glv_id id);
/**
 * `NAME=VALUE` split at an `=` that follows a name and is not the first of `==`. A name is bare or
 * in double quotes, as in dotted paths; letters outside ASCII may stand in bare ones.
 *
 * @param ret_name NULL when the text is no assignment. @return false after setting c->error.
 */
bool cli_assignment(cli *c, const char *text, const char **ret_name, const char **ret_value);

/** Options that every command takes. */
extern const option_spec cli_global_options[];
extern const size_t cli_global_option_count;

/**
 * Read the command line. @return the exit code when the program is done (help, version, usage
 * error), else -1 with *c filled.
 */
int cli_parse(cli *c, int argc, char **argv);

/* ---- output ---- */

/** Say what was done: "created table ops.nyc.flights", or {"created": "ops.nyc.flights"}. @return
 * EXIT_DONE. */
int cli_done(cli *c, const char *verb, const char *noun, glv_id id);
/** Print a JSON document to stdout and free it. @return an exit code. */
int cli_print_json(cli *c, json *document);
/** Print a JSON object made by the library: as it is, or as a list of its members under a title. */
int cli_print_object(cli *c, const glv_buf *text, const char *title);
/** The full names of a list, one a line, or a JSON array of strings. */
int cli_print_names(cli *c, const glv_list *list);
/** Print rows of text as an aligned table with a header; cells[row * columns + column]; NULL =
 * empty. */
void cli_print_table(const char *const *header, size_t columns, const char *const *cells,
                     size_t rows);
/**
 * Print all rows of a stream and release it.
 *
 * @param format "table", "csv", "jsonl", "json" (one array) or "arrow".
 * @param path   NULL or "-" = stdout; else a file, which is replaced when the rows are complete;
 *               with --json stdout gets {"written": path}.
 */
int cli_print_stream(cli *c, struct ArrowArrayStream *stream, const char *format, const char *path);
/** Whether --json and rows of another format would both go to stdout. */
bool cli_mixes_json(const cli *c, const char *format, const char *path);
/** "1,234,567", in c->memory. */
const char *cli_count(cli *c, uint64_t number);
/** The format that a file name means: by its ending; NULL when it has none of ours. */
const char *cli_format_of(const char *path);

/**
 * Rows from a file (or stdin, "-") as a stream, with a progress line on stderr when that is a
 * terminal.
 *
 * @param columns NULL, or the schema that the rows must have (an append); borrowed.
 * @return false after setting c->error.
 */
bool cli_open_rows(cli *c, const char *path, const char *format, const struct ArrowSchema *columns,
                   struct ArrowArrayStream *ret);
/** The same with only those of the columns that the file has (a merge). */
bool cli_open_part(cli *c, const char *path, const char *format, const struct ArrowSchema *columns,
                   struct ArrowArrayStream *ret);
/** The format of a file to read or write: --format, or what its name means. NULL after printing a
 * usage error. */
const char *cli_file_format(cli *c, const char *path);

/* ---- progress ---- */

/**
 * A bar on stderr that is redrawn in place; silent unless stderr is a terminal and --json was not
 * given. With a total it shows the part that is done, else what is known: rows and time.
 */
typedef struct progress {
  bool visible;
  const char *what;
  uint64_t rows;     /* that have passed */
  uint64_t position; /* of total, for instance bytes of a file */
  uint64_t total;    /* 0 = unknown */
  int64_t started_ns;
  int64_t drawn_ns;
} progress;
void progress_start(cli *c, progress *p, const char *what);
/** More rows have passed; position counts in the unit of the total. */
void progress_add(progress *p, uint64_t rows, uint64_t position);
void progress_end(progress *p);

#endif
