/* What commands print: sentences and aligned tables for people, one JSON document for scripts. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

enum { MAX_CELL_WIDTH = 60, JSON_DIGITS = 15 };

/* ---- JSON ---- */

int cli_print_json(cli *c, json *document) {
  CLEANUP(js_cleanup) json *owned = document;
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, c->env, SIZE_MAX / 2);
  if (owned == NULL) {
    error_nomem(&c->error, 0);
    return cli_failed(c);
  }
  if (js_print(owned, 2, JSON_DIGITS, &text, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  fwrite(text.data, 1, text.size, stdout);
  putchar('\n');
  return EXIT_DONE;
}

int cli_done(cli *c, const char *verb, const char *noun, glv_id id) {
  if (!c->json) {
    printf("%s %s %s\n", verb, noun, cli_name_text(c, id));
    return EXIT_DONE;
  }
  json *o = js_new_object();
  if (js_put(o, verb, js_new_string(str_of(cli_name_text(c, id))), &c->error) != GLV_OK) {
    js_free(o);
    return cli_failed(c);
  }
  return cli_print_json(c, o);
}

/* One member of an object as lines: scalars after the name, lists and objects indented below it. */
static void print_member(const char *indent, str name, const json *value) {
  switch (js_kind_of(value)) {
  case JS_STRING:
    printf("%s%-14.*s %.*s\n", indent, STR_ARG(name), STR_ARG(js_string(value)));
    break;
  case JS_INT:
    printf("%s%-14.*s %" PRId64 "\n", indent, STR_ARG(name), js_int(value));
    break;
  case JS_REAL:
    printf("%s%-14.*s %.15g\n", indent, STR_ARG(name), js_real(value));
    break;
  case JS_BOOL:
    printf("%s%-14.*s %s\n", indent, STR_ARG(name), js_bool(value) ? "yes" : "no");
    break;
  case JS_NULL:
  case JS_ARRAY:
  case JS_OBJECT:
    break;
  }
}

/* {"name": ..., "type": ..., "nullable": ...} */
static void print_column(const json *column) {
  const json *name = js_member(column, "name");
  const json *kind = js_member(column, "type");
  const json *nullable = js_member(column, "nullable");
  if (name != NULL && kind != NULL && nullable != NULL) {
    printf("  %-20.*s %.*s%s\n", STR_ARG(js_string(name)), STR_ARG(js_string(kind)),
           js_bool(nullable) ? "" : " not null");
  }
}

static void print_nested(str name, const json *value) {
  if (js_count(value) == 0) {
    return;
  }
  printf("%.*s:\n", STR_ARG(name));
  for (size_t i = 0; i < js_count(value); i++) {
    str key;
    if (js_kind_of(value) == JS_ARRAY) {
      print_column(js_item(value, i));
    } else {
      const json *member = js_member_at(value, i, &key);
      print_member("  ", key, member);
    }
  }
}

int cli_print_object(cli *c, const glv_buf *text, const char *title) {
  CLEANUP(js_cleanup) json *o = NULL;
  if (js_parse(str_slice(text->data, text->size), &o, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  if (c->json) {
    json *document = o;
    o = NULL;
    return cli_print_json(c, document);
  }
  printf("%s\n", title);
  for (size_t i = 0; i < js_count(o); i++) {
    str key;
    const json *value = js_member_at(o, i, &key);
    const bool nested = js_kind_of(value) == JS_ARRAY || js_kind_of(value) == JS_OBJECT;
    nested ? print_nested(key, value) : print_member("", key, value);
  }
  return EXIT_DONE;
}

int cli_print_names(cli *c, const glv_list *list) {
  json *array = c->json ? js_new_array() : NULL;
  for (size_t i = 0; i < glv_list_count(list); i++) {
    const char *name = cli_name_text(c, glv_list_id(list, i));
    const char *state = glv_list_state(list, i);
    const bool mark = state != NULL && strcmp(state, "ok") != 0;
    if (!c->json) {
      printf("%s%s%s%s\n", name, mark ? " (" : "", mark ? state : "", mark ? ")" : "");
    } else if (js_push(array, js_new_string(str_of(name)), &c->error) != GLV_OK) {
      js_free(array);
      return cli_failed(c);
    }
  }
  return c->json ? cli_print_json(c, array) : EXIT_DONE;
}

/* ---- text ---- */

const char *cli_count(cli *c, uint64_t number) {
  char digits[32];
  const int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
  char *text = arena_alloc(&c->memory, sizeof digits * 2);
  if (text == NULL) {
    return "?";
  }
  size_t out = 0;
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) {
      text[out++] = ',';
    }
    text[out++] = digits[i];
  }
  return text;
}

/* Characters, not bytes: continuation bytes do not count. */
static size_t text_width(const char *text) {
  size_t width = 0;
  for (const char *p = text; p != NULL && *p != '\0'; p++) {
    width += ((unsigned char)*p & 0xC0u) != 0x80u;
  }
  return width;
}

void cli_print_table(const char *const *header, size_t columns, const char *const *cells,
                     size_t rows) {
  for (size_t r = 0; r <= rows; r++) {
    for (size_t col = 0; col < columns; col++) {
      size_t width = text_width(header[col]);
      for (size_t i = 0; i < rows; i++) {
        width = size_max(width, size_min(text_width(cells[i * columns + col]), MAX_CELL_WIDTH));
      }
      const char *cell = r == 0 ? header[col] : cells[(r - 1) * columns + col];
      const size_t used = text_width(cell);
      fputs(cell != NULL ? cell : "", stdout);
      if (col + 1 < columns) {
        printf("%*s", (int)(width > used ? width - used : 0) + 2, "");
      }
    }
    putchar('\n');
  }
}

bool cli_mixes_json(const cli *c, const char *format, const char *path) {
  const bool to_stdout = path == NULL || strcmp(path, "-") == 0;
  return c->json && to_stdout && strcmp(format, "json") != 0;
}

const char *cli_format_of(const char *path) {
  static const struct {
    const char *ending;
    const char *format;
  } endings[] = {{".csv", "csv"},     {".jsonl", "jsonl"},  {".ndjson", "jsonl"},
                 {".arrow", "arrow"}, {".arrows", "arrow"}, {".feather", "arrow"},
                 {".ipc", "arrow"}};
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    if (str_ends_with(str_of(path), str_of(endings[i].ending))) {
      return endings[i].format;
    }
  }
  return NULL;
}
