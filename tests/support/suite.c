/* Look-ups for tests of the exported functions. */
#include "support/suite.h"

#include "base/json.h"

const char *metadata_value(suite *s, glv_table *table, const char *key) {
  static char value[8192];
  glv_buf text = {0};
  json *document = NULL;
  value[0] = '\0';
  must(s, glv_table_describe(table, &text, &s->err));
  must(s, js_parse(str_slice(text.data, text.size), &document, &s->err));
  const json *found = js_member(js_member(document, "metadata"), key);
  if (found != NULL) {
    snprintf(value, sizeof value, "%.*s", STR_ARG(js_string(found)));
  }
  js_free(document);
  glv_buf_dispose(&text);
  return value;
}
